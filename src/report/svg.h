/*
 * Pictures for papers: the few shapes that all of them are made of, as SVG text.
 */
#ifndef PLX_REPORT_SVG_H
#define PLX_REPORT_SVG_H

#include "core/text.h"

/* Colours that are told apart with every kind of colour vision, after the last the first again. */
const char *plx__svg_colour(plx_index i);

/* A white sheet. */
void plx__svg_open(plx__textbuf *out, double width, double height);
void plx__svg_close(plx__textbuf *out);

/* At most `letters` characters of UTF-8, what XML reserves spelled out. */
void plx__svg_escape(plx__textbuf *out, const char *text, int letters);
/* A text at a place; `anchor` is start, middle or end. */
void plx__svg_text(plx__textbuf *out, double x, double y, const char *anchor, const char *text, int letters);

/* The sign of series i: its colour, and another shape where colours begin again. i < 0: grey. */
void plx__svg_sign(plx__textbuf *out, double x, double y, double radius, plx_index i);
/* Signs and names in rows, from (x, y) to the right edge; gives the height. With out NULL it only measures. */
double plx__svg_legend(plx__textbuf *out, double x, double y, double right, const char *const *names, plx_index count);

/* Larger numbers are in no figure of ours; their differences could not be drawn. */
#define PLX__SVG_LARGEST 1e100

/* Round numbers from below `low` to above `high`, at pixels `from` to `to`. */
typedef struct plx__axis {
    double low, high, step, from, to;
} plx__axis;
plx__axis plx__axis_of(double low, double high, double from, double to);
double plx__axis_at(const plx__axis *axis, double value);
/* Frame, ticks, grid and names of a panel. */
void plx__svg_axes(plx__textbuf *out, const plx__axis *x, const plx__axis *y, const char *x_name, const char *y_name);

#endif
