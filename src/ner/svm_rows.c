/*
 * Few of an SVM's instances have a loss, and only they have a part in its Hessian I + 2 C X'X. Their rows are written down
 * as X = A B, words first and features behind them: a word's dozen features are then multiplied once for a cell, not once
 * for every instance that has it.
 */
#include "ner/svm_rows.h"

#include <string.h>

/* Cells before they are numbered: words by slot and form, then those of one column. */
typedef struct plan {
    const plx__svm *m;
    const plx__svm_text *t;
    plx__svm_layout l;
    plx_index pad, len, bias, pre, suc, count; /* where the kinds begin; contexts of a token are one cell */
    int32_t *number;                           /* of a cell, -1: no row has it */
    int32_t *buffer;                           /* cells of one row */
} plan;

static plx_status make_plan(plan *p, plx__arena *arena)
{
    p->l = plx__svm_layout_of(p->m);
    p->pad = p->l.slots * p->t->n_forms;
    p->len = p->pad + p->l.slots;
    p->bias = p->len + p->m->params.max_span;
    p->pre = p->bias + 1;
    p->suc = p->pre + p->t->n;
    p->count = p->suc + p->t->n;
    if (p->count > INT32_MAX) PLX_FAIL(arena->ctx, PLX_E_NOMEM, "too many different words for one training");
    PLX_TRY(plx__arena_i32(&p->number, arena, p->count));
    return plx__arena_i32(&p->buffer, arena, p->m->params.max_span + 16);
}

static int32_t word_cell(const plan *p, plx_index s, plx_index at, plx_index slot)
{
    const plx__svm_text *t = p->t;
    bool inside = at >= t->sentence[s] && at < t->sentence[s + 1];
    return (int32_t)(inside ? slot * t->n_forms + t->form[at] : p->pad + slot);
}

/* Cells of the instance begin .. stop - 1 of sentence s into the buffer. */
static plx_index cells_of(plan *p, plx_index s, plx_index begin, plx_index stop)
{
    const plx__svm_text *t = p->t;
    const plx__svm_layout *l = &p->l;
    plx_index count = 0, last = stop - 1;
    for (int k = 0; k < 3; k++) p->buffer[count++] = word_cell(p, s, begin - 3 + k, l->before + k);
    p->buffer[count++] = word_cell(p, s, begin, l->focus >= 0 ? l->focus : l->first);
    for (plx_index i = begin + 1; i < last; i++) p->buffer[count++] = word_cell(p, s, i, l->inner);
    if (l->last >= 0) p->buffer[count++] = word_cell(p, s, last, l->last);
    for (int k = 0; k < 2; k++) p->buffer[count++] = word_cell(p, s, stop + k, l->after + k);
    if (l->last >= 0) p->buffer[count++] = (int32_t)(p->len + last - begin);
    p->buffer[count++] = (int32_t)p->bias;
    if (t->pre_ptr[begin] < t->pre_ptr[begin + 1]) p->buffer[count++] = (int32_t)(p->pre + begin);
    if (t->suc_ptr[last] < t->suc_ptr[last + 1]) p->buffer[count++] = (int32_t)(p->suc + last);
    return count;
}

/* ---- A ---- */

/* How many rows and entries; cells that occur have a 0 in `number`. */
static void survey(plan *p, const double *slack, plx_index *rows, plx_index *entries)
{
    memset(p->number, -1, (size_t)p->count * sizeof *p->number);
    *rows = *entries = 0;
    for (plx_index s = 0; s < p->t->n_sentences; s++) PLX__EACH_INSTANCE(p->t, p->m, s, begin, stop)
        {
            if (!(*slack++ > 0)) continue;
            plx_index count = cells_of(p, s, begin, stop);
            for (plx_index k = 0; k < count; k++) p->number[p->buffer[k]] = 0;
            *entries += count;
            (*rows)++;
        }
}

static void fill_rows(plx__svm_rows *r, plan *p, const double *slack)
{
    plx_index row = 0;
    int64_t at = 0;
    for (plx_index s = 0; s < p->t->n_sentences; s++) PLX__EACH_INSTANCE(p->t, p->m, s, begin, stop)
        {
            if (!(*slack++ > 0)) continue;
            plx_index count = cells_of(p, s, begin, stop);
            for (plx_index k = 0; k < count; k++) r->cell[at++] = p->number[p->buffer[k]];
            r->row_ptr[++row] = at;
        }
}

/* ---- B ---- */

/* Columns of a cell; counted only where `col` is NULL. */
static int64_t columns_of(const plan *p, plx_index cell, int32_t *col, double *value)
{
    const plx__svm_text *t = p->t;
    const plx__svm_layout *l = &p->l;
    if (cell >= p->pad && cell < p->pre) {
        bool is_len = cell >= p->len && cell < p->bias;
        plx_index at = cell < p->len ? l->pad + cell - p->pad : is_len ? l->len : l->bias;
        if (col) *col = (int32_t)at;
        if (col) *value = is_len ? (double)(cell - p->len + 1) / PLX__SVM_SPAN_UNIT : 1.0;
        return 1;
    }
    bool is_word = cell < p->pad, is_pre = cell < p->suc;
    plx_index form = is_word ? cell % t->n_forms : cell - (is_pre ? p->pre : p->suc);
    const plx_index *ptr = is_word ? t->ptr : is_pre ? t->pre_ptr : t->suc_ptr;
    const int32_t *from = is_word ? t->base : is_pre ? t->pre_col : t->suc_col;
    const double *values = is_word ? t->value : is_pre ? t->pre_val : t->suc_val;
    plx_index first = is_word ? cell / t->n_forms * l->base : is_pre ? l->pre : l->suc;
    for (plx_index k = ptr[form]; col && k < ptr[form + 1]; k++) {
        *col++ = (int32_t)(first + from[k]);
        *value++ = values[k];
    }
    return ptr[form + 1] - ptr[form];
}

static plx_status make_cells(plx__svm_rows *r, plan *p, plx__arena *arena)
{
    int64_t entries = 0;
    for (plx_index c = 0; c < p->count; c++)
        if (p->number[c] >= 0) {
            p->number[c] = (int32_t)r->n_cells++;
            entries += columns_of(p, c, NULL, NULL);
        }
    PLX_TRY(plx__arena_i64(&r->cell_ptr, arena, r->n_cells + 1));
    PLX_TRY(plx__arena_i32(&r->col, arena, entries));
    PLX_TRY(plx__arena_f64(&r->value, arena, entries, 1));
    PLX_TRY(plx__arena_f64(&r->sum, arena, r->n_cells, 2));
    for (plx_index c = 0; c < p->count; c++)
        if (p->number[c] >= 0) {
            int64_t at = r->cell_ptr[p->number[c]];
            r->cell_ptr[p->number[c] + 1] = at + columns_of(p, c, r->col + at, r->value + at);
        }
    return PLX_OK;
}

plx_status plx__svm_rows_make(plx__svm_rows *out, plx__arena *arena, const plx__svm *m, const plx__svm_text *t,
                              const double *slack)
{
    plan p = {.m = m, .t = t};
    plx_index entries = 0;
    *out = (plx__svm_rows){0};
    PLX_TRY(make_plan(&p, arena));
    survey(&p, slack, &out->n_rows, &entries);
    PLX_TRY(make_cells(out, &p, arena));
    PLX_TRY(plx__arena_i64(&out->row_ptr, arena, out->n_rows + 1));
    PLX_TRY(plx__arena_i32(&out->cell, arena, entries));
    fill_rows(out, &p, slack);
    return PLX_OK;
}

/* ---- products ---- */

void plx__svm_rows_gram(plx__svm_rows *r, double *out, double scale, const double *v)
{
    double *from = r->sum, *to = r->sum + r->n_cells;
    for (plx_index c = 0; c < r->n_cells; c++) {
        double sum = 0;
        for (int64_t k = r->cell_ptr[c]; k < r->cell_ptr[c + 1]; k++) sum += v[r->col[k]] * r->value[k];
        from[c] = sum;
        to[c] = 0;
    }
    for (plx_index i = 0; i < r->n_rows; i++) {
        double sum = 0;
        for (int64_t k = r->row_ptr[i]; k < r->row_ptr[i + 1]; k++) sum += from[r->cell[k]];
        for (int64_t k = r->row_ptr[i]; k < r->row_ptr[i + 1]; k++) to[r->cell[k]] += sum;
    }
    for (plx_index c = 0; c < r->n_cells; c++)
        for (int64_t k = r->cell_ptr[c]; k < r->cell_ptr[c + 1]; k++) out[r->col[k]] += scale * to[c] * r->value[k];
}
