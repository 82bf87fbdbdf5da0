/*
 * Name memory: within a document, words equal to a recognised name become names too where they are untagged.
 *
 * Longest names go first, then the category the sequence was recognised with most often, then bytewise; left to right.
 * What is marked is not counted itself, so every sentence can be done on its own once the document's names are known:
 * a document that is too long to be held is read twice (svm_parts.c).
 */
#include <stdlib.h>
#include <string.h>

#include "ner/svm.h"

/* A sequence of words as one category. */
typedef struct name {
    plx_index text, length; /* number of the sequence; its words */
    int32_t cat;
    plx_index count, rank;
} name;

struct plx__name_memory {
    plx_context *ctx;
    plx__arena *arena;
    const plx__svm *m;
    const plx__svm_text *t;
    plx__dict sequences; /* words joined by blanks */
    plx__dict pairs;     /* sequence and category: number k is names[k] */
    name *names;
    plx_index n_names, room;
    plx_index *first; /* by sequence: the best of its names, -1 */
    plx_index longest;
    char *buffer;
    size_t bytes;
};

typedef plx__name_memory memory;

static plx_status join(memory *y, size_t *length, const char *const *word, plx_index count)
{
    size_t need = 1;
    for (plx_index k = 0; k < count; k++) need += strlen(word[k]) + 1;
    if (need > y->bytes) {
        PLX_TRY(plx__arena_bytes((void **)&y->buffer, y->arena, 2 * (plx_index)need, 1));
        y->bytes = 2 * need;
    }
    *length = 0;
    for (plx_index k = 0; k < count; k++) {
        size_t bytes = strlen(word[k]);
        if (k > 0) y->buffer[(*length)++] = ' ';
        memcpy(y->buffer + *length, word[k], bytes);
        *length += bytes;
    }
    return PLX_OK;
}

/* ---- names of a document ---- */

static plx_status add_name(memory *y, const char *const *word, plx_index length, int32_t cat)
{
    size_t bytes = 0;
    plx_index text = 0;
    PLX_TRY(join(y, &bytes, word, length));
    PLX_TRY(plx__dict_add(&text, &y->sequences, y->buffer, bytes));
    const plx_index pair[] = {text, cat};
    plx_index at = plx__dict_get(&y->pairs, (const char *)pair, sizeof pair);
    if (at >= 0) {
        y->names[at].count++;
        return PLX_OK;
    }
    PLX_TRY(plx__dict_add(&at, &y->pairs, (const char *)pair, sizeof pair));
    if (y->n_names == y->room) {
        name *bigger = NULL;
        y->room = y->room ? 2 * y->room : 64;
        PLX_TRY(PLX__ARENA_NEW(&bigger, y->arena, y->room));
        if (y->n_names) memcpy(bigger, y->names, (size_t)y->n_names * sizeof *bigger);
        y->names = bigger;
    }
    y->names[y->n_names++] = (name){text, length, cat, 1, 0};
    y->longest = plx__max(y->longest, length);
    return PLX_OK;
}

typedef struct sortable {
    name name;
    const char *text, *cat;
} sortable;

static int by_order(const void *a_, const void *b_)
{
    const sortable *a = a_, *b = b_;
    if (a->name.length != b->name.length) return a->name.length > b->name.length ? -1 : 1;
    if (a->name.count != b->name.count) return a->name.count > b->name.count ? -1 : 1;
    int order = strcmp(a->text, b->text);
    return order ? order : strcmp(a->cat, b->cat);
}

static plx_status order_names(memory *y)
{
    sortable *all = NULL;
    PLX_TRY(PLX__ARENA_NEW(&all, y->arena, y->n_names));
    for (plx_index k = 0; k < y->n_names; k++)
        all[k] = (sortable){y->names[k], y->sequences.key[y->names[k].text].text, y->m->cat[y->names[k].cat]};
    qsort(all, (size_t)y->n_names, sizeof *all, by_order);
    PLX_TRY(PLX__ARENA_NEW(&y->first, y->arena, y->sequences.count));
    for (plx_index k = 0; k < y->sequences.count; k++) y->first[k] = -1;
    for (plx_index k = 0; k < y->n_names; k++) {
        y->names[k] = all[k].name;
        y->names[k].rank = k;
        if (y->first[all[k].name.text] < 0) y->first[all[k].name.text] = k;
    }
    return PLX_OK;
}

/* ---- marking ---- */

typedef struct match {
    plx_index rank, begin, end;
    int32_t cat;
} match;

static int by_rank(const void *a_, const void *b_)
{
    const match *a = a_, *b = b_;
    if (a->rank != b->rank) return a->rank < b->rank ? -1 : 1;
    return (a->begin > b->begin) - (a->begin < b->begin);
}

static int by_place(const void *a, const void *b)
{
    int32_t x = ((const plx__svm_span *)a)->begin, y = ((const plx__svm_span *)b)->begin;
    return (x > y) - (x < y);
}

/* All places of the sentence where a sequence stands whose words are free. */
static plx_status find_matches(memory *y, const char *const *word, plx_index n, const uint8_t *taken, match *found,
                               plx_index *count)
{
    for (plx_index i = 0; i < n; i++)
        for (plx_index length = 1; length <= plx__min(y->longest, n - i) && !taken[i + length - 1]; length++) {
            size_t bytes = 0;
            PLX_TRY(join(y, &bytes, word + i, length));
            plx_index text = plx__dict_get(&y->sequences, y->buffer, bytes);
            if (text < 0) continue;
            const name *best = &y->names[y->first[text]];
            found[(*count)++] = (match){best->rank, i, i + length, best->cat};
        }
    return PLX_OK;
}

static plx_status mark_sentence(memory *y, plx_index s, plx__svm_span *span, plx_index *count)
{
    plx_index first = y->t->sentence[s], n = y->t->sentence[s + 1] - first, n_found = 0;
    plx__mark mark = plx__arena_mark(y->arena);
    uint8_t *taken = NULL;
    match *found = NULL;
    y->bytes = 0; /* the buffer may be behind the mark */
    PLX_TRY(plx__arena_u8(&taken, y->arena, n));
    PLX_TRY(PLX__ARENA_NEW(&found, y->arena, n * y->longest));
    for (plx_index k = 0; k < *count; k++) memset(taken + span[k].begin, 1, (size_t)(span[k].end - span[k].begin));
    PLX_TRY(find_matches(y, y->t->word + first, n, taken, found, &n_found));
    qsort(found, (size_t)n_found, sizeof *found, by_rank);
    for (plx_index k = 0; k < n_found; k++) {
        bool free = true;
        for (plx_index i = found[k].begin; i < found[k].end; i++) free = free && !taken[i];
        if (!free) continue;
        memset(taken + found[k].begin, 1, (size_t)(found[k].end - found[k].begin));
        span[(*count)++] = (plx__svm_span){(int32_t)found[k].begin, (int32_t)found[k].end, found[k].cat, 0};
    }
    qsort(span, (size_t)*count, sizeof *span, by_place);
    plx__arena_rewind(y->arena, mark);
    y->bytes = 0;
    return PLX_OK;
}

/* ---- a document in one piece ---- */

static plx_status start(memory *y)
{
    PLX_TRY(plx__dict_init(&y->sequences, y->arena, 64));
    PLX_TRY(plx__dict_init(&y->pairs, y->arena, 64));
    y->names = NULL;
    y->n_names = y->room = y->longest = 0;
    y->bytes = 0;
    return PLX_OK;
}

static plx_status learn(memory *y, plx_index begin, plx_index end, const plx__svm_span *span, const plx_index *count)
{
    for (plx_index s = begin; s < end; s++)
        for (plx_index k = 0; k < count[s]; k++) {
            const plx__svm_span *p = &span[y->t->sentence[s] + k];
            PLX_TRY(add_name(y, y->t->word + y->t->sentence[s] + p->begin, p->end - p->begin, p->cat));
        }
    return PLX_OK;
}

static plx_status mark_all(memory *y, plx_index begin, plx_index end, plx__svm_span *span, plx_index *count)
{
    for (plx_index s = begin; s < end && y->n_names; s++)
        PLX_TRY(mark_sentence(y, s, span + y->t->sentence[s], &count[s]));
    return plx__poll(y->ctx);
}

static plx_status do_document(memory *y, plx_index begin, plx_index end, plx__svm_span *span, plx_index *count)
{
    PLX_TRY(start(y));
    PLX_TRY(learn(y, begin, end, span, count));
    if (y->n_names == 0) return PLX_OK;
    PLX_TRY(order_names(y));
    return mark_all(y, begin, end, span, count);
}

plx_status plx__svm_memory(plx_context *ctx, const plx__svm *m, const plx__svm_text *text, plx__svm_span *span,
                           plx_index *count)
{
    memory y = {.ctx = ctx, .m = m, .t = text};
    plx__arena arena;
    plx_status st = PLX_OK;
    plx__arena_init(&arena, ctx);
    y.arena = &arena;
    for (plx_index s = 0, begin = 0; s < text->n_sentences && st == PLX_OK; s++) {
        if (s + 1 < text->n_sentences && text->document[s + 1] == text->document[s]) continue;
        plx__mark mark = plx__arena_mark(&arena);
        st = do_document(&y, begin, s + 1, span, count);
        plx__arena_rewind(&arena, mark);
        begin = s + 1;
    }
    plx__arena_free(&arena);
    return st;
}

/* ---- a document in several pieces ---- */

plx_status plx__name_memory_new(plx__name_memory **out, plx_context *ctx, plx__arena *arena, const plx__svm *m)
{
    PLX_TRY(PLX__ARENA_NEW(out, arena, 1));
    **out = (memory){.ctx = ctx, .arena = arena, .m = m};
    return start(*out);
}

plx_status plx__name_memory_learn(plx__name_memory *y, const plx__svm_names *names)
{
    y->t = &names->text;
    return learn(y, 0, names->text.n_sentences, names->span, names->count);
}

plx_status plx__name_memory_settle(plx__name_memory *y) { return y->n_names ? order_names(y) : PLX_OK; }

plx_status plx__name_memory_mark(plx__name_memory *y, plx__svm_names *names)
{
    y->t = &names->text;
    return mark_all(y, 0, names->text.n_sentences, names->span, names->count);
}
