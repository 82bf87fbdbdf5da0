/*
 * Figures of a report as pictures, from the data its page holds.
 */
#ifndef PLX_REPORT_FIGURES_H
#define PLX_REPORT_FIGURES_H

#include "core/json.h"
#include "core/text.h"

/* The document in a page that plx__page_write() wrote; the caller owns it. PLX_E_FORMAT for any other file. */
plx_status plx__page_read(json_t **out, plx_context *ctx, const char *path);

/* PLX_E_DATA where the report has no such figure. Nothing in the document is trusted. */
plx_status plx__figure_embedding(plx__textbuf *out, plx_context *ctx, const json_t *report);
plx_status plx__figure_confusion(plx__textbuf *out, plx_context *ctx, const json_t *report);
plx_status plx__figure_curves(plx__textbuf *out, plx_context *ctx, const json_t *report);

#endif
