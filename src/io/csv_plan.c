/*
 * What a delimited file is, from its first rows: delimiter, header, and the part every column plays.
 */
#include <stdio.h>
#include <string.h>

#include "core/number.h"
#include "core/text.h"
#include "io/csv_scan.h"

enum { SAMPLE = 20 }; /* rows looked at to tell a header and text columns */

typedef enum kind { MISSING = 0, NUMBER, TEXT } kind;

static kind kind_of(const plx__cell *cell)
{
    double value;
    if (plx__cell_missing(cell)) return MISSING;
    return plx__cell_number(&value, cell) ? NUMBER : TEXT;
}

/* Cells of the record at *cursor; `all_numbers` says whether none is a text. */
static plx_index count_cells(bool *all_numbers, const char **cursor, const char *end, char delimiter)
{
    plx__cell cell;
    plx__cell_end ended = PLX__CELL_MORE;
    plx_index count = 0;
    *all_numbers = true;
    while (ended == PLX__CELL_MORE) {
        ended = plx__csv_cell(&cell, cursor, end, delimiter);
        count++;
        *all_numbers = *all_numbers && ended != PLX__CELL_BROKEN && kind_of(&cell) != TEXT;
    }
    if (ended == PLX__CELL_BROKEN) *cursor = end;
    return count;
}

/* ---- delimiter ---- */

/* Does this delimiter cut the first rows into the same number of cells, at least two (in the first row `fewer`, where
 * row names have no name)? Blanks must also leave only numbers, or else every sentence would be a table. */
static bool fits(char delimiter, const char *p, const char *end, plx_index fewer)
{
    bool numbers = false;
    plx_index first = count_cells(&numbers, &p, end, delimiter), width = 0;
    for (int i = 0; i < SAMPLE / 2 && p < end; i++) {
        plx_index cells = count_cells(&numbers, &p, end, delimiter);
        if (delimiter == ' ' && !numbers) return false;
        if (width == 0) width = cells;
        if (cells != width) return false;
    }
    if (width == 0) return fewer == 0 && first >= 2 && (delimiter != ' ' || numbers);
    return width >= 2 && first + fewer == width;
}

static char find_delimiter(const char *name, const char *p, const char *end)
{
    bool tsv = plx__ends_with(name, ".tsv") || plx__ends_with(name, ".tsv.gz"), numbers = false;
    const char *candidates = tsv ? "\t,; " : ",\t; ";
    for (plx_index fewer = 0; fewer < 2; fewer++)
        for (const char *c = candidates; *c; c++)
            if (fits(*c, p, end, fewer)) return *c;
    for (const char *c = candidates; *c != ' '; c++) {
        const char *cursor = p;
        if (count_cells(&numbers, &cursor, end, *c) > 1) return *c;
    }
    return candidates[0];
}

/* ---- header ---- */

/* Of each column: TEXT when a sampled cell is one, else NUMBER when one is, else MISSING. */
static void classify_columns(uint8_t *kinds, const plx__csv_plan *plan, const char *p)
{
    for (int i = 0; i < SAMPLE && p < plan->end; i++) {
        plx__cell_end ended = PLX__CELL_MORE;
        for (plx_index j = 0; ended == PLX__CELL_MORE; j++) {
            plx__cell cell;
            ended = plx__csv_cell(&cell, &p, plan->end, plan->delimiter);
            if (ended == PLX__CELL_BROKEN) return;
            kind k = kind_of(&cell);
            if (j < plan->cols && k > kinds[j]) kinds[j] = (uint8_t)k;
        }
    }
}

/* Is there a text in the first row above numbers? `shift`: row names without a name of their own come first. */
static bool looks_like_header(const plx__csv_plan *plan, const uint8_t *below, plx_index shift)
{
    const char *p = plan->begin;
    plx__cell_end ended = PLX__CELL_MORE;
    for (plx_index j = shift; ended == PLX__CELL_MORE && j < plan->cols; j++) {
        plx__cell cell;
        ended = plx__csv_cell(&cell, &p, plan->end, plan->delimiter);
        if (ended != PLX__CELL_BROKEN && below[j] == NUMBER && kind_of(&cell) == TEXT) return true;
    }
    return false;
}

/* Take the header off: names into the arena, begin and line behind it. */
static plx_status take_header(plx__csv_plan *plan, plx_context *ctx, plx__arena *arena, plx_index shift)
{
    const char *p = plan->begin, **names = NULL;
    plx__text_chunk whole = {.begin = plan->begin, .end = plan->end, .line = plan->line};
    plx__text_pool pool;
    plx__cell cell;
    plx__cell_end ended = PLX__CELL_MORE;
    while (ended == PLX__CELL_MORE) ended = plx__csv_cell(&cell, &p, plan->end, plan->delimiter);
    if (ended == PLX__CELL_BROKEN) return plx__csv_fail_record(ctx, plan, &whole, plan->begin);
    PLX_TRY(PLX__ARENA_NEW(&names, arena, plan->cols));
    PLX_TRY(plx__text_pool_init(&pool, arena, plan->cols, p - plan->begin));
    if (shift) names[0] = plx__text_pool_add(&pool, "", 0);
    p = plan->begin;
    for (plx_index j = shift; j < plan->cols; j++) {
        plx__csv_cell(&cell, &p, plan->end, plan->delimiter);
        if (memchr(cell.text, '\0', cell.len))
            PLX_FAIL(ctx, PLX_E_FORMAT, "%s: line %lld, column %lld: a NUL byte in the header; is this a text file?",
                     plan->name, (long long)plan->line, (long long)j + 1);
        names[j] = plx__cell_copy(&pool, &cell);
    }
    plan->names = names;
    plan->line = plx__text_line(&whole, p);
    plan->begin = p;
    return PLX_OK;
}

/* ---- roles ---- */

static plx_index column_of(const plx__csv_plan *plan, const char *which)
{
    int64_t number = 0;
    for (plx_index j = 0; plan->names && j < plan->cols; j++)
        if (strcmp(plan->names[j], which) == 0) return j;
    if (!plx__parse_int64(&number, which)) return -1;
    if (number >= 1 && number <= plan->cols) return (plx_index)number - 1;
    if (number < 0 && number >= -plan->cols) return plan->cols + (plx_index)number;
    return -1;
}

static plx_status assign(plx__csv_plan *plan, plx_context *ctx, const char *which, plx__csv_role role)
{
    char hint[160];
    if (!which) return PLX_OK;
    plx_index j = column_of(plan, which);
    if (j < 0)
        PLX_FAIL(ctx, PLX_E_DATA, "%s: no column '%s' among the %lld columns%s%s", plan->name, which,
                 (long long)plan->cols, plan->names ? "" : " (the file has no header; give a number from 1)",
                 plx__suggest(hint, sizeof hint, which, plan->names, plan->names ? plan->cols : 0));
    if (plan->role[j] != PLX__ROLE_NUMBER)
        PLX_FAIL(ctx, PLX_E_ARG, "%s: column '%s' is asked for twice, as id, label or text; give each its own",
                 plan->name, which);
    plan->role[j] = (uint8_t)role;
    return PLX_OK;
}

static plx_status assign_roles(plx__csv_plan *plan, plx_context *ctx, const plx__csv_options *o, const uint8_t *below,
                               plx_index shift)
{
    PLX_TRY(assign(plan, ctx, o->id, PLX__ROLE_ID));
    PLX_TRY(assign(plan, ctx, o->label, PLX__ROLE_LABEL));
    PLX_TRY(assign(plan, ctx, o->text, PLX__ROLE_TEXT));
    bool unnamed = plan->names && plan->names[0][0] == '\0';
    bool guess = shift || (o->header == PLX__HEADER_AUTO && (below[0] == TEXT || unnamed));
    if (!o->id && guess && plan->cols > 1 && plan->role[0] == PLX__ROLE_NUMBER) {
        plan->role[0] = PLX__ROLE_ID;
        plan->id_guessed = true;
    }
    return PLX_OK;
}

/* ---- all together ---- */

/* Without a byte order mark in front and empty lines behind. */
static void trim_text(const char **begin, const char **end, const char *data, size_t size)
{
    const char *first = data, *last = data + size;
    if (size >= 3 && memcmp(first, "\xEF\xBB\xBF", 3) == 0) first += 3;
    for (const char *p = last;;) {
        while (p > first && (p[-1] == '\n' || p[-1] == '\r')) p--;
        last = p;
        while (p > first && p[-1] == ' ') p--;
        if (p > first && p[-1] != '\n') break;
        if (p == first || p == last) {
            last = p;
            break;
        }
    }
    *begin = first;
    *end = last;
}

plx_status plx__csv_plan_make(plx__csv_plan *plan, plx_context *ctx, plx__arena *arena, const char *name,
                              const char *data, size_t size, const plx__csv_options *options, bool with_roles)
{
    static const plx__csv_options automatic = {0};
    const plx__csv_options *o = options ? options : &automatic;
    bool numbers = false;
    uint8_t *below = NULL;
    *plan = (plx__csv_plan){.name = name, .line = 1, .hint = o->hint};
    trim_text(&plan->begin, &plan->end, data, size);
    if (plan->begin == plan->end) PLX_FAIL(ctx, PLX_E_FORMAT, "%s: the file is empty, expected a table", name);
    plan->delimiter = o->delimiter ? o->delimiter : find_delimiter(name, plan->begin, plan->end);

    const char *second = plan->begin, *third;
    plx_index first_cells = count_cells(&numbers, &second, plan->end, plan->delimiter), shift = 0;
    plan->cols = first_cells;
    third = second;
    if (second < plan->end && count_cells(&numbers, &third, plan->end, plan->delimiter) == first_cells + 1) shift = 1;
    plan->cols += shift;
    PLX_TRY(plx__arena_u8(&below, plx__scratch(ctx), plan->cols));
    PLX_TRY(plx__arena_u8(&plan->role, arena, plan->cols));
    classify_columns(below, plan, second);
    bool header =
        o->header == PLX__HEADER_YES || (o->header == PLX__HEADER_AUTO && looks_like_header(plan, below, shift));
    if (!header) {
        plan->cols = first_cells;
        shift = 0;
        classify_columns(below, plan, plan->begin);
    } else {
        PLX_TRY(take_header(plan, ctx, arena, shift));
    }
    if (plan->begin >= plan->end) PLX_FAIL(ctx, PLX_E_FORMAT, "%s: no rows below the header", name);
    return with_roles ? assign_roles(plan, ctx, o, below, shift) : PLX_OK;
}
