/*
 * Seeded choices over samples, for use inside a running call. See parallax/split.h for what they promise.
 */
#ifndef PLX_DATA_SPLIT_IMPL_H
#define PLX_DATA_SPLIT_IMPL_H

#include "data/dataset_impl.h"
#include "parallax/split.h"

/* Samples sorted into groups, usually the classes. */
typedef struct plx__strata {
    plx_index n, count;
    const char *const *names; /* of the groups, byte-sorted when built from classes */
    const int32_t *of;        /* n: group of a sample, -1 = none */
    const plx_index *size;    /* samples per group */
} plx__strata;

/* Groups by truth, or by label without truth. PLX_E_DATA when there is neither. Memory is in `arena`. */
plx_status plx__strata_of_classes(plx__strata *out, plx_context *ctx, plx__arena *arena, const plx_dataset *data);

/* Groups given by number; `of` and `names` are borrowed. */
plx_status plx__strata_of_groups(plx__strata *out, plx__arena *arena, const int32_t *of, plx_index n,
                                 const char *const *names, plx_index count);

/* All samples, group after group (ungrouped ones last), in random order inside a group. The order is
 * a function of seed, stream and sample number only. */
plx_status plx__strata_order(plx_index *order, plx_context *ctx, const plx__strata *strata, uint64_t stream);

/* The public functions of the same names, for use inside a running call. */
plx_status plx__split_labels(uint8_t *chosen, plx_context *ctx, const plx_dataset *data, const char *spec);
plx_status plx__split_folds(int32_t *fold, plx_context *ctx, const plx_dataset *data, plx_index k);
plx_status plx__split_test(uint8_t *test, plx_context *ctx, const plx_dataset *data, double fraction, bool stratified);
plx_status plx__split_read(uint8_t *flags, plx_context *ctx, const plx_dataset *data, const char *path);
void plx__split_label_texts(const char **labels, const plx_dataset *data, const uint8_t *chosen);
const char *plx__missing_pattern_name(plx_missing_pattern pattern);
plx_status plx__missing_pattern_parse(plx_missing_pattern *out, const char *name);
plx_status plx__missing_simulate(uint8_t *present, plx_context *ctx, const plx_dataset *data,
                                 const plx_missing_options *options);

/* plx_split_labels over any groups. */
plx_status plx__split_choose(uint8_t *chosen, plx_context *ctx, const plx__strata *strata, const char *spec);

/* Cut 0..n-1 into `groups` groups whose sizes differ by at most one: runs of neighbours, or at random. */
plx_status plx__split_groups(int32_t *group, plx_context *ctx, plx_index n, plx_index groups, bool contiguous,
                             uint64_t stream);

/* plx_missing_simulate for views that need not be in a data set yet: base[v] (or base) NULL = all present. `purpose`
 * is the first letter of the random streams, so that holes made for different purposes are independent. */
plx_status plx__missing_draw(uint8_t *present, plx_context *ctx, plx_index n, plx_index views,
                             const uint8_t *const *base, const plx_missing_options *options, char purpose);

#endif
