/*
 * The members of a model in its file: a group for each, which is what the file of that member alone would be.
 */
#include <math.h>
#include <string.h>

#include "api/portfolio_file.h"
#include "io/h5.h"
#include "methods/registry.h"

/* ---- writing ---- */

static plx_status save_member(const plx__h5 *f, const plx__member *m, plx_index index, plx__model_body_fn body)
{
    const char *group = NULL;
    plx__h5 part;
    PLX_TRY(plx__arena_printf(&group, plx__scratch(f->ctx), "/members/%lld", (long long)index));
    PLX_TRY(plx__h5_write_group(f, group, false));
    if (!m->model) {
        PLX_TRY(plx__h5_write_attr_text(f, group, "method", m->method->name));
        return plx__h5_write_attr_text(f, group, "left_out", m->reason);
    }
    PLX_TRY(plx__h5_enter_group(&part, f, group));
    plx_status st = body(&part, m->model);
    plx__h5_leave(&part);
    return st;
}

plx_status plx__portfolio_save(const plx__h5 *f, const plx__portfolio *p, plx__model_body_fn body)
{
    PLX_TRY(plx__h5_write_attr_text(f, "/", "reason", p->reason));
    PLX_TRY(plx__h5_write_group(f, "/members", false));
    for (plx_index i = 0; i < p->n_members; i++) PLX_TRY(save_member(f, &p->member[i], i, body));
    return PLX_OK;
}

/* ---- reading ---- */

static plx_status load_member(plx_model *whole, const plx__h5 *part, plx__member_load_fn load)
{
    plx__portfolio *p = whole->portfolio;
    plx__member *m = &p->member[p->n_members++];
    const char *name = NULL;
    *m = (plx__member){.agreement = NAN, .power = 1};
    PLX_TRY(plx__h5_attr_text(&name, part, plx__scratch(part->ctx), "/", "method"));
    PLX_TRY(plx__method_require(&m->method, part->ctx, name)); /* of the registry: members have no members */
    if (plx__h5_has_attr(part, "/", "left_out"))
        return plx__h5_attr_text(&m->reason, part, &whole->arena, "/", "left_out");
    PLX_TRY(load(&m->model, part));
    bool same = m->model->n_classes == whole->n_classes;
    for (plx_index k = 0; same && k < whole->n_classes; k++)
        same = strcmp(m->model->classes[k], whole->classes[k]) == 0;
    return same ? PLX_OK : plx__model_damaged(part, "members of different classes");
}

/* One of the arrays that hold a number for every member. */
static plx_status figures(const double **out, const plx_model *whole, const plx__h5 *f, const char *name)
{
    const plx__array *a = plx__store_find(&whole->store, name);
    if (!a || a->sparse || a->dense.cols != 1 || a->dense.ld != 1 || a->dense.rows != whole->portfolio->n_members)
        return plx__model_damaged(f, name);
    *out = a->dense.data;
    return PLX_OK;
}

static plx_status take_figures(plx_model *whole, const plx__h5 *f)
{
    const double *agreement = NULL, *power = NULL, *margins = NULL;
    plx__portfolio *p = whole->portfolio;
    PLX_TRY(figures(&agreement, whole, f, "agreement"));
    PLX_TRY(figures(&power, whole, f, "power"));
    PLX_TRY(figures(&margins, whole, f, "_margins"));
    for (plx_index i = 0; i < p->n_members; i++) {
        plx__member *m = &p->member[i];
        m->agreement = agreement[i];
        m->margins = margins[i] != 0;
        if (!m->model) continue;
        if (!(power[i] > 0 && power[i] < INFINITY)) return plx__model_damaged(f, "power");
        m->power = power[i];
    }
    return PLX_OK;
}

plx_status plx__portfolio_load(plx_model *whole, const plx__h5 *f, plx__member_load_fn load)
{
    const char *const *names = NULL;
    plx_index count = 0;
    PLX_TRY(plx__h5_children(&names, &count, f, plx__scratch(f->ctx), "/members"));
    if (count < 1 || count > PLX__MOST_MEMBERS) return plx__model_damaged(f, "members");
    PLX_TRY(plx__portfolio_open(whole, f->ctx));
    PLX_TRY(plx__h5_attr_text(&whole->portfolio->reason, f, &whole->arena, "/", "reason"));
    for (plx_index i = 0; i < count; i++) {
        const char *group = NULL;
        plx__h5 part;
        PLX_TRY(plx__arena_printf(&group, plx__scratch(f->ctx), "/members/%lld", (long long)i));
        PLX_TRY(plx__h5_enter_group(&part, f, group));
        plx_status st = load_member(whole, &part, load);
        plx__h5_leave(&part);
        PLX_TRY(st);
    }
    return take_figures(whole, f);
}
