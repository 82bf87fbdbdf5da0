/*
 * Which subsets become members: all, M at random, M of similar leave-one-out error, or greedily by the error of the
 * combined ensemble, on leave-one-out vectors or on validation samples.
 */
#include <string.h>

#include "core/rng.h"
#include "methods/hknn/hknn.h"

int32_t plx__hknn_majority(const hknn *h)
{
    int32_t best = 0;
    for (plx_index c = 1; c < h->classes; c++)
        if (h->class_begin[c + 1] - h->class_begin[c] > h->class_begin[best + 1] - h->class_begin[best])
            best = (int32_t)c;
    return best;
}

/* Columns `chosen` of vectors over all subsets. */
static void pick_columns(int32_t *out, plx_index stride, const int32_t *from, plx_index subsets, plx_index n,
                         const int32_t *chosen, plx_index count)
{
    for (plx_index i = 0; i < n; i++)
        for (plx_index t = 0; t < count; t++) out[i * stride + t] = from[i * subsets + chosen[t]];
}

/* ---- forward ---- */

typedef struct forward {
    const hknn *h;
    const hknn_validation *on;
    hknn_combiner combiner;
    int32_t *train, *judged; /* vectors of the members so far and one candidate */
    plx_index room;
} forward;

/* Error of the ensemble with `candidate` as its member number `count`. */
static plx_status try_candidate(double *error, forward *f, int32_t *chosen, plx_index count, int32_t candidate)
{
    plx_index subsets = f->h->subsets.count;
    f->combiner.members = count + 1;
    chosen[count] = candidate;
    pick_columns(f->train + count, f->room, f->h->loo, subsets, f->h->train.n, chosen + count, 1);
    if (!f->on->vectors)
        return plx__hknn_error(error, f->h->ctx, &f->combiner, f->train, f->room, f->combiner.truth, f->h->train.n,
                               true);
    pick_columns(f->judged + count, f->room, f->on->vectors, subsets, f->on->n, chosen + count, 1);
    return plx__hknn_error(error, f->h->ctx, &f->combiner, f->judged, f->room, f->on->truth, f->on->n, false);
}

/* Smallest error, then lower leave-one-out error, then subset order; -1: nothing is left. */
static plx_status best_candidate(int32_t *best, double *least, forward *f, int32_t *chosen, plx_index count,
                                 const uint8_t *taken)
{
    *best = -1;
    for (plx_index s = 0; s < f->h->subsets.count; s++) {
        double error = 0;
        if (taken[s]) continue;
        PLX_TRY(try_candidate(&error, f, chosen, count, (int32_t)s));
        if (*best < 0 || error < *least || (error == *least && f->h->error[s] < f->h->error[*best]))
            *best = (int32_t)s, *least = error;
    }
    return PLX_OK;
}

static plx_status open_forward(forward *f, hknn_ensemble *e, const hknn *h, const hknn_validation *on, bool vote)
{
    plx__arena *scratch = plx__scratch(h->ctx);
    *f = (forward){.h = h, .on = on, .combiner = e->combiner, .room = plx__min(h->set->members, h->subsets.count)};
    PLX_TRY(plx__arena_i32(&f->train, scratch, h->train.n * f->room));
    PLX_TRY(plx__arena_i32(&f->judged, scratch, on->n * f->room));
    PLX_TRY(plx__arena_f64(&e->trace, scratch, f->room, 1));
    f->combiner.vectors = f->train;
    f->combiner.stride = f->room;
    f->combiner.vote = vote;
    return PLX_OK;
}

/* Starts with the lowest leave-one-out error; goes on while the validation error gets strictly smaller. */
static plx_status select_forward(hknn_ensemble *e, const hknn *h, const hknn_validation *on, bool vote)
{
    forward f;
    uint8_t *taken = NULL;
    int32_t next = 0;
    double error = 0;
    e->count = e->n_trace = 0;
    PLX_TRY(open_forward(&f, e, h, on, vote));
    PLX_TRY(plx__arena_u8(&taken, plx__scratch(h->ctx), h->subsets.count));
    for (plx_index s = 1; s < h->subsets.count; s++)
        if (h->error[s] < h->error[next]) next = (int32_t)s;
    PLX_TRY(try_candidate(&error, &f, e->chosen, 0, next));
    while (next >= 0) {
        if (e->n_trace && !(error < e->trace[e->n_trace - 1])) break;
        PLX_TRY(try_candidate(&error, &f, e->chosen, e->count, next)); /* its columns were overwritten by later ones */
        taken[next] = 1;
        e->chosen[e->count++] = next;
        e->trace[e->n_trace++] = error;
        if (e->count == f.room) break;
        PLX_TRY(best_candidate(&next, &error, &f, e->chosen, e->count, taken));
    }
    return PLX_OK;
}

/* ---- the others ---- */

static plx_status select_random(hknn_ensemble *e, const hknn *h)
{
    plx_index n = h->subsets.count, *order = NULL;
    plx__rng rng = plx__rng_start(h->ctx->seed, PLX__STREAM('h', 'k', 'n', 'n', 0));
    PLX_TRY(plx__arena_i64(&order, plx__scratch(h->ctx), n));
    plx__permutation(&rng, order, n);
    e->count = plx__min(h->set->members, n);
    for (plx_index t = 0; t < e->count; t++) e->chosen[t] = (int32_t)order[t];
    return PLX_OK;
}

/* Members by leave-one-out error (ties: subset order), from rank `start` on. */
static plx_status select_similar(hknn_ensemble *e, const hknn *h)
{
    plx_index n = h->subsets.count, start = h->set->start;
    int32_t *order = NULL;
    if (start >= n) PLX_FAIL(h->ctx, PLX_E_ARG, "start = %lld: there are %lld subsets", (long long)start, (long long)n);
    PLX_TRY(plx__arena_i32(&order, plx__scratch(h->ctx), n));
    for (plx_index s = 0; s < n; s++) {
        plx_index at = s;
        for (; at > 0 && h->error[s] < h->error[order[at - 1]]; at--) order[at] = order[at - 1];
        order[at] = (int32_t)s;
    }
    e->count = plx__min(h->set->members, n - start);
    memcpy(e->chosen, order + start, (size_t)e->count * sizeof *order);
    return PLX_OK;
}

static plx_status choose(hknn_ensemble *e, const hknn *h, const hknn_validation *on, bool vote)
{
    const char *how = h->set->select;
    if (strcmp(how, "random") == 0) return select_random(e, h);
    if (strcmp(how, "similar") == 0) return select_similar(e, h);
    if (strcmp(how, "forward") == 0) return select_forward(e, h, on, vote);
    e->count = h->subsets.count; /* all, list */
    for (plx_index s = 0; s < e->count; s++) e->chosen[s] = (int32_t)s;
    return PLX_OK;
}

/* Members for this rule of combination, and the leave-one-out error of the ensemble. */
static plx_status assemble(double *error, hknn_ensemble *e, const hknn *h, const hknn_validation *on, bool vote)
{
    hknn_combiner *c = &e->combiner;
    PLX_TRY(choose(e, h, on, vote));
    PLX_TRY(plx__arena_i32(&e->vectors, plx__scratch(h->ctx), h->train.n * e->count));
    pick_columns(e->vectors, e->count, h->loo, h->subsets.count, h->train.n, e->chosen, e->count);
    c->vectors = e->vectors;
    c->members = c->stride = e->count;
    c->vote = vote;
    return plx__hknn_error(error, h->ctx, c, e->vectors, e->count, c->truth, h->train.n, true);
}

plx_status plx__hknn_select(hknn_ensemble *out, const hknn *h, const hknn_validation *validation, const int32_t *truth)
{
    double by_vote = 0, by_vectors = 0;
    *out = (hknn_ensemble){.combiner = {.l = h->train.n, .classes = h->classes, .truth = truth}};
    out->combiner.majority = plx__hknn_majority(h);
    PLX_TRY(plx__arena_i32(&out->chosen, plx__scratch(h->ctx), h->subsets.count));
    if (h->set->combine != HKNN_AUTO) return assemble(&by_vote, out, h, validation, h->set->combine == HKNN_VOTE);
    hknn_ensemble vectors = *out;
    PLX_TRY(plx__arena_i32(&vectors.chosen, plx__scratch(h->ctx), h->subsets.count));
    PLX_TRY(assemble(&by_vectors, &vectors, h, validation, false));
    PLX_TRY(assemble(&by_vote, out, h, validation, true));
    if (by_vectors < by_vote) *out = vectors;
    return PLX_OK;
}
