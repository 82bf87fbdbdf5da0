/*
 * plx_acquire: fit with an acquirer's descriptor, then turn the candidates it lists into a ranking.
 */
#include <math.h>
#include <string.h>

#include "api/acquire_impl.h"
#include "api/api_args.h"
#include "api/describe.h"
#include "active/label_ranking.h"
#include "core/file.h"
#include "core/json.h"
#include "core/number.h"

/* ---- who can rank ---- */

plx_index plx_acquirer_count(void) { return plx__acquirer_count(); }

const char *plx_acquirer_name(plx_index i) { return plx__acquirer_name(i); }

/* The one that tells most of a method: both kinds, features, labels. */
static const plx__method *find(const char *name)
{
    const plx__method *found = NULL;
    for (int kind = PLX_ACQUIRE_ANY; name && !found && kind >= 0; kind--)
        found = plx__acquirer_find(name, (plx_acquire_kind)kind);
    return found;
}

plx_status plx_acquirer_param(plx_param_info *info, const char *method, plx_index i)
{
    return plx__describe_param(info, find(method), i);
}

plx_status plx_acquirer_array(plx_array_info *info, const char *method, plx_index i)
{
    return plx__describe_array(info, find(method), i);
}

int plx_acquirer_ranks(const char *method, plx_acquire_kind kind)
{
    bool known = kind == PLX_ACQUIRE_LABELS || kind == PLX_ACQUIRE_FEATURES || kind == PLX_ACQUIRE_ANY;
    return method && known && plx__acquirer_find(method, kind) != NULL;
}

static plx_status params_create(plx_params **out, plx_context *ctx, const char *method)
{
    const plx__method *ranking = NULL;
    PLX_TRY(plx__acquirer_require(&ranking, ctx, method, -1));
    return plx__params_create(out, ctx, ranking->name, ranking->params);
}

plx_status plx_acquire_params_create(plx_params **out, plx_context *ctx, const char *method)
{
    if (out) *out = NULL;
    PLX__CALL(ctx, params_create(out, ctx, method), PLX__ARG(out), PLX__ARG(method));
}

/* ---- ranking ---- */

plx_status plx__rank_model(const plx__ranked **out, plx_index *n, plx_context *ctx, plx_model *model,
                           const plx_dataset *data, bool budgeted)
{
    plx__candidate *candidates = NULL;
    plx__ranked *ranked = NULL;
    plx_index count = 0;
    plx__value budget;
    PLX_TRY(plx__candidates_get(&candidates, &count, ctx, plx__scratch(ctx), &model->store));
    PLX_TRY(plx__view_value(&budget, ctx, model->settings, "budget", NULL));
    PLX_TRY(plx__rank(&ranked, n, ctx, &model->arena, candidates, count, data->sample_costs,
                      budgeted && budget.text[0] ? budget.number : NAN));
    *out = ranked;
    return PLX_OK;
}

/* Probability of what every sample is taken for. */
static plx_status find_sure(plx_acquisition *a, plx_context *ctx)
{
    const plx__outcome *o = &a->model->fitted.outcome;
    plx_mat p;
    double *sure = NULL;
    if (o->kind != PLX__OUTCOME_CLASSES || !o->scores.data) return PLX_OK;
    PLX_TRY(plx__class_probabilities(&p, ctx, plx__cmat(o->scores), false));
    PLX_TRY(plx__arena_f64(&sure, &a->model->arena, o->n, 1));
    for (plx_index i = 0; i < o->n; i++) {
        sure[i] = NAN;
        for (plx_index c = 0; c < p.cols; c++)
            if (o->label[i] && strcmp(o->label[i], o->columns[c]) == 0) sure[i] = p.data[i * p.ld + c];
    }
    a->sure = sure;
    return PLX_OK;
}

static plx_acquired row_of(const plx_acquisition *a, plx_index rank)
{
    const plx__ranked *r = &a->ranked[rank];
    const plx__outcome *o = &a->model->fitted.outcome;
    return (plx_acquired){sizeof(plx_acquired),
                          r->row,
                          r->view,
                          r->score,
                          r->cost,
                          r->information,
                          o->n ? o->label[r->row] : NULL,
                          a->sure ? a->sure[r->row] : NAN};
}

/* "ranking" of the JSON result. */
static plx_status put_ranking(plx_acquisition *a, plx_context *ctx, const plx_dataset *data)
{
    json_t *list = json_array();
    if (!a->model->facts.extra) a->model->facts.extra = json_object();
    if (json_object_set_new(a->model->facts.extra, "ranking", list) != 0)
        PLX_FAIL(ctx, PLX_E_NOMEM, "out of memory while writing JSON");
    for (plx_index k = 0; k < a->count; k++) {
        plx_acquired r = row_of(a, k);
        const char *id = NULL, *what = NULL, *guess = NULL;
        if (data->ids) PLX_TRY(plx__utf8(&id, plx__scratch(ctx), data->ids[r.sample]));
        PLX_TRY(plx__utf8(&what, plx__scratch(ctx), r.view < 0 ? "label" : data->views[r.view].name));
        if (r.guess) PLX_TRY(plx__utf8(&guess, plx__scratch(ctx), r.guess));
        json_t *row = json_pack("{s:I, s:I, s:s, s:o, s:o, s:o, s:s?, s:o}", "rank", (json_int_t)k + 1, "sample",
                                (json_int_t)r.sample, "what", what, "gain", plx__json_real(r.gain), "cost",
                                plx__json_real(r.cost), "gain_per_cost", plx__json_real(r.score), "guess", guess,
                                "probability", plx__json_real(r.probability));
        if (id && row) json_object_set_new(row, "id", json_string(id));
        if (!row || json_array_append_new(list, row) != 0)
            PLX_FAIL(ctx, PLX_E_NOMEM, "out of memory while writing JSON");
    }
    return PLX_OK;
}

static plx_status acquire(plx_acquisition **out, plx_context *ctx, const plx__method *ranking, const plx_dataset *data,
                          const plx_params *params, const plx_fit_options *options)
{
    *out = NULL;
    plx_acquisition *a = plx__alloc(ctx, sizeof *a);
    if (!a) PLX_FAIL(ctx, PLX_E_NOMEM, "out of memory");
    *a = (plx_acquisition){0};
    plx_status st = plx__fit(&a->model, ctx, ranking, data, params, options, NULL);
    if (st == PLX_OK) st = plx__rank_model(&a->ranked, &a->count, ctx, a->model, data, true);
    if (st == PLX_OK) st = find_sure(a, ctx);
    if (st == PLX_OK) st = put_ranking(a, ctx, data);
    if (st == PLX_OK) {
        *out = a;
        return st;
    }
    plx_model_destroy(a->model);
    plx__release(ctx, a, sizeof *a);
    return st;
}

static plx_status acquire_call(plx_acquisition **out, plx_context *ctx, plx_acquire_kind kind, const char *method,
                               const plx_dataset *data, const plx_params *params, const plx_fit_options *options)
{
    const plx__method *ranking = NULL;
    if ((int)kind < 0 || (int)kind >= PLX__ACQUIRE_KINDS)
        PLX_FAIL(ctx, PLX_E_ARG, "unknown kind of acquisition %d", (int)kind);
    PLX_TRY(plx__acquirer_as_set(&ranking, ctx, method, kind, params));
    return acquire(out, ctx, ranking, data, params, options);
}

plx_status plx_acquire(plx_acquisition **out, plx_context *ctx, plx_acquire_kind kind, const char *method,
                       const plx_dataset *data, const plx_params *params, const plx_fit_options *options)
{
    if (out) *out = NULL;
    PLX__CALL(ctx, acquire_call(out, ctx, kind, method, data, params, options), PLX__ARG(out), PLX__ARG(method),
              PLX__WHOLE(data));
}

void plx_acquisition_destroy(plx_acquisition *a)
{
    if (!a) return;
    plx_context *ctx = a->model->arena.ctx;
    plx_model_destroy(a->model);
    plx__release(ctx, a, sizeof *a);
}

/* ---- reading ---- */

plx_index plx_acquisition_count(const plx_acquisition *a) { return a ? a->count : 0; }
plx_model *plx_acquisition_model(plx_acquisition *a) { return a ? a->model : NULL; }

plx_status plx_acquisition_get(plx_acquired *out, const plx_acquisition *a, plx_index rank)
{
    if (!out || !a || out->struct_size != sizeof *out || rank < 0 || rank >= a->count) return PLX_E_ARG;
    *out = row_of(a, rank);
    return PLX_OK;
}

static void write_row(FILE *f, const plx_dataset *data, const plx__ranked *r, plx_index rank)
{
    char score[PLX__NUMBER_BYTES], cost[PLX__NUMBER_BYTES];
    bool label = r->view < 0;
    plx__print_double(score, r->score);
    plx__print_short(cost, r->cost);
    fprintf(f, "%lld,%s", (long long)rank + 1, label ? "label" : "feature");
    if (data->ids) {
        fputc(',', f);
        plx__write_cell(f, "", data->ids[r->row]);
    } else fprintf(f, ",%lld", (long long)r->row);
    fputc(',', f);
    if (!label) plx__write_cell(f, "", data->views[r->view].name);
    fprintf(f, ",%s,%s\n", score, cost);
}

/* A number for people, behind a comma; nothing for NaN. */
static void write_short(FILE *f, double value)
{
    char text[PLX__NUMBER_BYTES] = "";
    if (!isnan(value)) plx__print_short(text, plx__round_digits(value, 6));
    fprintf(f, ",%s", text);
}

static void write_for_people(FILE *f, const plx_acquisition *a, const plx_dataset *data, plx_index rank)
{
    plx_acquired r = row_of(a, rank);
    fprintf(f, "%lld,", (long long)rank + 1);
    if (data->ids) plx__write_cell(f, "", data->ids[r.sample]);
    else fprintf(f, "%lld", (long long)r.sample);
    fputc(',', f);
    plx__write_cell(f, "", r.view < 0 ? "label" : data->views[r.view].name);
    write_short(f, r.gain);
    write_short(f, r.cost);
    write_short(f, r.score);
    fputc(',', f);
    plx__write_cell(f, "", r.guess ? r.guess : "");
    write_short(f, r.probability);
    fputc('\n', f);
}

static plx_status write_ranking(plx_context *ctx, const plx_acquisition *a, const plx_dataset *data, plx_index top,
                                const char *path, bool people)
{
    plx__outfile out;
    plx_index count = top > 0 ? plx__min(top, a->count) : a->count;
    if (data->n != a->model->rows || data->n_views < a->model->n_views)
        PLX_FAIL(ctx, PLX_E_ARG, "the data set is not the one that was ranked");
    PLX_TRY(plx__outfile_open(&out, ctx, path));
    fputs(people ? "rank,id,what,gain,cost,gain_per_cost,guess,probability\n" : "rank,kind,id,view,score,cost\n",
          out.file);
    for (plx_index i = 0; i < count; i++)
        if (people) write_for_people(out.file, a, data, i);
        else write_row(out.file, data, &a->ranked[i], i);
    return plx__outfile_commit(&out, ctx);
}

plx_status plx_acquisition_write(plx_context *ctx, const plx_acquisition *acquisition, const plx_dataset *data,
                                 plx_index top, const char *path)
{
    PLX__CALL(ctx, write_ranking(ctx, acquisition, data, top, path, false), PLX__ARG(acquisition), PLX__ARG(data),
              PLX__COUNT(top), PLX__ARG(path));
}

plx_status plx_acquisition_table(plx_context *ctx, const plx_acquisition *acquisition, const plx_dataset *data,
                                 plx_index top, const char *path)
{
    PLX__CALL(ctx, write_ranking(ctx, acquisition, data, top, path, true), PLX__ARG(acquisition), PLX__ARG(data),
              PLX__COUNT(top), PLX__ARG(path));
}
