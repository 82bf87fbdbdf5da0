/*
 * The number of clusters, where it was left open.
 */
#ifndef PLX_API_CHOOSE_CLUSTERS_H
#define PLX_API_CHOOSE_CLUSTERS_H

#include "api/model_impl.h"

/* What was tried, and how good it was. In scratch. */
typedef struct plx__cluster_choice {
    bool made; /* clusters=auto was set */
    plx_index count, chosen;
    plx_index *tried;
    double *criterion, *error; /* error: of the criterion, where it is a mean over draws; else 0 */
    bool several;              /* the largest number within the error of the best counts */
    const char *rule;
} plx__cluster_choice;

/* clusters=auto: try numbers on `data` (held-out samples are not among them), and set the best one in the model's
 * settings. */
plx_status plx__choose_clusters(plx__cluster_choice *out, plx_context *ctx, plx_model *m, const plx_dataset *data,
                                const plx_fit_options *options);

/* The curve as an array of the model, the choice as facts of its JSON. */
plx_status plx__keep_choice(plx_model *m, plx_context *ctx, const plx__cluster_choice *choice);

#endif
