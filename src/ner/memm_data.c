/*
 * What a conditional Markov model learns from: the features of every token with its right history, numbered in the order
 * they are first seen.
 */
#include <string.h>

#include "ner/memm.h"

plx_status plx__memm_data_open(plx__memm_data *d, plx_context *ctx)
{
    *d = (plx__memm_data){.ctx = ctx};
    plx__arena_init(&d->arena, ctx);
    return plx__dict_init(&d->features, &d->arena, 1024);
}

void plx__memm_data_free(plx__memm_data *d)
{
    if (!d->ctx) return;
    plx__release(d->ctx, d->ptr, d->ptr_bytes);
    plx__release(d->ctx, d->col, d->col_bytes);
    plx__release(d->ctx, d->gold, d->gold_bytes);
    plx__arena_free(&d->arena);
    *d = (plx__memm_data){0};
}

/* Room for `needed` bytes in a block of its own that keeps what it holds: nothing outgrown stays behind. */
static plx_status grow(void **block, size_t *bytes, plx_context *ctx, size_t needed)
{
    if (needed <= *bytes) return PLX_OK;
    size_t wanted = needed < 2 * *bytes ? 2 * *bytes : needed + 4096;
    void *bigger = plx__alloc(ctx, wanted);
    if (!bigger) PLX_FAIL(ctx, PLX_E_NOMEM, "out of memory for the features of a text; raise the memory limit");
    if (*bytes) memcpy(bigger, *block, *bytes);
    plx__release(ctx, *block, *bytes);
    *block = bigger;
    *bytes = wanted;
    return PLX_OK;
}

static plx_status put_feature(void *data, const char *text, size_t length)
{
    plx__memm_data *d = data;
    plx_index number = 0;
    PLX_TRY(plx__dict_add(&number, &d->features, text, length));
    PLX_TRY(grow((void **)&d->col, &d->col_bytes, d->ctx, (size_t)(d->n_entries + 1) * sizeof *d->col));
    d->col[d->n_entries++] = (int32_t)number;
    return PLX_OK;
}

static plx_status tag_text(const char **out, plx__memm_data *d, const plx__ner_types *types, plx__ner_mark mark)
{
    plx_index at = 2 * (plx_index)mark.type + (mark.prefix == 'I');
    if (mark.prefix == 'O') return plx__arena_text(out, plx__scratch(d->ctx), "O");
    if (at >= d->tag_room) {
        const char **bigger = NULL;
        plx_index room = 2 * types->count + 16;
        PLX_TRY(PLX__ARENA_NEW(&bigger, &d->arena, room));
        if (d->tag_room) memcpy(bigger, d->tag_text, (size_t)d->tag_room * sizeof *bigger);
        d->tag_text = bigger;
        d->tag_room = room;
    }
    if (!d->tag_text[at]) PLX_TRY(plx__ner_tag_text(&d->tag_text[at], &d->arena, types, mark));
    *out = d->tag_text[at];
    return PLX_OK;
}

static plx_status add_token(plx__memm_data *d, const plx__emitter *e, const plx__ner_sentence *s, plx_index i,
                            const char *const *tags, plx__ner_mark gold)
{
    const char *before[PLX__NER_HISTORY];
    for (int k = 0; k < PLX__NER_HISTORY; k++) before[k] = i - k - 1 >= 0 ? tags[i - k - 1] : "<s>";
    PLX_TRY(grow((void **)&d->ptr, &d->ptr_bytes, d->ctx, (size_t)(d->n + 2) * sizeof *d->ptr));
    PLX_TRY(grow((void **)&d->gold, &d->gold_bytes, d->ctx, (size_t)(d->n + 1) * sizeof *d->gold));
    PLX_TRY(plx__emit_static(e, s, i));
    PLX_TRY(plx__emit_history(e, s, i, before));
    d->ptr[0] = 0;
    d->gold[d->n] = gold;
    d->ptr[++d->n] = d->n_entries;
    return PLX_OK;
}

plx_status plx__memm_data_add(plx__memm_data *d, const plx__ner_views *views, const plx__ner_forms *forms,
                              const plx__ner_text *text, plx_index s, const plx__ner_types *types)
{
    plx__arena *scratch = plx__scratch(d->ctx);
    plx__mark mark = plx__arena_mark(scratch);
    plx__ner_sentence sentence = plx__ner_sentence_of(text, s);
    plx__emitter e = {.views = views, .form = forms->form, .lexicon = forms->lexicon, .put = put_feature, .arg = d};
    const plx__ner_mark *gold = text->gold + text->sentence[s];
    const char **tags = NULL;
    size_t longest_form = (size_t)forms->longest, longest_tag = 8;
    PLX_TRY(PLX__ARENA_NEW(&tags, scratch, sentence.n));
    for (plx_index i = 0; i < sentence.n; i++) {
        PLX_TRY(tag_text(&tags[i], d, types, gold[i]));
        if (strlen(tags[i]) > longest_tag) longest_tag = strlen(tags[i]);
        if (sentence.pos && strlen(sentence.pos[i]) > longest_form) longest_form = strlen(sentence.pos[i]);
    }
    plx_index room = (plx_index)plx__ner_feature_room(longest_form, longest_tag);
    PLX_TRY(plx__arena_bytes((void **)&e.buffer, scratch, room, 1));
    for (plx_index i = 0; i < sentence.n; i++) PLX_TRY(add_token(d, &e, &sentence, i, tags, gold[i]));
    plx__arena_rewind(scratch, mark);
    return plx__poll(d->ctx);
}
