/*
 * Pictures as PNG.
 */
#ifndef CLI_PNG_H
#define CLI_PNG_H

#include "session.h"

enum { CLI_SVG_DPI = 96 }; /* the resolution at which one unit of an SVG is one pixel */

/* Fails with a remedy where the library that draws cannot be had. */
int cli_png_check(cli_session *s, const char *out);

/* Draw the file `svg` as the file `out`. */
int cli_png_write(cli_session *s, const char *svg, const char *out, double dpi);

#endif
