/*
 * Who is what in a run: a function of the seed of the run alone, the same for all entries.
 */
#include <inttypes.h>
#include <string.h>

#include "active/curves.h"
#include "compare/comparison.h"
#include "core/file.h"
#include "data/split_impl.h"

const char *plx__class_of(const plx_dataset *data, plx_index i)
{
    return data->truth ? data->truth[i] : data->labels ? data->labels[i] : NULL;
}

bool plx__role_scored(const plx_comparison *c, plx__role role)
{
    if (c->task == PLX_TASK_CLUSTER) return role != PLX__ROLE_NONE;
    return c->folds || c->inductive ? role == PLX__ROLE_TEST : role == PLX__ROLE_UNLABELLED;
}

/* ---- roles ---- */

static plx_status set_aside(uint8_t *role, plx_context *ctx, const plx_comparison *c, const plx_dataset *data,
                            plx_index run)
{
    int32_t *fold = NULL;
    uint8_t *test = NULL;
    if (!c->folds && !c->inductive) return PLX_OK;
    PLX_TRY(plx__arena_u8(&test, plx__scratch(ctx), data->n));
    if (c->folds) {
        PLX_TRY(plx__arena_i32(&fold, plx__scratch(ctx), data->n));
        PLX_TRY(plx__split_folds(fold, ctx, data, c->folds));
        for (plx_index i = 0; i < data->n; i++) test[i] = fold[i] == plx__fold_of(c, run);
    } else PLX_TRY(plx__split_test(test, ctx, data, c->test, true));
    for (plx_index i = 0; i < data->n; i++)
        if (test[i] && role[i] != PLX__ROLE_NONE) role[i] = PLX__ROLE_TEST;
    return PLX_OK;
}

/* A data set of names and classes only, in which nobody who is set aside has a class. */
static plx_status make_choosable(plx_dataset **out, plx_context *ctx, const plx_dataset *data, const uint8_t *role)
{
    const char **texts = NULL;
    plx_status st = PLX_OK;
    PLX_TRY(PLX__ARENA_NEW(&texts, plx__scratch(ctx), data->n));
    for (plx_index i = 0; i < data->n; i++) texts[i] = role[i] == PLX__ROLE_TEST ? NULL : plx__class_of(data, i);
    PLX_TRY(plx__dataset_create(out, ctx, data->name, data->n));
    if (data->ids) PLX_GOTO(plx__dataset_set_ids(*out, ctx, data->ids));
    PLX_GOTO(plx__dataset_set_truth(*out, ctx, texts));
done:
    if (st != PLX_OK) plx__dataset_destroy(*out);
    return st;
}

static plx_status choose_labelled(uint8_t *role, plx_context *ctx, const plx_dataset *data, const char *labels)
{
    uint8_t *chosen = NULL;
    plx_dataset *choosable = NULL;
    PLX_TRY(plx__arena_u8(&chosen, plx__scratch(ctx), data->n));
    if (strcmp(labels, "given") == 0) {
        if (!data->labels || !data->truth)
            PLX_FAIL(ctx, PLX_E_DATA, "data set '%s' has no %s: labels 'given' need both labels and truth", data->name,
                     data->labels ? "truth" : "labels");
        for (plx_index i = 0; i < data->n; i++) chosen[i] = data->labels[i] != NULL;
    } else {
        PLX_TRY(make_choosable(&choosable, ctx, data, role));
        plx_status st = plx__split_labels(chosen, ctx, choosable, labels);
        plx__dataset_destroy(choosable);
        PLX_TRY(st);
    }
    for (plx_index i = 0; i < data->n; i++)
        if (chosen[i] && role[i] == PLX__ROLE_UNLABELLED) role[i] = PLX__ROLE_LABELLED;
    return PLX_OK;
}

static plx_status give_roles(uint8_t *role, plx_context *ctx, const plx_comparison *c, const plx_dataset *data,
                             plx_index block, plx_index run)
{
    plx_index scored = 0;
    for (plx_index i = 0; i < data->n; i++) role[i] = plx__class_of(data, i) ? PLX__ROLE_UNLABELLED : PLX__ROLE_NONE;
    if (c->task == PLX_TASK_CLASSIFY) {
        PLX_TRY(set_aside(role, ctx, c, data, run));
        PLX_TRY(choose_labelled(role, ctx, data, c->block[block].labels));
    }
    for (plx_index i = 0; i < data->n; i++) scored += plx__role_scored(c, role[i]);
    if (scored == 0)
        PLX_FAIL(ctx, PLX_E_DATA, "%s: no sample is left to be scored; give fewer labels, or set samples aside",
                 c->block[block].name);
    return PLX_OK;
}

plx_status plx__run_roles(uint8_t *role, plx_context *ctx, const plx_comparison *c, const plx_dataset *data,
                          plx_index block, plx_index run)
{
    uint64_t before = ctx->seed;
    plx__mark mark = plx__arena_mark(plx__scratch(ctx));
    ctx->seed = plx__seed_of(c, run);
    plx_status st = give_roles(role, ctx, c, data, block, run);
    ctx->seed = before;
    plx__arena_rewind(plx__scratch(ctx), mark);
    return st;
}

/* ---- for other programs ---- */

plx_status plx__run_name(const char **out, plx__arena *arena, const plx_comparison *c, const plx_dataset *data,
                         plx_index block, plx_index run, const uint8_t *role)
{
    const plx__block *b = &c->block[block];
    uint64_t hash = plx__hash(PLX__HASH_START, role, (size_t)data->n);
    for (plx_index i = 0; i < data->n; i++) hash = plx__hash_text(hash, plx__class_of(data, i));
    char fold[24] = "";
    if (c->folds) snprintf(fold, sizeof fold, ".%lld", (long long)plx__fold_of(c, run));
    return plx__arena_printf(out, arena, "%s:%s:%lld%s:%08" PRIx32, b->dataset, b->labels,
                             (long long)plx__repeat_of(c, run), fold, (uint32_t)(hash ^ hash >> 32));
}

static void print_run(FILE *to, const plx_comparison *c, const plx_dataset *data, plx_index block, plx_index run,
                      const uint8_t *role, const char *name)
{
    static const char *const words[] = {"unlabelled", "labelled", "test", "none"};
    for (plx_index i = 0; i < data->n; i++) {
        char number[32];
        snprintf(number, sizeof number, "%lld", (long long)i);
        plx__write_cell(to, "", name);
        plx__write_cell(to, ",", c->block[block].dataset);
        plx__write_cell(to, ",", c->block[block].labels);
        fprintf(to, ",%lld,", (long long)plx__repeat_of(c, run));
        if (c->folds) fprintf(to, "%lld", (long long)plx__fold_of(c, run));
        fprintf(to, ",%" PRIu64, plx__seed_of(c, run));
        plx__write_cell(to, ",", data->ids ? data->ids[i] : number);
        fprintf(to, ",%s", words[role[i]]);
        plx__write_cell(to, ",", role[i] == PLX__ROLE_LABELLED ? plx__class_of(data, i) : "");
        fputc('\n', to);
    }
}

static plx_status print_runs(FILE *to, plx_context *ctx, const plx_comparison *c, const plx_dataset *const *data)
{
    fputs("run,dataset,labels,repeat,fold,seed,id,role,label\n", to);
    for (plx_index b = 0; b < c->n_blocks; b++)
        for (plx_index r = 0; r < c->runs; r++) {
            const plx_dataset *d = data[c->block[b].data];
            const char *name = NULL;
            uint8_t *role = NULL;
            plx__mark mark = plx__arena_mark(plx__scratch(ctx));
            PLX_TRY(plx__arena_u8(&role, plx__scratch(ctx), d->n));
            PLX_TRY(plx__run_roles(role, ctx, c, d, b, r));
            PLX_TRY(plx__run_name(&name, plx__scratch(ctx), c, d, b, r, role));
            print_run(to, c, d, b, r, role, name);
            plx__arena_rewind(plx__scratch(ctx), mark);
            PLX_TRY(plx__poll(ctx));
        }
    return PLX_OK;
}

plx_status plx__splits_write(plx_context *ctx, const plx_comparison *c, const plx_dataset *const *data,
                             const char *directory)
{
    const char *path = NULL;
    plx__outfile out;
    PLX_TRY(plx__make_directory(ctx, directory));
    PLX_TRY(plx__arena_printf(&path, plx__scratch(ctx), "%s/splits.csv", directory));
    PLX_TRY(plx__outfile_open(&out, ctx, path));
    plx_status st = print_runs(out.file, ctx, c, data);
    if (st == PLX_OK) return plx__outfile_commit(&out, ctx);
    plx__outfile_abort(&out);
    return st;
}
