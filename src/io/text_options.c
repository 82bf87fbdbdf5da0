/*
 * Text options "min_df=5,stem=english,...": one table of params/param.h, like the parameters of methods and
 * generators, so that names, ranges, suggestions and messages are the same everywhere.
 */
#include <string.h>

#include "core/number.h"
#include "io/text_counts.h"
#include "params/param.h"

typedef struct given { /* what the table fills; word indices follow the order of the words in their rows */
    const char *min_df, *max_df, *stop, *stem;
    plx_index min_length, max_features;
    int tokens, letters, apostrophe;
} given;

static const plx__param_spec OPTIONS[] = {
    PLX__TEXT(given, min_df, "1", "Words in fewer documents are left out; a number, or a share with a point or %."),
    PLX__TEXT(given, max_df, "100%", "Words in more documents are left out; a number, or a share with a point or %."),
    PLX__INT(given, min_length, "2", 0, 9e15, "Words of fewer characters are left out."),
    PLX__INT(given, max_features, "0", 0, 9e15, "Only so many of the most frequent words; 0: all."),
    PLX__CHOICE(given, tokens, "alpha", "alpha|alnum", "Whether digits are part of words."),
    {"case", PLX_PARAM_CHOICE, 0, offsetof(given, letters), "fold", 0, 0, "fold|keep", "Whether case is kept."},
    PLX__CHOICE(given, apostrophe, "split", "split|keep", "Whether an apostrophe inside a word separates."),
    PLX__TEXT(given, stop, "none", "Words left out: none, a language, or file:PATH."),
    PLX__TEXT(given, stem, "none", "none, or the Snowball language of the stems."),
    PLX__PARAM_END};
static const plx__param_table TABLES[] = {OPTIONS, NULL};

/* A number of documents, or a share of them: told apart by '.' or '%', since 1 and 1.0 mean different things here. */
static plx_status read_bound(plx__df_bound *out, plx_context *ctx, const char *key, const char *text)
{
    size_t len = strlen(text);
    bool percent = len > 0 && text[len - 1] == '%', share = percent || strpbrk(text, ".eE");
    double x = 0;
    const char *end = plx__read_double(&x, text, text + len - percent);
    bool number = end && end == text + len - percent;
    if (percent) x /= 100;
    if (!number || !(share ? x >= 0 && x <= 1 : x >= 0 && x <= 9e15))
        PLX_FAIL(ctx, PLX_E_ARG,
                 "%s = %s: must be a number of documents (5), or a share with a point (0.5) or %% (50%%)", key, text);
    *out = (plx__df_bound){x, share};
    return PLX_OK;
}

/* "key=value,key=value" into the settings. */
static plx_status read_settings(plx_params *params, plx_context *ctx, const char *text)
{
    while (text && *text) {
        size_t len = strcspn(text, ","), key_len = strcspn(text, "=,");
        const char *key = NULL, *value = NULL;
        PLX_TRY(plx__arena_textn(&key, plx__scratch(ctx), text, key_len));
        if (key_len == len) PLX_FAIL(ctx, PLX_E_ARG, "text option '%s' has no value; write %s=VALUE", key, key);
        PLX_TRY(plx__arena_textn(&value, plx__scratch(ctx), text + key_len + 1, len - key_len - 1));
        PLX_TRY(plx__params_set(params, ctx, key, value));
        text += len + (text[len] == ',');
    }
    return PLX_OK;
}

static plx_status read_options(plx__text_options *out, plx_context *ctx, plx__arena *arena, plx_params *params,
                               const char *text)
{
    given g;
    PLX_TRY(read_settings(params, ctx, text));
    PLX_TRY(plx__params_fill(&g, ctx, arena, params));
    *out = (plx__text_options){.min_length = g.min_length,
                               .max_features = g.max_features,
                               .numbers = g.tokens == 1,
                               .keep_case = g.letters == 1,
                               .keep_apostrophe = g.apostrophe == 1};
    PLX_TRY(read_bound(&out->min_df, ctx, "min_df", g.min_df));
    PLX_TRY(read_bound(&out->max_df, ctx, "max_df", g.max_df));
    PLX_TRY(plx__arena_text(&out->stop, arena, g.stop));
    return plx__arena_text(&out->stem, arena, g.stem);
}

plx_status plx__text_options_parse(plx__text_options *out, plx_context *ctx, plx__arena *arena, const char *text)
{
    plx_params *params = NULL;
    PLX_TRY(plx__params_create(&params, ctx, "counting words", TABLES));
    plx_status st = read_options(out, ctx, arena, params, text);
    plx__params_destroy(params);
    return st;
}
