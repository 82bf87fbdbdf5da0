/*
 * A comparison: entries (methods with settings, or predictions made elsewhere) on blocks (a data set with so many labels),
 * run after run on the same splits, and what came out of every run.
 */
#ifndef PLX_COMPARE_COMPARISON_H
#define PLX_COMPARE_COMPARISON_H

#include "data/dataset_impl.h"
#include "parallax/compare.h"
#include "parallax/metrics.h"
#include "run/run.h"

/* What a sample is to a run. */
typedef enum plx__role {
    PLX__ROLE_UNLABELLED = 0, /* has a class that the method does not see; scored where nothing is set aside */
    PLX__ROLE_LABELLED,       /* its class is seen */
    PLX__ROLE_TEST,           /* set aside: scored, its class never seen */
    PLX__ROLE_NONE            /* has no class: never scored */
} plx__role;

typedef struct plx__entry {
    const char *name;          /* as asked for */
    const plx__method *method; /* NULL: predictions made elsewhere, or `auto` */
    plx_params *params;        /* owned */
    const char *file;          /* of predictions made elsewhere; NULL: ours */
    bool tuned;                /* its settings are chosen anew in every run, on the labels of the run */
    bool chooses_clusters;     /* the number of clusters was set, or the method takes none */
} plx__entry;

typedef struct plx__block {
    plx_index data;
    const char *dataset, *labels; /* labels "": clustering */
    const char *name;             /* both */
    double test_ratio;            /* samples set aside over the others; 0: none are */
} plx__block;

/* One run of an entry on a block. */
typedef struct plx__measured {
    bool done, resumed;
    plx_status status;
    const char *reason; /* why there is no answer; NULL: there is one */
    double seconds;     /* NaN: not known */
    double cpu;         /* of the processor; NaN: not known */
    double memory;      /* peak of the run in bytes, with its copy of the data; NaN: not known */
    plx_index count;    /* metrics */
    const char *const *name;
    const double *value; /* NaN: undefined */
} plx__measured;

/* An entry on a block by one metric. */
typedef struct plx__tally {
    plx_index runs; /* with a value */
    double mean, sd;
    bool best, level; /* level: not significantly worse than the best */
    double p, p_holm; /* against the best; NaN: not tested */
} plx__tally;

struct plx_comparison {
    plx__arena arena;
    plx_task task;
    plx_index n_blocks, n_entries, n_metrics;
    plx_index repeats, folds, runs; /* runs: of an entry on a block */
    bool inductive;
    double test, alpha;
    uint64_t seed;
    plx__block *block;
    plx__entry *entry;
    const char *const *metric;
    plx__measured *measured; /* blocks x entries x runs */
    plx__tally *cell;        /* metrics x blocks x entries */
    double *rank;            /* metrics x entries: mean over the blocks; NaN: without any answer */
    double *friedman_p;      /* metrics; NaN: not every entry has an answer on two blocks or more */
    plx_index resumed;       /* runs taken from the journal */
};

static inline plx__measured *plx__measured_of(const plx_comparison *c, plx_index block, plx_index entry, plx_index run)
{
    return &c->measured[(block * c->n_entries + entry) * c->runs + run];
}

static inline plx__tally *plx__tally_of(const plx_comparison *c, plx_index metric, plx_index block, plx_index entry)
{
    return &c->cell[(metric * c->n_blocks + block) * c->n_entries + entry];
}

static inline plx_index plx__repeat_of(const plx_comparison *c, plx_index run) { return run / plx__max(c->folds, 1); }
static inline plx_index plx__fold_of(const plx_comparison *c, plx_index run) { return run % plx__max(c->folds, 1); }
static inline uint64_t plx__seed_of(const plx_comparison *c, plx_index run)
{
    return c->seed + (uint64_t)plx__repeat_of(c, run);
}

/* ---- making one (plan.c) ---- */

/* What was asked for, checked: blocks, entries with their settings, metrics. Nothing is run. */
plx_status plx__comparison_create(plx_comparison **out, plx_context *ctx, const plx_dataset *const *data,
                                  plx_index n_data, const plx_compare_options *o);
void plx__comparison_destroy(plx_comparison *comparison);

/* Settings of an entry for a data set: clusterers are told the number of classes. The caller destroys them. */
plx_status plx__entry_params(plx_params **out, plx_context *ctx, const plx_comparison *c, const plx__entry *entry,
                             const plx_dataset *data);

/* Is a small value of this metric good? */
bool plx__smaller_is_better(const char *metric);

/* ---- splits (roles.c) ---- */

/* What every sample is to a run: n roles. */
plx_status plx__run_roles(uint8_t *role, plx_context *ctx, const plx_comparison *c, const plx_dataset *data,
                          plx_index block, plx_index run);
/* Is a sample of this role scored? */
bool plx__role_scored(const plx_comparison *c, plx__role role);
/* Class of a sample: truth, or label without truth; NULL: none. */
const char *plx__class_of(const plx_dataset *data, plx_index sample);

/* Name of a run for other programs: data set, labels, number and a hash of who is what. */
plx_status plx__run_name(const char **out, plx__arena *arena, const plx_comparison *c, const plx_dataset *data,
                         plx_index block, plx_index run, const uint8_t *role);

/* splits.csv for other programs, in a folder that is made where it is missing. */
plx_status plx__splits_write(plx_context *ctx, const plx_comparison *c, const plx_dataset *const *data,
                             const char *directory);

/* ---- predictions made elsewhere (guests.c) ---- */

/* Reads the file of an entry and measures every run found there. */
plx_status plx__guest_measure(plx_comparison *c, plx_context *ctx, const plx_dataset *const *data, plx_index entry);

/* Keeps the values of a list, and the texts, in the comparison. */
plx_status plx__measured_take(plx__measured *to, plx_comparison *c, const plx_metrics *metrics);
plx_status plx__measured_fail(plx__measured *to, plx_comparison *c, plx_status status, const char *reason);

/* ---- what the runs say (significance.c) ---- */

plx_status plx__comparison_summarise(plx_comparison *c, plx_context *ctx);
/* Value of a metric in a run; NaN: it has none. */
double plx__measured_value(const plx__measured *m, const char *metric);
/* What the marks of the tables rest on, in words; a text of the library. */
const char *plx__comparison_test(const plx_comparison *c);
/* Why an entry has runs without an answer on a block: the first reason, and how many; NULL: all have one. */
const char *plx__tally_reason(const plx_comparison *c, plx_index block, plx_index entry, plx_index *failed);
/* Entries by average rank of the metric, those without one last. */
plx_status plx__order_by_rank(plx_index **out, plx_context *ctx, const plx_comparison *c, plx_index metric);

/* Means over the runs that have them. */
typedef struct plx__expense {
    double seconds, cpu, memory; /* NaN: not known */
} plx__expense;
plx__expense plx__expense_of(const plx_comparison *c, plx_index block, plx_index entry);

/* ---- as a text (render_*.c) ---- */

plx_status plx__comparison_render(const char **out, plx_context *ctx, const plx_comparison *c,
                                  plx_compare_format format, plx_compare_part part);

#endif
