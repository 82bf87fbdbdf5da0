/*
 * Tables for a terminal: a row per entry, best first, a column per block.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "compare/render.h"
#include "core/number.h"

enum { GAP = 3 };

/* A table of cells that is laid out when all of them are known. */
typedef struct grid {
    plx__rendering *r;
    plx_index rows, cols;
    const char **cell; /* rows x cols */
} grid;

static plx_status grid_open(grid *g, plx__rendering *r, plx_index rows, plx_index cols)
{
    *g = (grid){.r = r, .rows = rows, .cols = cols};
    PLX_TRY(PLX__ARENA_NEW(&g->cell, plx__scratch(r->ctx), rows * cols));
    for (plx_index i = 0; i < rows * cols; i++) g->cell[i] = "";
    return PLX_OK;
}

/* Characters, not bytes. */
static plx_index width_of(const char *text)
{
    plx_index width = 0;
    for (; *text; text++) width += ((unsigned char)*text & 0xc0) != 0x80;
    return width;
}

/* Names may hold anything: what would move a terminal's cursor or colours is shown as ?. */
static void put_plain(plx__textbuf *to, const char *text)
{
    for (; *text; text++) {
        bool control = (unsigned char)*text < 0x20 || *text == 0x7f;
        plx__textbuf_addn(to, control ? "?" : text, 1);
    }
}

static void grid_print(const grid *g)
{
    plx__textbuf *to = &g->r->to;
    for (plx_index i = 0; i < g->rows; i++) {
        plx_index pending = 0;
        for (plx_index j = 0; j < g->cols; j++) {
            plx_index width = 0;
            const char *cell = g->cell[i * g->cols + j];
            for (plx_index k = 0; k < g->rows; k++) {
                plx_index other = width_of(g->cell[k * g->cols + j]);
                width = plx__max(width, other);
            }
            for (; *cell && pending > 0; pending--) plx__textbuf_add(to, " ");
            put_plain(to, cell);
            pending += width - width_of(cell) + GAP; /* spaces that nothing follows are left out */
        }
        plx__textbuf_add(to, "\n");
    }
}

/* ---- results ---- */

static plx_status put_score(const char **out, plx__rendering *r, const plx__tally *cell)
{
    char mean[PLX__FIGURE_BYTES], sd[PLX__FIGURE_BYTES];
    const char *mark = cell->best ? " *" : cell->level ? " ~" : "";
    if (isnan(cell->mean)) return plx__arena_text(out, plx__scratch(r->ctx), "-");
    if (isnan(cell->sd))
        return plx__arena_printf(out, plx__scratch(r->ctx), "%s%s", plx__figure(mean, cell->mean), mark);
    return plx__arena_printf(out, plx__scratch(r->ctx), "%s ± %s%s%s", plx__figure(mean, cell->mean),
                             plx__figure(sd, cell->sd), cell->runs < r->c->runs ? " (part)" : "", mark);
}

static plx_status print_metric(plx__rendering *r, plx_index metric)
{
    const plx_comparison *c = r->c;
    plx_index *order = NULL;
    char figure[PLX__FIGURE_BYTES];
    grid g;
    PLX_TRY(plx__order_by_rank(&order, r->ctx, c, metric));
    PLX_TRY(grid_open(&g, r, c->n_entries + 1, c->n_blocks + 2));
    g.cell[0] = c->metric[metric];
    for (plx_index b = 0; b < c->n_blocks; b++) g.cell[1 + b] = c->block[b].name;
    g.cell[c->n_blocks + 1] = c->n_blocks > 1 ? "rank" : "";
    for (plx_index k = 0; k < c->n_entries; k++) {
        const char **row = g.cell + (k + 1) * g.cols;
        double rank = c->rank[metric * c->n_entries + order[k]];
        row[0] = c->entry[order[k]].name;
        for (plx_index b = 0; b < c->n_blocks; b++)
            PLX_TRY(put_score(&row[1 + b], r, plx__tally_of(c, metric, b, order[k])));
        if (c->n_blocks > 1 && !isnan(rank))
            PLX_TRY(plx__arena_text(&row[c->n_blocks + 1], plx__scratch(r->ctx), plx__decimals(figure, rank, 2)));
    }
    grid_print(&g);
    if (!isnan(c->friedman_p[metric]))
        plx__textbuf_printf(&r->to, "Friedman's test over the ranks: p %s\n",
                            plx__p_text(figure, c->friedman_p[metric]));
    plx__textbuf_add(&r->to, "\n");
    return PLX_OK;
}

static void print_head(plx__rendering *r)
{
    const plx_comparison *c = r->c;
    plx__textbuf_printf(&r->to, "mean%s of %lld run%s; * best%s", c->runs > 1 ? " ± sd" : "", (long long)c->runs,
                        c->runs > 1 ? "s" : "", c->runs > 1 ? ", ~ not significantly worse (" : "");
    char alpha[PLX__NUMBER_BYTES];
    plx__print_short(alpha, c->alpha);
    if (c->runs > 1) plx__textbuf_printf(&r->to, "%s, %s)", plx__comparison_test(c), alpha);
    plx__textbuf_add(&r->to, "\n\n");
}

static void print_reasons(plx__rendering *r)
{
    const plx_comparison *c = r->c;
    bool any = false;
    for (plx_index e = 0; e < c->n_entries; e++)
        for (plx_index b = 0; b < c->n_blocks; b++) {
            plx_index failed = 0;
            const char *reason = plx__tally_reason(c, b, e, &failed);
            if (!reason) continue;
            if (!any) plx__textbuf_add(&r->to, "without an answer:\n");
            any = true;
            put_plain(&r->to, c->entry[e].name);
            plx__textbuf_add(&r->to, " on ");
            put_plain(&r->to, c->block[b].name);
            plx__textbuf_printf(&r->to, ", %lld of %lld: ", (long long)failed, (long long)c->runs);
            put_plain(&r->to, reason);
            plx__textbuf_add(&r->to, "\n");
        }
}

/* ---- costs ---- */

static plx_status put_cost(const char **out, plx__rendering *r, plx__expense x)
{
    char seconds[PLX__FIGURE_BYTES], memory[PLX__SIZE_BYTES];
    if (isnan(x.seconds)) return plx__arena_text(out, plx__scratch(r->ctx), "-");
    return plx__arena_printf(out, plx__scratch(r->ctx), "%s s, %s", plx__seconds_text(seconds, x.seconds),
                             isnan(x.memory) ? "?" : plx__size_text(memory, x.memory));
}

static plx_status print_costs(plx__rendering *r)
{
    const plx_comparison *c = r->c;
    grid g;
    PLX_TRY(grid_open(&g, r, c->n_entries + 1, c->n_blocks + 1));
    g.cell[0] = "a run takes";
    for (plx_index b = 0; b < c->n_blocks; b++) g.cell[1 + b] = c->block[b].name;
    for (plx_index e = 0; e < c->n_entries; e++) {
        const char **row = g.cell + (e + 1) * g.cols;
        row[0] = c->entry[e].name;
        for (plx_index b = 0; b < c->n_blocks; b++) PLX_TRY(put_cost(&row[1 + b], r, plx__expense_of(c, b, e)));
    }
    grid_print(&g);
    return PLX_OK;
}

plx_status plx__render_text(plx__rendering *r, plx_compare_part part)
{
    if (part == PLX_COMPARE_COSTS) return print_costs(r);
    print_head(r);
    for (plx_index m = 0; m < r->c->n_metrics; m++) PLX_TRY(print_metric(r, m));
    print_reasons(r);
    return PLX_OK;
}
