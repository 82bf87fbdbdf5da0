/*
 * Exact nearest neighbours. A warp keeps the list of one query, which is always the k best of all references seen, by
 * exact distances. Dense rows: tiles of products in double precision, from which |x|^2 + |z|^2 - 2 x.z is known
 * within c (|x|^2 + |z|^2); a reference whose lower bound is beyond the worst of the list (with what the comparison
 * rounds away) is passed over, and that is nearly every one: about k ln(n/k) of n come through, for which the warp
 * sums the distance directly. Sparse rows: every lane merges one pair, and the distance is exact from the start.
 *
 * A million rows of 64: 1.3e14 operations of products (2.3 s at 55 Tflop/s), and 8e12 bytes of products written and
 * read once (3.7 s at 4.3 TB/s, partly at the same time).
 */
#include "pairs.h"

struct knn_job {
    point_rows queries, references;
    const double *nq, *nr; /* squared norms */
    const double *product; /* dense: tile of `rows` x `cols` */
    int64_t top, left;     /* where the tile begins */
    int64_t rows, cols;
    int64_t k, first_reference, first_query;
    const uint8_t *present;
    int64_t *index;
    double *distance;
    double c; /* relative rounding of the products and norms */
    bool cosine;
};

/* ---- order ---- */

static __device__ const double EXACT_POWERS[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                                 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

__device__ static double power_of_ten(int e) { return e >= 0 && e <= 22 ? EXACT_POWERS[e] : pow(10.0, (double)e); }

/* The distance rounded to 12 significant digits, as the library rounds it. */
__device__ static double distance_key(double distance)
{
    if (distance < 1e-12) return 0.0;
    if (!isfinite(distance)) return distance;
    int shift = 11 - (int)floor(log10(distance));
    if (shift > 300) shift = 300;
    if (shift < -290) return distance;
    return shift >= 0 ? rint(distance * power_of_ten(shift)) / power_of_ten(shift)
                      : rint(distance / power_of_ten(-shift)) * power_of_ten(-shift);
}

/* Does a new reference come before one of the list? */
__device__ static bool comes_before(double key, int64_t number, double other, int64_t other_number)
{
    if (other_number < 0) return true;
    double other_key = distance_key(other);
    return key < other_key || (key == other_key && number < other_number);
}

/* All lanes: takes a reference into the sorted list, whose last one goes. */
__device__ static void insert(double *distance, int64_t *index, int64_t k, double gap, int64_t number)
{
    double key = distance_key(gap);
    int64_t at = 0;
    for (int64_t t = 0; t < k; t += WARP) {
        int64_t mine = t + lane_of_thread();
        bool stays = mine < k && !comes_before(key, number, distance[mine], index[mine]);
        at += __popc(__ballot_sync(ALL_LANES, stays));
    }
    if (at == k) return;
    for (int64_t end = k - 1; end > at; end -= WARP) { /* moves up by one, from the end */
        int64_t to = end - lane_of_thread();
        bool moves = to > at;
        double d = moves ? distance[to - 1] : 0;
        int64_t n = moves ? index[to - 1] : 0;
        __syncwarp();
        if (moves) {
            distance[to] = d;
            index[to] = n;
        }
        __syncwarp();
    }
    if (lane_of_thread() == 0) {
        distance[at] = gap;
        index[at] = number;
    }
    __syncwarp();
}

/* ---- distances ---- */

__device__ static double cosine_distance(double dot, double nx, double nz, double chord)
{
    if (nx == 0 || nz == 0) return 1.0;
    double cosine = dot / (nx * nz);
    return cosine < 0.5 ? fmin(1.0 - cosine, 2.0) : 0.5 * chord;
}

/* All lanes: of two dense rows. 1 - cos = |x/|x| - z/|z||^2 / 2 does not cancel where they point the same way. */
__device__ static double dense_exact(const knn_job &job, int64_t q, int64_t r)
{
    const plain_mat &a = job.queries.dense, &b = job.references.dense;
    const double *x = a.data + q * a.ld, *z = b.data + r * b.ld;
    double sum = 0, dot = 0, nx = sqrt(job.nq[q]), nz = sqrt(job.nr[r]);
    for (int64_t c = lane_of_thread(); c < a.cols; c += WARP) {
        double gap = job.cosine ? (nx > 0 && nz > 0 ? x[c] / nx - z[c] / nz : 0.0) : x[c] - z[c];
        sum = fma(gap, gap, sum);
        dot = fma(x[c], z[c], dot);
    }
    sum = lanes_sum(sum);
    dot = lanes_sum(dot);
    return job.cosine ? cosine_distance(dot, nx, nz, sum) : sqrt(sum);
}

/* One lane: of two sparse rows. */
__device__ static double sparse_exact(const knn_job &job, int64_t q, int64_t r)
{
    double nx = sqrt(job.nq[q]), nz = sqrt(job.nr[r]);
    if (!job.cosine) return sqrt(merge_rows<false>(job.queries.csr, q, job.references.csr, r).distance);
    if (nx == 0 || nz == 0) return 1.0;
    pair_sums sums = merge_rows<true>(job.queries.csr, q, job.references.csr, r, nx, nz);
    return cosine_distance(sums.product, nx, nz, sums.distance);
}

/* ---- the scan ---- */

/* Lower bound of the squared distance (or of 1 - cos), from the product. */
__device__ static double lower_bound(const knn_job &job, double nq, double nr, double product)
{
    if (!job.cosine) return nq + nr - 2.0 * product - job.c * (nq + nr);
    double scale = sqrt(nq) * sqrt(nr);
    return scale > 0 ? 1.0 - product / scale - job.c : 1.0;
}

/* Lower bounds beyond this cannot come before the worst of the list: its key rounds to 12 digits, and below 1e-12 all
 * are one. */
__device__ static double list_limit(const knn_job &job, const double *distance)
{
    double worst = distance[job.k - 1];
    worst = worst * (1.0 + 1e-11) + 2e-12;
    return job.cosine ? worst : worst * worst;
}

__device__ static bool is_candidate(const knn_job &job, int64_t q, int64_t r)
{
    if (r >= job.left + job.cols || (job.present && !job.present[r])) return false;
    return job.first_query < 0 || job.first_reference + r != job.first_query + q;
}

/* All lanes: exact distances for the references from `first` on whose lane is set. */
__device__ static void take_hits(const knn_job &job, int64_t q, int64_t first, unsigned hits, double low, double *limit)
{
    double *distance = job.distance + q * job.k;
    for (; hits; hits &= hits - 1) {
        int lane = __ffs((int)hits) - 1;
        if (__shfl_sync(ALL_LANES, low, lane) > *limit) continue; /* it has come down meanwhile */
        insert(distance, job.index + q * job.k, job.k, dense_exact(job, q, first + lane),
               job.first_reference + first + lane);
        *limit = list_limit(job, distance);
    }
}

/* AHEAD loads of a lane are under way at a time: 64 warps of a multiprocessor would not fill the memory's queue with
 * one each. */
__global__ void scan_dense(knn_job job)
{
    enum { AHEAD = 4 };
    for (int64_t row = warp_of_grid(); row < job.rows; row += warps_in_grid()) {
        int64_t q = job.top + row;
        double nq = job.nq[q], limit = list_limit(job, job.distance + q * job.k);
        const double *product = job.product + row * job.cols;
        for (int64_t at = 0; at < job.cols; at += AHEAD * WARP) {
            double low[AHEAD];
            bool there[AHEAD];
#pragma unroll
            for (int u = 0; u < AHEAD; u++) {
                int64_t mine = at + u * WARP + lane_of_thread(), r = job.left + mine;
                there[u] = is_candidate(job, q, r);
                low[u] = there[u] ? lower_bound(job, nq, job.nr[r], product[mine]) : 0.0;
            }
#pragma unroll
            for (int u = 0; u < AHEAD; u++) {
                unsigned hits = __ballot_sync(ALL_LANES, there[u] && !(low[u] > limit));
                take_hits(job, q, job.left + at + u * WARP, hits, low[u], &limit);
            }
        }
    }
}

__global__ void scan_sparse(knn_job job)
{
    for (int64_t q = warp_of_grid(); q < job.rows; q += warps_in_grid()) {
        int64_t *index = job.index + q * job.k;
        double *distance = job.distance + q * job.k;
        for (int64_t at = 0; at < job.cols; at += WARP) {
            int64_t r = at + lane_of_thread();
            bool there = is_candidate(job, q, r);
            double gap = there ? sparse_exact(job, q, r) : 0.0;
            bool hit = there &&
                       comes_before(distance_key(gap), job.first_reference + r, distance[job.k - 1], index[job.k - 1]);
            for (unsigned hits = __ballot_sync(ALL_LANES, hit); hits; hits &= hits - 1) {
                int lane = __ffs((int)hits) - 1;
                insert(distance, index, job.k, __shfl_sync(ALL_LANES, gap, lane), job.first_reference + at + lane);
            }
        }
    }
}

/* ---- the operation ---- */

int64_t knn_bytes(int64_t queries, int64_t references)
{
    int64_t tile = std::min<int64_t>(queries, KNN_QUERIES) * std::min<int64_t>(references, KNN_REFERENCES);
    return 8 * (tile + queries + references);
}

static int64_t scan_blocks(int64_t rows) { return warp_blocks(rows); }

static int search_dense(plx_device *d, knn_job job)
{
    const plain_mat &a = job.queries.dense, &b = job.references.dense;
    scratch<double> tile(d);
    TRY(tile.take(std::min<int64_t>(job.queries.count, KNN_QUERIES) *
                  std::min<int64_t>(job.references.count, KNN_REFERENCES)));
    job.product = tile.data;
    for (job.top = 0; job.top < job.queries.count; job.top += job.rows) {
        job.rows = std::min<int64_t>(KNN_QUERIES, job.queries.count - job.top);
        for (job.left = 0; job.left < job.references.count; job.left += job.cols) {
            job.cols = std::min<int64_t>(KNN_REFERENCES, job.references.count - job.left);
            operand x = {a.data + job.top * a.ld, a.ld, PLX_DEVICE_PLAIN};
            operand z = {b.data + job.left * b.ld, b.ld, PLX_DEVICE_TRANSPOSED};
            if (a.cols > 0) TRY(row_gemm(d, job.rows, job.cols, a.cols, 1.0, x, z, 0.0, tile.data, job.cols));
            else TRY_CUDA(d, cudaMemsetAsync(tile.data, 0, (size_t)(job.rows * job.cols) * 8, d->stream));
            TRY(device_launch(d, "knn", scan_dense, scan_blocks(job.rows), THREADS, job));
        }
    }
    return PLX_DEVICE_OK;
}

int cuda_knn(plx_device *d, const plx_device_knn *step)
{
    scratch<double> norms(d);
    TRY(device_enter(d));
    TRY(check_points(d, step->queries));
    TRY(check_points(d, step->references));
    knn_job job = {};
    job.queries = points_of(step->queries);
    job.references = points_of(step->references);
    if (job.queries.count == 0 || job.references.count == 0) return PLX_DEVICE_OK;
    TRY(norms.take(job.queries.count + job.references.count));
    TRY(points_norms(d, job.queries, norms.data));
    TRY(points_norms(d, job.references, norms.data + job.queries.count));
    job.nq = norms.data;
    job.nr = norms.data + job.queries.count;
    job.k = step->k;
    job.first_reference = step->first_reference;
    job.first_query = step->first_query;
    job.present = buffer_of<uint8_t>(step->present);
    job.index = (int64_t *)step->index->data;
    job.distance = (double *)step->distance->data;
    job.c = (4.0 * (double)job.queries.cols + 64.0) * 2.3e-16; /* d + 2 roundings in each of three sums, and to spare */
    job.cosine = step->metric == PLX_DEVICE_COSINE_DISTANCE;
    if (!job.queries.sparse) return search_dense(d, job);
    job.rows = job.queries.count;
    job.cols = job.references.count;
    return device_launch(d, "knn", scan_sparse, scan_blocks(job.rows), THREADS, job);
}
