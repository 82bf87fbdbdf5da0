/*
 * Selective sampling: Kullback-Leibler divergence between the tag distributions of models, or one minus the F1 of their
 * names against each other.
 */
#include "ner/select.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/parallel.h"
#include "core/rng.h"

enum { SENTENCES_AT_ONCE = 64 };

static const double FLOOR = 1e-12;

const plx__param_spec plx__select_params_table[] = {
    PLX__CHOICE(plx__select_params, kl, "mean", "mean|first",
                "Divergence of a token: mean over ordered pairs of models, or from the first model to the second."),
    PLX__PARAM_END};

typedef struct choice {
    const plx__ner_opinion *opinion;
    plx_index count;
    const plx__ner_pool *pool;
    plx__ner_metric metric;
    bool first_only;
    plx__ner_choice_row *rows;
} choice;

/* ---- scores ---- */

/* D(p || q), natural logarithm. */
static double divergence(const double *p, const double *q, plx_index n)
{
    double sum = 0;
    for (plx_index t = 0; t < n; t++) {
        double a = fmax(p[t], FLOOR), b = fmax(q[t], FLOOR);
        sum += a * log(a / b);
    }
    return sum;
}

static double token_divergence(const choice *c, plx_index token)
{
    plx_index T = c->opinion[0].n_tags, R = c->count;
    double sum = 0;
    if (c->first_only) return divergence(c->opinion[0].probs + token * T, c->opinion[1].probs + token * T, T);
    for (plx_index a = 0; a < R; a++)
        for (plx_index b = 0; b < R; b++)
            if (a != b) sum += divergence(c->opinion[a].probs + token * T, c->opinion[b].probs + token * T, T);
    return sum / (double)(R * (R - 1));
}

static double kl_score(const choice *c, plx_index begin, plx_index end)
{
    double most = -INFINITY, sum = 0;
    for (plx_index i = begin; i < end; i++) {
        double kl = token_divergence(c, i);
        most = fmax(most, kl);
        sum += kl;
    }
    return c->metric == PLX__NER_KL_MAX ? most : sum / (double)(end - begin);
}

/* Half the sum over ordered pairs of 1 - F1; two models without names agree. */
static double f_complement(const choice *c, plx_index begin, plx_index end)
{
    double sum = 0;
    for (plx_index a = 0; a < c->count; a++)
        for (plx_index b = 0; b < c->count; b++) {
            plx__ner_score score = {0};
            if (a == b) continue;
            plx__ner_count(&score, c->opinion[a].mark + begin, c->opinion[b].mark + begin, end - begin);
            bool empty = score.all.phrases + score.all.found == 0;
            sum += empty ? 0.0 : 1.0 - plx__ner_f1(score.all);
        }
    return 0.5 * sum;
}

static plx_status score_sentences(void *arg, plx_context *ctx, plx_index begin, plx_index end, int worker)
{
    const choice *c = arg;
    (void)ctx, (void)worker;
    for (plx_index s = begin; s < end; s++) {
        plx_index first = c->pool->offsets[s], last = c->pool->offsets[s + 1];
        plx__ner_choice_row *row = &c->rows[s];
        row->tokens = last - first;
        row->names = c->opinion && c->opinion[0].mark ? plx__ner_names(c->opinion[0].mark + first, last - first) : 0;
        if (c->metric == PLX__NER_RANDOM)
            row->score =
                plx__rng_uniform(c->pool->seed, c->pool->stream, (uint64_t)(c->pool->number ? c->pool->number[s] : s));
        else if (c->metric == PLX__NER_F_COMPLEMENT) row->score = f_complement(c, first, last);
        else row->score = kl_score(c, first, last);
    }
    return PLX_OK;
}

/* ---- ranks ---- */

typedef struct scored {
    double score;
    plx_index sentence;
} scored;

static int by_score(const void *a_, const void *b_)
{
    const scored *a = a_, *b = b_;
    if (a->score != b->score) return a->score > b->score ? -1 : 1;
    return (a->sentence > b->sentence) - (a->sentence < b->sentence);
}

static plx_status rank(plx_context *ctx, plx__ner_choice_row *rows, plx_index n)
{
    plx__mark mark = plx__arena_mark(plx__scratch(ctx));
    scored *order = NULL;
    PLX_TRY(PLX__ARENA_NEW(&order, plx__scratch(ctx), n));
    for (plx_index s = 0; s < n; s++) order[s] = (scored){rows[s].score, s};
    qsort(order, (size_t)n, sizeof *order, by_score);
    for (plx_index r = 0; r < n; r++) rows[order[r].sentence].rank = r;
    plx__arena_rewind(plx__scratch(ctx), mark);
    return PLX_OK;
}

plx_status plx__ner_same_tags(plx_context *ctx, const plx__ner_opinion *o, plx_index count)
{
    for (plx_index k = 1; k < count; k++) {
        bool same = o[k].n_tags == o[0].n_tags;
        for (plx_index t = 0; same && t < o[0].n_tags; t++) same = strcmp(o[0].tag[t], o[k].tag[t]) == 0;
        if (!same)
            PLX_FAIL(ctx, PLX_E_DATA, "%s and %s have different tags; models that are compared must share them",
                     o[0].where, o[k].where);
    }
    return PLX_OK;
}

plx_status plx__ner_choose(plx__ner_choice_row *rows, plx_context *ctx, const plx__ner_opinion *opinion,
                           plx_index count, const plx__ner_pool *pool, plx__ner_metric metric,
                           const plx__select_params *params)
{
    choice c = {opinion, count, pool, metric, params->kl == 1, rows};
    if (metric != PLX__NER_RANDOM && count < 2)
        PLX_FAIL(ctx, PLX_E_ARG, "one model cannot disagree with itself; give at least two");
    if (metric != PLX__NER_RANDOM) PLX_TRY(plx__ner_same_tags(ctx, opinion, count));
    PLX_TRY(plx__parallel_for(ctx, pool->n_sentences, SENTENCES_AT_ONCE, score_sentences, &c));
    return rank(ctx, rows, pool->n_sentences);
}
