/*
 * "min_df=5,stem=english,..." to settings.
 */
#include <stdio.h>
#include <string.h>

#include "core/number.h"
#include "core/text.h"
#include "io/text_counts.h"

static const char *const option_names[] = {"min_df", "max_df", "min_length", "max_features", "tokens",
                                           "case",   "stop",   "stem",       "apostrophe"};
enum { N_OPTIONS = sizeof option_names / sizeof *option_names };

static plx_status parse_bound(plx__df_bound *out, plx_context *ctx, const char *key, const char *value)
{
    size_t len = strlen(value);
    bool percent = len > 0 && value[len - 1] == '%', share = percent || strpbrk(value, ".eE");
    double x = 0;
    const char *end = plx__read_double(&x, value, value + len - percent);
    bool number = end && end == value + len - percent;
    if (percent) x /= 100;
    if (!number || !(share ? x >= 0 && x <= 1 : x >= 0 && x <= 9e15))
        PLX_FAIL(ctx, PLX_E_ARG,
                 "text option %s = '%s': must be a number of documents (5), or a share with a point (0.5) or %% (50%%)",
                 key, value);
    *out = (plx__df_bound){x, share};
    return PLX_OK;
}

static plx_status parse_count(plx_index *out, plx_context *ctx, const char *key, const char *value)
{
    int64_t x = 0;
    if (!plx__parse_int64(&x, value) || x < 0)
        PLX_FAIL(ctx, PLX_E_ARG, "text option %s = '%s': must be an integer >= 0", key, value);
    *out = x;
    return PLX_OK;
}

static plx_status parse_choice(bool *out, plx_context *ctx, const char *key, const char *value, const char *no,
                               const char *yes)
{
    *out = strcmp(value, yes) == 0;
    if (*out || strcmp(value, no) == 0) return PLX_OK;
    PLX_FAIL(ctx, PLX_E_ARG, "text option %s = '%s': must be %s or %s", key, value, no, yes);
}

static plx_status set_option(plx__text_options *o, plx_context *ctx, const char *key, const char *value)
{
    char near[96];
    if (strcmp(key, "min_df") == 0) return parse_bound(&o->min_df, ctx, key, value);
    if (strcmp(key, "max_df") == 0) return parse_bound(&o->max_df, ctx, key, value);
    if (strcmp(key, "min_length") == 0) return parse_count(&o->min_length, ctx, key, value);
    if (strcmp(key, "max_features") == 0) return parse_count(&o->max_features, ctx, key, value);
    if (strcmp(key, "tokens") == 0) return parse_choice(&o->numbers, ctx, key, value, "alpha", "alnum");
    if (strcmp(key, "case") == 0) return parse_choice(&o->keep_case, ctx, key, value, "fold", "keep");
    if (strcmp(key, "apostrophe") == 0) return parse_choice(&o->keep_apostrophe, ctx, key, value, "split", "keep");
    if (strcmp(key, "stop") == 0) o->stop = value;
    else if (strcmp(key, "stem") == 0) o->stem = value;
    else
        PLX_FAIL(ctx, PLX_E_ARG, "unknown text option '%s'%s", key,
                 plx__suggest(near, sizeof near, key, option_names, N_OPTIONS));
    return PLX_OK;
}

plx_status plx__text_options_parse(plx__text_options *out, plx_context *ctx, plx__arena *arena, const char *text)
{
    *out = (plx__text_options){.min_df = {1, false}, .max_df = {1, true}, .min_length = 2};
    while (text && *text) {
        size_t len = strcspn(text, ","), key_len = strcspn(text, "=,");
        const char *key = NULL, *value = NULL;
        PLX_TRY(plx__arena_textn(&key, arena, text, key_len));
        if (key_len == len) PLX_FAIL(ctx, PLX_E_ARG, "text option '%s' has no value; write %s=VALUE", key, key);
        PLX_TRY(plx__arena_textn(&value, arena, text + key_len + 1, len - key_len - 1));
        PLX_TRY(set_option(out, ctx, key, value));
        text += len + (text[len] == ',');
    }
    return PLX_OK;
}
