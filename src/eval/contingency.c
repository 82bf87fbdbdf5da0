/*
 * Clustering figures from the contingency table n_kc of clusters k and classes c.
 *
 * Counts are whole numbers in doubles, exact up to 2^53; pairs of up to 10^8 samples are too.
 */
#include "eval/contingency.h"

#include <math.h>
#include <string.h>

#include "eval/cluster_match.h"

/* Codes of clusters. A prediction of `?` is a cluster of its own, as `noise` is unless it is dropped. */
static plx_status encode_clusters(int32_t **out, plx__codes *names, const char *const *clusters, plx_index n,
                                  int32_t *truth, bool drop_noise)
{
    plx__encode_options options = {.mask = truth, .unknown_is_name = true, .what = "cluster"};
    if (drop_noise)
        for (plx_index i = 0; i < n; i++)
            if (clusters[i] && strcmp(clusters[i], "noise") == 0) truth[i] = -1;
    return plx__encode(out, names, clusters, n, options);
}

plx_status plx__contingency_make(plx__contingency *out, plx_context *ctx, const char *const *truth,
                                 const char *const *clusters, plx_index n, bool drop_noise)
{
    plx__arena *arena = plx__scratch(ctx);
    plx__codes classes, names;
    int32_t *t = NULL, *k = NULL;
    *out = (plx__contingency){.n = 0};
    PLX_TRY(plx__codes_init(&classes, arena));
    PLX_TRY(plx__codes_init(&names, arena));
    PLX_TRY(plx__encode(&t, &classes, truth, n, (plx__encode_options){.what = "truth"}));
    PLX_TRY(encode_clusters(&k, &names, clusters, n, t, drop_noise));
    PLX_TRY(plx__need_memory(ctx, 8.0 * (double)names.count * (double)classes.count,
                             "the table of clusters and classes", "merge small clusters or raise the memory limit"));
    PLX_TRY(plx__arena_mat(&out->counts, arena, names.count, classes.count));
    PLX_TRY(plx__arena_f64(&out->cluster_size, arena, names.count, 1));
    PLX_TRY(plx__arena_f64(&out->class_size, arena, classes.count, 1));
    for (plx_index i = 0; i < n; i++) {
        if (t[i] < 0) continue;
        out->n++;
        out->counts.data[k[i] * out->counts.ld + t[i]]++;
        out->cluster_size[k[i]]++;
        out->class_size[t[i]]++;
    }
    return PLX_OK;
}

static double count_at(const plx__contingency *t, plx_index k, plx_index c)
{
    return t->counts.data[k * t->counts.ld + c];
}

/* ---- information ---- */

static double entropy(const double *size, plx_index groups, double n)
{
    double h = 0;
    for (plx_index g = 0; g < groups; g++)
        if (size[g] > 0) h += size[g] / n * log(n / size[g]);
    return h;
}

static double mutual_information(const plx__contingency *t)
{
    double n = (double)t->n, sum = 0;
    for (plx_index k = 0; k < t->counts.rows; k++)
        for (plx_index c = 0; c < t->counts.cols; c++) {
            double both = count_at(t, k, c);
            if (both > 0) sum += both / n * log(n / t->class_size[c] * (both / t->cluster_size[k]));
        }
    return fmax(sum, 0);
}

/* 2 I / (H(T) + H(P)); *geometric = I / sqrt(H(T) H(P)). Two trivial partitions agree: 1. */
double plx__nmi(const plx__contingency *t, double *geometric)
{
    double n = (double)t->n, shared = mutual_information(t);
    double truth = entropy(t->class_size, t->counts.cols, n), found = entropy(t->cluster_size, t->counts.rows, n);
    if (truth == 0 && found == 0) return *geometric = 1;
    *geometric = truth == 0 || found == 0 ? 0 : fmin(1, shared / sqrt(truth * found));
    return fmin(1, 2 * shared / (truth + found));
}

/* sum_k n_k/n H(class | k), in bits. */
double plx__cluster_entropy(const plx__contingency *t)
{
    double sum = 0;
    for (plx_index k = 0; k < t->counts.rows; k++) {
        double size = t->cluster_size[k];
        for (plx_index c = 0; c < t->counts.cols; c++) {
            double both = count_at(t, k, c);
            if (both > 0) sum += both * log2(size / both);
        }
    }
    return sum / (double)t->n;
}

double plx__purity(const plx__contingency *t)
{
    double sum = 0;
    for (plx_index k = 0; k < t->counts.rows; k++) {
        double most = 0;
        for (plx_index c = 0; c < t->counts.cols; c++) most = fmax(most, count_at(t, k, c));
        sum += most;
    }
    return sum / (double)t->n;
}

/* ---- pairs ---- */

static double choose2(double n) { return n * (n - 1) / 2; }

plx__pair_counts plx__count_pairs(const plx__contingency *t)
{
    double both = 0, clusters = 0, classes = 0;
    for (plx_index k = 0; k < t->counts.rows; k++) {
        clusters += choose2(t->cluster_size[k]);
        for (plx_index c = 0; c < t->counts.cols; c++) both += choose2(count_at(t, k, c));
    }
    for (plx_index c = 0; c < t->counts.cols; c++) classes += choose2(t->class_size[c]);
    plx__pair_counts p = {both, clusters - both, classes - both, choose2((double)t->n)};
    return p;
}

double plx__pair_f(plx__pair_counts p)
{
    double wanted = 2 * p.tp + p.fp + p.fn;
    return wanted == 0 ? 1 : 2 * p.tp / wanted;
}

/* (tp - e) / ((a + b)/2 - e), e = a b / C(n,2). The denominator vanishes only when both partitions are all
 * singletons or both are one group: then they are equal. */
double plx__ari(plx__pair_counts p)
{
    double a = p.tp + p.fp, b = p.tp + p.fn;
    if ((a == 0 && b == 0) || (a == p.all && b == p.all)) return 1;
    double expected = a * (b / p.all);
    return (p.tp - expected) / ((a + b) / 2 - expected);
}

plx_status plx__cluster_accuracy(double *out, plx_context *ctx, const plx__contingency *t)
{
    PLX_TRY(plx__match_clusters(out, ctx, plx__cmat(t->counts)));
    *out /= (double)t->n;
    return PLX_OK;
}
