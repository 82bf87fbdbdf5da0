/*
 * svmlight text with exact numbers.
 */
#include <stdio.h>
#include <string.h>

#include "core/file.h"
#include "core/number.h"
#include "io/svmlight.h"

static void write_pair(FILE *f, plx_index column, double value)
{
    char text[2 * PLX__NUMBER_BYTES];
    text[0] = ' ';
    int len = 1 + plx__print_double(text + 1, (double)(column + 1)); /* integers below 10^17 print as such */
    text[len++] = ':';
    len += plx__print_double(text + len, value);
    fwrite(text, 1, (size_t)len, f);
}

static plx_status write_label(FILE *f, plx_context *ctx, const char *path, const char *label, plx_index row)
{
    if (!label || !*label) {
        fputc('?', f);
        return PLX_OK;
    }
    if (label[strcspn(label, " \t\r\n:#")] != '\0')
        PLX_FAIL(ctx, PLX_E_DATA,
                 "%s: row %lld: label '%s' holds a blank, ':' or '#', which this format cannot; write csv instead",
                 path, (long long)row + 1, label);
    for (; *label; label++) fputc(*label == '|' ? ',' : *label, f);
    return PLX_OK;
}

static plx_status write_lines(FILE *f, plx_context *ctx, const char *path, const plx__table *t)
{
    plx_index rows = t->sparse ? t->csr.rows : t->dense.rows;
    for (plx_index i = 0; i < rows; i++) {
        if (i % 4096 == 0) PLX_TRY(plx__poll(ctx));
        PLX_TRY(write_label(f, ctx, path, t->labels ? t->labels[i] : NULL, i));
        if (t->sparse)
            for (plx_index k = t->csr.ptr[i]; k < t->csr.ptr[i + 1]; k++) write_pair(f, t->csr.col[k], t->csr.val[k]);
        for (plx_index j = 0; !t->sparse && j < t->dense.cols; j++)
            if (t->dense.data[i * t->dense.ld + j] != 0) write_pair(f, j, t->dense.data[i * t->dense.ld + j]);
        fputc('\n', f);
    }
    return PLX_OK;
}

plx_status plx__svmlight_write(plx_context *ctx, const char *path, const plx__table *table)
{
    plx_status st = PLX_OK;
    plx__outfile out = {0};
    PLX_GOTO(plx__outfile_open(&out, ctx, path));
    PLX_GOTO(write_lines(out.file, ctx, path, table));
    PLX_GOTO(plx__outfile_commit(&out, ctx));
done:
    plx__outfile_abort(&out);
    return st;
}
