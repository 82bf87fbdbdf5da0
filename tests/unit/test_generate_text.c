/* Generators of sparse data: text, links, ontology. */
#include "plx_test.h"

#include "data/dataset_impl.h"
#include "parallax/generate.h"

#define generate(ctx, kind, ...)                                                                                       \
    generate_list((ctx), (kind), (const char *const[]){__VA_ARGS__},                                                   \
                  sizeof((const char *const[]){__VA_ARGS__}) / sizeof(char *))

static plx_dataset *generate_list(plx_context *ctx, const char *kind, const char *const *settings, plx_index count)
{
    plx_dataset *d = NULL;
    assert_ok(ctx, plx_generate(&d, ctx, kind, settings, count));
    return d;
}

/* Share of every word among the tokens of samples with i mod step == offset; returns the number of tokens. */
static double word_shares(double *share, const plx_dataset *d, plx_index v, plx_index step, plx_index offset)
{
    plx_ccsr x = d->views[v].csr;
    double tokens = 0;
    memset(share, 0, (size_t)x.cols * sizeof *share);
    for (plx_index i = offset; i < x.rows; i += step)
        for (int64_t k = x.ptr[i]; k < x.ptr[i + 1]; k++) {
            share[x.col[k]] += x.val[k];
            tokens += x.val[k];
        }
    for (plx_index w = 0; w < x.cols; w++) share[w] /= tokens;
    return tokens;
}

/* Total variation distance: 0 = equal, 1 = disjoint. */
static double distance(const double *p, const double *q, plx_index n)
{
    double s = 0;
    for (plx_index w = 0; w < n; w++) s += fabs(p[w] - q[w]) / 2;
    return s;
}

/* ---- text ---- */

/* Poisson(60) tokens: mean 60, variance 60; n = 20000, so 5 standard errors are 0.27 and 3.1. */
static void documents_have_poisson_length(void **state)
{
    (void)state;
    plx_context *ctx = test_context(2);
    plx_dataset *d = generate(ctx, "text", "n=20000", "features=2000,300", "length=60,5", "labelled=1%");
    const plx__view *v = &d->views[0];
    double s = 0, q = 0;
    for (plx_index i = 0; i < d->n; i++) {
        double tokens = 0;
        for (int64_t k = v->csr.ptr[i]; k < v->csr.ptr[i + 1]; k++) {
            assert_true(v->csr.val[k] >= 1 && v->csr.val[k] == floor(v->csr.val[k]));
            assert_true(k == v->csr.ptr[i] || v->csr.col[k] > v->csr.col[k - 1]);
            tokens += v->csr.val[k];
        }
        assert_true(tokens >= 1);
        s += tokens;
        q += tokens * tokens;
    }
    assert_close(s / 20000, 60, 0.27);
    assert_close(q / 20000 - s * s / 4e8, 60, 3.1);
    assert_int_equal(v->cols, 2000);
    assert_int_equal(d->views[1].cols, 300);
    assert_int_equal(v->kind, PLX_VIEW_COUNTS);
    double share[300];
    for (plx_index i = 0; i < d->n; i++) assert_true(d->views[1].csr.ptr[i + 1] > d->views[1].csr.ptr[i]);
    assert_close(word_shares(share, d, 1, 1, 0) / 20000, 5.0067, 0.08); /* E max(1, Poisson(5)) = 5 + e^-5 */
    plx_dataset_destroy(d);
    plx_context_destroy(ctx);
}

/* overlap = 1: the Zipf law, word w has share 1 / ((w + 1) H_50), H_50 = 4.4992053383; noise = 1: all words 1/50.
 * Tolerance: 5 standard errors of a share at about 6e5 tokens, 5 sqrt(p (1 - p) / 6e5) <= 0.0027. */
static void common_and_noise_words_have_known_shares(void **state)
{
    (void)state;
    plx_context *ctx = test_context(2);
    double share[50];
    plx_dataset *d = generate(ctx, "text", "n=10000", "features=50", "overlap=1", "noise=0", "views=1");
    word_shares(share, d, 0, 1, 0);
    for (int w = 0; w < 50; w++) assert_close(share[w], 1.0 / ((w + 1) * 4.4992053383294), 0.0027);
    plx_dataset_destroy(d);
    d = generate(ctx, "text", "n=10000", "features=50", "noise=1", "views=1");
    word_shares(share, d, 0, 1, 0);
    for (int w = 0; w < 50; w++) assert_close(share[w], 0.02, 0.0010);
    plx_dataset_destroy(d);
    plx_context_destroy(ctx);
}

/* The classes' own distributions are the same at any overlap; a share `overlap` of common tokens shrinks their
 * distance to (1 - overlap) of what it was, and mixing = m by a factor 1 - 2m with two classes. */
static void overlap_and_mixing_bring_classes_together(void **state)
{
    (void)state;
    plx_context *ctx = test_context(2);
    double p[200], q[200], apart[5];
    const char *const settings[5][2] = {{"overlap=0", "mixing=0"},
                                        {"overlap=0.5", "mixing=0"},
                                        {"overlap=0.9", "mixing=0"},
                                        {"overlap=0", "mixing=0.25"},
                                        {"overlap=1", "mixing=0"}};
    for (int k = 0; k < 5; k++) {
        plx_dataset *d = generate(ctx, "text", "n=20000", "features=200", "classes=2", "views=1", "noise=0",
                                  "concentration=20", settings[k][0], settings[k][1]);
        word_shares(p, d, 0, 2, 0);
        word_shares(q, d, 0, 2, 1);
        apart[k] = distance(p, q, 200);
        plx_dataset_destroy(d);
    }
    assert_true(apart[0] > 0.3);
    assert_close(apart[1] / apart[0], 0.5, 0.02);
    assert_close(apart[2] / apart[0], 0.1, 0.02);
    assert_close(apart[3] / apart[0], 0.5, 0.02);
    assert_close(apart[4], 0, 0.01);
    plx_context_destroy(ctx);
}

/* Views have topics of their own: the same class looks different in two views of equal vocabulary. */
static void views_differ_and_classes_are_balanced(void **state)
{
    (void)state;
    plx_context *ctx = test_context(1);
    plx_dataset *d =
        generate(ctx, "text", "n=5000", "features=100", "classes=12", "overlap=0", "noise=0", "labelled=3");
    double p[100], q[100];
    word_shares(p, d, 0, 12, 0);
    word_shares(q, d, 1, 12, 0);
    assert_true(distance(p, q, 100) > 0.05);
    assert_int_equal(d->n_classes, 12);
    assert_string_equal(d->classes[2], "c02");
    plx_index given[12] = {0};
    for (plx_index i = 0; i < d->n; i++) {
        assert_string_equal(d->truth[i], d->classes[i % 12]);
        given[i % 12] += d->labels[i] != NULL;
    }
    for (int c = 0; c < 12; c++) assert_int_equal(given[c], 3);
    plx_dataset_destroy(d);
    d = generate(ctx, "text", "n=3", "classes=1", "features=1"); /* the smallest: one class, one word */
    assert_int_equal(d->views[0].nonzeros, 3);
    plx_dataset_destroy(d);
    plx_context_destroy(ctx);
}

/* ---- links ---- */

/* 900 samples, 3 classes of 300: 300 * 299 ordered pairs per class within, 900 * 600 between. 5 standard deviations. */
static void links_have_their_densities(void **state)
{
    (void)state;
    plx_context *ctx = test_context(2);
    plx_dataset *d = generate(ctx, "links", "n=900", "within=0.1", "between=0.02", "features=50");
    assert_string_equal(d->views[0].name, "text");
    assert_string_equal(d->views[1].name, "links");
    plx_ccsr x = d->views[1].csr;
    double within = 0, between = 0;
    assert_int_equal(x.cols, 900);
    assert_int_equal(d->views[1].kind, PLX_VIEW_BINARY);
    for (plx_index i = 0; i < 900; i++)
        for (int64_t k = x.ptr[i]; k < x.ptr[i + 1]; k++) {
            assert_true(x.val[k] == 1 && x.col[k] != i);
            if (x.col[k] % 3 == i % 3) within++;
            else between++;
        }
    assert_close(within, 0.1 * 3 * 300 * 299, 5 * sqrt(0.1 * 0.9 * 3 * 300 * 299));
    assert_close(between, 0.02 * 900 * 600, 5 * sqrt(0.02 * 0.98 * 900 * 600));
    plx_dataset_destroy(d);
    plx_context_destroy(ctx);
}

/* Probabilities 1 and 0 leave no choice: all others of the class; with n = 7 and 3 classes the last block is
 * partial. */
static void certain_links_are_complete(void **state)
{
    (void)state;
    plx_context *ctx = test_context(1);
    for (int within = 0; within < 2; within++) {
        plx_dataset *d = generate(ctx, "links", "n=7", within ? "within=1" : "within=0",
                                  within ? "between=0" : "between=1", "labelled=none");
        plx_ccsr x = d->views[1].csr;
        for (plx_index i = 0; i < 7; i++) {
            int64_t k = x.ptr[i];
            for (plx_index j = 0; j < 7; j++) {
                if (j == i || (i % 3 == j % 3) != within) continue;
                assert_true(k < x.ptr[i + 1]);
                assert_int_equal(x.col[k++], j);
            }
            assert_int_equal(k, x.ptr[i + 1]);
        }
        plx_dataset_destroy(d);
    }
    plx_context_destroy(ctx);
}

static bool linked(plx_ccsr x, plx_index i, plx_index j)
{
    for (int64_t k = x.ptr[i]; k < x.ptr[i + 1]; k++)
        if (x.col[k] == j) return true;
    return false;
}

static void directions_are_transposes(void **state)
{
    (void)state;
    plx_context *ctx = test_context(1);
    plx_dataset *both = generate(ctx, "links", "n=120", "direction=both", "within=0.2"),
                *un = generate(ctx, "links", "n=120", "direction=undirected", "within=0.2");
    assert_int_equal(both->n_views, 3);
    assert_int_equal(un->n_views, 2);
    plx_ccsr out = both->views[1].csr, in = both->views[2].csr, u = un->views[1].csr;
    int one_way = 0;
    for (plx_index i = 0; i < 120; i++)
        for (plx_index j = 0; j < 120; j++) {
            assert_int_equal(linked(out, i, j), linked(in, j, i));
            assert_int_equal(linked(u, i, j), linked(u, j, i));
            one_way += linked(out, i, j) && !linked(out, j, i);
        }
    assert_true(one_way > 0);
    assert_close((double)u.ptr[120], 0.2 * 120 * 39 + 0.005 * 120 * 80, 5 * sqrt(2 * 0.16 * 120 * 39));
    plx_dataset_destroy(both);
    plx_dataset_destroy(un);
    plx_context_destroy(ctx);
}

/* ---- ontology ---- */

/* 3 + 9 + 27 classes; 36 have a parent; 13 families of three siblings with three pairs each. */
static void tree_has_the_right_shape(void **state)
{
    (void)state;
    plx_context *ctx = test_context(1);
    plx_dataset *d = generate(ctx, "ontology", "features=50");
    const plx__hierarchy *h = d->hierarchy;
    assert_int_equal(h->n_classes, 39);
    assert_int_equal(h->n_subset, 36);
    assert_int_equal(h->n_mutex, 39);
    assert_string_equal(h->classes[0], "c0");
    assert_string_equal(h->classes[3], "c0-0");
    assert_string_equal(h->classes[38], "c2-2-2");
    for (plx_index p = 0; p < 36; p++) { /* a class's name begins with that of the class above */
        const char *below = h->classes[h->subset[2 * p]], *above = h->classes[h->subset[2 * p + 1]];
        assert_true(strncmp(below, above, strlen(above)) == 0 && strlen(below) == strlen(above) + 2);
    }
    for (plx_index p = 0; p < 39; p++) { /* exclusive classes differ in the last number only */
        const char *a = h->classes[h->mutex[2 * p]], *b = h->classes[h->mutex[2 * p + 1]];
        assert_true(strlen(a) == strlen(b) && strncmp(a, b, strlen(a) - 1) == 0 && strcmp(a, b) != 0);
    }
    assert_string_equal(d->truth[0], "c0|c0-0|c0-0-0");
    assert_string_equal(d->truth[27 + 5], "c0|c0-1|c0-1-2");
    assert_int_equal(d->n, 540);
    plx_index given = 0;
    for (plx_index i = 0; i < d->n; i++) given += d->labels[i] != NULL;
    assert_int_equal(given, 27 * 4); /* 20 % of 20 samples per leaf */
    plx_dataset_destroy(d);
    d = generate(ctx, "ontology", "features=10", "depth=1", "branching=2", "exclusive=0", "n=4");
    assert_int_equal(d->hierarchy->n_subset + d->hierarchy->n_mutex, 0);
    assert_string_equal(d->truth[1], "c1");
    plx_dataset_destroy(d);
    d = generate(ctx, "ontology", "kind=dense", "depth=3", "branching=10", "n=1000", "labelled=none");
    assert_int_equal(d->n_classes, 1110);
    plx_dataset_destroy(d);
    plx_context_destroy(ctx);
}

/* With second parents: label sets are closed upwards and never hold two exclusive classes, and some set is no path. */
static void extra_parents_make_a_consistent_dag(void **state)
{
    (void)state;
    plx_context *ctx = test_context(1);
    plx_dataset *d = generate(ctx, "ontology", "features=20", "extra_parents=0.5", "n=27", "labelled=all");
    const plx__hierarchy *h = d->hierarchy;
    plx_index wide = 0;
    assert_true(h->n_subset > 36 && h->n_mutex < 39 && h->n_mutex > 0);
    for (plx_index p = 0; p < h->n_subset; p++)
        for (plx_index q = 0; q < p; q++) /* two parents are two */
            assert_memory_not_equal(&h->subset[2 * p], &h->subset[2 * q], 2 * sizeof *h->subset);
    for (plx_index i = 0; i < 27; i++) {
        bool in[39] = {false};
        plx_index size = 0;
        char text[512];
        snprintf(text, sizeof text, "%s", d->truth[i]);
        for (char *save = NULL, *name = strtok_r(text, "|", &save); name; name = strtok_r(NULL, "|", &save))
            for (plx_index c = 0; c < 39; c++)
                if (strcmp(h->classes[c], name) == 0) in[c] = true, size++;
        assert_true(size >= 3 && in[12 + i]);
        wide += size > 3;
        for (plx_index p = 0; p < h->n_subset; p++) assert_true(!in[h->subset[2 * p]] || in[h->subset[2 * p + 1]]);
        for (plx_index p = 0; p < h->n_mutex; p++) assert_false(in[h->mutex[2 * p]] && in[h->mutex[2 * p + 1]]);
    }
    assert_true(wide > 5);
    plx_dataset_destroy(d);
    plx_context_destroy(ctx);
}

/* Leaves that share parents are more alike: in 2000 noise-free coordinates with offsets of variance 1 the squared
 * distance of two leaves is 2 (levels not shared) per coordinate. */
static void dense_views_follow_the_tree(void **state)
{
    (void)state;
    plx_context *ctx = test_context(1);
    plx_dataset *d = generate(ctx, "ontology", "kind=dense", "dims=2000", "sd=0", "n=54", "views=1");
    plx_cmat x = d->views[0].dense;
    const int leaf[] = {0, 1, 3, 9}; /* same leaf, same parent, same grandparent, nothing shared */
    for (int k = 0; k < 4; k++) {
        double s = 0;
        for (plx_index j = 0; j < 2000; j++) {
            double diff = x.data[(27 + leaf[k]) * 2000 + j] - x.data[j];
            s += diff * diff / 2000;
        }
        assert_close(s, 2.0 * k, 0.2 * k); /* a mean of 2000 squares: sd = 2k sqrt(2/2000), 3 of them */
    }
    plx_dataset_destroy(d);
    plx_context_destroy(ctx);
}

/* Text of siblings is nearer than text of strangers. */
static void text_views_follow_the_tree(void **state)
{
    (void)state;
    plx_context *ctx = test_context(2);
    plx_dataset *d = generate(ctx, "ontology", "n=27000", "features=300", "views=1", "overlap=0", "noise=0",
                              "length=100", "concentration=20");
    double p[300], q[300], r[300];
    word_shares(p, d, 0, 27, 0);
    word_shares(q, d, 0, 27, 1);
    word_shares(r, d, 0, 27, 26);
    assert_true(distance(p, q, 300) > 0.05);
    assert_true(distance(p, q, 300) < 0.7 * distance(p, r, 300));
    plx_dataset_destroy(d);
    plx_context_destroy(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(documents_have_poisson_length),
        cmocka_unit_test(common_and_noise_words_have_known_shares),
        cmocka_unit_test(overlap_and_mixing_bring_classes_together),
        cmocka_unit_test(views_differ_and_classes_are_balanced),
        cmocka_unit_test(links_have_their_densities),
        cmocka_unit_test(certain_links_are_complete),
        cmocka_unit_test(directions_are_transposes),
        cmocka_unit_test(tree_has_the_right_shape),
        cmocka_unit_test(extra_parents_make_a_consistent_dag),
        cmocka_unit_test(dense_views_follow_the_tree),
        cmocka_unit_test(text_views_follow_the_tree),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
