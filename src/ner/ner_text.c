/*
 * A text as the taggers see it.
 */
#include "ner/ner_text.h"

#include <string.h>

/* ---- columns ---- */

plx_index plx__ner_tag_column(const plx__conll *conll, bool unlabelled)
{
    return unlabelled || conll->n_columns < 2 ? conll->n_columns : conll->n_columns - 1;
}

static plx_status number_documents(const int32_t **out, plx__arena *arena, const plx__conll *conll, int32_t first)
{
    int32_t *document = NULL;
    PLX_TRY(plx__arena_i32(&document, arena, conll->n_sentences));
    for (plx_index d = 0; d < conll->n_documents; d++)
        for (plx_index s = conll->documents[d]; s < conll->documents[d + 1]; s++) document[s] = first + (int32_t)d;
    *out = document;
    return PLX_OK;
}

plx_status plx__ner_text_open(plx__ner_text *out, plx_context *ctx, plx__arena *arena, const plx__conll *conll,
                              const plx__ner_columns *columns, plx__ner_types *types)
{
    plx_index tag = plx__ner_tag_column(conll, columns->unlabelled);
    *out = (plx__ner_text){.n = conll->n_tokens, .n_sentences = conll->n_sentences, .sentence = conll->sentences};
    out->word = conll->n_columns ? conll->columns[0] : NULL;
    if (tag > 1) out->pos = conll->columns[1];
    PLX_TRY(number_documents(&out->document, arena, conll, columns->first_document));
    if (tag == conll->n_columns || !types) return PLX_OK;
    plx__ner_mark *gold = NULL;
    PLX_TRY(PLX__ARENA_NEW(&gold, arena, conll->n_tokens));
    out->gold = gold;
    return plx__ner_read_marks(gold, ctx, types, conll, tag, columns->scheme);
}

/* ---- forms ---- */

plx_status plx__ner_text_forms(plx__ner_text *text, plx__arena *arena, plx__ner_forms *forms)
{
    PLX_TRY(plx__arena_i32(&text->form, arena, text->n));
    for (plx_index i = 0; i < text->n; i++) PLX_TRY(plx__ner_form_add(&text->form[i], forms, text->word[i]));
    return PLX_OK;
}

static plx_status copy_bigger(int32_t **table, plx__arena *arena, plx_index old, plx_index room)
{
    int32_t *bigger = NULL;
    PLX_TRY(plx__arena_i32(&bigger, arena, room));
    if (old) memcpy(bigger, *table, (size_t)old * sizeof *bigger);
    *table = bigger;
    return PLX_OK;
}

static plx_status make_room(plx__ner_seen *seen, plx_index forms)
{
    plx_index room = plx__max(1024, 2 * seen->room);
    if (forms <= seen->room) return PLX_OK;
    room = plx__max(room, forms);
    PLX_TRY(copy_bigger(&seen->document, seen->arena, seen->room, room));
    PLX_TRY(copy_bigger(&seen->before, seen->arena, seen->room, room));
    PLX_TRY(copy_bigger(&seen->behind, seen->arena, seen->room, room));
    seen->room = room;
    return PLX_OK;
}

static void walk_sentence(plx__ner_text *text, plx__ner_seen *seen, const plx__ner_forms *forms, plx_index s)
{
    plx__ner_sentence sentence = plx__ner_sentence_of(text, s);
    for (plx_index i = 0; i < sentence.n; i++) {
        int32_t form = sentence.form[i], now = text->document[s] + 1;
        plx_index at = text->sentence[s] + i;
        bool again = forms->form[form].recurs && seen->document[form] == now;
        text->seen_before[at] = again ? seen->before[form] : -1;
        text->seen_behind[at] = again ? seen->behind[form] : -1;
        seen->document[form] = now;
        seen->before[form] = plx__ner_form_at(&sentence, i - 1);
        seen->behind[form] = plx__ner_form_at(&sentence, i + 1);
    }
}

plx_status plx__ner_text_seen(plx__ner_text *text, plx__arena *arena, plx__ner_seen *seen, const plx__ner_forms *forms)
{
    PLX_TRY(make_room(seen, forms->count));
    PLX_TRY(plx__arena_i32(&text->seen_before, arena, text->n));
    PLX_TRY(plx__arena_i32(&text->seen_behind, arena, text->n));
    for (plx_index s = 0; s < text->n_sentences; s++) walk_sentence(text, seen, forms, s);
    return PLX_OK;
}

plx__ner_sentence plx__ner_sentence_of(const plx__ner_text *text, plx_index s)
{
    plx_index first = text->sentence[s];
    plx__ner_sentence out = {.n = text->sentence[s + 1] - first, .form = text->form + first};
    if (text->pos) out.pos = text->pos + first;
    if (text->seen_before) {
        out.seen_before = text->seen_before + first;
        out.seen_behind = text->seen_behind + first;
    }
    return out;
}

size_t plx__ner_longest(const plx__ner_text *text, const plx__ner_forms *forms)
{
    size_t longest = (size_t)forms->longest;
    for (plx_index i = 0; text->pos && i < text->n; i++) {
        size_t length = strlen(text->pos[i]);
        if (length > longest) longest = length;
    }
    return longest;
}
