/*
 * Learning curves with bands: of simulated acquisition by what was acquired, or of a comparison by the labels that were
 * seen, a panel per data set.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/figures.h"
#include "report/svg.h"

enum {
    WIDE = 430,
    TALL = 270,
    LEFT = 58,
    RIGHT = 16,
    TITLE = 46,
    BOTTOM = 46,
    MOST_SERIES = 64,
    MOST_BANDS = 5,
    MOST_POINTS = 100000
};

typedef struct point {
    double x, y, spread;
} point;

typedef struct series {
    const char *name;
    point *point;
    plx_index count;
} series;

typedef struct panel {
    const char *title, *x_name, *y_name;
    series series[MOST_SERIES];
    plx_index count;
} panel;

/* NaN where there is no number. */
static double number_in(const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);
    return json_is_number(value) ? json_number_value(value) : NAN;
}

static const char *text_in(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));
    return text ? text : "";
}

static void add_point(series *s, double x, double y, double spread)
{
    if (!(fabs(x) < PLX__SVG_LARGEST) || !(fabs(y) < PLX__SVG_LARGEST)) return;
    s->point[s->count++] = (point){x, y, spread > 0 && spread < PLX__SVG_LARGEST ? spread : 0};
}

/* ---- drawing ---- */

/* One spread to either side of the line. */
static void draw_band(plx__textbuf *out, const series *s, plx_index i, const plx__axis *x, const plx__axis *y)
{
    plx__textbuf_printf(out, "<path fill=\"%s\" fill-opacity=\"0.13\" d=\"", plx__svg_colour(i));
    for (plx_index k = 0; k < s->count; k++)
        plx__textbuf_printf(out, "%c%.1f %.1f", k ? 'L' : 'M', plx__axis_at(x, s->point[k].x),
                            plx__axis_at(y, s->point[k].y + s->point[k].spread));
    for (plx_index k = s->count; k-- > 0;)
        plx__textbuf_printf(out, "L%.1f %.1f", plx__axis_at(x, s->point[k].x),
                            plx__axis_at(y, s->point[k].y - s->point[k].spread));
    plx__textbuf_add(out, "z\"/>\n");
}

/* Lines that run over each other are told apart by their dashes. */
static void draw_line(plx__textbuf *out, const series *s, plx_index i, const plx__axis *x, const plx__axis *y)
{
    static const char *const dash[] = {"none", "7 3", "2 3", "9 3 2 3"};
    plx__textbuf_printf(out, "<path fill=\"none\" stroke-width=\"1.6\" stroke=\"%s\" stroke-dasharray=\"%s\" d=\"",
                        plx__svg_colour(i), dash[i % 4]);
    for (plx_index k = 0; k < s->count; k++)
        plx__textbuf_printf(out, "%c%.1f %.1f", k ? 'L' : 'M', plx__axis_at(x, s->point[k].x),
                            plx__axis_at(y, s->point[k].y));
    plx__textbuf_add(out, "\"/>\n");
    plx_index every = s->count / 20 + 1;
    for (plx_index k = 0; k < s->count; k += every)
        plx__svg_sign(out, plx__axis_at(x, s->point[k].x), plx__axis_at(y, s->point[k].y), 2.8, i);
}

static void draw_panel(plx__textbuf *out, const panel *p, double left)
{
    double x_low = INFINITY, x_high = -INFINITY, y_low = INFINITY, y_high = -INFINITY;
    for (plx_index i = 0; i < p->count; i++)
        for (plx_index k = 0; k < p->series[i].count; k++) {
            point at = p->series[i].point[k];
            x_low = fmin(x_low, at.x);
            x_high = fmax(x_high, at.x);
            y_low = fmin(y_low, at.y - at.spread);
            y_high = fmax(y_high, at.y + at.spread);
        }
    plx__axis x = plx__axis_of(x_low, x_high, left + LEFT, left + WIDE - RIGHT);
    plx__axis y = plx__axis_of(y_low, y_high, TITLE + TALL, TITLE);
    plx__svg_text(out, left + LEFT, 18, "start", p->title, 50);
    plx__svg_axes(out, &x, &y, p->x_name, p->y_name);
    for (plx_index i = 0; i < p->count; i++) {
        if (p->series[i].count == 0) continue;
        if (p->count <= MOST_BANDS) draw_band(out, &p->series[i], i, &x, &y);
        draw_line(out, &p->series[i], i, &x, &y);
    }
}

static void draw_all(plx__textbuf *out, const panel *panels, plx_index count)
{
    const char *names[MOST_SERIES];
    double width = WIDE * (double)count, top = TITLE + TALL + BOTTOM;
    for (plx_index i = 0; i < panels[0].count; i++) names[i] = panels[0].series[i].name;
    plx__svg_open(out, width, top + plx__svg_legend(NULL, LEFT, top, width - RIGHT, names, panels[0].count) + 10);
    for (plx_index k = 0; k < count; k++) draw_panel(out, &panels[k], WIDE * (double)k);
    plx__svg_legend(out, LEFT, top, width - RIGHT, names, panels[0].count);
    plx__svg_close(out);
}

/* ---- simulated acquisition ---- */

static plx_status fill_strategies(panel *p, plx_context *ctx, const json_t *curves)
{
    const json_t *strategies = json_object_get(curves, "strategies");
    *p = (panel){.title = "", .x_name = "acquired so far", .y_name = text_in(curves, "metric")};
    for (size_t i = 0; i < json_array_size(strategies) && p->count < MOST_SERIES; i++) {
        const json_t *one = json_array_get(strategies, i), *states = json_object_get(one, "states");
        size_t count = json_array_size(states);
        series *s = &p->series[p->count++];
        *s = (series){.name = text_in(one, "name")};
        if (count > MOST_POINTS) count = MOST_POINTS;
        PLX_TRY(PLX__ARENA_NEW(&s->point, plx__scratch(ctx), (plx_index)count));
        for (size_t k = 0; k < count; k++) {
            const json_t *state = json_array_get(states, k);
            add_point(s, number_in(state, "step"), number_in(state, "mean"), number_in(state, "error"));
        }
    }
    return PLX_OK;
}

/* ---- comparisons ---- */

/* 10% is 10, 5 is 5, anything else none. */
static double amount_of(const char *labels)
{
    char digits[32];
    size_t length = strcspn(labels, "%");
    double x = NAN;
    if (length >= sizeof digits || (labels[length] && labels[length + 1])) return NAN;
    memcpy(digits, labels, length);
    digits[length] = '\0';
    return plx__parse_double(&x, digits) ? x : NAN;
}

static int by_x(const void *a, const void *b)
{
    double x = ((const point *)a)->x, y = ((const point *)b)->x;
    return (x > y) - (x < y);
}

/* The first metric of an entry over the blocks of a data set. */
static plx_status fill_entry(series *s, plx_context *ctx, const json_t *comparison, const char *dataset, size_t entry)
{
    const json_t *blocks = json_object_get(comparison, "blocks");
    const json_t *cells = json_array_get(json_object_get(comparison, "cells"), 0);
    const char *name = json_string_value(json_array_get(json_object_get(comparison, "entries"), entry));
    *s = (series){.name = name ? name : ""};
    PLX_TRY(PLX__ARENA_NEW(&s->point, plx__scratch(ctx), (plx_index)json_array_size(blocks)));
    for (size_t b = 0; b < json_array_size(blocks); b++) {
        const json_t *block = json_array_get(blocks, b), *cell = json_array_get(json_array_get(cells, b), entry);
        if (strcmp(text_in(block, "dataset"), dataset) == 0)
            add_point(s, amount_of(text_in(block, "labels")), number_in(cell, "mean"), number_in(cell, "sd"));
    }
    qsort(s->point, (size_t)s->count, sizeof *s->point, by_x);
    return PLX_OK;
}

static plx_status fill_dataset(panel *p, plx_context *ctx, const json_t *comparison, const json_t *block)
{
    const char *metric = json_string_value(json_array_get(json_object_get(comparison, "metrics"), 0));
    size_t entries = json_array_size(json_object_get(comparison, "entries"));
    bool share = strchr(text_in(block, "labels"), '%') != NULL;
    *p = (panel){.title = text_in(block, "dataset"),
                 .x_name = share ? "labelled, % of every class" : "labelled, of every class",
                 .y_name = metric ? metric : ""};
    for (size_t e = 0; e < entries && p->count < MOST_SERIES; e++)
        PLX_TRY(fill_entry(&p->series[p->count++], ctx, comparison, p->title, e));
    return PLX_OK;
}

/* Data sets with several numbers of labels, each once. */
static plx_status fill_comparison(panel *panels, plx_index most, plx_index *count, plx_context *ctx,
                                  const json_t *comparison)
{
    const json_t *blocks = json_object_get(comparison, "blocks");
    *count = 0;
    for (size_t b = 0; b < json_array_size(blocks) && *count < most; b++) {
        const json_t *block = json_array_get(blocks, b);
        bool first = true;
        for (size_t a = 0; a < b; a++)
            first = first && strcmp(text_in(json_array_get(blocks, a), "dataset"), text_in(block, "dataset")) != 0;
        if (!first) continue;
        PLX_TRY(plx__poll(ctx));
        PLX_TRY(fill_dataset(&panels[*count], ctx, comparison, block));
        for (plx_index i = 0; i < panels[*count].count; i++)
            if (panels[*count].series[i].count > 1) {
                ++*count;
                break;
            }
    }
    return PLX_OK;
}

plx_status plx__figure_curves(plx__textbuf *out, plx_context *ctx, const json_t *report)
{
    enum { MOST_PANELS = 8 };
    const json_t *curves = json_object_get(report, "curves"), *comparison = json_object_get(report, "comparison");
    panel *panels = NULL;
    plx_index count = 0;
    PLX_TRY(PLX__ARENA_NEW(&panels, plx__scratch(ctx), MOST_PANELS));
    if (curves) {
        PLX_TRY(fill_strategies(&panels[0], ctx, curves));
        count = panels[0].count > 0;
    } else if (comparison) PLX_TRY(fill_comparison(panels, MOST_PANELS, &count, ctx, comparison));
    if (count == 0)
        PLX_FAIL(ctx, PLX_E_DATA,
                 "this report has no learning curves; simulations have them, and comparisons over several numbers of "
                 "labels");
    draw_all(out, panels, count);
    return PLX_OK;
}
