/*
 * Reading whole files, and writing files that appear complete or not at all.
 */
#include "core/file.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "core/paging.h"
#include "core/text.h"

/* ---- input ---- */

/* The file this thread mapped last and still holds; see plx__bytes_forget. */
static _Thread_local const char *mapped_begin, *mapped_end;

static bool is_gzip(const unsigned char *p, size_t size) { return size >= 2 && p[0] == 0x1f && p[1] == 0x8b; }

static plx_status grow(plx__bytes *b, plx_context *ctx, size_t capacity)
{
    char *bigger = plx__alloc(ctx, capacity);
    if (!bigger) {
        char size[PLX__SIZE_BYTES];
        PLX_FAIL(ctx, PLX_E_NOMEM, "out of memory while reading a file of %s", plx__size_text(size, (double)capacity));
    }
    if (b->size) memcpy(bigger, b->heap, b->size);
    plx__release(ctx, b->heap, b->heap_bytes);
    b->heap = bigger;
    b->heap_bytes = capacity;
    return PLX_OK;
}

static plx_status inflate_all(plx__bytes *out, plx_context *ctx, const char *path)
{
    gzFile gz = gzopen(path, "rb");
    if (!gz) PLX_FAIL(ctx, PLX_E_IO, "%s: %s", path, strerror(errno));
    plx_status st = PLX_OK;
    gzbuffer(gz, 1 << 17);
    for (;;) {
        if (out->heap_bytes - out->size < (1 << 16))
            PLX_GOTO(grow(out, ctx, out->heap_bytes ? 2 * out->heap_bytes : 1 << 20));
        size_t room = out->heap_bytes - out->size - 1;
        int got = gzread(gz, (char *)out->heap + out->size, (unsigned)(room > (1u << 30) ? 1u << 30 : room));
        if (got < 0) {
            int code = 0;
            st = plx__fail(ctx, PLX_E_FORMAT, "%s: damaged gzip data (%s)", path, gzerror(gz, &code));
            goto done;
        }
        if (got == 0) break;
        out->size += (size_t)got;
        PLX_GOTO(plx__poll(ctx));
    }
    ((char *)out->heap)[out->size] = '\0';
    out->data = out->heap;
done:
    if (gzclose_r(gz) != Z_OK && st == PLX_OK)
        st = plx__fail(ctx, PLX_E_FORMAT, "%s: the gzip data end too early", path);
    return st;
}

/* A file with a byte behind it that is zero: what is left of its last page, or a page of its own. NULL: it cannot be. */
static void *map_file(size_t *mapped, int fd, size_t size)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    *mapped = size + (size % page ? 0 : page);
    char *map = mmap(NULL, *mapped, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (map == MAP_FAILED) return NULL;
    if (mmap(map, size, PROT_READ, MAP_PRIVATE | MAP_FIXED, fd, 0) != MAP_FAILED) return map;
    munmap(map, *mapped);
    return NULL;
}

static plx_status read_plain(plx__bytes *out, plx_context *ctx, const char *path, int fd, size_t size)
{
    size_t mapped = 0;
    char *map = size ? map_file(&mapped, fd, size) : NULL;
    if (map) {
        madvise(map, size, MADV_SEQUENTIAL);
        mapped_begin = map;
        mapped_end = mapped_begin + size;
        if (ctx->paging) plx__paging_watch(ctx->paging, map, size);
        *out = (plx__bytes){.data = map, .size = size, .mapping = map, .mapped = mapped};
        return PLX_OK;
    }
    PLX_TRY(grow(out, ctx, size + 1));
    while (out->size < size) {
        ssize_t got = read(fd, (char *)out->heap + out->size, size - out->size);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) PLX_FAIL(ctx, PLX_E_IO, "%s: %s", path, strerror(errno));
        if (got == 0) break;
        out->size += (size_t)got;
    }
    ((char *)out->heap)[out->size] = '\0';
    out->data = out->heap;
    return PLX_OK;
}

/* Pipes and other files without a size. */
static plx_status read_stream(plx__bytes *out, plx_context *ctx, const char *path, int fd)
{
    for (;;) {
        if (out->heap_bytes - out->size < (1 << 16))
            PLX_TRY(grow(out, ctx, out->heap_bytes ? 2 * out->heap_bytes : 1 << 20));
        ssize_t got = read(fd, (char *)out->heap + out->size, out->heap_bytes - out->size - 1);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) PLX_FAIL(ctx, PLX_E_IO, "%s: %s", path, strerror(errno));
        if (got == 0) break;
        out->size += (size_t)got;
        PLX_TRY(plx__poll(ctx));
    }
    ((char *)out->heap)[out->size] = '\0';
    out->data = out->heap;
    return PLX_OK;
}

plx_status plx__note_file(plx_context *ctx, const char *path)
{
    plx__file_name *name = NULL;
    if (!ctx->files) return PLX_OK;
    PLX_TRY(PLX__ARENA_NEW(&name, ctx->files->arena, 1));
    PLX_TRY(plx__arena_text(&name->path, ctx->files->arena, path));
    name->before = ctx->files->last;
    ctx->files->last = name;
    ctx->files->count++;
    return PLX_OK;
}

plx_status plx__bytes_read(plx__bytes *out, plx_context *ctx, const char *path)
{
    plx_status st = PLX_OK;
    struct stat info;
    unsigned char head[2] = {0, 0};
    *out = (plx__bytes){0};
    PLX_TRY(plx__note_file(ctx, path));
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) PLX_FAIL(ctx, PLX_E_IO, "%s: %s", path, strerror(errno));
    if (fstat(fd, &info) != 0) {
        st = plx__fail(ctx, PLX_E_IO, "%s: %s", path, strerror(errno));
    } else if (S_ISDIR(info.st_mode)) {
        st = plx__fail(ctx, PLX_E_IO, "%s: is a directory, expected a file", path);
    } else if (!S_ISREG(info.st_mode)) {
        st = read_stream(out, ctx, path, fd);
    } else if (pread(fd, head, 2, 0) == 2 && is_gzip(head, 2)) {
        st = inflate_all(out, ctx, path);
    } else {
        st = read_plain(out, ctx, path, fd, (size_t)info.st_size);
    }
    close(fd);
    if (st != PLX_OK) plx__bytes_free(out, ctx);
    return st;
}

void plx__bytes_free(plx__bytes *bytes, plx_context *ctx)
{
    if (bytes->mapping && ctx->paging) plx__paging_forget(ctx->paging, bytes->mapping);
    if (bytes->mapping) munmap(bytes->mapping, bytes->mapped);
    if (bytes->mapping && bytes->mapping == mapped_begin) mapped_begin = mapped_end = NULL;
    plx__release(ctx, bytes->heap, bytes->heap_bytes);
    *bytes = (plx__bytes){0};
}

void plx__bytes_forget(const char *begin, const char *end)
{
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), first = ((uintptr_t)begin + page - 1) / page * page,
              last = (uintptr_t)end / page * page;
    if (!mapped_begin || begin < mapped_begin || end > mapped_end || first >= last) return;
    madvise((void *)first, last - first, MADV_DONTNEED); /* pages of a file: they are read again when needed */
}

bool plx__next_line(const char **line, size_t *len, const char **cursor, const char *end)
{
    if (*cursor >= end) return false;
    const char *start = *cursor, *stop = memchr(start, '\n', (size_t)(end - start));
    *cursor = stop ? stop + 1 : end;
    if (!stop) stop = end;
    if (stop > start && stop[-1] == '\r') stop--;
    *line = start;
    *len = (size_t)(stop - start);
    return true;
}

/* ---- output ---- */

bool plx__is_stream(const char *path)
{
    struct stat info;
    if (strcmp(path, "-") == 0) return true;
    if (stat(path, &info) != 0 || S_ISDIR(info.st_mode)) return false;
    return !S_ISREG(info.st_mode) || plx__starts_with(path, "/dev/"); /* /dev/stdout may lead to a file */
}

/* Where the last part of a path leads, through any number of links; the file need not exist. */
static plx_status follow_links(const char **target, plx_context *ctx, const char *path)
{
    enum { MOST_LINKS = 40 };
    char link[PATH_MAX];
    ssize_t len = 0;
    *target = path;
    for (int hops = 0; (len = readlink(*target, link, sizeof link - 1)) >= 0; hops++) {
        const char *directory = NULL;
        if (hops == MOST_LINKS) PLX_FAIL(ctx, PLX_E_IO, "%s: cannot write: %s", path, strerror(ELOOP));
        link[len] = '\0';
        PLX_TRY(plx__path_dir(&directory, plx__scratch(ctx), *target));
        PLX_TRY(plx__path_join(target, plx__scratch(ctx), directory, link));
    }
    return PLX_OK;
}

static int remove_entry(const char *path, const struct stat *info, int kind, struct FTW *walk)
{
    (void)info, (void)kind, (void)walk;
    return remove(path);
}

void plx__remove_tree(const char *path) { nftw(path, remove_entry, 16, FTW_DEPTH | FTW_PHYS); }

/* Is `name` BASE.PID.tmp of a process that is gone? */
static bool is_leftover(const char *name, const char *base)
{
    size_t len = strlen(base);
    char *end = NULL;
    if (strncmp(name, base, len) != 0 || name[len] != '.' || !isdigit((unsigned char)name[len + 1])) return false;
    long pid = strtol(name + len + 1, &end, 10);
    if (strcmp(end, ".tmp") != 0 || pid < 1 || pid > INT_MAX) return false;
    return kill((pid_t)pid, 0) != 0 && errno == ESRCH;
}

plx_status plx__remove_leftovers(plx_context *ctx, const char *target)
{
    plx__mark mark = plx__arena_mark(plx__scratch(ctx));
    const char *directory = NULL, *path = NULL;
    plx_status st = PLX_OK;
    PLX_TRY(plx__path_dir(&directory, plx__scratch(ctx), target));
    DIR *dir = opendir(directory);
    const struct dirent *entry = NULL;
    while (dir && st == PLX_OK && (entry = readdir(dir))) {
        if (!is_leftover(entry->d_name, plx__path_base(target))) continue;
        st = plx__path_join(&path, plx__scratch(ctx), directory, entry->d_name);
        if (st == PLX_OK) plx__remove_tree(path);
    }
    if (dir) closedir(dir);
    plx__arena_rewind(plx__scratch(ctx), mark);
    return st;
}

static plx_status open_temporary(plx__outfile *out, plx_context *ctx)
{
    struct stat old;
    PLX_TRY(follow_links(&out->target, ctx, out->path));
    bool replaces = stat(out->target, &old) == 0;
    if (replaces && access(out->target, W_OK) != 0)
        PLX_FAIL(ctx, PLX_E_IO, "%s: cannot write: %s", out->path, strerror(errno));
    PLX_TRY(plx__remove_leftovers(ctx, out->target));
    PLX_TRY(plx__arena_printf(&out->temporary, plx__scratch(ctx), "%s.%ld.tmp", out->target, (long)getpid()));
    out->file = fopen(out->temporary, "wbe");
    if (!out->file) PLX_FAIL(ctx, PLX_E_IO, "%s: cannot write: %s", out->path, strerror(errno));
    if (!replaces || fchmod(fileno(out->file), old.st_mode & 07777) == 0) return PLX_OK;
    int error = errno;
    plx__outfile_abort(out);
    PLX_FAIL(ctx, PLX_E_IO, "%s: cannot give the new file the old one's mode: %s", out->path, strerror(error));
}

plx_status plx__outfile_open(plx__outfile *out, plx_context *ctx, const char *path)
{
    *out = (plx__outfile){.path = path};
    if (strcmp(path, "-") == 0) {
        out->file = stdout;
        return PLX_OK;
    }
    if (plx__is_directory(path)) PLX_FAIL(ctx, PLX_E_IO, "%s: is a directory, expected a file name to write", path);
    if (!plx__is_stream(path)) return open_temporary(out, ctx);
    out->file = fopen(path, "wbe");
    if (!out->file) PLX_FAIL(ctx, PLX_E_IO, "%s: cannot write: %s", path, strerror(errno));
    return PLX_OK;
}

plx_status plx__outfile_commit(plx__outfile *out, plx_context *ctx)
{
    FILE *f = out->file;
    bool failed = fflush(f) != 0 || ferror(f);
    int error = errno;
    out->file = NULL;
    if (f == stdout) {
        if (failed) PLX_FAIL(ctx, PLX_E_IO, "standard output: %s", strerror(error));
        return PLX_OK;
    }
    if (fclose(f) != 0 && !failed) {
        failed = true;
        error = errno;
    }
    if (!failed && out->temporary && rename(out->temporary, out->target) != 0) {
        failed = true;
        error = errno;
    }
    if (!failed) return PLX_OK;
    if (out->temporary) unlink(out->temporary);
    PLX_FAIL(ctx, PLX_E_IO, "%s: cannot write: %s", out->path, strerror(error));
}

void plx__outfile_abort(plx__outfile *out)
{
    if (!out->file || out->file == stdout) return;
    fclose(out->file);
    if (out->temporary) unlink(out->temporary);
    out->file = NULL;
}

plx_status plx__write_text_file(plx_context *ctx, const char *path, const char *text)
{
    plx__outfile out;
    PLX_TRY(plx__outfile_open(&out, ctx, path));
    fputs(text, out.file);
    return plx__outfile_commit(&out, ctx);
}

bool plx__is_directory(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0 && S_ISDIR(info.st_mode);
}

bool plx__file_exists(const char *path) { return access(path, F_OK) == 0; }

plx_status plx__make_directory(plx_context *ctx, const char *path)
{
    if (plx__is_directory(path)) return PLX_OK;
    const char *parent = NULL;
    PLX_TRY(plx__path_dir(&parent, plx__scratch(ctx), path));
    if (strcmp(parent, path) != 0 && !plx__is_directory(parent)) PLX_TRY(plx__make_directory(ctx, parent));
    if (mkdir(path, 0777) != 0 && errno != EEXIST)
        PLX_FAIL(ctx, PLX_E_IO, "%s: cannot create: %s", path, strerror(errno));
    return PLX_OK;
}

void plx__write_cell(FILE *f, const char *prefix, const char *text)
{
    if (!strpbrk(text, ",\"\r\n")) {
        fprintf(f, "%s%s", prefix, text);
        return;
    }
    fprintf(f, "\"%s", prefix);
    for (; *text; text++) {
        if (*text == '"') fputc('"', f);
        fputc(*text, f);
    }
    fputc('"', f);
}
