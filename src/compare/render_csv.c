/*
 * A line per block, entry and metric; costs without the metrics. Numbers are exact.
 */
#include <math.h>

#include "compare/render.h"
#include "core/number.h"

/* RFC 4180: quoted when it holds a comma, a quote or a line end. */
static void put_cell(plx__textbuf *to, const char *text)
{
    bool plain = true;
    for (const char *p = text; *p; p++) plain &= *p != ',' && *p != '"' && *p != '\n' && *p != '\r';
    if (!plain) plx__textbuf_add(to, "\"");
    for (const char *p = text; *p; p++) {
        if (*p == '"') plx__textbuf_add(to, "\"");
        plx__textbuf_addn(to, p, 1);
    }
    if (!plain) plx__textbuf_add(to, "\"");
}

/* Nothing for NaN. */
static void put_number(plx__textbuf *to, double value)
{
    char text[PLX__NUMBER_BYTES];
    plx__textbuf_add(to, ",");
    if (isnan(value)) return;
    plx__print_short(text, value);
    plx__textbuf_add(to, text);
}

static void put_names(plx__textbuf *to, const plx_comparison *c, plx_index block, plx_index entry)
{
    put_cell(to, c->block[block].dataset);
    plx__textbuf_add(to, ",");
    put_cell(to, c->block[block].labels);
    plx__textbuf_add(to, ",");
    put_cell(to, c->entry[entry].name);
}

static void put_result(plx__textbuf *to, const plx_comparison *c, plx_index block, plx_index entry, plx_index metric)
{
    const plx__tally *cell = plx__tally_of(c, metric, block, entry);
    plx_index failed = 0;
    const char *reason = plx__tally_reason(c, block, entry, &failed);
    put_names(to, c, block, entry);
    plx__textbuf_add(to, ",");
    put_cell(to, c->metric[metric]);
    plx__textbuf_printf(to, ",%lld,%lld", (long long)cell->runs, (long long)failed);
    put_number(to, cell->mean);
    put_number(to, cell->sd);
    plx__textbuf_printf(to, ",%d,%d", cell->best, cell->level);
    put_number(to, cell->p);
    put_number(to, cell->p_holm);
    put_number(to, c->rank[metric * c->n_entries + entry]);
    plx__textbuf_add(to, ",");
    put_cell(to, reason ? reason : "");
    plx__textbuf_add(to, "\n");
}

plx_status plx__render_csv(plx__rendering *r, plx_compare_part part)
{
    const plx_comparison *c = r->c;
    bool costs = part == PLX_COMPARE_COSTS;
    plx__textbuf_add(&r->to, costs ? "dataset,labels,method,seconds,cpu_seconds,memory_bytes\n"
                                   : "dataset,labels,method,metric,runs,failed,mean,sd,best,not_worse,p,p_holm,"
                                     "average_rank,reason\n");
    for (plx_index b = 0; b < c->n_blocks; b++)
        for (plx_index e = 0; e < c->n_entries; e++) {
            plx__expense x = plx__expense_of(c, b, e);
            for (plx_index m = 0; !costs && m < c->n_metrics; m++) put_result(&r->to, c, b, e, m);
            if (!costs) continue;
            put_names(&r->to, c, b, e);
            put_number(&r->to, x.seconds);
            put_number(&r->to, x.cpu);
            put_number(&r->to, x.memory);
            plx__textbuf_add(&r->to, "\n");
        }
    return PLX_OK;
}
