/*
 * mvplsa against a direct implementation that forms the posterior of every (topic, class) pair, the rules for odd
 * documents, topics and classes, every error, and the same bytes for every number of threads.
 */
#include "fit_helpers.h"
#include "parallax/split.h"

enum { N = 14, D1 = 7, D2 = 5, Z = 3, MOST_TOPICS = 5 };

static const char *const VIEW_NAMES[2] = {"v1", "v2"};
static const plx_index COLS[2] = {D1, D2};

/* ---- data ---- */

typedef struct world {
    double x[2][N][D1];
    int label[N];
    double f[D1 + D2][MOST_TOPICS], y[2 * MOST_TOPICS][Z], z[N][Z]; /* starts, not normalised */
    char directory[64];
    plx_context *ctx;
    plx_dataset *data;
} world;

static void write_matrix(const char *directory, const char *name, const double *x, plx_index rows, plx_index cols,
                         plx_index ld)
{
    char *text = calloc((size_t)(rows * cols) + 1, 32), *at = text;
    for (plx_index i = 0; i < rows; i++)
        for (plx_index j = 0; j < cols; j++) at += sprintf(at, "%.17g%s", x[i * ld + j], j + 1 < cols ? "," : "\n");
    write_file(directory, name, text);
    free(text);
}

static void fill_world(world *w)
{
    plx__rng r = plx__rng_start(11, PLX__STREAM('w', 'r', 'l', 'd', 0));
    for (int v = 0; v < 2; v++)
        for (int i = 0; i < N; i++)
            for (plx_index j = 0; j < COLS[v]; j++)
                w->x[v][i][j] = i == 9 + v ? 0 : random_count(&r, 4) * (plx__next_uniform(&r) < 0.7) + (j % Z == i % Z);
    for (int i = 0; i < N; i++) w->label[i] = i < 5 ? i % Z : -1;
    for (int i = 0; i < D1 + D2; i++)
        for (int j = 0; j < MOST_TOPICS; j++) w->f[i][j] = 0.1 + plx__next_uniform(&r);
    for (int i = 0; i < 2 * MOST_TOPICS; i++)
        for (int j = 0; j < Z; j++) w->y[i][j] = 0.1 + plx__next_uniform(&r);
    for (int i = 0; i < N; i++)
        for (int j = 0; j < Z; j++) w->z[i][j] = 0.1 + plx__next_uniform(&r);
}

static void add_views(world *w)
{
    for (int v = 0; v < 2; v++) {
        double x[N * D1];
        for (int i = 0; i < N; i++)
            for (plx_index j = 0; j < COLS[v]; j++) x[i * COLS[v] + j] = w->x[v][i][j];
        if (v) add_dense(w->data, w->ctx, VIEW_NAMES[v], PLX_VIEW_COUNTS, x, COLS[v], NULL);
        else add_thin(w->data, w->ctx, VIEW_NAMES[v], PLX_VIEW_COUNTS, x, COLS[v], NULL);
    }
}

static void open_world(world *w, bool labelled, int threads)
{
    memset(w, 0, sizeof *w);
    fill_world(w);
    w->ctx = test_context(threads);
    w->data = new_dataset(w->ctx, N);
    add_views(w);
    if (!labelled)
        for (int i = 0; i < N; i++) w->label[i] = -1;
    if (labelled) set_labels(w->data, w->ctx, w->label);
    make_directory(w->directory);
    write_matrix(w->directory, "f.csv", &w->f[0][0], D1 + D2, MOST_TOPICS, MOST_TOPICS);
    write_matrix(w->directory, "z.csv", &w->z[0][0], N, Z, Z);
}

static void close_world(world *w)
{
    plx_dataset_destroy(w->data);
    plx_context_destroy(w->ctx);
    remove_directory(w->directory);
}

/* ---- the direct implementation ---- */

typedef struct direct {
    int views, topics[2];
    plx_index cols[2];
    double a[2][D1 + D2][MOST_TOPICS], b[2][MOST_TOPICS][Z], c[N][Z];
    double temper, smoothing;
    const double *x[2]; /* N x cols */
} direct;

static double cell(const direct *q, int v, plx_index f, int d)
{
    double m = 0;
    for (int y = 0; y < q->topics[v]; y++)
        for (int z = 0; z < Z; z++) m += q->a[v][f][y] * q->b[v][y][z] * q->c[d][z];
    return m;
}

static double direct_likelihood(const direct *q)
{
    double sum = 0;
    for (int v = 0; v < q->views; v++)
        for (plx_index f = 0; f < q->cols[v]; f++)
            for (int d = 0; d < N; d++) {
                double o = q->x[v][d * q->cols[v] + f];
                if (o > 0) sum += o * log(fmax(cell(q, v, f, d), 1e-300));
            }
    return sum;
}

/* Columns of x (rows x cols, ld apart) to sum 1; a column without mass becomes that of `old`. */
static void normalise(double *x, const double *old, plx_index rows, plx_index cols, plx_index ld)
{
    for (plx_index j = 0; j < cols; j++) {
        double sum = 0;
        for (plx_index i = 0; i < rows; i++) sum += x[i * ld + j];
        for (plx_index i = 0; i < rows; i++) x[i * ld + j] = sum > 0 ? x[i * ld + j] / sum : old[i * ld + j];
    }
}

static void direct_view(direct *next, const direct *q, int v)
{
    memset(next->a[v], 0, sizeof next->a[v]);
    memset(next->b[v], 0, sizeof next->b[v]);
    for (plx_index f = 0; f < q->cols[v]; f++)
        for (int d = 0; d < N; d++) {
            double p[MOST_TOPICS][Z], sum = 0, o = q->x[v][d * q->cols[v] + f];
            for (int y = 0; y < q->topics[v]; y++)
                for (int z = 0; z < Z; z++) sum += p[y][z] = pow(q->a[v][f][y] * q->b[v][y][z] * q->c[d][z], q->temper);
            for (int y = 0; y < q->topics[v] && sum > 0; y++)
                for (int z = 0; z < Z; z++) {
                    double t = o * p[y][z] / sum;
                    next->a[v][f][y] += t;
                    next->b[v][y][z] += t;
                    next->c[d][z] += t;
                }
        }
    for (plx_index f = 0; f < q->cols[v]; f++)
        for (int y = 0; y < q->topics[v]; y++) next->a[v][f][y] += q->smoothing;
    normalise(&next->a[v][0][0], &q->a[v][0][0], q->cols[v], q->topics[v], MOST_TOPICS);
    normalise(&next->b[v][0][0], &q->b[v][0][0], q->topics[v], Z, Z);
}

static void direct_step(direct *q, const int *label)
{
    direct next = *q;
    memset(next.c, 0, sizeof next.c);
    for (int v = 0; v < q->views; v++) direct_view(&next, q, v);
    for (int d = 0; d < N; d++) {
        double sum = 0;
        for (int z = 0; z < Z; z++) sum += next.c[d][z];
        for (int z = 0; z < Z; z++) next.c[d][z] = sum > 0 && label[d] < 0 ? next.c[d][z] / sum : q->c[d][z];
    }
    *q = next;
}

/* The start of the files f.csv, y.csv and z.csv with init_mix = 0.01. */
static void direct_start(direct *q, const world *w)
{
    for (int v = 0, row = 0, topic = 0; v < q->views; v++) {
        for (plx_index f = 0; f < q->cols[v]; f++, row++) memcpy(q->a[v][f], w->f[row], sizeof q->a[v][f]);
        for (int y = 0; y < q->topics[v]; y++, topic++) memcpy(q->b[v][y], w->y[topic], sizeof q->b[v][y]);
        normalise(&q->a[v][0][0], NULL, q->cols[v], q->topics[v], MOST_TOPICS);
        normalise(&q->b[v][0][0], NULL, q->topics[v], Z, Z);
    }
    for (int d = 0; d < N; d++) {
        double sum = w->z[d][0] + w->z[d][1] + w->z[d][2];
        for (int z = 0; z < Z; z++)
            q->c[d][z] = w->label[d] >= 0 ? z == w->label[d] : 0.99 * w->z[d][z] / sum + 0.01 / Z;
    }
}

static void assert_view(const plx_model *m, const direct *q, int v, const char *name)
{
    char key[16];
    snprintf(key, sizeof key, "pf.%s", name);
    plx_cmat pf = array_of(m, key);
    snprintf(key, sizeof key, "py.%s", name);
    plx_cmat py = array_of(m, key);
    assert_int_equal(pf.rows, q->cols[v]);
    assert_int_equal(pf.cols, q->topics[v]);
    for (plx_index f = 0; f < pf.rows; f++)
        for (plx_index y = 0; y < pf.cols; y++) assert_close(pf.data[f * pf.ld + y], q->a[v][f][y], 1e-10);
    for (plx_index y = 0; y < py.rows; y++)
        for (plx_index z = 0; z < Z; z++) assert_close(py.data[y * py.ld + z], q->b[v][y][z], 1e-10);
}

static void assert_same_course(const plx_model *m, direct *q, const world *w, const char *const *names, int iterations)
{
    plx_cmat loglik = array_of(m, "loglik"), pz = array_of(m, "pz");
    assert_int_equal(loglik.rows, iterations + 1);
    for (int t = 0; t <= iterations; t++) {
        assert_close(loglik.data[t], direct_likelihood(q), 1e-9 * fabs(loglik.data[t]));
        if (t < iterations) direct_step(q, w->label);
    }
    for (int d = 0; d < N; d++)
        for (int z = 0; z < Z; z++) assert_close(pz.data[d * pz.ld + z], q->c[d][z], 1e-10);
    for (int v = 0; v < q->views; v++) assert_view(m, q, v, names[v]);
}

/* ---- agreement ---- */

typedef struct variant {
    int topics[2];
    double temper, smoothing;
    bool labelled;
    const char *settings[10];
} variant;

#define FILES "init_f=file:f.csv", "init_y=file:y.csv", "init_z=file:z.csv", "max_iter=6"

static const variant VARIANTS[] = {
    {{4, 4}, 1, 0, true, {FILES, "topics=4"}},
    {{2, 2}, 1, 0, true, {FILES, "topics=2"}},
    {{5, 2}, 1, 0, true, {FILES, "topics=5,2"}},
    {{1, 4}, 1, 0.3, false, {FILES, "topics=1,4", "smoothing=0.3", "clusters=3"}},
    {{2, 4}, 0.7, 0, true, {FILES, "topics=2,4", "temper=0.7"}},
    {{4, 2}, 0.5, 0.1, false, {FILES, "topics=4,2", "temper=0.5", "smoothing=0.1", "clusters=3"}},
};

static void agrees_with_the_direct_posterior(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof VARIANTS / sizeof *VARIANTS; i++) {
        const variant *v = &VARIANTS[i];
        world w;
        plx_model *m = NULL;
        open_world(&w, v->labelled, 2);
        int topics = v->topics[0] + v->topics[1], most = v->topics[0] > v->topics[1] ? v->topics[0] : v->topics[1];
        write_matrix(w.directory, "y.csv", &w.y[0][0], topics, Z, Z);
        write_matrix(w.directory, "f.csv", &w.f[0][0], D1 + D2, most, MOST_TOPICS);
        direct q = {.views = 2,
                    .topics = {v->topics[0], v->topics[1]},
                    .cols = {D1, D2},
                    .temper = v->temper,
                    .smoothing = v->smoothing};
        double x2[N * D2];
        for (int d = 0; d < N; d++) memcpy(&x2[d * D2], w.x[1][d], D2 * sizeof(double));
        q.x[0] = &w.x[0][0][0];
        q.x[1] = x2;
        direct_start(&q, &w);
        assert_ok(w.ctx, try_fit(&m, w.ctx, "mvplsa", w.data, v->settings, w.directory));
        assert_same_course(m, &q, &w, VIEW_NAMES, 6);
        plx_model_destroy(m);
        close_world(&w);
    }
}

/* dplsa: all features in one view. plsa: the same with the identity for p(y|z). */
static void joint_models(void **state)
{
    static const char *const names[1] = {"concat"};
    (void)state;
    for (int plsa = 0; plsa < 2; plsa++) {
        world w;
        plx_model *m = NULL;
        double x[N * (D1 + D2)];
        open_world(&w, true, 1);
        for (int y = 0; plsa && y < Z; y++)
            for (int z = 0; z < Z; z++) w.y[y][z] = y == z;
        write_matrix(w.directory, "y.csv", &w.y[0][0], 4, Z, Z);
        for (int d = 0; d < N; d++) {
            memcpy(&x[d * (D1 + D2)], w.x[0][d], D1 * sizeof(double));
            memcpy(&x[d * (D1 + D2) + D1], w.x[1][d], D2 * sizeof(double));
        }
        direct q = {.views = 1, .topics = {plsa ? Z : 4, 0}, .cols = {D1 + D2, 0}, .temper = 1, .x = {x, NULL}};
        direct_start(&q, &w);
        assert_ok(w.ctx, try_fit(&m, w.ctx, "mvplsa", w.data,
                                 SETTINGS(FILES, "topics=4", plsa ? "model=plsa" : "model=dplsa"), w.directory));
        assert_same_course(m, &q, &w, names, 6);
        plx_model_destroy(m);
        close_world(&w);
    }
}

/* ---- rules ---- */

static void labels_and_empty_documents_stay(void **state)
{
    (void)state;
    world w;
    open_world(&w, true, 1);
    uint8_t gone[2 * N];
    memset(gone, 1, sizeof gone);
    gone[6] = gone[N + 6] = 0; /* sample 6 has no view */
    plx_dataset *d = NULL;
    assert_ok(w.ctx, plx_dataset_mask(&d, w.ctx, w.data, gone));
    plx_model *m = fit_model(w.ctx, "mvplsa", d, SETTINGS("topics=4", "max_iter=8"));
    plx_cmat pz = array_of(m, "pz");
    for (int i = 0; i < 5; i++)
        for (int z = 0; z < Z; z++) assert_true(pz.data[i * pz.ld + z] == (z == w.label[i]));
    /* its start: the shares 2, 2, 1 of the labels, mixed */
    assert_close(pz.data[6 * pz.ld], 0.99 * 0.4 + 0.01 / 3, 1e-15);
    assert_close(pz.data[6 * pz.ld + 2], 0.99 * 0.2 + 0.01 / 3, 1e-15);
    plx_model_destroy(m);
    plx_dataset_destroy(d);
    close_world(&w);
}

/* A topic no class uses keeps its features; a class nobody has keeps its topics. */
static void columns_without_mass_stay(void **state)
{
    (void)state;
    world w;
    plx_model *m = NULL;
    open_world(&w, false, 1);
    for (int z = 0; z < Z; z++) w.y[1][z] = 0;
    for (int d = 0; d < N; d++) w.z[d][2] = 0;
    write_matrix(w.directory, "y.csv", &w.y[0][0], 8, Z, Z);
    write_matrix(w.directory, "z.csv", &w.z[0][0], N, Z, Z);
    assert_ok(w.ctx, try_fit(&m, w.ctx, "mvplsa", w.data, SETTINGS(FILES, "topics=4", "clusters=3", "init_mix=0"),
                             w.directory));
    plx_cmat pf = array_of(m, "pf.v1"), py = array_of(m, "py.v2"), pz = array_of(m, "pz");
    double sum = 0, topics = 0;
    for (int f = 0; f < D1; f++) sum += w.f[f][1];
    for (int f = 0; f < D1; f++) assert_close(pf.data[f * pf.ld + 1], w.f[f][1] / sum, 1e-15);
    for (int y = 4; y < 8; y++) topics += w.y[y][2];
    for (int y = 0; y < 4; y++) assert_close(py.data[y * py.ld + 2], w.y[4 + y][2] / topics, 1e-15);
    for (int d = 0; d < N; d++) assert_true(pz.data[d * pz.ld + 2] == 0); /* zeros are absorbing */
    plx_model_destroy(m);
    close_world(&w);
}

static void likelihood_never_falls(void **state)
{
    static const char *const settings[][4] = {{"topics=4"}, {"topics=2"}, {"model=plsa"}, {"model=dplsa", "rows=unit"}};
    (void)state;
    for (size_t s = 0; s < 4; s++) {
        world w;
        open_world(&w, true, 1);
        plx_model *m = fit_model(w.ctx, "mvplsa", w.data, settings[s]);
        plx_cmat l = array_of(m, "loglik");
        assert_int_equal(l.rows, 151);
        for (plx_index t = 1; t < l.rows; t++) assert_true(l.data[t] >= l.data[t - 1] - 1e-10 * fabs(l.data[t]));
        assert_close(m->facts.objective, l.data[l.rows - 1], 0);
        assert_int_equal(m->facts.iterations, 150);
        plx_model_destroy(m);
        close_world(&w);
    }
}

static void tolerance_stops(void **state)
{
    (void)state;
    world w;
    open_world(&w, true, 1);
    plx_model *m = fit_model(w.ctx, "mvplsa", w.data, SETTINGS("topics=4", "tol=1e-3"));
    plx_cmat l = array_of(m, "loglik");
    plx_index last = l.rows - 1;
    assert_int_equal(m->facts.converged, 1);
    assert_true(m->facts.iterations == last && last < 150);
    for (plx_index t = 1; t <= last; t++) {
        bool small = fabs(l.data[t] - l.data[t - 1]) <= 1e-3 * fabs(l.data[t - 1]);
        assert_true(small == (t == last));
    }
    plx_model_destroy(m);
    close_world(&w);
}

/* ---- rows ---- */

/* rows=unit and rows=l1 are raw on data scaled beforehand. */
static void rows_are_scaled_first(void **state)
{
    (void)state;
    for (int unit = 0; unit < 2; unit++) {
        world w;
        open_world(&w, true, 1);
        plx_dataset *scaled = new_dataset(w.ctx, N);
        for (int v = 0; v < 2; v++) {
            double x[N * D1], mean = 0, rows = 0, size[N];
            for (int i = 0; i < N; i++) {
                size[i] = 0;
                for (plx_index j = 0; j < COLS[v]; j++) size[i] += w.x[v][i][j] * (unit ? w.x[v][i][j] : 1);
                mean += size[i];
                rows += size[i] > 0;
            }
            for (int i = 0; i < N; i++)
                for (plx_index j = 0; j < COLS[v]; j++)
                    x[i * COLS[v] + j] =
                        size[i] > 0 ? w.x[v][i][j] * (unit ? 1 / sqrt(size[i]) : mean / rows / size[i]) : 0;
            add_dense(scaled, w.ctx, VIEW_NAMES[v], PLX_VIEW_REAL, x, COLS[v], NULL);
        }
        set_labels(scaled, w.ctx, w.label);
        plx_model *a =
            fit_model(w.ctx, "mvplsa", w.data, SETTINGS("topics=4", "max_iter=9", unit ? "rows=unit" : "rows=l1"));
        plx_model *b = fit_model(w.ctx, "mvplsa", scaled, SETTINGS("topics=4", "max_iter=9"));
        assert_same_matrix(array_of(a, "pz"), array_of(b, "pz"), 1e-11);
        assert_same_matrix(array_of(a, "pf.v1"), array_of(b, "pf.v1"), 1e-11);
        plx_model_destroy(a);
        plx_model_destroy(b);
        plx_dataset_destroy(scaled);
        close_world(&w);
    }
}

static bool warned_of(const plx_model *m, const char *word)
{
    for (plx_index i = 0; i < plx_model_warnings(m); i++)
        if (strstr(plx_model_warning(m, i), word)) return true;
    return false;
}

static void giants_are_named(void **state)
{
    (void)state;
    plx_context *ctx = test_context(1);
    plx_dataset *d = new_dataset(ctx, 6);
    double x[12] = {1, 2, 2, 1, 1, 1, 90, 3, 1, 2, 2, 2};
    add_dense(d, ctx, "posts", PLX_VIEW_COUNTS, x, 2, NULL);
    plx_model *raw = fit_model(ctx, "mvplsa", d, SETTINGS("clusters=2", "init_z=random", "max_iter=2", "rows=raw"));
    plx_model *unit = fit_model(ctx, "mvplsa", d, SETTINGS("clusters=2", "init_z=random", "max_iter=2", "rows=unit"));
    assert_true(warned_of(raw, "view 'posts'"));
    assert_false(warned_of(unit, "posts"));
    plx_model_destroy(raw);
    plx_model_destroy(unit);
    plx_dataset_destroy(d);
    plx_context_destroy(ctx);
}

/* ---- split ---- */

static plx_dataset *first_view_only(world *w)
{
    double x[N * D1];
    plx_dataset *d = new_dataset(w->ctx, N);
    for (int i = 0; i < N; i++) memcpy(&x[i * D1], w->x[0][i], D1 * sizeof *x);
    add_thin(d, w->ctx, "v1", PLX_VIEW_COUNTS, x, D1, NULL);
    set_labels(d, w->ctx, w->label);
    return d;
}

/* Splitting by file is fitting the parts as views; only the start is that of the whole view, so it is given. */
static void split_is_two_views(void **state)
{
    (void)state;
    world w;
    plx_model *a = NULL, *b = NULL;
    plx_dataset *parts = NULL;
    open_world(&w, true, 1);
    plx_dataset *whole = first_view_only(&w);
    write_file(w.directory, "split.txt", "0\n1\n1\n0\n0\n1\n0\n");
    char path[128];
    snprintf(path, sizeof path, "file:%s/split.txt", w.directory);
    assert_ok(w.ctx, plx_split_features(&parts, w.ctx, whole, 0, path));
    const char *const settings[] = {"topics=4", "max_iter=9", "init_z=file:z.csv", NULL};
    assert_ok(w.ctx,
              try_fit(&a, w.ctx, "mvplsa", whole,
                      SETTINGS("topics=4", "max_iter=9", "init_z=file:z.csv", "split=file:split.txt"), w.directory));
    assert_ok(w.ctx, try_fit(&b, w.ctx, "mvplsa", parts, settings, w.directory));
    assert_same_matrix(array_of(a, "pz"), array_of(b, "pz"), 0);
    assert_same_matrix(array_of(a, "pf.split1"), array_of(b, "pf.split1"), 0);
    plx_prediction *p = NULL; /* new documents are split in the same way */
    assert_ok(w.ctx, plx_predict(&p, w.ctx, a, whole));
    plx_prediction_destroy(p);
    plx_model_destroy(a);
    plx_model_destroy(b);
    plx_dataset_destroy(parts);
    plx_dataset_destroy(whole);
    close_world(&w);
}

static void split_at_random(void **state)
{
    (void)state;
    world w;
    open_world(&w, true, 1);
    plx_dataset *whole = first_view_only(&w);
    plx_model *m = fit_model(w.ctx, "mvplsa", whole, SETTINGS("topics=2", "max_iter=3", "split=3"));
    plx_index features = 0;
    for (int s = 0; s < 3; s++) {
        char name[32];
        snprintf(name, sizeof name, "pf.split%d", s);
        plx_cmat pf = array_of(m, name);
        assert_true(pf.rows == 2 || pf.rows == 3);
        features += pf.rows;
    }
    assert_int_equal(features, D1);
    plx_model_destroy(m);
    plx_dataset_destroy(whole);
    close_world(&w);
}

/* ---- new documents ---- */

/* The likelihood of a folded-in document is concave in its mixture: no other point of a grid is better. */
static void folding_in_is_maximum_likelihood(void **state)
{
    (void)state;
    world w;
    plx_prediction *p = NULL;
    plx_cmat pz;
    open_world(&w, true, 1);
    plx_model *m = fit_model(w.ctx, "mvplsa", w.data, SETTINGS("topics=4", "max_iter=12", "fold_iter=5000"));
    assert_ok(w.ctx, plx_predict(&p, w.ctx, m, w.data));
    assert_ok(w.ctx, plx_prediction_array(&pz, p, "pz"));
    direct q = {.views = 2, .topics = {4, 4}, .cols = {D1, D2}};
    for (int v = 0; v < 2; v++) {
        plx_cmat pf = array_of(m, v ? "pf.v2" : "pf.v1"), py = array_of(m, v ? "py.v2" : "py.v1");
        for (plx_index f = 0; f < COLS[v]; f++) memcpy(q.a[v][f], pf.data + f * pf.ld, 4 * sizeof(double));
        for (int y = 0; y < 4; y++) memcpy(q.b[v][y], py.data + y * py.ld, Z * sizeof(double));
    }
    for (int d = 0; d < N; d++) {
        double best = -INFINITY, found = 0;
        for (int a = 0; a <= 20; a++)
            for (int b = 0; a + b <= 21; b++) { /* the last b: the folded-in mixture */
                double sum = 0;
                bool ours = a + b == 21;
                for (int z = 0; z < Z; z++)
                    q.c[d][z] = ours ? pz.data[d * pz.ld + z] : (z == 0 ? a : z == 1 ? b : 20 - a - b) / 20.0;
                for (int v = 0; v < 2; v++)
                    for (plx_index f = 0; f < COLS[v]; f++)
                        if (w.x[v][d][f] > 0) sum += w.x[v][d][f] * log(fmax(cell(&q, v, f, d), 1e-300));
                if (ours) found = sum;
                else best = fmax(best, sum);
            }
        assert_true(found >= best - 1e-7);
    }
    plx_prediction_destroy(p);
    plx_model_destroy(m);
    close_world(&w);
}

/* ---- starts ---- */

static void starts(void **state)
{
    static const char *const good[] = {"init_z=uniform", "init_z=random", "init_z=nb", "init_z=mvc",
                                       "init_z=file:z.csv"};
    (void)state;
    world w;
    open_world(&w, true, 1);
    for (size_t s = 0; s < sizeof good / sizeof *good; s++) {
        plx_model *m = NULL;
        assert_ok(w.ctx,
                  try_fit(&m, w.ctx, "mvplsa", w.data, SETTINGS("topics=3", "max_iter=5", good[s]), w.directory));
        plx_model_destroy(m);
    }
    plx_model *a = NULL, *b = NULL; /* all of it uniform: the kind of start does not matter */
    assert_ok(w.ctx, try_fit(&a, w.ctx, "mvplsa", w.data, SETTINGS("init_z=uniform", "max_iter=5"), w.directory));
    assert_ok(w.ctx, try_fit(&b, w.ctx, "mvplsa", w.data, SETTINGS("init_mix=1", "max_iter=5"), w.directory));
    assert_same_matrix(array_of(a, "pz"), array_of(b, "pz"), 1e-12);
    plx_model_destroy(a);
    plx_model_destroy(b);
    close_world(&w);
}

/* Without labels the consensus of the views starts the iteration; clusters are called c0, c1, ... */
static void clusters_without_labels(void **state)
{
    (void)state;
    world w;
    open_world(&w, false, 1);
    plx_model *m = fit_model(w.ctx, "mvplsa", w.data, SETTINGS("clusters=3", "topics=3", "max_iter=30"));
    for (int i = 0; i < N; i++) assert_int_equal(m->fitted.outcome.label[i][0], 'c');
    plx_model_destroy(m);
    close_world(&w);
}

/* ---- errors ---- */

typedef struct refusal {
    const char *settings[4];
    plx_status status;
    const char *word;
} refusal;

static void refusals(void **state)
{
    static const refusal list[] = {
        {{"clusters=3"}, PLX_E_ARG, "clusters"},
        {{"topics=2.5"}, PLX_E_ARG, "topics"},
        {{"topics=3,4,5"}, PLX_E_ARG, "topics"},
        {{"split=2"}, PLX_E_DATA, "split"},
        {{"model=dplsa", "split=2"}, PLX_E_ARG, "split"},
        {{"init_z=nonsense"}, PLX_E_ARG, "init_z"},
        {{"init_f=nonsense"}, PLX_E_ARG, "init_f"},
        {{"init_y=file:"}, PLX_E_ARG, "init_y"},
        {{"init_z=file:f.csv"}, PLX_E_DATA, "init_z"},
        {{"init_f=file:z.csv"}, PLX_E_DATA, "init_f"},
        {{"init_y=file:f.csv"}, PLX_E_DATA, "init_y"},
        {{"init_f=file:nosuch.csv"}, PLX_E_IO, "init_f"},
        {{"topics=5", "init_f=file:zero.csv"}, PLX_E_DATA, "view 'v2'"},
        {{"topics=5", "init_f=file:minus.csv"}, PLX_E_DATA, "init_f"},
        {{"init_z=file:zeros.csv"}, PLX_E_DATA, "row 7"},
    };
    (void)state;
    world w;
    open_world(&w, true, 1);
    double f[D1 + D2][MOST_TOPICS], z[N][Z];
    memcpy(f, w.f, sizeof f);
    for (int i = D1; i < D1 + D2; i++) f[i][3] = 0;
    write_matrix(w.directory, "zero.csv", &f[0][0], D1 + D2, MOST_TOPICS, MOST_TOPICS);
    f[8][3] = -1;
    write_matrix(w.directory, "minus.csv", &f[0][0], D1 + D2, MOST_TOPICS, MOST_TOPICS);
    memcpy(z, w.z, sizeof z);
    for (int k = 0; k < Z; k++) z[7][k] = z[1][k] = 0; /* row 1 is labelled: not looked at */
    write_matrix(w.directory, "zeros.csv", &z[0][0], N, Z, Z);
    for (size_t i = 0; i < sizeof list / sizeof *list; i++) {
        plx_model *m = NULL;
        assert_fails(w.ctx, try_fit(&m, w.ctx, "mvplsa", w.data, list[i].settings, w.directory), list[i].status,
                     list[i].word);
        assert_null(m);
    }
    close_world(&w);
}

static void more_refusals(void **state)
{
    static const char *const classes[] = {"A", "B", "C", "D"};
    (void)state;
    world w;
    plx_model *m = NULL;
    open_world(&w, false, 1);
    assert_fails(w.ctx, try_fit(&m, w.ctx, "mvplsa", w.data, NULL, NULL), PLX_E_ARG, "clusters");
    assert_fails(w.ctx, try_fit(&m, w.ctx, "mvplsa", w.data, SETTINGS("clusters=2", "init_z=nb"), NULL), PLX_E_ARG,
                 "init_z");
    plx_dataset *whole = first_view_only(&w);
    assert_fails(w.ctx, try_fit(&m, w.ctx, "mvplsa", whole, SETTINGS("clusters=2", "split=9"), NULL), PLX_E_ARG,
                 "split");
    assert_fails(w.ctx, try_fit(&m, w.ctx, "mvplsa", whole, SETTINGS("clusters=2", "split=two"), NULL), PLX_E_ARG,
                 "split");
    plx_dataset_destroy(whole);
    close_world(&w);
    open_world(&w, true, 1); /* a class of the hierarchy nobody has */
    assert_ok(w.ctx, plx_dataset_set_hierarchy(w.data, w.ctx, classes, 4, NULL, 0, NULL, 0));
    assert_fails(w.ctx, try_fit(&m, w.ctx, "mvplsa", w.data, SETTINGS("topics=2"), NULL), PLX_E_DATA, "'D'");
    assert_ok(w.ctx, try_fit(&m, w.ctx, "mvplsa", w.data, SETTINGS("topics=2", "init_z=uniform"), NULL));
    plx_model_destroy(m);
    close_world(&w);
}

static void negative_entries_are_refused(void **state)
{
    (void)state;
    plx_context *ctx = test_context(1);
    plx_dataset *d = new_dataset(ctx, 3);
    plx_model *m = NULL;
    double x[6] = {1, 2, 3, -1, 1, 1};
    add_dense(d, ctx, "bad", PLX_VIEW_REAL, x, 2, NULL);
    assert_fails(ctx, try_fit(&m, ctx, "mvplsa", d, SETTINGS("clusters=2"), NULL), PLX_E_DATA, "view 'bad' row 1");
    plx_dataset_destroy(d);
    plx_context_destroy(ctx);
}

/* ---- threads ---- */

/* Enough entries per feature for several blocks of documents. */
static plx_dataset *large_data(plx_context *ctx)
{
    enum { ROWS = 900, FEATURES = 30 };
    plx_dataset *d = new_dataset(ctx, ROWS);
    plx__rng r = plx__rng_start(2, PLX__STREAM('l', 'a', 'r', 'g', 0));
    double *x = calloc(ROWS * FEATURES, sizeof *x);
    int *label = calloc(ROWS, sizeof *label);
    for (int v = 0; v < 2; v++) {
        for (int i = 0; i < ROWS; i++)
            for (int j = 0; j < FEATURES; j++)
                x[i * FEATURES + j] = random_count(&r, 3) * (plx__next_uniform(&r) < (j % 3 == i % 3 ? 0.9 : 0.4));
        add_thin(d, ctx, VIEW_NAMES[v], PLX_VIEW_COUNTS, x, FEATURES, NULL);
    }
    for (int i = 0; i < ROWS; i++) label[i] = i < 40 ? i % 3 : -1;
    set_labels(d, ctx, label);
    free(x);
    free(label);
    return d;
}

static void threads_do_not_matter(void **state)
{
    static const char *const settings[][3] = {{"topics=12"}, {"topics=2"}, {"model=plsa"}, {"temper=0.8"}};
    (void)state;
    for (size_t s = 0; s < 4; s++) {
        plx_model *m[3];
        plx_context *ctx[3];
        plx_dataset *d[3];
        for (int t = 0; t < 3; t++) {
            ctx[t] = test_context(t == 0 ? 1 : t == 1 ? 2 : 7);
            d[t] = large_data(ctx[t]);
            m[t] = fit_model(ctx[t], "mvplsa", d[t], SETTINGS(settings[s][0], "max_iter=7"));
            if (t) assert_same_matrix(array_of(m[0], "pz"), array_of(m[t], "pz"), 0);
            if (t) assert_same_matrix(array_of(m[0], "loglik"), array_of(m[t], "loglik"), 0);
        }
        for (int t = 0; t < 3; t++) {
            plx_model_destroy(m[t]);
            plx_dataset_destroy(d[t]);
            plx_context_destroy(ctx[t]);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(agrees_with_the_direct_posterior),
        cmocka_unit_test(joint_models),
        cmocka_unit_test(labels_and_empty_documents_stay),
        cmocka_unit_test(columns_without_mass_stay),
        cmocka_unit_test(likelihood_never_falls),
        cmocka_unit_test(tolerance_stops),
        cmocka_unit_test(rows_are_scaled_first),
        cmocka_unit_test(giants_are_named),
        cmocka_unit_test(split_is_two_views),
        cmocka_unit_test(split_at_random),
        cmocka_unit_test(folding_in_is_maximum_likelihood),
        cmocka_unit_test(starts),
        cmocka_unit_test(clusters_without_labels),
        cmocka_unit_test(refusals),
        cmocka_unit_test(more_refusals),
        cmocka_unit_test(negative_entries_are_refused),
        cmocka_unit_test(threads_do_not_matter),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
