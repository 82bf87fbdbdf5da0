/*
 * What a simulation needs to go on where it was killed: a line per state as it comes, the last of which may be torn.
 */
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include "active/curves.h"
#include "core/file.h"
#include "core/number.h"

static const char MAGIC[] = "parallax-simulation 2";
enum { FIELDS = 12 };

/* ---- hashes ---- */

uint64_t plx__hash(uint64_t hash, const void *bytes, size_t count)
{
    const unsigned char *b = bytes;
    for (size_t i = 0; i < count; i++) hash = (hash ^ b[i]) * UINT64_C(1099511628211);
    return hash;
}

uint64_t plx__hash_text(uint64_t hash, const char *text)
{
    return text ? plx__hash(hash, text, strlen(text) + 1) : plx__hash(hash, "\1", 1);
}

static uint64_t hash_view(uint64_t hash, const plx__view *v, plx_index n)
{
    hash = plx__hash_text(hash, v->name);
    hash = plx__hash(hash, &v->kind, sizeof v->kind);
    hash = plx__hash(hash, &v->cost, sizeof v->cost);
    hash = plx__hash(hash, v->present, (size_t)n);
    for (plx_index i = 0; i < n && !v->sparse; i++)
        hash = plx__hash(hash, v->dense.data + i * v->dense.ld, (size_t)v->cols * sizeof(double));
    if (!v->sparse) return hash;
    size_t entries = (size_t)v->csr.ptr[n];
    hash = plx__hash(hash, v->csr.ptr, ((size_t)n + 1) * sizeof *v->csr.ptr);
    hash = plx__hash(hash, v->csr.col, entries * sizeof *v->csr.col);
    return plx__hash(hash, v->csr.val, entries * sizeof *v->csr.val);
}

uint64_t plx__hash_data(uint64_t hash, const plx_dataset *data)
{
    for (plx_index v = 0; v < data->n_views; v++) hash = hash_view(hash, &data->views[v], data->n);
    for (plx_index i = 0; i < data->n; i++) {
        double cost = data->sample_costs ? data->sample_costs[i] : 1.0;
        hash = plx__hash_text(hash, data->ids ? data->ids[i] : NULL);
        hash = plx__hash_text(hash, data->labels ? data->labels[i] : NULL);
        hash = plx__hash_text(hash, data->truth ? data->truth[i] : NULL);
        hash = plx__hash(hash, &cost, sizeof cost);
    }
    return hash;
}

/* ---- writing ---- */

static void print_point(FILE *to, plx_index run, plx_index strategy, const plx__curve_point *p)
{
    const double real[] = {p->cost, p->gain, p->accuracy, p->auc, p->rmse};
    char text[PLX__NUMBER_BYTES];
    fprintf(to, "p %lld %lld %lld %lld %lld", (long long)run, (long long)strategy, (long long)p->step,
            (long long)p->sample, (long long)p->view);
    for (size_t i = 0; i < sizeof real / sizeof *real; i++) {
        plx__print_double(text, real[i]);
        fprintf(to, " %s", text);
    }
    fprintf(to, " %lld\n", (long long)p->told);
}

static plx_status flushed(plx_curves *c, plx_context *ctx)
{
    if (fflush(c->file) == 0 && !ferror(c->file)) return PLX_OK;
    PLX_FAIL(ctx, PLX_E_IO, "%s: cannot be written", c->part);
}

plx_status plx__curves_add(plx_curves *c, plx_context *ctx, plx_index run, plx_index strategy,
                           const plx__curve_point *point)
{
    plx__curve *curve = plx__curve_of(c, run, strategy);
    PLX_ASSERT(curve->count < curve->room);
    curve->point[curve->count++] = *point;
    if (!c->file) return PLX_OK;
    pthread_mutex_lock(&c->lock);
    print_point(c->file, run, strategy, point);
    plx_status st = flushed(c, ctx);
    pthread_mutex_unlock(&c->lock);
    return st;
}

plx_status plx__curves_end(plx_curves *c, plx_context *ctx, plx_index run, plx_index strategy)
{
    if (!c->file) return PLX_OK;
    pthread_mutex_lock(&c->lock);
    fprintf(c->file, "e %lld %lld\n", (long long)run, (long long)strategy);
    plx_status st = flushed(c, ctx);
    pthread_mutex_unlock(&c->lock);
    return st;
}

/* ---- reading ---- */

static bool read_point(plx__curve_point *p, int64_t *run, int64_t *strategy, const char *at, const char *end)
{
    int64_t whole[5], told = 0;
    double real[5];
    for (int i = 0; i < FIELDS - 1; i++) {
        if (at >= end || *at++ != ' ') return false;
        if (i < 5) at = plx__read_int64(&whole[i], at, end);
        else if (i < 10) at = plx__read_double(&real[i - 5], at, end);
        else at = plx__read_int64(&told, at, end);
        if (!at) return false;
    }
    *run = whole[0];
    *strategy = whole[1];
    *p = (plx__curve_point){whole[2], whole[3], whole[4], real[0], real[1], real[2], real[3], real[4], (uint64_t)told};
    return at == end;
}

/* One line: a state that follows the last of its curve, or the end of a curve. */
static bool take_line(plx_curves *c, const char *line, size_t len)
{
    const char *end = line + len, *at = line + 1;
    int64_t run = 0, strategy = 0;
    plx__curve_point p;
    bool point = len > 1 && line[0] == 'p' && read_point(&p, &run, &strategy, at, end);
    if (!point) {
        if (len < 2 || line[0] != 'e' || line[1] != ' ') return false;
        at = plx__read_int64(&run, line + 2, end);
        at = at && at < end && *at == ' ' ? plx__read_int64(&strategy, at + 1, end) : NULL;
        if (at != end) return false;
    }
    if (run < 0 || run >= c->runs || strategy < 0 || strategy >= c->n_strategies) return false;
    plx__curve *curve = plx__curve_of(c, run, strategy);
    if (!point) return curve->finished = true;
    if (curve->count == curve->room) return false;
    curve->point[curve->count++] = p;
    curve->taken_up = curve->count;
    return true;
}

static plx_status take_up(plx_curves *c, plx_context *ctx, const plx__bytes *bytes, const char *head)
{
    const char *cursor = bytes->data, *end = bytes->data + bytes->size, *line = NULL;
    size_t len = 0;
    if (!bytes->size) return PLX_OK; /* killed before the first line was out */
    if (!plx__next_line(&line, &len, &cursor, end) || len != strlen(head) || memcmp(line, head, len) != 0)
        PLX_FAIL(ctx, PLX_E_FORMAT, "%s is what another simulation left; remove it to start anew", c->part);
    for (long long number = 2; plx__next_line(&line, &len, &cursor, end); number++) {
        if (cursor == end && end[-1] != '\n') break; /* torn by a kill */
        if (!take_line(c, line, len))
            PLX_FAIL(ctx, PLX_E_FORMAT, "%s line %lld: damaged; remove the file to start anew", c->part, number);
    }
    return PLX_OK;
}

static plx_status write_clean(plx_curves *c, plx_context *ctx, const char *head)
{
    plx__outfile out;
    PLX_TRY(plx__outfile_open(&out, ctx, c->part));
    fprintf(out.file, "%s\n", head);
    for (plx_index r = 0; r < c->runs; r++)
        for (plx_index s = 0; s < c->n_strategies; s++) {
            const plx__curve *curve = plx__curve_of(c, r, s);
            for (plx_index i = 0; i < curve->count; i++) print_point(out.file, r, s, &curve->point[i]);
            if (curve->finished) fprintf(out.file, "e %lld %lld\n", (long long)r, (long long)s);
        }
    return plx__outfile_commit(&out, ctx);
}

plx_status plx__curves_open_part(plx_curves *c, plx_context *ctx, const char *path)
{
    char head[96];
    plx__bytes bytes;
    PLX_TRY(plx__arena_text(&c->part, &c->arena, path));
    snprintf(head, sizeof head, "%s %016" PRIx64, MAGIC, c->key);
    if (plx__file_exists(path)) {
        PLX_TRY(plx__bytes_read(&bytes, ctx, path));
        plx_status st = take_up(c, ctx, &bytes, head);
        plx__bytes_free(&bytes, ctx);
        PLX_TRY(st);
    }
    for (plx_index k = 0; k < c->runs * c->n_strategies; k++) /* two states: played again */
        if (strcmp(c->strategy[k % c->n_strategies], "all") == 0 && !c->curve[k].finished)
            c->curve[k].count = c->curve[k].taken_up = 0;
    PLX_TRY(write_clean(c, ctx, head));
    c->file = fopen(path, "ae");
    if (!c->file) PLX_FAIL(ctx, PLX_E_IO, "%s: cannot be written", path);
    return PLX_OK;
}

void plx__curves_close_part(plx_curves *c)
{
    if (c->file) fclose(c->file);
    c->file = NULL;
}
