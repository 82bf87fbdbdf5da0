/*
 * What comes from the reading process (io/dataset_stream.h): two bytes say which rows were asked for, the rest is the
 * stream. Nothing of it is believed: what is taken must hold together and be no more than was asked for.
 */
#include <unistd.h>

#include "data/divided.h"
#include "fuzz.h"
#include "io/dataset_stream.h"

/* 0: all rows; else a run of them. */
static plx__row_share share_of(const uint8_t *data)
{
    return data[0] ? (plx__row_share){.run = true, .begin = data[0] - 1, .end = data[1]} : (plx__row_share){0};
}

static void check_view(plx_context *ctx, const plx__view *v, plx_index n)
{
    plx_index begin = 0, end = 0, present = 0;
    double sum = 0;
    bool some = plx__share_wanted(&begin, &end, ctx, n);
    for (plx_index i = 0; i < n; i++) present += v->present[i] != 0;
    FUZZ_CHECK(v->cols >= 1 && (v->divided || present == v->present_count));
    if (v->divided) FUZZ_CHECK(some && v->begin == begin && v->end == end);
    for (plx_index i = plx__held_begin(v); i < plx__held_end(v, n); i++) {
        for (plx_index j = 0; !v->sparse && j < v->cols; j++) sum += v->dense.data[i * v->dense.ld + j];
        for (int64_t p = v->sparse ? v->csr.ptr[i] : 0; v->sparse && p < v->csr.ptr[i + 1]; p++) {
            FUZZ_CHECK(v->csr.col[p] >= 0 && v->csr.col[p] < v->cols);
            sum += v->csr.val[p];
        }
    }
    for (plx_index i = 0; v->sparse && v->divided && i < n; i++)
        FUZZ_CHECK(plx__holds(v, i) || v->csr.ptr[i] == v->csr.ptr[i + 1]);
    volatile double used = sum;
    (void)used;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    FILE *f = size < 2 ? NULL : tmpfile();
    plx_dataset *d = NULL;
    plx__stream_end end = PLX__STREAM_CUT;
    if (!f) return 0;
    plx_context *ctx = fuzz_context();
    int fd = fileno(f);
    if (write(fd, data + 2, size - 2) != (ssize_t)(size - 2) || lseek(fd, 0, SEEK_SET) != 0) abort();
    ctx->share = share_of(data);
    plx_status st = plx__dataset_receive(&d, &end, ctx, fd);
    FUZZ_CHECK((st == PLX_OK) == (d != NULL));
    for (plx_index v = 0; d && v < d->n_views; v++) check_view(ctx, &d->views[v], d->n);
    plx__dataset_destroy(d);
    plx_context_destroy(ctx);
    fclose(f);
    return 0;
}
