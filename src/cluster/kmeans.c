/*
 * Lloyd's iteration with one bound from above (distance to the own centre) and one from below (to any other)
 * per row, as Hamerly (2010) has them: a row is compared with all centres only when the bounds leave doubt.
 */
#include "cluster/kmeans.h"

#include <math.h>
#include <string.h>

#include "core/parallel.h"
#include "core/rng.h"
#include "io/matrix_file.h"

enum { GRAIN = 2048 };

const plx__param_spec plx__kmeans_params[] = {
    {"kmeans_init", PLX_PARAM_TEXT, PLX__NO_FIELD, 0, "deterministic", 0, 0, NULL,
     "Starts of k-means: deterministic, plusplus (seeded k-means++), or file:F with one centre per row."},
    {"starts", PLX_PARAM_INT, PLX__NO_FIELD, 0, "10", 1, 1e6, NULL,
     "Rows from which deterministic starts are grown, two from each; larger is slower and finds better clusters."},
    {"restarts", PLX_PARAM_INT, PLX__NO_FIELD, 0, "10", 1, 1e6, NULL,
     "Runs of kmeans_init=plusplus; larger is slower and finds better clusters."},
    {"kmeans_iter", PLX_PARAM_INT, PLX__NO_FIELD, 0, "300", 1, 1e9, NULL, "Most iterations of one run of k-means."},
    PLX__PARAM_END};

/* ---- settings ---- */

static plx_status read_centres(plx_cmat *out, plx__run *run, const char *text, plx_index k, plx_index dims)
{
    const char *path = NULL;
    plx__table table;
    plx__matrix_options options = {0};
    PLX_TRY(plx__path_join(&path, plx__scratch(run->ctx), run->problem->directory, text + strlen("file:")));
    PLX_TRY(plx__matrix_file_read(&table, run->ctx, plx__scratch(run->ctx), path, &options));
    if (table.sparse || table.dense.rows != k || table.dense.cols != dims)
        PLX_FAIL(run->ctx, PLX_E_DATA, "kmeans_init = %s: %lld x %lld centres, %lld x %lld are needed", text,
                 (long long)plx__table_rows(&table), (long long)plx__table_cols(&table), (long long)k, (long long)dims);
    if (!plx__all_finite(plx__cmat(table.dense)))
        PLX_FAIL(run->ctx, PLX_E_DATA, "kmeans_init = %s: centres must be finite numbers", text);
    *out = plx__cmat(table.dense);
    return PLX_OK;
}

plx_status plx__kmeans_options_of(plx__kmeans_options *out, plx__run *run, plx_index k, plx_index dims)
{
    plx__value init, starts, restarts, most;
    PLX_TRY(plx__view_value(&init, run->ctx, run->settings, "kmeans_init", NULL));
    PLX_TRY(plx__view_value(&starts, run->ctx, run->settings, "starts", NULL));
    PLX_TRY(plx__view_value(&restarts, run->ctx, run->settings, "restarts", NULL));
    PLX_TRY(plx__view_value(&most, run->ctx, run->settings, "kmeans_iter", NULL));
    *out = (plx__kmeans_options){.k = k,
                                 .starts = (plx_index)starts.number,
                                 .restarts = (plx_index)restarts.number,
                                 .max_iter = (plx_index)most.number};
    if (strcmp(init.text, "deterministic") == 0) return PLX_OK;
    if (strcmp(init.text, "plusplus") == 0) {
        out->init = PLX__KMEANS_PLUSPLUS;
        return PLX_OK;
    }
    if (strncmp(init.text, "file:", 5) != 0)
        PLX_FAIL(run->ctx, PLX_E_ARG, "kmeans_init = %s: must be deterministic, plusplus or file:F", init.text);
    out->init = PLX__KMEANS_CENTRES;
    return read_centres(&out->centres, run, init.text, k, dims);
}

/* ---- state ---- */

typedef struct kmeans {
    plx_context *ctx;
    plx_cmat rows;
    plx_index k, d, max_iter;
    double *norm; /* of the rows */
    double *gap;  /* of a start: largest |cosine|, or smallest squared distance, to the chosen rows */
    plx_mat centres, previous;
    double *sums; /* k x d sums and k counts */
    int32_t *label, *before;
    double *near, *second; /* bounds: distance to the own centre from above, to any other from below */
    double *moved;         /* how far each centre went */
    double farthest_move;
    bool bounds;
    uint8_t *taken;
} kmeans;

/* What values are compared by. */
static double rounded(double x) { return fabs(x) < 9e3 ? nearbyint(x * 1e12) / 1e12 : x; }

static const double *row_of(const kmeans *m, plx_index i) { return m->rows.data + i * m->rows.ld; }

int32_t plx__nearest_centre(const double *row, plx_cmat centres)
{
    int32_t best = 0;
    double least = INFINITY;
    for (plx_index c = 0; c < centres.rows; c++) {
        double d = rounded(plx__dist_sq(row, centres.data + c * centres.ld, centres.cols));
        if (d < least) least = d, best = (int32_t)c;
    }
    return best;
}

/* ---- starts ---- */

typedef struct start_job {
    kmeans *m;
    plx_index chosen; /* row added last */
    bool orthogonal, first;
} start_job;

static plx_status update_gap(void *arg, plx_context *ctx, plx_index begin, plx_index end, int worker)
{
    const start_job *job = arg;
    kmeans *m = job->m;
    const double *pick = row_of(m, job->chosen);
    (void)ctx;
    (void)worker;
    for (plx_index i = begin; i < end; i++) {
        double scale = m->norm[i] * m->norm[job->chosen], value;
        if (job->orthogonal) value = scale > 0 ? fabs(plx__dot(row_of(m, i), pick, m->d)) / scale : 1.0;
        else value = -plx__dist_sq(row_of(m, i), pick, m->d);
        m->gap[i] = job->first ? value : fmax(m->gap[i], value);
    }
    return PLX_OK;
}

/* Both rules in one: the row whose largest closeness (|cosine|, or minus the squared distance) is smallest. */
static plx_status grow_start(kmeans *m, plx_index first, bool orthogonal)
{
    start_job job = {m, first, orthogonal, true};
    for (plx_index c = 0; c < m->k; c++) {
        memcpy(m->centres.data + c * m->d, row_of(m, job.chosen), (size_t)m->d * sizeof(double));
        if (c + 1 == m->k) break;
        PLX_TRY(plx__parallel_for(m->ctx, m->rows.rows, GRAIN, update_gap, &job));
        double least = INFINITY;
        for (plx_index i = 0; i < m->rows.rows; i++) {
            double value = rounded(m->gap[i]);
            if (value < least) least = value, job.chosen = i;
        }
        job.first = false;
    }
    return PLX_OK;
}

/* k-means++: rows drawn by their squared distance to the chosen ones. */
static plx_status draw_start(kmeans *m, plx_index restart)
{
    plx__rng rng = plx__rng_start(m->ctx->seed, PLX__STREAM('k', 'm', 'p', 'p', restart));
    start_job job = {m, plx__next_below(&rng, m->rows.rows), false, true};
    for (plx_index c = 0; c < m->k; c++) {
        memcpy(m->centres.data + c * m->d, row_of(m, job.chosen), (size_t)m->d * sizeof(double));
        PLX_TRY(plx__parallel_for(m->ctx, m->rows.rows, GRAIN, update_gap, &job));
        job.first = false;
        double total = 0;
        for (plx_index i = 0; i < m->rows.rows; i++) total += m->near[i] = -m->gap[i];
        job.chosen = total > 0 ? plx__next_weighted(&rng, m->near, m->rows.rows) : plx__next_below(&rng, m->rows.rows);
    }
    return PLX_OK;
}

/* ---- Lloyd's iteration ---- */

/* The nearest centre, skipped where the bounds leave no doubt (by far more than rounding to 12 decimals). */
static plx_status assign_rows(void *arg, plx_context *ctx, plx_index begin, plx_index end, int worker)
{
    kmeans *m = arg;
    (void)ctx;
    (void)worker;
    for (plx_index i = begin; i < end; i++) {
        if (m->bounds) {
            m->near[i] += m->moved[m->label[i]];
            m->second[i] -= m->farthest_move;
            if (m->near[i] + 1e-5 * (1 + m->near[i]) < m->second[i]) continue;
        }
        double least = INFINITY, other = INFINITY, exact = 0;
        for (plx_index c = 0; c < m->k; c++) {
            double d = plx__dist_sq(row_of(m, i), m->centres.data + c * m->d, m->d), value = rounded(d);
            if (value < least) {
                other = fmin(other, least);
                least = value;
                exact = d;
                m->label[i] = (int32_t)c;
            } else {
                other = fmin(other, value);
            }
        }
        m->near[i] = sqrt(exact);
        m->second[i] = sqrt(fmax(0.0, other - 1e-11));
    }
    return PLX_OK;
}

/* Empty clusters in index order take the point farthest from its own centre; nobody moves twice. */
static void fill_empty(kmeans *m)
{
    memset(m->sums, 0, (size_t)m->k * sizeof *m->sums);
    for (plx_index i = 0; i < m->rows.rows; i++) m->sums[m->label[i]]++;
    bool any = false;
    for (plx_index c = 0; c < m->k; c++) {
        if (m->sums[c] > 0) continue;
        plx_index best = -1;
        double most = -INFINITY;
        if (!any) memset(m->taken, 0, (size_t)m->rows.rows);
        any = true;
        for (plx_index i = 0; i < m->rows.rows; i++) {
            double d = rounded(plx__dist_sq(row_of(m, i), m->centres.data + m->label[i] * m->d, m->d));
            if (!m->taken[i] && d > most) most = d, best = i;
        }
        if (best < 0) break;
        m->sums[m->label[best]]--;
        m->sums[c]++;
        m->label[best] = (int32_t)c;
        m->taken[best] = 1;
    }
    m->bounds = !any;
}

static plx_status add_rows(void *arg, plx_context *ctx, plx_index begin, plx_index end, double *partial)
{
    const kmeans *m = arg;
    (void)ctx;
    for (plx_index i = begin; i < end; i++) {
        plx__axpy(partial + m->label[i] * m->d, 1.0, row_of(m, i), m->d);
        partial[m->k * m->d + m->label[i]]++;
    }
    return PLX_OK;
}

/* Means of the clusters; an empty one stays where it was. */
static plx_status move_centres(kmeans *m)
{
    memcpy(m->previous.data, m->centres.data, (size_t)(m->k * m->d) * sizeof(double));
    PLX_TRY(plx__parallel_sum(m->ctx, m->rows.rows, 8 * GRAIN, m->k * (m->d + 1), add_rows, m, m->sums));
    m->farthest_move = 0;
    for (plx_index c = 0; c < m->k; c++) {
        double count = m->sums[m->k * m->d + c];
        for (plx_index j = 0; j < m->d && count > 0; j++) m->centres.data[c * m->d + j] = m->sums[c * m->d + j] / count;
        m->moved[c] = sqrt(plx__dist_sq(m->centres.data + c * m->d, m->previous.data + c * m->d, m->d));
        m->farthest_move = fmax(m->farthest_move, m->moved[c]);
    }
    return PLX_OK;
}

static plx_status add_distances(void *arg, plx_context *ctx, plx_index begin, plx_index end, double *partial)
{
    const kmeans *m = arg;
    (void)ctx;
    for (plx_index i = begin; i < end; i++)
        *partial += plx__dist_sq(row_of(m, i), m->centres.data + m->label[i] * m->d, m->d);
    return PLX_OK;
}

static plx_status lloyd(kmeans *m, plx__kmeans_result *out)
{
    plx_index n = m->rows.rows;
    m->bounds = false;
    out->converged = false;
    for (out->iterations = 0; out->iterations < m->max_iter && !out->converged; out->iterations++) {
        memcpy(m->before, m->label, (size_t)n * sizeof *m->label);
        PLX_TRY(plx__parallel_for(m->ctx, n, GRAIN, assign_rows, m));
        fill_empty(m);
        out->converged = out->iterations > 0 && memcmp(m->before, m->label, (size_t)n * sizeof *m->label) == 0;
        if (!out->converged) PLX_TRY(move_centres(m));
        if (plx__out_of_time(m->ctx)) break;
    }
    return plx__parallel_sum(m->ctx, n, 8 * GRAIN, 1, add_distances, m, &out->inertia);
}

/* ---- all starts ---- */

static plx_status open_kmeans(kmeans *m, plx_context *ctx, plx_cmat rows, const plx__kmeans_options *o)
{
    plx__arena *scratch = plx__scratch(ctx);
    plx_index n = rows.rows;
    *m = (kmeans){.ctx = ctx, .rows = rows, .k = o->k, .d = rows.cols, .max_iter = o->max_iter ? o->max_iter : 300};
    double **const vectors[] = {&m->norm, &m->gap, &m->near, &m->second};
    for (int i = 0; i < 4; i++) PLX_TRY(plx__arena_f64(vectors[i], scratch, n, 1));
    PLX_TRY(plx__arena_mat(&m->centres, scratch, m->k, m->d));
    PLX_TRY(plx__arena_mat(&m->previous, scratch, m->k, m->d));
    PLX_TRY(plx__arena_f64(&m->sums, scratch, m->k, m->d + 1));
    PLX_TRY(plx__arena_f64(&m->moved, scratch, m->k, 1));
    PLX_TRY(plx__arena_i32(&m->label, scratch, n));
    PLX_TRY(plx__arena_i32(&m->before, scratch, n));
    PLX_TRY(plx__arena_u8(&m->taken, scratch, n));
    for (plx_index i = 0; i < n; i++) m->norm[i] = plx__norm(row_of(m, i), m->d);
    return PLX_OK;
}

/* One run; the best so far is in *out. */
static plx_status run_once(kmeans *m, plx__kmeans_result *out, bool first)
{
    plx__kmeans_result one = {0};
    PLX_TRY(lloyd(m, &one));
    if (!first && !(one.inertia < out->inertia - 1e-12 * fmax(1.0, out->inertia))) return PLX_OK;
    out->inertia = one.inertia;
    out->iterations = one.iterations;
    out->converged = one.converged;
    memcpy(out->label, m->label, (size_t)m->rows.rows * sizeof *out->label);
    plx__mat_copy(out->centres, plx__cmat(m->centres));
    return PLX_OK;
}

/* Run number `run` is left out when the time is over; the best so far is no converged result then. */
static bool too_late(const kmeans *m, plx__kmeans_result *out, plx_index run)
{
    if (run == 0 || !plx__out_of_time(m->ctx)) return false;
    out->converged = false;
    return true;
}

static plx_status deterministic_runs(kmeans *m, plx__kmeans_result *out, plx_index starts)
{
    plx_index n = m->rows.rows, s = plx__min(starts, n);
    for (plx_index run = 0; run < 2 * s && !too_late(m, out, run); run++) {
        PLX_TRY(grow_start(m, run / 2 * n / s, run % 2 == 0));
        PLX_TRY(run_once(m, out, run == 0));
        PLX_TRY(plx__report(m->ctx, "k-means", run + 1, 2 * s, out->inertia));
    }
    return PLX_OK;
}

static plx_status random_runs(kmeans *m, plx__kmeans_result *out, plx_index runs)
{
    for (plx_index run = 0; run < runs && !too_late(m, out, run); run++) {
        PLX_TRY(draw_start(m, run));
        PLX_TRY(run_once(m, out, run == 0));
        PLX_TRY(plx__report(m->ctx, "k-means", run + 1, runs, out->inertia));
    }
    return PLX_OK;
}

/* Cluster numbers by first member; clusters without members come last. */
static plx_status renumber(kmeans *m, plx__kmeans_result *out)
{
    int32_t *number = NULL, next = 0;
    PLX_TRY(plx__arena_i32(&number, plx__scratch(m->ctx), m->k));
    for (plx_index c = 0; c < m->k; c++) number[c] = -1;
    for (plx_index i = 0; i < m->rows.rows; i++) {
        int32_t *mine = &number[out->label[i]];
        if (*mine < 0) *mine = next++;
        out->label[i] = *mine;
    }
    plx__mat_copy(m->previous, plx__cmat(out->centres));
    for (plx_index c = 0; c < m->k; c++) {
        if (number[c] < 0) number[c] = next++;
        memcpy(out->centres.data + number[c] * m->d, m->previous.data + c * m->d, (size_t)m->d * sizeof(double));
    }
    return PLX_OK;
}

plx_status plx__kmeans(plx__kmeans_result *out, plx_context *ctx, plx_cmat rows, const plx__kmeans_options *o)
{
    kmeans m;
    *out = (plx__kmeans_result){0};
    if (o->k < 1 || o->k > rows.rows)
        PLX_FAIL(ctx, PLX_E_ARG, "%lld clusters of %lld samples; ask for 1 to %lld", (long long)o->k,
                 (long long)rows.rows, (long long)rows.rows);
    PLX_TRY(plx__arena_i32(&out->label, plx__scratch(ctx), rows.rows));
    PLX_TRY(plx__arena_mat(&out->centres, plx__scratch(ctx), o->k, rows.cols));
    plx__mark mark = plx__arena_mark(plx__scratch(ctx));
    PLX_TRY(open_kmeans(&m, ctx, rows, o));
    if (o->init == PLX__KMEANS_CENTRES) {
        plx__mat_copy(m.centres, o->centres);
        PLX_TRY(run_once(&m, out, true));
    } else if (o->init == PLX__KMEANS_DETERMINISTIC) {
        PLX_TRY(deterministic_runs(&m, out, o->starts ? o->starts : 10));
    } else {
        PLX_TRY(random_runs(&m, out, o->restarts ? o->restarts : 10));
    }
    PLX_TRY(renumber(&m, out));
    plx__arena_rewind(plx__scratch(ctx), mark);
    return PLX_OK;
}
