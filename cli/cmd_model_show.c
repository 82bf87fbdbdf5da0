/*
 * parallax model show: what a model file holds.
 */
#include <math.h>
#include <string.h>

#include "output.h"
#include "summary.h"

enum { MOST_CLASSES = 20 };

static void show_views(const plx_model *model)
{
    plx_model_view view = PLX_MODEL_VIEW_INIT;
    for (plx_index v = 0; plx_model_view_info(&view, model, v) == PLX_OK; v++) {
        printf("view        %s: %s, %s%s", view.name, CLI_COUNT(view.features, "feature", "features"),
               plx_view_kind_name(view.kind), view.sparse ? ", sparse" : "");
        if (view.scale) printf(", scale %s", view.scale);
        if (view.text) printf(", text counted with %s", *view.text ? view.text : "the defaults");
        putchar('\n');
    }
}

static void show_classes(const plx_model *model)
{
    plx_index count = plx_model_classes(model);
    if (!count) return;
    printf("classes     %lld:", (long long)count);
    for (plx_index c = 0; c < count && c < MOST_CLASSES; c++) printf("%s%s", c ? ", " : " ", plx_model_class(model, c));
    puts(count > MOST_CLASSES ? ", ..." : "");
}

/* Settings of one view that differ from the plain one. */
static void show_view_settings(const plx_model *model, const plx_param_info *p)
{
    const char *plain = plx_model_param(model, p->name);
    plx_model_view view = PLX_MODEL_VIEW_INIT;
    for (plx_index v = 0; p->per_view && plx_model_view_info(&view, model, v) == PLX_OK; v++) {
        char key[256];
        snprintf(key, sizeof key, "%s.%s", p->name, view.name);
        const char *own = plx_model_param(model, key);
        if (own && plain && strcmp(own, plain) != 0) printf("set         %s = %s\n", key, own);
    }
}

static void show_settings(const plx_model *model)
{
    plx_param_info p = PLX_PARAM_INFO_INIT;
    bool any = false;
    for (plx_index i = 0; plx_method_param(&p, plx_model_method(model), i) == PLX_OK; i++) {
        const char *value = plx_model_param(model, p.name);
        if (value && strcmp(value, p.def) != 0) {
            printf("set         %s = %s (default %s)\n", p.name, value, *p.def ? p.def : "not set");
            any = true;
        }
        show_view_settings(model, &p);
    }
    if (!any) puts("set         nothing: all parameters have their defaults");
}

/* Of a model of several methods. */
static void show_members(const plx_model *model)
{
    printf("chosen      because %s\n", plx_model_reason(model));
    for (plx_index i = 0; i < plx_model_members(model); i++) {
        const char *why = plx_model_member_left_out(model, i);
        printf("member      %s", plx_model_member_method(model, i));
        if (why) printf(", left out: %s\n", why);
        else printf(", agrees with the others on %.0f %%\n", 100 * plx_model_member_agreement(model, i));
    }
}

static void show_fit(const plx_model *model)
{
    double objective = plx_model_objective(model);
    printf("fitted      to %s", CLI_COUNT(plx_model_fitted(model), "sample", "samples"));
    if (plx_model_iterations(model) > 0)
        printf(", %s%s", CLI_COUNT(plx_model_iterations(model), "iteration", "iterations"),
               plx_model_converged(model) ? "" : ", not converged");
    if (!isnan(objective)) printf(", objective %.6g", objective);
    putchar('\n');
    for (plx_index i = 0; i < plx_model_warnings(model); i++) printf("warning     %s\n", plx_model_warning(model, i));
}

static void show_arrays(const plx_model *model)
{
    const char *before = "";
    printf("arrays      ");
    for (plx_index i = 0; i < plx_model_arrays(model); i++) {
        const char *name = plx_model_array_name(model, i);
        if (name[0] == '_') continue;
        printf("%s%s", before, name);
        before = ", ";
    }
    puts(*before ? "" : "none");
}

static void show(const plx_model *model)
{
    plx_method_info about = PLX_METHOD_INFO_INIT;
    bool known = plx_method_describe(&about, plx_model_method(model)) == PLX_OK;
    printf("method      %s%s%s\n", plx_model_method(model), known ? ": " : "", known ? about.title : "");
    if (plx_model_members(model)) show_members(model);
    else show_settings(model);
    show_views(model);
    show_classes(model);
    show_fit(model);
    show_arrays(model);
}

/* The library's JSON of a model, and what the views were. */
static void show_views_json(cli_json *j, const plx_model *model)
{
    plx_model_view view = PLX_MODEL_VIEW_INIT;
    cli_json_open(j, "views", '[');
    for (plx_index v = 0; plx_model_view_info(&view, model, v) == PLX_OK; v++) {
        cli_json_open(j, NULL, '{');
        cli_json_text(j, "name", view.name);
        cli_json_text(j, "kind", plx_view_kind_name(view.kind));
        cli_json_bool(j, "sparse", view.sparse != 0);
        cli_json_whole(j, "features", view.features);
        if (view.scale) cli_json_text(j, "scale", view.scale);
        if (view.text) cli_json_text(j, "text_options", view.text);
        cli_json_close(j, '}');
    }
    cli_json_close(j, ']');
}

static void show_members_json(cli_json *j, const plx_model *model)
{
    cli_json_text(j, "reason", plx_model_reason(model));
    cli_json_open(j, "members", '[');
    for (plx_index i = 0; i < plx_model_members(model); i++) {
        cli_json_open(j, NULL, '{');
        cli_json_text(j, "method", plx_model_member_method(model, i));
        cli_json_real(j, "agreement", plx_model_member_agreement(model, i));
        cli_json_text(j, "left_out", plx_model_member_left_out(model, i));
        cli_json_close(j, '}');
    }
    cli_json_close(j, ']');
}

static void show_json(const plx_model *model)
{
    cli_json j;
    plx_param_info p = PLX_PARAM_INFO_INIT;
    cli_json_start(&j, stdout, true);
    cli_json_open(&j, NULL, '{');
    cli_json_text(&j, "method", plx_model_method(model));
    cli_json_open(&j, "changed", '{');
    for (plx_index i = 0; plx_method_param(&p, plx_model_method(model), i) == PLX_OK; i++) {
        const char *value = plx_model_param(model, p.name);
        if (value && strcmp(value, p.def) != 0) cli_json_text(&j, p.name, value);
    }
    cli_json_close(&j, '}');
    show_views_json(&j, model);
    if (plx_model_members(model)) show_members_json(&j, model);
    cli_json_open(&j, "classes", '[');
    for (plx_index c = 0; c < plx_model_classes(model); c++) cli_json_text(&j, NULL, plx_model_class(model, c));
    cli_json_close(&j, ']');
    cli_json_whole(&j, "fitted_samples", plx_model_fitted(model));
    cli_json_whole(&j, "iterations", plx_model_iterations(model));
    cli_json_bool(&j, "converged", plx_model_converged(model) != 0);
    cli_json_real(&j, "objective", plx_model_objective(model));
    cli_json_close(&j, '}');
    putchar('\n');
}

static int run(const cli_args *args)
{
    cli_session s;
    plx_model *model = NULL;
    int code = cli_session_open(&s, args);
    if (code) return code;
    code = cli_fail(&s, plx_model_load(&model, s.ctx, args->positional[0]));
    if (!code && cli_flag(args, "json")) show_json(model);
    else if (!code) show(model);
    plx_model_destroy(model);
    cli_session_close(&s);
    return code;
}

static const cli_positional positionals[] = {
    {"MODEL", CLI_FILE, false, "A model written by 'parallax fit --model'.", NULL}, CLI_END_POSITIONALS};
static const cli_option options[] = {{.name = "json", .kind = CLI_FLAG, .help = "The same as JSON."}, CLI_END_OPTIONS};
static const cli_option *const option_sets[] = {options, cli_memory_options, NULL};
static const cli_example examples[] = {{"parallax model show cora.plx", "What was this model made with?"},
                                       CLI_END_EXAMPLES};

const cli_verb cli_verb_model_show = {
    .group = "model",
    .name = "show",
    .summary = "What a model holds: method, settings, views, classes, figures of the fit.",
    .description = "Prints the method, the parameters that differ from their defaults, the views with their features, "
                   "scaling and text options, the classes, and the figures of the fit.",
    .positionals = positionals,
    .option_sets = option_sets,
    .examples = examples,
    .run = run,
};
