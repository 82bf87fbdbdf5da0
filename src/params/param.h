/*
 * Parameters: one table per method says what can be set; a plx_params holds what was set.
 *
 * Scalar parameters are filled into the method's own struct before it runs (offset). Per-view ones
 * are looked up by view name, because their number depends on the data: plx__view_value().
 */
#ifndef PLX_PARAMS_PARAM_H
#define PLX_PARAMS_PARAM_H

#include <math.h>

#include "core/text.h"
#include "parallax/method.h"
#include "parallax/params.h"

enum {
    PLX__PER_VIEW = 1u << 0,
    PLX__ABOVE_LO = 1u << 1, /* lo itself is not allowed */
    PLX__BELOW_HI = 1u << 2, /* hi itself is not allowed */
    PLX__NO_FIELD = 1u << 3, /* looked up by name, not filled into the struct */
    PLX__INT_FIELD = 1u << 4 /* a number or word whose field is a plx_index: -1 when it is not set, -2 for a word */
};

typedef struct plx__param_spec {
    const char *name;
    plx_param_kind kind;
    unsigned flags;
    size_t offset;   /* into the method's params struct */
    const char *def; /* default as text; "" = not set */
    double lo, hi;
    const char *words; /* "a|b|c" for choices and words, else NULL */
    const char *help;  /* one sentence; says what larger means */
} plx__param_spec;

/* A parsed value. For choices and words `word` is the index into `words`, else -1. */
typedef struct plx__value {
    int word;
    double number;
    const char *text;   /* as given; "" = not set */
    const double *list; /* PLX_PARAM_REALS */
    plx_index n_list;
} plx__value;

/* Rows of a table. Field types: plx_index, double, bool, int (choice), const char *, plx__value. */
#define PLX__INT(T, f, def, lo, hi, help)                                                                              \
    {                                                                                                                  \
#f, PLX_PARAM_INT, 0, offsetof(T, f), def, lo, hi, NULL, help                                                  \
    }
#define PLX__REAL(T, f, def, lo, hi, help)                                                                             \
    {                                                                                                                  \
#f, PLX_PARAM_REAL, 0, offsetof(T, f), def, lo, hi, NULL, help                                                 \
    }
#define PLX__REAL_ABOVE(T, f, def, lo, help)                                                                           \
    {                                                                                                                  \
#f, PLX_PARAM_REAL, PLX__ABOVE_LO, offsetof(T, f), def, lo, INFINITY, NULL, help                               \
    }
#define PLX__BOOL(T, f, def, help)                                                                                     \
    {                                                                                                                  \
#f, PLX_PARAM_BOOL, 0, offsetof(T, f), def, 0, 1, NULL, help                                                   \
    }
#define PLX__CHOICE(T, f, def, words, help)                                                                            \
    {                                                                                                                  \
#f, PLX_PARAM_CHOICE, 0, offsetof(T, f), def, 0, 0, words, help                                                \
    }
#define PLX__TEXT(T, f, def, help)                                                                                     \
    {                                                                                                                  \
#f, PLX_PARAM_TEXT, 0, offsetof(T, f), def, 0, 0, NULL, help                                                   \
    }
#define PLX__FILE(T, f, help)                                                                                          \
    {                                                                                                                  \
#f, PLX_PARAM_FILE, 0, offsetof(T, f), "", 0, 0, NULL, help                                                    \
    }
#define PLX__REALS(T, f, def, lo, hi, words, help)                                                                     \
    {                                                                                                                  \
#f, PLX_PARAM_REALS, 0, offsetof(T, f), def, lo, hi, words, help                                               \
    }
#define PLX__PARAM_END                                                                                                 \
    {                                                                                                                  \
        NULL, PLX_PARAM_INT, 0, 0, NULL, 0, 0, NULL, NULL                                                              \
    }

/* Per-view rows: no field, looked up with plx__view_value. */
#define PLX__VIEW_REAL_OR(name, def, lo, flags, words, help)                                                           \
    {                                                                                                                  \
        name, PLX_PARAM_REAL_OR_WORD, PLX__PER_VIEW | PLX__NO_FIELD | (flags), 0, def, lo, INFINITY, words, help       \
    }
#define PLX__VIEW_INT(name, def, lo, hi, help)                                                                         \
    {                                                                                                                  \
        name, PLX_PARAM_INT, PLX__PER_VIEW | PLX__NO_FIELD, 0, def, lo, hi, NULL, help                                 \
    }
#define PLX__VIEW_CHOICE(name, def, words, help)                                                                       \
    {                                                                                                                  \
        name, PLX_PARAM_CHOICE, PLX__PER_VIEW | PLX__NO_FIELD, 0, def, 0, 0, words, help                               \
    }
#define PLX__VIEW_REAL(name, def, lo, flags, help)                                                                     \
    {                                                                                                                  \
        name, PLX_PARAM_REAL, PLX__PER_VIEW | PLX__NO_FIELD | (flags), 0, def, lo, INFINITY, NULL, help                \
    }

/* A table may be made of shared parts: a list of tables, NULL at the end. */
typedef const plx__param_spec *plx__param_table;

typedef struct plx__setting {
    struct plx__setting *next;
    const plx__param_spec *spec;
    const char *view; /* NULL: for all views */
    plx__value value;
} plx__setting;

struct plx_params {
    plx__arena arena;
    const char *method; /* for messages */
    const plx__param_table *tables;
    plx__setting *first; /* what was set, in order of first setting */
};

/* ---- tables ---- */
plx_index plx__param_count(const plx__param_table *tables);
const plx__param_spec *plx__param_at(const plx__param_table *tables, plx_index i);
const plx__param_spec *plx__param_find(const plx__param_table *tables, const char *name);
/* The same by any case of letters and by common synonyms, as settings may be called. */
const plx__param_spec *plx__param_lookup(const plx__param_table *tables, const char *key);

/* The row of `key`, or of `name` in `name.VIEW`, with *view after the dot then (NULL otherwise); NULL: there is none. */
const plx__param_spec *plx__param_locate(const plx__param_table *tables, const char *key, const char **view);
/* Allowed values in words, into a buffer of the caller. */
const char *plx__param_range(char *out, size_t bytes, const plx__param_spec *spec);

/* ---- settings ---- */
void plx__params_destroy(plx_params *params);
plx_status plx__params_create(plx_params **out, plx_context *ctx, const char *method, const plx__param_table *tables);
plx_status plx__params_set(plx_params *params, plx_context *ctx, const char *key, const char *value);
plx_status plx__params_copy(plx_params **out, plx_context *ctx, const plx_params *from);

/* Every `key.VIEW` must name one of the views (or of the extra names, e.g. "concat"). */
plx_status plx__params_check_views(const plx_params *params, plx_context *ctx, const char *const *views,
                                   plx_index n_views, const char *const *extra, plx_index n_extra);

/* Values of all parameters with a field, into the method's struct (defaults included). Texts and lists
 * point into `params` or `arena`. */
plx_status plx__params_fill(void *to, plx_context *ctx, plx__arena *arena, const plx_params *params);

/* Value for a view (NULL: the plain one): the view's own, else the plain one, else the default.
 * PLX_E_INTERNAL when the table has no such row. */
plx_status plx__view_value(plx__value *out, plx_context *ctx, const plx_params *params, const char *name,
                           const char *view);

/* Where the value comes from: 2 = set for the view, 1 = set for all, 0 = default, -1 = no such parameter. */
int plx__view_value_level(const plx_params *params, const char *name, const char *view);

/* Index of `word` in "a|b|c", or -1; and the word at an index, into a buffer. */
int plx__word_index(const char *words, const char *word);

#endif
