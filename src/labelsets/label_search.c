/*
 * (search) Any rules, any number of views: branch and bound, the one that always ends with the optimum.
 *
 * A bit x says "class i in view v". The objective is sum_x gain_x y_x minus a price for every broken pair of bits:
 *
 *     imply    x -> y    price * y_x (1 - y_y)    a subset rule; two views that differ are both ways of it
 *     exclude  x, y      price * y_x y_y          a mutex rule
 *
 * Bits that no pair links, directly or through others, are separate programs. The bound of one program relaxes its pairs
 * with a multiplier 0 <= m <= price each, which is never below the true cost:
 *
 *     -price y_x (1 - y_y) <= m (y_y - y_x)       -price y_x y_y <= m (1 - y_x - y_y)
 *
 * What is left is linear but for the exclusive pairs inside cliques of one view, which stay: r of a clique cost
 * price r (r - 1) / 2, so the best of a clique are taken in falling order while they pay. Subgradient steps lower the
 * bound; multipliers stay valid at every node, so they are simply kept. Bits that the bound settles are fixed.
 */
#include "labelsets/label_program_impl.h"

enum { OPEN = 2, ROOT_STEPS = 300, NODE_STEPS = 12 };

typedef struct pair {
    int32_t x, y;
    bool exclude, inside; /* inside a clique, whose bound counts it */
    double price, multiplier;
} pair;

/* The whole of a sample: every class in every view. */
typedef struct bits {
    plx_index n, n_pairs;
    double *gain;
    int32_t *clique;
    uint8_t *state; /* 0 or 1 where fixed, else OPEN; in the end the solution */
    pair *pairs;
    double clique_price;
    int32_t *program;                /* the separate program of a bit; numbered from 0 */
    plx_index n_programs;            /* ... and how many there are */
    int32_t *bit_order;              /* bits by program */
    int32_t *pair_order;             /* pairs by program */
    int64_t *bit_first, *pair_first; /* n_programs + 1: where they start */
} bits;

typedef struct search {
    plx_context *ctx;
    plx_index n, n_pairs;
    const double *gain;
    const int32_t *clique;
    double clique_price;
    pair *pairs;
    int64_t *pair_ptr; /* per bit: its pairs */
    int32_t *pair_of;
    uint8_t *state;      /* 0, 1, OPEN */
    uint8_t *best, *try; /* complete assignments */
    double best_value;
    int32_t *trail;  /* bits decided, in order */
    int32_t *sorted; /* bits by clique, best first */
    plx_index decided;
    double *worth; /* per open bit: what it adds to the relaxed problem */
    double *loss;  /* what the other choice would cost at least */
    uint8_t *on;   /* solution of the relaxed problem */
    bool late;     /* the time limit has passed: the best so far is kept */
} search;

/* ---- values ---- */

static double value_of(const search *q, const uint8_t *y)
{
    double sum = 0;
    for (plx_index x = 0; x < q->n; x++)
        if (y[x]) sum += q->gain[x];
    for (plx_index e = 0; e < q->n_pairs; e++) {
        const pair *p = &q->pairs[e];
        if (y[p->x] && y[p->y] == p->exclude) sum -= p->price;
    }
    return sum;
}

static void keep_if_better(search *q, const uint8_t *y)
{
    double value = value_of(q, y);
    if (value < q->best_value - TIE_WINDOW) return;
    if (value <= q->best_value + TIE_WINDOW && memcmp(y, q->best, (size_t)q->n) <= 0) return;
    memcpy(q->best, y, (size_t)q->n);
    q->best_value = fmax(value, q->best_value);
}

static double flip_gain(const search *q, const uint8_t *y, plx_index x)
{
    double change = y[x] ? -q->gain[x] : q->gain[x];
    for (int64_t t = q->pair_ptr[x]; t < q->pair_ptr[x + 1]; t++) {
        const pair *p = &q->pairs[q->pair_of[t]];
        bool first = p->x == x, other = y[first ? p->y : p->x];
        bool now = first ? y[x] && other == p->exclude : other && y[x] == p->exclude;
        bool then = first ? !y[x] && other == p->exclude : other && !y[x] == p->exclude;
        change += p->price * ((int)now - (int)then);
    }
    return change;
}

/* A start for the search: change bits one by one while that helps. Decided bits stay. */
static void improve(search *q, uint8_t *y)
{
    for (bool changed = true; changed;) {
        changed = false;
        for (plx_index x = 0; x < q->n; x++) {
            if (q->state[x] != OPEN || flip_gain(q, y, x) <= TIE_WINDOW) continue;
            y[x] ^= 1;
            changed = true;
        }
    }
    keep_if_better(q, y);
}

/* ---- bound ---- */

/* One pair's share of the relaxed problem, by what is decided; returns what it adds to the constant. */
static double relax_pair(const search *q, const pair *p)
{
    uint8_t a = q->state[p->x], b = q->state[p->y];
    double *w = q->worth;
    if (p->exclude) {
        if (a == 1 && b == 1) return -p->price;
        if (a == 1 && b == OPEN) w[p->y] -= p->price;
        if (a == OPEN && b == 1) w[p->x] -= p->price;
        if (a != OPEN || b != OPEN || p->inside) return 0;
        w[p->x] -= p->multiplier;
        w[p->y] -= p->multiplier;
        return p->multiplier;
    }
    if (a == 1 && b == OPEN) w[p->y] += p->price;
    if (a == 1 && b != 1) return -p->price;
    if (a == OPEN && b == 0) w[p->x] -= p->price;
    if (a == OPEN && b == OPEN) {
        w[p->x] -= p->multiplier;
        w[p->y] += p->multiplier;
    }
    return 0;
}

static bool comes_before(const search *q, int32_t x, int32_t y)
{
    if (q->clique[x] != q->clique[y]) return q->clique[x] < q->clique[y];
    return q->worth[x] != q->worth[y] ? q->worth[x] > q->worth[y] : x < y;
}

/* Bits were sorted at the step before: insertion has little to do. */
static void sort_open(search *q)
{
    for (plx_index t = 0; t < q->n; t++) {
        int32_t x = q->sorted[t];
        plx_index at = t;
        for (; at > 0 && comes_before(q, x, q->sorted[at - 1]); at--) q->sorted[at] = q->sorted[at - 1];
        q->sorted[at] = x;
    }
}

/* Sum of a clique of bits `list` without `skip`, its ranks starting at `rank`. */
static double rest_of_clique(const search *q, const int32_t *list, plx_index n, int32_t skip, int rank)
{
    double sum = 0;
    for (plx_index t = 0; t < n; t++) {
        if (q->state[list[t]] != OPEN || list[t] == skip) continue;
        double more = q->worth[list[t]] - q->clique_price * rank++;
        if (more <= 0) break;
        sum += more;
    }
    return sum;
}

static double bound_clique(search *q, const int32_t *list, plx_index n)
{
    double sum = 0;
    int rank = 0;
    for (plx_index t = 0; t < n; t++) {
        if (q->state[list[t]] != OPEN) continue;
        double more = q->worth[list[t]] - q->clique_price * rank;
        q->on[list[t]] = more > 0;
        if (more > 0) sum += more, rank++;
    }
    return sum;
}

static double bound(search *q)
{
    double sum = 0;
    for (plx_index x = 0; x < q->n; x++) {
        q->worth[x] = q->gain[x];
        q->on[x] = q->state[x] == 1;
        if (q->state[x] == 1) sum += q->gain[x];
    }
    for (plx_index e = 0; e < q->n_pairs; e++) sum += relax_pair(q, &q->pairs[e]);
    sort_open(q);
    for (plx_index t = 0, end; t < q->n; t = end) {
        for (end = t + 1; end < q->n && q->clique[q->sorted[end]] == q->clique[q->sorted[t]];) end++;
        sum += bound_clique(q, q->sorted + t, end - t);
    }
    return sum;
}

/* Slope of the bound in the multiplier of a pair. */
static double slope(const search *q, const pair *p)
{
    if (q->state[p->x] != OPEN || q->state[p->y] != OPEN || p->inside) return 0;
    return p->exclude ? 1.0 - q->on[p->x] - q->on[p->y] : (double)q->on[p->y] - q->on[p->x];
}

/* One step against the slope, of Polyak's length towards the best value known. False: the relaxed solution breaks
 * nothing that the multipliers could charge for. */
static bool move_multipliers(search *q, double gap, double length)
{
    double norm = 0;
    for (plx_index e = 0; e < q->n_pairs; e++) norm += fabs(slope(q, &q->pairs[e]));
    if (norm == 0) return false;
    double step = length * gap / norm;
    for (plx_index e = 0; e < q->n_pairs; e++) {
        pair *p = &q->pairs[e];
        double s = slope(q, p);
        if (s != 0) p->multiplier = fmin(p->price, fmax(0, p->multiplier - step * s));
    }
    return true;
}

/* The lowest bound of some steps; the relaxed solutions met on the way are tried as solutions. */
static double lower_bound_by_steps(search *q, int steps)
{
    double least = bound(q), length = 1.0;
    for (int t = 0, idle = 0; t < steps; t++) {
        memcpy(q->try, q->on, (size_t)q->n);
        if (t % 8 == 0) improve(q, q->try);
        if (least < q->best_value - TIE_WINDOW) break;
        if (!move_multipliers(q, least - q->best_value + 1e-9, length)) break;
        double now = bound(q);
        idle = now < least - 1e-9 ? 0 : idle + 1;
        least = fmin(least, now);
        if (idle == 5) length *= 0.6, idle = 0;
    }
    return least;
}

/* ---- nodes ---- */

static void decide(search *q, int32_t x, uint8_t value)
{
    q->state[x] = value;
    q->trail[q->decided++] = x;
}

static void undo_to(search *q, plx_index decided)
{
    while (q->decided > decided) q->state[q->trail[--q->decided]] = OPEN;
}

/* What the bound loses when an open bit takes the other value: the clique with it forced in, or left out. */
static void find_losses(search *q)
{
    for (plx_index t = 0, end; t < q->n; t = end) {
        for (end = t + 1; end < q->n && q->clique[q->sorted[end]] == q->clique[q->sorted[t]];) end++;
        double all = bound_clique(q, q->sorted + t, end - t);
        for (plx_index u = t; u < end; u++) {
            int32_t x = q->sorted[u];
            if (q->state[x] != OPEN) continue;
            double other = q->on[x] ? rest_of_clique(q, q->sorted + t, end - t, x, 0)
                                    : q->worth[x] + rest_of_clique(q, q->sorted + t, end - t, x, 1);
            q->loss[x] = all - other;
        }
    }
}

/* Fix what cannot be otherwise in any solution as good as the best known; true: something was. */
static bool fix_settled(search *q, double most)
{
    plx_index before = q->decided;
    find_losses(q);
    for (int32_t x = 0; x < q->n; x++)
        if (q->state[x] == OPEN && most - q->loss[x] < q->best_value - TIE_WINDOW) decide(q, x, q->on[x]);
    return q->decided > before;
}

/* Could a solution below this node come before the best one among equals? */
static bool may_come_first(const search *q)
{
    for (plx_index x = 0; x < q->n; x++) {
        uint8_t y = q->state[x] == 0 ? 0 : 1;
        if (y != q->best[x]) return y > q->best[x];
    }
    return false;
}

/* The open bit in most trouble: price of the pairs that the relaxed solution breaks; without any, the first open one. */
static int32_t choose_bit(const search *q)
{
    int32_t chosen = -1;
    double most = -1;
    for (int32_t x = 0; x < q->n; x++) {
        double trouble = 0;
        if (q->state[x] != OPEN) continue;
        for (int64_t t = q->pair_ptr[x]; t < q->pair_ptr[x + 1]; t++) {
            const pair *p = &q->pairs[q->pair_of[t]];
            if (q->on[p->x] && q->on[p->y] == p->exclude) trouble += p->price;
        }
        if (trouble > most) chosen = x, most = trouble;
    }
    return chosen;
}

static plx_status visit(search *q, int steps)
{
    plx_index mark = q->decided;
    double most = 0;
    PLX_TRY(plx__poll(q->ctx));
    q->late |= plx__out_of_time(q->ctx);
    if (q->late) return PLX_OK;
    do {
        most = lower_bound_by_steps(q, steps);
        if (most < q->best_value - TIE_WINDOW || (most <= q->best_value + TIE_WINDOW && !may_come_first(q))) {
            undo_to(q, mark);
            return PLX_OK;
        }
        most = bound(q);
        steps = NODE_STEPS;
    } while (fix_settled(q, most));
    int32_t x = choose_bit(q);
    if (x < 0) {
        keep_if_better(q, q->state);
        undo_to(q, mark);
        return PLX_OK;
    }
    plx_index here = q->decided;
    uint8_t first = q->on[x];
    for (int t = 0; t < 2; t++) {
        decide(q, x, t ? !first : first);
        PLX_TRY(visit(q, NODE_STEPS));
        undo_to(q, here);
    }
    undo_to(q, mark);
    return PLX_OK;
}

/* ---- from classes and views to bits ---- */

static void add_pair(bits *b, bool write, plx_index x, plx_index y, bool exclude, double price)
{
    if (write)
        b->pairs[b->n_pairs] =
            (pair){(int32_t)x, (int32_t)y, exclude, exclude && b->clique[x] == b->clique[y], price, 0};
    b->n_pairs++;
}

/* Counts the pairs, or writes them. */
static void list_pairs(bits *b, bool write, const plx__label_program *p, int s, double violate)
{
    const plx__label_rules *r = p->rules;
    b->n_pairs = 0;
    for (plx_index i = 0; i < p->k; i++) {
        for (int u = 0; u < s && p->w.disagree > 0; u++)
            for (int v = 0; v < s; v++)
                if (u != v) add_pair(b, write, i * s + u, i * s + v, false, p->w.disagree);
        for (plx_index j = 0; j < p->k && violate > 0; j++)
            for (int v = 0; v < s; v++) {
                if (label_has(r->above + i * r->words, j)) add_pair(b, write, i * s + v, j * s + v, false, violate);
                if (j > i && label_has(r->exclusive + i * r->words, j))
                    add_pair(b, write, i * s + v, j * s + v, true, violate);
            }
    }
}

static plx_status open_bits(bits *b, plx__arena *arena, const plx__label_program *p, int s, double violate)
{
    *b = (bits){.n = p->k * s, .clique_price = violate};
    PLX_TRY(plx__arena_f64(&b->gain, arena, b->n, 1));
    PLX_TRY(plx__arena_i32(&b->clique, arena, b->n));
    PLX_TRY(plx__arena_u8(&b->state, arena, b->n));
    for (plx_index x = 0; x < b->n; x++) {
        b->clique[x] = (int32_t)(p->clique[x / s] * s + x % s);
        b->state[x] = OPEN;
    }
    list_pairs(b, false, p, s, violate);
    PLX_TRY(PLX__ARENA_NEW(&b->pairs, arena, b->n_pairs));
    list_pairs(b, true, p, s, violate);
    return PLX_OK;
}

/* ---- separate programs ---- */

static int32_t root_of(int32_t *parent, int32_t x)
{
    while (parent[x] != x) x = parent[x] = parent[parent[x]];
    return x;
}

static void number_programs(bits *b, int32_t *parent)
{
    for (int32_t x = 0; x < b->n; x++) parent[x] = x;
    for (plx_index e = 0; e < b->n_pairs; e++) parent[root_of(parent, b->pairs[e].x)] = root_of(parent, b->pairs[e].y);
    for (int32_t x = 0; x < b->n; x++)
        if (root_of(parent, x) == x) b->program[x] = (int32_t)b->n_programs++;
    for (int32_t x = 0; x < b->n; x++) b->program[x] = b->program[root_of(parent, x)];
}

/* Counting sort of `count` items by program; first[q] is where program q starts. */
static void sort_by_program(const bits *b, int64_t *first, int32_t *order, plx_index count, bool pairs)
{
    for (plx_index t = 0; t < count; t++) first[b->program[pairs ? b->pairs[t].x : t] + 1]++;
    for (plx_index q = 0; q < b->n_programs; q++) first[q + 1] += first[q];
    for (plx_index t = 0; t < count; t++) order[first[b->program[pairs ? b->pairs[t].x : t]]++] = (int32_t)t;
    for (plx_index q = b->n_programs; q > 0; q--) first[q] = first[q - 1];
    first[0] = 0;
}

static plx_status separate(bits *b, plx__arena *arena)
{
    int32_t *parent = NULL;
    PLX_TRY(plx__arena_i32(&b->program, arena, b->n));
    PLX_TRY(plx__arena_i32(&parent, arena, b->n));
    number_programs(b, parent);
    PLX_TRY(plx__arena_i64(&b->bit_first, arena, b->n_programs + 1));
    PLX_TRY(plx__arena_i64(&b->pair_first, arena, b->n_programs + 1));
    PLX_TRY(plx__arena_i32(&b->bit_order, arena, b->n));
    PLX_TRY(plx__arena_i32(&b->pair_order, arena, b->n_pairs));
    sort_by_program(b, b->bit_first, b->bit_order, b->n, false);
    sort_by_program(b, b->pair_first, b->pair_order, b->n_pairs, true);
    return PLX_OK;
}

/* ---- one program ---- */

static plx_status open_search(search *q, plx__arena *arena, plx_index n, plx_index n_pairs)
{
    PLX_TRY(PLX__ARENA_NEW(&q->pairs, arena, n_pairs));
    PLX_TRY(plx__arena_i64(&q->pair_ptr, arena, n + 2));
    PLX_TRY(plx__arena_i32(&q->pair_of, arena, 2 * n_pairs));
    PLX_TRY(plx__arena_u8(&q->state, arena, n));
    PLX_TRY(plx__arena_u8(&q->best, arena, n));
    PLX_TRY(plx__arena_u8(&q->try, arena, n));
    PLX_TRY(plx__arena_u8(&q->on, arena, n));
    PLX_TRY(plx__arena_i32(&q->trail, arena, n));
    PLX_TRY(plx__arena_i32(&q->sorted, arena, n));
    PLX_TRY(plx__arena_f64(&q->worth, arena, n, 1));
    return plx__arena_f64(&q->loss, arena, n, 1);
}

static void link_pairs(search *q)
{
    for (plx_index e = 0; e < q->n_pairs; e++) q->pair_ptr[q->pairs[e].x + 2]++, q->pair_ptr[q->pairs[e].y + 2]++;
    for (plx_index x = 0; x < q->n; x++) q->pair_ptr[x + 2] += q->pair_ptr[x + 1];
    for (int32_t e = 0; e < q->n_pairs; e++) {
        q->pair_of[q->pair_ptr[q->pairs[e].x + 1]++] = e;
        q->pair_of[q->pair_ptr[q->pairs[e].y + 1]++] = e;
    }
}

/* Copies program `number` with bits numbered from 0, in the same order. */
static plx_status load_program(search *q, plx__arena *arena, const bits *b, plx_index number, int32_t *local)
{
    const int32_t *bit = b->bit_order + b->bit_first[number], *pairs = b->pair_order + b->pair_first[number];
    double *gain = NULL;
    int32_t *clique = NULL;
    *q = (search){.ctx = arena->ctx,
                  .n = b->bit_first[number + 1] - b->bit_first[number],
                  .n_pairs = b->pair_first[number + 1] - b->pair_first[number],
                  .clique_price = b->clique_price,
                  .best_value = -INFINITY};
    PLX_TRY(plx__arena_f64(&gain, arena, q->n, 1));
    PLX_TRY(plx__arena_i32(&clique, arena, q->n));
    PLX_TRY(open_search(q, arena, q->n, q->n_pairs));
    for (plx_index x = 0; x < q->n; x++) {
        local[bit[x]] = (int32_t)x;
        gain[x] = b->gain[bit[x]];
        clique[x] = b->clique[bit[x]];
        q->state[x] = b->state[bit[x]];
        q->sorted[x] = (int32_t)x;
    }
    for (plx_index e = 0; e < q->n_pairs; e++) {
        q->pairs[e] = b->pairs[pairs[e]];
        q->pairs[e].x = local[q->pairs[e].x];
        q->pairs[e].y = local[q->pairs[e].y];
    }
    q->gain = gain;
    q->clique = clique;
    link_pairs(q);
    return PLX_OK;
}

static plx_status solve_all(bits *b, plx__arena *arena)
{
    int32_t *local = NULL;
    PLX_TRY(separate(b, arena));
    PLX_TRY(plx__arena_i32(&local, arena, b->n));
    for (plx_index number = 0; number < b->n_programs; number++) {
        plx__mark mark = plx__arena_mark(arena);
        search q;
        PLX_TRY(load_program(&q, arena, b, number, local));
        PLX_TRY(visit(&q, ROOT_STEPS));
        for (plx_index x = 0; x < q.n; x++) b->state[b->bit_order[b->bit_first[number] + x]] = q.best[x];
        plx__arena_rewind(arena, mark);
    }
    return PLX_OK;
}

plx_status plx__label_search(uint16_t *pattern, plx_context *ctx, const plx__label_program *p,
                             const double *const *scores, int s)
{
    plx__arena *arena = plx__scratch(ctx);
    plx__mark mark = plx__arena_mark(arena);
    bits b;
    PLX_TRY(open_bits(&b, arena, p, s, p->w.violate));
    for (plx_index x = 0; x < b.n; x++) b.gain[x] = p->w.score * scores[x % s][x / s] - TIE_BIT;
    PLX_TRY(solve_all(&b, arena));
    for (plx_index i = 0; i < p->k; i++) {
        pattern[i] = 0;
        for (int v = 0; v < s; v++) pattern[i] = (uint16_t)(pattern[i] << 1 | b.state[i * s + v]);
    }
    plx__arena_rewind(arena, mark);
    return PLX_OK;
}

plx_status plx__label_search_report(uint16_t *out, plx_context *ctx, const plx__label_program *p,
                                    const uint16_t *pattern, const double *const *scores, int s)
{
    plx__arena *arena = plx__scratch(ctx);
    plx__mark mark = plx__arena_mark(arena);
    bits b;
    PLX_TRY(open_bits(&b, arena, p, 1, p->w.violate * s));
    for (plx_index i = 0; i < p->k; i++) {
        double sum = 0;
        for (int v = 0; v < s; v++) sum += scores[v][i];
        b.gain[i] = p->w.score * sum - TIE_BIT;
        if (pattern[i] == 0 || pattern[i] == (1 << s) - 1) b.state[i] = pattern[i] != 0;
    }
    PLX_TRY(solve_all(&b, arena));
    for (plx_index i = 0; i < p->k; i++) out[i] = b.state[i];
    plx__arena_rewind(arena, mark);
    return PLX_OK;
}
