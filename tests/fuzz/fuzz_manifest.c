/*
 * The reader of data set manifests: the input is dataset.json in a directory with a few files it may name, parts among
 * them. A data set that is accepted must hold together, come back the same when it is written and read again, and can be
 * read by rows.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "data/divided.h"
#include "fuzz.h"
#include "io/manifest.h"
#include "parallax/dataset.h"

static char directory[64];

static void put(const char *name, const void *bytes, size_t size)
{
    char path[128];
    snprintf(path, sizeof path, "%s/%s", directory, name);
    FILE *f = fopen(path, "wb");
    if (!f || fwrite(bytes, 1, size, f) != size || fclose(f) != 0) abort();
}

static void put_text(const char *name, const char *text) { put(name, text, strlen(text)); }

static void remove_all(void)
{
    char command[128];
    snprintf(command, sizeof command, "rm -rf '%s'", directory);
    if (system(command) != 0) fprintf(stderr, "%s stays behind\n", directory);
}

/* The files a manifest may name, made once. */
static void prepare(void)
{
    snprintf(directory, sizeof directory, "/tmp/plx_fuzz_manifest_XXXXXX");
    if (!mkdtemp(directory)) abort();
    atexit(remove_all);
    put_text("a.csv", "1,2\n3,4\n5,6\n");
    put_text("b.csv", "id,u,v\nr,1,0\ns,0,3\np,4,0\n");
    put_text("c.mtx", "%%MatrixMarket matrix coordinate real general\n3 2 2\n1 2 7\n3 1 8\n");
    put_text("d.txt", "one two\nthree two\n\n");
    put_text("i", "p\nq\nr\n");
    put_text("l", "x\n?\ny|x\n");
    put_text("l.csv", "id,label\np,x\nr,y\n");
    put_text("f", "m\nn\n");
    put_text("p", "1\n0\n1\n");
    put_text("h.json",
             "{\"classes\": [\"x\", \"y\", \"z\"], \"subset\": [[\"x\", \"z\"]], \"mutex\": [[\"y\", \"z\"]]}");
    put_text("e.csv", "7,nan\nnan,nan\n");
    put_text("one.json", "{\"parallax\": 1, \"views\": [{\"name\": \"a\", \"file\": \"a.csv\"}, {\"name\": \"c\", "
                         "\"file\": \"c.mtx\"}], \"labels\": \"l\"}");
    put_text("two.json", "{\"parallax\": 1, \"views\": [{\"name\": \"a\", \"file\": \"e.csv\"}]}");
    put_text("ids.json", "{\"parallax\": 1, \"ids\": \"i\", \"views\": [{\"name\": \"a\", \"file\": \"b.csv\"}]}");
    put_text("both.json", "{\"parallax\": 1, \"parts\": [{\"file\": \"a.csv\", \"rows\": 3}, {\"file\": \"e.csv\", "
                          "\"rows\": 2}]}");
}

static plx_context *new_context(void)
{
    plx_context_options o = PLX_CONTEXT_OPTIONS_INIT;
    plx_context *ctx = NULL;
    o.threads = 1;
    o.memory_limit = 64 << 20;
    o.arena_block = 1;
    if (plx_context_create(&ctx, &o) != PLX_OK) abort();
    return ctx;
}

static bool same_text(const char *a, const char *b) { return !a == !b && (!a || strcmp(a, b) == 0); }

static void hold_together(const plx_dataset *d)
{
    plx_index n = plx_dataset_samples(d);
    FUZZ_CHECK(n >= 1 && plx_dataset_views(d) >= 1);
    for (plx_index v = 0; v < plx_dataset_views(d); v++) {
        plx_view_info info = PLX_VIEW_INFO_INIT;
        plx_index present = 0;
        FUZZ_CHECK(plx_dataset_view_info(&info, d, v) == PLX_OK && info.rows == n && info.cols >= 1);
        for (plx_index i = 0; i < n; i++) present += plx_dataset_present(d, v)[i];
        FUZZ_CHECK(present == info.present && info.cost > 0);
        FUZZ_CHECK(plx_dataset_find_view(d, info.name) == v);
    }
}

static void same(const plx_dataset *a, const plx_dataset *b)
{
    FUZZ_CHECK(plx_dataset_samples(a) == plx_dataset_samples(b) && plx_dataset_views(a) == plx_dataset_views(b));
    FUZZ_CHECK(plx_dataset_classes(a) == plx_dataset_classes(b));
    for (plx_index i = 0; i < plx_dataset_samples(a); i++) {
        FUZZ_CHECK(same_text(plx_dataset_id(a, i), plx_dataset_id(b, i)));
        FUZZ_CHECK(same_text(plx_dataset_label(a, i), plx_dataset_label(b, i)));
        for (plx_index v = 0; v < plx_dataset_views(a); v++)
            FUZZ_CHECK(plx_dataset_present(a, v)[i] == plx_dataset_present(b, v)[i]);
    }
    for (plx_index v = 0; v < plx_dataset_views(a); v++) {
        plx_view_info x = PLX_VIEW_INFO_INIT, y = PLX_VIEW_INFO_INIT;
        FUZZ_CHECK(plx_dataset_view_info(&x, a, v) == PLX_OK && plx_dataset_view_info(&y, b, v) == PLX_OK);
        FUZZ_CHECK(same_text(x.name, y.name) && x.kind == y.kind && x.cols == y.cols && x.nonzeros == y.nonzeros);
    }
}

static void write_and_read(plx_context *ctx, const plx_dataset *d)
{
    char path[96], command[128];
    plx_dataset *back = NULL;
    snprintf(path, sizeof path, "%s/copy", directory);
    plx_status st = plx_dataset_write(ctx, d, path);
    FUZZ_CHECK((st == PLX_OK) == !plx_context_error(ctx)[0]);
    if (st == PLX_OK) {
        st = plx_dataset_read(&back, ctx, path, NULL);
        if (st != PLX_OK) fprintf(stderr, "%s\n", plx_context_error(ctx));
        FUZZ_CHECK(st == PLX_OK);
        same(d, back);
    }
    plx_dataset_destroy(back);
    snprintf(command, sizeof command, "rm -rf '%s'", path);
    if (system(command) != 0) abort();
}

static void same_row(const plx__view *a, const plx__view *b, plx_index i)
{
    plx_index count = a->sparse ? a->csr.ptr[i + 1] - a->csr.ptr[i] : a->cols;
    FUZZ_CHECK(!b->sparse || b->csr.ptr[i + 1] - b->csr.ptr[i] == count);
    for (plx_index j = 0; j < count; j++) {
        double x = a->sparse ? a->csr.val[a->csr.ptr[i] + j] : a->dense.data[i * a->dense.ld + j];
        double y = b->sparse ? b->csr.val[b->csr.ptr[i] + j] : b->dense.data[i * b->dense.ld + j];
        FUZZ_CHECK(x == y || (x != x && y != y));
    }
}

/* A run of rows, as one of several ranks would have it. */
static void read_rows(plx_context *ctx, const plx_dataset *whole, plx_index begin, plx_index end)
{
    plx__read_request request = {.o = PLX_READ_OPTIONS_INIT};
    plx_dataset *d = NULL;
    char path[96];
    snprintf(path, sizeof path, "%s/dataset.json", directory);
    ctx->share = (plx__row_share){.run = true, .begin = begin, .end = end};
    plx_status st = plx__manifest_read(&d, ctx, path, &request);
    if (st != PLX_OK) fprintf(stderr, "%s\n", plx_context_error(ctx));
    FUZZ_CHECK(st == PLX_OK && d->n == whole->n && d->n_views == whole->n_views);
    for (plx_index v = 0; v < d->n_views; v++) {
        const plx__view *x = &d->views[v];
        FUZZ_CHECK(!x->divided || (x->begin >= begin && x->end <= end));
        for (plx_index i = plx__held_begin(x); i < plx__held_end(x, d->n); i++) same_row(&whole->views[v], x, i);
    }
    ctx->share = (plx__row_share){0};
    plx_dataset_destroy(d);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (!directory[0]) prepare();
    plx_context *ctx = new_context();
    plx_dataset *d = NULL;
    plx_read_options o = PLX_READ_OPTIONS_INIT;
    o.join = size % 2 ? PLX_JOIN_INTERSECTION : PLX_JOIN_UNION;
    put("dataset.json", data, size);
    plx_status st = plx_dataset_read(&d, ctx, directory, &o);
    FUZZ_CHECK((st == PLX_OK) == (d != NULL) && st != PLX_E_INTERNAL);
    FUZZ_CHECK((st == PLX_OK) == !plx_context_error(ctx)[0] && !strchr(plx_context_error(ctx), '\n'));
    if (d) {
        plx_index begin = (plx_index)(size % (size_t)d->n);
        hold_together(d);
        if (o.join == PLX_JOIN_UNION)
            read_rows(ctx, d, begin, begin + 1 + (plx_index)(size / 3 % (size_t)(d->n - begin)));
        write_and_read(ctx, d);
    }
    plx_dataset_destroy(d);
    plx_context_destroy(ctx);
    return 0;
}
