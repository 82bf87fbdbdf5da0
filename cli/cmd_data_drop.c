/*
 * parallax data drop: simulate missing views.
 */
#include <stdlib.h>
#include <string.h>

#include "output.h"
#include "patterns.h"
#include "read_data.h"
#include "suggest.h"
#include "summary.h"

static int unknown_view(cli_session *s, const plx_dataset *data, const cli_given *g)
{
    cli_suggestion near = {g->view, NULL, 0};
    plx_view_info v = PLX_VIEW_INFO_INIT;
    for (plx_index i = 0; plx_dataset_view_info(&v, data, i) == PLX_OK; i++) cli_suggest(&near, v.name);
    const char *best = cli_suggested(&near);
    const char *option = g->option->name;
    if (best)
        return cli_usage_error(s->args->verb, "--%s.%s: there is no view '%s'; did you mean '%s'?", option, g->view,
                               g->view, best);
    return cli_usage_error(s->args->verb, "--%s.%s: there is no view '%s'", option, g->view, g->view);
}

/* One number per view from --NAME R and --NAME.VIEW R. */
static int view_numbers(double *out, cli_session *s, const plx_dataset *data, const char *option, double otherwise)
{
    double all = cli_real(s->args, option, otherwise);
    for (plx_index v = 0; v < plx_dataset_views(data); v++) out[v] = all;
    for (int i = 0; i < s->args->n_given; i++) {
        const cli_given *g = &s->args->given[i];
        if (!g->view || strcmp(g->option->name, option) != 0) continue;
        plx_index v = plx_dataset_find_view(data, g->view);
        if (v < 0) return unknown_view(s, data, g);
        cli_read_real(&out[v], g->value);
    }
    return CLI_DONE;
}

static int simulate(uint8_t *present, double *rates, double *weights, cli_session *s, const plx_dataset *data)
{
    plx_missing_options o = PLX_MISSING_OPTIONS_INIT;
    const char *pattern = cli_value(s->args, "pattern");
    int code = view_numbers(rates, s, data, "rate", 0);
    if (!code) code = view_numbers(weights, s, data, "weight", 1);
    if (code) return code;
    if (pattern && plx_missing_pattern_parse(&o.pattern, pattern) != PLX_OK)
        return cli_usage_error(s->args->verb, "--pattern %s is not known", pattern);
    bool exclusive = o.pattern == PLX_MISSING_EXCLUSIVE;
    if (!exclusive && !cli_flag(s->args, "rate"))
        return cli_usage_error(s->args->verb, "--rate is missing: the share of rows to remove");
    if (exclusive && cli_flag(s->args, "rate"))
        return cli_usage_error(s->args->verb,
                               "--pattern exclusive keeps one view of each sample; use --complete instead of --rate");
    if (exclusive) o.view_weights = weights;
    else o.view_rates = rates;
    o.complete = cli_real(s->args, "complete", 0);
    o.blocks = cli_whole(s->args, "blocks", 0);
    o.contiguous = cli_flag(s->args, "contiguous");
    o.keep_one = !cli_flag(s->args, "allow-none");
    return cli_fail(s, plx_missing_simulate(present, s->ctx, data, &o));
}

static int drop(plx_dataset **out, cli_session *s, const plx_dataset *data)
{
    size_t views = (size_t)plx_dataset_views(data), n = (size_t)plx_dataset_samples(data);
    uint8_t *present = calloc(views * n + 1, 1);
    double *numbers = calloc(2 * views + 1, sizeof *numbers);
    int code =
        present && numbers ? simulate(present, numbers, numbers + views, s, data) : cli_fail_text(s, "out of memory");
    if (!code) code = cli_fail(s, plx_dataset_mask(out, s->ctx, data, present));
    free(present);
    free(numbers);
    return code;
}

static void say_presence(cli_session *s, const plx_dataset *data)
{
    plx_view_info v = PLX_VIEW_INFO_INIT;
    for (plx_index i = 0; plx_dataset_view_info(&v, data, i) == PLX_OK; i++)
        cli_say(s, "view     %s: present for %s", v.name, CLI_COUNT(v.present, "sample", "samples"));
}

static int run(const cli_args *args)
{
    cli_session s;
    plx_dataset *data = NULL, *thinned = NULL;
    const char *out = args->positional[1];
    int code = cli_session_open(&s, args);
    if (code) return code;
    code = cli_check_new(&s, out);
    if (!code) code = cli_read_data(&data, &s, args->positional[0]);
    if (!code) code = drop(&thinned, &s, data);
    if (!code) code = cli_fail(&s, plx_dataset_write(s.ctx, thinned, out));
    if (!code) {
        cli_say_data(&s, thinned);
        say_presence(&s, thinned);
        cli_say_warnings(&s);
        cli_say(&s, "wrote    %s", out);
    }
    plx_dataset_destroy(thinned);
    plx_dataset_destroy(data);
    cli_session_close(&s);
    return code;
}

static const cli_positional positionals[] = {
    {"DATA", CLI_FILE, false, "A data set directory, its manifest, or a single file.", NULL},
    {"OUT", CLI_FILE, false, "A new directory, or a new .h5mu file.", NULL},
    CLI_END_POSITIONALS};
static const cli_option options[] = {
    {.name = "pattern",
     .value = "HOW",
     .kind = CLI_CHOICE,
     .choices = "mcar|exclusive|block",
     .help = "mcar (default): each row of each view on its own; exclusive: a sample keeps one view; block: groups of "
             "samples lack the "
             "same views."},
    {.name = "rate",
     .value = "R",
     .kind = CLI_REAL,
     .low = 0,
     .high = 1,
     .by_view = true,
     .help = "mcar, block: share of a view's rows to remove."},
    {.name = "weight",
     .value = "W",
     .kind = CLI_REAL,
     .low = 0,
     .by_view = true,
     .help = "exclusive: odds of a view being the one kept (default 1)."},
    {.name = "complete",
     .value = "R",
     .kind = CLI_REAL,
     .low = 0,
     .high = 1,
     .help = "exclusive: share of samples that keep all views."},
    {.name = "blocks",
     .value = "N",
     .kind = CLI_WHOLE,
     .low = 1,
     .help = "Number of groups (block: 10; exclusive: each sample on its own)."},
    {.name = "contiguous", .kind = CLI_FLAG, .help = "Groups are neighbouring samples."},
    {.name = "allow-none", .kind = CLI_FLAG, .help = "A sample may lose all its views."},
    CLI_END_OPTIONS};
static const cli_option *const option_sets[] = {options,          cli_seed_options, cli_memory_options,
                                                cli_read_options, cli_talk_options, NULL};
static const cli_example examples[] = {
    {"parallax data drop data/cora cora-thin --rate 0.3 --seed 1", "Three rows of ten disappear from each view."},
    {"parallax data drop data/cora cora-links --rate.links 0.5", "Half of the samples lose their links."},
    {"parallax data drop data/cora cora-split --pattern exclusive --complete 0.1",
     "A tenth keeps all views, the rest one each."},
    CLI_END_EXAMPLES};

const cli_verb cli_verb_data_drop = {
    .group = "data",
    .name = "drop",
    .summary = "Simulate missing views.",
    .description = "Removes views of samples at random and writes the rest to OUT, which must not exist. A sample "
                   "keeps at least one "
                   "view. The same seed removes the same rows.",
    .positionals = positionals,
    .option_sets = option_sets,
    .examples = examples,
    .run = run,
};
