/*
 * Gains against brute force: E[q u u'] written down as an n x n matrix for every candidate, and the determinant of the
 * whole precision. Lambda comes from bct itself, everything else from the settings and the toy.
 */
#include "acquire_helpers.h"
#include "methods/bct/sense.h"

static const double VAGUE = 1e-6;

/* log det of a symmetric positive definite matrix by plain elimination. */
static double log_det(const double *a, int n)
{
    double *w = malloc((size_t)(n * n) * sizeof *w), sum = 0;
    memcpy(w, a, (size_t)(n * n) * sizeof *w);
    for (int p = 0; p < n; p++) {
        sum += log(w[p * n + p]);
        for (int i = p + 1; i < n; i++) {
            double f = w[i * n + p] / w[p * n + p];
            for (int j = p; j < n; j++) w[i * n + j] -= f * w[p * n + j];
        }
    }
    free(w);
    return sum;
}

/* ---- the model of a test ---- */

typedef enum how { POINT, MOMENTS } how;

typedef struct setting {
    plx__kernel kernel; /* of all views */
    double variance[TOY_VIEWS];
    how expectation;
    int views, classes;
    bool regression;
    double noise;
    const char *const *settings;
    const char *density; /* further setting */
} setting;

static double kernel(const plx__kernel *k, const double *x, const double *y)
{
    double dot = 0, d2 = 0, xx = 0, yy = 0;
    for (int d = 0; d < TOY_COLS; d++) {
        dot += x[d] * y[d];
        d2 += (x[d] - y[d]) * (x[d] - y[d]);
        xx += x[d] * x[d];
        yy += y[d] * y[d];
    }
    switch (k->kind) {
    case PLX__KERNEL_LINEAR: return k->amplitude * dot;
    case PLX__KERNEL_RBF: return k->amplitude * exp(-0.5 * d2 / (k->width * k->width));
    case PLX__KERNEL_POLY: return k->amplitude * pow(dot + k->coef0, k->degree);
    default: return k->amplitude * dot / sqrt(xx * yy);
    }
}

/* ---- moments of b = kappa(x_l, x), two features, written out ---- */

static double quadratic(const double inverse[4], const double d[2])
{
    return d[0] * d[0] * inverse[0] + 2 * d[0] * d[1] * inverse[1] + d[1] * d[1] * inverse[3];
}

/* (shift I + Sigma)^-1; returns its determinant's reciprocal. */
static double inverse_of(double out[4], const double *cov, double shift)
{
    double a = cov[0] + shift, b = cov[1], d = cov[3] + shift, det = a * d - b * b;
    out[0] = d / det;
    out[1] = out[2] = -b / det;
    out[3] = a / det;
    return 1.0 / det;
}

static double expected_b(const plx__kernel *k, const double *x, const double *mu, const double *cov)
{
    double inverse[4], d[2] = {x[0] - mu[0], x[1] - mu[1]}, w2 = k->width * k->width;
    if (k->kind == PLX__KERNEL_LINEAR) return k->amplitude * (x[0] * mu[0] + x[1] * mu[1]);
    double det = inverse_of(inverse, cov, w2);
    return k->amplitude * w2 * sqrt(det) * exp(-0.5 * quadratic(inverse, d));
}

static double expected_bb(const plx__kernel *k, const double *x, const double *y, const double *mu, const double *cov)
{
    double inverse[4], w2 = k->width * k->width;
    if (k->kind == PLX__KERNEL_LINEAR) {
        double spread = x[0] * (cov[0] * y[0] + cov[1] * y[1]) + x[1] * (cov[2] * y[0] + cov[3] * y[1]);
        return k->amplitude * k->amplitude * spread + expected_b(k, x, mu, cov) * expected_b(k, y, mu, cov);
    }
    double middle[2] = {0.5 * (x[0] + y[0]) - mu[0], 0.5 * (x[1] + y[1]) - mu[1]};
    double d2 = (x[0] - y[0]) * (x[0] - y[0]) + (x[1] - y[1]) * (x[1] - y[1]);
    double det = inverse_of(inverse, cov, 0.5 * w2);
    return k->amplitude * k->amplitude * exp(-0.25 * d2 / w2) * 0.5 * w2 * sqrt(det) *
           exp(-0.5 * quadratic(inverse, middle));
}

static double expected_self(const plx__kernel *k, const double *mu, const double *cov)
{
    if (k->kind == PLX__KERNEL_RBF) return k->amplitude;
    return k->amplitude * (mu[0] * mu[0] + mu[1] * mu[1] + cov[0] + cov[3]);
}

/* ---- one view of a candidate ---- */

typedef struct view_model {
    int n, sample[TOY_N];
    double inverse[TOY_N * TOY_N]; /* S_j^-1 */
} view_model;

static void open_view(view_model *out, const toy *t, const setting *s, int v)
{
    out->n = 0;
    for (int i = 0; i < TOY_N; i++)
        if (t->present[v][i]) out->sample[out->n++] = i;
    for (int a = 0; a < out->n; a++)
        for (int b = 0; b < out->n; b++)
            out->inverse[a * out->n + b] =
                kernel(&s->kernel, &t->x[v][out->sample[a] * TOY_COLS], &t->x[v][out->sample[b] * TOY_COLS]) +
                (a == b ? s->variance[v] : 0);
    invert(out->inverse, out->n);
}

/* target += weight E[q u u'] of one component. */
static void add_expectation(double *target, const toy *t, const setting *s, const view_model *m, int v, int i,
                            const double *mu, const double *cov, double weight)
{
    double b[TOY_N], bb[TOY_N * TOY_N], u[TOY_N] = {0}, spread[TOY_N * TOY_N] = {0}, told = 0, self;
    for (int l = 0; l < m->n; l++) {
        const double *x = &t->x[v][m->sample[l] * TOY_COLS];
        b[l] = s->expectation == POINT ? kernel(&s->kernel, x, mu) : expected_b(&s->kernel, x, mu, cov);
        for (int k = 0; k < m->n; k++) {
            const double *y = &t->x[v][m->sample[k] * TOY_COLS];
            bb[l * m->n + k] = s->expectation == POINT ? kernel(&s->kernel, x, mu) * kernel(&s->kernel, y, mu)
                                                       : expected_bb(&s->kernel, x, y, mu, cov);
        }
    }
    self = s->expectation == POINT ? kernel(&s->kernel, mu, mu) : expected_self(&s->kernel, mu, cov);
    u[i] = 1;
    for (int l = 0; l < m->n; l++)
        for (int k = 0; k < m->n; k++) {
            told += m->inverse[l * m->n + k] * bb[l * m->n + k];
            u[m->sample[l]] -= m->inverse[l * m->n + k] * b[k];
        }
    for (int a = 0; a < m->n; a++)
        for (int c = 0; c < m->n; c++)
            for (int l = 0; l < m->n; l++)
                for (int k = 0; k < m->n; k++)
                    spread[m->sample[a] * TOY_N + m->sample[c]] +=
                        m->inverse[a * m->n + l] * (bb[l * m->n + k] - b[l] * b[k]) * m->inverse[k * m->n + c];
    double q = weight / (self + s->variance[v] - told);
    for (int a = 0; a < TOY_N; a++)
        for (int c = 0; c < TOY_N; c++) target[a * TOY_N + c] += q * (u[a] * u[c] + spread[a * TOY_N + c]);
}

/* ---- everything ---- */

/* Delta of problem c: the precision of bct, the likelihood's weight at the mode, a vague precision where uncovered. */
static void current_precision(double *out, plx_context *ctx, const plx_dataset *d, const toy *t, const setting *s,
                              int problem)
{
    plx_model *m = fit_asking(ctx, "bct", d, s->settings, (const char *const[]){"precision", NULL}, NULL);
    plx_cmat p = array_of(m, "precision"), mean = array_of(m, "mean"), covered = array_of(m, "covered");
    memcpy(out, p.data, TOY_N * TOY_N * sizeof *out);
    for (int i = 0; i < TOY_N; i++) {
        double pi = 1 / (1 + exp(-mean.data[i * mean.ld + problem]));
        bool labelled = s->regression ? !isnan(t->y[i]) : t->label[i] >= 0;
        if (covered.data[i] == 0) out[i * (TOY_N + 1)] = VAGUE;
        else if (labelled) out[i * (TOY_N + 1)] += s->regression ? 1 / s->noise : pi * (1 - pi);
    }
    plx_model_destroy(m);
}

/* target = delta + E[q u u'] of a candidate. */
static void brute_change(double *target, const double *delta, plx_acquisition *a, const toy *t, const setting *s, int i,
                         int v)
{
    double full[4];
    char mean_name[32], cov_name[32];
    static view_model m;
    snprintf(mean_name, sizeof mean_name, "gmm_mean.%s", toy_names[v]);
    snprintf(cov_name, sizeof cov_name, "gmm_cov.%s", toy_names[v]);
    plx_cmat rho = array_of(plx_acquisition_model(a), "mixing"), mean = array_of(plx_acquisition_model(a), mean_name),
             cov = array_of(plx_acquisition_model(a), cov_name);
    open_view(&m, t, s, v);
    memmove(target, delta, TOY_N * TOY_N * sizeof *target);
    for (plx_index c = 0; c < rho.cols; c++) {
        for (int k = 0; k < 4; k++) full[k] = cov.data[(2 * c + k / 2) * cov.ld + k % 2];
        add_expectation(target, t, s, &m, v, i, mean.data + c * mean.ld, full, rho.data[i * rho.ld + c]);
    }
}

static double brute_gain(const double *delta, plx_acquisition *a, const toy *t, const setting *s, int i, int v)
{
    double target[TOY_N * TOY_N];
    brute_change(target, delta, a, t, s, i, v);
    return 0.5 * (log_det(target, TOY_N) - log_det(delta, TOY_N));
}

static plx_acquisition *rank(plx_context *ctx, const plx_dataset *d, const setting *s)
{
    const char *all[32];
    int count = 0;
    for (; s->settings[count]; count++) all[count] = s->settings[count];
    all[count++] = s->expectation == MOMENTS ? "expectation=moments" : "expectation=point";
    if (s->density) all[count++] = s->density;
    all[count] = NULL;
    return acquire(ctx, d, all, (const char *const[]){"gmm_cov.text", "gmm_cov.image", "gmm_cov.audio", NULL});
}

static void check_all(const setting *s, const toy *t, double tolerance)
{
    plx_context *ctx = test_context(1);
    double delta[TOY_N * TOY_N], expect[TOY_N * TOY_VIEWS] = {0}, objective = 0, variance[TOY_N] = {0};
    int problems = s->regression || s->classes == 2 ? 1 : s->classes;
    plx_dataset *d = toy_dataset(ctx, t, s->views, s->regression);
    plx_acquisition *a = rank(ctx, d, s);
    plx_cmat gain = array_of(plx_acquisition_model(a), "gain");
    plx_cmat posterior = array_of(plx_acquisition_model(a), "posterior_variance");
    for (int c = 0; c < problems; c++) {
        current_precision(delta, ctx, d, t, s, c);
        objective += log_det(delta, TOY_N);
        for (int i = 0; i < TOY_N; i++)
            for (int v = 0; v < s->views; v++)
                if (!t->present[v][i]) expect[i * s->views + v] += brute_gain(delta, a, t, s, i, v);
        invert(delta, TOY_N);
        for (int i = 0; i < TOY_N; i++) variance[i] += delta[i * (TOY_N + 1)] / problems;
    }
    for (int i = 0; i < TOY_N * s->views; i++) {
        assert_true(gain.data[i] >= 0);
        assert_close(gain.data[i], expect[i], tolerance * (1 + expect[i]));
    }
    for (int i = 0; i < TOY_N; i++) assert_close(posterior.data[i], variance[i], 1e-7 * (1 + variance[i]));
    assert_close(plx_model_objective(plx_acquisition_model(a)), objective, 1e-8 * (1 + fabs(objective)));
    plx_acquisition_destroy(a);
    plx_dataset_destroy(d);
    plx_context_destroy(ctx);
}

/* A batch against the greedy choice by whole determinants, the precisions changed by every candidate taken. */
static void check_batch(const setting *s, const toy *t, int size)
{
    plx_context *ctx = test_context(1);
    int problems = s->regression || s->classes == 2 ? 1 : s->classes;
    double delta[3][TOY_N * TOY_N], taken[TOY_N * TOY_VIEWS] = {0};
    plx_dataset *d = toy_dataset(ctx, t, s->views, s->regression);
    plx_acquisition *a = rank(ctx, d, s);
    setting batch = *s;
    const char *all[32];
    int count = 0;
    for (; s->settings[count]; count++) all[count] = s->settings[count];
    all[count++] = "batch=5";
    all[count] = NULL;
    batch.settings = all;
    plx_acquisition *b = rank(ctx, d, &batch);
    assert_int_equal(plx_acquisition_count(b), size);
    for (int c = 0; c < problems; c++) current_precision(delta[c], ctx, d, t, s, c);
    for (plx_index k = 0; k < size; k++) {
        plx_acquired row = PLX_ACQUIRED_INIT;
        double best = 0, own = 0;
        assert_int_equal(plx_acquisition_get(&row, b, k), PLX_OK);
        for (int i = 0; i < TOY_N; i++)
            for (int v = 0; v < s->views; v++) {
                double gain = 0;
                if (t->present[v][i] || taken[i * TOY_VIEWS + v]) continue;
                for (int c = 0; c < problems; c++) gain += brute_gain(delta[c], a, t, s, i, v);
                best = fmax(best, gain);
                if (i == row.sample && v == row.view) own = gain;
            }
        assert_close(own, best, 1e-8 * (1 + best));
        assert_close(row.gain, best, 1e-8 * (1 + best));
        taken[row.sample * TOY_VIEWS + row.view] = 1;
        for (int c = 0; c < problems; c++) brute_change(delta[c], delta[c], a, t, s, (int)row.sample, (int)row.view);
    }
    plx_acquisition_destroy(a);
    plx_acquisition_destroy(b);
    plx_dataset_destroy(d);
    plx_context_destroy(ctx);
}

#define VARIANCES "scale=none", "view_variance.text=0.3", "view_variance.image=0.8", "view_variance.audio=0.5"
#define RBF "kernel=rbf", "width=0.7", "amplitude=1.5", VARIANCES
#define LINEAR "kernel=linear", "amplitude=0.9", "zero_rows=present", VARIANCES

static setting base(plx__kernel kernel_used, const char *const *settings)
{
    return (setting){
        .kernel = kernel_used, .variance = {0.3, 0.8, 0.5}, .views = 3, .classes = 2, .settings = settings};
}

static const plx__kernel RBF_KERNEL = {PLX__KERNEL_RBF, 0.7, 0, 0, 1.5},
                         LINEAR_KERNEL = {PLX__KERNEL_LINEAR, 1, 0, 0, 0.9};

static void kernels_and_components(void **state)
{
    (void)state;
    toy t = make_toy(2, true);
    static const char *const densities[] = {"components=1", "components=2", "components=3"};
    for (int k = 0; k < 3; k++)
        for (int h = 0; h < 2; h++) {
            setting r = base(RBF_KERNEL, SETTINGS(RBF)), l = base(LINEAR_KERNEL, SETTINGS(LINEAR));
            r.density = l.density = densities[k];
            r.expectation = l.expectation = h ? MOMENTS : POINT;
            check_all(&r, &t, 1e-8);
            check_all(&l, &t, 1e-8);
        }
    setting poly = base((plx__kernel){PLX__KERNEL_POLY, 1, 2, 1, 0.8},
                        SETTINGS("kernel=poly", "degree=2", "coef0=1", "amplitude=0.8", VARIANCES));
    setting cosine = base((plx__kernel){PLX__KERNEL_COSINE, 1, 0, 0, 1.1},
                          SETTINGS("kernel=cosine", "amplitude=1.1", "zero_rows=present", VARIANCES));
    poly.density = cosine.density = "components=2";
    check_all(&poly, &t, 1e-8);
    check_all(&cosine, &t, 1e-8);
}

static void shapes_and_classes(void **state)
{
    (void)state;
    toy t = make_toy(3, true);
    for (int i = 0; i < TOY_N; i++) t.label[i] = i % 4 == 3 ? -1 : i % 3;
    static const char *const densities[] = {"covariance=diag", "covariance=spherical", "density=class", "components=2"};
    for (int k = 0; k < 4; k++)
        for (int h = 0; h < 2; h++) {
            setting s = base(RBF_KERNEL, SETTINGS(RBF)), l = base(LINEAR_KERNEL, SETTINGS(LINEAR));
            s.classes = l.classes = 3;
            s.density = l.density = densities[k];
            s.expectation = l.expectation = h ? MOMENTS : POINT;
            check_all(&s, &t, 1e-8);
            check_all(&l, &t, 1e-8);
        }
}

/* acquire does not know the settings of bct's own test fits, so these go to both. */
static void regression(void **state)
{
    (void)state;
    toy t = make_toy(2, true);
    setting s = base(RBF_KERNEL, SETTINGS(RBF, "task=regression", "noise=0.2"));
    s.regression = true;
    s.noise = 0.2;
    s.density = "components=2";
    check_all(&s, &t, 1e-8);
    s.expectation = MOMENTS;
    check_all(&s, &t, 1e-8);
}

static void uncovered_samples(void **state)
{
    (void)state;
    toy t = make_toy(2, true);
    for (int v = 0; v < TOY_VIEWS; v++) t.present[v][2] = t.present[v][4] = 0; /* one of them is labelled */
    setting s = base(RBF_KERNEL, SETTINGS(RBF));
    s.density = "components=2";
    check_all(&s, &t, 1e-9);
    s.expectation = MOMENTS;
    check_all(&s, &t, 1e-9);
    s.density = "density=class";
    check_all(&s, &t, 1e-7);
}

/* A view that one sample has; and a single view. */
static void thin_views(void **state)
{
    (void)state;
    toy t = make_toy(2, true);
    for (int i = 0; i < TOY_N; i++) t.present[1][i] = i == 3;
    setting s = base(RBF_KERNEL, SETTINGS(RBF));
    s.density = "components=1";
    check_all(&s, &t, 1e-8);
    s.expectation = MOMENTS;
    check_all(&s, &t, 1e-8);
    plx_context *ctx = test_context(1);
    plx_dataset *d = toy_dataset(ctx, &t, 1, false);
    plx_acquisition *a = acquire(ctx, d, SETTINGS("kernel=rbf", "width=0.7", "components=1"), NULL);
    for (plx_index r = 0; r < plx_acquisition_count(a); r++) {
        plx_acquired row = PLX_ACQUIRED_INIT;
        assert_int_equal(plx_acquisition_get(&row, a, r), PLX_OK);
        assert_true(row.score > 0 && !t.present[0][row.sample]);
    }
    plx_acquisition_destroy(a);
    plx_dataset_destroy(d);
    plx_context_destroy(ctx);
}

/* ---- forms of the kernel ---- */

static void forms_agree(void **state)
{
    (void)state;
    toy t = make_toy(3, true);
    plx_context *ctx = test_context(1);
    plx_dataset *d = toy_dataset(ctx, &t, 3, false);
    const char *const expectations[] = {"expectation=point", "expectation=moments", "expectation=sample"};
    for (int e = 0; e < 3; e++) {
        plx_acquisition *dense =
                            acquire(ctx, d, SETTINGS(LINEAR, expectations[e], "components=2", "lowrank=none"), NULL),
                        *exact =
                            acquire(ctx, d, SETTINGS(LINEAR, expectations[e], "components=2", "lowrank=exact"), NULL),
                        *r = acquire(ctx, d, SETTINGS(RBF, expectations[e], "components=2"), NULL),
                        *pivots = acquire(ctx, d, SETTINGS(RBF, expectations[e], "components=2", "pivots=14"), NULL);
        assert_same_matrix(array_of(dense->model, "gain"), array_of(exact->model, "gain"), 1e-9);
        assert_same_matrix(array_of(r->model, "gain"), array_of(pivots->model, "gain"), 1e-8);
        assert_close(plx_model_objective(dense->model), plx_model_objective(exact->model), 1e-8);
        assert_close(plx_model_objective(r->model), plx_model_objective(pivots->model), 1e-7);
        plx_acquisition_destroy(dense);
        plx_acquisition_destroy(exact);
        plx_acquisition_destroy(r);
        plx_acquisition_destroy(pivots);
    }
    plx_dataset_destroy(d);
    plx_context_destroy(ctx);
}

/* Measuring the view and finding the mean: the precision of bct with that row filled in is Lambda + q u u'. */
static void measuring_is_a_rank_one_change(void **state)
{
    (void)state;
    toy t = make_toy(2, true);
    setting s = base(RBF_KERNEL, SETTINGS(RBF));
    s.density = "components=1";
    plx_context *ctx = test_context(1);
    plx_dataset *d = toy_dataset(ctx, &t, 3, false);
    plx_acquisition *a = rank(ctx, d, &s);
    plx_cmat gain = array_of(a->model, "gain"), mean = array_of(a->model, "gmm_mean.image");
    double before[TOY_N * TOY_N], after[TOY_N * TOY_N];
    current_precision(before, ctx, d, &t, &s, 0);
    for (int i = 0; i < TOY_N; i++) {
        if (t.present[1][i]) continue;
        toy filled = t;
        filled.present[1][i] = 1;
        memcpy(&filled.x[1][i * TOY_COLS], mean.data, TOY_COLS * sizeof(double));
        plx_dataset *measured = toy_dataset(ctx, &filled, 3, false);
        plx_model *old = fit_asking(ctx, "bct", d, s.settings, (const char *const[]){"precision", NULL}, NULL),
                  *new = fit_asking(ctx, "bct", measured, s.settings, (const char *const[]){"precision", NULL}, NULL);
        plx_cmat p = array_of(old, "precision"), q = array_of(new, "precision");
        for (int k = 0; k < TOY_N * TOY_N; k++) after[k] = before[k] + q.data[k] - p.data[k];
        assert_close(gain.data[i * gain.ld + 1], 0.5 * (log_det(after, TOY_N) - log_det(before, TOY_N)), 1e-9);
        plx_model_destroy(old);
        plx_model_destroy(new);
        plx_dataset_destroy(measured);
    }
    plx_acquisition_destroy(a);
    plx_dataset_destroy(d);
    plx_context_destroy(ctx);
}

static void batches(void **state)
{
    (void)state;
    toy t = make_toy(3, true);
    for (int i = 0; i < TOY_N; i++) t.label[i] = i % 4 == 3 ? -1 : i % 3;
    static const char *const densities[] = {"components=1", "components=2"};
    for (int k = 0; k < 2; k++)
        for (int h = 0; h < 2; h++) {
            setting s = base(RBF_KERNEL, SETTINGS(RBF)), l = base(LINEAR_KERNEL, SETTINGS(LINEAR));
            s.classes = l.classes = 3;
            s.density = l.density = densities[k];
            s.expectation = l.expectation = h ? MOMENTS : POINT;
            check_batch(&s, &t, 5);
            check_batch(&l, &t, 5);
        }
    t = make_toy(2, true);
    for (int v = 0; v < TOY_VIEWS; v++) t.present[v][2] = t.present[v][4] = 0;
    setting s = base(RBF_KERNEL, SETTINGS(RBF));
    s.density = "components=2";
    check_batch(&s, &t, 5); /* samples without any view come first and are then like the others */
    s.expectation = MOMENTS;
    check_batch(&s, &t, 5);
    setting r = base(RBF_KERNEL, SETTINGS(RBF, "task=regression", "noise=0.2"));
    r.regression = true;
    r.noise = 0.2;
    r.density = "components=1";
    check_batch(&r, &t, 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(kernels_and_components),
                                       cmocka_unit_test(shapes_and_classes),
                                       cmocka_unit_test(regression),
                                       cmocka_unit_test(batches),
                                       cmocka_unit_test(uncovered_samples),
                                       cmocka_unit_test(thin_views),
                                       cmocka_unit_test(forms_agree),
                                       cmocka_unit_test(measuring_is_a_rank_one_change)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
