/*
 * Is a MATLAB file (v4 to v7) complete? Its variables follow one another, each saying how long it is; matio takes
 * a variable that is cut off for the end of the file, and would lose it without a word.
 */
#include <string.h>

#include "core/file.h"
#include "io/mat_impl.h"

static uint32_t read_u32(const char *p, bool swap)
{
    uint32_t x;
    memcpy(&x, p, sizeof x);
    return swap ? __builtin_bswap32(x) : x;
}

/* v5 to v7: 128 bytes of header ending in the byte order mark, then tags of type and length. */
static bool chain_v5(const char *data, size_t size, bool swap)
{
    size_t at = 128;
    while (at < size) {
        if (size - at < 8) return false;
        size_t length = read_u32(data + at + 4, swap);
        if (length > size - at - 8) return false;
        at += 8 + length;
    }
    return true;
}

/* v4: five integers (type, rows, columns, imaginary?, name length), the name, the values. */
static bool chain_v4(const char *data, size_t size, bool swap)
{
    static const uint64_t widths[] = {8, 4, 4, 2, 2, 1};
    uint64_t at = 0;
    while (at < size) {
        if (size - at < 20) return false;
        uint32_t type = read_u32(data + at, swap), rows = read_u32(data + at + 4, swap),
                 cols = read_u32(data + at + 8, swap);
        uint32_t imaginary = read_u32(data + at + 12, swap), name = read_u32(data + at + 16, swap);
        uint32_t precision = type / 10 % 10;
        uint64_t count, bytes;
        if (type > 9999 || precision > 5 || imaginary > 1) return false;
        if (__builtin_mul_overflow((uint64_t)rows, (uint64_t)cols, &count) ||
            __builtin_mul_overflow(count, widths[precision] * (imaginary + 1), &bytes) || bytes > size || name > size)
            return false;
        if (20 + (uint64_t)name + bytes > size - at) return false;
        at += 20 + (uint64_t)name + bytes;
    }
    return true;
}

static bool is_complete(const char *data, size_t size)
{
    static const char hdf5[] = "\211HDF\r\n\032\n";
    if (size >= 520 && memcmp(data + 512, hdf5, 8) == 0) return true; /* v7.3: libhdf5 looks itself */
    if (size >= 8 && memcmp(data, hdf5, 8) == 0) return true;
    if (size >= 128 && memcmp(data + 126, "IM", 2) == 0) return chain_v5(data, size, false);
    if (size >= 128 && memcmp(data + 126, "MI", 2) == 0) return chain_v5(data, size, true);
    return size >= 20 && chain_v4(data, size, read_u32(data, false) > 9999);
}

plx_status plx__mat_check_complete(plx_context *ctx, const char *path)
{
    plx__bytes file;
    PLX_TRY(plx__bytes_read(&file, ctx, path));
    bool complete = is_complete(file.data, file.size);
    plx__bytes_free(&file, ctx);
    if (complete) return PLX_OK;
    PLX_FAIL(ctx, PLX_E_FORMAT, "%s: is not a MATLAB file, or its end is missing", path);
}
