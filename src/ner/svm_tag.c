/*
 * Names by the support vector machines: values of words or spans, decisions, and the name memory of documents.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/parallel.h"
#include "ner/svm.h"

enum { FORMS_AT_ONCE = 256, SENTENCES_AT_ONCE = 32 };

/* ---- tables ---- */

static plx_status fill_tables(void *arg, plx_context *ctx, plx_index begin, plx_index end, int worker)
{
    plx__svm_tables *t = arg;
    const plx__svm_text *x = t->text;
    (void)ctx, (void)worker;
    for (plx_index c = 0; c < t->m->n_cat; c++)
        for (plx_index slot = 0; slot < t->layout.slots; slot++) {
            const double *w = t->m->weight + c * t->m->columns + slot * t->layout.base;
            double *row = t->slot + (c * t->layout.slots + slot) * x->n_forms;
            for (plx_index f = begin; f < end; f++) {
                row[f] = 0;
                for (plx_index k = x->ptr[f]; k < x->ptr[f + 1]; k++) row[f] += w[x->base[k]] * x->value[k];
            }
        }
    return PLX_OK;
}

plx_status plx__svm_tables_make(plx__svm_tables *t, plx_context *ctx, plx__arena *arena, const plx__svm *m,
                                const plx__svm_text *text)
{
    *t = (plx__svm_tables){.m = m, .text = text, .layout = plx__svm_layout_of(m)};
    PLX_TRY(plx__arena_f64(&t->slot, arena, m->n_cat * t->layout.slots, text->n_forms));
    return plx__parallel_for(ctx, text->n_forms, FORMS_AT_ONCE, fill_tables, t);
}

/* ---- values of a sentence ---- */

typedef struct scorer {
    const plx__svm_tables *t;
    plx_index first, n, s; /* the sentence's first token, length, number */
    double *start, *end;   /* n_cat x n: of instances that start, that end at a word */
} scorer;

static const double *slot_row(const scorer *z, plx_index c, plx_index slot)
{
    return z->t->slot + (c * z->t->layout.slots + slot) * z->t->text->n_forms;
}

static double word_score(const scorer *z, plx_index c, plx_index slot, plx_index i)
{
    const plx__svm *m = z->t->m;
    if (i < 0 || i >= z->n) return m->weight[c * m->columns + z->t->layout.pad + slot];
    return slot_row(z, c, slot)[z->t->text->form[z->first + i]];
}

static double context_score(const plx_index *ptr, const int32_t *col, const double *val, const double *w, plx_index i)
{
    double sum = 0;
    for (plx_index k = ptr[i]; k < ptr[i + 1]; k++) sum += w[col[k]] * val[k];
    return sum;
}

static void score_edges(scorer *z, plx_index c)
{
    const plx__svm_text *x = z->t->text;
    const plx__svm_layout *l = &z->t->layout;
    const double *w = z->t->m->weight + c * z->t->m->columns;
    for (plx_index i = 0; i < z->n; i++) {
        double start = context_score(x->pre_ptr, x->pre_col, x->pre_val, w + l->pre, z->first + i);
        double end = context_score(x->suc_ptr, x->suc_col, x->suc_val, w + l->suc, z->first + i);
        for (int k = 0; k < 3; k++) start += word_score(z, c, l->before + k, i - 3 + k);
        for (int k = 0; k < 2; k++) end += word_score(z, c, l->after + k, i + 1 + k);
        z->start[c * z->n + i] = start + word_score(z, c, l->focus >= 0 ? l->focus : l->first, i);
        z->end[c * z->n + i] = end + (l->last >= 0 ? word_score(z, c, l->last, i) : 0);
    }
}

static bool is_candidate(const scorer *z, plx_index i) { return z->t->text->candidate[z->t->text->form[z->first + i]]; }

/* ---- words ---- */

static void take_words(const scorer *z, plx__svm_span *names, plx_index *n_names, double *values)
{
    const plx__svm *m = z->t->m;
    for (plx_index i = 0; i < z->n; i++) {
        int32_t best = -1;
        double most = 0;
        for (plx_index c = 0; is_candidate(z, i) && c < m->n_cat; c++) {
            double f = z->start[c * z->n + i] + z->end[c * z->n + i] + m->weight[c * m->columns + z->t->layout.bias];
            if (values) values[i * m->n_cat + c] = f;
            if (f > most) {
                most = f;
                best = (int32_t)c;
            }
        }
        if (!names || best < 0) continue;
        plx__svm_span *last = *n_names ? &names[*n_names - 1] : NULL;
        if (last && last->cat == best && last->end == i) last->end++;
        else names[(*n_names)++] = (plx__svm_span){(int32_t)i, (int32_t)i + 1, best, most};
    }
}

/* ---- spans ---- */

typedef struct spans {
    plx__svm_span *item;
    plx_index count;
} spans;

static void note_span(const plx__svm *m, double *values, plx_index begin, plx_index end, plx_index c, double f)
{
    for (plx_index i = begin; i < end; i++) {
        double *v = &values[i * m->n_cat + c];
        if (isnan(*v) || f > *v) *v = f;
    }
}

static void score_span(const scorer *z, plx_index begin, plx_index end, const double *inside, spans *found,
                       double *values)
{
    const plx__svm *m = z->t->m;
    plx__svm_span best = {(int32_t)begin, (int32_t)end, -1, 0};
    for (plx_index c = 0; c < m->n_cat; c++) {
        const double *w = m->weight + c * m->columns;
        double f = z->start[c * z->n + begin] + z->end[c * z->n + end - 1] + inside[c] + w[z->t->layout.bias] +
                   w[z->t->layout.len] * (double)(end - begin) / PLX__SVM_SPAN_UNIT;
        if (values) note_span(m, values, begin, end, c, f);
        if (f > best.value) {
            best.value = f;
            best.cat = (int32_t)c;
        }
    }
    if (best.cat >= 0 && found) found->item[found->count++] = best;
}

static void score_spans(const scorer *z, double *inside, spans *found, double *values)
{
    const plx__svm *m = z->t->m;
    for (plx_index begin = 0; begin < z->n; begin++) {
        if (!is_candidate(z, begin)) continue;
        memset(inside, 0, (size_t)m->n_cat * sizeof *inside);
        for (plx_index end = begin + 1; end <= plx__min(z->n, begin + m->params.max_span); end++) {
            for (plx_index c = 0; end - begin > 2 && c < m->n_cat; c++)
                inside[c] += word_score(z, c, z->t->layout.inner, end - 2);
            if (is_candidate(z, end - 1)) score_span(z, begin, end, inside, found, values);
        }
    }
}

/* Larger values first; ties: earlier start, longer. */
static int by_value(const void *a_, const void *b_)
{
    const plx__svm_span *a = a_, *b = b_;
    if (a->value != b->value) return a->value > b->value ? -1 : 1;
    if (a->begin != b->begin) return a->begin < b->begin ? -1 : 1;
    return (b->end > a->end) - (b->end < a->end);
}

static int by_place(const void *a, const void *b)
{
    int32_t x = ((const plx__svm_span *)a)->begin, y = ((const plx__svm_span *)b)->begin;
    return (x > y) - (x < y);
}

static plx_status take_spans(const scorer *z, plx__arena *arena, spans *found, plx__svm_span *names, plx_index *n_names)
{
    uint8_t *taken = NULL;
    PLX_TRY(plx__arena_u8(&taken, arena, z->n));
    qsort(found->item, (size_t)found->count, sizeof *found->item, by_value);
    for (plx_index k = 0; k < found->count; k++) {
        plx__svm_span span = found->item[k];
        bool free = true;
        for (int32_t i = span.begin; i < span.end; i++) free = free && !taken[i];
        if (!free) continue;
        memset(taken + span.begin, 1, (size_t)(span.end - span.begin));
        names[(*n_names)++] = span;
    }
    qsort(names, (size_t)*n_names, sizeof *names, by_place);
    return PLX_OK;
}

plx_status plx__svm_sentence(const plx__svm_tables *t, plx__arena *arena, plx_index s, plx__svm_span *names,
                             plx_index *n_names, double *values)
{
    const plx__svm *m = t->m;
    plx_index first = t->text->sentence[s], n = t->text->sentence[s + 1] - first;
    scorer z = {.t = t, .first = first, .n = n, .s = s};
    PLX_TRY(plx__arena_f64(&z.start, arena, m->n_cat, n));
    PLX_TRY(plx__arena_f64(&z.end, arena, m->n_cat, n));
    for (plx_index c = 0; c < m->n_cat; c++) score_edges(&z, c);
    for (plx_index k = 0; values && k < n * m->n_cat; k++) values[k] = NAN;
    if (n_names) *n_names = 0;
    if (m->params.window == 0) {
        take_words(&z, names, n_names, values);
        return PLX_OK;
    }
    spans found = {0};
    double *inside = NULL;
    PLX_TRY(plx__arena_f64(&inside, arena, m->n_cat, 1));
    if (names) PLX_TRY(PLX__ARENA_NEW(&found.item, arena, n * plx__min(n, m->params.max_span)));
    score_spans(&z, inside, names ? &found : NULL, values);
    return names ? take_spans(&z, arena, &found, names, n_names) : PLX_OK;
}

/* ---- texts ---- */

typedef struct job {
    const plx__svm_tables *t;
    plx__crew *crew;
    plx__svm_span *span;
    plx_index *count;
    double *values;
} job;

static plx_status tag_sentences(void *arg, plx_context *ctx, plx_index begin, plx_index end, int worker)
{
    const job *j = arg;
    plx__arena *scratch = plx__scratch(j->crew->member[worker]);
    for (plx_index s = begin; s < end; s++) {
        plx__mark mark = plx__arena_mark(scratch);
        plx_index first = j->t->text->sentence[s];
        plx_status st = plx__svm_sentence(j->t, scratch, s, j->span + first, &j->count[s],
                                          j->values ? j->values + first * j->t->m->n_cat : NULL);
        plx__arena_rewind(scratch, mark);
        PLX_TRY(st);
    }
    return plx__poll(ctx);
}

static void write_marks(const plx__svm *m, const plx__svm_text *x, const plx__svm_span *span, const plx_index *count,
                        plx__ner_mark *marks)
{
    for (plx_index i = 0; i < x->n; i++) marks[i] = plx__ner_outside();
    for (plx_index s = 0; s < x->n_sentences; s++)
        for (plx_index k = 0; k < count[s]; k++) {
            plx__svm_span name = span[x->sentence[s] + k];
            for (int32_t i = name.begin; i < name.end; i++)
                marks[x->sentence[s] + i] = (plx__ner_mark){i == name.begin ? 'B' : 'I', m->type[name.cat]};
        }
}

plx_status plx__svm_decide(plx__svm_names *out, plx_context *ctx, plx__arena *arena, plx__svm *m,
                           const plx__ner_text *text, double *values)
{
    plx__crew crew = {0};
    plx__svm_tables tables;
    PLX_TRY(plx__svm_text_open(&out->text, arena, text, m, false));
    PLX_TRY(plx__svm_tables_make(&tables, ctx, arena, m, &out->text));
    PLX_TRY(PLX__ARENA_NEW(&out->span, arena, text->n));
    PLX_TRY(PLX__ARENA_NEW(&out->count, arena, text->n_sentences));
    job j = {&tables, &crew, out->span, out->count, values};
    plx_status st = plx__crew_open(&crew, ctx, plx__workers(ctx));
    if (st == PLX_OK) st = plx__parallel_for(ctx, text->n_sentences, SENTENCES_AT_ONCE, tag_sentences, &j);
    plx__crew_close(&crew);
    return st;
}

plx_status plx__svm_find(plx__svm_names *out, plx_context *ctx, plx__arena *arena, plx__svm *m,
                         const plx__ner_text *text, double *values, plx__name_memory *memory)
{
    PLX_TRY(plx__svm_decide(out, ctx, arena, m, text, values));
    if (memory) return plx__name_memory_mark(memory, out);
    return m->params.memory ? plx__svm_memory(ctx, m, &out->text, out->span, out->count) : PLX_OK;
}

plx_status plx__svm_tag(plx__svm *m, plx_context *ctx, plx__arena *arena, const plx__ner_text *text,
                        plx__ner_mark *marks, double *values, plx__name_memory *memory)
{
    plx__svm_names names;
    PLX_TRY(plx__svm_find(&names, ctx, arena, m, text, values, memory));
    write_marks(m, &names.text, names.span, names.count, marks);
    return PLX_OK;
}
