/*
 * LINQS citation data: documents with words and a label, and who cites whom.
 */
#include "io/linqs.h"

#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/file.h"
#include "core/number.h"
#include "core/text.h"
#include "data/dataset_impl.h"
#include "io/matrix_kind.h"

typedef struct documents {
    const char *path;
    plx_index n, d; /* documents, words */
    const char **ids, **labels;
    plx_csr words;
    plx__map place; /* id -> document */
} documents;

/* ---- fields ---- */

typedef struct fields { /* cursor over the fields of one line */
    const char *at, *end;
    bool tabs; /* separated by single tabs; else by runs of blanks */
} fields;

static fields start_fields(const char *line, size_t len)
{
    while (len && (line[len - 1] == ' ' || line[len - 1] == '\t')) len--;
    return (fields){line, line + len, memchr(line, '\t', len) != NULL};
}

static bool is_gap(const fields *f, char c) { return f->tabs ? c == '\t' : c == ' '; }

static bool next_field(const char **text, size_t *len, fields *f)
{
    while (!f->tabs && f->at < f->end && *f->at == ' ') f->at++;
    if (f->at >= f->end) return false;
    const char *start = f->at;
    while (f->at < f->end && !is_gap(f, *f->at)) f->at++;
    *text = start;
    *len = (size_t)(f->at - start);
    if (f->at < f->end) f->at++;
    return true;
}

static plx_index count_fields(const char *line, size_t len)
{
    fields f = start_fields(line, len);
    const char *text = NULL;
    plx_index count = 0;
    while (next_field(&text, &len, &f)) count++;
    return count;
}

/* ---- content ---- */

static bool is_separator(char c) { return c == '\t' || c == ' '; }

/* An upper bound of a line's non-zeros: fields after the first that are not just "0". */
static plx_index count_values(const char *line, size_t len)
{
    plx_index count = 0;
    for (size_t i = 0; i + 1 < len; i++) {
        bool zero = line[i + 1] == '0' && (i + 2 == len || is_separator(line[i + 2]));
        count += is_separator(line[i]) && !zero;
    }
    return count;
}

/* Number of documents and words, and the bound of the non-zeros. */
static plx_status measure(documents *docs, plx_index *bound, plx_context *ctx, const plx__bytes *file)
{
    const char *cursor = file->data, *end = file->data + file->size, *line = NULL;
    size_t len = 0;
    plx_index number = 0;
    *bound = 0;
    while (plx__next_line(&line, &len, &cursor, end)) {
        plx_index count = count_fields(line, len);
        number++;
        if (count == 0) continue;
        if (docs->n == 0) docs->d = count - 2;
        if (docs->d < 1)
            PLX_FAIL(ctx, PLX_E_FORMAT, "%s: line %lld: %lld fields, expected an id, at least one word and a label",
                     docs->path, (long long)number, (long long)count);
        if (count != docs->d + 2)
            PLX_FAIL(ctx, PLX_E_FORMAT, "%s: line %lld: %lld fields, expected %lld as in the first line", docs->path,
                     (long long)number, (long long)count, (long long)docs->d + 2);
        docs->n++;
        *bound += count_values(line, len);
    }
    if (docs->n == 0) PLX_FAIL(ctx, PLX_E_FORMAT, "%s: the file is empty", docs->path);
    if (docs->d > INT32_MAX) PLX_FAIL(ctx, PLX_E_FORMAT, "%s: too many columns", docs->path);
    return PLX_OK;
}

static plx_status add_words(documents *docs, plx_context *ctx, fields *f, plx_index row, plx_index number)
{
    const char *text = NULL;
    size_t len = 0;
    int64_t used = docs->words.ptr[row];
    for (plx_index j = 0; j < docs->d; j++) {
        double x = 0;
        if (!next_field(&text, &len, f)) break;
        if (len == 1 && *text == '0') continue;
        const char *stop = plx__read_double(&x, text, text + len);
        if (!stop || stop != text + len || !isfinite(x))
            PLX_FAIL(ctx, PLX_E_FORMAT, "%s: line %lld, field %lld: '%.*s' is not a number", docs->path,
                     (long long)number, (long long)j + 2, (int)plx__min((plx_index)len, 40), text);
        if (x == 0) continue;
        docs->words.col[used] = (int32_t)j;
        docs->words.val[used++] = x;
    }
    docs->words.ptr[row + 1] = used;
    return PLX_OK;
}

static plx_status add_document(documents *docs, plx_context *ctx, const char *line, size_t len, plx_index row,
                               plx_index number)
{
    fields f = start_fields(line, len);
    const char *text = NULL;
    plx_index existing = -1;
    if (!next_field(&text, &len, &f) || len == 0)
        PLX_FAIL(ctx, PLX_E_FORMAT, "%s: line %lld: the id is empty", docs->path, (long long)number);
    PLX_TRY(plx__arena_textn(&docs->ids[row], plx__scratch(ctx), text, len));
    PLX_TRY(plx__map_add(&docs->place, docs->ids[row], row, &existing));
    if (existing >= 0)
        PLX_FAIL(ctx, PLX_E_DATA, "%s: line %lld: duplicate document '%s'", docs->path, (long long)number,
                 docs->ids[row]);
    PLX_TRY(add_words(docs, ctx, &f, row, number));
    if (!next_field(&text, &len, &f) || len == 0) return PLX_OK;
    return plx__arena_textn(&docs->labels[row], plx__scratch(ctx), text, len);
}

static plx_status read_content(documents *docs, plx_context *ctx, const plx__bytes *file)
{
    plx__arena *scratch = plx__scratch(ctx);
    const char *cursor = file->data, *end = file->data + file->size, *line = NULL;
    size_t len = 0;
    plx_index row = 0, number = 0, bound = 0;
    PLX_TRY(measure(docs, &bound, ctx, file));
    PLX_TRY(PLX__ARENA_NEW(&docs->ids, scratch, docs->n));
    PLX_TRY(PLX__ARENA_NEW(&docs->labels, scratch, docs->n));
    PLX_TRY(plx__arena_csr(&docs->words, scratch, docs->n, docs->d, bound));
    PLX_TRY(plx__map_init(&docs->place, scratch, docs->n));
    while (plx__next_line(&line, &len, &cursor, end)) {
        number++;
        if (count_fields(line, len) == 0) continue;
        if (row % 256 == 0) PLX_TRY(plx__report(ctx, "read documents", row, docs->n, NAN));
        PLX_TRY(add_document(docs, ctx, line, len, row++, number));
    }
    return PLX_OK;
}

/* ---- citations ---- */

typedef struct link {
    plx_index cited, citing;
} link;

typedef struct citations {
    link *links;
    plx_index count, dropped;
} citations;

static plx_status read_cites(citations *c, plx_context *ctx, const documents *docs, const char *path,
                             const plx__bytes *file)
{
    plx__arena *scratch = plx__scratch(ctx);
    const char *cursor = file->data, *end = file->data + file->size, *line = NULL;
    size_t len = 0, lines = 1;
    plx_index number = 0;
    for (const char *p = file->data; p < end; p++) lines += *p == '\n';
    PLX_TRY(PLX__ARENA_NEW(&c->links, scratch, (plx_index)lines));
    while (plx__next_line(&line, &len, &cursor, end)) {
        plx__mark mark = plx__arena_mark(scratch);
        const char *text[2] = {NULL, NULL}, *id[2] = {NULL, NULL};
        size_t size[2] = {0, 0};
        fields f = start_fields(line, len);
        number++;
        if (count_fields(line, len) == 0) continue;
        if (count_fields(line, len) != 2 || !next_field(&text[0], &size[0], &f) || !next_field(&text[1], &size[1], &f))
            PLX_FAIL(ctx, PLX_E_FORMAT, "%s: line %lld: expected two ids, the cited and the citing document", path,
                     (long long)number);
        for (int k = 0; k < 2; k++) PLX_TRY(plx__arena_textn(&id[k], scratch, text[k], size[k]));
        link l = {plx__map_get(&docs->place, id[0]), plx__map_get(&docs->place, id[1])};
        plx__arena_rewind(scratch, mark);
        if (l.cited < 0 || l.citing < 0) c->dropped++;
        else c->links[c->count++] = l;
    }
    if (c->dropped)
        plx__warn(ctx, "%s: %lld of %lld citations name a document without content and were dropped", path,
                  (long long)c->dropped, (long long)(c->dropped + c->count));
    return PLX_OK;
}

static int by_row(const void *a, const void *b)
{
    const link *x = a, *y = b;
    if (x->cited != y->cited) return (x->cited > y->cited) - (x->cited < y->cited);
    return (x->citing > y->citing) - (x->citing < y->citing);
}

/* Links as a 0/1 matrix: row `cited`, one column per document that occurs as `citing`, in sample order. */
static plx_status add_links(plx_dataset *data, plx_context *ctx, const documents *docs, const char *name, link *links,
                            plx_index count)
{
    plx__arena *scratch = plx__scratch(ctx);
    plx_index *column = NULL, cols = 0, row = 0;
    const char **names = NULL;
    plx_csr a;
    int64_t used = 0;
    PLX_TRY(PLX__ARENA_NEW(&column, scratch, docs->n));
    PLX_TRY(PLX__ARENA_NEW(&names, scratch, docs->n));
    PLX_TRY(plx__arena_csr(&a, scratch, docs->n, 0, count));
    for (plx_index k = 0; k < count; k++) column[links[k].citing] = 1;
    for (plx_index i = 0; i < docs->n; i++) {
        if (!column[i]) continue;
        names[cols] = docs->ids[i];
        column[i] = cols++;
    }
    qsort(links, (size_t)count, sizeof *links, by_row);
    for (plx_index k = 0; k < count; k++) {
        if (k && by_row(&links[k], &links[k - 1]) == 0) continue;
        while (row < links[k].cited) a.ptr[++row] = used;
        a.col[used] = (int32_t)column[links[k].citing];
        a.val[used++] = 1;
    }
    while (row < docs->n) a.ptr[++row] = used;
    a.cols = cols;
    return plx__dataset_add_sparse(data, ctx, name, PLX_VIEW_BINARY, plx__ccsr(a), (const char *const *)names, NULL);
}

static plx_status add_citations(plx_dataset *data, plx_context *ctx, const documents *docs, const char *path)
{
    plx__bytes file;
    citations c = {0};
    PLX_TRY(plx__bytes_read(&file, ctx, path));
    plx_status st = read_cites(&c, ctx, docs, path, &file);
    plx__bytes_free(&file, ctx);
    PLX_TRY(st);
    if (c.count == 0) {
        plx__warn(ctx, "%s: no usable citation; there are no link views", path);
        return PLX_OK;
    }
    PLX_TRY(add_links(data, ctx, docs, "inbound", c.links, c.count));
    for (plx_index k = 0; k < c.count; k++) c.links[k] = (link){c.links[k].citing, c.links[k].cited};
    return add_links(data, ctx, docs, "outbound", c.links, c.count);
}

/* ---- the files ---- */

static plx_status only_content_file(const char **out, plx_context *ctx, const char *directory)
{
    DIR *dir = opendir(directory);
    if (!dir) PLX_FAIL(ctx, PLX_E_IO, "%s: %s", directory, strerror(errno));
    plx_status st = PLX_OK;
    int found = 0;
    for (struct dirent *entry = readdir(dir); entry && st == PLX_OK; entry = readdir(dir))
        if (plx__ends_with(entry->d_name, ".content") && found++ == 0)
            st = plx__arena_printf(out, plx__scratch(ctx), "%s/%s", directory, entry->d_name);
    closedir(dir);
    if (st == PLX_OK && found != 1)
        PLX_FAIL(ctx, PLX_E_DATA, "%s: %s .content file in this directory; name the file", directory,
                 found ? "more than one" : "there is no");
    return st;
}

static plx_status find_files(const char **content, const char **cites, plx_context *ctx, const char *path)
{
    plx__arena *scratch = plx__scratch(ctx);
    const char *stem = NULL;
    if (plx__is_directory(path)) PLX_TRY(only_content_file(&path, ctx, path));
    bool is_content = plx__ends_with(path, ".content"), is_cites = plx__ends_with(path, ".cites");
    if (!is_content && !is_cites)
        PLX_FAIL(ctx, PLX_E_ARG, "%s: expected a .content or .cites file, or the directory of them", path);
    PLX_TRY(plx__arena_textn(&stem, scratch, path, strlen(path) - strlen(is_content ? ".content" : ".cites")));
    PLX_TRY(plx__arena_printf(content, scratch, "%s.content", stem));
    PLX_TRY(plx__arena_printf(cites, scratch, "%s.cites", stem));
    if (is_content) *content = path;
    else *cites = path;
    return PLX_OK;
}

static plx_status build(plx_dataset **out, plx_context *ctx, const documents *docs, const char *cites)
{
    const char *base = plx__path_base(docs->path), *name = NULL;
    PLX_TRY(plx__arena_textn(&name, plx__scratch(ctx), base, (size_t)(strrchr(base, '.') - base)));
    PLX_TRY(plx__dataset_create(out, ctx, name, docs->n));
    PLX_TRY(plx__dataset_set_ids(*out, ctx, (const char *const *)docs->ids));
    plx__table words = {.sparse = true, .csr = docs->words};
    PLX_TRY(plx__dataset_add_sparse(*out, ctx, "text", plx__guess_kind(&words), plx__ccsr(docs->words), NULL, NULL));
    if (plx__file_exists(cites)) PLX_TRY(add_citations(*out, ctx, docs, cites));
    else plx__warn(ctx, "%s: not there; the data set has the text view only", cites);
    return plx__dataset_set_truth(*out, ctx, (const char *const *)docs->labels);
}

plx_status plx__linqs_read(plx_dataset **out, plx_context *ctx, const char *path)
{
    plx__mark mark = plx__arena_mark(plx__scratch(ctx));
    const char *cites = NULL;
    documents docs = {0};
    plx__bytes file;
    *out = NULL;
    PLX_TRY(find_files(&docs.path, &cites, ctx, path));
    PLX_TRY(plx__bytes_read(&file, ctx, docs.path));
    plx_status st = read_content(&docs, ctx, &file);
    plx__bytes_free(&file, ctx);
    PLX_TRY(st);
    st = build(out, ctx, &docs, cites);
    if (st != PLX_OK) {
        plx__dataset_destroy(*out);
        *out = NULL;
        return st;
    }
    plx__arena_rewind(plx__scratch(ctx), mark);
    return PLX_OK;
}
