/*
 * Which sentences of a pool to annotate next.
 */
#include <string.h>

#include "api/api_args.h"
#include "api/ner_impl.h"
#include "core/file.h"
#include "core/number.h"
#include "core/rng.h"
#include "ner/memm_file.h"
#include "ner/select.h"

struct plx_ner_choice {
    plx__arena arena;
    plx__ner_choice_row *rows;
    plx_index count;
};

static plx_status read_request(plx__ner_metric *metric, plx__select_params *select, plx_context *ctx, const char *name,
                               const plx_params *params)
{
    PLX_TRY(plx__ner_metric_of(metric, ctx, name));
    PLX_TRY(plx__ner_check_settings(ctx, params, "select"));
    *select = (plx__select_params){0};
    return params ? plx__params_fill(select, ctx, plx__scratch(ctx), params) : PLX_OK;
}

plx_status plx__ner_metric_of(plx__ner_metric *out, plx_context *ctx, const char *name)
{
    int at = plx__word_index(PLX__NER_METRICS, name);
    if (at < 0) PLX_FAIL(ctx, PLX_E_ARG, "metric = '%s': expected kl-max, kl-ave, f-complement or random", name);
    *out = (plx__ner_metric)at;
    return PLX_OK;
}

/* ---- models ---- */

static plx_status ask(plx__ner_opinion *out, plx_context *ctx, const plx_ner_model *m, const plx__ner_text *text)
{
    plx__ner_mark *mark = NULL;
    double *probs = NULL;
    PLX_TRY(plx__arena_f64(&probs, plx__scratch(ctx), text->n, m->memm.n_tags));
    PLX_TRY(plx__memm_tag_text(&mark, ctx, &m->index, text, probs));
    *out = (plx__ner_opinion){.n_tags = m->memm.n_tags, .tag = m->memm.tag, .probs = probs, .mark = mark};
    return plx__arena_printf(&out->where, plx__scratch(ctx), "a model");
}

/* Types have numbers of each model's own; give equal names equal numbers. */
static plx_status same_types(plx_context *ctx, plx__ner_opinion *o, const plx_ner_model *m, plx_index n,
                             plx__ner_types *types)
{
    int32_t *number = NULL;
    plx__ner_mark *mark = (plx__ner_mark *)o->mark;
    PLX_TRY(plx__arena_i32(&number, plx__scratch(ctx), m->types.count));
    for (plx_index t = 0; t < m->types.count; t++) PLX_TRY(plx__ner_type(&number[t], types, m->types.name[t]));
    for (plx_index i = 0; i < n; i++) mark[i].type = number[mark[i].type];
    return PLX_OK;
}

static plx_status ask_models(plx__ner_opinion *opinion, plx_context *ctx, const plx_ner_model *const *models,
                             plx_index count, const plx_conll *pool, int unlabelled, plx__ner_text *text)
{
    plx__ner_types types;
    plx__ner_columns columns = {.unlabelled = unlabelled != 0};
    PLX_TRY(plx__ner_types_init(&types, plx__scratch(ctx)));
    PLX_TRY(plx__ner_text_open(text, ctx, plx__scratch(ctx), &pool->text, &columns, NULL));
    for (plx_index k = 0; k < count; k++) {
        if (!models[k]) PLX_FAIL(ctx, PLX_E_ARG, "model %lld is NULL", (long long)k);
        if (!models[k]->memm.tag)
            PLX_FAIL(ctx, PLX_E_ARG, "model %lld has no probabilities; models of learner memm are needed",
                     (long long)k);
        opinion[k] = (plx__ner_opinion){.where = k ? "another model" : "the first model",
                                        .n_tags = models[k]->memm.n_tags,
                                        .tag = models[k]->memm.tag};
    }
    PLX_TRY(plx__ner_same_tags(ctx, opinion, count)); /* before the work */
    for (plx_index k = 0; k < count; k++) {
        PLX_TRY(plx__memm_check_text(ctx, &models[k]->memm, &pool->text, unlabelled != 0));
        PLX_TRY(ask(&opinion[k], ctx, models[k], text));
        PLX_TRY(same_types(ctx, &opinion[k], models[k], text->n, &types));
    }
    return PLX_OK;
}

/* ---- files ---- */

static plx_status read_files(plx__ner_opinion *opinion, plx_context *ctx, const char *const *paths, plx_index count,
                             plx__ner_pool *pool)
{
    plx__ner_types types;
    PLX_TRY(plx__ner_types_init(&types, plx__scratch(ctx)));
    for (plx_index k = 0; k < count; k++) {
        const plx_index *offsets = NULL;
        plx_index n = 0;
        if (!paths[k]) PLX_FAIL(ctx, PLX_E_ARG, "path %lld is NULL", (long long)k);
        PLX_TRY(plx__ner_read_opinion(&opinion[k], ctx, plx__scratch(ctx), &types, paths[k], &offsets, &n));
        if (k == 0) {
            pool->offsets = offsets;
            pool->n_sentences = n;
        } else if (n != pool->n_sentences || memcmp(offsets, pool->offsets, (size_t)(n + 1) * sizeof *offsets) != 0)
            PLX_FAIL(ctx, PLX_E_DATA, "%s: other sentences than in %s; both must be about the same pool", paths[k],
                     paths[0]);
    }
    return PLX_OK;
}

/* ---- choosing ---- */

static plx_status choose(plx_ner_choice **out, plx_context *ctx, const plx__ner_opinion *opinion, plx_index count,
                         plx__ner_pool *pool, plx__ner_metric metric, const plx__select_params *select)
{
    plx_ner_choice *c = plx__alloc(ctx, sizeof *c);
    if (!c) PLX_FAIL(ctx, PLX_E_NOMEM, "out of memory for a ranking");
    *c = (plx_ner_choice){.count = pool->n_sentences};
    plx__arena_init(&c->arena, ctx);
    pool->seed = ctx->seed;
    pool->stream = PLX__STREAM('n', 'e', 'r', 's', 0);
    plx_status st = PLX__ARENA_NEW(&c->rows, &c->arena, c->count);
    if (st == PLX_OK) st = plx__ner_choose(c->rows, ctx, opinion, count, pool, metric, select);
    if (st == PLX_OK) *out = c;
    else plx_ner_choice_destroy(c);
    return st;
}

static plx_status select_models(plx_ner_choice **out, plx_context *ctx, const plx_ner_model *const *models,
                                plx_index count, const plx_conll *pool, const char *metric, const plx_params *params,
                                int unlabelled)
{
    plx__ner_metric m = PLX__NER_RANDOM;
    plx__select_params select;
    plx__ner_opinion *opinion = NULL;
    plx__ner_text text = {0};
    PLX_TRY(read_request(&m, &select, ctx, metric, params));
    PLX_TRY(PLX__ARENA_NEW(&opinion, plx__scratch(ctx), count + 1));
    PLX_TRY(ask_models(opinion, ctx, models, count, pool, unlabelled, &text));
    plx__ner_pool sentences = {.n_sentences = text.n_sentences, .offsets = text.sentence};
    return choose(out, ctx, opinion, count, &sentences, m, &select);
}

static plx_status select_probs(plx_ner_choice **out, plx_context *ctx, const char *const *paths, plx_index count,
                               const char *metric, const plx_params *params)
{
    plx__ner_metric m = PLX__NER_RANDOM;
    plx__select_params select;
    plx__ner_opinion *opinion = NULL;
    plx__ner_pool pool = {0};
    PLX_TRY(read_request(&m, &select, ctx, metric, params));
    if (count < 1) PLX_FAIL(ctx, PLX_E_ARG, "no files of probabilities");
    PLX_TRY(PLX__ARENA_NEW(&opinion, plx__scratch(ctx), count));
    PLX_TRY(read_files(opinion, ctx, paths, count, &pool));
    return choose(out, ctx, opinion, count, &pool, m, &select);
}

plx_status plx_ner_select(plx_ner_choice **out, plx_context *ctx, const plx_ner_model *const *models,
                          plx_index n_models, const plx_conll *pool, const char *metric, const plx_params *params,
                          int unlabelled)
{
    if (out) *out = NULL;
    PLX__CALL(ctx, select_models(out, ctx, models, n_models, pool, metric, params, unlabelled), PLX__ARG(out),
              PLX__COUNT(n_models), PLX__ARG_IF(models, n_models), PLX__ARG(pool), PLX__ARG(metric));
}

plx_status plx_ner_select_probs(plx_ner_choice **out, plx_context *ctx, const char *const *paths, plx_index n_paths,
                                const char *metric, const plx_params *params)
{
    if (out) *out = NULL;
    PLX__CALL(ctx, select_probs(out, ctx, paths, n_paths, metric, params), PLX__ARG(out), PLX__COUNT(n_paths),
              PLX__ARG_IF(paths, n_paths), PLX__ARG(metric));
}

/* ---- reading ---- */

void plx_ner_choice_destroy(plx_ner_choice *choice)
{
    if (!choice) return;
    plx_context *ctx = choice->arena.ctx;
    plx__arena_free(&choice->arena);
    plx__release(ctx, choice, sizeof *choice);
}

plx_index plx_ner_choice_count(const plx_ner_choice *choice) { return choice ? choice->count : 0; }

plx_status plx_ner_choice_sentence(plx_ner_chosen *out, const plx_ner_choice *choice, plx_index sentence)
{
    if (!out || sentence < 0 || sentence >= plx_ner_choice_count(choice)) return PLX_E_ARG;
    if (out->struct_size != sizeof *out) return PLX_E_ARG;
    const plx__ner_choice_row *r = &choice->rows[sentence];
    *out = (plx_ner_chosen){sizeof *out, r->score, r->tokens, r->names, r->rank};
    return PLX_OK;
}

static plx_status write_choice(plx_context *ctx, const plx_ner_choice *c, plx_index batch, const char *path)
{
    plx__outfile out;
    char score[PLX__NUMBER_BYTES];
    PLX_TRY(plx__outfile_open(&out, ctx, path));
    fputs("sentence,score,tokens,entities_pred,rank,selected\n", out.file);
    for (plx_index s = 0; s < c->count; s++) {
        const plx__ner_choice_row *r = &c->rows[s];
        plx__print_double(score, r->score);
        fprintf(out.file, "%lld,%s,%lld,%lld,%lld,%d\n", (long long)s, score, (long long)r->tokens, (long long)r->names,
                (long long)r->rank, r->rank < batch);
    }
    plx_status st = plx__outfile_commit(&out, ctx);
    plx__outfile_abort(&out);
    return st;
}

plx_status plx_ner_choice_write(plx_context *ctx, const plx_ner_choice *choice, plx_index batch, const char *path)
{
    PLX__CALL(ctx, write_choice(ctx, choice, batch, path), PLX__ARG(choice), PLX__COUNT(batch), PLX__ARG(path));
}
