/*
 * Two classes are one latent function, more are one against the rest; regression targets may lose their
 * mean, which predictions get back.
 */
#include "gp/gp_task.h"

#include <math.h>
#include <string.h>

#include "core/number.h"
#include "core/parallel.h"
#include "optim/klr.h"

/* ---- targets ---- */

static plx_status read_numbers(plx__gp_targets *t, plx__run *run, bool centre)
{
    const plx__problem *p = run->problem;
    PLX_TRY(plx__arena_mat(&t->y, plx__scratch(run->ctx), t->n, 1));
    for (plx_index i = 0; i < t->n; i++) {
        const char *text = p->label_text[t->sample[i]];
        if (!plx__parse_double(&t->y.data[i], text) || !isfinite(t->y.data[i]))
            PLX_FAIL(run->ctx, PLX_E_DATA,
                     "%s: label '%s' of sample '%s' is not a finite number; task=regression needs one",
                     run->method->name, text, p->ids[t->sample[i]]);
    }
    if (!centre) return PLX_OK;
    t->offset = plx__sum(t->y.data, t->n) / (double)t->n;
    if (!isfinite(t->offset)) PLX_FAIL(run->ctx, PLX_E_DATA, "%s: the labels are too large", run->method->name);
    for (plx_index i = 0; i < t->n; i++) t->y.data[i] -= t->offset;
    return PLX_OK;
}

plx_index plx__gp_problems(bool regression, plx_index n_classes)
{
    return regression || n_classes <= 2 ? 1 : n_classes;
}

/* With two classes the second one is the positive one. */
static plx_status read_classes(plx__gp_targets *t, plx__run *run)
{
    const plx__problem *p = run->problem;
    uint8_t *seen = NULL;
    plx_index found = 0;
    PLX_TRY(plx__arena_u8(&seen, plx__scratch(run->ctx), p->n_classes));
    for (plx_index i = 0; i < t->n; i++) seen[p->label[t->sample[i]]] = 1;
    for (plx_index c = 0; c < p->n_classes; c++) found += seen[c];
    if (found < 2)
        PLX_FAIL(run->ctx, PLX_E_DATA, "%s: classification needs labelled samples of at least two classes (found %lld)",
                 run->method->name, (long long)found);
    t->q = plx__gp_problems(false, p->n_classes);
    PLX_TRY(plx__arena_mat(&t->y, plx__scratch(run->ctx), t->n, t->q));
    for (plx_index i = 0; i < t->n; i++)
        for (plx_index c = 0; c < t->q; c++)
            t->y.data[i * t->q + c] = p->label[t->sample[i]] == (t->q == 1 ? 1 : c) ? 1.0 : -1.0;
    return PLX_OK;
}

plx_status plx__gp_targets_of(plx__gp_targets *t, plx__run *run, bool regression, bool centre, const uint8_t *usable,
                              const char *nobody)
{
    const plx__problem *p = run->problem;
    *t = (plx__gp_targets){.regression = regression, .q = 1};
    PLX_TRY(plx__arena_i64(&t->sample, plx__scratch(run->ctx), p->n));
    for (plx_index i = 0; i < p->n; i++) {
        bool labelled = regression ? p->label_text[i] != NULL : p->label[i] >= 0;
        if (labelled && (!usable || usable[i])) t->sample[t->n++] = i;
    }
    if (!t->n)
        PLX_FAIL(run->ctx, PLX_E_DATA, "%s: no labelled %s%s%s", run->method->name, nobody,
                 p->n_labelled ? "" : "; label some",
                 !p->n_labelled && plx__param_find(run->method->params, "clusters") ? ", or set task=cluster" : "");
    return regression ? read_numbers(t, run, centre) : read_classes(t, run);
}

/* ---- predictions ---- */

void plx__gp_log_probabilities(plx_cmat mean, plx_cmat variance, plx_mat out)
{
    for (plx_index i = 0; i < mean.rows; i++) {
        double *s = out.data + i * out.ld, sum = 0;
        for (plx_index c = 0; c < mean.cols; c++) {
            double spread = acos(-1.0) * fmax(variance.data[i * variance.ld + c], 0.0) / 8.0;
            s[c] = mean.data[i * mean.ld + c] / sqrt(1.0 + spread);
        }
        if (mean.cols == 1) {
            s[1] = plx__log_sigmoid(s[0]);
            s[0] = plx__log_sigmoid(-s[0]);
            continue;
        }
        for (plx_index c = 0; c < mean.cols; c++) sum += plx__sigmoid(s[c]);
        for (plx_index c = 0; c < mean.cols; c++)
            s[c] = sum > 0 ? plx__log_sigmoid(s[c]) - log(sum) : -log((double)mean.cols);
    }
}

static plx_status class_probabilities(plx_mat *out, plx__run *run, const plx__gp_outcome *o)
{
    plx_index classes = run->problem->n_classes, begin = 0, end = 0;
    PLX_TRY(plx__sample_array(out, run, "probability", classes));
    plx__kept_rows(&begin, &end, run);
    for (plx_index i = begin; i < end; i++) {
        double *p = out->data + i * out->ld, sum = 0;
        for (plx_index c = 0; c < o->mean.cols; c++) {
            p[c] = plx__averaged_probability(o->averaging, o->mean.data[i * o->mean.ld + c],
                                             o->variance.data[i * o->variance.ld + c]);
            sum += p[c];
        }
        bool uniform = (o->usable && !o->usable[i]) || !(sum > 0);
        if (o->mean.cols == 1) {
            p[1] = p[0];
            p[0] = 1.0 - p[1];
            uniform &= o->usable && !o->usable[i];
            sum = 1.0;
        }
        for (plx_index c = 0; c < classes; c++) p[c] = uniform ? 1.0 / (double)classes : p[c] / sum;
    }
    return PLX_OK;
}

static plx_status tell_classes(plx__run *run, const plx__gp_outcome *o)
{
    plx_mat p;
    int32_t *label = NULL;
    plx_index begin = 0, end = 0;
    PLX_TRY(class_probabilities(&p, run, o));
    plx__kept_rows(&begin, &end, run);
    PLX_TRY(plx__arena_i32(&label, plx__scratch(run->ctx), end - begin));
    plx__argmax_rows(label, plx__kept_part(run, p));
    for (plx_index i = begin; i < end; i++)
        if (o->usable && !o->usable[i]) label[i - begin] = o->fallback;
    return plx__outcome_classes(run, label, plx__kept_part(run, p));
}

static plx_status tell_numbers(plx__run *run, const plx__gp_outcome *o)
{
    static const char *const columns[] = {"mean", "variance"};
    plx_index begin = 0, end = 0;
    const char **label = NULL;
    plx_mat scores;
    plx__kept_rows(&begin, &end, run);
    PLX_TRY(PLX__ARENA_NEW(&label, plx__scratch(run->ctx), end - begin));
    PLX_TRY(plx__arena_mat(&scores, plx__scratch(run->ctx), end - begin, 2));
    for (plx_index i = begin; i < end; i++) {
        char text[PLX__NUMBER_BYTES];
        bool usable = !o->usable || o->usable[i];
        double *to = scores.data + 2 * (i - begin);
        to[0] = usable ? o->mean.data[i * o->mean.ld] : o->fallback_mean;
        to[1] = usable ? o->variance.data[i * o->variance.ld] : 0.0;
        plx__print_double(text, to[0]);
        PLX_TRY(plx__arena_text(&label[i - begin], plx__scratch(run->ctx), text));
    }
    return plx__outcome_numbers(run, label, plx__cmat(scores), columns);
}

plx_status plx__gp_put_outcome(plx__run *run, const plx__gp_outcome *o)
{
    PLX_TRY(plx__require_finite(run, o->mean, "latent means"));
    PLX_TRY(plx__require_finite(run, o->variance, "latent variances"));
    return o->regression ? tell_numbers(run, o) : tell_classes(run, o);
}

/* ---- in the model ---- */

plx_status plx__gp_store(plx__run *run, const plx__gp_state *s, const plx__gp_targets *t)
{
    plx_mat sample;
    if (s->kept.data) PLX_TRY(plx__store_adopt(run->out, "_factor", s->kept));
    else PLX_TRY(plx__store_put(run->out, "_factor", s->factor));
    if (s->weights.data) PLX_TRY(plx__store_put(run->out, "_posterior_weights", s->weights));
    PLX_TRY(plx__store_put(run->out, "_root", s->root));
    PLX_TRY(plx__store_put(run->out, "alpha", s->alpha));
    PLX_TRY(plx__store_put(run->out, "_offset", (plx_cmat){&t->offset, 1, 1, 1}));
    PLX_TRY(plx__store_new(&sample, run->out, "_labelled", 1, t->n));
    for (plx_index i = 0; i < t->n; i++) sample.data[i] = (double)t->sample[i];
    return PLX_OK;
}

plx_status plx__gp_load(plx__gp_state *s, plx_index **sample, double *offset, plx__run *run, bool regression)
{
    plx_cmat labelled;
    const plx__store *from = run->fitted;
    *s = (plx__gp_state){.q = plx__gp_problems(regression, run->problem->n_classes)};
    PLX_TRY(plx__store_shaped(&labelled, run->ctx, from, "_labelled", 1, -1));
    s->n = labelled.cols;
    plx_index order = s->n;
    if (plx__store_find(from, "_posterior_weights")) {
        PLX_TRY(plx__store_shaped(&s->weights, run->ctx, from, "_posterior_weights", -1, s->q));
        order = s->weights.rows;
    }
    PLX_TRY(plx__store_shaped(&s->factor, run->ctx, from, "_factor", s->q * order, order));
    PLX_TRY(plx__store_shaped(&s->root, run->ctx, from, "_root", s->q, s->n));
    PLX_TRY(plx__store_shaped(&s->alpha, run->ctx, from, "alpha", s->n, s->q));
    PLX_TRY(plx__store_scalar(offset, run->ctx, from, "_offset"));
    PLX_TRY(plx__arena_i64(sample, plx__scratch(run->ctx), s->n));
    for (plx_index i = 0; i < s->n; i++) {
        if (!(labelled.data[i] >= 0 && labelled.data[i] < 9e15))
            PLX_FAIL(run->ctx, PLX_E_FORMAT, "the model's labelled samples are out of range");
        (*sample)[i] = (plx_index)labelled.data[i];
    }
    return PLX_OK;
}
