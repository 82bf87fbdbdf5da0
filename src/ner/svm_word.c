/*
 * Features of a word: surface class (f1), length (f2), sub-strings (f3), corpus lexicon (f4).
 */
#include <stdio.h>
#include <string.h>

#include "ner/chars.h"
#include "ner/svm.h"

enum { LONGEST = 20, SUFFIXES = 3, TRIGRAMS = 5, TRIGRAM = 3 };

const plx__param_spec plx__svm_params_table[] = {
    PLX__CHOICE(plx__svm_params, window, "simple", "simple|enhanced",
                "simple: words are classified; enhanced: spans of words are."),
    PLX__REAL_ABOVE(plx__svm_params, C, "1", 0, "Weight of the losses; larger ones fit the text more closely."),
    PLX__REAL_ABOVE(plx__svm_params, tol, "1e-8", 0, "Stop when the largest gradient entry is at most this."),
    PLX__INT(plx__svm_params, max_span, "8", 1, 1000, "Longest span of words of the enhanced window."),
    PLX__INT(plx__svm_params, stop_top, "0", 0, 1e9,
             "So many of the most frequent forms that are never part of a training name are no candidates."),
    PLX__BOOL(plx__svm_params, memory, "1", "Names found in a document mark equal words elsewhere in it."),
    PLX__PARAM_END};

/* ---- surface class ---- */

typedef struct surface {
    plx_index length, digits, upper, lower, letters, apostrophes, hyphens;
    unsigned first, last; /* classes of the first and last character */
    bool upper_inside;    /* an upper-case letter behind the first character */
    bool lower_tail;      /* all behind the first are lower-case letters */
    bool number_inside;   /* all between first and last are digits or . , : / - */
} surface;

static surface look_at(const char *word)
{
    surface s = {.lower_tail = true, .number_inside = true};
    while (*word) {
        int32_t code = plx__next_char(&word);
        unsigned class = plx__char_class(code);
        bool first = s.length == 0, last = !*word;
        s.length++;
        s.digits += (class & PLX__CHAR_DIGIT) != 0;
        s.upper += (class & PLX__CHAR_UPPER) != 0;
        s.lower += (class & PLX__CHAR_LOWER) != 0;
        s.letters += (class & PLX__CHAR_LETTER) != 0;
        s.apostrophes += code == '\'' || code == 0x2019;
        s.hyphens += code == '-';
        if (first) s.first = class;
        s.last = class;
        s.upper_inside |= !first && (class & PLX__CHAR_UPPER);
        s.lower_tail &= first || (class & PLX__CHAR_LOWER);
        s.number_inside &= first || last || (class & PLX__CHAR_DIGIT) || (code < 0x80 && code && strchr(".,:/-", code));
    }
    return s;
}

/* Digits, then a dot or st, nd, rd, th. */
static bool is_ordinal(const char *word)
{
    static const char *const ends[] = {".", "st", "nd", "rd", "th"};
    size_t digits = strspn(word, "0123456789");
    for (size_t k = 0; digits > 0 && k < sizeof ends / sizeof *ends; k++)
        if (strcmp(word + digits, ends[k]) == 0) return true;
    return false;
}

/* At least two groups of a letter and a dot, then nothing or one letter. */
static bool is_dotted(const char *word)
{
    int groups = 0;
    while (*word) {
        if (!(plx__char_class(plx__next_char(&word)) & PLX__CHAR_LETTER)) return false;
        if (!*word) return groups >= 2;
        if (*word++ != '.') return false;
        groups++;
    }
    return groups >= 2;
}

static const char *number_class(const char *word, const surface *s)
{
    if (s->digits == s->length)
        return s->length == 1 ? "digit1" : s->length == 2 ? "digit2" : s->length == 4 ? "digit4" : "digits";
    if (s->length >= 2 && (s->first & s->last & PLX__CHAR_DIGIT) && s->number_inside) return "number";
    if (is_ordinal(word)) return "ordinal";
    return (s->first & PLX__CHAR_DIGIT) && s->letters ? "alnum-digitfirst" : NULL;
}

static const char *word_class(const char *word, const surface *s)
{
    bool starts_upper = (s->first & PLX__CHAR_UPPER) != 0, letters_only = s->letters == s->length;
    if (s->length == 1 && starts_upper) return "single-upper";
    if (s->length == 2 && starts_upper && word[strlen(word) - 1] == '.') return "initial";
    if (is_dotted(word)) return "abbrev-dots";
    if (starts_upper && s->upper + s->digits == s->length && s->digits) return "upper-digit";
    if (s->length >= 2 && s->upper == s->length) return "all-upper";
    if (s->hyphens && starts_upper) return "hyphen-cap";
    if (s->hyphens && s->letters) return "hyphen-lower";
    if (letters_only && s->lower && s->upper_inside) return "mixed";
    if (starts_upper && s->length >= 2 && s->lower_tail) return "capitalized";
    if (s->lower == s->length) return "lower";
    if (s->letters && s->apostrophes && s->letters + s->apostrophes == s->length) return "apostrophe";
    return s->letters == 0 && s->digits == 0 ? "punct" : "other";
}

const char *plx__surface_class(const char *word)
{
    surface s = look_at(word);
    const char *class = number_class(word, &s);
    return class ? class : word_class(word, &s);
}

bool plx__svm_has_word_character(const char *word)
{
    return (plx__word_classes(word) & (PLX__CHAR_LETTER | PLX__CHAR_DIGIT)) != 0;
}

/* ---- features ---- */

typedef struct writer {
    plx__svm_feature_fn put;
    void *arg;
    char *buffer;
} writer;

static plx_status put(const writer *w, const char *name, const char *text, size_t length, double value)
{
    size_t head = strlen(name);
    memcpy(w->buffer, name, head);
    memcpy(w->buffer + head, text, length);
    return w->put(w->arg, w->buffer, head + length, value);
}

static plx_status fit_room(char **block, size_t *bytes, plx__arena *arena, size_t needed)
{
    if (needed <= *bytes) return PLX_OK;
    *bytes = 0;
    PLX_TRY(plx__arena_bytes((void **)block, arena, 2 * (plx_index)needed, 1));
    *bytes = 2 * needed;
    return PLX_OK;
}

/* Suffixes of 1 to 3 characters, and trigrams that start at characters 1 to 5, of the lower-cased word. */
static plx_status put_parts(const writer *w, const char *lower, plx_index length)
{
    static const char *const suffix[] = {"f3:s1:", "f3:s2:", "f3:s3:"};
    static const char *const trigram[] = {"f3:1:", "f3:2:", "f3:3:", "f3:4:", "f3:5:"};
    for (plx_index n = 1; n <= plx__min(SUFFIXES, length); n++) {
        const char *tail = plx__skip_chars(lower, length - n);
        PLX_TRY(put(w, suffix[n - 1], tail, strlen(tail), 1));
    }
    for (plx_index p = 0; p < TRIGRAMS && p + TRIGRAM <= length; p++) {
        const char *begin = plx__skip_chars(lower, p), *end = plx__skip_chars(begin, TRIGRAM);
        PLX_TRY(put(w, trigram[p], begin, (size_t)(end - begin), 1));
    }
    return PLX_OK;
}

static plx_status put_ratios(const writer *w, const plx__svm *m, plx__svm_pen *pen, const char *word)
{
    const plx__svm_lexicon *l = &m->lexicon;
    plx_index at = l->present ? plx__dict_get(&l->corpus.keys, word, strlen(word)) : -1;
    for (plx_index k = at < 0 ? 0 : l->corpus.ptr[at]; at >= 0 && k < l->corpus.ptr[at + 1]; k++) {
        plx__svm_ratio r = l->corpus.entry[k];
        const char *cat = m->cat[r.key / l->bins];
        PLX_TRY(fit_room(&pen->name, &pen->name_bytes, pen->arena, strlen(cat) + 64));
        int length = snprintf(pen->name, pen->name_bytes, "f4:%s@%lld", cat, (long long)(r.key % l->bins));
        PLX_TRY(w->put(w->arg, pen->name, (size_t)length, r.ratio));
    }
    return PLX_OK;
}

plx_status plx__svm_word_features(const plx__svm *m, plx__svm_pen *pen, const char *word, plx__svm_feature_fn fn,
                                  void *arg)
{
    const char *class = plx__surface_class(word);
    plx_index length = plx__char_count(word);
    size_t room = 2 * strlen(word) + 1;
    PLX_TRY(fit_room(&pen->lower, &pen->lower_bytes, pen->arena, room));
    PLX_TRY(fit_room(&pen->name, &pen->name_bytes, pen->arena, room + 64));
    writer w = {fn, arg, pen->name};
    plx__lower_word(pen->lower, word);
    PLX_TRY(put(&w, "f1:", class, strlen(class), 1));
    PLX_TRY(fn(arg, "f2", 2, (double)plx__min(length, LONGEST) / LONGEST));
    PLX_TRY(put_parts(&w, pen->lower, plx__char_count(pen->lower)));
    return put_ratios(&w, m, pen, word);
}
