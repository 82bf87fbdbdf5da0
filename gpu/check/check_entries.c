/*
 * What is done entry by entry.
 */
#include "check.h"

static void triangle_case(int64_t n, plx_device_triangle how)
{
    image a = image_random(n, n), expected = image_copy(&a), got[2];
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < i; j++) {
            if (how == PLX_DEVICE_MIRROR_LOWER) *at(&expected, j, i) = *at(&a, i, j);
            if (how == PLX_DEVICE_MIRROR_UPPER) *at(&expected, i, j) = *at(&a, j, i);
            if (how == PLX_DEVICE_CLEAR_UPPER) *at(&expected, j, i) = 0;
        }
    for (int run = 0; run < 2; run++) {
        plx_device_mat m = upload(&a);
        must(check.t->triangle(check.d, m, how));
        got[run] = download(&a, m);
    }
    compare_image(&got[0], &got[1], &a, &expected, 0, 1, false);
    case_end();
}

/* A vector as a column or a row. */
static image some_vector(int64_t n, int row) { return row ? image_random(1, n) : image_random(n, 1); }

static double item(const image *v, int64_t i) { return v->cols == 1 ? *at(v, i, 0) : *at(v, 0, i); }

static void combine_case(int64_t m, int64_t n, int what)
{
    bool in_place = what & 1, with_a = !(what & 2) || in_place, scaled = what & 4, outer = (what & 8) && m == n;
    double beta = what & 16 ? 0.5 : 0, alpha = draw(), gamma = draw(), shift = draw();
    image c = beta == 0 && !in_place ? image_poison(m, n) : image_random(m, n), a = image_random(m, n);
    image l = some_vector(m, what & 2), r = some_vector(n, !(what & 2)), u = some_vector(n, 0), v = some_vector(n, 1);
    image expected = image_copy(&c), got[2];
    for (int64_t i = 0; i < m; i++)
        for (int64_t j = 0; j < n; j++) {
            double sum = i == j ? shift : 0, x = in_place ? *at(&c, i, j) : *at(&a, i, j);
            if (with_a) sum += alpha * x * (scaled ? item(&l, i) * item(&r, j) : 1);
            if (outer) sum += gamma * (item(&u, i) * item(&v, j) + item(&v, i) * item(&u, j));
            *at(&expected, i, j) = sum + (beta == 0 ? 0 : beta * *at(&c, i, j));
        }
    for (int run = 0; run < 2; run++) {
        plx_device_mat to = upload(&c), from = in_place ? to : with_a ? upload(&a) : no_matrix();
        must(check.t->combine(check.d, beta, to, alpha, from, scaled ? upload(&l) : no_matrix(),
                              scaled ? upload(&r) : no_matrix(), gamma, outer ? upload(&u) : no_matrix(),
                              outer ? upload(&v) : no_matrix(), shift));
        got[run] = download(&c, to);
    }
    compare_image(&got[0], &got[1], &c, &expected, 1e-15, 8, false);
    case_end();
}

static void diagonal_case(int64_t n, int row)
{
    image a = image_random(n, n), v = some_vector(n, row), set = image_copy(&a), taken = image_copy(&v);
    for (int64_t i = 0; i < n; i++) {
        *at(&set, i, i) = item(&v, i);
        *(row ? at(&taken, 0, i) : at(&taken, i, 0)) = *at(&a, i, i);
    }
    plx_device_mat m = upload(&a), to = upload(&v), source = upload(&v);
    must(check.t->diagonal(check.d, m, to, 0));
    image got_v = download(&v, to);
    must(check.t->diagonal(check.d, m, source, 1));
    image got_m = download(&a, m);
    compare_image(&got_v, NULL, &v, &taken, 0, 1, false);
    compare_image(&got_m, NULL, &a, &set, 0, 1, false);
    case_end();
}

static void norms_case(int64_t m, int64_t n, int row)
{
    image a = image_random(m, n), v = some_vector(m, row), expected = image_copy(&v), got[2];
    for (int64_t i = 0; i < m; i++) {
        double sum = 0;
        for (int64_t j = 0; j < n; j++) sum += *at(&a, i, j) * *at(&a, i, j);
        *(row ? at(&expected, 0, i) : at(&expected, i, 0)) = sum;
    }
    for (int run = 0; run < 2; run++) {
        plx_device_mat to = upload(&v);
        must(check.t->row_norms_sq(check.d, upload(&a), to));
        got[run] = download(&v, to);
    }
    compare_image(&got[0], &got[1], &v, &expected, 1e-15, (double)n + 1, false);
    case_end();
}

static int64_t *some_numbers(int64_t count, int64_t below, bool distinct)
{
    int64_t *out = keep_bytes((size_t)(count + 1) * sizeof *out), taken = 0;
    for (int64_t i = 0; i < count; i++) out[i] = draw_below(below);
    for (int64_t i = 0; distinct && i < below && taken < count; i++) /* ascending */
        if (draw_below(below - i) < count - taken) out[taken++] = i;
    return out;
}

static void gather_case(int64_t m, int64_t n, int which)
{
    image a = image_random(m + 3, n + 5), out = image_poison(m, n), expected = image_copy(&out), got[2];
    int64_t *row = which & 1 ? some_numbers(m, m + 3, false) : NULL;
    int64_t *col = which & 2 ? some_numbers(n, n + 5, false) : NULL;
    for (int64_t i = 0; i < m; i++)
        for (int64_t j = 0; j < n; j++) *at(&expected, i, j) = *at(&a, row ? row[i] : i, col ? col[j] : j);
    for (int run = 0; run < 2; run++) {
        plx_device_mat to = upload(&out);
        must(check.t->gather(check.d, to, upload(&a), upload_bytes(row, m * 8), upload_bytes(col, n * 8)));
        got[run] = download(&out, to);
    }
    compare_image(&got[0], &got[1], &out, &expected, 0, 1, false);
    case_end();
}

static void scatter_case(int64_t n)
{
    image a = image_random(n, n), out = image_random(n + 7, n + 7), expected = image_copy(&out), got[2];
    int64_t *row = some_numbers(n, n + 7, true);
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j <= i; j++) *at(&expected, row[i], row[j]) += *at(&a, i, j);
    for (int run = 0; run < 2; run++) {
        plx_device_mat to = upload(&out);
        must(check.t->scatter_add(check.d, to, upload_bytes(row, n * 8), upload(&a)));
        got[run] = download(&out, to);
    }
    compare_image(&got[0], &got[1], &out, &expected, 0, 1, false);
    case_end();
}

static void dot_case(int64_t m, int64_t n)
{
    image a = image_random(m, n), b = image_random(m, n);
    double got[2] = {NAN, NAN}, expected = 0;
    for (int64_t i = 0; i < m; i++)
        for (int64_t j = 0; j < n; j++) expected += *at(&a, i, j) * *at(&b, i, j);
    for (int run = 0; run < 2; run++) must(check.t->dot(check.d, upload(&a), upload(&b), &got[run]));
    compare_bytes(&got[0], &got[1], sizeof got[0], "the second run");
    compare_values(&got[0], &expected, 1, 1e-15, (double)(m * n) + 1);
    case_end();
}

void check_entries(void)
{
    int count;
    const int64_t *size = check_sizes(&count);
    if (begin_operation("triangle")) {
        for (int n = 0; n < count; n++)
            for (int how = 0; how < 3; how++) triangle_case(size[n], (plx_device_triangle)how);
        end_operation();
    }
    if (begin_operation("combine")) {
        for (int m = 0; m < count; m++)
            for (int what = 0; what < 32; what++) combine_case(size[m], size[(m + what) % 3 ? m : count - 1 - m], what);
        end_operation();
    }
    if (begin_operation("diagonal")) {
        for (int n = 0; n < count; n++)
            for (int row = 0; row < 2; row++) diagonal_case(size[n], row);
        end_operation();
    }
    if (begin_operation("row_norms_sq")) {
        for (int m = 0; m < count; m++)
            for (int n = 0; n < count; n++) norms_case(size[m], size[n], m % 2);
        end_operation();
    }
    if (begin_operation("gather")) {
        for (int m = 0; m < count; m++)
            for (int which = 0; which < 4; which++) gather_case(size[m], size[count - 1 - m], which);
        end_operation();
    }
    if (begin_operation("scatter_add")) {
        for (int n = 0; n < count; n++) scatter_case(size[n]);
        end_operation();
    }
    if (begin_operation("dot")) {
        for (int m = 0; m < count; m++)
            for (int n = 0; n < count; n++) dot_case(size[m], size[n]);
        end_operation();
    }
}
