/*
 * The two feature views as strings. View 1: sub-strings, frequency, gazetteers, abbreviations; view 2: words, parts of
 * speech, shapes, brackets, earlier occurrences; the tags before in both.
 */
#include "ner/views.h"

#include <stdio.h>
#include <string.h>

#include "ner/chars.h"

enum { LONGEST_AFFIX = 6, NEIGHBOUR_AFFIX = 3 };

/* ---- writing one feature ---- */

typedef struct pen {
    char *begin, *to;
} pen;

static pen start(const plx__emitter *e, const char *name)
{
    size_t length = strlen(name);
    memcpy(e->buffer, name, length);
    return (pen){e->buffer, e->buffer + length};
}

static void add(pen *p, const char *text, size_t length)
{
    memcpy(p->to, text, length);
    p->to += length;
}

static void add_text(pen *p, const char *text) { add(p, text, strlen(text)); }

static plx_status done(const plx__emitter *e, const pen *p)
{
    return e->put(e->arg, p->begin, (size_t)(p->to - p->begin));
}

static plx_status emit(const plx__emitter *e, const char *name, const char *text, size_t length)
{
    pen p = start(e, name);
    add(&p, text, length);
    return done(e, &p);
}

size_t plx__ner_feature_room(size_t longest_form, size_t longest_tag)
{
    return 3 * (longest_form + 8) + 3 * (longest_tag + 8) + 64;
}

/* ---- positions ---- */

int plx__ner_depth(const plx__ner_views *v) { return v->two || (v->one && v->context) ? v->history : 0; }

int32_t plx__ner_form_at(const plx__ner_sentence *s, plx_index i)
{
    return i < 0 ? PLX__FORM_BEFORE : i >= s->n ? PLX__FORM_BEHIND : s->form[i];
}

static const char *pos_at(const plx__ner_sentence *s, plx_index i)
{
    return i < 0 ? "<s>" : i >= s->n ? "</s>" : s->pos[i];
}

static bool is_word(const plx__emitter *e, const plx__ner_sentence *s, plx_index i, char word)
{
    if (i < 0 || i >= s->n) return false;
    const plx__ner_form *f = &e->form[s->form[i]];
    return f->length == 1 && f->text[0] == word;
}

int plx__ner_around(int32_t out[PLX__NER_AROUND], const plx__ner_sentence *s, plx_index i, int side)
{
    int count = 0;
    for (int d = 1; d <= PLX__NER_AROUND; d++) {
        plx_index at = i + side * d;
        bool again = false;
        if (at < 0 || at >= s->n) break;
        for (int k = 0; k < count; k++) again |= out[k] == s->form[at];
        if (!again) out[count++] = s->form[at];
    }
    return count;
}

/* ---- the word ---- */

plx_status plx__emit_bias(const plx__emitter *e) { return e->put(e->arg, "b", 1); }

static plx_status emit_affix(const plx__emitter *e, const char *name, int n, const char *text, size_t length)
{
    pen p = start(e, name);
    const char number[] = {':', (char)('0' + n), ':'};
    add(&p, number, sizeof number);
    add(&p, text, length);
    return done(e, &p);
}

/* NAME:N:prefix and NAME:N:suffix for N = 1 .. most that the word has characters for. */
static plx_status emit_affixes(const plx__emitter *e, const plx__ner_form *f, const char *prefix, const char *suffix,
                               int most)
{
    const char *end = f->text, *tail = f->text + f->length;
    for (int n = 1; n <= most && *end; n++) {
        end = plx__skip_chars(end, 1);
        PLX_TRY(emit_affix(e, prefix, n, f->text, (size_t)(end - f->text)));
    }
    for (int n = 1; n <= most && tail > f->text; n++) {
        do tail--;
        while (tail > f->text && ((unsigned char)*tail & 0xC0) == 0x80);
        PLX_TRY(emit_affix(e, suffix, n, tail, (size_t)(f->text + f->length - tail)));
    }
    return PLX_OK;
}

plx_status plx__emit_own(const plx__emitter *e, int32_t form)
{
    const plx__ner_form *f = &e->form[form];
    char q[8];
    if (e->views->one) {
        PLX_TRY(emit_affixes(e, f, "pre", "suf", LONGEST_AFFIX));
        int length = snprintf(q, sizeof q, "%d", f->frequency);
        PLX_TRY(emit(e, "fr:", q, (size_t)length));
        for (plx_index g = 0; e->lexicon && g < e->lexicon->n_gazetteers; g++) {
            const char *name = e->lexicon->gazetteer[g].name;
            if (f->gazetteers >> g & 1) PLX_TRY(emit(e, "gaz:", name, strlen(name)));
        }
    }
    if (!e->views->two) return PLX_OK;
    PLX_TRY(emit(e, "w:", f->text, f->length));
    return emit(e, "sh:", f->shape, f->shape_length);
}

plx_status plx__emit_neighbour(const plx__emitter *e, int32_t form, int side)
{
    const plx__ner_form *f = &e->form[form];
    bool before = side < 0;
    if (e->views->one && e->views->context) {
        if (form < PLX__FORM_FIRST) PLX_TRY(emit(e, before ? "pre-1:" : "pre+1:", f->text, f->length));
        else PLX_TRY(emit_affixes(e, f, before ? "pre-1" : "pre+1", before ? "suf-1" : "suf+1", NEIGHBOUR_AFFIX));
    }
    if (!e->views->two) return PLX_OK;
    PLX_TRY(emit(e, before ? "w-1:" : "w+1:", f->text, f->length));
    return emit(e, before ? "sh-1:" : "sh+1:", f->shape, f->shape_length);
}

plx_status plx__emit_around(const plx__emitter *e, int32_t form, int side)
{
    if (!e->views->two) return PLX_OK;
    return emit(e, side < 0 ? "dp:" : "dn:", e->form[form].text, e->form[form].length);
}

/* ---- abbreviations ---- */

char plx__ner_abbreviation(const plx__emitter *e, const plx__ner_sentence *s, plx_index i)
{
    if (i < 0) return '<';
    if (i >= s->n) return '>';
    const plx__ner_form *f = &e->form[s->form[i]];
    if (f->is_dotted) return 'D';
    if (f->fits_brackets && is_word(e, s, i - 1, '(') && is_word(e, s, i + 1, ')')) return 'P';
    return f->is_capitals ? 'C' : '0';
}

static void add_abbreviation(pen *p, char class)
{
    if (class == '<') add_text(p, "<s>");
    else if (class == '>') add_text(p, "</s>");
    else add(p, &class, 1);
}

plx_status plx__emit_abbreviations(const plx__emitter *e, const char around[3])
{
    static const struct {
        const char *name;
        int first, last;
    } kinds[] = {{"ab:", 1, 1}, {"ab01:", 1, 2}, {"abm11:", 0, 2}};
    if (!e->views->one) return PLX_OK;
    for (int k = 0; k < 3; k++) {
        pen p = start(e, kinds[k].name);
        for (int j = kinds[k].first; j <= kinds[k].last; j++) {
            if (j > kinds[k].first) add(&p, "_", 1);
            add_abbreviation(&p, around[j]);
        }
        PLX_TRY(done(e, &p));
    }
    return PLX_OK;
}

/* ---- shapes, parts of speech, occurrences ---- */

static void add_shapes(pen *p, const plx__emitter *e, const plx__ner_sentence *s, plx_index first, plx_index last)
{
    for (plx_index j = first; j <= last; j++) {
        const plx__ner_form *f = &e->form[plx__ner_form_at(s, j)];
        if (j > first) add(p, "_", 1);
        add(p, f->shape, f->shape_length);
    }
}

static void add_pos(pen *p, const plx__ner_sentence *s, plx_index first, plx_index last)
{
    for (plx_index j = first; j <= last; j++) {
        if (j > first) add(p, "_", 1);
        add_text(p, pos_at(s, j));
    }
}

plx_status plx__emit_shapes(const plx__emitter *e, const plx__ner_sentence *s, plx_index i)
{
    if (!e->views->two) return PLX_OK;
    pen p = start(e, "sh01:");
    add_shapes(&p, e, s, i, i + 1);
    PLX_TRY(done(e, &p));
    p = start(e, "shm11:");
    add_shapes(&p, e, s, i - 1, i + 1);
    return done(e, &p);
}

plx_status plx__emit_pos(const plx__emitter *e, const plx__ner_sentence *s, plx_index i)
{
    static const char *const name[] = {"pos-1:", "pos:", "pos+1:"};
    if (!e->views->two || !e->views->pos) return PLX_OK;
    for (int k = 0; k < 3; k++) {
        const char *pos = pos_at(s, i + k - 1);
        PLX_TRY(emit(e, name[k], pos, strlen(pos)));
    }
    return PLX_OK;
}

plx_status plx__emit_occurrence(const plx__emitter *e, const plx__ner_sentence *s, plx_index i)
{
    if (!e->views->two || s->seen_before[i] < 0) return PLX_OK;
    const plx__ner_form *before = &e->form[s->seen_before[i]], *behind = &e->form[s->seen_behind[i]];
    PLX_TRY(emit(e, "op:", before->text, before->length));
    return emit(e, "on:", behind->text, behind->length);
}

plx_status plx__emit_static(const plx__emitter *e, const plx__ner_sentence *s, plx_index i)
{
    PLX_TRY(plx__emit_bias(e));
    PLX_TRY(plx__emit_own(e, s->form[i]));
    for (int side = -1; side <= 1; side += 2) {
        int32_t around[PLX__NER_AROUND];
        int count = plx__ner_around(around, s, i, side);
        PLX_TRY(plx__emit_neighbour(e, plx__ner_form_at(s, i + side), side));
        for (int k = 0; k < count; k++) PLX_TRY(plx__emit_around(e, around[k], side));
    }
    const char abbreviations[] = {plx__ner_abbreviation(e, s, i - 1), plx__ner_abbreviation(e, s, i),
                                  plx__ner_abbreviation(e, s, i + 1)};
    PLX_TRY(plx__emit_abbreviations(e, abbreviations));
    PLX_TRY(plx__emit_shapes(e, s, i));
    PLX_TRY(plx__emit_pos(e, s, i));
    return plx__emit_occurrence(e, s, i);
}

/* ---- history ---- */

enum { T1W, T1S, T1S_NEXT, T1SS, T1P, T2SSS, T2P };

const char *const plx__rest_name[PLX__NER_RESTS] = {"t1w:", "t1s:", "t1s+:", "t1ss:", "t1p:", "t2sss:", "t2p:"};
const int plx__rest_tags[PLX__NER_RESTS] = {1, 1, 1, 1, 1, 2, 2};

static void add_rest(pen *p, const plx__emitter *e, const plx__ner_sentence *s, plx_index i, int kind)
{
    switch (kind) {
    case T1W: add(p, e->form[s->form[i]].text, e->form[s->form[i]].length); break;
    case T1S: add_shapes(p, e, s, i, i); break;
    case T1S_NEXT: add_shapes(p, e, s, i + 1, i + 1); break;
    case T1SS: add_shapes(p, e, s, i - 1, i); break;
    case T1P: add_pos(p, s, i - 1, i); break;
    case T2SSS: add_shapes(p, e, s, i - 2, i); break;
    default: add_pos(p, s, i - 2, i); break;
    }
}

static bool has_rest(const plx__ner_views *v, int kind)
{
    return v->two && plx__rest_tags[kind] <= v->history && (v->pos || (kind != T1P && kind != T2P));
}

void plx__ner_rest(size_t *length, const plx__emitter *e, const plx__ner_sentence *s, plx_index i, int kind)
{
    *length = 0;
    if (!has_rest(e->views, kind)) return;
    pen p = start(e, plx__rest_name[kind]);
    add_rest(&p, e, s, i, kind);
    *length = (size_t)(p.to - p.begin);
}

int plx__ner_bracket(const plx__emitter *e, const plx__ner_sentence *s, plx_index i)
{
    if (!e->views->two || !is_word(e, s, i, ')')) return 0;
    for (int d = 1; d <= e->views->history; d++)
        if (is_word(e, s, i - d, '(')) return d;
    return 0;
}

/* Tags oldest first, as they are read. */
static void add_tags(pen *p, const char *const *tag, int count)
{
    for (int d = count - 1; d >= 0; d--) {
        add_text(p, tag[d]);
        if (d > 0) add(p, "_", 1);
    }
}

plx_status plx__emit_history(const plx__emitter *e, const plx__ner_sentence *s, plx_index i,
                             const char *const tag[PLX__NER_HISTORY])
{
    static const char *const name[] = {"t1:", "t2:", "t3:"};
    int depth = plx__ner_depth(e->views), bracket = plx__ner_bracket(e, s, i);
    for (int d = 1; d <= depth; d++) {
        pen p = start(e, name[d - 1]);
        add_tags(&p, tag, d);
        PLX_TRY(done(e, &p));
    }
    for (int kind = 0; kind < PLX__NER_RESTS; kind++) {
        if (!has_rest(e->views, kind)) continue;
        pen p = start(e, plx__rest_name[kind]);
        add_tags(&p, tag, plx__rest_tags[kind]);
        add(&p, "_", 1);
        add_rest(&p, e, s, i, kind);
        PLX_TRY(done(e, &p));
    }
    return bracket ? emit(e, "par:", tag[bracket - 1], strlen(tag[bracket - 1])) : PLX_OK;
}
