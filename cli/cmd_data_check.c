/*
 * parallax data check: can it be read, and what in it will surprise.
 *
 * Columns that never change tell nothing; rows of zeros in views of counts or 0/1 values count as missing views;
 * samples equal in all views leak from training into test parts.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "output.h"
#include "read_data.h"
#include "summary.h"

typedef struct findings {
    cli_session *s;
    const plx_dataset *data;
    int count;
} findings;

#define FOUND(f, ...) ((f)->count++, cli_say((f)->s, "warning: " __VA_ARGS__))

/* ---- columns ---- */

typedef struct column {
    double low, high;
    plx_index entries; /* stored values that are not missing */
} column;

static void see(column *c, double value)
{
    if (isnan(value)) return;
    if (!c->entries || value < c->low) c->low = value;
    if (!c->entries || value > c->high) c->high = value;
    c->entries++;
}

static void scan_dense(column *columns, plx_cmat m, const uint8_t *present)
{
    for (plx_index i = 0; i < m.rows; i++)
        for (plx_index j = 0; present[i] && j < m.cols; j++) see(&columns[j], m.data[i * m.ld + j]);
}

static void scan_sparse(column *columns, plx_ccsr m, const uint8_t *present, plx_index rows)
{
    for (plx_index i = 0; i < m.rows; i++)
        for (int64_t k = m.ptr[i]; present[i] && k < m.ptr[i + 1]; k++) see(&columns[m.col[k]], m.val[k]);
    for (plx_index j = 0; j < m.cols; j++)
        if (columns[j].entries < rows) see(&columns[j], 0);
}

static bool scan_columns(column **out, const plx_dataset *data, plx_index v, const plx_view_info *info)
{
    plx_cmat dense = {0};
    plx_ccsr sparse = {0};
    column *columns = calloc((size_t)info->cols + 1, sizeof *columns);
    *out = columns;
    if (!columns) return false;
    if (plx_dataset_dense(&dense, data, v) == PLX_OK) scan_dense(columns, dense, plx_dataset_present(data, v));
    else if (plx_dataset_sparse(&sparse, data, v) == PLX_OK)
        scan_sparse(columns, sparse, plx_dataset_present(data, v), info->present);
    return true;
}

static int check_columns(findings *f, plx_index v, const plx_view_info *info)
{
    column *columns = NULL;
    plx_index empty = 0, constant = 0;
    if (!scan_columns(&columns, f->data, v, info)) return cli_fail_text(f->s, "out of memory");
    for (plx_index j = 0; j < info->cols; j++) {
        const column *c = &columns[j];
        if (!c->entries || (c->low == 0 && c->high == 0)) empty++;
        else if (c->low == c->high) constant++;
    }
    free(columns);
    if (empty)
        FOUND(f, "view '%s': %s", info->name,
              CLI_COUNT(empty, "column is zero everywhere", "columns are zero everywhere"));
    if (constant)
        FOUND(f, "view '%s': %s", info->name, CLI_COUNT(constant, "column never changes", "columns never change"));
    return CLI_DONE;
}

/* ---- rows ---- */

static bool row_is_zero(const plx_dataset *data, plx_index v, plx_index i)
{
    plx_cmat m = {0};
    plx_ccsr s = {0};
    if (plx_dataset_dense(&m, data, v) == PLX_OK) {
        for (plx_index j = 0; j < m.cols; j++)
            if (m.data[i * m.ld + j] != 0) return false;
    } else if (plx_dataset_sparse(&s, data, v) == PLX_OK) {
        for (int64_t k = s.ptr[i]; k < s.ptr[i + 1]; k++)
            if (s.val[k] != 0) return false;
    }
    return true;
}

static void check_rows(findings *f, plx_index v, const plx_view_info *info)
{
    const uint8_t *present = plx_dataset_present(f->data, v);
    plx_index zero = 0;
    bool counted = info->kind == PLX_VIEW_COUNTS || info->kind == PLX_VIEW_BINARY;
    for (plx_index i = 0; counted && i < info->rows; i++) zero += present[i] && row_is_zero(f->data, v, i);
    if (zero)
        FOUND(f, "view '%s': %s as a missing view", info->name,
              CLI_COUNT(zero, "row is all zero and counts", "rows are all zero and count"));
    if (info->missing_values)
        FOUND(f, "view '%s': %s; few methods accept them", info->name,
              CLI_COUNT(info->missing_values, "missing value", "missing values"));
    if (!info->present) FOUND(f, "view '%s' is present for no sample", info->name);
}

/* ---- equal samples ---- */

static uint64_t mix(uint64_t hash, const void *bytes, size_t size)
{
    for (const unsigned char *p = bytes; size--; p++) hash = (hash ^ *p) * UINT64_C(1099511628211);
    return hash;
}

/* FNV-1a over presence and stored values of every view. */
static uint64_t hash_sample(const plx_dataset *data, plx_index i)
{
    uint64_t hash = UINT64_C(14695981039346656037);
    for (plx_index v = 0; v < plx_dataset_views(data); v++) {
        plx_cmat m = {0};
        plx_ccsr s = {0};
        hash = mix(hash, &plx_dataset_present(data, v)[i], 1);
        if (!plx_dataset_present(data, v)[i]) continue;
        if (plx_dataset_dense(&m, data, v) == PLX_OK) {
            hash = mix(hash, m.data + i * m.ld, (size_t)m.cols * sizeof *m.data);
        } else if (plx_dataset_sparse(&s, data, v) == PLX_OK) {
            size_t entries = (size_t)(s.ptr[i + 1] - s.ptr[i]);
            hash = mix(hash, s.col + s.ptr[i], entries * sizeof *s.col);
            hash = mix(hash, s.val + s.ptr[i], entries * sizeof *s.val);
        }
    }
    return hash;
}

static int compare_hashes(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static int check_equal_samples(findings *f)
{
    plx_index n = plx_dataset_samples(f->data), equal = 0;
    uint64_t *hashes = calloc((size_t)n, sizeof *hashes);
    if (!hashes) return cli_fail_text(f->s, "out of memory");
    for (plx_index i = 0; i < n; i++) hashes[i] = hash_sample(f->data, i);
    qsort(hashes, (size_t)n, sizeof *hashes, compare_hashes);
    for (plx_index i = 1; i < n; i++) equal += hashes[i] == hashes[i - 1];
    free(hashes);
    if (equal) FOUND(f, "%s an earlier one in all views", CLI_COUNT(equal, "sample equals", "samples equal"));
    return CLI_DONE;
}

static void check_samples(findings *f)
{
    plx_index n = plx_dataset_samples(f->data), bare = 0;
    for (plx_index i = 0; i < n; i++) {
        bool any = false;
        for (plx_index v = 0; v < plx_dataset_views(f->data); v++) any = any || plx_dataset_present(f->data, v)[i];
        bare += !any;
    }
    if (bare) FOUND(f, "%s no view at all", CLI_COUNT(bare, "sample has", "samples have"));
    if (!plx_dataset_has_labels(f->data) && !plx_dataset_has_truth(f->data))
        FOUND(f, "there are neither labels nor truth: only clustering is possible, and nothing can be measured");
}

/* ---- the verb ---- */

static int check(findings *f)
{
    plx_view_info info = PLX_VIEW_INFO_INIT;
    int code = CLI_DONE;
    cli_say_warnings(f->s);
    for (plx_index v = 0; !code && plx_dataset_view_info(&info, f->data, v) == PLX_OK; v++) {
        check_rows(f, v, &info);
        if (info.present) code = check_columns(f, v, &info);
    }
    check_samples(f);
    if (!code) code = check_equal_samples(f);
    return code;
}

static int run(const cli_args *args)
{
    cli_session s;
    plx_dataset *data = NULL;
    int code = cli_session_open(&s, args);
    if (code) return code;
    code = cli_read_data(&data, &s, args->positional[0]);
    findings f = {&s, data, s.n_warnings};
    if (!code) code = check(&f);
    if (!code && !f.count) printf("%s: fine\n", args->positional[0]);
    else if (!code) printf("%s: can be used; %s\n", args->positional[0], CLI_COUNT(f.count, "warning", "warnings"));
    plx_dataset_destroy(data);
    cli_session_close(&s);
    return code;
}

static const cli_positional positionals[] = {
    {"DATA", CLI_FILE, false, "A data set directory, its manifest, or a single file.", NULL}, CLI_END_POSITIONALS};
static const cli_option options[] = {{.name = "quiet", .kind = CLI_FLAG, .help = "No warnings, only the verdict."},
                                     CLI_END_OPTIONS};
static const cli_option *const option_sets[] = {options, cli_memory_options, cli_read_options, NULL};
static const cli_example examples[] = {{"parallax data check data/cora", "Is anything wrong with it?"},
                                       CLI_END_EXAMPLES};

const cli_verb cli_verb_data_check = {
    .group = "data",
    .name = "check",
    .summary = "Find what is wrong or surprising in a data set.",
    .description =
        "Reads DATA completely. A fault ends with exit status 1 and a line that names file and line, or view and row. "
        "Otherwise it says fine, or warns of columns that never change, rows of zeros, samples without views and equal "
        "samples.",
    .positionals = positionals,
    .option_sets = option_sets,
    .examples = examples,
    .run = run,
};
