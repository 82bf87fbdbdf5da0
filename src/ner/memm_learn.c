/*
 * From a tagged text to a conditional Markov model.
 */
#include "ner/memm_learn.h"

#include <stdlib.h>
#include <string.h>

#include "core/file.h"
#include "ner/source.h"

/* ---- resources ---- */

static plx_status count_parts(plx__ner_lexicon *lexicon, plx__ner_source *source)
{
    plx__arena *scratch = plx__scratch(source->ctx);
    bool more = true;
    int32_t document = 0;
    while (more) {
        plx__mark mark = plx__arena_mark(scratch);
        plx__conll part;
        PLX_TRY(plx__ner_source_next(source, scratch, &part, &document, &more));
        if (more) PLX_TRY(plx__ner_lexicon_count(lexicon, source->ctx, part.columns[0], part.n_tokens, 1));
        plx__arena_rewind(scratch, mark);
        PLX_TRY(plx__report(source->ctx, "count", source->sentences, 0, (double)source->tokens));
    }
    return PLX_OK;
}

plx_status plx__ner_count_file(plx__ner_lexicon *lexicon, plx_context *ctx, const char *path)
{
    plx__ner_source source = {0};
    plx_status st = plx__ner_source_open(&source, ctx, path);
    if (st == PLX_OK) st = count_parts(lexicon, &source);
    plx__ner_source_close(&source);
    return st;
}

plx_status plx__ner_read_gazetteers(plx__ner_lexicon *l, plx_context *ctx, plx__arena *arena,
                                    const plx_params *settings)
{
    enum { MOST = 64 };
    plx_index count = 0;
    for (const plx__setting *s = settings->first; s; s = s->next) count += strcmp(s->spec->name, "gazetteer") == 0;
    if (count > MOST) PLX_FAIL(ctx, PLX_E_ARG, "%lld gazetteers; at most %d", (long long)count, MOST);
    PLX_TRY(PLX__ARENA_NEW(&l->gazetteer, arena, count));
    for (const plx__setting *s = settings->first; s; s = s->next) {
        if (strcmp(s->spec->name, "gazetteer") != 0) continue;
        if (!s->view) PLX_FAIL(ctx, PLX_E_ARG, "gazetteer has no name; set gazetteer.NAME=FILE");
        PLX_TRY(plx__ner_gazetteer_read(&l->gazetteer[l->n_gazetteers], ctx, arena, s->view, s->value.text));
        l->n_gazetteers++;
    }
    return PLX_OK;
}

/* ---- features of every token, for people ---- */

static int by_bytes(const void *a, const void *b) { return strcmp(*(const char *const *)a, *(const char *const *)b); }

static plx_status write_features(FILE *to, plx_context *ctx, const plx__memm_data *d, const plx__ner_types *types)
{
    plx__arena *scratch = plx__scratch(ctx);
    for (plx_index i = 0; i < d->n; i++) {
        plx__mark mark = plx__arena_mark(scratch);
        const char **name = NULL, *tag = NULL;
        plx_index count = d->ptr[i + 1] - d->ptr[i];
        PLX_TRY(PLX__ARENA_NEW(&name, scratch, count));
        PLX_TRY(plx__ner_tag_text(&tag, scratch, types, d->gold[i]));
        for (plx_index k = 0; k < count; k++) name[k] = d->features.key[d->col[d->ptr[i] + k]].text;
        qsort(name, (size_t)count, sizeof *name, by_bytes);
        fputs(tag, to);
        for (plx_index k = 0; k < count; k++) fprintf(to, "\t%s", name[k]);
        fputc('\n', to);
        plx__arena_rewind(scratch, mark);
    }
    return PLX_OK;
}

static plx_status dump_features(const char *path, plx_context *ctx, const plx__memm_data *d,
                                const plx__ner_types *types)
{
    plx__outfile out;
    PLX_TRY(plx__outfile_open(&out, ctx, path));
    plx_status st = write_features(out.file, ctx, d, types);
    if (st == PLX_OK) st = plx__outfile_commit(&out, ctx);
    plx__outfile_abort(&out);
    return st;
}

/* ---- all ---- */

static plx_status add_sentences(plx__memm_data *d, plx__memm *m, plx_context *ctx, plx__ner_text *text,
                                const plx__ner_types *types)
{
    plx__arena *scratch = plx__scratch(ctx);
    plx__ner_forms forms;
    plx__ner_seen seen = {.arena = scratch};
    PLX_TRY(plx__ner_forms_init(&forms, scratch, &m->lexicon));
    PLX_TRY(plx__ner_text_forms(text, scratch, &forms));
    PLX_TRY(plx__ner_text_seen(text, scratch, &seen, &forms));
    for (plx_index s = 0; s < text->n_sentences; s++) {
        PLX_TRY(plx__memm_data_add(d, &m->views, &forms, text, s, types));
        PLX_TRY(plx__report(ctx, "features", s + 1, text->n_sentences, (double)d->features.count));
    }
    return PLX_OK;
}

static plx_status learn(plx__memm *m, plx_context *ctx, plx__arena *arena, plx__ner_text *text,
                        const plx__ner_types *types, const char *dump, plx__memm_data *d)
{
    plx__mark mark = plx__arena_mark(plx__scratch(ctx));
    PLX_TRY(plx__memm_data_open(d, ctx));
    PLX_TRY(add_sentences(d, m, ctx, text, types));
    plx__arena_rewind(plx__scratch(ctx), mark);
    text->form = text->seen_before = text->seen_behind = NULL;
    if (dump) PLX_TRY(dump_features(dump, ctx, d, types));
    return plx__memm_fit(m, ctx, arena, d, types, NULL);
}

plx_status plx__memm_learn(plx__memm *m, plx_context *ctx, plx__arena *arena, plx__ner_text *text,
                           const plx__ner_types *types, const plx_params *settings, const char *unlabelled,
                           const char *dump)
{
    plx__memm_data data = {0};
    *m = (plx__memm){0};
    PLX_TRY(plx__params_fill(&m->params, ctx, arena, settings));
    m->views = plx__memm_views(&m->params, text->pos != NULL);
    PLX_TRY(plx__ner_lexicon_init(&m->lexicon, arena));
    PLX_TRY(plx__ner_lexicon_count(&m->lexicon, ctx, text->word, text->n, 1));
    if (unlabelled) PLX_TRY(plx__ner_count_file(&m->lexicon, ctx, unlabelled));
    PLX_TRY(plx__ner_read_gazetteers(&m->lexicon, ctx, arena, settings));
    plx_status st = learn(m, ctx, arena, text, types, dump, &data);
    plx__memm_data_free(&data);
    return st;
}
