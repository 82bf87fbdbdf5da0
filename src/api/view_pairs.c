/*
 * Two views side by side: do they say the same, do they err together, do they hold the same.
 */
#include <math.h>
#include <string.h>

#include "api/views_impl.h"
#include "eval/contingency.h"
#include "eval/special.h"
#include "linalg/eigen.h"

/* ---- what their classifiers say ---- */

/* Agreement and Cohen's kappa over samples that both answer. */
static void compare_answers(plx__view_report *r, plx__pair_facts *p)
{
    const char **a = r->facts[p->a].answer, **b = r->facts[p->b].answer;
    double same = 0, count = 0, chance = 0;
    if (!a || !b) return;
    for (plx_index i = 0; i < r->data->n; i++) {
        if (!a[i] || !b[i]) continue;
        same += strcmp(a[i], b[i]) == 0;
        count++;
    }
    if (count == 0) return;
    for (plx_index c = 0; c < r->data->n_classes; c++) {
        double in_a = 0, in_b = 0;
        for (plx_index i = 0; i < r->data->n; i++) {
            if (!a[i] || !b[i]) continue;
            in_a += a[i] == r->data->classes[c];
            in_b += b[i] == r->data->classes[c];
        }
        chance += in_a / count * in_b / count;
    }
    p->agreement = same / count;
    p->kappa = chance < 1 ? (p->agreement - chance) / (1 - chance) : 1;
}

/* Right or wrong, of both views, in one class: n[right by a][right by b]. */
static void count_errors(double n[2][2], const plx__view_report *r, const plx__pair_facts *p, const char *name)
{
    const char **a = r->facts[p->a].answer, **b = r->facts[p->b].answer;
    memset(n, 0, 4 * sizeof n[0][0]);
    for (plx_index i = 0; i < r->data->n; i++)
        if (a[i] && b[i] && strcmp(r->classes[i], name) == 0) n[strcmp(a[i], name) == 0][strcmp(b[i], name) == 0]++;
}

/* Mantel and Haenszel over the classes: given its class, is a sample that one view gets wrong more often got wrong by the
 * other too? Chi-square with continuity correction, one degree of freedom. */
static void test_errors(plx__view_report *r, plx__pair_facts *p)
{
    double seen = 0, expected = 0, variance = 0, up = 0, down = 0;
    if (!r->facts[p->a].answer || !r->facts[p->b].answer) return;
    for (plx_index c = 0; c < r->data->n_classes; c++) {
        double n[2][2];
        count_errors(n, r, p, r->data->classes[c]);
        double wrong_a = n[0][0] + n[0][1], wrong_b = n[0][0] + n[1][0];
        double right_a = n[1][0] + n[1][1], right_b = n[0][1] + n[1][1], all = wrong_a + right_a;
        if (all < 2) continue;
        seen += n[0][0];
        expected += wrong_a * wrong_b / all;
        variance += wrong_a * right_a * wrong_b * right_b / (all * all * (all - 1));
        up += n[0][0] * n[1][1] / all;
        down += n[0][1] * n[1][0] / all;
    }
    if (down > 0) p->odds = up / down;
    if (!(variance > 0)) return;
    double off = fmax(0, fabs(seen - expected) - 0.5);
    p->p = plx__chi_square_upper(off * off / variance, 1);
}

/* ---- what they hold ---- */

static plx_status compare_clusters(plx__view_report *r, plx__pair_facts *p)
{
    const char **a = r->facts[p->a].cluster, **b = r->facts[p->b].cluster, **x = NULL, **y = NULL;
    plx_index count = 0;
    plx__contingency t;
    if (!a || !b) return PLX_OK;
    PLX_TRY(PLX__ARENA_NEW(&x, plx__scratch(r->ctx), r->data->n));
    PLX_TRY(PLX__ARENA_NEW(&y, plx__scratch(r->ctx), r->data->n));
    for (plx_index i = 0; i < r->data->n; i++)
        if (a[i] && b[i]) {
            x[count] = a[i];
            y[count++] = b[i];
        }
    if (count == 0) return PLX_OK;
    PLX_TRY(plx__contingency_make(&t, r->ctx, (const char *const *)x, (const char *const *)y, count, false));
    double geometric = 0;
    p->mutual = plx__nmi(&t, &geometric);
    return PLX_OK;
}

/* Rows of the samples that have both views, columns centred and made orthonormal. */
static plx_status common_directions(plx_mat *out, plx__view_report *r, const plx__pair_facts *p, plx_cmat d)
{
    plx_index row = 0;
    plx_mat triangle;
    PLX_TRY(plx__arena_mat(out, plx__scratch(r->ctx), p->both, d.cols));
    for (plx_index i = 0; i < r->data->n; i++) {
        if (!r->data->views[p->a].present[i] || !r->data->views[p->b].present[i]) continue;
        memcpy(out->data + row++ * out->ld, d.data + i * d.ld, (size_t)d.cols * sizeof(double));
    }
    for (plx_index j = 0; j < d.cols; j++) {
        double mean = 0;
        for (plx_index i = 0; i < p->both; i++) mean += out->data[i * out->ld + j] / (double)p->both;
        for (plx_index i = 0; i < p->both; i++) out->data[i * out->ld + j] -= mean;
    }
    PLX_TRY(plx__arena_mat(&triangle, plx__scratch(r->ctx), d.cols, d.cols));
    return plx__qr(r->ctx, *out, triangle);
}

/* Canonical correlations are the singular values of Qa'Qb. */
static plx_status correlate(plx__view_report *r, plx__pair_facts *p)
{
    plx_mat da = r->facts[p->a].direction, db = r->facts[p->b].direction, a, b, cross, u, vt;
    plx_index ka = da.cols, kb = db.cols, least = plx__min(ka, kb);
    double sum = 0;
    if (least < 1 || p->both < ka + kb + 2) return PLX_OK;
    PLX_TRY(common_directions(&a, r, p, plx__cmat(da)));
    PLX_TRY(common_directions(&b, r, p, plx__cmat(db)));
    PLX_TRY(plx__arena_mat(&cross, plx__scratch(r->ctx), ka, kb));
    PLX_TRY(plx__arena_mat(&u, plx__scratch(r->ctx), ka, least));
    PLX_TRY(plx__arena_mat(&vt, plx__scratch(r->ctx), least, kb));
    PLX_TRY(plx__arena_f64(&p->spectrum, plx__scratch(r->ctx), least, 1));
    for (plx_index i = 0; i < p->both; i++)
        for (plx_index j = 0; j < ka; j++)
            for (plx_index k = 0; k < kb; k++)
                cross.data[j * cross.ld + k] += a.data[i * a.ld + j] * b.data[i * b.ld + k];
    PLX_TRY(plx__svd(r->ctx, cross, u, p->spectrum, vt));
    p->n_spectrum = least;
    for (plx_index k = 0; k < least; k++) sum += p->spectrum[k] = fmin(1, p->spectrum[k]);
    p->largest = p->spectrum[0];
    p->mean = sum / (double)least;
    return PLX_OK;
}

plx_status plx__view_pair(plx__view_report *r, plx__pair_facts *p)
{
    const uint8_t *a = r->data->views[p->a].present, *b = r->data->views[p->b].present;
    p->agreement = p->kappa = p->odds = p->p = p->mutual = p->largest = p->mean = NAN;
    for (plx_index i = 0; i < r->data->n; i++) p->both += a[i] && b[i];
    compare_answers(r, p);
    test_errors(r, p);
    PLX_TRY(compare_clusters(r, p));
    return correlate(r, p);
}
