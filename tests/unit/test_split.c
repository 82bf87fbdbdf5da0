#include "plx_test.h"

#include <unistd.h>

#include "data/split_impl.h"

/* n samples of classes a (n_a), b (n_b), c (n_c), mixed by i * 7 mod n; `unlabelled` more without a class. */
static plx_dataset *three_classes(plx_context *ctx, plx_index n_a, plx_index n_b, plx_index n_c, plx_index unlabelled)
{
    plx_index n = n_a + n_b + n_c + unlabelled, step = 1009;
    plx_dataset *d = NULL;
    const char **truth = calloc((size_t)n, sizeof *truth);
    for (plx_index k = 0; k < n; k++)
        truth[k * step % n] = k < n_a ? "a" : k < n_a + n_b ? "b" : k < n_a + n_b + n_c ? "c" : NULL;
    assert_ok(ctx, plx__dataset_create(&d, ctx, "three", n));
    assert_ok(ctx, plx__dataset_set_truth(d, ctx, truth));
    free(truth);
    plx__call_end(ctx, PLX_OK);
    return d;
}

static plx_index chosen_of(const plx_dataset *d, const uint8_t *flags, const char *class_name)
{
    plx_index count = 0;
    for (plx_index i = 0; i < d->n; i++) count += flags[i] && d->truth[i] && strcmp(d->truth[i], class_name) == 0;
    return count;
}

static plx_index total(const uint8_t *flags, plx_index n)
{
    plx_index count = 0;
    for (plx_index i = 0; i < n; i++) count += flags[i];
    return count;
}

/* ceil(r n_c): 10 % of 41, 30, 5 are 5, 3, 1. 64.4 % of 250 is 161 and 8.8 % of 375 is 33, although both products come
 * out a hair above in doubles. */
static void shares_are_rounded_up_per_class(void **state)
{
    (void)state;
    plx_context *ctx = test_context(1);
    plx_dataset *d = three_classes(ctx, 41, 30, 5, 3);
    uint8_t chosen[625];
    assert_ok(ctx, plx_split_labels(chosen, ctx, d, "10%"));
    assert_int_equal(chosen_of(d, chosen, "a"), 5);
    assert_int_equal(chosen_of(d, chosen, "b"), 3);
    assert_int_equal(chosen_of(d, chosen, "c"), 1);
    assert_int_equal(total(chosen, d->n), 9);
    assert_ok(ctx, plx_split_labels(chosen, ctx, d, "all"));
    assert_int_equal(total(chosen, d->n), 76);
    assert_ok(ctx, plx_split_labels(chosen, ctx, d, "none"));
    assert_int_equal(total(chosen, d->n), 0);
    plx_dataset_destroy(d);
    d = three_classes(ctx, 250, 375, 0, 0);
    assert_ok(ctx, plx_split_labels(chosen, ctx, d, "64.4%"));
    assert_int_equal(chosen_of(d, chosen, "a"), 161);
    assert_ok(ctx, plx_split_labels(chosen, ctx, d, "8.8%"));
    assert_int_equal(chosen_of(d, chosen, "b"), 33);
    plx_dataset_destroy(d);
    plx_context_destroy(ctx);
}

static void counts_may_differ_by_class(void **state)
{
    (void)state;
    plx_context *ctx = test_context(1);
    plx_dataset *d = three_classes(ctx, 41, 30, 5, 0);
    uint8_t chosen[76];
    assert_ok(ctx, plx_split_labels(chosen, ctx, d, "4"));
    assert_int_equal(chosen_of(d, chosen, "a") * 100 + chosen_of(d, chosen, "b") * 10 + chosen_of(d, chosen, "c"), 444);
    assert_ok(ctx, plx_split_labels(chosen, ctx, d, "7")); /* c has 5: all of them, with a warning */
    assert_int_equal(chosen_of(d, chosen, "c"), 5);
    assert_non_null(ctx->notes);
    assert_non_null(strstr(ctx->notes->text, "class 'c' has only 5"));
    assert_ok(ctx, plx_split_labels(chosen, ctx, d, "c=2,a=50%"));
    assert_int_equal(chosen_of(d, chosen, "a"), 21);
    assert_int_equal(chosen_of(d, chosen, "b"), 0);
    assert_int_equal(chosen_of(d, chosen, "c"), 2);
    plx_dataset_destroy(d);
    plx_context_destroy(ctx);
}

static void wrong_choices_are_explained(void **state)
{
    (void)state;
    plx_context *ctx = test_context(1);
    plx_dataset *d = three_classes(ctx, 41, 30, 5, 0), *bare = NULL;
    uint8_t chosen[76];
    const char *const bad[] = {"", "x", "-1", "101%", "-1%", "%", "a=", "=2", "a=2,", "a=x", "nan%"};
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++)
        assert_fails(ctx, plx_split_labels(chosen, ctx, d, bad[k]), PLX_E_ARG, "must be like 10%");
    assert_fails(ctx, plx_split_labels(chosen, ctx, d, "0.1"), PLX_E_ARG, "did you mean 10%?");
    assert_fails(ctx, plx_split_labels(chosen, ctx, d, NULL), PLX_E_ARG, "'spec'");
    assert_fails(ctx, plx_split_labels(chosen, ctx, d, "cc=2"), PLX_E_ARG, "no class 'cc'");
    assert_fails(ctx, plx_split_labels(chosen, ctx, d, "a=2,b=1,d=3"), PLX_E_ARG, "no class 'd'");
    assert_fails(ctx, plx_split_labels(chosen, ctx, d, "c=6"), PLX_E_DATA, "class 'c' has 5 samples, 6 are asked for");
    assert_ok(ctx, plx__dataset_create(&bare, ctx, "bare", 76));
    assert_fails(ctx, plx_split_labels(chosen, ctx, bare, "5"), PLX_E_DATA, "neither truth nor labels");
    plx_dataset_destroy(bare);
    plx_dataset_destroy(d);
    plx_context_destroy(ctx);
}

/* Class names with commas and equals signs, and label sets, are taken by their whole text. */
static void odd_class_names_can_be_chosen(void **state)
{
    (void)state;
    plx_context *ctx = test_context(1);
    plx_dataset *d = NULL;
    const char *const labels[] = {"x=1,y", "x=1,y", "a|b", "a|b", "x", NULL};
    uint8_t chosen[6];
    assert_ok(ctx, plx__dataset_create(&d, ctx, "odd", 6));
    assert_ok(ctx, plx__dataset_set_labels(d, ctx, labels)); /* no truth: labels are the classes */
    assert_ok(ctx, plx_split_labels(chosen, ctx, d, "x=1,y=2,a|b=1"));
    assert_int_equal(chosen[0] + chosen[1], 2);
    assert_int_equal(chosen[2] + chosen[3], 1);
    assert_int_equal(chosen[4] + chosen[5], 0);
    plx_dataset_destroy(d);
    plx_context_destroy(ctx);
}

/* Same seed: same choice on any number of threads, larger choices contain smaller ones, other classes do not matter.
 * Other seed: another choice. */
static void choices_are_seeded_and_nested(void **state)
{
    (void)state;
    plx_context *ctx = test_context(1), *seven = test_context(7);
    plx_dataset *d = three_classes(ctx, 400, 300, 50, 10);
    uint8_t small[760], large[760], again[760], one[760];
    plx_context_set_seed(ctx, 5);
    plx_context_set_seed(seven, 5);
    assert_ok(ctx, plx_split_labels(small, ctx, d, "10%"));
    assert_ok(ctx, plx_split_labels(large, ctx, d, "30%"));
    assert_ok(ctx, plx_split_labels(one, ctx, d, "b=10%"));
    assert_ok(seven, plx_split_labels(again, seven, d, "10%"));
    assert_memory_equal(small, again, sizeof small);
    for (int i = 0; i < 760; i++) {
        assert_true(large[i] >= small[i]);
        assert_true(small[i] >= one[i]);
    }
    plx_context_set_seed(ctx, 6);
    assert_ok(ctx, plx_split_labels(again, ctx, d, "10%"));
    assert_memory_not_equal(small, again, sizeof small);
    plx_dataset_destroy(d);
    plx_context_destroy(ctx);
    plx_context_destroy(seven);
}

/* Every sample of a class is as likely as any other: 400 seeds, 1 of 4; a count has sd sqrt(400 * 3/16) = 8.7. */
static void choices_are_fair(void **state)
{
    (void)state;
    plx_context *ctx = test_context(1);
    plx_dataset *d = three_classes(ctx, 4, 4, 0, 0);
    int count[8] = {0};
    uint8_t chosen[8];
    for (uint64_t seed = 0; seed < 400; seed++) {
        plx_context_set_seed(ctx, seed);
        assert_ok(ctx, plx_split_labels(chosen, ctx, d, "1"));
        for (int i = 0; i < 8; i++) count[i] += chosen[i];
    }
    for (int i = 0; i < 8; i++) assert_in_range(count[i], 100 - 44, 100 + 44);
    plx_dataset_destroy(d);
    plx_context_destroy(ctx);
}

static void folds_are_even_in_size_and_class(void **state)
{
    (void)state;
    plx_context *ctx = test_context(1);
    plx_dataset *d = three_classes(ctx, 41, 30, 5, 7);
    int32_t fold[83];
    assert_ok(ctx, plx_split_folds(fold, ctx, d, 4));
    plx_index size[4] = {0}, a[4] = {0}, b[4] = {0}, c[4] = {0};
    for (int i = 0; i < 83; i++) {
        assert_in_range(fold[i], 0, 3);
        size[fold[i]]++;
        const char *t = d->truth[i];
        if (t) (*t == 'a' ? a : *t == 'b' ? b : c)[fold[i]]++;
    }
    for (int f = 0; f < 4; f++) {
        assert_in_range(size[f], 20, 21);
        assert_in_range(a[f], 10, 11);
        assert_in_range(b[f], 7, 8);
        assert_in_range(c[f], 1, 2);
    }
    assert_fails(ctx, plx_split_folds(fold, ctx, d, 1), PLX_E_ARG, "folds = 1");
    assert_fails(ctx, plx_split_folds(fold, ctx, d, 84), PLX_E_ARG, "[2, 83]");
    plx_dataset_destroy(d);
    plx_context_destroy(ctx);
}

/* 30 % of 41 + 30 + 5 + 7 = 83 is 24.9: 25 samples; quotas 12.35, 9.04, 1.51, 2.11 -> 12, 9, 2, 2. */
static void test_samples_are_in_proportion(void **state)
{
    (void)state;
    plx_context *ctx = test_context(1);
    plx_dataset *d = three_classes(ctx, 41, 30, 5, 7), *two = three_classes(ctx, 1, 1, 0, 0), *one = NULL;
    uint8_t test[83];
    assert_ok(ctx, plx_split_test(test, ctx, d, 0.3, 1));
    assert_int_equal(total(test, 83), 25);
    assert_int_equal(chosen_of(d, test, "a"), 12);
    assert_int_equal(chosen_of(d, test, "b"), 9);
    assert_int_equal(chosen_of(d, test, "c"), 2);
    assert_ok(ctx, plx_split_test(test, ctx, d, 0.3, 0));
    assert_int_equal(total(test, 83), 25);
    assert_ok(ctx, plx_split_test(test, ctx, two, 0.01, 1));
    assert_int_equal(total(test, 2), 1);
    assert_ok(ctx, plx_split_test(test, ctx, two, 0.99, 0));
    assert_int_equal(total(test, 2), 1);
    assert_fails(ctx, plx_split_test(test, ctx, d, 0, 1), PLX_E_ARG, "(0, 1)");
    assert_fails(ctx, plx_split_test(test, ctx, d, NAN, 1), PLX_E_ARG, "(0, 1)");
    assert_ok(ctx, plx__dataset_create(&one, ctx, "one", 1));
    assert_fails(ctx, plx_split_test(test, ctx, one, 0.5, 1), PLX_E_DATA, "one sample");
    plx_dataset_destroy(one);
    plx_dataset_destroy(two);
    plx_dataset_destroy(d);
    plx_context_destroy(ctx);
}

static void hidden_labels_are_null(void **state)
{
    (void)state;
    plx_context *ctx = test_context(1);
    plx_dataset *d = three_classes(ctx, 2, 2, 0, 1);
    const uint8_t chosen[] = {1, 0, 1, 1, 1};
    const char *labels[5];
    plx_split_label_texts(labels, d, chosen);
    for (int i = 0; i < 5; i++) assert_ptr_equal(labels[i], chosen[i] ? d->truth[i] : NULL);
    plx_dataset_destroy(d);
    plx_context_destroy(ctx);
}

/* ---- files ---- */

static const char *write_file(const char *text)
{
    static char path[64];
    snprintf(path, sizeof path, "/tmp/plx_split_%ld.txt", (long)getpid());
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
    return path;
}

static plx_dataset *four_samples(plx_context *ctx, const char *const *ids)
{
    plx_dataset *d = NULL;
    assert_ok(ctx, plx__dataset_create(&d, ctx, "four", 4));
    if (ids) assert_ok(ctx, plx__dataset_set_ids(d, ctx, ids));
    return d;
}

static void assert_flags(plx_context *ctx, const plx_dataset *d, const char *text, const char *expected)
{
    uint8_t flags[4];
    assert_ok(ctx, plx_split_read(flags, ctx, d, write_file(text)));
    for (int i = 0; i < 4; i++) assert_int_equal(flags[i], expected[i] - '0');
}

static void files_hold_flags_numbers_or_ids(void **state)
{
    (void)state;
    plx_context *ctx = test_context(1);
    const char *const ids[] = {"x", "2", "3", "w w"};
    plx_dataset *plain = four_samples(ctx, NULL), *named = four_samples(ctx, ids);
    assert_flags(ctx, plain, "0\n1\n1\n0\n", "0110");
    assert_flags(ctx, plain, "0\r\n 1 \n\n1\n0", "0110");
    assert_flags(ctx, plain, "3\n0\n", "1001");
    assert_flags(ctx, plain, "3\n0\n1\n2\n", "1111");
    assert_flags(ctx, plain, "", "0000");
    assert_flags(ctx, named, "w w\n2\n", "0101"); /* "2" is an id here, because the first entry is one */
    assert_flags(ctx, named, "3\n2\n", "0110");
    assert_flags(ctx, named, "0\n2\n", "1010"); /* 0 is no id: numbers */
    unlink(write_file(""));
    plx_dataset_destroy(plain);
    plx_dataset_destroy(named);
    plx_context_destroy(ctx);
}

static void bad_files_name_the_line(void **state)
{
    (void)state;
    plx_context *ctx = test_context(1);
    const char *const ids[] = {"x", "y", "z", "w"};
    plx_dataset *d = four_samples(ctx, ids);
    uint8_t f[4];
    assert_fails(ctx, plx_split_read(f, ctx, d, write_file("1\n\n4\n")), PLX_E_FORMAT, "line 3: sample 4");
    assert_fails(ctx, plx_split_read(f, ctx, d, write_file("-1\n")), PLX_E_FORMAT, "0 to 3");
    assert_fails(ctx, plx_split_read(f, ctx, d, write_file("0\n1\n0\n")), PLX_E_FORMAT, "exactly 4 lines");
    assert_fails(ctx, plx_split_read(f, ctx, d, write_file("x\nq\n")), PLX_E_FORMAT,
                 "line 2: no sample has the id 'q'");
    assert_fails(ctx, plx_split_read(f, ctx, d, write_file("q\n")), PLX_E_FORMAT, "neither a sample number nor an id");
    assert_fails(ctx, plx_split_read(f, ctx, d, write_file("1.5\n")), PLX_E_FORMAT, "line 1");
    assert_fails(ctx, plx_split_read(f, ctx, d, NULL), PLX_E_ARG, "'path'");
    assert_fails(ctx, plx_split_read(f, ctx, d, "/nowhere/at/all"), PLX_E_IO, "/nowhere/at/all");
    unlink(write_file(""));
    plx_dataset_destroy(d);
    plx_context_destroy(ctx);
}

/* ---- memory ---- */

static plx_status split_once(plx_context *ctx, const char *path)
{
    plx_dataset *d = NULL;
    const char *const labels[] = {"a", "b", "a", "b"};
    uint8_t flags[4];
    int32_t fold[4];
    plx_status st = plx__dataset_create(&d, ctx, "m", 4);
    if (st == PLX_OK) st = plx__dataset_set_labels(d, ctx, labels);
    st = plx__call_end(ctx, st);
    if (st == PLX_OK) st = plx_split_labels(flags, ctx, d, "a=1,b=1");
    if (st == PLX_OK) st = plx_split_folds(fold, ctx, d, 2);
    if (st == PLX_OK) st = plx_split_test(flags, ctx, d, 0.5, 1);
    if (st == PLX_OK) st = plx_split_read(flags, ctx, d, path);
    plx_dataset_destroy(d);
    return st;
}

static void every_refused_allocation_is_reported(void **state)
{
    (void)state;
    plx_status st = PLX_E_NOMEM;
    const char *path = write_file("0\n2\n");
    long k = 1;
    while (st != PLX_OK && k < 1000) {
        meter m = {0, ++k, 0};
        plx_context *ctx = metered_context(&m, 1);
        st = split_once(ctx, path);
        assert_true(st == PLX_OK || st == PLX_E_NOMEM);
        if (st != PLX_OK) assert_true(plx_context_error(ctx)[0]);
        plx_context_destroy(ctx);
        assert_int_equal(m.live, 0);
    }
    assert_true(k > 20 && k < 1000);
    unlink(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shares_are_rounded_up_per_class),  cmocka_unit_test(counts_may_differ_by_class),
        cmocka_unit_test(wrong_choices_are_explained),      cmocka_unit_test(odd_class_names_can_be_chosen),
        cmocka_unit_test(choices_are_seeded_and_nested),    cmocka_unit_test(choices_are_fair),
        cmocka_unit_test(folds_are_even_in_size_and_class), cmocka_unit_test(test_samples_are_in_proportion),
        cmocka_unit_test(hidden_labels_are_null),           cmocka_unit_test(files_hold_flags_numbers_or_ids),
        cmocka_unit_test(bad_files_name_the_line),          cmocka_unit_test(every_refused_allocation_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
