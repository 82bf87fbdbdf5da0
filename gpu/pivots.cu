/*
 * A panel of a pivoted Cholesky factorisation. The pivot is chosen on the device, so that the host waits once for a
 * panel and not once for a column: two launches a column, which do nothing any more once a rule has stopped them.
 */
#include "cuda_device.h"

enum {
#ifdef PLX_EMULATED
    CHOOSERS = 64
#else
    CHOOSERS = 1024 /* one block looks at all residuals, which the second-level cache holds */
#endif
};

struct pivot_state {
    int64_t found, stopped, pivot;
    double root, left;
};

struct pivot_rules {
    double first, least, least_sum;
};

struct residual_survey {
    double top, sum;
};

/* Of the positive residuals; the same in all threads. */
__device__ static residual_survey survey(const double *residual, int64_t n)
{
    __shared__ double top[CHOOSERS], sum[CHOOSERS];
    const int me = (int)threadIdx.x;
    double most = 0, all = 0;
    for (int64_t i = me; i < n; i += CHOOSERS) {
        double x = fmax(residual[i], 0.0);
        most = fmax(most, x);
        all += x;
    }
    top[me] = most;
    sum[me] = all;
    for (int half = CHOOSERS / 2; half > 0; half /= 2) {
        __syncthreads();
        if (me >= half) continue;
        top[me] = fmax(top[me], top[me + half]);
        sum[me] += sum[me + half];
    }
    __syncthreads();
    return {top[0], sum[0]};
}

/* The first that ties with the largest: see parallax/device.h. */
__device__ static int64_t first_tie(const double *residual, int64_t n, double top, double first)
{
    __shared__ int64_t tie[CHOOSERS];
    const int me = (int)threadIdx.x;
    const double ties = top - 1e-12 * top - 1e-15 * first;
    int64_t i = me;
    while (i < n && !(residual[i] > 0 && residual[i] >= ties)) i += CHOOSERS;
    tie[me] = i;
    for (int half = CHOOSERS / 2; half > 0; half /= 2) {
        __syncthreads();
        if (me < half && tie[me + half] < tie[me]) tie[me] = tie[me + half];
    }
    __syncthreads();
    return tie[0];
}

/* Pivot number t; with `last` only what is left. */
__global__ void choose_pivot(pivot_state *s, int64_t *pivots, const double *residual, int64_t n, pivot_rules rules,
                             int64_t t, bool last)
{
    if (s->stopped) return;
    residual_survey seen = survey(residual, n);
    bool stop = !(seen.top > 0) || seen.top <= rules.least || seen.sum <= rules.least_sum;
    int64_t p = stop || last ? 0 : first_tie(residual, n, seen.top, rules.first);
    if (threadIdx.x != 0) return; /* all threads have read s->stopped and met since */
    s->left = seen.sum;
    if (last) return;
    s->stopped = stop;
    if (stop) return;
    s->pivot = p;
    s->root = sqrt(residual[p]);
    s->found = t + 1;
    pivots[t] = p;
}

/* Column number t: neighbouring threads have neighbouring rows, and `row_p` is row p of K. */
__global__ void pivot_column(const pivot_state *s, plain_mat k, plain_mat columns, double *residual, int64_t t)
{
    if (s->stopped) return;
    const int64_t p = s->pivot;
    const double root = s->root;
    double *out = columns.data + t * columns.ld;
    for (int64_t i = (int64_t)blockIdx.x * THREADS + threadIdx.x; i < k.rows; i += (int64_t)gridDim.x * THREADS) {
        const double left = residual[i];
        if (left < 0 || i == p) {
            out[i] = left < 0 ? 0.0 : root;
            residual[i] = -1.0;
            continue;
        }
        double sum = k.data[p * k.ld + i];
#pragma unroll 8
        for (int64_t u = 0; u < t; u++)
            sum = fma(-columns.data[u * columns.ld + p], columns.data[u * columns.ld + i], sum);
        const double value = sum / root;
        out[i] = value;
        residual[i] = fmax(left - value * value, 0.0);
    }
}

static int find_columns(plx_device *d, const plx_device_pivots *step, pivot_state *state, int64_t *pivots)
{
    const pivot_rules rules = {step->first, step->least, step->least_sum};
    const int64_t n = step->k.rows, most = step->columns.rows;
    double *residual = mat_data(step->residual);
    const int64_t blocks = thread_blocks(n);
    for (int64_t t = 0; t < most; t++) {
        TRY(device_launch(d, "choose_pivot", choose_pivot, 1, CHOOSERS, state, pivots, residual, n, rules, t, false));
        TRY(device_launch(d, "pivot_column", pivot_column, blocks, THREADS, state, mat_of(step->k),
                          mat_of(step->columns), residual, t));
    }
    return device_launch(d, "choose_pivot", choose_pivot, 1, CHOOSERS, state, pivots, residual, n, rules, most, true);
}

int cuda_pivots(plx_device *d, const plx_device_pivots *step)
{
    scratch<pivot_state> state(d);
    scratch<int64_t> pivots(d);
    pivot_state told = {};
    TRY(device_enter(d));
    *step->found = 0;
    *step->left = 0;
    if (step->k.rows == 0) return PLX_DEVICE_OK;
    TRY(state.take(1));
    TRY(pivots.take(step->columns.rows));
    TRY(device_cuda(d, cudaMemsetAsync(state.data, 0, sizeof told, d->stream), "clearing scratch"));
    TRY(find_columns(d, step, state.data, pivots.data));
    TRY(device_fetch(d, &told, (const pivot_state *)state.data, 1));
    *step->found = told.found;
    *step->left = told.left;
    if (told.found == 0) return PLX_DEVICE_OK;
    return device_fetch(d, step->pivot, (const int64_t *)pivots.data, told.found);
}
