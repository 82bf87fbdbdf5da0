/*
 * Names of classes out of label texts; a text names several classes separated by '|'.
 */
#ifndef PLX_DATA_CLASSES_H
#define PLX_DATA_CLASSES_H

#include "core/ctx.h"

/* Calls fn for every class named in a label text. Empty names are skipped. */
typedef plx_status (*plx__class_fn)(void *arg, plx_context *ctx, const char *name, size_t len);
plx_status plx__each_class(const char *set, plx_context *ctx, plx__class_fn fn, void *arg);

/* Distinct names of `labels` and `more` (either may be NULL, entries may be NULL), byte-sorted, in `arena`, which
 * must not be the scratch arena. "-" (the empty set) is not a class. */
plx_status plx__class_names(const char *const **out, plx_index *count, plx_context *ctx, plx__arena *arena,
                            const char *const *labels, const char *const *more, plx_index n);

#endif
