/*
 * From tagged text to support vector machines.
 */
#include "ner/svm_learn.h"

#include <stdlib.h>
#include <string.h>

#include "ner/source.h"

/* ---- stop words ---- */

typedef struct counted {
    const char *word;
    int64_t count;
} counted;

static int by_count(const void *a_, const void *b_)
{
    const counted *a = a_, *b = b_;
    if (a->count != b->count) return a->count > b->count ? -1 : 1;
    return strcmp(a->word, b->word);
}

typedef struct tally {
    plx__dict words;
    int64_t *count;
    bool *named; /* part of a training name */
    plx_index room;
} tally;

static plx_status count_word(tally *t, const char *word, bool named)
{
    plx_index at = 0;
    PLX_TRY(plx__dict_add(&at, &t->words, word, strlen(word)));
    if (at >= t->room) {
        plx_index room = t->room ? 2 * t->room : 4096;
        int64_t *count = NULL;
        bool *flags = NULL;
        PLX_TRY(plx__arena_i64(&count, t->words.arena, room));
        PLX_TRY(PLX__ARENA_NEW(&flags, t->words.arena, room));
        if (t->room) memcpy(count, t->count, (size_t)t->room * sizeof *count);
        if (t->room) memcpy(flags, t->named, (size_t)t->room * sizeof *flags);
        t->count = count;
        t->named = flags;
        t->room = room;
    }
    t->count[at]++;
    t->named[at] |= named;
    return PLX_OK;
}

static plx_status count_source(tally *t, plx__ner_source *source)
{
    plx__arena *scratch = plx__scratch(source->ctx);
    bool more = true;
    int32_t document = 0;
    while (more) {
        plx__mark mark = plx__arena_mark(scratch);
        plx__conll part;
        PLX_TRY(plx__ner_source_next(source, scratch, &part, &document, &more));
        for (plx_index i = 0; i < part.n_tokens; i++) PLX_TRY(count_word(t, part.columns[0][i], false));
        plx__arena_rewind(scratch, mark);
    }
    return PLX_OK;
}

static plx_status count_file(tally *t, plx_context *ctx, const char *path)
{
    plx__ner_source source = {0};
    plx_status st = plx__ner_source_open(&source, ctx, path);
    if (st == PLX_OK) st = count_source(t, &source);
    plx__ner_source_close(&source);
    return st;
}

static plx_status find_stops(plx__svm *m, plx_context *ctx, plx__arena *own, const plx__ner_text *text,
                             const char *unlabelled)
{
    tally t = {0};
    counted *all = NULL;
    plx_index count = 0, number = 0;
    PLX_TRY(plx__dict_init(&t.words, own, 1024));
    for (plx_index i = 0; i < text->n; i++) PLX_TRY(count_word(&t, text->word[i], text->gold[i].prefix != 'O'));
    if (unlabelled) PLX_TRY(count_file(&t, ctx, unlabelled));
    PLX_TRY(PLX__ARENA_NEW(&all, own, t.words.count));
    for (plx_index k = 0; k < t.words.count; k++)
        if (!t.named[k]) all[count++] = (counted){t.words.key[k].text, t.count[k]};
    qsort(all, (size_t)count, sizeof *all, by_count);
    for (plx_index k = 0; k < plx__min(count, m->params.stop_top); k++)
        PLX_TRY(plx__dict_add(&number, &m->stop, all[k].word, strlen(all[k].word)));
    return PLX_OK;
}

plx_status plx__svm_stop_words(plx__svm *m, plx_context *ctx, plx__arena *arena, const plx__ner_text *text,
                               const char *unlabelled)
{
    plx__arena own;
    PLX_TRY(plx__dict_init(&m->stop, arena, 16));
    if (m->params.stop_top == 0) return PLX_OK;
    plx__arena_init(&own, ctx);
    plx_status st = find_stops(m, ctx, &own, text, unlabelled);
    plx__arena_free(&own);
    return st;
}

/* ---- learning ---- */

plx_status plx__svm_learn(plx__svm *m, plx_context *ctx, plx__arena *arena, const plx__ner_text *text,
                          const plx__ner_types *types, const plx_params *settings, const char *unlabelled,
                          const char *dump)
{
    plx__svm_text opened;
    *m = (plx__svm){0};
    PLX_TRY(plx__params_fill(&m->params, ctx, arena, settings));
    PLX_TRY(plx__svm_categories(m, ctx, arena, text, types));
    PLX_TRY(plx__svm_stop_words(m, ctx, arena, text, unlabelled));
    PLX_TRY(plx__dict_init(&m->base, arena, 1024));
    PLX_TRY(plx__svm_text_open(&opened, plx__scratch(ctx), text, m, true));
    if (dump) PLX_TRY(plx__svm_dump(m, ctx, &opened, text->gold, dump));
    return plx__svm_fit(m, ctx, arena, &opened, text->gold, NULL);
}

/* ---- tagging files ---- */

typedef struct tagging {
    plx__svm *m;
    plx_context *ctx;
    plx__ner_output *out;
    const plx__ner_types *types;
    const plx__svm_tag_job *job;
} tagging;

static plx_status tag_part(void *arg, const plx__conll *part, int32_t document, plx__name_memory *memory)
{
    const tagging *g = arg;
    plx__arena *scratch = plx__scratch(g->ctx);
    plx__ner_columns columns = {.unlabelled = g->job->unlabelled, .first_document = document};
    plx_index n_cat = g->m->n_cat;
    plx__ner_text text;
    plx__ner_mark *marks = NULL;
    double *values = NULL;
    PLX_TRY(plx__ner_text_open(&text, g->ctx, scratch, part, &columns, NULL));
    PLX_TRY(PLX__ARENA_NEW(&marks, scratch, text.n));
    if (g->out->has_values) PLX_TRY(plx__arena_f64(&values, scratch, text.n, n_cat));
    PLX_TRY(plx__svm_tag(g->m, g->ctx, scratch, &text, marks, values, memory));
    for (plx_index s = 0; s < part->n_sentences; s++) {
        plx_index first = part->sentences[s];
        PLX_TRY(plx__ner_put_tagged(g->out, g->ctx, part, s, marks + first, g->job->scheme, g->types));
        if (values) plx__ner_put_values(g->out, part, s, values + first * n_cat, n_cat);
    }
    plx__ner_output_flush(g->out);
    return PLX_OK;
}

plx_status plx__svm_tag_file(plx__svm *m, plx_context *ctx, const plx__ner_types *types, const plx__svm_tag_job *job)
{
    plx__ner_source source = {0};
    plx__ner_output out = {0};
    plx_status st = PLX_OK;
    tagging g = {m, ctx, &out, types, job};
    plx__svm_parts parts = {m, job->unlabelled, "tag", tag_part, &g};
    PLX_GOTO(plx__ner_source_open(&source, ctx, job->in));
    PLX_GOTO(plx__ner_output_open(&out, ctx, job->out, job->values));
    plx__ner_put_header(&out, m->cat, m->n_cat);
    PLX_GOTO(plx__svm_each_part(ctx, &source, &parts));
    PLX_GOTO(plx__ner_output_commit(&out, ctx));
done:
    plx__ner_output_abort(&out);
    plx__ner_source_close(&source);
    return st;
}
