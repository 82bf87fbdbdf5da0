/*
 * (elimination) Any rules, any number of views, when few classes touch each other: variable elimination.
 *
 * The objective is a sum of terms of one class and of pairs of classes that share a rule; a class has 2^s states.
 * Classes are eliminated by smallest degree; the message of a class gives, for every state of the classes it touches,
 * the best it can do. Going back, every class takes the best state given those after it; a state as good means a tie.
 */
#include "labelsets/label_program_impl.h"

/* ---- plan ---- */

typedef struct graph {
    plx_index k, words;
    uint64_t *touch;   /* k x words */
    int32_t *degree;   /* -1: eliminated */
    int32_t *consumed; /* step that used the message of a step, or -1 */
} graph;

static plx_status build_graph(graph *g, plx__arena *scratch, const plx__label_rules *r)
{
    *g = (graph){.k = r->k, .words = r->words};
    PLX_TRY(PLX__ARENA_NEW(&g->touch, scratch, r->k * r->words));
    PLX_TRY(plx__arena_i32(&g->degree, scratch, r->k));
    PLX_TRY(plx__arena_i32(&g->consumed, scratch, r->k));
    for (plx_index i = 0; i < r->k; i++) {
        g->consumed[i] = -1;
        for (plx_index j = 0; j < r->k; j++) {
            bool linked = label_has(r->above + i * r->words, j) || label_has(r->above + j * r->words, i) ||
                          label_has(r->exclusive + i * r->words, j);
            if (linked && i != j) {
                g->touch[i * g->words + j / 64] |= plx__label_bit(j);
                g->degree[i]++;
            }
        }
    }
    return PLX_OK;
}

static plx_index smallest_degree(const graph *g)
{
    plx_index best = -1;
    for (plx_index i = 0; i < g->k; i++)
        if (g->degree[i] >= 0 && (best < 0 || g->degree[i] < g->degree[best])) best = i;
    return best;
}

/* Takes class x out; its neighbours become neighbours of each other. */
static void remove_class(graph *g, plx_index x, const int32_t *scope, plx_index n)
{
    g->degree[x] = -1;
    for (plx_index a = 0; a < n; a++) {
        uint64_t *row = g->touch + scope[a] * g->words;
        row[x / 64] &= ~plx__label_bit(x);
        for (plx_index b = 0; b < n; b++)
            if (a != b) row[scope[b] / 64] |= plx__label_bit(scope[b]);
        g->degree[scope[a]] = 0;
        for (plx_index w = 0; w < g->words; w++) g->degree[scope[a]] += __builtin_popcountll(row[w]);
    }
}

static bool speaks_of(const label_step *s, plx_index x)
{
    for (int32_t j = 0; j < s->n_scope; j++)
        if (s->scope[j] == x) return true;
    return false;
}

static plx_status plan_step(label_elim *e, plx__arena *arena, graph *g, plx_index t, plx_index x)
{
    label_step *s = &e->steps[t];
    s->class = (int32_t)x;
    PLX_TRY(plx__arena_i32(&s->scope, arena, g->degree[x]));
    for (plx_index j = 0; j < g->k; j++)
        if (label_has(g->touch + x * g->words, j)) s->scope[s->n_scope++] = (int32_t)j;
    for (plx_index u = 0; u < t; u++) s->n_inputs += g->consumed[u] < 0 && speaks_of(&e->steps[u], x);
    PLX_TRY(plx__arena_i32(&s->inputs, arena, s->n_inputs));
    s->n_inputs = 0;
    for (plx_index u = 0; u < t; u++) {
        if (g->consumed[u] >= 0 || !speaks_of(&e->steps[u], x)) continue;
        g->consumed[u] = (int32_t)t;
        s->inputs[s->n_inputs++] = (int32_t)u;
    }
    e->width = plx__max(e->width, s->n_scope);
    remove_class(g, x, s->scope, s->n_scope);
    return PLX_OK;
}

plx_status plx__label_elim_make(label_elim **out, plx__arena *arena, const plx__label_rules *r)
{
    graph g;
    label_elim *e = NULL;
    *out = NULL;
    PLX_TRY(build_graph(&g, plx__scratch(arena->ctx), r));
    PLX_TRY(PLX__ARENA_NEW(&e, arena, 1));
    PLX_TRY(PLX__ARENA_NEW(&e->steps, arena, r->k));
    for (plx_index t = 0; t < r->k; t++) {
        plx_index x = smallest_degree(&g);
        if (g.degree[x] + 1 > ELIM_LIMIT) return PLX_OK; /* too wide even for one view */
        PLX_TRY(plan_step(e, arena, &g, t, x));
    }
    *out = e;
    return PLX_OK;
}

double plx__label_elim_cost(const label_elim *e, plx_index k, int s)
{
    double cost = 0;
    if (!e || s * (e->width + 1) > ELIM_LIMIT) return INFINITY;
    for (plx_index t = 0; t < k; t++)
        cost += ldexp(1.0 + e->steps[t].n_scope + e->steps[t].n_inputs, s * (e->steps[t].n_scope + 1));
    return cost;
}

plx_index plx__label_elim_levels(const label_elim *e, int s)
{
    if (!e || s * (e->width + 1) > ELIM_LIMIT) return 0;
    return (e->width + 2) << s;
}

plx_index plx__label_elim_room(const label_elim *e, plx_index k, int s)
{
    plx_index room = 0;
    if (!e || s * (e->width + 1) > ELIM_LIMIT) return 0;
    for (plx_index t = 0; t < k; t++) room += (plx_index)1 << (s * e->steps[t].n_scope);
    return room;
}

/* ---- solving ---- */

typedef struct elimination {
    const plx__label_program *p;
    plx__label_work *work;
    int s;
    unsigned states;
} elimination;

static unsigned relation(const plx__label_rules *r, plx_index x, plx_index j)
{
    return (unsigned)label_has(r->above + x * r->words, j) | (unsigned)label_has(r->above + j * r->words, x) << 1 |
           (unsigned)label_has(r->exclusive + x * r->words, j) << 2;
}

/* Broken rules between two classes with patterns q and o. */
static int broken(unsigned kind, unsigned q, unsigned o)
{
    return (kind & 1 ? __builtin_popcount(q & ~o) : 0) + (kind & 2 ? __builtin_popcount(o & ~q) : 0) +
           (kind & 4 ? __builtin_popcount(q & o) : 0);
}

/* value[q] += what the messages of earlier steps say, the other classes being as work->trial has them. */
static void add_inputs(const elimination *e, const label_step *step, double *value)
{
    const uint16_t *state = e->work->trial;
    for (int32_t u = 0; u < step->n_inputs; u++) {
        const label_step *from = &e->p->elim->steps[step->inputs[u]];
        const double *message = e->work->real + e->work->offset[step->inputs[u]];
        size_t base = 0, stride = 0;
        for (int32_t j = 0; j < from->n_scope; j++) {
            if (from->scope[j] == step->class) stride = (size_t)1 << (e->s * j);
            else base |= (size_t)state[from->scope[j]] << (e->s * j);
        }
        for (unsigned q = 0; q < e->states; q++) value[q] += message[base + q * stride];
    }
}

/* to[q] = from[q] - the rules between state q and state o of a class related as `kind` says. */
static void add_rules(const elimination *e, double *to, const double *from, unsigned kind, unsigned o)
{
    if (!kind) {
        memcpy(to, from, e->states * sizeof *to);
        return;
    }
    if (e->s > ELIM_TABLE_VIEWS) {
        for (unsigned q = 0; q < e->states; q++) to[q] = from[q] - e->p->w.violate * broken(kind, q, o);
        return;
    }
    const double *cost = e->work->cost + ((size_t)(kind << e->s | o) << e->s);
    for (unsigned q = 0; q < e->states; q++) to[q] = from[q] - cost[q];
}

static void fill_costs(const elimination *e)
{
    if (e->s > ELIM_TABLE_VIEWS) return;
    for (unsigned kind = 0; kind < 8; kind++)
        for (unsigned o = 0; o < e->states; o++)
            for (unsigned q = 0; q < e->states; q++)
                e->work->cost[((size_t)(kind << e->s | o) << e->s) + q] = e->p->w.violate * broken(kind, q, o);
}

/* Own terms of the step's class in every state; states it must not have are out of reach. */
static void own_values(const elimination *e, const label_step *step, double *value)
{
    int32_t must = e->work->fixed[step->class];
    for (unsigned q = 0; q < e->states; q++) {
        bool allowed = must < 0 || (unsigned)must == q;
        value[q] = allowed ? plx__label_unary(e->p, e->work->gain + (plx_index)step->class * e->s, q, e->s) : -INFINITY;
    }
}

static double largest(const double *value, unsigned count)
{
    double best = value[0];
    for (unsigned q = 1; q < count; q++) best = value[q] > best ? value[q] : best;
    return best;
}

/* Runs through the states of the classes in scope; level d holds the value of every state of the step's class given
 * the first d of them, so that a change of the last one costs one addition per state. */
static void descend(const elimination *e, const label_step *step, const unsigned *kind, int32_t depth, double *level,
                    size_t index, double *message)
{
    if (depth == step->n_scope) {
        add_inputs(e, step, level);
        message[index] = largest(level, e->states);
        return;
    }
    for (unsigned o = 0; o < e->states; o++) {
        e->work->trial[step->scope[depth]] = (uint16_t)o;
        add_rules(e, level + e->states, level, kind[depth], o);
        descend(e, step, kind, depth + 1, level + e->states, index | (size_t)o << (e->s * depth), message);
    }
}

static void relations(const elimination *e, const label_step *step, unsigned *kind)
{
    for (int32_t j = 0; j < step->n_scope; j++) kind[j] = relation(e->p->rules, step->class, step->scope[j]);
}

/* Best state of the step's class with the others as they are; *tie when another is as good. */
static unsigned best_state(const elimination *e, const label_step *step, bool *tie)
{
    double *value = e->work->level;
    unsigned kind[ELIM_LIMIT + 1], best = 0, equals = 0;
    relations(e, step, kind);
    own_values(e, step, value);
    for (int32_t j = 0; j < step->n_scope; j++) add_rules(e, value, value, kind[j], e->work->trial[step->scope[j]]);
    add_inputs(e, step, value);
    for (unsigned q = 1; q < e->states; q++)
        if (value[q] > value[best]) best = q;
    for (unsigned q = 0; q < e->states; q++) equals += value[q] >= value[best] - TIE_WINDOW;
    *tie |= equals > 1;
    return best;
}

void plx__label_elimination(uint16_t *pattern, double *value, bool *tie, const plx__label_program *p,
                            plx__label_work *work, int s)
{
    elimination e = {p, work, s, 1u << s};
    plx_index at = 0;
    unsigned kind[ELIM_LIMIT + 1];
    *value = 0;
    *tie = false;
    fill_costs(&e);
    for (plx_index t = 0; t < p->k; t++) {
        const label_step *step = &p->elim->steps[t];
        work->offset[t] = at;
        relations(&e, step, kind);
        own_values(&e, step, work->level);
        descend(&e, step, kind, 0, work->level, 0, work->real + at);
        if (!step->n_scope) *value += work->real[at];
        at += (plx_index)1 << (s * step->n_scope);
    }
    for (plx_index t = p->k - 1; t >= 0; t--) {
        const label_step *step = &p->elim->steps[t];
        work->trial[step->class] = pattern[step->class] = (uint16_t)best_state(&e, step, tie);
    }
}
