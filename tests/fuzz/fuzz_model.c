/*
 * The model loader. An input that starts like a model file is loaded as it is: the checksum must refuse every damaged
 * one. Any other input is a list of edits on a sound model file (model_edits.h).
 *
 * A model that is accepted must predict or refuse with a message, and survive being saved and loaded again.
 */
#include "model_edits.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* ---- sound models to start from ---- */

static plx_dataset *training(plx_context *ctx)
{
    static const double x[] = {5, 1, 2, 1, 6, 1, 4, 2, 1, 1, 5, 2, 3, 0, 1, 0, 4, 1};
    static const int64_t ptr[] = {0, 1, 2, 4, 5, 5, 6};
    static const int32_t col[] = {0, 1, 0, 2, 1, 0};
    static const double val[] = {2, 3, 1, 1, 4, 2};
    static const char *const names[] = {"ant", "bee", "cat"}, *const labels[] = {"A", "B", "A", "B", "A", "B"};
    plx_dataset *d = NULL;
    if (plx_dataset_create(&d, ctx, "base", 6) != PLX_OK ||
        plx_dataset_add_dense(d, ctx, "beasts", PLX_VIEW_COUNTS, (plx_cmat){x, 6, 3, 3}, names, NULL) != PLX_OK ||
        plx_dataset_add_sparse(d, ctx, "words", PLX_VIEW_COUNTS, (plx_ccsr){6, 3, ptr, col, val}, NULL, NULL) !=
            PLX_OK ||
        plx_dataset_set_labels(d, ctx, labels) != PLX_OK)
        abort();
    return d;
}

/* nb; rls with kept sparse rows; rls with weights and scaling state. */
static void write_base(plx_context *ctx, unsigned which, const char *path)
{
    static const char *const settings[][3][2] = {
        {{"smoothing", "1"}, {"combine", "mean"}, {"smoothing", "2"}},
        {{"view", "words"}, {"kernel", "rbf"}, {"decision", "share"}},
        {{"view", "concat"}, {"scale", "tfidf"}, {"kernel", "cosine"}},
    };
    const char *method = which % 3 ? "rls" : "nb";
    plx_dataset *d = training(ctx);
    plx_params *p = NULL;
    plx_model *m = NULL;
    if (plx_params_create(&p, ctx, method) != PLX_OK) abort();
    for (int i = 0; i < 3; i++)
        if (plx_params_set(p, ctx, settings[which % 3][i][0], settings[which % 3][i][1]) != PLX_OK) abort();
    if (plx_fit(&m, ctx, method, d, p, NULL) != PLX_OK || plx_model_save(ctx, m, path) != PLX_OK) abort();
    plx_model_destroy(m);
    plx_params_destroy(p);
    plx_dataset_destroy(d);
}

/* ---- edits ---- */

static const char *const OBJECTS[] = {"/facts_int",
                                      "/facts_real",
                                      "/classes",
                                      "/parameters",
                                      "/parameters/names",
                                      "/parameters/defaults",
                                      "/parameters/set_keys",
                                      "/parameters/set_values",
                                      "/views",
                                      "/views/0",
                                      "/views/1",
                                      "/views/0/features",
                                      "/views/1/features",
                                      "/arrays",
                                      "/arrays/0",
                                      "/arrays/1",
                                      "/arrays/2",
                                      "/arrays/3",
                                      "/arrays/4",
                                      "/arrays/5",
                                      "/arrays/0/ptr",
                                      "/arrays/1/ptr",
                                      "/arrays/2/ptr",
                                      "/arrays/3/ptr",
                                      "/arrays/2/col",
                                      "/arrays/3/col",
                                      "/arrays/2/val",
                                      "/arrays/3/val",
                                      "/hierarchy",
                                      "/hierarchy/subset",
                                      "/"};
static const char *const ATTRIBUTES[] = {"name", "kind", "columns", "sparse", "shape", "method"};
static const char *const TEXTS[] = {"",   "beasts",      "words", "kernel", "counts", "rls",
                                    "nb", "theta.words", "_rows", "_coef",  "prior",  "nan"};
static const edit_words WORDS = {OBJECTS,
                                 ATTRIBUTES,
                                 TEXTS,
                                 sizeof OBJECTS / sizeof *OBJECTS,
                                 sizeof ATTRIBUTES / sizeof *ATTRIBUTES,
                                 sizeof TEXTS / sizeof *TEXTS};

static bool write_edited(const char *path, plx_context *ctx, const uint8_t *data, size_t size)
{
    write_base(ctx, data[0], path);
    return edit_file(&WORDS, path, ctx, data + 1, size - 1);
}

/* Two samples with ones in every column of every view the model knows. */
static plx_dataset *samples_for(const plx_model *m, plx_context *ctx)
{
    enum { WIDEST = 4096 };
    static double ones[2 * WIDEST];
    plx_dataset *d = NULL;
    if (plx_dataset_create(&d, ctx, "new", 2) != PLX_OK) return NULL;
    for (int i = 0; i < 2 * WIDEST; i++) ones[i] = 1;
    for (plx_index v = 0; v < m->n_views; v++) {
        const plx__view_card *card = &m->views[v];
        if (card->cols > WIDEST) continue;
        plx_cmat values = {ones, 2, card->cols, card->cols};
        if (plx_dataset_add_dense(d, ctx, card->name, card->kind, values, card->features, NULL) != PLX_OK) continue;
    }
    return d;
}

static void use(const plx_model *m, plx_context *ctx, const char *path)
{
    plx_dataset *d = samples_for(m, ctx);
    plx_prediction *p = NULL;
    plx_model *again = NULL;
    if (d) told(plx_predict(&p, ctx, m, d), ctx);
    plx_prediction_destroy(p);
    plx_dataset_destroy(d);
    plx_status st = plx_model_save(ctx, m, path);
    told(st, ctx);
    if (st == PLX_OK) {
        st = plx_model_load(&again, ctx, path);
        told(st, ctx);
        FUZZ_CHECK(st == PLX_OK || st == PLX_E_NOMEM);
    }
    plx_model_destroy(again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static char path[64], copy[64];
    plx_context *ctx = new_context();
    plx_model *m = NULL;
    if (!path[0]) {
        snprintf(path, sizeof path, "/tmp/plx_fuzz_model_%ld.plx", (long)getpid());
        snprintf(copy, sizeof copy, "/tmp/plx_fuzz_model_%ld_copy.plx", (long)getpid());
    }
    bool whole = size >= 8 && memcmp(data, "PARALLAX", 8) == 0, ready = whole;
    if (whole) write_bytes(path, data, size);
    else if (size) ready = write_edited(path, ctx, data, size);
    if (ready) {
        plx_status st = plx_model_load(&m, ctx, path);
        told(st, ctx);
        FUZZ_CHECK((st == PLX_OK) == (m != NULL));
        if (m) use(m, ctx, copy);
    }
    plx_model_destroy(m);
    unlink(path);
    unlink(copy);
    plx_context_destroy(ctx);
    return 0;
}
