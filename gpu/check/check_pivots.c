/*
 * Panels of a pivoted Cholesky factorisation.
 */
#include "check.h"

typedef struct factored {
    int64_t pivot[80], found;
    double left;
} factored;

/* Rows of unit length have residuals that tie; the last repeats the first. */
static image gram(int64_t n, int64_t rank, bool unit)
{
    image x = image_random(n, rank), k = image_random(n, n);
    for (int64_t i = 0; i < n; i++) {
        double square = 0;
        for (int64_t c = 0; c < rank; c++) {
            if (i == n - 1) *at(&x, i, c) = *at(&x, 0, c);
            square += *at(&x, i, c) * *at(&x, i, c);
        }
        for (int64_t c = 0; unit && c < rank; c++) *at(&x, i, c) /= sqrt(square);
    }
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < n; j++) {
            double sum = 0;
            for (int64_t c = 0; c < rank; c++) sum += *at(&x, i, c) * *at(&x, j, c);
            *at(&k, i, j) = sum;
        }
    return k;
}

static double sum_of(const image *residual)
{
    double sum = 0;
    for (int64_t i = 0; i < residual->rows; i++) sum += fmax(*at(residual, i, 0), 0);
    return sum;
}

static int64_t next_pivot(const image *residual, const plx_device_pivots *step)
{
    double top = 0;
    int64_t p = 0;
    for (int64_t i = 0; i < residual->rows; i++) top = fmax(top, *at(residual, i, 0));
    if (!(top > 0) || top <= step->least || sum_of(residual) <= step->least_sum) return -1;
    double ties = top - 1e-12 * top - 1e-15 * step->first;
    while (!(*at(residual, p, 0) > 0 && *at(residual, p, 0) >= ties)) p++;
    return p;
}

static void plain_panel(const image *k, image *columns, image *residual, const plx_device_pivots *step, factored *out)
{
    for (out->found = 0; out->found < columns->rows; out->found++) {
        int64_t t = out->found, p = next_pivot(residual, step);
        if (p < 0) break;
        double root = sqrt(*at(residual, p, 0));
        for (int64_t i = 0; i < k->rows; i++) {
            double sum = *at(k, i, p), *left = at(residual, i, 0);
            for (int64_t u = 0; u < t; u++) sum -= *at(columns, u, i) * *at(columns, u, p);
            *at(columns, t, i) = *left < 0 ? 0 : i == p ? root : sum / root;
            if (*left >= 0) *left = i == p ? -1 : fmax(*left - sum / root * (sum / root), 0);
        }
        out->pivot[t] = p;
    }
    out->left = sum_of(residual);
}

static void pivots_case(int64_t n, int64_t most, int what)
{
    image k = gram(n, 9, what & 1), columns = image_random(most, n), residual = image_random(n, 1);
    residual.ld = 1;
    double total = 0, first = 0;
    for (int64_t i = 0; i < n; i++) {
        *at(&residual, i, 0) = i % 11 == 5 ? -1 : *at(&k, i, i);
        first = fmax(first, *at(&k, i, i));
        total += *at(&k, i, i);
    }
    plx_device_pivots step = {.struct_size = sizeof step, .first = first, .least = what & 2 ? 0.3 * first : 1e-9};
    step.least_sum = what & 4 ? 0.5 * total : -1;
    factored expected, got[2];
    image expected_columns = image_copy(&columns), expected_residual = image_copy(&residual), c[2], r[2];
    plain_panel(&k, &expected_columns, &expected_residual, &step, &expected);
    for (int run = 0; run < 2; run++) {
        step.k = upload(&k);
        step.columns = upload(&columns);
        step.residual = upload(&residual);
        step.pivot = got[run].pivot;
        step.found = &got[run].found;
        step.left = &got[run].left;
        must(check.t->pivots(check.d, &step));
        c[run] = download(&columns, step.columns);
        r[run] = download(&residual, step.residual);
    }
    if (got[0].found != expected.found)
        fail_case("%lld pivots, not %lld", (long long)got[0].found, (long long)expected.found);
    compare_bytes(got[0].pivot, expected.pivot, expected.found * 8, "the pivots");
    compare_bytes(&got[0].left, &got[1].left, 8, "what is left");
    compare_values(&got[0].left, &expected.left, 1, 1e-12, total);
    compare_image(&c[0], &c[1], &columns, &expected_columns, 1e-9, 1, false);
    compare_image(&r[0], &r[1], &residual, &expected_residual, 1e-12, first, false);
    case_end();
}

void check_pivots(void)
{
    int count;
    const int64_t *size = check_sizes(&count);
    if (!begin_operation("pivots")) return;
    for (int n = 1; n < count; n++)
        for (int what = 0; what < 8; what++) {
            pivots_case(size[n], 5, what);
            pivots_case(size[n], 64, what);
        }
    end_operation();
}
