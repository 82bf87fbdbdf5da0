/*
 * Lexicons from unlabelled text: how a classifier's values of a word form are spread over intervals (corpus lexicon, f4),
 * and which words stand right before or behind the names it finds (contexts, f5). The text is read twice, part by part.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/file.h"
#include "core/number.h"
#include "ner/source.h"
#include "ner/svm_learn.h"

/* Keys with `width` counters each. */
typedef struct counters {
    plx__dict keys;
    plx_index width, room;
    int64_t *count;
} counters;

typedef struct maker {
    plx_context *ctx;
    plx__svm *m;
    const plx__bootstrap_params *params;
    plx_index bins;
    counters words;     /* all occurrences, then category x bin */
    counters contexts;  /* "p" or "s" and words; by category */
    counters sequences; /* words of contexts that are kept: all occurrences */
    char *buffer;
    size_t bytes;
    plx__arena *arena; /* of what is gone afterwards */
} maker;

static plx_status counters_init(counters *c, plx__arena *arena, plx_index width)
{
    *c = (counters){.width = width};
    return plx__dict_init(&c->keys, arena, 1024);
}

static plx_status counters_at(int64_t **out, counters *c, const char *key, size_t length)
{
    plx_index at = 0;
    PLX_TRY(plx__dict_add(&at, &c->keys, key, length));
    if (at >= c->room) {
        plx_index room = c->room ? 2 * c->room : 1024;
        int64_t *bigger = NULL;
        PLX_TRY(plx__arena_i64(&bigger, c->keys.arena, room * c->width));
        if (c->room) memcpy(bigger, c->count, (size_t)(c->room * c->width) * sizeof *bigger);
        c->count = bigger;
        c->room = room;
    }
    *out = c->count + at * c->width;
    return PLX_OK;
}

/* ---- first reading: values and names ---- */

static plx_index bin_of(const plx__bootstrap_params *p, double value)
{
    plx_index bin = 0;
    while (bin < p->edges.n_list && value >= p->edges.list[bin]) bin++;
    return bin;
}

static plx_status count_values(maker *k, const plx__ner_text *text, const double *values)
{
    for (plx_index i = 0; i < text->n; i++) {
        int64_t *row = NULL;
        PLX_TRY(counters_at(&row, &k->words, text->word[i], strlen(text->word[i])));
        row[0]++;
        for (plx_index c = 0; c < k->m->n_cat; c++) {
            double value = values[i * k->m->n_cat + c];
            if (!isnan(value)) row[1 + c * k->bins + bin_of(k->params, value)]++;
        }
    }
    return PLX_OK;
}

/* `side` (0: none) and the words, each behind a blank; the first one too where there is a side. */
static plx_status join(maker *k, size_t *length, char side, const char *const *word, plx_index count)
{
    size_t need = 2;
    for (plx_index j = 0; j < count; j++) need += strlen(word[j]) + 1;
    if (need > k->bytes) {
        PLX_TRY(plx__arena_bytes((void **)&k->buffer, k->arena, 2 * (plx_index)need, 1));
        k->bytes = 2 * need;
    }
    *length = 0;
    if (side) k->buffer[(*length)++] = side;
    for (plx_index j = 0; j < count; j++) {
        size_t bytes = strlen(word[j]);
        if (*length > 0) k->buffer[(*length)++] = ' ';
        memcpy(k->buffer + *length, word[j], bytes);
        *length += bytes;
    }
    return PLX_OK;
}

static plx_status count_context(maker *k, char side, const char *const *word, plx_index count, int32_t cat)
{
    int64_t *row = NULL;
    size_t length = 0;
    PLX_TRY(join(k, &length, side, word, count));
    PLX_TRY(counters_at(&row, &k->contexts, k->buffer, length));
    row[cat]++;
    return PLX_OK;
}

static plx_status count_contexts(maker *k, const plx__svm_names *names)
{
    const plx__svm_text *t = &names->text;
    for (plx_index s = 0; s < t->n_sentences; s++) {
        plx_index first = t->sentence[s], n = t->sentence[s + 1] - first;
        for (plx_index j = 0; j < names->count[s]; j++) {
            const plx__svm_span *name = &names->span[first + j];
            for (plx_index w = 1; w <= PLX__SVM_CONTEXT; w++) {
                if (name->begin >= w) PLX_TRY(count_context(k, 'p', t->word + first + name->begin - w, w, name->cat));
                if (name->end + w <= n) PLX_TRY(count_context(k, 's', t->word + first + name->end, w, name->cat));
            }
        }
    }
    return PLX_OK;
}

static plx_status read_part(void *arg, const plx__conll *part, int32_t document, plx__name_memory *memory)
{
    maker *k = arg;
    plx__arena *scratch = plx__scratch(k->ctx);
    plx__ner_columns columns = {.unlabelled = true, .first_document = document};
    plx__ner_text text;
    plx__svm_names names;
    double *values = NULL;
    PLX_TRY(plx__ner_text_open(&text, k->ctx, scratch, part, &columns, NULL));
    PLX_TRY(plx__arena_f64(&values, scratch, text.n, k->m->n_cat));
    PLX_TRY(plx__svm_find(&names, k->ctx, scratch, k->m, &text, values, memory));
    PLX_TRY(count_values(k, &text, values));
    return count_contexts(k, &names);
}

/* ---- second reading: how often sequences occur at all ---- */

/* A context is kept for a category it was seen with at least twice. */
enum { SEEN_AT_LEAST = 2 };

static plx_status keep_sequences(maker *k)
{
    for (plx_index c = 0; c < k->contexts.keys.count; c++) {
        const plx__dict_key *key = &k->contexts.keys.key[c];
        bool kept = false;
        int64_t *row = NULL;
        for (plx_index cat = 0; cat < k->m->n_cat; cat++)
            kept |= k->contexts.count[c * k->m->n_cat + cat] >= SEEN_AT_LEAST;
        if (kept) PLX_TRY(counters_at(&row, &k->sequences, key->text + 2, key->length - 2));
    }
    return PLX_OK;
}

static plx_status count_sequences(maker *k, const plx__conll *part)
{
    for (plx_index s = 0; s < part->n_sentences; s++)
        for (plx_index i = part->sentences[s]; i < part->sentences[s + 1]; i++)
            for (plx_index w = 1; w <= PLX__SVM_CONTEXT && i + w <= part->sentences[s + 1]; w++) {
                size_t length = 0;
                PLX_TRY(join(k, &length, 0, part->columns[0] + i, w));
                plx_index at = plx__dict_get(&k->sequences.keys, k->buffer, length);
                if (at >= 0) k->sequences.count[at]++;
            }
    return PLX_OK;
}

static plx_status count_parts(maker *k, plx__ner_source *source)
{
    plx__arena *scratch = plx__scratch(k->ctx);
    bool more = true;
    while (more) {
        plx__mark mark = plx__arena_mark(scratch);
        plx__conll part;
        int32_t document = 0;
        PLX_TRY(plx__ner_source_next(source, scratch, &part, &document, &more));
        if (more) PLX_TRY(count_sequences(k, &part));
        plx__arena_rewind(scratch, mark);
        PLX_TRY(plx__report(k->ctx, "contexts", source->sentences, 0, (double)source->tokens));
    }
    return PLX_OK;
}

/* Both readings: with names, and with sequences of words. */
static plx_status read_text(maker *k, const char *path, bool names)
{
    plx__ner_source source = {0};
    plx__svm_parts parts = {k->m, true, "lexicon", read_part, k};
    plx_status st = plx__ner_source_open(&source, k->ctx, path);
    if (st == PLX_OK) st = names ? plx__svm_each_part(k->ctx, &source, &parts) : count_parts(k, &source);
    plx__ner_source_close(&source);
    return st;
}

/* ---- ratios ---- */

typedef struct builder {
    plx__svm_ratios *out;
    plx__arena *arena;
    plx_index room;
} builder;

static plx_status start_ratios(builder *b, plx_index keys, plx_index entries)
{
    PLX_TRY(plx__dict_init(&b->out->keys, b->arena, keys));
    PLX_TRY(PLX__ARENA_NEW(&b->out->ptr, b->arena, keys + 1));
    return PLX__ARENA_NEW(&b->out->entry, b->arena, entries);
}

static plx_status end_key(builder *b, const plx__dict_key *key, plx_index count)
{
    plx_index number = 0;
    if (count == (b->out->keys.count ? b->out->ptr[b->out->keys.count] : 0)) return PLX_OK; /* nothing kept */
    PLX_TRY(plx__dict_add(&number, &b->out->keys, key->text, key->length));
    b->out->ptr[number + 1] = count;
    return PLX_OK;
}

static plx_status build_corpus(maker *k, plx__svm_lexicon *out, plx__arena *arena)
{
    builder b = {&out->corpus, arena, 0};
    plx_index cells = k->m->n_cat * k->bins, entries = 0, kept = 0;
    for (plx_index w = 0; w < k->words.keys.count; w++)
        for (plx_index j = 0; j < cells; j++) {
            const int64_t *row = k->words.count + w * k->words.width;
            entries += row[1 + j] > 0 && (double)row[1 + j] / (double)row[0] >= k->params->theta;
        }
    PLX_TRY(start_ratios(&b, k->words.keys.count, entries));
    for (plx_index w = 0; w < k->words.keys.count; w++) {
        const int64_t *row = k->words.count + w * k->words.width;
        for (plx_index j = 0; j < cells; j++) {
            double ratio = (double)row[1 + j] / (double)row[0];
            if (row[1 + j] > 0 && ratio >= k->params->theta)
                out->corpus.entry[kept++] = (plx__svm_ratio){(int32_t)j, ratio};
        }
        PLX_TRY(end_key(&b, &k->words.keys.key[w], kept));
    }
    return PLX_OK;
}

static plx_status build_contexts(maker *k, plx__svm_lexicon *out, plx__arena *arena)
{
    builder b = {&out->contexts, arena, 0};
    plx_index K = k->m->n_cat, kept = 0;
    PLX_TRY(start_ratios(&b, k->contexts.keys.count, k->contexts.keys.count * K));
    for (plx_index c = 0; c < k->contexts.keys.count; c++) {
        const plx__dict_key *key = &k->contexts.keys.key[c];
        plx_index at = plx__dict_get(&k->sequences.keys, key->text + 2, key->length - 2);
        for (plx_index cat = 0; cat < K; cat++) {
            int64_t count = k->contexts.count[c * K + cat];
            if (count >= SEEN_AT_LEAST)
                out->contexts.entry[kept++] =
                    (plx__svm_ratio){(int32_t)cat, (double)count / (double)k->sequences.count[at]};
        }
        PLX_TRY(end_key(&b, key, kept));
    }
    return PLX_OK;
}

static plx_status make(maker *k, plx__svm_lexicon *out, plx__arena *arena, const char *path)
{
    PLX_TRY(counters_init(&k->words, k->arena, 1 + k->m->n_cat * k->bins));
    PLX_TRY(counters_init(&k->contexts, k->arena, k->m->n_cat));
    PLX_TRY(counters_init(&k->sequences, k->arena, 1));
    PLX_TRY(read_text(k, path, true));
    PLX_TRY(keep_sequences(k));
    PLX_TRY(read_text(k, path, false));
    out->present = true;
    out->bins = k->bins;
    PLX_TRY(build_corpus(k, out, arena));
    return build_contexts(k, out, arena);
}

plx_status plx__svm_make_lexicon(plx__svm_lexicon *out, plx_context *ctx, plx__arena *arena, plx__svm *m,
                                 const char *path, const plx__bootstrap_params *params)
{
    maker k = {.ctx = ctx, .m = m, .params = params, .bins = params->edges.n_list + 1};
    plx__arena own;
    plx__arena_init(&own, ctx);
    k.arena = &own;
    plx_status st = make(&k, out, arena, path);
    plx__arena_free(&own);
    return st;
}

/* ---- for people ---- */

typedef struct line {
    const char *key, *what; /* what: CAT@bin or CAT */
    double ratio;
} line;

static int by_key(const void *a_, const void *b_)
{
    const line *a = a_, *b = b_;
    int order = strcmp(a->key, b->key);
    return order ? order : strcmp(a->what, b->what);
}

/* bins 0: what is a category alone, and keys have a side. */
static plx_status write_lines(FILE *to, plx__arena *arena, const plx__svm_ratios *r, const plx__svm *m, plx_index bins)
{
    plx_index count = r->keys.count ? r->ptr[r->keys.count] : 0, n = 0;
    line *lines = NULL;
    PLX_TRY(PLX__ARENA_NEW(&lines, arena, count));
    for (plx_index k = 0; k < r->keys.count; k++)
        for (plx_index e = r->ptr[k]; e < r->ptr[k + 1]; e++, n++) {
            plx__svm_ratio x = r->entry[e];
            lines[n] = (line){r->keys.key[k].text, bins ? NULL : m->cat[x.key], x.ratio};
            if (bins)
                PLX_TRY(plx__arena_printf(&lines[n].what, arena, "%s@%lld", m->cat[x.key / bins],
                                          (long long)(x.key % bins)));
        }
    qsort(lines, (size_t)count, sizeof *lines, by_key);
    for (n = 0; n < count; n++) {
        char number[PLX__NUMBER_BYTES];
        plx__print_double(number, lines[n].ratio);
        if (bins) fprintf(to, "%s\t%s\t%s\n", lines[n].key, lines[n].what, number);
        else
            fprintf(to, "%s\t%s\t%s\t%s\n", lines[n].key[0] == 'p' ? "pre" : "suc", lines[n].key + 2, lines[n].what,
                    number);
    }
    return PLX_OK;
}

static plx_status write_file(const plx__svm_ratios *r, plx_context *ctx, const plx__svm *m, const char *path,
                             plx_index bins)
{
    plx__outfile out;
    plx__mark mark = plx__arena_mark(plx__scratch(ctx));
    PLX_TRY(plx__outfile_open(&out, ctx, path));
    plx_status st = write_lines(out.file, plx__scratch(ctx), r, m, bins);
    if (st == PLX_OK) st = plx__outfile_commit(&out, ctx);
    plx__outfile_abort(&out);
    plx__arena_rewind(plx__scratch(ctx), mark);
    return st;
}

plx_status plx__svm_write_lexicon(const plx__svm_lexicon *l, plx_context *ctx, const plx__svm *m, const char *path)
{
    return write_file(&l->corpus, ctx, m, path, plx__max(1, l->bins));
}

plx_status plx__svm_write_contexts(const plx__svm_lexicon *l, plx_context *ctx, const plx__svm *m, const char *path)
{
    return write_file(&l->contexts, ctx, m, path, 0);
}
