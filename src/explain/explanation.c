/*
 * Columns are declared before the first row; cells are appended row by row and found by number.
 */
#include "explain/explanation.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

plx_status plx__explanation_create(plx_explanation **out, plx_context *ctx)
{
    plx_explanation *e = plx__alloc(ctx, sizeof *e);
    *out = NULL;
    if (!e) PLX_FAIL(ctx, PLX_E_NOMEM, "out of memory");
    *e = (plx_explanation){0};
    plx__arena_init(&e->arena, ctx);
    plx__arena_init(&e->json_arena, ctx);
    e->tail = &e->first;
    *out = e;
    return PLX_OK;
}

void plx__explanation_free(plx_explanation *e)
{
    if (!e) return;
    plx_context *ctx = e->arena.ctx;
    plx__arena_free(&e->json_arena);
    plx__arena_free(&e->arena);
    plx__release(ctx, e, sizeof *e);
}

plx_status plx__section_column(plx__section *s, const char *name)
{
    const char **more = NULL;
    PLX_ASSERT(s->rows == 0);
    PLX_TRY(PLX__ARENA_NEW(&more, s->arena, s->cols + 1));
    if (s->cols) memcpy(more, s->column, (size_t)s->cols * sizeof *more);
    PLX_TRY(plx__arena_text(&more[s->cols], s->arena, name));
    s->column = more;
    s->cols++;
    return PLX_OK;
}

plx_status plx__section_add(plx__section **out, plx_explanation *e, const char *key, const char *title,
                            const char *columns)
{
    plx__section *s = NULL;
    PLX_TRY(PLX__ARENA_NEW(&s, &e->arena, 1));
    s->arena = &e->arena;
    s->note = "";
    PLX_TRY(plx__arena_text(&s->key, &e->arena, key));
    PLX_TRY(plx__arena_text(&s->title, &e->arena, title));
    for (const char *at = columns; *at;) {
        size_t length = strcspn(at, "|");
        const char *name = NULL;
        PLX_TRY(plx__arena_textn(&name, &e->arena, at, length));
        PLX_TRY(plx__section_column(s, name));
        at += length + (at[length] == '|');
    }
    *e->tail = s;
    e->tail = &s->next;
    e->count++;
    *out = s;
    return PLX_OK;
}

plx_status plx__section_note(plx__section *s, const char *fmt, ...)
{
    char text[1024];
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    if (!s->note[0]) return plx__arena_text(&s->note, s->arena, text);
    return plx__arena_printf(&s->note, s->arena, "%s %s", s->note, text);
}

plx_status plx__section_row(plx__section *s, const plx__cell *cells)
{
    if (s->rows == s->capacity) {
        plx__cell *more = NULL;
        plx_index capacity = 2 * s->capacity + 16;
        PLX_TRY(PLX__ARENA_NEW(&more, s->arena, capacity * s->cols));
        if (s->rows) memcpy(more, s->cell, (size_t)(s->rows * s->cols) * sizeof *more);
        s->cell = more;
        s->capacity = capacity;
    }
    plx__cell *row = s->cell + s->rows * s->cols;
    for (plx_index c = 0; c < s->cols; c++) {
        row[c] = cells[c];
        if (cells[c].text) PLX_TRY(plx__arena_text(&row[c].text, s->arena, cells[c].text));
    }
    s->rows++;
    return PLX_OK;
}

const plx__section *plx__section_at(const plx_explanation *e, plx_index i)
{
    const plx__section *s = e && i >= 0 ? e->first : NULL;
    for (; s && i > 0; i--) s = s->next;
    return s;
}
