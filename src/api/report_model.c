/*
 * A fit in a report: its answers, and everything needed to repeat it.
 */
#include "api/portfolio_impl.h"
#include "api/report_impl.h"
#include "eval/metrics_store.h"

/* ---- parameters, arrays, the run ---- */

static plx_status put_settings(plx__json_maker *m, plx_report *r, const plx_model *model)
{
    char seed[24];
    plx_index count = plx__param_count(model->method->params);
    snprintf(seed, sizeof seed, "%llu", (unsigned long long)model->seed);
    plx__report_setting(m, r, "seed", seed, "0");
    for (plx_index i = 0; i < count; i++) {
        const plx__param_spec *spec = plx__param_at(model->method->params, i);
        plx__value value;
        PLX_TRY(plx__view_value(&value, m->ctx, model->settings, spec->name, NULL));
        plx__report_setting(m, r, spec->name, value.text, spec->def);
    }
    for (const plx__setting *s = model->settings->first; s; s = s->next) {
        const char *key = NULL;
        if (!s->view) continue;
        PLX_TRY(plx__view_key(&key, m->ctx, s->spec->name, s->view));
        plx__report_setting(m, r, key, s->value.text, s->spec->def);
    }
    return PLX_OK;
}

static void put_arrays(plx__json_maker *m, json_t *object, const plx_model *model)
{
    json_t *list = plx__json_put_list(m, object, "arrays");
    for (const plx__array *a = model->store.first; a; a = a->next) {
        const plx__array_spec *spec = plx__array_spec_find(model->method, a->name);
        if (a->name[0] == '_' || !spec) continue;
        json_t *o = plx__json_push_object(m, list);
        plx__json_put_text(m, o, "name", a->name);
        plx__json_put_whole(m, o, "rows", a->sparse ? a->csr.rows : a->dense.rows);
        plx__json_put_whole(m, o, "columns", a->sparse ? a->csr.cols : a->dense.cols);
        plx__json_put_text(m, o, "help", spec->help);
    }
}

static void put_run(plx__json_maker *m, plx_report *r, const plx_model *model)
{
    const plx__facts *f = &model->facts;
    json_t *object = plx__json_put_object(m, r->root, "model"), *trace = plx__json_put_list(m, object, "trace");
    plx__json_put_text(m, object, "method", model->method->name);
    plx__json_put(m, object, "converged", json_boolean(f->converged != 0));
    for (plx_index i = 0; i < f->n_trace; i++) plx__json_push(m, trace, plx__json_real(f->trace[i]));
    put_arrays(m, object, model);
}

/* ---- members ---- */

static plx_status put_members(plx_report *r, plx_context *ctx, const plx__portfolio *p)
{
    plx_explanation *e = NULL;
    plx__section *s = NULL;
    PLX_TRY(plx__explanation_create(&e, ctx));
    plx_status st = plx__section_add(&s, e, "members", "Who took part", "method|agreement|left out because");
    if (st == PLX_OK)
        st = plx__section_note(s,
                               "Chosen because: %s. Agreement: share of the samples without a label on which it "
                               "answers as the others do.",
                               p->reason);
    for (plx_index i = 0; st == PLX_OK && i < p->n_members; i++)
        st = plx__section_row(s, (plx__cell[]){plx__cell_text(p->member[i].method->name),
                                               plx__cell_number(p->member[i].agreement),
                                               plx__cell_text(p->member[i].reason ? p->member[i].reason : "")});
    if (st == PLX_OK) st = plx__report_tables(r, ctx, e);
    plx__explanation_free(e);
    return st;
}

/* ---- models ---- */

static plx_status put_outcome(plx_report *r, plx_context *ctx, const plx_model *model, const plx_dataset *data)
{
    plx__reported about = {.name = model->method->name, .prediction = &model->fitted, .seen = model->seen};
    PLX_TRY(plx__metrics_new(&about.metrics, ctx));
    plx_status st = plx__measure(about.metrics, ctx, &model->fitted, model, data);
    if (st == PLX_OK) st = plx__report_outcome(r, ctx, &about, data);
    plx__metrics_destroy(about.metrics);
    return st;
}

plx_status plx__report_model(plx_report *r, plx_context *ctx, const plx_model *model, const plx_dataset *data)
{
    plx__json_maker m = {.ctx = ctx};
    if (model->fitted.outcome.n == 0)
        PLX_FAIL(ctx, PLX_E_ARG, "a model from a file has no answers about the samples it was fitted to; explain it");
    PLX_TRY(put_outcome(r, ctx, model, data));
    PLX_TRY(put_settings(&m, r, model));
    put_run(&m, r, model);
    if (model->portfolio) PLX_TRY(put_members(r, ctx, model->portfolio));
    plx__report_fact(&m, r, "seconds", model->seconds);
    if (model->facts.converged >= 0) plx__report_fact(&m, r, "iterations", (double)model->facts.iterations);
    for (plx_index i = 0; i < model->fitted.n_warnings; i++) plx__report_warning(&m, r, model->fitted.warnings[i]);
    return plx__json_made(&m);
}
