/*
 * Maps of the samples, three panels in a row, coloured by class where there is one and else by answer.
 */
#include <math.h>
#include <string.h>

#include "report/figures.h"
#include "report/svg.h"

enum { WIDE = 250, TALL = 200, GAP = 18, TITLE = 24, MOST_PANELS = 60, MOST_NAMES = 60 };

typedef struct picture {
    plx__textbuf *out;
    const json_t *panels, *codes;
    plx_index n_panels, columns;
} picture;

static bool number_of(double *out, const json_t *value)
{
    *out = json_number_value(value);
    return json_is_number(value) && fabs(*out) < PLX__SVG_LARGEST;
}

/* Smallest and largest number of a list. */
static void range_of(double *low, double *high, const json_t *list)
{
    double x = 0;
    *low = INFINITY;
    *high = -INFINITY;
    for (size_t i = 0; i < json_array_size(list); i++) {
        if (!number_of(&x, json_array_get(list, i))) continue;
        *low = fmin(*low, x);
        *high = fmax(*high, x);
    }
}

static double within(double value, double low, double high) { return high > low ? (value - low) / (high - low) : 0.5; }

static plx_status draw_panel(const picture *p, plx_context *ctx, plx_index k)
{
    const json_t *panel = json_array_get(p->panels, (size_t)k), *xs = json_object_get(panel, "x"),
                 *ys = json_object_get(panel, "y");
    const char *title = json_string_value(json_object_get(panel, "title"));
    double left = GAP + (WIDE + GAP) * (double)(k % p->columns),
           top = TITLE + (TALL + GAP + TITLE) * (double)(k / p->columns);
    double x_low, x_high, y_low, y_high, x = 0, y = 0;
    range_of(&x_low, &x_high, xs);
    range_of(&y_low, &y_high, ys);
    size_t length = title ? strlen(title) : 0; /* a caption there, a heading here: without its stop */
    if (length && title[length - 1] == '.') length--;
    PLX_TRY(plx__arena_textn(&title, plx__scratch(ctx), title ? title : "", length));
    plx__svg_text(p->out, left, top - 7, "start", title, 36);
    plx__textbuf_printf(p->out, "<g fill-opacity=\"0.75\">\n");
    for (size_t i = 0; i < json_array_size(xs); i++) {
        const json_t *code = json_array_get(p->codes, i);
        if (!number_of(&x, json_array_get(xs, i)) || !number_of(&y, json_array_get(ys, i))) continue;
        plx__svg_sign(p->out, left + 8 + (WIDE - 16) * within(x, x_low, x_high),
                      top + TALL - 8 - (TALL - 16) * within(y, y_low, y_high), 2.2,
                      json_is_integer(code) ? (plx_index)json_integer_value(code) : -1);
    }
    plx__textbuf_printf(p->out,
                        "</g>\n<rect x=\"%.1f\" y=\"%.1f\" width=\"%d\" height=\"%d\" fill=\"none\" "
                        "stroke=\"#999999\"/>\n",
                        left, top, WIDE, TALL);
    return PLX_OK;
}

plx_status plx__figure_embedding(plx__textbuf *out, plx_context *ctx, const json_t *report)
{
    const json_t *maps = json_object_get(json_object_get(report, "data"), "maps"), *names = NULL;
    picture p = {.out = out, .panels = json_object_get(maps, "panels"), .codes = json_object_get(maps, "class")};
    const char *name[MOST_NAMES];
    plx_index n_names = 0;
    p.n_panels = plx__min((plx_index)json_array_size(p.panels), MOST_PANELS);
    if (p.n_panels == 0)
        PLX_FAIL(ctx, PLX_E_DATA, "this report has no maps of samples; those of fit, explain and views have them");
    if (!p.codes) p.codes = json_object_get(maps, "answer");
    names = p.codes ? json_object_get(maps, "names") : NULL;
    for (size_t i = 0; i < json_array_size(names) && n_names < MOST_NAMES; i++)
        if (json_is_string(json_array_get(names, i))) name[n_names++] = json_string_value(json_array_get(names, i));
    p.columns = p.n_panels == 4 ? 2 : plx__min(3, p.n_panels);
    double width = GAP + (WIDE + GAP) * (double)p.columns;
    double top = (TALL + GAP + TITLE) * (double)((p.n_panels + p.columns - 1) / p.columns);
    plx__svg_open(out, width, top + plx__svg_legend(NULL, GAP, top, width - GAP, name, n_names) + GAP);
    for (plx_index k = 0; k < p.n_panels; k++) {
        PLX_TRY(plx__poll(ctx));
        PLX_TRY(draw_panel(&p, ctx, k));
    }
    plx__svg_legend(out, GAP, top, width - GAP, name, n_names);
    plx__svg_close(out);
    return PLX_OK;
}
