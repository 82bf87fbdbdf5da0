/*
 * cca: regularised canonical correlation analysis of two or more views in primal form, dense or sparse.
 *
 * exact: Z_j is the centred view Xt itself, or R' of Xt' = Q R when it has more features than samples, so that nothing is
 * larger than n x n (with tau = 0 its principal components, because a redundant column would make Z'Z singular); svd: Z_j = U S of a randomised SVD of the centred view, which is never formed; iterative: products
 * only (cca_iterative.c). A sample is at (x - mean) . w_j.
 */
#include <math.h>
#include <string.h>

#include "linalg/cosine_search.h"
#include "linalg/dense.h"
#include "linalg/eigen.h"
#include "core/ranks.h"
#include "core/rng.h"
#include "data/divided.h"
#include "linalg/block_eigen.h"
#include "methods/cca/cca.h"

enum {
    EXACT_ORDER = 2000, /* features or samples up to which exact is the default */
    LEAST_RANK = 200    /* of the default svd: few directions need many components to be right */
};
static const double RANK_TOLERANCE = 1e-10;

static const plx__param_spec param_specs[] = {
    PLX__VIEW_CHOICE("kernel", "linear", "linear", "Always linear; kcca has other kernels."),
    {"solver", PLX_PARAM_CHOICE, 0, offsetof(canon_params, solver), "", 0, 0, "exact|svd|iterative",
     "How a large problem is reduced; default: exact for views with up to 2000 features or samples, svd for larger "
     "ones."},
    {"rank", PLX_PARAM_INT, 0, offsetof(canon_params, rank), "", 1, 1e9, NULL,
     "Singular vectors per view with solver=svd; larger is more exact and slower. Default: 2 dim + 20 with solver=svd, "
     "at least 200 where svd is chosen by default."},
    PLX__PARAM_END};

static const plx__array_spec array_specs[] = {
    {"rho", "k x 1", 0, "Regularised canonical values, descending."},
    {"correlation", "k x 1", 0,
     "Mean over the pairs of views in which both projections vary of their correlation; 0: none does."},
    {"projection.VIEW", "n x k", 0, "Coordinates by one view; zero rows where it is missing."},
    {"shared", "n x k", 0, "Mean of the projections of the views a sample has."},
    {"weights.VIEW", "d x k", 0, "Directions in the (scaled) features of a view."},
    {"retrieval", "pairs x 5", PLX__MEASURED | PLX__SOMETIMES,
     "retrieval=true: from view, to view, share of mates ranked first, in the first ten, mean reciprocal rank."},
    {"decision", "n x C", PLX__SOMETIMES, "classifier=svm: decision values; two classes: -f and f."},
    {NULL, NULL, 0, NULL}};

static const plx__mean_metric metrics[] = {{"top1", "retrieval", 2}, {"top10", "retrieval", 3}, {NULL, NULL, 0}};

typedef struct cca_view {
    plx__prepared *data;
    double *mean; /* d; zero when not centred */
    plx_mat back; /* d x r: from the reduced space to the features; data NULL: they are the same */
} cca_view;

/* ---- variance ---- */

/* The smallest and largest entry of every column, and how many there are. */
typedef struct column_range {
    plx__points x;
    plx_index begin, end; /* rows of this process */
    double *low, *high, *count;
} column_range;

static void sparse_range(const column_range *q)
{
    plx_ccsr x = q->x.csr;
    for (int64_t p = x.ptr[q->begin]; p < x.ptr[q->end]; p++) {
        q->low[x.col[p]] = fmin(q->low[x.col[p]], x.val[p]);
        q->high[x.col[p]] = fmax(q->high[x.col[p]], x.val[p]);
        q->count[x.col[p]]++;
    }
}

static void dense_range(const column_range *q)
{
    plx_cmat x = q->x.dense;
    for (plx_index i = q->begin; i < q->end; i++)
        for (plx_index j = 0; j < x.cols; j++) {
            q->low[j] = fmin(q->low[j], x.data[i * x.ld + j]);
            q->high[j] = fmax(q->high[j], x.data[i * x.ld + j]);
        }
}

static void own_range(void *arg)
{
    const column_range *q = arg;
    if (plx__points_sparse(q->x)) sparse_range(q);
    else dense_range(q);
}

/* Sparse columns have zeros where they have no entry. */
static void add_zeros(const column_range *q, plx_index d)
{
    for (plx_index j = 0; j < d && plx__points_sparse(q->x); j++) {
        if (q->count[j] == (double)q->x.csr.rows) continue;
        q->low[j] = fmin(q->low[j], 0.0);
        q->high[j] = fmax(q->high[j], 0.0);
    }
}

/* Does a column take two values (without centring: one other than 0)? Tested on the data, not on a rounded variance. */
static plx_status require_variance(canon *c, const canon_view *v, plx__points x)
{
    plx__mark mark = plx__arena_mark(plx__scratch(c->ctx));
    plx_index d = plx__points_cols(x);
    column_range q = {.x = x, .begin = plx__bound_begin(c->ctx, v->bound)};
    bool varies = false;
    q.end = plx__bound_end(c->ctx, v->bound, v->n);
    PLX_TRY(plx__arena_f64(&q.low, plx__scratch(c->ctx), 3, d));
    q.high = q.low + d;
    q.count = q.high + d;
    for (plx_index j = 0; j < d; j++) {
        q.low[j] = INFINITY;
        q.high[j] = -INFINITY;
    }
    PLX_TRY(plx__bound_chain(c->ctx, v->bound, q.low, 3 * (size_t)d * sizeof *q.low, own_range, &q));
    add_zeros(&q, d);
    for (plx_index j = 0; j < d && !varies; j++)
        varies = c->set->center ? q.high[j] > q.low[j] : q.high[j] > 0.0 || q.low[j] < 0.0;
    plx__arena_rewind(plx__scratch(c->ctx), mark);
    if (varies) return PLX_OK;
    PLX_FAIL(c->ctx, PLX_E_DATA, "cca: view '%s' has no variance; leave it out", v->view->name);
}

/* ---- views ---- */

static plx_status find_mean(canon *c, cca_view *own, const canon_view *v)
{
    PLX_TRY(plx__arena_f64(&own->mean, plx__scratch(c->ctx), own->data->cols, 1));
    return c->set->center ? plx__points_col_means(own->mean, c->ctx, v->z, v->bound) : PLX_OK;
}

/* The fitted rows of a view; of a divided one those of this process, as passes over them divide them. */
static plx_status choose_rows(canon *c, canon_view *v, const plx__prepared *data)
{
    plx__slab_rows whose = {plx__slabs_cut(v->n, PLX__PANE_ROWS), v->n, NULL};
    plx_index *bound = NULL;
    PLX_TRY(plx__points_choose_own(&v->z, c->ctx, data->rows, data->bound, v->sample, &whose));
    if (!data->bound) return PLX_OK;
    PLX_TRY(plx__arena_i64(&bound, plx__scratch(c->ctx), plx__ranks(c->ctx) + 1));
    plx__slabs_bounds(bound, c->ctx, whose.cut);
    v->bound = bound;
    return PLX_OK;
}

/* Fitted rows: dense ones with the mean taken off, sparse ones with the mean beside them. */
static plx_status open_view(canon *c, canon_view *v, cca_view *own)
{
    plx_mat centred;
    PLX_TRY(plx__prepare_rows(own->data, c->run, v->index));
    PLX_TRY(choose_rows(c, v, own->data));
    PLX_TRY(require_variance(c, v, v->z));
    PLX_TRY(find_mean(c, own, v));
    v->r = own->data->cols;
    v->mean = plx__points_sparse(v->z) && c->set->center ? own->mean : NULL;
    if (plx__points_sparse(v->z) || !c->set->center) return PLX_OK;
    plx_index begin = plx__bound_begin(c->ctx, v->bound), end = plx__bound_end(c->ctx, v->bound, v->n);
    PLX_TRY(plx__rows_clone(&centred, c->ctx, v->z.dense, v->bound));
    plx__sub_row(plx__sub(centred, begin, 0, end - begin, v->r), own->mean);
    v->z = plx__points_dense(plx__cmat(centred));
    return PLX_OK;
}

/* All of them, also of a divided view. */
static plx_status dense_rows(plx_mat *out, canon *c, const canon_view *v)
{
    plx_index begin = plx__bound_begin(c->ctx, v->bound), end = plx__bound_end(c->ctx, v->bound, v->n);
    plx__points own = plx__points_range(v->z, begin, end);
    PLX_TRY(plx__arena_mat(out, plx__scratch(c->ctx), v->n, v->r));
    plx_mat to = plx__sub(*out, begin, 0, end - begin, v->r);
    if (!plx__points_sparse(own)) plx__mat_copy(to, own.dense);
    else plx__csr_to_dense(to, own.csr);
    if (v->bound) PLX_TRY(plx__bound_share(c->ctx, v->bound, out->data, (size_t)v->r * sizeof *out->data));
    if (v->mean) plx__sub_row(*out, v->mean);
    return PLX_OK;
}

/* The view becomes Z = U S with the singular values that count; V leads back to the features. */
static plx_status take_svd(canon *c, canon_view *v, cca_view *own, plx_mat u, const double *s, plx_mat vt)
{
    plx_index r = 0, d = v->r;
    while (r < u.cols && s[r] > RANK_TOLERANCE * s[0]) r++;
    plx_mat z;
    PLX_TRY(plx__arena_mat(&z, plx__scratch(c->ctx), v->n, r));
    PLX_TRY(plx__arena_mat(&own->back, plx__scratch(c->ctx), d, r));
    for (plx_index i = 0; i < v->n; i++)
        for (plx_index j = 0; j < r; j++) z.data[i * z.ld + j] = u.data[i * u.ld + j] * s[j];
    plx__mat_transpose(own->back, plx__csub(plx__cmat(vt), 0, 0, r, d));
    v->z = plx__points_dense(plx__cmat(z));
    v->mean = NULL;
    v->bound = NULL;
    v->r = r;
    return PLX_OK;
}

static plx_status thin_svd(canon *c, canon_view *v, cca_view *own)
{
    plx_index r = plx__min(v->n, v->r);
    plx_mat x, u, vt;
    double *s = NULL;
    PLX_TRY(dense_rows(&x, c, v));
    PLX_TRY(plx__arena_mat(&u, plx__scratch(c->ctx), v->n, r));
    PLX_TRY(plx__arena_mat(&vt, plx__scratch(c->ctx), r, v->r));
    PLX_TRY(plx__arena_f64(&s, plx__scratch(c->ctx), r, 1));
    PLX_TRY(plx__svd(c->ctx, x, u, s, vt));
    return take_svd(c, v, own, u, s, vt);
}

/* More features than samples: Xt' = Q R, Z = R' is n x n and Q leads back; Z'Z = R R' has the same non-zero part. */
static plx_status turn_wide(canon *c, canon_view *v, cca_view *own)
{
    plx_mat x, r, z;
    PLX_TRY(plx__arena_mat(&own->back, plx__scratch(c->ctx), v->r, v->n));
    PLX_TRY(plx__arena_mat(&z, plx__scratch(c->ctx), v->n, v->n));
    plx__mark mark = plx__arena_mark(plx__scratch(c->ctx));
    PLX_TRY(dense_rows(&x, c, v));
    PLX_TRY(plx__poll(c->ctx));
    plx__mat_transpose(own->back, plx__cmat(x));
    PLX_TRY(plx__poll(c->ctx));
    plx__arena_rewind(plx__scratch(c->ctx), mark);
    PLX_TRY(plx__arena_mat(&r, plx__scratch(c->ctx), v->n, v->n));
    PLX_TRY(plx__qr(c->ctx, own->back, r));
    plx__mat_transpose(z, plx__cmat(r));
    plx__arena_rewind(plx__scratch(c->ctx), mark);
    v->z = plx__points_dense(plx__cmat(z));
    v->mean = NULL;
    v->bound = NULL;
    v->r = v->n;
    return PLX_OK;
}

static plx_status reduce_exactly(canon *c, canon_view *v, cca_view *own)
{
    if (c->set->tau == 0) return thin_svd(c, v, own);
    return v->r > v->n ? turn_wide(c, v, own) : PLX_OK;
}

static plx_index rank_of(const canon_params *set)
{
    plx_index usual = 2 * set->dim + 20;
    return set->rank > 0 ? set->rank : set->solver == CCA_SVD ? usual : plx__max(usual, LEAST_RANK);
}

/* ---- the centred rows as products, which processes divide ---- */

typedef struct centred_rows {
    plx__row_passes rows;
    const double *mean; /* NULL: they are centred */
} centred_rows;

static plx_status times_centred(void *arg, plx_context *ctx, plx_cmat x, plx_mat y)
{
    const centred_rows *z = arg;
    PLX_TRY(plx__canon_own_times(y, ctx, &z->rows, z->mean, x));
    return plx__row_passes_share(&z->rows, ctx, y);
}

static plx_status times_centred_t(void *arg, plx_context *ctx, plx_cmat y, plx_mat x)
{
    const centred_rows *z = arg;
    return plx__canon_times_t(x, ctx, &z->rows, z->mean, y);
}

static plx_status random_svd(canon *c, canon_view *v, cca_view *own)
{
    plx_index r = plx__min(rank_of(c->set), plx__min(v->n, v->r));
    plx__rsvd_options options = {0, 2, PLX__STREAM('c', 'c', 'a', 's', v->index)};
    centred_rows z = {.mean = v->mean};
    plx__rsvd_input in = {
        .dense = {NULL, v->n, v->r, v->r}, .times = times_centred, .times_t = times_centred_t, .arg = &z};
    plx_mat u, vt;
    double *s = NULL;
    PLX_TRY(plx__row_passes_open(&z.rows, c->ctx, v->z, true));
    PLX_TRY(plx__arena_mat(&u, plx__scratch(c->ctx), v->n, r));
    PLX_TRY(plx__arena_mat(&vt, plx__scratch(c->ctx), r, v->r));
    PLX_TRY(plx__arena_f64(&s, plx__scratch(c->ctx), r, 1));
    PLX_TRY(plx__rsvd(c->ctx, in, r, &options, u, s, vt));
    return take_svd(c, v, own, u, s, vt);
}

static int solver_for(const canon_params *set, plx_index samples, plx_index features)
{
    if (set->solver >= 0) return set->solver;
    return plx__min(samples, features) <= EXACT_ORDER ? CCA_EXACT : CCA_SVD;
}

static plx_status reduce_view(canon *c, canon_view *v, cca_view *own)
{
    PLX_TRY(open_view(c, v, own));
    switch (solver_for(c->set, v->n, v->r)) {
    case CCA_SVD: return random_svd(c, v, own);
    case CCA_EXACT: return reduce_exactly(c, v, own);
    default: return PLX_OK;
    }
}

/* ---- projections ---- */

/* Directions in the features, and the mean, into the model. */
static plx_status put_weights(canon *c, const canon_view *v, const void *views, plx_index index)
{
    const cca_view *own = (const cca_view *)views + index;
    const char *name = NULL;
    plx_mat w;
    PLX_TRY(plx__arena_printf(&name, plx__scratch(c->ctx), "_mean.%s", v->view->name));
    PLX_TRY(plx__store_put(c->run->out, name, (plx_cmat){own->mean, 1, own->data->cols, own->data->cols}));
    PLX_TRY(plx__view_key(&name, c->ctx, "weights", v->view->name));
    PLX_TRY(plx__store_new(&w, c->run->out, name, own->data->cols, c->k));
    if (own->back.data) return plx__gemm(c->ctx, 1.0, plx__cmat(own->back), PLX__N, plx__cmat(v->w), PLX__N, 0.0, w);
    plx__mat_copy(w, plx__cmat(v->w));
    return PLX_OK;
}

/* (x - mean) . w */
static plx_status project(canon *c, const canon_view *v, const plx__prepared *data, const plx__store *state,
                          plx_cmat weights, const plx_index *samples, plx_mat out)
{
    const char *name = NULL;
    plx__points x;
    plx__slab_rows whose = {plx__slabs_cut(out.rows, PLX__PANE_ROWS), out.rows, NULL};
    plx_cmat mean;
    if (weights.rows != data->cols)
        PLX_FAIL(c->ctx, PLX_E_FORMAT, "cca: the model's weights of view '%s' do not fit its features", v->view->name);
    PLX_TRY(plx__arena_printf(&name, plx__scratch(c->ctx), "_mean.%s", v->view->name));
    PLX_TRY(plx__store_shaped(&mean, c->ctx, state, name, 1, data->cols));
    PLX_TRY(plx__points_choose_own(&x, c->ctx, data->rows, data->bound, samples, &whose));
    return plx__canon_times(out, c->ctx, x, mean.data, weights);
}

static const canon_way way = {plx__prepare_rows, put_weights, project};

/* ---- fit and predict ---- */

static plx_status fit(plx__run *run)
{
    canon c;
    cca_view *own = NULL;
    plx__prepared *data = NULL;
    PLX_TRY(plx__canon_open(&c, run));
    PLX_TRY(PLX__ARENA_NEW(&own, plx__scratch(run->ctx), c.m));
    PLX_TRY(PLX__ARENA_NEW(&data, plx__scratch(run->ctx), c.m));
    for (plx_index v = 0; v < c.m; v++) {
        own[v].data = &data[v];
        PLX_TRY(reduce_view(&c, &c.views[v], &own[v]));
        PLX_TRY(plx__report(run->ctx, "reduce", v + 1, c.m, NAN));
    }
    PLX_TRY(c.set->solver == CCA_ITERATIVE ? plx__cca_iterate(&c) : plx__canon_solve(&c));
    return plx__canon_project(&c, &way, data, own);
}

static plx_status predict(plx__run *run) { return plx__canon_predict(run, &way); }

/* The matrices of a view with few samples each process has for itself; factorisations of all rows nobody divides. */
static plx_status check(plx__run *run)
{
    const canon_params *set = run->params;
    bool exact = false;
    PLX_TRY(plx__canon_check(run));
    if (plx__ranks(run->ctx) == 1) return PLX_OK;
    for (plx_index v = 0; v < run->problem->n_views; v++)
        exact = exact || solver_for(set, run->problem->n, run->problem->views[v].cols) == CCA_EXACT;
    if (set->tau == 0 && exact)
        PLX_FAIL(run->ctx, PLX_E_UNSUPPORTED,
                 "cca: tau = 0 with solver = exact is not distributed: one process has to fit it; tau > 0 is, and "
                 "solver = iterative or svd");
    return PLX_OK;
}

static bool own_rows(plx__run *run, const plx_dataset *data)
{
    (void)run;
    for (plx_index v = 0; v < data->n_views; v++)
        if (data->views[v].kind == PLX_VIEW_KERNEL) return false;
    return true;
}

/* Reduced order of a view, and the bytes of bringing it there beyond its rows. */
static double reduced_bytes(const canon_params *set, plx_index samples, plx_index features, double *order)
{
    double n = (double)samples, d = (double)features, k = (double)plx__min(set->dim, samples), rank = 0;
    *order = 0;
    switch (solver_for(set, samples, features)) {
    case CCA_ITERATIVE: return 3 * n * (k + 8) + 5 * d * (k + 8) + plx__block_eigen_bytes(d, k + 8) / 8;
    case CCA_SVD:
        *order = rank = fmin((double)rank_of(set), fmin(n, d));
        return (2 * n + 3 * d) * (rank + 10) + 4 * rank * rank;
    default: *order = fmin(n, d);
    }
    if (set->tau == 0) return 2 * n * d + (n + 2 * d) * *order;
    return d > n ? 2 * n * d + 3 * n * n : 0;
}

/* Per view: prepared and chosen rows, then what its solver needs; the blocks of the reduced problem; results. */
static double memory(const plx__run *run)
{
    const plx__problem *x = run->problem;
    const canon_params *set = run->params;
    double n = (double)x->n, views = (double)x->n_views, k = (double)plx__min(set->dim, x->n), bytes = 0, order = 0;
    double squares = 0, columns = 0, table = 0;
    for (plx_index v = 0; v < x->n_views; v++) columns += (double)x->views[v].cols;
    k = fmin(k, columns);
    for (plx_index v = 0; v < x->n_views; v++) {
        const plx__view *view = &x->views[v];
        double d = (double)view->cols, entries = (view->sparse ? 1.5 : 1) * plx__held_values(view, x->n), r = 0;
        double reduce = run->fitted ? 0 : reduced_bytes(set, x->n, view->cols, &r);
        bytes += plx__prepared_bytes(run, v) + 8 * (2 * entries + d * k + reduce);
        order += r;
        squares += r * r;
        int solver = solver_for(set, x->n, view->cols);
        table = fmax(table, solver == CCA_ITERATIVE ? d * (k + 8) : solver == CCA_SVD ? d * (r + 10) : r * r);
    }
    if (!run->fitted) bytes += plx__row_passes_bytes(run->ctx, x->n, table);
    if (set->retrieval) bytes += plx__cosine_search_bytes(run->ctx, x->n, x->n, (plx_index)k) + 16 * n * (k + 2);
    if (set->classifier == CANON_SVM) bytes += 8 * (double)x->n_labelled * (double)x->n_labelled;
    bytes += 8 * (squares + (x->n_views > 2 ? 2 : 1) * order * order);
    return bytes + 8 * 2 * n * k * (views + 2);
}

static const plx__param_table tables[] = {plx__canon_params,   param_specs,           plx__scale_params,
                                          plx__heldout_params, plx__zero_rows_params, NULL};

const plx__method plx__method_cca = {
    .name = "cca",
    .title = "Canonical correlation analysis",
    .summary = "Directions of every view whose projections agree across views, for dense data and for sparse text.",
    .citation = "fortuna2005kcca",
    .task = PLX_TASK_EMBED,
    .capabilities = PLX_CAN_PREDICT | PLX_CAN_MISSING_VIEWS | PLX_CAN_SPARSE | PLX_CAN_USE_UNLABELLED | PLX_IS_RANDOM |
                    PLX_IS_FEATURE_FREE,
    .min_views = 2,
    .zero_rows = PLX__ZERO_ROWS_PARAM,
    .params_size = sizeof(canon_params),
    .scores = "margin of the class, larger is surer (not a probability)",
    .growth = "linear",
    .ranks = PLX__RANKS_SUMS,
    .own_rows = own_rows,
    .whose_rows = plx__whose_panes,
    .params = tables,
    .arrays = array_specs,
    .profiles = {.array = "weights.VIEW", .kind = PLX__PROFILE_LOADINGS},
    .transform = "shared",
    .metrics = metrics,
    .memory_remedy = "use solver=svd with a small rank or solver=iterative, or raise the memory limit",
    .check = check,
    .memory = memory,
    .predicts_apart = true,
    .fit = fit,
    .predict = predict};
