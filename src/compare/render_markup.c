/*
 * Markdown and LaTeX: a table per metric, a row per entry, best first. The best is bold, what is not significantly worse
 * is in italics (Markdown) or underlined (LaTeX). Names come from files: whatever is markup in them is escaped.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "compare/render.h"
#include "core/number.h"

typedef struct markup {
    bool latex;
    void (*name)(plx__textbuf *to, const char *text);
    const char *first, *between, *last; /* of a row */
    const char *pm;
    const char *best[2], *level[2];
} markup;

/* ---- names ---- */

static void put_markdown(plx__textbuf *to, const char *text)
{
    for (; *text; text++) {
        if (*text == '<') plx__textbuf_add(to, "&lt;");
        else if (*text == '>') plx__textbuf_add(to, "&gt;");
        else if (*text == '&') plx__textbuf_add(to, "&amp;");
        else if ((unsigned char)*text < 0x20) plx__textbuf_add(to, " ");
        else {
            if (strchr("\\`*_{}[]()#!|~$", *text)) plx__textbuf_add(to, "\\");
            plx__textbuf_addn(to, text, 1);
        }
    }
}

static void put_latex(plx__textbuf *to, const char *text)
{
    for (; *text; text++) {
        if (*text == '\\') plx__textbuf_add(to, "\\textbackslash{}");
        else if (*text == '~') plx__textbuf_add(to, "\\textasciitilde{}");
        else if (*text == '^') plx__textbuf_add(to, "\\textasciicircum{}");
        else if (*text == '<') plx__textbuf_add(to, "\\textless{}");
        else if (*text == '>') plx__textbuf_add(to, "\\textgreater{}");
        else if (*text == '|') plx__textbuf_add(to, "\\textbar{}");
        else if (*text == '"') plx__textbuf_add(to, "\\textquotedbl{}");
        else if ((unsigned char)*text < 0x20) plx__textbuf_add(to, " ");
        else {
            if (strchr("&%$#_{}", *text)) plx__textbuf_add(to, "\\");
            plx__textbuf_addn(to, text, 1);
        }
    }
}

static const markup MARKDOWN = {.name = put_markdown,
                                .first = "| ",
                                .between = " | ",
                                .last = " |\n",
                                .pm = " ± ",
                                .best = {"**", "**"},
                                .level = {"*", "*"}};
static const markup LATEX = {.latex = true,
                             .name = put_latex,
                             .first = "",
                             .between = " & ",
                             .last = " \\\\\n",
                             .pm = "$\\,\\pm\\,$",
                             .best = {"\\textbf{", "}"},
                             .level = {"\\underline{", "}"}};

/* ---- tables ---- */

static void begin_table(plx__rendering *r, const markup *u, const char *corner, const char *after)
{
    const plx_comparison *c = r->c;
    plx_index columns = c->n_blocks + (after ? 1 : 0);
    if (u->latex) {
        plx__textbuf_add(&r->to, "\\begin{tabular}{l");
        for (plx_index b = 0; b < columns; b++) plx__textbuf_add(&r->to, "c");
        plx__textbuf_add(&r->to, "}\n\\hline\n");
    }
    plx__textbuf_add(&r->to, u->first);
    u->name(&r->to, corner);
    for (plx_index b = 0; b < c->n_blocks; b++) {
        plx__textbuf_add(&r->to, u->between);
        u->name(&r->to, c->block[b].name);
    }
    if (after) plx__textbuf_printf(&r->to, "%s%s", u->between, after);
    plx__textbuf_add(&r->to, u->last);
    if (u->latex) plx__textbuf_add(&r->to, "\\hline\n");
    else {
        plx__textbuf_add(&r->to, "|---|");
        for (plx_index b = 0; b < columns; b++) plx__textbuf_add(&r->to, "---|");
        plx__textbuf_add(&r->to, "\n");
    }
}

static void end_table(plx__rendering *r, const markup *u)
{
    plx__textbuf_add(&r->to, u->latex ? "\\hline\n\\end{tabular}\n" : "\n");
}

static void put_score(plx__rendering *r, const markup *u, const plx__tally *cell)
{
    char mean[PLX__FIGURE_BYTES], sd[PLX__FIGURE_BYTES];
    const char *const *mark = cell->best ? u->best : cell->level ? u->level : NULL;
    if (isnan(cell->mean)) {
        plx__textbuf_add(&r->to, "-");
        return;
    }
    if (mark) plx__textbuf_add(&r->to, mark[0]);
    plx__textbuf_add(&r->to, plx__figure(mean, cell->mean));
    if (mark) plx__textbuf_add(&r->to, mark[1]);
    if (!isnan(cell->sd)) plx__textbuf_printf(&r->to, "%s%s", u->pm, plx__figure(sd, cell->sd));
    if (cell->runs < r->c->runs) plx__textbuf_printf(&r->to, " (%lld runs)", (long long)cell->runs);
}

static plx_status put_metric(plx__rendering *r, const markup *u, plx_index metric)
{
    const plx_comparison *c = r->c;
    plx_index *order = NULL;
    char figure[PLX__FIGURE_BYTES];
    PLX_TRY(plx__order_by_rank(&order, r->ctx, c, metric));
    begin_table(r, u, c->metric[metric], c->n_blocks > 1 ? "rank" : NULL);
    for (plx_index k = 0; k < c->n_entries; k++) {
        double rank = c->rank[metric * c->n_entries + order[k]];
        plx__textbuf_add(&r->to, u->first);
        u->name(&r->to, c->entry[order[k]].name);
        for (plx_index b = 0; b < c->n_blocks; b++) {
            plx__textbuf_add(&r->to, u->between);
            put_score(r, u, plx__tally_of(c, metric, b, order[k]));
        }
        if (c->n_blocks > 1 && !isnan(rank))
            plx__textbuf_printf(&r->to, "%s%s", u->between, plx__decimals(figure, rank, 2));
        else if (c->n_blocks > 1) plx__textbuf_printf(&r->to, "%s-", u->between);
        plx__textbuf_add(&r->to, u->last);
    }
    end_table(r, u);
    return PLX_OK;
}

static void put_costs(plx__rendering *r, const markup *u)
{
    const plx_comparison *c = r->c;
    begin_table(r, u, "seconds, memory per run", NULL);
    for (plx_index e = 0; e < c->n_entries; e++) {
        plx__textbuf_add(&r->to, u->first);
        u->name(&r->to, c->entry[e].name);
        for (plx_index b = 0; b < c->n_blocks; b++) {
            char seconds[PLX__FIGURE_BYTES], memory[PLX__SIZE_BYTES];
            plx__expense x = plx__expense_of(c, b, e);
            plx__textbuf_add(&r->to, u->between);
            if (isnan(x.seconds)) plx__textbuf_add(&r->to, "-");
            else
                plx__textbuf_printf(&r->to, "%s s, %s", plx__seconds_text(seconds, x.seconds),
                                    isnan(x.memory) ? "?" : plx__size_text(memory, x.memory));
        }
        plx__textbuf_add(&r->to, u->last);
    }
    end_table(r, u);
}

/* ---- words ---- */

static void put_legend(plx__rendering *r, const markup *u)
{
    const plx_comparison *c = r->c;
    plx__textbuf_printf(&r->to, "%sMean%s%s over %lld run%s; bold: best%s%s", u->latex ? "% " : "",
                        c->runs > 1 ? (u->latex ? " +- " : u->pm) : "", c->runs > 1 ? "standard deviation" : "",
                        (long long)c->runs, c->runs > 1 ? "s" : "",
                        c->runs > 1 ? (u->latex ? "; underlined" : "; italics") : "",
                        c->runs > 1 ? ": not significantly worse" : "");
    char alpha[PLX__NUMBER_BYTES];
    plx__print_short(alpha, c->alpha);
    if (c->runs > 1) plx__textbuf_printf(&r->to, " (%s, %s)", plx__comparison_test(c), alpha);
    plx__textbuf_add(&r->to, u->latex ? ".\n" : ".\n\n");
}

static void put_reasons(plx__rendering *r, const markup *u)
{
    const plx_comparison *c = r->c;
    for (plx_index e = 0; e < c->n_entries; e++)
        for (plx_index b = 0; b < c->n_blocks; b++) {
            plx_index failed = 0;
            const char *reason = plx__tally_reason(c, b, e, &failed);
            if (!reason) continue;
            plx__textbuf_add(&r->to, u->latex ? "% " : "* ");
            u->name(&r->to, c->entry[e].name);
            plx__textbuf_add(&r->to, " on ");
            u->name(&r->to, c->block[b].name);
            plx__textbuf_printf(&r->to, ", %lld of %lld: ", (long long)failed, (long long)c->runs);
            u->name(&r->to, reason);
            plx__textbuf_add(&r->to, "\n");
        }
}

static plx_status render(plx__rendering *r, const markup *u, plx_compare_part part)
{
    if (part == PLX_COMPARE_COSTS) {
        put_costs(r, u);
        return PLX_OK;
    }
    put_legend(r, u);
    for (plx_index m = 0; m < r->c->n_metrics; m++) PLX_TRY(put_metric(r, u, m));
    put_reasons(r, u);
    return PLX_OK;
}

plx_status plx__render_markdown(plx__rendering *r, plx_compare_part part) { return render(r, &MARKDOWN, part); }
plx_status plx__render_latex(plx__rendering *r, plx_compare_part part) { return render(r, &LATEX, part); }
