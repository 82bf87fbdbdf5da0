/*
 * Data sets of which every rank has its own rows, beside the same read whole.
 */
#ifndef PLX_TESTS_DIVIDED_HELPERS_H
#define PLX_TESTS_DIVIDED_HELPERS_H

#include "core/ranks.h"
#include "data/divided.h"
#include "parallax/metrics.h"
#include "parallax/params.h"
#include "rank_helpers.h"

/* A process that is copied to read, while other threads of it allocate, may wait for ever for a lock of the sanitizer's
 * allocator: such builds read in the same process. */
#ifdef PLX_CHECKED
enum { READ_WITHIN = 1 };
#else
enum { READ_WITHIN = 0 };
#endif

static inline plx_dataset *read_data(plx_context *ctx, const char *path, int own_rows)
{
    plx_read_options o = PLX_READ_OPTIONS_INIT;
    plx_dataset *d = NULL;
    o.trust = READ_WITHIN;
    o.own_rows = own_rows;
    assert_ok(ctx, plx_dataset_read(&d, ctx, path, &o));
    return d;
}

/* Within this process in any case, for fits. */
static inline plx_dataset *read_here(const rank_job *job, int own_rows)
{
    plx_read_options o = PLX_READ_OPTIONS_INIT;
    plx_dataset *d = NULL;
    char path[128];
    snprintf(path, sizeof path, "%s/data.h5mu", job->folder);
    o.trust = 1;
    o.own_rows = own_rows;
    assert_ok(job->ctx, plx_dataset_read(&d, job->ctx, path, &o));
    return d;
}

static inline void assert_same_row(const plx__view *a, const plx__view *b, plx_index i)
{
    plx_index count = a->sparse ? a->csr.ptr[i + 1] - a->csr.ptr[i] : a->cols;
    assert_int_equal(a->sparse, b->sparse);
    if (!a->sparse) {
        assert_memory_equal(a->dense.data + i * a->dense.ld, b->dense.data + i * b->dense.ld,
                            (size_t)count * sizeof(double));
        return;
    }
    assert_int_equal(b->csr.ptr[i + 1] - b->csr.ptr[i], count);
    if (!count) return;
    assert_memory_equal(a->csr.col + a->csr.ptr[i], b->csr.col + b->csr.ptr[i], (size_t)count * sizeof(int32_t));
    assert_memory_equal(a->csr.val + a->csr.ptr[i], b->csr.val + b->csr.ptr[i], (size_t)count * sizeof(double));
}

/* The rows that are here are those of the whole, and everything else is known everywhere. */
static inline void assert_part_of(rank_job *job, const plx__view *part, const plx__view *whole, plx_index n)
{
    plx_index begin = 0, end = 0;
    plx__slabs_mine(&begin, &end, job->ctx, plx__slabs_cut(n, PLX__PANE_ROWS));
    assert_int_equal(part->divided, job->ranks > 1);
    if (part->divided) assert_true(part->begin == begin && part->end == end);
    assert_int_equal(part->kind, whole->kind);
    assert_int_equal(part->cols, whole->cols);
    assert_int_equal(part->nonzeros, whole->nonzeros);
    assert_int_equal(part->present_count, whole->present_count);
    assert_int_equal(part->missing_values, whole->missing_values);
    if (whole->missing_values) assert_true(part->nan_row == whole->nan_row && part->nan_col == whole->nan_col);
    assert_memory_equal(part->present, whole->present, (size_t)n);
    for (plx_index i = begin; i < end; i++) assert_same_row(whole, part, i);
    for (plx_index i = 0; part->sparse && part->divided && i < n; i++)
        if (i < begin || i >= end) assert_int_equal(part->csr.ptr[i], part->csr.ptr[i + 1]);
}

static inline void assert_whole_again(rank_job *job, const plx_dataset *part, const plx_dataset *whole)
{
    plx_dataset *again = NULL;
    assert_ok(job->ctx, plx__dataset_gather(&again, job->ctx, part));
    for (plx_index v = 0; v < whole->n_views; v++) {
        assert_false(again->views[v].divided);
        assert_int_equal(again->views[v].nonzeros, whole->views[v].nonzeros);
        for (plx_index i = 0; i < whole->n; i++) assert_same_row(&whole->views[v], &again->views[v], i);
    }
    plx_dataset_destroy(again);
}

/* Another cut: the last rank has most of the rows. */
static inline void assert_regrouped(rank_job *job, const plx_dataset *part, const plx_dataset *whole)
{
    plx_index bound[MOST + 1] = {0};
    for (int r = 1; r < job->ranks; r++) bound[r] = 3 * r;
    bound[job->ranks] = whole->n;
    for (plx_index v = 0; v < whole->n_views; v++) {
        plx__mark mark = plx__arena_mark(plx__scratch(job->ctx));
        plx__view moved = part->views[v];
        assert_ok(job->ctx, plx__view_regroup(&moved, job->ctx, plx__scratch(job->ctx), whole->n, bound));
        if (moved.divided) assert_int_equal(moved.begin, bound[job->rank]);
        for (plx_index i = plx__held_begin(&moved); i < plx__held_end(&moved, whole->n); i++)
            assert_same_row(&whole->views[v], &moved, i);
        plx__arena_rewind(plx__scratch(job->ctx), mark);
    }
}

/* ---- fits of divided rows ---- */

typedef struct trial {
    const char *method;
    bool dense, labelled;
    const char *settings[16]; /* names and values */
    const char *array;        /* over samples, of results that can be divided; NULL: they cannot */
    bool gathers;             /* these settings need all rows on every rank */
} trial;

static inline plx_params *trial_settings(rank_job *job, const trial *t)
{
    plx_params *p = NULL;
    assert_ok(job->ctx, plx_params_create(&p, job->ctx, t->method));
    for (int k = 0; t->settings[k]; k += 2)
        assert_ok(job->ctx, plx_params_set(p, job->ctx, t->settings[k], t->settings[k + 1]));
    return p;
}

/* A fit says which rows are a rank's, unless it has gathered them. */
static inline void hear_of_rows(plx_log_level level, const char *text, void *heard)
{
    (void)level;
    if (strncmp(text, "rows     ", 9) == 0) *(bool *)heard = true;
}

/* The fit of own rows into RANKS_RANK.plx and .csv of the folder. */
static inline void fit_trial(rank_job *job)
{
    const trial *t = job->arg;
    char path[128];
    bool divided = false;
    plx_fit_options o = PLX_FIT_OPTIONS_INIT;
    plx_model *m = NULL;
    plx_dataset *d = read_here(job, 1);
    plx_params *p = trial_settings(job, t);
    plx_context_set_log(job->ctx, PLX_LOG_DEBUG, hear_of_rows, &divided);
    assert_ok(job->ctx, plx_fit(&m, job->ctx, t->method, d, p, &o));
    assert_int_equal(divided, job->ranks > 1 && !t->gathers);
    snprintf(path, sizeof path, "%s/%d_%d.plx", job->folder, job->ranks, job->rank);
    assert_ok(job->ctx, plx_model_save(job->ctx, m, path));
    snprintf(path, sizeof path, "%s/%d_%d.csv", job->folder, job->ranks, job->rank);
    assert_ok(job->ctx, plx_prediction_write(job->ctx, plx_model_prediction(m), d, path));
    plx_model_destroy(m);
    plx_params_destroy(p);
    plx_dataset_destroy(d);
}

/* What one process wrote. */
static inline void assert_same_results(const char *folder, int ranks, int rank)
{
    static const char *const endings[] = {"plx", "csv"};
    for (int e = 0; e < 2; e++) {
        char alone[128], many[128];
        snprintf(alone, sizeof alone, "%s/1_0.%s", folder, endings[e]);
        snprintf(many, sizeof many, "%s/%d_%d.%s", folder, ranks, rank, endings[e]);
        assert_same_files(alone, many);
    }
}

/* ---- results that stay with the rank that has the rows ---- */

static inline void write_metrics(rank_job *job, const plx_model *m, const plx_dataset *d, const char *path)
{
    plx_metrics *metrics = NULL;
    assert_ok(job->ctx, plx_prediction_metrics(&metrics, job->ctx, plx_model_prediction(m), m, d));
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    for (plx_index i = 0; i < plx_metrics_count(metrics); i++)
        fprintf(f, "%s %a\n", plx_metrics_name(metrics, i), plx_metrics_value(metrics, i, NULL));
    fclose(f);
    plx_metrics_destroy(metrics);
}

static inline void write_arrays(rank_job *job, const plx_model *m, const plx_dataset *d, const char *npy)
{
    char path[128];
    for (plx_index i = 0; i < plx_model_arrays(m); i++) {
        snprintf(path, sizeof path, "%s/array_%d_%d.csv", job->folder, (int)i, job->ranks);
        assert_ok(job->ctx, plx_model_array_write(job->ctx, m, d, plx_model_array_name(m, i), path));
    }
    snprintf(path, sizeof path, "%s/array_%d.npy", job->folder, job->ranks);
    assert_ok(job->ctx, plx_model_array_write(job->ctx, m, d, npy, path));
}

/* Every rank keeps the results of its own samples: rows of all arrays, and files that the ranks write together. */
static inline void own_results_work(rank_job *job)
{
    const trial *t = job->arg;
    char path[128];
    plx_fit_options o = PLX_FIT_OPTIONS_INIT;
    plx_model *m = NULL;
    plx_dataset *d = read_here(job, 1);
    plx_params *p = trial_settings(job, t);
    o.own_results = 1;
    assert_ok(job->ctx, plx_fit(&m, job->ctx, t->method, d, p, &o));
    const plx_prediction *told = plx_model_prediction(m);
    assert_int_equal(plx_prediction_divided(told), job->ranks > 1);
    assert_int_equal(plx_prediction_scores(told).rows, plx_prediction_samples(told));
    int64_t samples = plx_prediction_samples(told);
    if (job->ranks > 1) assert_ok(job->ctx, plx__peers_total(job->ctx, &samples, 1));
    assert_int_equal(samples, plx_dataset_samples(d)); /* each is with one rank */
    snprintf(path, sizeof path, "%s/own_%d_%d.txt", job->folder, job->ranks, job->rank);
    write_metrics(job, m, d, path);
    write_arrays(job, m, d, t->array);
    snprintf(path, sizeof path, "%s/own_%d.csv", job->folder, job->ranks);
    assert_ok(job->ctx, plx_prediction_write(job->ctx, told, d, path));
    plx_model_destroy(m);
    plx_params_destroy(p);
    plx_dataset_destroy(d);
}

/* STEM_RANKS.ENDING is STEM_1.ENDING; false: one process has made no such file. */
static inline bool assert_like_one(const char *folder, const char *stem, int ranks, const char *ending)
{
    char alone[160], many[160];
    snprintf(alone, sizeof alone, "%s/%s_1.%s", folder, stem, ending);
    snprintf(many, sizeof many, "%s/%s_%d.%s", folder, stem, ranks, ending);
    if (access(alone, F_OK) != 0) return false;
    assert_same_files(alone, many);
    return true;
}

/* What every rank has written, STEM_RANKS_RANK.txt, is what one process has. */
static inline void assert_all_like_one(const char *folder, const char *stem, int ranks)
{
    char alone[160], many[160];
    snprintf(alone, sizeof alone, "%s/%s_1_0.txt", folder, stem);
    for (int r = 0; r < ranks; r++) {
        snprintf(many, sizeof many, "%s/%s_%d_%d.txt", folder, stem, ranks, r);
        assert_same_files(alone, many);
    }
}

static inline void assert_same_own_results(const char *folder, int ranks)
{
    char stem[32] = "array_0";
    assert_true(assert_like_one(folder, "array", ranks, "npy"));
    assert_true(assert_like_one(folder, "own", ranks, "csv"));
    for (int i = 1; assert_like_one(folder, stem, ranks, "csv"); i++) snprintf(stem, sizeof stem, "array_%d", i);
    assert_all_like_one(folder, "own", ranks);
}

/* The fit by several ranks beside that of one, with results on all of them and with those of own samples only. */
static inline void assert_same_by_ranks(const trial *t, const char *folder, int ranks)
{
    together(ranks, fit_trial, t, folder);
    for (int r = 0; r < ranks; r++) assert_same_results(folder, ranks, r);
    if (!t->array) return;
    together(ranks, own_results_work, t, folder);
    assert_same_own_results(folder, ranks);
}

#endif
