/*
 * The score of the named view where it reaches the sample, else the mean over the views that do; where none
 * does, the prior.
 */
#include "methods/regularised/joint.h"

plx_status plx__joint_name(const char **out, plx__run *run, const char *stem, const char *view)
{
    return plx__arena_printf(out, plx__scratch(run->ctx), "%s_%s", stem, view);
}

plx_status plx__joint_values(plx_mat *f, plx__run *run, const plx__expansion *x, bool bias)
{
    const char *name = NULL;
    plx_index begin = 0, end = 0;
    plx_cmat b;
    PLX_TRY(plx__joint_name(&name, run, "f", x->data.name));
    PLX_TRY(plx__sample_array(f, run, name, run->problem->n_classes));
    PLX_TRY(plx__expansion_values(run, x, *f));
    if (!bias) return PLX_OK;
    PLX_TRY(plx__joint_name(&name, run, "bias", x->data.name));
    PLX_TRY(plx__store_shaped(&b, run->ctx, run->fitted ? run->fitted : run->out, name, 1, f->cols));
    plx__kept_rows(&begin, &end, run);
    for (plx_index i = begin; i < end; i++)
        if (x->data.present[i]) plx__axpy(f->data + i * f->ld, 1.0, b.data, f->cols);
    return PLX_OK;
}

static bool reaches(const plx__joint *j, plx_index v, plx_index i) { return j->active[v] && j->x[v].data.present[i]; }

static void add_score(double *score, const plx__joint *j, plx_index v, plx_index i, bool centred)
{
    plx_index k = j->f[v].cols;
    plx__axpy(score, 1.0, j->f[v].data + i * k, k);
    if (centred) plx__axpy(score, -1.0, j->bias[v].data, k);
}

/* Score of sample i, which some classifier reaches. */
static void combine(double *score, const plx__joint *j, plx_index k, plx_index i, bool centred)
{
    plx_index count = 0;
    if (j->named >= 0 && reaches(j, j->named, i)) {
        add_score(score, j, j->named, i, centred);
        return;
    }
    for (plx_index v = 0; v < j->in_mean; v++) {
        if (!reaches(j, v, i)) continue;
        add_score(score, j, v, i, centred);
        count++;
    }
    plx__scale(score, 1.0 / (double)count, k);
}

static bool is_reached(const plx__joint *j, plx_index i)
{
    bool any = j->named >= 0 && reaches(j, j->named, i);
    for (plx_index v = 0; v < j->in_mean && !any; v++) any = reaches(j, v, i);
    return any;
}

plx_status plx__joint_decide(plx__run *run, const plx__joint *j)
{
    const plx__problem *p = run->problem;
    plx__decision how = PLX__DECIDE_ARGMAX;
    plx_mat scores;
    int32_t *label = NULL;
    uint8_t *usable = NULL;
    plx_index begin = 0, end = 0;
    PLX_TRY(plx__decision_of(&how, run));
    bool centred = j->bias && how == PLX__DECIDE_CENTRED;
    plx__kept_rows(&begin, &end, run);
    PLX_TRY(plx__sample_array(&scores, run, "scores", p->n_classes));
    PLX_TRY(plx__arena_i32(&label, plx__scratch(run->ctx), end - begin));
    PLX_TRY(plx__arena_u8(&usable, plx__scratch(run->ctx), p->n));
    for (plx_index i = 0; i < p->n; i++) usable[i] = is_reached(j, i);
    for (plx_index i = begin; i < end; i++)
        if (usable[i]) combine(scores.data + i * scores.ld, j, p->n_classes, i, centred);
    PLX_TRY(plx__require_finite(run, plx__cmat(scores), "scores"));
    PLX_TRY(plx__decide(label, run, scores, usable, centred));
    PLX_TRY(plx__prior_rows(run, scores, label, usable, "have no view with a classifier"));
    return plx__outcome_classes(run, label, plx__kept_part(run, scores));
}
