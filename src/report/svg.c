/*
 * Numbers have one digit behind the point, so that the same data give the same bytes everywhere.
 */
#include "report/svg.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Okabe and Ito's, and two more. */
static const char *const COLOURS[] = {"#0072b2", "#d55e00", "#009e73", "#cc79a7",
                                      "#e69f00", "#56b4e9", "#8c6d31", "#7b4fa3"};
enum { N_COLOURS = sizeof COLOURS / sizeof *COLOURS, LETTER = 7, ROW = 18, NAME_LETTERS = 32 };

const char *plx__svg_colour(plx_index i) { return COLOURS[i % N_COLOURS]; }

void plx__svg_open(plx__textbuf *out, double width, double height)
{
    plx__textbuf_printf(
        out,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" height=\"%.0f\" viewBox=\"0 0 %.0f %.0f\" "
        "font-family=\"Helvetica, Arial, sans-serif\" font-size=\"12\" fill=\"#222222\">\n"
        "<rect width=\"100%%\" height=\"100%%\" fill=\"white\"/>\n",
        width, height, width, height);
}

void plx__svg_close(plx__textbuf *out) { plx__textbuf_add(out, "</svg>\n"); }

void plx__svg_escape(plx__textbuf *out, const char *text, int letters)
{
    const char *safe = text;
    if (out->status == PLX_OK) out->status = plx__utf8(&safe, plx__scratch(out->arena->ctx), text);
    for (const char *c = safe; *c; c++) {
        if (((unsigned char)*c & 0xc0) != 0x80 && letters-- == 0) {
            plx__textbuf_add(out, "\xe2\x80\xa6");
            return;
        }
        if (*c == '<') plx__textbuf_add(out, "&lt;");
        else if (*c == '>') plx__textbuf_add(out, "&gt;");
        else if (*c == '&') plx__textbuf_add(out, "&amp;");
        else if (*c == '"') plx__textbuf_add(out, "&quot;");
        else plx__textbuf_addn(out, (unsigned char)*c < 0x20 ? " " : c, 1);
    }
}

void plx__svg_text(plx__textbuf *out, double x, double y, const char *anchor, const char *text, int letters)
{
    plx__textbuf_printf(out, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\">", x, y, anchor);
    plx__svg_escape(out, text, letters);
    plx__textbuf_add(out, "</text>\n");
}

/* ---- signs ---- */

void plx__svg_sign(plx__textbuf *out, double x, double y, double r, plx_index i)
{
    const char *fill = i < 0 ? "#b0b0b0" : plx__svg_colour(i);
    switch (i < 0 ? 0 : i / N_COLOURS % 4) {
    case 1:
        plx__textbuf_printf(out, "<path d=\"M%.1f %.1fl%.1f %.1fh%.1fz\" fill=\"%s\"/>\n", x, y - 1.2 * r, 1.1 * r,
                            2 * r, -2.2 * r, fill);
        break;
    case 2:
        plx__textbuf_printf(out, "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" fill=\"%s\"/>\n", x - r,
                            y - r, 2 * r, 2 * r, fill);
        break;
    case 3:
        plx__textbuf_printf(out, "<path d=\"M%.1f %.1fl%.1f %.1fl%.1f %.1fl%.1f %.1fz\" fill=\"%s\"/>\n", x,
                            y - 1.4 * r, 1.4 * r, 1.4 * r, -1.4 * r, 1.4 * r, -1.4 * r, -1.4 * r, fill);
        break;
    default: plx__textbuf_printf(out, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"%.1f\" fill=\"%s\"/>\n", x, y, r, fill);
    }
}

double plx__svg_legend(plx__textbuf *out, double x, double y, double right, const char *const *names, plx_index count)
{
    double at = x, row = 0;
    for (plx_index k = 0; k < count; k++) {
        double wide = 24 + LETTER * fmin((double)strlen(names[k]), NAME_LETTERS);
        if (at > x && at + wide > right) {
            at = x;
            row++;
        }
        if (out) {
            plx__svg_sign(out, at + 5, y + ROW * row + 8, 4, k);
            plx__svg_text(out, at + 14, y + ROW * row + 12, "start", names[k], NAME_LETTERS);
        }
        at += wide;
    }
    return count ? ROW * (row + 1) : 0;
}

/* ---- axes ---- */

plx__axis plx__axis_of(double low, double high, double from, double to)
{
    if (!(low <= high) || fmax(fabs(low), fabs(high)) > 4 * PLX__SVG_LARGEST) low = 0, high = 1;
    if (high - low <= 1e-9 * fmax(fabs(low), fabs(high)) || high - low < 1e-100) { /* one value: room around it */
        double room = 0.5 + 0.01 * fabs(low);
        low -= room;
        high += room;
    }
    double raw = (high - low) / 5, ten = pow(10, floor(log10(raw))), times = raw / ten;
    double step = ten * (times <= 1 ? 1 : times <= 2 ? 2 : times <= 5 ? 5 : 10);
    return (plx__axis){step * floor(low / step + 1e-9), step * ceil(high / step - 1e-9), step, from, to};
}

double plx__axis_at(const plx__axis *a, double value)
{
    return a->from + (value - a->low) / (a->high - a->low) * (a->to - a->from);
}

void plx__svg_axes(plx__textbuf *out, const plx__axis *x, const plx__axis *y, const char *x_name, const char *y_name)
{
    int x_ticks = (int)lround((x->high - x->low) / x->step), y_ticks = (int)lround((y->high - y->low) / y->step);
    char number[32];
    plx__textbuf_add(out, "<g font-size=\"11\" fill=\"#555555\">\n");
    for (int k = 0; k <= y_ticks; k++) {
        double value = y->low + k * y->step, at = plx__axis_at(y, value);
        plx__textbuf_printf(out, "<path d=\"M%.1f %.1fH%.1f\" stroke=\"#e4e4e4\"/>\n", x->from, at, x->to);
        snprintf(number, sizeof number, "%.6g", fabs(value) < 1e-9 * y->step ? 0 : value);
        plx__svg_text(out, x->from - 6, at + 4, "end", number, 12);
    }
    for (int k = 0; k <= x_ticks; k++) {
        double value = x->low + k * x->step, at = plx__axis_at(x, value);
        plx__textbuf_printf(out, "<path d=\"M%.1f %.1fv4\" stroke=\"#999999\"/>\n", at, y->from);
        snprintf(number, sizeof number, "%.6g", fabs(value) < 1e-9 * x->step ? 0 : value);
        plx__svg_text(out, at, y->from + 17, "middle", number, 12);
    }
    plx__textbuf_printf(out, "<path d=\"M%.1f %.1fV%.1fH%.1f\" stroke=\"#999999\" fill=\"none\"/>\n", x->from, y->to,
                        y->from, x->to);
    plx__svg_text(out, (x->from + x->to) / 2, y->from + 33, "middle", x_name, 60);
    plx__svg_text(out, x->from - 34, y->to - 8, "start", y_name, 40);
    plx__textbuf_add(out, "</g>\n");
}
