/*
 * Joining the parts of a file: one message with the size of a part, then its bytes, a block at a time.
 */
#include "io/joined_file.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "core/paging.h"
#include "core/ranks.h"

enum { BLOCK_BYTES = 1 << 20 };

plx_status plx__joined_open(plx__joined *j, plx_context *ctx, const char *path, bool together)
{
    *j = (plx__joined){.together = together && plx__ranks(ctx) > 1};
    j->first = !j->together || plx__rank(ctx) == 0;
    if (j->first) return plx__outfile_open(&j->out, ctx, path);
    const char *directory = plx__temporary_directory();
    int fd = plx__nameless_file(directory);
    j->out = (plx__outfile){.path = path, .file = fd < 0 ? NULL : fdopen(fd, "w+b")};
    if (j->out.file) return PLX_OK;
    int error = errno;
    if (fd >= 0) close(fd);
    PLX_FAIL(ctx, PLX_E_IO, "%s: no file can be made there for a part of %s: %s; name another directory (TMPDIR)",
             directory, path, strerror(error));
}

/* The size of this part; a part that could not be written whole is an error now, not a gap later. */
static plx_status part_size(int64_t *size, plx__joined *j, plx_context *ctx)
{
    if (fflush(j->out.file) != 0 || ferror(j->out.file))
        PLX_FAIL(ctx, PLX_E_IO, "a part of %s cannot be written: %s", j->out.path, strerror(errno));
    *size = ftello(j->out.file);
    rewind(j->out.file);
    return PLX_OK;
}

static plx_status send_part(plx__joined *j, plx_context *ctx, char *block, int64_t size)
{
    for (int64_t at = 0; at < size; at += BLOCK_BYTES) {
        size_t bytes = (size_t)plx__min(BLOCK_BYTES, size - at);
        if (fread(block, 1, bytes, j->out.file) != bytes) memset(block, 0, bytes); /* noticed below */
        PLX_TRY(plx__peers_send(ctx, 0, block, bytes));
    }
    if (ferror(j->out.file))
        PLX_FAIL(ctx, PLX_E_IO, "a part of %s cannot be read back: %s", j->out.path, strerror(errno));
    return PLX_OK;
}

static plx_status take_part(plx__joined *j, plx_context *ctx, char *block, int from, int64_t size)
{
    for (int64_t at = 0; at < size; at += BLOCK_BYTES) {
        size_t bytes = (size_t)plx__min(BLOCK_BYTES, size - at);
        PLX_TRY(plx__peers_receive(ctx, from, block, bytes));
        fwrite(block, 1, bytes, j->out.file); /* a failure shows when the file is committed */
    }
    return PLX_OK;
}

static plx_status join_parts(plx__joined *j, plx_context *ctx, plx_status st)
{
    int rank = plx__rank(ctx);
    int64_t size = 0, *sizes = NULL;
    char *block = NULL;
    if (st == PLX_OK) st = plx__arena_bytes((void **)&block, plx__scratch(ctx), BLOCK_BYTES, 1);
    if (st == PLX_OK && rank > 0) st = part_size(&size, j, ctx);
    PLX_TRY(plx__peers_settle(ctx, st));
    PLX_TRY(plx__peers_tell(ctx, &size, 1, &sizes));
    st = rank > 0 ? send_part(j, ctx, block, size) : PLX_OK;
    for (int r = 1; rank == 0 && r < plx__ranks(ctx); r++) PLX_TRY(take_part(j, ctx, block, r, sizes[r]));
    return plx__peers_settle(ctx, st);
}

plx_status plx__joined_close(plx__joined *j, plx_context *ctx, plx_status st)
{
    plx__mark mark = plx__arena_mark(plx__scratch(ctx));
    if (j->together) st = join_parts(j, ctx, st);
    bool whole = st == PLX_OK;
    if (whole && j->first) st = plx__outfile_commit(&j->out, ctx);
    if (whole && j->together) st = plx__peers_settle(ctx, st);
    plx__outfile_abort(&j->out);
    plx__arena_rewind(plx__scratch(ctx), mark);
    return st;
}
