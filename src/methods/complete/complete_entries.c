/*
 * How well single entries are filled: in rows that were hidden while everything was learned, a share of the entries is
 * taken away and filled from the others, as entries that are missing from the beginning are.
 */
#include <math.h>
#include <string.h>

#include "core/rng.h"
#include "methods/complete/complete_impl.h"

enum { MOST_ROWS = 200 };

typedef struct holed { /* some rows of a view, entries taken away */
    const complete *c;
    plx_index v, n;
    plx_mat truth, x; /* n x d in units of the data; x is NaN where an entry is missing or taken away */
    plx__view view;   /* x as a view */
    complete_rows rows;
} holed;

/* Row i as numbers; single missing entries are NaN. */
static void read_row(double *out, const plx__view *view, plx_index i)
{
    if (!view->sparse) {
        memcpy(out, view->dense.data + i * view->dense.ld, (size_t)view->cols * sizeof *out);
        return;
    }
    memset(out, 0, (size_t)view->cols * sizeof *out);
    for (int64_t e = view->csr.ptr[i]; e < view->csr.ptr[i + 1]; e++) out[view->csr.col[e]] = view->csr.val[e];
}

static void take_entries(holed *h, const plx__view *view, const plx_index *row)
{
    const complete *c = h->c;
    for (plx_index k = 0; k < h->n; k++) {
        double *truth = h->truth.data + k * h->truth.ld, *x = h->x.data + k * h->x.ld;
        uint64_t first = (uint64_t)c->run->problem->row[row[k]] * (uint64_t)view->cols;
        read_row(truth, view, row[k]);
        for (plx_index e = 0; e < view->cols; e++) {
            double draw = plx__rng_uniform(c->ctx->seed, PLX__STREAM('h', 'o', 'l', 'e', h->v), first + (uint64_t)e);
            x[e] = draw < c->set->hide ? NAN : truth[e];
        }
    }
}

/* The rows with the views they had while learning, and this one with its holes. */
static plx_status open_rows(holed *h, const plx_index *row, const uint8_t *left)
{
    const complete *c = h->c;
    const complete_view *own = &c->views[h->v];
    plx_mat z;
    uint8_t *seen = NULL;
    double *x = NULL;
    PLX_TRY(plx__arena_mat(&z, plx__scratch(c->ctx), h->n, c->dims));
    PLX_TRY(plx__arena_u8(&seen, plx__scratch(c->ctx), h->n * c->m));
    PLX_TRY(plx__arena_f64(&x, plx__scratch(c->ctx), own->d, 1));
    for (plx_index k = 0; k < h->n; k++) {
        memcpy(z.data + k * z.ld, c->z.data + row[k] * c->z.ld, (size_t)c->dims * sizeof(double));
        memcpy(seen + k * c->m, left + row[k] * c->m, (size_t)c->m);
        seen[k * c->m + h->v] = 1;
        plx__complete_row(x, own, &h->view, k);
        for (plx_index e = 0; e < own->r; e++)
            z.data[k * z.ld + own->at + e] = plx__dot(x, own->basis.data + e * own->basis.ld, own->d);
    }
    h->rows = (complete_rows){h->n, plx__cmat(z), seen};
    return PLX_OK;
}

static plx_status open_holed(holed *h, const plx__view *view, const plx_index *row, const uint8_t *left)
{
    plx__arena *scratch = plx__scratch(h->c->ctx);
    PLX_TRY(plx__arena_mat(&h->truth, scratch, h->n, view->cols));
    PLX_TRY(plx__arena_mat(&h->x, scratch, h->n, view->cols));
    take_entries(h, view, row);
    h->view = (plx__view){.name = view->name,
                          .kind = view->kind,
                          .dense = plx__cmat(h->x),
                          .cols = view->cols,
                          .missing_values = h->n * view->cols};
    return open_rows(h, row, left);
}

/* Squared errors of the entries that were taken away, standardised; and those of the column means. */
static void add_errors(double *square, double *mean, const holed *h, plx_index k, const double *value)
{
    const complete_view *own = &h->c->views[h->v];
    for (plx_index e = 0; e < own->d; e++) {
        double truth = h->truth.data[k * h->truth.ld + e];
        if (isnan(truth) || !isnan(h->x.data[k * h->x.ld + e])) continue;
        *square += pow((value[e] - truth) / own->sd[e], 2);
        *mean += pow((own->mean[e] - truth) / own->sd[e], 2);
    }
}

plx_status plx__complete_entry_error(double *out, const complete *c, plx_index v, const plx__view *view,
                                     const plx_index *row, plx_index count, const uint8_t *left)
{
    plx__mark mark = plx__arena_mark(plx__scratch(c->ctx));
    holed h = {.c = c, .v = v, .n = plx__min(count, MOST_ROWS)};
    plx_index *all = NULL;
    double *value = NULL, square = 0, mean = 0;
    plx_mat z;
    PLX_TRY(open_holed(&h, view, row, left));
    PLX_TRY(plx__arena_mat(&z, plx__scratch(c->ctx), h.n, c->views[v].r));
    PLX_TRY(plx__arena_i64(&all, plx__scratch(c->ctx), h.n));
    PLX_TRY(plx__arena_f64(&value, plx__scratch(c->ctx), view->cols, 2));
    for (plx_index k = 0; k < h.n; k++) all[k] = k;
    PLX_TRY(plx__complete_predict(z, c, v, &c->views[v].choice, &h.rows, all, h.n));
    for (plx_index k = 0; k < h.n; k++) {
        plx__mark inner = plx__arena_mark(plx__scratch(c->ctx));
        PLX_TRY(plx__complete_fill_sample(value, value + view->cols, c, v, &h.view, &h.rows, k, z.data + k * z.ld));
        add_errors(&square, &mean, &h, k, value);
        plx__arena_rewind(plx__scratch(c->ctx), inner);
        PLX_TRY(plx__poll(c->ctx));
    }
    *out = mean > 0 ? sqrt(square / mean) : NAN;
    plx__arena_rewind(plx__scratch(c->ctx), mark);
    return PLX_OK;
}
