/*
 * Tuning is a comparison of settings: candidates are its entries, the labels are its truth, so that nobody without a label
 * is ever scored, and what is validated are folds of the labelled samples.
 */
#include <math.h>
#include <string.h>

#include "api/compare_impl.h"
#include "api/tune_impl.h"
#include "compare/render.h"

typedef struct search {
    plx_context *ctx;
    plx_tuning *t;
    plx_tune_options o;
    const plx_dataset *data; /* the labels as truth */
    const plx_params *from;  /* settings to start from */
    const char *base;        /* the same as a text that ends in ':', or "" */
    plx__journal *journal;
    plx_index folds;
    bool *kept; /* candidates still in the race */
} search;

/* ---- what is searched ---- */

static plx_status base_text(const char **out, plx_context *ctx, const plx_params *params)
{
    plx__textbuf text;
    plx__textbuf_init(&text, plx__scratch(ctx));
    for (const plx__setting *x = params->first; x; x = x->next)
        plx__textbuf_printf(&text, "%s%s%s=%s:", x->spec->name, x->view ? "." : "", x->view ? x->view : "",
                            x->value.text);
    return plx__textbuf_done(out, &text);
}

/* Labels become the truth: what else is known of the samples is not there. */
static plx_status open_data(plx_dataset **out, search *s, const plx_dataset *data)
{
    plx_index labelled = 0, classes = 0;
    const char *first = NULL;
    for (plx_index i = 0; data->labels && i < data->n; i++) {
        const char *label = data->labels[i];
        labelled += label != NULL;
        if (label && !first) first = label;
        classes = label && strcmp(label, first) != 0 ? 2 : plx__max(classes, label != NULL);
    }
    if (labelled < 4 || classes < 2)
        PLX_FAIL(s->ctx, PLX_E_DATA,
                 "%lld labelled samples%s: settings are validated on labels; at least 4 are needed, "
                 "of two classes",
                 (long long)labelled, classes == 1 ? " of one class" : "");
    s->t->labelled = labelled;
    s->folds = plx__min(s->o.folds, labelled);
    PLX_TRY(plx__dataset_relabel(out, s->ctx, data, NULL));
    return plx__dataset_set_truth(*out, s->ctx, data->labels);
}

static plx_status open_candidates(search *s)
{
    plx_tuning *t = s->t;
    PLX_TRY(base_text(&s->base, s->ctx, s->from));
    if (s->o.n_grid)
        PLX_TRY(plx__candidates_grid(&t->candidates, s->ctx, &t->arena, t->method, s->o.grid, s->o.n_grid));
    else PLX_TRY(plx__candidates_draw(&t->candidates, s->ctx, &t->arena, t->method, s->from, s->o.trials));
    PLX_TRY(PLX__ARENA_NEW(&t->tried, &t->arena, t->candidates.count));
    PLX_TRY(PLX__ARENA_NEW(&s->kept, plx__scratch(s->ctx), t->candidates.count));
    for (plx_index i = 0; i < t->candidates.count; i++) {
        t->tried[i] = (plx__tried){.mean = NAN, .sd = NAN, .difference = NAN, .error = NAN};
        s->kept[i] = true;
    }
    return PLX_OK;
}

/* ---- one rung ---- */

static plx_status spec_of(const char **out, const search *s, plx_index candidate)
{
    const char *settings = s->t->candidates.settings[candidate];
    const char *gap = *s->base || *settings ? ":" : "";
    PLX_TRY(plx__arena_printf(out, plx__scratch(s->ctx), "%s%s%s%s", s->t->method->name, gap, s->base, settings));
    size_t length = strlen(*out);
    if (!*settings && length && (*out)[length - 1] == ':')
        return plx__arena_textn(out, plx__scratch(s->ctx), *out, length - 1);
    return PLX_OK;
}

/* Difference to number 0 run by run, its error by Nadeau and Bengio. */
static void set_beside(plx__tried *to, const plx_comparison *c, plx_index entry)
{
    double sum = 0, squares = 0, runs = (double)c->runs;
    const plx__tally *a = plx__tally_of(c, 0, 0, entry), *b = plx__tally_of(c, 0, 0, 0);
    if (a->runs < c->runs || b->runs < c->runs || c->runs < 2) return;
    for (int pass = 0; pass < 2; pass++)
        for (plx_index r = 0; r < c->runs; r++) {
            double d = plx__measured_value(plx__measured_of(c, 0, entry, r), c->metric[0]) -
                       plx__measured_value(plx__measured_of(c, 0, 0, r), c->metric[0]);
            if (pass == 0) sum += d / runs;
            else squares += (d - sum) * (d - sum);
        }
    to->difference = sum;
    to->error = sqrt((1 / runs + c->block[0].test_ratio) * squares / (runs - 1));
}

static plx_status take_figures(search *s, const plx_comparison *c, const plx_index *candidate, bool last)
{
    for (plx_index e = 0; e < c->n_entries; e++) {
        const plx__tally *cell = plx__tally_of(c, 0, 0, e);
        plx__tried *to = &s->t->tried[candidate[e]];
        plx_index failed = 0;
        const char *reason = plx__tally_reason(c, 0, e, &failed);
        *to = (plx__tried){.runs = cell->runs,
                           .mean = cell->mean,
                           .sd = cell->sd,
                           .difference = NAN,
                           .error = NAN,
                           .finalist = last && cell->runs == c->runs};
        if (reason) PLX_TRY(plx__arena_text(&to->reason, &s->t->arena, reason));
        set_beside(to, c, e);
    }
    s->t->resumed += c->resumed;
    return PLX_OK;
}

static plx_status run_rung(search *s, plx_index repeats, bool last)
{
    plx_compare_options o = PLX_COMPARE_OPTIONS_INIT;
    const char **specs = NULL, *metric = s->o.metric ? s->o.metric : "accuracy";
    plx_index *candidate = NULL;
    plx__compare_work w = {.ctx = s->ctx, .data = &s->data, .n_data = 1, .journal = s->journal};
    PLX_TRY(PLX__ARENA_NEW(&specs, plx__scratch(s->ctx), s->t->candidates.count));
    PLX_TRY(plx__arena_i64(&candidate, plx__scratch(s->ctx), s->t->candidates.count));
    for (plx_index i = 0; i < s->t->candidates.count; i++) {
        if (!s->kept[i]) continue;
        PLX_TRY(spec_of(&specs[o.n_methods], s, i));
        candidate[o.n_methods++] = i;
    }
    o.methods = specs;
    o.metrics = &metric;
    o.n_metrics = 1;
    o.repeats = repeats;
    o.folds = s->folds;
    w.directories = s->o.directory ? &s->o.directory : NULL;
    w.threads = s->o.threads;
    w.run_limit = s->o.run_limit;
    w.jobs = plx__compare_jobs(s->o.jobs, s->o.threads);
    PLX_TRY(plx__comparison_create(&w.c, s->ctx, &s->data, 1, &o));
    plx_status st = plx__compare_run_all(&w);
    if (st == PLX_OK) st = plx__comparison_summarise(w.c, s->ctx);
    if (st == PLX_OK) st = take_figures(s, w.c, candidate, last);
    plx__comparison_destroy(w.c);
    return st;
}

/* ---- the race ---- */

static bool better(const search *s, plx_index a, plx_index b)
{
    double x = s->t->tried[a].mean, y = s->t->tried[b].mean;
    if (isnan(x) || isnan(y)) return !isnan(x) && isnan(y);
    return s->o.metric && plx__smaller_is_better(s->o.metric) ? x < y : x > y;
}

/* The better third stays, three at least, and number 0. Equally good ones stay in their order. */
static void halve(search *s)
{
    plx_index count = s->t->candidates.count, stay = plx__max(3, (count + 2) / 3);
    for (plx_index i = 1; i < count; i++) {
        plx_index ahead = 0;
        for (plx_index k = 1; k < count; k++) ahead += better(s, k, i) || (k < i && !better(s, i, k));
        s->kept[i] = ahead < stay && !isnan(s->t->tried[i].mean);
    }
}

static plx_status say_verdict(search *s, plx_index best)
{
    char gain[PLX__FIGURE_BYTES], error[PLX__FIGURE_BYTES];
    plx_tuning *t = s->t;
    const plx__tried *top = &t->tried[best];
    bool weak = fabs(top->difference) < 2 * top->error; /* the best of many is ahead by that much by chance */
    const char *few = weak ? "; that much may be chance" : "";
    if (best == 0)
        return plx__arena_printf(&t->verdict, &t->arena,
                                 "the settings to start from are the best of %lld over %lld folds",
                                 (long long)t->candidates.count, (long long)top->runs);
    if (isnan(top->difference))
        return plx__arena_printf(&t->verdict, &t->arena, "%s has an answer where the settings to start from have none",
                                 t->candidates.settings[best]);
    plx__figure(gain, fabs(top->difference));
    plx__figure(error, top->error);
    if (t->chosen == 0)
        return plx__arena_printf(
            &t->verdict, &t->arena,
            "the settings to start from stay: the best other (%s) is ahead by %s, no more than its "
            "standard error %s",
            t->candidates.settings[best], gain, error);
    return plx__arena_printf(&t->verdict, &t->arena,
                             "%s is ahead of the settings to start from by %s, standard error %s, "
                             "over %lld folds of %lld labelled samples%s",
                             t->candidates.settings[best], gain, error, (long long)top->runs, (long long)t->labelled,
                             few);
}

static plx_status choose(search *s)
{
    plx_tuning *t = s->t;
    plx_index best = 0;
    for (plx_index i = 1; i < t->candidates.count; i++)
        if (t->tried[i].finalist && (!t->tried[best].finalist || better(s, i, best))) best = i;
    if (!t->tried[best].finalist)
        PLX_FAIL(s->ctx, PLX_E_UNSUPPORTED, "no candidate has an answer on all folds: %s",
                 t->tried[0].reason ? t->tried[0].reason : "the metric is not one of this method");
    bool sure = isnan(t->tried[best].difference) || fabs(t->tried[best].difference) > t->tried[best].error;
    t->chosen = sure ? best : 0;
    return say_verdict(s, best);
}

/* The settings to start from, and those of the choice over them. */
static plx_status chosen_params(search *s)
{
    plx_tuning *t = s->t;
    const char *rest = t->candidates.settings[t->chosen];
    PLX_TRY(plx__params_copy(&t->params, s->ctx, s->from));
    while (*rest) {
        const char *key = NULL, *value = NULL;
        size_t name = strcspn(rest, "="), length = name + 1 + strcspn(rest + name + 1, ":");
        PLX_TRY(plx__arena_textn(&key, plx__scratch(s->ctx), rest, name));
        PLX_TRY(plx__arena_textn(&value, plx__scratch(s->ctx), rest + name + 1, length - name - 1));
        PLX_TRY(plx__params_set(t->params, s->ctx, key, value));
        rest += length + (rest[length] == ':');
    }
    return PLX_OK;
}

static plx_status race(search *s)
{
    bool halved = s->t->candidates.count > 4 && s->o.repeats > 1;
    if (halved) {
        PLX_TRY(run_rung(s, 1, false));
        halve(s);
    }
    PLX_TRY(run_rung(s, s->o.repeats, true));
    PLX_TRY(choose(s));
    return chosen_params(s);
}

static plx_status check_options(plx_context *ctx, const plx_tune_options *o)
{
    if (o->trials < 1 || o->trials >= PLX__MOST_CANDIDATES || o->folds < 2 || o->repeats < 1 || o->repeats > 1000000 ||
        o->n_grid < 0 || (o->n_grid && !o->grid) || o->jobs < 0 || o->jobs > 4096 || o->threads < 1 ||
        o->threads > 4096 || !(o->run_limit >= 0))
        PLX_FAIL(ctx, PLX_E_ARG,
                 "tuning options: trials in [1, %d], folds >= 2, repeats >= 1, threads >= 1 and nothing "
                 "negative expected",
                 PLX__MOST_CANDIDATES - 1);
    return PLX_OK;
}

static plx_status run_search(search *s, const plx_dataset *data)
{
    plx_dataset *validated = NULL;
    plx_status st = PLX_OK;
    PLX_GOTO(open_data(&validated, s, data));
    s->data = validated;
    PLX_GOTO(open_candidates(s));
    PLX_GOTO(
        plx__journal_open(&s->journal, s->ctx, s->o.journal ? s->o.journal : PLX__JOURNAL_IN_MEMORY, s->o.resume != 0));
    PLX_GOTO(race(s));
done:
    plx__journal_close(s->journal);
    plx__dataset_destroy(validated);
    return st;
}

plx_status plx__tune(plx_tuning **out, plx_context *ctx, const plx__method *method, const plx_dataset *data,
                     const plx_params *params, const plx_tune_options *options)
{
    search s = {.ctx = ctx, .o = *options};
    plx_params *defaults = NULL;
    *out = NULL;
    PLX_TRY(check_options(ctx, options));
    if (params && params->tables != method->params)
        PLX_FAIL(ctx, PLX_E_ARG, "the parameters were not made by plx_params_create() for '%s'", method->name);
    if (!params) PLX_TRY(plx__params_create(&defaults, ctx, method->name, method->params));
    s.from = params ? params : defaults;
    s.t = plx__alloc(ctx, sizeof *s.t);
    plx_status st = s.t ? PLX_OK : plx__fail(ctx, PLX_E_NOMEM, "out of memory");
    if (st == PLX_OK) {
        *s.t = (plx_tuning){.method = method};
        plx__arena_init(&s.t->arena, ctx);
        st = run_search(&s, data);
    }
    plx__params_destroy(defaults);
    if (st == PLX_OK) *out = s.t;
    else plx__tuning_destroy(s.t);
    return st;
}

void plx__tuning_destroy(plx_tuning *t)
{
    if (!t) return;
    plx_context *ctx = t->arena.ctx;
    plx__params_destroy(t->params);
    plx__arena_free(&t->arena);
    plx__release(ctx, t, sizeof *t);
}
