/*
 * Which parameters are worth searching is read from their names: those that say how the data look to the method and how
 * strongly it is held back, not those of its numerics.
 */
#include "compare/candidates.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/number.h"
#include "core/rng.h"
#include "params/param.h"

/* ---- grid ---- */

static plx_status add_first(plx__candidates *out, plx__arena *arena, plx_index count)
{
    PLX_TRY(PLX__ARENA_NEW(&out->settings, arena, count));
    out->settings[0] = "";
    out->count = 1;
    return PLX_OK;
}

static plx_index count_values(const char *values)
{
    plx_index count = 1;
    for (; *values; values++) count += *values == ',';
    return count;
}

/* The i-th of comma-separated values. */
static void value_at(const char **begin, size_t *length, const char *values, plx_index i)
{
    while (i-- > 0) values = strchr(values, ',') + 1;
    *begin = values;
    *length = strcspn(values, ",");
}

static plx_status check_line(plx_index *combinations, plx_context *ctx, plx_params *probe, const char *line)
{
    const char *equals = line ? strchr(line, '=') : NULL, *key = NULL;
    if (!equals || equals == line || !equals[1])
        PLX_FAIL(ctx, PLX_E_ARG, "grid '%s': expected KEY=VALUE,VALUE,...", line ? line : "");
    PLX_TRY(plx__arena_textn(&key, plx__scratch(ctx), line, (size_t)(equals - line)));
    plx_index values = count_values(equals + 1);
    for (plx_index i = 0; i < values; i++) {
        const char *begin = NULL, *value = NULL;
        size_t length = 0;
        value_at(&begin, &length, equals + 1, i);
        PLX_TRY(plx__arena_textn(&value, plx__scratch(ctx), begin, length));
        if (strchr(value, ':')) PLX_FAIL(ctx, PLX_E_ARG, "grid '%s': a value cannot hold a colon", line);
        PLX_TRY(plx__params_set(probe, ctx, key, value));
    }
    if (*combinations > PLX__MOST_CANDIDATES / values)
        PLX_FAIL(ctx, PLX_E_ARG, "the grid has more than %d candidates; leave some values out", PLX__MOST_CANDIDATES);
    *combinations *= values;
    return PLX_OK;
}

static plx_status combination(const char **out, plx__arena *arena, const char *const *grid, plx_index n_grid,
                              plx_index number)
{
    plx__textbuf text;
    plx__textbuf_init(&text, arena);
    for (plx_index g = 0; g < n_grid; g++) {
        const char *equals = strchr(grid[g], '='), *begin = NULL;
        plx_index values = count_values(equals + 1);
        size_t length = 0;
        value_at(&begin, &length, equals + 1, number % values);
        number /= values;
        if (g) plx__textbuf_add(&text, ":");
        plx__textbuf_addn(&text, grid[g], (size_t)(equals + 1 - grid[g]));
        plx__textbuf_addn(&text, begin, length);
    }
    return plx__textbuf_done(out, &text);
}

plx_status plx__candidates_grid(plx__candidates *out, plx_context *ctx, plx__arena *arena, const plx__method *method,
                                const char *const *grid, plx_index n_grid)
{
    plx_params *probe = NULL;
    plx_index combinations = 1;
    plx_status st = PLX_OK;
    PLX_GOTO(plx__params_create(&probe, ctx, method->name, method->params));
    for (plx_index g = 0; g < n_grid; g++) PLX_GOTO(check_line(&combinations, ctx, probe, grid[g]));
    PLX_GOTO(add_first(out, arena, combinations + 1));
    for (plx_index i = 0; i < combinations; i++)
        PLX_GOTO(combination(&out->settings[out->count++], arena, grid, n_grid, i));
done:
    plx__params_destroy(probe);
    return st;
}

/* ---- space ---- */

static bool is_one_of(const char *name, const char *const *names)
{
    for (; *names; names++)
        if (strcmp(*names, name) == 0) return true;
    return false;
}

static bool is_searched(const plx__param_spec *p, const plx_params *fixed)
{
    static const char *const words[] = {"scale",        "decision",      "rows",      "kernel", "metric",
                                        "graph_metric", "graph_weights", "laplacian", "weight", NULL};
    static const char *const counts[] = {"k", "neighbours", "graph_k", "members", NULL};
    static const char *const numerics[] = {"tol",         "em_tol",  "gem_tol", "ib_tol",    "eps",
                                           "var_floor",   "cov_reg", "tau",     "init_mix",  "temper",
                                           "anneal_rate", "lle_reg", "coef0",   "amplitude", NULL};
    double value = 0;
    if (plx__view_value_level(fixed, p->name, NULL) > 0 || strchr(p->name, '.')) return false;
    if (p->kind == PLX_PARAM_CHOICE) return is_one_of(p->name, words);
    if (p->kind == PLX_PARAM_INT) return is_one_of(p->name, counts);
    return p->kind == PLX_PARAM_REAL && !is_one_of(p->name, numerics) && plx__parse_double(&value, p->def) && value > 0;
}

/* Words that need nothing but the data. */
static bool is_plain_word(const char *word, size_t length)
{
    static const char *const others[] = {"precomputed", "tfidf", NULL};
    for (const char *const *o = others; *o; o++)
        if (strlen(*o) == length && strncmp(*o, word, length) == 0) return false;
    return true;
}

static void pick_word(plx__textbuf *to, const char *words, double u)
{
    plx_index count = 0, wanted = 0;
    for (int pass = 0; pass < 2; pass++) {
        plx_index at = 0;
        for (const char *w = words;; w += strcspn(w, "|") + 1) {
            size_t length = strcspn(w, "|");
            if (is_plain_word(w, length) && at++ == wanted && pass == 1) plx__textbuf_addn(to, w, length);
            if (!w[length]) break;
        }
        count = at;
        if (pass == 0) wanted = plx__min((plx_index)(u * (double)count), count - 1);
    }
}

/* u in (0,1) to a value of the parameter. */
static void pick_value(plx__textbuf *to, const plx__param_spec *p, double u)
{
    double middle = 0;
    char text[PLX__NUMBER_BYTES];
    if (p->kind == PLX_PARAM_CHOICE) {
        pick_word(to, p->words, u);
        return;
    }
    plx__parse_double(&middle, p->def);
    if (p->kind == PLX_PARAM_INT) {
        double low = fmax(p->lo, 1), high = fmin(p->hi, 4 * middle);
        snprintf(text, sizeof text, "%.0f", fmin(high, floor(low + u * (high - low + 1))));
        plx__textbuf_add(to, text);
        return;
    }
    double value = fmin(p->hi, fmax(p->lo, middle * pow(10, 4 * u - 2)));
    if (value == p->hi && p->flags & PLX__BELOW_HI) value = middle;
    snprintf(text, sizeof text, "%.2e", value); /* three digits are enough, and read well */
    for (char *c = text; *c; c++)
        if (*c == ',') *c = '.';
    double rounded = value;
    plx__parse_double(&rounded, text);
    plx__print_short(text, fmin(p->hi, fmax(p->lo, rounded)));
    plx__textbuf_add(to, text);
}

static plx_status draw_all(plx__candidates *out, plx_context *ctx, plx__arena *arena,
                           const plx__param_spec *const *searched, plx_index dims, plx_index trials)
{
    plx_index *cell = NULL;
    PLX_TRY(plx__arena_i64(&cell, plx__scratch(ctx), dims * trials));
    plx__rng rng = plx__rng_start(ctx->seed, 0x74756e65); /* a stream of its own: "tune" */
    for (plx_index d = 0; d < dims; d++) plx__permutation(&rng, cell + d * trials, trials);
    for (plx_index i = 0; i < trials; i++) {
        plx__textbuf text;
        plx__textbuf_init(&text, arena);
        for (plx_index d = 0; d < dims; d++) {
            plx__textbuf_printf(&text, "%s%s=", d ? ":" : "", searched[d]->name);
            pick_value(&text, searched[d], ((double)cell[d * trials + i] + plx__next_uniform(&rng)) / (double)trials);
        }
        PLX_TRY(plx__textbuf_done(&out->settings[out->count++], &text));
    }
    return PLX_OK;
}

plx_status plx__candidates_draw(plx__candidates *out, plx_context *ctx, plx__arena *arena, const plx__method *method,
                                const plx_params *fixed, plx_index trials)
{
    const plx__param_spec **searched = NULL;
    plx_index all = plx__param_count(method->params), dims = 0;
    PLX_TRY(PLX__ARENA_NEW(&searched, plx__scratch(ctx), all));
    for (plx_index i = 0; i < all; i++) {
        const plx__param_spec *p = plx__param_at(method->params, i);
        if (is_searched(p, fixed)) searched[dims++] = p;
    }
    if (dims == 0)
        PLX_FAIL(ctx, PLX_E_UNSUPPORTED,
                 "%s has no parameter that a search by itself would know how to vary; give a grid", method->name);
    PLX_TRY(add_first(out, arena, trials + 1));
    return draw_all(out, ctx, arena, searched, dims, trials);
}
