/*
 * The naive Bayes learner of one view. Teaching adds a few samples per round, so the counts of the classes are carried from
 * round to round and only the samples of the pool are scored; probabilities of all features are made once, at the end.
 */
#include <math.h>
#include <string.h>

#include "core/slabs.h"
#include "methods/cotrain/cotrain.h"
#include "mixture/naive_bayes.h"

plx_status plx__ct_open_nb(ct_learner *h, plx__run *run)
{
    plx__arena *scratch = plx__scratch(run->ctx);
    plx_index k = run->problem->n_classes, known = 0;
    PLX_TRY(plx__ct_array(&h->theta, run, "_theta", h->view, k, h->view->cols));
    PLX_TRY(plx__ct_array(&h->prior, run, "_prior", h->view, 1, k));
    PLX_TRY(plx__arena_u8(&h->warned, scratch, k));
    PLX_TRY(plx__arena_f64(&h->total, scratch, k, 1));
    PLX_TRY(plx__arena_i64(&h->members, scratch, k));
    if (!run->fitted) return PLX_OK;
    h->final = true;
    for (plx_index c = 0; c < k; c++) known += h->prior.data[c] > 0;
    h->able = known > 0;
    return PLX_OK;
}

/* ---- training ---- */

/* prior=given: the shares among all given labels; prior=taught: those of the labelled set that has the view. Either way a
 * class without a training sample in the view is left out of it. */
static void set_prior(ct_learner *h, plx__run *run, double smoothing)
{
    plx_index k = h->prior.cols, known = 0;
    double total = 0;
    for (plx_index c = 0; c < k; c++) {
        double count = (double)h->members[c];
        h->prior.data[c] = count > 0 ? (h->shares ? h->shares[c] : count + smoothing) : 0;
        total += h->prior.data[c];
        known += count > 0;
        if (count == 0 && !h->warned[c]++)
            plx__warn(run->ctx, "cotrain: no labelled sample of class '%s' has view '%s'; it is left out there",
                      run->problem->classes[c], h->view->name);
    }
    h->able = known > 0;
    h->teaches = h->shares ? known > 1 : known > 0;
    for (plx_index c = 0; !h->shares && h->able && c < k; c++) h->prior.data[c] /= total;
}

static plx_status count_all(ct_learner *h, plx_context *ctx, const plx__nb_labels *labels)
{
    PLX_TRY(plx__nb_counts(h->theta, ctx, labels, h->view));
    memset(h->members, 0, (size_t)labels->n_classes * sizeof *h->members);
    for (plx_index i = 0; i < labels->n; i++)
        if (labels->label[i] >= 0 && h->view->present[i]) h->members[labels->label[i]]++;
    h->counted = true;
    return PLX_OK;
}

plx_status plx__ct_train_nb(ct_learner *h, plx__run *run, const int32_t *label)
{
    const ct_params *p = run->params;
    plx__nb_labels labels = plx__nb_labels_of(run->problem, "cotrain");
    labels.label = label;
    if (!h->counted || h->final)
        PLX_TRY(count_all(h, run->ctx, &labels)); /* in the end in sample order, whatever the order of teaching */
    set_prior(h, run, p->prior_smoothing);
    PLX_TRY(plx__nb_masses(h->total, run->ctx, &labels, plx__cmat(h->theta), h->view->name));
    if (h->final) plx__nb_normalise(h->theta, h->total, p->smoothing);
    return PLX_OK;
}

/* One after the other as listed, on every process. */
plx_status plx__ct_add_to_nb(ct_learner *h, plx__run *run, const plx_index *sample, plx_index count,
                             const int32_t *label)
{
    plx__mark mark = plx__arena_mark(plx__scratch(run->ctx));
    plx__view taught = {.cols = h->view->cols, .sparse = h->view->sparse};
    plx__points rows;
    plx_index *list = NULL, members = 0;
    PLX_TRY(plx__arena_i64(&list, plx__scratch(run->ctx), count));
    for (plx_index i = 0; i < count; i++)
        if (h->view->present[sample[i]]) list[members++] = sample[i];
    PLX_TRY(plx__ct_rows(&rows, run->ctx, h->view, list, members));
    taught.dense = rows.dense;
    taught.csr = rows.csr;
    for (plx_index i = 0; i < members; i++) {
        plx__nb_add_row(h->theta.data + label[list[i]] * h->theta.ld, &taught, i);
        h->members[label[list[i]]]++;
    }
    plx__arena_rewind(plx__scratch(run->ctx), mark);
    return PLX_OK;
}

/* ---- scores ---- */

/* Logarithms of a class's features, those of small whole counts kept from one entry to the next: most entries have one. */
typedef struct logarithms {
    double total, smoothing, kept[64]; /* kept: 0 where not known yet; a logarithm of 0 costs a second look */
    plx_index d;
} logarithms;

static double log_of_count(logarithms *l, double count)
{
    int n = count >= 0 && count < 64 ? (int)count : 0;
    if ((double)n != count) return plx__nb_log_theta(count, l->total, l->smoothing, l->d);
    if (l->kept[n] == 0) l->kept[n] = plx__nb_log_theta(count, l->total, l->smoothing, l->d);
    return l->kept[n];
}

/* Few entries: logarithms of just the features they have. */
static void score_entries(const ct_learner *h, plx_ccsr rows, double smoothing, plx_mat scores)
{
    for (plx_index c = 0; c < scores.cols; c++) {
        const double *count = h->theta.data + c * h->theta.ld;
        logarithms logs = {.total = h->total[c], .smoothing = smoothing, .d = h->theta.cols};
        for (plx_index i = 0; i < rows.rows; i++) {
            double sum = 0;
            for (int64_t e = rows.ptr[i]; e < rows.ptr[i + 1]; e++)
                sum += rows.val[e] * log_of_count(&logs, count[rows.col[e]]);
            scores.data[i * scores.ld + c] = sum;
        }
    }
}

/* Many: a table of all features (d x K). */
static void fill_logs(const ct_learner *h, double smoothing, plx_mat logs)
{
    plx_index k = h->theta.rows, d = h->theta.cols;
    if (h->final) {
        plx__nb_logs(plx__cmat(h->theta), logs);
        return;
    }
    for (plx_index f = 0; f < d; f++)
        for (plx_index c = 0; c < k; c++)
            logs.data[f * k + c] = plx__nb_log_theta(h->theta.data[c * h->theta.ld + f], h->total[c], smoothing, d);
}

/* Pane by pane: whichever panes a process has, their products are the same. */
static plx_status score_table(const ct_learner *h, plx__run *run, double smoothing, plx__points rows, plx_mat scores)
{
    plx__mark mark = plx__arena_mark(plx__scratch(run->ctx));
    plx_mat logs;
    PLX_TRY(plx__arena_mat(&logs, plx__scratch(run->ctx), h->theta.cols, h->theta.rows));
    fill_logs(h, smoothing, logs);
    for (plx_index at = 0; at < scores.rows; at += PLX__PANE_ROWS) {
        plx_index end = plx__min(scores.rows, at + PLX__PANE_ROWS);
        plx_mat part = plx__sub(scores, at, 0, end - at, scores.cols);
        PLX_TRY(plx__poll(run->ctx));
        PLX_TRY(plx__nb_table_scores(run->ctx, plx__points_range(rows, at, end), plx__cmat(logs), part));
    }
    plx__arena_rewind(plx__scratch(run->ctx), mark);
    return PLX_OK;
}

plx_status plx__ct_score_nb(const ct_learner *h, plx__run *run, plx__points rows, plx_mat scores)
{
    double smoothing = ((const ct_params *)run->params)->smoothing;
    if (!h->final && h->brief) score_entries(h, rows.csr, smoothing, scores);
    else PLX_TRY(score_table(h, run, smoothing, rows, scores));
    for (plx_index c = 0; c < scores.cols; c++) {
        double prior = h->prior.data[c], shift = prior > 0 ? log(prior) : -INFINITY;
        for (plx_index i = 0; i < scores.rows; i++) {
            double *s = &scores.data[i * scores.ld + c];
            *s = prior > 0 ? *s + shift : -INFINITY;
        }
    }
    return PLX_OK;
}
