/*
 * Tagging a text in memory, a file or standard input with a conditional Markov model.
 */
#include "ner/memm_file.h"

#include "ner/source.h"

plx_status plx__memm_check_text(plx_context *ctx, const plx__memm *m, const plx__conll *text, bool unlabelled)
{
    if (m->views.two && m->views.pos && plx__ner_tag_column(text, unlabelled) < 2)
        PLX_FAIL(ctx, PLX_E_DATA, "%s: the model was trained with parts of speech; a column of them is missing",
                 text->where);
    return PLX_OK;
}

plx_status plx__memm_tag_text(plx__ner_mark **out, plx_context *ctx, const plx__memm_index *index,
                              const plx__ner_text *text, double *probs)
{
    plx__arena *scratch = plx__scratch(ctx);
    plx__memm_tagger tagger = {0};
    plx__ner_text own = *text;
    int32_t *tags = NULL;
    if (!index->m->views.pos) own.pos = NULL;
    PLX_TRY(plx__arena_i32(&tags, scratch, text->n));
    PLX_TRY(PLX__ARENA_NEW(out, scratch, text->n));
    plx_status st = plx__memm_tagger_open(&tagger, ctx, index);
    if (st == PLX_OK) st = plx__memm_tagger_run(&tagger, &own, scratch, tags, probs);
    plx__memm_tagger_free(&tagger);
    for (plx_index i = 0; st == PLX_OK && i < text->n; i++) (*out)[i] = index->m->mark[tags[i]];
    return st;
}

static plx_status write_part(plx__ner_output *out, plx_context *ctx, const plx__memm *m, const plx__ner_types *types,
                             const plx__conll *part, const int32_t *tags, const double *probs, plx__ner_scheme scheme)
{
    plx__ner_mark *guess = NULL;
    PLX_TRY(PLX__ARENA_NEW(&guess, plx__scratch(ctx), part->n_tokens));
    for (plx_index i = 0; tags && i < part->n_tokens; i++) guess[i] = m->mark[tags[i]];
    for (plx_index s = 0; s < part->n_sentences; s++) {
        plx_index first = part->sentences[s];
        PLX_TRY(plx__ner_put_tagged(out, ctx, part, s, guess + first, scheme, types));
        if (probs) plx__ner_put_values(out, part, s, probs + first * m->n_tags, m->n_tags);
    }
    plx__ner_output_flush(out);
    return PLX_OK;
}

static plx_status tag_part(plx__memm_tagger *g, const plx__conll *part, int32_t document, plx__ner_output *out,
                           const plx__ner_types *types, const plx__ner_tag_job *job)
{
    plx__arena *scratch = plx__scratch(g->ctx);
    const plx__memm *m = g->index->m;
    plx__ner_columns columns = {.unlabelled = job->unlabelled, .first_document = document};
    plx__ner_text text;
    int32_t *tags = NULL;
    double *probs = NULL;
    PLX_TRY(plx__memm_check_text(g->ctx, m, part, job->unlabelled));
    PLX_TRY(plx__ner_text_open(&text, g->ctx, scratch, part, &columns, NULL));
    if (!m->views.pos) text.pos = NULL;
    if (out->has_tagged) PLX_TRY(plx__arena_i32(&tags, scratch, part->n_tokens));
    if (out->has_values) PLX_TRY(plx__arena_f64(&probs, scratch, part->n_tokens, m->n_tags));
    PLX_TRY(plx__memm_tagger_run(g, &text, scratch, tags, probs));
    return write_part(out, g->ctx, m, types, part, tags, probs, job->scheme);
}

static plx_status tag_parts(plx__memm_tagger *g, plx__ner_source *source, plx__ner_output *out,
                            const plx__ner_types *types, const plx__ner_tag_job *job)
{
    plx__arena *scratch = plx__scratch(g->ctx);
    bool more = true;
    int32_t document = 0;
    plx__ner_put_header(out, g->index->m->tag, g->index->n_tags);
    while (more) {
        plx__mark mark = plx__arena_mark(scratch);
        plx__conll part;
        PLX_TRY(plx__ner_source_next(source, scratch, &part, &document, &more));
        if (more) PLX_TRY(tag_part(g, &part, document, out, types, job));
        plx__arena_rewind(scratch, mark);
        PLX_TRY(plx__report(g->ctx, "tag", source->sentences, 0, (double)source->tokens));
    }
    return PLX_OK;
}

plx_status plx__memm_tag_file(plx_context *ctx, const plx__memm_index *index, const plx__ner_types *types,
                              const plx__ner_tag_job *job)
{
    plx__memm_tagger tagger = {0};
    plx__ner_source source = {0};
    plx__ner_output out = {0};
    plx_status st = PLX_OK;
    PLX_GOTO(plx__ner_source_open(&source, ctx, job->in));
    PLX_GOTO(plx__ner_output_open(&out, ctx, job->out, job->values));
    PLX_GOTO(plx__memm_tagger_open(&tagger, ctx, index));
    PLX_GOTO(tag_parts(&tagger, &source, &out, types, job));
    PLX_GOTO(plx__ner_output_commit(&out, ctx));
done:
    plx__ner_output_abort(&out);
    plx__memm_tagger_free(&tagger);
    plx__ner_source_close(&source);
    return st;
}
