/*
 * What a method runs in.
 *
 * The framework checks the data against the method's descriptor, takes held-out samples away, fills the
 * parameter struct and calls fit(run). Afterwards it predicts the held-out samples through predict(run),
 * the same road new samples take, and puts their rows back in place. A method therefore never sees
 * held-out samples, file paths of the model, or anybody's labels but the ones it may use.
 */
#ifndef PLX_RUN_RUN_H
#define PLX_RUN_RUN_H

#include "core/slabs.h"
#include "data/scale.h"
#include "params/param.h"
#include "run/store.h"

typedef struct plx__method plx__method;
typedef struct plx__checkpoint plx__checkpoint; /* run/checkpoint.h */

/* The samples to fit or to label, as the method may see them. */
typedef struct plx__problem {
    plx_index n, n_views;
    const plx__view *views;       /* after the zero-row rule; absent rows are zero / empty */
    const plx__scale_kind *scale; /* n_views: the scaling in force, auto resolved; none without a parameter `scale` */
    const uint8_t *scale_rows;    /* n flags: rows that scaling is fitted on; NULL: all */
    plx_index n_given;            /* views of the caller's data; those that no sample has are not among `views` */
    const plx_index *given;       /* n_views: number of each view in the caller's data */
    const char *const *ids;       /* never NULL: row numbers of the caller's data when it has no ids */
    bool has_ids;                 /* ... it has some */
    plx_index n_classes;
    const char *const *classes; /* hierarchy.classes if given, else byte-sorted label names */
    const int32_t *label;       /* n: class index, -1 unlabelled. Label sets: first class */
    const int64_t *set_ptr;     /* label sets: classes of sample i are set_class[set_ptr[i] .. set_ptr[i+1]) */
    const int32_t *set_class;
    const char *const *label_text; /* n: as given, NULL unlabelled (regression reads numbers from it) */
    plx_index n_labelled;
    const plx__hierarchy *hierarchy; /* NULL: none */
    const double *sample_costs;      /* n: factor of what a sample's label or view costs; NULL: all 1 */
    const plx_index *row;            /* n: row of each sample in the caller's data (for files with a line per row) */
    plx_index rows;                  /* number of rows of the caller's data */
    const char *directory;           /* what file parameters are relative to */
} plx__problem;

/* What the labels of an outcome are. */
typedef enum plx__outcome_kind {
    PLX__OUTCOME_NONE = 0, /* nothing is told of samples */
    PLX__OUTCOME_CLASSES,
    PLX__OUTCOME_CLUSTERS,
    PLX__OUTCOME_NUMBERS
} plx__outcome_kind;

/* Labels and scores per sample: of all samples, or, where each of several processes keeps the results of its own rows
 * (plx_fit_options.own_results), of the samples first .. first+n-1. */
typedef struct plx__outcome {
    plx__outcome_kind kind;
    plx_index n;
    const char **label; /* n; NULL entries print as ? */
    plx_mat scores;     /* n x n_columns; data NULL: none */
    const char *const *columns;
    plx_index first;
    const plx_index *bound; /* rank r has bound[r] .. bound[r+1]-1; NULL: all are here */
} plx__outcome;

/* Numbers about the run itself. */
typedef struct plx__facts {
    plx_index iterations;
    int converged;    /* 1, 0, or -1: does not iterate */
    double objective; /* NaN: none */
    const double *trace;
    plx_index n_trace;
    struct json_t *extra; /* further keys of the JSON result (run/facts.h); owned, NULL: none */
} plx__facts;

/* What a ranking may offer, where not everything that is missing can be had. */
typedef struct plx__offer {
    const uint8_t *open; /* (views + 1) x rows of the caller's data, labels last: may be acquired */
    double spent;        /* of the budget, before this ranking */
} plx__offer;

typedef struct plx__run {
    plx_context *ctx;
    const plx__method *method;
    const plx__problem *problem;
    const plx_params *settings; /* for per-view look-ups */
    const void *params;         /* the method's own struct, filled */
    const plx__store *fitted;   /* predict: what fit left behind */
    plx__store *out;            /* arrays of this run */
    plx__outcome *outcome;
    plx__facts *info;
    const char *const *wanted; /* names of on-request arrays */
    plx_index n_wanted;
    const plx__store *warm;  /* fit: what a fit of the same method to nearly the same data left, as a start; or NULL */
    const plx__offer *offer; /* fit: NULL: everything may be acquired */
    plx__checkpoint *checkpoint; /* fit: where the state of the iteration is kept; NULL: nowhere */
    /* fit: of the results over samples, rank r keeps kept[r] .. kept[r+1]-1; NULL: all ranks have all. */
    const plx_index *kept;
} plx__run;

/* ---- results over samples ---- */

/* The samples whose results stay here: begin .. end-1. */
void plx__kept_rows(plx_index *begin, plx_index *end, const plx__run *run);
/* How many they are. */
plx_index plx__kept_count(const plx__run *run);

/* An array of the method with a row for every sample whose results stay here. `out` is indexed by the sample, so it must
 * not be looked at beyond those. */
plx_status plx__sample_array(plx_mat *out, plx__run *run, const char *name, plx_index cols);
/* The same for the scores of the outcome. */
plx_status plx__sample_scores(plx_mat *out, plx__run *run, plx_index cols);
/* Rows of such an array by themselves, from the first that is here. */
plx_cmat plx__kept_part(const plx__run *run, plx_mat by_sample);
/* The rows of most methods: panes of PLX__PANE_ROWS, as readers cut them. For plx__method.whose_rows. */
plx_status plx__whose_panes(plx_index *bound, plx__run *run);
/* As many for each as can be (plx__slabs_even()): where nothing is summed over samples. */
plx_status plx__whose_even(plx_index *bound, plx__run *run);

/* For plx__method.streams, where no setting matters. */
bool plx__streams_always(plx__run *run, const plx_dataset *data);

/* Rows of `cut` that other processes have worked on come here, unless all keep their own. */
plx_status plx__share_rows(plx__run *run, plx__slabs cut, plx_mat by_sample);
/* One number per sample, of which those here are set: all of them, in any case. */
plx_status plx__share_column(plx__run *run, double *column);
/* Counts (whole numbers) of the samples here: of all, in any case. */
plx_status plx__share_counts(plx__run *run, double *count, plx_index n);

/* ---- what a method may ask and tell ---- */

/* Was this on-request array asked for? */
bool plx__wanted(const plx__run *run, const char *name);

/* Predictions by class index (-1: ?) with one score column per class; by cluster number (c0, c1, ...); as texts of
 * numbers; or none at all. Arrays are copied and have as many rows as results stay here. scores.data may be NULL. */
plx_status plx__outcome_classes(plx__run *run, const int32_t *index, plx_cmat scores);
plx_status plx__outcome_clusters(plx__run *run, const int32_t *index, plx_index n_clusters, plx_cmat scores);
/* The same without scores, samples of cluster -1 being called `rest`. */
plx_status plx__outcome_clusters_and(plx__run *run, const int32_t *index, plx_index n_clusters, const char *rest);
plx_status plx__outcome_numbers(plx__run *run, const char *const *labels, plx_cmat scores, const char *const *columns);
plx_status plx__outcome_nothing(plx__run *run);

/* Samples it is about, those of other ranks too. */
plx_index plx__outcome_samples(const plx_context *ctx, const plx__outcome *o);

/* Largest score per row, ties to the smallest index. */
void plx__argmax_rows(int32_t *out, plx_cmat scores);

/* End of an iteration: tells progress, remembers the objective. The trace is stored by plx__finish. */
typedef struct plx__trace {
    double *value;
    plx_index count, capacity;
} plx__trace;
plx_status plx__iterate(plx__run *run, plx__trace *trace, const char *phase, plx_index iteration, plx_index max,
                        double objective);
plx_status plx__finish(plx__run *run, const plx__trace *trace, plx_index iterations, bool converged, double objective);

/* Any non-negative view is fine; a negative entry is an error naming view, row and column. */
plx_status plx__require_nonnegative(plx__run *run, const plx__view *view);
/* All views non-negative; when fitting, a warning with this remedy where a view holds measurements (real numbers, hardly a
 * zero). */
plx_status plx__require_counts(plx__run *run, const char *remedy);

/* Every entry is finite, or PLX_E_NUMERIC naming the sample: `what` is e.g. "scores". Of results that are divided, those
 * that stay here; all ranks call it then, and fail together. */
plx_status plx__require_finite(plx__run *run, plx_cmat values, const char *what);

/* Fit: which views the model needs (n_views flags). New data are matched and checked in those only; a method that says
 * nothing uses all. */
plx_status plx__mark_used(plx__run *run, const uint8_t *used);

/* What plx__mark_used left in a model of n_views views, as flags in scratch; NULL: all are used. */
plx_status plx__used_views(const uint8_t **out, plx_context *ctx, const plx__store *fitted, plx_index n_views);

/* Index of the view, or an error naming it and the ones there are. */
plx_status plx__require_view(plx_index *out, plx__run *run, const char *name, const char *parameter);

/* ---- the descriptor ---- */

typedef struct plx__array_spec {
    const char *name;  /* VIEW at its end stands for every view */
    const char *shape; /* "n x K": n = samples */
    unsigned flags;
    const char *help;
} plx__array_spec;

enum {
    PLX__ON_REQUEST = 1u << 0,      /* computed only when asked for */
    PLX__MEASURED = 1u << 1,        /* tells how good the model is: rows without NaN by held-out samples win */
    PLX__SOMETIMES = 1u << 2,       /* there with some settings only; the help says which */
    PLX__SAMPLE_NUMBERS = 1u << 3,  /* its values are row numbers of the caller's data */
    PLX__SAMPLE_ORDER = 1u << 4,    /* its rows belong to some of the samples, in their order */
    PLX__MAY_BE_INFINITE = 1u << 5, /* infinity is one of its values; the help says what it means */
    PLX__CLASS_NUMBERS = 1u << 6    /* its values are numbers of classes */
};

/* A metric of the JSON result that is the mean of a column of an array, over the rows where it is a number. */
typedef struct plx__mean_metric {
    const char *name, *array; /* name NULL: end of the list */
    plx_index column;
} plx__mean_metric;

/* What an all-zero row of a view means (design: it says nothing). */
typedef enum plx__zero_rows {
    PLX__ZERO_ROWS_MISSING = 0, /* missing in every kind of view: the method cannot use a zero row */
    PLX__ZERO_ROWS_PARAM = 1,   /* missing in counts and binary views unless zero_rows=present */
    PLX__ZERO_ROWS_PRESENT = 2  /* present */
} plx__zero_rows;

/* What may be acquired, as plx_acquire_kind counts. */
enum { PLX__ACQUIRE_KINDS = 3 };

/* What becomes of samples without any view (setting `uncovered`). */
typedef enum plx__uncovered {
    PLX__UNCOVERED_OWN = 0,  /* the method has its own rule */
    PLX__UNCOVERED_PRIOR = 1 /* the method never sees them; they get the most frequent class or the largest cluster */
} plx__uncovered;

/* What tells how many clusters there are (clusters=auto). */
typedef enum plx__cluster_rule {
    PLX__CLUSTERS_SILHOUETTE = 0, /* of a tree, where `clusters_array` names its linkage */
    PLX__CLUSTERS_EIGENGAP = 1,   /* of the values of `clusters_array`, descending */
    PLX__CLUSTERS_BIC = 2,        /* of the sum of the last row of `clusters_array` and `free_parameters` */
    PLX__CLUSTERS_STABILITY = 3   /* when asked for (clusters_by) */
} plx__cluster_rule;

/* How the features of a view tell groups (classes, clusters, directions) apart, for explanations. */
typedef struct plx__profiles {
    const char *array; /* features x groups or groups x features, e.g. "theta.VIEW"; NULL: the method has none */
    enum { PLX__PROFILE_SHARES = 0, PLX__PROFILE_LEVELS, PLX__PROFILE_LOADINGS } kind; /* P(f|group), means, weights */
    const char *mix;     /* topics x groups that `array` (features x topics) is multiplied by, or NULL */
    const char *columns; /* array of the columns, over views side by side, that `array` is about, its last column being
                            a bias; NULL: all of a view */
    const char *views;   /* parameter that names these views, joined with + */
    const char *pattern; /* array of columns that describe a region of their own, or NULL */
    const char *pattern_views;
    const char *pattern_places; /* array of samples in the middle of the pattern, numbered as keep_samples keeps them */
} plx__profiles;

/* How several processes fit a method together (core/ranks.h); none of these: one process has to. */
enum {
    PLX__RANKS_SUMS = 1u << 0,    /* sums over samples by slabs: the bytes of one process */
    PLX__RANKS_SYSTEMS = 1u << 1, /* sparse systems by the engines of the program (linalg/rank_solvers.h) */
    PLX__RANKS_SPECTRA = 1u << 2  /* eigenvectors by these */
};

struct plx__method {
    const char *name, *title, *summary, *citation;
    plx_task task;
    const char *scores; /* what a column score_CLASS holds; NULL: the method gives none */
    const char *growth; /* of the time with the number of samples, at the defaults: "linear", "quadratic", ... */
    bool checkpoints;   /* its iteration keeps checkpoints (run/checkpoint.h) */
    /* Whether with these settings its passes go row by row, so that a context that streams serves it well; NULL: never. */
    bool (*streams)(plx__run *run, const plx_dataset *data); /* `run` has no problem yet */
    const char *streams_with; /* the settings it does so with, as "linear and cosine kernels"; NULL: all */
    unsigned ranks;           /* PLX__RANKS_... */
    /* Several processes, each with the values of its own rows (data/divided.h): whether these settings can do with that on
     * these data; NULL: none can, and all rows are gathered first. Then which rows each rank works on: bound[r] ..
     * bound[r+1]-1. */
    bool (*own_rows)(plx__run *run, const plx_dataset *data); /* `run` has no problem yet */
    plx_status (*whose_rows)(plx_index *bound, plx__run *run);
    bool own_results; /* it can leave results over samples with the rank that has the rows (plx__sample_array()) */
    /* predict() says the same of a sample whatever others there are, so new ones come part by part. */
    bool predicts_apart;
    unsigned capabilities;
    plx_index min_views, max_views; /* max 0: no limit */
    plx_index min_classes;          /* among the labels; 0: labels are optional */
    plx__zero_rows zero_rows;
    /* With PLX__ZERO_ROWS_PARAM: which views the rule concerns; NULL: those of counts and binary values. */
    plx_status (*zero_says_nothing)(bool *out, plx_context *ctx, const plx_params *settings, const plx__view *view);
    /* What scale=auto means for a view; NULL: plx__scale_auto(). `rows` as there. */
    plx_status (*scale_auto)(plx__scale_kind *out, plx_context *ctx, const plx_params *settings, const plx__view *view,
                             const uint8_t *rows);
    bool keep_empty_views; /* a view that no sample has stays in the problem; everywhere else it is ignored */
    plx__uncovered uncovered;
    plx__cluster_rule clusters_by; /* of a method with PLX__CLUSTERS_ROWS (run/clusters.h) */
    const char *clusters_array;
    double (*free_parameters)(const plx__store *store);
    bool keep_samples;              /* names of the fitted samples belong to the model */
    bool leave_one_out;             /* a fit predicts labelled samples without themselves; predict does not know them */
    bool scale_by_labelled;         /* statistics of scaling, and what scale=auto looks at, are of labelled rows */
    const char *prior_array;        /* array that shows class shares for samples without any view, or NULL */
    const char *const *extra_views; /* further names allowed in key.VIEW (e.g. "concat"), NULL-ended; may be NULL */
    size_t params_size;
    const plx__param_table *params; /* NULL-ended list of tables */
    const plx__array_spec *arrays;
    const char *transform;   /* array that `transform` writes, or NULL */
    const char *view_scores; /* arrays of class scores by one view ("posterior.VIEW"; zero row: none), or NULL */
    plx__profiles profiles;
    const plx__mean_metric *metrics;       /* further metrics, or NULL */
    const char *memory_remedy;             /* ends the sentence when the estimate is too large */
    plx_status (*check)(plx__run *run);    /* rules between settings and data; may be NULL */
    double (*memory)(const plx__run *run); /* peak bytes beyond the data; may be NULL */
    plx_status (*fit)(plx__run *run);
    plx_status (*predict)(plx__run *run); /* NULL without PLX_CAN_PREDICT */
    /* After a fit with held-out samples, when their rows are back: arrays over pairs of samples that concern them too;
     * may be NULL (such arrays are zero there). */
    plx_status (*complete)(plx_context *ctx, plx__store *all);
    /* By kind (labels, features, any): a descriptor whose fit() ranks besides fitting (active/acquirer.h); NULL: the
     * method has no ranking of its own. All of them share one list of parameter tables. */
    const plx__method *acquire[PLX__ACQUIRE_KINDS];
};

#endif
