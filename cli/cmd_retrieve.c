/*
 * parallax retrieve: search across views in the space of a model.
 */
#include <string.h>

#include "jsonout.h"
#include "output.h"
#include "read_data.h"
#include "summary.h"

static const char *const outputs[] = {"out", "json", NULL};

typedef struct finding {
    plx_model *model;
    plx_dataset *queries, *items; /* the same object when the same data are given twice */
    plx_retrieval *result;
    plx_metrics *metrics;
} finding;

static void finding_free(finding *f)
{
    plx_metrics_destroy(f->metrics);
    plx_retrieval_destroy(f->result);
    if (f->items != f->queries) plx_dataset_destroy(f->items);
    plx_dataset_destroy(f->queries);
    plx_model_destroy(f->model);
}

static int find(finding *f, cli_session *s)
{
    const char *query = cli_value(s->args, "query"), *in = cli_value(s->args, "in");
    plx_retrieve_options o = PLX_RETRIEVE_OPTIONS_INIT;
    o.top = cli_whole(s->args, "top", o.top);
    o.from = cli_value(s->args, "from");
    o.to = cli_value(s->args, "to");
    int code = cli_fail(s, plx_model_load(&f->model, s->ctx, s->args->positional[0]));
    if (!code) code = cli_read_data_for(&f->queries, s, query, f->model);
    if (!code && strcmp(query, in) == 0) f->items = f->queries;
    else if (!code) code = cli_read_data_for(&f->items, s, in, f->model);
    if (!code) code = cli_fail(s, plx_retrieve(&f->result, s->ctx, f->model, f->queries, f->items, &o));
    if (!code) code = cli_fail(s, plx_retrieval_metrics(&f->metrics, s->ctx, f->result));
    return code;
}

static int write_json(cli_session *s, const finding *f, const char *path)
{
    cli_json_file out;
    cli_json *j = &out.j;
    int code = cli_json_file_open(&out, s);
    if (code) return code;
    cli_json_text(j, "method", plx_model_method(f->model));
    cli_json_text(j, "version", plx_version());
    cli_json_whole(j, "queries", plx_dataset_samples(f->queries));
    cli_json_whole(j, "items", plx_dataset_samples(f->items));
    cli_json_warnings(j, s);
    cli_json_metrics(j, "metrics", f->metrics);
    return cli_json_file_write(&out, s, path);
}

/* "mates 0.85 top1, 0.98 top10, ..." for people. */
static void say_quality(cli_session *s, const plx_metrics *metrics)
{
    char value[64];
    plx_index median = plx_metrics_find(metrics, "median_rank");
    if (median < 0) {
        cli_say(s, "quality  no query is among the items, so there is no rank to measure");
        return;
    }
    cli_say_metrics(s, metrics);
    cli_say(s, "mates    median rank %s", cli_metric_text(value, sizeof value, metrics, median));
}

static int write_results(cli_session *s, const finding *f)
{
    const char *out = cli_value(s->args, "out"), *json = cli_value(s->args, "json");
    int code = CLI_DONE;
    if (out || !json) code = cli_fail(s, plx_retrieval_write(s->ctx, f->result, f->queries, f->items, out ? out : "-"));
    if (!code && json) code = write_json(s, f, json);
    if (code) return code;
    cli_say(s, "search   %s among %s", CLI_COUNT(plx_dataset_samples(f->queries), "query", "queries"),
            CLI_COUNT(plx_dataset_samples(f->items), "item", "items"));
    say_quality(s, f->metrics);
    cli_say_warnings(s);
    cli_say_outputs(s, outputs);
    return CLI_DONE;
}

static int run(const cli_args *args)
{
    cli_session s;
    finding f = {0};
    if (!cli_value(args, "query")) return cli_usage_error(args->verb, "--query DATA is missing");
    if (!cli_value(args, "in")) return cli_usage_error(args->verb, "--in DATA is missing: where to search");
    int code = cli_session_open(&s, args);
    if (code) return code;
    code = cli_check_outputs(&s, outputs);
    if (!code) code = find(&f, &s);
    if (!code) code = write_results(&s, &f);
    finding_free(&f);
    cli_session_close(&s);
    return code;
}

static const cli_positional positionals[] = {
    {"MODEL", CLI_FILE, false, "A model of kcca or cca written by 'parallax fit --model'.", NULL}, CLI_END_POSITIONALS};

static const cli_option options[] = {
    {.name = "query", .value = "DATA", .kind = CLI_FILE, .help = "What to search for, in any of the views. Needed."},
    {.name = "in", .value = "DATA", .kind = CLI_FILE, .help = "Where to search, in any of the views. Needed."},
    {.name = "top", .value = "N", .kind = CLI_WHOLE, .low = 1, .high = 1e9, .help = "Items per query (default 10)."},
    {.name = "from",
     .value = "VIEW",
     .kind = CLI_TEXT,
     .help = "Look at this view of the queries only (default: all they have)."},
    {.name = "to",
     .value = "VIEW",
     .kind = CLI_TEXT,
     .help = "Look at this view of the items only (default: all they have)."},
    {.name = "out",
     .letter = 'o',
     .value = "FILE",
     .kind = CLI_FILE,
     .help = "Write query,rank,item,similarity there (default: standard output)."},
    {.name = "json",
     .value = "FILE",
     .kind = CLI_FILE,
     .help = "Write run facts and metrics as JSON (- for standard output)."},
    CLI_END_OPTIONS};

static const cli_option *const option_sets[] = {options,          cli_run_options,  cli_device_options,
                                                cli_talk_options, cli_read_options, NULL};

static const cli_example examples[] = {{"parallax retrieve space.plx --query data/cora --in new-papers --out hits.csv",
                                        "Which new papers are nearest to each known one?"},
                                       CLI_END_EXAMPLES};

const cli_verb cli_verb_retrieve = {
    .name = "retrieve",
    .summary = "Search across views in the space a model learned.",
    .description =
        "Brings queries and items into the space of a model of kcca or cca and lists for every query the items of "
        "largest cosine. A query with the same id as an item (without ids: the same row) is its mate; how well mates "
        "are found is measured as top1, top10, mrr and median_rank.",
    .positionals = positionals,
    .option_sets = option_sets,
    .examples = examples,
    .run = run,
};
