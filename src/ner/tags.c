/*
 * Tags of tokens: reading them from a column, schemes, and their text.
 */
#include "ner/tags.h"

#include <string.h>

/* ---- types ---- */

plx_status plx__ner_types_init(plx__ner_types *types, plx__arena *arena)
{
    int32_t none = 0;
    *types = (plx__ner_types){.arena = arena};
    PLX_TRY(plx__map_init(&types->map, arena, 16));
    return plx__ner_type(&none, types, "");
}

plx_status plx__ner_type(int32_t *out, plx__ner_types *types, const char *name)
{
    plx_index at = plx__map_get(&types->map, name);
    const char *copy = NULL;
    *out = (int32_t)at;
    if (at >= 0) return PLX_OK;
    if (types->count == types->room) {
        const char **bigger = NULL;
        types->room = types->room ? 2 * types->room : 16;
        PLX_TRY(PLX__ARENA_NEW(&bigger, types->arena, types->room));
        if (types->count) memcpy(bigger, types->name, (size_t)types->count * sizeof *bigger);
        types->name = bigger;
    }
    PLX_TRY(plx__arena_text(&copy, types->arena, name));
    PLX_TRY(plx__map_add(&types->map, copy, types->count, &at));
    *out = (int32_t)types->count;
    types->name[types->count++] = copy;
    return PLX_OK;
}

/* ---- reading ---- */

/* The tag is split at its first hyphen. `prefixes` lists those that are known. */
static plx_status read_mark(plx__ner_mark *out, plx_context *ctx, plx__ner_types *types, const plx__conll *text,
                            plx_index token, const char *tag, const char *prefixes)
{
    const char *hyphen = strchr(tag, '-');
    size_t length = hyphen ? (size_t)(hyphen - tag) : strlen(tag);
    if (length != 1 || !strchr(prefixes, tag[0]))
        PLX_FAIL(ctx, PLX_E_FORMAT, "%s: line %lld: unknown prefix of the tag '%.60s'; known are %s", text->where,
                 (long long)text->lines[token], tag, prefixes);
    out->prefix = tag[0];
    out->type = 0;
    if (tag[0] == 'O' || !hyphen) return PLX_OK;
    return plx__ner_type(&out->type, types, hyphen + 1);
}

static plx_status read_bare(plx__ner_mark *out, plx__ner_types *types, const char *tag)
{
    *out = plx__ner_outside();
    if (strcmp(tag, "O") == 0) return PLX_OK;
    out->prefix = 'B';
    return plx__ner_type(&out->type, types, tag);
}

/* One sentence of IOB1, or of bare types that are all B so far, to IOB2. */
static void to_iob2(plx__ner_mark *mark, plx_index n, plx__ner_scheme scheme)
{
    plx__ner_mark before = plx__ner_outside();
    for (plx_index i = 0; i < n; i++) {
        bool goes_on = before.prefix != 'O' && before.type == mark[i].type;
        if (scheme == PLX__NER_IOB1 && mark[i].prefix == 'I' && !goes_on) mark[i].prefix = 'B';
        if (scheme == PLX__NER_RAW && mark[i].prefix == 'B' && goes_on) mark[i].prefix = 'I';
        before = mark[i];
    }
}

plx_status plx__ner_read_marks(plx__ner_mark *out, plx_context *ctx, plx__ner_types *types, const plx__conll *text,
                               plx_index column, plx__ner_scheme scheme)
{
    const char *const *tag = text->columns[column];
    bool bare = scheme == PLX__NER_RAW || scheme == PLX__NER_RAW_TOKENS;
    for (plx_index i = 0; i < text->n_tokens; i++) {
        if (bare) PLX_TRY(read_bare(&out[i], types, tag[i]));
        else PLX_TRY(read_mark(&out[i], ctx, types, text, i, tag[i], scheme == PLX__NER_ANY ? "BIEO.[]" : "BIO"));
    }
    for (plx_index s = 0; s < text->n_sentences; s++)
        to_iob2(out + text->sentences[s], text->sentences[s + 1] - text->sentences[s], scheme);
    return PLX_OK;
}

/* ---- writing ---- */

plx_status plx__ner_tag_text(const char **out, plx__arena *arena, const plx__ner_types *types, plx__ner_mark mark)
{
    if (mark.type == 0) return plx__arena_textn(out, arena, &mark.prefix, 1);
    if (mark.prefix == 0) return plx__arena_text(out, arena, types->name[mark.type]);
    return plx__arena_printf(out, arena, "%c-%s", mark.prefix, types->name[mark.type]);
}

plx__ner_mark plx__ner_to_scheme(plx__ner_mark mark, plx__ner_mark before, plx__ner_scheme scheme)
{
    if (mark.prefix == 'O' || scheme == PLX__NER_IOB2) return mark;
    if (scheme == PLX__NER_RAW) mark.prefix = 0;
    else if (before.prefix == 'O' || before.type != mark.type) mark.prefix = 'I';
    return mark;
}
