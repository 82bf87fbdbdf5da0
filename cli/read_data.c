/*
 * Options to plx_read_options, and reading.
 */
#include "read_data.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "output.h"

/* ---- options ---- */

static char *keep(cli_reading *r, char *text)
{
    if (text) r->own[r->n_own++] = text;
    return text;
}

/* All uses of an option as one list. */
static int list_of(const char **out, cli_reading *r, cli_session *s, const char *option)
{
    size_t bytes = 1;
    *out = NULL;
    int count = cli_value_count(s->args, option);
    if (count < 2) {
        *out = cli_value(s->args, option);
        return CLI_DONE;
    }
    for (int i = 0; i < count; i++) bytes += strlen(cli_value_at(s->args, option, i)) + 1;
    char *list = keep(r, calloc(bytes, 1));
    if (!list) return cli_fail_text(s, "out of memory");
    for (int i = 0; i < count; i++) {
        if (i) strcat(list, ",");
        strcat(list, cli_value_at(s->args, option, i));
    }
    *out = list;
    return CLI_DONE;
}

/* FILE[:COLUMNS] at the last colon, unless a file of the whole name exists. */
static int cut_source(const char **file, const char **columns, cli_reading *r, cli_session *s, const char *value)
{
    char *copy = keep(r, strdup(value)), *colon = copy ? strrchr(copy, ':') : NULL;
    if (!copy) return cli_fail_text(s, "out of memory");
    *file = copy;
    *columns = NULL;
    if (!colon || colon == copy || access(copy, F_OK) == 0) return CLI_DONE;
    if (!colon[1]) return cli_usage_error(s->args->verb, "'%s': a column is expected behind the colon", value);
    *colon = '\0';
    *columns = colon + 1;
    return CLI_DONE;
}

static int take_views(cli_reading *r, cli_session *s)
{
    int count = cli_value_count(s->args, "view"), code = CLI_DONE;
    for (int i = 0; i < count && !code; i++) {
        const char *value = cli_value_at(s->args, "view", i), *equals = strchr(value, '=');
        plx_view_source *v = &r->views[i];
        *v = (plx_view_source)PLX_VIEW_SOURCE_INIT;
        v->name = keep(r, strndup(value, (size_t)(equals - value)));
        if (!v->name) return cli_fail_text(s, "out of memory");
        for (int k = 0; k < i; k++)
            if (strcmp(r->views[k].name, v->name) == 0)
                return cli_usage_error(s->args->verb, "--view %s: duplicate view name '%s'", value, v->name);
        code = cut_source(&v->file, &v->columns, r, s, equals + 1);
    }
    r->o.views = r->views;
    r->o.n_views = count;
    return code;
}

static int check_reading(cli_session *s, const char *path, const cli_reading *r)
{
    if (!path && !r->o.n_views) return cli_usage_error(s->args->verb, "DATA is missing");
    if (!path && r->o.columns)
        return cli_usage_error(s->args->verb, "--columns is about DATA; write --view NAME=FILE:COLUMNS");
    if (!path && r->o.format) return cli_usage_error(s->args->verb, "--format is about DATA, and there is none");
    return CLI_DONE;
}

/* A verb's own --format is about what it writes. */
static bool reads_format(const cli_verb *verb)
{
    for (int i = 0; verb->option_sets[i]; i++)
        if (verb->option_sets[i] == cli_read_options) return true;
    return false;
}

int cli_reading_open(cli_reading *r, cli_session *s, const char *path)
{
    const cli_args *args = s->args;
    const char *join = cli_value(args, "join"), *labels = cli_value(args, "labels-from");
    int views = cli_value_count(args, "view"), code = CLI_DONE;
    *r = (cli_reading){.o = PLX_READ_OPTIONS_INIT};
    r->views = calloc((size_t)views + 1, sizeof *r->views);
    r->own = calloc(2 * (size_t)views + 8, sizeof *r->own);
    if (!r->views || !r->own) return cli_fail_text(s, "out of memory");
    if (reads_format(args->verb)) r->o.format = cli_value(args, "format");
    r->o.join = join && strcmp(join, "intersection") == 0 ? PLX_JOIN_INTERSECTION : PLX_JOIN_UNION;
    r->o.trust = cli_flag(args, "trust");
    r->o.own_rows = s->own_rows;
    r->o.label = cli_value(args, "label-column");
    r->o.truth = cli_value(args, "truth-column");
    r->o.id = cli_value(args, "id-column");
    r->o.text_options = cli_value(args, "text-options");
    code = list_of(&r->o.text, r, s, "text-column");
    if (!code) code = list_of(&r->o.columns, r, s, "columns");
    if (!code) code = list_of(&r->o.drop, r, s, "drop-column");
    if (!code) code = take_views(r, s);
    if (!code && labels) code = cut_source(&r->o.labels_file, &r->o.labels_column, r, s, labels);
    return code ? code : check_reading(s, path, r);
}

void cli_reading_close(cli_reading *r)
{
    for (int i = 0; i < r->n_own; i++) free(r->own[i]);
    free(r->own);
    free(r->views);
}

/* ---- reading ---- */

int cli_read_data_for(plx_dataset **out, cli_session *s, const char *path, const plx_model *model)
{
    cli_reading r;
    int code = cli_reading_open(&r, s, path);
    r.o.like = model;
    if (!code) code = cli_fail(s, plx_dataset_read(out, s->ctx, path, &r.o));
    if (!code) code = cli_check_data_files(s, *out);
    cli_reading_close(&r);
    return code;
}

int cli_read_data(plx_dataset **out, cli_session *s, const char *path) { return cli_read_data_for(out, s, path, NULL); }
