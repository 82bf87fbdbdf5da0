/*
 * Cutting text into words. Text is folded segment by segment (utf8proc: NFC, case folding), a segment ending
 * at white space where one is near, and then cut by the rule in text_counts.h.
 */
#include "io/text_tokens.h"

#include <libstemmer.h>
#include <string.h>
#include <utf8proc.h>

#include "core/file.h"
#include "io/stopwords.h"

enum { SEGMENT = 1 << 16, CODE_ROOM = 2 * SEGMENT + 16, APOSTROPHE = 0x27 };

/* ---- life ---- */

static plx_status make_stemmer(struct sb_stemmer **out, plx_context *ctx, const char *language)
{
    char near[160];
    plx_index count = 0;
    const char **known = sb_stemmer_list();
    while (known[count]) count++;
    *out = sb_stemmer_new(language, "UTF_8");
    if (*out) return PLX_OK;
    PLX_FAIL(ctx, PLX_E_ARG, "stem = %s: no such language%s", language,
             plx__suggest(near, sizeof near, language, known, count));
}

plx_status plx__cutter_init(plx__cutter *c, plx_context *ctx, plx__arena *arena, const plx__text_options *options,
                            const plx__map *stop)
{
    *c = (plx__cutter){.options = options, .stop = stop};
    PLX_TRY(plx__arena_bytes((void **)&c->clean, arena, SEGMENT, 1));
    PLX_TRY(plx__arena_i32(&c->code, arena, CODE_ROOM));
    if (!options->stem || strcmp(options->stem, "none") == 0) return PLX_OK;
    return make_stemmer(&c->stemmer, ctx, options->stem);
}

void plx__cutter_free(plx__cutter *c)
{
    if (c->stemmer) sb_stemmer_delete(c->stemmer);
    c->stemmer = NULL;
}

/* ---- folding ---- */

/* Bytes of the next segment: up to and with its last white space, else up to a character's start. */
static size_t segment_length(const char *text, size_t len)
{
    if (len <= SEGMENT) return len;
    for (size_t n = SEGMENT; n > SEGMENT / 2; n--)
        if (text[n - 1] == ' ' || text[n - 1] == '\n' || text[n - 1] == '\t') return n;
    for (size_t n = SEGMENT; n > SEGMENT - 4; n--)
        if (((unsigned char)text[n] & 0xC0) != 0x80) return n;
    return SEGMENT;
}

static bool is_ascii(const char *text, size_t len)
{
    unsigned char all = 0;
    for (size_t i = 0; i < len; i++) all |= (unsigned char)text[i];
    return all < 0x80;
}

static plx_index fold_ascii(plx__cutter *c, const char *text, size_t len)
{
    bool fold = !c->options->keep_case;
    for (size_t i = 0; i < len; i++) {
        int32_t x = (unsigned char)text[i];
        c->code[i] = fold && x >= 'A' && x <= 'Z' ? x + 32 : x;
    }
    return (plx_index)len;
}

/* Copies the segment with a blank in place of every byte that is no UTF-8; returns how many there were. */
static plx_index clean_segment(char *to, const char *text, size_t len)
{
    plx_index invalid = 0;
    for (size_t i = 0; i < len;) {
        utf8proc_int32_t code = 0;
        utf8proc_ssize_t bytes =
            utf8proc_iterate((const utf8proc_uint8_t *)text + i, (utf8proc_ssize_t)(len - i), &code);
        if (bytes <= 0) {
            to[i++] = ' ';
            invalid++;
            continue;
        }
        memcpy(to + i, text + i, (size_t)bytes);
        i += (size_t)bytes;
    }
    return invalid;
}

static plx_status fold(plx_index *count, plx_index *invalid, plx__cutter *c, plx_context *ctx, const char *text,
                       size_t len)
{
    utf8proc_option_t compose = UTF8PROC_STABLE | UTF8PROC_COMPOSE, how = compose | UTF8PROC_IGNORE;
    if (!c->options->keep_case) how |= UTF8PROC_CASEFOLD;
    if (is_ascii(text, len)) {
        *count = fold_ascii(c, text, len);
        return PLX_OK;
    }
    *invalid += clean_segment(c->clean, text, len);
    utf8proc_ssize_t n =
        utf8proc_decompose((const utf8proc_uint8_t *)c->clean, (utf8proc_ssize_t)len, c->code, CODE_ROOM, how);
    if (n >= 0 && n <= CODE_ROOM) n = utf8proc_normalize_utf32(c->code, n, compose);
    if (n < 0 || n > CODE_ROOM) PLX_FAIL(ctx, PLX_E_INTERNAL, "a text cannot be normalised (%s)", utf8proc_errmsg(n));
    *count = (plx_index)n;
    return PLX_OK;
}

/* ---- cutting ---- */

typedef enum char_class { SEPARATOR, LETTER, MARK } char_class; /* LETTER: or number, where asked for */

static char_class classify(int32_t code, bool numbers)
{
    if (code < 0x80) {
        bool letter = (code >= 'a' && code <= 'z') || (code >= 'A' && code <= 'Z');
        return letter || (numbers && code >= '0' && code <= '9') ? LETTER : SEPARATOR;
    }
    utf8proc_category_t k = utf8proc_category(code);
    if (k >= UTF8PROC_CATEGORY_LU && k <= UTF8PROC_CATEGORY_LO) return LETTER;
    if (k >= UTF8PROC_CATEGORY_MN && k <= UTF8PROC_CATEGORY_ME) return MARK;
    return numbers && k >= UTF8PROC_CATEGORY_ND && k <= UTF8PROC_CATEGORY_NO ? LETTER : SEPARATOR;
}

static bool is_apostrophe(int32_t code) { return code == APOSTROPHE || code == 0x2019; }

/* First position after the word that starts at i. */
static plx_index word_end(const plx__cutter *c, plx_index i, plx_index n)
{
    bool numbers = c->options->numbers, apostrophe = c->options->keep_apostrophe;
    for (i++; i < n; i++) {
        if (classify(c->code[i], numbers) != SEPARATOR) continue;
        bool inside =
            apostrophe && is_apostrophe(c->code[i]) && i + 1 < n && classify(c->code[i + 1], numbers) == LETTER;
        if (!inside) break;
    }
    return i;
}

/* Writes the characters as UTF-8 and a NUL; returns the bytes without it, or -1 when there is no room. */
static ptrdiff_t encode(char *to, size_t room, const int32_t *code, plx_index n)
{
    size_t used = 0;
    for (plx_index i = 0; i < n; i++) {
        if (room - used < 5) return -1;
        if (code[i] < 0x80) to[used++] = (char)code[i];
        else if (is_apostrophe(code[i])) to[used++] = APOSTROPHE;
        else used += (size_t)utf8proc_encode_char(code[i], (utf8proc_uint8_t *)to + used);
    }
    to[used] = '\0';
    return (ptrdiff_t)used;
}

/* Replaces the word at `text` by its stem; false when it does not fit. */
static bool stem_word(char *text, size_t *len, size_t room, struct sb_stemmer *stemmer)
{
    const sb_symbol *stem = sb_stemmer_stem(stemmer, (const sb_symbol *)text, (int)*len);
    size_t stem_len = (size_t)sb_stemmer_length(stemmer);
    if (!stem || stem_len + 1 > room) return false;
    memcpy(text, stem, stem_len);
    text[stem_len] = '\0';
    *len = stem_len;
    return true;
}

static plx_status add_word(plx__words *out, plx__cutter *c, plx_context *ctx, const int32_t *code, plx_index n)
{
    if (n < c->options->min_length) return PLX_OK;
    char *word = out->text + out->used;
    size_t room = out->capacity - out->used;
    ptrdiff_t len = room < 5 ? -1 : encode(word, room, code, n);
    size_t bytes = (size_t)len;
    if (len >= 0 && c->stop && plx__map_get(c->stop, word) >= 0) return PLX_OK;
    if (len < 0 || (c->stemmer && !stem_word(word, &bytes, room, c->stemmer)))
        PLX_FAIL(ctx, PLX_E_INTERNAL, "a word of %lld characters does not fit its place", (long long)n);
    if (bytes == 0) return PLX_OK;
    out->used += bytes + 1;
    out->count++;
    return PLX_OK;
}

plx_status plx__cut(plx__words *out, plx__cutter *c, plx_context *ctx, const char *text, size_t len)
{
    while (len > 0) {
        size_t part = segment_length(text, len);
        plx_index n = 0, end = 0;
        PLX_TRY(fold(&n, &out->invalid, c, ctx, text, part));
        for (plx_index i = 0; i < n; i = end) {
            end = i + 1;
            if (classify(c->code[i], c->options->numbers) != LETTER) continue;
            end = word_end(c, i, n);
            PLX_TRY(add_word(out, c, ctx, c->code + i, end - i));
        }
        text += part;
        len -= part;
    }
    return PLX_OK;
}

/* ---- stop words ---- */

static plx_status stop_file(plx__map *out, plx_context *ctx, plx__arena *arena, const plx__text_options *options,
                            const plx__bytes *file)
{
    plx__text_options plain = *options;
    plx__cutter c;
    plx__words words = {.capacity = plx__words_room(file->size)};
    plx_index existing = -1;
    plain.min_length = 1;
    plain.stem = NULL;
    PLX_TRY(plx__cutter_init(&c, ctx, arena, &plain, NULL));
    PLX_TRY(plx__arena_bytes((void **)&words.text, arena, (plx_index)words.capacity, 1));
    PLX_TRY(plx__cut(&words, &c, ctx, file->data, file->size));
    for (const char *w = words.text; w < words.text + words.used; w += strlen(w) + 1)
        PLX_TRY(plx__map_add(out, w, 0, &existing));
    return PLX_OK;
}

static plx_status stop_language(plx__map *out, plx_context *ctx, const char *name)
{
    char near[160];
    plx_index count = 0, existing = -1;
    const char *const *words = plx__stop_words(&count, name);
    if (!words) {
        const char *const *languages = plx__stop_languages(&count);
        PLX_FAIL(ctx, PLX_E_ARG, "stop = %s: must be none, english, french, german, spanish or file:PATH%s", name,
                 plx__suggest(near, sizeof near, name, languages, count));
    }
    for (plx_index i = 0; i < count; i++) PLX_TRY(plx__map_add(out, words[i], 0, &existing));
    return PLX_OK;
}

plx_status plx__stop_map(plx__map *out, plx_context *ctx, plx__arena *arena, const plx__text_options *options)
{
    const char *stop = options->stop;
    PLX_TRY(plx__map_init(out, arena, 512));
    if (!stop || strcmp(stop, "none") == 0) return PLX_OK;
    if (!plx__starts_with(stop, "file:")) return stop_language(out, ctx, stop);
    plx__bytes file;
    PLX_TRY(plx__bytes_read(&file, ctx, stop + strlen("file:")));
    plx_status st = stop_file(out, ctx, arena, options, &file);
    plx__bytes_free(&file, ctx);
    return st;
}
