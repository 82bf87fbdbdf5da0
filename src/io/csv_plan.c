/*
 * What a delimited file is, from its first rows: delimiter, header, and how its columns look.
 */
#include <math.h>
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
static bool fits(bool *all_numbers, char delimiter, const char *p, const char *end, plx_index fewer)
{
    bool numbers = false;
    *all_numbers = true;
    plx_index first = count_cells(&numbers, &p, end, delimiter), width = 0;
    for (int i = 0; i < SAMPLE / 2 && p < end; i++) {
        plx_index cells = count_cells(&numbers, &p, end, delimiter);
        *all_numbers = *all_numbers && numbers;
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
    for (plx_index fewer = 0; fewer < 2; fewer++) {
        char fitting = '\0';
        for (const char *c = candidates; *c; c++) {
            if (!fits(&numbers, *c, p, end, fewer)) continue;
            if (numbers) return *c; /* 1,5;2,5 can be cut at commas, too, but not into numbers */
            if (!fitting) fitting = *c;
        }
        if (fitting) return fitting;
    }
    for (const char *c = candidates; *c != ' '; c++) {
        const char *cursor = p;
        if (count_cells(&numbers, &cursor, end, *c) > 1) return *c;
    }
    return candidates[0];
}

/* ---- header ---- */

static plx_index count_words(const plx__cell *cell)
{
    plx_index words = 0;
    for (size_t i = 0; i < cell->len; i++) {
        bool blank = cell->text[i] == ' ' || cell->text[i] == '\t' || cell->text[i] == '\n';
        bool before = i == 0 || cell->text[i - 1] == ' ' || cell->text[i - 1] == '\t' || cell->text[i - 1] == '\n';
        words += !blank && before;
    }
    return words;
}

/* What one more cell of a column tells; `seen` are the numbers of the column so far. */
static void look_at(plx__column_look *look, const plx__cell *cell, double *seen)
{
    double value = NAN;
    kind k = kind_of(cell);
    if (k == TEXT) look->text = true;
    if (k == NUMBER) look->number = true;
    if (k != NUMBER || !plx__cell_number(&value, cell) || value != floor(value)) look->whole = look->counting = false;
    if (k == MISSING) return;
    for (plx_index i = 0; i < look->cells; i++) look->distinct = look->distinct && seen[i] != value;
    if (value != (look->cells ? seen[0] : value) + (double)look->cells) look->counting = false;
    seen[look->cells++] = value;
    look->words += count_words(cell);
}

/* How the columns look in the first rows from p on. */
static plx_status look_at_columns(plx__column_look **out, plx_context *ctx, const plx__csv_plan *plan, const char *p)
{
    double *seen = NULL;
    PLX_TRY(PLX__ARENA_NEW(out, plx__scratch(ctx), plan->cols));
    PLX_TRY(plx__arena_f64(&seen, plx__scratch(ctx), plan->cols, SAMPLE));
    for (plx_index j = 0; j < plan->cols; j++) (*out)[j] = (plx__column_look){.whole = 1, .distinct = 1, .counting = 1};
    for (int i = 0; i < SAMPLE && p < plan->end; i++) {
        plx__cell_end ended = PLX__CELL_MORE;
        for (plx_index j = 0; ended == PLX__CELL_MORE; j++) {
            plx__cell cell;
            ended = plx__csv_cell(&cell, &p, plan->end, plan->delimiter);
            if (ended == PLX__CELL_BROKEN) return PLX_OK;
            if (j < plan->cols) look_at(&(*out)[j], &cell, seen + j * SAMPLE);
        }
    }
    return PLX_OK;
}

/* Is there a text in the first row above numbers? `shift`: row names without a name of their own come first. */
static bool looks_like_header(const plx__csv_plan *plan, const plx__column_look *below, plx_index shift)
{
    const char *p = plan->begin;
    plx__cell_end ended = PLX__CELL_MORE;
    for (plx_index j = shift; ended == PLX__CELL_MORE && j < plan->cols; j++) {
        plx__cell cell;
        ended = plx__csv_cell(&cell, &p, plan->end, plan->delimiter);
        if (ended != PLX__CELL_BROKEN && below[j].number && !below[j].text && kind_of(&cell) == TEXT) return true;
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

/* A table of texts only, whose first row is made of single words while the rows below hold sentences. */
static bool names_above_sentences(const plx__csv_plan *plan, const plx__column_look *below)
{
    const char *p = plan->begin;
    plx_index words = 0, sentences = 0, j = 0;
    for (plx__cell_end ended = PLX__CELL_MORE; ended == PLX__CELL_MORE; j++) {
        plx__cell cell;
        ended = plx__csv_cell(&cell, &p, plan->end, plan->delimiter);
        if (ended == PLX__CELL_BROKEN || j >= plan->cols) return false;
        words += kind_of(&cell) == TEXT && count_words(&cell) == 1;
        sentences += below[j].words >= 3 * below[j].cells && below[j].cells > 0;
    }
    return words == j && sentences > 0;
}

static bool has_header(const plx__csv_plan *plan, const plx__csv_options *o, const plx__column_look *below,
                       plx_index shift)
{
    if (o->header != PLX__HEADER_AUTO) return o->header == PLX__HEADER_YES;
    return looks_like_header(plan, below, shift) || plx__csv_names_first_row(plan, o) ||
           names_above_sentences(plan, below);
}

/* Is the first row free of broken quotes? */
static bool is_whole(const plx__csv_plan *plan)
{
    const char *p = plan->begin;
    plx__cell cell;
    plx__cell_end ended = PLX__CELL_MORE;
    while (ended == PLX__CELL_MORE) ended = plx__csv_cell(&cell, &p, plan->end, plan->delimiter);
    return ended == PLX__CELL_LAST;
}

/* Does the row at p end with an empty cell? Then one cell more than in the header is a slip, not a row name. */
static bool ends_empty(const plx__csv_plan *plan, const char *p)
{
    plx__cell cell = {0};
    plx__cell_end ended = PLX__CELL_MORE;
    while (ended == PLX__CELL_MORE) ended = plx__csv_cell(&cell, &p, plan->end, plan->delimiter);
    return cell.len == 0 && !cell.quoted;
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
    plx__column_look *look = NULL;
    *plan = (plx__csv_plan){.name = name, .line = 1, .hint = o->hint};
    trim_text(&plan->begin, &plan->end, data, size);
    if (plan->begin == plan->end) PLX_FAIL(ctx, PLX_E_FORMAT, "%s: the file is empty, expected a table", name);
    if (size > 1 && (memcmp(data, "\xff\xfe", 2) == 0 || memcmp(data, "\xfe\xff", 2) == 0))
        PLX_FAIL(ctx, PLX_E_FORMAT, "%s: UTF-16 text, as Excel calls Unicode; save it as UTF-8", name);
    plan->delimiter = o->delimiter ? o->delimiter : find_delimiter(name, plan->begin, plan->end);

    const char *second = plan->begin, *third;
    plx_index first_cells = count_cells(&numbers, &second, plan->end, plan->delimiter), shift = 0;
    plan->cols = first_cells;
    third = second;
    if (second >= plan->end && !numbers && o->header == PLX__HEADER_AUTO && with_roles && is_whole(plan))
        PLX_FAIL(ctx, PLX_E_FORMAT, "%s: no rows below the header", name);
    bool all_numbers = false;
    if (second < plan->end && count_cells(&all_numbers, &third, plan->end, plan->delimiter) == first_cells + 1)
        shift = !ends_empty(plan, second);
    plan->cols += shift;
    PLX_TRY(plx__arena_u8(&plan->role, arena, plan->cols));
    PLX_TRY(look_at_columns(&look, ctx, plan, second));
    if (has_header(plan, o, look, shift)) {
        PLX_TRY(take_header(plan, ctx, arena, shift));
    } else {
        plan->cols = first_cells;
        shift = 0;
        PLX_TRY(look_at_columns(&look, ctx, plan, plan->begin));
    }
    if (plan->begin >= plan->end) PLX_FAIL(ctx, PLX_E_FORMAT, "%s: no rows below the header", name);
    return with_roles ? plx__csv_assign_roles(plan, ctx, o, look, shift, o->header == PLX__HEADER_AUTO) : PLX_OK;
}
