#include "plx_test.h"

#include <unistd.h>

#include "data/dataset_impl.h"
#include "io/linqs.h"

static char folder[64];

static int make_folder(void **state)
{
    (void)state;
    strcpy(folder, "/tmp/plx_linqs_XXXXXX");
    return mkdtemp(folder) ? 0 : -1;
}

static const char *in_folder(const char *name)
{
    static char path[2][200];
    static int turn;
    turn = !turn;
    snprintf(path[turn], sizeof path[turn], "%s/%s", folder, name);
    return path[turn];
}

static int drop_folder(void **state)
{
    (void)state;
    unlink(in_folder("toy.content"));
    unlink(in_folder("toy.cites"));
    return rmdir(folder);
}

static void store(const char *name, const char *text)
{
    FILE *f = fopen(in_folder(name), "wb");
    fputs(text, f);
    fclose(f);
}

static void store_toy(void)
{
    store("toy.content", "p1\t0\t1\t0\tTheory\np2\t1\t0\t1\tNeural Nets\r\n\n31336\t0\t0\t0\tTheory\n");
    store("toy.cites", "p1\tp2\np1\t31336\np2\tp1\np1\tp2\nghost\tp1\np2\tghost\n");
}

/* p1 is cited by p2 (twice) and 31336, p2 by p1; two lines name a document without content. */
static void views_of_a_small_graph(void **state)
{
    (void)state;
    const char *names[] = {"toy.content", "toy.cites", ""};
    store_toy();
    for (int k = 0; k < 3; k++) {
        plx_context *ctx = test_context(1);
        plx_dataset *d = NULL;
        plx__call_begin(ctx);
        assert_ok(ctx, plx__linqs_read(&d, ctx, in_folder(names[k])));
        assert_string_equal(d->name, "toy");
        assert_int_equal(d->n, 3);
        assert_string_equal(d->ids[2], "31336");
        assert_string_equal(d->truth[1], "Neural Nets");
        assert_null(d->labels);
        assert_string_equal(d->views[0].name, "text");
        assert_int_equal(d->views[0].kind, PLX_VIEW_BINARY);
        assert_int_equal(d->views[0].cols, 3);
        assert_memory_equal(d->views[0].csr.ptr, ((int64_t[]){0, 1, 3, 3}), 4 * sizeof(int64_t));
        assert_memory_equal(d->views[0].csr.col, ((int32_t[]){1, 0, 2}), 3 * sizeof(int32_t));
        const plx__view *in = &d->views[1], *out = &d->views[2];
        assert_string_equal(in->name, "inbound");
        assert_int_equal(in->cols, 3);
        assert_string_equal(in->features[0], "p1");
        assert_memory_equal(in->csr.ptr, ((int64_t[]){0, 2, 3, 3}), 4 * sizeof(int64_t));
        assert_memory_equal(in->csr.col, ((int32_t[]){1, 2, 0}), 3 * sizeof(int32_t));
        assert_string_equal(out->name, "outbound");
        assert_int_equal(out->cols, 2);
        assert_string_equal(out->features[1], "p2");
        assert_memory_equal(out->csr.ptr, ((int64_t[]){0, 1, 2, 3}), 4 * sizeof(int64_t));
        assert_memory_equal(out->csr.col, ((int32_t[]){1, 0, 0}), 3 * sizeof(int32_t));
        assert_non_null(ctx->notes);
        assert_non_null(strstr(ctx->notes->text, "2 of 6 citations"));
        plx_dataset_destroy(d);
        plx_context_destroy(ctx);
    }
}

static void values_decide_the_kind(void **state)
{
    (void)state;
    plx_context *ctx = test_context(1);
    plx_dataset *d = NULL;
    unlink(in_folder("toy.cites"));
    store("toy.content", "a 0 3 0.0 x\nb 1 0 0 y\n");
    assert_ok(ctx, plx__linqs_read(&d, ctx, in_folder("toy.content")));
    assert_int_equal(d->n_views, 1);
    assert_int_equal(d->views[0].kind, PLX_VIEW_COUNTS);
    assert_int_equal(d->views[0].nonzeros, 2);
    plx_dataset_destroy(d);
    store("toy.content", "a 0.5 0.25 x\nb 1 0 y\n");
    assert_ok(ctx, plx__linqs_read(&d, ctx, in_folder("toy.content")));
    assert_int_equal(d->views[0].kind, PLX_VIEW_REAL);
    assert_int_equal(d->views[0].nonzeros, 3);
    plx_dataset_destroy(d);
    plx_context_destroy(ctx);
}

static void bad_lines_are_named(void **state)
{
    (void)state;
    plx_context *ctx = test_context(1);
    plx_dataset *d = NULL;
    const char *content = in_folder("toy.content");
    store("toy.content", "a\t0\t1\tx\nb\t1\ty\n");
    assert_fails(ctx, plx__linqs_read(&d, ctx, content), PLX_E_FORMAT, "toy.content: line 2: 3 fields, expected 4");
    store("toy.content", "a\t0\t1z\tx\n");
    assert_fails(ctx, plx__linqs_read(&d, ctx, content), PLX_E_FORMAT, "line 1, field 3: '1z' is not a number");
    store("toy.content", "a\t0\tx\na\t1\ty\n");
    assert_fails(ctx, plx__linqs_read(&d, ctx, content), PLX_E_DATA, "line 2: duplicate document 'a'");
    store("toy.content", "a\tx\n");
    assert_fails(ctx, plx__linqs_read(&d, ctx, content), PLX_E_FORMAT, "at least one word");
    store("toy.content", "");
    assert_fails(ctx, plx__linqs_read(&d, ctx, content), PLX_E_FORMAT, "empty");
    store("toy.content", "a\t1\tx\n");
    store("toy.cites", "a\n");
    assert_fails(ctx, plx__linqs_read(&d, ctx, content), PLX_E_FORMAT, "toy.cites: line 1: expected two ids");
    assert_fails(ctx, plx__linqs_read(&d, ctx, "tests"), PLX_E_DATA, "no .content file");
    assert_fails(ctx, plx__linqs_read(&d, ctx, "x.txt"), PLX_E_ARG, "expected a .content");
    assert_fails(ctx, plx__linqs_read(&d, ctx, "nowhere.content"), PLX_E_IO, "nowhere.content");
    assert_null(d);
    plx_context_destroy(ctx);
}

static void every_refused_allocation_is_reported(void **state)
{
    (void)state;
    store_toy();
    for (long at = 1;; at++) {
        meter m = {0, at, 0};
        plx_context *ctx = metered_context(&m, 1);
        if (!ctx) continue;
        plx_dataset *d = NULL;
        plx_status st = plx__linqs_read(&d, ctx, folder);
        assert_true(st == PLX_OK || (st == PLX_E_NOMEM && plx_context_error(ctx)[0]));
        plx_dataset_destroy(d);
        plx_context_destroy(ctx);
        assert_int_equal(m.live, 0);
        if (m.calls < at) break;
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(views_of_a_small_graph),
        cmocka_unit_test(values_decide_the_kind),
        cmocka_unit_test(bad_lines_are_named),
        cmocka_unit_test(every_refused_allocation_is_reported),
    };
    return cmocka_run_group_tests(tests, make_folder, drop_folder);
}
