/*
 * Sending and receiving a data set. Numbers are sent as they lie in memory (both ends are the same machine and the
 * same version of the library), texts as one block per list: a flag byte, and the text with its end after flag 1.
 */
#include "io/dataset_stream.h"

#include <errno.h>
#include <math.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

#include "data/divided.h"

static const char START[8] = "PLXDATA1", END[8] = "PLXDONE1";

enum { PIECE = 1 << 20, WAIT_MS = 50 };

/* ---- sending ---- */

typedef struct sender {
    int fd;
    bool failed;
    size_t used;
    char buffer[1 << 14];
} sender;

static void write_out(sender *s, const char *bytes, size_t count)
{
    while (count && !s->failed) {
        ssize_t done = write(s->fd, bytes, count);
        if (done < 0 && errno == EINTR) continue;
        if (done <= 0) s->failed = true;
        else {
            bytes += done;
            count -= (size_t)done;
        }
    }
}

static void flush_out(sender *s)
{
    write_out(s, s->buffer, s->used);
    s->used = 0;
}

static void send_bytes(sender *s, const void *bytes, size_t count)
{
    if (count > sizeof s->buffer - s->used) flush_out(s);
    if (count > sizeof s->buffer) {
        write_out(s, bytes, count);
        return;
    }
    if (count) memcpy(s->buffer + s->used, bytes, count);
    s->used += count;
}

static void send_number(sender *s, int64_t x) { send_bytes(s, &x, sizeof x); }

/* count -1: there is no list. */
static void send_texts(sender *s, const char *const *texts, plx_index count)
{
    int64_t bytes = 0;
    send_number(s, texts ? count : -1);
    if (!texts) return;
    for (plx_index i = 0; i < count; i++) bytes += texts[i] ? 2 + (int64_t)strlen(texts[i]) : 1;
    send_number(s, bytes);
    for (plx_index i = 0; i < count; i++) {
        char flag = texts[i] != NULL;
        send_bytes(s, &flag, 1);
        if (texts[i]) send_bytes(s, texts[i], strlen(texts[i]) + 1);
    }
}

static void send_text(sender *s, const char *text) { send_texts(s, &text, 1); }

static void send_warnings(sender *s, const plx_context *ctx)
{
    for (const plx__note *note = ctx->notes; note; note = note->next) send_text(s, note->text);
    send_texts(s, NULL, 0);
}

static void send_hierarchy(sender *s, const plx__hierarchy *h)
{
    send_texts(s, h ? h->classes : NULL, h ? h->n_classes : 0);
    if (!h) return;
    send_number(s, h->n_subset);
    send_bytes(s, h->subset, (size_t)(2 * h->n_subset) * sizeof *h->subset);
    send_number(s, h->n_mutex);
    send_bytes(s, h->mutex, (size_t)(2 * h->n_mutex) * sizeof *h->mutex);
}

static void send_view(sender *s, const plx__view *v, plx_index n)
{
    send_text(s, v->name);
    send_number(s, v->kind);
    send_number(s, v->cols);
    send_bytes(s, v->present, (size_t)n);
    send_bytes(s, &v->cost, sizeof v->cost);
    send_texts(s, v->text ? &v->text : NULL, 1);
    send_texts(s, v->features, v->cols);
    send_number(s, v->divided);
    send_number(s, plx__held_begin(v));
    send_number(s, plx__held_end(v, n));
    send_number(s, v->sparse ? v->csr.ptr[n] : -1);
    if (v->sparse) {
        send_bytes(s, v->csr.ptr, (size_t)(n + 1) * sizeof *v->csr.ptr);
        send_bytes(s, v->csr.col, (size_t)v->csr.ptr[n] * sizeof *v->csr.col);
        send_bytes(s, v->csr.val, (size_t)v->csr.ptr[n] * sizeof *v->csr.val);
    } else {
        for (plx_index i = plx__held_begin(v); i < plx__held_end(v, n); i++)
            send_bytes(s, v->dense.data + i * v->dense.ld, (size_t)v->cols * sizeof(double));
    }
}

static void send_data(sender *s, const plx_dataset *d)
{
    send_text(s, d->name);
    send_number(s, d->n);
    send_number(s, d->n_views);
    send_texts(s, d->ids, d->n);
    for (plx_index v = 0; v < d->n_views; v++) send_view(s, &d->views[v], d->n);
    send_hierarchy(s, d->hierarchy);
    send_texts(s, d->labels, d->n);
    send_texts(s, d->truth, d->n);
    send_bytes(s, &d->label_cost, sizeof d->label_cost);
    send_number(s, d->sample_costs != NULL);
    if (d->sample_costs) send_bytes(s, d->sample_costs, (size_t)d->n * sizeof(double));
}

bool plx__dataset_send(int fd, const plx_context *ctx, plx_status st, const plx_dataset *data)
{
    sender s;
    s.fd = fd;
    s.failed = false;
    s.used = 0;
    send_bytes(&s, START, sizeof START);
    send_warnings(&s, ctx);
    send_number(&s, st);
    if (st == PLX_OK) send_data(&s, data);
    else send_text(&s, ctx->error);
    send_bytes(&s, END, sizeof END);
    flush_out(&s);
    return !s.failed;
}

/* ---- receiving ---- */

typedef struct receiver {
    plx_context *ctx;
    int fd;
    bool any, cut;
} receiver;

/* The stream is at fault: no message here, the caller knows what became of the sender. */
static plx_status cut(receiver *r)
{
    r->cut = true;
    return PLX_E_FORMAT;
}

static plx_status receive_some(receiver *r, char *to, size_t room, size_t *got)
{
    struct pollfd wait = {.fd = r->fd, .events = POLLIN};
    for (*got = 0; *got == 0;) {
        PLX_TRY(plx__poll(r->ctx));
        int ready = poll(&wait, 1, WAIT_MS);
        if (ready == 0 || (ready < 0 && errno == EINTR)) continue;
        ssize_t count = read(r->fd, to, room);
        if (count < 0 && errno == EINTR) continue;
        if (count <= 0) return cut(r);
        *got = (size_t)count;
    }
    r->any = true;
    return PLX_OK;
}

static plx_status receive_bytes(receiver *r, void *to, size_t count)
{
    char *at = to;
    while (count) {
        size_t got = 0;
        PLX_TRY(receive_some(r, at, count < PIECE ? count : PIECE, &got));
        at += got;
        count -= got;
    }
    return PLX_OK;
}

static plx_status receive_number(receiver *r, int64_t *out, int64_t least, int64_t most)
{
    PLX_TRY(receive_bytes(r, out, sizeof *out));
    return *out >= least && *out <= most ? PLX_OK : cut(r);
}

/* `expected` texts, or any number when it is -1; *out = NULL when there is no list. */
static plx_status receive_texts(receiver *r, plx__arena *arena, const char *const **out, int64_t *count,
                                int64_t expected)
{
    const char **texts = NULL;
    char *bytes = NULL;
    int64_t size = 0, at = 0;
    *out = NULL;
    PLX_TRY(receive_number(r, count, -1, INT64_MAX));
    if (*count < 0) return PLX_OK;
    if (expected >= 0 && *count != expected) return cut(r);
    PLX_TRY(receive_number(r, &size, *count, INT64_MAX / 2));
    PLX_TRY(PLX__ARENA_NEW(&texts, arena, *count));
    PLX_TRY(plx__arena_bytes((void **)&bytes, arena, size, 1));
    PLX_TRY(receive_bytes(r, bytes, (size_t)size));
    for (int64_t i = 0; i < *count; i++) {
        if (at >= size) return cut(r);
        if (!bytes[at++]) continue;
        const char *end = memchr(bytes + at, '\0', (size_t)(size - at));
        if (!end) return cut(r);
        texts[i] = bytes + at;
        at = end + 1 - bytes;
    }
    *out = texts;
    return PLX_OK;
}

static plx_status receive_text(receiver *r, plx__arena *arena, const char **out)
{
    const char *const *list = NULL;
    int64_t count = 0;
    PLX_TRY(receive_texts(r, arena, &list, &count, 1));
    if (!list || !list[0]) return cut(r);
    *out = list[0];
    return PLX_OK;
}

static plx_status receive_warnings(receiver *r)
{
    for (;;) {
        const char *const *list = NULL;
        int64_t count = 0;
        PLX_TRY(receive_texts(r, plx__scratch(r->ctx), &list, &count, 1));
        if (!list) return PLX_OK;
        if (list[0]) plx__warn(r->ctx, "%s", list[0]);
    }
}

static plx_status receive_pairs(receiver *r, int32_t **out, int64_t *count)
{
    PLX_TRY(receive_number(r, count, 0, INT64_MAX / 16));
    PLX_TRY(plx__arena_i32(out, plx__scratch(r->ctx), 2 * *count));
    return receive_bytes(r, *out, (size_t)(2 * *count) * sizeof **out);
}

static plx_status receive_hierarchy(receiver *r, plx_dataset *d)
{
    const char *const *classes = NULL;
    int32_t *subset = NULL, *mutex = NULL;
    int64_t n = 0, n_subset = 0, n_mutex = 0;
    PLX_TRY(receive_texts(r, plx__scratch(r->ctx), &classes, &n, -1));
    if (!classes) return PLX_OK;
    PLX_TRY(receive_pairs(r, &subset, &n_subset));
    PLX_TRY(receive_pairs(r, &mutex, &n_mutex));
    return plx__dataset_set_hierarchy(d, r->ctx, classes, n, subset, n_subset, mutex, n_mutex);
}

static plx_status receive_sparse(receiver *r, plx__arena *arena, plx_csr *x, plx_index n, int64_t cols, int64_t nnz)
{
    PLX_TRY(plx__arena_csr(x, arena, n, cols, nnz));
    PLX_TRY(receive_bytes(r, x->ptr, (size_t)(n + 1) * sizeof *x->ptr));
    if (x->ptr[0] != 0 || x->ptr[n] != nnz) return cut(r); /* the rest is checked where every view is */
    PLX_TRY(receive_bytes(r, x->col, (size_t)nnz * sizeof *x->col));
    return receive_bytes(r, x->val, (size_t)nnz * sizeof *x->val);
}

static plx_status receive_dense(receiver *r, plx__arena *arena, plx__view_source *s, plx_index n, int64_t cols)
{
    double *values = NULL;
    plx_index rows = s->end - s->begin;
    PLX_TRY(plx__arena_bytes((void **)&values, arena, rows, (size_t)cols * sizeof *values));
    s->dense = (plx_mat){s->begin ? plx__rows_at(values, s->begin, cols) : values, n, cols, cols};
    return receive_bytes(r, values, (size_t)rows * (size_t)cols * sizeof *values);
}

/* Which rows have values: all, or those that were asked for. */
static plx_status receive_range(receiver *r, plx__view_source *s, plx_index n)
{
    plx_index begin = 0, end = 0;
    int64_t divided = 0;
    bool some = plx__share_wanted(&begin, &end, r->ctx, n);
    PLX_TRY(receive_number(r, &divided, 0, 1));
    PLX_TRY(receive_number(r, &s->begin, 0, n));
    PLX_TRY(receive_number(r, &s->end, s->begin, n));
    s->divided = divided != 0;
    if (s->divided) return some && s->begin == begin && s->end == end ? PLX_OK : cut(r);
    return s->begin == 0 && s->end == n ? PLX_OK : cut(r);
}

/* Name and names are in scratch and in the arena, the values in the arena. */
static plx_status receive_source(receiver *r, plx__view_source *s, plx__arena *arena, double *cost,
                                 const char *const **text, plx_index n)
{
    uint8_t *present = NULL;
    int64_t kind = 0, cols = 0, count = 0, nnz = 0;
    PLX_TRY(receive_text(r, plx__scratch(r->ctx), &s->name));
    PLX_TRY(receive_number(r, &kind, 0, PLX_VIEW_KERNEL));
    PLX_TRY(receive_number(r, &cols, 0, INT32_MAX));
    PLX_TRY(plx__arena_u8(&present, plx__scratch(r->ctx), n));
    PLX_TRY(receive_bytes(r, present, (size_t)n));
    PLX_TRY(receive_bytes(r, cost, sizeof *cost));
    PLX_TRY(receive_texts(r, plx__scratch(r->ctx), text, &count, 1));
    PLX_TRY(receive_texts(r, arena, &s->features, &count, cols));
    PLX_TRY(receive_range(r, s, n));
    PLX_TRY(receive_number(r, &nnz, -1, INT64_MAX / 16));
    s->kind = (plx_view_kind)kind;
    s->present = present;
    s->features_in_block = true;
    s->sparse = nnz >= 0;
    if (!s->sparse) return receive_dense(r, arena, s, n, cols);
    PLX_TRY(receive_sparse(r, arena, &s->csr, n, cols, nnz));
    bool outside = s->csr.ptr[s->begin] != 0 || s->csr.ptr[s->end] != nnz; /* of the rows that were asked for */
    return outside ? cut(r) : PLX_OK;
}

static plx_status receive_view(receiver *r, plx_dataset *d)
{
    plx__mark mark = plx__arena_mark(plx__scratch(r->ctx));
    plx__view_source source = {0};
    plx__arena arena;
    const char *const *text = NULL;
    double cost = 1;
    plx_status st = PLX_OK;
    plx__arena_init(&arena, r->ctx);
    PLX_GOTO(receive_source(r, &source, &arena, &cost, &text, d->n));
    PLX_GOTO(plx__dataset_adopt_arena(d, r->ctx, &arena, &source));
    PLX_GOTO(plx__dataset_set_view_cost(d, r->ctx, d->n_views - 1, cost));
    if (text && text[0]) PLX_GOTO(plx__arena_text(&d->views[d->n_views - 1].text, &d->arena, text[0]));
done:
    plx__arena_free(&arena);
    plx__arena_rewind(plx__scratch(r->ctx), mark);
    return st;
}

static plx_status receive_costs(receiver *r, plx_dataset *d)
{
    double label_cost = 1, *costs = NULL;
    int64_t given = 0;
    PLX_TRY(receive_bytes(r, &label_cost, sizeof label_cost));
    PLX_TRY(plx__dataset_set_label_cost(d, r->ctx, label_cost));
    PLX_TRY(receive_number(r, &given, 0, 1));
    if (!given) return PLX_OK;
    PLX_TRY(plx__arena_f64(&costs, plx__scratch(r->ctx), d->n, 1));
    PLX_TRY(receive_bytes(r, costs, (size_t)d->n * sizeof *costs));
    return plx__dataset_set_sample_costs(d, r->ctx, costs);
}

static plx_status receive_data(receiver *r, plx_dataset **out)
{
    plx__arena *scratch = plx__scratch(r->ctx);
    const char *name = NULL;
    const char *const *ids = NULL, *const *labels = NULL, *const *truth = NULL;
    int64_t n = 0, n_views = 0, count = 0;
    PLX_TRY(receive_text(r, scratch, &name));
    PLX_TRY(receive_number(r, &n, 1, INT64_MAX / 64));
    PLX_TRY(receive_number(r, &n_views, 0, INT32_MAX));
    PLX_TRY(receive_texts(r, scratch, &ids, &count, n));
    PLX_TRY(plx__dataset_create(out, r->ctx, name, n));
    if (ids) PLX_TRY(plx__dataset_set_ids(*out, r->ctx, ids));
    for (int64_t v = 0; v < n_views; v++) PLX_TRY(receive_view(r, *out));
    PLX_TRY(receive_hierarchy(r, *out));
    PLX_TRY(receive_texts(r, scratch, &labels, &count, n));
    PLX_TRY(plx__dataset_set_labels(*out, r->ctx, labels));
    PLX_TRY(receive_texts(r, scratch, &truth, &count, n));
    PLX_TRY(plx__dataset_set_truth(*out, r->ctx, truth));
    return receive_costs(r, *out);
}

static plx_status receive_all(receiver *r, plx_dataset **out)
{
    char mark[sizeof START];
    const char *message = NULL;
    int64_t status = 0;
    PLX_TRY(receive_bytes(r, mark, sizeof mark));
    if (memcmp(mark, START, sizeof mark) != 0) return cut(r);
    PLX_TRY(receive_warnings(r));
    PLX_TRY(receive_number(r, &status, PLX_E_INTERNAL, PLX_OK));
    if (status == PLX_OK) PLX_TRY(receive_data(r, out));
    else PLX_TRY(receive_text(r, plx__scratch(r->ctx), &message));
    PLX_TRY(receive_bytes(r, mark, sizeof mark));
    if (memcmp(mark, END, sizeof mark) != 0) return cut(r);
    if (message) PLX_FAIL(r->ctx, (plx_status)status, "%s", message);
    return PLX_OK;
}

plx_status plx__dataset_receive(plx_dataset **out, plx__stream_end *end, plx_context *ctx, int fd)
{
    receiver r = {.ctx = ctx, .fd = fd};
    plx__mark mark = plx__arena_mark(plx__scratch(ctx));
    *out = NULL;
    plx_status st = receive_all(&r, out);
    plx__arena_rewind(plx__scratch(ctx), mark);
    *end = !r.cut ? PLX__STREAM_COMPLETE : r.any ? PLX__STREAM_CUT : PLX__STREAM_EMPTY;
    if (st == PLX_OK) return st;
    plx__dataset_destroy(*out);
    *out = NULL;
    return st;
}
