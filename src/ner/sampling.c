/*
 * Simulated selective sampling. Word counts are those of the first training text and the whole pool. Sentences in the
 * pool keep their documents; one that moves to the training text is a document of its own. Models start from those of
 * the round before: the minimum is the same, the way to it shorter.
 */
#include "ner/sampling.h"

#include <string.h>

#include "core/rng.h"
#include "ner/memm_learn.h"
#include "ner/memm_tag.h"

enum { VIEW_1, VIEW_2, VIEW_ALL, MODELS };

/* A model, its data, and where the weights of this round and the last one live. */
typedef struct member {
    plx__memm_data data;
    plx__memm model;
    plx__memm_index index;
    plx__arena arena;
    bool has_arena, trained;
} member;

typedef struct sim {
    plx_context *ctx;
    const plx__ner_simulation *job;
    plx__ner_lexicon lexicon;
    plx__ner_forms forms;
    plx__ner_seen seen;
    int32_t next_document;
    member member[MODELS];
    plx_index n_left, *left; /* sentences still in the pool */
} sim;

/* ---- training ---- */

static plx_status train_member(sim *s, member *m)
{
    plx__memm next = m->model, before = m->model;
    plx__arena arena;
    plx__arena_init(&arena, s->ctx);
    plx_status st = plx__memm_fit(&next, s->ctx, &arena, &m->data, s->job->types, m->trained ? &before : NULL);
    plx__memm_index index = {0};
    if (m->has_arena && st == PLX_OK) plx__arena_free(&m->arena);
    if (st != PLX_OK) {
        plx__arena_free(&arena);
        return st;
    }
    m->arena = arena;
    m->has_arena = m->trained = true;
    m->model = next;
    m->index = index;
    return plx__memm_index_open(&m->index, s->ctx, &m->arena, &m->model);
}

/* Random choice asks nobody. */
static bool needed(const sim *s, int which, bool last)
{
    return which == VIEW_ALL || (!last && s->job->metric != PLX__NER_RANDOM);
}

static plx_status train_all(sim *s, bool last)
{
    for (int k = 0; k < MODELS; k++)
        if (needed(s, k, last)) PLX_TRY(train_member(s, &s->member[k]));
    return PLX_OK;
}

static plx_status add_sentence(sim *s, const plx__ner_text *text, plx_index sentence)
{
    for (int k = 0; k < MODELS; k++)
        if (needed(s, k, false))
            PLX_TRY(plx__memm_data_add(&s->member[k].data, &s->member[k].model.views, &s->forms, text, sentence,
                                       s->job->types));
    return PLX_OK;
}

/* ---- moving sentences ---- */

static plx_status move_sentence(sim *s, plx_index sentence)
{
    plx__arena *scratch = plx__scratch(s->ctx);
    plx__mark mark = plx__arena_mark(scratch);
    const plx__ner_text *pool = s->job->pool;
    plx_index first = pool->sentence[sentence], n = pool->sentence[sentence + 1] - first;
    const plx_index offsets[] = {0, n};
    const int32_t document = s->next_document++;
    plx__ner_text one = {.n = n,
                         .n_sentences = 1,
                         .sentence = offsets,
                         .document = &document,
                         .word = pool->word + first,
                         .pos = pool->pos ? pool->pos + first : NULL,
                         .gold = pool->gold + first,
                         .form = pool->form + first};
    PLX_TRY(plx__ner_text_seen(&one, scratch, &s->seen, &s->forms));
    PLX_TRY(add_sentence(s, &one, 0));
    plx__arena_rewind(scratch, mark);
    return PLX_OK;
}

/* The chosen sentences in order of rank; they leave the pool. */
static plx_status move_chosen(sim *s, const plx__ner_choice_row *rows, plx__ner_round *now)
{
    plx_index take = plx__min(s->job->batch, s->n_left), *by_rank = NULL, kept = 0;
    const plx__ner_text *pool = s->job->pool;
    PLX_TRY(PLX__ARENA_NEW(&by_rank, plx__scratch(s->ctx), take));
    for (plx_index k = 0; k < s->n_left; k++)
        if (rows[k].rank < take) by_rank[rows[k].rank] = s->left[k];
    for (plx_index r = 0; r < take; r++) {
        plx_index first = pool->sentence[by_rank[r]], n = pool->sentence[by_rank[r] + 1] - first;
        PLX_TRY(move_sentence(s, by_rank[r]));
        now->sentences++;
        now->tokens += n;
        now->names += plx__ner_names(pool->gold + first, n);
    }
    for (plx_index k = 0; k < s->n_left; k++)
        if (rows[k].rank >= take) s->left[kept++] = s->left[k];
    s->n_left = kept;
    return PLX_OK;
}

/* ---- what models say ---- */

/* The sentences that are left, as a text of their own. */
static plx_status rest_of_pool(plx__ner_text *out, sim *s)
{
    plx__arena *scratch = plx__scratch(s->ctx);
    const plx__ner_text *pool = s->job->pool;
    const char **word = NULL, **pos = NULL;
    plx_index *offsets = NULL, n = 0;
    int32_t *document = NULL;
    PLX_TRY(PLX__ARENA_NEW(&word, scratch, pool->n));
    PLX_TRY(PLX__ARENA_NEW(&pos, scratch, pool->n));
    PLX_TRY(PLX__ARENA_NEW(&offsets, scratch, s->n_left + 1));
    PLX_TRY(plx__arena_i32(&document, scratch, s->n_left));
    for (plx_index k = 0; k < s->n_left; k++) {
        plx_index first = pool->sentence[s->left[k]], end = pool->sentence[s->left[k] + 1];
        for (plx_index i = first; i < end; i++, n++) {
            word[n] = pool->word[i];
            pos[n] = pool->pos ? pool->pos[i] : NULL;
        }
        offsets[k + 1] = n;
        document[k] = pool->document[s->left[k]];
    }
    *out = (plx__ner_text){.n = n, .n_sentences = s->n_left, .sentence = offsets, .document = document, .word = word};
    if (pool->pos) out->pos = pos;
    return PLX_OK;
}

static plx_status tag_with(const sim *s, const member *m, plx__ner_text *text, int32_t *tags, double *probs)
{
    plx__memm_tagger tagger = {0};
    plx_status st = plx__memm_tagger_open(&tagger, s->ctx, &m->index);
    if (st == PLX_OK) st = plx__memm_tagger_run(&tagger, text, plx__scratch(s->ctx), tags, probs);
    plx__memm_tagger_free(&tagger);
    return st;
}

static plx_status ask(plx__ner_opinion *out, const sim *s, int which, plx__ner_text *text)
{
    const member *m = &s->member[which];
    plx__arena *scratch = plx__scratch(s->ctx);
    bool decode = s->job->metric == PLX__NER_F_COMPLEMENT;
    int32_t *tags = NULL;
    double *probs = NULL;
    plx__ner_mark *mark = NULL;
    *out = (plx__ner_opinion){
        .where = which == VIEW_1 ? "view 1" : "view 2", .n_tags = m->model.n_tags, .tag = m->model.tag};
    if (decode) PLX_TRY(plx__arena_i32(&tags, scratch, text->n));
    else PLX_TRY(plx__arena_f64(&probs, scratch, text->n, m->model.n_tags));
    PLX_TRY(tag_with(s, m, text, tags, probs));
    PLX_TRY(PLX__ARENA_NEW(&mark, scratch, text->n));
    for (plx_index i = 0; decode && i < text->n; i++) mark[i] = m->model.mark[tags[i]];
    out->probs = probs;
    out->mark = decode ? mark : NULL;
    return PLX_OK;
}

static plx_status choose(sim *s, plx_index round, plx__ner_round *now)
{
    plx__arena *scratch = plx__scratch(s->ctx);
    plx__mark mark = plx__arena_mark(scratch);
    plx__ner_opinion opinion[2] = {{0}};
    plx__ner_choice_row *rows = NULL;
    plx__ner_text rest;
    plx__ner_pool pool = {.seed = s->job->seed, .stream = PLX__STREAM('n', 'e', 'r', 's', round)};
    bool random = s->job->metric == PLX__NER_RANDOM;
    PLX_TRY(PLX__ARENA_NEW(&rows, scratch, s->n_left));
    PLX_TRY(rest_of_pool(&rest, s));
    for (int k = 0; k < 2 && !random; k++) PLX_TRY(ask(&opinion[k], s, k, &rest));
    pool.n_sentences = rest.n_sentences;
    pool.offsets = rest.sentence;
    pool.number = s->left;
    PLX_TRY(plx__ner_choose(rows, s->ctx, opinion, random ? 0 : 2, &pool, s->job->metric, &s->job->select));
    PLX_TRY(move_chosen(s, rows, now));
    plx__arena_rewind(scratch, mark);
    return PLX_OK;
}

static plx_status evaluate(const sim *s, plx__ner_round *now)
{
    plx__arena *scratch = plx__scratch(s->ctx);
    plx__mark mark = plx__arena_mark(scratch);
    const member *m = &s->member[VIEW_ALL];
    plx__ner_text test = *s->job->test;
    plx__ner_mark *guess = NULL;
    plx__ner_score score = {0};
    int32_t *tags = NULL;
    PLX_TRY(plx__arena_i32(&tags, scratch, test.n));
    PLX_TRY(PLX__ARENA_NEW(&guess, scratch, test.n));
    PLX_TRY(tag_with(s, m, &test, tags, NULL));
    for (plx_index i = 0; i < test.n; i++) guess[i] = m->model.mark[tags[i]];
    for (plx_index k = 0; k < test.n_sentences; k++) {
        plx_index first = test.sentence[k];
        plx__ner_count(&score, test.gold + first, guess + first, test.sentence[k + 1] - first);
    }
    now->f1 = plx__ner_f1(score.all);
    now->precision = plx__ner_precision(score.all);
    now->recall = plx__ner_recall(score.all);
    plx__arena_rewind(scratch, mark);
    return PLX_OK;
}

/* ---- all ---- */

static plx_status open_members(sim *s, plx__arena *arena)
{
    const plx__ner_simulation *job = s->job;
    for (int k = 0; k < MODELS; k++) {
        member *m = &s->member[k];
        m->model.params = job->memm;
        m->model.params.view = k;
        m->model.views = plx__memm_views(&m->model.params, job->train->pos != NULL);
        m->model.lexicon = s->lexicon;
        PLX_TRY(plx__memm_data_open(&m->data, s->ctx));
    }
    PLX_TRY(PLX__ARENA_NEW(&s->left, arena, job->pool->n_sentences));
    for (s->n_left = 0; s->n_left < job->pool->n_sentences; s->n_left++) s->left[s->n_left] = s->n_left;
    return PLX_OK;
}

static plx_status open_sim(sim *s, plx__arena *arena)
{
    const plx__ner_simulation *job = s->job;
    PLX_TRY(plx__ner_lexicon_init(&s->lexicon, arena));
    PLX_TRY(plx__ner_lexicon_count(&s->lexicon, s->ctx, job->train->word, job->train->n, 1));
    PLX_TRY(plx__ner_lexicon_count(&s->lexicon, s->ctx, job->pool->word, job->pool->n, 1));
    PLX_TRY(plx__ner_read_gazetteers(&s->lexicon, s->ctx, arena, job->settings));
    PLX_TRY(plx__ner_forms_init(&s->forms, arena, &s->lexicon));
    s->seen.arena = arena;
    PLX_TRY(plx__ner_text_forms(job->train, arena, &s->forms));
    PLX_TRY(plx__ner_text_forms(job->pool, arena, &s->forms));
    PLX_TRY(plx__ner_text_seen(job->train, arena, &s->seen, &s->forms));
    PLX_TRY(open_members(s, arena));
    for (plx_index k = 0; k < job->train->n_sentences; k++) PLX_TRY(add_sentence(s, job->train, k));
    s->next_document = job->train->n_sentences ? job->train->document[job->train->n_sentences - 1] + 1 : 0;
    return PLX_OK;
}

static plx_status run(sim *s, plx__ner_round *rows, plx_index *count)
{
    plx__ner_round now = {0};
    for (plx_index round = 0; round <= s->job->rounds; round++) {
        if (round > 0) PLX_TRY(choose(s, round, &now));
        PLX_TRY(train_all(s, round == s->job->rounds || s->n_left == 0));
        PLX_TRY(evaluate(s, &now));
        rows[(*count)++] = now;
        PLX_TRY(plx__report(s->ctx, "round", round, s->job->rounds, now.f1));
        if (s->n_left == 0 || plx__out_of_time(s->ctx)) break;
    }
    return PLX_OK;
}

plx_status plx__ner_simulate(plx__ner_round *rows, plx_index *count, plx_context *ctx, const plx__ner_simulation *job)
{
    sim s = {.ctx = ctx, .job = job};
    plx__arena arena;
    *count = 0;
    plx__arena_init(&arena, ctx);
    plx_status st = open_sim(&s, &arena);
    if (st == PLX_OK) st = run(&s, rows, count);
    for (int k = 0; k < MODELS; k++) {
        plx__memm_data_free(&s.member[k].data);
        if (s.member[k].has_arena) plx__arena_free(&s.member[k].arena);
    }
    plx__arena_free(&arena);
    return st;
}
