/*
 * Figures as all tables print them, and the choice of the format.
 */
#include "compare/render.h"

#include <stdio.h>

const char *plx__decimals(char out[PLX__FIGURE_BYTES], double value, int digits)
{
    int length = snprintf(out, PLX__FIGURE_BYTES, "%.*f", digits, value);
    if (digits > 0 && length > digits && length < PLX__FIGURE_BYTES) out[length - digits - 1] = '.';
    return out;
}

const char *plx__figure(char out[PLX__FIGURE_BYTES], double value) { return plx__decimals(out, value, 3); }

const char *plx__p_text(char out[PLX__FIGURE_BYTES], double p)
{
    if (p >= 0.001) return plx__figure(out, p);
    snprintf(out, PLX__FIGURE_BYTES, "<0.001");
    return out;
}

const char *plx__seconds_text(char out[PLX__FIGURE_BYTES], double seconds)
{
    int digits = seconds >= 99.5 ? 0 : seconds >= 9.95 ? 1 : seconds >= 0.995 ? 2 : 3;
    return plx__decimals(out, seconds, digits);
}

static plx_status render(plx__rendering *r, plx_compare_format format, plx_compare_part part)
{
    switch (format) {
    case PLX_COMPARE_CSV: return plx__render_csv(r, part);
    case PLX_COMPARE_MARKDOWN: return plx__render_markdown(r, part);
    case PLX_COMPARE_LATEX: return plx__render_latex(r, part);
    default: return plx__render_text(r, part);
    }
}

plx_status plx__comparison_render(const char **out, plx_context *ctx, const plx_comparison *c,
                                  plx_compare_format format, plx_compare_part part)
{
    plx__rendering r = {.ctx = ctx, .c = c};
    if ((int)format < PLX_COMPARE_TEXT || format > PLX_COMPARE_LATEX)
        PLX_FAIL(ctx, PLX_E_ARG, "unknown format %d of a comparison", (int)format);
    if (part != PLX_COMPARE_RESULTS && part != PLX_COMPARE_COSTS)
        PLX_FAIL(ctx, PLX_E_ARG, "unknown part %d of a comparison", (int)part);
    if (format == PLX_COMPARE_JSON) return plx__render_json(out, ctx, c, part);
    plx__textbuf_init(&r.to, plx__scratch(ctx));
    PLX_TRY(render(&r, format, part));
    return plx__textbuf_done(out, &r.to);
}
