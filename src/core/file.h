/*
 * Files. Input: a whole file in memory, unpacked when gzipped. Output: a temporary file next to the
 * target that takes its name only when everything was written.
 */
#ifndef PLX_CORE_FILE_H
#define PLX_CORE_FILE_H

#include <stdio.h>

#include "core/ctx.h"

/* A file's bytes. `data[size]` is always readable and 0. Plain files are memory-mapped; gzipped ones (by content, not by
 * name) are inflated. */
typedef struct plx__bytes {
    const char *data;
    size_t size;
    void *mapping; /* private */
    size_t mapped;
    void *heap;
    size_t heap_bytes;
} plx__bytes;

plx_status plx__bytes_read(plx__bytes *out, plx_context *ctx, const char *path);
void plx__bytes_free(plx__bytes *bytes, plx_context *ctx);

/* Note that a file is read; plx__bytes_read() does so itself. */
plx_status plx__note_file(plx_context *ctx, const char *path);
/* [begin, end) has been read for now: where it is of the file this thread mapped last, its pages are let go, so that a
 * file and what is made of it are not both in memory. It may be read again. Other memory is left alone. */
void plx__bytes_forget(const char *begin, const char *end);

/* Next line of [*cursor, end): without its line end (\n or \r\n). false at the end. */
bool plx__next_line(const char **line, size_t *len, const char **cursor, const char *end);

/* An output file that appears under its name when committed and leaves nothing behind otherwise. A link stays and
 * its target is replaced; a file that was there keeps its mode. Devices, pipes, sockets and names under /dev are
 * written directly, as is standard output, which is called "-". */
typedef struct plx__outfile {
    FILE *file; /* write here */
    const char *path;
    const char *temporary, *target; /* renamed from, to; NULL: written directly */
} plx__outfile;

plx_status plx__outfile_open(plx__outfile *out, plx_context *ctx, const char *path);
plx_status plx__outfile_commit(plx__outfile *out, plx_context *ctx);
void plx__outfile_abort(plx__outfile *out); /* no-op after commit */

/* What runs that are gone left beside `target`: files and folders called TARGET.PID.tmp, where no process PID runs. */
plx_status plx__remove_leftovers(plx_context *ctx, const char *target);
/* A file, or a folder with all that is in it. */
void plx__remove_tree(const char *path);

/* Whole text to a file, atomically. */
plx_status plx__write_text_file(plx_context *ctx, const char *path, const char *text);

bool plx__is_directory(const char *path);
bool plx__file_exists(const char *path);
/* Is there something that can only be written as a stream: a device, a pipe, a socket, "-"? */
bool plx__is_stream(const char *path);

/* Create a directory and its parents; fine when it is there. */
plx_status plx__make_directory(plx_context *ctx, const char *path);

/* A field of a CSV file with `prefix` before it; RFC 4180: quoted when it holds a comma, a quote or a line end. */
void plx__write_cell(FILE *f, const char *prefix, const char *text);

#endif
