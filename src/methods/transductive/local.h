/*
 * What mvll and the single-matrix methods lapreg, nlapreg, llereg and llreg share: settings, views made ready, and the
 * two tasks on a regularisation matrix L, transductive classification and clustering.
 */
#ifndef PLX_METHODS_TRANSDUCTIVE_LOCAL_H
#define PLX_METHODS_TRANSDUCTIVE_LOCAL_H

#include "run/clusters.h"
#include "run/problem.h"
#include "cluster/kmeans.h"
#include "graph/local_model.h"
#include "graph/similarity.h"
#include "graph/smoother.h"
#include "kernel/prepared.h"

enum { PLX__TASK_UNSET = -1, PLX__TASK_LABELS = 0, PLX__TASK_CLUSTERS = 1 }; /* words of the parameter task */

enum { PLX__DISCRETISE_ROTATE = 0, PLX__DISCRETISE_KMEANS = 1, PLX__DISCRETISE_KMEANS_UNIT = 2 };
enum { PLX__LAMBDA_SPREAD = 0, PLX__LAMBDA_PLAIN = 1 }; /* words of the parameter lambda_scale */

typedef struct plx__local_params { /* every method uses its part */
    int task, discretise, model, expansion, lambda_scale;
    plx_index clusters, cv_folds, cv_steps;
    double c_l, coupling, lle_reg;
    bool nonneg, presence_scale;
    plx__value c_u, view_weights;
} plx__local_params;

/* What a fit is after, once the settings have met the data. */
typedef struct plx__local_goal {
    int task;
    double c_u;               /* weight of unlabelled samples, c_u=auto resolved */
    const uint8_t *unreached; /* samples no label reaches, left to the class shares; NULL: none */
} plx__local_goal;

/* Tables of parameters. */
extern const plx__param_spec plx__local_task_params[];      /* task, c_l, c_u, clusters, discretise */
extern const plx__param_spec plx__local_weights_params[];   /* view_weights, cv_folds, cv_steps */
extern const plx__param_spec plx__local_neighbour_params[]; /* neighbours, metric (per view) */
extern const plx__param_spec plx__local_model_params[];     /* model, lambda, kernel, width, ..., expansion */

/* ---- views (local_views.c) ---- */

/* View v of the samples of this run with its settings. Fitting: width and local scales are computed, and with `keep`
 * everything new samples need is left in the model. Predicting: rows are the fitted samples, queries the new ones. */
plx_status plx__local_view_open(plx__local_view *out, plx__run *run, plx_index view, plx__local_kind kind, bool keep);

/* Arrays lambda_VIEW of these views, as plx__local_matrix left them. */
plx_status plx__local_put_lambda(plx__run *run, const plx__local_view *views, plx_index n_views);

/* Peak bytes of a method with local models: rows, their copies, matrices of local models, and the task. */
double plx__local_memory(const plx__run *run);

/* Parts of it: rows made ready (and copied into the model) and the search for neighbours, whose number is the parameter
 * of that name; and a task with a matrix L of so many entries at most. */
double plx__local_rows_bytes(const plx__run *run, const char *neighbours, bool kept);
double plx__local_task_bytes(const plx__run *run, double entries);

/* ---- tasks (local_tasks.c) ---- */

/* Which task, with its requirements checked: two classes among the labels, or a number of clusters. */
plx_status plx__local_task(plx__local_goal *out, plx__run *run);

/* c_u, when L and its weights are there: auto is 0 when labels reach every sample, else 1e-6 with a warning. */
plx_status plx__local_settle_reach(plx__local_goal *goal, plx__run *run, const plx__smoother *s);

/* Y (n x c): 1 own class, -1 others, 0 unlabelled; C: c_l and c_u. In scratch. */
plx_status plx__local_targets(plx_mat *y, double **c, plx__run *run, const plx__local_goal *goal);

/* Classification or clustering with this L: arrays, labels, objective, and "_targets" for new samples. */
plx_status plx__local_finish(plx__run *run, plx__smoother *s, const plx__local_goal *goal);

/* New samples from their rows of local weights over the fitted ones; `covered` marks those with a view. */
plx_status plx__local_extend(plx__run *run, plx_ccsr weights, const uint8_t *covered);

/* L as an array, when asked for. */
plx_status plx__local_put_matrix(plx__run *run, const char *name, plx_ccsr m);

/* ---- discretisation (rotate.c) ---- */

/* Yu and Shi's rotation: rows of h at unit length, label = argmax of h R; labels are numbered by first member. Leaves
 * R (c x c) and the numbers (c) behind. */
plx_status plx__rotate(int32_t *label, plx_context *ctx, plx_cmat h, plx_mat rotation, double *number);
int32_t plx__rotated_label(const double *row, plx_cmat rotation, double *spare);

/* ---- weights of the views (view_weights.c) ---- */

/* Sets the weights of the parts of s (one per view): equal, as given, or by cross-validation; stores view_weights and
 * cv_accuracy. c_u of the goal is settled on the way, before cross-validation. */
plx_status plx__local_weigh(plx__run *run, plx__smoother *s, plx__local_goal *goal);

#endif
