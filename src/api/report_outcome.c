/*
 * Answers about the samples of a fit in a report: what they are worth on the samples whose label was not seen, in one
 * sentence, in figures and as tables.
 */
#include <math.h>
#include <string.h>

#include "api/report_impl.h"
#include "eval/metrics_store.h"
#include "explain/quality.h"

/* ---- figures ---- */

/* Metrics that stand above everything else, as far as there are any. */
static bool is_main(const char *name)
{
    static const char *const names[] = {"accuracy", "macro_f1", "auc", "nmi", "ari", "rmse", "subset_accuracy"};
    for (size_t k = 0; k < sizeof names / sizeof *names; k++)
        if (strcmp(names[k], name) == 0) return true;
    return false;
}

static void push_metric(plx__json_maker *m, json_t *list, const char *name, double value)
{
    json_t *row = plx__json_push_list(m, list);
    plx__json_push(m, row, plx__json_text(m, name));
    plx__json_push(m, row, plx__json_real(value));
}

static void put_metrics(plx__json_maker *m, plx_report *r, const plx_metrics *metrics)
{
    json_t *list = plx__json_put_list(m, r->root, "metrics");
    plx__json_put_text(m, r->root, "basis", plx_metrics_basis(metrics));
    for (plx_index i = 0; i < plx_metrics_count(metrics); i++) {
        const char *name = plx_metrics_name(metrics, i);
        double value = plx_metrics_value(metrics, i, NULL);
        push_metric(m, list, name, value);
        if (is_main(name)) plx__report_fact(m, r, name, value);
    }
}

/* ---- tables ---- */

/* Those of the explanation but for its figures, which join the others. */
static plx_status put_tables(plx__json_maker *m, plx_report *r, plx_explanation *e, const plx_metrics *metrics)
{
    json_t *list = json_object_get(r->root, "metrics");
    const plx__section *quality = e->first && strcmp(e->first->key, "quality") == 0 ? e->first : NULL;
    for (plx_index k = 0; quality && k < quality->rows; k++) {
        const plx__cell *cell = &quality->cell[k * quality->cols];
        if (plx_metrics_find(metrics, cell[0].text) < 0) push_metric(m, list, cell[0].text, cell[1].number);
    }
    if (quality) e->first = quality->next;
    PLX_TRY(plx__json_made(m));
    return plx__report_tables(r, m->ctx, e);
}

/* Confusion, classes, calibration and patterns, of the samples whose label was not seen. Where all labels were, the tables
 * would show how well they were learned by heart, and nothing is said. */
static plx_status put_quality(plx__json_maker *m, plx_report *r, const plx__reported *about, const plx_dataset *data)
{
    plx_context *ctx = m->ctx;
    plx__judged j;
    plx_explanation *e = NULL;
    const char **unseen = NULL;
    plx_index left = 0, seen = 0;
    PLX_TRY(plx__judge(&j, ctx, data, &about->prediction->outcome));
    if (j.own || !(j.clusters || about->prediction->outcome.kind == PLX__OUTCOME_CLASSES)) return PLX_OK;
    PLX_TRY(PLX__ARENA_NEW(&unseen, plx__scratch(ctx), j.n));
    for (plx_index i = 0; i < j.n; i++) {
        bool known_before = about->seen && about->seen[i];
        unseen[i] = known_before ? NULL : j.known[i];
        left += unseen[i] != NULL;
        seen += known_before;
    }
    if (left == 0 && seen > 0 && !j.clusters) return PLX_OK;
    if (seen > 0 && !j.clusters) {
        j.known = unseen;
        j.samples = left;
    }
    PLX_TRY(plx__explanation_create(&e, ctx));
    plx_status st = plx__explain_quality(e, ctx, &j, data);
    if (st == PLX_OK) st = put_tables(m, r, e, about->metrics);
    plx__explanation_free(e);
    return st;
}

/* ---- in one sentence ---- */

static double metric_value(const plx_metrics *metrics, const char *name)
{
    return plx_metrics_value(metrics, plx_metrics_find(metrics, name), NULL);
}

static plx_status say_clusters(plx__textbuf *to, plx_context *ctx, const plx__reported *about)
{
    const plx__outcome *o = &about->prediction->outcome;
    plx__map seen;
    plx_index existing = -1;
    PLX_TRY(plx__map_init(&seen, plx__scratch(ctx), 16));
    for (plx_index i = 0; i < o->n; i++)
        if (o->label[i]) PLX_TRY(plx__map_add(&seen, o->label[i], 0, &existing));
    plx__textbuf_printf(to, "It finds %lld clusters.", (long long)seen.count);
    if (!isnan(metric_value(about->metrics, "nmi")))
        plx__textbuf_printf(to, " Beside the known classes: NMI %.3f, adjusted Rand index %.3f.",
                            metric_value(about->metrics, "nmi"), metric_value(about->metrics, "ari"));
    else plx__textbuf_add(to, " There are no known classes to compare them with.");
    return PLX_OK;
}

static plx_status say_answer(plx__textbuf *to, plx_context *ctx, const plx__reported *about)
{
    double accuracy = metric_value(about->metrics, "accuracy"), rmse = metric_value(about->metrics, "rmse");
    const char *basis = plx_metrics_basis(about->metrics);
    if (about->prediction->outcome.kind == PLX__OUTCOME_CLUSTERS) return say_clusters(to, ctx, about);
    if (!isnan(accuracy)) {
        plx__textbuf_printf(to, "It labels %.1f %% of the samples right, measured %s", 100 * accuracy,
                            basis ? basis : "on those whose label it did not see");
        if (!isnan(metric_value(about->metrics, "macro_f1")))
            plx__textbuf_printf(to, " (macro F1 %.3f)", metric_value(about->metrics, "macro_f1"));
        plx__textbuf_add(to, ".");
    } else if (!isnan(rmse)) plx__textbuf_printf(to, "Its root mean squared error is %.4g.", rmse);
    else if (plx_metrics_count(about->metrics) > 0)
        plx__textbuf_printf(to, "Its %s is %.4g.", plx_metrics_name(about->metrics, 0),
                            plx_metrics_value(about->metrics, 0, NULL));
    else
        plx__textbuf_add(to, "There is no truth to measure it by; what it found is shown below. A comparison that "
                             "hides some of the labels tells how good it is.");
    return PLX_OK;
}

static plx_status put_headline(plx__json_maker *m, plx_report *r, const plx__reported *about, const plx_dataset *data)
{
    plx__textbuf question, answer;
    const char *asked = NULL, *said = NULL;
    plx_index labelled = 0;
    for (plx_index i = 0; data->labels && i < data->n; i++) labelled += data->labels[i] != NULL;
    plx__textbuf_init(&question, plx__scratch(m->ctx));
    plx__textbuf_init(&answer, plx__scratch(m->ctx));
    if (about->prediction->outcome.kind == PLX__OUTCOME_CLUSTERS)
        plx__textbuf_printf(&question, "Which groups does %s find in %s?", about->name, data->name);
    else if (about->prediction->outcome.kind == PLX__OUTCOME_CLASSES)
        plx__textbuf_printf(&question, "How well does %s label %s from %lld of %lld labels?", about->name, data->name,
                            (long long)labelled, (long long)data->n);
    else plx__textbuf_printf(&question, "What does %s find in %s?", about->name, data->name);
    PLX_TRY(say_answer(&answer, m->ctx, about));
    PLX_TRY(plx__textbuf_done(&asked, &question));
    PLX_TRY(plx__textbuf_done(&said, &answer));
    plx__report_headline(m, r, asked, said);
    return PLX_OK;
}

/* ---- all of it ---- */

plx_status plx__report_prediction(plx_report *r, plx_context *ctx, const plx_dataset *data, const plx_prediction *p)
{
    const plx__outcome *o = p ? &p->outcome : NULL;
    plx__answers answers = {.answers_are = "answer", .comparable = true};
    if (o && o->n != data->n)
        PLX_FAIL(ctx, PLX_E_ARG, "the prediction has %lld samples, the data set %lld", (long long)o->n,
                 (long long)data->n);
    if (o && (o->kind == PLX__OUTCOME_CLASSES || o->kind == PLX__OUTCOME_CLUSTERS))
        answers.answer = (const char *const *)o->label;
    if (o && o->kind == PLX__OUTCOME_CLUSTERS) {
        answers.answers_are = "cluster";
        answers.comparable = false;
    }
    return plx__report_data(r, ctx, data, &answers);
}

plx_status plx__report_outcome(plx_report *r, plx_context *ctx, const plx__reported *about, const plx_dataset *data)
{
    plx__json_maker m = {.ctx = ctx};
    PLX_TRY(plx__report_prediction(r, ctx, data, about->prediction));
    PLX_TRY(put_headline(&m, r, about, data));
    put_metrics(&m, r, about->metrics);
    PLX_TRY(plx__json_made(&m));
    return put_quality(&m, r, about, data);
}
