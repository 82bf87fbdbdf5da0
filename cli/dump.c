/*
 * --set and --dump: settings into parameters, named arrays into files.
 */
#include "dump.h"

#include <stdlib.h>
#include <string.h>

/* "key=value" as two texts; the copy is the caller's to free. */
static char *cut_at_equals(const char *text, const char **value)
{
    char *copy = strdup(text), *equals = copy ? strchr(copy, '=') : NULL;
    if (!equals) return copy;
    *equals = '\0';
    *value = equals + 1;
    return copy;
}

/* A parameter a second time, also by another of its names, would replace the first in silence. Every setting has a text
 * of its own, so two keys with the same text in memory are one parameter. */
static int check_once(cli_session *s, const plx_params *params, int use, const char *key)
{
    const char *now = plx_params_get(params, key), *other = NULL;
    int code = CLI_DONE;
    for (int i = 0; !code && i < use && (other = cli_value_at(s->args, "set", i)); i++) {
        const char *ignored = NULL;
        char *earlier = cut_at_equals(other, &ignored);
        if (!earlier) return cli_fail_text(s, "out of memory");
        if (strcmp(earlier, key) == 0)
            code =
                cli_usage_error(s->args->verb, "--set %s: '%s' is set twice", cli_value_at(s->args, "set", use), key);
        else if (now && plx_params_get(params, earlier) == now)
            code =
                cli_usage_error(s->args->verb, "'%s' and '%s' are the same parameter; set one of them", earlier, key);
        free(earlier);
    }
    return code;
}

int cli_set_params(plx_params *params, cli_session *s)
{
    int code = CLI_DONE;
    const char *setting = NULL;
    for (int i = 0; !code && (setting = cli_value_at(s->args, "set", i)); i++) {
        const char *value = "";
        char *key = cut_at_equals(setting, &value);
        code = key ? cli_fail(s, plx_params_set(params, s->ctx, key, value)) : cli_fail_text(s, "out of memory");
        if (!code) code = check_once(s, params, i, key);
        free(key);
    }
    return code;
}

/* ---- arrays ---- */

void cli_free_names(char **names, int count)
{
    for (int i = 0; names && i < count; i++) free(names[i]);
    free(names);
}

int cli_dump_names(char ***out, cli_session *s)
{
    int count = cli_value_count(s->args, "dump"), made = 0;
    char **names = calloc((size_t)count + 1, sizeof *names);
    *out = NULL;
    if (!names) return cli_fail_text(s, "out of memory");
    for (; made < count; made++) {
        const char *file = NULL;
        names[made] = cut_at_equals(cli_value_at(s->args, "dump", made), &file);
        if (!names[made]) break;
    }
    if (made == count) {
        *out = names;
        return CLI_DONE;
    }
    cli_free_names(names, made);
    return cli_fail_text(s, "out of memory");
}

static bool ends_with(const char *text, const char *end)
{
    size_t n = strlen(text), m = strlen(end);
    return n >= m && strcmp(text + n - m, end) == 0;
}

enum { DENSE_LIMIT = 50 * 1000 * 1000 }; /* entries of a sparse array that may be written out in full */

static int check_sparse(cli_session *s, plx_ccsr m, const char *name, const char *path)
{
    if (ends_with(path, ".mtx") || !m.cols || m.rows <= DENSE_LIMIT / m.cols) return CLI_DONE;
    return cli_fail_text(s, "%s: array '%s' is sparse and %lld x %lld; name a .mtx file instead", path, name,
                         (long long)m.rows, (long long)m.cols);
}

static int list_arrays(cli_session *s, const plx_model *model, const char *name)
{
    char list[512] = "";
    size_t used = 0;
    for (plx_index i = 0; i < plx_model_arrays(model) && used < sizeof list - 80; i++)
        used +=
            (size_t)snprintf(list + used, sizeof list - used, "%s%s", i ? ", " : "", plx_model_array_name(model, i));
    return cli_usage_error(s->args->verb, "this %s model has no array '%s'; it has %s", plx_model_method(model), name,
                           list);
}

/* Write an array, or only see that it can be written. */
static int dump_one(cli_session *s, const plx_model *model, const plx_dataset *data, const char *request, bool write)
{
    const char *path = "";
    plx_cmat dense = {0};
    plx_ccsr sparse = {0};
    char *name = cut_at_equals(request, &path);
    int code = CLI_DONE;
    if (!name) return cli_fail_text(s, "out of memory");
    bool is_dense = plx_model_array(&dense, model, name) == PLX_OK;
    bool is_sparse = !is_dense && plx_model_array_sparse(&sparse, model, name) == PLX_OK;
    if (!is_dense && !is_sparse) code = list_arrays(s, model, name);
    else if (!write) code = is_dense ? CLI_DONE : check_sparse(s, sparse, name, path);
    else code = cli_fail(s, plx_model_array_write(s->ctx, model, data, name, path));
    free(name);
    return code;
}

int cli_dump_all(cli_session *s, const plx_model *model, const plx_dataset *data, bool write)
{
    const char *request = NULL;
    int code = CLI_DONE;
    for (int i = 0; !code && (request = cli_value_at(s->args, "dump", i)); i++)
        code = dump_one(s, model, data, request, write);
    return code;
}
