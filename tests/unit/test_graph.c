/* Similarity graphs against a plain O(n^2) reading of their rules, Laplacians against their definition, the harmonic
 * reduction against elimination and against resistors in series. */
#include "plx_test.h"

#include "core/rng.h"
#include "graph/harmonic.h"
#include "graph/laplacian.h"

enum { N = 26, D = 2 };

typedef struct world {
    double x[N * D];
    uint8_t present[N];
} world;

/* Whole numbers on a small grid: many equal distances and repeated rows. */
static world draw(uint64_t seed, bool grid)
{
    world w;
    plx__rng rng = plx__rng_start(seed, 9);
    for (int i = 0; i < N; i++) {
        w.present[i] = plx__next_uniform(&rng) > 0.15;
        for (int j = 0; j < D; j++) {
            double v = 1.5 * plx__next_normal(&rng);
            w.x[i * D + j] = w.present[i] ? (grid ? nearbyint(v) : v) : 0;
        }
    }
    return w;
}

static plx__graph_source source_of(const world *w)
{
    return (plx__graph_source){
        .rows = plx__points_dense((plx_cmat){w->x, N, D, D}), .present = w->present, .view = "x"};
}

/* ---- the rules, word by word ---- */

static double cosine(const world *w, int i, int j)
{
    double ij = 0, ii = 0, jj = 0;
    for (int d = 0; d < D; d++) {
        ij += w->x[i * D + d] * w->x[j * D + d];
        ii += w->x[i * D + d] * w->x[i * D + d];
        jj += w->x[j * D + d] * w->x[j * D + d];
    }
    return ii > 0 && jj > 0 ? ij / sqrt(ii * jj) : 0;
}

static double distance(const world *w, int i, int j, plx__metric metric)
{
    double s = 0;
    if (metric == PLX__COSINE) return 1 - cosine(w, i, j);
    for (int d = 0; d < D; d++) s += (w->x[i * D + d] - w->x[j * D + d]) * (w->x[i * D + d] - w->x[j * D + d]);
    return sqrt(s);
}

/* The k nearest of i, best first; returns how many there are. */
static int neighbours(int *out, const world *w, int i, int k, plx__metric metric)
{
    int count = 0, used[N] = {0};
    for (; count < k && w->present[i]; count++) {
        int best = -1;
        for (int j = 0; j < N; j++) {
            if (j == i || used[j] || !w->present[j]) continue;
            if (best < 0 ||
                plx__distance_key(distance(w, i, j, metric)) < plx__distance_key(distance(w, i, best, metric)))
                best = j;
        }
        if (best < 0) break;
        used[best] = 1;
        out[count] = best;
    }
    return count;
}

static void plain_graph(double *g, const world *w, const plx__graph_settings *s)
{
    static int named[N][N];
    double scale[N] = {0}, width = s->width, sum = 0;
    int list[N], edges = 0;
    memset(named, 0, sizeof named);
    memset(g, 0, sizeof(double) * N * N);
    for (int i = 0; i < N; i++) {
        int count = neighbours(list, w, i, (int)s->k, s->metric);
        for (int j = 0; j < count; j++) named[i][list[j]] = 1;
        count = neighbours(list, w, i, (int)s->scale_k, s->metric);
        if (count) scale[i] = distance(w, i, list[count - 1], s->metric);
    }
    for (int i = 0; i < N; i++)
        for (int j = 0; j < i; j++)
            if (s->mutual ? named[i][j] && named[j][i] : named[i][j] || named[j][i])
                sum += distance(w, i, j, s->metric), edges++;
    if (isnan(width)) width = edges ? sum / edges : 0;
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) {
            double d = distance(w, i, j, s->metric), product = scale[i] * scale[j];
            if (i == j || !(s->mutual ? named[i][j] && named[j][i] : named[i][j] || named[j][i])) continue;
            switch (s->weights) {
            case PLX__EDGES_BINARY: g[i * N + j] = 1; break;
            case PLX__EDGES_HEAT: g[i * N + j] = width > 0 ? exp(-d * d / (2 * width * width)) : 1; break;
            case PLX__EDGES_COSINE: g[i * N + j] = fmax(0, cosine(w, i, j)); break;
            case PLX__EDGES_LOCAL: g[i * N + j] = product > 0 ? exp(-d * d / product) : d == 0; break;
            }
        }
}

static plx_mat dense_of(plx_context *ctx, plx_csr a)
{
    plx_mat m;
    assert_ok(ctx, plx__arena_mat(&m, plx__scratch(ctx), a.rows, a.cols));
    plx__csr_to_dense(m, plx__ccsr(a));
    return m;
}

/* Neighbours that were found before, and more of them than are needed, give the same graph. */
static void assert_same_from_more_neighbours(plx_context *ctx, const plx__graph_source *source,
                                             const plx__graph_settings *s, plx_mat graph)
{
    plx__graph_settings more = *s;
    plx__graph_source known = *source;
    plx_csr again;
    more.k += 3;
    assert_ok(ctx, plx__similarity_near(&known.near, ctx, source, &more));
    assert_true(known.near.k > s->k || known.near.k == N - 1);
    assert_ok(ctx, plx__similarity_graph(&again, ctx, &known, s));
    assert_memory_equal(dense_of(ctx, again).data, graph.data, N * N * sizeof(double));
}

static void graphs_follow_the_rules(void **state)
{
    (void)state;
    static double expected[N * N];
    for (uint64_t seed = 1; seed < 9; seed++)
        for (int variant = 0; variant < 32; variant++) {
            plx_context *ctx = test_context(1);
            world w = draw(seed, variant % 2);
            plx__graph_source source = source_of(&w);
            plx__graph_settings s = {.k = 1 + (plx_index)seed,
                                     .metric = variant & 2 ? PLX__COSINE : PLX__EUCLID,
                                     .weights = (plx__edge_weights)(variant >> 3),
                                     .width = seed % 2 ? NAN : 0.8,
                                     .mutual = variant & 4,
                                     .scale_k = 3};
            plx_csr g;
            plain_graph(expected, &w, &s);
            assert_ok(ctx, plx__similarity_graph(&g, ctx, &source, &s));
            plx_mat dense = dense_of(ctx, g);
            for (int i = 0; i < N * N; i++) assert_close(dense.data[i], expected[i], 1e-12);
            assert_same_from_more_neighbours(ctx, &source, &s, dense);
            plx_context_destroy(ctx);
        }
}

/* More neighbours asked for than there are samples: everybody is joined. */
static void complete_when_k_is_large(void **state)
{
    (void)state;
    plx_context *ctx = test_context(1);
    world w = draw(4, false);
    plx__graph_source source = source_of(&w);
    plx__graph_settings s = {.k = 1000, .width = NAN, .scale_k = 7};
    plx_csr g;
    plx_index present = 0;
    for (int i = 0; i < N; i++) present += w.present[i];
    assert_ok(ctx, plx__similarity_graph(&g, ctx, &source, &s));
    assert_int_equal(plx__nnz(plx__ccsr(g)), present * (present - 1));
    plx_context_destroy(ctx);
}

/* ---- Laplacians ---- */

static void laplacians_follow_the_definition(void **state)
{
    (void)state;
    for (int kind = 0; kind < 3; kind++) {
        plx_context *ctx = test_context(1);
        world w = draw(7, false);
        plx__graph_source source = source_of(&w);
        plx__graph_settings s = {.k = 3, .weights = PLX__EDGES_HEAT, .width = NAN, .mutual = true, .scale_k = 7};
        plx_csr g, l, squared;
        double degree[N] = {0}, mean = 0, joined = 0;
        assert_ok(ctx, plx__similarity_graph(&g, ctx, &source, &s));
        assert_ok(ctx, plx__laplacian(&l, ctx, plx__ccsr(g), (plx__laplacian_kind)kind, 1));
        assert_ok(ctx, plx__laplacian(&squared, ctx, plx__ccsr(g), (plx__laplacian_kind)kind, 2));
        plx_mat dg = dense_of(ctx, g), dl = dense_of(ctx, l), d2 = dense_of(ctx, squared);
        for (int i = 0; i < N; i++) {
            for (int j = 0; j < N; j++) degree[i] += dg.data[i * N + j];
            mean += degree[i];
            joined += degree[i] > 0;
        }
        mean /= joined;
        assert_true(joined < N); /* there are isolated vertices */
        for (int i = 0; i < N; i++)
            for (int j = 0; j < N; j++) {
                double a = i == j ? degree[i] : -dg.data[i * N + j], product = 0;
                if (kind == PLX__LAPLACIAN_NORMALIZED) a = a != 0 ? a / sqrt(degree[i] * degree[j]) : 0;
                if (kind == PLX__LAPLACIAN_SCALED) a /= mean;
                assert_close(dl.data[i * N + j], a, 1e-13);
                for (int q = 0; q < N; q++) product += dl.data[i * N + q] * dl.data[q * N + j];
                assert_close(d2.data[i * N + j], product, 1e-12);
            }
        plx_context_destroy(ctx);
    }
}

/* Weights whose degrees would underflow when multiplied: two nodes joined by 1e-200 are as close as any two. */
static void tiny_weights_are_weights(void **state)
{
    static const int64_t ptr[] = {0, 1, 2};
    static const int32_t col[] = {1, 0};
    static const double val[] = {1e-200, 1e-200};
    (void)state;
    plx_context *ctx = test_context(1);
    plx_csr l;
    assert_ok(ctx, plx__laplacian(&l, ctx, (plx_ccsr){2, 2, ptr, col, val}, PLX__LAPLACIAN_NORMALIZED, 1));
    for (int p = 0; p < 4; p++) assert_close(l.val[p], p == 0 || p == 3 ? 1.0 : -1.0, 1e-14);
    plx_context_destroy(ctx);
}

/* g'Lg = 1/2 sum_ij W_ij (g_i - g_j)^2 for L = D - W. */
static void quadratic_form(void **state)
{
    (void)state;
    plx_context *ctx = test_context(1);
    world w = draw(3, false);
    plx__graph_source source = source_of(&w);
    plx__graph_settings s = {.k = 4, .weights = PLX__EDGES_LOCAL, .width = NAN, .scale_k = 2, .power = 1};
    plx_csr g, l;
    double f[N], lf[N], form = 0, sum = 0;
    plx__rng rng = plx__rng_start(1, 2);
    for (int i = 0; i < N; i++) f[i] = plx__next_normal(&rng);
    assert_ok(ctx, plx__similarity_graph(&g, ctx, &source, &s));
    assert_ok(ctx, plx__view_laplacian(&l, ctx, &source, &s));
    assert_ok(ctx, plx__spmv(ctx, 1.0, plx__ccsr(l), f, 0.0, lf));
    for (int i = 0; i < N; i++) {
        form += f[i] * lf[i];
        for (plx_index p = g.ptr[i]; p < g.ptr[i + 1]; p++)
            sum += 0.5 * g.val[p] * (f[i] - f[g.col[p]]) * (f[i] - f[g.col[p]]);
    }
    assert_close(form, sum, 1e-12);
    plx_context_destroy(ctx);
}

/* ---- kernel views ---- */

static void kernel_views(void **state)
{
    (void)state;
    plx_context *ctx = test_context(1);
    double k[16] = {9, 1, 2, 3, 1, 9, 5, 2, 4, 5, 9, 0, 3, 2, 0, 9};
    const double plain[16] = {0, 1, 3, 3, 1, 0, 5, 2, 3, 5, 0, 0, 3, 2, 0, 0};
    /* Largest entry of every row: 0-2 (tie with 3: smaller index), 1-2, 2-1, 3-0. */
    const double either[16] = {0, 0, 3, 3, 0, 0, 5, 0, 3, 5, 0, 0, 3, 0, 0, 0};
    const double both[16] = {0, 0, 0, 0, 0, 0, 5, 0, 0, 5, 0, 0, 0, 0, 0, 0};
    plx__graph_source source = {.rows = plx__points_dense((plx_cmat){k, 4, 4, 4}), .is_kernel = true, .view = "sim"};
    plx__graph_settings s = {.k = 1, .width = NAN};
    plx_csr g;
    assert_ok(ctx, plx__similarity_graph(&g, ctx, &source, &s));
    assert_memory_equal(dense_of(ctx, g).data, plain, sizeof plain);
    s.k_given = true;
    assert_ok(ctx, plx__similarity_graph(&g, ctx, &source, &s));
    assert_memory_equal(dense_of(ctx, g).data, either, sizeof either);
    s.mutual = true;
    assert_ok(ctx, plx__similarity_graph(&g, ctx, &source, &s));
    assert_memory_equal(dense_of(ctx, g).data, both, sizeof both);
    k[7] = -0.25;
    assert_fails(ctx, plx__similarity_graph(&g, ctx, &source, &s), PLX_E_DATA, "'sim' row 1, column 3");
    plx_context_destroy(ctx);
}

/* ---- harmonic reduction ---- */

/* A path 0 - 1 - ... - n-1 as Laplacian. */
static plx_csr path(plx_context *ctx, plx_index n)
{
    plx_csr w, l;
    assert_ok(ctx, plx__arena_csr(&w, plx__scratch(ctx), n, n, 2 * n));
    for (plx_index i = 0; i < n; i++) {
        plx_index at = w.ptr[i];
        if (i > 0) w.col[at] = (int32_t)(i - 1), w.val[at++] = 1;
        if (i + 1 < n) w.col[at] = (int32_t)(i + 1), w.val[at++] = 1;
        w.ptr[i + 1] = at;
    }
    assert_ok(ctx, plx__laplacian(&l, ctx, plx__ccsr(w), PLX__LAPLACIAN_UNNORMALIZED, 1));
    return l;
}

/* Unit resistors in series: of a path of which every third vertex is seen, neighbours are joined with weight 1/3.
 * Short: pseudoinverse; long: conjugate gradients. */
static void resistors_in_series(void **state)
{
    (void)state;
    const plx_index sizes[] = {31, 1801};
    for (int t = 0; t < 2; t++) {
        plx_context *ctx = test_context(1);
        plx_index n = sizes[t], seen = (n + 2) / 3;
        plx_csr l = path(ctx, n);
        uint8_t *present = calloc((size_t)n, 1);
        plx__harmonic h;
        plx_mat x, y;
        for (plx_index i = 0; i < n; i += 3) present[i] = 1;
        assert_ok(ctx, plx__harmonic_begin(&h, ctx, plx__ccsr(l), present));
        assert_int_equal(h.pp.rows, seen);
        assert_true((h.inverse.data == NULL) == (n > 1000));
        assert_ok(ctx, plx__arena_mat(&x, plx__scratch(ctx), seen, 2));
        assert_ok(ctx, plx__arena_mat(&y, plx__scratch(ctx), seen, 2));
        for (plx_index i = 0; i < seen; i++) x.data[i * 2] = (double)(i * i % 7), x.data[i * 2 + 1] = 1;
        assert_ok(ctx, plx__harmonic_apply(&h, ctx, plx__cmat(x), y));
        for (plx_index i = 0; i < seen; i++) {
            double sum = 0;
            if (i > 0) sum += x.data[i * 2] - x.data[(i - 1) * 2];
            if (i + 1 < seen) sum += x.data[i * 2] - x.data[(i + 1) * 2];
            assert_close(y.data[i * 2], sum / 3, 1e-9);
            assert_close(y.data[i * 2 + 1], 0, 1e-9);
        }
        free(present);
        plx_context_destroy(ctx);
    }
}

/* A part of the graph that only unseen samples form (L_QQ is singular there) changes nothing. */
static void unseen_islands_do_not_matter(void **state)
{
    (void)state;
    plx_context *ctx = test_context(1);
    const int32_t row[] = {0, 1, 1, 2, 3, 4}, col[] = {1, 0, 2, 1, 4, 3};
    const double val[] = {1, 1, 1, 1, 1, 1}, x[] = {2, 5};
    const uint8_t present[] = {1, 0, 1, 0, 0};
    plx_csr w, l;
    plx__harmonic h;
    double y[2];
    assert_ok(ctx, plx__csr_from_triplets(&w, plx__scratch(ctx), 5, 5, 6, row, col, val));
    assert_ok(ctx, plx__laplacian(&l, ctx, plx__ccsr(w), PLX__LAPLACIAN_UNNORMALIZED, 1));
    assert_ok(ctx, plx__harmonic_begin(&h, ctx, plx__ccsr(l), present));
    assert_ok(ctx, plx__harmonic_apply(&h, ctx, (plx_cmat){x, 2, 1, 1}, (plx_mat){y, 2, 1, 1}));
    assert_close(y[0], -1.5, 1e-12);
    assert_close(y[1], 1.5, 1e-12);
    plx_context_destroy(ctx);
}

static void survives_every_allocation_failure(void **state)
{
    (void)state;
    world w = draw(7, false);
    plx_status st = PLX_E_NOMEM;
    for (long at = 1; st != PLX_OK; at++) {
        meter m = {0, at, 0};
        plx_context *ctx = metered_context(&m, 1);
        if (!ctx) continue;
        plx__graph_source source = source_of(&w);
        plx__graph_settings s = {.k = 3, .weights = PLX__EDGES_LOCAL, .width = NAN, .scale_k = 4, .power = 2};
        plx_csr l;
        plx__harmonic h;
        st = plx__view_laplacian(&l, ctx, &source, &s);
        if (st == PLX_OK) st = plx__harmonic_begin(&h, ctx, plx__ccsr(l), w.present);
        assert_true(st == PLX_OK || (st == PLX_E_NOMEM && plx_context_error(ctx)[0]));
        plx_context_destroy(ctx);
        assert_int_equal(m.live, 0);
        assert_true(at < 10000);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(graphs_follow_the_rules),
        cmocka_unit_test(complete_when_k_is_large),
        cmocka_unit_test(laplacians_follow_the_definition),
        cmocka_unit_test(tiny_weights_are_weights),
        cmocka_unit_test(quadratic_form),
        cmocka_unit_test(kernel_views),
        cmocka_unit_test(resistors_in_series),
        cmocka_unit_test(unseen_islands_do_not_matter),
        cmocka_unit_test(survives_every_allocation_failure),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
