/*
 * plx_views: facts about views and pairs of them, as an explanation.
 */
#include <math.h>
#include <string.h>

#include "api/api_args.h"
#include "api/views_impl.h"
#include "data/scale.h"

enum { MOST_PATTERNS = 12 };

/* ---- facts ---- */

static plx_status open_report(plx__view_report *r, const plx_views_options *options)
{
    const plx_dataset *d = r->data;
    const char *first = NULL;
    r->o = (plx_views_options)PLX_VIEWS_OPTIONS_INIT;
    PLX_TRY(plx__take_options(&r->o, sizeof r->o, r->ctx, options, "PLX_VIEWS_OPTIONS_INIT"));
    if (r->o.folds < 2 || r->o.directions < 1 || r->o.directions > 1000)
        PLX_FAIL(r->ctx, PLX_E_ARG, "options of a report on views: folds >= 2 and directions in [1, 1000] expected");
    r->classes = d->labels ? d->labels : d->truth;
    for (plx_index i = 0; r->classes && i < d->n; i++) {
        if (!r->classes[i]) continue;
        r->labelled++;
        if (!first) first = r->classes[i];
        if (strcmp(first, r->classes[i]) != 0) r->n_classes = 2;
    }
    if (r->labelled == 0) r->classes = NULL;
    r->n_classes = r->n_classes == 2 ? d->n_classes : r->labelled > 0;
    PLX_TRY(PLX__ARENA_NEW(&r->facts, plx__scratch(r->ctx), d->n_views));
    return PLX__ARENA_NEW(&r->pairs, plx__scratch(r->ctx), d->n_views * (d->n_views - 1) / 2);
}

static plx_status find_facts(plx__view_report *r)
{
    plx_index views = r->data->n_views, steps = views * (views + 1) / 2, done = 0;
    for (plx_index v = 0; v < views; v++) {
        PLX_TRY(plx__report(r->ctx, "views", ++done, steps, NAN));
        PLX_TRY(plx__view_alone(r, v));
    }
    for (plx_index a = 0; a < views; a++)
        for (plx_index b = a + 1; b < views; b++) {
            PLX_TRY(plx__report(r->ctx, "views", ++done, steps, NAN));
            r->pairs[r->n_pairs] = (plx__pair_facts){.a = a, .b = b};
            PLX_TRY(plx__view_pair(r, &r->pairs[r->n_pairs++]));
        }
    return PLX_OK;
}

/* ---- sections ---- */

static plx_status add_views(plx__view_report *r, plx_explanation *e)
{
    plx__section *s = NULL;
    PLX_TRY(plx__section_add(&s, e, "views", "Views", "view|kind|columns|density|samples|scale|accuracy|error|judged"));
    for (plx_index v = 0; v < r->data->n_views; v++) {
        const plx__view_facts *f = &r->facts[v];
        const plx__cell cells[] = {plx__cell_text(f->view->name),
                                   plx__cell_text(plx__view_kind_name(f->view->kind)),
                                   plx__cell_number((double)f->view->cols),
                                   plx__cell_number(f->density),
                                   plx__cell_number((double)f->view->present_count),
                                   plx__cell_text(plx__scale_name(plx__scale_auto(f->view, NULL))),
                                   plx__cell_number(f->accuracy),
                                   plx__cell_number(f->error),
                                   plx__cell_number((double)f->judged)};
        PLX_TRY(plx__section_row(s, cells));
    }
    double low = INFINITY, high = -INFINITY;
    for (plx_index v = 0; v < r->data->n_views; v++) {
        if (isnan(r->facts[v].accuracy)) continue;
        low = fmin(low, r->facts[v].accuracy);
        high = fmax(high, r->facts[v].accuracy);
    }
    if (!(high >= low)) return plx__section_note(s, "no classes, so no accuracies");
    return plx__section_note(s,
                             "accuracy of a linear classifier on this view alone, on folds of the samples whose class "
                             "is known; best less worst %.3f",
                             high - low);
}

static plx_status add_pairs(plx__view_report *r, plx_explanation *e)
{
    plx__section *s = NULL;
    if (r->n_pairs == 0) return PLX_OK;
    PLX_TRY(plx__section_add(&s, e, "pairs", "Pairs of views",
                             "view|other|samples|agreement|kappa|odds|p|mutual|correlation|mean"));
    for (plx_index k = 0; k < r->n_pairs; k++) {
        const plx__pair_facts *p = &r->pairs[k];
        const plx__cell cells[] = {plx__cell_text(r->data->views[p->a].name),
                                   plx__cell_text(r->data->views[p->b].name),
                                   plx__cell_number((double)p->both),
                                   plx__cell_number(p->agreement),
                                   plx__cell_number(p->kappa),
                                   plx__cell_number(p->odds),
                                   plx__cell_number(p->p),
                                   plx__cell_number(p->mutual),
                                   plx__cell_number(p->largest),
                                   plx__cell_number(p->mean)};
        PLX_TRY(plx__section_row(s, cells));
    }
    return plx__section_note(
        s,
        "agreement and kappa of the classifiers; odds ratio of their errors given the class and the "
        "p value of independence; mutual information of clusterings; largest and mean canonical "
        "correlation of the %lld strongest directions",
        (long long)r->o.directions);
}

static plx_status add_spectrum(plx__view_report *r, plx_explanation *e)
{
    plx__section *s = NULL;
    for (plx_index k = 0; k < r->n_pairs; k++) {
        const plx__pair_facts *p = &r->pairs[k];
        if (!s && p->n_spectrum)
            PLX_TRY(plx__section_add(&s, e, "spectrum", "Canonical correlations", "view|other|number|correlation"));
        for (plx_index i = 0; i < p->n_spectrum; i++) {
            const plx__cell cells[] = {plx__cell_text(r->data->views[p->a].name),
                                       plx__cell_text(r->data->views[p->b].name), plx__cell_number((double)i + 1),
                                       plx__cell_number(p->spectrum[i])};
            PLX_TRY(plx__section_row(s, cells));
        }
    }
    return PLX_OK;
}

/* ---- presence ---- */

static plx_status pattern_of(const char **out, plx__view_report *r, plx_index sample)
{
    plx__textbuf text;
    bool any = false;
    plx__textbuf_init(&text, plx__scratch(r->ctx));
    for (plx_index v = 0; v < r->data->n_views; v++) {
        if (!r->data->views[v].present[sample]) continue;
        plx__textbuf_printf(&text, "%s%s", any ? " + " : "", r->data->views[v].name);
        any = true;
    }
    if (!any) plx__textbuf_add(&text, "(none)");
    return plx__textbuf_done(out, &text);
}

static plx_status add_presence(plx__view_report *r, plx_explanation *e)
{
    plx__section *s = NULL;
    plx__map seen;
    const char **name = NULL;
    double *count = NULL;
    plx_index patterns = 0, existing = -1;
    PLX_TRY(plx__map_init(&seen, plx__scratch(r->ctx), 16));
    PLX_TRY(PLX__ARENA_NEW(&name, plx__scratch(r->ctx), r->data->n));
    PLX_TRY(plx__arena_f64(&count, plx__scratch(r->ctx), r->data->n, 1));
    for (plx_index i = 0; i < r->data->n; i++) {
        const char *text = NULL;
        PLX_TRY(pattern_of(&text, r, i));
        PLX_TRY(plx__map_add(&seen, text, patterns, &existing));
        if (existing < 0) name[patterns++] = text;
        count[existing < 0 ? patterns - 1 : existing]++;
    }
    PLX_TRY(plx__section_add(&s, e, "presence", "Which views samples have", "views|samples"));
    for (int k = 0; k < MOST_PATTERNS; k++) {
        plx_index most = -1;
        for (plx_index p = 0; p < patterns; p++)
            if (count[p] > 0 && (most < 0 || count[p] > count[most])) most = p;
        if (most < 0) return PLX_OK;
        const plx__cell cells[] = {plx__cell_text(name[most]), plx__cell_number(count[most])};
        PLX_TRY(plx__section_row(s, cells));
        count[most] = 0;
    }
    return plx__section_note(s, "the %d most frequent of %lld", MOST_PATTERNS, (long long)patterns);
}

static plx_status fill(plx_explanation *e, plx__view_report *r, const plx_views_options *options)
{
    PLX_TRY(open_report(r, options));
    PLX_TRY(find_facts(r));
    PLX_TRY(add_views(r, e));
    PLX_TRY(add_pairs(r, e));
    PLX_TRY(add_spectrum(r, e));
    PLX_TRY(add_presence(r, e));
    return plx__view_advice(r, e);
}

static plx_status views(plx_explanation **out, plx_context *ctx, const plx_dataset *data,
                        const plx_views_options *options)
{
    plx__view_report r = {.ctx = ctx, .data = data};
    plx_explanation *e = NULL;
    PLX_TRY(plx__explanation_create(&e, ctx));
    plx_status st = fill(e, &r, options);
    if (st == PLX_OK) *out = e;
    else plx__explanation_free(e);
    return st;
}

plx_status plx_views(plx_explanation **out, plx_context *ctx, const plx_dataset *data, const plx_views_options *options)
{
    if (out) *out = NULL;
    PLX__CALL(ctx, views(out, ctx, data, options), PLX__ARG(out), PLX__WHOLE(data));
}

/* ---- rows of zeros ---- */

static plx_status zero_rows(plx_index *count, plx_context *ctx, const plx_dataset *data, plx_index view)
{
    if (view < 0 || view >= data->n_views) PLX_FAIL(ctx, PLX_E_ARG, "view %lld does not exist", (long long)view);
    const plx__view *v = &data->views[view];
    double zero = 0;
    for (plx_index i = plx__held_begin(v); i < plx__held_end(v, data->n); i++) {
        plx__breathe(ctx, i);
        zero += v->present[i] && plx__row_is_zero(v, i);
    }
    PLX_TRY(plx__held_total(ctx, v, &zero, 1));
    *count = (plx_index)zero;
    return PLX_OK;
}

plx_status plx_dataset_zero_rows(plx_index *count, plx_context *ctx, const plx_dataset *data, plx_index view)
{
    if (count) *count = 0;
    PLX__CALL(ctx, zero_rows(count, ctx, data, view), PLX__ARG(count), PLX__ARG(data));
}
