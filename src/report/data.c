/*
 * A data set in a report: views, how many samples have which, and maps of them.
 */
#include <string.h>

#include "report/report_parts.h"

enum { MOST_PATTERNS = 16 };

static void put_views(plx__json_maker *m, json_t *object, const plx_dataset *data)
{
    json_t *list = plx__json_put_list(m, object, "views");
    for (plx_index v = 0; v < data->n_views; v++) {
        const plx__view *view = &data->views[v];
        json_t *o = plx__json_push_object(m, list);
        plx__json_put_text(m, o, "name", view->name);
        plx__json_put_text(m, o, "kind", plx__view_kind_name(view->kind));
        plx__json_put_whole(m, o, "columns", view->cols);
        plx__json_put_whole(m, o, "samples", view->present_count);
    }
}

/* ---- patterns of presence ---- */

typedef struct patterns {
    const char **key; /* a letter per view: + there, - not */
    plx_index *samples, count;
} patterns;

static plx_status count_patterns(patterns *p, plx_context *ctx, const plx_dataset *data)
{
    plx__map seen;
    char *key = NULL;
    plx_index existing = -1;
    PLX_TRY(plx__map_init(&seen, plx__scratch(ctx), 16));
    PLX_TRY(PLX__ARENA_NEW(&key, plx__scratch(ctx), data->n_views + 1));
    PLX_TRY(PLX__ARENA_NEW(&p->key, plx__scratch(ctx), data->n));
    PLX_TRY(PLX__ARENA_NEW(&p->samples, plx__scratch(ctx), data->n));
    for (plx_index i = 0; i < data->n; i++) {
        for (plx_index v = 0; v < data->n_views; v++) key[v] = data->views[v].present[i] ? '+' : '-';
        plx_index at = plx__map_get(&seen, key);
        if (at < 0) {
            at = p->count++;
            PLX_TRY(plx__arena_text(&p->key[at], plx__scratch(ctx), key));
            PLX_TRY(plx__map_add(&seen, p->key[at], at, &existing));
        }
        p->samples[at]++;
    }
    return PLX_OK;
}

/* The most frequent first; what is left is counted. */
static void put_patterns(plx__json_maker *m, json_t *object, patterns *p)
{
    plx_index left = p->count, left_samples = 0;
    json_t *presence = plx__json_put_object(m, object, "presence");
    json_t *list = plx__json_put_list(m, presence, "patterns");
    for (int k = 0; k < MOST_PATTERNS && left > 0; k++, left--) {
        plx_index most = -1;
        for (plx_index i = 0; i < p->count; i++)
            if (p->samples[i] > 0 && (most < 0 || p->samples[i] > p->samples[most])) most = i;
        json_t *o = plx__json_push_object(m, list), *views = plx__json_put_list(m, o, "views");
        for (plx_index v = 0; p->key[most][v]; v++)
            if (p->key[most][v] == '+') plx__json_push(m, views, json_integer(v));
        plx__json_put_whole(m, o, "samples", p->samples[most]);
        p->samples[most] = 0;
    }
    for (plx_index i = 0; i < p->count; i++) left_samples += p->samples[i];
    plx__json_put_whole(m, presence, "left", left);
    plx__json_put_whole(m, presence, "left_samples", left_samples);
}

plx_status plx__report_data(plx_report *r, plx_context *ctx, const plx_dataset *data, const plx__answers *answers)
{
    plx__json_maker m = {.ctx = ctx};
    patterns p = {0};
    plx_index labelled = 0;
    json_t *object = plx__json_put_object(&m, r->root, "data");
    for (plx_index i = 0; data->labels && i < data->n; i++) labelled += data->labels[i] != NULL;
    plx__json_put_text(&m, object, "name", data->name);
    plx__json_put_whole(&m, object, "samples", data->n);
    plx__json_put_whole(&m, object, "labelled", labelled);
    plx__json_put_whole(&m, object, "classes", data->n_classes);
    put_views(&m, object, data);
    plx__report_fact(&m, r, "samples", (double)data->n);
    plx__report_fact(&m, r, "views", (double)data->n_views);
    PLX_TRY(count_patterns(&p, ctx, data));
    put_patterns(&m, object, &p);
    PLX_TRY(plx__json_made(&m));
    return plx__report_maps(&m, object, data, answers);
}
