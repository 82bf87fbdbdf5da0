/*
 * Calls every exported function with each pointer NULL in turn and everything else out of range: nothing may crash, what
 * can fail must say PLX_E_ARG and which argument, a getter gives 0, NULL or an empty text.
 *
 * Every call runs in a process of its own, so a crash is reported by the name of the function and the fault. Without
 * arguments all functions are called; with arguments those named.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "border_desk.h"

/* ---- expectations ---- */

static void wrong(const char *what)
{
    fprintf(stderr, "    %s\n", what);
    _exit(1);
}

void border_ok(const desk *k, plx_status st)
{
    char text[1200];
    if (st == PLX_OK) return;
    snprintf(text, sizeof text, "%s instead of PLX_OK: %s", plx_status_name(st), plx_context_error(k->ctx));
    wrong(text);
}

void border_failed(const desk *k, plx_status st)
{
    (void)k;
    if (st == PLX_OK) wrong("PLX_OK instead of an error");
}

void border_refused(const desk *k, plx_status st, const char *told)
{
    char text[1200];
    const char *said = plx_context_error(k->ctx);
    if (st != PLX_E_ARG) {
        snprintf(text, sizeof text, "%s instead of PLX_E_ARG: %s", plx_status_name(st), said);
        wrong(text);
    }
    if (told && !strstr(said, told)) {
        snprintf(text, sizeof text, "the message does not name %s: %s", told, said);
        wrong(text);
    }
}

void border_text(const char *text, const char *expected)
{
    if (!text != !expected) wrong(expected ? "NULL instead of a text" : "a text instead of NULL");
    if (expected && strcmp(text, expected) != 0) wrong("another text");
}

void border_null(const void *p)
{
    if (p) wrong("something instead of NULL");
}

void border_empty(plx_cmat m)
{
    if (m.data || m.rows || m.cols) wrong("a matrix that is not empty");
}

void border_number(double x, double expected)
{
    char text[80];
    if (x == expected || (isnan(x) && isnan(expected))) return;
    snprintf(text, sizeof text, "%g instead of %g", x, expected);
    wrong(text);
}

/* ---- callbacks ---- */

int border_progress(const plx_progress *progress, void *payload)
{
    (void)progress, (void)payload;
    return 0;
}

void border_log(plx_log_level level, const char *text, void *payload) { (void)level, (void)text, (void)payload; }

const char *const *border_hollow(void)
{
    static const char *hollow[BORDER_SAMPLES];
    for (int i = 1; i < BORDER_SAMPLES; i++) hollow[i] = "A";
    return hollow;
}

/* ---- the desk ---- */

static void need(desk *k, plx_status st, const char *what)
{
    if (st == PLX_OK) return;
    fprintf(stderr, "border: %s: %s %s\n", what, plx_status_name(st), plx_context_error(k->ctx));
    exit(2);
}

static void write_file(const char *path, const char *text)
{
    FILE *f = fopen(path, "wb");
    if (!f || fputs(text, f) < 0 || fclose(f) != 0) {
        fprintf(stderr, "border: %s cannot be written\n", path);
        exit(2);
    }
}

static void fill_arrays(desk *k)
{
    static const char *const names[] = {"0", "1", "2", "3", "4", "5", "6", "7"};
    static const int64_t ptr[] = {0, 1, 2, 3, 4, 5, 6, 7, 8};
    static const int32_t col[] = {0, 1, 0, 1, 0, 1, 0, 1};
    for (int i = 0; i < BORDER_SAMPLES; i++) {
        k->labels[i] = i % 2 ? "B" : "A";
        k->ids[i] = names[i];
        k->numbers[i] = names[i];
        k->indices[i] = i % 2 + 1;
        k->gold[i] = i % 2;
        k->values[2 * i] = 1 + (i * 5) % 7;
        k->values[2 * i + 1] = 1 + (i * 3) % 5;
        k->flags[2 * i] = k->flags[2 * i + 1] = 1;
    }
    k->classes[0] = k->features[0] = "A";
    k->classes[1] = k->features[1] = "B";
    k->pair[1] = 1;
    k->settings[0] = "n=10";
    k->dense = (plx_cmat){k->values, BORDER_SAMPLES, BORDER_COLUMNS, BORDER_COLUMNS};
    k->sparse = (plx_ccsr){BORDER_SAMPLES, BORDER_COLUMNS, ptr, col, k->values};
    for (size_t i = 0; i < sizeof k->room / sizeof *k->room; i++) k->room[i] = k;
}

static void fill_files(void)
{
    write_file("text.conll", "He O\nsleeps O\n\n");
    write_file("names.conll", "Ann B-PER\nsaw O\nRome B-LOC\n\nAnn B-PER\nLee I-PER\nleft O\n");
    write_file("judged.conll", "Ann B-PER B-PER\nsaw O B-LOC\n");
    write_file("words.txt", "Ann\nsaw\nit\n\nRome\nfell\n");
    write_file("table.csv", "x,y\n1,2\n3,4\n");
    write_file("chosen.txt", "0\n2\n");
    write_file("truth.txt", "A\nB\nA\nB\nA\nB\nA\nB\n");
    write_file("pred.txt", "A\nB\nA\nB\nA\nB\nB\nA\n");
}

static plx_dataset *make_data(desk *k, const uint8_t *present)
{
    plx_dataset *d = NULL;
    double other[BORDER_SAMPLES * BORDER_COLUMNS];
    const char *seen[BORDER_SAMPLES];
    for (int i = 0; i < BORDER_SAMPLES; i++) seen[i] = i < 6 ? k->labels[i] : NULL;
    for (int i = 0; i < BORDER_SAMPLES * BORDER_COLUMNS; i++) other[i] = k->values[i] * k->values[i] - 3 * (i % 3);
    plx_cmat second = {other, BORDER_SAMPLES, BORDER_COLUMNS, BORDER_COLUMNS};
    need(k, plx_dataset_create(&d, k->ctx, "desk", BORDER_SAMPLES), "create");
    need(k, plx_dataset_add_dense(d, k->ctx, "a", PLX_VIEW_REAL, k->dense, NULL, present), "view a");
    need(k, plx_dataset_add_dense(d, k->ctx, "b", PLX_VIEW_REAL, second, NULL, NULL), "view b");
    need(k, plx_dataset_set_ids(d, k->ctx, k->ids), "ids");
    need(k, plx_dataset_set_labels(d, k->ctx, seen), "labels");
    need(k, plx_dataset_set_truth(d, k->ctx, k->labels), "truth");
    return d;
}

static void make_datasets(desk *k)
{
    uint8_t present[BORDER_SAMPLES] = {0, 1, 1, 1, 1, 1, 1, 1};
    k->data = make_data(k, NULL);
    k->holes = make_data(k, present);
    need(k, plx_dataset_create(&k->thin, k->ctx, "thin", BORDER_SAMPLES), "create");
    need(k, plx_dataset_add_sparse(k->thin, k->ctx, "s", PLX_VIEW_REAL, k->sparse, NULL, NULL), "view s");
    need(k, plx_dataset_set_labels(k->thin, k->ctx, k->labels), "labels");
    need(k, plx_dataset_create(&k->building, k->ctx, "building", BORDER_SAMPLES), "create");
    need(k, plx_dataset_add_dense(k->building, k->ctx, "a", PLX_VIEW_REAL, k->dense, NULL, NULL), "view a");
    need(k, plx_dataset_write(k->ctx, k->data, "stored"), "write");
}

static void make_models(desk *k)
{
    plx_ccsr sparse;
    plx_params *kernel = NULL; /* a kernel model keeps the rows of its view, sparse as they are */
    need(k, plx_params_create(&k->params, k->ctx, "cca"), "params");
    need(k, plx_params_set(k->params, k->ctx, "dim", "1"), "params");
    need(k, plx_fit(&k->model, k->ctx, "cca", k->data, k->params, NULL), "fit");
    need(k, plx_model_save(k->ctx, k->model, "stored.plx"), "save");
    need(k, plx_transform(&k->prediction, k->ctx, k->model, k->data), "transform");
    need(k, plx_retrieve(&k->retrieval, k->ctx, k->model, k->data, k->data, NULL), "retrieve");
    need(k, plx_params_create(&kernel, k->ctx, "rls"), "params");
    need(k, plx_params_set(kernel, k->ctx, "kernel", "rbf"), "params");
    need(k, plx_params_set(kernel, k->ctx, "scale", "none"), "params");
    need(k, plx_fit(&k->thin_model, k->ctx, "rls", k->thin, kernel, NULL), "fit of a sparse view");
    plx_params_destroy(kernel);
    for (plx_index i = 0; i < plx_model_arrays(k->thin_model); i++)
        if (plx_model_array_sparse(&sparse, k->thin_model, plx_model_array_name(k->thin_model, i)) == PLX_OK)
            k->sparse_name = plx_model_array_name(k->thin_model, i);
    if (!k->sparse_name) need(k, PLX_E_INTERNAL, "a sparse array");
    need(k, plx_explain(&k->explanation, k->ctx, k->thin_model, k->thin, NULL), "explain");
}

static void make_rest(desk *k)
{
    need(k, plx_acquire_params_create(&k->acquire_params, k->ctx, "bct"), "params");
    need(k, plx_acquire(&k->acquisition, k->ctx, PLX_ACQUIRE_FEATURES, "bct", k->holes, k->acquire_params, NULL),
         "acquire");
    need(k, plx_metrics_create(&k->metrics, k->ctx), "metrics");
    need(k, plx_metrics_classification(k->metrics, k->labels, k->labels, BORDER_SAMPLES), "metrics");
    need(k, plx_conll_read(&k->conll, k->ctx, "text.conll"), "conll");
    k->eval_files = (plx_eval_options)PLX_EVAL_OPTIONS_INIT;
    k->eval_pred = (plx_eval_options)PLX_EVAL_OPTIONS_INIT;
    k->eval_pred.pred = k->eval_files.pred = "pred.txt";
    k->eval_files.truth = "truth.txt";
    k->simulate = (plx_simulate_options)PLX_SIMULATE_OPTIONS_INIT;
    k->simulate.steps = 1;
    k->hierarchy = (plx_metrics_hierarchy){sizeof k->hierarchy, k->classes, 2, k->classes, 1, NULL, 0};
    k->hidden[0] = (plx_pair){2, 0};
    k->simulate.hidden = k->hidden;
    k->simulate.n_hidden = 1;
    need(
        k,
        plx_acquire_simulate(&k->curves, k->ctx, PLX_ACQUIRE_FEATURES, "bct", k->data, k->acquire_params, &k->simulate),
        "curves");
    static const char *const methods[] = {"rls"}, *const labels[] = {"50%"};
    k->compare = (plx_compare_options)PLX_COMPARE_OPTIONS_INIT;
    k->compare.methods = methods;
    k->compare.labels = labels;
    k->compare.n_methods = k->compare.n_labels = k->compare.repeats = 1;
    need(k, plx_compare(&k->comparison, k->ctx, (const plx_dataset *const *)&k->data, 1, &k->compare), "comparison");
    k->tune = (plx_tune_options)PLX_TUNE_OPTIONS_INIT;
    k->tune.trials = k->tune.folds = 2;
    need(k, plx_params_create(&k->tune_params, k->ctx, "rls"), "params");
    need(k, plx_tune(&k->tuning, k->ctx, "rls", k->data, k->tune_params, &k->tune), "tuning");
    need(k, plx_dataset_relabel(&k->partly, k->ctx, k->data, k->labels), "data");
    need(k, plx_fit(&k->several, k->ctx, "auto", k->partly, NULL, NULL), "several");
    need(k, plx_report_create(&k->report, k->ctx, PLX_REPORT_FIT, NULL), "report");
    need(k, plx_complete_params_create(&k->complete_params, k->ctx), "params");
    need(k, plx_complete_fit(&k->completer, k->ctx, k->holes, k->complete_params), "completer");
    need(k, plx_complete(&k->completion, k->ctx, k->completer, k->holes, 0), "completion");
}

static void make_names(desk *k)
{
    plx_ner_simulate_options o = PLX_NER_SIMULATE_OPTIONS_INIT;
    plx_ner_tag_options tag = PLX_NER_TAG_OPTIONS_INIT;
    o.rounds = 1;
    tag.probs = "probs.txt";
    need(k, plx_ner_read(&k->names, k->ctx, "names.conll"), "names");
    need(k, plx_ner_read(&k->judged, k->ctx, "judged.conll"), "judged");
    need(k, plx_ner_params_create(&k->ner_params, k->ctx, "memm"), "params");
    need(k, plx_ner_params_create(&k->select_params, k->ctx, "select"), "params");
    need(k, plx_ner_params_create(&k->ner_simulate_params, k->ctx, "simulate"), "params");
    need(k, plx_ner_params_create(&k->bootstrap_params, k->ctx, "bootstrap"), "params");
    need(k, plx_ner_train(&k->ner_model, k->ctx, "memm", k->names, k->ner_params, NULL), "tagger");
    need(k, plx_ner_model_save(k->ctx, k->ner_model, "names.plx"), "save");
    need(k, plx_ner_tag_file(k->ctx, k->ner_model, "names.conll", "tagged.conll", &tag), "tag");
    need(k, plx_ner_tag(&k->tagged, k->ctx, k->ner_model, k->names, NULL), "tagged text");
    k->ner_models[0] = k->ner_models[1] = k->ner_model;
    k->probs[0] = k->probs[1] = "probs.txt";
    need(k, plx_ner_select(&k->choice, k->ctx, k->ner_models, 2, k->names, "kl-ave", NULL, 0), "choice");
    need(k, plx_ner_simulate(&k->ner_curve, k->ctx, k->names, k->names, k->names, NULL, &o), "curve");
}

/* ---- running ---- */

/* One call in a child; false: it crashed or did the wrong thing, and was reported. */
static bool survives(desk *k, const border_function *f, int variant)
{
    int status = 0;
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        f->call(k, variant);
        _exit(0);
    }
    if (child < 0 || waitpid(child, &status, 0) != child) exit(2);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return true;
    if (WIFSIGNALED(status)) fprintf(stderr, "    ended by signal %d\n", WTERMSIG(status));
    fprintf(stderr, "FAILED %s, %s\n", f->name, f->variants[variant]);
    return false;
}

static bool asked_for(const char *name, int argc, char **argv)
{
    for (int i = 1; i < argc; i++)
        if (strcmp(argv[i], name) == 0) return true;
    return argc < 2;
}

int main(int argc, char **argv)
{
    static desk k;
    char folder[] = "/tmp/plx_border_XXXXXX", command[64];
    int functions = 0, calls = 0, failed = 0;
    plx_context_options o = PLX_CONTEXT_OPTIONS_INIT;
    o.threads = 1; /* a forked child has no other threads */
    if (!mkdtemp(folder) || chdir(folder) != 0) return 2;
    need(&k, plx_context_create(&k.ctx, &o), "context");
    fill_arrays(&k);
    fill_files();
    make_datasets(&k);
    make_models(&k);
    make_rest(&k);
    make_names(&k);
    for (const border_function *f = BORDER_FUNCTIONS; f->name; f++) {
        if (!asked_for(f->name, argc, argv)) continue;
        functions++;
        for (int v = 0; f->variants[v]; v++, calls++) failed += !survives(&k, f, v);
    }
    printf("border: %d functions, %d calls, %d failed\n", functions, calls, failed);
    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    if (chdir("/") != 0 || system(command) != 0) return 2;
    return failed > 0;
}
