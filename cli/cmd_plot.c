/*
 * parallax plot: one figure as a picture for a paper.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "output.h"
#include "png.h"

static const char *const outputs[] = {"out", NULL};

static bool ends_in(const char *text, const char *ending)
{
    size_t length = strlen(text), tail = strlen(ending);
    return length > tail && strcasecmp(text + length - tail, ending) == 0;
}

static int check_format(const cli_args *args, const char *out)
{
    static const char *const others[] = {".pdf", ".eps", ".jpg", ".jpeg"};
    for (size_t k = 0; out && k < sizeof others / sizeof *others; k++)
        if (ends_in(out, others[k])) {
            int name = (int)(strlen(out) - strlen(others[k]));
            if (k >= 2) return cli_usage_error(args->verb, "--out %s: pictures are written as .svg or .png", out);
            return cli_usage_error(args->verb,
                                   "--out %s: pictures are written as .svg or .png; write %.*s.svg, then 'rsvg-convert "
                                   "-f %s -o %s %.*s.svg'",
                                   out, name, out, others[k] + 1, out, name, out);
        }
    return CLI_DONE;
}

static int draw_tree(cli_session *s, const char *out)
{
    plx_model *model = NULL;
    const char *text = NULL;
    int code = cli_fail(s, plx_model_load(&model, s->ctx, s->args->positional[1]));
    if (!code) code = cli_fail(s, plx_model_tree(&text, s->ctx, model, PLX_TREE_SVG, cli_whole(s->args, "leaves", 0)));
    if (!code) code = cli_write_text(s, out, text);
    plx_model_destroy(model);
    return code;
}

static int draw_svg(cli_session *s, const char *out)
{
    const char *kind = s->args->positional[0];
    plx_figure figure = strcmp(kind, "confusion") == 0 ? PLX_FIGURE_CONFUSION
                        : strcmp(kind, "curves") == 0  ? PLX_FIGURE_CURVES
                                                       : PLX_FIGURE_EMBEDDING;
    if (strcmp(kind, "tree") == 0) return draw_tree(s, out);
    return cli_fail(s, plx_report_figure(s->ctx, s->args->positional[1], figure, out));
}

/* By way of an SVG in a temporary file. */
static int draw_png(cli_session *s, const char *out)
{
    const char *folder = getenv("TMPDIR");
    char svg[4096];
    int code = cli_png_check(s, out);
    if (code) return code;
    snprintf(svg, sizeof svg, "%s/parallax-XXXXXX.svg", folder && *folder ? folder : "/tmp");
    int file = mkstemps(svg, (int)strlen(".svg"));
    if (file < 0) return cli_fail_text(s, "no room for a temporary file; point $TMPDIR to a folder that has some");
    close(file);
    code = draw_svg(s, svg);
    if (!code) code = cli_png_write(s, svg, out, (double)cli_whole(s->args, "dpi", 2 * CLI_SVG_DPI));
    remove(svg);
    return code;
}

static int draw(cli_session *s)
{
    const char *out = cli_value(s->args, "out");
    if (out && ends_in(out, ".png")) return draw_png(s, out);
    return draw_svg(s, out ? out : "-");
}

static int run(const cli_args *args)
{
    cli_session s;
    int code = check_format(args, cli_value(args, "out"));
    if (!code && cli_flag(args, "leaves") && strcmp(args->positional[0], "tree") != 0)
        code = cli_usage_error(args->verb, "--leaves is for a tree");
    const char *out = cli_value(args, "out");
    if (!code && cli_flag(args, "dpi") && !(out && ends_in(out, ".png")))
        code = cli_usage_error(args->verb, "--dpi is for a .png; an .svg is sharp at any size");
    if (!code) code = cli_session_open(&s, args);
    if (code) return code;
    code = cli_check_outputs(&s, outputs);
    if (!code) code = draw(&s);
    if (!code) cli_say_outputs(&s, outputs);
    cli_session_close(&s);
    return code;
}

static const cli_positional positionals[] = {
    {"FIGURE", CLI_CHOICE, false, "embedding, curves, confusion or tree.", "embedding|curves|confusion|tree"},
    {"FILE", CLI_FILE, false, "A report written with --report; for a tree a model written with --model.", NULL},
    CLI_END_POSITIONALS};
static const cli_option options[] = {
    {.name = "out",
     .letter = 'o',
     .value = "FILE",
     .kind = CLI_FILE,
     .help = "Where to write: an .svg, or a .png, which needs librsvg (default: SVG to standard output)."},
    {.name = "dpi",
     .value = "N",
     .kind = CLI_WHOLE,
     .low = 24,
     .high = 2400,
     .help = "Of a .png: dots per inch; 96 gives the pixels of the SVG (default 192)."},
    {.name = "leaves",
     .value = "N",
     .kind = CLI_WHOLE,
     .low = 1,
     .help = "Of a tree: show at most N leaves (default 60)."},
    CLI_END_OPTIONS};
static const cli_option *const option_sets[] = {options, cli_memory_options, cli_talk_options, NULL};
static const cli_example examples[] = {
    {"parallax plot confusion fit.html --out confusion.svg", "Of a report of fit or explain."},
    {"parallax plot embedding fit.html --out maps.png --dpi 300", "As pixels, for slides or a journal that asks."},
    {"parallax plot curves acquire.html --out curves.svg", "Of a report of acquire --simulate or compare."},
    {"parallax plot tree digits.plx --out tree.svg", "Of a model of hybridtree."},
    CLI_END_EXAMPLES};

const cli_verb cli_verb_plot = {
    .name = "plot",
    .summary = "Draw one figure of a report, or a tree, for a paper: SVG or PNG.",
    .description = "Reads the data that a report holds, so that the picture shows what the page shows: maps of the "
                   "samples, the confusion matrix, or learning curves. The tree of a model is that of 'parallax tree'.",
    .positionals = positionals,
    .option_sets = option_sets,
    .examples = examples,
    .run = run,
};
