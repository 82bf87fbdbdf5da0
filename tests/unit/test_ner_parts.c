/*
 * Texts read part by part: documents stay whole, and very long ones come in pieces with the same names as if they were
 * held.
 */
#include "ner_helpers.h"

#include "api/ner_impl.h"
#include "ner/svm_learn.h"

enum { MOST = 4000 };

/* Sentences of words in which Ann is a name, now and then after words that make it one. */
static void put_sentences(FILE *f, int count, unsigned *state)
{
    static const char *const word[] = {"Ann", "saw", "Rome", "Lee", "fell", ",", "IBM", "said", "met", "Bonn"};
    for (int s = 0; s < count; s++) {
        for (int i = 0; i < 5; i++) {
            *state = *state * 1103515245u + 12345u;
            fprintf(f, "%s\n", word[*state / 65536 % 10]);
        }
        fputs("\n", f);
    }
}

/* Documents of so many sentences each; a mark before each but, without `marked`, the first. */
static void put_documents(const char *path, const int *sentences, int count, bool marked)
{
    FILE *f = fopen(path, "w");
    unsigned state = 7;
    assert_non_null(f);
    for (int d = 0; d < count; d++) {
        if (d > 0 || marked) fputs("-DOCSTART-\n\n", f);
        put_sentences(f, sentences[d], &state);
    }
    fclose(f);
}

typedef struct heard {
    plx_context *ctx;
    plx__svm *m;
    plx__ner_mark mark[MOST];
    int32_t document[MOST];
    plx_index n, parts, pieces;
} heard;

static plx_status listen(void *arg, const plx__conll *part, int32_t document, plx__name_memory *memory)
{
    heard *h = arg;
    plx__ner_columns columns = {.unlabelled = true, .first_document = document};
    plx__ner_text text;
    h->parts++;
    h->pieces += memory != NULL;
    PLX_TRY(plx__ner_text_open(&text, h->ctx, plx__scratch(h->ctx), part, &columns, NULL));
    assert_true(h->n + text.n <= MOST);
    PLX_TRY(plx__svm_tag(h->m, h->ctx, plx__scratch(h->ctx), &text, h->mark + h->n, NULL, memory));
    for (plx_index s = 0; s < text.n_sentences; s++)
        for (plx_index i = text.sentence[s]; i < text.sentence[s + 1]; i++) h->document[h->n + i] = text.document[s];
    h->n += text.n;
    return PLX_OK;
}

static plx_status hear(heard *h, plx_context *ctx, plx__svm *m, const char *path, size_t part_bytes)
{
    plx__ner_source source = {0};
    plx__svm_parts parts = {m, true, "test", listen, h};
    *h = (heard){.ctx = ctx, .m = m};
    plx_status st = plx__ner_source_open(&source, ctx, path);
    source.part_bytes = part_bytes;
    if (st == PLX_OK) st = plx__svm_each_part(ctx, &source, &parts);
    plx__ner_source_close(&source);
    return st;
}

static bool same_marks(const heard *a, const heard *b)
{
    for (plx_index i = 0; i < a->n; i++)
        if (a->mark[i].prefix != b->mark[i].prefix || a->mark[i].type != b->mark[i].type) return false;
    return a->n == b->n;
}

static plx_ner_model *trained(plx_context *ctx)
{
    plx_ner_model *m = NULL;
    plx_conll *text = read_text(ctx, TEXT);
    assert_ok(ctx, plx_ner_train(&m, ctx, "svm", text, NULL, NULL));
    plx_conll_destroy(text);
    return m;
}

static void long_documents_come_in_pieces(void **state)
{
    static const int shapes[][6] = {{100}, {1, 1, 1, 1, 1, 1}, {3, 120, 2, 1, 90, 4}, {60, 1, 60, 1, 1, 2}};
    static const int counts[] = {1, 6, 6, 6};
    static const size_t sizes[] = {20, 90, 333, 1000};
    plx_context *ctx = test_context(2);
    plx_ner_model *m = trained(ctx);
    static heard whole, parts;
    (void)state;
    for (int shape = 0; shape < 4; shape++)
        for (int marked = 0; marked < 2; marked++) {
            put_documents(FILE_OF("long"), shapes[shape], counts[shape], marked);
            assert_ok(ctx, hear(&whole, ctx, &m->svm, FILE_OF("long"), 1 << 20));
            assert_int_equal(whole.parts, 1);
            for (int k = 0; k < 4; k++) {
                assert_ok(ctx, hear(&parts, ctx, &m->svm, FILE_OF("long"), sizes[k]));
                assert_true(same_marks(&whole, &parts));
                assert_memory_equal(whole.document, parts.document, (size_t)whole.n * sizeof *whole.document);
                assert_true(shape == 1 || k > 1 || parts.pieces > 1);
                assert_true(shape != 1 || parts.pieces == 0 || k == 0);
            }
        }
    plx_ner_model_destroy(m);
    plx_context_destroy(ctx);
}

/* The texts above have words that are names only because the same words are names elsewhere in the document. */
static void the_memory_of_names_matters_in_these_texts(void **state)
{
    static const int shape[] = {3, 120, 2, 1, 90, 4};
    plx_context *ctx = test_context(1);
    plx_ner_model *m = trained(ctx);
    static heard with, without;
    (void)state;
    put_documents(FILE_OF("long"), shape, 6, true);
    assert_ok(ctx, hear(&with, ctx, &m->svm, FILE_OF("long"), 90));
    m->svm.params.memory = false;
    assert_ok(ctx, hear(&without, ctx, &m->svm, FILE_OF("long"), 90));
    assert_false(same_marks(&with, &without));
    assert_int_equal(without.pieces, 0);
    plx_ner_model_destroy(m);
    plx_context_destroy(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(long_documents_come_in_pieces),
        cmocka_unit_test(the_memory_of_names_matters_in_these_texts),
    };
    return cmocka_run_group_tests(tests, make_folder, drop_folder);
}
