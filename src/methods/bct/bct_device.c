/*
 * The formulas are those of bct_dense.c and bct_evidence.c. Lambda of more than two views, or of incomplete ones, is
 * inverted as a whole: on a device that costs less than solves with many right sides.
 */
#include "methods/bct/bct_device.h"

#include <math.h>
#include <string.h>

static plx_device_mat top(plx_device_mat m, plx_index rows, plx_index cols)
{
    plx_device_mat out = {m.buffer, m.offset, rows, cols, cols};
    return out;
}

/* ---- one view ---- */

/* S_j = K_j + s_j I. */
static plx_status view_gram(bct *b, plx_index j, plx_device_mat out)
{
    const bct_view *v = &b->views[j];
    plx__device *dev = b->on->at.dev;
    plx__device_terms add = {.beta = 1, .shift = v->variance};
    plx_device_mat base = b->on->gradients ? b->on->base[j] : out;
    if (!b->on->gradients) PLX_TRY(plx__device_kernel_base(dev, &v->k, &v->ref, out));
    PLX_TRY(plx__device_kernel_of_base(dev, &v->k.kernel, base, 0, out));
    return plx__device_combine(dev, out, &add);
}

static plx_status factor_gram(bct *b, plx_index j, plx_device_mat s)
{
    const bct_view *v = &b->views[j];
    const char *what = NULL;
    double jitter = 0;
    PLX_TRY(plx__arena_printf(&what, plx__scratch(b->ctx), "bct: matrix for view '%s'", v->k.name));
    PLX_TRY(plx__device_cholesky_jitter(b->on->at.dev, s, top(b->on->column, v->n, 1), &jitter, what, v->sample, NULL));
    b->jitter = fmax(b->jitter, jitter);
    return PLX_OK;
}

static plx_status factor_lambda(bct *b)
{
    double jitter = 0;
    PLX_TRY(plx__device_cholesky_jitter(b->on->at.dev, b->on->lambda, b->on->column, &jitter,
                                        "bct: matrix for all views together", b->covered, NULL));
    b->jitter = fmax(b->jitter, jitter);
    return PLX_OK;
}

/* The diagonal of a matrix, here. */
static plx_status read_diagonal(bct *b, plx_device_mat a, double *out)
{
    plx_device_mat column = top(b->on->column, a.rows, 1);
    PLX_TRY(plx__device_diagonal(b->on->at.dev, a, column));
    return plx__device_read_vec(b->on->at.dev, out, column);
}

static plx_status trace_of(double *out, bct *b, plx_device_mat a)
{
    plx__mark mark = plx__arena_mark(plx__scratch(b->ctx));
    double *diagonal = NULL;
    PLX_TRY(plx__arena_f64(&diagonal, plx__scratch(b->ctx), a.rows, 1));
    PLX_TRY(read_diagonal(b, a, diagonal));
    *out = 0;
    for (plx_index i = 0; i < a.rows; i++) *out += diagonal[i];
    plx__arena_rewind(plx__scratch(b->ctx), mark);
    return PLX_OK;
}

/* ---- K_c(:, labelled) ---- */

/* T_first = S^-1 S_other(:, l), K_c(:, l) = S_first T_first; S is made in the place of the other. */
static plx_status build_pair(bct *b)
{
    bct_device *on = b->on;
    plx__device *dev = on->at.dev;
    double trace[2];
    for (plx_index j = 0; j < 2; j++) {
        PLX_TRY(view_gram(b, j, on->s[j]));
        PLX_TRY(trace_of(&trace[j], b, on->s[j]));
    }
    on->first = trace[0] <= trace[1] ? 0 : 1;
    on->lambda = on->s[1 - on->first];
    plx__device_terms add = {.beta = 1, .alpha = 1, .a = on->s[on->first]};
    PLX_TRY(plx__device_gather(dev, on->pair_t, on->lambda, NULL, on->labelled));
    PLX_TRY(plx__device_combine(dev, on->lambda, &add));
    PLX_TRY(factor_lambda(b));
    PLX_TRY(plx__device_chol_solve(dev, on->lambda, on->pair_t));
    return plx__device_gemm(dev, 1.0, on->s[on->first], PLX__N, on->pair_t, PLX__N, 0.0, on->kl);
}

/* With one view K_c is S_1 itself. */
static plx_status build_single(bct *b)
{
    bct_device *on = b->on;
    PLX_TRY(view_gram(b, 0, on->lambda));
    PLX_TRY(plx__device_gather(on->at.dev, on->kl, on->lambda, NULL, on->labelled));
    PLX_TRY(read_diagonal(b, on->lambda, b->dense.diagonal));
    if (!on->gradients) return PLX_OK;
    PLX_TRY(plx__device_copy(on->at.dev, on->s[0], on->lambda));
    return factor_gram(b, 0, on->s[0]);
}

/* Lower triangle of Lambda += S_j^-1. */
static plx_status add_precision(bct *b, plx_index j)
{
    bct_device *on = b->on;
    plx__device *dev = on->at.dev;
    plx_device_mat inverse = top(on->work, b->views[j].n, b->views[j].n);
    PLX_TRY(view_gram(b, j, on->s[j]));
    PLX_TRY(factor_gram(b, j, on->s[j]));
    PLX_TRY(plx__device_copy(dev, inverse, on->s[j]));
    PLX_TRY(plx__device_chol_inverse(dev, inverse));
    return plx__device_did(
        dev, plx__device_table(dev)->scatter_add(plx__device_handle(dev), on->lambda, on->place[j], inverse),
        "scatter_add");
}

static plx_status build_many(bct *b)
{
    bct_device *on = b->on;
    plx__device *dev = on->at.dev;
    PLX_TRY(plx__device_fill(dev, on->lambda, 0.0));
    for (plx_index j = 0; j < b->m; j++) PLX_TRY(add_precision(b, j));
    PLX_TRY(plx__device_triangle(dev, on->lambda, PLX_DEVICE_MIRROR_LOWER));
    PLX_TRY(factor_lambda(b));
    PLX_TRY(plx__device_copy(dev, on->work, on->lambda));
    PLX_TRY(plx__device_chol_inverse(dev, on->work));
    PLX_TRY(plx__device_gather(dev, on->kl, on->work, NULL, on->labelled));
    return read_diagonal(b, on->work, b->dense.diagonal);
}

static plx_status build(bct *b)
{
    bct_device *on = b->on;
    PLX_TRY(on->pair ? build_pair(b) : b->m == 1 ? build_single(b) : build_many(b));
    PLX_TRY(plx__device_gather(on->at.dev, on->at.k, on->kl, on->labelled, NULL));
    return plx__device_triangle(on->at.dev, on->at.k, PLX_DEVICE_MIRROR_LOWER);
}

/* ---- derivatives ---- */

/* own = K_c(I_j, labelled), t = S_j^-1 own. */
static plx_status view_columns(bct *b, plx_index j, plx_device_mat *own, plx_device_mat *t)
{
    bct_device *on = b->on;
    plx__device *dev = on->at.dev;
    plx_index n = b->views[j].n, l = b->targets.n;
    *own = on->kl;
    *t = top(on->t, n, l);
    if (n < b->n_cov) {
        *own = top(on->own, n, l);
        PLX_TRY(plx__device_gather(dev, *own, on->kl, on->place[j], NULL));
    }
    if (on->pair && j == on->first) {
        *t = on->pair_t;
        return PLX_OK;
    }
    if (on->pair) PLX_TRY(plx__device_gather(dev, *t, on->s[on->first], NULL, on->labelled));
    else PLX_TRY(plx__device_copy(dev, *t, *own));
    return plx__device_chol_solve(dev, on->pair ? on->lambda : on->s[j], *t);
}

/* < T M T', K_j o D2 > / width^2. */
static plx_status width_derivative(double *out, bct *b, plx_index j, plx_device_mat t, plx_device_mat tm)
{
    bct_device *on = b->on;
    const bct_view *v = &b->views[j];
    plx_device_mat product = top(on->work, v->n, v->n);
    double sums[2];
    PLX_TRY(plx__device_gemm(on->at.dev, 1.0, tm, PLX__N, t, PLX__T, 0.0, product));
    PLX_TRY(plx__device_kernel_gradient(on->at.dev, &v->k.kernel, on->base[j], product, sums));
    *out = sums[1] / (v->k.kernel.width * v->k.kernel.width);
    return PLX_OK;
}

static plx_status view_derivatives(bct *b, plx_index j, double *variance, double *amplitude, double *width)
{
    bct_device *on = b->on;
    const bct_view *v = &b->views[j];
    plx_device_mat own, t, tm = top(on->tm, v->n, b->targets.n);
    PLX_TRY(view_columns(b, j, &own, &t));
    PLX_TRY(plx__device_gemm(on->at.dev, 1.0, t, PLX__N, on->at.m, PLX__N, 0.0, tm));
    PLX_TRY(plx__device_dot(variance, on->at.dev, tm, t));
    PLX_TRY(plx__device_dot(amplitude, on->at.dev, tm, own));
    *variance *= v->variance;
    *amplitude -= *variance;
    if (v->k.kernel.kind != PLX__KERNEL_RBF || b->fixed_widths) return PLX_OK;
    return width_derivative(width, b, j, t, tm);
}

static plx_status gradient_of(bct *b, double *gradient)
{
    plx_index at = 0, variances = b->n_hyper - b->m - b->regression;
    for (plx_index j = 0; j < b->m; j++) {
        double width = 0;
        PLX_TRY(view_derivatives(b, j, &gradient[variances + j], &gradient[at], &width));
        at++;
        if (b->views[j].k.kernel.kind == PLX__KERNEL_RBF) gradient[at++] = width;
    }
    if (!b->regression) return PLX_OK;
    PLX_TRY(trace_of(&gradient[b->n_hyper - 1], b, b->on->at.m));
    gradient[b->n_hyper - 1] *= b->targets.noise;
    return PLX_OK;
}

plx_status plx__bct_device_evaluate(bct *b, plx__gp_state *state, bool final, double *gradient)
{
    PLX_TRY(build(b));
    PLX_TRY(plx__gp_device_fit(state, plx__scratch(b->ctx), b->ctx, &b->on->at, &b->targets, gradient != NULL, final,
                               final ? b->run->out->arena : NULL));
    return gradient ? gradient_of(b, gradient) : PLX_OK;
}

/* ---- scores ---- */

/* S_1 - S_1 S^-1 S_1 with the S_1 of the smaller trace, which is overwritten. */
static plx_status pair_diagonal(bct *b)
{
    bct_device *on = b->on;
    plx_device_mat s = on->s[on->first];
    double *taken = NULL;
    PLX_TRY(plx__arena_f64(&taken, plx__scratch(b->ctx), b->n_cov, 1));
    PLX_TRY(read_diagonal(b, s, b->dense.diagonal));
    PLX_TRY(plx__device_tri_solve_right(on->at.dev, on->lambda, PLX__T, s));
    PLX_TRY(plx__device_row_norms_sq(on->at.dev, s, on->column));
    PLX_TRY(plx__device_read_vec(on->at.dev, taken, on->column));
    for (plx_index i = 0; i < b->n_cov; i++) b->dense.diagonal[i] -= taken[i];
    return PLX_OK;
}

/* K_c(i, i) less the squared length of K_c(i, l) W^1/2 L^-T, for problem c. */
static plx_status variances_of(bct *b, const plx__gp_state *s, plx_index c, plx_device_mat root, plx_mat variance)
{
    bct_device *on = b->on;
    plx__device_terms scale = {.alpha = 1, .a = on->kl, .r = plx__device_sub(root, c, 0, 1, s->n)};
    double *taken = NULL;
    PLX_TRY(plx__arena_f64(&taken, plx__scratch(b->ctx), b->n_cov, 1));
    PLX_TRY(plx__device_combine(on->at.dev, on->t, &scale));
    if (s->q > 1) PLX_TRY(plx__device_write(on->at.dev, on->at.factor, plx__csub(s->factor, c * s->n, 0, s->n, s->n)));
    PLX_TRY(plx__device_tri_solve_right(on->at.dev, on->at.factor, PLX__T, on->t));
    PLX_TRY(plx__device_row_norms_sq(on->at.dev, on->t, on->column));
    PLX_TRY(plx__device_read_vec(on->at.dev, taken, on->column));
    for (plx_index i = 0; i < b->n_cov; i++)
        variance.data[i * variance.ld + c] = fmax(0.0, b->dense.diagonal[i] - taken[i]);
    return PLX_OK;
}

static plx_status score(bct *b, const plx__gp_state *s, bct_scores *out)
{
    plx__device *dev = b->on->at.dev;
    plx_device_mat alpha, root, mean;
    PLX_TRY(plx__arena_mat(&out->mean, plx__scratch(b->ctx), b->n_cov, s->q));
    PLX_TRY(plx__arena_mat(&out->variance, plx__scratch(b->ctx), b->n_cov, s->q));
    PLX_TRY(plx__device_put(&alpha, dev, s->alpha));
    PLX_TRY(plx__device_put(&root, dev, s->root));
    PLX_TRY(plx__device_mat(&mean, dev, b->n_cov, s->q));
    PLX_TRY(plx__device_gemm(dev, 1.0, b->on->kl, PLX__N, alpha, PLX__N, 0.0, mean));
    PLX_TRY(plx__device_read(dev, out->mean, mean));
    if (b->on->pair) PLX_TRY(pair_diagonal(b));
    for (plx_index c = 0; c < s->q; c++) PLX_TRY(variances_of(b, s, c, root, out->variance));
    return PLX_OK;
}

/* ---- all of it ---- */

static bool everybody_has_all(const bct *b)
{
    for (plx_index j = 0; j < b->m; j++)
        if (b->views[j].n < b->n_cov) return false;
    return true;
}

static double needed_bytes(const bct *b, plx__device *dev, bool pair, bool gradients)
{
    double n = (double)b->n_cov, l = (double)b->targets.n, views = (double)b->m, rows = 0, work = 0;
    double squares = (pair ? 2 : 1 + (b->m > 1 || gradients ? views : 0)) + (gradients ? views : 0);
    double columns = 2 + pair + gradients + (gradients && !everybody_has_all(b));
    double corners = 2 + gradients + (gradients && b->targets.q > 1);
    if (!pair || gradients) squares++;
    for (plx_index j = 0; j < b->m; j++) rows += plx__device_reference_bytes(dev, &b->views[j].k, &b->views[j].ref);
    work = fmax(plx__device_workspace(dev, PLX_DEVICE_OP_POTRF, b->n_cov, 0, 0),
                plx__device_workspace(dev, PLX_DEVICE_OP_POTRI, b->n_cov, 0, 0));
    work = fmax(work, plx__device_workspace(dev, PLX_DEVICE_OP_KERNEL, b->n_cov, b->n_cov, 0));
    return 8 * (squares * n * n + columns * n * l + corners * l * l + 8 * n) + rows + work;
}

static plx_status reserve_views(bct *b, bct_device *on)
{
    plx__device *dev = on->at.dev;
    for (plx_index j = 0; j < b->m; j++) {
        bct_view *v = &b->views[j];
        if (on->pair || b->m > 1 || on->gradients) PLX_TRY(plx__device_mat(&on->s[j], dev, v->n, v->n));
        PLX_TRY(plx__device_put_bytes(&on->place[j], dev, v->at, v->n, sizeof *v->at));
        if (!on->gradients) continue;
        PLX_TRY(plx__device_mat(&on->base[j], dev, v->n, v->n));
        PLX_TRY(plx__device_kernel_base(dev, &v->k, &v->ref, on->base[j]));
    }
    return PLX_OK;
}

static plx_status reserve_labelled(bct *b, bct_device *on)
{
    plx__device *dev = on->at.dev;
    plx_index l = b->targets.n;
    plx_device_mat *square[] = {&on->at.k, &on->at.factor, &on->at.m, &on->at.inverse};
    plx_device_mat *column[] = {&on->at.x, &on->at.y, &on->at.z};
    int squares = 2 + on->gradients + (on->gradients && b->targets.q > 1);
    for (int i = 0; i < squares; i++) PLX_TRY(plx__device_mat(square[i], dev, l, l));
    for (int i = 0; i < 3; i++) PLX_TRY(plx__device_mat(column[i], dev, l, 1));
    PLX_TRY(plx__device_mat(&on->kl, dev, b->n_cov, l));
    PLX_TRY(plx__device_mat(&on->t, dev, b->n_cov, l));
    if (on->pair) PLX_TRY(plx__device_mat(&on->pair_t, dev, b->n_cov, l));
    if (on->gradients) PLX_TRY(plx__device_mat(&on->tm, dev, b->n_cov, l));
    if (on->gradients && !everybody_has_all(b)) PLX_TRY(plx__device_mat(&on->own, dev, b->n_cov, l));
    return plx__device_put_bytes(&on->labelled, dev, b->labelled, l, sizeof *b->labelled);
}

static plx_status reserve(bct *b, plx__device *dev)
{
    bct_device *on = NULL;
    PLX_TRY(PLX__ARENA_NEW(&on, plx__scratch(b->ctx), 1));
    PLX_TRY(PLX__ARENA_NEW(&on->s, plx__scratch(b->ctx), b->m));
    PLX_TRY(PLX__ARENA_NEW(&on->base, plx__scratch(b->ctx), b->m));
    PLX_TRY(PLX__ARENA_NEW(&on->place, plx__scratch(b->ctx), b->m));
    PLX_TRY(plx__arena_f64(&b->dense.diagonal, plx__scratch(b->ctx), b->n_cov, 1));
    on->at.dev = dev;
    on->pair = b->m == 2 && everybody_has_all(b);
    on->gradients = b->keep_factors;
    PLX_TRY(plx__device_need(dev, needed_bytes(b, dev, on->pair, on->gradients), "bct",
                             "set pivots (for example pivots=300), or set device to cpu or auto"));
    PLX_TRY(plx__device_mat(&on->column, dev, b->n_cov, 1));
    if (!on->pair) PLX_TRY(plx__device_mat(&on->lambda, dev, b->n_cov, b->n_cov));
    if (!on->pair || on->gradients) PLX_TRY(plx__device_mat(&on->work, dev, b->n_cov, b->n_cov));
    PLX_TRY(reserve_views(b, on));
    b->on = on;
    return reserve_labelled(b, on);
}

static plx_status learn(bct *b, plx__device *dev, plx__gp_state *state, bct_scores *scores)
{
    PLX_TRY(reserve(b, dev));
    PLX_TRY(plx__bct_learn(b, state));
    return score(b, state, scores);
}

/* Two factorisations of order n, an inverse or solves with l right sides, and inference of order l; ten evaluations
 * where hyper-parameters are learned, as nobody knows how many there will be. */
static plx__device_work work_of(const bct *b)
{
    double n = (double)b->n_cov, l = (double)b->targets.n, evaluations = b->set->optimize != BCT_FIXED ? 10 : 1;
    plx__device_work work = {.what = "bct", .moved = 8 * l * l * (double)b->targets.q};
    work.flops = evaluations * ((double)b->m * n * n * n + 2 * n * n * l + (double)b->targets.q * l * l * l);
    return work;
}

plx_status plx__bct_learn_there(bool *done, bct *b, plx__gp_state *state, bct_scores *scores)
{
    plx__device_work work = work_of(b);
    plx__session s;
    bct before = *b;
    plx__mark kept = plx__arena_mark(b->run->out->arena);
    double *hyper = NULL;
    *done = false;
    if (b->weights || b->dense.full || b->dense.solves || b->keep_precision) return PLX_OK;
    PLX_TRY(plx__arena_f64(&hyper, plx__scratch(b->ctx), b->n_hyper, 1));
    memcpy(hyper, b->hyper, (size_t)b->n_hyper * sizeof *hyper);
    PLX_TRY(plx__session_open(&s, b->ctx, &work));
    if (!s.dev) return PLX_OK;
    plx_status st = plx__session_close(&s, learn(b, s.dev, state, scores));
    b->on = NULL;
    *done = s.done;
    if (st != PLX_OK || s.done) return st;
    *b = before;
    plx__arena_rewind(b->run->out->arena, kept);
    memcpy(b->hyper, hyper, (size_t)b->n_hyper * sizeof *hyper);
    plx__bct_set_hyper(b, b->hyper);
    return PLX_OK;
}
