/*
 * What follows from the figures, in words. Every sentence names its evidence; where the figures do not tell, it says so.
 */
#include <math.h>
#include <string.h>

#include "api/portfolio_impl.h"
#include "api/views_impl.h"

typedef struct advisor {
    plx__view_report *r;
    plx__section *s;
} advisor;

/* `advice` and `evidence` are texts in scratch or of the library. */
static plx_status say(advisor *a, const char *advice, const char *evidence)
{
    const plx__cell cells[] = {plx__cell_text(advice), plx__cell_text(evidence)};
    return plx__section_row(a->s, cells);
}

#define TEXT(out, ...) PLX_TRY(plx__arena_printf(&(out), plx__scratch(a->r->ctx), __VA_ARGS__))

/* ---- labels ---- */

static double majority(const plx__view_report *r)
{
    double most = 0;
    for (plx_index c = 0; c < r->data->n_classes; c++) {
        double count = 0;
        for (plx_index i = 0; i < r->data->n; i++)
            count += r->classes[i] && strcmp(r->classes[i], r->data->classes[c]) == 0;
        most = fmax(most, count);
    }
    return most / (double)plx__max(r->labelled, 1);
}

static plx_status about_labels(advisor *a)
{
    const plx__view_report *r = a->r;
    const char *evidence = NULL;
    double per_class = (double)r->labelled / (double)plx__max(r->n_classes, 1);
    if (!r->classes || r->n_classes < 2)
        return say(a, "group the samples (task cluster): there are no classes to learn", "no labels of two classes");
    TEXT(evidence, "%lld of %lld samples are labelled, %.1f per class", (long long)r->labelled, (long long)r->data->n,
         per_class);
    if (r->labelled < r->data->n / 2)
        return say(a,
                   per_class < 20
                       ? "few labels: take methods that learn from samples without one; the figures below are "
                         "rough, and settings chosen by cross-validation mostly luck"
                       : "take methods that learn from samples without a label, beside those that do not",
                   evidence);
    return say(a, "most samples are labelled: methods that learn from labels alone do as well", evidence);
}

/* ---- views ---- */

static plx_status about_dominance(advisor *a)
{
    const plx__view_report *r = a->r;
    const plx__view_facts *best = NULL, *second = NULL;
    const char *advice = NULL, *evidence = NULL;
    for (plx_index v = 0; v < r->data->n_views; v++) {
        const plx__view_facts *f = &r->facts[v];
        if (isnan(f->accuracy)) continue;
        if (!best || f->accuracy > best->accuracy) {
            second = best;
            best = f;
        } else if (!second || f->accuracy > second->accuracy) second = f;
    }
    if (!best || !r->classes) return PLX_OK;
    double base = majority(r);
    if (best->accuracy - base < 2 * best->error) {
        TEXT(evidence, "the best view, %s, has %.3f, the largest class is %.3f of the labels", best->view->name,
             best->accuracy, base);
        return say(a, "no view alone is surely better than guessing the largest class: nobody can tell yet", evidence);
    }
    if (!second) return PLX_OK;
    double error = sqrt(best->error * best->error + second->error * second->error);
    TEXT(evidence, "%s %.3f, %s %.3f, standard error of the difference %.3f", best->view->name, best->accuracy,
         second->view->name, second->accuracy, error);
    if (best->accuracy - second->accuracy > fmax(2 * error, 0.05)) {
        TEXT(advice,
             "view %s is by far the best: see whether the others add to it at all (compare svm:view=%s with auto)",
             best->view->name, best->view->name);
        return say(a, advice, evidence);
    }
    if (best->accuracy - second->accuracy < 2 * error)
        return say(a, "no view is surely the best: use all of them", evidence);
    return PLX_OK;
}

/* Surely better than the largest class. */
static bool tells_something(const plx__view_report *r, plx_index view)
{
    const plx__view_facts *f = &r->facts[view];
    return f->accuracy - majority(r) > 2 * f->error;
}

static plx_status about_pair(advisor *a, const plx__pair_facts *p)
{
    const char *one = a->r->data->views[p->a].name, *two = a->r->data->views[p->b].name, *advice = NULL,
               *evidence = NULL;
    bool both = a->r->classes && tells_something(a->r, p->a) && tells_something(a->r, p->b);
    if (both && p->kappa < 0.6) {
        TEXT(evidence, "they agree on %.3f, kappa %.3f", p->agreement, p->kappa);
        TEXT(advice, "%s and %s often say different things: there is something to learn from both (coem, cotrain, bct)",
             one, two);
        PLX_TRY(say(a, advice, evidence));
    }
    if (both && p->p < 0.05 && p->odds > 1) {
        TEXT(evidence, "odds ratio of errors given the class %.1f, p %.3g", p->odds, p->p);
        TEXT(advice, "%s and %s err together: they are not independent given the class, as co-training assumes", one,
             two);
        PLX_TRY(say(a, advice, evidence));
    } else if (both && p->p >= 0.05 && p->odds > 0 && isfinite(p->odds)) { /* else there are too few errors to tell */
        TEXT(evidence, "odds ratio of errors given the class %.1f, p %.3g", p->odds, p->p);
        TEXT(advice, "nothing speaks against %s and %s being independent given the class", one, two);
        PLX_TRY(say(a, advice, evidence));
    }
    if (!(p->mutual > 0.6) && !(p->mean > 0.8)) return PLX_OK;
    TEXT(evidence, "mutual information of their clusters %.3f, mean canonical correlation %.3f", p->mutual, p->mean);
    if (p->mean > 0.8)
        TEXT(advice,
             "%s and %s hold nearly the same: either may stand for the other where it is missing (data complete)", one,
             two);
    else TEXT(advice, "%s and %s fall into the same groups: they go well together in clustering", one, two);
    return say(a, advice, evidence);
}

static plx_status about_presence(advisor *a)
{
    const plx_dataset *d = a->r->data;
    const char *evidence = NULL;
    plx_index incomplete = 0;
    for (plx_index i = 0; i < d->n; i++) {
        bool whole = true;
        for (plx_index v = 0; v < d->n_views; v++) whole &= d->views[v].present[i] != 0;
        incomplete += !whole;
    }
    if (incomplete == 0) return PLX_OK;
    TEXT(evidence, "%lld of %lld samples lack a view", (long long)incomplete, (long long)d->n);
    if (5 * incomplete > d->n)
        return say(a,
                   "many views are missing: take methods that accept that (bct, coem, mvll, mvkmeans), or fill them in "
                   "first (data complete)",
                   evidence);
    return say(a, "some views are missing: most methods accept that", evidence);
}

/* Single values, not views: nearly every method refuses them. */
static plx_status about_values(advisor *a)
{
    const plx_dataset *d = a->r->data;
    const char *evidence = NULL;
    plx__textbuf counts;
    plx_index views = 0;
    plx__textbuf_init(&counts, plx__scratch(a->r->ctx));
    for (plx_index v = 0; v < d->n_views; v++)
        if (d->views[v].missing_values)
            plx__textbuf_printf(&counts, "%s%lld in view %s", views++ ? ", " : "",
                                (long long)d->views[v].missing_values, d->views[v].name);
    if (!views) return PLX_OK;
    PLX_TRY(plx__textbuf_done(&evidence, &counts));
    return say(a,
               "single values are missing: fill them in first (data complete), or take kcomplete or gp, which accept "
               "them; other methods refuse, and such a view is not judged here",
               evidence);
}

static plx_status about_choice(advisor *a)
{
    const char *reason = NULL, *advice = NULL;
    plx__textbuf names;
    const char *const *members = plx__portfolio_choice(&reason, a->r->data);
    if (!a->r->classes || a->r->n_classes < 2) return PLX_OK;
    plx__textbuf_init(&names, plx__scratch(a->r->ctx));
    plx__textbuf_add(&names, "fit auto: the mean of ");
    for (; *members; members++) plx__textbuf_printf(&names, "%s%s", *members, members[1] ? ", " : "");
    PLX_TRY(plx__textbuf_done(&advice, &names));
    return say(a, advice, reason);
}

plx_status plx__view_advice(plx__view_report *r, plx_explanation *e)
{
    advisor a = {.r = r};
    PLX_TRY(plx__section_add(&a.s, e, "advice", "What follows", "advice|evidence"));
    PLX_TRY(about_labels(&a));
    PLX_TRY(about_dominance(&a));
    for (plx_index k = 0; k < r->n_pairs; k++) PLX_TRY(about_pair(&a, &r->pairs[k]));
    PLX_TRY(about_presence(&a));
    PLX_TRY(about_values(&a));
    return about_choice(&a);
}
