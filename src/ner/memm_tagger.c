/*
 * Tagging texts: forms and their sums are made once per form, sentences are tagged in parallel.
 */
#include <string.h>

#include "core/parallel.h"
#include "ner/memm_tag.h"

enum { SENTENCES_AT_ONCE = 8, FORMS_AT_ONCE = 64, BLOCK = 1024, MOST_FORMS = 200000 };

enum { OWN, BEFORE, BEHIND, AROUND_BEFORE, AROUND_BEHIND };

/* ---- life ---- */

static plx_status start_forms(plx__memm_tagger *g)
{
    plx__arena_free(&g->form_arena);
    plx__arena_init(&g->form_arena, g->ctx);
    g->seen = (plx__ner_seen){.arena = &g->form_arena};
    g->sums = NULL;
    g->word_rest = NULL;
    g->n_blocks = g->block_room = g->rest_room = g->ready = 0;
    return plx__ner_forms_init(&g->forms, &g->form_arena, &g->index->m->lexicon);
}

static plx_status open_desks(plx__memm_tagger *g)
{
    int count = plx__workers(g->ctx);
    PLX_TRY(PLX__ARENA_NEW(&g->desk, &g->arena, count));
    for (; g->n_desks < count; g->n_desks++) plx__arena_init(&g->desk[g->n_desks].arena, g->crew.member[g->n_desks]);
    return PLX_OK;
}

plx_status plx__memm_tagger_open(plx__memm_tagger *g, plx_context *ctx, const plx__memm_index *index)
{
    *g = (plx__memm_tagger){.ctx = ctx, .index = index};
    plx__arena_init(&g->arena, ctx);
    plx__arena_init(&g->form_arena, ctx);
    PLX_TRY(plx__crew_open(&g->crew, ctx, plx__workers(ctx)));
    PLX_TRY(open_desks(g));
    return start_forms(g);
}

void plx__memm_tagger_free(plx__memm_tagger *g)
{
    if (!g->ctx) return;
    for (int k = 0; k < g->n_desks; k++) plx__arena_free(&g->desk[k].arena);
    plx__crew_close(&g->crew);
    plx__arena_free(&g->form_arena);
    plx__arena_free(&g->arena);
    *g = (plx__memm_tagger){0};
}

/* ---- sums by form ---- */

typedef struct adder {
    const plx__memm *m;
    double *to;
} adder;

static void add(double *to, const double *row, plx_index n)
{
    for (plx_index t = 0; t < n; t++) to[t] += row[t];
}

static plx_status add_feature(void *arg, const char *text, size_t length)
{
    adder *a = arg;
    plx_index k = plx__dict_get(&a->m->features, text, length);
    if (k >= 0) add(a->to, a->m->weight + k * a->m->stride, a->m->stride);
    return PLX_OK;
}

static double *sums_of(const plx__memm_tagger *g, plx_index form, int which)
{
    return g->sums[form / BLOCK] + (form % BLOCK * PLX__FORM_SUMS + which) * g->index->stride;
}

static plx__emitter emitter_of(const plx__memm_tagger *g, adder *a, char *buffer)
{
    return (plx__emitter){.views = &g->index->m->views,
                          .form = g->forms.form,
                          .lexicon = &g->index->m->lexicon,
                          .buffer = buffer,
                          .put = add_feature,
                          .arg = a};
}

static plx_status sum_form(plx__memm_tagger *g, plx__emitter *e, int32_t form)
{
    adder *a = e->arg;
    a->to = sums_of(g, form, BEFORE);
    PLX_TRY(plx__emit_neighbour(e, form, -1));
    a->to = sums_of(g, form, BEHIND);
    PLX_TRY(plx__emit_neighbour(e, form, +1));
    g->word_rest[form] = -1;
    if (form < PLX__FORM_FIRST) return PLX_OK;
    a->to = sums_of(g, form, OWN);
    PLX_TRY(plx__emit_own(e, form));
    a->to = sums_of(g, form, AROUND_BEFORE);
    PLX_TRY(plx__emit_around(e, form, -1));
    a->to = sums_of(g, form, AROUND_BEHIND);
    PLX_TRY(plx__emit_around(e, form, +1));
    size_t length = 0;
    plx__ner_sentence single = {.n = 1, .form = &form};
    plx__ner_rest(&length, e, &single, 0, 0);
    if (length) g->word_rest[form] = (int32_t)plx__dict_get(&g->index->rest, e->buffer, length);
    return PLX_OK;
}

static plx_status sum_forms(void *arg, plx_context *ctx, plx_index begin, plx_index end, int worker)
{
    plx__memm_tagger *g = arg;
    adder a = {.m = g->index->m};
    plx__emitter e = emitter_of(g, &a, g->desk[worker].buffer);
    (void)ctx;
    for (plx_index k = begin; k < end; k++) PLX_TRY(sum_form(g, &e, (int32_t)(g->ready + k)));
    return PLX_OK;
}

static plx_status more_blocks(plx__memm_tagger *g)
{
    while (g->n_blocks * BLOCK < g->forms.count) {
        if (g->n_blocks == g->block_room) {
            double **bigger = NULL;
            g->block_room = g->block_room ? 2 * g->block_room : 16;
            PLX_TRY(PLX__ARENA_NEW(&bigger, &g->form_arena, g->block_room));
            if (g->n_blocks) memcpy(bigger, g->sums, (size_t)g->n_blocks * sizeof *bigger);
            g->sums = bigger;
        }
        PLX_TRY(plx__arena_f64(&g->sums[g->n_blocks], &g->form_arena, BLOCK * PLX__FORM_SUMS, g->index->stride));
        g->n_blocks++;
    }
    if (g->rest_room < g->forms.count) {
        int32_t *bigger = NULL;
        PLX_TRY(plx__arena_i32(&bigger, &g->form_arena, 2 * g->forms.count));
        if (g->ready) memcpy(bigger, g->word_rest, (size_t)g->ready * sizeof *bigger);
        g->word_rest = bigger;
        g->rest_room = 2 * g->forms.count;
    }
    return PLX_OK;
}

/* Buffers of all workers for the longest feature of the text. */
static plx_status fit_buffers(plx__memm_tagger *g, const plx__ner_text *text)
{
    size_t longest_tag = 8;
    for (plx_index t = 0; t < g->index->n_tags; t++)
        if (strlen(g->index->m->tag[t]) > longest_tag) longest_tag = strlen(g->index->m->tag[t]);
    size_t room = plx__ner_feature_room(plx__ner_longest(text, &g->forms), longest_tag);
    for (int k = 0; k < g->n_desks; k++) {
        plx__memm_desk *desk = &g->desk[k];
        if (room <= desk->buffer_bytes) continue;
        plx__arena_free(&desk->arena);
        plx__arena_init(&desk->arena, g->crew.member[k]);
        desk->buffer_bytes = 0;
        PLX_TRY(plx__arena_bytes((void **)&desk->buffer, &desk->arena, (plx_index)(2 * room), 1));
        desk->buffer_bytes = 2 * room;
    }
    return PLX_OK;
}

/* ---- sentences ---- */

typedef struct job {
    plx__memm_tagger *g;
    const plx__ner_text *text;
    int32_t *tags;
    double *probs;
} job;

static void add_entries(plx__memm_local *local, const plx__memm_index *x, int kind, plx_index rest)
{
    if (rest < 0) return;
    local->entry[kind] = x->entry + x->rest_ptr[rest];
    local->n_entries[kind] = x->rest_ptr[rest + 1] - x->rest_ptr[rest];
}

static plx_status look_up(plx__memm_local *local, const plx__memm_tagger *g, plx__emitter *e,
                          const plx__ner_sentence *s, plx_index i)
{
    const plx__memm_index *x = g->index;
    plx_index S = x->stride;
    int32_t around[PLX__NER_AROUND];
    adder *a = e->arg;
    int class = 0;
    a->to = local->u;
    add(local->u, x->bias, S);
    add(local->u, sums_of(g, s->form[i], OWN), S);
    add(local->u, sums_of(g, plx__ner_form_at(s, i - 1), BEFORE), S);
    add(local->u, sums_of(g, plx__ner_form_at(s, i + 1), BEHIND), S);
    for (int side = -1; e->views->two && side <= 1; side += 2) {
        int count = plx__ner_around(around, s, i, side);
        for (int k = 0; k < count; k++)
            add(local->u, sums_of(g, around[k], side < 0 ? AROUND_BEFORE : AROUND_BEHIND), S);
    }
    for (int d = -1; d <= 1; d++) class = 6 * class + plx__memm_class(plx__ner_abbreviation(e, s, i + d));
    add(local->u, x->abbreviation + class * S, S);
    PLX_TRY(plx__emit_shapes(e, s, i));
    PLX_TRY(plx__emit_pos(e, s, i));
    PLX_TRY(plx__emit_occurrence(e, s, i));
    add_entries(local, x, 0, g->word_rest[s->form[i]]);
    for (int kind = 1; kind < PLX__NER_RESTS; kind++) {
        size_t length = 0;
        plx__ner_rest(&length, e, s, i, kind);
        if (length) add_entries(local, x, kind, plx__dict_get(&x->rest, e->buffer, length));
    }
    local->bracket = plx__ner_bracket(e, s, i);
    return PLX_OK;
}

static plx_status tag_sentence(const job *j, plx__memm_desk *desk, plx_index sentence)
{
    const plx__memm_tagger *g = j->g;
    const plx__memm_index *x = g->index;
    plx__ner_sentence s = plx__ner_sentence_of(j->text, sentence);
    plx_index first = j->text->sentence[sentence];
    int32_t *tags = j->tags ? j->tags + first : NULL;
    double *probs = j->probs ? j->probs + first * x->n_tags : NULL, *u = NULL;
    plx__memm_local *local = NULL;
    adder a = {.m = x->m};
    plx__emitter e = emitter_of(g, &a, desk->buffer);
    PLX_TRY(PLX__ARENA_NEW(&local, &desk->arena, s.n));
    PLX_TRY(plx__arena_f64(&u, &desk->arena, s.n, x->stride));
    for (plx_index i = 0; i < s.n; i++) {
        local[i].u = u + i * x->stride;
        PLX_TRY(look_up(&local[i], g, &e, &s, i));
    }
    if (!x->marginals) return plx__memm_beam(x, &desk->arena, local, s.n, tags, probs);
    if (!x->exact && tags) {
        PLX_TRY(plx__memm_beam(x, &desk->arena, local, s.n, tags, NULL));
        tags = NULL;
    }
    return tags || probs ? plx__memm_exact(x, &desk->arena, local, s.n, tags, probs) : PLX_OK;
}

static plx_status tag_sentences(void *arg, plx_context *ctx, plx_index begin, plx_index end, int worker)
{
    job *j = arg;
    plx__memm_desk *desk = &j->g->desk[worker];
    for (plx_index s = begin; s < end; s++) {
        plx__mark mark = plx__arena_mark(&desk->arena);
        plx_status st = tag_sentence(j, desk, s);
        plx__arena_rewind(&desk->arena, mark);
        PLX_TRY(st);
        PLX_TRY(plx__poll(ctx));
    }
    return PLX_OK;
}

static bool starts_document(const plx__memm_tagger *g, const plx__ner_text *text)
{
    for (plx_index k = 0; k < plx__min(g->seen.room, g->forms.count); k++)
        if (g->seen.document[k] == text->document[0] + 1) return false;
    return true;
}

plx_status plx__memm_tagger_run(plx__memm_tagger *g, plx__ner_text *text, plx__arena *arena, int32_t *tags,
                                double *probs)
{
    job j = {g, text, tags, probs};
    if (text->n == 0) return PLX_OK;
    /* Forms stay over documents as long as they are not too many. */
    if (g->forms.count > MOST_FORMS && starts_document(g, text)) PLX_TRY(start_forms(g));
    PLX_TRY(plx__ner_text_forms(text, arena, &g->forms));
    PLX_TRY(plx__ner_text_seen(text, arena, &g->seen, &g->forms));
    PLX_TRY(more_blocks(g));
    PLX_TRY(fit_buffers(g, text));
    PLX_TRY(plx__parallel_for(g->ctx, g->forms.count - g->ready, FORMS_AT_ONCE, sum_forms, g));
    g->ready = g->forms.count;
    return plx__parallel_for(g->ctx, text->n_sentences, SENTENCES_AT_ONCE, tag_sentences, &j);
}
