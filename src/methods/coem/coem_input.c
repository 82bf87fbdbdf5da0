/*
 * Settings and data of coem: the mode, one channel per likelihood model, who has which channel, the classes.
 */
#include <string.h>

#include "core/parallel.h"
#include "data/divided.h"
#include "methods/coem/coem.h"

/* ---- mode and likelihoods ---- */

plx_status plx__coem_read_mode(coem_mode *mode, const char **single, plx__run *run)
{
    static const char *const names[] = {"coem", "single:", "concat", "merged", "joint"};
    const char *text = ((const coem_params *)run->params)->mode;
    char near[128];
    *single = NULL;
    if (plx__starts_with(text, names[COEM_SINGLE])) {
        *mode = COEM_SINGLE;
        *single = text + strlen(names[COEM_SINGLE]);
        return PLX_OK;
    }
    for (int k = COEM_VIEWS; k <= COEM_JOINT; k++)
        if (k != COEM_SINGLE && strcmp(text, names[k]) == 0) {
            *mode = (coem_mode)k;
            return PLX_OK;
        }
    PLX_FAIL(run->ctx, PLX_E_ARG, "mode = %s: expected coem, single:VIEW, concat, merged or joint%s", text,
             plx__suggest(near, sizeof near, text, names, 5));
}

plx_status plx__coem_likelihood(plx__likelihood *out, const plx__run *run, const char *name, plx_view_kind kind)
{
    plx__value value;
    PLX_TRY(plx__view_value(&value, run->ctx, run->settings, "likelihood", name));
    if (value.word > 0) *out = (plx__likelihood)(value.word - 1); /* auto is word 0 */
    else *out = kind == PLX_VIEW_REAL ? PLX__GAUSSIAN : PLX__MULTINOMIAL;
    return PLX_OK;
}

/* Long rows weigh too much in the multinomial likelihood only; that of a joined view goes by the joined view's name. */
bool plx__coem_scales_rows(const plx__run *run, const plx__view *view)
{
    const char *mode = ((const coem_params *)run->params)->mode;
    bool joined = strcmp(mode, "concat") == 0 || strcmp(mode, "merged") == 0;
    plx__likelihood likelihood = PLX__GAUSSIAN;
    if (plx__coem_likelihood(&likelihood, run, joined ? mode : view->name, view->kind) != PLX_OK) return false;
    return likelihood == PLX__MULTINOMIAL;
}

/* ---- channels ---- */

/* A zero row says nothing, unless it is a point of a Gaussian view of real numbers. */
static plx_status drop_zero_rows(coem *m, plx__view *v, plx__likelihood likelihood)
{
    uint8_t *present = NULL;
    if (v->kind == PLX_VIEW_REAL && plx__has_variance(likelihood)) return PLX_OK;
    PLX_TRY(plx__arena_u8(&present, plx__scratch(m->ctx), m->n));
    v->present_count = 0;
    for (plx_index i = plx__held_begin(v); i < plx__held_end(v, m->n); i++) {
        plx__breathe(m->ctx, i);
        present[i] = v->present[i] && !plx__row_is_zero(v, i);
    }
    PLX_TRY(plx__held_share(m->ctx, v, present, 1));
    for (plx_index i = 0; i < m->n; i++) v->present_count += present[i];
    v->present = present;
    return PLX_OK;
}

static plx_status open_channel(coem *m, coem_channel *ch, plx__view view)
{
    const coem_params *set = m->set;
    plx__view_mixture_settings mixture = {
        .components = m->m, .smoothing = set->smoothing, .var_floor = set->var_floor, .kappa = set->kappa};
    *ch = (coem_channel){.name = view.name, .view = view};
    PLX_TRY(plx__coem_likelihood(&mixture.likelihood, m->run, view.name, view.kind));
    PLX_TRY(drop_zero_rows(m, &ch->view, mixture.likelihood));
    if (mixture.likelihood == PLX__MULTINOMIAL) PLX_TRY(plx__require_nonnegative(m->run, &ch->view));
    if (!ch->view.present_count && !m->run->fitted) return PLX_OK;
    PLX_TRY(plx__view_mixture_open(&ch->mix, m->ctx, &ch->view, &m->cut, &mixture, m->way, !m->run->fitted));
    if (!m->run->fitted && plx__has_variance(mixture.likelihood) && ch->mix.total_variance == 0 && m->n > 1)
        plx__warn(m->ctx,
                  "coem: view '%s' is constant: it tells no components apart and teaches the other views nothing; "
                  "leave it out",
                  view.name);
    return PLX_OK;
}

/* One channel per view that is used and, when fitting, that has rows to say something: all of them may be zero. */
static plx_status open_view_channels(coem *m, const plx__view *views, uint8_t *used)
{
    plx_index chosen = 0;
    for (plx_index v = 0; v < m->run->problem->n_views; v++) {
        if (!used[v]) continue;
        PLX_TRY(open_channel(m, &m->channels[chosen], views[v]));
        used[v] = m->run->fitted || m->channels[chosen].view.present_count > 0;
        if (used[v]) chosen++;
        else plx__warn(m->ctx, "coem: all rows of view '%s' are zero: it is ignored", views[v].name);
    }
    m->n_channels = chosen;
    if (!chosen) PLX_FAIL(m->ctx, PLX_E_DATA, "coem: no view has a row that is not zero");
    return PLX_OK;
}

/* What the settings ask for and, when predicting, what was fitted. */
static plx_status find_used(uint8_t **out, coem *m, const char *single)
{
    const uint8_t *fitted = NULL;
    PLX_TRY(plx__coem_mark_used(out, m->run, m->mode, single));
    if (m->run->fitted) PLX_TRY(plx__used_views(&fitted, m->ctx, m->run->fitted, m->run->problem->n_views));
    if (fitted) memcpy(*out, fitted, (size_t)m->run->problem->n_views);
    return PLX_OK;
}

/* One cut for all views that are used. */
static plx_status cut_samples(coem *m, const plx__view *views, plx_index n_views, const uint8_t *used)
{
    const plx__view **list = NULL;
    plx_index count = 0, covered = 0;
    plx__likelihood likelihood = PLX__MULTINOMIAL;
    PLX_TRY(PLX__ARENA_NEW(&list, plx__scratch(m->ctx), n_views));
    bool whole = !m->ctx->paging && m->ctx->peers.ranks == 1;
    for (plx_index v = 0; v < n_views; v++) {
        if (used && !used[v]) continue;
        list[count++] = &views[v];
        PLX_TRY(plx__coem_likelihood(&likelihood, m->run, views[v].name, views[v].kind));
        whole |= plx__has_variance(likelihood);
    }
    m->cut = plx__mixture_cut_of(list, count, m->n, m->m);
    m->cut.slabs.alone = whole;
    double scaled = plx__scale_rows_bytes(m->run, plx__coem_scales_rows); /* they are there already */
    m->way = whole ? PLX__ALL_AT_ONCE : plx__coem_has_room(m->run, scaled) ? PLX__BY_PANES : PLX__BRIEF;
    plx__slabs_mine(&m->scored, &covered, m->ctx, m->cut.slabs);
    return PLX_OK;
}

static plx_status open_channels(coem *m, const char *single)
{
    plx__view joined;
    const plx__view *views = NULL;
    uint8_t *used = NULL;
    bool join = m->mode == COEM_CONCAT || m->mode == COEM_MERGED;
    m->n_channels = join ? 1 : m->run->problem->n_views;
    PLX_TRY(PLX__ARENA_NEW(&m->channels, plx__scratch(m->ctx), m->n_channels));
    PLX_TRY(find_used(&used, m, single));
    PLX_TRY(plx__scale_rows(&views, m->run, plx__coem_scales_rows));
    if (!join) {
        PLX_TRY(cut_samples(m, views, m->n_channels, used));
        PLX_TRY(open_view_channels(m, views, used));
    } else {
        PLX_TRY(plx__coem_join(&joined, m->run, m->mode, views));
        PLX_TRY(cut_samples(m, &joined, 1, NULL));
        PLX_TRY(open_channel(m, &m->channels[0], joined));
        if (!m->channels[0].view.present_count && !m->run->fitted)
            PLX_FAIL(m->ctx, PLX_E_DATA, "coem: no row of the joined views is not zero");
    }
    return m->run->fitted ? PLX_OK : plx__mark_used(m->run, used);
}

/* ---- components ---- */

static plx_status open_components(coem *m)
{
    const plx__problem *x = m->run->problem;
    if (m->run->fitted) {
        double seeded = 0;
        plx_cmat alpha;
        PLX_TRY(plx__store_scalar(&seeded, m->ctx, m->run->fitted, "_seeded"));
        PLX_TRY(plx__store_dense(&alpha, m->ctx, m->run->fitted, "alpha"));
        m->seeded = seeded != 0;
        m->m = alpha.cols;
        if (m->m < 1 || (m->seeded && m->m != x->n_classes))
            PLX_FAIL(m->ctx, PLX_E_FORMAT, "the model's priors do not fit its classes");
        return PLX_OK;
    }
    m->seeded = x->n_labelled > 0;
    m->m = m->seeded ? x->n_classes : m->set->clusters;
    if (m->seeded && m->set->clusters > 0)
        PLX_FAIL(m->ctx, PLX_E_ARG, "clusters is set, but samples are labelled: the classes are the components");
    if (!m->seeded && m->set->clusters < 1)
        PLX_FAIL(m->ctx, PLX_E_ARG, "coem: no sample is labelled and clusters is not set; set clusters");
    if (!m->seeded && m->m > x->n)
        PLX_FAIL(m->ctx, PLX_E_ARG, "clusters = %lld: there are only %lld samples", (long long)m->m, (long long)x->n);
    return PLX_OK;
}

static plx_status count_views(coem *m)
{
    PLX_TRY(plx__arena_i32(&m->views, plx__scratch(m->ctx), m->n));
    for (plx_index i = 0; i < m->n; i++) {
        for (plx_index c = 0; c < m->n_channels; c++) m->views[i] += m->channels[c].view.present[i];
        m->pairs += m->views[i];
        m->covered += m->views[i] > 0;
    }
    return PLX_OK;
}

static plx_status make_workers(coem *m)
{
    plx__arena *scratch = plx__scratch(m->ctx);
    m->n_workers = plx__workers(m->ctx);
    PLX_TRY(PLX__ARENA_NEW(&m->workers, scratch, m->n_workers));
    for (int t = 0; t < m->n_workers; t++) {
        PLX_TRY(plx__arena_f64(&m->workers[t].scores, scratch, m->n_channels, m->padded));
        PLX_TRY(plx__arena_f64(&m->workers[t].posterior, scratch, m->n_channels, m->padded));
        PLX_TRY(plx__arena_f64(&m->workers[t].total, scratch, m->padded, 1));
    }
    return PLX_OK;
}

plx_status plx__coem_open(coem *m, plx__run *run)
{
    plx__arena *scratch = plx__scratch(run->ctx);
    const char *single = NULL;
    *m = (coem){.run = run, .ctx = run->ctx, .set = run->params, .n = run->problem->n, .label = run->problem->label};
    PLX_TRY(plx__coem_read_mode(&m->mode, &single, run));
    PLX_TRY(open_components(m));
    m->padded = plx__padded(m->m);
    m->own_priors = m->set->priors == COEM_OWN_PRIORS && m->mode != COEM_JOINT;
    PLX_TRY(open_channels(m, single));
    PLX_TRY(count_views(m));
    plx_index rows = m->own_priors ? m->n_channels : 1;
    PLX_TRY(plx__arena_f64(&m->alpha, scratch, rows, m->padded));
    PLX_TRY(plx__arena_f64(&m->log_alpha, scratch, rows, m->padded));
    PLX_TRY(plx__arena_f64(&m->floored, scratch, rows, m->padded));
    PLX_TRY(plx__arena_u8(&m->dead, scratch, m->m));
    return make_workers(m);
}

/* ---- several processes ---- */

/* Not where views are joined, nor with variances: those take two passes over all samples. */
bool plx__coem_own_rows(plx__run *run, const plx_dataset *data)
{
    coem_mode mode;
    const char *single = NULL;
    plx__likelihood likelihood = PLX__MULTINOMIAL;
    if (plx__coem_read_mode(&mode, &single, run) != PLX_OK || mode == COEM_CONCAT || mode == COEM_MERGED) return false;
    for (plx_index v = 0; v < data->n_views; v++) {
        const plx__view *view = &data->views[v];
        if (single && strcmp(single, view->name) != 0) continue;
        if (plx__coem_likelihood(&likelihood, run, view->name, view->kind) != PLX_OK) return false;
        if (plx__has_variance(likelihood)) return false;
    }
    return true;
}

plx_status plx__coem_whose_rows(plx_index *bound, plx__run *run)
{
    coem m = {.run = run, .ctx = run->ctx, .set = run->params, .n = run->problem->n};
    const char *single = NULL;
    uint8_t *used = NULL;
    PLX_TRY(plx__coem_read_mode(&m.mode, &single, run));
    PLX_TRY(open_components(&m));
    PLX_TRY(find_used(&used, &m, single));
    PLX_TRY(cut_samples(&m, run->problem->views, run->problem->n_views, used));
    plx__slabs_bounds(bound, run->ctx, m.cut.slabs);
    return PLX_OK;
}
