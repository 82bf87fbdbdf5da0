/*
 * Public calls that read and write files: data sets, predictions, matrices, texts.
 */
#include <math.h>
#include <string.h>

#include "api/api_args.h"
#include "api/model_impl.h"
#include "core/file.h"
#include "core/number.h"
#include "core/ranks.h"
#include "io/dataset_file.h"
#include "io/guarded_read.h"
#include "io/joined_file.h"
#include "io/matrix_file.h"
#include "linalg/csr.h"

/* How the text of a model's views was counted. */
static plx_status text_recipes(plx__text_recipe **out, plx_index *count, plx_context *ctx, const plx_model *model)
{
    *count = 0;
    PLX_TRY(PLX__ARENA_NEW(out, plx__scratch(ctx), model->n_views));
    for (plx_index v = 0; v < model->n_views; v++)
        if (model->views[v].text) (*out)[(*count)++] = (plx__text_recipe){model->views[v].name, model->views[v].text};
    return PLX_OK;
}

static plx_status dataset_read(plx_dataset **out, plx_context *ctx, const char *path, const plx_read_options *given)
{
    plx_read_options options;
    plx__text_recipe *recipes = NULL;
    plx_index count = 0;
    PLX_TRY(plx__read_options_copy(&options, ctx, given));
    if (options.like) PLX_TRY(text_recipes(&recipes, &count, ctx, options.like));
    return plx__dataset_read(out, ctx, path, &options, recipes, count);
}

plx_status plx_dataset_read(plx_dataset **out, plx_context *ctx, const char *path, const plx_read_options *options)
{
    if (out) *out = NULL;
    PLX__CALL(ctx, dataset_read(out, ctx, path, options), PLX__ARG(out));
}

plx_status plx_dataset_save(plx_context *ctx, const char *manifest, const char *path, const plx_read_options *options)
{
    PLX__CALL(ctx, plx__dataset_save(ctx, manifest, path, options), PLX__ARG(manifest));
}

plx_index plx_dataset_files(const plx_dataset *data) { return data ? data->n_files : 0; }

const char *plx_dataset_file(const plx_dataset *data, plx_index i)
{
    return data && i >= 0 && i < data->n_files ? data->files[i] : NULL;
}

plx_status plx_reader_main(int argc, char **argv) { return plx__reader_main(argc, argv); }

plx_status plx_dataset_write(plx_context *ctx, const plx_dataset *data, const char *path)
{
    PLX__CALL(ctx, plx__dataset_write(ctx, data, path), PLX__WHOLE(data), PLX__ARG(path));
}

plx_status plx_leftovers_remove(plx_context *ctx, const char *path)
{
    PLX__CALL(ctx, plx__remove_leftovers(ctx, path), PLX__ARG(path));
}

/* ---- predictions ---- */

static void write_header(FILE *f, const plx__outcome *o)
{
    fputs("id,label", f);
    for (plx_index c = 0; c < o->scores.cols; c++) {
        fputc(',', f);
        plx__write_cell(f, "score_", o->columns[c]);
    }
    fputc('\n', f);
}

static void write_rows(FILE *f, const plx__outcome *o, const plx_dataset *data)
{
    char number[PLX__NUMBER_BYTES];
    for (plx_index i = 0; i < o->n; i++) {
        const char *id = data ? plx_dataset_id(data, o->first + i) : NULL;
        if (id) plx__write_cell(f, "", id);
        else fprintf(f, "%lld", (long long)(o->first + i));
        fputc(',', f);
        plx__write_cell(f, "", o->label[i] ? o->label[i] : "?");
        for (plx_index c = 0; c < o->scores.cols; c++) {
            plx__print_double(number, o->scores.data[i * o->scores.ld + c]);
            fprintf(f, ",%s", number);
        }
        fputc('\n', f);
    }
}

static plx_status prediction_write(plx_context *ctx, const plx_prediction *p, const plx_dataset *data, const char *path)
{
    const plx__outcome *o = &p->outcome;
    plx__joined file;
    plx_index n = plx__outcome_samples(ctx, o);
    if (data && data->n != n)
        PLX_FAIL(ctx, PLX_E_ARG, "the prediction has %lld samples, the data set %lld", (long long)n,
                 (long long)data->n);
    plx_status st = plx__joined_open(&file, ctx, path, o->bound != NULL);
    if (st == PLX_OK && file.first) write_header(file.out.file, o);
    if (st == PLX_OK) write_rows(file.out.file, o, data);
    return plx__joined_close(&file, ctx, st);
}

plx_status plx_prediction_write(plx_context *ctx, const plx_prediction *prediction, const plx_dataset *data,
                                const char *path)
{
    PLX__CALL(ctx, prediction_write(ctx, prediction, data, path), PLX__ARG(prediction), PLX__ARG(path));
}

/* Where each rank has the results of its own samples, all write their rows; what is no array over samples is the same on
 * all of them. */
static plx_status prediction_array_write(plx_context *ctx, const plx_prediction *p, const char *array, const char *path)
{
    const char *name = array ? array : p->method->transform;
    const plx__array *a = name ? plx__store_lookup(&p->store, name) : NULL;
    plx__table table = {0};
    if (!a || a->sparse) PLX_FAIL(ctx, PLX_E_ARG, "this prediction has no dense array '%s'", name ? name : "");
    table.dense = a->dense;
    if (p->outcome.bound && plx__array_by_sample(plx__array_spec_find(p->method, a->name), 0))
        table.rows_in_all = plx__outcome_samples(ctx, &p->outcome);
    else if (p->outcome.bound && plx__rank(ctx) > 0) return PLX_OK;
    return plx__matrix_file_write(ctx, path, &table);
}

plx_status plx_prediction_array_write(plx_context *ctx, const plx_prediction *prediction, const char *array,
                                      const char *path)
{
    PLX__CALL(ctx, prediction_array_write(ctx, prediction, array, path), PLX__ARG(prediction), PLX__ARG(path));
}

/* ---- matrices ---- */

static plx_status write_dense(plx_context *ctx, plx_cmat m, const char *path)
{
    plx__table table = {.dense = {(double *)(uintptr_t)m.data, m.rows, m.cols, m.ld}};
    PLX_TRY(plx__check_dense(ctx, "matrix", m));
    return plx__matrix_file_write(ctx, path, &table);
}

plx_status plx_matrix_write(plx_context *ctx, plx_cmat matrix, const char *path)
{
    PLX__CALL(ctx, write_dense(ctx, matrix, path), PLX__ARG(path));
}

static plx_status write_sparse(plx_context *ctx, plx_ccsr m, const char *path)
{
    plx__table table = {.sparse = true};
    PLX_TRY(plx__csr_check_shape(ctx, m, -1, "matrix"));
    table.csr =
        (plx_csr){m.rows, m.cols, (int64_t *)(uintptr_t)m.ptr, (int32_t *)(uintptr_t)m.col, (double *)(uintptr_t)m.val};
    return plx__matrix_file_write(ctx, path, &table);
}

plx_status plx_matrix_write_sparse(plx_context *ctx, plx_ccsr matrix, const char *path)
{
    PLX__CALL(ctx, write_sparse(ctx, matrix, path), PLX__ARG(matrix.ptr), PLX__ARG(path));
}

/* ---- texts ---- */

plx_status plx_text_write(plx_context *ctx, const char *text, const char *path)
{
    PLX__CALL(ctx, plx__write_text_file(ctx, path, text), PLX__ARG(text), PLX__ARG(path));
}
