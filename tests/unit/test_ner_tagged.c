/*
 * Names in text that is in memory, against files; gazetteers.
 */
#include "ner_helpers.h"

#include "parallax/ner_tagged.h"

/* Lines of a tagged file or of values, blank ones and headers left out: field `field` of line `line`. */
static const char *field_of(char *buffer, const char *path, plx_index line, int field)
{
    char text[4096];
    FILE *f = fopen(path, "r");
    assert_non_null(f);
    for (plx_index at = -1; at < line;) {
        assert_non_null(fgets(text, sizeof text, f));
        at += text[0] != '\n' && text[0] != '#';
    }
    fclose(f);
    char *rest = text, *word = NULL;
    for (int k = 0; k <= field; k++) word = strtok_r(k ? NULL : text, " \t\n", &rest);
    assert_non_null(word);
    return strcpy(buffer, word);
}

/* What is tagged in memory is what is tagged in files; names are the runs of tags. */
static void text_in_memory_is_tagged_like_files(void **state)
{
    (void)state;
    char buffer[256];
    for (int k = 0; k < 2; k++) {
        plx_context *ctx = test_context(2);
        plx_ner_tag_options o = PLX_NER_TAG_OPTIONS_INIT;
        plx_ner_model *m = NULL;
        plx_conll *text = NULL;
        plx_ner_tagged *tagged = NULL;
        plx_cmat values;
        assert_ok(ctx, plx_ner_parse(&text, ctx, TEXT, strlen(TEXT)));
        assert_ok(ctx, plx_ner_train(&m, ctx, k ? "svm" : "memm", text, NULL, NULL));
        assert_ok(ctx, plx_ner_tag(&tagged, ctx, m, text, NULL));
        assert_ok(ctx, plx_ner_tagged_values(&values, tagged));
        *(k ? &o.scores : &o.probs) = FILE_OF("values");
        assert_ok(ctx, plx_ner_tag_file(ctx, m, FILE_OF("text"), FILE_OF("out"), &o));
        assert_int_equal(plx_ner_tagged_tokens(tagged), plx_conll_tokens(text));
        assert_int_equal(values.rows, plx_conll_tokens(text));
        for (plx_index i = 0; i < values.rows; i++) {
            assert_string_equal(plx_ner_tagged_tag(tagged, i), field_of(buffer, FILE_OF("out"), i, 2));
            for (plx_index c = 0; c < values.cols; c++) {
                double there = strtod(field_of(buffer, FILE_OF("values"), i, 1 + (int)c), NULL);
                double here = values.data[i * values.ld + c];
                assert_true(isnan(there) ? isnan(here) : here == there);
            }
        }
        plx_ner_tagged_destroy(tagged);
        plx_conll_destroy(text);
        plx_ner_model_destroy(m);
        plx_context_destroy(ctx);
    }
}

static void words_in_memory_are_sentences(void **state)
{
    (void)state;
    static const char *const words[] = {"Ann", "Lee", "saw", "Rome", "Rome", "fell"};
    static const plx_index begin[] = {0, 4}, wrong[] = {0, 6};
    static const char *const bad[] = {"a b", "", "-DOCSTART-", "\xff"};
    plx_context *ctx = test_context(1);
    plx_conll *text = NULL, *train = read_text(ctx, TEXT);
    plx_ner_model *m = NULL;
    plx_ner_tagged *tagged = NULL;
    plx_ner_name name = PLX_NER_NAME_INIT;
    plx_ner_tag_options o = PLX_NER_TAG_OPTIONS_INIT;
    assert_ok(ctx, plx_ner_train(&m, ctx, "memm", train, NULL, NULL));
    assert_ok(ctx, plx_ner_words(&text, ctx, words, 6, begin, 2));
    assert_int_equal(plx_conll_sentences(text), 2);
    assert_int_equal(plx_conll_sentence(text, 1), 4);
    assert_ok(ctx, plx_ner_tag(&tagged, ctx, m, text, NULL));
    /* Seen in training, each in its place. */
    assert_int_equal(plx_ner_tagged_names(tagged), 3);
    assert_int_equal(plx_ner_tagged_name(&name, tagged, 0), PLX_OK);
    assert_string_equal(name.type, "PER");
    assert_true(name.sentence == 0 && name.begin == 0 && name.end == 2);
    assert_int_equal(plx_ner_tagged_name(&name, tagged, 2), PLX_OK);
    assert_string_equal(name.type, "LOC");
    assert_true(name.sentence == 1 && name.begin == 4 && name.end == 5);
    plx_ner_tagged_destroy(tagged);
    o.scheme = "raw";
    assert_ok(ctx, plx_ner_tag(&tagged, ctx, m, text, &o));
    assert_string_equal(plx_ner_tagged_tag(tagged, 1), "PER");
    assert_string_equal(plx_ner_tagged_column(tagged, 0), plx_ner_model_tag(m, 0));
    o.probs = FILE_OF("values");
    plx_ner_tagged_destroy(tagged);
    assert_fails(ctx, plx_ner_tag(&tagged, ctx, m, text, &o), PLX_E_ARG, "memory");
    plx_conll_destroy(text);
    assert_ok(ctx, plx_ner_words(&text, ctx, words, 6, NULL, 0));
    assert_int_equal(plx_conll_sentences(text), 1);
    plx_conll_destroy(text);
    assert_fails(ctx, plx_ner_words(&text, ctx, words, 6, wrong, 2), PLX_E_ARG, "sentence 1");
    assert_fails(ctx, plx_ner_words(&text, ctx, words, 0, NULL, 0), PLX_E_ARG, "no words");
    for (int k = 0; k < 4; k++) assert_fails(ctx, plx_ner_words(&text, ctx, bad + k, 1, NULL, 0), PLX_E_FORMAT, "");
    assert_fails(ctx, plx_ner_parse(&text, ctx, "a b\nc\n", 6), PLX_E_FORMAT, "line 2");
    plx_ner_model_destroy(m);
    plx_conll_destroy(train);
    plx_context_destroy(ctx);
}

/* A word of a list gives gaz:NAME, in training and, from the model file, in tagging. */
static void gazetteers_are_features(void **state)
{
    (void)state;
    static const char TRAIN[] = "xa B-LOC\nya O\nxb O\n\nxc B-LOC\nyb O\n\nxd O\nyc B-LOC\n";
    static const char LIST[] = "xa\nXc Town\nnew xc\nyc\nqq\n";
    plx_context *ctx = test_context(1);
    plx_conll *text = read_text(ctx, TRAIN), *fresh = read_text(ctx, "qq\nzz\n");
    plx_ner_model *m = NULL, *again = NULL;
    plx_params *params = NULL;
    plx_ner_train_options o = PLX_NER_TRAIN_OPTIONS_INIT;
    plx_ner_tagged *tagged = NULL;
    char setting[160], dump[4096] = "";
    put_file(FILE_OF("places"), LIST, strlen(LIST));
    snprintf(setting, sizeof setting, "%s", FILE_OF("places"));
    o.dump_features = FILE_OF("dump");
    assert_ok(ctx, plx_ner_params_create(&params, ctx, "memm"));
    assert_ok(ctx, plx_params_set(params, ctx, "gazetteer.place", setting));
    assert_ok(ctx, plx_params_set(params, ctx, "view", "1"));
    assert_ok(ctx, plx_ner_train(&m, ctx, "memm", text, params, &o));
    dump[slurp(dump, sizeof dump - 1, FILE_OF("dump"))] = 0;
    char *line = dump;
    for (int i = 0; i < 7; i++) {
        char *end = strchr(line, '\n');
        assert_non_null(end);
        *end = 0;
        /* xa, xc (of an entry of two words) and yc are in the list. */
        assert_int_equal(strstr(line, "gaz:place") != NULL, i == 0 || i == 3 || i == 6);
        line = end + 1;
    }
    remove(FILE_OF("places"));
    assert_ok(ctx, plx_ner_model_save(ctx, m, FILE_OF("gaz.plx")));
    assert_ok(ctx, plx_ner_model_load(&again, ctx, FILE_OF("gaz.plx")));
    assert_ok(ctx, plx_ner_tag(&tagged, ctx, again, fresh, NULL));
    assert_string_equal(plx_ner_tagged_tag(tagged, 0), "B-LOC"); /* known from the list alone */
    assert_string_equal(plx_ner_tagged_tag(tagged, 1), "O");
    plx_ner_tagged_destroy(tagged);
    plx_ner_model_destroy(again);
    plx_ner_model_destroy(m);
    plx_params_destroy(params);
    plx_conll_destroy(fresh);
    plx_conll_destroy(text);
    plx_context_destroy(ctx);
}

/* Model files kept since the day they were written, trained on TEXT: they load for ever. The minimum is unique, so a model
 * of today says the same. */
static void first_model_files_load(void **state)
{
    (void)state;
    static const char *const kinds[] = {"memm", "svm", "bootstrap"};
    static const char *const settings[][2] = {{"history", "2"}, {"window", "enhanced"}, {"phases", "simple"}};
    plx_context *ctx = test_context(1);
    plx_conll *text = read_text(ctx, TEXT);
    for (int k = 0; k < 3; k++) {
        char path[64];
        plx_ner_model *old = NULL, *now = NULL;
        plx_ner_tagged *then = NULL, *today = NULL;
        plx_params *params = NULL;
        plx_cmat a, b;
        snprintf(path, sizeof path, "tests/data/models/ner-%s.plx", kinds[k]);
        assert_ok(ctx, plx_ner_model_load(&old, ctx, path));
        assert_string_equal(plx_ner_model_learner(old), kinds[k]);
        assert_ok(ctx, plx_ner_params_create(&params, ctx, kinds[k]));
        assert_ok(ctx, plx_params_set(params, ctx, settings[k][0], settings[k][1]));
        if (k < 2) assert_ok(ctx, plx_ner_train(&now, ctx, kinds[k], text, params, NULL));
        else assert_ok(ctx, plx_ner_bootstrap(&now, ctx, text, text, FILE_OF("text"), params, NULL));
        assert_ok(ctx, plx_ner_tag(&then, ctx, old, text, NULL));
        assert_ok(ctx, plx_ner_tag(&today, ctx, now, text, NULL));
        assert_ok(ctx, plx_ner_tagged_values(&a, then));
        assert_ok(ctx, plx_ner_tagged_values(&b, today));
        assert_true(a.rows == b.rows && a.cols == b.cols);
        for (plx_index i = 0; i < a.rows * a.cols; i++)
            assert_true(isnan(a.data[i]) ? isnan(b.data[i]) : fabs(a.data[i] - b.data[i]) < 1e-4);
        for (plx_index i = 0; i < a.rows; i++)
            assert_string_equal(plx_ner_tagged_tag(then, i), plx_ner_tagged_tag(today, i));
        plx_ner_tagged_destroy(today);
        plx_ner_tagged_destroy(then);
        plx_params_destroy(params);
        plx_ner_model_destroy(now);
        plx_ner_model_destroy(old);
    }
    plx_conll_destroy(text);
    plx_context_destroy(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(text_in_memory_is_tagged_like_files),
        cmocka_unit_test(words_in_memory_are_sentences),
        cmocka_unit_test(gazetteers_are_features),
        cmocka_unit_test(first_model_files_load),
    };
    return cmocka_run_group_tests(tests, make_folder, drop_folder);
}
