/*
 * Words of repeated options; copies are cut in place.
 */
#include "word_list.h"

#include <stdlib.h>
#include <string.h>

static int add(cli_words *w, cli_session *s, const char *option, const char *word)
{
    const char **more = realloc(w->word, (size_t)(w->count + 1) * sizeof *more);
    if (!more) return cli_fail_text(s, "out of memory");
    w->word = more;
    w->word[w->count++] = word;
    return *word ? CLI_DONE : cli_usage_error(s->args->verb, "--%s: a name between the commas is empty", option);
}

static int keep(char **out, cli_words *w, cli_session *s, const char *value)
{
    char **more = realloc(w->own, (size_t)(w->n_own + 1) * sizeof *more);
    if (more) w->own = more;
    *out = more ? strdup(value) : NULL;
    if (!*out) return cli_fail_text(s, "out of memory");
    w->own[w->n_own++] = *out;
    return CLI_DONE;
}

int cli_words_add(cli_words *w, cli_session *s, const char *option, bool cut, char whole)
{
    const char *value = NULL;
    int code = CLI_DONE;
    for (int i = 0; !code && (value = cli_value_at(s->args, option, i)); i++) {
        char *text = NULL;
        code = keep(&text, w, s, value);
        while (!code && text) {
            char *comma = cut && !(whole && strchr(value, whole)) ? strchr(text, ',') : NULL;
            if (comma) *comma = '\0';
            code = add(w, s, option, text);
            text = comma ? comma + 1 : NULL;
        }
    }
    return code;
}

void cli_words_close(cli_words *w)
{
    for (int i = 0; i < w->n_own; i++) free(w->own[i]);
    free(w->own);
    free(w->word);
}
