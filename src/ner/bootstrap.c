/*
 * Feature bootstrapping: classifiers tag unlabelled text, lexicons are made of what they find, classifiers are trained
 * again with them; first with spans (enhanced window), then with words (simple window).
 */
#include <math.h>

#include "ner/svm_learn.h"

const plx__param_spec plx__bootstrap_params_table[] = {
    PLX__CHOICE(plx__bootstrap_params, phases, "both", "both|simple",
                "both: spans first, then words; simple: words from the start."),
    PLX__INT(plx__bootstrap_params, max_iter, "8", 1, 1000, "Most trainings."),
    PLX__REAL(plx__bootstrap_params, theta, "0.1", 0, 1, "Smallest share of a word's occurrences that is kept."),
    PLX__REALS(plx__bootstrap_params, edges, "-1,-0.5,0,0.5,1", -INFINITY, INFINITY, NULL,
               "Edges of the intervals of classifier values, rising."),
    PLX__REAL_ABOVE(plx__bootstrap_params, C, "1", 0, "Weight of the losses; larger ones fit the text more closely."),
    PLX__REAL_ABOVE(plx__bootstrap_params, tol, "1e-8", 0, "Stop when the largest gradient entry is at most this."),
    PLX__INT(plx__bootstrap_params, max_span, "8", 1, 1000, "Longest span of words of the enhanced window."),
    PLX__INT(plx__bootstrap_params, stop_top, "0", 0, 1e9,
             "So many of the most frequent forms that are never part of a training name are no candidates."),
    PLX__BOOL(plx__bootstrap_params, memory, "1", "Names found in a document mark equal words elsewhere in it."),
    PLX__PARAM_END};

/* A training: its model, and where that lives. */
typedef struct training {
    plx__svm model;
    plx__arena arena;
    bool open;
} training;

static void close_round(training *r)
{
    if (r->open) plx__arena_free(&r->arena);
    r->open = false;
}

static plx_status check_edges(plx_context *ctx, const plx__value *edges)
{
    for (plx_index k = 1; k < edges->n_list; k++)
        if (!(edges->list[k - 1] < edges->list[k])) PLX_FAIL(ctx, PLX_E_ARG, "edges = '%s' do not rise", edges->text);
    return PLX_OK;
}

static plx__svm_params svm_params(const plx__bootstrap_params *p, int phase)
{
    return (plx__svm_params){.window = phase == 1,
                             .C = p->C,
                             .tol = p->tol,
                             .max_span = p->max_span,
                             .stop_top = p->stop_top,
                             .memory = p->memory};
}

/* Train with the lexicon that is in the model, from the weights of the training before. */
static plx_status train(training *r, plx_context *ctx, const plx__ner_text *text, const plx__svm *before)
{
    plx__mark mark = plx__arena_mark(plx__scratch(ctx));
    plx__svm_text opened;
    PLX_TRY(plx__dict_init(&r->model.base, &r->arena, 1024));
    PLX_TRY(plx__svm_text_open(&opened, plx__scratch(ctx), text, &r->model, true));
    PLX_TRY(plx__svm_fit(&r->model, ctx, &r->arena, &opened, text->gold, before));
    plx__arena_rewind(plx__scratch(ctx), mark);
    return PLX_OK;
}

static plx_status measure(double *f1, training *r, plx_context *ctx, const plx__ner_text *dev)
{
    plx__mark mark = plx__arena_mark(plx__scratch(ctx));
    plx__ner_score score = {0};
    plx__ner_mark *guess = NULL;
    PLX_TRY(PLX__ARENA_NEW(&guess, plx__scratch(ctx), dev->n));
    PLX_TRY(plx__svm_tag(&r->model, ctx, plx__scratch(ctx), dev, guess, NULL, NULL));
    for (plx_index s = 0; s < dev->n_sentences; s++) {
        plx_index first = dev->sentence[s];
        plx__ner_count(&score, dev->gold + first, guess + first, dev->sentence[s + 1] - first);
    }
    *f1 = plx__ner_f1(score.all);
    plx__arena_rewind(plx__scratch(ctx), mark);
    return PLX_OK;
}

/* ---- the loop ---- */

typedef struct loop {
    plx_context *ctx;
    const plx__bootstrap_job *job;
    plx__bootstrap *log;
    const plx__svm *shared; /* categories and stop words */
    int phase;
    double phase_best, best;
    training now, kept; /* the running training; the best one, unless it is the running one */
    bool now_is_best;
} loop;

/* Does the loop go on? The phase may change. */
static bool goes_on(loop *l, double f1)
{
    bool better = f1 > l->phase_best + 1e-9;
    if (better) l->phase_best = f1;
    else if (l->phase == 1) {
        l->phase = 2;
        l->phase_best = -INFINITY;
    } else return false;
    return l->log->count < l->job->params.max_iter;
}

static plx_status start_round(loop *l, training *r, plx__svm *before)
{
    r->model = *l->shared;
    r->model.params = svm_params(&l->job->params, l->phase);
    plx__arena_init(&r->arena, l->ctx);
    r->open = true;
    if (!before) return PLX_OK;
    return plx__svm_make_lexicon(&r->model.lexicon, l->ctx, &r->arena, before, l->job->text, &l->job->params);
}

/* Dictionaries remember their arena, which moves with the round. */
static void move_round(training *to, training *from)
{
    *to = *from;
    to->model.base.arena = to->model.lexicon.corpus.keys.arena = to->model.lexicon.contexts.keys.arena = &to->arena;
    from->open = false;
}

static plx_status one_round(loop *l, bool *more)
{
    training next = {0};
    plx__svm *before = l->log->count ? &l->now.model : NULL;
    plx_status st = start_round(l, &next, before);
    if (st == PLX_OK) st = train(&next, l->ctx, l->job->train, before);
    if (st == PLX_OK) {
        if (l->now_is_best) move_round(&l->kept, &l->now);
        close_round(&l->now);
        move_round(&l->now, &next);
        l->now_is_best = false;
    }
    close_round(&next);
    PLX_TRY(st);
    plx__bootstrap_step *step = &l->log->step[l->log->count];
    step->phase = l->phase;
    step->support = l->now.model.support;
    PLX_TRY(measure(&step->dev_f1, &l->now, l->ctx, l->job->dev));
    if (step->dev_f1 > l->best) {
        l->best = step->dev_f1;
        l->log->best = l->log->count;
        l->now_is_best = true;
        close_round(&l->kept);
    }
    l->log->count++;
    *more = goes_on(l, step->dev_f1) && !plx__out_of_time(l->ctx);
    return plx__report(l->ctx, "bootstrap", l->log->count, l->job->params.max_iter, step->dev_f1);
}

static plx_status dump(const loop *l)
{
    const plx__svm *m = &l->now.model;
    if (l->job->dump_lexicon) PLX_TRY(plx__svm_write_lexicon(&m->lexicon, l->ctx, m, l->job->dump_lexicon));
    if (l->job->dump_contexts) PLX_TRY(plx__svm_write_contexts(&m->lexicon, l->ctx, m, l->job->dump_contexts));
    return PLX_OK;
}

static plx_status run(loop *l)
{
    bool more = true;
    while (more) PLX_TRY(one_round(l, &more));
    return dump(l);
}

plx_status plx__svm_bootstrap(plx__svm *m, plx__bootstrap *log, plx_context *ctx, plx__arena *arena, plx__arena *home,
                              bool *has_home, const plx__bootstrap_job *job)
{
    plx__svm shared = {.params = svm_params(&job->params, 1)};
    loop l = {.ctx = ctx, .job = job, .log = log, .shared = &shared, .phase_best = -INFINITY, .best = -INFINITY};
    l.phase = job->params.phases == 0 ? 1 : 2;
    *log = (plx__bootstrap){0};
    *has_home = false;
    PLX_TRY(check_edges(ctx, &job->params.edges));
    PLX_TRY(PLX__ARENA_NEW(&log->step, arena, job->params.max_iter));
    PLX_TRY(plx__svm_categories(&shared, ctx, arena, job->train, job->types));
    PLX_TRY(plx__svm_stop_words(&shared, ctx, arena, job->train, job->text));
    plx_status st = run(&l);
    training *best = l.now_is_best ? &l.now : &l.kept;
    if (st == PLX_OK && best->open) {
        *m = best->model;
        *home = best->arena;
        m->base.arena = m->lexicon.corpus.keys.arena = m->lexicon.contexts.keys.arena = home;
        *has_home = true;
        best->open = false;
    }
    close_round(&l.now);
    close_round(&l.kept);
    return st;
}
