/*
 * Figures of reports: the input is the document of a page. Whatever it holds, a figure is refused with one line or is
 * a whole picture whose tags are closed.
 */
#include "fuzz.h"
#include "report/figures.h"

static void draw(plx_context *ctx, const json_t *root,
                 plx_status (*figure)(plx__textbuf *, plx_context *, const json_t *))
{
    plx__textbuf text;
    const char *svg = NULL;
    plx__mark mark = plx__arena_mark(plx__scratch(ctx));
    plx__textbuf_init(&text, plx__scratch(ctx));
    plx_status st = figure(&text, ctx, root);
    if (st == PLX_OK) st = plx__textbuf_done(&svg, &text);
    FUZZ_CHECK(st == PLX_OK || st == PLX_E_DATA || st == PLX_E_NOMEM);
    if (st == PLX_OK) {
        plx_index open = 0, close = 0;
        for (const char *c = svg; *c; c++) {
            open += *c == '<';
            close += *c == '>';
        }
        FUZZ_CHECK(open == close && strncmp(svg, "<svg ", 5) == 0 && strcmp(svg + strlen(svg) - 7, "</svg>\n") == 0);
        FUZZ_CHECK(!strstr(svg, "=\"nan") && !strstr(svg, "=\"-nan") && !strstr(svg, "=\"inf") &&
                   !strstr(svg, "=\"Mnan") && !strstr(svg, "=\"Minf") && !strstr(svg, "=\"M-nan"));
    } else FUZZ_CHECK(plx_context_error(ctx)[0] && !strchr(plx_context_error(ctx), '\n'));
    plx__clear_error(ctx);
    plx__arena_rewind(plx__scratch(ctx), mark);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    plx_context *ctx = fuzz_context();
    json_t *root = NULL;
    if (plx__json_read_text(&root, ctx, "report", (const char *)data, size) == PLX_OK) {
        draw(ctx, root, plx__figure_embedding);
        draw(ctx, root, plx__figure_confusion);
        draw(ctx, root, plx__figure_curves);
    }
    json_decref(root);
    plx_context_destroy(ctx);
    return 0;
}
