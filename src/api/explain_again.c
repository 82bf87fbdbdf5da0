/*
 * Answers of methods that label only the samples they were fitted to: such a method is fitted again, with the parameters
 * of the model, to the data as they are and to every change of them. It sees the labels of the data; what is judged are
 * samples whose class is known and that had no label. Where there are none, every fifth label of a class is hidden, or
 * of the truth where there are no labels. Clusters are numbered anew by every fit: they are compared by the classes, or
 * by the clusters of the first fit, that most of their samples have.
 */
#include <string.h>

#include "api/explain_impl.h"

enum { HIDDEN_OF = 5 };

/* ---- who is told, who is judged ---- */

static plx_status hide_some(plx_index *hidden, const char **given, const char **known, plx_context *ctx,
                            const plx_dataset *d)
{
    plx_index *seen = NULL;
    PLX_TRY(plx__arena_i64(&seen, plx__scratch(ctx), d->n_classes));
    for (plx_index i = 0; i < d->n; i++) {
        plx_index c = 0;
        while (given[i] && c < d->n_classes && strcmp(d->classes[c], given[i]) != 0) c++;
        if (!given[i] || c == d->n_classes || ++seen[c] % HIDDEN_OF) continue;
        known[i] = given[i];
        given[i] = NULL;
        ++*hidden;
    }
    return PLX_OK;
}

static bool finds_clusters(const plx_model *m)
{
    const char *task = plx_model_param(m, "task");
    return m->method->task == PLX_TASK_CLUSTER || (task && strcmp(task, "cluster") == 0);
}

/* Labels that the fits see, and the known classes of the others; fits that find clusters see none. */
static plx_status share_labels(plx__explainer *x, const char **known, plx_index *judged)
{
    const plx_dataset *d = x->data;
    const char *const *source = d->labels ? d->labels : d->truth;
    const char **given = NULL;
    *judged = 0;
    if (!source) return PLX_OK;
    if (finds_clusters(x->model)) {
        source = d->truth ? d->truth : d->labels;
        for (plx_index i = 0; i < d->n; i++) *judged += (known[i] = source[i]) != NULL;
        return PLX_OK;
    }
    PLX_TRY(PLX__ARENA_NEW(&given, plx__scratch(x->ctx), d->n));
    for (plx_index i = 0; i < d->n; i++) {
        given[i] = source[i];
        known[i] = d->labels && d->truth && !d->labels[i] ? d->truth[i] : NULL;
        *judged += known[i] != NULL;
    }
    x->hidden = *judged == 0;
    x->given = (const char *const *)given;
    return x->hidden ? hide_some(judged, given, known, x->ctx, d) : PLX_OK;
}

/* ---- the fits ---- */

static plx_status copy_outcome(plx_prediction *to, const plx_model *m)
{
    const plx__outcome *from = &m->fitted.outcome;
    plx__outcome *o = &to->outcome;
    plx_index cols = from->scores.data ? from->scores.cols : 0;
    const char **columns = NULL;
    *o = (plx__outcome){.kind = from->kind, .n = from->n};
    PLX_TRY(PLX__ARENA_NEW(&o->label, &to->arena, from->n));
    for (plx_index i = 0; from->label && i < from->n; i++)
        if (from->label[i]) PLX_TRY(plx__arena_text(&o->label[i], &to->arena, from->label[i]));
    if (!cols) return PLX_OK;
    PLX_TRY(plx__arena_mat(&o->scores, &to->arena, from->n, cols));
    for (plx_index i = 0; i < from->n; i++)
        memcpy(o->scores.data + i * o->scores.ld, from->scores.data + i * from->scores.ld,
               (size_t)cols * sizeof(double));
    PLX_TRY(PLX__ARENA_NEW(&columns, &to->arena, cols));
    for (plx_index c = 0; c < cols; c++) PLX_TRY(plx__arena_text(&columns[c], &to->arena, from->columns[c]));
    o->columns = columns;
    return PLX_OK;
}

plx_status plx__answer_again(plx_prediction **out, const plx__explainer *x, const plx_dataset *data)
{
    plx_context *ctx = x->ctx;
    plx_dataset *labelled = NULL;
    plx_model *m = NULL;
    plx_prediction *p = NULL;
    plx_status st = PLX_OK;
    *out = NULL;
    if (data->n != x->data->n) return PLX_OK; /* made-up samples are no part of the data */
    if (x->given) PLX_GOTO(plx__dataset_relabel(&labelled, ctx, data, x->given));
    PLX_GOTO(plx__fit(&m, ctx, x->model->method, labelled ? labelled : data, x->model->settings, NULL, NULL));
    PLX_GOTO(plx__prediction_create(&p, ctx, x->model->method));
    PLX_GOTO(copy_outcome(p, m));
    *out = p;
    p = NULL;
done:
    plx_prediction_destroy(p);
    plx_model_destroy(m);
    plx__dataset_destroy(labelled);
    return st;
}

/* ---- what they are compared with ---- */

plx_status plx__judge_again(plx__explainer *x)
{
    plx_context *ctx = x->ctx;
    const char **known = NULL;
    plx_index judged = 0;
    PLX_TRY(PLX__ARENA_NEW(&known, plx__scratch(ctx), x->data->n));
    PLX_TRY(share_labels(x, known, &judged));
    PLX_TRY(plx__answer_again(&x->answers, x, x->matched));
    plx_dataset beside = {.n = x->data->n, .truth = judged ? (const char *const *)known : NULL};
    PLX_TRY(plx__judge(&x->judged, ctx, &beside, &x->answers->outcome));
    return PLX_OK;
}

plx_status plx__cross_again(plx__judged *out, const plx__explainer *x, const plx_prediction *p)
{
    *out = x->judged;
    if (!x->again || p->outcome.kind != PLX__OUTCOME_CLUSTERS) return PLX_OK;
    out->clusters = true;
    return plx__cross(&out->crossing, x->ctx, out->known, (const char *const *)p->outcome.label, out->n);
}
