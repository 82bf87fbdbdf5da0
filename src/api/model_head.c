/*
 * Head of a model file: "PARALLAX MODEL 1", length and CRC-32 of what follows, padded with zeros to 512 bytes. Every
 * flipped byte is noticed before HDF5 sees the file: in the body by the checksum, in the head by comparing all of it
 * with the one that belongs to the body.
 */
#include <stdio.h>
#include <string.h>
#include <zlib.h>

#include "api/model_file.h"
#include "core/file.h"

static const char MAGIC[] = "PARALLAX MODEL ";

static void head_of(char head[PLX__MODEL_HEAD], const plx__bytes *bytes, long long version)
{
    uLong crc = crc32(0L, Z_NULL, 0);
    size_t at = PLX__MODEL_HEAD;
    while (at < bytes->size) {
        size_t part = bytes->size - at < (1u << 30) ? bytes->size - at : 1u << 30;
        crc = crc32(crc, (const Bytef *)bytes->data + at, (uInt)part);
        at += part;
    }
    memset(head, 0, PLX__MODEL_HEAD);
    snprintf(head, PLX__MODEL_HEAD, "%s%lld\nbytes %zu\ncrc32 %08lx\n", MAGIC, version, bytes->size,
             (unsigned long)crc);
}

plx_status plx__model_head_make(char head[PLX__MODEL_HEAD], plx_context *ctx, const char *path)
{
    plx__bytes bytes;
    PLX_TRY(plx__bytes_read(&bytes, ctx, path));
    head_of(head, &bytes, PLX__MODEL_VERSION);
    plx__bytes_free(&bytes, ctx);
    return PLX_OK;
}

static plx_status check(plx_context *ctx, const char *path, const plx__bytes *bytes)
{
    char head[PLX__MODEL_HEAD];
    long long version = 0;
    size_t stated = 0;
    if (bytes->size < PLX__MODEL_HEAD || memcmp(bytes->data, MAGIC, sizeof MAGIC - 1) != 0)
        PLX_FAIL(ctx, PLX_E_FORMAT, "%s: not a model file", path);
    memcpy(head, bytes->data, PLX__MODEL_HEAD);
    head[PLX__MODEL_HEAD - 1] = '\0';
    if (sscanf(head + sizeof MAGIC - 1, "%lld\nbytes %zu", &version, &stated) != 2 || version < 1)
        PLX_FAIL(ctx, PLX_E_FORMAT, "%s: damaged model file (its head cannot be read); fit the model again", path);
    if (version > PLX__MODEL_VERSION)
        PLX_FAIL(ctx, PLX_E_FORMAT, "%s: model format %lld is newer than this library (%d); update parallax", path,
                 version, PLX__MODEL_VERSION);
    if (stated != bytes->size)
        PLX_FAIL(ctx, PLX_E_FORMAT, "%s: damaged model file (%zu bytes, expected %zu); copy it again", path,
                 bytes->size, stated);
    head_of(head, bytes, version);
    if (memcmp(head, bytes->data, PLX__MODEL_HEAD) != 0)
        PLX_FAIL(ctx, PLX_E_FORMAT, "%s: damaged model file (checksum does not match); copy or fit it again", path);
    return PLX_OK;
}

plx_status plx__model_head_check(plx_context *ctx, const char *path)
{
    plx__bytes bytes;
    PLX_TRY(plx__bytes_read(&bytes, ctx, path));
    plx_status st = check(ctx, path, &bytes);
    plx__bytes_free(&bytes, ctx);
    return st;
}
