/*
 * parallax bench: how long typical fits take on this machine, on data made for it.
 */
#include <string.h>
#include <time.h>

#include "jsonout.h"
#include "output.h"

enum { MOST_SETTINGS = 8 };

/* One piece of work: data made by a generator, and a fit to it. Sizes are such that each takes a second or so. */
typedef struct work {
    const char *name, *method, *generator;
    const char *data[MOST_SETTINGS], *settings[2 * MOST_SETTINGS]; /* "key=value"...; key, value... */
    const char *what;
} work;

static const work works[] = {
    {"counts",
     "nb",
     "text",
     {"n=100000", "features=20000", "classes=20", "labelled=all"},
     {NULL},
     "nb, 2 views x 100,000 texts x 20,000 words"},
    {"mixture",
     "coem",
     "text",
     {"n=50000", "features=20000", "classes=20"},
     {"max_iter", "10"},
     "coem, 2 views x 50,000 texts x 20,000 words, 20 classes, 10 iterations"},
    {"means",
     "mvkmeans",
     "text",
     {"n=50000", "features=20000", "classes=20"},
     {"max_iter", "10"},
     "mvkmeans, the same"},
    {"margins",
     "svm",
     "text",
     {"n=20000", "features=20000", "classes=2", "overlap=0.8", "labelled=all"},
     {NULL},
     "svm, linear, 2 views x 20,000 texts"},
    {"neighbours",
     "nlapreg",
     "two-gauss",
     {"n=10000", "dims=50"},
     {"knn", "exact"},
     "nlapreg, 2 views x 20,000 samples x 50 numbers: neighbours of all, and a sparse system"},
    {"spectrum",
     "spectral",
     "two-gauss",
     {"n=5000", "dims=50"},
     {"clusters", "2"},
     "spectral, 2 views x 10,000 samples x 50 numbers"},
    {"factors",
     "rls",
     "two-gauss",
     {"n=1500", "dims=20", "labelled=all"},
     {"kernel", "rbf"},
     "rls, rbf, 2 views x 3,000 labelled samples: a factor of 3,000 x 3,000"},
    {"directions",
     "kcca",
     "two-gauss",
     {"n=600", "dims=100"},
     {"dim", "100", "kernel", "rbf", "retrieval", "false"},
     "kcca, rbf, 2 views x 1,200 samples, 100 directions"},
};

typedef struct measured {
    double wall, processor;
} measured;

/* ---- one piece ---- */

static double seconds(struct timespec t) { return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec; }

static measured now(void)
{
    struct timespec t, cpu;
    clock_gettime(CLOCK_MONOTONIC, &t);
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &cpu);
    return (measured){seconds(t), seconds(cpu)};
}

static plx_status settings_of(plx_params **out, plx_context *ctx, const work *w)
{
    plx_status st = plx_params_create(out, ctx, w->method);
    for (int i = 0; st == PLX_OK && w->settings[i]; i += 2)
        st = plx_params_set(*out, ctx, w->settings[i], w->settings[i + 1]);
    return st;
}

/* The faster of two fits: the first one also waits for pages of memory. */
static plx_status measure(measured *out, plx_context *ctx, const work *w)
{
    plx_dataset *data = NULL;
    plx_params *params = NULL;
    plx_index count = 0;
    while (count < MOST_SETTINGS && w->data[count]) count++;
    plx_status st = plx_generate(&data, ctx, w->generator, w->data, count);
    if (st == PLX_OK) st = settings_of(&params, ctx, w);
    for (int turn = 0; st == PLX_OK && turn < 2; turn++) {
        plx_model *model = NULL;
        measured begin = now();
        st = plx_fit(&model, ctx, w->method, data, params, NULL);
        measured end = now();
        plx_model_destroy(model);
        measured took = {end.wall - begin.wall, end.processor - begin.processor};
        if (turn == 0 || took.wall < out->wall) *out = took;
    }
    plx_params_destroy(params);
    plx_dataset_destroy(data);
    return st;
}

/* ---- all of them ---- */

static bool wanted(const cli_args *args, const work *w)
{
    const char *only = cli_value(args, "only");
    if (!only) return true;
    size_t length = strlen(w->name);
    for (const char *at = only; *at; at += strcspn(at, ","), at += *at == ',')
        if (strncmp(at, w->name, length) == 0 && (at[length] == ',' || !at[length])) return true;
    return false;
}

static int check_names(cli_session *s)
{
    const char *only = cli_value(s->args, "only");
    for (const char *at = only ? only : ""; *at; at += strcspn(at, ","), at += *at == ',') {
        size_t length = strcspn(at, ",");
        bool known = length == strlen("products") && strncmp(at, "products", length) == 0;
        for (size_t i = 0; i < sizeof works / sizeof *works; i++)
            known = known || (strlen(works[i].name) == length && strncmp(at, works[i].name, length) == 0);
        if (!known)
            return cli_fail_text(s,
                                 "--only: '%.*s' is no benchmark; there are products, counts, mixture, means, margins, "
                                 "neighbours, spectrum, factors, directions",
                                 (int)length, at);
    }
    return CLI_DONE;
}

static void print_row(cli_json *j, const work *w, measured took)
{
    if (!j) {
        printf("%-11s %8.3f %10.3f  %s\n", w->name, took.wall, took.processor, w->what);
        fflush(stdout);
        return;
    }
    cli_json_open(j, w->name, '{');
    cli_json_real(j, "seconds", took.wall);
    cli_json_real(j, "processor_seconds", took.processor);
    cli_json_text(j, "what", w->what);
    cli_json_close(j, '}');
}

static plx_status run_all(cli_session *s, cli_json *j)
{
    const work products = {.name = "products"};
    double gflops = 0;
    if (wanted(s->args, &products)) {
        plx_status st = plx_blas_measure(&gflops, s->ctx);
        if (st != PLX_OK) return st;
        if (j) cli_json_real(j, "products_gflops", gflops);
        else printf("products    %8.3g GFLOP/s on one core, kernels for %s\n", gflops, plx_blas_core());
    }
    if (!j) printf("%-11s %8s %10s\n", "", "seconds", "processor");
    for (size_t i = 0; i < sizeof works / sizeof *works; i++) {
        measured took = {0};
        if (!wanted(s->args, &works[i])) continue;
        plx_status st = measure(&took, s->ctx, &works[i]);
        if (st != PLX_OK) return st;
        print_row(j, &works[i], took);
    }
    return PLX_OK;
}

static int run(const cli_args *args)
{
    cli_session s;
    cli_json j, *json = NULL;
    int code = cli_session_open(&s, args);
    if (code) return code;
    if ((code = check_names(&s)) == CLI_DONE) {
        if (cli_flag(args, "json")) {
            json = &j;
            cli_json_start(json, stdout, true);
            cli_json_open(json, NULL, '{');
            cli_json_text(json, "version", plx_version());
            cli_json_whole(json, "threads", plx_context_threads(s.ctx));
            cli_json_text(json, "kernels", plx_blas_core());
        }
        code = cli_fail(&s, run_all(&s, json));
        if (json && code == CLI_DONE) {
            cli_json_close(json, '}');
            putchar('\n');
        }
    }
    cli_session_close(&s);
    return code;
}

static const cli_option options[] = {
    {.name = "only",
     .kind = CLI_TEXT,
     .value = "NAME,...",
     .help = "Some of them: products, counts, mixture, means, margins, neighbours, spectrum, factors, directions."},
    {.name = "json", .kind = CLI_FLAG, .help = "The same as JSON, to compare machines."},
    CLI_END_OPTIONS};
static const cli_option *const option_sets[] = {options, cli_run_options, NULL};
static const cli_example examples[] = {{"parallax bench", "A minute of typical fits, each with its time."},
                                       {"parallax bench --only neighbours --threads 1", "One of them on one core."},
                                       CLI_END_EXAMPLES};

const cli_verb cli_verb_bench = {
    .name = "bench",
    .summary = "How long typical fits take on this machine.",
    .description =
        "Fits methods of several kinds to generated data, the same on every machine, and prints the wall time and "
        "the processor time (all threads together) of each: the faster of two runs. Peers are not run; "
        "docs/benchmarks.md compares with them.",
    .option_sets = option_sets,
    .examples = examples,
    .run = run,
};
