/*
 * Row scaling for likelihoods of counts, shared by `nb`, `coem`, `mvplsa` and `cotrain`.
 *
 * A multinomial likelihood weighs a sample by its length, so a few very long rows can decide everything. The parameter
 * `rows` says what is done about it: `cap` (the default) shortens rows of more than three times the median sum, `l1` and
 * `unit` bring all rows to one sum or length, `raw` leaves them. What is taken from the fitted rows is part of the
 * model and used for new ones.
 */
#ifndef PLX_MIXTURE_ROW_SCALING_H
#define PLX_MIXTURE_ROW_SCALING_H

#include "run/run.h"

typedef enum plx__row_rule { PLX__ROWS_CAP = 0, PLX__ROWS_RAW = 1, PLX__ROWS_L1 = 2, PLX__ROWS_UNIT = 3 } plx__row_rule;

extern const plx__param_spec plx__row_params[]; /* rows: for the methods above to list among their own */

plx_status plx__row_rule_of(plx__row_rule *out, const plx__run *run);

/* Which views are scaled; NULL: all. */
typedef bool (*plx__view_test)(const plx__run *run, const plx__view *view);

/* Kinds counts, binary and probability, whose rows have a length in the sense of `rows`. */
bool plx__is_countlike(const plx__run *run, const plx__view *view);

/* The views of the problem, those that pass the test with scaled rows; in scratch, sharing everything that does not
 * change. Fitting puts the statistics of the rows into the model, predicting takes them from there. Row sums that are
 * not finite are PLX_E_NUMERIC when fitting. */
plx_status plx__scale_rows(const plx__view **out, plx__run *run, plx__view_test scaled);

/* Bytes that plx__scale_rows() takes when fitting. */
double plx__scale_rows_bytes(const plx__run *run, plx__view_test scaled);

#endif
