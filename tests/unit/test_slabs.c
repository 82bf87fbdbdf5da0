/* Slabs: every sample is in exactly one pane, panes are in order, and sums are those of the cut, whatever the threads. */
#include "plx_test.h"

#include "core/slabs.h"

typedef struct seen {
    plx_index next, panes, longest;
} seen;

static plx_status note(void *arg, plx_context *ctx, plx_index begin, plx_index end, double *table)
{
    seen *s = arg;
    (void)ctx;
    assert_null(table);
    assert_int_equal(begin, s->next);
    assert_true(end > begin);
    s->next = end;
    s->panes++;
    s->longest = end - begin > s->longest ? end - begin : s->longest;
    return PLX_OK;
}

static void panes_cover_the_samples(void **state)
{
    (void)state;
    plx_context *ctx = test_context(1);
    static const plx_index sizes[] = {0, 1, 9, 10, 11, 639, 640, 641, 1280, 12345};
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
        seen s = {0};
        plx__slabs cut = plx__slabs_cut(sizes[k], 10);
        assert_ok(ctx, plx__slabs_each(ctx, cut, note, &s));
        assert_int_equal(s.next, sizes[k]);
        assert_int_equal(s.panes, (sizes[k] + 9) / 10);
        assert_true(s.longest <= 10);
        assert_true(cut.count >= 1 && cut.count <= PLX__MOST_SLABS);
        assert_int_equal(cut.rows % cut.pane, 0);
    }
    assert_int_equal(plx__slabs_cut(640, 10).count, 64);         /* one pane each ... */
    assert_int_equal(plx__slabs_cut(641, 10).count, 33);         /* ... then two */
    assert_int_equal(plx__slabs_cut(20480, 10).count, 64);       /* 32 panes each ... */
    assert_int_equal(plx__slabs_cut(163840, 10).count, 512);     /* ... then more slabs, */
    assert_int_equal(plx__slabs_cut(100000000, 10).count, 1024); /* up to a limit */
    plx_context_destroy(ctx);
}

/* Numbers whose sum depends on the order. */
static double value(plx_index i, plx_index j) { return (i % 3 == 0 ? 1e9 : 1.0 / (double)(i + 2)) / (double)(j + 1); }

static plx_status add(void *arg, plx_context *ctx, plx_index begin, plx_index end, double *table)
{
    plx_index width = *(plx_index *)arg;
    (void)ctx;
    for (plx_index i = begin; i < end; i++)
        for (plx_index j = 0; j < width; j++) table[j] += value(i, j);
    return PLX_OK;
}

/* By the definition: a sum per slab from zero, in sample order, then these in order. */
static double expected(plx__slabs cut, plx_index j)
{
    double sum = 0;
    for (plx_index s = 0; s < cut.count; s++) {
        double own = 0;
        for (plx_index i = s * cut.rows; i < (s + 1) * cut.rows && i < cut.n; i++) own += value(i, j);
        sum = s ? sum + own : own;
    }
    return sum;
}

static void sums_are_those_of_the_cut(void **state)
{
    (void)state;
    enum { WIDTH = 40000 };
    static double one[WIDTH], two[WIDTH];
    plx_index width = WIDTH;
    plx_context *a = test_context(1), *b = test_context(3);
    plx__slabs cut = plx__slabs_cut(1500, 10);
    assert_ok(a, plx__slabs_sum(a, cut, width, add, &width, one));
    assert_ok(b, plx__slabs_sum(b, cut, width, add, &width, two));
    assert_memory_equal(one, two, sizeof one);
    for (plx_index j = 0; j < width; j += 999) assert_true(one[j] == expected(cut, j));
    plx_context_destroy(a);
    plx_context_destroy(b);
}

static plx_status refuse(void *arg, plx_context *ctx, plx_index begin, plx_index end, double *table)
{
    (void)arg, (void)end, (void)table;
    if (begin >= 20) PLX_FAIL(ctx, PLX_E_DATA, "sample %lld", (long long)begin);
    return PLX_OK;
}

/* A rank has its even share of the samples to within a slab, and some as long as there are enough slabs. */
static void ranks_share_evenly(void **state)
{
    (void)state;
    static const plx_index sizes[] = {0, 1, 9, 11, 61, 63, 99, 639, 641, 12345};
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++)
        for (int ranks = 1; ranks <= 9; ranks++) {
            plx__slabs cut = plx__slabs_cut(sizes[k], 10);
            double share = (double)sizes[k] / ranks;
            plx_index next = 0;
            for (int r = 0; r < ranks; r++) {
                plx_index begin = 0, end = 0;
                plx__slabs_part(&begin, &end, cut, r, ranks);
                assert_int_equal(begin, next);
                assert_true(end >= begin && (begin % cut.rows == 0 || begin == cut.n));
                assert_true((double)(end - begin) <= share + (double)cut.rows);
                if (cut.count >= ranks && cut.n > 0) assert_true(end > begin);
                next = end;
            }
            assert_int_equal(next, sizes[k]);
        }
    plx_index begin = 0, end = 0; /* seven slabs, the last one short: three are nearer to a half than four */
    plx__slabs_part(&begin, &end, plx__slabs_cut(61, 10), 0, 2);
    assert_int_equal(end, 30);
}

/* Halves of a pane, never fewer rows than an odd part has; what is wanted lies within a factor of the root of 2. */
static void parts_make_whole_panes(void **state)
{
    (void)state;
    for (plx_index wanted = 1; wanted <= 2 * PLX__PANE_ROWS; wanted += 1 + wanted / 7) {
        plx_index part = plx__pane_part(wanted);
        double ratio = (double)part / (double)wanted;
        assert_int_equal(PLX__PANE_ROWS % part, 0);
        assert_true(ratio * ratio <= 2 || part % 2 == 1);
        assert_true(2 * ratio * ratio >= 1 || part == PLX__PANE_ROWS);
    }
}

static void failures_end_the_pass(void **state)
{
    (void)state;
    double sum = 0;
    plx_context *ctx = test_context(1);
    assert_fails(ctx, plx__slabs_sum(ctx, plx__slabs_cut(100, 10), 1, refuse, NULL, &sum), PLX_E_DATA, "sample 20");
    plx_context_destroy(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(panes_cover_the_samples), cmocka_unit_test(sums_are_those_of_the_cut),
        cmocka_unit_test(ranks_share_evenly),      cmocka_unit_test(parts_make_whole_panes),
        cmocka_unit_test(failures_end_the_pass),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
