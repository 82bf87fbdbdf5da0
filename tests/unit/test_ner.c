/*
 * Names: evaluation by hand, decoding against all sequences, bad input, refused memory, stopping, threads.
 */
#include "ner_helpers.h"

#include <unistd.h>

#include "ner/chars.h"
#include "ner/memm_learn.h"
#include "ner/memm_tag.h"
#include "ner/svm.h"
#include "parallax/ner_tagged.h"

/* ---- evaluation ---- */

static double metric(plx_context *ctx, const char *text, const char *scheme, const char *name)
{
    plx_metrics *m = NULL;
    plx_conll *t = read_text(ctx, text);
    assert_ok(ctx, plx_metrics_create(&m, ctx));
    assert_ok(ctx, plx_ner_eval(ctx, m, t, scheme));
    plx_index at = plx_metrics_find(m, name);
    double value = at < 0 ? -1 : plx_metrics_value(m, at, NULL);
    plx_metrics_destroy(m);
    plx_conll_destroy(t);
    return value;
}

static void names_are_counted_by_hand(void **state)
{
    (void)state;
    plx_context *ctx = test_context(1);
    /* I after O starts a name; types that change end one; E I starts anew; brackets stand alone. */
    const char *text = "a I-X B-X\nb I-Y I-X\nc E-Y B-Y\nd I-Y I-Y\ne [ [\nf O O\n";
    assert_close(metric(ctx, text, "any", "phrases"), 4, 0); /* X, Y (b c), Y (d), [ */
    assert_close(metric(ctx, text, "any", "found"), 3, 0);   /* X (a b), Y (c d), [ */
    assert_close(metric(ctx, text, "any", "correct"), 1, 0); /* [ */
    assert_close(metric(ctx, "a X X\nb X O\n\nc X X\n", "raw", "phrases"), 3, 0);
    assert_close(metric(ctx, "a X X\nb X O\n\nc X X\n", "raw", "correct"), 2, 0);
    assert_close(metric(ctx, "a O O\n", NULL, "f1"), 0, 0); /* 0/0 is 0 */
    plx_context_destroy(ctx);
}

static void bad_input_is_named(void **state)
{
    (void)state;
    plx_context *ctx = test_context(1);
    plx_conll *t = NULL;
    plx_ner_model *m = NULL;
    plx_metrics *metrics = NULL;
    put_file(FILE_OF("bad"), "a O\nb O O\n", 10);
    assert_fails(ctx, plx_ner_read(&t, ctx, FILE_OF("bad")), PLX_E_FORMAT, "line 2");
    put_file(FILE_OF("bad"), "a O\n\xff\xfe O\n", 9);
    assert_fails(ctx, plx_ner_read(&t, ctx, FILE_OF("bad")), PLX_E_FORMAT, "line 2: byte 1 is no UTF-8");
    put_file(FILE_OF("bad"), "\n\n", 2);
    assert_fails(ctx, plx_ner_read(&t, ctx, FILE_OF("bad")), PLX_E_FORMAT, "empty");
    t = read_text(ctx, "a O\n\nb S-PER\n");
    assert_fails(ctx, plx_ner_train(&m, ctx, "memm", t, NULL, NULL), PLX_E_FORMAT, "line 3: unknown prefix");
    assert_ok(ctx, plx_metrics_create(&metrics, ctx));
    assert_fails(ctx, plx_ner_eval(ctx, metrics, t, NULL), PLX_E_FORMAT, "prefix");
    assert_fails(ctx, plx_ner_train(&m, ctx, "hmm", t, NULL, NULL), PLX_E_ARG, "hmm");
    plx_conll_destroy(t);
    t = read_text(ctx, "a\nb\n");
    assert_fails(ctx, plx_ner_train(&m, ctx, "svm", t, NULL, NULL), PLX_E_DATA, "tags");
    assert_fails(ctx, plx_ner_model_load(&m, ctx, FILE_OF("given")), PLX_E_FORMAT, "not a model file");
    plx_conll_destroy(t);
    plx_metrics_destroy(metrics);
    plx_context_destroy(ctx);
}

/* ---- decoding against all sequences ---- */

static void learn(plx__memm *m, plx__ner_types *types, plx__memm_index *index, plx_context *ctx, plx__arena *arena,
                  const char *history)
{
    static const plx__param_table tables[] = {plx__memm_params_table, NULL};
    plx__conll conll;
    plx__ner_text text;
    plx_params *settings = NULL;
    const plx__conll_style style = {.any_blank = true};
    const plx__ner_columns columns = {0};
    assert_ok(ctx, plx__conll_parse(&conll, ctx, arena, "t", TEXT, strlen(TEXT), &style));
    assert_ok(ctx, plx__ner_types_init(types, arena));
    assert_ok(ctx, plx__ner_text_open(&text, ctx, arena, &conll, &columns, types));
    assert_ok(ctx, plx__params_create(&settings, ctx, "memm", tables));
    assert_ok(ctx, plx__params_set(settings, ctx, "history", history));
    assert_ok(ctx, plx__memm_learn(m, ctx, arena, &text, types, settings, NULL, NULL));
    assert_ok(ctx, plx__memm_index_open(index, ctx, arena, m));
    plx__params_destroy(settings);
}

typedef struct sum {
    const plx__memm *m;
    double *score;
} sum;

static plx_status add_feature(void *arg, const char *text, size_t length)
{
    sum *s = arg;
    plx_index k = plx__dict_get(&s->m->features, text, length);
    for (plx_index t = 0; k >= 0 && t < s->m->n_tags; t++) s->score[t] += s->m->weight[k * s->m->stride + t];
    return PLX_OK;
}

/* p(tag at i | tags before) from the feature strings themselves. */
static double probability(const plx__memm *m, const plx__ner_forms *forms, const plx__ner_sentence *s, plx_index i,
                          const int *tags)
{
    double score[32] = {0}, total = 0;
    char buffer[512];
    sum to = {m, score};
    const char *before[PLX__NER_HISTORY];
    plx__emitter e = {&m->views, forms->form, &m->lexicon, buffer, add_feature, &to};
    for (int d = 0; d < PLX__NER_HISTORY; d++) before[d] = i - d - 1 >= 0 ? m->tag[tags[i - d - 1]] : "<s>";
    assert_int_equal(plx__emit_static(&e, s, i), PLX_OK);
    assert_int_equal(plx__emit_history(&e, s, i, before), PLX_OK);
    for (plx_index t = 0; t < m->n_tags; t++) total += exp(score[t]);
    return exp(score[tags[i]]) / total;
}

/* Every sequence of tags of a short sentence: the best one, and sums by tag. */
static void brute_force(const plx__memm *m, const plx__ner_forms *forms, const plx__ner_sentence *s, int *best,
                        double *marginal)
{
    int tags[8] = {0};
    double top = -1;
    plx_index all = 1;
    for (plx_index i = 0; i < s->n; i++) all *= m->n_tags;
    for (plx_index code = 0; code < all; code++) {
        double p = 1;
        plx_index rest = code;
        for (plx_index i = s->n - 1; i >= 0; i--, rest /= m->n_tags) tags[i] = (int)(rest % m->n_tags);
        for (plx_index i = 0; i < s->n; i++) p *= probability(m, forms, s, i, tags);
        for (plx_index i = 0; i < s->n; i++) marginal[i * m->n_tags + tags[i]] += p;
        if (p > top) {
            top = p;
            memcpy(best, tags, sizeof tags);
        }
    }
}

static void check_decoding(const char *history)
{
    plx_context *ctx = test_context(1);
    plx__arena arena;
    plx__memm m;
    plx__ner_types types;
    plx__memm_index index;
    plx__memm_tagger tagger = {0};
    static const char *const words[] = {"Rome", "(", "Lee", ")"};
    const plx_index offsets[] = {0, 4};
    int32_t document = 0;
    plx__ner_text text = {.n = 4, .n_sentences = 1, .sentence = offsets, .document = &document, .word = words};
    int32_t tags[4], narrow[4];
    double probs[4 * 32], marginal[4 * 32] = {0};
    int best[8];
    plx__arena_init(&arena, ctx);
    learn(&m, &types, &index, ctx, &arena, history);
    assert_ok(ctx, plx__memm_tagger_open(&tagger, ctx, &index));
    assert_ok(ctx, plx__memm_tagger_run(&tagger, &text, &arena, tags, probs));
    plx__ner_sentence s = plx__ner_sentence_of(&text, 0);
    brute_force(&m, &tagger.forms, &s, best, marginal);
    for (int i = 0; i < 4; i++) assert_int_equal(tags[i], best[i]);
    for (plx_index k = 0; k < 4 * m.n_tags; k++) assert_close(probs[k], marginal[k], 1e-12);
    document = 1;
    index.exact = index.depth == 0; /* a beam that holds every state is exact */
    index.beam = 400;
    assert_ok(ctx, plx__memm_tagger_run(&tagger, &text, &arena, narrow, NULL));
    assert_memory_equal(narrow, tags, sizeof tags);
    plx__memm_tagger_free(&tagger);
    plx__arena_free(&arena);
    plx_context_destroy(ctx);
}

static void decoding_is_exact(void **state)
{
    (void)state;
    check_decoding("3");
    check_decoding("2");
    check_decoding("1");
    check_decoding("0");
}

/* ---- characters and classes ---- */

static void words_have_shapes_and_classes(void **state)
{
    (void)state;
    char out[64];
    static const char *const cases[][2] = {{"7", "digit1"},
                                           {"42", "digit2"},
                                           {"2004", "digit4"},
                                           {"123", "digits"},
                                           {"4.5", "number"},
                                           {"3rd", "ordinal"},
                                           {"3.", "ordinal"},
                                           {"2nd-hand", "alnum-digitfirst"},
                                           {"A", "single-upper"},
                                           {"A.", "initial"},
                                           {"U.S.", "abbrev-dots"},
                                           {"U.S.A", "abbrev-dots"},
                                           {"IL2", "upper-digit"},
                                           {"IBM", "all-upper"},
                                           {"Jean-Luc", "hyphen-cap"},
                                           {"well-known", "hyphen-lower"},
                                           {"McDonald", "mixed"},
                                           {"Anna", "capitalized"},
                                           {"rose", "lower"},
                                           {"don't", "apostrophe"},
                                           {"don\xe2\x80\x99t", "apostrophe"},
                                           {"%", "punct"},
                                           {"a1", "other"},
                                           {"\xc3\x96l", "capitalized"}};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++)
        assert_string_equal(plx__surface_class(cases[k][0]), cases[k][1]);
    plx__word_shape(out, "McDonald-1999");
    assert_string_equal(out, "XxXxx-dd");
    plx__word_shape(out, "\xc3\x84\xce\xb1\xd0\x96...");
    assert_string_equal(out, "XxX..");
    plx__lower_word(out, "\xc3\x84\xce\x91\xd0\x96"
                         "B");
    assert_string_equal(out, "\xc3\xa4\xce\xb1\xd0\xb6"
                             "b");
}

/* ---- the whole road ---- */

static plx_status road(plx_context *ctx, const char *learner)
{
    plx_conll *text = NULL;
    plx_ner_model *model = NULL, *again = NULL;
    plx_ner_tagged *tagged = NULL;
    plx_status st = plx_ner_read(&text, ctx, FILE_OF("text"));
    if (st == PLX_OK) st = plx_ner_train(&model, ctx, learner, text, NULL, NULL);
    if (st == PLX_OK) st = plx_ner_model_save(ctx, model, FILE_OF("m.plx"));
    if (st == PLX_OK) st = plx_ner_model_load(&again, ctx, FILE_OF("m.plx"));
    if (st == PLX_OK) st = plx_ner_tag(&tagged, ctx, again, text, NULL);
    if (st == PLX_OK) st = plx_ner_tag_file(ctx, again, FILE_OF("text"), FILE_OF("out"), NULL);
    plx_ner_tagged_destroy(tagged);
    plx_ner_model_destroy(again);
    plx_ner_model_destroy(model);
    plx_conll_destroy(text);
    return st;
}

static plx_status boot(plx_context *ctx, const char *learner)
{
    plx_conll *text = NULL;
    plx_ner_model *model = NULL;
    (void)learner;
    plx_status st = plx_ner_read(&text, ctx, FILE_OF("text"));
    if (st == PLX_OK) st = plx_ner_bootstrap(&model, ctx, text, text, FILE_OF("text"), NULL, NULL);
    plx_ner_model_destroy(model);
    plx_conll_destroy(text);
    return st;
}

static plx_status sample(plx_context *ctx, const char *metric_name)
{
    plx_conll *text = NULL;
    plx_ner_curve *curve = NULL;
    plx_ner_simulate_options o = PLX_NER_SIMULATE_OPTIONS_INIT;
    o.rounds = 1;
    o.batch = 1;
    o.metric = metric_name;
    plx_status st = plx_ner_read(&text, ctx, FILE_OF("text"));
    if (st == PLX_OK) st = plx_ner_simulate(&curve, ctx, text, text, text, NULL, &o);
    if (st == PLX_OK) st = plx_ner_curve_write(ctx, curve, FILE_OF("curve"));
    plx_ner_curve_destroy(curve);
    plx_conll_destroy(text);
    return st;
}

typedef plx_status (*road_fn)(plx_context *ctx, const char *what);

/* Refuse one allocation after the other: always a status and a sentence, never a leak or half a file. */
static void refuse_allocations(road_fn walk, const char *what, long hop)
{
    bool whole = false;
    for (long k = 1; !whole && k < 200000; k += k < 60 ? 1 : hop) {
        meter m = {0, k, 0};
        plx_context *ctx = metered_context(&m, 1);
        if (!ctx) continue;
        remove(FILE_OF("out"));
        plx_status st = walk(ctx, what);
        if (st != PLX_OK) {
            assert_int_equal(st, PLX_E_NOMEM);
            assert_true(plx_context_error(ctx)[0]);
            assert_int_not_equal(access(FILE_OF("out"), F_OK), 0);
        }
        whole = m.calls < k;
        plx_context_destroy(ctx);
        assert_int_equal(m.live, 0);
    }
    assert_true(whole);
}

static void every_refused_allocation_is_told(void **state)
{
    (void)state;
    refuse_allocations(road, "memm", 37);
    refuse_allocations(road, "svm", 37);
    refuse_allocations(boot, NULL, 97);
    refuse_allocations(sample, "kl-ave", 97);
}

static int stop_at_once(const plx_progress *p, void *payload)
{
    (void)p, (void)payload;
    return 1;
}

static void work_can_be_stopped(void **state)
{
    (void)state;
    plx_context *ctx = test_context(1);
    plx_context_set_progress(ctx, stop_at_once, NULL);
    remove(FILE_OF("out"));
    assert_int_equal(road(ctx, "memm"), PLX_E_CANCELLED);
    assert_int_equal(boot(ctx, NULL), PLX_E_CANCELLED);
    assert_int_not_equal(access(FILE_OF("out"), F_OK), 0);
    plx_context_destroy(ctx);
}

static void threads_do_not_matter(void **state)
{
    (void)state;
    static char one[1 << 20], many[1 << 20];
    for (int k = 0; k < 2; k++) {
        const char *learner = k ? "svm" : "memm";
        plx_context *ctx = test_context(1);
        assert_ok(ctx, road(ctx, learner));
        size_t n = slurp(one, sizeof one, FILE_OF("out"));
        plx_context_destroy(ctx);
        ctx = test_context(5);
        assert_ok(ctx, road(ctx, learner));
        assert_int_equal(slurp(many, sizeof many, FILE_OF("out")), n);
        assert_memory_equal(one, many, n);
        plx_context_destroy(ctx);
    }
}

/* A word of 10 MB, and memory too small for it. */
static void very_long_words_are_words(void **state)
{
    (void)state;
    enum { LONG = 10 << 20 };
    char *text = malloc(LONG + 64);
    assert_non_null(text);
    memset(text, 'x', LONG);
    memcpy(text + LONG, " O\nAnn B-PER\n\n", 15);
    put_file(FILE_OF("long"), text, LONG + 14);
    free(text);
    plx_context *ctx = test_context(1);
    assert_ok(ctx, road(ctx, "memm"));
    plx_ner_model *m = NULL;
    assert_ok(ctx, plx_ner_model_load(&m, ctx, FILE_OF("m.plx")));
    assert_ok(ctx, plx_ner_tag_file(ctx, m, FILE_OF("long"), FILE_OF("out"), NULL));
    plx_ner_model_destroy(m);
    plx_context_destroy(ctx);
    plx_context_options o = PLX_CONTEXT_OPTIONS_INIT;
    o.memory_limit = 4 << 20;
    assert_int_equal(plx_context_create(&ctx, &o), PLX_OK);
    plx_conll *t = NULL;
    assert_fails(ctx, plx_ner_read(&t, ctx, FILE_OF("long")), PLX_E_NOMEM, "memory");
    plx_context_destroy(ctx);
}

static void models_with_other_tags_are_refused(void **state)
{
    (void)state;
    plx_context *ctx = test_context(1);
    plx_ner_model *a = NULL, *b = NULL, *svm = NULL;
    plx_ner_choice *choice = NULL;
    plx_conll *first = read_text(ctx, "Ann B-PER\nsaw O\n"), *second = read_text(ctx, "Rome B-LOC\nfell O\n");
    assert_ok(ctx, plx_ner_train(&a, ctx, "memm", first, NULL, NULL));
    assert_ok(ctx, plx_ner_train(&b, ctx, "memm", second, NULL, NULL));
    assert_ok(ctx, plx_ner_train(&svm, ctx, "svm", first, NULL, NULL));
    const plx_ner_model *models[] = {a, b}, *kinds[] = {a, svm}, *same[] = {a, a};
    assert_fails(ctx, plx_ner_select(&choice, ctx, models, 2, first, "kl-max", NULL, 0), PLX_E_DATA, "different tags");
    assert_fails(ctx, plx_ner_select(&choice, ctx, kinds, 2, first, "kl-max", NULL, 0), PLX_E_ARG, "probabilities");
    assert_fails(ctx, plx_ner_select(&choice, ctx, same, 1, first, "kl-max", NULL, 0), PLX_E_ARG, "two");
    assert_fails(ctx, plx_ner_select(&choice, ctx, same, 2, first, "kl", NULL, 0), PLX_E_ARG, "kl");
    assert_ok(ctx, plx_ner_select(&choice, ctx, same, 2, first, "f-complement", NULL, 0));
    plx_ner_chosen row = PLX_NER_CHOSEN_INIT;
    assert_int_equal(plx_ner_choice_sentence(&row, choice, 0), PLX_OK);
    assert_close(row.score, 0, 0); /* a model agrees with itself */
    plx_ner_choice_destroy(choice);
    plx_ner_model_destroy(svm);
    plx_ner_model_destroy(b);
    plx_ner_model_destroy(a);
    plx_conll_destroy(second);
    plx_conll_destroy(first);
    plx_context_destroy(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_are_counted_by_hand),
        cmocka_unit_test(bad_input_is_named),
        cmocka_unit_test(decoding_is_exact),
        cmocka_unit_test(words_have_shapes_and_classes),
        cmocka_unit_test(every_refused_allocation_is_told),
        cmocka_unit_test(work_can_be_stopped),
        cmocka_unit_test(threads_do_not_matter),
        cmocka_unit_test(very_long_words_are_words),
        cmocka_unit_test(models_with_other_tags_are_refused),
    };
    return cmocka_run_group_tests(tests, make_folder, drop_folder);
}
