/*
 * Label texts become numbered sets first (label_sets.c); counting then merges two ascending sets per sample. Figures
 * are ratios of counts, 0 where the denominator is 0.
 */
#include "eval/class_counts.h"

static plx_status counts_alloc(plx__class_counts *c, plx__arena *arena, const plx__codes *classes)
{
    c->classes = classes->count;
    c->names = classes->names;
    PLX_TRY(plx__arena_i64(&c->tp, arena, c->classes));
    PLX_TRY(plx__arena_i64(&c->fp, arena, c->classes));
    return plx__arena_i64(&c->fn, arena, c->classes);
}

plx_status plx__count_labels(plx__class_counts *out, plx_context *ctx, const char *const *truth,
                             const char *const *pred, plx_index n)
{
    plx__codes classes;
    int32_t *t = NULL, *p = NULL, *order = NULL;
    *out = (plx__class_counts){.n = 0};
    PLX_TRY(plx__codes_init(&classes, plx__scratch(ctx)));
    PLX_TRY(plx__encode(&t, &classes, truth, n, (plx__encode_options){.what = "truth"}));
    PLX_TRY(plx__encode(&p, &classes, pred, n, (plx__encode_options){.mask = t, .what = "prediction"}));
    PLX_TRY(plx__codes_sort(&order, &classes));
    PLX_TRY(counts_alloc(out, plx__scratch(ctx), &classes));
    for (plx_index i = 0; i < n; i++) {
        if (t[i] < 0) continue;
        out->n++;
        if (t[i] == p[i]) {
            out->tp[order[t[i]]]++;
            out->correct++;
            continue;
        }
        out->fn[order[t[i]]]++;
        if (p[i] >= 0) out->fp[order[p[i]]]++;
    }
    return PLX_OK;
}

/* Merge two ascending sets into the counts. */
static void count_pair(plx__class_counts *c, plx__set_view t, plx__set_view p)
{
    plx_index i = 0, j = 0, common = 0;
    while (i < t.count || j < p.count) {
        if (j == p.count || (i < t.count && t.ids[i] < p.ids[j])) {
            c->fn[t.ids[i++]]++;
        } else if (i == t.count || p.ids[j] < t.ids[i]) {
            c->fp[p.ids[j++]]++;
        } else {
            c->tp[t.ids[i]]++;
            common++;
            i++;
            j++;
        }
    }
    c->n++;
    c->correct += common == t.count && common == p.count;
}

static void count_all(plx__class_counts *c, const plx__label_sets *sets, const int32_t *t, const int32_t *p,
                      plx_index n)
{
    for (plx_index i = 0; i < n; i++)
        if (t[i] >= 0) count_pair(c, plx__set_at(sets, t[i]), plx__set_at(sets, p[i]));
}

static plx_status count_closed(plx__class_counts *out, plx__codes *classes, const plx__label_sets *sets,
                               const int32_t *t, const int32_t *p, plx_index n, const plx_metrics_hierarchy *hierarchy)
{
    plx__label_sets closed;
    PLX_TRY(plx__sets_close(&closed, sets, classes, hierarchy));
    PLX_TRY(counts_alloc(out, classes->map.arena, classes));
    count_all(out, &closed, t, p, n);
    return PLX_OK;
}

plx_status plx__count_sets(plx__class_counts *out, plx__class_counts *closed, plx_context *ctx,
                           const char *const *truth, const char *const *pred, plx_index n,
                           const plx_metrics_hierarchy *hierarchy)
{
    plx__arena *arena = plx__scratch(ctx);
    plx__codes texts, classes, sorted;
    plx__label_sets sets;
    int32_t *t = NULL, *p = NULL, *order = NULL, code;
    *out = (plx__class_counts){.n = 0};
    PLX_TRY(plx__codes_init(&texts, arena));
    PLX_TRY(plx__codes_init(&classes, arena));
    PLX_TRY(plx__encode(&t, &texts, truth, n, (plx__encode_options){.what = "truth"}));
    PLX_TRY(plx__encode(&p, &texts, pred, n, (plx__encode_options){.mask = t, .what = "prediction"}));
    PLX_TRY(plx__sets_split(&sets, &texts, &classes));
    PLX_TRY(plx__codes_init(&sorted, arena)); /* a copy: closing adds classes that did not occur */
    for (plx_index c = 0; c < classes.count; c++) PLX_TRY(plx__codes_add(&code, &sorted, classes.names[c]));
    if (closed) {
        *closed = (plx__class_counts){.n = 0};
        PLX_TRY(count_closed(closed, &classes, &sets, t, p, n, hierarchy));
    }
    PLX_TRY(plx__codes_sort(&order, &sorted));
    plx__sets_renumber(&sets, order);
    PLX_TRY(counts_alloc(out, arena, &sorted));
    count_all(out, &sets, t, p, n);
    return PLX_OK;
}

/* ---- figures ---- */

static double ratio(double a, double b) { return b == 0 ? 0 : a / b; }

static plx__prf prf(int64_t tp, int64_t fp, int64_t fn)
{
    plx__prf r = {ratio((double)tp, (double)(tp + fp)), ratio((double)tp, (double)(tp + fn)),
                  ratio(2 * (double)tp, (double)(2 * tp + fp + fn))};
    return r;
}

plx__prf plx__prf_class(const plx__class_counts *counts, plx_index c)
{
    return prf(counts->tp[c], counts->fp[c], counts->fn[c]);
}

plx__prf plx__prf_micro(const plx__class_counts *counts)
{
    int64_t tp = 0, fp = 0, fn = 0;
    for (plx_index c = 0; c < counts->classes; c++) {
        tp += counts->tp[c];
        fp += counts->fp[c];
        fn += counts->fn[c];
    }
    return prf(tp, fp, fn);
}

plx__prf plx__prf_macro(const plx__class_counts *counts)
{
    plx__prf mean = {0, 0, 0};
    for (plx_index c = 0; c < counts->classes; c++) {
        plx__prf r = plx__prf_class(counts, c);
        mean.precision += r.precision;
        mean.recall += r.recall;
        mean.f1 += r.f1;
    }
    double k = (double)counts->classes;
    mean = (plx__prf){ratio(mean.precision, k), ratio(mean.recall, k), ratio(mean.f1, k)};
    return mean;
}

double plx__f1_weighted(const plx__class_counts *counts)
{
    double sum = 0, weight = 0;
    for (plx_index c = 0; c < counts->classes; c++) {
        double w = (double)(counts->tp[c] + counts->fn[c]);
        sum += w * plx__prf_class(counts, c).f1;
        weight += w;
    }
    return ratio(sum, weight);
}

double plx__hamming_loss(const plx__class_counts *counts)
{
    int64_t wrong = 0;
    for (plx_index c = 0; c < counts->classes; c++) wrong += counts->fp[c] + counts->fn[c];
    return ratio((double)wrong, (double)counts->n * (double)counts->classes);
}
