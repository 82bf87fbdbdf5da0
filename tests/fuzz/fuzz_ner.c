/*
 * Taggers. The first byte of an input chooses: text that small taggers, made once, are asked to tag; text that one is
 * trained on; or edits on a sound model file of a tagger (model_edits.h).
 *
 * What is accepted keeps its promises: a tag and a row of values per token, names in order and inside their sentences,
 * probabilities that add up to 1. A model file that is accepted must tag, and survive being saved and loaded again.
 */
#include <math.h>

#include "model_edits.h"
#include "parallax/ner_tagged.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char TEXT[] = "-DOCSTART- O\n\nAnn B-PER\nLee I-PER\nsaw O\nRome B-LOC\n( O\nIBM B-ORG\n) O\n. O\n\n"
                           "Rome B-LOC\nfell O\n, O\nsaid O\nLee B-PER\n\n-DOCSTART- O\n\nU.S. B-ORG\nBank I-ORG\n"
                           "met O\nAnn B-PER\nin O\nBonn B-LOC\n";

enum { TAG_TEXT, TRAIN_ON_TEXT, EDIT_MODEL, WAYS, BASES = 3 };

/* A memm, an svm over words and one over spans. */
static plx_ner_model *train(plx_context *ctx, unsigned which, const plx_conll *text)
{
    bool memm = which % BASES == 0;
    plx_params *p = NULL;
    plx_ner_model *m = NULL;
    if (plx_ner_params_create(&p, ctx, memm ? "memm" : "svm") != PLX_OK) abort();
    if (plx_params_set(p, ctx, memm ? "max_iter" : "window",
                       memm                 ? "5"
                       : which % BASES == 1 ? "simple"
                                            : "enhanced") != PLX_OK)
        abort();
    told(plx_ner_train(&m, ctx, memm ? "memm" : "svm", text, p, NULL), ctx);
    plx_params_destroy(p);
    return m;
}

static plx_conll *base_text(plx_context *ctx)
{
    plx_conll *text = NULL;
    if (plx_ner_parse(&text, ctx, TEXT, sizeof TEXT - 1) != PLX_OK) abort();
    return text;
}

static void check_values(const plx_ner_tagged *t, bool probabilities)
{
    plx_cmat v;
    FUZZ_CHECK(plx_ner_tagged_values(&v, t) == PLX_OK && v.rows == plx_ner_tagged_tokens(t));
    for (plx_index i = 0; probabilities && i < v.rows; i++) {
        double sum = 0;
        for (plx_index c = 0; c < v.cols; c++) sum += v.data[i * v.ld + c];
        FUZZ_CHECK(fabs(sum - 1) < 1e-6);
    }
}

static void check_tagged(const plx_ner_tagged *t, const plx_conll *text)
{
    plx_index behind = 0;
    FUZZ_CHECK(plx_ner_tagged_tokens(t) == plx_conll_tokens(text));
    for (plx_index i = 0; i < plx_ner_tagged_tokens(t); i++) FUZZ_CHECK(plx_ner_tagged_tag(t, i)[0]);
    for (plx_index k = 0; k < plx_ner_tagged_names(t); k++) {
        plx_ner_name n = PLX_NER_NAME_INIT;
        FUZZ_CHECK(plx_ner_tagged_name(&n, t, k) == PLX_OK);
        FUZZ_CHECK(n.begin >= behind && n.end > n.begin && n.type); /* a tag may be a bare B */
        FUZZ_CHECK(n.begin >= plx_conll_sentence(text, n.sentence) &&
                   n.end <= plx_conll_sentence(text, n.sentence + 1));
        behind = n.end;
    }
}

/* `sound`: a model of ours, not one from an edited file, whose weights may be anything. */
static void tag(plx_context *ctx, const plx_ner_model *m, const plx_conll *text, bool sound)
{
    plx_ner_tagged *t = NULL;
    told(plx_ner_tag(&t, ctx, m, text, NULL), ctx);
    if (t && sound) check_tagged(t, text);
    if (t && sound) check_values(t, plx_ner_model_tags(m) > 0);
    plx_ner_tagged_destroy(t);
}

static void use_text(plx_context *ctx, unsigned which, bool learn, const char *bytes, size_t size)
{
    plx_conll *text = NULL, *base = base_text(ctx);
    told(plx_ner_parse(&text, ctx, bytes, size), ctx);
    plx_ner_model *m = text ? train(ctx, which, learn ? text : base) : NULL;
    if (m) tag(ctx, m, text, true);
    plx_ner_model_destroy(m);
    plx_conll_destroy(text);
    plx_conll_destroy(base);
}

/* ---- model files ---- */

static const char *const OBJECTS[] = {"/parameters",
                                      "/parameters/names",
                                      "/parameters/defaults",
                                      "/parameters/set_keys",
                                      "/parameters/set_values",
                                      "/ner",
                                      "/ner/tags",
                                      "/ner/features",
                                      "/ner/weights",
                                      "/ner/facts_int",
                                      "/ner/facts_real",
                                      "/ner/words",
                                      "/ner/counts",
                                      "/ner/gazetteers",
                                      "/ner/gazetteer0",
                                      "/ner/categories",
                                      "/ner/stop",
                                      "/ner/objective",
                                      "/ner/lexicon_keys",
                                      "/ner/lexicon_ptr",
                                      "/ner/lexicon_what",
                                      "/ner/lexicon_ratio",
                                      "/ner/contexts_keys",
                                      "/ner/contexts_ptr",
                                      "/ner/contexts_what",
                                      "/ner/contexts_ratio",
                                      "/ner/log_int",
                                      "/ner/log_f1",
                                      "/"};
static const char *const ATTRIBUTES[] = {"scheme", "method", "written_by"};
static const char *const TEXTS[] = {"", "ner-memm", "ner-svm", "ner-bootstrap", "B-PER", "O", "b", "nb"};
static const edit_words WORDS = {OBJECTS,
                                 ATTRIBUTES,
                                 TEXTS,
                                 sizeof OBJECTS / sizeof *OBJECTS,
                                 sizeof ATTRIBUTES / sizeof *ATTRIBUTES,
                                 sizeof TEXTS / sizeof *TEXTS};

static void use_model(plx_context *ctx, const char *path, const char *copy, const plx_conll *text)
{
    plx_ner_model *m = NULL, *again = NULL;
    plx_status st = plx_ner_model_load(&m, ctx, path);
    told(st, ctx);
    FUZZ_CHECK((st == PLX_OK) == (m != NULL));
    if (m) {
        tag(ctx, m, text, false);
        st = plx_ner_model_save(ctx, m, copy);
        told(st, ctx);
        if (st == PLX_OK) told(plx_ner_model_load(&again, ctx, copy), ctx);
        FUZZ_CHECK(st != PLX_OK || again);
    }
    plx_ner_model_destroy(again);
    plx_ner_model_destroy(m);
}

static void edit_model(plx_context *ctx, unsigned which, const uint8_t *data, size_t size)
{
    static char path[64], copy[64];
    snprintf(path, sizeof path, "/tmp/plx_fuzz_ner_%ld.plx", (long)getpid());
    snprintf(copy, sizeof copy, "/tmp/plx_fuzz_ner_%ld_copy.plx", (long)getpid());
    plx_conll *text = base_text(ctx);
    plx_ner_model *m = train(ctx, which, text);
    if (plx_ner_model_save(ctx, m, path) != PLX_OK) abort();
    plx_ner_model_destroy(m);
    if (edit_file(&WORDS, path, ctx, data, size)) use_model(ctx, path, copy, text);
    plx_conll_destroy(text);
    unlink(path);
    unlink(copy);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 1) return 0;
    plx_context *ctx = new_context();
    unsigned way = data[0] % WAYS, which = data[0] / WAYS;
    if (way == EDIT_MODEL) edit_model(ctx, which, data + 1, size - 1);
    else use_text(ctx, which, way == TRAIN_ON_TEXT, (const char *)data + 1, size - 1);
    plx_context_destroy(ctx);
    return 0;
}
