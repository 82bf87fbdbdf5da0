/*
 * Word forms, counted words and gazetteers.
 */
#include "ner/forms.h"

#include <string.h>

#include "core/file.h"
#include "ner/chars.h"

/* ---- counts ---- */

plx_status plx__ner_lexicon_init(plx__ner_lexicon *lexicon, plx__arena *arena)
{
    *lexicon = (plx__ner_lexicon){0};
    return plx__dict_init(&lexicon->words, arena, 0);
}

static plx_status count_one(plx__ner_lexicon *l, const char *lower, size_t length, int64_t times)
{
    plx_index at = 0;
    PLX_TRY(plx__dict_add(&at, &l->words, lower, length));
    if (at >= l->room) {
        int64_t *bigger = NULL;
        plx_index room = l->room ? 2 * l->room : 1024;
        PLX_TRY(plx__arena_i64(&bigger, l->words.arena, room));
        if (l->room) memcpy(bigger, l->count, (size_t)l->room * sizeof *bigger);
        l->count = bigger;
        l->room = room;
    }
    l->count[at] += times;
    return PLX_OK;
}

/* Room for 2 * length + 1 bytes: no simple mapping makes a word longer than that. */
static plx_status fit_buffer(plx__word_buffer *work, plx__arena *arena, size_t length)
{
    if (2 * length + 1 <= work->bytes) return PLX_OK;
    work->bytes = 0;
    PLX_TRY(plx__arena_bytes((void **)&work->text, arena, 4 * (plx_index)length + 256, 1));
    work->bytes = 4 * length + 256;
    return PLX_OK;
}

plx_status plx__ner_lexicon_count(plx__ner_lexicon *l, plx_context *ctx, const char *const *word, plx_index n,
                                  int64_t times)
{
    for (plx_index i = 0; i < n; i++) {
        if (i % 4096 == 0) PLX_TRY(plx__poll(ctx));
        PLX_TRY(fit_buffer(&l->work, l->words.arena, strlen(word[i])));
        PLX_TRY(count_one(l, l->work.text, plx__lower_word(l->work.text, word[i]), times));
    }
    return PLX_OK;
}

/* ---- gazetteers ---- */

static plx_status add_words(plx__dict *words, const char *line, size_t length)
{
    plx_index number = 0;
    for (size_t i = 0; i < length;) {
        size_t begin = i;
        while (i < length && line[i] != ' ' && line[i] != '\t') i++;
        if (i > begin) PLX_TRY(plx__dict_add(&number, words, line + begin, i - begin));
        while (i < length && (line[i] == ' ' || line[i] == '\t')) i++;
    }
    return PLX_OK;
}

static plx_status add_lines(plx__dict *words, const plx__bytes *file)
{
    const char *cursor = file->data, *line = NULL;
    size_t length = 0;
    while (plx__next_line(&line, &length, &cursor, file->data + file->size)) PLX_TRY(add_words(words, line, length));
    return PLX_OK;
}

plx_status plx__ner_gazetteer_read(plx__gazetteer *out, plx_context *ctx, plx__arena *arena, const char *name,
                                   const char *path)
{
    plx__bytes file;
    PLX_TRY(plx__arena_text(&out->name, arena, name));
    PLX_TRY(plx__dict_init(&out->words, arena, 0));
    PLX_TRY(plx__bytes_read(&file, ctx, path));
    plx_status st = add_lines(&out->words, &file);
    plx__bytes_free(&file, ctx);
    return st;
}

/* ---- forms ---- */

/* Only pairs of a letter and a dot, at least two: U.S. */
static bool is_dotted(const char *word)
{
    int pairs = 0;
    for (; *word; pairs++) {
        if (!(plx__char_class(plx__next_char(&word)) & PLX__CHAR_LETTER) || *word != '.') return false;
        word++;
    }
    return pairs >= 2;
}

/* 2 to 6 characters, upper-case letters and digits only, at least two of them letters. */
static bool is_capitals(const char *word, plx_index length)
{
    int upper = 0;
    if (length < 2 || length > 6) return false;
    while (*word) {
        unsigned class = plx__char_class(plx__next_char(&word));
        if (!(class & (PLX__CHAR_UPPER | PLX__CHAR_DIGIT))) return false;
        upper += (class & PLX__CHAR_UPPER) != 0;
    }
    return upper >= 2;
}

static uint8_t log2_floor(int64_t x)
{
    uint8_t q = 0;
    for (; x > 1; x >>= 1) q++;
    return q;
}

static plx_status describe(plx__ner_form *f, plx__ner_forms *forms)
{
    const plx__ner_lexicon *l = forms->lexicon;
    plx_index length = plx__char_count(f->text);
    unsigned classes = plx__word_classes(f->text);
    PLX_TRY(fit_buffer(&forms->work, forms->arena, f->length));
    char *work = forms->work.text;
    plx_index at = l ? plx__dict_get(&l->words, work, plx__lower_word(work, f->text)) : -1;
    f->frequency = log2_floor(1 + (at >= 0 ? l->count[at] : 0));
    for (plx_index g = 0; l && g < l->n_gazetteers; g++)
        if (plx__dict_get(&l->gazetteer[g].words, f->text, f->length) >= 0) f->gazetteers |= UINT64_C(1) << g;
    f->is_dotted = is_dotted(f->text);
    f->is_capitals = is_capitals(f->text, length);
    f->fits_brackets = length >= 2 && length <= 10 && (classes & PLX__CHAR_UPPER);
    f->recurs = (classes & (PLX__CHAR_UPPER | PLX__CHAR_DIGIT)) != 0;
    f->shape_length = (uint32_t)plx__word_shape(work, f->text);
    return plx__arena_textn(&f->shape, forms->arena, work, f->shape_length);
}

static plx_status put_form(plx__ner_forms *forms, plx__ner_form form)
{
    if (forms->count == forms->room) {
        plx__ner_form *bigger = NULL;
        plx_index room = forms->room ? 2 * forms->room : 1024;
        PLX_TRY(plx__arena_bytes((void **)&bigger, forms->arena, room, sizeof *bigger));
        if (forms->count) memcpy(bigger, forms->form, (size_t)forms->count * sizeof *bigger);
        forms->form = bigger;
        forms->room = room;
    }
    forms->form[forms->count++] = form;
    forms->longest = plx__max(forms->longest, form.length);
    return PLX_OK;
}

plx_status plx__ner_forms_init(plx__ner_forms *forms, plx__arena *arena, const plx__ner_lexicon *lexicon)
{
    static const char *const outside[] = {"<s>", "</s>"};
    *forms = (plx__ner_forms){.lexicon = lexicon, .arena = arena};
    PLX_TRY(plx__dict_init(&forms->dict, arena, 0));
    for (int k = 0; k < 2; k++) {
        uint32_t length = (uint32_t)strlen(outside[k]);
        PLX_TRY(put_form(
            forms, (plx__ner_form){.text = outside[k], .shape = outside[k], .length = length, .shape_length = length}));
    }
    return PLX_OK;
}

plx_status plx__ner_form_add(int32_t *out, plx__ner_forms *forms, const char *word)
{
    plx_index number = 0, before = forms->dict.count;
    size_t length = strlen(word);
    PLX_TRY(plx__dict_add(&number, &forms->dict, word, length));
    *out = (int32_t)(number + PLX__FORM_FIRST);
    if (forms->dict.count == before) return PLX_OK;
    plx__ner_form form = {.text = forms->dict.key[number].text, .length = (uint32_t)length};
    PLX_TRY(describe(&form, forms));
    return put_form(forms, form);
}
