/*
 * Inside of bct: the co-training kernel of any number of views with any pattern of missing views.
 *
 * S_j = K_j + s_j I on the samples that have view j, Lambda = sum_j S_j^-1 (placed), K_c = Lambda^-1. In the weight-space
 * form every K_j = a_j X_j X_j' and K_c = diag(c) + Z Z'. Samples without any view take no part: "covered" numbers count
 * the others in their order.
 */
#ifndef PLX_METHODS_BCT_H
#define PLX_METHODS_BCT_H

#include "kernel/kernel_pivots.h"
#include "gp/gp_task.h"
#include "optim/lbfgs_run.h"

enum { BCT_CLASSIFICATION = 0, BCT_REGRESSION = 1, BCT_KERNEL = 2, BCT_CLUSTER = 3 };
enum { BCT_FIXED = 0, BCT_VARIANCES = 1, BCT_EVIDENCE = 2 };
enum { BCT_LOWRANK_NONE = 0, BCT_LOWRANK_AUTO = 1, BCT_LOWRANK_EXACT = 2 };

typedef struct bct_params {
    int task, zero_rows, averaging, optimize, lowrank;
    double noise;
    bool center;
    plx_index max_iter, pivots, clusters;
} bct_params;

typedef struct bct_view {
    plx_index view;      /* number in the problem */
    plx__view_kernel k;  /* of the samples at hand: fitted or new ones */
    double variance;     /* s_j */
    plx_index n;         /* fitted samples that have the view */
    plx_index *sample;   /* n: their numbers among the fitted samples */
    plx_index *at;       /* n: among the covered ones */
    plx__reference ref;  /* dense form: those samples */
    plx_cmat base;       /* dense form: n x n, see plx__view_kernel_base; data NULL: not kept */
    plx__slab_rows rows; /* weight-space form: whose those samples are */
    plx_cmat x;          /* weight-space form: X_j, n x d; the rows of this process */
    plx_mat inner;       /* weight-space form: X'X */
    bool reduced;        /* X is the factor of these pivots, not the features */
    plx__kernel_pivots pivots;
    plx_mat factor; /* Cholesky factor of S_j (of a pair S_j itself, or none), or of s_j I + a_j X'X */
} bct_view;

/* K_c by n_cov x n_cov matrices. */
typedef struct bct_dense_form {
    bool full;               /* K_c itself is wanted (kc) */
    bool solves;             /* plx__bct_solve will be used: no short cut for two views */
    plx_mat lambda, kc;      /* factor of Lambda (a pair: of S_1 + S_2); K_c */
    bool inverted;           /* kc holds K_c */
    double *diagonal;        /* of K_c, after plx__bct_find_diagonal */
    bool pair;               /* two complete views: K_c = S_1 (S_1 + S_2)^-1 S_2 */
    plx_mat pair_room[2];    /* n_cov x n_cov each */
    plx_mat pair_columns[2]; /* S_j(:, labelled) */
    plx_mat pair_t;          /* T of the view `first` */
    plx_index first;         /* the view whose S_j is at hand as its `factor` */
} bct_dense_form;

/* K_c = diag(c) + Z Z'. */
typedef struct bct_weight_form {
    double *c;   /* n_cov */
    plx_mat z;   /* n_cov x p; the rows of this process */
    bool thin;   /* many labels: inference by p x p matrices, kl is not made */
    plx_mat z_l; /* thin: rows of z of the labelled samples */
    double *c_l; /* thin: likewise of c */
} bct_weight_form;

typedef struct bct {
    plx__run *run;
    plx_context *ctx;
    const bct_params *set;
    bool regression, labels, weights; /* learns from labels; in weight-space form */
    plx_index n, n_fit, n_cov;        /* samples at hand, fitted, covered among the fitted */
    plx_index *covered;               /* n_cov sample numbers */
    plx_index *place;                 /* n_fit: covered number, or -1 */
    plx__slabs cut;                   /* of the covered samples: whose they are, and the panes of products */
    plx_index begin, end;             /* those of this process */
    plx_index m;
    bct_view *views; /* m views that are used */
    plx__gp_targets targets;
    plx_index *labelled; /* targets.n covered numbers */
    plx_index n_hyper;
    double *hyper; /* per view amplitude and (rbf) width; view variances; noise */
    double jitter;
    bool keep_factors, keep_precision;
    bool fixed_widths; /* derivatives by widths are not wanted */
    bct_dense_form dense;
    bct_weight_form weight;
    plx_mat kl, kll, m_ll;    /* K_c(:, labelled), K_c(labelled, labelled), gradient matrix */
    plx__lbfgs_result search; /* of the hyper-parameters, and the gradient where it is wanted: told when all is done */
    double *gradient;
    struct bct_device *on; /* all of this on a device (bct_device.h); NULL: here */
} bct;

/* ---- bct.c ---- */
extern const plx__param_spec plx__bct_params[]; /* its own rows; the kernels' and the framework's come on top */
extern const plx__method plx__method_bct;
extern const plx__method plx__acquire_bct; /* sense.c */
/* From an opened problem to predictions and everything predicting needs in the store. `factors` keeps the S_j for
 * plx__bct_solve. `state` is filled when there are labels to learn from. */
plx_status plx__bct_fit(bct *b, plx__gp_state *state, bool factors);

/* ---- bct_input.c: views, samples, hyper-parameters; from the data or from the model ---- */
plx_status plx__bct_zero_says_nothing(bool *out, plx_context *ctx, const plx_params *settings, const plx__view *view);
plx_status plx__bct_open(bct *b, plx__run *run);
plx_status plx__bct_store(bct *b);
void plx__bct_set_hyper(bct *b, const double *hyper);

/* ---- bct_rows.c: products with rows that processes divide, pane by pane ---- */
/* out (d x columns of y) = X_j' y over all rows; the rows of out lie one behind the other. */
plx_status plx__bct_times_t(bct *b, const bct_view *v, plx_cmat y, plx_mat out);
/* y += factor X_j w in the rows of this process. */
plx_status plx__bct_add_times(bct *b, const bct_view *v, double factor, plx_cmat w, plx_mat y);
/* Sum of the products of the entries of a and y (rows of a view), over all rows. */
plx_status plx__bct_inner_product(double *out, bct *b, const bct_view *v, plx_cmat a, plx_cmat y);
/* Blocks (j, 0..j) of M into the rows `from` .. of lambda. */
plx_status plx__bct_weight_blocks(bct *b, plx_index j, plx_index from);
/* Room for the own rows of n_cov (a view: of v->n) x cols. */
plx_status plx__bct_own_rows(plx_mat *out, bct *b, const bct_view *v, plx_index cols);
/* For every pane of this process in turn, cut into blocks of at most `most` rows. */
typedef plx_status (*plx__bct_block_fn)(void *arg, bct *b, plx_index begin, plx_index end);
plx_status plx__bct_each_block(bct *b, plx_index most, plx__bct_block_fn fn, void *arg);
/* Rows of `from` (n_cov) that belong to the labelled samples, on all processes. */
plx_status plx__bct_labelled_of(bct *b, plx_cmat from, plx_mat out);

/* ---- bct_factor.c: the weight-space form's X_j ---- */
plx_status plx__bct_choose_form(bct *b);
plx_status plx__bct_factor_view(bct *b, bct_view *v);
/* out (rows x d): new samples begin..end-1 in the terms of X_j, at amplitude 1. */
plx_status plx__bct_features(bct *b, const bct_view *v, plx_index begin, plx_index end, plx_mat out);

/* ---- bct_kernel.c: K_c at the hyper-parameters in force ---- */
plx_status plx__bct_reserve(bct *b);
/* What the weight-space form takes of n samples, `own` of them this process's, with its results. */
double plx__bct_weight_bytes(double n, double own, double features);
plx_status plx__bct_build(bct *b);
/* rhs = S_j^-1 rhs (n_j rows). Needs keep_factors. */
plx_status plx__bct_solve(bct *b, const bct_view *v, plx_mat rhs);
/* out = K_c w (n_cov rows). */
plx_status plx__bct_apply(bct *b, plx_cmat w, plx_mat out);
double plx__bct_diagonal(const bct *b, plx_index covered);
/* thin: z_l and c_l, at the kernel in force. */
plx_status plx__bct_labelled_rows(bct *b);

/* ---- bct_dense.c ---- */
plx_status plx__bct_reserve_dense(bct *b);
double plx__bct_dense_bytes(double n, double factors);
plx_status plx__bct_build_dense(bct *b);
plx_status plx__bct_labelled_dense(bct *b); /* kl */
plx_status plx__bct_apply_dense(bct *b, plx_cmat w, plx_mat out);
plx_status plx__bct_factor_gram(bct *b, bct_view *v);
/* own = K_c(I_j, labelled), t = S_j^-1 own (n_j x l each), in any form. */
plx_status plx__bct_view_columns(bct *b, const bct_view *v, plx_mat own, plx_mat t);
/* Before plx__bct_diagonal; the last thing to be asked of a pair. */
plx_status plx__bct_find_diagonal(bct *b);

/* ---- bct_evidence.c ---- */
plx_status plx__bct_learn(bct *b, plx__gp_state *state);
void plx__bct_warn_of_few(bct *b);
/* What learning found out, into the result. */
plx_status plx__bct_tell(bct *b, const plx__gp_state *state);

/* ---- bct_output.c ---- */
plx_status plx__bct_put_kernels(bct *b);
plx_status plx__bct_put_view_means(bct *b, const plx__gp_state *state);
plx_status plx__bct_cluster(bct *b);

/* ---- bct_predict.c ---- */
plx_status plx__bct_predict(plx__run *run);

#endif
