/*
 * Matrix Market files with exact numbers.
 */
#include <stdio.h>
#include <string.h>

#include "core/file.h"
#include "core/number.h"
#include "io/mtx.h"

enum { POLL_EVERY = 1 << 16 };

static void write_number(FILE *f, double value, char behind)
{
    char text[PLX__NUMBER_BYTES + 1];
    int len = plx__print_double(text, value);
    text[len] = behind;
    fwrite(text, 1, (size_t)len + 1, f);
}

static plx_status write_entries(FILE *f, plx_context *ctx, const plx_csr *m)
{
    fprintf(f, "%%%%MatrixMarket matrix coordinate real general\n%lld %lld %lld\n", (long long)m->rows,
            (long long)m->cols, (long long)m->ptr[m->rows]);
    for (plx_index i = 0; i < m->rows; i++) {
        if (i % POLL_EVERY == 0) PLX_TRY(plx__poll(ctx));
        for (plx_index k = m->ptr[i]; k < m->ptr[i + 1]; k++) {
            write_number(f, (double)(i + 1), ' '); /* integers below 10^17 print as such */
            write_number(f, (double)m->col[k] + 1, ' ');
            write_number(f, m->val[k], '\n');
        }
    }
    return PLX_OK;
}

static plx_status write_array(FILE *f, plx_context *ctx, const plx_mat *m)
{
    fprintf(f, "%%%%MatrixMarket matrix array real general\n%lld %lld\n", (long long)m->rows, (long long)m->cols);
    for (plx_index j = 0; j < m->cols; j++) {
        PLX_TRY(plx__poll(ctx));
        for (plx_index i = 0; i < m->rows; i++) write_number(f, m->data[i * m->ld + j], '\n');
    }
    return PLX_OK;
}

plx_status plx__mtx_write(plx_context *ctx, const char *path, const plx__table *table)
{
    plx_status st = PLX_OK;
    plx__outfile out = {0};
    PLX_GOTO(plx__outfile_open(&out, ctx, path));
    PLX_GOTO(table->sparse ? write_entries(out.file, ctx, &table->csr) : write_array(out.file, ctx, &table->dense));
    PLX_GOTO(plx__outfile_commit(&out, ctx));
done:
    plx__outfile_abort(&out);
    return st;
}
