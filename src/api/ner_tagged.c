/*
 * Names in text that is in memory. Tagging is that of files, over the whole text as one part; what comes out is copied
 * into an object of its own.
 */
#include "parallax/ner_tagged.h"

#include <string.h>

#include "api/api_args.h"
#include "api/ner_impl.h"
#include "linalg/dense.h"
#include "ner/memm_file.h"

struct plx_ner_tagged {
    plx__arena arena;
    plx_index n, n_names, n_columns;
    const char **tag, **column;
    plx_ner_name *name;
    double *values; /* n x n_columns */
};

/* ---- tagging ---- */

/* Marks of all tokens (in scratch) and values (in the tagged text). */
static plx_status find_marks(plx_ner_tagged *t, plx__ner_mark **out, plx_context *ctx, const plx_ner_model *m,
                             const plx__conll *conll, bool unlabelled)
{
    plx__arena *scratch = plx__scratch(ctx);
    plx__ner_columns columns = {.unlabelled = unlabelled};
    plx__ner_text text;
    PLX_TRY(plx__ner_text_open(&text, ctx, scratch, conll, &columns, NULL));
    PLX_TRY(plx__arena_f64(&t->values, &t->arena, t->n, t->n_columns));
    if (plx__ner_is_memm(m)) {
        PLX_TRY(plx__memm_check_text(ctx, &m->memm, conll, unlabelled));
        return plx__memm_tag_text(out, ctx, &m->index, &text, t->values);
    }
    plx__svm own = m->svm; /* tagging adds no features */
    PLX_TRY(PLX__ARENA_NEW(out, scratch, t->n));
    return plx__svm_tag(&own, ctx, scratch, &text, *out, t->values, NULL);
}

/* IOB2: a name is a B, or what else begins one, and the I of its type behind it. */
static bool begins(const plx__ner_mark *mark, plx_index i, plx_index first)
{
    if (mark[i].prefix == 'O') return false;
    return mark[i].prefix == 'B' || i == first || mark[i - 1].prefix == 'O' || mark[i - 1].type != mark[i].type;
}

static plx_status list_names(plx_ner_tagged *t, const plx_ner_model *m, const plx__conll *text,
                             const plx__ner_mark *mark)
{
    for (plx_index s = 0; s < text->n_sentences; s++)
        t->n_names += plx__ner_names(mark + text->sentences[s], text->sentences[s + 1] - text->sentences[s]);
    PLX_TRY(PLX__ARENA_NEW(&t->name, &t->arena, t->n_names));
    plx_ner_name *to = t->name;
    for (plx_index s = 0; s < text->n_sentences; s++)
        for (plx_index i = text->sentences[s], last = text->sentences[s + 1]; i < last; i++) {
            if (!begins(mark, i, text->sentences[s])) continue;
            plx_index end = i + 1;
            while (end < last && mark[end].prefix == 'I' && mark[end].type == mark[i].type) end++;
            *to = (plx_ner_name){.struct_size = sizeof *to, .sentence = s, .begin = i, .end = end};
            PLX_TRY(plx__arena_text(&to->type, &t->arena, m->types.name[mark[i].type]));
            to++;
        }
    return PLX_OK;
}

static plx_status spell_tags(plx_ner_tagged *t, const plx_ner_model *m, const plx__conll *text,
                             const plx__ner_mark *mark, plx__ner_scheme scheme)
{
    PLX_TRY(PLX__ARENA_NEW(&t->tag, &t->arena, t->n));
    for (plx_index s = 0; s < text->n_sentences; s++) {
        plx__ner_mark before = plx__ner_outside();
        for (plx_index i = text->sentences[s]; i < text->sentences[s + 1]; i++) {
            PLX_TRY(plx__ner_tag_text(&t->tag[i], &t->arena, &m->types, plx__ner_to_scheme(mark[i], before, scheme)));
            before = mark[i];
        }
    }
    return PLX_OK;
}

static plx_status fill(plx_ner_tagged *t, plx_context *ctx, const plx_ner_model *m, const plx__conll *text,
                       bool unlabelled, plx__ner_scheme scheme)
{
    bool memm = plx__ner_is_memm(m);
    const char *const *names = memm ? m->memm.tag : m->svm.cat;
    plx__ner_mark *mark = NULL;
    t->n = text->n_tokens;
    t->n_columns = memm ? m->memm.n_tags : m->svm.n_cat;
    PLX_TRY(PLX__ARENA_NEW(&t->column, &t->arena, t->n_columns));
    for (plx_index k = 0; k < t->n_columns; k++) PLX_TRY(plx__arena_text(&t->column[k], &t->arena, names[k]));
    PLX_TRY(find_marks(t, &mark, ctx, m, text, unlabelled));
    PLX_TRY(spell_tags(t, m, text, mark, scheme));
    return list_names(t, m, text, mark);
}

static plx_status tag(plx_ner_tagged **out, plx_context *ctx, const plx_ner_model *m, const plx_conll *text,
                      const plx_ner_tag_options *given)
{
    plx_ner_tag_options o = PLX_NER_TAG_OPTIONS_INIT;
    plx__ner_scheme scheme = m->scheme;
    PLX_TRY(plx__take_options(&o, sizeof o, ctx, given, "PLX_NER_TAG_OPTIONS_INIT"));
    PLX_TRY(plx__ner_scheme_of(&scheme, ctx, o.scheme, m->scheme));
    if (o.probs || o.scores)
        PLX_FAIL(ctx, PLX_E_ARG, "no file is written for a text in memory; ask plx_ner_tagged_values()");
    plx_ner_tagged *t = plx__alloc(ctx, sizeof *t);
    if (!t) PLX_FAIL(ctx, PLX_E_NOMEM, "out of memory for a tagged text");
    *t = (plx_ner_tagged){.n = 0};
    plx__arena_init(&t->arena, ctx);
    plx_status st = fill(t, ctx, m, &text->text, o.unlabelled != 0, scheme);
    if (st == PLX_OK) *out = t;
    else plx_ner_tagged_destroy(t);
    return st;
}

plx_status plx_ner_tag(plx_ner_tagged **out, plx_context *ctx, const plx_ner_model *model, const plx_conll *text,
                       const plx_ner_tag_options *options)
{
    if (out) *out = NULL;
    PLX__CALL(ctx, tag(out, ctx, model, text, options), PLX__ARG(out), PLX__ARG(model), PLX__ARG(text));
}

/* ---- what was found ---- */

void plx_ner_tagged_destroy(plx_ner_tagged *tagged)
{
    if (!tagged) return;
    plx_context *ctx = tagged->arena.ctx;
    plx__arena_free(&tagged->arena);
    plx__release(ctx, tagged, sizeof *tagged);
}

plx_index plx_ner_tagged_tokens(const plx_ner_tagged *tagged) { return tagged ? tagged->n : 0; }
plx_index plx_ner_tagged_names(const plx_ner_tagged *tagged) { return tagged ? tagged->n_names : 0; }

const char *plx_ner_tagged_tag(const plx_ner_tagged *tagged, plx_index token)
{
    return tagged && token >= 0 && token < tagged->n ? tagged->tag[token] : NULL;
}

const char *plx_ner_tagged_column(const plx_ner_tagged *tagged, plx_index column)
{
    return tagged && column >= 0 && column < tagged->n_columns ? tagged->column[column] : NULL;
}

plx_status plx_ner_tagged_name(plx_ner_name *out, const plx_ner_tagged *tagged, plx_index i)
{
    if (!out || out->struct_size != sizeof *out || i < 0 || i >= plx_ner_tagged_names(tagged)) return PLX_E_ARG;
    *out = tagged->name[i];
    return PLX_OK;
}

plx_status plx_ner_tagged_values(plx_cmat *out, const plx_ner_tagged *tagged)
{
    if (!out || !tagged) return PLX_E_ARG;
    *out = plx__cmat_of(tagged->values, tagged->n, tagged->n_columns);
    return PLX_OK;
}
