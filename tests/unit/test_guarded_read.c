/*
 * Reading in another process: the same data set and the same sentences as reading here, whatever the file does to the
 * process that reads it.
 */
#include "io_test.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <time.h>

#include "data/dataset_impl.h"
#include "io/dataset_stream.h"
#include "io/guarded_read.h"
#include "io/h5mu.h"
#include "parallax/parallax.h"

static const char *const HOSTILE = "tests/data/hostile/h5mu_segv_1.h5mu";

/* Two views with holes, a hierarchy, costs, labels with gaps. */
static plx_dataset *everything(plx_context *ctx)
{
    const double dense[] = {1, 2, 3, 4, NAN, 6, 7, 8}, val[] = {1, 2, 3};
    const int64_t ptr[] = {0, 1, 1, 3, 3};
    const int32_t col[] = {2, 0, 1}, subset[] = {1, 0};
    const uint8_t present[] = {1, 0, 1, 0};
    const double costs[] = {1, 2, 3, 4};
    const char *ids[] = {"a", "b", "c", "d"}, *features[] = {"x", "y"};
    const char *labels[] = {"dog", NULL, "animal", NULL}, *truth[] = {"dog", "dog", "animal", "dog"};
    const char *classes[] = {"animal", "dog"};
    plx_dataset *d = NULL;
    assert_ok(ctx, plx_dataset_create(&d, ctx, "all", 4));
    assert_ok(ctx, plx_dataset_set_ids(d, ctx, ids));
    assert_ok(ctx, plx_dataset_add_dense(d, ctx, "numbers", PLX_VIEW_REAL, (plx_cmat){dense, 4, 2, 2}, features, NULL));
    assert_ok(ctx,
              plx_dataset_add_sparse(d, ctx, "words", PLX_VIEW_COUNTS, (plx_ccsr){4, 3, ptr, col, val}, NULL, present));
    assert_ok(ctx, plx_dataset_set_hierarchy(d, ctx, classes, 2, subset, 1, NULL, 0));
    assert_ok(ctx, plx_dataset_set_labels(d, ctx, labels));
    assert_ok(ctx, plx_dataset_set_truth(d, ctx, truth));
    assert_ok(ctx, plx_dataset_set_view_cost(d, ctx, 1, 2.5));
    assert_ok(ctx, plx_dataset_set_label_cost(d, ctx, 7));
    assert_ok(ctx, plx_dataset_set_sample_costs(d, ctx, costs));
    return d;
}

static void same_text(const char *a, const char *b)
{
    assert_int_equal(a == NULL, b == NULL);
    if (a) assert_string_equal(a, b);
}

static void same_view(const plx__view *a, const plx__view *b, plx_index n)
{
    assert_string_equal(a->name, b->name);
    assert_int_equal(a->kind, b->kind);
    assert_int_equal(a->sparse, b->sparse);
    assert_int_equal(a->cols, b->cols);
    assert_int_equal(a->present_count, b->present_count);
    assert_int_equal(a->missing_values, b->missing_values);
    assert_true(a->cost == b->cost);
    assert_memory_equal(a->present, b->present, (size_t)n);
    assert_int_equal(!a->features, !b->features);
    for (plx_index j = 0; a->features && j < a->cols; j++) same_text(a->features[j], b->features[j]);
    if (!a->sparse) {
        assert_memory_equal(a->dense.data, b->dense.data, (size_t)(n * a->cols) * sizeof(double));
        return;
    }
    assert_memory_equal(a->csr.ptr, b->csr.ptr, (size_t)(n + 1) * sizeof *a->csr.ptr);
    assert_memory_equal(a->csr.col, b->csr.col, (size_t)a->csr.ptr[n] * sizeof *a->csr.col);
    assert_memory_equal(a->csr.val, b->csr.val, (size_t)a->csr.ptr[n] * sizeof *a->csr.val);
}

static void same_data(const plx_dataset *a, const plx_dataset *b)
{
    assert_int_equal(a->n, b->n);
    assert_int_equal(a->n_views, b->n_views);
    for (plx_index v = 0; v < a->n_views; v++) same_view(&a->views[v], &b->views[v], a->n);
    for (plx_index i = 0; i < a->n; i++) {
        same_text(plx_dataset_id(a, i), plx_dataset_id(b, i));
        same_text(plx_dataset_label(a, i), plx_dataset_label(b, i));
        same_text(plx_dataset_truth(a, i), plx_dataset_truth(b, i));
        assert_true(plx_dataset_sample_cost(a, i) == plx_dataset_sample_cost(b, i));
    }
    assert_int_equal(a->n_classes, b->n_classes);
    for (plx_index c = 0; c < a->n_classes; c++) assert_string_equal(a->classes[c], b->classes[c]);
    assert_true(a->label_cost == b->label_cost);
}

/* ---- the stream ---- */

/* What a data set looks like on the way: the bytes, to be freed. */
static char *stream_of(size_t *size, plx_context *ctx, const plx_dataset *d)
{
    char path[SCRATCH_PATH];
    int fd = open(scratch_path(path, ".stream"), O_CREAT | O_RDWR | O_TRUNC, 0600);
    assert_true(fd >= 0);
    assert_true(plx__dataset_send(fd, ctx, PLX_OK, d));
    *size = (size_t)lseek(fd, 0, SEEK_END);
    char *bytes = malloc(*size);
    assert_non_null(bytes);
    assert_int_equal(pread(fd, bytes, *size, 0), *size);
    close(fd);
    unlink(path);
    return bytes;
}

static plx_status receive(plx_dataset **out, plx__stream_end *end, plx_context *ctx, const char *bytes, size_t size)
{
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(write(ends[1], bytes, size), size);
    close(ends[1]);
    plx__call_begin(ctx);
    plx_status st = plx__call_end(ctx, plx__dataset_receive(out, end, ctx, ends[0]));
    close(ends[0]);
    return st;
}

static void everything_survives_the_stream(void **state)
{
    (void)state;
    plx_context *ctx = test_context(1);
    plx_dataset *d = everything(ctx), *got = NULL;
    plx__stream_end end = PLX__STREAM_CUT;
    size_t size = 0;
    char *bytes = stream_of(&size, ctx, d);
    assert_ok(ctx, receive(&got, &end, ctx, bytes, size));
    assert_int_equal(end, PLX__STREAM_COMPLETE);
    same_data(d, got);
    plx_dataset_destroy(got);
    assert_int_not_equal(receive(&got, &end, ctx, bytes, 0), PLX_OK);
    assert_int_equal(end, PLX__STREAM_EMPTY);
    free(bytes);
    plx_dataset_destroy(d);
    plx_context_destroy(ctx);
}

/* Rows 1 and 2 of four, one view dense and one sparse. */
static plx_dataset *some_rows(plx_context *ctx)
{
    const double dense[] = {1, 2, 3, 4, 5, 6, 7, 8}, val[] = {1, 2, 3};
    const int64_t ptr[] = {0, 1, 2, 2, 3};
    const int32_t col[] = {2, 0, 1};
    plx_dataset *d = NULL;
    ctx->share = (plx__row_share){.run = true, .begin = 1, .end = 3};
    assert_ok(ctx, plx__dataset_create(&d, ctx, "some", 4));
    assert_ok(ctx, plx__dataset_add_dense(d, ctx, "a", PLX_VIEW_REAL, (plx_cmat){dense, 4, 2, 2}, NULL, NULL));
    assert_ok(ctx, plx__dataset_add_sparse(d, ctx, "b", PLX_VIEW_COUNTS, (plx_ccsr){4, 3, ptr, col, val}, NULL, NULL));
    assert_true(d->views[0].divided && d->views[1].divided);
    return d;
}

/* Of a reader that was asked for some rows, those are taken and no others: it may have been taken over. */
static void only_rows_that_were_asked_for_are_taken(void **state)
{
    static const plx__row_share others[] = {{.run = true, .begin = 0, .end = 3},
                                            {.run = true, .begin = 1, .end = 2},
                                            {.run = true, .begin = 1, .end = 4},
                                            {.run = true},
                                            {.rank = 1, .ranks = 2},
                                            {.ranks = 0}};
    (void)state;
    plx_context *ctx = test_context(1);
    plx_dataset *d = some_rows(ctx), *got = NULL;
    plx__stream_end end = PLX__STREAM_CUT;
    size_t size = 0;
    char *bytes = stream_of(&size, ctx, d);
    assert_ok(ctx, receive(&got, &end, ctx, bytes, size));
    assert_int_equal(end, PLX__STREAM_COMPLETE);
    assert_true(got->views[0].divided && got->views[0].begin == 1 && got->views[0].end == 3);
    assert_true(got->views[0].dense.data[2] == 3 && got->views[0].dense.data[5] == 6);
    assert_true(got->views[1].csr.ptr[1] == 0 && got->views[1].csr.ptr[2] == 1 && got->views[1].csr.val[0] == 2);
    plx_dataset_destroy(got);
    for (size_t k = 0; k < sizeof others / sizeof *others; k++) {
        ctx->share = others[k];
        assert_int_not_equal(receive(&got, &end, ctx, bytes, size), PLX_OK);
        assert_int_equal(end, PLX__STREAM_CUT);
    }
    free(bytes);
    plx_dataset_destroy(d);
    plx_context_destroy(ctx);
}

/* A process that a hostile file took over may send anything: refused or taken, never believed. */
static void damaged_streams_do_no_harm(void **state)
{
    (void)state;
    plx_context_options o = PLX_CONTEXT_OPTIONS_INIT;
    o.threads = 1;
    o.arena_block = 1;
    o.memory_limit = 1 << 22;
    plx_context *ctx = NULL;
    assert_int_equal(plx_context_create(&ctx, &o), PLX_OK);
    plx_dataset *d = everything(ctx), *got = NULL;
    plx__stream_end end;
    size_t size = 0;
    char *bytes = stream_of(&size, ctx, d);
    int64_t before = plx_context_memory_used(ctx);
    for (size_t cut = 1; cut < size; cut += 3) {
        assert_int_not_equal(receive(&got, &end, ctx, bytes, cut), PLX_OK);
        assert_int_equal(end, PLX__STREAM_CUT);
    }
    for (size_t at = 0; at < size; at++)
        for (int bit = 0; bit < 8; bit += 7) {
            bytes[at] = (char)(bytes[at] ^ (1 << bit));
            if (receive(&got, &end, ctx, bytes, size) == PLX_OK) plx_dataset_destroy(got);
            bytes[at] = (char)(bytes[at] ^ (1 << bit));
        }
    plx__call_begin(ctx);
    assert_int_equal(plx_context_memory_used(ctx), before);
    free(bytes);
    plx_dataset_destroy(d);
    plx_context_destroy(ctx);
}

/* ---- files ---- */

static plx_status read_as(plx_dataset **out, plx_context *ctx, const char *path, int trust)
{
    plx_read_options o = PLX_READ_OPTIONS_INIT;
    o.trust = trust;
    return plx_dataset_read(out, ctx, path, &o);
}

static void another_process_reads_the_same(void **state)
{
    (void)state;
    char path[SCRATCH_PATH];
    plx_context *ctx = test_context(2);
    plx_dataset *d = everything(ctx), *here = NULL, *there = NULL;
    assert_ok(ctx, plx_dataset_write(ctx, d, scratch_path(path, ".h5mu")));
    assert_ok(ctx, read_as(&here, ctx, path, 1));
    assert_ok(ctx, read_as(&there, ctx, path, 0));
    same_data(here, there);
    unlink(path);
    plx_dataset_destroy(d);
    plx_dataset_destroy(here);
    plx_dataset_destroy(there);
    plx_context_destroy(ctx);
}

static void failures_come_with_their_own_sentence(void **state)
{
    (void)state;
    char path[SCRATCH_PATH], sentence[PLX__ERROR_BYTES];
    plx_context *ctx = test_context(1);
    plx_dataset *d = NULL;
    write_bytes(scratch_path(path, ".h5mu"), "not HDF5 at all", 15);
    plx_status st = read_as(&d, ctx, path, 1);
    assert_int_equal(st, PLX_E_FORMAT);
    snprintf(sentence, sizeof sentence, "%s", plx_context_error(ctx));
    assert_int_equal(read_as(&d, ctx, path, 0), st);
    assert_string_equal(plx_context_error(ctx), sentence);
    unlink(path);
    assert_fails(ctx, read_as(&d, ctx, path, 0), PLX_E_IO, path);
    plx_read_options as_h5mu = PLX_READ_OPTIONS_INIT;
    as_h5mu.format = "h5mu";
    assert_fails(ctx, plx_dataset_read(&d, ctx, "/tmp", &as_h5mu), PLX_E_IO, "is a directory");
    plx_context_destroy(ctx);
}

static void a_hostile_file_is_one_sentence(void **state)
{
    (void)state;
    plx_context *ctx = test_context(1);
    plx_dataset *d = NULL;
    assert_fails(ctx, read_as(&d, ctx, HOSTILE, 0), PLX_E_FORMAT, "damaged or hostile");
    assert_null(d);
    plx_context_destroy(ctx);
}

/* ---- what a reader can do to its process ---- */

/* The installed program does not know these readers, so a fork runs them: the other road is tested as well. */

static plx_status crashes(plx_dataset **out, plx_context *ctx, const char *path, const plx_read_options *o)
{
    (void)out, (void)ctx, (void)path, (void)o;
    kill(getpid(), SIGKILL); /* not SIGSEGV: sanitizers would make an exit of it */
    return PLX_OK;
}

static plx_status never_ends(plx_dataset **out, plx_context *ctx, const char *path, const plx_read_options *o)
{
    (void)out, (void)ctx, (void)path, (void)o;
    for (volatile unsigned i = 0;; i++) continue;
    return PLX_OK;
}

static plx_status sleeps(plx_dataset **out, plx_context *ctx, const char *path, const plx_read_options *o)
{
    (void)out, (void)ctx, (void)path, (void)o;
    sleep(60);
    return PLX_OK;
}

static plx_status is_greedy(plx_dataset **out, plx_context *ctx, const char *path, const plx_read_options *o)
{
    double *x = NULL;
    (void)out, (void)path, (void)o;
    return plx__arena_f64(&x, plx__scratch(ctx), (plx_index)1 << 40, 1);
}

static plx_status reads_with(plx_context *ctx, const plx__file_reader *reader)
{
    plx_read_options o = PLX_READ_OPTIONS_INIT;
    plx_dataset *d = NULL;
    plx__call_begin(ctx);
    plx_status st = plx__call_end(ctx, plx__guarded_read(&d, ctx, HOSTILE, &o, reader));
    assert_null(d);
    return st;
}

static void faults_stay_in_the_other_process(void **state)
{
    (void)state;
    plx_context *ctx = test_context(2);
    assert_fails(ctx, reads_with(ctx, &(plx__file_reader){"test-crash", "test", crashes}), PLX_E_FORMAT, "crashed");
    assert_fails(ctx, reads_with(ctx, &(plx__file_reader){"test-greedy", "test", is_greedy}), PLX_E_NOMEM,
                 "memory limit");
    assert_fails(ctx, reads_with(ctx, &(plx__file_reader){"test-loop", "test", never_ends}), PLX_E_FORMAT,
                 "seconds of processor time");
    plx_context_destroy(ctx);
}

static void *cancel_soon(void *ctx)
{
    nanosleep(&(struct timespec){0, 200000000}, NULL);
    plx_context_cancel(ctx);
    return NULL;
}

static void reading_can_be_cancelled(void **state)
{
    (void)state;
    plx_context *ctx = test_context(1);
    pthread_t helper;
    double started = plx__now();
    assert_int_equal(pthread_create(&helper, NULL, cancel_soon, ctx), 0);
    assert_int_equal(reads_with(ctx, &(plx__file_reader){"test-sleep", "test", sleeps}), PLX_E_CANCELLED);
    assert_true(plx__now() - started < 10);
    pthread_join(helper, NULL);
    plx_context_destroy(ctx);
}

/* ---- threads ---- */

static void *read_some(void *path)
{
    plx_context *ctx = test_context(1);
    plx_dataset *d = NULL;
    for (int i = 0; i < 3; i++) {
        plx_status st = read_as(&d, ctx, path, i % 2);
        if (st != PLX_OK) return (void *)(uintptr_t) "failed";
        plx_dataset_destroy(d);
    }
    plx_context_destroy(ctx);
    return NULL;
}

static void threads_may_read_at_once(void **state)
{
    (void)state;
    char path[SCRATCH_PATH];
    pthread_t threads[4];
    plx_context *ctx = test_context(1);
    plx_dataset *d = everything(ctx);
    assert_ok(ctx, plx_dataset_write(ctx, d, scratch_path(path, ".h5mu")));
    for (int t = 0; t < 4; t++) assert_int_equal(pthread_create(&threads[t], NULL, read_some, path), 0);
    for (int t = 0; t < 4; t++) {
        void *failed = NULL;
        pthread_join(threads[t], &failed);
        assert_null(failed);
    }
    unlink(path);
    plx_dataset_destroy(d);
    plx_context_destroy(ctx);
}

static void the_program_refuses_what_is_not_for_it(void **state)
{
    (void)state;
    char *argv[] = {"parallax-reader", "0.0.0", "h5mu", "x", "", "", "0", "1", "1", NULL};
    assert_int_equal(plx_reader_main(0, NULL), PLX_E_ARG);
    assert_int_equal(plx_reader_main(9, argv), PLX_E_ARG);
    assert_int_equal(plx_reader_main(2, argv), PLX_E_ARG);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(everything_survives_the_stream),
        cmocka_unit_test(only_rows_that_were_asked_for_are_taken),
        cmocka_unit_test(damaged_streams_do_no_harm),
        cmocka_unit_test(another_process_reads_the_same),
        cmocka_unit_test(failures_come_with_their_own_sentence),
        cmocka_unit_test(a_hostile_file_is_one_sentence),
        cmocka_unit_test(faults_stay_in_the_other_process),
        cmocka_unit_test(reading_can_be_cancelled),
        cmocka_unit_test(threads_may_read_at_once),
        cmocka_unit_test(the_program_refuses_what_is_not_for_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
