/*
 * Sparse matrices and the sweeps of the table of parallax/device.h on the host device, against the library's products and
 * against sums written out. PLX_TEST_DEVICE names another device to test.
 */
#include "linalg_test.h"

#include "device_helpers.h"

static const plx_device_table *t; /* of the device that is tested */

enum { N = 6, D = 5, W = 3, CHANNELS = 2 };

typedef struct desk {
    plx_context *ctx;
    plx_device *d;
    plx_device_buffer *held[40];
    int count;
    plx_csr x[CHANNELS];
    plx_mat table[CHANNELS];
    plx_device_csr *dx[CHANNELS];
    plx_device_mat dtable[CHANNELS];
} desk;

static plx_device_buffer *put_bytes(desk *s, const void *from, int64_t bytes)
{
    assert_true(s->count < 40);
    assert_int_equal(t->alloc(s->d, bytes, &s->held[s->count]), PLX_DEVICE_OK);
    assert_int_equal(t->write_bytes(s->d, s->held[s->count], 0, from, bytes), PLX_DEVICE_OK);
    return s->held[s->count++];
}

static plx_device_mat put(desk *s, plx_mat m)
{
    plx_device_mat out = {put_bytes(s, m.data, 8 * m.rows * m.cols), 0, m.rows, m.cols, m.cols};
    return out;
}

static plx_mat get(desk *s, plx_device_mat from)
{
    plx_mat m = test_mat(s->ctx, from.rows, from.cols, 0);
    assert_int_equal(t->read(s->d, m.data, m.ld, from), PLX_DEVICE_OK);
    return m;
}

static int set_up(void **state)
{
    desk *s = calloc(1, sizeof *s);
    char why[64];
    *plx__host_device_faults() = (plx__host_faults){0};
    s->ctx = test_context(1);
    assert_int_equal(t->open(&s->d, 0, why, sizeof why), PLX_DEVICE_OK);
    for (int c = 0; c < CHANNELS; c++) {
        s->x[c] = test_csr(s->ctx, N, D, 0.6, c + 1);
        for (int64_t e = 0; e < s->x[c].ptr[N]; e++) s->x[c].val[e] = fabs(s->x[c].val[e]);
        s->table[c] = test_mat(s->ctx, D, W, c + 5);
        s->dtable[c] = put(s, s->table[c]);
        assert_int_equal(t->csr_create(s->d, N, D, s->x[c].ptr, s->x[c].col, s->x[c].val,
                                       PLX_DEVICE_BOTH_WAYS | PLX_DEVICE_FEW_COLUMNS, &s->dx[c]),
                         PLX_DEVICE_OK);
    }
    *state = s;
    return 0;
}

static int tear_down(void **state)
{
    desk *s = *state;
    for (int c = 0; c < CHANNELS; c++) t->csr_release(s->d, s->dx[c]);
    for (int i = 0; i < s->count; i++) t->release(s->d, s->held[i]);
    t->close(s->d);
    plx_context_destroy(s->ctx);
    free(s);
    return 0;
}

static void multiplies_both_ways(void **state)
{
    desk *s = *state;
    plx_mat b = test_mat(s->ctx, N, 2, 9), plain = test_mat(s->ctx, N, W, 0), flipped = test_mat(s->ctx, D, 2, 4);
    plx_device_mat dc = put(s, plain), df = put(s, flipped);
    assert_int_equal(t->spmm(s->d, 2, s->dx[0], PLX_DEVICE_PLAIN, s->dtable[0], 0, dc), PLX_DEVICE_OK);
    assert_int_equal(plx__spmm(s->ctx, 2, plx__ccsr(s->x[0]), plx__cmat(s->table[0]), 0, plain), PLX_OK);
    for (int i = 0; i < N * W; i++) assert_true(fabs(get(s, dc).data[i] - plain.data[i]) < 1e-14);
    assert_int_equal(t->spmm(s->d, 1, s->dx[0], PLX_DEVICE_TRANSPOSED, put(s, b), 1, df), PLX_DEVICE_OK);
    assert_int_equal(plx__spmm_t(s->ctx, 1, plx__ccsr(s->x[0]), plx__cmat(b), 1, flipped), PLX_OK);
    for (int i = 0; i < D * 2; i++) assert_true(fabs(get(s, df).data[i] - flipped.data[i]) < 1e-14);
    assert_true(t->csr_bytes(s->d, N, D, 20, PLX_DEVICE_BOTH_WAYS) > t->csr_bytes(s->d, N, D, 20, 0));
}

static void sums_classes(void **state)
{
    desk *s = *state;
    int32_t label[N] = {0, 2, -1, 2, 0, 7};
    double factor[N] = {1, 2, 3, 4, 5, 6};
    plx_mat x = test_dense(s->ctx, plx__ccsr(s->x[0]));
    plx_device_mat out = put(s, test_mat(s->ctx, W, D, 1));
    assert_int_equal(
        t->class_sums(s->d, s->dx[0], put_bytes(s, label, sizeof label), put_bytes(s, factor, sizeof factor), W, out),
        PLX_DEVICE_OK);
    plx_mat got = get(s, out);
    for (plx_index j = 0; j < D; j++) {
        assert_true(fabs(at(got, 0, j) - at(x, 0, j) - 5 * at(x, 4, j)) < 1e-14);
        assert_true(at(got, 1, j) == 0);
        assert_true(fabs(at(got, 2, j) - 2 * at(x, 1, j) - 4 * at(x, 3, j)) < 1e-14);
    }
}

/* The posterior of a sample in a channel, written out. */
static double posterior(plx_mat scores, plx_index i, const double *prior, plx_index j)
{
    double sum = 0;
    for (plx_index k = 0; k < W; k++) sum += exp(prior[k] + at(scores, i, k));
    return exp(prior[j] + at(scores, i, j)) / sum;
}

static void mixes_posteriors(void **state)
{
    desk *s = *state;
    const double prior[W] = {-1, -1.5, -0.7}, eta = 0.3;
    int32_t label[N] = {-1, -1, 1, -1, -1, -1};
    uint8_t second[N] = {1, 1, 1, 0, 1, 1}; /* sample 3 has the first channel only */
    plx_mat score[CHANNELS];
    plx_device_channel ch[CHANNELS];
    double sums[W], mass[W], objective, loglik[CHANNELS], want_mass[W] = {0}, want_objective = 0, want_loglik = 0;
    for (int c = 0; c < CHANNELS; c++) {
        score[c] = test_mat(s->ctx, N, W, 0);
        assert_int_equal(plx__spmm(s->ctx, 1, plx__ccsr(s->x[c]), plx__cmat(s->table[c]), 0, score[c]), PLX_OK);
        ch[c] = (plx_device_channel){s->dx[c], s->dtable[c], put(s, score[c]), 0, NULL, prior};
    }
    ch[1].refresh = 1;
    assert_int_equal(t->fill(s->d, ch[1].score, 77), PLX_DEVICE_OK); /* is computed anew */
    ch[1].present = put_bytes(s, second, sizeof second);
    plx_device_mixture q = {.struct_size = sizeof q,
                            .n = N,
                            .width = W,
                            .n_channels = CHANNELS,
                            .channel = ch,
                            .label = put_bytes(s, label, sizeof label),
                            .target = 1,
                            .eta = eta,
                            .weights = put(s, test_mat(s->ctx, N, W, 1)),
                            .measure = 1,
                            .measure_eta = 0,
                            .prior = sums,
                            .mass = mass,
                            .objective = &objective,
                            .loglik = loglik};
    assert_int_equal(t->mixture(s->d, &q), PLX_DEVICE_OK);
    plx_mat w = get(s, q.weights);
    for (plx_index i = 0; i < N; i++) {
        double own[CHANNELS][W], sum = 0;
        for (plx_index j = 0; j < W; j++) {
            for (int c = 0; c < CHANNELS; c++)
                own[c][j] = label[i] >= 0 ? (double)(label[i] == j) : posterior(score[c], i, prior, j);
            double want = second[i] ? (1 - eta) * own[1][j] + eta * own[0][j] : 0;
            assert_true(fabs(at(w, i, j) - want) < 1e-14);
            want_mass[j] += want;
            for (int c = 0; c < CHANNELS; c++)
                if (c == 0 || second[i]) want_objective += own[c][j] * (prior[j] + at(score[c], i, j));
            sum += exp(prior[j] + at(score[0], i, j));
        }
        want_loglik += log(sum);
    }
    for (int j = 0; j < W; j++) assert_true(fabs(mass[j] - want_mass[j]) < 1e-13);
    assert_true(fabs(objective - want_objective) < 1e-12 && fabs(loglik[0] - want_loglik) < 1e-12);
    assert_true(fabs(get(s, ch[1].score).data[4] - score[1].data[4]) < 1e-14);
    q.joint = 1;
    assert_int_equal(t->mixture(s->d, &q), PLX_DEVICE_OK);
    plx_mat both = test_mat(s->ctx, N, W, 0);
    for (int i = 0; i < N * W; i++) both.data[i] = score[0].data[i] + score[1].data[i];
    assert_true(fabs(at(get(s, q.weights), 0, 1) - posterior(both, 0, prior, 1)) < 1e-14);
}

static void assigns_by_the_best_sum(void **state)
{
    desk *s = *state;
    int32_t label[N] = {-1, 0, 1, 2, -1, -1}, got[N];
    uint8_t fixed[N] = {0, 0, 1, 0, 0, 0}, present[N] = {1, 1, 1, 1, 1, 0};
    double factor[N] = {1, 2, 1, 1, 0.5, 1}, objective = 0, want = 0, own[N] = {0};
    int64_t flips = 0, without = 0, want_flips = 0;
    plx_device_channel ch[CHANNELS] = {{.x = s->dx[0], .table = s->dtable[0]}, {.x = s->dx[1], .table = s->dtable[1]}};
    plx_device_buffer *factors[CHANNELS] = {put_bytes(s, factor, sizeof factor), NULL};
    for (int c = 0; c < CHANNELS; c++) ch[c].present = put_bytes(s, present, sizeof present);
    plx_device_assign q = {.struct_size = sizeof q,
                           .n = N,
                           .k = W,
                           .n_channels = CHANNELS,
                           .channel = ch,
                           .factor = factors,
                           .tie = 1e-12,
                           .fallback = 1,
                           .fixed = put_bytes(s, fixed, sizeof fixed),
                           .label = put_bytes(s, label, sizeof label),
                           .own_score = put_bytes(s, own, sizeof own),
                           .objective = &objective,
                           .flips = &flips,
                           .without = &without};
    assert_int_equal(t->assign(s->d, &q), PLX_DEVICE_OK);
    assert_int_equal(t->read_bytes(s->d, got, q.label, 0, sizeof got), PLX_DEVICE_OK);
    assert_int_equal(t->read_bytes(s->d, own, q.own_score, 0, sizeof own), PLX_DEVICE_OK);
    plx_mat a = test_mat(s->ctx, N, W, 0), b = test_mat(s->ctx, N, W, 0);
    assert_int_equal(plx__spmm(s->ctx, 1, plx__ccsr(s->x[0]), plx__cmat(s->table[0]), 0, a), PLX_OK);
    assert_int_equal(plx__spmm(s->ctx, 1, plx__ccsr(s->x[1]), plx__cmat(s->table[1]), 0, b), PLX_OK);
    for (plx_index i = 0; i < N; i++) {
        int32_t best = 0;
        double x[W] = {0};
        for (int j = 0; j < W; j++) {
            if (present[i]) x[j] = factor[i] * at(a, i, j) + at(b, i, j);
            if (x[j] > x[best]) best = j;
        }
        if (!present[i]) best = 1;
        if (fixed[i]) best = label[i];
        assert_int_equal(got[i], best);
        assert_true(fabs(own[i] - x[best]) < 1e-14);
        want += x[best];
        want_flips += best == label[i] ? 0 : label[i] < 0 ? 1 : 2;
    }
    assert_true(fabs(objective - want) < 1e-13);
    assert_int_equal(flips, want_flips);
    assert_int_equal(without, 1);
}

static void steps_topics(void **state)
{
    desk *s = *state;
    plx_mat x = test_dense(s->ctx, plx__ccsr(s->x[0])), u = test_mat(s->ctx, D, W, 2), c = test_mat(s->ctx, N, W, 3);
    plx_mat gain = test_mat(s->ctx, N, W, 0), scatter = test_mat(s->ctx, D, W, 0), old = test_mat(s->ctx, N, W, 0);
    int32_t label[N] = {-1, 1, -1, -1, -1, -1};
    double likelihood = 0, want = 0;
    for (int i = 0; i < D * W; i++) u.data[i] = fabs(u.data[i]), scatter.data[i] = 0;
    for (int i = 0; i < N * W; i++) c.data[i] = fabs(c.data[i]);
    for (plx_index j = 0; j < W; j++) c.data[2 * W + j] = 0; /* nothing fits this row */
    plx_device_plsa q = {.struct_size = sizeof q,
                         .counts = s->dx[0],
                         .table = put(s, u),
                         .mix = put(s, c),
                         .gain = put(s, old),
                         .scatter = put(s, test_mat(s->ctx, D, W, 8)),
                         .likelihood = &likelihood};
    assert_int_equal(t->plsa(s->d, &q), PLX_DEVICE_OK);
    for (plx_index i = 0; i < N; i++)
        for (plx_index f = 0; f < D; f++) {
            double m = plx__dot(u.data + f * W, c.data + i * W, W), o = at(x, i, f);
            if (o == 0) continue;
            want += o * log(m > 0 ? m : 1e-300);
            for (plx_index j = 0; j < W; j++) {
                gain.data[i * W + j] += m > 0 ? o / m * at(u, f, j) : 0;
                scatter.data[f * W + j] += m > 0 ? o / m * at(c, i, j) : 0;
            }
        }
    assert_true(fabs(likelihood - want) < 1e-10 * fabs(want));
    plx_mat got = get(s, q.gain), sums = get(s, q.scatter);
    for (int i = 0; i < N * W; i++) assert_true(fabs(got.data[i] - gain.data[i]) < 1e-11 * fmax(1, fabs(gain.data[i])));
    for (int i = 0; i < D * W; i++)
        assert_true(fabs(sums.data[i] - scatter.data[i]) < 1e-11 * fmax(1, fabs(scatter.data[i])));
    for (int i = 0; i < N * W; i++) gain.data[i] = fabs(gain.data[i]);
    plx_device_mat next = put(s, gain);
    assert_int_equal(t->plsa_mixture(s->d, next, q.mix, next, put_bytes(s, label, sizeof label), 1e-290),
                     PLX_DEVICE_OK);
    plx_mat mix = get(s, next);
    for (plx_index i = 0; i < N; i++) {
        double sum = plx__dot(c.data + i * W, gain.data + i * W, W);
        bool keeps = label[i] >= 0 || !(sum > 0);
        for (plx_index j = 0; j < W; j++) {
            double share = keeps ? at(c, i, j) : at(c, i, j) * at(gain, i, j) / sum;
            assert_true(fabs(at(mix, i, j) - share) < 1e-14);
        }
    }
}

int main(void)
{
#define SWEEP_TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        SWEEP_TEST(multiplies_both_ways),    SWEEP_TEST(sums_classes), SWEEP_TEST(mixes_posteriors),
        SWEEP_TEST(assigns_by_the_best_sum), SWEEP_TEST(steps_topics),
    };
    t = tested_table();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
