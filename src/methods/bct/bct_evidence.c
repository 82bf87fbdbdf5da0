/*
 * Inference on K_c and the evidence with its gradient: dK_c = K_c A_j dS_j A_j K_c with A_j = S_j^-1, so that with
 * T_j = A_j K_c(I_j, labelled) every derivative is a product of T_j, the matrix M of the likelihood and dS_j.
 */
#include <string.h>

#include "core/parallel.h"
#include "methods/bct/bct_device.h"
#include "gp/evidence.h"
#include "gp/gp_learn.h"
#include "gp/gp_weight_space.h"
#include "run/facts.h"

enum { BLOCK_ROWS = 256, FEW_LABELS = 5, SOME_LABELS = 25 };

/* ---- covariances with the labelled samples ---- */

/* Rows of Z Z_l'. */
static plx_status product_rows(void *arg, bct *b, plx_index begin, plx_index end)
{
    const plx_mat *z_l = arg;
    return plx__gemm(b->ctx, 1.0, plx__csub(plx__cmat(b->weight.z), begin, 0, end - begin, z_l->cols), PLX__N,
                     plx__cmat(*z_l), PLX__T, 0.0, plx__sub(b->kl, begin, 0, end - begin, z_l->rows));
}

static plx_status labelled_columns(bct *b)
{
    plx_index l = b->targets.n;
    if (b->weights) {
        plx__mark mark = plx__arena_mark(plx__scratch(b->ctx));
        plx_mat z;
        PLX_TRY(plx__arena_mat(&z, plx__scratch(b->ctx), l, b->weight.z.cols));
        PLX_TRY(plx__bct_labelled_of(b, plx__cmat(b->weight.z), z));
        PLX_TRY(plx__bct_each_block(b, b->cut.pane, product_rows, &z));
        for (plx_index i = 0; i < l; i++)
            if (b->labelled[i] >= b->begin && b->labelled[i] < b->end)
                b->kl.data[b->labelled[i] * l + i] += b->weight.c[b->labelled[i]];
        plx__arena_rewind(plx__scratch(b->ctx), mark);
    } else {
        PLX_TRY(plx__bct_labelled_dense(b));
    }
    PLX_TRY(plx__bct_labelled_of(b, plx__cmat(b->kl), b->kll));
    plx__mirror_lower(b->kll);
    return PLX_OK;
}

/* ---- gradient ---- */

/* Rows at.. of T M T' beside K_j o D2 in the same rows, columns 0..end-1: both are symmetric, so that columns
 * before the block count twice. */
typedef struct width_job {
    const bct_view *v;
    plx_cmat product, base;
    const double *gram; /* K_j off the diagonal; NULL: from the base */
    plx_index at, end, ld;
} width_job;

static plx_status width_rows(void *arg, plx_context *ctx, plx_index begin, plx_index end, double *partial)
{
    const width_job *job = arg;
    (void)ctx;
    for (plx_index i = begin; i < end; i++) {
        const double *base = job->base.data + i * job->base.ld, *product = job->product.data + i * job->product.ld;
        for (plx_index from = 0; from < job->end; from += BLOCK_ROWS) { /* blocks start at multiples of BLOCK_ROWS */
            plx_index width = plx__min(BLOCK_ROWS, job->end - from);
            double value[BLOCK_ROWS], sum = 0;
            if (job->gram) memcpy(value, job->gram + (job->at + i) * job->ld + from, (size_t)width * sizeof *value);
            else plx__kernel_of_base(&job->v->k.kernel, base + from, width, value);
            for (plx_index j = 0; j < width; j++) value[j] *= base[from + j];
            sum = plx__dot(value, product + from, width);
            partial[0] += from < job->at ? 2.0 * sum : sum;
        }
    }
    return PLX_OK;
}

/* < T M T', K_j o D2 > / width^2, by blocks of rows. */
static plx_status width_derivative(double *out, bct *b, const bct_view *v, plx_cmat t, plx_cmat tm)
{
    plx__mark mark = plx__arena_mark(plx__scratch(b->ctx));
    plx_mat product, base;
    double width = v->k.kernel.width, sum = 0;
    PLX_TRY(plx__arena_mat(&product, plx__scratch(b->ctx), BLOCK_ROWS, v->n));
    PLX_TRY(plx__arena_mat(&base, plx__scratch(b->ctx), BLOCK_ROWS, v->n));
    *out = 0;
    for (plx_index at = 0; at < v->n; at += BLOCK_ROWS) {
        plx_index rows = plx__min(BLOCK_ROWS, v->n - at), end = at + rows;
        plx_mat block = plx__sub(product, 0, 0, rows, end), d2 = plx__sub(base, 0, 0, rows, end);
        width_job job = {v, plx__cmat(block), plx__cmat(d2), b->dense.pair ? v->factor.data : NULL, at, end, v->n};
        PLX_TRY(plx__gemm(b->ctx, 1.0, plx__csub(tm, at, 0, rows, tm.cols), PLX__N, plx__csub(t, 0, 0, end, t.cols),
                          PLX__T, 0.0, block));
        if (v->base.data) job.base = plx__csub(v->base, at, 0, rows, end);
        else
            PLX_TRY(plx__dist_sq_matrix(b->ctx, plx__points_range(v->ref.rows, at, end),
                                        plx__points_range(v->ref.rows, 0, end), d2));
        PLX_TRY(plx__parallel_sum(b->ctx, rows, BLOCK_ROWS / 8, 1, width_rows, &job, &sum));
        *out += sum;
    }
    *out /= width * width;
    plx__arena_rewind(plx__scratch(b->ctx), mark);
    return PLX_OK;
}

typedef struct weigh_job {
    const bct_view *v;
    plx_mat t, tm;
} weigh_job;

/* Rows of T M. */
static plx_status weigh_rows(void *arg, bct *b, plx_index begin, plx_index end)
{
    const weigh_job *job = arg;
    plx_index first = plx__slab_row(&job->v->rows, begin), rows = plx__slab_row(&job->v->rows, end) - first;
    return plx__gemm(b->ctx, 1.0, plx__csub(plx__cmat(job->t), first, 0, rows, job->t.cols), PLX__N, plx__cmat(b->m_ll),
                     PLX__N, 0.0, plx__sub(job->tm, first, 0, rows, job->tm.cols));
}

/* By the logarithms of s_j, amplitude and width. K_j A_j = I - s_j A_j saves forming K_j for the amplitude. */
static plx_status view_derivatives(bct *b, const bct_view *v, double *variance, double *amplitude, double *width)
{
    plx_index l = b->targets.n;
    plx_mat t, tm, own;
    PLX_TRY(plx__bct_own_rows(&own, b, v, l));
    PLX_TRY(plx__bct_own_rows(&t, b, v, l));
    PLX_TRY(plx__bct_view_columns(b, v, own, t));
    PLX_TRY(plx__bct_own_rows(&tm, b, v, l));
    PLX_TRY(plx__bct_each_block(b, b->cut.pane, weigh_rows, &(weigh_job){v, t, tm}));
    PLX_TRY(plx__bct_inner_product(variance, b, v, plx__cmat(tm), plx__cmat(t)));
    PLX_TRY(plx__bct_inner_product(amplitude, b, v, plx__cmat(tm), plx__cmat(own)));
    *variance *= v->variance;
    *amplitude -= *variance;
    if (v->k.kernel.kind != PLX__KERNEL_RBF || b->fixed_widths) return PLX_OK;
    return width_derivative(width, b, v, plx__cmat(t), plx__cmat(tm));
}

static plx_status gradient_of(bct *b, double *gradient)
{
    plx_index at = 0, variances = b->n_hyper - b->m - b->regression;
    for (plx_index j = 0; j < b->m; j++) {
        plx__mark mark = plx__arena_mark(plx__scratch(b->ctx));
        double width = 0;
        PLX_TRY(view_derivatives(b, &b->views[j], &gradient[variances + j], &gradient[at], &width));
        at++;
        if (b->views[j].k.kernel.kind == PLX__KERNEL_RBF) gradient[at++] = width;
        plx__arena_rewind(plx__scratch(b->ctx), mark);
    }
    if (b->regression) gradient[b->n_hyper - 1] = b->targets.noise * plx__mat_trace(plx__cmat(b->m_ll));
    return PLX_OK;
}

/* ---- evaluation ---- */

/* `final`: the state is kept, not only its evidence. */
static plx_status evaluate(bct *b, const double *hyper, plx__gp_state *state, bool final, double *gradient)
{
    plx_mat none = {0};
    plx__bct_set_hyper(b, hyper);
    if (b->on) return plx__bct_device_evaluate(b, state, final, gradient);
    PLX_TRY(plx__bct_build(b));
    if (b->weight.thin) {
        PLX_TRY(plx__bct_labelled_rows(b));
        return plx__weight_space_fit(state, plx__scratch(b->ctx), b->ctx, plx__cmat(b->weight.z_l), b->weight.c_l,
                                     &b->targets, NULL);
    }
    PLX_TRY(labelled_columns(b));
    PLX_TRY(
        plx__gp_fit(state, plx__scratch(b->ctx), b->ctx, plx__cmat(b->kll), &b->targets, gradient ? b->m_ll : none));
    return gradient ? gradient_of(b, gradient) : PLX_OK;
}

static plx_status evidence_at(void *arg, plx_context *ctx, const double *hyper, double *evidence, double *gradient)
{
    plx__gp_state state;
    (void)ctx;
    PLX_TRY(evaluate(arg, hyper, &state, false, gradient));
    *evidence = state.evidence;
    return PLX_OK;
}

/* ---- maximisation ---- */

void plx__bct_warn_of_few(bct *b)
{
    const plx__problem *p = b->run->problem;
    plx_index fewest = b->targets.n;
    if (b->set->optimize == BCT_FIXED) return;
    for (plx_index c = 0; c < p->n_classes && !b->regression; c++) {
        plx_index count = 0;
        for (plx_index i = 0; i < b->targets.n; i++) count += p->label[b->targets.sample[i]] == c;
        fewest = plx__min(fewest, count);
    }
    if (fewest < FEW_LABELS)
        plx__warn(b->ctx,
                  "bct: %lld labelled samples%s are too few to learn view variances from; compare with optimize=none",
                  (long long)fewest, b->regression ? "" : " in a class");
    else if (fewest < SOME_LABELS)
        plx__info(b->ctx, "bct: with fewer than %d labelled samples per class learned view variances are unreliable",
                  SOME_LABELS);
}

static plx_status maximise(bct *b)
{
    uint8_t *free = NULL, *is_width = NULL;
    double *unit = NULL;
    plx_index at = 0, variances = b->n_hyper - b->m - b->regression;
    bool kernels = b->set->optimize == BCT_EVIDENCE, fixed = false;
    PLX_TRY(plx__arena_u8(&free, plx__scratch(b->ctx), b->n_hyper));
    PLX_TRY(plx__arena_u8(&is_width, plx__scratch(b->ctx), b->n_hyper));
    PLX_TRY(plx__arena_f64(&unit, plx__scratch(b->ctx), b->n_hyper, 1));
    for (plx_index i = 0; i < b->n_hyper; i++) unit[i] = 1.0;
    for (plx_index i = variances; i < b->n_hyper; i++) free[i] = 1;
    for (plx_index j = 0; j < b->m; j++) {
        if (kernels) PLX_TRY(plx__gp_amplitude_unit(&unit[at], b->ctx, &b->views[j].k));
        free[at++] = kernels;
        if (b->views[j].k.kernel.kind != PLX__KERNEL_RBF) continue;
        fixed |= kernels && b->weights;
        free[at] = kernels && !b->weights;
        is_width[at++] = 1;
    }
    if (fixed) plx__info(b->ctx, "bct: with pivots the widths stay as they are");
    plx__evidence problem = {b->n_hyper, b->hyper, free, is_width, unit, b->set->max_iter};
    b->fixed_widths = b->weights || !kernels;
    if (!b->regression) PLX_TRY(plx__arena_mat(&b->targets.near, plx__scratch(b->ctx), b->targets.q, b->targets.n));
    PLX_TRY(plx__evidence_maximise(b->ctx, &problem, evidence_at, b, &b->search));
    b->fixed_widths = false;
    return PLX_OK;
}

/* Squared distances or values at amplitude 1, once for all evaluations. */
static plx_status keep_bases(bct *b)
{
    for (plx_index j = 0; j < b->m && !b->weights && !b->on; j++) {
        bct_view *v = &b->views[j];
        plx_mat base;
        PLX_TRY(plx__arena_mat(&base, plx__scratch(b->ctx), v->n, v->n));
        PLX_TRY(plx__view_kernel_base(b->ctx, &v->k, &v->ref, base));
        v->base = plx__cmat(base);
    }
    return PLX_OK;
}

plx_status plx__bct_learn(bct *b, plx__gp_state *state)
{
    plx_index l = b->targets.n;
    bool precision = b->keep_precision;
    b->weight.thin = b->weights && !b->keep_factors && 2 * b->weight.z.cols < l;
    if (!b->weight.thin && !b->on) {
        PLX_TRY(plx__bct_own_rows(&b->kl, b, NULL, l));
        PLX_TRY(plx__arena_mat(&b->kll, plx__scratch(b->ctx), l, l));
        PLX_TRY(plx__arena_mat(&b->m_ll, plx__scratch(b->ctx), l, l));
    }
    b->keep_precision = false;
    if (b->set->optimize != BCT_FIXED) {
        PLX_TRY(keep_bases(b));
        PLX_TRY(maximise(b));
    }
    b->keep_precision = precision;
    b->jitter = 0;
    b->gradient = NULL;
    if (plx__wanted(b->run, "evidence_gradient"))
        PLX_TRY(plx__arena_f64(&b->gradient, plx__scratch(b->ctx), b->n_hyper, 1));
    PLX_TRY(evaluate(b, b->hyper, state, true, b->gradient));
    b->jitter = fmax(b->jitter, state->jitter);
    return PLX_OK;
}

plx_status plx__bct_tell(bct *b, const plx__gp_state *state)
{
    const plx__lbfgs_result *r = &b->search;
    if (b->set->optimize != BCT_FIXED) {
        PLX_TRY(plx__report_count(b->run, "evaluations", r->evaluations));
        PLX_TRY(plx__finish(b->run, NULL, r->iterations, r->converged, -r->value));
    }
    if (b->gradient)
        PLX_TRY(plx__store_put(b->run->out, "evidence_gradient", plx__cmat_of(b->gradient, b->n_hyper, 1)));
    b->run->info->objective = state->evidence;
    if (!state->converged)
        plx__warn(b->ctx, "bct: the Laplace approximation stopped before reaching its mode; results are approximate");
    return PLX_OK;
}
