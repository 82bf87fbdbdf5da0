/*
 * Tagged text: its sizes, and how often each tag of the last column occurs, most frequent first.
 */
#include "conll_info.h"

#include <stdlib.h>
#include <string.h>

#include "jsonout.h"
#include "output.h"

enum { MOST_TAGS = 40 }; /* shown to people; --json has all */

typedef struct tag_count {
    const char *tag;
    plx_index count;
} tag_count;

bool cli_is_conll(const cli_args *args, const char *path)
{
    if (!path) return false;
    const char *format = cli_value(args, "format");
    size_t n = strlen(path);
    if (format) return strcmp(format, "conll") == 0;
    if (n > 3 && strcmp(path + n - 3, ".gz") == 0) n -= 3;
    return n > 6 && strncmp(path + n - 6, ".conll", 6) == 0;
}

static int by_tag(const void *a, const void *b)
{
    return strcmp(((const tag_count *)a)->tag, ((const tag_count *)b)->tag);
}

static int by_count(const void *a, const void *b)
{
    const tag_count *x = a, *y = b;
    return x->count != y->count ? (x->count < y->count ? 1 : -1) : by_tag(a, b);
}

/* *out is the caller's to free. False: no memory. */
static bool count_tags(tag_count **out, plx_index *count, const plx_conll *text)
{
    plx_index n = plx_conll_tokens(text), last = plx_conll_columns(text) - 1, distinct = 0;
    tag_count *tags = calloc((size_t)n + 1, sizeof *tags);
    *out = tags;
    if (!tags) return false;
    for (plx_index i = 0; i < n; i++) tags[i] = (tag_count){plx_conll_column(text, i, last), 1};
    qsort(tags, (size_t)n, sizeof *tags, by_tag);
    for (plx_index i = 0; i < n; i++) {
        if (distinct && by_tag(&tags[distinct - 1], &tags[i]) == 0) tags[distinct - 1].count++;
        else tags[distinct++] = tags[i];
    }
    qsort(tags, (size_t)distinct, sizeof *tags, by_count);
    *count = distinct;
    return true;
}

static void print_info(const plx_conll *text, const char *path, const tag_count *tags, plx_index count)
{
    printf("%s: tagged text, %s, %s, %s, %s\n", path, CLI_COUNT(plx_conll_documents(text), "document", "documents"),
           CLI_COUNT(plx_conll_sentences(text), "sentence", "sentences"),
           CLI_COUNT(plx_conll_tokens(text), "token", "tokens"),
           CLI_COUNT(plx_conll_columns(text), "column", "columns"));
    printf("\ntags of the last column:\n");
    for (plx_index i = 0; i < count && i < MOST_TAGS; i++)
        printf("%12s  %s\n", CLI_COUNT(tags[i].count, "", ""), tags[i].tag);
    if (count > MOST_TAGS) printf("%12s  and %lld more\n", "...", (long long)(count - MOST_TAGS));
}

static int write_json(cli_session *s, const plx_conll *text, const tag_count *tags, plx_index count, const char *path)
{
    cli_json_file out;
    cli_json *j = &out.j;
    int code = cli_json_file_open(&out, s);
    if (code) return code;
    cli_json_whole(j, "documents", plx_conll_documents(text));
    cli_json_whole(j, "sentences", plx_conll_sentences(text));
    cli_json_whole(j, "tokens", plx_conll_tokens(text));
    cli_json_whole(j, "columns", plx_conll_columns(text));
    cli_json_open(j, "tags", '{');
    for (plx_index i = 0; i < count; i++) cli_json_whole(j, tags[i].tag, tags[i].count);
    cli_json_close(j, '}');
    return cli_json_file_write(&out, s, path);
}

int cli_conll_info(cli_session *s, const char *path, const char *json)
{
    plx_conll *text = NULL;
    tag_count *tags = NULL;
    plx_index count = 0;
    int code = cli_fail(s, plx_conll_read(&text, s->ctx, path));
    if (!code && !count_tags(&tags, &count, text)) code = cli_fail_text(s, "out of memory");
    if (!code && json) code = write_json(s, text, tags, count, json);
    else if (!code) print_info(text, path, tags, count);
    free(tags);
    plx_conll_destroy(text);
    return code;
}
