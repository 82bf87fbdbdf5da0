/*
 * Sparse matrices: kept as they come, and where asked for also by columns, slab by slab (sweep.h). The transpose is a
 * stable radix sort of the entries by their column, eight bits at a time, then by their slab, so entries of one column
 * stay in the order of the rows: the same bytes in every run. A warp sorts SORT_TILE entries: it counts its digits, a scan
 * over (digit, tile) tells where each tile's entries of a digit begin, and a second pass puts them there. Three passes for
 * up to 2^24 columns, and one for the slabs; 24 to 32 bytes read and written for an entry and pass.
 */
#include <new>
#include <vector>

#include "pairs.h"

enum { DIGITS = 256, DIGIT_BITS = 8, SCAN_THREADS = 1024 };

/* ---- upload ---- */

/* Values in single precision; *inexact becomes 1 where that loses something. */
__global__ void narrow(const double *from, float *to, int64_t count, unsigned *inexact)
{
    int64_t step = (int64_t)gridDim.x * THREADS;
    bool lost = false;
    for (int64_t e = (int64_t)blockIdx.x * THREADS + threadIdx.x; e < count; e += step) {
        to[e] = (float)from[e];
        lost |= !((double)to[e] == from[e]);
    }
    if (lost) atomicOr(inexact, 1u);
}

/* Tries to keep the values in single precision; *exact tells whether that went well. */
static int upload_single(plx_device *d, float *to, const double *val, int64_t entries, bool *exact)
{
    scratch<double> chunk(d);
    scratch<unsigned> flag(d);
    unsigned inexact = 0;
    TRY(chunk.take(std::min<int64_t>(entries, UPLOAD_CHUNK)));
    TRY(flag.take(1));
    TRY(device_send(d, flag.data, &inexact, 1));
    for (int64_t at = 0; at < entries && !inexact; at += UPLOAD_CHUNK) {
        int64_t count = std::min<int64_t>(UPLOAD_CHUNK, entries - at);
        TRY(device_send(d, chunk.data, val + at, count));
        TRY(device_launch(d, "narrow", narrow, thread_blocks(count), THREADS, (const double *)chunk.data, to + at,
                          count, flag.data));
        TRY(device_fetch(d, &inexact, flag.data, 1));
    }
    *exact = !inexact;
    return PLX_DEVICE_OK;
}

static int upload_values(plx_device *d, csr_way *way, const double *val, int64_t entries)
{
    bool exact = false;
    scratch<float> single(d);
    scratch<double> wide(d);
    TRY(single.take(entries));
    TRY(upload_single(d, single.data, val, entries, &exact));
    if (exact) {
        way->single = single.keep();
        return PLX_DEVICE_OK;
    }
    device_give(d, single.keep());
    TRY(wide.take(entries));
    TRY(device_send(d, wide.data, val, entries));
    way->wide = wide.keep();
    return PLX_DEVICE_OK;
}

/* Rows too long for one warp. */
struct cut_rows {
    std::vector<long_row> longs;
    std::vector<row_segment> segments;

    /* Those among `rows` rows; segments are numbered from here. */
    void look_for(const int64_t *ptr, int64_t rows, int64_t longest)
    {
        const int64_t before = (int64_t)segments.size();
        for (int64_t i = 0; i < rows; i++) {
            if (ptr[i + 1] - ptr[i] <= longest) continue;
            longs.push_back({i, (int64_t)segments.size() - before, divide_up(ptr[i + 1] - ptr[i], longest)});
            for (int64_t at = ptr[i]; at < ptr[i + 1]; at += longest)
                segments.push_back({i, at, std::min(at + longest, ptr[i + 1])});
        }
    }

    int upload(plx_device *d, csr_way *way) const
    {
        scratch<long_row> rows(d);
        scratch<row_segment> parts(d);
        way->n_long = (int64_t)longs.size();
        way->n_segments = (int64_t)segments.size();
        if (longs.empty()) return PLX_DEVICE_OK;
        TRY(rows.take(way->n_long));
        TRY(parts.take(way->n_segments));
        TRY(device_send(d, rows.data, longs.data(), way->n_long));
        TRY(device_send(d, parts.data, segments.data(), way->n_segments));
        way->longs = rows.keep();
        way->segments = parts.keep();
        return PLX_DEVICE_OK;
    }
};

static int upload(plx_device *d, csr_way *way, int64_t rows, const int64_t *ptr, const int32_t *col, const double *val)
{
    int64_t entries = ptr[rows];
    scratch<int64_t> starts(d);
    scratch<int32_t> cols(d);
    way->rows = rows;
    TRY(starts.take(rows + 1));
    TRY(device_send(d, starts.data, ptr, rows + 1));
    way->ptr = starts.keep();
    TRY(cols.take(entries));
    TRY(device_send(d, cols.data, col, entries));
    way->col = cols.keep();
    TRY(upload_values(d, way, val, entries));
    cut_rows cuts;
    way->longest = LONG_ROW;
    cuts.look_for(ptr, rows, way->longest);
    return cuts.upload(d, way);
}

/* ---- transpose ---- */

/* Entries on their way: column, row and value. */
struct entry_list {
    int32_t *key, *row;
    float *single;
    double *wide;
};

__global__ void expand_rows(const int64_t *ptr, int64_t rows, int32_t *row)
{
    for (int64_t i = warp_of_grid(); i < rows; i += warps_in_grid())
        for (int64_t e = ptr[i] + lane_of_thread(); e < ptr[i + 1]; e += WARP) row[e] = (int32_t)i;
}

/* How many entries of a row are of ranks from `frequent` on: they come last. */
__global__ void count_rest(csr_way x, int32_t frequent, int64_t *rest)
{
    const int64_t step = (int64_t)gridDim.x * THREADS;
    for (int64_t i = (int64_t)blockIdx.x * THREADS + threadIdx.x; i <= x.rows; i += step) {
        int64_t low = i < x.rows ? x.ptr[i] : 0, high = i < x.rows ? x.ptr[i + 1] : 0;
        const int64_t end = high;
        while (low < high) {
            const int64_t middle = (low + high) / 2;
            if (x.col[middle] < frequent) low = middle + 1;
            else high = middle;
        }
        rest[i] = end - low;
    }
}

/* They become a list; rest: where a row's begin in it. */
__global__ void list_rest(csr_way x, int32_t frequent, const int64_t *rest, entry_list to)
{
    for (int64_t i = warp_of_grid(); i < x.rows; i += warps_in_grid()) {
        const int64_t count = rest[i + 1] - rest[i], from = x.ptr[i + 1] - count;
        for (int64_t t = lane_of_thread(); t < count; t += WARP) {
            const int64_t place = rest[i] + t;
            to.key[place] = x.col[from + t] - frequent;
            to.row[place] = (int32_t)i;
            if (to.single) to.single[place] = x.single[from + t];
            else to.wide[place] = x.wide[from + t];
        }
    }
}

__device__ static inline int digit_of(int32_t key, int shift) { return (key >> shift) & (DIGITS - 1); }

/* `by`: what they are sorted by in this pass. */
__global__ void count_digits(const int32_t *by, int64_t entries, int shift, int64_t tiles, int64_t *counts)
{
    __shared__ int count[WARPS][DIGITS];
    int64_t tile = warp_of_grid(), begin = tile * SORT_TILE;
    int64_t end = begin + SORT_TILE < entries ? begin + SORT_TILE : entries;
    int *mine = count[warp_of_block()];
    for (int g = lane_of_thread(); g < DIGITS; g += WARP) mine[g] = 0;
    __syncwarp();
    for (int64_t e = begin + lane_of_thread(); e < end; e += WARP) atomicAdd(&mine[digit_of(by[e], shift)], 1);
    __syncwarp();
    for (int g = lane_of_thread(); g < DIGITS; g += WARP)
        if (tile < tiles) counts[g * tiles + tile] = mine[g];
}

/* One block: every thread adds up a stretch, then knows what comes before it. */
__global__ void scan_counts(int64_t *counts, int64_t n)
{
    __shared__ int64_t before[SCAN_THREADS];
    int me = (int)threadIdx.x;
    int64_t stretch = divide_up(n, SCAN_THREADS), begin = me * stretch < n ? me * stretch : n;
    int64_t end = begin + stretch < n ? begin + stretch : n, sum = 0;
    for (int64_t t = begin; t < end; t++) sum += counts[t];
    before[me] = sum;
    __syncthreads();
    if (me == 0) {
        int64_t total = 0;
        for (int t = 0; t < SCAN_THREADS; t++) {
            int64_t own = before[t];
            before[t] = total;
            total += own;
        }
    }
    __syncthreads();
    sum = before[me];
    for (int64_t t = begin; t < end; t++) {
        int64_t own = counts[t];
        counts[t] = sum;
        sum += own;
    }
}

/* 32 entries at a time in their order; those of one digit are numbered among themselves by their lanes. */
__global__ void place_entries(entry_list from, entry_list to, const int32_t *by, int64_t entries, int shift,
                              int64_t tiles, const int64_t *starts)
{
    __shared__ int64_t next[WARPS][DIGITS];
    int64_t tile = warp_of_grid(), begin = tile * SORT_TILE;
    int64_t end = begin + SORT_TILE < entries ? begin + SORT_TILE : entries;
    int64_t *mine = next[warp_of_block()];
    unsigned lower = (1u << lane_of_thread()) - 1u;
    for (int g = lane_of_thread(); g < DIGITS; g += WARP)
        if (tile < tiles) mine[g] = starts[g * tiles + tile];
    __syncwarp();
    for (int64_t at = begin; at < end; at += WARP) {
        int64_t e = at + lane_of_thread();
        bool inside = e < end;
        int digit = inside ? digit_of(by[e], shift) : -1;
        unsigned alike = __match_any_sync(ALL_LANES, digit);
        int64_t place = inside ? mine[digit] + __popc(alike & lower) : 0;
        __syncwarp();
        if (inside && (alike & lower) == 0) mine[digit] += __popc(alike); /* the first of them */
        __syncwarp();
        if (!inside) continue;
        to.key[place] = from.key[e];
        to.row[place] = from.row[e];
        if (from.single) to.single[place] = from.single[e];
        else to.wide[place] = from.wide[e];
    }
}

/* ptr for all columns of all slabs from the sorted entries: each one that begins columns writes theirs, the last one the
 * rest. */
__global__ void find_starts(const int32_t *key, const int32_t *row, int64_t entries, int64_t cols, int64_t slabs,
                            int slab_bits, int64_t *ptr)
{
    int64_t step = (int64_t)gridDim.x * THREADS;
    for (int64_t e = (int64_t)blockIdx.x * THREADS + threadIdx.x; e <= entries; e += step) {
        int64_t from = e == 0 ? 0 : (row[e - 1] >> slab_bits) * cols + key[e - 1] + 1;
        int64_t to = e == entries ? slabs * cols : (row[e] >> slab_bits) * cols + key[e];
        for (int64_t c = from; c <= to; c++) ptr[c] = e;
    }
}

int scan_in_place(plx_device *d, int64_t *counts, int64_t n)
{
    return device_launch(d, "scan_counts", scan_counts, 1, SCAN_THREADS, counts, n);
}

struct sort_rooms {
    scratch<int32_t> key, row;
    scratch<float> single;
    scratch<double> wide;
    explicit sort_rooms(plx_device *d) : key(d), row(d), single(d), wide(d) {}
    int take(int64_t entries, bool narrow)
    {
        TRY(key.take(entries));
        TRY(row.take(entries));
        return narrow ? single.take(entries) : wide.take(entries);
    }
    entry_list list() const { return {key.data, row.data, single.data, wide.data}; }
};

static int sort_pass(plx_device *d, entry_list from, entry_list to, const int32_t *by, int64_t entries, int shift,
                     int64_t *counts)
{
    int64_t tiles = divide_up(entries, SORT_TILE), blocks = divide_up(tiles, WARPS);
    TRY(device_launch(d, "count_digits", count_digits, blocks, THREADS, by, entries, shift, tiles, counts));
    TRY(scan_in_place(d, counts, DIGITS * tiles));
    return device_launch(d, "place_entries", place_entries, blocks, THREADS, from, to, by, entries, shift, tiles,
                         (const int64_t *)counts);
}

static int digit_passes(int64_t cols)
{
    int passes = 1;
    while (cols > (int64_t)1 << (DIGIT_BITS * passes)) passes++;
    return passes;
}

/* Slabs of at least SLAB_ROWS rows, as many as a digit tells apart and as columns have entries for. */
struct slab_plan {
    int bits;
    int64_t slabs;
};

static slab_plan plan_slabs(int64_t rows, int64_t cols, int64_t entries)
{
    const int64_t most = std::max<int64_t>(1, std::min<int64_t>(DIGITS, entries / (SLAB_ENTRIES * (cols + 1))));
    int bits = SLAB_BITS;
    while (divide_up(rows, (int64_t)1 << bits) > most) bits++;
    return {bits, std::max<int64_t>(1, divide_up(rows, (int64_t)1 << bits))};
}

/* What is kept of the sorted entries of `cols` columns. */
static int list_slabs(plx_device *d, plx_device_csr *csr, slab_plan plan, int64_t cols, const std::vector<int64_t> &ptr)
{
    const csr_way *all = &csr->turned;
    cut_rows cuts;
    std::vector<int64_t> longs, segments;
    for (int64_t s = 0; s <= plan.slabs; s++) {
        longs.push_back((int64_t)cuts.longs.size());
        segments.push_back((int64_t)cuts.segments.size());
        if (s < plan.slabs) cuts.look_for(ptr.data() + s * cols, cols, LONG_PIECE);
    }
    TRY(cuts.upload(d, &csr->turned));
    for (int64_t s = 0; s < plan.slabs; s++)
        csr->flipped.push_back({cols, LONG_PIECE, all->ptr + s * cols, all->col, all->single, all->wide,
                                longs[s + 1] - longs[s], segments[s + 1] - segments[s], all->longs + longs[s],
                                all->segments + segments[s]});
    return PLX_DEVICE_OK;
}

/* The entries of the columns from `frequent.ranks` on, which lie as they come, with their rows, before the first pass: in
 * the plain way and `room`, or all in `room`. */
static int first_list(plx_device *d, const plx_device_csr *csr, sort_rooms *room, int64_t *entries, entry_list *out)
{
    const bool single = csr->plain.single != nullptr;
    const int64_t blocks = warp_blocks(csr->rows);
    *entries = csr->entries - csr->frequent.entries;
    TRY(room->take(*entries, single));
    if (csr->frequent.ranks == 0) {
        *out = {csr->plain.col, room->row.data, csr->plain.single, csr->plain.wide};
        return device_launch(d, "expand_rows", expand_rows, blocks, THREADS, (const int64_t *)csr->plain.ptr, csr->rows,
                             room->row.data);
    }
    scratch<int64_t> rest(d);
    const int32_t frequent = (int32_t)csr->frequent.ranks;
    TRY(rest.take(csr->rows + 1));
    *out = room->list();
    TRY(device_launch(d, "count_rest", count_rest, thread_blocks(csr->rows + 1), THREADS, csr->plain, frequent,
                      rest.data));
    TRY(scan_in_place(d, rest.data, csr->rows + 1));
    return device_launch(d, "list_rest", list_rest, blocks, THREADS, csr->plain, frequent, (const int64_t *)rest.data,
                         *out);
}

/* Sorts what is not frequent. The list lies in `b` before the first pass, which goes to `a`. */
static int transpose_rest(plx_device *d, plx_device_csr *csr)
{
    const int64_t cols = csr->cols - csr->frequent.ranks;
    int64_t entries = 0;
    entry_list from;
    sort_rooms a(d), b(d), *last = &a;
    scratch<int64_t> counts(d), starts(d);
    TRY(first_list(d, csr, &b, &entries, &from));
    const slab_plan plan = plan_slabs(csr->rows, cols, entries);
    const int columns = digit_passes(cols), passes = columns + (plan.slabs > 1);
    const int64_t starts_count = plan.slabs * cols + 1;
    csr_way *out = &csr->turned;
    TRY(a.take(entries, csr->plain.single != nullptr));
    TRY(counts.take(DIGITS * std::max<int64_t>(1, divide_up(entries, SORT_TILE))));
    TRY(starts.take(starts_count));
    for (int p = 0; p < passes && entries > 0; p++) {
        last = p % 2 == 0 ? &a : &b;
        TRY(sort_pass(d, from, last->list(), p < columns ? from.key : from.row, entries,
                      p < columns ? DIGIT_BITS * p : plan.bits, counts.data));
        from = last->list();
    }
    TRY(device_launch(d, "find_starts", find_starts, thread_blocks(entries + 1), THREADS,
                      (const int32_t *)last->key.data, (const int32_t *)last->row.data, entries, cols, plan.slabs,
                      plan.bits, starts.data));
    std::vector<int64_t> host((size_t)starts_count);
    TRY(device_fetch(d, host.data(), starts.data, starts_count));
    out->rows = plan.slabs * cols;
    out->ptr = starts.keep();
    out->col = last->row.keep();
    out->single = last->single.keep();
    out->wide = last->wide.keep();
    return list_slabs(d, csr, plan, cols, host);
}

static int transpose(plx_device *d, plx_device_csr *csr)
{
    if (csr->frequent.ranks > 0) {
        scratch<int32_t> row(d);
        TRY(row.take(csr->entries));
        TRY(device_launch(d, "expand_rows", expand_rows, warp_blocks(csr->rows), THREADS,
                          (const int64_t *)csr->plain.ptr, csr->rows, row.data));
        TRY(gather_frequent(d, csr, row.data));
    }
    return transpose_rest(d, csr);
}

/* ---- long rows of ranked matrices ---- */

static void release_way(plx_device *d, csr_way *way)
{
    device_give(d, way->ptr);
    device_give(d, way->col);
    device_give(d, way->single);
    device_give(d, way->wide);
    device_give(d, way->longs);
    device_give(d, way->segments);
}

/* A warp for each segment; to: where it begins. */
__global__ void move_segments(csr_way from, const row_segment *segments, const row_segment *to, int64_t count,
                              csr_way out)
{
    for (int64_t s = warp_of_grid(); s < count; s += warps_in_grid()) {
        const int64_t begin = segments[s].begin, length = segments[s].end - begin;
        for (int64_t t = lane_of_thread(); t < length; t += WARP) {
            out.col[to[s].begin + t] = from.col[begin + t];
            if (out.single) out.single[to[s].begin + t] = from.single[begin + t];
            else out.wide[to[s].begin + t] = from.wide[begin + t];
        }
    }
}

/* Those of the plain way are all that is left of it. */
static int keep_long_rows(plx_device *d, plx_device_csr *csr, const int64_t *ptr)
{
    cut_rows cuts;
    csr_way kept = {};
    scratch<row_segment> old(d);
    sort_rooms room(d);
    int64_t entries = 0;
    cuts.look_for(ptr, csr->rows, LONG_SLICED);
    const int64_t count = (int64_t)cuts.segments.size();
    TRY(old.take(count));
    TRY(device_send(d, old.data, cuts.segments.data(), count));
    for (row_segment &s : cuts.segments) {
        const int64_t length = s.end - s.begin;
        s = {s.row, entries, entries + length};
        entries += length;
    }
    TRY(room.take(entries, csr->plain.single != nullptr));
    TRY(cuts.upload(d, &kept));
    kept.col = room.key.keep();
    kept.single = room.single.keep();
    kept.wide = room.wide.keep();
    kept.longest = LONG_SLICED;
    std::swap(kept, csr->plain);
    int code =
        device_launch(d, "move_segments", move_segments, warp_blocks(count), THREADS, kept,
                      (const row_segment *)old.data, (const row_segment *)csr->plain.segments, count, csr->plain);
    release_way(d, &kept);
    return code;
}

/* Ranks, the transpose, then the rows by slices; ptr: of the rows, on the host. */
static int lay_ranked(plx_device *d, plx_device_csr *csr, const int64_t *ptr)
{
    TRY(rank_columns(d, csr));
    TRY(transpose(d, csr));
    TRY(slice_rows(d, csr));
    return keep_long_rows(d, csr, ptr);
}

/* ---- the operations ---- */

static bool is_ranked(const plx_device *d, int64_t cols, int64_t entries, int flags)
{
    const int both = PLX_DEVICE_BOTH_WAYS | PLX_DEVICE_FEW_COLUMNS;
    return (flags & both) == both && entries >= d->ranked.entries && cols <= entries / d->ranked.share;
}

void cuda_csr_release(plx_device *d, plx_device_csr *csr)
{
    if (!csr) return;
    (void)device_enter(d);
    release_way(d, &csr->plain);
    release_way(d, &csr->turned);
    release_frequent(d, &csr->frequent);
    release_sliced(d, &csr->sliced);
    device_give(d, csr->column);
    delete csr;
}

int cuda_csr_create(plx_device *d, int64_t rows, int64_t cols, const int64_t *ptr, const int32_t *col,
                    const double *val, int flags, plx_device_csr **out)
{
    *out = nullptr;
    TRY(device_enter(d));
    if (rows > INT32_MAX)
        return device_fail(d, PLX_DEVICE_LIMIT, "a sparse matrix on the device has at most %d rows", INT32_MAX);
    plx_device_csr *csr = new (std::nothrow) plx_device_csr();
    if (!csr) return device_fail(d, PLX_DEVICE_NOMEM, "out of memory");
    csr->rows = rows;
    csr->cols = cols;
    csr->entries = ptr[rows];
    const bool both = (flags & PLX_DEVICE_BOTH_WAYS) != 0;
    int code = upload(d, &csr->plain, rows, ptr, col, val);
    if (code == PLX_DEVICE_OK && both)
        code = is_ranked(d, cols, csr->entries, flags) ? lay_ranked(d, csr, ptr) : transpose(d, csr);
    if (code == PLX_DEVICE_OK) *out = csr;
    else cuda_csr_release(d, csr);
    return code;
}

/* As if values needed double precision: that is known only when they are here. */
int64_t cuda_csr_bytes(plx_device *d, int64_t rows, int64_t cols, int64_t entries, int flags)
{
    const int64_t parts = (int64_t)sizeof(long_row) + 2 * (int64_t)sizeof(row_segment);
    int64_t cuts = (entries / LONG_PIECE + 1) * parts, counts = 8 * DIGITS * (entries / SORT_TILE + 1);
    int64_t plain = 8 * (rows + 1) + 12 * entries + cuts;
    if (!(flags & PLX_DEVICE_BOTH_WAYS)) return SMALL_BYTES + plain + 4 * entries + 8 * UPLOAD_CHUNK;
    const int64_t starts = 8 * (plan_slabs(rows, cols, entries).slabs * cols + 1);
    const int64_t ranked =
        is_ranked(d, cols, entries, flags) ? 12 * cols + 24 * rows + 1024 + frequent_bytes(d, rows, cols) : 0;
    return SMALL_BYTES + plain + 32 * entries + starts + cuts + counts + 8 * UPLOAD_CHUNK + ranked;
}

/* ---- rows for kernels and neighbours ---- */

int check_points(plx_device *d, plx_device_rows rows)
{
    if (!rows.csr || !rows.csr->column) return PLX_DEVICE_OK;
    return device_fail(d, PLX_DEVICE_LIMIT, "a sparse matrix made for sweeps is not for kernels and neighbours");
}

point_rows points_of(plx_device_rows rows)
{
    point_rows p = {};
    p.sparse = rows.csr != nullptr;
    if (!p.sparse) {
        p.dense = mat_of(rows.dense);
        p.count = rows.dense.rows;
        p.cols = rows.dense.cols;
        return p;
    }
    p.csr = rows.csr->plain;
    p.csr.ptr += rows.first;
    p.csr.rows = p.count = rows.count;
    p.cols = rows.csr->cols;
    return p;
}

bool same_points(plx_device_rows a, plx_device_rows b)
{
    if (a.csr || b.csr) return a.csr == b.csr && a.first == b.first && a.count == b.count;
    return a.dense.buffer == b.dense.buffer && a.dense.offset == b.dense.offset && a.dense.rows == b.dense.rows &&
           a.dense.ld == b.dense.ld;
}

__global__ void sparse_norms(csr_way x, double *out)
{
    for (int64_t i = warp_of_grid(); i < x.rows; i += warps_in_grid()) {
        double sum = 0;
        for (int64_t e = x.ptr[i] + lane_of_thread(); e < x.ptr[i + 1]; e += WARP) {
            double v = entry_value(x, e);
            sum = fma(v, v, sum);
        }
        sum = lanes_sum(sum);
        if (lane_of_thread() == 0) out[i] = sum;
    }
}

int points_norms(plx_device *d, point_rows p, double *out)
{
    if (!p.sparse) return dense_norms(d, p.dense, {out, 1});
    return device_launch(d, "sparse_norms", sparse_norms, warp_blocks(p.count), THREADS, p.csr, out);
}
