/*
 * Which column of a table plays which part: ids, labels, truth, texts, numbers, or none.
 *
 * What is asked for comes first. The rest is told by names a table usually has and by the looks of the first rows, in the
 * same way whatever else is asked for.
 */
#include <stdio.h>
#include <string.h>

#include "core/number.h"
#include "core/text.h"
#include "io/csv_scan.h"

enum { WORDS_OF_A_TEXT = 3 }; /* cells with as many words on average are sentences */

/* ---- finding columns ---- */

plx_index plx__column_find(const char *const *names, plx_index cols, const char *which)
{
    int64_t number = 0;
    for (plx_index j = 0; names && j < cols; j++)
        if (strcmp(names[j], which) == 0) return j;
    if (!plx__parse_int64(&number, which)) return -1;
    if (number >= 1 && number <= cols) return (plx_index)number - 1;
    if (number < 0 && number >= -cols) return cols + (plx_index)number;
    return -1;
}

static plx_status no_column(const plx__csv_plan *plan, plx_context *ctx, const char *which)
{
    char hint[160];
    PLX_FAIL(ctx, PLX_E_DATA, "%s: no column '%s' among the %lld columns%s%s", plan->name, which, (long long)plan->cols,
             plan->names ? "" : " (the file has no header; give a number from 1)",
             plx__suggest(hint, sizeof hint, which, plan->names, plan->names ? plan->cols : 0));
}

/* Sets the flags of the columns an item of a list stands for: a column, 2-5, or gene*. */
static bool mark_item(uint8_t *flags, const plx__csv_plan *plan, const char *item)
{
    size_t len = strlen(item);
    int64_t from = 0, to = 0;
    plx_index j = plx__column_find(plan->names, plan->cols, item), found = 0;
    if (j >= 0) {
        flags[j] = 1;
        return true;
    }
    const char *dash = plx__read_int64(&from, item, item + len);
    if (dash && *dash == '-' && plx__read_int64(&to, dash + 1, item + len) == item + len && from >= 1 && from <= to &&
        to <= plan->cols) {
        memset(flags + from - 1, 1, (size_t)(to - from + 1));
        return true;
    }
    for (j = 0; len > 0 && item[len - 1] == '*' && j < plan->cols; j++)
        if (len == 1 || (plan->names && strncmp(plan->names[j], item, len - 1) == 0)) {
            flags[j] = 1;
            found++;
        }
    return found > 0;
}

/* A column that is not here is an error, unless other files may have it. */
static plx_status note_item(const plx__csv_plan *plan, plx_context *ctx, const char *item, bool here, plx__map *found)
{
    plx_index existing = -1;
    if (!found) return here ? PLX_OK : no_column(plan, ctx, item);
    return here ? plx__map_add(found, item, 1, &existing) : PLX_OK;
}

/* Flags of the columns of a list. A name that holds a comma is found when it is the whole list. */
static plx_status mark_list(uint8_t **out, const plx__csv_plan *plan, plx_context *ctx, const char *list,
                            plx__map *found)
{
    PLX_TRY(plx__arena_u8(out, plx__scratch(ctx), plan->cols));
    plx_index whole = plx__column_find(plan->names, plan->cols, list);
    if (whole >= 0) {
        (*out)[whole] = 1;
        return note_item(plan, ctx, list, true, found);
    }
    while (*list) {
        const char *item = NULL;
        size_t len = strcspn(list, ",");
        PLX_TRY(plx__arena_textn(&item, plx__scratch(ctx), list, len));
        if (len) PLX_TRY(note_item(plan, ctx, item, mark_item(*out, plan, item), found));
        list += len + (list[len] == ',');
    }
    return PLX_OK;
}

static bool list_names(const char *list, const plx__cell *cell)
{
    double number;
    if (!list || !cell->len || plx__cell_number(&number, cell)) return false;
    if (strlen(list) == cell->len && memcmp(list, cell->text, cell->len) == 0) return true;
    for (; *list; list += strcspn(list, ","), list += *list == ',')
        if (strcspn(list, ",") == cell->len && memcmp(list, cell->text, cell->len) == 0) return true;
    return false;
}

bool plx__csv_names_first_row(const plx__csv_plan *plan, const plx__csv_options *o)
{
    const char *const asked[] = {o->id, o->label, o->truth, o->text, o->columns, o->drop};
    const char *p = plan->begin;
    plx__cell_end ended = PLX__CELL_MORE;
    while (ended == PLX__CELL_MORE) {
        plx__cell cell;
        ended = plx__csv_cell(&cell, &p, plan->end, plan->delimiter);
        for (size_t k = 0; k < sizeof asked / sizeof *asked; k++)
            if (list_names(asked[k], &cell)) return true;
    }
    return false;
}

/* ---- what is asked for ---- */

static plx_status assign(plx__csv_plan *plan, plx_context *ctx, plx_index j, plx__csv_role role)
{
    char where[128];
    if (plan->role[j] != PLX__ROLE_NUMBER)
        PLX_FAIL(ctx, PLX_E_ARG, "%s: %s is asked for twice, as id, label, truth, text or left out; give each its own",
                 plan->name, plx__csv_column_text(where, sizeof where, plan, j));
    plan->role[j] = (uint8_t)role;
    return PLX_OK;
}

static plx_status assign_one(plx__csv_plan *plan, plx_context *ctx, const char *which, plx__csv_role role,
                             plx__map *found)
{
    if (!which) return PLX_OK;
    plx_index j = plx__column_find(plan->names, plan->cols, which);
    PLX_TRY(note_item(plan, ctx, which, j >= 0, found));
    return j < 0 ? PLX_OK : assign(plan, ctx, j, role);
}

static plx_status assign_list(plx__csv_plan *plan, plx_context *ctx, const char *list, plx__csv_role role,
                              plx__map *found)
{
    uint8_t *flags = NULL;
    if (!list) return PLX_OK;
    PLX_TRY(mark_list(&flags, plan, ctx, list, found));
    for (plx_index j = 0; j < plan->cols; j++)
        if (flags[j]) PLX_TRY(assign(plan, ctx, j, role));
    return PLX_OK;
}

/* ---- what is recognised ---- */

static bool is_word(const char *name, const char *word)
{
    return strlen(name) == strlen(word) && plx__same_letters(name, word, strlen(word));
}

static bool is_sentences(const plx__column_look *look)
{
    return look->text && look->words >= WORDS_OF_A_TEXT * look->cells;
}

/* The first column of that name; `no_numbers`: if the first rows have no number there. */
static bool recognise_name(plx__csv_plan *plan, const char *name, plx__csv_role role, const plx__column_look *look,
                           bool no_numbers)
{
    for (plx_index j = 0; j < plan->cols; j++)
        if (plan->role[j] == PLX__ROLE_NUMBER && is_word(plan->names[j], name) && !(no_numbers && look[j].number)) {
            plan->role[j] = (uint8_t)role;
            return true;
        }
    return false;
}

/* Names that mean labels whatever is below them, and such that might as well be measured. */
static void recognise_labels(plx__csv_plan *plan, const plx__column_look *look)
{
    static const char *const always[] = {"label", "labels", "class", "target"};
    static const char *const texts[] = {"category", "diagnosis", "outcome", "species", "group", "type", "y"};
    bool found = false;
    for (size_t k = 0; !found && k < sizeof always / sizeof *always; k++)
        found = recognise_name(plan, always[k], PLX__ROLE_LABEL, look, false);
    for (size_t k = 0; !found && k < sizeof texts / sizeof *texts; k++)
        found = recognise_name(plan, texts[k], PLX__ROLE_LABEL, look, true);
}

static bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

/* patient_id, "Sample ID", SubjectId, id_no: `id` as a word of its own; not humid, width or idle. */
bool plx__names_ids(const char *name)
{
    size_t n = strlen(name);
    if (n < 2) return false;
    const char *end = name + n - 2;
    bool own_word = end == name || !is_letter(end[-1]) || (end[0] == 'I' && end[-1] >= 'a');
    return (plx__same_letters(end, "id", 2) && own_word) || (plx__same_letters(name, "id", 2) && !is_letter(name[2]));
}

static bool named_number_ids(const plx__csv_plan *plan, const plx__column_look *look)
{
    return plan->names && plx__names_ids(plan->names[0]) && look->whole && look->distinct;
}

/* The first column names the rows when it has no name, when it holds distinct texts, or distinct whole numbers and its name
 * speaks of ids. */
static void recognise_ids(plx__csv_plan *plan, const plx__csv_options *o, const plx__column_look *look, plx_index shift)
{
    if (o->id || plan->cols < 2 || plan->role[0] != PLX__ROLE_NUMBER) return;
    bool unnamed = plan->names && plan->names[0][0] == '\0', numbers = named_number_ids(plan, look);
    bool texts = look[0].text && !is_sentences(&look[0]);
    if (!shift && !(o->header == PLX__HEADER_AUTO && (unnamed || texts || numbers))) return;
    plan->role[0] = PLX__ROLE_ID;
    plan->id_guessed = true;
    plan->id_number = numbers && !texts;
}

static bool is_known_text(const plx__csv_plan *plan, const plx__csv_options *o, const plx__column_look *look,
                          plx_index j)
{
    for (plx_index k = 0; look->text && plan->names && k < o->n_known_texts; k++)
        if (strcmp(plan->names[j], o->known_texts[k]) == 0) return true;
    return false;
}

static void recognise_rest(plx__csv_plan *plan, const plx__csv_options *o, const plx__column_look *look)
{
    if (plan->names && !o->label) recognise_labels(plan, look);
    if (plan->names && !o->truth) recognise_name(plan, "truth", PLX__ROLE_TRUTH, look, false);
    for (plx_index j = 0; j < plan->cols; j++)
        if (plan->role[j] == PLX__ROLE_NUMBER && (is_sentences(&look[j]) || is_known_text(plan, o, &look[j], j)))
            plan->role[j] = PLX__ROLE_TEXT;
}

/* Only the columns of the list are read; those among them that are no numbers are texts. A column that was taken for ids is
 * what the list asks for, unless that is everything. */
static plx_status keep_columns(plx__csv_plan *plan, plx_context *ctx, const char *list, const plx__column_look *look)
{
    uint8_t *kept = NULL;
    if (!list) return PLX_OK;
    PLX_TRY(mark_list(&kept, plan, ctx, list, NULL));
    if (kept[0] && plan->id_number && strcmp(list, "*") != 0) {
        plan->role[0] = PLX__ROLE_NUMBER;
        plan->id_guessed = plan->id_number = false;
    }
    for (plx_index j = 0; j < plan->cols; j++) {
        bool guessed_id = plan->role[j] == PLX__ROLE_ID && plan->id_guessed;
        if (kept[j] && look[j].text && (plan->role[j] == PLX__ROLE_NUMBER || guessed_id)) {
            plan->role[j] = PLX__ROLE_TEXT;
            if (guessed_id) plan->id_guessed = false;
        } else if (!kept[j] && (plan->role[j] == PLX__ROLE_NUMBER || plan->role[j] == PLX__ROLE_TEXT)) {
            plan->role[j] = PLX__ROLE_NONE;
        }
    }
    return PLX_OK;
}

/* A first column that counts the rows, or whose name says so, is most likely no feature. */
static bool seems_an_id(const plx__csv_plan *plan, const plx__column_look *look)
{
    if (plan->role[0] != PLX__ROLE_NUMBER || plan->cols < 2 || !plan->names || look->cells < 3) return false;
    return look->counting || named_number_ids(plan, look);
}

static void warn_of_numbers(const plx__csv_plan *plan, plx_context *ctx, const plx__column_look *look)
{
    char where[128];
    if (plan->id_number)
        plx__warn(ctx, "%s: %s holds distinct whole numbers and is taken for the sample ids, not for a feature",
                  plan->name, plx__csv_column_text(where, sizeof where, plan, 0));
    else if (seems_an_id(plan, look))
        plx__warn(ctx, "%s: %s %s and is read as a feature; if it is an id, name it as the id column or leave it out",
                  plan->name, plx__csv_column_text(where, sizeof where, plan, 0),
                  look[0].counting ? "counts the rows" : "holds distinct whole numbers");
}

plx_status plx__csv_assign_roles(plx__csv_plan *plan, plx_context *ctx, const plx__csv_options *o,
                                 const plx__column_look *look, plx_index shift, bool recognise)
{
    PLX_TRY(assign_one(plan, ctx, o->id, PLX__ROLE_ID, NULL));
    PLX_TRY(assign_one(plan, ctx, o->label, PLX__ROLE_LABEL, o->found));
    PLX_TRY(assign_one(plan, ctx, o->truth, PLX__ROLE_TRUTH, o->found));
    PLX_TRY(assign_list(plan, ctx, o->text, PLX__ROLE_TEXT, o->found));
    PLX_TRY(assign_list(plan, ctx, o->drop, PLX__ROLE_NONE, o->found));
    recognise_ids(plan, o, look, shift);
    if (recognise) recognise_rest(plan, o, look);
    PLX_TRY(keep_columns(plan, ctx, o->columns, look));
    if (recognise) warn_of_numbers(plan, ctx, look);
    plan->look = look;
    return PLX_OK;
}
