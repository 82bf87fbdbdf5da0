/*
 * A tree as a picture: the root on the left, leaves with their names on the right, every split in the colour of the
 * view that made it. Groups that are not shown split are triangles with their number of samples.
 */
#include <math.h>
#include <string.h>

#include "api/tree_impl.h"
#include "report/svg.h"

enum {
    LEFT = 24,
    TREE_WIDTH = 560,
    NAME_WIDTH = 330,
    TOP = 64,
    ROW = 16,
    BOTTOM = 44,
    NAME_LETTERS = 34,
    TRIANGLE = 26
};

static const char PLAIN[] = "#444444";

static const char *colour(const plx__tree *t, plx_index node)
{
    return t->view && node >= t->n ? plx__svg_colour(t->view[node - t->n]) : PLAIN;
}

/* ---- places ---- */

typedef struct places {
    const plx__tree *t;
    double *x, *y; /* by node */
    double tallest;
    plx_index leaves;
} places;

/* Costs go by their root, as distances do; splits by views go by their order among those that are shown. A parent is
 * never drawn below its children. */
static double drawn_height(const plx__tree *t, plx_index node)
{
    if (!t->view) return sqrt(fmax(plx__tree_height(t, node), 0));
    return plx__tree_is_split(t, node) ? (double)(node - t->first + 1) : 0;
}

static plx_status place(places *p, plx_context *ctx, const plx__tree *t, const plx_index *order, plx_index count)
{
    *p = (places){.t = t};
    PLX_TRY(plx__arena_f64(&p->x, plx__scratch(ctx), 2 * t->n, 1));
    PLX_TRY(plx__arena_f64(&p->y, plx__scratch(ctx), 2 * t->n, 1));
    for (plx_index q = 0; q < count; q++)
        if (!plx__tree_is_split(t, order[q])) p->y[order[q]] = TOP + ROW * (0.5 + (double)p->leaves++);
    for (plx_index q = count; q-- > 0;) {
        plx_index node = order[q];
        p->x[node] = drawn_height(t, node);
        if (!plx__tree_is_split(t, node)) continue;
        plx_index a = t->child[2 * (node - t->n)], b = t->child[2 * (node - t->n) + 1];
        p->y[node] = (p->y[a] + p->y[b]) / 2;
        p->x[node] = fmax(p->x[node], fmax(p->x[a], p->x[b]));
    }
    p->tallest = fmax(p->x[t->root], 1e-300);
    for (plx_index q = 0; q < count; q++) { /* splits by order leave the triangles a place of their own */
        plx_index node = order[q];
        double room = t->view && p->leaves < t->n ? TRIANGLE + 4 : 0;
        p->x[node] = LEFT + (TREE_WIDTH - room) * (1 - p->x[node] / p->tallest);
        if (room > 0 && !plx__tree_is_split(t, node))
            p->x[node] = LEFT + TREE_WIDTH - (plx__tree_size(t, node) > 1 ? TRIANGLE : 0);
    }
    return PLX_OK;
}

/* ---- parts of the picture ---- */

static void add_head(plx__textbuf *out, const places *p)
{
    const plx__tree *t = p->t;
    int width = LEFT + TREE_WIDTH + NAME_WIDTH, x = LEFT;
    long long height = TOP + ROW * (long long)p->leaves + BOTTOM;
    plx__svg_open(out, width, (double)height);
    plx__textbuf_printf(out, "<text x=\"%d\" y=\"24\" font-size=\"15\">%s: %lld samples", LEFT, t->model->method->name,
                        (long long)t->n);
    if (p->leaves < t->n) plx__textbuf_printf(out, " in %lld groups", (long long)p->leaves);
    plx__textbuf_add(out, "</text>\n");
    for (plx_index v = 0; t->view && v < t->model->n_views; v++) {
        const char *name = t->model->views[v].name;
        int letters = (int)fmin((double)strlen(name), 16);
        plx__textbuf_printf(out,
                            "<rect x=\"%d\" y=\"38\" width=\"12\" height=\"12\" fill=\"%s\"/><text x=\"%d\" y=\"48\">",
                            x, plx__svg_colour(v), x + 17);
        plx__svg_escape(out, name, 16);
        plx__textbuf_add(out, "</text>\n");
        x += 36 + 8 * letters;
    }
}

static void add_split(plx__textbuf *out, const places *p, plx_index node)
{
    const plx__tree *t = p->t;
    plx_index r = node - t->n, a = t->child[2 * r], b = t->child[2 * r + 1];
    plx__textbuf_printf(out, "<path d=\"M%.1f %.1fH%.1fV%.1fH%.1f\" stroke=\"%s\"><title>", p->x[a], p->y[a],
                        p->x[node], p->y[b], p->x[b], colour(t, node));
    plx__textbuf_printf(out, "%lld samples", (long long)plx__tree_size(t, node));
    if (t->view) {
        plx__textbuf_add(out, " split by ");
        plx__svg_escape(out, t->model->views[t->view[r]].name, 40);
        if (isfinite(t->goodness[r])) plx__textbuf_printf(out, ", goodness %.3g", t->goodness[r]);
        plx__textbuf_printf(out, ", explained %.3g", t->explained[r]);
    } else {
        plx__textbuf_printf(out, " merged at cost %.4g", plx__tree_height(t, node));
    }
    plx__textbuf_add(out, "</title></path>\n");
}

static void add_leaf(plx__textbuf *out, const places *p, plx_index node)
{
    const plx__tree *t = p->t;
    plx_index size = plx__tree_size(t, node);
    double right = LEFT + TREE_WIDTH, y = p->y[node];
    if (size > 1)
        plx__textbuf_printf(out,
                            "<polygon points=\"%.1f,%.1f %.1f,%.1f %.1f,%.1f\" fill=\"%s\" fill-opacity=\"0.35\"/>\n",
                            fmin(p->x[node], right - 6), y, right, y - 5.5, right, y + 5.5, colour(t, node));
    plx__textbuf_printf(out, "<text x=\"%.1f\" y=\"%.1f\">", right + 7, y + 4);
    plx__svg_escape(out, plx__tree_name(t, t->smallest[node]), NAME_LETTERS);
    if (size > 1) plx__textbuf_printf(out, " and %lld more", (long long)size - 1);
    plx__textbuf_add(out, "</text>\n");
}

static void add_axis(plx__textbuf *out, const places *p)
{
    double y = TOP + ROW * (double)p->leaves + 8;
    plx__textbuf_printf(
        out,
        "<g font-size=\"11\" fill=\"#666666\" text-anchor=\"middle\">\n<path d=\"M%d %.1fH%d\" stroke=\"#999999\"/>\n",
        LEFT, y, LEFT + TREE_WIDTH);
    for (int tick = 0; tick <= 4; tick++) {
        double x = LEFT + TREE_WIDTH * (1 - tick / 4.0), at = p->tallest * tick / 4.0;
        plx__textbuf_printf(out,
                            "<path d=\"M%.1f %.1fv4\" stroke=\"#999999\"/><text x=\"%.1f\" y=\"%.1f\">%.3g</text>\n", x,
                            y, x, y + 16, p->t->view ? floor((double)p->leaves - at) : at);
    }
    plx__textbuf_printf(out, "<text x=\"%d\" y=\"%.1f\">%s</text>\n</g>\n", LEFT + TREE_WIDTH / 2, y + 30,
                        p->t->view ? "groups before the split" : "root of the cost of merging");
}

plx_status plx__tree_svg(plx__textbuf *out, plx_context *ctx, const plx__tree *t, const plx_index *order,
                         plx_index count)
{
    places p;
    PLX_TRY(place(&p, ctx, t, order, count));
    add_head(out, &p);
    plx__textbuf_add(out, "<g fill=\"none\" stroke-width=\"1.6\">\n");
    for (plx_index q = count; q-- > 0;)
        if (plx__tree_is_split(t, order[q])) add_split(out, &p, order[q]);
    plx__textbuf_add(out, "</g>\n");
    for (plx_index q = 0; q < count; q++)
        if (!plx__tree_is_split(t, order[q])) add_leaf(out, &p, order[q]);
    if (t->n > 1) add_axis(out, &p);
    plx__svg_close(out);
    return PLX_OK;
}
