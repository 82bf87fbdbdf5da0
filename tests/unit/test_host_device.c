/*
 * Every operation of the table of parallax/device.h, as the host device has it, against the library's own functions or
 * sums written out: what a device must do. With PLX_TEST_DEVICE=cuda it is that one which has to.
 */
#include "linalg_test.h"

#include "device_helpers.h"
#include "linalg/eigen.h"
#include "linalg/factor.h"
#include "linalg/knn.h"

static const plx_device_table *t; /* of the device that is tested */

typedef struct desk {
    plx_context *ctx;
    plx_device *d;
    plx_device_buffer *held[32];
    int count;
} desk;

static int set_up(void **state)
{
    desk *s = calloc(1, sizeof *s);
    char why[64];
    *plx__host_device_faults() = (plx__host_faults){0};
    s->ctx = test_context(1);
    assert_int_equal(t->open(&s->d, 0, why, sizeof why), PLX_DEVICE_OK);
    *state = s;
    return 0;
}

static int tear_down(void **state)
{
    desk *s = *state;
    for (int i = 0; i < s->count; i++) t->release(s->d, s->held[i]);
    t->close(s->d);
    plx_context_destroy(s->ctx);
    free(s);
    return 0;
}

/* ---- helpers ---- */

static plx_device_buffer *keep(desk *s, int64_t bytes)
{
    assert_true(s->count < 32);
    assert_int_equal(t->alloc(s->d, bytes, &s->held[s->count]), PLX_DEVICE_OK);
    return s->held[s->count++];
}

static plx_device_buffer *put_bytes(desk *s, const void *from, int64_t bytes)
{
    plx_device_buffer *b = keep(s, bytes);
    assert_int_equal(t->write_bytes(s->d, b, 0, from, bytes), PLX_DEVICE_OK);
    return b;
}

/* Inside a larger buffer, so that offsets and leading dimensions count. */
static plx_device_mat room(desk *s, plx_index rows, plx_index cols)
{
    plx_device_mat m = {keep(s, 8 * (5 + rows * (cols + 3))), 5, rows, cols, cols + 3};
    return m;
}

static plx_device_mat put(desk *s, plx_mat from)
{
    plx_device_mat m = room(s, from.rows, from.cols);
    assert_int_equal(t->write(s->d, m, from.data, from.ld), PLX_DEVICE_OK);
    return m;
}

static plx_mat get(desk *s, plx_device_mat from)
{
    plx_mat m;
    assert_int_equal(plx__arena_mat(&m, plx__scratch(s->ctx), from.rows, from.cols), PLX_OK);
    assert_int_equal(t->read(s->d, m.data, m.ld, from), PLX_DEVICE_OK);
    return m;
}

static plx_mat blank(desk *s, plx_index rows, plx_index cols)
{
    plx_mat m;
    assert_int_equal(plx__arena_mat(&m, plx__scratch(s->ctx), rows, cols), PLX_OK);
    return m;
}

static void check_close(plx_mat x, plx_mat y, double tol)
{
    assert_int_equal(x.rows, y.rows);
    assert_int_equal(x.cols, y.cols);
    for (plx_index i = 0; i < x.rows; i++)
        for (plx_index j = 0; j < x.cols; j++) assert_true(fabs(at(x, i, j) - at(y, i, j)) <= tol);
}

static void check_lower(plx_mat x, plx_mat y, double tol)
{
    for (plx_index i = 0; i < x.rows; i++)
        for (plx_index j = 0; j <= i; j++) assert_true(fabs(at(x, i, j) - at(y, i, j)) <= tol);
}

static const plx_device_mat NONE = {0};

/* ---- memory ---- */

static void copies_and_fills(void **state)
{
    desk *s = *state;
    plx_mat a = test_mat(s->ctx, 4, 3, 1);
    plx_device_mat da = put(s, a), db = room(s, 4, 3);
    assert_int_equal(t->copy(s->d, db, da), PLX_DEVICE_OK);
    check_close(get(s, db), a, 0);
    assert_int_equal(t->fill(s->d, db, 7), PLX_DEVICE_OK);
    assert_true(at(get(s, db), 3, 2) == 7);
    int32_t numbers[3] = {4, 5, 6}, back[2];
    plx_device_buffer *b = put_bytes(s, numbers, sizeof numbers);
    assert_int_equal(t->read_bytes(s->d, back, b, sizeof *numbers, sizeof back), PLX_DEVICE_OK);
    assert_true(back[0] == 5 && back[1] == 6);
}

static void tells_about_itself(void **state)
{
    desk *s = *state;
    plx_device_facts facts = {.struct_size = sizeof facts};
    int64_t before = 0, after = 0;
    assert_int_equal(t->facts(s->d, &facts), PLX_DEVICE_OK);
    assert_string_equal(facts.name, "host");
    assert_int_equal(t->memory_free(s->d, &before), PLX_DEVICE_OK);
    (void)keep(s, 1000);
    assert_int_equal(t->memory_free(s->d, &after), PLX_DEVICE_OK);
    assert_true(after <= before - 1000);
    assert_int_equal(t->sync(s->d), PLX_DEVICE_OK);
    assert_string_equal(t->error(s->d), "");
}

static void is_short_of_memory_when_told(void **state)
{
    (void)state;
    plx_device *d = NULL;
    plx_device_buffer *b = NULL;
    char why[64];
    plx__host_device_faults()->memory = 100000;
    assert_int_equal(t->open(&d, 0, why, sizeof why), PLX_DEVICE_OK);
    assert_int_equal(t->alloc(d, 200000, &b), PLX_DEVICE_NOMEM);
    assert_null(b);
    assert_string_equal(t->error(d), "out of memory");
    assert_int_equal(t->alloc(d, 50000, &b), PLX_DEVICE_OK);
    t->release(d, b);
    t->close(d);
    plx__host_device_faults()->memory = 0;
    plx__host_device_faults()->absent = true;
    assert_int_equal(t->open(&d, 0, why, sizeof why), PLX_DEVICE_FAILED);
    assert_null(d);
    plx__host_device_faults()->absent = false;
}

static void any_call_can_fail(void **state)
{
    desk *s = *state;
    plx_device_mat a = room(s, 2, 2);
    plx__host_faults *f = plx__host_device_faults();
    *f = (plx__host_faults){.fail_at = 2};
    assert_int_equal(t->fill(s->d, a, 1), PLX_DEVICE_OK);
    assert_int_equal(t->fill(s->d, a, 1), PLX_DEVICE_FAILED);
    assert_string_equal(t->error(s->d), "the call was made to fail");
    assert_int_equal(t->fill(s->d, a, 1), PLX_DEVICE_OK);
    assert_int_equal(f->calls, 3);
}

/* ---- dense ---- */

static void multiplies(void **state)
{
    desk *s = *state;
    plx_mat a = test_mat(s->ctx, 5, 4, 1), b = test_mat(s->ctx, 3, 4, 2), c = test_mat(s->ctx, 5, 3, 3);
    plx_device_mat dc = put(s, c), dk = put(s, blank(s, 5, 5));
    assert_int_equal(t->gemm(s->d, 2, put(s, a), PLX_DEVICE_PLAIN, put(s, b), PLX_DEVICE_TRANSPOSED, 0.5, dc),
                     PLX_DEVICE_OK);
    assert_int_equal(plx__gemm(s->ctx, 2, plx__cmat(a), PLX__N, plx__cmat(b), PLX__T, 0.5, c), PLX_OK);
    check_close(get(s, dc), c, 1e-14);
    plx_mat k = blank(s, 5, 5);
    assert_int_equal(t->syrk(s->d, 1, put(s, a), PLX_DEVICE_PLAIN, 0, dk), PLX_DEVICE_OK);
    assert_int_equal(plx__syrk(s->ctx, 1, plx__cmat(a), PLX__N, 0, k), PLX_OK);
    check_lower(get(s, dk), k, 1e-14);
    assert_true(at(get(s, dk), 0, 4) == 0); /* above the diagonal it is left alone */
}

static void factorises_and_solves(void **state)
{
    desk *s = *state;
    enum { N = 7 };
    plx_mat a = test_spd(s->ctx, N, 1, 1), l, b = test_mat(s->ctx, N, 2, 2), x, inverse = blank(s, N, N);
    plx_device_mat da = put(s, a), db = put(s, b);
    int64_t pivot = 0;
    assert_int_equal(plx__mat_clone(&l, plx__scratch(s->ctx), plx__cmat(a)), PLX_OK);
    assert_int_equal(plx__mat_clone(&x, plx__scratch(s->ctx), plx__cmat(b)), PLX_OK);
    assert_int_equal(plx__cholesky(s->ctx, l, NULL), PLX_OK);
    assert_int_equal(plx__chol_solve(s->ctx, plx__cmat(l), x), PLX_OK);
    assert_int_equal(plx__chol_inverse(s->ctx, inverse, plx__cmat(l)), PLX_OK);

    assert_int_equal(t->potrf(s->d, da, &pivot), PLX_DEVICE_OK);
    assert_int_equal(pivot, -1);
    check_lower(get(s, da), l, 1e-12);
    assert_true(at(get(s, da), 0, N - 1) == at(a, 0, N - 1)); /* still the matrix there */
    assert_int_equal(t->potrs(s->d, da, db), PLX_DEVICE_OK);
    check_close(get(s, db), x, 1e-10);
    assert_int_equal(t->potri(s->d, da), PLX_DEVICE_OK);
    check_lower(get(s, da), inverse, 1e-10);
    assert_true(at(get(s, da), 0, N - 1) == at(a, 0, N - 1));
}

static void tells_the_pivot(void **state)
{
    desk *s = *state;
    double indefinite[] = {1, 0, 0, 0, 2, 3, 0, 3, 1};
    plx_device_mat a = put(s, plx__mat_of(indefinite, 3, 3));
    int64_t pivot = 0;
    assert_int_equal(t->potrf(s->d, a, &pivot), PLX_DEVICE_NUMERIC);
    assert_int_equal(pivot, 2);
}

static void solves_triangles(void **state)
{
    desk *s = *state;
    plx_mat l = test_spd(s->ctx, 5, 1, 1), b = test_mat(s->ctx, 5, 5, 2);
    assert_int_equal(plx__cholesky(s->ctx, l, NULL), PLX_OK);
    plx_device_mat dl = put(s, l);
    for (int right = 0; right < 2; right++)
        for (int trans = 0; trans < 2; trans++) {
            plx_mat x;
            plx_device_mat db = put(s, b);
            assert_int_equal(plx__mat_clone(&x, plx__scratch(s->ctx), plx__cmat(b)), PLX_OK);
            assert_int_equal(t->trsm(s->d, right, dl, trans ? PLX_DEVICE_TRANSPOSED : PLX_DEVICE_PLAIN, db),
                             PLX_DEVICE_OK);
            assert_int_equal(right ? plx__tri_solve_right(s->ctx, plx__cmat(l), trans ? PLX__T : PLX__N, x)
                                   : plx__tri_solve(s->ctx, plx__cmat(l), trans ? PLX__T : PLX__N, x),
                             PLX_OK);
            check_close(get(s, db), x, 1e-12);
        }
}

static void finds_eigenpairs(void **state)
{
    desk *s = *state;
    enum { N = 6, K = 2 };
    double values[N], some[K];
    plx_mat a = test_spd(s->ctx, N, 1, 3);
    plx_device_mat all = room(s, N, N), few = room(s, K, N);
    assert_int_equal(t->sym_eigen(s->d, put(s, a), 0, N, values, all), PLX_DEVICE_OK);
    assert_int_equal(t->sym_eigen(s->d, put(s, a), N - K, K, some, few), PLX_DEVICE_OK);
    plx_mat v = get(s, all);
    for (plx_index k = 0; k < N; k++) /* row k: A v = value v */
        for (plx_index i = 0; i < N; i++) {
            double sum = 0;
            for (plx_index j = 0; j < N; j++) sum += at(a, i, j) * at(v, k, j);
            assert_true(fabs(sum - values[k] * at(v, k, i)) < 1e-11);
        }
    assert_true(fabs(some[K - 1] - values[N - 1]) < 1e-12 && fabs(some[0] - values[N - K]) < 1e-12);
    assert_true(fabs(fabs(plx__dot(get(s, few).data + N, v.data + (N - 1) * N, N)) - 1) < 1e-12);
    assert_int_equal(t->sym_eigen(s->d, put(s, a), 0, N, values, NONE), PLX_DEVICE_OK);
}

/* ---- entry by entry ---- */

static void works_entry_by_entry(void **state)
{
    desk *s = *state;
    enum { N = 4 };
    plx_mat c = test_mat(s->ctx, N, N, 1), a = test_mat(s->ctx, N, N, 2), v = test_mat(s->ctx, 4, N, 3);
    plx_device_mat dc = put(s, c), dv = put(s, v), row[4], column = room(s, N, 1);
    for (int i = 0; i < 4; i++) row[i] = (plx_device_mat){dv.buffer, dv.offset + i * dv.ld, 1, N, dv.ld};
    assert_int_equal(t->combine(s->d, 2, dc, 3, put(s, a), row[0], row[1], 0.5, row[2], row[3], 10), PLX_DEVICE_OK);
    plx_mat out = get(s, dc);
    for (plx_index i = 0; i < N; i++)
        for (plx_index j = 0; j < N; j++) {
            double want = 2 * at(c, i, j) + 3 * at(v, 0, i) * at(a, i, j) * at(v, 1, j) + (i == j ? 10 : 0) +
                          0.5 * (at(v, 2, i) * at(v, 3, j) + at(v, 3, i) * at(v, 2, j));
            assert_true(fabs(at(out, i, j) - want) < 1e-12);
        }
    assert_int_equal(t->combine(s->d, 0, dc, -1, dc, NONE, NONE, 0, NONE, NONE, 0), PLX_DEVICE_OK); /* in place */
    assert_true(at(get(s, dc), 1, 2) == -at(out, 1, 2));
    assert_int_equal(t->diagonal(s->d, dc, column, 0), PLX_DEVICE_OK);
    assert_true(at(get(s, column), 3, 0) == -at(out, 3, 3));
    assert_int_equal(t->fill(s->d, column, 1), PLX_DEVICE_OK);
    assert_int_equal(t->diagonal(s->d, dc, column, 1), PLX_DEVICE_OK);
    assert_true(at(get(s, dc), 2, 2) == 1 && at(get(s, dc), 2, 1) == -at(out, 2, 1));
    double sum = 0, by_hand = 0;
    for (plx_index i = 0; i < N * N; i++) by_hand += a.data[i] * v.data[i];
    assert_int_equal(t->dot(s->d, put(s, a), dv, &sum), PLX_DEVICE_OK);
    assert_true(fabs(sum - by_hand) < 1e-13);
    assert_int_equal(t->row_norms_sq(s->d, put(s, a), column), PLX_DEVICE_OK);
    assert_true(fabs(at(get(s, column), 2, 0) - plx__norm_sq(a.data + 2 * N, N)) < 1e-14);
}

static void turns_triangles(void **state)
{
    desk *s = *state;
    plx_mat a = test_mat(s->ctx, 3, 3, 1);
    plx_device_mat d = put(s, a);
    assert_int_equal(t->triangle(s->d, d, PLX_DEVICE_MIRROR_LOWER), PLX_DEVICE_OK);
    assert_true(at(get(s, d), 0, 2) == at(a, 2, 0) && at(get(s, d), 2, 0) == at(a, 2, 0));
    assert_int_equal(t->write(s->d, d, a.data, a.ld), PLX_DEVICE_OK);
    assert_int_equal(t->triangle(s->d, d, PLX_DEVICE_MIRROR_UPPER), PLX_DEVICE_OK);
    assert_true(at(get(s, d), 2, 0) == at(a, 0, 2) && at(get(s, d), 1, 1) == at(a, 1, 1));
    assert_int_equal(t->triangle(s->d, d, PLX_DEVICE_CLEAR_UPPER), PLX_DEVICE_OK);
    assert_true(at(get(s, d), 0, 2) == 0 && at(get(s, d), 2, 0) == at(a, 0, 2));
}

static void gathers_and_scatters(void **state)
{
    desk *s = *state;
    plx_mat a = test_mat(s->ctx, 4, 4, 1), b = test_mat(s->ctx, 2, 2, 2);
    int64_t rows[] = {3, 1}, ascending[] = {1, 3};
    plx_device_buffer *index = put_bytes(s, rows, sizeof rows), *place = put_bytes(s, ascending, sizeof ascending);
    plx_device_mat da = put(s, a), out = room(s, 2, 4), corner = room(s, 2, 2);
    assert_int_equal(t->gather(s->d, out, da, index, NULL), PLX_DEVICE_OK);
    assert_true(at(get(s, out), 0, 2) == at(a, 3, 2) && at(get(s, out), 1, 3) == at(a, 1, 3));
    assert_int_equal(t->gather(s->d, corner, da, NULL, index), PLX_DEVICE_OK);
    assert_true(at(get(s, corner), 1, 0) == at(a, 1, 3));
    assert_int_equal(t->scatter_add(s->d, da, place, put(s, b)), PLX_DEVICE_OK);
    plx_mat sum = get(s, da);
    assert_true(at(sum, 3, 1) == at(a, 3, 1) + at(b, 1, 0) && at(sum, 1, 1) == at(a, 1, 1) + at(b, 0, 0));
    assert_true(at(sum, 1, 3) == at(a, 1, 3) && at(sum, 0, 0) == at(a, 0, 0)); /* the lower triangle alone */
}

/* ---- kernels ---- */

static double kernel_by_hand(const plx_device_kernel *k, const double *x, const double *z, plx_index n)
{
    double inner = plx__dot(x, z, n), gap = plx__dist_sq(x, z, n);
    switch (k->kind) {
    case PLX_DEVICE_LINEAR: return k->amplitude * inner;
    case PLX_DEVICE_RBF: return k->amplitude * exp(-gap / (2 * k->width * k->width));
    case PLX_DEVICE_POLY: return k->amplitude * pow(inner + k->coef0, k->degree);
    case PLX_DEVICE_COSINE: return k->amplitude * inner / sqrt(plx__norm_sq(x, n) * plx__norm_sq(z, n));
    default: return gap;
    }
}

static void computes_kernels(void **state)
{
    desk *s = *state;
    static const plx_device_kernel_kind kinds[] = {PLX_DEVICE_LINEAR, PLX_DEVICE_RBF, PLX_DEVICE_POLY,
                                                   PLX_DEVICE_COSINE, PLX_DEVICE_DIST_SQ};
    plx_csr sparse = test_csr(s->ctx, 5, 6, 0.7, 1);
    plx_mat x = test_dense(s->ctx, plx__ccsr(sparse));
    plx_device_rows dense = {.dense = put(s, x)}, csr = {.count = 5};
    plx_device_csr *c = NULL;
    uint8_t flags[] = {1, 1, 0, 1, 1};
    plx_device_buffer *present = put_bytes(s, flags, sizeof flags);
    plx_device_mat out = room(s, 5, 5);
    assert_int_equal(t->csr_create(s->d, 5, 6, sparse.ptr, sparse.col, sparse.val, 0, &c), PLX_DEVICE_OK);
    csr.csr = c;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        plx_device_kernel k = {kinds[i], 1.5, 2.0, 3, 1};
        for (int how = 0; how < 2; how++) {
            plx_device_rows rows = how ? csr : dense;
            assert_int_equal(t->kernel(s->d, &k, rows, rows, NULL, present, out), PLX_DEVICE_OK);
            plx_mat got = get(s, out);
            for (plx_index a = 0; a < 5; a++)
                for (plx_index b = 0; b < 5; b++) {
                    double want = kernel_by_hand(&k, x.data + a * 6, x.data + b * 6, 6);
                    if (b == 2) want = kinds[i] == PLX_DEVICE_DIST_SQ ? 1e300 : 0;
                    assert_true(fabs(at(got, a, b) - want) <= 1e-12 * fmax(1, fabs(want)));
                }
        }
    }
    t->csr_release(s->d, c);
}

static void derives_kernels_from_a_base(void **state)
{
    desk *s = *state;
    plx_mat x = test_mat(s->ctx, 5, 3, 1), m = test_spd(s->ctx, 5, 1, 2);
    plx_device_rows rows = {.dense = put(s, x)};
    plx_device_mat base = room(s, 5, 5), want = room(s, 5, 5), out = room(s, 5, 5);
    plx_device_kernel gap = {.kind = PLX_DEVICE_DIST_SQ}, k = {PLX_DEVICE_RBF, 1.5, 0.8, 0, 0};
    double sums[2], by_hand[2] = {0, 0};
    assert_int_equal(t->kernel(s->d, &gap, rows, rows, NULL, NULL, base), PLX_DEVICE_OK);
    assert_int_equal(t->kernel(s->d, &k, rows, rows, NULL, NULL, want), PLX_DEVICE_OK);
    assert_int_equal(t->kernel_of_base(s->d, &k, base, 0, out), PLX_DEVICE_OK);
    check_close(get(s, out), get(s, want), 1e-15);
    assert_int_equal(t->kernel_of_base(s->d, &k, base, 1, out), PLX_DEVICE_OK);
    assert_true(fabs(at(get(s, out), 0, 1) - 2 * at(get(s, want), 0, 1)) < 1e-14);
    assert_int_equal(t->kernel_gradient(s->d, &k, base, put(s, m), sums), PLX_DEVICE_OK);
    for (plx_index i = 0; i < 5; i++)
        for (plx_index j = 0; j < 5; j++) {
            by_hand[0] += at(m, i, j) * at(get(s, want), i, j);
            by_hand[1] += at(m, i, j) * at(get(s, want), i, j) * at(get(s, base), i, j);
        }
    assert_true(fabs(sums[0] - by_hand[0]) < 1e-12 && fabs(sums[1] - by_hand[1]) < 1e-12);
}

/* ---- neighbours ---- */

static void finds_neighbours_block_by_block(void **state)
{
    desk *s = *state;
    enum { N = 9, K = 3 };
    plx_mat x = test_mat(s->ctx, N, 4, 1);
    for (plx_index j = 0; j < 4; j++) x.data[5 * 4 + j] = x.data[2 * 4 + j]; /* a tie for everybody */
    uint8_t flags[N] = {1, 1, 1, 1, 1, 1, 0, 1, 1};
    int64_t want[N * K], none[N * K], index[N * K];
    double distance[N * K], far[N * K], got[N * K];
    for (int metric = 0; metric < 2; metric++) {
        plx__knn_options o = {.k = K, .metric = metric ? PLX__COSINE : PLX__EUCLID, .present = flags, .self = true};
        plx__points p = plx__points_dense(plx__cmat(x));
        assert_int_equal(plx__knn(s->ctx, p, p, &o, want, distance), PLX_OK);
        for (int i = 0; i < N * K; i++) none[i] = -1, far[i] = INFINITY;
        plx_device_knn step = {.struct_size = sizeof step,
                               .queries = {.dense = put(s, x)},
                               .metric = metric ? PLX_DEVICE_COSINE_DISTANCE : PLX_DEVICE_EUCLID,
                               .k = K,
                               .index = put_bytes(s, none, sizeof none),
                               .distance = put_bytes(s, far, sizeof far)};
        for (int64_t begin = 0; begin < N; begin += 4) {
            int64_t count = begin + 4 < N ? 4 : N - begin;
            step.references.dense =
                (plx_device_mat){step.queries.dense.buffer, step.queries.dense.offset + begin * step.queries.dense.ld,
                                 count, 4, step.queries.dense.ld};
            step.first_reference = begin;
            step.present = put_bytes(s, flags + begin, count);
            assert_int_equal(t->knn(s->d, &step), PLX_DEVICE_OK);
        }
        assert_int_equal(t->read_bytes(s->d, index, step.index, 0, sizeof index), PLX_DEVICE_OK);
        assert_int_equal(t->read_bytes(s->d, got, step.distance, 0, sizeof got), PLX_DEVICE_OK);
        for (int i = 0; i < N * K; i++) {
            if (!flags[i / K]) continue; /* absent queries are the caller's */
            assert_int_equal(index[i], want[i]);
            assert_true(fabs(got[i] - distance[i]) < 1e-14);
        }
    }
}

int main(void)
{
#define HOST_TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
    const struct CMUnitTest host_only[] = {
        HOST_TEST(tells_about_itself),
        HOST_TEST(is_short_of_memory_when_told),
        HOST_TEST(any_call_can_fail),
    };
    const struct CMUnitTest tests[] = {
        HOST_TEST(copies_and_fills),
        HOST_TEST(multiplies),
        HOST_TEST(factorises_and_solves),
        HOST_TEST(tells_the_pivot),
        HOST_TEST(solves_triangles),
        HOST_TEST(finds_eigenpairs),
        HOST_TEST(works_entry_by_entry),
        HOST_TEST(turns_triangles),
        HOST_TEST(gathers_and_scatters),
        HOST_TEST(computes_kernels),
        HOST_TEST(derives_kernels_from_a_base),
        HOST_TEST(finds_neighbours_block_by_block),
    };
    t = tested_table();
    int failed = tests_the_host() ? cmocka_run_group_tests(host_only, NULL, NULL) : 0;
    return failed + cmocka_run_group_tests(tests, NULL, NULL);
}
