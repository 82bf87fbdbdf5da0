/*
 * Parameter tables and settings. Values arrive as text from every door (command line, C, Python,
 * model file), so there is one place that reads and checks them.
 */
#include "params/param.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "core/number.h"

/* ---- tables ---- */

plx_index plx__param_count(const plx__param_table *tables)
{
    plx_index count = 0;
    for (; *tables; tables++)
        for (const plx__param_spec *s = *tables; s->name; s++) count++;
    return count;
}

const plx__param_spec *plx__param_at(const plx__param_table *tables, plx_index i)
{
    for (; i >= 0 && *tables; tables++)
        for (const plx__param_spec *s = *tables; s->name; s++)
            if (i-- == 0) return s;
    return NULL;
}

const plx__param_spec *plx__param_find(const plx__param_table *tables, const char *name)
{
    for (; *tables; tables++)
        for (const plx__param_spec *s = *tables; s->name; s++)
            if (strcmp(s->name, name) == 0) return s;
    return NULL;
}

int plx__word_index(const char *words, const char *word)
{
    size_t len = strlen(word);
    for (int i = 0; words && *words; i++) {
        size_t span = strcspn(words, "|");
        if (span == len && strncmp(words, word, len) == 0) return i;
        words += span + (words[span] == '|');
    }
    return -1;
}

static void print_bounds(char *out, size_t bytes, const plx__param_spec *s)
{
    char lo[PLX__NUMBER_BYTES], hi[PLX__NUMBER_BYTES];
    plx__print_short(lo, s->lo);
    plx__print_short(hi, s->hi);
    bool open_lo = s->flags & PLX__ABOVE_LO, open_hi = s->flags & PLX__BELOW_HI;
    if (isinf(s->lo) && isinf(s->hi)) snprintf(out, bytes, "any number");
    else if (isinf(s->hi)) snprintf(out, bytes, "%s %s", open_lo ? ">" : ">=", lo);
    else snprintf(out, bytes, "in %c%s, %s%c", open_lo ? '(' : '[', lo, hi, open_hi ? ')' : ']');
}

const char *plx__param_range(char *out, size_t bytes, const plx__param_spec *s)
{
    char bounds[96] = "";
    switch (s->kind) {
    case PLX_PARAM_BOOL: snprintf(out, bytes, "0 or 1"); break;
    case PLX_PARAM_CHOICE: snprintf(out, bytes, "%s", s->words); break;
    case PLX_PARAM_TEXT: snprintf(out, bytes, "text"); break;
    case PLX_PARAM_FILE: snprintf(out, bytes, "a file"); break;
    default:
        print_bounds(bounds, sizeof bounds, s);
        bool whole = s->kind == PLX_PARAM_INT || s->kind == PLX_PARAM_INT_OR_WORD;
        snprintf(out, bytes, "%s%s%s%s%s", whole ? "integer " : "", bounds,
                 s->kind == PLX_PARAM_REALS ? ", separated by commas" : "", s->words ? ", or " : "",
                 s->words ? s->words : "");
    }
    return out;
}

/* ---- reading values ---- */

static plx_status bad_value(plx_context *ctx, const plx__param_spec *s, const char *key, const char *text)
{
    char range[256];
    double x = 0;
    bool number = plx__parse_double(&x, text);
    bool word = s->kind == PLX_PARAM_REAL && !number; /* the ranges of other kinds say what is expected */
    PLX_FAIL(ctx, PLX_E_ARG, "%s = %s: %smust be %s%s", key, text, word ? "not a number; " : "",
             number && isinf(x) ? "finite: " : "", plx__param_range(range, sizeof range, s));
}

static bool in_bounds(const plx__param_spec *s, double x)
{
    bool above = s->flags & PLX__ABOVE_LO ? x > s->lo : x >= s->lo;
    bool below = s->flags & PLX__BELOW_HI ? x < s->hi : x <= s->hi;
    return above && below && isfinite(x);
}

static bool read_bool(double *out, const char *text)
{
    static const char *const yes[] = {"1", "true", "yes", "on"}, *const no[] = {"0", "false", "no", "off"};
    for (int i = 0; i < 4; i++) {
        if (strcasecmp(text, yes[i]) == 0) return *out = 1, true;
        if (strcasecmp(text, no[i]) == 0) return *out = 0, true;
    }
    return false;
}

static bool read_int(double *out, const plx__param_spec *s, const char *text)
{
    double x = 0;
    if (!plx__parse_double(&x, text) || x != floor(x) || fabs(x) > 9007199254740992.0) return false;
    *out = x;
    return in_bounds(s, x);
}

static bool read_list(plx__value *v, const plx__param_spec *s, plx__arena *arena, const char *text, plx_status *st)
{
    plx_index count = 1, i = 0;
    double *list = NULL;
    for (const char *p = text; *p; p++) count += *p == ',';
    *st = plx__arena_f64(&list, arena, count, 1);
    if (*st != PLX_OK) return true;
    const char *p = text, *end = text + strlen(text);
    for (;;) {
        while (*p == ' ') p++;
        p = plx__read_double(&list[i], p, end);
        if (!p || !in_bounds(s, list[i])) return false;
        while (*p == ' ') p++;
        i++;
        if (p == end) break;
        if (*p++ != ',') return false;
    }
    v->list = list;
    v->n_list = i;
    return true;
}

static plx_status read_value(plx__value *v, plx_context *ctx, plx__arena *arena, const plx__param_spec *s,
                             const char *key, const char *text)
{
    *v = (plx__value){.word = -1, .number = NAN, .text = text};
    if (!text[0]) return s->def[0] ? bad_value(ctx, s, key, "''") : PLX_OK;
    plx_status st = PLX_OK;
    bool good = true;
    if (s->words && (v->word = plx__word_index(s->words, text)) >= 0) return PLX_OK;
    switch (s->kind) {
    case PLX_PARAM_INT:
    case PLX_PARAM_INT_OR_WORD: good = read_int(&v->number, s, text); break;
    case PLX_PARAM_REAL:
    case PLX_PARAM_REAL_OR_WORD: good = plx__parse_double(&v->number, text) && in_bounds(s, v->number); break;
    case PLX_PARAM_BOOL: good = read_bool(&v->number, text); break;
    case PLX_PARAM_REALS: good = read_list(v, s, arena, text, &st); break;
    case PLX_PARAM_CHOICE: good = false; break;
    case PLX_PARAM_TEXT:
    case PLX_PARAM_FILE: break;
    }
    return good ? st : bad_value(ctx, s, key, text);
}

/* ---- settings ---- */

plx_status plx__params_create(plx_params **out, plx_context *ctx, const char *method, const plx__param_table *tables)
{
    *out = NULL;
    plx_params *p = plx__alloc(ctx, sizeof *p);
    if (!p) PLX_FAIL(ctx, PLX_E_NOMEM, "out of memory");
    *p = (plx_params){.method = method, .tables = tables};
    plx__arena_init(&p->arena, ctx);
    *out = p;
    return PLX_OK;
}

void plx__params_destroy(plx_params *params)
{
    if (!params) return;
    plx_context *ctx = params->arena.ctx;
    plx__arena_free(&params->arena);
    plx__release(ctx, params, sizeof *params);
}

static plx_status unknown_key(const plx_params *p, plx_context *ctx, const char *key)
{
    const char **names = NULL;
    char near[128];
    plx_index count = plx__param_count(p->tables);
    PLX_TRY(PLX__ARENA_NEW(&names, plx__scratch(ctx), count));
    for (plx_index i = 0; i < count; i++) names[i] = plx__param_at(p->tables, i)->name;
    if ((strcmp(key, "C") == 0 || strcmp(key, "c") == 0) && plx__param_find(p->tables, "gamma_a"))
        PLX_FAIL(ctx, PLX_E_ARG,
                 "%s has no parameter '%s'; its regularisation is gamma_a, which is large where C is small", p->method,
                 key);
    PLX_FAIL(ctx, PLX_E_ARG, "%s has no parameter '%s'%s", p->method, key,
             plx__suggest(near, sizeof near, key, names, count));
}

static plx__setting *find_setting(const plx_params *p, const plx__param_spec *spec, const char *view)
{
    for (plx__setting *s = p->first; s; s = s->next)
        if (s->spec == spec && (view ? s->view && strcmp(s->view, view) == 0 : !s->view)) return s;
    return NULL;
}

/* What is one idea has one name over all methods, beside the name its paper gives it; and a few names of other
 * libraries. Of several rows for one name the first that the method has counts. */
static const struct {
    const char *other, *name, *beside; /* only in tables that hold `beside` too; NULL: in all */
} synonyms[] = {{"regularisation", "gamma_a", NULL},
                {"regularisation", "gamma", "gamma_c"},
                {"regularisation", "lambda_ridge", NULL},
                {"regularisation", "lambda", NULL},
                {"regularisation", "ridge", NULL},
                {"regularisation", "reg", NULL},
                {"regularisation", "noise", NULL},
                {"neighbours", "graph_k", NULL},
                {"neighbours", "affinity_k", NULL},
                {"neighbours", "k", NULL},
                {"n_neighbors", "graph_k", NULL},
                {"neighbors", "graph_k", NULL},
                {"view_weights", "laplacian_weights", NULL},
                {"view_weights", "weights", NULL},
                {"k", "clusters", NULL},
                {"n_clusters", "clusters", NULL},
                {"n_components", "dim", NULL},
                {"max_iterations", "max_iter", NULL},
                {"tolerance", "tol", NULL},
                {"alpha", "smoothing", NULL}};

/* A parameter by another case of letters, or by what it is called elsewhere and means the same. */
static const plx__param_spec *find_synonym(const plx__param_table *tables, const char *key)
{
    size_t len = strlen(key);
    for (plx_index i = 0; i < plx__param_count(tables); i++) {
        const plx__param_spec *s = plx__param_at(tables, i);
        if (strlen(s->name) == len && plx__same_letters(s->name, key, len)) return s;
    }
    for (size_t k = 0; k < sizeof synonyms / sizeof *synonyms; k++)
        if (strlen(synonyms[k].other) == len && plx__same_letters(synonyms[k].other, key, len) &&
            (!synonyms[k].beside || plx__param_find(tables, synonyms[k].beside))) {
            const plx__param_spec *found = plx__param_find(tables, synonyms[k].name);
            if (found) return found;
        }
    return NULL;
}

const plx__param_spec *plx__param_lookup(const plx__param_table *tables, const char *key)
{
    const plx__param_spec *spec = plx__param_find(tables, key);
    return spec ? spec : find_synonym(tables, key);
}

const plx__param_spec *plx__param_locate(const plx__param_table *tables, const char *key, const char **view)
{
    char name[64]; /* longer than any of ours */
    const plx__param_spec *spec = plx__param_lookup(tables, key);
    *view = NULL;
    for (const char *dot = strchr(key, '.'); !spec && dot;
         dot = strchr(dot + 1, '.')) { /* a name may hold dots itself */
        size_t len = (size_t)(dot - key);
        if (len >= sizeof name) break;
        memcpy(name, key, len);
        name[len] = '\0';
        spec = plx__param_lookup(tables, name);
        if (spec) *view = dot + 1;
    }
    return spec;
}

/* The row and the view of a key that is to be set. */
static plx_status split_key(const plx__param_spec **spec, const char **view, const plx_params *p, plx_context *ctx,
                            const char *key)
{
    const char *first = NULL;
    *spec = plx__param_locate(p->tables, key, view);
    if (!*spec) {
        PLX_TRY(plx__arena_textn(&first, plx__scratch(ctx), key, strcspn(key, ".")));
        return unknown_key(p, ctx, first);
    }
    if (*view && !((*spec)->flags & PLX__PER_VIEW))
        PLX_FAIL(ctx, PLX_E_ARG, "%s: '%s' cannot be set per view; use %.*s=...", p->method, key,
                 (int)(*view - key - 1), key);
    return PLX_OK;
}

plx_status plx__params_set(plx_params *p, plx_context *ctx, const char *key, const char *text)
{
    const plx__param_spec *spec = NULL;
    const char *view = NULL, *copy = NULL;
    plx__value value;
    PLX_TRY(split_key(&spec, &view, p, ctx, key));
    PLX_TRY(plx__arena_text(&copy, &p->arena, text));
    PLX_TRY(read_value(&value, ctx, &p->arena, spec, key, copy));
    plx__setting *s = find_setting(p, spec, view);
    if (!s) {
        PLX_TRY(PLX__ARENA_NEW(&s, &p->arena, 1));
        if (view) PLX_TRY(plx__arena_text(&s->view, &p->arena, view));
        s->spec = spec;
        plx__setting **tail = &p->first;
        while (*tail) tail = &(*tail)->next;
        *tail = s;
    }
    s->value = value;
    return PLX_OK;
}

plx_status plx__params_copy(plx_params **out, plx_context *ctx, const plx_params *from)
{
    PLX_TRY(plx__params_create(out, ctx, from->method, from->tables));
    plx_status st = PLX_OK;
    for (const plx__setting *s = from->first; s && st == PLX_OK; s = s->next) {
        const char *key = s->spec->name;
        if (s->view) st = plx__arena_printf(&key, plx__scratch(ctx), "%s.%s", s->spec->name, s->view);
        if (st == PLX_OK) st = plx__params_set(*out, ctx, key, s->value.text);
    }
    if (st == PLX_OK) return PLX_OK;
    plx__params_destroy(*out);
    *out = NULL;
    return st;
}

static bool listed(const char *name, const char *const *names, plx_index count)
{
    for (plx_index i = 0; i < count; i++)
        if (strcmp(name, names[i]) == 0) return true;
    return false;
}

plx_status plx__params_check_views(const plx_params *p, plx_context *ctx, const char *const *views, plx_index n_views,
                                   const char *const *extra, plx_index n_extra)
{
    for (const plx__setting *s = p->first; s; s = s->next) {
        if (!s->view || listed(s->view, views, n_views) || listed(s->view, extra, n_extra)) continue;
        const char *text = NULL;
        PLX_TRY(plx__list_names(&text, plx__scratch(ctx), views, n_views));
        PLX_FAIL(ctx, PLX_E_ARG, "%s.%s: there is no view '%s'; the views are %s", s->spec->name, s->view, s->view,
                 text);
    }
    return PLX_OK;
}

int plx__view_value_level(const plx_params *p, const char *name, const char *view)
{
    const plx__param_spec *spec = plx__param_find(p->tables, name);
    if (!spec) return -1;
    if (view && find_setting(p, spec, view)) return 2;
    return find_setting(p, spec, NULL) ? 1 : 0;
}

plx_status plx__view_value(plx__value *out, plx_context *ctx, const plx_params *p, const char *name, const char *view)
{
    const plx__param_spec *spec = plx__param_find(p->tables, name);
    if (!spec) PLX_FAIL(ctx, PLX_E_INTERNAL, "%s looks up a parameter '%s' that its table lacks", p->method, name);
    const plx__setting *s = view ? find_setting(p, spec, view) : NULL;
    if (!s) s = find_setting(p, spec, NULL);
    if (s) {
        *out = s->value;
        return PLX_OK;
    }
    return read_value(out, ctx, plx__scratch(ctx), spec, spec->name, spec->def);
}

plx_status plx__params_fill(void *to, plx_context *ctx, plx__arena *arena, const plx_params *p)
{
    plx_index count = plx__param_count(p->tables);
    for (plx_index i = 0; i < count; i++) {
        const plx__param_spec *spec = plx__param_at(p->tables, i);
        if (spec->flags & PLX__NO_FIELD) continue;
        char *field = (char *)to + spec->offset;
        const plx__setting *s = find_setting(p, spec, NULL);
        plx__value v;
        if (s) v = s->value;
        else PLX_TRY(read_value(&v, ctx, arena, spec, spec->name, spec->def));
        switch (spec->kind) {
        case PLX_PARAM_INT: *(plx_index *)(void *)field = isnan(v.number) ? -1 : (plx_index)v.number; break;
        case PLX_PARAM_REAL: *(double *)(void *)field = v.number; break;
        case PLX_PARAM_BOOL: *(bool *)(void *)field = v.number != 0; break;
        case PLX_PARAM_CHOICE: *(int *)(void *)field = v.word; break;
        case PLX_PARAM_TEXT:
        case PLX_PARAM_FILE: *(const char **)(void *)field = v.text; break;
        default:
            if (spec->flags & PLX__INT_FIELD)
                *(plx_index *)(void *)field = v.word >= 0 ? -2 : isnan(v.number) ? -1 : (plx_index)v.number;
            else *(plx__value *)(void *)field = v;
        }
    }
    return PLX_OK;
}
