/*
 * Characters of words, on utf8proc's tables.
 */
#include "ner/chars.h"

#include <string.h>
#include <utf8proc.h>

/* ---- classes ---- */

typedef struct span {
    int32_t first, last;
} span;

/* Unicode's Other_Lowercase and Other_Uppercase: of a case without being letters of category Ll or Lu. */
static const span OTHER_LOWER[] = {
    {0xaa, 0xaa},       {0xba, 0xba},       {0x2b0, 0x2b8},     {0x2c0, 0x2c1},     {0x2e0, 0x2e4},
    {0x345, 0x345},     {0x37a, 0x37a},     {0x1d2c, 0x1d6a},   {0x1d78, 0x1d78},   {0x1d9b, 0x1dbf},
    {0x2071, 0x2071},   {0x207f, 0x207f},   {0x2090, 0x209c},   {0x2170, 0x217f},   {0x24d0, 0x24e9},
    {0x2c7c, 0x2c7d},   {0xa69c, 0xa69d},   {0xa770, 0xa770},   {0xa7f8, 0xa7f9},   {0xab5c, 0xab5f},
    {0x10780, 0x10780}, {0x10783, 0x10785}, {0x10787, 0x107b0}, {0x107b2, 0x107ba}, {0, 0}};
static const span OTHER_UPPER[] = {{0x2160, 0x216f},   {0x24b6, 0x24cf},   {0x1f130, 0x1f149},
                                   {0x1f150, 0x1f169}, {0x1f170, 0x1f189}, {0, 0}};

static bool among(const span *list, int32_t code)
{
    for (; list->last; list++)
        if (code >= list->first && code <= list->last) return true;
    return false;
}

static unsigned wide_class(int32_t code)
{
    unsigned letter = 0;
    switch (utf8proc_category(code)) {
    case UTF8PROC_CATEGORY_LU: return PLX__CHAR_UPPER | PLX__CHAR_LETTER;
    case UTF8PROC_CATEGORY_LL: return PLX__CHAR_LOWER | PLX__CHAR_LETTER;
    case UTF8PROC_CATEGORY_LT:
    case UTF8PROC_CATEGORY_LM:
    case UTF8PROC_CATEGORY_LO: letter = PLX__CHAR_LETTER; break;
    default: break;
    }
    if (among(OTHER_LOWER, code)) return PLX__CHAR_LOWER | PLX__CHAR_LETTER;
    if (among(OTHER_UPPER, code)) return PLX__CHAR_UPPER | PLX__CHAR_LETTER;
    return letter;
}

unsigned plx__char_class(int32_t code)
{
    if (code >= 0x80) return wide_class(code);
    if (code >= 'a' && code <= 'z') return PLX__CHAR_LOWER | PLX__CHAR_LETTER;
    if (code >= 'A' && code <= 'Z') return PLX__CHAR_UPPER | PLX__CHAR_LETTER;
    return code >= '0' && code <= '9' ? PLX__CHAR_DIGIT : 0;
}

/* ---- walking ---- */

enum { NO_CHARACTER = 0x110000 }; /* plus the byte: beyond Unicode, of no class */

int32_t plx__next_char(const char **at)
{
    const unsigned char *p = (const unsigned char *)*at;
    utf8proc_int32_t code = 0;
    if (*p < 0x80) {
        ++*at;
        return *p;
    }
    utf8proc_ssize_t n = utf8proc_iterate(p, (utf8proc_ssize_t)strnlen(*at, 4), &code);
    *at += n > 0 ? n : 1;
    return n > 0 ? code : NO_CHARACTER + *p;
}

plx_index plx__char_count(const char *word)
{
    plx_index count = 0;
    for (; *word; count++) plx__next_char(&word);
    return count;
}

const char *plx__skip_chars(const char *word, plx_index count)
{
    for (; count > 0 && *word; count--) plx__next_char(&word);
    return word;
}

/* ---- whole words ---- */

size_t plx__lower_word(char *out, const char *word)
{
    char *to = out;
    while (*word) {
        const char *from = word;
        int32_t code = plx__next_char(&word), lower = code < NO_CHARACTER ? utf8proc_tolower(code) : code;
        if (lower != code) to += utf8proc_encode_char(lower, (utf8proc_uint8_t *)to);
        else {
            memcpy(to, from, (size_t)(word - from));
            to += word - from;
        }
    }
    *to = '\0';
    return (size_t)(to - out);
}

size_t plx__word_shape(char *out, const char *word)
{
    char *to = out;
    int32_t last = -1;
    int run = 0;
    while (*word) {
        const char *from = word;
        int32_t symbol = plx__next_char(&word);
        unsigned class = plx__char_class(symbol);
        bool kept = !(class & (PLX__CHAR_UPPER | PLX__CHAR_LOWER | PLX__CHAR_DIGIT));
        if (!kept) symbol = class & PLX__CHAR_UPPER ? 'X' : class & PLX__CHAR_LOWER ? 'x' : 'd';
        run = symbol == last ? run + 1 : 1;
        last = symbol;
        if (run > 2) continue;
        if (!kept) *to++ = (char)symbol;
        else {
            memcpy(to, from, (size_t)(word - from));
            to += word - from;
        }
    }
    *to = '\0';
    return (size_t)(to - out);
}

unsigned plx__word_classes(const char *word)
{
    unsigned all = 0;
    while (*word) all |= plx__char_class(plx__next_char(&word));
    return all;
}
