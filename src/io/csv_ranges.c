/*
 * Records of delimited text that several ranks read (io/text_ranges.h). A quoted cell may hold line ends, so a rank cannot
 * know whether its range of lines begins with a record or inside of quotes. It goes through its range both ways, which
 * mostly fall into step within a line or two, and tells for either where its first record begins, where the next rank's
 * does, and how many lie between; from what all have told everyone finds the way that was true.
 */
#include <string.h>

#include "io/csv_scan.h"

/* A rank's range, as offsets into the plan's text. `first` is where its first record begins if the range begins with a
 * record [0], or inside of quotes [1]; `next` where the record after its last one begins. */
typedef struct scan {
    int64_t begin, end, lines, marks;
    int64_t first[2], next[2], records[2];
} scan;
enum { FACTS = sizeof(scan) / sizeof(int64_t) };

/* Both ways in step, the one that is behind first, until they meet. */
static void go_both_ways(scan *s, const plx__csv_plan *plan, const char *end)
{
    const char *p[2] = {plan->begin + s->first[0], plan->begin + s->first[1]};
    while (p[0] < end || p[1] < end) {
        bool met = p[0] == p[1];
        int behind = p[1] < p[0];
        p[behind] = plx__csv_next_record(p[behind], plan->end, plan->delimiter);
        s->records[behind]++;
        if (!met) continue;
        p[1] = p[0];
        s->records[1]++;
    }
    for (int way = 0; way < 2; way++) s->next[way] = p[way] - plan->begin;
}

static void look_through(scan *s, const plx__csv_plan *plan, const plx__text_range *g, const plx__text_chunks *chunks)
{
    *s = (scan){.begin = g->begin - plan->begin, .end = g->end - plan->begin};
    s->lines = chunks->lines;
    s->marks = chunks->marks;
    s->first[0] = s->begin;
    s->first[1] = s->next[0] = s->next[1] = s->end; /* without a quote nothing can end inside */
    s->records[0] = s->lines;
    if (!s->marks) return;
    s->records[0] = 0;
    s->first[1] = plx__csv_leave_quotes(g->begin, plan->end, plan->delimiter) - plan->begin;
    go_both_ways(s, plan, g->end);
}

/* Where the records of a rank begin that follow `start`: behind those of `s`. A record may be longer than a range. */
static int64_t follow(int64_t *records, const scan *s, int64_t start)
{
    int way = start != s->first[0];
    *records = 0;
    if (start >= s->end) return start;
    *records = s->records[way];
    return s->next[way];
}

/* The range's own records are at start .. next-1. */
static plx_status find_records(int64_t *start, int64_t *next, plx_index *before, const scan *all, plx__text_range *g)
{
    int64_t at = 0, records = 0;
    PLX_TRY(plx__arena_i64(&g->bound, plx__scratch(g->ctx), g->ranks + 1));
    *before = 0;
    for (int r = 0; r < g->ranks; r++) {
        int64_t from = at;
        if (r && all[r].begin != all[r - 1].end)
            PLX_FAIL(g->ctx, PLX_E_DATA, "%s: the ranks read different data; the path must lead all to the same",
                     g->name);
        at = follow(&records, &all[r], at);
        g->bound[r + 1] = g->bound[r] + records;
        if (r < g->rank) *before += all[r].lines;
        if (r != g->rank) continue;
        *start = from;
        *next = at;
    }
    return PLX_OK;
}

/* Line of `start`, which is in the range of a rank or behind it; then it does not matter. */
static plx_index line_of(const plx__csv_plan *plan, const plx__text_range *g, plx_index before, const char *start)
{
    plx__text_chunk range = {.begin = g->begin, .end = g->end, .line = plan->line + before};
    return start < g->end ? plx__text_line(&range, start) : range.line;
}

/* Every rank's own scan to all. */
static plx_status tell(const scan **all, const plx__text_range *g, const scan *own)
{
    int64_t mine[FACTS], *told = NULL;
    memcpy(mine, own, sizeof mine);
    PLX_TRY(plx__text_tell(g, mine, FACTS, &told));
    *all = (const scan *)(const void *)told;
    return PLX_OK;
}

plx_status plx__csv_split_range(plx__text_chunks *out, const plx__csv_plan *plan, plx__text_range *g)
{
    scan own;
    const scan *all = NULL;
    int64_t start = 0, next = 0;
    plx_index before = 0;
    if (!g->shared) {
        PLX_TRY(plx__csv_split(out, g->ctx, plan));
        return plx__text_rows(g, out->lines);
    }
    PLX_TRY(plx__text_split(out, g->ctx, plan->name, g->begin, g->end, plan->line, '"'));
    look_through(&own, plan, g, out);
    PLX_TRY(tell(&all, g, &own));
    PLX_TRY(find_records(&start, &next, &before, all, g));
    if (!own.marks && start == own.begin) { /* lines are records */
        for (plx_index c = 0; c < out->count; c++) out->chunk[c].line += before;
        return PLX_OK;
    }
    plx__csv_plan part = *plan;
    part.begin = plan->begin + start;
    part.end = plan->begin + next;
    part.line = line_of(plan, g, before, part.begin);
    PLX_TRY(plx__text_split(out, g->ctx, plan->name, part.begin, part.end, part.line, '"'));
    plx__csv_cut_at_records(out, &part);
    PLX_ASSERT(out->lines == g->bound[g->rank + 1] - g->bound[g->rank]);
    return PLX_OK;
}
