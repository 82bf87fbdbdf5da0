/*
 * Maps of the samples: every view by its two strongest principal components, and all views together by multiple factor
 * analysis (Escofier and Pages): the strongest components of each view, divided by the view's largest singular value so
 * that no view outweighs the others, joined and decomposed again. A view that a sample lacks counts nothing, and the
 * sample is scaled up for it, so that its place is a mean over the views it has.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/rng.h"
#include "explain/directions.h"
#include "linalg/lowrank.h"
#include "report/report_parts.h"

enum {
    MOST_SAMPLES = 20000, /* behind the axes: what a map shows does not change beyond, its memory would */
    MOST_DRAWN = 1500,
    MOST_PANELS = 12,
    PER_VIEW = 10,  /* components of a view that take part in the map of all */
    MOST_NAMES = 49 /* colours times symbols the page has */
};

typedef struct mapping {
    plx__json_maker *m;
    plx_context *ctx;
    const plx_dataset *data;
    plx_index *drawn;         /* rows that are drawn, ascending */
    plx_index n_drawn, n_all; /* n_all: samples of the caller */
    plx_mat joined;           /* n x (views x PER_VIEW), the first `cols` columns in use */
    plx_index cols;
    int32_t *views_of; /* n: views of a sample that take part */
    plx_index n_views; /* that take part */
    json_t *maps, *panels;
    plx__textbuf remark;
} mapping;

/* ---- which samples are drawn, and what they are called ---- */

static int ascending(const void *a, const void *b)
{
    plx_index x = *(const plx_index *)a, y = *(const plx_index *)b;
    return (x > y) - (x < y);
}

static plx_status choose_drawn(mapping *g)
{
    plx__rng rng = plx__rng_start(g->ctx->seed, PLX__STREAM('r', 'm', 'a', 'p', 0));
    PLX_TRY(PLX__ARENA_NEW(&g->drawn, plx__scratch(g->ctx), g->data->n));
    g->n_drawn = plx__min(g->data->n, MOST_DRAWN);
    if (g->n_drawn == g->data->n)
        for (plx_index i = 0; i < g->n_drawn; i++) g->drawn[i] = i;
    else plx__permutation(&rng, g->drawn, g->data->n);
    qsort(g->drawn, (size_t)g->n_drawn, sizeof *g->drawn, ascending);
    return PLX_OK;
}

static void put_ids(mapping *g)
{
    json_t *ids = plx__json_put_list(g->m, g->maps, "id");
    char number[24];
    for (plx_index k = 0; k < g->n_drawn; k++) {
        const char *id = g->data->ids ? g->data->ids[g->drawn[k]] : NULL;
        snprintf(number, sizeof number, "%lld", (long long)g->drawn[k]);
        plx__json_push(g->m, ids, plx__json_text(g->m, id ? id : number));
    }
}

/* ---- colours ---- */

/* Numbers of the texts of the drawn samples; *fits: false where there are too many to be told apart. */
static plx_status number_names(bool *fits, mapping *g, plx__map *names, const char *const *text)
{
    plx_index existing = -1;
    for (plx_index k = 0; k < g->n_drawn; k++) {
        if (!text[g->drawn[k]]) continue;
        PLX_TRY(plx__map_add(names, text[g->drawn[k]], names->count, &existing));
        if (names->count > MOST_NAMES) break;
    }
    *fits = names->count <= MOST_NAMES;
    return PLX_OK;
}

static void put_codes(mapping *g, const char *key, const plx__map *names, const char *const *text)
{
    json_t *codes = plx__json_put_list(g->m, g->maps, key);
    for (plx_index k = 0; k < g->n_drawn; k++) {
        const char *t = text[g->drawn[k]];
        plx__json_push(g->m, codes, json_integer(t ? plx__map_get(names, t) : -1));
    }
}

static void put_names(mapping *g, const plx__map *names)
{
    json_t *list = plx__json_put_list(g->m, g->maps, "names");
    for (plx_index k = 0; k < names->count; k++) plx__json_push(g->m, list, plx__json_text(g->m, names->keys[k]));
}

/* Some labels are seen and others are not: which is worth showing. */
static void put_seen(mapping *g)
{
    plx_index seen = 0;
    for (plx_index i = 0; g->data->labels && i < g->data->n; i++) seen += g->data->labels[i] != NULL;
    if (!g->data->truth || seen == 0 || seen == g->data->n) return;
    json_t *list = plx__json_put_list(g->m, g->maps, "seen");
    for (plx_index k = 0; k < g->n_drawn; k++)
        plx__json_push(g->m, list, json_integer(g->data->labels[g->drawn[k]] != NULL));
}

static plx_status put_colours(mapping *g, const plx__answers *answers)
{
    const char *const *known = g->data->truth ? g->data->truth : g->data->labels;
    const char *const *answer = answers ? answers->answer : NULL;
    plx__map names;
    plx_index existing = -1;
    bool fits = true;
    PLX_TRY(plx__map_init(&names, plx__scratch(g->ctx), 2 * MOST_NAMES));
    for (plx_index c = 0; known && c < g->data->n_classes && g->data->n_classes <= MOST_NAMES; c++)
        PLX_TRY(plx__map_add(&names, g->data->classes[c], names.count, &existing)); /* in the order of the data set */
    if (known) PLX_TRY(number_names(&fits, g, &names, known));
    if (fits && answer) PLX_TRY(number_names(&fits, g, &names, answer));
    if (!fits) {
        plx__textbuf_printf(&g->remark, " There are more than %d names, too many for colours.", MOST_NAMES);
        return PLX_OK;
    }
    put_names(g, &names);
    if (known) {
        plx__json_put_text(g->m, g->maps, "class_is", "class");
        put_codes(g, "class", &names, known);
    }
    if (answer) {
        plx__json_put_text(g->m, g->maps, "answers_are", answers->answers_are);
        plx__json_put(g->m, g->maps, "comparable", json_boolean(answers->comparable));
        put_codes(g, "answer", &names, answer);
    }
    put_seen(g);
    return PLX_OK;
}

/* ---- panels ---- */

/* One coordinate of the drawn samples, the largest 1, with four digits: more cannot be seen. */
static void put_coordinate(mapping *g, json_t *panel, const char *key, plx_cmat at, plx_index column,
                           const uint8_t *present)
{
    json_t *list = plx__json_put_list(g->m, panel, key);
    double most = 0;
    for (plx_index i = 0; i < at.rows && column < at.cols; i++) most = fmax(most, fabs(at.data[i * at.ld + column]));
    for (plx_index k = 0; k < g->n_drawn; k++) {
        plx_index i = g->drawn[k];
        double x = column < at.cols && most > 0 ? at.data[i * at.ld + column] / most : 0;
        bool there = present ? present[i] : g->views_of[i] > 0;
        plx__json_push(g->m, list, there ? plx__json_real(round(1e4 * x) / 1e4) : json_null());
    }
}

static json_t *open_panel(mapping *g, const char *title, const char *note, bool first)
{
    json_t *panel = json_object();
    if (!panel || json_array_insert_new(g->panels, first ? 0 : json_array_size(g->panels), panel) != 0)
        g->m->failed = true;
    if (g->m->failed) return NULL;
    plx__json_put_text(g->m, panel, "title", title);
    plx__json_put_text(g->m, panel, "note", note);
    return panel;
}

static plx_status draw_view(mapping *g, const plx__view *v, const plx__directions *d)
{
    const char *title = NULL, *note = NULL;
    double first = d->strength[0] * d->strength[0] / d->total;
    double second = d->u.cols > 1 ? d->strength[1] * d->strength[1] / d->total : 0;
    PLX_TRY(plx__arena_printf(&title, plx__scratch(g->ctx), "%s.", v->name));
    PLX_TRY(plx__arena_printf(&note, plx__scratch(g->ctx),
                              "Principal components 1 and 2: %.1f %% and %.1f %% of the variance.", 100 * first,
                              100 * second));
    json_t *panel = open_panel(g, title, note, false);
    put_coordinate(g, panel, "x", plx__cmat(d->u), 0, v->present);
    put_coordinate(g, panel, "y", plx__cmat(d->u), 1, v->present);
    return PLX_OK;
}

/* Its components beside those of the other views, the largest singular value 1. */
static void join_view(mapping *g, const plx__view *v, const plx__directions *d)
{
    for (plx_index i = 0; i < g->data->n; i++) {
        if (!v->present[i]) continue;
        g->views_of[i]++;
        for (plx_index k = 0; k < d->u.cols; k++)
            g->joined.data[i * g->joined.ld + g->cols + k] =
                d->u.data[i * d->u.ld + k] * d->strength[k] / d->strength[0];
    }
    g->cols += d->u.cols;
    g->n_views++;
}

static plx_status map_view(mapping *g, const plx__view *v)
{
    plx__view scaled;
    plx__directions found;
    if (v->kind == PLX_VIEW_KERNEL || v->missing_values > 0) {
        plx__textbuf_printf(&g->remark, " View %s %s and is not drawn.", v->name,
                            v->kind == PLX_VIEW_KERNEL ? "is a kernel" : "has missing values inside");
        return PLX_OK;
    }
    PLX_TRY(plx__scaled_view(&scaled, g->ctx, v));
    PLX_TRY(plx__view_directions(&found, g->ctx, &scaled, g->data->n, PER_VIEW));
    if (found.u.cols < 1 || !(found.strength[0] > 0)) return PLX_OK;
    join_view(g, v, &found);
    return g->n_views <= MOST_PANELS ? draw_view(g, v, &found) : PLX_OK;
}

static plx_status map_all(mapping *g)
{
    plx_index n = g->data->n;
    plx_mat u, vt;
    double s[2], *mean = NULL;
    plx__rsvd_input in = {.dense = plx__cmat(g->joined)};
    if (g->n_views < 2 || g->cols < 2 || n < 3) return PLX_OK;
    in.dense.cols = g->cols;
    for (plx_index i = 0; i < n; i++)
        for (plx_index j = 0; g->views_of[i] > 0 && j < g->cols; j++)
            g->joined.data[i * g->joined.ld + j] *= (double)g->n_views / g->views_of[i];
    PLX_TRY(plx__arena_f64(&mean, plx__scratch(g->ctx), g->cols, 1));
    for (plx_index i = 0; i < n; i++)
        for (plx_index j = 0; j < g->cols; j++) mean[j] += g->joined.data[i * g->joined.ld + j] / (double)n;
    in.mean = mean;
    PLX_TRY(plx__arena_mat(&u, plx__scratch(g->ctx), n, 2));
    PLX_TRY(plx__arena_mat(&vt, plx__scratch(g->ctx), 2, g->cols));
    PLX_TRY(plx__rsvd(g->ctx, in, 2, NULL, u, s, vt));
    json_t *panel = open_panel(g, "All views together.",
                               "Multiple factor analysis: the strongest components of all views, each view with the "
                               "same weight, joined and decomposed again.",
                               true);
    put_coordinate(g, panel, "x", plx__cmat(u), 0, NULL);
    put_coordinate(g, panel, "y", plx__cmat(u), 1, NULL);
    return PLX_OK;
}

static plx_status map_views(mapping *g)
{
    for (plx_index v = 0; v < g->data->n_views; v++) {
        PLX_TRY(plx__report(g->ctx, "maps", v + 1, g->data->n_views, NAN));
        plx__mark mark = plx__arena_mark(plx__scratch(g->ctx));
        plx_status st = map_view(g, &g->data->views[v]);
        plx__arena_rewind(plx__scratch(g->ctx), mark);
        PLX_TRY(st);
    }
    if (g->n_views > MOST_PANELS)
        plx__textbuf_printf(&g->remark, " The first %d of %lld views are drawn.", MOST_PANELS, (long long)g->n_views);
    return map_all(g);
}

static plx_status put_all(mapping *g, const plx__answers *answers)
{
    const char *remark = NULL;
    plx_index n = g->data->n;
    PLX_TRY(plx__arena_mat(&g->joined, plx__scratch(g->ctx), n, PER_VIEW * g->data->n_views));
    PLX_TRY(plx__arena_i32(&g->views_of, plx__scratch(g->ctx), n));
    PLX_TRY(choose_drawn(g));
    put_ids(g);
    plx__json_put_whole(g->m, g->maps, "drawn", g->n_drawn);
    plx__json_put_whole(g->m, g->maps, "of", g->n_all);
    plx__json_put_whole(g->m, g->maps, "axes_from", n);
    plx__json_put(g->m, g->maps, "seed", json_integer((json_int_t)g->ctx->seed));
    PLX_TRY(put_colours(g, answers));
    PLX_TRY(map_views(g));
    PLX_TRY(plx__textbuf_done(&remark, &g->remark));
    if (remark[0]) plx__json_put_text(g->m, g->maps, "remark", remark + 1);
    return plx__json_made(g->m);
}

static plx_status map_samples(plx__json_maker *m, json_t *data_object, const plx_dataset *data,
                              const plx__answers *answers, plx_index n_all)
{
    plx__arena kept;
    mapping g = {.m = m, .ctx = m->ctx, .data = data, .n_all = n_all};
    plx__arena_init(&kept, m->ctx); /* remarks outlive what each view takes */
    plx__textbuf_init(&g.remark, &kept);
    g.maps = plx__json_put_object(m, data_object, "maps");
    g.panels = plx__json_put_list(m, g.maps, "panels");
    plx_status st = put_all(&g, answers);
    plx__arena_free(&kept);
    return st;
}

plx_status plx__report_maps(plx__json_maker *m, json_t *data_object, const plx_dataset *data,
                            const plx__answers *answers)
{
    plx__rng rng = plx__rng_start(m->ctx->seed, PLX__STREAM('r', 'm', 'a', 'p', 1));
    plx__answers some = answers ? *answers : (plx__answers){0};
    const char **answer = NULL;
    plx_index *rows = NULL;
    plx_dataset *part = NULL;
    if (data->n <= MOST_SAMPLES) return map_samples(m, data_object, data, answers, data->n);
    PLX_TRY(PLX__ARENA_NEW(&rows, plx__scratch(m->ctx), data->n));
    PLX_TRY(PLX__ARENA_NEW(&answer, plx__scratch(m->ctx), MOST_SAMPLES));
    plx__permutation(&rng, rows, data->n);
    qsort(rows, MOST_SAMPLES, sizeof *rows, ascending);
    for (plx_index k = 0; some.answer && k < MOST_SAMPLES; k++) answer[k] = some.answer[rows[k]];
    if (some.answer) some.answer = answer;
    PLX_TRY(plx__dataset_select(&part, m->ctx, data, rows, MOST_SAMPLES));
    plx_status st = map_samples(m, data_object, part, &some, data->n);
    plx__dataset_destroy(part);
    return st;
}
