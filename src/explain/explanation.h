/*
 * An explanation: a list of sections, each a table of texts and numbers. Everything is in its arena.
 */
#ifndef PLX_EXPLAIN_EXPLANATION_H
#define PLX_EXPLAIN_EXPLANATION_H

#include "core/ctx.h"
#include "parallax/explain.h"

typedef struct plx__cell {
    const char *text; /* NULL: a number */
    double number;
} plx__cell;

typedef struct plx__section {
    struct plx__section *next;
    plx__arena *arena;
    const char *key, *title, *note;
    plx_index cols, rows, capacity;
    const char **column;
    plx__cell *cell; /* rows x cols */
} plx__section;

struct plx_explanation {
    plx__arena arena, json_arena;
    plx__section *first, **tail;
    plx_index count;
};

plx_status plx__explanation_create(plx_explanation **out, plx_context *ctx);
void plx__explanation_free(plx_explanation *e);

/* Columns as a list of names separated by |. Title and note are copied. */
plx_status plx__section_add(plx__section **out, plx_explanation *e, const char *key, const char *title,
                            const char *columns);
plx_status plx__section_note(plx__section *s, const char *fmt, ...) PLX_PRINTF(2, 3);
/* One more column, before the first row. */
plx_status plx__section_column(plx__section *s, const char *name);

/* A row, all cells copied. */
plx_status plx__section_row(plx__section *s, const plx__cell *cells);

static inline plx__cell plx__cell_text(const char *text) { return (plx__cell){text, 0}; }
static inline plx__cell plx__cell_number(double number) { return (plx__cell){NULL, number}; }

const plx__section *plx__section_at(const plx_explanation *e, plx_index i);

#endif
