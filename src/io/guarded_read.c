/*
 * The limits, the conversation with the reading process, and what is said when it dies.
 *
 * Memory: what the context may still take, and no more than 256 MiB and 2,048 times the file: DEFLATE, the strongest
 * compression these formats know, makes at most 1,032 bytes of one, and a reader holds what it decompressed and what it
 * makes of it. Processor time: 5 seconds and 2 for every MiB, a hundred times what sound files take.
 */
#include "io/guarded_read.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "core/file.h"
#include "core/paging.h"
#include "core/text.h"
#include "io/dataset_stream.h"
#include "io/h5mu.h"
#include "io/mat.h"
#include "io/reader_program.h"
#include "parallax/version.h"

enum { BASE_MIB = 256, EXPANSION = 2048, BASE_SECONDS = 5, SECONDS_PER_MIB = 2, LIBRARY_MIB = 64, MIB = 1 << 20 };

const plx__file_reader plx__h5mu_reader_entry = {"h5mu", "HDF5", plx__h5mu_read};
const plx__file_reader plx__mat_reader_entry = {"mat", "MATLAB", plx__mat_read};

typedef struct job {
    const plx__file_reader *reader;
    const char *path;
    plx_read_options options;
    int64_t file_bytes, memory, seconds;
    int64_t addresses;  /* what may be mapped: the memory, or (streaming) also what is on the disk */
    const char *stream; /* directory to stream through; NULL: stay in memory */
    plx__row_share share;
} job;

/* No more than 256 MiB and 2,048 times the file, see above. */
static int64_t most_bytes(int64_t file_bytes)
{
    int64_t most = 0;
    if (__builtin_mul_overflow(file_bytes, (int64_t)EXPANSION, &most) || most > INT64_MAX / 4) most = INT64_MAX / 4;
    return (int64_t)BASE_MIB * MIB + most;
}

static int64_t addresses_of(const job *j) { return j->stream ? most_bytes(j->file_bytes) : j->memory; }

/* ---- in the other process ---- */

static void read_and_send(int fd, void *arg)
{
    const job *j = arg;
    plx_context_options o = PLX_CONTEXT_OPTIONS_INIT;
    plx_context *ctx = NULL;
    plx_dataset *data = NULL;
    o.threads = 1;
    o.memory_limit = j->memory;
    plx__reader_limit(j->addresses + j->file_bytes + (int64_t)LIBRARY_MIB * MIB, j->seconds);
    if (plx__context_create(&ctx, &o) != PLX_OK) return;
    plx__call_begin(ctx);
    ctx->share = j->share;
    plx_status st = j->stream ? plx__context_set_stream(ctx, j->stream) : PLX_OK;
    if (st == PLX_OK) st = j->reader->read(&data, ctx, j->path, &j->options);
    st = plx__call_end(ctx, st);
    (void)plx__dataset_send(fd, ctx, st, data);
    plx__dataset_destroy(data);
    plx__context_destroy(ctx);
}

static const plx__file_reader *reader_called(const char *name)
{
    static const plx__file_reader *const all[] = {&plx__h5mu_reader_entry, &plx__mat_reader_entry};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (strcmp(all[i]->name, name) == 0) return all[i];
    return NULL;
}

/* RANK/RANKS, BEGIN-END, or nothing for all rows. */
static bool read_share(plx__row_share *out, const char *text)
{
    char *end = NULL;
    *out = (plx__row_share){0};
    if (!text[0]) return true;
    long long first = strtoll(text, &end, 10);
    if (end == text || (*end != '/' && *end != '-') || first < 0) return false;
    out->run = *end == '-';
    long long second = strtoll(end + 1, &end, 10);
    if (*end || second < first || (!out->run && (second < 1 || first >= second || second > INT32_MAX))) return false;
    if (out->run) out->begin = first, out->end = second;
    else out->rank = (int)first, out->ranks = (int)second;
    return true;
}

static plx_status share_text(const char **out, plx_context *ctx, const plx__row_share *s)
{
    *out = "";
    if (s->run) return plx__arena_printf(out, plx__scratch(ctx), "%lld-%lld", (long long)s->begin, (long long)s->end);
    return s->ranks > 1 ? plx__arena_printf(out, plx__scratch(ctx), "%d/%d", s->rank, s->ranks) : PLX_OK;
}

/* parallax-reader VERSION READER PATH LABEL TRUTH JOIN MEMORY SECONDS STREAM ROWS, as spawn_program() writes it. */
plx_status plx__reader_main(int argc, char **argv)
{
    struct stat info;
    if (argc != PLX__READER_ARGS || !argv || strcmp(argv[1], PLX_VERSION_STRING) != 0) return PLX_E_ARG;
    job j = {.reader = reader_called(argv[2]), .path = argv[3], .options = PLX_READ_OPTIONS_INIT};
    if (!j.reader) return PLX_E_ARG;
    j.options.label = argv[4][0] ? argv[4] : NULL;
    j.options.truth = argv[5][0] ? argv[5] : NULL;
    j.options.join = argv[6][0] == '1' ? PLX_JOIN_INTERSECTION : PLX_JOIN_UNION;
    j.memory = strtoll(argv[7], NULL, 10);
    j.seconds = strtoll(argv[8], NULL, 10);
    j.stream = argv[9][0] ? argv[9] : NULL;
    j.file_bytes = stat(j.path, &info) == 0 ? (int64_t)info.st_size : 0;
    if (j.memory < 1 || j.seconds < 1 || !read_share(&j.share, argv[10])) return PLX_E_ARG;
    j.addresses = addresses_of(&j);
    read_and_send(1, &j);
    return PLX_OK;
}

/* ---- in this one ---- */

static plx_status spawn_program(plx__reader_process *process, plx_context *ctx, const job *j, const char *program)
{
    const char *memory = NULL, *seconds = NULL, *label = j->options.label, *truth = j->options.truth, *rows = NULL;
    PLX_TRY(share_text(&rows, ctx, &j->share));
    PLX_TRY(plx__arena_printf(&memory, plx__scratch(ctx), "%lld", (long long)j->memory));
    PLX_TRY(plx__arena_printf(&seconds, plx__scratch(ctx), "%lld", (long long)j->seconds));
    const char *argv[PLX__READER_ARGS + 1] = {program,
                                              PLX_VERSION_STRING,
                                              j->reader->name,
                                              j->path,
                                              label ? label : "",
                                              truth ? truth : "",
                                              j->options.join == PLX_JOIN_INTERSECTION ? "1" : "0",
                                              memory,
                                              seconds,
                                              j->stream ? j->stream : "",
                                              rows,
                                              NULL};
    return plx__reader_spawn(process, ctx, (char *const *)(uintptr_t)argv);
}

/* The stream ended early: what became of the process is the reason. */
static plx_status explain(plx_context *ctx, const job *j, int status)
{
    static const char *const remedy = "the file is damaged or hostile; if you trust it, read it without limits (trust)";
    bool killed = status != -1 && WIFSIGNALED(status);
    plx__clear_error(ctx);
    if (killed && WTERMSIG(status) == SIGXCPU)
        PLX_FAIL(ctx, PLX_E_FORMAT, "%s: not read after %lld seconds of processor time; %s", j->path,
                 (long long)j->seconds, remedy);
    if (killed)
        PLX_FAIL(ctx, PLX_E_FORMAT, "%s: the library for %s files crashed on it (%s); %s", j->path, j->reader->what,
                 strsignal(WTERMSIG(status)), remedy);
    PLX_FAIL(ctx, PLX_E_FORMAT, "%s: the library for %s files gave up on it; %s", j->path, j->reader->what, remedy);
}

static bool refused_to_work(plx__stream_end end, int status)
{
    return end == PLX__STREAM_EMPTY && status != -1 && WIFEXITED(status) &&
           (WEXITSTATUS(status) == PLX__READER_REFUSED || WEXITSTATUS(status) == 127);
}

/* *refused: the program did not start its work, so another way may be tried. */
static plx_status converse(plx_dataset **out, bool *refused, plx_context *ctx, const job *j,
                           plx__reader_process *process)
{
    plx__stream_end end = PLX__STREAM_CUT;
    plx_status st = plx__dataset_receive(out, &end, ctx, process->out);
    int status = plx__reader_end(process, end == PLX__STREAM_COMPLETE && st != PLX_OK);
    *refused = refused_to_work(end, status);
    return end == PLX__STREAM_COMPLETE ? st : explain(ctx, j, status);
}

static plx_status read_elsewhere(plx_dataset **out, plx_context *ctx, job *j)
{
    plx__reader_process process = {0, -1};
    const char *program = NULL;
    bool refused = true;
    plx_status st = PLX_OK;
    PLX_TRY(plx__reader_find(&program, ctx));
    if (program && spawn_program(&process, ctx, j, program) == PLX_OK) st = converse(out, &refused, ctx, j, &process);
    if (!refused) return st;
    plx__clear_error(ctx);
    PLX_TRY(plx__reader_fork(&process, ctx, read_and_send, j));
    return converse(out, &refused, ctx, j, &process);
}

static plx_status make_job(job *j, plx_context *ctx, const char *path, const plx_read_options *options,
                           const plx__file_reader *reader)
{
    struct stat info;
    PLX_TRY(plx__note_file(ctx, path));
    if (stat(path, &info) != 0) PLX_FAIL(ctx, PLX_E_IO, "%s: %s", path, strerror(errno));
    if (S_ISDIR(info.st_mode)) PLX_FAIL(ctx, PLX_E_IO, "%s: is a directory, expected a file", path);
    int64_t left = ctx->memory_limit - (int64_t)atomic_load(&ctx->memory_used), size = (int64_t)info.st_size;
    *j = (job){.reader = reader,
               .path = path,
               .options = *options,
               .file_bytes = size,
               .memory = plx__max(1, plx__min(left, most_bytes(size))),
               .seconds = BASE_SECONDS + SECONDS_PER_MIB * (size / MIB),
               .stream = ctx->paging ? plx__paging_directory(ctx->paging) : NULL,
               .share = ctx->share};
    if (j->stream) j->memory = plx__max(1, left / 3); /* both processes hold pages of what passes between them */
    j->addresses = addresses_of(j);
    return PLX_OK;
}

plx_status plx__guarded_read(plx_dataset **out, plx_context *ctx, const char *path, const plx_read_options *options,
                             const plx__file_reader *reader)
{
    job j;
    *out = NULL;
    if (options->trust) return reader->read(out, ctx, path, options);
    PLX_TRY(make_job(&j, ctx, path, options, reader));
    return read_elsewhere(out, ctx, &j);
}
