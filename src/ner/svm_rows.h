/*
 * Rows of the design matrix of the support vector machines, for products with few of its rows.
 */
#ifndef PLX_NER_SVM_ROWS_H
#define PLX_NER_SVM_ROWS_H

#include "ner/svm.h"

/* X = A B. A cell is a word form in a slot, or one of the columns that stand alone with its value: A says which cells an
 * instance has, B which columns a cell. */
typedef struct plx__svm_rows {
    plx_index n_rows, n_cells;
    int64_t *row_ptr; /* A: n_rows + 1 */
    int32_t *cell;
    int64_t *cell_ptr; /* B: n_cells + 1 */
    int32_t *col;
    double *value;
    double *sum; /* two by cell: work space of products */
} plx__svm_rows;

/* The instances whose slack is above 0, in order. All memory is in `arena`. */
plx_status plx__svm_rows_make(plx__svm_rows *out, plx__arena *arena, const plx__svm *m, const plx__svm_text *t,
                              const double *slack);

/* out += scale X'X v. */
void plx__svm_rows_gram(plx__svm_rows *r, double *out, double scale, const double *v);

/* ---- instances ---- */

static inline bool plx__svm_is_candidate(const plx__svm_text *t, plx_index i) { return t->candidate[t->form[i]]; }

/* Instances of sentence s in order: the words begin .. stop - 1, single words with the simple window. */
#define PLX__EACH_INSTANCE(t, m, s, begin, stop)                                                                       \
    for (plx_index begin = (t)->sentence[s]; begin < (t)->sentence[(s) + 1]; begin++)                                  \
        if (plx__svm_is_candidate(t, begin))                                                                           \
            for (plx_index stop = begin + 1; stop <= plx__svm_last_stop(m, t, s, begin); stop++)                       \
                if (plx__svm_is_candidate(t, stop - 1))

static inline plx_index plx__svm_last_stop(const plx__svm *m, const plx__svm_text *t, plx_index s, plx_index begin)
{
    return m->params.window == 1 ? plx__min(t->sentence[s + 1], begin + m->params.max_span) : begin + 1;
}

#endif
