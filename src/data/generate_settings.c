/*
 * Settings of the generators: reading, checking, looking up.
 */
#include <math.h>
#include <string.h>

#include "core/number.h"
#include "data/generate_impl.h"

static const plx__gen_param COMMON[] = {
    {"missing", PLX__GEN_REAL, "0", 0, 1, NULL, "Share of rows removed from every view, never a sample's last one."},
    {"ids", PLX__GEN_FLAG, "0", 0, 1, NULL, "1: samples get ids s0000, s0001, ..."},
    {"names", PLX__GEN_FLAG, "0", 0, 1, NULL, "1: columns get names."}};
enum { N_COMMON = sizeof COMMON / sizeof *COMMON, MOST_PARAMS = 40 };

const plx__gen_param *plx__gen_param_at(const plx__generator *g, plx_index k)
{
    if (k < 0) return NULL;
    if (k < g->n_params) return &g->params[k];
    return k - g->n_params < N_COMMON ? &COMMON[k - g->n_params] : NULL;
}

/* ---- one value ---- */

static plx_status bad_value(plx_context *ctx, const plx__gen_param *p, const char *text)
{
    char low[PLX__NUMBER_BYTES], high[PLX__NUMBER_BYTES];
    plx__print_short(low, p->low);
    plx__print_short(high, p->high);
    const char *what = p->type == PLX__GEN_INT ? "an integer" : p->type == PLX__GEN_LIST ? "numbers" : "a number";
    PLX_FAIL(ctx, PLX_E_ARG, "%s = %s: must be %s in [%s, %s]", p->name, text, what, low, high);
}

static plx_status read_numbers(plx__gen_value *v, plx_context *ctx, plx__arena *arena, const plx__gen_param *p)
{
    const char *at = v->text, *end = v->text + strlen(v->text);
    plx_index room = 1;
    for (const char *c = at; *c; c++) room += *c == ',';
    PLX_TRY(plx__arena_f64(&v->numbers, arena, 1, room));
    v->count = 0;
    if (p->type == PLX__GEN_LIST && at == end) return PLX_OK;
    for (;;) {
        double x = NAN;
        at = plx__read_double(&x, at, end);
        if (!at || !(x >= p->low && x <= p->high)) return bad_value(ctx, p, v->text);
        if (p->type != PLX__GEN_REAL && p->type != PLX__GEN_LIST && x != floor(x)) return bad_value(ctx, p, v->text);
        v->numbers[v->count++] = x;
        if (at == end) return PLX_OK;
        if (p->type != PLX__GEN_LIST || *at != ',') return bad_value(ctx, p, v->text);
        at++;
    }
}

static bool is_choice(const char *choices, const char *text)
{
    for (size_t len = strlen(text); len && *choices; choices += *choices == '|') {
        size_t word = strcspn(choices, "|");
        if (word == len && memcmp(choices, text, len) == 0) return true;
        choices += word;
    }
    return false;
}

static plx_status read_value(plx__gen_value *v, plx_context *ctx, plx__arena *arena, const plx__gen_param *p,
                             const char *text)
{
    PLX_TRY(plx__arena_text(&v->text, arena, text));
    if (p->type == PLX__GEN_TEXT) return PLX_OK;
    if (p->type != PLX__GEN_CHOICE) return read_numbers(v, ctx, arena, p);
    if (is_choice(p->choices, text)) return PLX_OK;
    PLX_FAIL(ctx, PLX_E_ARG, "%s = %s: must be one of %s", p->name, text, p->choices);
}

/* ---- all of them ---- */

static plx_status unknown_key(plx_context *ctx, const plx__generator *g, const char *key)
{
    const char *names[MOST_PARAMS];
    char near[128];
    plx_index count = 0;
    for (const plx__gen_param *p; count < MOST_PARAMS && (p = plx__gen_param_at(g, count)); count++)
        names[count] = p->name;
    PLX_FAIL(ctx, PLX_E_ARG, "generator %s has no setting '%s'%s", g->name, key,
             plx__suggest(near, sizeof near, key, names, count));
}

static plx_status read_setting(plx__gen_settings *out, plx_context *ctx, plx__arena *arena, const char *setting)
{
    const char *key = NULL, *equals = setting ? strchr(setting, '=') : NULL;
    if (!equals) PLX_FAIL(ctx, PLX_E_ARG, "setting '%s': expected key=value", setting ? setting : "");
    PLX_TRY(plx__arena_textn(&key, arena, setting, (size_t)(equals - setting)));
    plx_index k = 0;
    for (const plx__gen_param *p; (p = plx__gen_param_at(out->generator, k)); k++)
        if (strcmp(p->name, key) == 0) return read_value(&out->values[k], ctx, arena, p, equals + 1);
    return unknown_key(ctx, out->generator, key);
}

plx_status plx__gen_read_settings(plx__gen_settings *out, plx_context *ctx, plx__arena *arena, const plx__generator *g,
                                  const char *const *settings, plx_index count)
{
    plx_index total = g->n_params + N_COMMON;
    *out = (plx__gen_settings){g, NULL};
    PLX_TRY(PLX__ARENA_NEW(&out->values, arena, total));
    for (plx_index k = 0; k < total; k++) {
        const plx__gen_param *p = plx__gen_param_at(g, k);
        PLX_TRY(read_value(&out->values[k], ctx, arena, p, p->fallback));
    }
    for (plx_index s = 0; s < count; s++) PLX_TRY(read_setting(out, ctx, arena, settings[s]));
    return PLX_OK;
}

static const plx__gen_value *value_of(const plx__gen_settings *s, const char *name)
{
    plx_index k = 0;
    for (const plx__gen_param *p; (p = plx__gen_param_at(s->generator, k)); k++)
        if (strcmp(p->name, name) == 0) return &s->values[k];
    PLX_ASSERT(false); /* a setting that is not in the generator's table */
    return &s->values[0];
}

double plx__gen_real(const plx__gen_settings *s, const char *name) { return value_of(s, name)->numbers[0]; }
plx_index plx__gen_int(const plx__gen_settings *s, const char *name) { return (plx_index)plx__gen_real(s, name); }
bool plx__gen_flag(const plx__gen_settings *s, const char *name) { return plx__gen_real(s, name) != 0; }
const char *plx__gen_text(const plx__gen_settings *s, const char *name) { return value_of(s, name)->text; }
plx_index plx__gen_count(const plx__gen_settings *s, const char *name) { return value_of(s, name)->count; }

bool plx__gen_is(const plx__gen_settings *s, const char *name, const char *text)
{
    return strcmp(plx__gen_text(s, name), text) == 0;
}

double plx__gen_at(const plx__gen_settings *s, const char *name, plx_index k)
{
    const plx__gen_value *v = value_of(s, name);
    return v->count ? v->numbers[plx__min(k, v->count - 1)] : 0.0;
}
