/*
 * Documents to a sparse matrix of counts, in four steps:
 *   1. cut every document into words (parallel, each into room of its own);
 *   2. number the words in order of appearance and count in how many documents each is (one pass);
 *   3. keep the words the options allow, sort them bytewise;
 *   4. sort and count each document's word numbers (parallel).
 * No step depends on how the documents were dealt to threads.
 */
#include "io/text_counts.h"

#include <stdlib.h>
#include <string.h>

#include "core/parallel.h"
#include "io/text_tokens.h"

enum { GRAIN = 16 };

typedef struct term {
    const char *text;
    int64_t documents, total;
    plx_index last; /* last document seen in; later: its column, or -1 */
} term;

typedef struct counting {
    const char *const *docs;
    const size_t *lens;
    plx_index n;
    plx__cutter *cutters; /* one per worker */
    plx__words *words;    /* per document */
    term *terms;
    plx_index n_terms, capacity;
    int32_t *ids;   /* word numbers, document after document; later: columns */
    int64_t *start; /* of each document in ids */
    plx_csr out;
} counting;

/* ---- 1. cutting ---- */

static plx_status cut_range(void *job_, plx_context *ctx, plx_index begin, plx_index end, int worker)
{
    counting *job = job_;
    for (plx_index i = begin; i < end; i++)
        PLX_TRY(plx__cut(&job->words[i], &job->cutters[worker], ctx, job->docs[i], job->lens[i]));
    return PLX_OK;
}

static plx_status cut_documents(counting *job, plx_context *ctx, const plx__text_options *options, const plx__map *stop)
{
    plx__arena *scratch = plx__scratch(ctx);
    int workers = plx__workers(ctx);
    size_t total = 0;
    char *room = NULL;
    PLX_TRY(PLX__ARENA_NEW(&job->words, scratch, job->n));
    for (plx_index i = 0; i < job->n; i++) {
        if (job->lens[i] > SIZE_MAX / 16 - total) PLX_FAIL(ctx, PLX_E_NOMEM, "the documents are too large together");
        job->words[i].capacity = plx__words_room(job->lens[i]);
        total += job->words[i].capacity;
    }
    PLX_TRY(plx__arena_bytes((void **)&room, scratch, (plx_index)total, 1));
    for (plx_index i = 0; i < job->n; i++) {
        job->words[i].text = room;
        room += job->words[i].capacity;
    }
    PLX_TRY(PLX__ARENA_NEW(&job->cutters, scratch, workers));
    plx_status st = PLX_OK;
    for (int k = 0; k < workers; k++) PLX_GOTO(plx__cutter_init(&job->cutters[k], ctx, scratch, options, stop));
    PLX_GOTO(plx__parallel_for(ctx, job->n, GRAIN, cut_range, job));
done:
    for (int k = 0; k < workers; k++) plx__cutter_free(&job->cutters[k]);
    return st;
}

static void warn_invalid(const counting *job, plx_context *ctx)
{
    plx_index bytes = 0, documents = 0;
    for (plx_index i = 0; i < job->n; i++) {
        bytes += job->words[i].invalid;
        documents += job->words[i].invalid > 0;
    }
    if (bytes)
        plx__warn(ctx, "%lld bytes in %lld documents are not UTF-8; each was taken as a blank", (long long)bytes,
                  (long long)documents);
}

/* ---- 2. numbering ---- */

static plx_status new_term(counting *job, plx_context *ctx, const char *text)
{
    if (job->n_terms == INT32_MAX) PLX_FAIL(ctx, PLX_E_DATA, "more than 2147483647 different words");
    if (job->n_terms == job->capacity) {
        term *bigger = NULL;
        plx_index capacity = 2 * job->capacity + 4096;
        PLX_TRY(PLX__ARENA_NEW(&bigger, plx__scratch(ctx), capacity));
        if (job->n_terms) memcpy(bigger, job->terms, (size_t)job->n_terms * sizeof *bigger);
        job->terms = bigger;
        job->capacity = capacity;
    }
    job->terms[job->n_terms++] = (term){text, 0, 0, -1};
    return PLX_OK;
}

static plx_status number_document(counting *job, plx_context *ctx, plx__map *map, plx_index doc)
{
    const plx__words *w = &job->words[doc];
    int32_t *id = job->ids + job->start[doc];
    const char *text = w->text;
    for (plx_index k = 0; k < w->count; k++, text += strlen(text) + 1) {
        plx_index number = -1;
        PLX_TRY(plx__map_add(map, text, job->n_terms, &number));
        if (number < 0) {
            number = job->n_terms;
            PLX_TRY(new_term(job, ctx, text));
        }
        term *t = &job->terms[number];
        t->total++;
        t->documents += t->last != doc;
        t->last = doc;
        id[k] = (int32_t)number;
    }
    return PLX_OK;
}

static plx_status number_words(counting *job, plx_context *ctx)
{
    plx__map map;
    PLX_TRY(plx__arena_i64(&job->start, plx__scratch(ctx), job->n + 1));
    for (plx_index i = 0; i < job->n; i++) job->start[i + 1] = job->start[i] + job->words[i].count;
    PLX_TRY(plx__arena_bytes((void **)&job->ids, plx__scratch(ctx), job->start[job->n], sizeof *job->ids));
    PLX_TRY(plx__map_init(&map, plx__scratch(ctx), 1 << 12));
    for (plx_index i = 0; i < job->n; i++) {
        if (i % 1024 == 0) PLX_TRY(plx__report(ctx, "count words", i, job->n, (double)job->n_terms));
        PLX_TRY(number_document(job, ctx, &map, i));
    }
    return PLX_OK;
}

/* ---- 3. choosing ---- */

static int by_text(const void *a, const void *b)
{
    return strcmp((*(const term *const *)a)->text, (*(const term *const *)b)->text);
}

static int by_total(const void *a, const void *b)
{
    int64_t x = (*(const term *const *)a)->total, y = (*(const term *const *)b)->total;
    return x != y ? (x < y) - (x > y) : by_text(a, b);
}

static double bound(const plx__df_bound *b, plx_index n) { return b->is_share ? b->value * (double)n : b->value; }

static plx_status choose_terms(const char *const **names, plx_index *count, counting *job, plx_context *ctx,
                               plx__arena *arena, const plx__text_options *o)
{
    term **kept = NULL;
    const char **texts = NULL;
    plx_index n = 0;
    double least = bound(&o->min_df, job->n), most = bound(&o->max_df, job->n);
    PLX_TRY(PLX__ARENA_NEW(&kept, plx__scratch(ctx), job->n_terms));
    for (plx_index t = 0; t < job->n_terms; t++) {
        double documents = (double)job->terms[t].documents;
        job->terms[t].last = -1;
        if (documents >= least && documents <= most) kept[n++] = &job->terms[t];
    }
    if (n == 0)
        PLX_FAIL(ctx, PLX_E_DATA,
                 "no word is left: none of %lld words is in %g to %g of %lld documents; change min_df or max_df",
                 (long long)job->n_terms, least, most, (long long)job->n);
    if (o->max_features && n > o->max_features) {
        qsort(kept, (size_t)n, sizeof *kept, by_total);
        n = o->max_features;
    }
    qsort(kept, (size_t)n, sizeof *kept, by_text);
    PLX_TRY(PLX__ARENA_NEW(&texts, arena, n));
    for (plx_index j = 0; j < n; j++) {
        kept[j]->last = j;
        PLX_TRY(plx__arena_text(&texts[j], arena, kept[j]->text));
    }
    *names = (const char *const *)texts;
    *count = n;
    return PLX_OK;
}

/* ---- 4. counting ---- */

static int by_number(const void *a, const void *b)
{
    int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    return (x > y) - (x < y);
}

/* Word numbers become sorted columns, in place; ptr[i + 1] gets the number of different ones. */
static plx_status sort_range(void *job_, plx_context *ctx, plx_index begin, plx_index end, int worker)
{
    counting *job = job_;
    (void)ctx;
    (void)worker;
    for (plx_index i = begin; i < end; i++) {
        int32_t *id = job->ids + job->start[i];
        plx_index kept = 0, different = 0;
        for (plx_index k = 0; k < job->words[i].count; k++) {
            plx_index column = job->terms[id[k]].last;
            if (column >= 0) id[kept++] = (int32_t)column;
        }
        qsort(id, (size_t)kept, sizeof *id, by_number);
        for (plx_index k = 0; k < kept; k++) different += k == 0 || id[k] != id[k - 1];
        job->words[i].count = kept;
        job->out.ptr[i + 1] = different;
    }
    return PLX_OK;
}

static plx_status fill_range(void *job_, plx_context *ctx, plx_index begin, plx_index end, int worker)
{
    counting *job = job_;
    (void)ctx;
    (void)worker;
    for (plx_index i = begin; i < end; i++) {
        const int32_t *id = job->ids + job->start[i];
        int64_t q = job->out.ptr[i] - 1;
        for (plx_index k = 0; k < job->words[i].count; k++) {
            if (k == 0 || id[k] != id[k - 1]) {
                job->out.col[++q] = id[k];
                job->out.val[q] = 0;
            }
            job->out.val[q] += 1;
        }
    }
    return PLX_OK;
}

static plx_status count_rows(counting *job, plx_context *ctx, plx__arena *arena, plx_index columns)
{
    job->out = (plx_csr){.rows = job->n, .cols = columns};
    PLX_TRY(plx__arena_i64(&job->out.ptr, arena, job->n + 1));
    PLX_TRY(plx__parallel_for(ctx, job->n, GRAIN, sort_range, job));
    for (plx_index i = 0; i < job->n; i++) job->out.ptr[i + 1] += job->out.ptr[i];
    PLX_TRY(plx__arena_bytes((void **)&job->out.col, arena, job->out.ptr[job->n], sizeof *job->out.col));
    PLX_TRY(plx__arena_bytes((void **)&job->out.val, arena, job->out.ptr[job->n], sizeof *job->out.val));
    return plx__parallel_for(ctx, job->n, GRAIN, fill_range, job);
}

plx_status plx__text_counts(plx__table *out, plx_context *ctx, plx__arena *arena, const char *const *docs,
                            const size_t *lens, plx_index n, const plx__text_options *options)
{
    counting job = {.docs = docs, .lens = lens, .n = n};
    plx__map stop;
    plx_index columns = 0;
    plx__mark mark = plx__arena_mark(plx__scratch(ctx));
    *out = (plx__table){.sparse = true};
    if (n < 1) PLX_FAIL(ctx, PLX_E_DATA, "there are no documents to count words in");
    PLX_TRY(plx__stop_map(&stop, ctx, plx__scratch(ctx), options));
    PLX_TRY(cut_documents(&job, ctx, options, stop.count ? &stop : NULL));
    warn_invalid(&job, ctx);
    PLX_TRY(number_words(&job, ctx));
    PLX_TRY(choose_terms(&out->col_names, &columns, &job, ctx, arena, options));
    PLX_TRY(count_rows(&job, ctx, arena, columns));
    out->csr = job.out;
    if (arena != plx__scratch(ctx)) plx__arena_rewind(plx__scratch(ctx), mark);
    return PLX_OK;
}
