/*
 * Sparse products and the sweeps of coem, mvkmeans and mvplsa.
 */
#include "check.h"

static const int64_t WIDTHS[] = {1, 2, 3, 8, 13, 16, 20, 32, 33, 64, 100, 200, 300};
enum { N_WIDTHS = 13 };

/* The matrix number `which`: empty, small, and with rows and columns beyond what one warp takes. */
static sparse some_matrix(int which, bool counts)
{
    static const int64_t shapes[][2] = {{0, 3}, {3, 0}, {1, 1}, {40, 33}, {33, 300}, {300, 17}, {20, 9000}, {9000, 20}};
    return sparse_random(shapes[which][0], shapes[which][1], 0.2, counts);
}

static int n_shapes(void) { return check.small ? 6 : 8; }

/* One like large sets of texts: many rows, few columns that have most of the entries. */
static sparse crowded_matrix(bool counts)
{
    return check.small ? sparse_crowded(400, 90, 9, counts) : sparse_crowded(600000, 20000, 12, counts);
}

/* How a matrix is made that is swept with tables of so many columns. */
static int sweep_flags(int64_t width, bool few)
{
    return PLX_DEVICE_BOTH_WAYS | (few && width <= PLX_DEVICE_FEW ? PLX_DEVICE_FEW_COLUMNS : 0);
}

static const int64_t FEW_WIDTHS[] = {1, 2, 3, 4, 7, 8};
enum { N_FEW = 6 };

/* ---- products ---- */

static void spmm_case(sparse x, int64_t width, int flip, double beta, bool both)
{
    const int64_t rows = x.rows, cols = x.cols;
    int64_t m = flip ? cols : rows, k = flip ? rows : cols;
    image b = image_random(k, width), c = beta == 0 ? image_poison(m, width) : image_random(m, width), got[2];
    image expected = image_copy(&c);
    for (int64_t i = 0; i < m; i++)
        for (int64_t j = 0; j < width; j++) *at(&expected, i, j) = beta == 0 ? 0 : beta * *at(&c, i, j);
    for (int64_t i = 0; i < rows; i++)
        for (int64_t e = x.ptr[i]; e < x.ptr[i + 1]; e++)
            for (int64_t j = 0; j < width; j++)
                *at(&expected, flip ? x.col[e] : i, j) += 0.5 * x.val[e] * *at(&b, flip ? i : x.col[e], j);
    plx_device_csr *a = upload_csr(&x, flip || both ? sweep_flags(width, both) : 0);
    for (int run = 0; run < 2; run++) {
        plx_device_mat to = upload(&c), from = upload(&b);
        peak_begin();
        must(check.t->spmm(check.d, 0.5, a, flip ? PLX_DEVICE_TRANSPOSED : PLX_DEVICE_PLAIN, from, beta, to));
        peak_end(check.t->workspace(check.d, PLX_DEVICE_OP_SWEEP, rows, x.ptr[rows], width));
        got[run] = download(&c, to);
    }
    compare_image(&got[0], &got[1], &c, &expected, 1e-15, 10.0 * (double)k + 10, false);
    case_end();
}

static int32_t *some_labels(int64_t n, int64_t k, int64_t none)
{
    int32_t *out = keep_bytes((size_t)(n + 1) * 4);
    for (int64_t i = 0; i < n; i++) out[i] = (int32_t)(draw_below(k + none) - none);
    return out;
}

static double *some_factors(int64_t n, bool wanted)
{
    double *out = keep_bytes((size_t)(n + 1) * 8);
    for (int64_t i = 0; i < n; i++) out[i] = 1.5 + draw();
    return wanted ? out : NULL;
}

static void class_sums_case(sparse x, int64_t k, bool scaled)
{
    const int64_t rows = x.rows, cols = x.cols;
    int32_t *label = some_labels(rows, k + 1, 1); /* -1 and k are passed over */
    double *factor = some_factors(rows, scaled);
    image out = image_poison(k, cols), expected = image_copy(&out), got[2];
    for (int64_t j = 0; j < k; j++)
        for (int64_t f = 0; f < cols; f++) *at(&expected, j, f) = 0;
    for (int64_t i = 0; i < rows; i++)
        for (int64_t e = x.ptr[i]; e < x.ptr[i + 1] && label[i] >= 0 && label[i] < k; e++)
            *at(&expected, label[i], x.col[e]) += (factor ? factor[i] : 1) * x.val[e];
    for (int run = 0; run < 2; run++) {
        plx_device_mat to = upload(&out);
        must(check.t->class_sums(check.d, upload_csr(&x, sweep_flags(k, true)), upload_bytes(label, rows * 4),
                                 upload_bytes(factor, rows * 8), k, to));
        got[run] = download(&out, to);
    }
    compare_image(&got[0], &got[1], &out, &expected, 1e-15, 20.0 * (double)rows + 10, false);
    case_end();
}

void check_sparse_products(void)
{
    if (begin_operation("spmm")) {
        for (int which = 0; which < n_shapes(); which++)
            for (int w = 0; w < N_WIDTHS; w++)
                for (int flip = 0; flip < 2; flip++) {
                    const bool counts = (w + flip) % 3 == 0;
                    spmm_case(some_matrix(which, counts), WIDTHS[w], flip, w % 2 ? 0 : 0.3, counts);
                }
        for (int w = 0; w < N_FEW; w++)
            for (int flip = 0; flip < 2; flip++)
                spmm_case(crowded_matrix((w + flip) % 2), FEW_WIDTHS[w], flip, w % 2 ? 0 : 0.3, true);
        end_operation();
    }
    if (check.t->class_sums && begin_operation("class_sums")) {
        for (int which = 0; which < n_shapes(); which++)
            for (int w = 0; w < N_WIDTHS; w++) class_sums_case(some_matrix(which, which % 2), WIDTHS[w], w % 2);
        for (int w = 0; w < N_FEW; w++) class_sums_case(crowded_matrix(w % 2), FEW_WIDTHS[w], w % 3 == 0);
        end_operation();
    }
}

/* ---- channels ---- */

enum { MOST = 3 };

typedef struct channel {
    sparse x;
    image table, score;
    uint8_t *present;
    double *prior, *factor;
    int flags; /* of csr_create: what is made for both ways may be laid out in another way */
} channel;

static channel some_channel(int64_t n, int64_t cols, int64_t width, bool masked)
{
    channel c = {.x = sparse_random(n, cols, 0.3, draw_below(2)),
                 .table = image_random(cols, width),
                 .score = image_random(n, width),
                 .present = keep_bytes((size_t)n + 1),
                 .prior = keep_bytes((size_t)(width + 1) * 8)};
    for (int64_t i = 0; i < n; i++) c.present[i] = draw_below(4) > 0;
    for (int64_t j = 0; j < width; j++) c.prior[j] = -1 + draw();
    c.factor = some_factors(n, masked);
    c.flags = draw_below(2) ? sweep_flags(width, true) : 0;
    if (!masked) c.present = NULL;
    return c;
}

static bool has(const channel *c, int64_t i) { return !c->present || c->present[i]; }

static double score_of(const channel *c, int64_t i, int64_t j)
{
    double sum = 0;
    for (int64_t e = c->x.ptr[i]; e < c->x.ptr[i + 1]; e++) sum += c->x.val[e] * *at(&c->table, c->x.col[e], j);
    return sum;
}

static plx_device_channel upload_channel(const channel *c, int refresh, int64_t n)
{
    plx_device_channel out = {.x = upload_csr(&c->x, c->flags),
                              .table = upload(&c->table),
                              .score = upload(&c->score),
                              .refresh = refresh,
                              .present = upload_bytes(c->present, n),
                              .log_prior = c->prior};
    return out;
}

/* ---- coem ---- */

static double softmax(double *p, const double *z, int64_t width)
{
    double top = -INFINITY, sum = 0;
    for (int64_t j = 0; j < width; j++) top = fmax(top, z[j]);
    for (int64_t j = 0; j < width; j++) sum += p[j] = exp(z[j] - top);
    for (int64_t j = 0; j < width; j++) p[j] /= sum;
    return top + log(sum);
}

typedef struct totals {
    double *prior, *mass, objective, loglik[MOST];
} totals;

/* z and P of one sample; the number of its channels. */
static int sample_posteriors(double *z, double *p, const channel *c, int64_t width, int64_t n_channels, int64_t i,
                             int32_t label, bool joint, totals *t)
{
    double *all = keep_bytes((size_t)width * 8);
    int count = 0;
    for (int64_t v = 0; v < n_channels; v++) {
        if (!has(&c[v], i)) continue;
        for (int64_t j = 0; j < width; j++) {
            z[v * width + j] = c[v].prior[j] + *at(&c[v].score, i, j);
            all[j] += count ? *at(&c[v].score, i, j) : z[v * width + j];
        }
        t->loglik[v] += softmax(p + v * width, z + v * width, width);
        count++;
    }
    for (int64_t v = 0; v < n_channels; v++) {
        if (joint) (void)softmax(p + v * width, all, width);
        for (int64_t j = 0; label >= 0 && j < width; j++) p[v * width + j] = j == label;
    }
    return count;
}

static double weight_of(const double *p, const channel *c, int64_t width, int64_t n_channels, int64_t i, int64_t v,
                        int64_t j, int count, bool joint, double eta)
{
    double others = 0;
    if (count < 2 || joint) return p[v * width + j];
    for (int64_t o = 0; o < n_channels; o++)
        if (o != v && has(&c[o], i)) others += p[o * width + j];
    return (1 - eta) * p[v * width + j] + eta / (count - 1) * others;
}

static void plain_mixture(image *weights, totals *t, const channel *c, int64_t n_channels, const int32_t *label,
                          bool joint, int64_t target, double eta, double measure_eta)
{
    int64_t width = weights->cols;
    double *z = keep_bytes((size_t)(MOST * width) * 8), *p = keep_bytes((size_t)(MOST * width) * 8);
    for (int64_t i = 0; i < weights->rows; i++) {
        int count = sample_posteriors(z, p, c, width, n_channels, i, label[i], joint, t);
        bool told = false;
        for (int64_t j = 0; j < width; j++) *at(weights, i, j) = 0;
        for (int64_t v = 0; v < n_channels; v++) {
            if (!has(&c[v], i)) continue;
            for (int64_t j = 0; j < width; j++) {
                double w = weight_of(p, c, width, n_channels, i, v, j, count, joint, eta);
                if (!joint || !told) t->prior[j] += p[v * width + j];
                if (v == target) t->mass[j] += *at(weights, i, j) = w;
                t->objective +=
                    weight_of(p, c, width, n_channels, i, v, j, count, joint, measure_eta) * z[v * width + j];
            }
            told = true;
        }
    }
}

static totals some_totals(int64_t width)
{
    totals t = {keep_bytes((size_t)(width + 1) * 8), keep_bytes((size_t)(width + 1) * 8), 0, {0}};
    return t;
}

static void mixture_case(int64_t n, int64_t width, int64_t n_channels, bool joint, bool measure)
{
    channel c[MOST];
    int32_t *label = some_labels(n, width, 3 * width);
    image weights = image_poison(n, width), expected = image_copy(&weights), got[2];
    totals wanted = some_totals(width), told[2];
    int64_t target = draw_below(n_channels);
    for (int64_t v = 0; v < n_channels; v++) c[v] = some_channel(n, 20 + 10 * v, width, (n + v) % 2);
    for (int64_t i = 0; i < n; i++) /* only the target's score is refreshed */
        for (int64_t j = 0; j < width; j++) *at(&c[target].score, i, j) = score_of(&c[target], i, j);
    for (int64_t i = 0; i < n; i++)
        if (label[i] < -1) label[i] = -1;
    plain_mixture(&expected, &wanted, c, n_channels, label, joint, target, 0.3, 0.6);
    for (int run = 0; run < 2; run++) {
        plx_device_channel on[MOST];
        plx_device_mat to = upload(&weights);
        told[run] = some_totals(width);
        image kept = image_copy(&c[target].score);
        for (int64_t i = 0; i < n; i++)
            for (int64_t j = 0; j < width; j++) *at(&c[target].score, i, j) = NAN;
        for (int64_t v = 0; v < n_channels; v++) on[v] = upload_channel(&c[v], v == target, n);
        c[target].score = kept;
        plx_device_mixture q = {sizeof q,
                                n,
                                width,
                                n_channels,
                                on,
                                upload_bytes(label, n * 4),
                                joint,
                                target,
                                0.3,
                                to,
                                measure,
                                0.6,
                                told[run].prior,
                                told[run].mass,
                                &told[run].objective,
                                told[run].loglik};
        peak_begin();
        must(check.t->mixture(check.d, &q));
        peak_end(check.t->workspace(check.d, PLX_DEVICE_OP_SWEEP, n, 40 * n, width));
        got[run] = download(&weights, to);
        image score = download(&kept, on[target].score);
        compare_image(&score, NULL, &kept, &kept, 1e-13, 20, false);
    }
    compare_image(&got[0], &got[1], &weights, &expected, 1e-12, 1, false);
    compare_bytes(told[0].prior, told[1].prior, width * 8, "prior of the second run");
    compare_values(told[0].prior, wanted.prior, width, 1e-12, (double)n + 1);
    compare_values(told[0].mass, wanted.mass, width, 1e-12, (double)n + 1);
    if (measure) {
        compare_values(told[0].loglik, wanted.loglik, n_channels, 1e-12, 10.0 * (double)n);
        compare_values(&told[0].objective, &wanted.objective, 1, 1e-12, 10.0 * (double)n);
        compare_bytes(&told[0].objective, &told[1].objective, 8, "objective of the second run");
    }
    case_end();
}

void check_mixture(void)
{
    static const int64_t samples[] = {0, 1, 70, 333};
    if (!begin_operation("mixture")) return;
    for (int w = 0; w < N_WIDTHS; w++)
        for (int s = 0; s < (check.small ? 3 : 4); s++)
            for (int way = 0; way < 4; way++)
                mixture_case(samples[s], WIDTHS[w], 1 + (w + s + way) % MOST, way & 1, way & 2);
    end_operation();
}

/* ---- mvkmeans ---- */

static int32_t plain_best(const double *x, int64_t k, double tie)
{
    double best = -INFINITY;
    bool any = false;
    for (int64_t j = 0; j < k; j++) {
        best = fmax(best, x[j]);
        any |= x[j] != 0;
    }
    for (int64_t j = 0; any && j < k; j++)
        if (x[j] >= best - tie) return (int32_t)j;
    return -1;
}

typedef struct assigned {
    int32_t *label;
    double *own, objective;
    int64_t flips, without;
} assigned;

static void plain_assign(assigned *out, const channel *c, int64_t n_channels, int64_t n, int64_t k, bool product,
                         const uint8_t *fixed, int32_t fallback)
{
    double *x = keep_bytes((size_t)k * 8);
    for (int64_t i = 0; i < n; i++) {
        bool any = false;
        for (int64_t j = 0; j < k; j++) x[j] = 0;
        for (int64_t v = 0; v < n_channels; v++) {
            if (!has(&c[v], i)) continue;
            for (int64_t j = 0; j < k; j++) {
                double score = (c[v].factor ? c[v].factor[i] : 1) * score_of(&c[v], i, j);
                x[j] = product ? (any ? x[j] : 1) * fmax(score, 0) : (any ? x[j] : 0) + score;
            }
            any = true;
        }
        if (!fixed || !fixed[i]) {
            int32_t best = plain_best(x, k, 1e-9);
            out->without += best < 0;
            if (best < 0) best = fallback;
            out->flips += best == out->label[i] ? 0 : out->label[i] < 0 ? 1 : 2;
            out->label[i] = best;
        }
        out->own[i] = out->label[i] < 0 ? 0 : x[out->label[i]];
        out->objective += out->own[i];
    }
}

/* Table columns 0 and 1 are equal where there are two: ties go to the lower. Beyond k they are not read. */
static void assign_case(int64_t n, int64_t k, int64_t n_channels, bool product, bool fixing)
{
    channel c[MOST];
    int32_t *before = some_labels(n, k, 1), fallback = (int32_t)draw_below(k);
    uint8_t *fixed = keep_bytes((size_t)n + 1);
    for (int64_t v = 0; v < n_channels; v++) {
        c[v] = some_channel(n, 25 + 15 * v, k + 2, (n + v) % 2);
        c[v].flags = c[v].flags ? sweep_flags(k, true) : 0;
        for (int64_t f = 0; f < c[v].table.rows; f++) {
            if (k > 1) *at(&c[v].table, f, 1) = *at(&c[v].table, f, 0);
            *at(&c[v].table, f, k) = NAN;
        }
    }
    for (int64_t i = 0; i < n; i++) fixed[i] = draw_below(4) == 0; /* also without a label */
    assigned wanted = {keep_bytes((size_t)(n + 1) * 4), keep_bytes((size_t)(n + 1) * 8), 0, 0, 0};
    memcpy(wanted.label, before, (size_t)n * 4);
    plain_assign(&wanted, c, n_channels, n, k, product, fixing ? fixed : NULL, fallback);
    double first = 0;
    for (int run = 0; run < 2; run++) {
        plx_device_channel on[MOST];
        plx_device_buffer *factor[MOST];
        assigned got = {keep_bytes((size_t)(n + 1) * 4), keep_bytes((size_t)(n + 1) * 8), 0, 0, 0};
        for (int64_t v = 0; v < n_channels; v++) {
            on[v] = upload_channel(&c[v], 0, n);
            factor[v] = upload_bytes(c[v].factor, n * 8);
        }
        plx_device_buffer *label = upload_bytes(before, n * 4), *own = upload_bytes(got.own, n * 8);
        plx_device_assign q = {sizeof q,
                               n,
                               k,
                               n_channels,
                               on,
                               factor,
                               product,
                               1e-9,
                               fallback,
                               fixing ? upload_bytes(fixed, n) : NULL,
                               label,
                               own,
                               &got.objective,
                               &got.flips,
                               &got.without};
        peak_begin();
        must(check.t->assign(check.d, &q));
        peak_end(check.t->workspace(check.d, PLX_DEVICE_OP_SWEEP, n, 55 * n, k));
        download_bytes(got.label, label, n * 4);
        download_bytes(got.own, own, n * 8);
        compare_bytes(got.label, wanted.label, n * 4, "a label");
        compare_values(got.own, wanted.own, n, 1e-12, 100);
        compare_values(&got.objective, &wanted.objective, 1, 1e-12, 100.0 * (double)n);
        if (got.flips != wanted.flips || got.without != wanted.without)
            fail_case("%lld flips and %lld without, expected %lld and %lld", (long long)got.flips,
                      (long long)got.without, (long long)wanted.flips, (long long)wanted.without);
        if (run) compare_bytes(&first, &got.objective, 8, "objective of the second run");
        first = got.objective;
    }
    case_end();
}

void check_assign(void)
{
    static const int64_t samples[] = {0, 1, 70, 333};
    if (!begin_operation("assign")) return;
    for (int w = 0; w < N_WIDTHS; w++)
        for (int s = 0; s < (check.small ? 3 : 4); s++)
            for (int way = 0; way < 4; way++)
                assign_case(samples[s], WIDTHS[w], 1 + (w + s + way) % MOST, way & 1, way & 2);
    for (int64_t k = 2; !check.small && k <= 8; k *= 2) assign_case(600000, k, k == 4 ? 1 : 2, k == 2, true);
    end_operation();
}

/* ---- mvplsa ---- */

static image image_positive(int64_t rows, int64_t cols)
{
    image m = image_random(rows, cols);
    for (int64_t i = 0; i < rows; i++)
        for (int64_t j = 0; j < cols; j++) *at(&m, i, j) = 0.01 + fabs(*at(&m, i, j));
    return m;
}

static void plsa_case(sparse x, int64_t width, int wants)
{
    const int64_t rows = x.rows, cols = x.cols;
    for (int64_t e = 0; e < x.ptr[rows]; e++) x.val[e] = fabs(x.val[e]);
    image u = image_positive(cols, width), c = image_positive(rows, width), gain = image_random(rows, width);
    image scatter = image_poison(cols, width), want_gain = image_copy(&gain), want_scatter = image_copy(&scatter);
    long double likelihood = 0, size = 1; /* of millions of entries */
    double told[2] = {0, 0};
    for (int64_t j = 0; rows > 2 && j < width; j++) *at(&c, 2, j) = 0; /* m = 0 */
    for (int64_t f = 0; f < cols; f++)
        for (int64_t j = 0; j < width; j++) *at(&want_scatter, f, j) = 0;
    for (int64_t i = 0; i < rows; i++)
        for (int64_t e = x.ptr[i]; e < x.ptr[i + 1]; e++) {
            double m = 0;
            for (int64_t j = 0; j < width; j++) m += *at(&u, x.col[e], j) * *at(&c, i, j);
            double r = m < 1e-300 ? 0 : x.val[e] / m;
            for (int64_t j = 0; j < width; j++) {
                *at(&want_gain, i, j) += r * *at(&u, x.col[e], j);
                *at(&want_scatter, x.col[e], j) += r * *at(&c, i, j);
            }
            likelihood += x.val[e] * log(fmax(m, 1e-300));
            size += fabs(x.val[e] * log(fmax(m, 1e-300)));
        }
    image got_gain[2], got_scatter[2];
    plx_device_csr *counts = upload_csr(&x, sweep_flags(width, true));
    for (int run = 0; run < 2; run++) {
        plx_device_mat g = wants & 1 ? upload(&gain) : no_matrix(), s = wants & 2 ? upload(&scatter) : no_matrix();
        plx_device_plsa step = {sizeof step, counts, upload(&u), upload(&c), g, s, wants & 4 ? &told[run] : NULL};
        peak_begin();
        must(check.t->plsa(check.d, &step));
        peak_end(check.t->workspace(check.d, PLX_DEVICE_OP_SWEEP, rows, x.ptr[rows], width));
        if (wants & 1) got_gain[run] = download(&gain, g);
        if (wants & 2) got_scatter[run] = download(&scatter, s);
    }
    if (wants & 1) compare_image(&got_gain[0], &got_gain[1], &gain, &want_gain, 1e-13, 0, false);
    if (wants & 2) compare_image(&got_scatter[0], &got_scatter[1], &scatter, &want_scatter, 1e-13, 0, false);
    if (wants & 4) {
        double expected = (double)likelihood;
        compare_values(told, &expected, 1, 1e-13, (double)size);
        compare_bytes(&told[0], &told[1], 8, "likelihood of the second run");
    }
    case_end();
}

static void plsa_mixture_case(int64_t n, int64_t width, bool labelled, bool in_place)
{
    image mix = image_positive(n, width), gain = image_positive(n, width), next = image_poison(n, width), got[2];
    int32_t *label = some_labels(n, 2, 5);
    for (int64_t j = 0; n > 1 && j < width; j++) *at(&gain, 1, j) = 0;
    if (n > 3 && width > 1) *at(&gain, 3, 0) = 1e-9;
    image before = in_place ? gain : next, expected = image_copy(&before);
    for (int64_t i = 0; i < n; i++) {
        double sum = 0;
        for (int64_t j = 0; j < width; j++) sum += *at(&mix, i, j) * *at(&gain, i, j);
        bool keeps = (labelled && label[i] >= 0) || !(sum > 0);
        for (int64_t j = 0; j < width; j++) {
            double value = keeps ? *at(&mix, i, j) : *at(&mix, i, j) * *at(&gain, i, j) / sum;
            *at(&expected, i, j) = !keeps && value < 1e-7 ? 0 : value;
        }
    }
    for (int run = 0; run < 2; run++) {
        plx_device_mat g = upload(&gain), to = in_place ? g : upload(&next);
        must(check.t->plsa_mixture(check.d, to, upload(&mix), g, labelled ? upload_bytes(label, n * 4) : NULL, 1e-7));
        got[run] = download(&before, to);
    }
    compare_image(&got[0], &got[1], &before, &expected, 1e-14, 1, false);
    case_end();
}

void check_plsa(void)
{
    if (begin_operation("plsa")) {
        for (int which = 0; which < n_shapes(); which++)
            for (int w = 0; w < N_WIDTHS; w++) plsa_case(some_matrix(which, which % 2), WIDTHS[w], 1 + (which + w) % 7);
        for (int w = 0; w < N_WIDTHS; w++) plsa_case(some_matrix(3, true), WIDTHS[w], 7);
        for (int w = 0; w < N_FEW; w++) plsa_case(crowded_matrix(w % 2), FEW_WIDTHS[w], 7);
        end_operation();
    }
    if (check.t->plsa_mixture && begin_operation("plsa_mixture")) {
        for (int w = 0; w < N_WIDTHS; w++)
            for (int way = 0; way < 4; way++)
                plsa_mixture_case(way == 3 ? 0 : 5 + 30 * way, WIDTHS[w], way & 1, way & 2);
        end_operation();
    }
}
