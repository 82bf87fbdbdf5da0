/*
 * Selective sampling as it would have gone.
 */
#include <string.h>

#include "api/api_args.h"
#include "api/ner_impl.h"
#include "core/file.h"
#include "core/number.h"
#include "ner/sampling.h"

struct plx_ner_curve {
    plx__arena arena;
    plx__ner_round *rows;
    plx_index count;
};

static plx_status open_text(plx__ner_text *out, plx_context *ctx, const plx_conll *text, plx__ner_scheme scheme,
                            plx__ner_types *types)
{
    plx__ner_columns columns = {.scheme = scheme};
    PLX_TRY(plx__ner_text_open(out, ctx, plx__scratch(ctx), &text->text, &columns, types));
    if (!out->gold) PLX_FAIL(ctx, PLX_E_DATA, "%s: one column; a column of tags is needed", text->text.where);
    return PLX_OK;
}

/* Parts of speech are used where all three texts have them. */
static void share_columns(plx__ner_text *a, plx__ner_text *b, plx__ner_text *c)
{
    if (a->pos && b->pos && c->pos) return;
    a->pos = b->pos = c->pos = NULL;
}

static plx_status fill_settings(plx__ner_simulation *job, plx_context *ctx, const plx_params *params,
                                plx_params **defaults)
{
    static const plx__param_table memm[] = {plx__memm_params_table, NULL};
    plx__value kl;
    PLX_TRY(plx__ner_check_settings(ctx, params, "simulate"));
    if (!params) PLX_TRY(plx__params_create(defaults, ctx, "simulate", plx__ner_params_of("simulate")));
    job->settings = params ? params : *defaults;
    if (plx__view_value_level(job->settings, "view", NULL) > 0)
        PLX_FAIL(ctx, PLX_E_ARG, "view cannot be set here: both views choose, and all features are measured");
    plx_params only = *job->settings; /* the same settings seen through the table whose fields are wanted */
    only.tables = memm;
    PLX_TRY(plx__params_fill(&job->memm, ctx, plx__scratch(ctx), &only));
    PLX_TRY(plx__view_value(&kl, ctx, job->settings, "kl", NULL));
    job->select.kl = kl.word;
    return PLX_OK;
}

static plx_status simulate(plx_ner_curve *c, plx_context *ctx, const plx_conll *train, const plx_conll *pool,
                           const plx_conll *test, const plx_params *params, const plx_ner_simulate_options *o,
                           plx_params **defaults)
{
    plx__ner_text texts[3];
    plx__ner_types types;
    plx__ner_scheme scheme = PLX__NER_IOB2;
    plx__ner_simulation job = {.train = &texts[0],
                               .pool = &texts[1],
                               .test = &texts[2],
                               .types = &types,
                               .batch = o->batch,
                               .rounds = o->rounds,
                               .seed = ctx->seed};
    PLX_TRY(plx__ner_metric_of(&job.metric, ctx, o->metric ? o->metric : "kl-ave"));
    PLX_TRY(plx__ner_scheme_of(&scheme, ctx, o->scheme, PLX__NER_IOB2));
    PLX_TRY(fill_settings(&job, ctx, params, defaults));
    if (o->batch < 1 || o->rounds < 0) PLX_FAIL(ctx, PLX_E_ARG, "batch must be at least 1, rounds at least 0");
    PLX_TRY(plx__ner_types_init(&types, plx__scratch(ctx)));
    PLX_TRY(open_text(&texts[0], ctx, train, scheme, &types));
    PLX_TRY(open_text(&texts[1], ctx, pool, scheme, &types));
    PLX_TRY(open_text(&texts[2], ctx, test, scheme, &types));
    share_columns(&texts[0], &texts[1], &texts[2]);
    PLX_TRY(PLX__ARENA_NEW(&c->rows, &c->arena, o->rounds + 1));
    return plx__ner_simulate(c->rows, &c->count, ctx, &job);
}

static plx_status simulate_call(plx_ner_curve **out, plx_context *ctx, const plx_conll *train, const plx_conll *pool,
                                const plx_conll *test, const plx_params *params, const plx_ner_simulate_options *given)
{
    plx_ner_simulate_options o = PLX_NER_SIMULATE_OPTIONS_INIT;
    plx_params *defaults = NULL;
    PLX_TRY(plx__take_options(&o, sizeof o, ctx, given, "PLX_NER_SIMULATE_OPTIONS_INIT"));
    plx_ner_curve *c = plx__alloc(ctx, sizeof *c);
    if (!c) PLX_FAIL(ctx, PLX_E_NOMEM, "out of memory for a curve");
    *c = (plx_ner_curve){.count = 0};
    plx__arena_init(&c->arena, ctx);
    plx_status st = simulate(c, ctx, train, pool, test, params, &o, &defaults);
    plx__params_destroy(defaults);
    if (st == PLX_OK) *out = c;
    else plx_ner_curve_destroy(c);
    return st;
}

plx_status plx_ner_simulate(plx_ner_curve **out, plx_context *ctx, const plx_conll *train, const plx_conll *pool,
                            const plx_conll *test, const plx_params *params, const plx_ner_simulate_options *options)
{
    if (out) *out = NULL;
    PLX__CALL(ctx, simulate_call(out, ctx, train, pool, test, params, options), PLX__ARG(out), PLX__ARG(train),
              PLX__ARG(pool), PLX__ARG(test));
}

/* ---- reading ---- */

void plx_ner_curve_destroy(plx_ner_curve *curve)
{
    if (!curve) return;
    plx_context *ctx = curve->arena.ctx;
    plx__arena_free(&curve->arena);
    plx__release(ctx, curve, sizeof *curve);
}

plx_index plx_ner_curve_count(const plx_ner_curve *curve) { return curve ? curve->count : 0; }

plx_status plx_ner_curve_round(plx_ner_round *out, const plx_ner_curve *curve, plx_index round)
{
    if (!out || round < 0 || round >= plx_ner_curve_count(curve)) return PLX_E_ARG;
    if (out->struct_size != sizeof *out) return PLX_E_ARG;
    const plx__ner_round *r = &curve->rows[round];
    *out = (plx_ner_round){sizeof *out, r->sentences, r->tokens, r->names, r->f1, r->precision, r->recall};
    return PLX_OK;
}

static plx_status write_curve(plx_context *ctx, const plx_ner_curve *c, const char *path)
{
    plx__outfile out;
    char f1[PLX__NUMBER_BYTES], precision[PLX__NUMBER_BYTES], recall[PLX__NUMBER_BYTES];
    PLX_TRY(plx__outfile_open(&out, ctx, path));
    fputs("round,sentences,tokens,entities,f1,precision,recall\n", out.file);
    for (plx_index k = 0; k < c->count; k++) {
        const plx__ner_round *r = &c->rows[k];
        plx__print_double(f1, r->f1);
        plx__print_double(precision, r->precision);
        plx__print_double(recall, r->recall);
        fprintf(out.file, "%lld,%lld,%lld,%lld,%s,%s,%s\n", (long long)k, (long long)r->sentences, (long long)r->tokens,
                (long long)r->names, f1, precision, recall);
    }
    plx_status st = plx__outfile_commit(&out, ctx);
    plx__outfile_abort(&out);
    return st;
}

plx_status plx_ner_curve_write(plx_context *ctx, const plx_ner_curve *curve, const char *path)
{
    PLX__CALL(ctx, write_curve(ctx, curve, path), PLX__ARG(curve), PLX__ARG(path));
}
