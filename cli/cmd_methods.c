/*
 * parallax methods: what there is, what can be set, what comes out; for people, for programs, for the documentation.
 */
#include <string.h>

#include "help.h"
#include "jsonout.h"
#include "method_choice.h"
#include "methods.h"
#include "read_data.h"
#include "output.h"

static const char *task_name(plx_task task)
{
    return task == PLX_TASK_CLASSIFY ? "classify" : task == PLX_TASK_CLUSTER ? "cluster" : "embed";
}

static const char *kind_name(plx_param_kind kind)
{
    static const char *const names[] = {"int",         "real",         "bool",  "choice", "text",
                                        "int or word", "real or word", "reals", "file"};
    return (size_t)kind < sizeof names / sizeof *names ? names[kind] : "text";
}

/* Allowed values in words for people: the kind is told only where the range does not. */
static const char *allowed_text(char *buffer, size_t size, const plx_param_info *p)
{
    const char *range = p->range ? p->range : "";
    switch (p->kind) {
    case PLX_PARAM_TEXT:
    case PLX_PARAM_FILE: return kind_name(p->kind);
    case PLX_PARAM_REAL:
    case PLX_PARAM_REAL_OR_WORD: snprintf(buffer, size, "number %s", range); break;
    case PLX_PARAM_REALS: snprintf(buffer, size, "numbers %s", range); break;
    default: snprintf(buffer, size, "%s", *range ? range : kind_name(p->kind)); break;
    }
    return buffer;
}

static const struct {
    unsigned bit;
    const char *name, *meaning;
} capabilities[] = {
    {PLX_CAN_PREDICT, "predict", "labels new samples"},
    {PLX_CAN_MISSING_VIEWS, "missing_views", "accepts samples without some views"},
    {PLX_CAN_MISSING_VALUES, "missing_values", "accepts single missing values"},
    {PLX_CAN_SPARSE, "sparse", "keeps sparse views sparse"},
    {PLX_CAN_KERNEL_VIEWS, "kernel_views", "accepts views of kind kernel"},
    {PLX_CAN_LABEL_SETS, "label_sets", "learns sets of labels and class hierarchies"},
    {PLX_CAN_USE_UNLABELLED, "use_unlabelled", "learns from unlabelled samples too"},
    {PLX_IS_RANDOM, "random", "the seed matters"},
    {PLX_IS_MONOTONE, "monotone", "the objective never gets worse"},
    {PLX_IS_FEATURE_FREE, "feature_free", "the order of features does not matter"},
    {PLX_IS_VIEW_FREE, "view_free", "the order of views does not matter"},
    {PLX_IS_FOR_COUNTS, "counts", "takes values for counts: none below 0, and no measurements"},
};
enum { CAPABILITIES = sizeof capabilities / sizeof *capabilities };

static const char *views_text(char *buffer, size_t size, const plx_method_info *m)
{
    if (m->max_views == 0) snprintf(buffer, size, "%lld or more", (long long)m->min_views);
    else if (m->min_views == m->max_views) snprintf(buffer, size, "%lld", (long long)m->min_views);
    else snprintf(buffer, size, "%lld to %lld", (long long)m->min_views, (long long)m->max_views);
    return buffer;
}

/* ---- for people ---- */

static int widest(int width, const char *text)
{
    int length = (int)strlen(text);
    return length > width ? length : width;
}

static void print_list(void)
{
    plx_method_info m = PLX_METHOD_INFO_INIT;
    int width = 0, ranks = 0;
    for (plx_index i = 0; i < plx_method_count(); i++) {
        if (plx_method_describe(&m, plx_method_name(i)) != PLX_OK) continue;
        width = widest(width, m.name);
        ranks = widest(ranks, m.ranks);
    }
    for (plx_index i = 0; i < plx_method_count(); i++)
        if (plx_method_describe(&m, plx_method_name(i)) == PLX_OK)
            printf("%-*s  %-8s  %-*s  %s\n", width, m.name, task_name(m.task), ranks, m.ranks, m.title);
    printf("\nThird column: what several processes divide (parallax-mpi); -: one process fits it.\n");
    printf("\n'parallax methods show NAME' lists parameters and arrays.\n");
}

static const char *ranks_text(const plx_method_info *m) { return strcmp(m->ranks, "-") == 0 ? "nothing" : m->ranks; }

static void show_head(const plx_method_info *m)
{
    char views[64], tasks[64];
    printf("%s - %s\n\n", m->name, m->title);
    cli_help_wrap(stdout, m->summary, 0, 0);
    printf("\nTask: %s. Views: %s. Time grows with the samples: %s. Several processes divide: %s.\n",
           cli_method_tasks(tasks, sizeof tasks, m), views_text(views, sizeof views, m), m->growth, ranks_text(m));
    if (m->scores) printf("A score is the %s.\n", m->scores);
    for (int c = 0; c < CAPABILITIES; c++)
        if (m->capabilities & capabilities[c].bit) printf("  + %s\n", capabilities[c].meaning);
}

static void show_parameters(const plx_method_info *m)
{
    plx_param_info p = PLX_PARAM_INFO_INIT;
    char allowed[256];
    if (m->params) printf("\nParameters (--set NAME=VALUE; those with .VIEW also NAME.VIEW=VALUE):\n");
    for (plx_index i = 0; i < m->params && plx_method_param(&p, m->name, i) == PLX_OK; i++) {
        printf("  %s%s = %s", p.name, p.per_view ? "[.VIEW]" : "", *p.def ? p.def : "not set");
        printf("   (%s)\n      ", allowed_text(allowed, sizeof allowed, &p));
        cli_help_wrap(stdout, p.help, 6, 6);
    }
}

static void show_arrays(const plx_method_info *m)
{
    plx_array_info a = PLX_ARRAY_INFO_INIT;
    if (m->arrays) printf("\nArrays (--dump NAME=FILE):\n");
    for (plx_index i = 0; i < m->arrays && plx_method_array(&a, m->name, i) == PLX_OK; i++) {
        printf("  %s   %s%s\n      ", a.name, a.shape, a.on_request ? ", computed on request" : "");
        cli_help_wrap(stdout, a.help, 6, 6);
    }
    if (m->transform) printf("\n'parallax transform' writes the array %s.\n", m->transform);
}

void cli_show_method(const plx_method_info *m)
{
    show_head(m);
    show_parameters(m);
    show_arrays(m);
    if (m->citation && *m->citation) {
        fputs("\nSource: ", stdout);
        cli_help_wrap(stdout, m->citation, 8, 8);
    }
}

/* ---- for the documentation ---- */

/* A cell of a Markdown table: bars are escaped. */
static void put_cell(const char *text)
{
    for (; *text; text++) {
        if (*text == '|') putchar('\\');
        putchar(*text == '\n' ? ' ' : *text);
    }
}

static void markdown_parameters(const plx_method_info *m)
{
    plx_param_info p = PLX_PARAM_INFO_INIT;
    if (!m->params) return;
    printf("\n### Parameters\n\n| name | kind | default | allowed | meaning |\n|---|---|---|---|---|\n");
    for (plx_index i = 0; i < m->params && plx_method_param(&p, m->name, i) == PLX_OK; i++) {
        printf("| `%s`%s | %s | %s%s%s | ", p.name, p.per_view ? " (also `.VIEW`)" : "", kind_name(p.kind),
               *p.def ? "`" : "", *p.def ? p.def : "not set", *p.def ? "`" : "");
        put_cell(p.range ? p.range : "");
        fputs(" | ", stdout);
        put_cell(p.help);
        puts(" |");
    }
}

static void markdown_arrays(const plx_method_info *m)
{
    plx_array_info a = PLX_ARRAY_INFO_INIT;
    if (!m->arrays) return;
    printf("\n### Arrays\n\n| name | shape | meaning |\n|---|---|---|\n");
    for (plx_index i = 0; i < m->arrays && plx_method_array(&a, m->name, i) == PLX_OK; i++) {
        printf("| `%s` | %s%s | ", a.name, a.shape, a.on_request ? " (on request)" : "");
        put_cell(a.help);
        puts(" |");
    }
    if (m->transform) printf("\n`parallax transform` writes `%s`.\n", m->transform);
}

static void markdown(const plx_method_info *m)
{
    char views[64];
    printf("## %s: %s\n\n%s\n\n", m->name, m->title, m->summary);
    printf("Task: %s. Views: %s. Time grows with the samples: %s. Several processes divide: %s.", task_name(m->task),
           views_text(views, sizeof views, m), m->growth, ranks_text(m));
    if (m->scores) printf(" A score is the %s.", m->scores);
    printf("\n\n### Capabilities\n\n| capability | |\n|---|---|\n");
    for (int c = 0; c < CAPABILITIES; c++)
        printf("| %s | %s |\n", capabilities[c].meaning, m->capabilities & capabilities[c].bit ? "yes" : "no");
    markdown_parameters(m);
    markdown_arrays(m);
    if (m->citation && *m->citation) printf("\n### Source\n\n%s\n", m->citation);
}

/* ---- for programs ---- */

static void json_parameters(cli_json *j, const plx_method_info *m)
{
    plx_param_info p = PLX_PARAM_INFO_INIT;
    cli_json_open(j, "parameters", '[');
    for (plx_index i = 0; i < m->params && plx_method_param(&p, m->name, i) == PLX_OK; i++) {
        cli_json_open(j, NULL, '{');
        cli_json_text(j, "name", p.name);
        cli_json_text(j, "kind", kind_name(p.kind));
        cli_json_bool(j, "per_view", p.per_view);
        cli_json_text(j, "default", p.def);
        cli_json_text(j, "range", p.range);
        cli_json_text(j, "help", p.help);
        cli_json_close(j, '}');
    }
    cli_json_close(j, ']');
}

static void json_arrays(cli_json *j, const plx_method_info *m)
{
    plx_array_info a = PLX_ARRAY_INFO_INIT;
    cli_json_open(j, "arrays", '[');
    for (plx_index i = 0; i < m->arrays && plx_method_array(&a, m->name, i) == PLX_OK; i++) {
        cli_json_open(j, NULL, '{');
        cli_json_text(j, "name", a.name);
        cli_json_text(j, "shape", a.shape);
        cli_json_bool(j, "on_request", a.on_request);
        cli_json_text(j, "help", a.help);
        cli_json_close(j, '}');
    }
    cli_json_close(j, ']');
}

static void json_method(cli_json *j, const plx_method_info *m)
{
    cli_json_open(j, NULL, '{');
    cli_json_text(j, "name", m->name);
    cli_json_text(j, "title", m->title);
    cli_json_text(j, "summary", m->summary);
    cli_json_text(j, "citation", m->citation);
    cli_json_text(j, "task", task_name(m->task));
    cli_json_whole(j, "min_views", m->min_views);
    cli_json_whole(j, "max_views", m->max_views);
    cli_json_text(j, "transform", m->transform);
    cli_json_text(j, "scores", m->scores);
    cli_json_text(j, "growth", m->growth);
    cli_json_text(j, "ranks", m->ranks);
    cli_json_open(j, "capabilities", '{');
    for (int c = 0; c < CAPABILITIES; c++)
        cli_json_bool(j, capabilities[c].name, (m->capabilities & capabilities[c].bit) != 0);
    cli_json_close(j, '}');
    json_parameters(j, m);
    json_arrays(j, m);
    cli_json_close(j, '}');
}

/* ---- the verb ---- */

static int find_method(plx_method_info *m, const cli_args *args, const char *name)
{
    if (plx_method_describe(m, name) == PLX_OK) return CLI_DONE;
    const char *near = plx_method_nearest(name);
    if (near) return cli_usage_error(args->verb, "unknown method '%s'; did you mean '%s'?", name, near);
    return cli_usage_error(args->verb, "unknown method '%s'", name);
}

static void print_all(bool json)
{
    plx_method_info m = PLX_METHOD_INFO_INIT;
    cli_json j;
    cli_json_start(&j, stdout, true);
    if (json) cli_json_open(&j, NULL, '[');
    for (plx_index i = 0; i < plx_method_count(); i++) {
        if (plx_method_describe(&m, plx_method_name(i)) != PLX_OK) continue;
        if (json) json_method(&j, &m);
        else markdown(&m);
        if (!json && i + 1 < plx_method_count()) putchar('\n');
    }
    if (!json) return;
    cli_json_close(&j, ']');
    putchar('\n');
}

static void print_one(const plx_method_info *m, bool json, bool as_markdown)
{
    cli_json j;
    if (json) {
        cli_json_start(&j, stdout, true);
        json_method(&j, m);
        putchar('\n');
    } else if (as_markdown) {
        markdown(m);
    } else {
        cli_show_method(m);
    }
}

/* The list for a data set, a task, or both. */
static int print_choice(const cli_args *args)
{
    const char *path = cli_value(args, "for");
    plx_dataset *data = NULL;
    cli_session s;
    if (!path && !cli_value(args, "view")) {
        cli_print_choice(NULL, cli_value(args, "task"));
        return CLI_DONE;
    }
    int code = cli_session_open(&s, args);
    if (code) return code;
    code = cli_read_data(&data, &s, path);
    if (!code) cli_say_warnings(&s);
    if (!code) cli_print_choice(data, cli_value(args, "task"));
    plx_dataset_destroy(data);
    cli_session_close(&s);
    return code;
}

static int list(const cli_args *args, bool json, bool as_markdown)
{
    if (cli_flag(args, "for") || cli_flag(args, "task") || cli_flag(args, "view")) {
        if (json || as_markdown) return cli_usage_error(args->verb, "--for and --task print a list for people only");
        return print_choice(args);
    }
    if (json || as_markdown) print_all(json);
    else print_list();
    return CLI_DONE;
}

static int run(const cli_args *args)
{
    plx_method_info m = PLX_METHOD_INFO_INIT;
    const char *action = args->positional[0], *name = args->positional[1];
    bool json = cli_flag(args, "json"), as_markdown = cli_flag(args, "markdown");
    bool one = action && strcmp(action, "show") == 0;
    if (json && as_markdown) return cli_usage_error(args->verb, "--json and --markdown exclude each other");
    if (one && !name) return cli_usage_error(args->verb, "NAME is missing");
    if (!one && name) return cli_usage_error(args->verb, "unexpected argument '%s'", name);
    if (!action || strcmp(action, "list") == 0) return list(args, json, as_markdown);
    if (!one && plx_method_describe(&m, action) != PLX_OK && !plx_method_nearest(action))
        return cli_usage_error(args->verb, "ACTION '%s': expected list, show, or the name of a method", action);
    int code = find_method(&m, args, one ? name : action);
    if (!code) print_one(&m, json, as_markdown);
    return code;
}

static const cli_positional positionals[] = {
    {"ACTION", CLI_METHOD, true, "list (default), show, or the name of a method.", "list|show"},
    {"NAME", CLI_METHOD, true, "For show: the method.", NULL},
    CLI_END_POSITIONALS};
static const cli_option options[] = {
    {.name = "json", .kind = CLI_FLAG, .help = "Complete descriptions for programs."},
    {.name = "markdown", .kind = CLI_FLAG, .help = "The reference half of a documentation page."},
    CLI_END_OPTIONS};
static const cli_option choice_options[] = {{.name = "for",
                                             .value = "DATA",
                                             .kind = CLI_FILE,
                                             .help = "Which methods suit this data set, and why not the others."},
                                            {.name = "task",
                                             .value = "TASK",
                                             .kind = CLI_CHOICE,
                                             .choices = "classify|cluster|regression|embed",
                                             .help = "Only methods that do this."},
                                            {.name = "quiet", .kind = CLI_FLAG, .help = "No warnings."},
                                            CLI_END_OPTIONS};
static const cli_option *const option_sets[] = {options, choice_options, cli_read_options, NULL};
static const cli_example examples[] = {
    {"parallax methods", "All methods, one per line."},
    {"parallax methods show nb", "Parameters and arrays of naive Bayes."},
    {"parallax methods --for data/cora --task cluster", "Which ones can cluster these data."},
    {"parallax methods --json", "Everything about every method."},
    CLI_END_EXAMPLES};

const cli_verb cli_verb_methods = {
    .name = "methods",
    .summary = "List methods, or show what one can do and how to set it.",
    .description =
        "Lists the methods of the library. 'show NAME' tells what a method does, what it accepts, its parameters with "
        "defaults and ranges, and the arrays it offers.",
    .positionals = positionals,
    .option_sets = option_sets,
    .examples = examples,
    .run = run,
};
