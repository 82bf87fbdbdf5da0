#include "plx_test.h"

#include "io/conll.h"
#include "parallax/ner.h"

static plx_status parse(plx__conll *out, plx_context *ctx, const char *text)
{
    return plx__conll_parse(out, ctx, plx__scratch(ctx), "t.conll", text, strlen(text), NULL);
}

static void sentences_and_columns(void **state)
{
    (void)state;
    plx_context *ctx = test_context(1);
    plx__conll c;
    assert_ok(ctx, parse(&c, ctx, "\nThe\tDT\tO\nblack cat\tNN\tB\r\n\n \n\nsat\tVB\tO"));
    assert_int_equal(c.n_columns, 3);
    assert_int_equal(c.n_tokens, 3);
    assert_int_equal(c.n_sentences, 2);
    assert_int_equal(c.n_documents, 1);
    assert_string_equal(c.columns[0][1], "black cat");
    assert_string_equal(c.columns[2][1], "B");
    assert_string_equal(c.columns[2][2], "O");
    assert_memory_equal(c.sentences, ((plx_index[]){0, 2, 3}), 3 * sizeof(plx_index));
    assert_memory_equal(c.documents, ((plx_index[]){0, 2}), 2 * sizeof(plx_index));
    plx_context_destroy(ctx);
}

static void blanks_separate_where_there_is_no_tab(void **state)
{
    (void)state;
    plx_context *ctx = test_context(1);
    plx__conll c;
    assert_ok(
        ctx,
        parse(&c, ctx,
              "-DOCSTART- -X- O\n\nEU  NNP B-ORG \nrejects VBZ O\n\nPeter NNP B-PER\n-DOCSTART- -X- O\n\nx y z\n"));
    assert_int_equal(c.n_columns, 3);
    assert_int_equal(c.n_sentences, 3);
    assert_int_equal(c.n_documents, 2);
    assert_string_equal(c.columns[2][0], "B-ORG");
    assert_memory_equal(c.documents, ((plx_index[]){0, 2, 3}), 3 * sizeof(plx_index));
    plx_context_destroy(ctx);
}

static void ragged_lines_are_named(void **state)
{
    (void)state;
    plx_context *ctx = test_context(1);
    plx__conll c;
    assert_fails(ctx, parse(&c, ctx, "a\tO\n\nb\n"), PLX_E_FORMAT, "t.conll: line 3: 1 columns, expected 2");
    assert_fails(ctx, parse(&c, ctx, "a\tO\nb\tc\tO\n"), PLX_E_FORMAT, "line 2: 3 columns");
    assert_fails(ctx, parse(&c, ctx, "a\t\tO\n"), PLX_E_FORMAT, "line 1, column 2: empty");
    assert_fails(ctx, parse(&c, ctx, "\n\n"), PLX_E_FORMAT, "no tokens");
    assert_fails(ctx, plx__conll_parse(&c, ctx, plx__scratch(ctx), "z", "a\0b\n", 4, NULL), PLX_E_FORMAT, "NUL");
    assert_fails(ctx, plx__conll_read(&c, ctx, plx__scratch(ctx), "nowhere.conll", NULL), PLX_E_IO, "nowhere.conll");
    plx_context_destroy(ctx);
}

static void too_many_columns_are_refused(void **state)
{
    (void)state;
    char text[1200];
    plx_context *ctx = test_context(1);
    plx__conll c;
    for (int i = 0; i < 599; i++) memcpy(text + 2 * i, "a ", 2);
    text[1198] = '\0';
    assert_fails(ctx, parse(&c, ctx, text), PLX_E_FORMAT, "more than 256 columns");
    plx_context_destroy(ctx);
}

static void every_refused_allocation_is_reported(void **state)
{
    (void)state;
    for (long at = 1;; at++) {
        meter m = {0, at, 0};
        plx_context *ctx = metered_context(&m, 1);
        if (!ctx) continue;
        plx__conll c;
        plx_status st = plx__conll_read(&c, ctx, plx__scratch(ctx), "tests/fuzz/corpus/conll/two.conll", NULL);
        assert_true(st == PLX_OK || (st == PLX_E_NOMEM && plx_context_error(ctx)[0]));
        plx_context_destroy(ctx);
        assert_int_equal(m.live, 0);
        if (m.calls < at) break;
    }
}

/* The file of the corpus through the public door: what it gives is what the parser gives. */
static void public_accessors_check_their_bounds(void **state)
{
    (void)state;
    plx_context *ctx = test_context(1);
    plx_conll *text = NULL;
    plx__conll c;
    assert_ok(ctx, plx__conll_read(&c, ctx, plx__scratch(ctx), "tests/fuzz/corpus/conll/two.conll", NULL));
    assert_ok(ctx, plx_conll_read(&text, ctx, "tests/fuzz/corpus/conll/two.conll"));
    plx_index n = plx_conll_tokens(text), s = plx_conll_sentences(text), d = plx_conll_documents(text);
    assert_true(n > 0 && s > 0 && d > 0);
    assert_int_equal(plx_conll_sentence(text, 0), 0);
    assert_int_equal(plx_conll_sentence(text, s), n);
    assert_int_equal(plx_conll_sentence(text, s + 1), -1);
    assert_int_equal(plx_conll_sentence(text, -1), -1);
    assert_int_equal(plx_conll_document(text, d), s);
    assert_int_equal(plx_conll_document(text, d + 1), -1);
    assert_non_null(plx_conll_column(text, n - 1, plx_conll_columns(text) - 1));
    assert_null(plx_conll_column(text, n, 0));
    assert_null(plx_conll_column(text, 0, plx_conll_columns(text)));
    assert_null(plx_conll_column(text, -1, 0));
    plx_conll_destroy(text);
    plx_conll_destroy(NULL);
    assert_fails(ctx, plx_conll_read(&text, ctx, "/nowhere/x.conll"), PLX_E_IO, "/nowhere/x.conll");
    assert_null(text);
    plx_context_destroy(ctx);
}

static void refused_allocations_of_the_public_reader(void **state)
{
    (void)state;
    plx_status st = PLX_E_NOMEM;
    for (long at = 1; st != PLX_OK; at++) {
        meter m = {0};
        plx_context *ctx = metered_context(&m, 1);
        plx_conll *text = NULL;
        m.fail_at = m.calls + at;
        st = plx_conll_read(&text, ctx, "tests/fuzz/corpus/conll/two.conll");
        assert_true(st == PLX_OK || (st == PLX_E_NOMEM && !text && plx_context_error(ctx)[0]));
        m.fail_at = 0;
        plx_conll_destroy(text);
        plx_context_destroy(ctx);
        assert_int_equal(m.live, 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sentences_and_columns),
        cmocka_unit_test(blanks_separate_where_there_is_no_tab),
        cmocka_unit_test(ragged_lines_are_named),
        cmocka_unit_test(too_many_columns_are_refused),
        cmocka_unit_test(every_refused_allocation_is_reported),
        cmocka_unit_test(public_accessors_check_their_bounds),
        cmocka_unit_test(refused_allocations_of_the_public_reader),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
