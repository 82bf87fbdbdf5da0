/*
 * MATLAB files: finding the views and the truth among the variables, and which way round they lie.
 */
#include "io/mat.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "core/text.h"
#include "data/dataset_impl.h"
#include "io/h5.h"
#include "io/mat_impl.h"
#include "io/matrix_kind.h"

static const char *const container_names[] = {"X", "x", "data", "fea", "views"};
static const char *const truth_names[] = {"Y", "gt", "truth", "y", "labels", "label", "gnd", "truelabel", "GT"};
enum {
    N_CONTAINERS = sizeof container_names / sizeof *container_names,
    N_TRUTHS = sizeof truth_names / sizeof *truth_names
};

typedef struct variables { /* of the file, owned */
    matvar_t **var;
    plx_index count, capacity;
} variables;

typedef struct candidate { /* a matrix that becomes a view */
    const matvar_t *var;
    const char *name;
} candidate;

typedef struct mat_reader {
    plx_context *ctx;
    const char *path;
    variables vars;
    const matvar_t *truth; /* NULL: none */
    candidate *views;
    plx_index n_views, n;
    bool transposed; /* for views that fit both ways */
} mat_reader;

/* ---- reading everything ---- */

static void free_variables(variables *v)
{
    for (plx_index k = 0; k < v->count; k++) Mat_VarFree(v->var[k]);
    v->count = 0;
}

static plx_status keep_variable(mat_reader *r, matvar_t *var)
{
    variables *v = &r->vars;
    if (v->count == v->capacity) {
        matvar_t **bigger = NULL;
        plx_status st = PLX__ARENA_NEW(&bigger, plx__scratch(r->ctx), 2 * v->capacity + 16);
        if (st != PLX_OK) {
            Mat_VarFree(var);
            return st;
        }
        if (v->count) memcpy(bigger, v->var, (size_t)v->count * sizeof *bigger);
        v->var = bigger;
        v->capacity = 2 * v->capacity + 16;
    }
    v->var[v->count++] = var;
    return PLX_OK;
}

/* Headers first, so that impossible sizes are refused before their memory is asked for. */
static plx_status check_headers(plx_index *count, mat_reader *r, mat_t *mat, double file_bytes)
{
    *count = 0;
    for (matvar_t *var = Mat_VarReadNextInfo(mat); var; var = Mat_VarReadNextInfo(mat)) {
        plx_status st = plx__mat_check_size(r->ctx, r->path, var, file_bytes, 0);
        Mat_VarFree(var);
        PLX_TRY(st);
        PLX_TRY(plx__poll(r->ctx));
        ++*count;
    }
    Mat_Rewind(mat);
    return PLX_OK;
}

static plx_status read_variables(mat_reader *r, mat_t *mat, double file_bytes)
{
    plx_index headers = 0;
    PLX_TRY(check_headers(&headers, r, mat, file_bytes));
    for (matvar_t *var = Mat_VarReadNext(mat); var; var = Mat_VarReadNext(mat)) {
        PLX_TRY(keep_variable(r, var));
        PLX_TRY(plx__poll(r->ctx));
    }
    if (headers == 0) PLX_FAIL(r->ctx, PLX_E_FORMAT, "%s: holds no readable variable", r->path);
    if (r->vars.count < headers)
        PLX_FAIL(r->ctx, PLX_E_FORMAT, "%s: damaged: only %lld of %lld variables can be read", r->path,
                 (long long)r->vars.count, (long long)headers);
    return PLX_OK;
}

__attribute__((weak)) const char *plx__matio_missing(void) { return NULL; }

/* Version 7.3 is HDF5: opened once by ourselves, its damage is found before matio meets it. */
static plx_status check_file(mat_reader *r)
{
    plx__h5 f;
    PLX_TRY(plx__mat_check_complete(r->ctx, r->path));
    plx__h5_enter(&f, r->ctx, r->path);
    bool is_hdf5 = H5Fis_hdf5(r->path) > 0;
    plx__h5_close(&f);
    if (!is_hdf5) return PLX_OK;
    PLX_TRY(plx__h5_open(&f, r->ctx, r->path));
    plx__h5_close(&f);
    return PLX_OK;
}

/* matio uses HDF5 for version 7.3, hence the guard. */
static plx_status load_file(mat_reader *r)
{
    struct stat info;
    plx__h5 guard;
    if (stat(r->path, &info) != 0) PLX_FAIL(r->ctx, PLX_E_IO, "%s: %s", r->path, strerror(errno));
    if (S_ISDIR(info.st_mode)) PLX_FAIL(r->ctx, PLX_E_IO, "%s: is a directory, expected a file", r->path);
    const char *why = plx__matio_missing();
    if (why) PLX_FAIL(r->ctx, PLX_E_IO, "%s: the matio library cannot be used (%s); install it", r->path, why);
    PLX_TRY(check_file(r));
    plx__h5_enter(&guard, r->ctx, r->path);
    mat_t *mat = Mat_Open(r->path, MAT_ACC_RDONLY);
    plx_status st = mat ? read_variables(r, mat, (double)info.st_size)
                        : plx__fail(r->ctx, PLX_E_FORMAT, "%s: is not a MATLAB file, or is damaged", r->path);
    if (mat) Mat_Close(mat);
    plx__h5_close(&guard);
    return st;
}

/* ---- finding ---- */

static const matvar_t *find(const mat_reader *r, const char *name)
{
    for (plx_index k = 0; k < r->vars.count; k++)
        if (r->vars.var[k]->name && strcmp(r->vars.var[k]->name, name) == 0) return r->vars.var[k];
    return NULL;
}

/* Some files keep one label vector per view in a cell: the first one stands for all. */
static const matvar_t *unwrap_labels(const matvar_t *var)
{
    if (!var || var->class_type != MAT_C_CELL || !var->data || var->nbytes < sizeof(matvar_t *)) return var;
    const matvar_t *first = ((matvar_t *const *)var->data)[0];
    return first && plx__mat_is_matrix(first) && plx__mat_label_count(first) > 1 ? first : var;
}

static plx_status find_truth(mat_reader *r, const char *asked)
{
    if (asked) {
        r->truth = unwrap_labels(find(r, asked));
        if (!r->truth) PLX_FAIL(r->ctx, PLX_E_DATA, "%s: there is no variable '%s' for the labels", r->path, asked);
    }
    for (int k = 0; !r->truth && k < N_TRUTHS; k++) r->truth = unwrap_labels(find(r, truth_names[k]));
    if (r->truth && plx__mat_label_count(r->truth) == 0)
        PLX_FAIL(r->ctx, PLX_E_DATA, "%s: '%s' cannot be labels: expected numbers, texts or a one-hot matrix", r->path,
                 r->truth->name ? r->truth->name : "(cell)");
    return PLX_OK;
}

static plx_status add_candidate(mat_reader *r, const matvar_t *var, const char *name)
{
    r->views[r->n_views++] = (candidate){var, name};
    if (var && plx__mat_is_matrix(var)) return PLX_OK;
    PLX_FAIL(r->ctx, PLX_E_FORMAT, "%s: '%s' is not a matrix of real numbers", r->path, name);
}

static plx_status views_of_cell(mat_reader *r, const matvar_t *cell)
{
    matvar_t *const *members = cell->data;
    plx_index count = members ? (plx_index)(cell->nbytes / sizeof *members) : 0;
    PLX_TRY(PLX__ARENA_NEW(&r->views, plx__scratch(r->ctx), count));
    for (plx_index k = 0; k < count; k++) {
        const char *name = NULL;
        PLX_TRY(plx__arena_printf(&name, plx__scratch(r->ctx), "view%lld", (long long)k + 1));
        PLX_TRY(add_candidate(r, members[k], name));
    }
    return PLX_OK;
}

static plx_status views_of_struct(mat_reader *r, const matvar_t *var)
{
    unsigned count = Mat_VarGetNumberOfFields((matvar_t *)var); /* matio's readers take no const */
    char *const *names = Mat_VarGetStructFieldnames(var);
    matvar_t *const *members = var->data;
    if (!names || !members || var->nbytes != count * sizeof *members)
        PLX_FAIL(r->ctx, PLX_E_FORMAT, "%s: struct '%s' is damaged, or an array of structs", r->path, var->name);
    PLX_TRY(PLX__ARENA_NEW(&r->views, plx__scratch(r->ctx), (plx_index)count));
    for (unsigned k = 0; k < count; k++) PLX_TRY(add_candidate(r, members[k], names[k] ? names[k] : ""));
    return PLX_OK;
}

/* X1, X2, ... as far as they go. */
static plx_status numbered_views(mat_reader *r)
{
    PLX_TRY(PLX__ARENA_NEW(&r->views, plx__scratch(r->ctx), r->vars.count));
    for (plx_index k = 1; k <= r->vars.count; k++) {
        char name[32];
        snprintf(name, sizeof name, "X%lld", (long long)k);
        const matvar_t *var = find(r, name);
        if (!var) break;
        PLX_TRY(add_candidate(r, var, var->name));
    }
    if (r->n_views < 2) r->n_views = 0;
    return PLX_OK;
}

static bool is_truth(const mat_reader *r, const matvar_t *var)
{
    return var == r->truth || (r->truth && unwrap_labels(var) == r->truth);
}

static plx_status all_matrices(mat_reader *r)
{
    for (plx_index k = 0; k < r->vars.count; k++) {
        const matvar_t *var = r->vars.var[k];
        bool vector = plx__mat_is_matrix(var) && (var->dims[0] <= 1 || var->dims[1] <= 1); /* weights, sizes, names */
        if (!is_truth(r, var) && plx__mat_is_matrix(var) && !vector && var->name)
            r->views[r->n_views++] = (candidate){var, var->name};
    }
    return PLX_OK;
}

static plx_status find_views(mat_reader *r)
{
    for (int k = 0; k < N_CONTAINERS && r->n_views == 0; k++) {
        const matvar_t *var = find(r, container_names[k]);
        if (!var || is_truth(r, var)) continue;
        if (var->class_type == MAT_C_CELL) PLX_TRY(views_of_cell(r, var));
        else if (var->class_type == MAT_C_STRUCT) PLX_TRY(views_of_struct(r, var));
    }
    if (r->n_views == 0) PLX_TRY(numbered_views(r));
    if (r->n_views == 0) PLX_TRY(all_matrices(r));
    if (r->n_views == 0)
        PLX_FAIL(r->ctx, PLX_E_DATA, "%s: no views: expected a cell array X of matrices, or matrices X1, X2, ...",
                 r->path);
    return PLX_OK;
}

/* ---- which way round ---- */

static plx_index side(const candidate *c, bool transposed) { return (plx_index)c->var->dims[transposed ? 1 : 0]; }

static bool all_have(const mat_reader *r, plx_index n, bool transposed)
{
    for (plx_index v = 0; v < r->n_views; v++)
        if (side(&r->views[v], transposed) != n) return false;
    return true;
}

/* Without labels: the side that all views share. */
static plx_status agree_on_size(mat_reader *r)
{
    bool as_rows = all_have(r, side(&r->views[0], false), false), as_cols = all_have(r, side(&r->views[0], true), true);
    if (!as_rows && !as_cols)
        PLX_FAIL(r->ctx, PLX_E_DATA,
                 "%s: the views share no size (%s is %lld x %lld); there must be one row or one column per sample",
                 r->path, r->views[0].name, (long long)side(&r->views[0], false), (long long)side(&r->views[0], true));
    if (as_rows && as_cols)
        plx__warn(r->ctx, "%s: rows and columns could both be the samples; rows were taken", r->path);
    r->transposed = !as_rows;
    r->n = side(&r->views[0], r->transposed);
    return PLX_OK;
}

/* With n labels: each view must have a side of n; square ones follow the others. */
static plx_status fit_to_labels(mat_reader *r)
{
    plx_index as_rows = 0, as_cols = 0, both = 0;
    for (plx_index v = 0; v < r->n_views; v++) {
        bool rows = side(&r->views[v], false) == r->n, cols = side(&r->views[v], true) == r->n;
        if (!rows && !cols)
            PLX_FAIL(r->ctx, PLX_E_DATA, "%s: view '%s' is %lld x %lld, but there are %lld labels", r->path,
                     r->views[v].name, (long long)side(&r->views[v], false), (long long)side(&r->views[v], true),
                     (long long)r->n);
        as_rows += rows && !cols;
        as_cols += cols && !rows;
        both += rows && cols;
    }
    r->transposed = as_cols > 0 && as_rows == 0;
    if (both && !(as_cols == 0) == !(as_rows == 0))
        plx__warn(r->ctx, "%s: %lld square views could lie either way; their rows were taken as the samples", r->path,
                  (long long)both);
    return PLX_OK;
}

/* A one-hot matrix is longer than wide as a rule, but the views know better. */
static void recount_labels(mat_reader *r)
{
    const matvar_t *t = r->truth;
    plx_index other = plx__mat_is_matrix(t) ? (plx_index)(t->dims[0] < t->dims[1] ? t->dims[0] : t->dims[1]) : 0;
    bool fits = true, other_fits = other > 1;
    for (plx_index v = 0; v < r->n_views; v++) {
        plx_index a = side(&r->views[v], false), b = side(&r->views[v], true);
        fits = fits && (a == r->n || b == r->n);
        other_fits = other_fits && (a == other || b == other);
    }
    if (!fits && other_fits) r->n = other;
}

static plx_status orient(mat_reader *r)
{
    if (!r->truth) return agree_on_size(r);
    r->n = plx__mat_label_count(r->truth);
    recount_labels(r);
    return fit_to_labels(r);
}

static bool lies_transposed(const mat_reader *r, const candidate *c)
{
    bool rows = side(c, false) == r->n, cols = side(c, true) == r->n;
    return rows && cols ? r->transposed : !rows;
}

/* ---- the data set ---- */

static plx_status add_view(plx_dataset *data, mat_reader *r, const candidate *c)
{
    plx__arena arena;
    plx__table t;
    plx_status st = PLX_OK;
    plx__arena_init(&arena, r->ctx);
    PLX_GOTO(plx__mat_table(&t, r->ctx, &arena, r->path, c->var, lies_transposed(r, c)));
    plx__view_source source = {.name = c->name, .sparse = t.sparse, .dense = t.dense, .csr = t.csr};
    source.kind = plx__guess_kind(&t);
    PLX_GOTO(plx__dataset_adopt_arena(data, r->ctx, &arena, &source));
done:
    plx__arena_free(&arena);
    return st;
}

static plx_status build(plx_dataset **out, mat_reader *r)
{
    const char *base = plx__path_base(r->path), *dot = strrchr(base, '.'), *name = NULL;
    const char *const *truth = NULL;
    size_t len = dot && dot > base ? (size_t)(dot - base) : strlen(base);
    PLX_TRY(plx__arena_textn(&name, plx__scratch(r->ctx), base, len));
    PLX_TRY(plx__dataset_create(out, r->ctx, name, r->n));
    for (plx_index v = 0; v < r->n_views; v++) PLX_TRY(add_view(*out, r, &r->views[v]));
    if (!r->truth) return PLX_OK;
    PLX_TRY(plx__mat_labels(&truth, r->ctx, plx__scratch(r->ctx), r->path, r->truth, r->n));
    return plx__dataset_set_truth(*out, r->ctx, truth);
}

plx_status plx__mat_read(plx_dataset **out, plx_context *ctx, const char *path, const plx_read_options *options)
{
    plx__mark mark = plx__arena_mark(plx__scratch(ctx));
    mat_reader r = {.ctx = ctx, .path = path};
    plx_status st = PLX_OK;
    *out = NULL;
    PLX_GOTO(load_file(&r));
    PLX_GOTO(find_truth(&r, options ? options->label : NULL));
    PLX_GOTO(find_views(&r));
    PLX_GOTO(orient(&r));
    PLX_GOTO(build(out, &r));
done:
    free_variables(&r.vars);
    if (st == PLX_OK) {
        plx__arena_rewind(plx__scratch(ctx), mark);
        return PLX_OK;
    }
    plx__dataset_destroy(*out);
    *out = NULL;
    return st == PLX_E_DATA && !strstr(ctx->error, path) ? plx__fail_prefix(ctx, st, "%s", path) : st;
}
