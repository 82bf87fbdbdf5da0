/*
 * Writing and reading the state of a fit. The file: a mark, the fingerprint, the items (length of the name, name, size,
 * bytes), an end mark and the CRC-32 of everything before.
 */
#include "run/checkpoint.h"

#include <string.h>
#include <zlib.h>

#include "core/file.h"
#include "core/ranks.h"
#include "data/divided.h"
#include "parallax/version.h"

static const char BEGIN[8] = "PLXSTAT1", END[8] = "PLXSTEND";

enum { MOST_NAME = 64, SAMPLED_ROWS = 1024 };

struct plx__state {
    plx_context *ctx;
    const char *path;
    bool loading;
    plx__outfile out; /* saving */
    plx__bytes in;    /* loading */
    size_t at;
    uint32_t crc;
};

/* ---- which fit it is ---- */

static uint64_t mixed(uint64_t hash, const void *bytes, size_t count)
{
    const unsigned char *p = bytes;
    for (size_t i = 0; i < count; i++) hash = (hash ^ p[i]) * 0x100000001b3u; /* FNV-1a */
    return hash;
}

static uint64_t mixed_text(uint64_t hash, const char *text) { return mixed(hash, text, strlen(text) + 1); }

static uint64_t mixed_number(uint64_t hash, int64_t x) { return mixed(hash, &x, sizeof x); }

/* All sizes, and the entries of rows spread over the view: enough to tell data sets apart, cheap for any size. */
typedef struct sampling {
    uint64_t hash;
    const plx__view *view;
    plx_index n;
} sampling;

static void mix_rows(void *arg)
{
    sampling *q = arg;
    const plx__view *v = q->view;
    plx_index step = plx__max(1, q->n / SAMPLED_ROWS), begin = plx__held_begin(v), end = plx__held_end(v, q->n);
    for (plx_index i = (begin + step - 1) / step * step; i < end; i += step) {
        plx_index count = v->sparse ? v->csr.ptr[i + 1] - v->csr.ptr[i] : v->cols;
        const double *x = v->sparse ? v->csr.val + v->csr.ptr[i] : v->dense.data + i * v->dense.ld;
        if (count) q->hash = mixed(q->hash, x, (size_t)count * sizeof *x);
        if (v->sparse && count)
            q->hash = mixed(q->hash, v->csr.col + v->csr.ptr[i], (size_t)count * sizeof *v->csr.col);
    }
}

static plx_status mix_view(uint64_t *hash, plx_context *ctx, const plx__view *v, plx_index n)
{
    sampling q = {*hash, v, n};
    double entries = v->sparse ? (double)v->csr.ptr[n] : -1;
    if (v->sparse) PLX_TRY(plx__held_total(ctx, v, &entries, 1));
    q.hash = mixed_text(q.hash, v->name);
    q.hash = mixed_number(mixed_number(q.hash, v->cols), v->kind);
    q.hash = mixed_number(mixed_number(q.hash, v->present_count), (int64_t)entries);
    PLX_TRY(plx__held_chain(ctx, v, &q.hash, sizeof q.hash, mix_rows, &q));
    *hash = q.hash;
    return PLX_OK;
}

/* Once, by all ranks together: each may have a part of the rows. */
static plx_status take_fingerprint(plx__run *run)
{
    const plx__problem *p = run->problem;
    uint64_t hash = mixed_text(0xcbf29ce484222325u, PLX_VERSION_STRING);
    hash = mixed_text(hash, run->method->name);
    for (const plx__setting *s = run->settings->first; s; s = s->next) {
        hash = mixed_text(hash, s->spec->name);
        hash = mixed_text(hash, s->view ? s->view : "");
        hash = mixed_text(hash, s->value.text ? s->value.text : "");
    }
    hash = mixed_number(hash, (int64_t)run->ctx->seed);
    hash = mixed_number(mixed_number(hash, p->n), p->n_views);
    for (plx_index c = 0; c < p->n_classes; c++) hash = mixed_text(hash, p->classes[c]);
    if (p->label) hash = mixed(hash, p->label, (size_t)p->n * sizeof *p->label);
    for (plx_index v = 0; v < p->n_views; v++) PLX_TRY(mix_view(&hash, run->ctx, &p->views[v], p->n));
    run->checkpoint->about = hash;
    return PLX_OK;
}

/* ---- bytes ---- */

static uint32_t checksum(uint32_t crc, const void *bytes, size_t count)
{
    const size_t most = 1u << 30;
    const unsigned char *p = bytes;
    for (size_t at = 0; at < count; at += most)
        crc = (uint32_t)crc32(crc, p + at, (uInt)(count - at < most ? count - at : most));
    return crc;
}

static void write_bytes(plx__state *s, const void *bytes, size_t count)
{
    fwrite(bytes, 1, count, s->out.file); /* errors show when the file is closed */
    s->crc = checksum(s->crc, bytes, count);
}

static plx_status damaged(const plx__state *s)
{
    PLX_FAIL(s->ctx, PLX_E_FORMAT, "%s: damaged checkpoint; remove it and fit from the beginning", s->path);
}

static plx_status read_bytes(plx__state *s, void *to, size_t count)
{
    if (count > s->in.size - s->at) return damaged(s);
    if (count) memcpy(to, s->in.data + s->at, count);
    s->at += count;
    return PLX_OK;
}

bool plx__state_loading(const plx__state *s) { return s->loading; }

plx_status plx__state_item(plx__state *s, const char *name, void *data, size_t bytes)
{
    uint64_t length = strlen(name), size = bytes;
    char found[MOST_NAME];
    if (!s->loading) {
        write_bytes(s, &length, sizeof length);
        write_bytes(s, name, length);
        write_bytes(s, &size, sizeof size);
        if (bytes) write_bytes(s, data, bytes);
        return plx__poll(s->ctx);
    }
    PLX_TRY(read_bytes(s, &length, sizeof length));
    if (length != strlen(name) || length >= MOST_NAME) return damaged(s);
    PLX_TRY(read_bytes(s, found, length));
    PLX_TRY(read_bytes(s, &size, sizeof size));
    if (memcmp(found, name, length) != 0 || size != bytes) return damaged(s);
    return read_bytes(s, data, bytes);
}

plx_status plx__state_mat(plx__state *s, const char *name, plx_mat x)
{
    return x.data ? plx__state_item(s, name, x.data, (size_t)(x.rows * x.cols) * sizeof *x.data) : PLX_OK;
}

plx_status plx__state_list(plx__state *s, const char *name, void **data, plx_index count, size_t size,
                           plx__arena *arena)
{
    if (s->loading && (count < 0 || (size_t)count > s->in.size / size)) return damaged(s);
    if (s->loading) PLX_TRY(plx__arena_bytes(data, arena, count, size));
    return plx__state_item(s, name, *data, (size_t)count * size);
}

plx_status plx__state_trace(plx__state *s, plx__trace *trace, plx__arena *arena)
{
    PLX_TRY(plx__state_item(s, "trace_count", &trace->count, sizeof trace->count));
    PLX_TRY(plx__state_list(s, "trace", (void **)&trace->value, trace->count, sizeof *trace->value, arena));
    if (s->loading) trace->capacity = trace->count;
    return PLX_OK;
}

plx_status plx__state_restarts(plx__state *s, plx__restarts *r)
{
    PLX_TRY(plx__state_item(s, "restart", &r->at, sizeof r->at));
    PLX_TRY(plx__state_item(s, "best", &r->best, sizeof r->best));
    for (const plx__restart_block *b = r->blocks; r->at > 0 && b; b = b->next)
        PLX_TRY(plx__state_item(s, "kept", b->copy, b->bytes));
    return PLX_OK;
}

/* ---- files ---- */

static plx_status save(plx__run *run, plx__state *s, plx__state_fn fn, void *arg)
{
    uint64_t about = run->checkpoint->about;
    write_bytes(s, BEGIN, sizeof BEGIN);
    write_bytes(s, &about, sizeof about);
    PLX_TRY(fn(s, arg));
    write_bytes(s, END, sizeof END);
    uint32_t crc = s->crc;
    fwrite(&crc, sizeof crc, 1, s->out.file);
    return plx__outfile_commit(&s->out, run->ctx);
}

plx_status plx__checkpoint_keep(plx__run *run, plx__state_fn fn, void *arg)
{
    plx__checkpoint *c = run->checkpoint;
    if (!c || plx__rank(run->ctx) > 0 || plx__now() - c->last < c->every) return PLX_OK; /* all have the same state */
    plx__state s = {.ctx = run->ctx, .path = c->path};
    PLX_TRY(plx__outfile_open(&s.out, run->ctx, c->path));
    plx_status st = save(run, &s, fn, arg);
    plx__outfile_abort(&s.out);
    c->last = plx__now();
    return st;
}

static plx_status check_file(plx__run *run, plx__state *s)
{
    char mark[sizeof BEGIN];
    uint64_t about = 0;
    uint32_t crc = 0;
    size_t least = sizeof BEGIN + sizeof about + sizeof END + sizeof crc;
    if (s->in.size < least || memcmp(s->in.data, BEGIN, sizeof BEGIN) != 0) return damaged(s);
    s->in.size -= sizeof crc; /* what is read from here on ends before it */
    memcpy(&crc, s->in.data + s->in.size, sizeof crc);
    if (checksum(0, s->in.data, s->in.size) != crc) return damaged(s);
    PLX_TRY(read_bytes(s, mark, sizeof mark));
    PLX_TRY(read_bytes(s, &about, sizeof about));
    if (about != run->checkpoint->about)
        PLX_FAIL(run->ctx, PLX_E_ARG,
                 "%s: the checkpoint of another fit (method, settings, seed, data and version must be the same); name "
                 "another file or fit from the beginning",
                 s->path);
    return PLX_OK;
}

static plx_status load(plx__run *run, plx__state *s, plx__state_fn fn, void *arg)
{
    char mark[sizeof END];
    PLX_TRY(check_file(run, s));
    PLX_TRY(fn(s, arg));
    PLX_TRY(read_bytes(s, mark, sizeof mark));
    return memcmp(mark, END, sizeof END) == 0 && s->at == s->in.size ? PLX_OK : damaged(s);
}

plx_status plx__checkpoint_resume(bool *found, plx__run *run, plx__state_fn fn, void *arg)
{
    plx__checkpoint *c = run->checkpoint;
    *found = false;
    if (!c) return PLX_OK;
    PLX_TRY(take_fingerprint(run));
    if (!c->resume) return PLX_OK;
    if (!plx__file_exists(c->path)) {
        plx__warn(run->ctx, "%s: there is no checkpoint yet; the fit starts from the beginning", c->path);
        return PLX_OK;
    }
    plx__state s = {.ctx = run->ctx, .path = c->path, .loading = true};
    PLX_TRY(plx__bytes_read(&s.in, run->ctx, c->path));
    plx_status st = load(run, &s, fn, arg);
    plx__bytes_free(&s.in, run->ctx);
    *found = st == PLX_OK;
    return st;
}
