#include "plx_test.h"

#include "data/dataset_impl.h"
#include "parallax/generate.h"

/* generate(ctx, kind, "a=1", "b=2"): the data set, or the test fails with the library's sentence. */
#define generate(ctx, kind, ...)                                                                                       \
    generate_list((ctx), (kind), (const char *const[]){__VA_ARGS__},                                                   \
                  sizeof((const char *const[]){__VA_ARGS__}) / sizeof(char *))

static plx_dataset *generate_list(plx_context *ctx, const char *kind, const char *const *settings, plx_index count)
{
    plx_dataset *d = NULL;
    assert_ok(ctx, plx_generate(&d, ctx, kind, settings, count));
    return d;
}

static void refuse(plx_context *ctx, const char *kind, const char *setting, const char *word)
{
    plx_dataset *d = NULL;
    assert_fails(ctx, plx_generate(&d, ctx, kind, &setting, setting != NULL), PLX_E_ARG, word);
    assert_null(d);
}

static plx_index labelled(const plx_dataset *d, plx_index begin, plx_index end)
{
    plx_index count = 0;
    for (plx_index i = begin; i < end; i++) {
        count += d->labels[i] != NULL;
        if (d->labels[i]) assert_string_equal(d->labels[i], d->truth[i]);
    }
    return count;
}

/* Mean and variance of column j over rows begin..end-1. */
static void moments(double *mean, double *variance, plx_cmat x, plx_index j, plx_index begin, plx_index end)
{
    double s = 0, q = 0, n = (double)(end - begin);
    for (plx_index i = begin; i < end; i++) s += x.data[i * x.ld + j];
    for (plx_index i = begin; i < end; i++) q += (x.data[i * x.ld + j] - s / n) * (x.data[i * x.ld + j] - s / n);
    *mean = s / n;
    *variance = q / n;
}

/* ---- settings ---- */

static void tables_can_be_listed(void **state)
{
    (void)state;
    const char *expected[] = {"two-gauss", "irrelevant-view", "xor",     "two-moons-two-lines",
                              "text",      "links",           "ontology"};
    assert_int_equal(plx_generator_count(), 7);
    for (plx_index g = 0; g < 7; g++) {
        int common = 0;
        assert_string_equal(plx_generator_name(g), expected[g]);
        assert_true(strlen(plx_generator_summary(g)) > 20);
        for (plx_index k = 0; k < plx_generator_param_count(g); k++) {
            plx_generator_param p = PLX_GENERATOR_PARAM_INIT;
            assert_int_equal(plx_generator_param_info(&p, g, k), PLX_OK);
            assert_true(p.name && p.type && p.fallback && p.help && p.help[strlen(p.help) - 1] != ' ');
            assert_int_equal(strcmp(p.type, "choice") == 0, p.choices != NULL);
            common += !strcmp(p.name, "labelled") + !strcmp(p.name, "missing") + !strcmp(p.name, "ids") +
                      !strcmp(p.name, "names");
        }
        assert_int_equal(common, 4);
    }
    plx_generator_param p = PLX_GENERATOR_PARAM_INIT;
    assert_null(plx_generator_name(7));
    assert_null(plx_generator_summary(-1));
    assert_int_equal(plx_generator_param_count(7), 0);
    assert_int_equal(plx_generator_param_info(&p, 0, 999), PLX_E_ARG);
    assert_int_equal(plx_generator_param_info(&p, 9, 0), PLX_E_ARG);
    p.struct_size = 0;
    assert_int_equal(plx_generator_param_info(&p, 0, 0), PLX_E_ARG);
}

static void wrong_settings_are_explained(void **state)
{
    (void)state;
    plx_context *ctx = test_context(1);
    refuse(ctx, "txt", NULL, "no generator 'txt'; did you mean 'text'?");
    refuse(ctx, NULL, NULL, "'kind' is NULL");
    refuse(ctx, "text", "labeled=2", "generator text has no parameter 'labeled'; did you mean 'labelled'?");
    refuse(ctx, "text", "n", "expected key=value");
    refuse(ctx, "text", "n=0", "n = 0: must be integer in [1");
    refuse(ctx, "text", "n=2.5", "n = 2.5");
    refuse(ctx, "text", "n=1,2", "n = 1,2");
    refuse(ctx, "text", "n=", "n = ");
    refuse(ctx, "text", "n=nan", "n = nan");
    refuse(ctx, "text", "overlap=0.2,1.5", "overlap = 0.2,1.5: must be in [0, 1], separated by commas");
    refuse(ctx, "text", "overlap=0.2,", "overlap");
    refuse(ctx, "text", "missing=-0.1", "missing = -0.1");
    refuse(ctx, "text", "labelled=x", "must be like 10%");
    refuse(ctx, "xor", "layout=join", "must be split|joined|both");
    refuse(ctx, "xor", "layout=", "must be split");
    refuse(ctx, "two-gauss", "means=1,2,3", "means has 3 numbers; 2 classes x 2 views need 4");
    refuse(ctx, "two-moons-two-lines", "n=14", "n = 14: must not be a multiple of 7 or 11");
    refuse(ctx, "two-moons-two-lines", "n=33", "multiple of 7 or 11");
    refuse(ctx, "ontology", "branching=200", "at most 20000");
    plx_dataset *none = NULL;
    assert_fails(ctx, plx_generate(&none, ctx, "text", NULL, 2), PLX_E_ARG, "'settings' is NULL");
    plx_dataset *d = generate(ctx, "two-gauss", "n=5", "n=7"); /* the last one counts */
    assert_int_equal(d->n, 14);
    plx_dataset_destroy(d);
    plx_context_destroy(ctx);
}

static void ids_and_names_are_optional(void **state)
{
    (void)state;
    plx_context *ctx = test_context(1);
    plx_dataset *d = generate(ctx, "text", "n=12", "features=20", "ids=1", "names=1");
    assert_string_equal(d->ids[0], "s0000");
    assert_string_equal(d->ids[11], "s0011");
    assert_string_equal(d->views[1].features[7], "w07");
    assert_string_equal(d->name, "text");
    plx_dataset_destroy(d);
    d = generate(ctx, "text", "n=12");
    assert_null(d->ids);
    assert_null(d->views[0].features);
    plx_dataset_destroy(d);
    plx_context_destroy(ctx);
}

/* ---- toys ---- */

/* Means 2,-2 / -2,2, variance 1, views independent given the class. n = 20000: 5 standard errors are 0.036 for a
 * mean and for a correlation, 0.05 for a variance. */
static void two_gauss_has_its_moments(void **state)
{
    (void)state;
    plx_context *ctx = test_context(1);
    plx_dataset *d = generate(ctx, "two-gauss", "n=20000");
    const double expected[2][2] = {{2, -2}, {-2, 2}};
    assert_int_equal(d->n_views, 2);
    for (int c = 0; c < 2; c++) {
        double m[2], var[2], cross = 0;
        for (int v = 0; v < 2; v++) {
            assert_int_equal(d->views[v].cols, 1);
            moments(&m[v], &var[v], d->views[v].dense, 0, c * 20000, (c + 1) * 20000);
            assert_close(m[v], expected[c][v], 0.036);
            assert_close(var[v], 1.0, 0.05);
        }
        for (int i = c * 20000; i < (c + 1) * 20000; i++)
            cross += (d->views[0].dense.data[i] - m[0]) * (d->views[1].dense.data[i] - m[1]);
        assert_close(cross / 20000, 0, 0.036);
        assert_string_equal(d->truth[c * 20000], c ? "c1" : "c0");
    }
    plx_dataset_destroy(d);
    d = generate_list(ctx, "two-gauss", NULL, 0);
    assert_int_equal(d->n, 200);
    assert_int_equal(labelled(d, 0, 100), 2);
    assert_int_equal(labelled(d, 100, 200), 2);
    plx_dataset_destroy(d);
    plx_context_destroy(ctx);
}

/* sd = 0 shows the means: three classes 4 apart and mirrored, or as given, in the first of three coordinates. */
static void gauss_means_can_be_set(void **state)
{
    (void)state;
    plx_context *ctx = test_context(1);
    plx_dataset *d = generate(ctx, "two-gauss", "n=1", "classes=3", "views=3", "dims=3", "sd=0", "labelled=1");
    for (int c = 0; c < 3; c++)
        for (int v = 0; v < 3; v++) {
            assert_close(d->views[v].dense.data[3 * c], (1 - c) * 4 * (v == 1 ? -1 : 1), 0);
            assert_close(d->views[v].dense.data[3 * c + 1], 0, 0);
        }
    plx_dataset_destroy(d);
    d = generate(ctx, "two-gauss", "n=1", "means=1,2,3,4", "sd=0", "labelled=all");
    assert_close(d->views[1].dense.data[0], 2, 0);
    assert_close(d->views[0].dense.data[1], 3, 0);
    plx_dataset_destroy(d);
    plx_context_destroy(ctx);
}

static void irrelevant_view_knows_nothing(void **state)
{
    (void)state;
    plx_context *ctx = test_context(1);
    plx_dataset *d = generate(ctx, "irrelevant-view", "n=20000");
    double m = 0, var = 0;
    for (int c = 0; c < 2; c++) {
        moments(&m, &var, d->views[0].dense, 0, c * 20000, (c + 1) * 20000);
        assert_close(m, c ? -2 : 2, 0.036);
        moments(&m, &var, d->views[1].dense, 0, c * 20000, (c + 1) * 20000);
        assert_close(m, 0, 0.036);
        assert_close(var, 1, 0.05);
        assert_int_equal(labelled(d, c * 20000, (c + 1) * 20000), 10);
    }
    plx_dataset_destroy(d);
    d = generate(ctx, "irrelevant-view", "relevant=2", "irrelevant=3");
    assert_int_equal(d->n_views, 5);
    plx_dataset_destroy(d);
    plx_context_destroy(ctx);
}

static void xor_needs_both_coordinates(void **state)
{
    (void)state;
    plx_context *ctx = test_context(1);
    const double mean[4][2] = {{2, 2}, {-2, -2}, {2, -2}, {-2, 2}};
    plx_dataset *d = generate(ctx, "xor", "n=20000", "layout=both");
    assert_int_equal(d->n_views, 3);
    for (int g = 0; g < 4; g++) {
        for (int j = 0; j < 2; j++) {
            double m = 0, var = 0;
            moments(&m, &var, d->views[2].dense, j, g * 20000, (g + 1) * 20000);
            assert_close(m, mean[g][j], 0.036);
            assert_close(var, 1, 0.05);
        }
        assert_string_equal(d->truth[g * 20000], g < 2 ? "pos" : "neg");
    }
    for (int i = 0; i < 80000; i++)
        for (int j = 0; j < 2; j++) assert_true(d->views[2].dense.data[2 * i + j] == d->views[j].dense.data[i]);
    plx_dataset_destroy(d);
    d = generate_list(ctx, "xor", NULL, 0);
    assert_int_equal(d->n, 200);
    assert_int_equal(d->n_views, 2);
    for (int g = 0; g < 4; g++) assert_int_equal(labelled(d, 50 * g, 50 * g + 50), 4);
    plx_dataset_destroy(d);
    d = generate(ctx, "xor", "layout=joined", "labelled=pos1=3");
    assert_int_equal(d->n_views, 1);
    assert_int_equal(labelled(d, 0, 50), 3);
    assert_int_equal(labelled(d, 50, 200), 0);
    plx_dataset_destroy(d);
    plx_context_destroy(ctx);
}

/* By hand for N = 20. i = 0: t = pi/40, cos t = 0.99691733373312796, sin t = 0.078459095727844944; p_a(0) = 3, so s
 * = -0.65; p_b(0) = 5, s = -0.45. i = 19: cos and sin of pi - pi/40; p_a = 136 mod 20 = 16, s = 0.65; p_b = 214 mod
 * 20 = 14, s = 0.45. Labelled: 6 of a, 10 of b. */
static void moons_and_lines_are_exact(void **state)
{
    (void)state;
    plx_context *ctx = test_context(1);
    plx_dataset *d = generate_list(ctx, "two-moons-two-lines", NULL, 0);
    const double c = 0.99691733373312796, s = 0.078459095727844944;
    const double *moon = d->views[0].dense.data, *line = d->views[1].dense.data;
    const struct {
        int at;
        double moon[2], line[2];
    } expected[] = {{0, {c, s}, {-0.65, -0.15}},
                    {20, {1 - c, 0.5 - s}, {-0.45, -0.95}},
                    {19, {-c, s}, {0.65, 1.15}},
                    {39, {1 + c, 0.5 - s}, {0.45, -0.05}}};
    assert_int_equal(d->n, 40);
    assert_string_equal(d->views[0].name, "moons");
    assert_string_equal(d->views[1].name, "lines");
    for (int k = 0; k < 4; k++)
        for (int j = 0; j < 2; j++) {
            assert_close(moon[2 * expected[k].at + j], expected[k].moon[j], 1e-15);
            assert_close(line[2 * expected[k].at + j], expected[k].line[j], 1e-15);
        }
    for (int i = 0; i < 40; i++) {
        assert_string_equal(d->truth[i], i < 20 ? "a" : "b");
        assert_int_equal(d->labels[i] != NULL, i == 6 || i == 30);
    }
    plx_dataset *noisy = generate(ctx, "two-moons-two-lines", "noise=0.3", "labelled=a=2,b=3");
    assert_memory_equal(noisy->views[1].dense.data, line, 80 * sizeof *line);
    assert_int_equal(labelled(noisy, 0, 20), 2);
    assert_int_equal(labelled(noisy, 20, 40), 3);
    double q = 0; /* 80 squares of N(0, 0.09): mean 0.09, 5 standard errors 0.071 */
    for (int k = 0; k < 80; k++) q += pow(noisy->views[0].dense.data[k] - moon[k], 2) / 80;
    assert_close(q, 0.09, 0.071);
    plx_dataset_destroy(noisy);
    plx_dataset_destroy(d);
    plx_context_destroy(ctx);
}

/* Line positions of a class are all different: p is a permutation when N is coprime to 7 and 11. */
static void line_positions_are_a_permutation(void **state)
{
    (void)state;
    plx_context *ctx = test_context(1);
    plx_dataset *d = generate(ctx, "two-moons-two-lines", "n=101");
    for (int c = 0; c < 2; c++) {
        int seen[101] = {0};
        for (int i = 0; i < 101; i++) {
            double s = d->views[1].dense.data[2 * (101 * c + i)];
            seen[(int)floor((s + 1) * 101 / 2)]++;
        }
        for (int k = 0; k < 101; k++) assert_int_equal(seen[k], 1);
    }
    plx_dataset_destroy(d);
    plx_context_destroy(ctx);
}

/* ---- what holds for all of them ---- */

static const char *const SMALL[7][8] = {
    {"two-gauss", "n=30", "views=3", "dims=2"},
    {"irrelevant-view", "n=30", "irrelevant=2"},
    {"xor", "n=30", "layout=both"},
    {"two-moons-two-lines", "n=30", "noise=0.1"},
    {"text", "n=2500", "features=300,50", "length=20", "views=3"},
    {"links", "n=700", "direction=both", "features=100", "within=0.05"},
    {"ontology", "n=1500", "features=100", "kind=mixed", "extra_parents=0.3", "length=10"}};

static plx_dataset *small(plx_context *ctx, int g, const char *extra)
{
    const char *settings[9];
    plx_index count = 0;
    while (count < 7 && SMALL[g][count + 1]) {
        settings[count] = SMALL[g][count + 1];
        count++;
    }
    if (extra) settings[count++] = extra;
    return generate_list(ctx, SMALL[g][0], settings, count);
}

static bool same_text(const char *a, const char *b) { return a && b ? strcmp(a, b) == 0 : a == b; }

static bool same_view(const plx__view *a, const plx__view *b, plx_index n)
{
    if (a->sparse != b->sparse || a->cols != b->cols || memcmp(a->present, b->present, (size_t)n)) return false;
    if (!a->sparse) return !memcmp(a->dense.data, b->dense.data, (size_t)(n * a->cols) * sizeof(double));
    size_t nnz = (size_t)a->csr.ptr[n];
    return !memcmp(a->csr.ptr, b->csr.ptr, (size_t)(n + 1) * sizeof(int64_t)) &&
           !memcmp(a->csr.col, b->csr.col, nnz * sizeof(int32_t)) &&
           !memcmp(a->csr.val, b->csr.val, nnz * sizeof(double));
}

static bool same_data(const plx_dataset *a, const plx_dataset *b)
{
    bool same = a->n == b->n && a->n_views == b->n_views;
    for (plx_index v = 0; same && v < a->n_views; v++) same = same_view(&a->views[v], &b->views[v], a->n);
    for (plx_index i = 0; same && i < a->n; i++)
        same = same_text(a->truth[i], b->truth[i]) && same_text(a->labels[i], b->labels[i]);
    return same;
}

static void threads_do_not_change_a_bit(void **state)
{
    (void)state;
    plx_context *one = test_context(1), *two = test_context(2), *seven = test_context(7);
    for (int g = 0; g < 7; g++) {
        plx_dataset *a = small(one, g, "missing=0.3"), *b = small(two, g, "missing=0.3"),
                    *c = small(seven, g, "missing=0.3");
        assert_true(same_data(a, b));
        assert_true(same_data(a, c));
        plx_context_set_seed(one, 99);
        plx_dataset *other = small(one, g, "missing=0.3");
        assert_false(same_data(a, other));
        plx_context_set_seed(one, 0);
        plx_dataset_destroy(a);
        plx_dataset_destroy(b);
        plx_dataset_destroy(c);
        plx_dataset_destroy(other);
    }
    plx_context_destroy(one);
    plx_context_destroy(two);
    plx_context_destroy(seven);
}

static bool same_row(const plx__view *a, const plx__view *b, plx_index i)
{
    if (!a->sparse)
        return !memcmp(a->dense.data + i * a->cols, b->dense.data + i * b->cols, (size_t)a->cols * sizeof(double));
    int64_t n = a->csr.ptr[i + 1] - a->csr.ptr[i];
    return n == b->csr.ptr[i + 1] - b->csr.ptr[i] &&
           !memcmp(a->csr.col + a->csr.ptr[i], b->csr.col + b->csr.ptr[i], (size_t)n * sizeof(int32_t)) &&
           !memcmp(a->csr.val + a->csr.ptr[i], b->csr.val + b->csr.ptr[i], (size_t)n * sizeof(double));
}

/* missing = 0.4 over V views leaves a share 1 - 0.4 + 0.4^V / V of a view's rows (within 5 standard deviations), no
 * sample without views, the same values in the rows that stay, and the same labels. */
static void missing_rows_are_only_removed(void **state)
{
    (void)state;
    plx_context *ctx = test_context(2);
    for (int g = 0; g < 7; g++) {
        plx_dataset *full = small(ctx, g, NULL), *holes = small(ctx, g, "missing=0.4");
        double n = (double)full->n, views = (double)full->n_views, share = 0.6 + pow(0.4, views) / views;
        for (plx_index v = 0; v < full->n_views; v++) {
            const plx__view *a = &full->views[v], *b = &holes->views[v];
            assert_int_equal(a->present_count, full->n);
            assert_close((double)b->present_count, share * n, 5 * sqrt(n * share * (1 - share)));
            for (plx_index i = 0; i < full->n; i++)
                if (b->present[i]) assert_true(same_row(a, b, i));
                else if (b->sparse) assert_true(b->csr.ptr[i] == b->csr.ptr[i + 1]);
        }
        for (plx_index i = 0; i < full->n; i++) {
            int present = 0;
            for (plx_index v = 0; v < full->n_views; v++) present += holes->views[v].present[i];
            assert_true(present >= 1);
            assert_true(same_text(full->labels[i], holes->labels[i]));
            assert_non_null(full->truth[i]);
        }
        plx_dataset_destroy(full);
        plx_dataset_destroy(holes);
    }
    plx_context_destroy(ctx);
}

static int stop_now(const plx_progress *p, void *payload)
{
    (void)p;
    (void)payload;
    return 1;
}

static void generation_can_be_stopped(void **state)
{
    (void)state;
    meter m = {0, 0, 0};
    plx_context *ctx = metered_context(&m, 1);
    plx_dataset *d = NULL;
    long before = m.live;
    plx_context_set_progress(ctx, stop_now, NULL);
    assert_int_equal(plx_generate(&d, ctx, "text", NULL, 0), PLX_E_CANCELLED);
    assert_null(d);
    assert_int_equal(m.live, before);
    plx_context_destroy(ctx);
}

static void sweep(const char *kind, const char *const *settings, plx_index count)
{
    plx_status st = PLX_E_NOMEM;
    long k = 1;
    while (st != PLX_OK && k < 5000) {
        meter m = {0, ++k, 0};
        plx_context *ctx = metered_context(&m, 1);
        plx_dataset *d = NULL;
        st = plx_generate(&d, ctx, kind, settings, count);
        assert_true(st == PLX_OK || st == PLX_E_NOMEM);
        if (st != PLX_OK) assert_true(plx_context_error(ctx)[0]);
        assert_int_equal(st == PLX_OK, d != NULL);
        plx_dataset_destroy(d);
        plx_context_destroy(ctx);
        assert_int_equal(m.live, 0);
    }
    assert_true(k > 20 && k < 5000);
}

static void every_refused_allocation_is_reported(void **state)
{
    (void)state;
    const char *const toy[] = {"n=2", "ids=1", "names=1", "labelled=1"}, *const moons[] = {"n=3"};
    const char *const text[] = {"n=4", "features=5", "ids=1", "names=1", "labelled=1", "classes=2"};
    const char *const links[] = {"n=6", "features=5", "direction=both", "labelled=1", "classes=2"};
    const char *const tree[] = {"n=4", "features=5", "depth=2", "branching=2", "extra_parents=0.5", "kind=mixed"};
    sweep("two-gauss", toy, 4);
    sweep("xor", toy, 4);
    sweep("two-moons-two-lines", moons, 1);
    sweep("text", text, 6);
    sweep("links", links, 5);
    sweep("ontology", tree, 6);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tables_can_be_listed),
        cmocka_unit_test(wrong_settings_are_explained),
        cmocka_unit_test(ids_and_names_are_optional),
        cmocka_unit_test(two_gauss_has_its_moments),
        cmocka_unit_test(gauss_means_can_be_set),
        cmocka_unit_test(irrelevant_view_knows_nothing),
        cmocka_unit_test(xor_needs_both_coordinates),
        cmocka_unit_test(moons_and_lines_are_exact),
        cmocka_unit_test(line_positions_are_a_permutation),
        cmocka_unit_test(threads_do_not_change_a_bit),
        cmocka_unit_test(missing_rows_are_only_removed),
        cmocka_unit_test(generation_can_be_stopped),
        cmocka_unit_test(every_refused_allocation_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
