/*
 * The views a table holds: its numbers, and every column of text counted word by word.
 */
#ifndef PLX_IO_TABLE_VIEWS_H
#define PLX_IO_TABLE_VIEWS_H

#include "io/join.h"
#include "io/text_counts.h"

/* How text is counted. */
typedef struct plx__text_recipe {
    const char *view;    /* NULL: of any view */
    const char *options; /* see plx__text_options_parse() */
} plx__text_recipe;

/* A reading as it was asked for, and what only the library itself asks for. */
typedef struct plx__read_request {
    plx_read_options o;
    const plx__text_recipe *fitted; /* how a model's views were counted: the words it knows are its own choice */
    plx_index n_fitted;
    plx__map *found; /* columns of o.label, o.truth, o.text and o.drop that a file had; NULL: all must be in the file */
    int depth;       /* of a part within parts (manifest_parts.c) */
} plx__read_request;

/* The options text is counted with: `options`, else those of the request, else those of the fitted view of that name,
 * without its choice of frequent words. */
plx_status plx__text_recipe_for(plx__text_options *out, const char **as_text, plx_context *ctx, plx__arena *arena,
                                const plx__read_request *request, const char *view, const char *options);

/* Appends to `views` (room for 1 + table->n_texts) what the table holds. `name` is that of the numbers; a text column is
 * called like the column, or `name` when `named` and there is nothing else. Rows have the table's names as ids. */
plx_status plx__table_views(plx__loose_view *views, plx_index *count, plx_context *ctx, plx__arena *arena,
                            const plx__table *table, const char *file, const char *name, bool named,
                            const char *options, const plx__read_request *request);

/* A name a view may have: what is not allowed becomes '_'. */
plx_status plx__view_name(const char **out, plx__arena *arena, const char *text, size_t len);

#endif
