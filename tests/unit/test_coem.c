/* co-EM: identities of the model, equalities between its modes, likelihoods that must not fall, errors. */
#include "core/parallel.h"
#include "fit_helpers.h"

enum { N = 60, V = 3, M = 3, D = 12 };

static const char *const NAMES[] = {"v0", "v1", "v2"};

typedef struct world {
    int label[N];
    double x[V][N * D];
    uint8_t present[V][N];
} world;

/* Counts of three overlapping groups; rows are never all zero. */
static world draw(uint64_t seed, double missing)
{
    world w;
    plx__rng rng = plx__rng_start(seed, 3);
    for (int i = 0; i < N; i++) {
        w.label[i] = i < 2 * M || plx__next_uniform(&rng) < 0.2 ? i % M : -1;
        for (int v = 0; v < V; v++) {
            w.present[v][i] = v == i % V || i < M || plx__next_uniform(&rng) >= missing;
            for (int f = 0; f < D; f++)
                w.x[v][i * D + f] = random_count(&rng, f % M == i % M ? 5 : 3) + (f == 0 ? 1 : 0);
        }
    }
    return w;
}

static plx_dataset *dataset_of(const world *w, plx_context *ctx, plx_view_kind kind, int views, bool sparse)
{
    plx_dataset *d = new_dataset(ctx, N);
    for (int v = 0; v < views; v++) {
        if (sparse) add_thin(d, ctx, NAMES[v], kind, w->x[v], D, w->present[v]);
        else add_dense(d, ctx, NAMES[v], kind, w->x[v], D, w->present[v]);
    }
    return d;
}

static plx_cmat view_array(const plx_model *m, const char *name, int v)
{
    char key[64];
    snprintf(key, sizeof key, "%s.%s", name, NAMES[v]);
    return array_of(m, key);
}

static double log_floored(double x) { return log(fmax(x, 1e-300)); }

/* log P(x_i | j) of a multinomial view from the model's own theta. */
static double loglik_at(const world *w, plx_cmat theta, int v, int i, int j)
{
    double sum = 0;
    for (int f = 0; f < D; f++) sum += w->x[v][i * D + f] * log_floored(theta.data[j * theta.ld + f]);
    return sum;
}

static double log_sum_exp(const double *z)
{
    double top = z[0], sum = 0;
    for (int j = 1; j < M; j++) top = fmax(top, z[j]);
    for (int j = 0; j < M; j++) sum += exp(z[j] - top);
    return top + log(sum);
}

/* ---- identities ---- */

/* Eq. 12 (the objective) against Eq. 7: sum of the single-view Q less eta times the dissent, with the new parameters
 * in it and 1 / (a_i - 1) per sample. */
static void objective_is_likelihood_less_dissent(void **state)
{
    (void)state;
    plx_context *ctx = test_context(1);
    world w = draw(4, 0.4);
    plx_dataset *d = dataset_of(&w, ctx, PLX_VIEW_COUNTS, V, true);
    const double eta = 0.7;
    plx_model *m = fit_model(ctx, "coem", d, SETTINGS("clusters=3", "eta=0.7", "max_iter=4", "tol=0"));
    plx_cmat alpha = array_of(m, "alpha");
    double expected = 0;
    for (int i = 0; i < N; i++) {
        double z[V][M], own[V] = {0};
        int a = 0;
        for (int v = 0; v < V; v++) a += w.present[v][i];
        for (int v = 0; v < V; v++) {
            if (!w.present[v][i]) continue;
            const double *p = view_array(m, "posterior", v).data + i * M;
            for (int j = 0; j < M; j++) {
                z[v][j] = log_floored(alpha.data[j]) + loglik_at(&w, view_array(m, "theta", v), v, i, j);
                own[v] += p[j] * z[v][j];
            }
            expected += own[v];
        }
        for (int v = 0; a > 1 && v < V; v++)
            for (int u = 0; u < V; u++) {
                if (u == v || !w.present[v][i] || !w.present[u][i]) continue;
                const double *p = view_array(m, "posterior", v).data + i * M;
                for (int j = 0; j < M; j++)
                    expected -= eta / (a - 1) * p[j] * ((z[v][j] - log_sum_exp(z[v])) - (z[u][j] - log_sum_exp(z[u])));
            }
    }
    assert_close(m->facts.objective, expected, 1e-9 * fabs(expected));
    plx_model_destroy(m);
    plx_dataset_destroy(d);
    plx_context_destroy(ctx);
}

/* Without consensus and with priors of its own, every view is plain EM on that view. */
static void eta_zero_is_every_view_alone(void **state)
{
    (void)state;
    plx_context *ctx = test_context(1);
    world w = draw(5, 0.3);
    plx_dataset *d = dataset_of(&w, ctx, PLX_VIEW_COUNTS, V, true);
    plx_model *all =
        fit_model(ctx, "coem", d,
                  SETTINGS("clusters=3", "eta=0", "priors=view", "max_iter=9", "tol=0", "init=random", "restarts=1"));
    plx_cmat together = array_of(all, "loglik");
    for (int v = 0; v < V; v++) {
        char mode[32];
        snprintf(mode, sizeof mode, "mode=single:%s", NAMES[v]);
        plx_model *one =
            fit_model(ctx, "coem", d,
                      SETTINGS("clusters=3", mode, "priors=view", "max_iter=9", "tol=0", "init=random", "restarts=1"));
        plx_cmat alone = array_of(one, "loglik");
        assert_same_matrix(view_array(all, "theta", v), view_array(one, "theta", v), 1e-12);
        assert_same_matrix(view_array(all, "posterior", v), view_array(one, "posterior", v), 1e-12);
        for (plx_index t = 0; t < alone.rows; t++)
            assert_close(together.data[t * V + v], alone.data[t], 1e-9 * fabs(alone.data[t]));
        plx_model_destroy(one);
    }
    plx_model_destroy(all);
    plx_dataset_destroy(d);
    plx_context_destroy(ctx);
}

static void one_view_is_single(void **state)
{
    (void)state;
    plx_context *ctx = test_context(1);
    world w = draw(6, 0);
    plx_dataset *d = dataset_of(&w, ctx, PLX_VIEW_COUNTS, 1, true);
    plx_model *a = fit_model(ctx, "coem", d, SETTINGS("clusters=3", "max_iter=20"));
    plx_model *b = fit_model(ctx, "coem", d, SETTINGS("clusters=3", "max_iter=20", "mode=single:v0"));
    plx_model *c = fit_model(ctx, "coem", d, SETTINGS("clusters=3", "max_iter=20", "mode=joint"));
    assert_same_matrix(array_of(a, "posterior"), array_of(b, "posterior"), 0);
    assert_same_matrix(array_of(a, "theta.v0"), array_of(b, "theta.v0"), 0);
    assert_same_matrix(array_of(a, "theta.v0"), array_of(c, "theta.v0"), 1e-9);
    plx_model_destroy(a);
    plx_model_destroy(b);
    plx_model_destroy(c);
    plx_dataset_destroy(d);
    plx_context_destroy(ctx);
}

/* Adding views to one another and then joining them is concat of one group each. */
static void merged_without_plus_is_concat(void **state)
{
    (void)state;
    plx_context *ctx = test_context(1);
    world w = draw(7, 0.3);
    plx_dataset *d = dataset_of(&w, ctx, PLX_VIEW_COUNTS, V, true),
                *dense = dataset_of(&w, ctx, PLX_VIEW_COUNTS, V, false);
    plx_model *a = fit_model(ctx, "coem", d, SETTINGS("clusters=3", "mode=concat", "max_iter=8"));
    plx_model *b = fit_model(ctx, "coem", d, SETTINGS("clusters=3", "mode=merged", "merge=v0;v1;v2", "max_iter=8"));
    plx_model *c = fit_model(ctx, "coem", dense, SETTINGS("clusters=3", "mode=concat", "max_iter=8"));
    assert_same_matrix(array_of(a, "theta.concat"), array_of(b, "theta.merged"), 0);
    assert_same_matrix(array_of(a, "theta.concat"), array_of(c, "theta.concat"), 1e-9);
    assert_int_equal(array_of(a, "theta.concat").cols, V * D);
    plx_model_destroy(a);
    plx_model_destroy(b);
    plx_model_destroy(c);
    plx_dataset_destroy(d);
    plx_dataset_destroy(dense);
    plx_context_destroy(ctx);
}

/* Stored dense or sparse: the same model, for every likelihood. */
static void sparse_is_dense(void **state)
{
    (void)state;
    static const char *const likelihoods[] = {"multinomial", "gaussian", "spherical", "vmf"};
    plx_context *ctx = test_context(1);
    world w = draw(8, 0.3);
    for (int l = 0; l < 4; l++) {
        char setting[32];
        snprintf(setting, sizeof setting, "likelihood=%s", likelihoods[l]);
        plx_model *m[2];
        for (int sparse = 0; sparse < 2; sparse++) {
            plx_dataset *d = dataset_of(&w, ctx, PLX_VIEW_REAL, V, sparse);
            m[sparse] = fit_model(ctx, "coem", d, SETTINGS("clusters=3", setting, "max_iter=6", "tol=0"));
            plx_dataset_destroy(d);
        }
        assert_same_matrix(array_of(m[0], "posterior"), array_of(m[1], "posterior"), 1e-8);
        assert_same_matrix(array_of(m[0], "theta.v1"), array_of(m[1], "theta.v1"), 1e-8);
        if (l == 1 || l == 2) assert_same_matrix(array_of(m[0], "var.v1"), array_of(m[1], "var.v1"), 1e-8);
        plx_model_destroy(m[0]);
        plx_model_destroy(m[1]);
    }
    plx_context_destroy(ctx);
}

/* ---- what must not fall ---- */

/* sum_v in views of log-likelihood + smoothing * sum log theta, or the same of the product model. */
static double penalised(const world *w, const plx_model *m, double smoothing, bool joint, int view)
{
    plx_cmat alpha = array_of(m, "alpha");
    double sum = 0;
    for (int i = 0; i < N; i++) {
        double z[M];
        int a = 0;
        for (int j = 0; j < M; j++) z[j] = log_floored(alpha.data[(joint ? 0 : view * alpha.ld) + j]);
        for (int v = 0; v < V; v++) {
            if (!w->present[v][i] || (!joint && v != view)) continue;
            a++;
            for (int j = 0; j < M; j++) z[j] += loglik_at(w, view_array(m, "theta", v), v, i, j);
        }
        if (a) sum += log_sum_exp(z);
    }
    for (int v = 0; v < V; v++)
        for (int k = 0; (joint || v == view) && k < M * D; k++)
            sum += smoothing * log(view_array(m, "theta", v).data[k]);
    return sum;
}

static void likelihood_never_falls(void **state)
{
    (void)state;
    plx_context *ctx = test_context(1);
    world w = draw(9, 0.3);
    plx_dataset *d = dataset_of(&w, ctx, PLX_VIEW_COUNTS, V, true);
    double last[V + 1];
    for (int t = 1; t <= 12; t++) {
        char limit[32];
        snprintf(limit, sizeof limit, "max_iter=%d", t);
        plx_model *own =
            fit_model(ctx, "coem", d,
                      SETTINGS("clusters=3", "eta=0", "priors=view", "smoothing=0.5", limit, "tol=0", "restarts=1"));
        plx_model *joint = fit_model(
            ctx, "coem", d, SETTINGS("clusters=3", "mode=joint", "smoothing=0.5", limit, "tol=0", "restarts=1"));
        for (int v = 0; v <= V; v++) {
            double now = v < V ? penalised(&w, own, 0.5, false, v) : penalised(&w, joint, 0.5, true, 0);
            if (t > 1 && !(now >= last[v] - 1e-9 * fabs(now)))
                fail_msg("iteration %d, %d: %.17g after %.17g", t, v, now, last[v]);
            last[v] = now;
        }
        plx_model_destroy(own);
        plx_model_destroy(joint);
    }
    plx_dataset_destroy(d);
    plx_context_destroy(ctx);
}

/* ---- schedules and starts ---- */

static void eta_follows_its_schedule(void **state)
{
    (void)state;
    plx_context *ctx = test_context(1);
    world w = draw(10, 0);
    plx_dataset *d = dataset_of(&w, ctx, PLX_VIEW_COUNTS, 2, true);
    plx_model *m = fit_model(
        ctx, "coem", d, SETTINGS("clusters=3", "eta=0.8", "anneal=linear", "anneal_steps=4", "max_iter=6", "tol=0"));
    static const double linear[] = {0.8, 0.6, 0.4, 0.2, 0, 0};
    for (int t = 0; t < 6; t++) assert_close(array_of(m, "eta").data[t], linear[t], 1e-15);
    plx_model_destroy(m);
    m = fit_model(ctx, "coem", d, SETTINGS("clusters=3", "anneal=geometric", "anneal_rate=0.01", "max_iter=300"));
    plx_cmat eta = array_of(m, "eta");
    assert_close(eta.data[1], 0.01, 1e-15);
    assert_close(eta.data[2], 1e-4, 1e-15);
    assert_true(eta.data[3] == 0); /* 1e-6 is below 1e-4 */
    assert_int_equal(m->facts.converged, 1);
    assert_true(eta.rows >= 5); /* two iterations at 0 at least */
    plx_model_destroy(m);
    plx_dataset_destroy(d);
    plx_context_destroy(ctx);
}

/* Three far groups of real points: k-means++ centres fall into different ones. */
static void spread_start_finds_far_groups(void **state)
{
    (void)state;
    plx_context *ctx = test_context(1);
    double x[N * 2];
    plx__rng rng = plx__rng_start(3, 1);
    for (int i = 0; i < N; i++) {
        x[2 * i] = 100 * (i % 3) + plx__next_normal(&rng);
        x[2 * i + 1] = (i % 3 == 1 ? 80 : 0) + plx__next_normal(&rng);
    }
    plx_dataset *d = new_dataset(ctx, N);
    add_dense(d, ctx, "v0", PLX_VIEW_REAL, x, 2, NULL);
    plx_model *m = fit_model(ctx, "coem", d, SETTINGS("clusters=3", "init=kmeans++"));
    plx_cmat p = array_of(m, "posterior");
    for (int i = 3; i < N; i++)
        for (int j = 0; j < 3; j++) assert_close(p.data[i * 3 + j], p.data[i % 3 * 3 + j], 1e-9);
    for (int a = 0; a < 3; a++) assert_close(p.data[a * 3] + p.data[a * 3 + 1] + p.data[a * 3 + 2], 1, 1e-12);
    for (int j = 0; j < 3; j++) assert_close(p.data[j] + p.data[3 + j] + p.data[6 + j], 1, 1e-9);
    plx_model_destroy(m);
    plx_dataset_destroy(d);
    plx_context_destroy(ctx);
}

/* A component nobody starts in: uniform theta, prior 0, and a warning; the others as without it. */
static void component_without_mass_stays(void **state)
{
    (void)state;
    plx_context *ctx = test_context(1);
    world w = draw(11, 0);
    char directory[64], three[N * 16] = "", two[N * 16] = "";
    for (int i = 0; i < N; i++) {
        strcat(three, i % 2 ? "0.2,0.8,0\n" : "0.9,0.1,0\n");
        strcat(two, i % 2 ? "0.2,0.8\n" : "0.9,0.1\n");
    }
    make_directory(directory);
    write_file(directory, "three.csv", three);
    write_file(directory, "two.csv", two);
    plx_dataset *d = dataset_of(&w, ctx, PLX_VIEW_COUNTS, 2, true);
    plx_model *a = NULL, *b = NULL;
    assert_ok(ctx, try_fit(&a, ctx, "coem", d, SETTINGS("clusters=3", "init=file:three.csv", "max_iter=3", "tol=0"),
                           directory));
    assert_ok(ctx, try_fit(&b, ctx, "coem", d, SETTINGS("clusters=2", "init=file:two.csv", "max_iter=3", "tol=0"),
                           directory));
    plx_cmat p = array_of(a, "theta.v0"), q = array_of(b, "theta.v0");
    for (int f = 0; f < D; f++) {
        assert_close(p.data[f], q.data[f], 1e-12);
        assert_close(p.data[D + f], q.data[D + f], 1e-12);
        assert_close(p.data[2 * D + f], 1.0 / D, 1e-15);
    }
    assert_true(array_of(a, "alpha").data[2] == 0);
    bool told = false;
    for (plx_index k = 0; k < plx_model_warnings(a); k++)
        told |= strstr(plx_model_warning(a, k), "empty_components") != NULL;
    assert_true(told);
    plx_model_destroy(a);
    plx_model_destroy(b);
    plx_dataset_destroy(d);
    remove_directory(directory);
    plx_context_destroy(ctx);
}

/* New samples: the posterior of Eq. 19; without any view the prior. */
static void new_samples_use_all_their_views(void **state)
{
    (void)state;
    plx_context *ctx = test_context(1);
    world w = draw(12, 0.3);
    plx_dataset *d = dataset_of(&w, ctx, PLX_VIEW_COUNTS, V, true);
    plx_model *m = fit_model(ctx, "coem", d, SETTINGS("clusters=3", "max_iter=10"));
    for (int v = 0; v < V; v++) w.present[v][0] = 0;
    plx_dataset *fresh = dataset_of(&w, ctx, PLX_VIEW_COUNTS, V, true);
    plx_prediction *p = NULL;
    assert_ok(ctx, plx_predict(&p, ctx, m, fresh));
    plx_cmat fitted = array_of(m, "posterior"), got = {0};
    assert_int_equal(plx_prediction_array(&got, p, "posterior"), PLX_OK);
    for (int j = 0; j < M; j++) assert_close(got.data[j], array_of(m, "alpha").data[j], 1e-15);
    for (int k = M; k < N * M; k++) assert_close(got.data[k], fitted.data[k], 1e-12);
    plx_prediction_destroy(p);
    plx_model_destroy(m);
    plx_dataset_destroy(d);
    plx_dataset_destroy(fresh);
    plx_context_destroy(ctx);
}

/* ---- errors ---- */

#define REFUSED(d, status, word, ...)                                                                                  \
    do {                                                                                                               \
        plx_model *refused = NULL;                                                                                     \
        assert_fails(ctx, try_fit(&refused, ctx, "coem", d, SETTINGS(__VA_ARGS__), directory), status, word);          \
        assert_null(refused);                                                                                          \
    } while (0)

static void names_the_culprit(void **state)
{
    (void)state;
    plx_context *ctx = test_context(1);
    char directory[64];
    world w = draw(13, 0.3);
    make_directory(directory);
    write_file(directory, "short.csv", "1,0,0\n");
    plx_dataset *d = dataset_of(&w, ctx, PLX_VIEW_COUNTS, V, true);
    REFUSED(d, PLX_E_ARG, "clusters", "eta=1");
    REFUSED(d, PLX_E_ARG, "clusters", "clusters=61");
    REFUSED(d, PLX_E_ARG, "labels", "clusters=3", "init=labels");
    REFUSED(d, PLX_E_ARG, "init", "clusters=3", "init=randm");
    REFUSED(d, PLX_E_DATA, "init", "clusters=3", "init=file:short.csv");
    REFUSED(d, PLX_E_ARG, "mode", "clusters=3", "mode=jont");
    REFUSED(d, PLX_E_ARG, "v9", "clusters=3", "mode=single:v9");
    REFUSED(d, PLX_E_ARG, "v9", "clusters=3", "mode=merged", "merge=v0+v9");
    REFUSED(d, PLX_E_ARG, "merge", "clusters=3", "mode=merged");
    REFUSED(d, PLX_E_ARG, "twice", "clusters=3", "mode=merged", "merge=v0+v0");
    add_dense(d, ctx, "real", PLX_VIEW_REAL, w.x[0], D, NULL);
    REFUSED(d, PLX_E_DATA, "real", "clusters=3", "mode=concat");
    plx_dataset_destroy(d);

    d = dataset_of(&w, ctx, PLX_VIEW_REAL, V, false);
    REFUSED(d, PLX_E_DATA, "missing", "clusters=3", "mode=concat");
    plx_dataset_destroy(d);

    d = dataset_of(&w, ctx, PLX_VIEW_COUNTS, 1, true);
    add_dense(d, ctx, "wide", PLX_VIEW_COUNTS, w.x[0], D / 2, NULL);
    REFUSED(d, PLX_E_DATA, "columns", "clusters=3", "mode=merged", "merge=v0+wide");
    plx_dataset_destroy(d);

    w.x[1][5 * D + 2] = -1;
    w.present[1][5] = 1;
    d = dataset_of(&w, ctx, PLX_VIEW_REAL, 2, false);
    REFUSED(d, PLX_E_DATA, "'v1' row 5, column 2", "clusters=3", "likelihood=multinomial");
    plx_dataset_destroy(d);
    remove_directory(directory);
    plx_context_destroy(ctx);
}

static bool warns_of(const plx_model *m, const char *text)
{
    for (plx_index i = 0; i < plx_model_warnings(m); i++)
        if (strstr(plx_model_warning(m, i), text)) return true;
    return false;
}

/* Nobody of class C has v1: the component starts from what v0 says of the others, of whom some have v1 and are not
 * labelled. Its words there come to be those of the group. */
static void a_class_unlabelled_in_a_view_starts_from_the_others(void **state)
{
    (void)state;
    plx_context *ctx = test_context(1);
    world w = draw(14, 0);
    for (int i = 0; i < N; i++) w.present[1][i] = w.label[i] != 2;
    plx_dataset *d = dataset_of(&w, ctx, PLX_VIEW_COUNTS, 2, true);
    set_labels(d, ctx, w.label);
    plx_model *m = fit_model(ctx, "coem", d, SETTINGS("max_iter=4"));
    plx_cmat theta = array_of(m, "theta.v1");
    assert_true(warns_of(m, "class 'C' has no labelled sample in view 'v1'"));
    double group = 0, rest = 0;
    for (int f = 1; f < D; f++) *(f % M == 2 ? &group : &rest) += theta.data[2 * theta.ld + f] / (f % M == 2 ? 4 : 7);
    assert_true(group > 1.2 * rest);
    plx_model_destroy(m);
    plx_dataset_destroy(d);
    plx_context_destroy(ctx);
}

static void a_class_unlabelled_in_all_views_is_refused(void **state)
{
    (void)state;
    plx_context *ctx = test_context(1);
    const char *directory = NULL;
    world w = draw(14, 0);
    for (int i = 0; i < N; i++) w.present[0][i] = w.present[1][i] = w.label[i] != 2;
    plx_dataset *d = dataset_of(&w, ctx, PLX_VIEW_COUNTS, 2, true);
    add_dense(d, ctx, "v2", PLX_VIEW_COUNTS, w.x[2], D, w.present[2]);
    set_labels(d, ctx, w.label);
    REFUSED(d, PLX_E_DATA, "class 'C' has no labelled sample", "max_iter=2", "mode=single:v1");
    REFUSED(d, PLX_E_ARG, "clusters", "clusters=3");
    plx_model *m = fit_model(ctx, "coem", d, SETTINGS("init=random", "max_iter=2", "mode=single:v1"));
    plx_model_destroy(m);
    plx_dataset_destroy(d);
    plx_context_destroy(ctx);
}

/* A view that is 0.1 for everybody has variance 0, not the square of a rounding error: all components have the floor
 * there, and the posteriors by that view are the prior. */
static void a_constant_view_has_no_variance(void **state)
{
    (void)state;
    plx_context *ctx = test_context(1);
    world w = draw(15, 0);
    double constant[N * 4];
    for (int i = 0; i < N * 4; i++) constant[i] = 0.1;
    for (int sparse = 0; sparse < 2; sparse++) {
        plx_dataset *d = dataset_of(&w, ctx, PLX_VIEW_REAL, 1, false);
        if (sparse) add_thin(d, ctx, "same", PLX_VIEW_REAL, constant, 4, NULL);
        else add_dense(d, ctx, "same", PLX_VIEW_REAL, constant, 4, NULL);
        plx_model *m = fit_model(ctx, "coem", d, SETTINGS("clusters=3", "init=random", "restarts=1", "max_iter=5"));
        assert_true(warns_of(m, "view 'same' is constant"));
        plx_cmat var = array_of(m, "var.same"), posterior = array_of(m, "posterior.same"), alpha = array_of(m, "alpha");
        for (plx_index k = 0; k < var.rows * var.cols; k++) assert_close(var.data[k], 1e-6, 0);
        for (int i = 0; i < N; i++)
            for (int j = 0; j < M; j++) assert_close(posterior.data[i * M + j], alpha.data[j], 1e-9);
        plx_model_destroy(m);
        plx_dataset_destroy(d);
    }
    plx_context_destroy(ctx);
}

/* A view of zero rows only says nothing: it is ignored, fitting and predicting. */
static void a_view_of_zeros_is_ignored(void **state)
{
    (void)state;
    plx_context *ctx = test_context(1);
    static const double zeros[N * D];
    world w = draw(17, 0.2);
    plx_dataset *d = dataset_of(&w, ctx, PLX_VIEW_COUNTS, 2, true),
                *more = dataset_of(&w, ctx, PLX_VIEW_COUNTS, 2, true);
    add_dense(more, ctx, "empty", PLX_VIEW_COUNTS, zeros, D, NULL);
    plx_model *a = fit_model(ctx, "coem", d, SETTINGS("clusters=3")),
              *b = fit_model(ctx, "coem", more, SETTINGS("clusters=3"));
    plx_prediction *p = NULL;
    assert_true(warns_of(b, "'empty'"));
    assert_same_matrix(array_of(a, "posterior"), array_of(b, "posterior"), 0);
    assert_ok(ctx, plx_predict(&p, ctx, b, more));
    assert_same_matrix(plx_prediction_scores(p), array_of(a, "posterior"), 1e-12);
    plx_prediction_destroy(p);
    plx_model_destroy(a);
    plx_model_destroy(b);
    plx_dataset_destroy(d);
    plx_dataset_destroy(more);
    plx_context_destroy(ctx);
}

/* Without labels: five k-means++ starts, unless something else is asked for. */
static void clusters_start_five_times(void **state)
{
    (void)state;
    plx_context *ctx = test_context(1);
    world w = draw(16, 0.2);
    plx_dataset *d = dataset_of(&w, ctx, PLX_VIEW_COUNTS, V, true);
    plx_model *m = fit_model(ctx, "coem", d, SETTINGS("clusters=3"));
    plx_model *spelled = fit_model(ctx, "coem", d, SETTINGS("clusters=3", "init=kmeans++", "restarts=5"));
    plx_model *once = fit_model(ctx, "coem", d, SETTINGS("clusters=3", "restarts=1"));
    assert_same_matrix(array_of(m, "posterior"), array_of(spelled, "posterior"), 0);
    assert_true(m->facts.objective >= once->facts.objective);
    plx_model_destroy(m);
    plx_model_destroy(spelled);
    plx_model_destroy(once);
    plx_dataset_destroy(d);
    plx_context_destroy(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(objective_is_likelihood_less_dissent),
        cmocka_unit_test(eta_zero_is_every_view_alone),
        cmocka_unit_test(one_view_is_single),
        cmocka_unit_test(merged_without_plus_is_concat),
        cmocka_unit_test(sparse_is_dense),
        cmocka_unit_test(likelihood_never_falls),
        cmocka_unit_test(eta_follows_its_schedule),
        cmocka_unit_test(spread_start_finds_far_groups),
        cmocka_unit_test(component_without_mass_stays),
        cmocka_unit_test(new_samples_use_all_their_views),
        cmocka_unit_test(names_the_culprit),
        cmocka_unit_test(a_class_unlabelled_in_a_view_starts_from_the_others),
        cmocka_unit_test(a_class_unlabelled_in_all_views_is_refused),
        cmocka_unit_test(a_constant_view_has_no_variance),
        cmocka_unit_test(a_view_of_zeros_is_ignored),
        cmocka_unit_test(clusters_start_five_times),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
