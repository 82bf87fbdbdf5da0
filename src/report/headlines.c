/*
 * What an explanation and a report on views say in one sentence.
 */
#include <math.h>
#include <string.h>

#include "report/report_parts.h"

static const plx__section *find_section(const plx_explanation *e, const char *key)
{
    for (const plx__section *s = e->first; s; s = s->next)
        if (strcmp(s->key, key) == 0) return s;
    return NULL;
}

static plx_index column_of(const plx__section *s, const char *name)
{
    for (plx_index c = 0; s && c < s->cols; c++)
        if (strcmp(s->column[c], name) == 0) return c;
    return -1;
}

static double number_at(const plx__section *s, plx_index row, const char *column)
{
    plx_index c = column_of(s, column);
    return s && c >= 0 && row >= 0 && row < s->rows ? s->cell[row * s->cols + c].number : NAN;
}

static const char *text_at(const plx__section *s, plx_index row, const char *column)
{
    plx_index c = column_of(s, column);
    return s && c >= 0 && row >= 0 && row < s->rows ? s->cell[row * s->cols + c].text : NULL;
}

/* Row with the largest (sign 1) or smallest (-1) number of a column; -1: none. */
static plx_index extreme(const plx__section *s, const char *column, double sign)
{
    plx_index best = -1;
    for (plx_index r = 0; s && r < s->rows; r++) {
        double x = number_at(s, r, column);
        if (!isnan(x) && (best < 0 || sign * x > sign * number_at(s, best, column))) best = r;
    }
    return best;
}

static void say_quality(plx__textbuf *to, plx__json_maker *m, plx_report *r, const plx__section *quality)
{
    for (plx_index row = 0; quality && row < quality->rows; row++) {
        double value = number_at(quality, row, "value"), error = number_at(quality, row, "error");
        const char *name = text_at(quality, row, "metric");
        if (row < 4) plx__report_fact(m, r, name, value);
        if (row > 0) continue;
        plx__textbuf_printf(to, "Of the samples whose class is known it has %s %.3f", name, value);
        if (!isnan(error)) plx__textbuf_printf(to, " \xc2\xb1 %.3f", error);
        plx__textbuf_add(to, ". ");
    }
}

static void say_views(plx__textbuf *to, const plx__section *views)
{
    plx_index most = extreme(views, "withheld", 1), alone = extreme(views, "alone", 1);
    if (!views || views->rows < 2) return; /* one view: there is nothing to lean on but that */
    if (most >= 0 && number_at(views, most, "withheld") > 2 * number_at(views, most, "withheld_error"))
        plx__textbuf_printf(to,
                            "It leans most on view %s: without it, %.3f \xc2\xb1 %.3f of the answers' quality "
                            "is lost.",
                            text_at(views, most, "view"), number_at(views, most, "withheld"),
                            number_at(views, most, "withheld_error"));
    else if (most >= 0) plx__textbuf_add(to, "No single view is missed much when it is withheld.");
    if (alone >= 0)
        plx__textbuf_printf(to, " Alone, %s does best (%.3f).", text_at(views, alone, "view"),
                            number_at(views, alone, "alone"));
}

static plx_status head_explain(plx_report *r, plx_context *ctx, const plx_explanation *e, const char *method,
                               const char *about)
{
    plx__json_maker m = {.ctx = ctx};
    plx__textbuf answer;
    const char *question = NULL, *text = NULL;
    const plx__section *sample = find_section(e, "sample");
    plx__textbuf_init(&answer, plx__scratch(ctx));
    PLX_TRY(plx__arena_printf(&question, plx__scratch(ctx), "Why does %s say what it says about %s?",
                              method ? method : "the model", about));
    if (sample && text_at(sample, 1, "value"))
        plx__textbuf_printf(&answer, "Sample %s is taken for %s. ", text_at(sample, 0, "value"),
                            text_at(sample, 1, "value"));
    say_quality(&answer, &m, r, find_section(e, "quality"));
    say_views(&answer, find_section(e, "views"));
    PLX_TRY(plx__textbuf_done(&text, &answer));
    plx__report_headline(&m, r, question, text[0] ? text : "What it learned is shown below.");
    return plx__json_made(&m);
}

static plx_status head_views(plx_report *r, plx_context *ctx, const plx_explanation *e, const char *about)
{
    plx__json_maker m = {.ctx = ctx};
    plx__textbuf answer;
    const char *question = NULL, *text = NULL;
    const plx__section *views = find_section(e, "views"), *advice = find_section(e, "advice");
    plx_index best = extreme(views, "accuracy", 1), worst = extreme(views, "accuracy", -1);
    plx__textbuf_init(&answer, plx__scratch(ctx));
    PLX_TRY(plx__arena_printf(&question, plx__scratch(ctx), "What is each view of %s worth?", about));
    if (best >= 0)
        plx__textbuf_printf(&answer, "Alone, %s is best with accuracy %.3f \xc2\xb1 %.3f", text_at(views, best, "view"),
                            number_at(views, best, "accuracy"), number_at(views, best, "error"));
    if (best >= 0 && worst != best)
        plx__textbuf_printf(&answer, "; %s is worst with %.3f \xc2\xb1 %.3f", text_at(views, worst, "view"),
                            number_at(views, worst, "accuracy"), number_at(views, worst, "error"));
    if (best >= 0) plx__textbuf_add(&answer, ". ");
    if (advice && advice->rows)
        plx__textbuf_printf(&answer, "What follows: %s.", advice->cell[(advice->rows - 1) * 2].text);
    PLX_TRY(plx__textbuf_done(&text, &answer));
    plx__report_headline(&m, r, question, text[0] ? text : "There are no classes to measure it by.");
    return plx__json_made(&m);
}

plx_status plx__report_explanation(plx_report *r, plx_context *ctx, const plx_explanation *e, const char *method,
                                   const char *about)
{
    if (find_section(e, "advice")) PLX_TRY(head_views(r, ctx, e, about));
    else PLX_TRY(head_explain(r, ctx, e, method, about));
    return plx__report_tables(r, ctx, e);
}
