/*
 * Pairs of neighbours under settled radii, every pair once.
 *
 * Dense views: objects stand in the order of mrd_order.c, runs of them against tiles of those behind them. A run and a
 * tile whose boxes are too far apart in too many views are passed over; else products in single precision say of nearly
 * every pair whether it is near, and the few within their rounding of the radius are decided by the distance itself.
 * Sparse views go through the tiles of mrd_pairs.c.
 */
#include <cblas.h>
#include <math.h>
#include <string.h>

#include "core/parallel.h"
#include "linalg/blas.h"
#include "linalg/clones.h"
#include "methods/mrdbscan/mrdbscan.h"

enum { CHUNK = MRD_CHUNK, TILE = MRD_TILE, SEGMENT = 64 /* chunks between two reports */ };

typedef struct near_work { /* of a worker */
    float *products;       /* CHUNK x TILE */
    uint8_t *hits;         /* CHUNK x TILE: views in which the pair is near, in rows that have any */
    uint8_t *any;          /* CHUNK: views with a hit in the row */
    int32_t *others;       /* TILE */
    uint8_t *apart;        /* views */
} near_work;

typedef struct place { /* a run of rows against a tile of columns */
    plx_index i0, rows, j0, cols;
} place;

typedef struct near_job {
    const mrd_near *s;
    mrd_visit visit;
    void *arg;
    plx_index first; /* chunk of the running segment */
} near_job;

/* ---- radii as separations ---- */

static bool within(const mrd_view *v, double separation)
{
    return plx__separation_distance(v->metric, separation) / v->factor <= v->radius + MRD_RADIUS_SLACK;
}

/* The largest separation within the radius: a guess from the formula, moved by single numbers to where it holds. */
static double largest_within(const mrd_view *v)
{
    double reach = (v->radius + MRD_RADIUS_SLACK) * v->factor, s = v->metric == PLX__COSINE ? reach : reach * reach;
    if (!isfinite(s)) return INFINITY;
    while (s > 0 && !within(v, s)) s = nextafter(s, 0);
    while (within(v, nextafter(s, INFINITY))) s = nextafter(s, INFINITY);
    return s;
}

/* ---- opening ---- */

static plx_status open_works(mrd_near *s)
{
    plx__arena *scratch = plx__scratch(s->m->ctx);
    near_work *works = NULL;
    PLX_TRY(PLX__ARENA_NEW(&works, scratch, plx__workers(s->m->ctx)));
    for (int t = 0; t < plx__workers(s->m->ctx); t++) {
        PLX_TRY(plx__arena_bytes((void **)&works[t].products, scratch, CHUNK * TILE, sizeof(float)));
        PLX_TRY(plx__arena_u8(&works[t].hits, scratch, CHUNK * TILE));
        PLX_TRY(plx__arena_u8(&works[t].any, scratch, CHUNK));
        PLX_TRY(plx__arena_i32(&works[t].others, scratch, TILE));
        PLX_TRY(plx__arena_u8(&works[t].apart, scratch, s->m->n_views));
    }
    s->works = works;
    return PLX_OK;
}

plx_status plx__mrd_near_open(mrd_near *s, const mrd *m)
{
    plx__arena *scratch = plx__scratch(m->ctx);
    *s = (mrd_near){.m = m, .dense = m->n_views < 256};
    PLX_TRY(plx__arena_f64(&s->limit, scratch, m->n_views, 1));
    for (plx_index v = 0; v < m->n_views; v++) {
        s->dense = s->dense && !plx__points_sparse(m->view[v].a);
        s->limit[v] = largest_within(&m->view[v]);
        if (s->dense) PLX_TRY(plx__blas_fits(m->ctx, 0, 0, m->view[v].a.dense.cols));
    }
    if (!s->dense) {
        PLX_TRY(plx__arena_i32(&s->others, scratch, MRD_TILE_COLS));
        return plx__arena_mat(&s->tile, scratch, MRD_TILE_ROWS, MRD_TILE_COLS);
    }
    PLX_TRY(plx__mrd_order(&s->order, m, s->limit));
    return open_works(s);
}

/* ---- dense views: one view of a run against a tile ---- */

/* Does any product of the row reach its lower threshold? */
PLX__CLONES static bool any_reaches(const float *product, const float *low, float own, plx_index cols)
{
    plx_index c = 0;
    int found = 0;
    for (; c + 64 <= cols && !found; c += 64)
        for (int l = 0; l < 64; l++) found |= product[c + l] >= low[c + l] + own;
    for (; c < cols; c++) found |= product[c] >= low[c] + own;
    return found;
}

/* Adds the row's hits to `hits`; the number that only the distance itself can decide comes back, marked in `doubt`. */
PLX__CLONES static int add_hits(uint8_t *hits, uint8_t *doubt, const float *product, const float *low, float own_low,
                                const float *high, float own_high, plx_index cols)
{
    int doubtful = 0;
    for (plx_index c = 0; c < cols; c++) {
        uint8_t maybe = product[c] >= low[c] + own_low, surely = product[c] >= high[c] + own_high;
        hits[c] = (uint8_t)(hits[c] + surely);
        doubt[c] = (uint8_t)(maybe & !surely);
    }
    for (plx_index c = 0; c < cols; c++) doubtful += doubt[c];
    return doubtful;
}

static double separation(const mrd_view *v, plx_index i, plx_index q)
{
    if (v->metric == PLX__COSINE) return plx__point_distance(v->a, i, v->a, q, PLX__COSINE);
    plx_cmat a = v->a.dense;
    return plx__dist_sq(a.data + i * a.ld, a.data + q * a.ld, a.cols);
}

static void settle_doubts(const mrd_near *s, plx_index v, const place *at, plx_index r, const uint8_t *doubt,
                          uint8_t *hits)
{
    const int32_t *row = s->order.row;
    for (plx_index c = 0; c < at->cols; c++)
        if (doubt[c] && separation(&s->m->view[v], row[at->i0 + r], row[at->j0 + c]) <= s->limit[v]) hits[c]++;
}

static bool count_view(const mrd_near *s, near_work *w, plx_index v, const place *at)
{
    const mrd_flat *f = &s->order.view[v];
    bool any = false;
    int d = plx__blas_int(f->d), ld = plx__blas_int(plx__max(1, f->d));
    if (d == 0)
        memset(w->products, 0, (size_t)CHUNK * TILE * sizeof *w->products); /* BLAS may leave them as they are */
    else
        cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasTrans, plx__blas_int(at->rows), plx__blas_int(at->cols), d, 1.0f,
                    f->x + at->i0 * f->d, ld, f->x + at->j0 * f->d, ld, 0.0f, w->products, TILE);
    for (plx_index r = 0; r < at->rows; r++) {
        const float *product = w->products + r * TILE;
        uint8_t *hits = w->hits + r * TILE, doubt[TILE];
        if (!any_reaches(product, f->low + at->j0, f->low[at->i0 + r], at->cols)) continue;
        if (!w->any[r]++) memset(hits, 0, TILE);
        any = true;
        if (add_hits(hits, doubt, product, f->low + at->j0, f->low[at->i0 + r], f->high + at->j0, f->high[at->i0 + r],
                     at->cols))
            settle_doubts(s, v, at, r, doubt, hits);
    }
    return any;
}

/* ---- dense views: all views of a run against a tile ---- */

/* Views of V that must be near when all are common. */
static plx_index needed_of(const mrd *m, plx_index common)
{
    return m->needed ? plx__min(m->needed, common) : common / 2 + 1;
}

/* Marks views in which nobody is near. False: no pair can be near in enough views. With F views in which all have rows
 * and are apart, a pair with b common views is near in b - F at most, which is short of min(r, b), or of b/2 + 1, for
 * every b <= V once it is for b = V. */
static bool may_meet(const mrd_near *s, near_work *w, const place *at)
{
    plx_index possible = 0, common_apart = 0, views = s->m->n_views;
    for (plx_index v = 0; v < views; v++) {
        const mrd_flat *f = &s->order.view[v];
        plx_index chunk = at->i0 / CHUNK, tile = at->j0 / TILE;
        w->apart[v] = plx__mrd_apart(f, chunk, tile);
        possible += !w->apart[v];
        common_apart += w->apart[v] && f->chunk.present[chunk] == at->rows && f->tile.present[tile] == at->cols;
    }
    return possible > 0 && (common_apart == 0 || views - common_apart >= needed_of(s->m, views));
}

static bool is_neighbour(const mrd_near *s, plx_index i, plx_index q, plx_index hits, bool all_common)
{
    plx_index common = 0;
    for (plx_index v = 0; v < s->m->n_views && !all_common; v++)
        common += s->m->view[v].has_a[i] && s->m->view[v].has_a[q];
    return hits >= needed_of(s->m, all_common ? s->m->n_views : common);
}

/* Tells of the neighbours of row r; in the run's own tile only those behind it. */
static void tell_row(const near_job *job, near_work *w, int worker, const place *at, plx_index r, bool all_common)
{
    const mrd_near *s = job->s;
    const uint8_t *hits = w->hits + r * TILE;
    const int32_t *row = s->order.row;
    plx_index count = 0, i = row[at->i0 + r], begin = plx__max(0, at->i0 + r + 1 - at->j0);
    for (plx_index c = begin; c < at->cols; c++) {
        uint64_t eight = 1;
        if (c % 8 == 0 && c + 8 <= at->cols) memcpy(&eight, hits + c, sizeof eight);
        if (!eight) {
            c += 7;
            continue;
        }
        if (hits[c] && is_neighbour(s, i, row[at->j0 + c], hits[c], all_common)) w->others[count++] = row[at->j0 + c];
    }
    if (count) job->visit(job->arg, worker, (int32_t)i, w->others, count);
}

static void run_against_tile(const near_job *job, near_work *w, int worker, const place *at)
{
    const mrd_near *s = job->s;
    bool all_common = true;
    plx_index views = s->m->n_views, promising = 0, left = 0;
    if (!may_meet(s, w, at)) return;
    memset(w->any, 0, CHUNK);
    for (plx_index v = 0; v < views; v++) {
        const mrd_flat *f = &s->order.view[v];
        all_common =
            all_common && f->chunk.present[at->i0 / CHUNK] == at->rows && f->tile.present[at->j0 / TILE] == at->cols;
        left += !w->apart[v];
    }
    plx_index least = all_common ? needed_of(s->m, views) : 1;
    for (plx_index v = 0; v < views && promising + left >= least; v++) {
        if (w->apart[v]) continue;
        promising += count_view(s, w, v, at);
        left--;
    }
    for (plx_index r = 0; r < at->rows; r++)
        if (w->any[r] >= least) tell_row(job, w, worker, at, r, all_common);
}

static plx_status dense_runs(void *arg, plx_context *ctx, plx_index begin, plx_index end, int worker)
{
    const near_job *job = arg;
    plx_index n = job->s->order.n;
    for (plx_index chunk = job->first + begin; chunk < job->first + end; chunk++) {
        plx_index i0 = chunk * CHUNK;
        PLX_TRY(plx__poll(ctx));
        for (plx_index j0 = i0 / TILE * TILE; j0 < n; j0 += TILE) {
            place at = {i0, plx__min(CHUNK, n - i0), j0, plx__min(TILE, n - j0)};
            run_against_tile(job, (near_work *)job->s->works + worker, worker, &at);
        }
    }
    return PLX_OK;
}

static plx_status dense_pairs(near_job *job, const char *phase)
{
    const mrd_near *s = job->s;
    for (job->first = 0; job->first < s->order.chunks; job->first += SEGMENT) {
        plx_index count = plx__min(SEGMENT, s->order.chunks - job->first);
        PLX_TRY(plx__parallel_for(s->m->ctx, count, 1, dense_runs, job));
        PLX_TRY(plx__report(s->m->ctx, phase, job->first + count, s->order.chunks, NAN));
    }
    return PLX_OK;
}

/* ---- sparse views ---- */

static void tell_tile(const near_job *job, plx_index i0, plx_index i1, plx_index j0, plx_index j1)
{
    const mrd_near *s = job->s;
    for (plx_index i = i0; i < i1; i++) {
        plx_index count = 0;
        for (plx_index q = plx__max(i + 1, j0); q < j1; q++)
            if (s->tile.data[(i - i0) * s->tile.ld + (q - j0)] == 0) s->others[count++] = (int32_t)q;
        if (count) job->visit(job->arg, 0, (int32_t)i, s->others, count);
    }
}

static plx_status sparse_pairs(const near_job *job, const char *phase)
{
    const mrd_near *s = job->s;
    plx__arena *scratch = plx__scratch(s->m->ctx);
    plx_index n = s->m->n_a;
    for (plx_index i0 = 0; i0 < n; i0 += MRD_TILE_ROWS) {
        plx_index i1 = plx__min(i0 + MRD_TILE_ROWS, n);
        for (plx_index j0 = i0 / MRD_TILE_COLS * MRD_TILE_COLS; j0 < n; j0 += MRD_TILE_COLS) {
            plx__mark mark = plx__arena_mark(scratch);
            plx_index j1 = plx__min(j0 + MRD_TILE_COLS, n);
            PLX_TRY(plx__mrd_tile(s->m, i0, i1, j0, j1, s->tile));
            tell_tile(job, i0, i1, j0, j1);
            plx__arena_rewind(scratch, mark);
        }
        PLX_TRY(plx__report(s->m->ctx, phase, i1, n, NAN));
    }
    return PLX_OK;
}

plx_status plx__mrd_near_pairs(const mrd_near *s, mrd_visit visit, void *arg, const char *phase)
{
    near_job job = {.s = s, .visit = visit, .arg = arg};
    if (!s->dense) return sparse_pairs(&job, phase);
    plx__blas_scope scope = plx__blas_enter();
    plx_status st = dense_pairs(&job, phase);
    plx__blas_leave(scope);
    return st;
}

double plx__mrd_near_bytes(int workers) { return (5.0 * CHUNK * TILE + 4 * TILE + CHUNK + 512) * workers; }
