/*
 * Starts given as files: a matrix of values >= 0 in any format, of the expected shape.
 */
#include <math.h>
#include <string.h>

#include "io/matrix_file.h"
#include "methods/mvplsa/mvplsa.h"

plx_status plx__mvp_read_file(mvp_file *out, mvp *m, const char *key, const char *text)
{
    const char *path = NULL;
    plx__table table;
    plx__arena *scratch = plx__scratch(m->ctx);
    *out = (mvp_file){.key = key, .text = text};
    PLX_TRY(plx__path_join(&path, scratch, m->run->problem->directory, text + strlen("file:")));
    plx_status st = plx__matrix_file_read(&table, m->ctx, scratch, path, NULL);
    if (st != PLX_OK) return plx__fail_prefix(m->ctx, st, "%s = %s", key, text);
    out->values = table.dense;
    if (table.sparse) {
        PLX_TRY(plx__arena_mat(&out->values, scratch, table.csr.rows, table.csr.cols));
        plx__csr_to_dense(out->values, plx__ccsr(table.csr));
    }
    for (plx_index i = 0; i < out->values.rows; i++)
        for (plx_index j = 0; j < out->values.cols; j++) {
            double x = out->values.data[i * out->values.ld + j];
            if (!(x >= 0) || !isfinite(x))
                PLX_FAIL(m->ctx, PLX_E_DATA, "%s = %s: row %lld, column %lld: %g is no probability; use values >= 0",
                         key, text, (long long)i, (long long)j, x);
        }
    return PLX_OK;
}

plx_status plx__mvp_require_shape(mvp *m, const mvp_file *f, mvp_shape s)
{
    plx_index rows = f->values.rows, cols = f->values.cols;
    bool fits =
        (rows == s.rows || (s.more_rows && rows > s.rows)) && (cols == s.cols || (s.more_cols && cols > s.cols));
    if (fits) return PLX_OK;
    PLX_FAIL(m->ctx, PLX_E_DATA, "%s = %s: the file is %lld x %lld, expected %lld x %lld (%s)", f->key, f->text,
             (long long)rows, (long long)cols, (long long)s.rows, (long long)s.cols, s.meaning);
}
