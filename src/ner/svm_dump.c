/*
 * Instances of the support vector machines with their features, for people.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/file.h"
#include "ner/svm.h"

typedef struct feature {
    const char *name;
    double value;
} feature;

typedef struct instance {
    const plx__svm *m;
    const plx__svm_text *t;
    plx__arena *arena; /* scratch of one instance */
    plx_index first, n, s;
    feature *item;
    plx_index count, room;
} instance;

static plx_status add(instance *z, const char *name, double value)
{
    if (z->count == z->room) {
        feature *bigger = NULL;
        plx_index room = z->room ? 2 * z->room : 128;
        PLX_TRY(PLX__ARENA_NEW(&bigger, z->arena, room));
        if (z->count) memcpy(bigger, z->item, (size_t)z->count * sizeof *bigger);
        z->item = bigger;
        z->room = room;
    }
    z->item[z->count++] = (feature){name, value};
    return PLX_OK;
}

/* Features of the word at `i` of the sentence behind the name of a slot. */
static plx_status add_word(instance *z, plx_index i, int slot)
{
    const char *prefix = plx__svm_slot_name(z->m->params.window == 1, slot), *name = NULL;
    if (i < 0 || i >= z->n) {
        PLX_TRY(plx__arena_printf(&name, z->arena, "%spad", prefix));
        return add(z, name, 1);
    }
    plx_index form = z->t->form[z->first + i];
    for (plx_index k = z->t->ptr[form]; k < z->t->ptr[form + 1]; k++) {
        PLX_TRY(plx__arena_printf(&name, z->arena, "%s%s", prefix, z->m->base.key[z->t->base[k]].text));
        PLX_TRY(add(z, name, z->t->value[k]));
    }
    return PLX_OK;
}

static plx_status add_contexts(instance *z, const char *side, const plx_index *ptr, const int32_t *col,
                               const double *val, plx_index i)
{
    for (plx_index k = ptr[i]; k < ptr[i + 1]; k++) {
        const char *name = NULL;
        PLX_TRY(plx__arena_printf(&name, z->arena, "%s%lld:%s", side, (long long)(col[k] / z->m->n_cat + 1),
                                  z->m->cat[col[k] % z->m->n_cat]));
        PLX_TRY(add(z, name, val[k]));
    }
    return PLX_OK;
}

static plx_status fill(instance *z, plx_index begin, plx_index end)
{
    plx__svm_layout l = plx__svm_layout_of(z->m);
    const plx__svm_text *t = z->t;
    for (int k = 0; k < 3; k++) PLX_TRY(add_word(z, begin - 3 + k, l.before + k));
    for (int k = 0; k < 2; k++) PLX_TRY(add_word(z, end + k, l.after + k));
    if (l.focus >= 0) PLX_TRY(add_word(z, begin, l.focus));
    else {
        PLX_TRY(add_word(z, begin, l.first));
        PLX_TRY(add_word(z, end - 1, l.last));
        for (plx_index i = begin + 1; i < end - 1; i++) PLX_TRY(add_word(z, i, l.inner));
        PLX_TRY(add(z, "len", (double)(end - begin) / PLX__SVM_SPAN_UNIT));
    }
    PLX_TRY(add(z, "bias", 1));
    PLX_TRY(add_contexts(z, "pre", t->pre_ptr, t->pre_col, t->pre_val, z->first + begin));
    return add_contexts(z, "suc", t->suc_ptr, t->suc_col, t->suc_val, z->first + end - 1);
}

static int by_name(const void *a, const void *b)
{
    return strcmp(((const feature *)a)->name, ((const feature *)b)->name);
}

/* Six digits, whatever decimal point the locale has. */
static void write_value(FILE *to, const char *name, double value)
{
    char number[32];
    snprintf(number, sizeof number, "%.6g", value);
    char *comma = strchr(number, ',');
    if (comma) *comma = '.';
    fprintf(to, "\t%s=%s", name, number);
}

static plx_status write_instance(FILE *to, instance *z, const plx__ner_mark *gold, plx_index begin, plx_index end)
{
    plx__mark mark = plx__arena_mark(z->arena);
    int32_t label = plx__svm_label(z->m, gold + z->first, z->n, begin, end);
    z->item = NULL;
    z->count = z->room = 0;
    PLX_TRY(fill(z, begin, end));
    qsort(z->item, (size_t)z->count, sizeof *z->item, by_name);
    fprintf(to, "%lld\t%lld\t%lld\t%s", (long long)z->s, (long long)begin, (long long)end,
            label < 0 ? "O" : z->m->cat[label]);
    for (plx_index k = 0; k < z->count;) {
        double value = 0;
        plx_index first = k;
        for (; k < z->count && strcmp(z->item[k].name, z->item[first].name) == 0; k++) value += z->item[k].value;
        write_value(to, z->item[first].name, value);
    }
    fputc('\n', to);
    plx__arena_rewind(z->arena, mark);
    return PLX_OK;
}

static plx_status write_sentence(FILE *to, instance *z, const plx__ner_mark *gold)
{
    bool enhanced = z->m->params.window == 1;
    for (plx_index begin = 0; begin < z->n; begin++) {
        if (!z->t->candidate[z->t->form[z->first + begin]]) continue;
        plx_index last = plx__min(z->n, begin + (enhanced ? z->m->params.max_span : 1));
        for (plx_index end = begin + 1; end <= last; end++)
            if (z->t->candidate[z->t->form[z->first + end - 1]]) PLX_TRY(write_instance(to, z, gold, begin, end));
    }
    return plx__poll(z->arena->ctx);
}

plx_status plx__svm_dump(const plx__svm *m, plx_context *ctx, const plx__svm_text *text, const plx__ner_mark *gold,
                         const char *path)
{
    plx__outfile out;
    plx_status st = PLX_OK;
    PLX_TRY(plx__outfile_open(&out, ctx, path));
    for (plx_index s = 0; s < text->n_sentences && st == PLX_OK; s++) {
        plx_index first = text->sentence[s];
        instance z = {.m = m, .t = text, .arena = plx__scratch(ctx), .first = first, .s = s};
        z.n = text->sentence[s + 1] - first;
        st = write_sentence(out.file, &z, gold);
    }
    if (st == PLX_OK) st = plx__outfile_commit(&out, ctx);
    plx__outfile_abort(&out);
    return st;
}
