/*
 * Reading an explanation: cells, and all of it as JSON.
 */
#include <math.h>
#include <string.h>

#include "api/api_args.h"
#include "core/json.h"
#include "core/text.h"
#include "explain/explanation.h"

void plx_explanation_destroy(plx_explanation *e) { plx__explanation_free(e); }
plx_index plx_explanation_sections(const plx_explanation *e) { return e ? e->count : 0; }

const char *plx_explanation_key(const plx_explanation *e, plx_index i)
{
    const plx__section *s = plx__section_at(e, i);
    return s ? s->key : NULL;
}

const char *plx_explanation_title(const plx_explanation *e, plx_index i)
{
    const plx__section *s = plx__section_at(e, i);
    return s ? s->title : NULL;
}

const char *plx_explanation_note(const plx_explanation *e, plx_index i)
{
    const plx__section *s = plx__section_at(e, i);
    return s ? s->note : NULL;
}

plx_index plx_explanation_find(const plx_explanation *e, const char *key)
{
    plx_index i = 0;
    for (const plx__section *s = e && key ? e->first : NULL; s; s = s->next, i++)
        if (strcmp(s->key, key) == 0) return i;
    return -1;
}

plx_index plx_explanation_rows(const plx_explanation *e, plx_index i)
{
    const plx__section *s = plx__section_at(e, i);
    return s ? s->rows : 0;
}

plx_index plx_explanation_columns(const plx_explanation *e, plx_index i)
{
    const plx__section *s = plx__section_at(e, i);
    return s ? s->cols : 0;
}

const char *plx_explanation_column(const plx_explanation *e, plx_index i, plx_index column)
{
    const plx__section *s = plx__section_at(e, i);
    return s && column >= 0 && column < s->cols ? s->column[column] : NULL;
}

static const plx__cell *cell_at(const plx_explanation *e, plx_index i, plx_index row, plx_index column)
{
    const plx__section *s = plx__section_at(e, i);
    if (!s || row < 0 || row >= s->rows || column < 0 || column >= s->cols) return NULL;
    return &s->cell[row * s->cols + column];
}

const char *plx_explanation_text(const plx_explanation *e, plx_index i, plx_index row, plx_index column)
{
    const plx__cell *c = cell_at(e, i, row, column);
    return c ? c->text : NULL;
}

double plx_explanation_number(const plx_explanation *e, plx_index i, plx_index row, plx_index column)
{
    const plx__cell *c = cell_at(e, i, row, column);
    return c && !c->text ? c->number : NAN;
}

/* ---- JSON ---- */

static plx_status put(plx_context *ctx, json_t *object, const char *key, json_t *value)
{
    const char *safe = NULL;
    plx_status st = plx__utf8(&safe, plx__scratch(ctx), key);
    if (st == PLX_OK && value && json_object_set_new(object, safe, value) == 0) return PLX_OK;
    if (st != PLX_OK) json_decref(value);
    return st != PLX_OK ? st : plx__fail(ctx, PLX_E_NOMEM, "out of memory while writing JSON");
}

static plx_status put_text(plx_context *ctx, json_t *object, const char *key, const char *text)
{
    const char *safe = NULL;
    PLX_TRY(plx__utf8(&safe, plx__scratch(ctx), text));
    return put(ctx, object, key, json_string(safe));
}

static json_t *number_json(double x)
{
    return x == floor(x) && fabs(x) < 1e15 ? json_integer((json_int_t)x) : plx__json_real(x);
}

static plx_status put_section(plx_context *ctx, json_t *root, const plx__section *s)
{
    json_t *object = json_object(), *rows = json_array();
    PLX_TRY(put(ctx, root, s->key, object));
    PLX_TRY(put_text(ctx, object, "title", s->title));
    if (s->note[0]) PLX_TRY(put_text(ctx, object, "note", s->note));
    PLX_TRY(put(ctx, object, "rows", rows));
    for (plx_index r = 0; r < s->rows; r++) {
        json_t *row = json_object();
        if (json_array_append_new(rows, row) != 0) PLX_FAIL(ctx, PLX_E_NOMEM, "out of memory while writing JSON");
        for (plx_index c = 0; c < s->cols; c++) {
            const plx__cell *cell = &s->cell[r * s->cols + c];
            if (cell->text) PLX_TRY(put_text(ctx, row, s->column[c], cell->text));
            else PLX_TRY(put(ctx, row, s->column[c], number_json(cell->number)));
        }
    }
    return PLX_OK;
}

static plx_status explanation_json(const char **text, plx_context *ctx, plx_explanation *e)
{
    json_t *root = json_object();
    plx_status st = root ? PLX_OK : plx__fail(ctx, PLX_E_NOMEM, "out of memory while writing JSON");
    for (const plx__section *s = e->first; st == PLX_OK && s; s = s->next) st = put_section(ctx, root, s);
    if (st == PLX_OK) {
        plx__arena_free(&e->json_arena);
        st = plx__json_print(text, &e->json_arena, root);
    }
    json_decref(root);
    return st;
}

plx_status plx_explanation_json(const char **text, plx_context *ctx, plx_explanation *explanation)
{
    if (text) *text = NULL;
    PLX__CALL(ctx, explanation_json(text, ctx, explanation), PLX__ARG(text), PLX__ARG(explanation));
}
