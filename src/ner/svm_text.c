/*
 * A text with the features of its forms, for the support vector machines.
 */
#include <string.h>

#include "ner/svm.h"

/* ---- columns ---- */

plx__svm_layout plx__svm_layout_of(const plx__svm *m)
{
    bool enhanced = m->params.window == 1;
    plx__svm_layout l = {.slots = enhanced ? 8 : 6, .base = m->base.count};
    l.focus = enhanced ? -1 : 3;
    l.first = enhanced ? 3 : -1;
    l.inner = enhanced ? 4 : -1;
    l.last = enhanced ? 5 : -1;
    l.before = 0;
    l.after = enhanced ? 6 : 4;
    l.pad = l.slots * l.base;
    l.len = l.pad + l.slots;
    l.bias = l.len + 1;
    l.pre = l.bias + 1;
    l.suc = l.pre + PLX__SVM_CONTEXT * m->n_cat;
    l.columns = l.suc + PLX__SVM_CONTEXT * m->n_cat;
    return l;
}

const char *plx__svm_slot_name(bool enhanced, int slot)
{
    static const char *const simple[] = {"-3|", "-2|", "-1|", "0|", "+1|", "+2|"};
    static const char *const spans[] = {"-3|", "-2|", "-1|", "F|", "M|", "L|", "+1|", "+2|"};
    return enhanced ? spans[slot] : simple[slot];
}

/* ---- forms ---- */

typedef struct gather {
    plx__svm *m;
    bool learn;
    plx__arena *arena;
    int32_t *base;
    double *value;
    plx_index count, room;
} gather;

static plx_status add_feature(void *arg, const char *name, size_t length, double value)
{
    gather *g = arg;
    plx_index at = plx__dict_get(&g->m->base, name, length);
    if (at < 0 && !g->learn) return PLX_OK;
    if (at < 0) PLX_TRY(plx__dict_add(&at, &g->m->base, name, length));
    if (g->count == g->room) {
        plx_index room = g->room ? 2 * g->room : 4096;
        int32_t *base = NULL;
        double *values = NULL;
        PLX_TRY(plx__arena_i32(&base, g->arena, room));
        PLX_TRY(plx__arena_f64(&values, g->arena, room, 1));
        if (g->count) memcpy(base, g->base, (size_t)g->count * sizeof *base);
        if (g->count) memcpy(values, g->value, (size_t)g->count * sizeof *values);
        g->base = base;
        g->value = values;
        g->room = room;
    }
    g->base[g->count] = (int32_t)at;
    g->value[g->count++] = value;
    return PLX_OK;
}

static plx_status number_forms(plx__svm_text *t, plx__arena *arena, plx__dict *forms)
{
    PLX_TRY(plx__arena_i32(&t->form, arena, t->n));
    PLX_TRY(plx__dict_init(forms, arena, 1024));
    for (plx_index i = 0; i < t->n; i++) {
        plx_index at = 0;
        PLX_TRY(plx__dict_add(&at, forms, t->word[i], strlen(t->word[i])));
        t->form[i] = (int32_t)at;
    }
    t->n_forms = forms->count;
    return PLX_OK;
}

static plx_status describe_forms(plx__svm_text *t, plx__arena *arena, plx__svm *m, bool learn)
{
    plx__dict forms;
    gather g = {.m = m, .learn = learn, .arena = arena};
    plx__svm_pen pen = {.arena = arena};
    PLX_TRY(number_forms(t, arena, &forms));
    PLX_TRY(PLX__ARENA_NEW(&t->form_text, arena, t->n_forms));
    PLX_TRY(PLX__ARENA_NEW(&t->candidate, arena, t->n_forms));
    PLX_TRY(PLX__ARENA_NEW(&t->ptr, arena, t->n_forms + 1));
    for (plx_index k = 0; k < t->n_forms; k++) {
        const char *word = t->form_text[k] = forms.key[k].text;
        t->candidate[k] = plx__svm_has_word_character(word) && plx__dict_get(&m->stop, word, strlen(word)) < 0;
        PLX_TRY(plx__svm_word_features(m, &pen, word, add_feature, &g));
        t->ptr[k + 1] = g.count;
    }
    t->base = g.base;
    t->value = g.value;
    return PLX_OK;
}

/* ---- contexts ---- */

typedef struct edges {
    const plx__svm *m;
    plx__arena *arena;
    plx_index *ptr;
    int32_t *col;
    double *val;
    plx_index count, room;
    char *buffer;
    size_t bytes;
} edges;

static plx_status add_ratio(edges *e, int32_t col, double ratio)
{
    if (e->count == e->room) {
        plx_index room = e->room ? 2 * e->room : 1024;
        int32_t *cols = NULL;
        double *values = NULL;
        PLX_TRY(plx__arena_i32(&cols, e->arena, room));
        PLX_TRY(plx__arena_f64(&values, e->arena, room, 1));
        if (e->count) memcpy(cols, e->col, (size_t)e->count * sizeof *cols);
        if (e->count) memcpy(values, e->val, (size_t)e->count * sizeof *values);
        e->col = cols;
        e->val = values;
        e->room = room;
    }
    e->col[e->count] = col;
    e->val[e->count++] = ratio;
    return PLX_OK;
}

/* The words first .. first + count - 1 behind "p" or "s", each with a blank before it. */
static plx_status join(edges *e, size_t *length, char side, const char *const *word, plx_index count)
{
    size_t need = 1;
    for (plx_index k = 0; k < count; k++) need += strlen(word[k]) + 1;
    if (need > e->bytes) {
        PLX_TRY(plx__arena_bytes((void **)&e->buffer, e->arena, 2 * (plx_index)need, 1));
        e->bytes = 2 * need;
    }
    e->buffer[0] = side;
    *length = 1;
    for (plx_index k = 0; k < count; k++) {
        size_t bytes = strlen(word[k]);
        e->buffer[(*length)++] = ' ';
        memcpy(e->buffer + *length, word[k], bytes);
        *length += bytes;
    }
    return PLX_OK;
}

static plx_status add_context(edges *e, char side, const char *const *word, plx_index count)
{
    const plx__svm_ratios *r = &e->m->lexicon.contexts;
    size_t length = 0;
    PLX_TRY(join(e, &length, side, word, count));
    plx_index at = plx__dict_get(&r->keys, e->buffer, length);
    for (plx_index k = at < 0 ? 0 : r->ptr[at]; at >= 0 && k < r->ptr[at + 1]; k++)
        PLX_TRY(add_ratio(e, (int32_t)((count - 1) * e->m->n_cat + r->entry[k].key), r->entry[k].ratio));
    return PLX_OK;
}

/* Contexts at every token: side 'p' ends before it, 's' begins behind it. */
static plx_status fill_edges(edges *e, const plx__svm_text *t, char side)
{
    for (plx_index s = 0; s < t->n_sentences; s++)
        for (plx_index i = t->sentence[s]; i < t->sentence[s + 1]; i++) {
            for (plx_index n = 1; e->m->lexicon.present && n <= PLX__SVM_CONTEXT; n++) {
                plx_index begin = side == 'p' ? i - n : i + 1;
                if (begin >= t->sentence[s] && begin + n <= t->sentence[s + 1])
                    PLX_TRY(add_context(e, side, t->word + begin, n));
            }
            e->ptr[i + 1] = e->count;
        }
    return PLX_OK;
}

static plx_status find_contexts(plx__svm_text *t, plx__arena *arena, const plx__svm *m)
{
    edges pre = {.m = m, .arena = arena}, suc = {.m = m, .arena = arena};
    PLX_TRY(PLX__ARENA_NEW(&pre.ptr, arena, t->n + 1));
    PLX_TRY(PLX__ARENA_NEW(&suc.ptr, arena, t->n + 1));
    PLX_TRY(fill_edges(&pre, t, 'p'));
    PLX_TRY(fill_edges(&suc, t, 's'));
    t->pre_ptr = pre.ptr;
    t->pre_col = pre.col;
    t->pre_val = pre.val;
    t->suc_ptr = suc.ptr;
    t->suc_col = suc.col;
    t->suc_val = suc.val;
    return PLX_OK;
}

plx_status plx__svm_text_open(plx__svm_text *out, plx__arena *arena, const plx__ner_text *text, plx__svm *m, bool learn)
{
    *out = (plx__svm_text){.n = text->n,
                           .n_sentences = text->n_sentences,
                           .sentence = text->sentence,
                           .document = text->document,
                           .word = text->word};
    PLX_TRY(describe_forms(out, arena, m, learn));
    return find_contexts(out, arena, m);
}
