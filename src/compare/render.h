/*
 * Comparisons as texts: what the formats share.
 */
#ifndef PLX_COMPARE_RENDER_H
#define PLX_COMPARE_RENDER_H

#include "compare/comparison.h"
#include "core/text.h"

typedef struct plx__rendering {
    plx_context *ctx;
    const plx_comparison *c;
    plx__textbuf to;
} plx__rendering;

plx_status plx__render_text(plx__rendering *r, plx_compare_part part);
plx_status plx__render_csv(plx__rendering *r, plx_compare_part part);
plx_status plx__render_markdown(plx__rendering *r, plx_compare_part part);
plx_status plx__render_latex(plx__rendering *r, plx_compare_part part);
plx_status plx__render_json(const char **out, plx_context *ctx, const plx_comparison *c, plx_compare_part part);

enum { PLX__FIGURE_BYTES = 48 };

/* So many digits behind the point, which is one in every locale. */
const char *plx__decimals(char out[PLX__FIGURE_BYTES], double value, int digits);
/* Three of them. */
const char *plx__figure(char out[PLX__FIGURE_BYTES], double value);
/* A p value: "0.031", "<0.001". */
const char *plx__p_text(char out[PLX__FIGURE_BYTES], double p);
/* Seconds: "0.012", "3.4", "250". */
const char *plx__seconds_text(char out[PLX__FIGURE_BYTES], double seconds);

#endif
