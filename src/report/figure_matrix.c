/*
 * A confusion matrix, or clusters beside classes: a cell for every count, darker where more of its row is.
 */
#include <math.h>
#include <string.h>

#include "report/figures.h"
#include "report/svg.h"

enum { CELL = 44, LEFT = 150, TOP = 96, EDGE = 20, NAME = 64, MOST = 100, LETTERS = 20 };

static const json_t *find_matrix(const json_t *report)
{
    const json_t *sections = json_object_get(report, "sections");
    for (size_t i = 0; i < json_array_size(sections); i++) {
        const json_t *s = json_array_get(sections, i);
        const char *key = json_string_value(json_object_get(s, "key"));
        if (key && (strcmp(key, "confusion") == 0 || strcmp(key, "clusters") == 0)) return s;
    }
    return NULL;
}

static double count_at(const json_t *row, plx_index column)
{
    double x = json_number_value(json_array_get(row, (size_t)column));
    return isfinite(x) && x > 0 ? x : 0;
}

static void draw_row(plx__textbuf *out, const json_t *row, plx_index columns, double top)
{
    const char *name = json_string_value(json_array_get(row, 0));
    double sum = 0;
    for (plx_index c = 1; c < columns; c++) sum += count_at(row, c);
    plx__svg_text(out, LEFT - 8, top + CELL / 2.0 + 4, "end", name ? name : "", LETTERS);
    for (plx_index c = 1; c < columns; c++) {
        double count = count_at(row, c), share = sum > 0 ? count / sum : 0, left = LEFT + CELL * (double)(c - 1);
        plx__textbuf_printf(out,
                            "<rect x=\"%.1f\" y=\"%.1f\" width=\"%d\" height=\"%d\" fill=\"%s\" "
                            "fill-opacity=\"%.3f\" stroke=\"#dddddd\"/>\n",
                            left, top, CELL, CELL, plx__svg_colour(0), share);
        if (count > 0)
            plx__textbuf_printf(out, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\" fill=\"%s\">%.6g</text>\n",
                                left + CELL / 2.0, top + CELL / 2.0 + 4, share > 0.55 ? "white" : "#222222", count);
    }
}

plx_status plx__figure_confusion(plx__textbuf *out, plx_context *ctx, const json_t *report)
{
    const json_t *matrix = find_matrix(report), *rows = json_object_get(matrix, "rows"),
                 *names = json_object_get(matrix, "columns");
    plx_index columns = (plx_index)json_array_size(names), n_rows = (plx_index)json_array_size(rows);
    const char *key = json_string_value(json_object_get(matrix, "key"));
    if (n_rows < 1 || columns < 2)
        PLX_FAIL(ctx, PLX_E_DATA,
                 "this report has no confusion matrix; those of fit and explain have one where classes are known");
    if (n_rows > MOST || columns > MOST + 1)
        PLX_FAIL(ctx, PLX_E_DATA, "the matrix of %lld classes and %lld answers is too large to be read; at most %d",
                 (long long)n_rows, (long long)columns - 1, MOST);
    plx__svg_open(out, LEFT + CELL * (double)(columns - 1) + NAME, TOP + CELL * (double)n_rows + EDGE);
    plx__svg_text(out, EDGE, 24, "start",
                  strcmp(key, "confusion") == 0 ? "rows: known class; columns: answer"
                                                : "rows: known class; columns: cluster",
                  60);
    for (plx_index c = 1; c < columns; c++) {
        const char *name = json_string_value(json_array_get(names, (size_t)c));
        double x = LEFT + CELL * ((double)c - 0.5);
        plx__textbuf_printf(out, "<g transform=\"rotate(-35 %.1f %.1f)\">", x, TOP - 8.0);
        plx__svg_text(out, x, TOP - 8, "start", name ? name : "", 12);
        plx__textbuf_add(out, "</g>\n");
    }
    for (plx_index r = 0; r < n_rows; r++)
        draw_row(out, json_array_get(rows, (size_t)r), columns, TOP + CELL * (double)r);
    plx__svg_close(out);
    return PLX_OK;
}
