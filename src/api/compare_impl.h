/*
 * What plx_compare() does between the plan and the summary: the runs, some at a time, each kept as soon as it ends.
 */
#ifndef PLX_API_COMPARE_IMPL_H
#define PLX_API_COMPARE_IMPL_H

#include "compare/journal.h"

typedef struct plx__compare_work {
    plx_comparison *c;
    plx_context *ctx;
    const plx_dataset *const *data;
    plx_index n_data;
    const char *const *directories; /* by data set; NULL: the working directory */
    plx__journal *journal;          /* NULL: none */
    int jobs, threads;
    double run_limit; /* seconds; 0: none */
} plx__compare_work;

/* As many runs at once as there are cores for, however many are asked for (0: that many). */
int plx__compare_jobs(plx_index jobs, int threads);

/* All runs of our own methods that the journal does not hold. */
plx_status plx__compare_run_all(plx__compare_work *work);

/* One run with a member of a crew (compare_fit.c): metrics in `out`, or a failure whose text is in the member. */
typedef struct plx__compare_task {
    plx_index block, entry, run;
    uint64_t key;
} plx__compare_task;
plx_status plx__compare_fit(plx_metrics **out, double *memory, plx_context *member, const plx__compare_work *work,
                            const plx__compare_task *task);

#endif
