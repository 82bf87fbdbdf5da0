/*
 * Rows are those of the caller's data; only the ones a method uses are checked: finite, not negative, not
 * all zero.
 */
#include "run/start_file.h"

#include <math.h>
#include <string.h>

#include "io/matrix_file.h"
#include "linalg/csr.h"
#include "linalg/dense.h"

static plx_status read_matrix(plx_mat *out, plx__run *run, const char *name)
{
    plx__arena *scratch = plx__scratch(run->ctx);
    const char *directory = run->problem->directory, *path = NULL;
    plx__matrix_options options = {.csv = {.header = PLX__HEADER_NO}};
    plx__table table;
    PLX_TRY(plx__path_join(&path, scratch, directory ? directory : ".", name));
    PLX_TRY(plx__matrix_file_read(&table, run->ctx, scratch, path, &options));
    *out = table.dense;
    if (!table.sparse) return PLX_OK;
    PLX_TRY(plx__arena_mat(out, scratch, table.csr.rows, table.csr.cols));
    plx__csr_to_dense(*out, plx__ccsr(table.csr));
    return PLX_OK;
}

static plx_status check_row(plx__run *run, const char *parameter, const char *setting, plx_index line,
                            const double *row, plx_index cols)
{
    double most = 0;
    for (plx_index j = 0; j < cols; j++) {
        if (!isfinite(row[j]) || row[j] < 0)
            PLX_FAIL(run->ctx, PLX_E_DATA, "%s = %s: row %lld, column %lld: %g is not a finite number >= 0", parameter,
                     setting, (long long)line, (long long)j, row[j]);
        most = fmax(most, row[j]);
    }
    if (!(most > 0))
        PLX_FAIL(run->ctx, PLX_E_DATA, "%s = %s: row %lld is all zero; give it at least one positive entry", parameter,
                 setting, (long long)line);
    return PLX_OK;
}

plx_status plx__start_file_read_some(plx_mat *out, plx__run *run, const char *parameter, const char *setting,
                                     plx_index cols, const uint8_t *used)
{
    const plx__problem *p = run->problem;
    plx_mat all;
    PLX_TRY(read_matrix(&all, run, setting + strlen("file:")));
    if (!cols) cols = all.cols;
    if (all.rows != p->rows || all.cols != cols || !cols)
        PLX_FAIL(run->ctx, PLX_E_DATA, "%s = %s: the file is %lld x %lld, expected %lld x %lld (samples x columns)",
                 parameter, setting, (long long)all.rows, (long long)all.cols, (long long)p->rows, (long long)cols);
    PLX_TRY(plx__arena_mat(out, plx__scratch(run->ctx), p->n, cols));
    for (plx_index i = 0; i < p->n; i++) {
        if (used && !used[i]) continue;
        const double *row = all.data + p->row[i] * all.ld;
        PLX_TRY(check_row(run, parameter, setting, p->row[i], row, cols));
        memcpy(out->data + i * out->ld, row, (size_t)cols * sizeof *row);
    }
    return PLX_OK;
}

plx_status plx__start_file_read(plx_mat *out, plx__run *run, const char *parameter, const char *setting, plx_index cols)
{
    return plx__start_file_read_some(out, run, parameter, setting, cols, NULL);
}

plx_status plx__responsibilities_read(plx_mat *out, plx__run *run, const char *setting, plx_index columns,
                                      const uint8_t *used)
{
    const plx__problem *p = run->problem;
    plx_mat all;
    PLX_TRY(read_matrix(&all, run, setting + strlen("file:")));
    if (all.rows != p->rows || (columns && all.cols != columns) || !all.cols)
        PLX_FAIL(run->ctx, PLX_E_DATA, "init = %s: the file is %lld x %lld, expected %lld samples x %lld components",
                 setting, (long long)all.rows, (long long)all.cols, (long long)p->rows,
                 (long long)(columns ? columns : all.cols));
    PLX_TRY(plx__arena_mat(out, plx__scratch(run->ctx), p->n, all.cols));
    for (plx_index i = 0; i < p->n; i++)
        for (plx_index z = 0; z < all.cols && (!used || used[i]); z++) {
            double r = all.data[p->row[i] * all.ld + z];
            if (!(r >= 0 && isfinite(r)))
                PLX_FAIL(run->ctx, PLX_E_DATA, "init = %s: row %lld, column %lld: %g is not a responsibility >= 0",
                         setting, (long long)p->row[i], (long long)z, r);
            out->data[i * out->ld + z] = r;
        }
    return PLX_OK;
}
