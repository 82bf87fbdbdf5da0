/* Consensus clustering: updates against plain loops, an objective that never rises, base partitions, errors. */
#include "core/parallel.h"
#include "fit_helpers.h"
#include "cluster/consensus.h"
#include "cluster/view_clusters.h"

enum { N = 30, V = 3, K = 3, MOST = 80 };

static const char *const NAMES[] = {"v0", "v1", "v2"};

typedef struct world {
    plx_index cols[V];
    double a[V][N * MOST], weight[V];
    uint8_t present[V][N];
} world;

static world draw(uint64_t seed, plx_index wide)
{
    world w = {.cols = {4, wide, 2}, .weight = {1, 2, 0.5}};
    plx__rng rng = plx__rng_start(seed, 4);
    for (int v = 0; v < V; v++)
        for (int i = 0; i < N; i++) {
            w.present[v][i] = plx__next_uniform(&rng) < 0.7;
            for (plx_index h = 0; h < w.cols[v]; h++)
                w.a[v][i * w.cols[v] + h] = plx__next_uniform(&rng) < 0.4 ? plx__next_uniform(&rng) : 0;
        }
    return w;
}

/* ---- plain loops ---- */

typedef struct plain {
    double b[N][K], p[V][K][MOST];
} plain;

static double model(const plain *q, int v, int i, plx_index h)
{
    double m = 0;
    for (int g = 0; g < K; g++) m += q->b[i][g] * q->p[v][g][h];
    return m;
}

static double plain_objective(const plain *q, const world *w, bool idiv)
{
    double sum = 0;
    for (int v = 0; v < V; v++)
        for (int i = 0; i < N; i++)
            for (plx_index h = 0; w->present[v][i] && h < w->cols[v]; h++) {
                double a = w->a[v][i * w->cols[v] + h], m = model(q, v, i, h);
                sum += w->weight[v] * (!idiv ? (a - m) * (a - m) : (a > 0 ? a * log(a / m) : 0) - a + m);
            }
    return sum;
}

static void plain_maps(plain *q, const world *w)
{
    for (int v = 0; v < V; v++)
        for (int g = 0; g < K; g++)
            for (plx_index h = 0; h < w->cols[v]; h++) {
                double above = 0, below = 0;
                for (int i = 0; i < N; i++) {
                    if (!w->present[v][i]) continue;
                    above += q->b[i][g] * w->a[v][i * w->cols[v] + h];
                    below += q->b[i][g];
                }
                q->p[v][g][h] = above / below;
            }
}

static void plain_step(plain *q, const world *w, bool idiv)
{
    plain old = *q;
    for (int i = 0; i < N; i++)
        for (int g = 0; g < K; g++) {
            double above = 0, below = 0;
            for (int v = 0; v < V; v++)
                for (plx_index h = 0; w->present[v][i] && h < w->cols[v]; h++) {
                    double a = w->a[v][i * w->cols[v] + h], m = model(&old, v, i, h), p = old.p[v][g][h];
                    above += w->weight[v] * p * (idiv ? (a > 0 ? a / m : 0) : a);
                    below += w->weight[v] * p * (idiv ? 1 : m);
                }
            if (below > 0) q->b[i][g] = old.b[i][g] * above / below;
        }
    for (int v = 0; v < V; v++)
        for (int g = 0; g < K; g++)
            for (plx_index h = 0; h < w->cols[v]; h++) {
                double above = 0, below = 0;
                for (int i = 0; i < N; i++) {
                    if (!w->present[v][i]) continue;
                    double a = w->a[v][i * w->cols[v] + h], m = 0;
                    for (int r = 0; r < K; r++) m += q->b[i][r] * old.p[v][r][h];
                    above += q->b[i][g] * (idiv ? (a > 0 ? a / m : 0) : a);
                    below += q->b[i][g] * (idiv ? 1 : m);
                }
                q->p[v][g][h] = below > 0 ? old.p[v][g][h] * above / below : 0;
            }
}

/* ---- the library against them ---- */

static void open_world(plx__consensus *c, plx__membership *patterns, plx_context *ctx, const world *w,
                       plx__consensus_loss loss)
{
    for (int v = 0; v < V; v++) {
        plx__view view = {.dense = {w->a[v], N, w->cols[v], w->cols[v]}, .cols = w->cols[v], .present = w->present[v]};
        assert_ok(ctx, plx__membership_of_view(&patterns[v], ctx, &view, N));
        patterns[v].weight = w->weight[v];
    }
    assert_ok(ctx, plx__consensus_open(c, ctx, loss, patterns, V, N, K));
    plx__consensus_random(c, 9);
}

static void updates_as_written(void **state)
{
    (void)state;
    plx_context *ctx = test_context(1);
    for (int loss = 0; loss < 2; loss++)
        for (plx_index wide = 3; wide <= MOST; wide += MOST - 3) {
            world w = draw(7, wide);
            plx__consensus c;
            plx__membership patterns[V];
            static plain q;
            double value = 0;
            open_world(&c, patterns, ctx, &w, (plx__consensus_loss)loss);
            for (int i = 0; i < N; i++) memcpy(q.b[i], c.b.data + i * c.b.ld, sizeof q.b[i]);
            plain_maps(&q, &w);
            assert_ok(ctx, plx__consensus_start_maps(&c));
            for (int t = 0; t < 4; t++) {
                double expected = plain_objective(&q, &w, loss == 0);
                assert_ok(ctx, plx__consensus_objective(&value, &c));
                assert_close(value, expected, 1e-10 * expected);
                plain_step(&q, &w, loss == 0);
                assert_ok(ctx, plx__consensus_step(&c));
            }
            for (int k = 0; k < N * K; k++) assert_close(c.b.data[k / K * c.b.ld + k % K], q.b[k / K][k % K], 1e-10);
            for (int g = 0; g < K; g++)
                for (plx_index h = 0; h < wide; h++)
                    assert_close(patterns[1].columns.data[h * patterns[1].columns.ld + g], q.p[1][g][h], 1e-10);
        }
    plx_context_destroy(ctx);
}

/* Rows with a single entry, 1 or less: what k-means of a view gives. */
static void partitions_as_written(void **state)
{
    (void)state;
    plx_context *ctx = test_context(1);
    world w = draw(7, 3);
    plx__consensus c;
    plx__membership patterns[V];
    static plain q;
    double value = 0;
    for (int v = 0; v < V; v++)
        for (int i = 0; i < N; i++)
            for (plx_index h = 0; h < w.cols[v]; h++)
                w.a[v][i * w.cols[v] + h] = h == (5 * i + v) % w.cols[v] ? (i % 4 ? 1.0 : 0.3) : 0.0;
    open_world(&c, patterns, ctx, &w, PLX__LOSS_IDIV);
    for (int i = 0; i < N; i++) memcpy(q.b[i], c.b.data + i * c.b.ld, sizeof q.b[i]);
    plain_maps(&q, &w);
    assert_ok(ctx, plx__consensus_start_maps(&c));
    for (int t = 0; t < 4; t++) {
        double expected = plain_objective(&q, &w, true);
        assert_ok(ctx, plx__consensus_objective(&value, &c));
        assert_close(value, expected, 1e-12 * expected);
        plain_step(&q, &w, true);
        assert_ok(ctx, plx__consensus_step(&c));
    }
    plx_context_destroy(ctx);
}

static void objective_never_rises(void **state)
{
    (void)state;
    plx_context *ctx = test_context(1);
    for (int loss = 0; loss < 2; loss++) {
        world w = draw(8, 5);
        plx__consensus c;
        plx__membership patterns[V];
        double last = INFINITY, value = 0;
        open_world(&c, patterns, ctx, &w, (plx__consensus_loss)loss);
        assert_ok(ctx, plx__consensus_start_maps(&c));
        for (int t = 0; t < 60; t++) {
            assert_ok(ctx, plx__consensus_objective(&value, &c));
            assert_true(value <= last * (1 + 1e-12));
            last = value;
            assert_ok(ctx, plx__consensus_step(&c));
        }
    }
    plx_context_destroy(ctx);
}

/* ---- the method ---- */

static plx_dataset *partitions(plx_context *ctx)
{
    double x[V][N * K] = {{0}};
    plx_dataset *d = new_dataset(ctx, N);
    for (int v = 0; v < V; v++) {
        for (int i = 0; i < N; i++) x[v][i * K + (i + v) % K] = 1; /* the same partition under three namings */
        add_dense(d, ctx, NAMES[v], PLX_VIEW_PROBABILITY, x[v], K, NULL);
    }
    return d;
}

static void agreeing_partitions_are_found(void **state)
{
    (void)state;
    plx_context *ctx = test_context(1);
    plx_dataset *d = partitions(ctx);
    plx_model *m = fit_model(ctx, "mvc", d, SETTINGS("clusters=3", "init=pattern:v1", "max_iter=500", "tol=1e-12"));
    plx_cmat c = array_of(m, "consensus"), b = array_of(m, "B"), map = array_of(m, "map.v2");
    assert_true(m->facts.objective < 1e-6);
    assert_int_equal(m->facts.n_trace, m->facts.iterations + 1);
    for (int i = 0; i < N; i++)
        for (int g = 0; g < K; g++) assert_close(c.data[i * K + g], g == (i + 1) % K, 1e-3);
    for (int g = 0; g < K; g++) { /* B P gives every view's pattern back */
        double back = 0;
        for (int r = 0; r < K; r++) back += b.data[r] * map.data[r * K + g];
        assert_close(back, g == 2, 1e-3);
    }
    plx_prediction *p = NULL;
    assert_ok(ctx, plx_predict(&p, ctx, m, d));
    for (int i = 0; i < N; i++)
        assert_string_equal(plx_prediction_label(p, i), plx_prediction_label(plx_model_prediction(m), i));
    plx_prediction_destroy(p);
    plx_model_destroy(m);
    plx_dataset_destroy(d);
    plx_context_destroy(ctx);
}

/* Columns of a start pattern are repeated: k = 5 from three columns, one iteration of which is compared by its sums. */
static void start_pattern_is_cycled(void **state)
{
    (void)state;
    plx_context *ctx = test_context(1);
    plx_dataset *d = partitions(ctx);
    plx_model *m = fit_model(ctx, "mvc", d, SETTINGS("clusters=5", "init=pattern:v0", "max_iter=1", "tol=0"));
    plx_cmat b = array_of(m, "B");
    for (int i = 0; i < N; i++) { /* columns 0 and 3, 1 and 4 start equal and stay so */
        assert_close(b.data[i * 5], b.data[i * 5 + 3], 1e-15);
        assert_close(b.data[i * 5 + 1], b.data[i * 5 + 4], 1e-15);
        assert_true(fabs(b.data[i * 5] - b.data[i * 5 + 1]) > 1e-3 || i % 3 == 2);
    }
    plx_model_destroy(m);
    plx_dataset_destroy(d);
    plx_context_destroy(ctx);
}

static void more_restarts_are_no_worse(void **state)
{
    (void)state;
    plx_context *ctx = test_context(1);
    world w = draw(10, 5);
    plx_dataset *d = new_dataset(ctx, N);
    for (int v = 0; v < V; v++) add_dense(d, ctx, NAMES[v], PLX_VIEW_PROBABILITY, w.a[v], w.cols[v], w.present[v]);
    plx_model *one = fit_model(ctx, "mvc", d, SETTINGS("clusters=3", "max_iter=15"));
    plx_model *ten = fit_model(ctx, "mvc", d, SETTINGS("clusters=3", "max_iter=15", "restarts=10"));
    assert_true(ten->facts.objective <= one->facts.objective);
    assert_close(ten->facts.trace[ten->facts.n_trace - 1], ten->facts.objective, 0);
    plx_model_destroy(one);
    plx_model_destroy(ten);
    plx_dataset_destroy(d);
    plx_context_destroy(ctx);
}

/* Real and count views are clustered first; far groups make every base partition right. */
static void views_are_clustered_first(void **state)
{
    (void)state;
    plx_context *ctx = test_context(1);
    double real[N * 2], counts[N * K] = {0};
    plx__rng rng = plx__rng_start(1, 6);
    for (int i = 0; i < N; i++) {
        real[2 * i] = 50 * (i % K) + plx__next_normal(&rng);
        real[2 * i + 1] = (i % K == 1 ? 70 : 0) + plx__next_normal(&rng);
        counts[i * K + i % K] = 3 + i;
    }
    plx_dataset *d = new_dataset(ctx, N);
    add_dense(d, ctx, "real", PLX_VIEW_REAL, real, 2, NULL);
    add_thin(d, ctx, "counts", PLX_VIEW_COUNTS, counts, K, NULL);
    plx_model *m = fit_model(ctx, "mvc", d, SETTINGS("clusters=3", "restarts=5"));
    plx_prediction *p = NULL;
    for (int i = K; i < N; i++)
        assert_string_equal(plx_prediction_label(plx_model_prediction(m), i),
                            plx_prediction_label(plx_model_prediction(m), i % K));
    assert_string_not_equal(plx_prediction_label(plx_model_prediction(m), 0),
                            plx_prediction_label(plx_model_prediction(m), 1));
    assert_string_not_equal(plx_prediction_label(plx_model_prediction(m), 0),
                            plx_prediction_label(plx_model_prediction(m), 2));
    assert_ok(ctx, plx_predict(&p, ctx, m, d));
    for (int i = 0; i < N; i++)
        assert_string_equal(plx_prediction_label(p, i), plx_prediction_label(plx_model_prediction(m), i));
    plx_prediction_destroy(p);
    plx_model_destroy(m);
    plx_dataset_destroy(d);
    plx_context_destroy(ctx);
}

/* ---- base partitions ---- */

/* Four points, two clusters: {0, 1} and {10, 12}; means 0.5 and 11, loss 0.5 + 2. */
static void kmeans_by_hand(void **state)
{
    (void)state;
    plx_context *ctx = test_context(1);
    double x[] = {0, 1, 99, 10, 12};
    uint8_t present[] = {1, 1, 0, 1, 1};
    plx__view view = {.dense = {x, 5, 1, 1}, .cols = 1, .present = present, .present_count = 4};
    plx__cluster_settings set = {false, 2, 5, 77};
    plx__partition out;
    int32_t nearest[5];
    assert_ok(ctx, plx__cluster_view(&out, ctx, plx__scratch(ctx), &view, 5, &set));
    assert_close(out.loss, 2.5, 1e-12);
    assert_int_equal(out.label[2], -1);
    assert_int_equal(out.label[0], out.label[1]);
    assert_int_equal(out.label[3], out.label[4]);
    assert_close(out.centroids.data[out.label[0]], 0.5, 1e-15);
    assert_close(out.centroids.data[out.label[3]], 11, 1e-15);
    assert_ok(ctx, plx__nearest_clusters(nearest, ctx, &view, 5, plx__cmat(out.centroids), false));
    assert_memory_equal(nearest, out.label, sizeof nearest);
    plx_context_destroy(ctx);
}

/* Lengths do not matter to the spherical one: rays (1,0) and (0,1), loss 0. */
static void spherical_kmeans_by_hand(void **state)
{
    (void)state;
    plx_context *ctx = test_context(1);
    int64_t ptr[] = {0, 1, 2, 3, 4};
    int32_t col[] = {0, 1, 0, 1};
    double val[] = {1, 2, 30, 40};
    uint8_t present[] = {1, 1, 1, 1};
    plx__view view = {.sparse = true, .csr = {4, 2, ptr, col, val}, .cols = 2, .present = present, .present_count = 4};
    plx__cluster_settings set = {true, 2, 5, 78};
    plx__partition out;
    assert_ok(ctx, plx__cluster_view(&out, ctx, plx__scratch(ctx), &view, 4, &set));
    assert_close(out.loss, 0, 1e-15);
    assert_int_equal(out.label[0], out.label[2]);
    assert_int_equal(out.label[1], out.label[3]);
    assert_true(out.label[0] != out.label[1]);
    assert_close(out.centroids.data[2 * out.label[1] + 1], 1, 1e-15);
    plx_context_destroy(ctx);
}

/* ---- errors ---- */

#define REFUSED(status, word, ...)                                                                                     \
    do {                                                                                                               \
        plx_model *refused = NULL;                                                                                     \
        assert_fails(ctx, try_fit(&refused, ctx, "mvc", d, SETTINGS(__VA_ARGS__), directory), status, word);           \
    } while (0)

static void names_the_culprit(void **state)
{
    (void)state;
    plx_context *ctx = test_context(1);
    char directory[64], rows[N * 8] = "";
    make_directory(directory);
    for (int i = 0; i < N; i++) strcat(rows, i == 4 ? "0,0\n" : "1,2\n");
    write_file(directory, "zero.csv", rows);
    write_file(directory, "short.csv", "1,2\n");
    rows[0] = '\0';
    for (int i = 0; i < N; i++) strcat(rows, i == 4 ? "1,-2\n" : "1,2\n");
    write_file(directory, "negative.csv", rows);
    plx_dataset *d = partitions(ctx);
    REFUSED(PLX_E_ARG, "clusters", "loss=idiv");
    REFUSED(PLX_E_ARG, "weights", "clusters=2", "weights=1,2");
    REFUSED(PLX_E_ARG, "weights", "clusters=2", "weights=0,0,0");
    REFUSED(PLX_E_ARG, "init", "clusters=2", "init=whatever");
    REFUSED(PLX_E_ARG, "v7", "clusters=2", "init=pattern:v7");
    REFUSED(PLX_E_DATA, "row 4", "clusters=2", "init=file:zero.csv");
    REFUSED(PLX_E_DATA, "30 x 2", "clusters=2", "init=file:short.csv");
    REFUSED(PLX_E_DATA, "negative.csv", "clusters=2", "init=file:negative.csv");
    plx_dataset_destroy(d);
    d = new_dataset(ctx, 2);
    plx_cmat negative = {(const double[]){0.5, 0.5, -0.5, 1}, 2, 2, 2};
    assert_fails(ctx, plx_dataset_add_dense(d, ctx, "v0", PLX_VIEW_PROBABILITY, negative, NULL, NULL), PLX_E_DATA,
                 "v0");
    plx_dataset_destroy(d);
    remove_directory(directory);
    plx_context_destroy(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(updates_as_written),        cmocka_unit_test(partitions_as_written),
        cmocka_unit_test(objective_never_rises),     cmocka_unit_test(agreeing_partitions_are_found),
        cmocka_unit_test(start_pattern_is_cycled),   cmocka_unit_test(more_restarts_are_no_worse),
        cmocka_unit_test(views_are_clustered_first), cmocka_unit_test(kmeans_by_hand),
        cmocka_unit_test(spherical_kmeans_by_hand),  cmocka_unit_test(names_the_culprit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
