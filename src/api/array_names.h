/*
 * What the rows and columns of a model's arrays are called.
 */
#ifndef PLX_API_ARRAY_NAMES_H
#define PLX_API_ARRAY_NAMES_H

#include "api/model_impl.h"

/* Name of feature j of a view, in scratch where it has none but its number. */
plx_status plx__feature_name(const char **out, plx_context *ctx, const plx__view_card *card, plx_index j);

/* First column of a view among those that a parameter names (joined with +, or all), side by side; -1: not among them. */
plx_index plx__first_column(const plx_model *model, const char *parameter, plx_index view);

/* The class that one of `functions` functions speaks for: a single one of two classes speaks for the second. */
const char *plx__function_name(const plx_model *model, plx_index f, plx_index functions);

/* The names of one dimension (0: rows, 1: columns), `count` of them, in scratch: sample ids of `data` (NULL: row
 * numbers), features, classes or clusters, views, or numbers. */
plx_status plx__array_names(const char *const **out, plx_context *ctx, const plx_model *model, const plx_dataset *data,
                            const char *array, int dimension, plx_index count);

/* Do the data of a model have names: ids of samples, or features that are not numbered? */
bool plx__has_names(const plx_model *model, const plx_dataset *data);

#endif
