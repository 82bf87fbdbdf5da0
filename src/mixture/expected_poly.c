/*
 * Polynomial kernels of Gaussian vectors through cumulants.
 *
 * t = x.y of independent x ~ N(M_i, V_i), y ~ N(M_j, V_j):
 *     kappa_r = (r-1)!/2 [tr((J S)^r) + r m'J (S J)^{r-1} m],
 *     tr((J S)^r) = 2 tr((V_i V_j)^{r/2}) for even r, 0 for odd r.
 * With a_0 = M_i, b_0 = M_j, a_{t+1} = V_i b_t, b_{t+1} = V_j a_t the second term is r (M_j.a_{r-1} + M_i.b_{r-1}).
 * t = x.x: kappa_r = 2^{r-1} (r-1)! [tr V^r + r M'V^{r-1} M]. Moments: mu_k = sum_r binom(k-1, r-1) kappa_r mu_{k-r}.
 */
#include <math.h>
#include <string.h>

#include "mixture/expected_internal.h"

plx_status plx__poly_work_new(plx__poly_work *w, plx__arena *arena, plx_index d, bool full)
{
    PLX_TRY(plx__arena_i32(&w->column, arena, d));
    PLX_TRY(plx__arena_f64(&w->a, arena, d, 1));
    PLX_TRY(plx__arena_f64(&w->b, arena, d, 1));
    PLX_TRY(plx__arena_f64(&w->next_a, arena, d, 1));
    PLX_TRY(plx__arena_f64(&w->next_b, arena, d, 1));
    if (!full) return PLX_OK;
    PLX_TRY(plx__arena_mat(&w->left, arena, d, d));
    PLX_TRY(plx__arena_mat(&w->right, arena, d, d));
    PLX_TRY(plx__arena_mat(&w->power, arena, d, d));
    return plx__arena_mat(&w->product, arena, d, d);
}

/* Raw moment of order k from cumulants 1 .. k. */
static double moment(const double *kappa, plx_index k)
{
    double mu[PLX__EXPECT_MAX_DEGREE + 1] = {1.0};
    for (plx_index n = 1; n <= k; n++) {
        double binomial = 1;
        for (plx_index r = 1; r <= n; r++) {
            mu[n] += binomial * kappa[r] * mu[n - r];
            binomial *= (double)(n - r) / (double)r;
        }
    }
    return mu[k];
}

static const int32_t *missing_columns(const plx__moments *m, plx_index pattern, plx_index *count)
{
    *count = m->d - m->patterns->observed[pattern];
    return m->patterns->column + pattern * m->d + m->patterns->observed[pattern];
}

/* out = V in on the missing columns, 0 elsewhere. */
static void times_cov(double *out, const plx__moments *m, plx_index pattern, plx_index z, const double *in)
{
    plx_index count = 0;
    const int32_t *col = missing_columns(m, pattern, &count);
    plx_mat v = m->cov[pattern * m->k + z];
    memset(out, 0, (size_t)m->d * sizeof *out);
    for (plx_index a = 0; a < count; a++) {
        if (m->shape != PLX__COV_FULL) out[col[a]] = v.data[a] * in[col[a]];
        for (plx_index b = 0; m->shape == PLX__COV_FULL && b < count; b++)
            out[col[a]] += v.data[a * v.ld + b] * in[col[b]];
    }
}

/* ---- two rows ---- */

/* V restricted to the given columns, which are among the missing ones; both lists ascend. */
static void restrict_cov(plx_mat out, const plx__moments *m, plx_index pattern, plx_index z, const int32_t *columns)
{
    plx_index count = 0, n = out.rows;
    const int32_t *col = missing_columns(m, pattern, &count);
    plx_mat v = m->cov[pattern * m->k + z];
    plx__mat_fill(out, 0.0);
    for (plx_index i = 0, a = 0; i < n; i++) {
        while (col[a] != columns[i]) a++;
        for (plx_index j = 0, b = 0; j < n; j++) {
            while (col[b] != columns[j]) b++;
            out.data[i * out.ld + j] = v.data[a * v.ld + b];
        }
    }
}

/* Columns missing in both patterns, into the vector `columns` of d entries. */
static plx_index common_missing(int32_t *columns, const plx__moments *mi, plx_index pi, const plx__moments *mj,
                                plx_index pj)
{
    plx_index ni = 0, nj = 0, count = 0;
    const int32_t *ci = missing_columns(mi, pi, &ni), *cj = missing_columns(mj, pj, &nj);
    for (plx_index a = 0, b = 0; a < ni && b < nj;) {
        int32_t x = ci[a], y = cj[b];
        if (x == y) columns[count++] = x;
        a += x <= y;
        b += y <= x;
    }
    return count;
}

/* sum over the columns of (v_i v_j)^h: the traces of diagonal covariances. */
static void diagonal_traces(double *out, plx_index count, const plx__moments *mi, plx_index pi, plx_index zi,
                            const plx__moments *mj, plx_index pj, plx_index zj)
{
    plx_index ni = 0, nj = 0;
    const int32_t *ci = missing_columns(mi, pi, &ni), *cj = missing_columns(mj, pj, &nj);
    const double *vi = mi->cov[pi * mi->k + zi].data, *vj = mj->cov[pj * mj->k + zj].data;
    for (plx_index a = 0, b = 0; a < ni && b < nj;) {
        int32_t x = ci[a], y = cj[b];
        double base = x == y ? vi[a] * vj[b] : 0.0, power = base;
        for (plx_index h = 0; h < count; h++, power *= base) out[h] += power;
        a += x <= y;
        b += y <= x;
    }
}

plx_status plx__poly_traces(double *out, plx_index count, plx_context *ctx, plx__poly_work *w, const plx__moments *mi,
                            plx_index pi, plx_index zi, const plx__moments *mj, plx_index pj, plx_index zj)
{
    for (plx_index h = 0; h < count; h++) out[h] = 0.0;
    if (mi->shape != PLX__COV_FULL) {
        diagonal_traces(out, count, mi, pi, zi, mj, pj, zj);
        return PLX_OK;
    }
    plx_index n = common_missing(w->column, mi, pi, mj, pj);
    if (n == 0 || count == 0) return PLX_OK;
    plx_mat left = plx__sub(w->left, 0, 0, n, n), right = plx__sub(w->right, 0, 0, n, n);
    plx_mat power = plx__sub(w->power, 0, 0, n, n), product = plx__sub(w->product, 0, 0, n, n);
    restrict_cov(left, mi, pi, zi, w->column);
    restrict_cov(right, mj, pj, zj, w->column);
    PLX_TRY(plx__gemm_serial(ctx, 1.0, plx__cmat(left), PLX__N, plx__cmat(right), PLX__N, 0.0, product));
    plx__mat_copy(left, plx__cmat(product)); /* V_i V_j */
    plx__mat_copy(power, plx__cmat(product));
    for (plx_index h = 0; h < count; h++) {
        out[h] = plx__mat_trace(plx__cmat(power));
        if (h + 1 == count) break;
        PLX_TRY(plx__gemm_serial(ctx, 1.0, plx__cmat(power), PLX__N, plx__cmat(left), PLX__N, 0.0, right));
        plx__mat_copy(power, plx__cmat(right));
    }
    return PLX_OK;
}

double plx__poly_pair(const plx__expected *k, const double *traces, plx__poly_work *w, const plx__moments *mi,
                      plx_index i, plx_index zi, const plx__moments *mj, plx_index j, plx_index zj)
{
    const double *x = mi->mean.data + (i * mi->k + zi) * mi->mean.ld,
                 *y = mj->mean.data + (j * mj->k + zj) * mj->mean.ld;
    double kappa[PLX__EXPECT_MAX_DEGREE + 1] = {0}, factorial = 1;
    plx_index d = mi->d;
    memcpy(w->a, x, (size_t)d * sizeof *x);
    memcpy(w->b, y, (size_t)d * sizeof *y);
    for (plx_index r = 1; r <= k->degree; r++) {
        double trace = r % 2 == 0 ? 2 * traces[r / 2 - 1] : 0.0;
        kappa[r] = 0.5 * factorial * (trace + (double)r * (plx__dot(y, w->a, d) + plx__dot(x, w->b, d)));
        factorial *= (double)r;
        if (r == k->degree) break;
        times_cov(w->next_a, mi, mi->patterns->of[i], zi, w->b);
        times_cov(w->next_b, mj, mj->patterns->of[j], zj, w->a);
        memcpy(w->a, w->next_a, (size_t)d * sizeof *x);
        memcpy(w->b, w->next_b, (size_t)d * sizeof *x);
    }
    kappa[1] += k->coef0;
    return moment(kappa, k->degree);
}

/* ---- a row with itself ---- */

/* tr V^r of a pattern, r = 1 .. degree. */
static plx_status self_traces(double *out, plx_index degree, plx_context *ctx, plx__poly_work *w, plx_mat v, bool full)
{
    plx_index n = v.cols;
    for (plx_index r = 0; r < degree; r++) out[r] = 0.0;
    for (plx_index r = 0; !full && r < degree; r++)
        for (plx_index a = 0; a < n; a++) out[r] += pow(v.data[a], (double)(r + 1));
    if (!full || n == 0) return PLX_OK;
    plx_mat power = plx__sub(w->power, 0, 0, n, n), product = plx__sub(w->product, 0, 0, n, n);
    plx__mat_copy(power, plx__cmat(v));
    for (plx_index r = 0; r < degree; r++) {
        out[r] = plx__mat_trace(plx__cmat(power));
        if (r + 1 == degree) break;
        PLX_TRY(plx__gemm_serial(ctx, 1.0, plx__cmat(power), PLX__N, plx__cmat(v), PLX__N, 0.0, product));
        plx__mat_copy(power, plx__cmat(product));
    }
    return PLX_OK;
}

plx_status plx__poly_self(double *out, const plx__expected *k, plx_context *ctx, plx__poly_work *w,
                          const plx__moments *m, plx_index i, plx_index z)
{
    const double *x = m->mean.data + (i * m->k + z) * m->mean.ld;
    plx_index pattern = m->patterns->of[i];
    double kappa[PLX__EXPECT_MAX_DEGREE + 1] = {0}, traces[PLX__EXPECT_MAX_DEGREE], scale = 1;
    PLX_TRY(self_traces(traces, k->degree, ctx, w, m->cov[pattern * m->k + z], m->shape == PLX__COV_FULL));
    memcpy(w->a, x, (size_t)m->d * sizeof *x);
    for (plx_index r = 1; r <= k->degree; r++) {
        kappa[r] = scale * (traces[r - 1] + (double)r * plx__dot(x, w->a, m->d));
        scale *= 2.0 * (double)r; /* 2^{r-1} (r-1)! */
        if (r == k->degree) break;
        times_cov(w->next_a, m, pattern, z, w->a);
        memcpy(w->a, w->next_a, (size_t)m->d * sizeof *x);
    }
    kappa[1] += k->coef0;
    *out = moment(kappa, k->degree);
    return PLX_OK;
}
