/*
 * Solvers of systems and spectra for several ranks: LAPACK on gathered rows.
 */
#ifndef PLX_TESTS_RANK_ENGINE_H
#define PLX_TESTS_RANK_ENGINE_H

#include <lapacke.h>

#include "core/ranks.h"
#include "core/slabs.h"
#include "rank_helpers.h"

typedef struct engine {
    plx_context *ctx;
    int refuse;     /* what the functions return */
    int unfinished; /* they say that they did not converge */
    int calls;
} engine;

/* All rows x cols of an array of which every rank has its own. */
static inline double *gather(engine *e, const plx_matrix_rows *m, const double *own, int64_t cols)
{
    double *all = calloc((size_t)(m->n * cols), sizeof *all);
    memcpy(all + m->begin * cols, own, sizeof *all * (size_t)((m->end - m->begin) * cols));
    assert_ok(e->ctx, plx__slabs_share(e->ctx, plx__slabs_even(e->ctx, m->n), all, sizeof *all * (size_t)cols, 1));
    return all;
}

static inline double *gather_matrix(engine *e, const plx_matrix_rows *m)
{
    int64_t rows = m->end - m->begin;
    double *own = calloc((size_t)(rows * m->n + 1), sizeof *own);
    for (int64_t i = 0; i < rows; i++)
        for (int64_t p = m->ptr[i]; p < m->ptr[i + 1]; p++) own[i * m->n + m->col[p]] += m->val[p];
    double *all = gather(e, m, own, m->n);
    free(own);
    for (int64_t i = 0; i < m->n; i++)
        for (int64_t j = 0; j < i; j++) assert_true(fabs(all[i * m->n + j] - all[j * m->n + i]) <= 1e-12);
    return all;
}

static inline int fake_solve(plx_rank_system *s, char *why, size_t size, void *payload)
{
    engine *e = payload;
    const plx_matrix_rows *m = s->a;
    e->calls++;
    if (e->refuse) {
        snprintf(why, size, "no\nlines");
        return e->refuse;
    }
    double *a = gather_matrix(e, m), *x = gather(e, m, s->b, s->columns);
    int info = LAPACKE_dposv(LAPACK_ROW_MAJOR, 'L', (int)m->n, (int)s->columns, a, (int)m->n, x, (int)s->columns);
    memcpy(s->x, x + m->begin * s->columns, sizeof *x * (size_t)((m->end - m->begin) * s->columns));
    s->iterations = 4;
    s->converged = !e->unfinished;
    free(a);
    free(x);
    return info != 0;
}

/* E column by column. */
static inline void add_extra(engine *e, const plx_rank_spectrum *s, double *a)
{
    const plx_matrix_rows *m = s->m;
    int64_t rows = m->end - m->begin;
    double *unit = calloc((size_t)rows + 1, sizeof *unit), *image = calloc((size_t)rows + 1, sizeof *image);
    for (int64_t j = 0; j < m->n; j++) {
        memset(unit, 0, sizeof *unit * (size_t)rows);
        memset(image, 0, sizeof *image * (size_t)rows);
        if (j >= m->begin && j < m->end) unit[j - m->begin] = 1.0;
        assert_int_equal(s->add(s->arg, unit, image), 0);
        double *column = gather(e, m, image, 1);
        for (int64_t i = 0; i < m->n; i++) a[i * m->n + j] += column[i];
        free(column);
    }
    free(unit);
    free(image);
}

static inline int fake_eigen(plx_rank_spectrum *s, char *why, size_t size, void *payload)
{
    engine *e = payload;
    const plx_matrix_rows *m = s->m;
    int64_t n = m->n;
    e->calls++;
    if (e->refuse) {
        snprintf(why, size, "none");
        return e->refuse;
    }
    double *a = gather_matrix(e, m), *w = malloc(sizeof *w * (size_t)n);
    if (s->add) add_extra(e, s, a);
    assert_int_equal(LAPACKE_dsyev(LAPACK_ROW_MAJOR, 'V', 'L', (int)n, a, (int)n, w), 0);
    for (int64_t j = 0; j < s->k; j++) {
        int64_t from = s->largest ? n - 1 - j : j;
        s->values[j] = w[from];
        for (int64_t i = m->begin; i < m->end; i++) s->vectors[(i - m->begin) * s->k + j] = a[i * n + from];
    }
    s->converged = !e->unfinished;
    free(a);
    free(w);
    return 0;
}

static inline void give_engine(engine *e, plx_context *ctx)
{
    plx_engines engines = PLX_ENGINES_INIT;
    engines.solve = fake_solve;
    engines.eigen = fake_eigen;
    engines.payload = e;
    assert_ok(ctx, plx_context_set_engines(ctx, &engines));
}

#endif
