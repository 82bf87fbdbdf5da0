/*
 * The public calls of report.h.
 */
#include "api/api_args.h"
#include "api/report_impl.h"
#include "core/file.h"
#include "parallax/version.h"
#include "report/figures.h"
#include "report/page.h"

static const char *const kinds[] = {"fit", "explain", "views", "compare", "acquire"};
enum { KINDS = sizeof kinds / sizeof *kinds };

int plx_report_available(void)
{
    size_t size = 0;
    (void)plx__page_bytes(&size);
    return size > 0;
}

static plx_status create(plx_report **out, plx_context *ctx, plx_report_kind kind, const char *command)
{
    plx__json_maker m = {.ctx = ctx};
    const char *title = NULL;
    if ((int)kind < 0 || (int)kind >= KINDS) PLX_FAIL(ctx, PLX_E_ARG, "there is no report of kind %d", (int)kind);
    PLX_TRY(plx__arena_printf(&title, plx__scratch(ctx), "parallax %s", kinds[kind]));
    plx_report *r = plx__alloc(ctx, sizeof *r);
    if (!r) PLX_FAIL(ctx, PLX_E_NOMEM, "out of memory");
    *r = (plx_report){.ctx = ctx, .root = json_object()};
    plx__json_put_text(&m, r->root, "kind", kinds[kind]);
    plx__json_put_text(&m, r->root, "title", title);
    plx__json_put_text(&m, r->root, "version", PLX_VERSION_STRING);
    if (command) plx__json_put_text(&m, r->root, "command", command);
    plx__report_headline(&m, r, title, "");
    if (m.failed) plx_report_destroy(r);
    else *out = r;
    return plx__json_made(&m);
}

plx_status plx_report_create(plx_report **out, plx_context *ctx, plx_report_kind kind, const char *command)
{
    if (out) *out = NULL;
    PLX__CALL(ctx, create(out, ctx, kind, command), PLX__ARG(out));
}

void plx_report_destroy(plx_report *report)
{
    if (!report) return;
    json_decref(report->root);
    plx__release(report->ctx, report, sizeof *report);
}

plx_status plx_report_add_model(plx_report *report, plx_context *ctx, const plx_model *model, const plx_dataset *data)
{
    PLX__CALL(ctx, plx__report_model(report, ctx, model, data), PLX__ARG(report), PLX__ARG(model), PLX__WHOLE(data));
}

plx_status plx_report_add_data(plx_report *report, plx_context *ctx, const plx_dataset *data,
                               const plx_prediction *prediction)
{
    PLX__CALL(ctx, plx__report_prediction(report, ctx, data, prediction), PLX__ARG(report), PLX__WHOLE(data));
}

plx_status plx_report_add_explanation(plx_report *report, plx_context *ctx, const plx_explanation *explanation,
                                      const char *method, const char *about)
{
    PLX__CALL(ctx, plx__report_explanation(report, ctx, explanation, method, about), PLX__ARG(report),
              PLX__ARG(explanation), PLX__ARG(about));
}

plx_status plx_report_add_comparison(plx_report *report, plx_context *ctx, const plx_comparison *comparison)
{
    PLX__CALL(ctx, plx__report_comparison(report, ctx, comparison), PLX__ARG(report), PLX__ARG(comparison));
}

plx_status plx_report_add_curves(plx_report *report, plx_context *ctx, const plx_curves *curves, const char *what)
{
    PLX__CALL(ctx, plx__report_curves(report, ctx, curves, what), PLX__ARG(report), PLX__ARG(curves), PLX__ARG(what));
}

static plx_status add_warning(plx_report *r, plx_context *ctx, const char *text)
{
    plx__json_maker m = {.ctx = ctx};
    plx__report_warning(&m, r, text);
    return plx__json_made(&m);
}

plx_status plx_report_add_warning(plx_report *report, plx_context *ctx, const char *text)
{
    PLX__CALL(ctx, add_warning(report, ctx, text), PLX__ARG(report), PLX__ARG(text));
}

static plx_status add_setting(plx_report *r, plx_context *ctx, const char *name, const char *value,
                              const char *otherwise)
{
    plx__json_maker m = {.ctx = ctx};
    plx__report_setting(&m, r, name, value, otherwise);
    return plx__json_made(&m);
}

plx_status plx_report_add_setting(plx_report *report, plx_context *ctx, const char *name, const char *value,
                                  const char *otherwise)
{
    PLX__CALL(ctx, add_setting(report, ctx, name, value, otherwise), PLX__ARG(report), PLX__ARG(name), PLX__ARG(value));
}

plx_status plx_report_write(plx_context *ctx, const plx_report *report, const char *path)
{
    PLX__CALL(ctx, plx__page_write(ctx, report->root, path), PLX__ARG(report), PLX__ARG(path));
}

/* ---- figures ---- */

static plx_status write_figure(plx_context *ctx, const char *report, plx_figure figure, const char *path)
{
    static plx_status (*const draw[])(plx__textbuf *, plx_context *, const json_t *) = {
        plx__figure_embedding, plx__figure_confusion, plx__figure_curves};
    plx__textbuf text;
    const char *svg = NULL;
    json_t *root = NULL;
    if ((int)figure < 0 || (size_t)figure >= sizeof draw / sizeof *draw)
        PLX_FAIL(ctx, PLX_E_ARG, "there is no figure %d", (int)figure);
    plx__textbuf_init(&text, plx__scratch(ctx));
    PLX_TRY(plx__page_read(&root, ctx, report));
    plx_status st = draw[figure](&text, ctx, root);
    json_decref(root);
    PLX_TRY(st);
    PLX_TRY(plx__textbuf_done(&svg, &text));
    return plx__write_text_file(ctx, path, svg);
}

plx_status plx_report_figure(plx_context *ctx, const char *report, plx_figure figure, const char *path)
{
    PLX__CALL(ctx, write_figure(ctx, report, figure, path), PLX__ARG(report), PLX__ARG(path));
}
