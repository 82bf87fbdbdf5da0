/*
 * Shares are checked here and drawn by the library, since every run draws anew; listed pairs are resolved to
 * rows once, by id where the data have ids and by row number otherwise.
 */
#include "pair_list.h"

#include <stdlib.h>
#include <string.h>

static int add(cli_pairs *p, cli_session *s, plx_index sample, plx_index view)
{
    if ((p->count & (p->count - 1)) == 0) { /* room for the next power of two */
        plx_pair *larger = realloc(p->pairs, (size_t)(p->count ? 2 * p->count : 1) * sizeof *larger);
        if (!larger) return cli_fail_text(s, "out of memory");
        p->pairs = larger;
    }
    p->pairs[p->count++] = (plx_pair){sample, view};
    return CLI_DONE;
}

/* ---- drawn in every run ---- */

/* VIEW=SHARE into the view's rate. */
static int read_share(double *rates, cli_session *s, const plx_dataset *data, const char *text)
{
    const char *equals = strrchr(text, '=');
    char name[256];
    double share = 0;
    if (!equals || equals == text || (size_t)(equals - text) >= sizeof name || !cli_read_real(&share, equals + 1) ||
        !(share > 0 && share <= 1))
        return cli_usage_error(s->args->verb, "--hide %s: expected VIEW=SHARE with a share above 0 and at most 1",
                               text);
    snprintf(name, sizeof name, "%.*s", (int)(equals - text), text);
    plx_index v = plx_dataset_find_view(data, name);
    if (v < 0) return cli_usage_error(s->args->verb, "--hide %s: there is no view '%s'", text, name);
    rates[v] = share;
    return CLI_DONE;
}

static int read_shares(double **out, cli_session *s, const plx_dataset *data)
{
    int code = CLI_DONE;
    const char *text = NULL;
    *out = calloc((size_t)plx_dataset_views(data) + 1, sizeof **out);
    if (!*out) return cli_fail_text(s, "out of memory");
    for (int i = 0; !code && (text = cli_value_at(s->args, "hide", i)); i++) code = read_share(*out, s, data, text);
    return code;
}

/* ---- listed ---- */

static void unquote(char *text)
{
    size_t length = strlen(text), to = 0;
    if (length < 2 || text[0] != '"' || text[length - 1] != '"') return;
    for (size_t i = 1; i < length - 1; i++) {
        if (text[i] == '"' && text[i + 1] == '"') i++;
        text[to++] = text[i];
    }
    text[to] = '\0';
}

static plx_index find_sample(const plx_dataset *data, const char *id)
{
    long long row = -1;
    plx_index n = plx_dataset_samples(data);
    if (n && !plx_dataset_id(data, 0)) return cli_read_whole(&row, id) && row >= 0 && row < n ? row : -1;
    for (plx_index i = 0; i < n; i++)
        if (strcmp(plx_dataset_id(data, i), id) == 0) return i;
    return -1;
}

/* ID,VIEW; the view's name is what follows the last comma. */
static int read_line(cli_pairs *out, cli_session *s, const plx_dataset *data, char *line, const char *where)
{
    char *comma = NULL;
    line[strcspn(line, "\r\n")] = '\0';
    if (!*line) return CLI_DONE;
    comma = strrchr(line, ',');
    if (!comma) return cli_fail_text(s, "%s: expected an id and a view, separated by a comma", where);
    *comma = '\0';
    unquote(line);
    unquote(comma + 1);
    plx_index sample = find_sample(data, line), view = plx_dataset_find_view(data, comma + 1);
    if (sample < 0) return cli_fail_text(s, "%s: there is no sample '%s'", where, line);
    if (view < 0) return cli_fail_text(s, "%s: there is no view '%s'", where, comma + 1);
    return add(out, s, sample, view);
}

static int read_pairs(cli_pairs *out, cli_session *s, const plx_dataset *data, const char *path)
{
    char *line = NULL, where[512];
    size_t room = 0;
    int code = CLI_DONE;
    FILE *file = fopen(path, "r");
    if (!file) return cli_fail_text(s, "%s: cannot be opened", path);
    if (getline(&line, &room, file) < 0 || strncmp(line, "id,view", 7) != 0)
        code = cli_fail_text(s, "%s line 1: expected the header id,view", path);
    for (int number = 2; !code && getline(&line, &room, file) >= 0; number++) {
        snprintf(where, sizeof where, "%s line %d", path, number);
        code = read_line(out, s, data, line, where);
    }
    free(line);
    fclose(file);
    return code;
}

int cli_pairs_choose(cli_pairs *out, cli_session *s, const plx_dataset *data)
{
    const char *file = cli_value(s->args, "hide-file");
    bool drawn = cli_value(s->args, "hide") != NULL;
    *out = (cli_pairs){0};
    if (drawn && file) return cli_usage_error(s->args->verb, "give --hide or --hide-file, not both");
    if (!drawn && !file && strcmp(s->args->positional[0], "labels") != 0)
        return cli_usage_error(s->args->verb, "--simulate needs --hide VIEW=SHARE or --hide-file FILE");
    if (file) return read_pairs(out, s, data, file);
    return drawn ? read_shares(&out->rates, s, data) : CLI_DONE;
}

void cli_pairs_free(cli_pairs *p)
{
    free(p->pairs);
    free(p->rates);
}
