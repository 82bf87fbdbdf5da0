/*
 * What the tests of gp and bct share: small data sets with missing views, fits that ask for arrays, and derivatives of the
 * evidence by finite differences through the settings.
 */
#ifndef PLX_TESTS_GP_HELPERS_H
#define PLX_TESTS_GP_HELPERS_H

#include "fit_helpers.h"

enum { TOY_N = 14, TOY_VIEWS = 3, TOY_COLS = 2 };

typedef struct toy {
    double x[TOY_VIEWS][TOY_N * TOY_COLS];
    uint8_t present[TOY_VIEWS][TOY_N];
    double y[TOY_N]; /* targets; nan: unlabelled */
    int label[TOY_N];
} toy;

static const char *const toy_names[] = {"text", "image", "audio"};

/* Every third sample unlabelled; views missing in a pattern that leaves every sample one. */
static inline toy make_toy(int classes, bool missing)
{
    toy t;
    plx__rng rng = plx__rng_start(5, 17);
    for (int i = 0; i < TOY_N; i++) {
        t.label[i] = i % 3 == 2 ? -1 : i % classes;
        t.y[i] = i % 3 == 2 ? NAN : sin(i) + 2;
        for (int v = 0; v < TOY_VIEWS; v++) {
            t.present[v][i] = !missing || (i + v) % 4 != 0;
            for (int d = 0; d < TOY_COLS; d++)
                t.x[v][i * TOY_COLS + d] = plx__next_normal(&rng) + (d == 0 ? i % classes : 0);
        }
    }
    return t;
}

static inline plx_dataset *toy_dataset(plx_context *ctx, const toy *t, int views, bool regression)
{
    plx_dataset *d = new_dataset(ctx, TOY_N);
    char text[TOY_N][32];
    const char *label[TOY_N];
    for (int v = 0; v < views; v++) add_dense(d, ctx, toy_names[v], PLX_VIEW_REAL, t->x[v], TOY_COLS, t->present[v]);
    for (int i = 0; i < TOY_N; i++) {
        snprintf(text[i], sizeof text[i], "%.17g", t->y[i]);
        label[i] = isnan(t->y[i]) ? NULL : text[i];
    }
    if (regression) assert_ok(ctx, plx_dataset_set_labels(d, ctx, label));
    else set_labels(d, ctx, t->label);
    return d;
}

/* The Gram matrix of every view as a kernel view; a pair of which one sample lacks the view is 0. */
static inline plx_dataset *toy_grams(plx_context *ctx, const toy *t, int views, bool regression)
{
    plx_dataset *d = new_dataset(ctx, TOY_N);
    char text[TOY_N][32];
    const char *label[TOY_N];
    double gram[TOY_N * TOY_N];
    for (int v = 0; v < views; v++) {
        for (int i = 0; i < TOY_N * TOY_N; i++) {
            const double *p = t->x[v] + i / TOY_N * TOY_COLS, *q = t->x[v] + i % TOY_N * TOY_COLS;
            gram[i] = t->present[v][i / TOY_N] && t->present[v][i % TOY_N] ? p[0] * q[0] + p[1] * q[1] : 0.0;
        }
        add_dense(d, ctx, toy_names[v], PLX_VIEW_KERNEL, gram, TOY_N, t->present[v]);
    }
    for (int i = 0; i < TOY_N; i++) {
        snprintf(text[i], sizeof text[i], "%.17g", t->y[i]);
        label[i] = isnan(t->y[i]) ? NULL : text[i];
    }
    if (regression) assert_ok(ctx, plx_dataset_set_labels(d, ctx, label));
    else set_labels(d, ctx, t->label);
    return d;
}

/* Plain Gauss-Jordan inverse with partial pivoting. */
static inline void invert(double *a, int n)
{
    double *w = calloc((size_t)(2 * n * n), sizeof *w);
    for (int i = 0; i < n; i++) {
        memcpy(w + 2 * n * i, a + n * i, (size_t)n * sizeof *w);
        w[2 * n * i + n + i] = 1;
    }
    for (int p = 0; p < n; p++) {
        int best = p;
        for (int i = p; i < n; i++)
            if (fabs(w[2 * n * i + p]) > fabs(w[2 * n * best + p])) best = i;
        for (int j = 0; j < 2 * n; j++) {
            double swap = w[2 * n * p + j];
            w[2 * n * p + j] = w[2 * n * best + j];
            w[2 * n * best + j] = swap;
        }
        double pivot = w[2 * n * p + p];
        for (int j = 0; j < 2 * n; j++) w[2 * n * p + j] /= pivot;
        for (int i = 0; i < n; i++) {
            double f = w[2 * n * i + p];
            for (int j = 0; j < 2 * n && i != p; j++) w[2 * n * i + j] -= f * w[2 * n * p + j];
        }
    }
    for (int i = 0; i < n; i++) memcpy(a + n * i, w + 2 * n * i + n, (size_t)n * sizeof *a);
    free(w);
}

/* settings, then names of arrays to ask for; NULL-ended lists */
static inline plx_model *fit_asking(plx_context *ctx, const char *method, const plx_dataset *d,
                                    const char *const *settings, const char *const *arrays, const char *directory)
{
    plx_fit_options o = PLX_FIT_OPTIONS_INIT;
    plx_params *p = settings_of(ctx, method, settings);
    plx_model *m = NULL;
    o.directory = directory;
    o.arrays = arrays;
    while (arrays && arrays[o.n_arrays]) o.n_arrays++;
    assert_ok(ctx, plx_fit(&m, ctx, method, d, p, &o));
    plx_params_destroy(p);
    return m;
}

static inline double evidence(const plx_model *m) { return m->facts.objective; }

/* Derivative of the evidence by log(hyper-parameter) number `at`: `keys` names the settings in the order of `hyper`. */
static inline double evidence_slope(plx_context *ctx, const char *method, const plx_dataset *d,
                                    const char *const *settings, const char *const *keys, plx_cmat hyper, plx_index at)
{
    const char *all[40];
    char text[20][64];
    double value[2], h = 1e-5;
    for (int side = 0; side < 2; side++) {
        int count = 0;
        for (; settings[count]; count++) all[count] = settings[count];
        for (plx_index k = 0; k < hyper.rows; k++) {
            double x = hyper.data[k] * (k == at ? exp(side ? h : -h) : 1.0);
            snprintf(text[k], sizeof text[k], "%s=%.17g", keys[k], x);
            all[count++] = text[k];
        }
        all[count] = NULL;
        plx_model *m = fit_model(ctx, method, d, all);
        value[side] = evidence(m);
        plx_model_destroy(m);
    }
    return (value[1] - value[0]) / (2 * h);
}

static inline void check_gradient(plx_context *ctx, const char *method, const plx_dataset *d,
                                  const char *const *settings, const char *const *keys)
{
    plx_model *m = fit_asking(ctx, method, d, settings, (const char *const[]){"evidence_gradient", NULL}, NULL);
    plx_cmat hyper = array_of(m, "hyper"), gradient = array_of(m, "evidence_gradient");
    for (plx_index k = 0; k < hyper.rows; k++) {
        double slope = evidence_slope(ctx, method, d, settings, keys, hyper, k);
        assert_close(gradient.data[k], slope, 1e-6 * (1 + fabs(slope)));
    }
    plx_model_destroy(m);
}

#endif
