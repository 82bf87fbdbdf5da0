/*
 * What the synthetic generators share: the table of their settings, the data set under construction,
 * and topics, the word distributions behind every text view.
 *
 * A generator is a table of settings and one function; generate.c lists them.
 */
#ifndef PLX_DATA_GENERATE_IMPL_H
#define PLX_DATA_GENERATE_IMPL_H

#include "core/rng.h"
#include "data/split_impl.h"
#include "params/param.h"
#include "parallax/generate.h"

/* ---- settings ---- */

/* A row of a generator's table: INT, REAL, BOOL, REALS (may be empty), CHOICE or TEXT. */
#define PLX__GEN_ROW(name, kind, def, lo, hi, words, help)                                                             \
    {                                                                                                                  \
        name, PLX_PARAM_##kind, PLX__NO_FIELD, 0, def, lo, hi, words, help                                             \
    }

struct plx__generator;

typedef struct plx__gen_settings {
    const char *name; /* of the generator */
    plx__param_table tables[3];
    plx_params *params; /* what was set; the values below point into it */
    plx__value *values; /* of all parameters, in the order of the tables */
} plx__gen_settings;

/* The generator's own table, the one all have, NULL. */
void plx__gen_tables(plx__param_table tables[3], const struct plx__generator *g);

/* Read texts "key=value" over the defaults and check them. `out->params` is the caller's to destroy, also on failure. */
plx_status plx__gen_read_settings(plx__gen_settings *out, plx_context *ctx, const struct plx__generator *g,
                                  const char *const *settings, plx_index count);

/* Values by name; the name must be in the table. */
plx_index plx__gen_int(const plx__gen_settings *s, const char *name);
double plx__gen_real(const plx__gen_settings *s, const char *name);
bool plx__gen_flag(const plx__gen_settings *s, const char *name);
const char *plx__gen_text(const plx__gen_settings *s, const char *name);
bool plx__gen_is(const plx__gen_settings *s, const char *name, const char *text);
plx_index plx__gen_count(const plx__gen_settings *s, const char *name);

/* Number k of a list; past the end the last one counts, so that one number serves all views. */
double plx__gen_at(const plx__gen_settings *s, const char *name, plx_index k);

/* ---- the data set under construction ---- */

typedef struct plx__gen_run {
    plx_context *ctx;
    plx__gen_settings set;
    plx_dataset *data; /* NULL before plx__gen_begin; destroyed by the caller on failure */
    plx_index n, views;
    uint8_t *present; /* views x n */
} plx__gen_run;

typedef struct plx__generator {
    const char *name, *summary;
    const plx__param_spec *params;
    plx_status (*make)(plx__gen_run *run);
} plx__generator;

extern const plx__generator plx__gen_two_gauss, plx__gen_irrelevant_view, plx__gen_xor, plx__gen_moons_lines,
    plx__gen_topic_text, plx__gen_links, plx__gen_ontology;

/* Generator number k, NULL past the end. */
const plx__generator *plx__generator_at(plx_index k);

/* plx_generate() inside a running call. */
plx_status plx__generate(plx_dataset **out, plx_context *ctx, const char *kind, const char *const *settings,
                         plx_index n_settings);

/* Create the data set, give it ids when asked and draw which rows are missing. */
plx_status plx__gen_begin(plx__gen_run *run, plx_index n, plx_index views);

enum { PLX__GEN_ID_DIGITS = 4 };

/* Add the next view; values of rows that are missing do not matter. Feature names, when asked for, are `letter` and a
 * number of at least `digits` digits. */
plx_status plx__gen_add_dense(plx__gen_run *run, const char *name, plx_mat values);
plx_status plx__gen_add_sparse(plx__gen_run *run, const char *name, plx_view_kind kind, plx_csr values,
                               const char *letter, int digits);

/* Set the truth, one name per class; with labels as `labelled` says, chosen inside the groups of
 * `strata` (NULL: inside the classes). */
plx_status plx__gen_truth(plx__gen_run *run, const char *const *truth, const plx__strata *strata);

/* count texts LETTER + number with leading zeros, so that byte order is numeric order; at least `width` digits. */
plx_status plx__gen_names(const char *const **out, plx__arena *arena, const char *letter, plx_index count, int width);

/* ---- text ---- */

/* Word distributions as alias tables: `count` topics, and the Zipf law they were drawn around as topic `count`. */
typedef struct plx__alias_cell {
    uint32_t cut;  /* keep the word when a 32-bit coin is <= cut */
    int32_t other; /* else take this one */
} plx__alias_cell;

typedef struct plx__topics {
    plx_index count, cols;
    const plx__alias_cell *cells; /* (count + 1) x cols */
} plx__topics;

/* Topic k ~ Dirichlet(concentration * zipf), zipf_w proportional to 1 / (w + 1). */
plx_status plx__topics_draw(plx__topics *out, plx_context *ctx, plx__arena *arena, plx_index count, plx_index cols,
                            double concentration, plx_index view);

enum { PLX__ANY_WORD = -1 };

/* Topic of a token of document `row` from a number u in (0,1), or PLX__ANY_WORD: all words alike. */
typedef plx_index (*plx__topic_fn)(const void *arg, plx_index row, double u);

/* Documents of max(1, Poisson(length)) tokens each, as counts; rows that are not present are empty. */
plx_status plx__topics_write(plx_csr *out, plx_context *ctx, plx__arena *arena, const plx__topics *topics,
                             plx_index rows, double length, plx_index view, const uint8_t *present, plx__topic_fn pick,
                             const void *arg);

/* Settings every generator with text has (features, length, overlap, noise, concentration). */
#define PLX__GEN_TEXT_PARAMS                                                                                           \
    PLX__GEN_ROW("features", REALS, "1000", 1, 10000000, NULL, "Words in the vocabulary of a text view."),             \
        PLX__GEN_ROW("length", REALS, "60", 1, 100000, NULL, "Mean number of tokens of a document in a text view."),   \
        PLX__GEN_ROW("overlap", REALS, "0.5", 0, 1, NULL,                                                              \
                     "Share of tokens drawn from the distribution all classes have in common: larger is harder."),     \
        PLX__GEN_ROW("noise", REAL, "0.05", 0, 1, NULL,                                                                \
                     "Share of tokens drawn from all words alike: larger is harder."),                                 \
        PLX__GEN_ROW("concentration", REAL, "200", 1e-3, 1e9, NULL,                                                    \
                     "How near the distributions of the classes are to the common one: larger is harder.")

/* Maps u to [0,1) again after noise and overlap took their share; false: *topic says whose it is. */
bool plx__topics_own(double *u, plx_index *topic, const plx__topics *topics, double noise, double overlap);

#endif
