#include "plx_test.h"

#include <unistd.h>

#include "io/stopwords.h"
#include "io/text_counts.h"
#include "io/text_tokens.h"

static plx_status count_n(plx__table *t, plx_context *ctx, const char *options, const char *const *docs, plx_index n)
{
    plx__text_options o;
    size_t lens[16];
    for (plx_index i = 0; i < n; i++) lens[i] = strlen(docs[i]);
    PLX_TRY(plx__text_options_parse(&o, ctx, plx__scratch(ctx), options));
    return plx__text_counts(t, ctx, plx__scratch(ctx), docs, lens, n, &o);
}

/* The words of one document with their counts, "word:count word:count ...". */
static const char *words(const char *options, const char *doc)
{
    static char out[600];
    plx_context *ctx = test_context(1);
    plx__table t;
    assert_ok(ctx, count_n(&t, ctx, options, &doc, 1));
    out[0] = '\0';
    for (plx_index j = 0; j < t.csr.cols; j++)
        snprintf(out + strlen(out), sizeof out - strlen(out), "%s%s:%g", j ? " " : "", t.col_names[j], t.csr.val[j]);
    plx_context_destroy(ctx);
    return out;
}

static void words_are_runs_of_letters(void **state)
{
    (void)state;
    assert_string_equal(words(NULL, "The cat, the CAT; a dog_house 42 x86"), "cat:2 dog:1 house:1 the:2");
    assert_string_equal(words("tokens=alnum", "x86 and 42, route-66"), "42:1 66:1 and:1 route:1 x86:1");
    assert_string_equal(words("min_length=1", "don't l'homme"), "don:1 homme:1 l:1 t:1");
    assert_string_equal(words("apostrophe=keep", "don't 'quoted' dogs' don\xe2\x80\x99t"), "dogs:1 don't:2 quoted:1");
    assert_string_equal(words("case=keep", "Cat cat"), "Cat:1 cat:1");
}

/* Sharp s folds to ss; e + combining acute composes to the same letter; Greek final sigma folds; soft hyphen goes. */
static void unicode_is_folded_and_composed(void **state)
{
    (void)state;
    assert_string_equal(words(NULL, "STRASSE stra\xc3\x9f"
                                    "e"),
                        "strasse:2");
    assert_string_equal(words(NULL, "\xc3\x89t\xc3\xa9 e\xcc\x81te\xcc\x81"), "\xc3\xa9t\xc3\xa9:2");
    assert_string_equal(
        words(NULL, "\xce\xbb\xcf\x8c\xce\xb3\xce\xbf\xcf\x82 \xce\x9b\xcf\x8c\xce\x93\xce\x9f\xce\xa3"),
        "\xce\xbb\xcf\x8c\xce\xb3\xce\xbf\xcf\x83:2");
    assert_string_equal(words(NULL, "co\xc2\xadop coop"), "coop:2");
    assert_string_equal(words(NULL, "\xd0\xb8\xd0\xbc\xd1\x8f\xe2\x80\x94\xd0\xb4\xd0\xb0"),
                        "\xd0\xb4\xd0\xb0:1 \xd0\xb8\xd0\xbc\xd1\x8f:1");
}

/* 0xff and a lone continuation byte are no UTF-8; the overlong C0 AF is two bytes. */
static void invalid_bytes_separate_and_are_counted(void **state)
{
    (void)state;
    plx_context *ctx = test_context(1);
    plx__table t;
    const char *docs[] = {"ab\xff"
                          "cd \x80 ef\xc0\xaf",
                          "gh"};
    plx__call_begin(ctx);
    assert_ok(ctx, count_n(&t, ctx, NULL, docs, 2));
    assert_int_equal(t.csr.cols, 4);
    assert_string_equal(t.col_names[1], "cd");
    assert_non_null(strstr(ctx->notes->text, "4 bytes in 1 documents"));
    plx_context_destroy(ctx);
}

static void stop_words_and_stems(void **state)
{
    (void)state;
    assert_string_equal(words("stop=english", "the cat doesn't sit on them"), "cat:1 sit:1");
    assert_string_equal(words("stem=english", "connect connected connecting connections"), "connect:4");
    assert_string_equal(words("stem=english,stop=english", "Running runs WITH the runner"), "run:2 runner:1");
    assert_string_equal(words("stop=french", "l'homme qu'il \xc3\xa9tait"), "homme:1");
    assert_string_equal(words("stop=german,stem=german", "die H\xc3\xa4user und das Haus"), "haus:2");
    assert_string_equal(words("stop=spanish", "el ni\xc3\xb1o y la ni\xc3\xb1"
                                              "a"),
                        "ni\xc3\xb1"
                        "a:1 ni\xc3\xb1o:1");
    for (int k = 0; k < 4; k++) {
        plx_index n = 0, count = 0;
        const char *const *list = plx__stop_words(&count, plx__stop_languages(&n)[k]);
        for (plx_index i = 0; i < count; i++)
            for (plx_index j = i + 1; j < count; j++) assert_string_not_equal(list[i], list[j]);
    }
}

static void stop_words_from_a_file(void **state)
{
    (void)state;
    char path[] = "/tmp/plx_stop_XXXXXX", options[80];
    int fd = mkstemp(path);
    assert_int_equal(write(fd, "Cat\n\xc3\x89T\xc3\x89\n", 10), 10);
    close(fd);
    snprintf(options, sizeof options, "stop=file:%s", path);
    assert_string_equal(words(options, "cat dog \xc3\xa9t\xc3\xa9"), "dog:1");
    unlink(path);
}

static void frequencies_bound_the_words(void **state)
{
    (void)state;
    plx_context *ctx = test_context(1);
    plx__table t;
    /* in 4, 3, 2 and 1 documents; totals 4, 3, 5 (bb twice as often), 1 */
    const char *docs[] = {"aa cc bb bb", "aa cc", "aa cc bb bb bb", "aa dd"};
    assert_ok(ctx, count_n(&t, ctx, "min_df=2,max_df=0.75", docs, 4));
    assert_int_equal(t.csr.cols, 2);
    assert_string_equal(t.col_names[0], "bb");
    assert_memory_equal(t.csr.ptr, ((int64_t[]){0, 2, 3, 5, 5}), 5 * sizeof(int64_t));
    assert_memory_equal(t.csr.col, ((int32_t[]){0, 1, 1, 0, 1}), 5 * sizeof(int32_t));
    assert_memory_equal(t.csr.val, ((double[]){2, 1, 1, 3, 1}), 5 * sizeof(double));
    assert_ok(ctx, count_n(&t, ctx, "min_df=50%", docs, 4));
    assert_int_equal(t.csr.cols, 3);
    assert_ok(ctx, count_n(&t, ctx, "max_features=2", docs, 4));
    assert_string_equal(t.col_names[0], "aa");
    assert_string_equal(t.col_names[1], "bb");
    assert_fails(ctx, count_n(&t, ctx, "min_df=9", docs, 4), PLX_E_DATA, "none of 4 words is in 9 to 4 of 4 documents");
    plx_context_destroy(ctx);
}

static void bad_options_are_named(void **state)
{
    (void)state;
    plx_context *ctx = test_context(1);
    plx__table t;
    const char *doc = "aa";
    assert_fails(ctx, count_n(&t, ctx, "mindf=2", &doc, 1), PLX_E_ARG,
                 "counting words has no parameter 'mindf'; did you mean 'min_df'?");
    assert_fails(ctx, count_n(&t, ctx, "stem=englisch", &doc, 1), PLX_E_ARG, "did you mean 'english'?");
    assert_fails(ctx, count_n(&t, ctx, "stop=frensh", &doc, 1), PLX_E_ARG, "did you mean 'french'?");
    assert_fails(ctx, count_n(&t, ctx, "stop=file:/nowhere", &doc, 1), PLX_E_IO, "/nowhere");
    assert_fails(ctx, count_n(&t, ctx, "min_df", &doc, 1), PLX_E_ARG, "min_df=VALUE");
    assert_fails(ctx, count_n(&t, ctx, "min_df=-1", &doc, 1), PLX_E_ARG, "min_df = -1");
    assert_fails(ctx, count_n(&t, ctx, "max_df=1.5", &doc, 1), PLX_E_ARG, "max_df = 1.5");
    assert_fails(ctx, count_n(&t, ctx, "min_length=x", &doc, 1), PLX_E_ARG, "integer");
    assert_fails(ctx, count_n(&t, ctx, "tokens=all", &doc, 1), PLX_E_ARG, "alpha|alnum");
    assert_fails(ctx, plx__text_counts(&t, ctx, plx__scratch(ctx), NULL, NULL, 0, &(plx__text_options){0}), PLX_E_DATA,
                 "no documents");
    plx_context_destroy(ctx);
}

/* The room reserved for folded words rests on this: no character grows by more than a factor of three in UTF-8, nor to
 * more than 1.5 characters per byte. */
static void no_character_outgrows_its_room(void **state)
{
    (void)state;
    plx_context *ctx = test_context(1);
    plx__text_options o;
    plx__cutter c;
    char in[8], out[64];
    assert_ok(ctx, plx__text_options_parse(&o, ctx, plx__scratch(ctx), "min_length=1,tokens=alnum"));
    assert_ok(ctx, plx__cutter_init(&c, ctx, plx__scratch(ctx), &o, NULL));
    for (int32_t code = 0x80; code < 0x30000; code++) {
        if (code >= 0xd800 && code < 0xe000) continue;
        size_t len = code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
        const unsigned char lead[] = {0, 0, 0xc0, 0xe0, 0xf0};
        for (size_t k = len - 1, rest = (size_t)code; k > 0; k--, rest >>= 6) in[k] = (char)(0x80 | (rest & 0x3f));
        in[0] = (char)(lead[len] | (code >> (6 * (len - 1))));
        plx__words w = {.text = out, .capacity = sizeof out};
        assert_ok(ctx, plx__cut(&w, &c, ctx, in, len));
        assert_int_equal(w.invalid, 0);
        assert_true(w.used <= 3 * len + 1);
    }
    plx__cutter_free(&c);
    plx_context_destroy(ctx);
}

/* Longer than one segment, with and without white space to cut at. */
static void long_documents_are_cut_in_segments(void **state)
{
    (void)state;
    enum { SIZE = 200000 };
    plx_context *ctx = test_context(1);
    plx__table t;
    plx__text_options o;
    char *text = NULL;
    size_t len = SIZE;
    assert_ok(ctx, plx__arena_bytes((void **)&text, plx__scratch(ctx), SIZE, 1));
    for (int i = 0; i < SIZE; i += 4)
        memcpy(text + i,
               "\xc3\xa9"
               "a ",
               4);
    assert_ok(ctx, plx__text_options_parse(&o, ctx, plx__scratch(ctx), NULL));
    assert_ok(ctx, plx__text_counts(&t, ctx, plx__scratch(ctx), (const char *const *)&text, &len, 1, &o));
    assert_int_equal(t.csr.cols, 1);
    assert_true(t.csr.val[0] == SIZE / 4);
    memset(text, 'x', SIZE);
    assert_ok(ctx, plx__text_counts(&t, ctx, plx__scratch(ctx), (const char *const *)&text, &len, 1, &o));
    assert_true(t.csr.ptr[1] >= 1);
    plx_context_destroy(ctx);
}

static void files_and_directories(void **state)
{
    (void)state;
    char folder[] = "/tmp/plx_text_XXXXXX", path[3][80];
    const char *texts[] = {"one two", "two\nthree two", "never read"}, *names[] = {"b.txt", "a.TXT", "c.dat"};
    plx_context *ctx = test_context(2);
    plx__table t;
    assert_non_null(mkdtemp(folder));
    assert_fails(ctx, plx__text_read_directory(&t, ctx, plx__scratch(ctx), folder, NULL), PLX_E_DATA, "no .txt file");
    for (int k = 0; k < 3; k++) {
        snprintf(path[k], sizeof path[k], "%s/%s", folder, names[k]);
        FILE *f = fopen(path[k], "wb");
        fputs(texts[k], f);
        fclose(f);
    }
    assert_ok(ctx, plx__text_read_directory(&t, ctx, plx__scratch(ctx), folder, NULL));
    assert_int_equal(t.csr.rows, 2);
    assert_string_equal(t.row_names[0], "a.TXT");
    assert_string_equal(t.col_names[2], "two");
    assert_memory_equal(t.csr.val, ((double[]){1, 2, 1, 1}), 4 * sizeof(double));
    assert_ok(ctx, plx__text_read_lines(&t, ctx, plx__scratch(ctx), path[1], NULL));
    assert_int_equal(t.csr.rows, 2);
    assert_int_equal(t.csr.cols, 2);
    assert_null(t.row_names);
    plx__text_options frequent;
    assert_ok(ctx, plx__text_options_parse(&frequent, ctx, plx__scratch(ctx), "min_df=3"));
    assert_fails(ctx, plx__text_read_lines(&t, ctx, plx__scratch(ctx), path[1], &frequent), PLX_E_DATA, path[1]);
    assert_fails(ctx, plx__text_read_directory(&t, ctx, plx__scratch(ctx), "/nowhere", NULL), PLX_E_IO, "/nowhere");
    for (int k = 0; k < 3; k++) unlink(path[k]);
    rmdir(folder);
    plx_context_destroy(ctx);
}

static plx_status read_lines(plx__table *t, plx_context *ctx, const char *path, const char *options)
{
    plx__text_options o;
    PLX_TRY(plx__text_options_parse(&o, ctx, plx__scratch(ctx), options));
    return plx__text_read_lines(t, ctx, plx__scratch(ctx), path, &o);
}

static void threads_do_not_change_a_byte(void **state)
{
    (void)state;
    plx__table first = {0}, t;
    plx_context *ctx[3];
    int threads[] = {1, 2, 7};
    for (int k = 0; k < 3; k++) {
        ctx[k] = test_context(threads[k]);
        assert_ok(ctx[k], read_lines(&t, ctx[k], "src/io/text_counts.c", "stem=english,min_df=2"));
        if (k == 0) first = t;
        assert_int_equal(t.csr.cols, first.csr.cols);
        assert_memory_equal(t.csr.ptr, first.csr.ptr, (size_t)(t.csr.rows + 1) * sizeof(int64_t));
        assert_memory_equal(t.csr.col, first.csr.col, (size_t)t.csr.ptr[t.csr.rows] * sizeof(int32_t));
        assert_memory_equal(t.csr.val, first.csr.val, (size_t)t.csr.ptr[t.csr.rows] * sizeof(double));
        for (plx_index j = 0; j < t.csr.cols; j++) assert_string_equal(t.col_names[j], first.col_names[j]);
    }
    for (int k = 0; k < 3; k++) plx_context_destroy(ctx[k]);
}

static void every_refused_allocation_is_reported(void **state)
{
    (void)state;
    for (long at = 1;; at++) {
        meter m = {0, at, 0};
        plx_context *ctx = metered_context(&m, 1);
        if (!ctx) continue;
        plx__table t;
        plx_status st = read_lines(&t, ctx, "tests/fuzz/corpus/text/lines.txt", "stem=english,stop=english");
        assert_true(st == PLX_OK || (st == PLX_E_NOMEM && plx_context_error(ctx)[0]));
        plx_context_destroy(ctx);
        assert_int_equal(m.live, 0);
        if (m.calls < at) break;
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(words_are_runs_of_letters),
        cmocka_unit_test(unicode_is_folded_and_composed),
        cmocka_unit_test(invalid_bytes_separate_and_are_counted),
        cmocka_unit_test(stop_words_and_stems),
        cmocka_unit_test(stop_words_from_a_file),
        cmocka_unit_test(frequencies_bound_the_words),
        cmocka_unit_test(bad_options_are_named),
        cmocka_unit_test(no_character_outgrows_its_room),
        cmocka_unit_test(long_documents_are_cut_in_segments),
        cmocka_unit_test(files_and_directories),
        cmocka_unit_test(threads_do_not_change_a_byte),
        cmocka_unit_test(every_refused_allocation_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
