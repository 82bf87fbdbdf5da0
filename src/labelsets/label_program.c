/*
 * Plans of label programs: which solvers fit a set of rules, and which one serves a sample.
 */
#include "labelsets/label_program_impl.h"

enum { MUCH = 20000 };     /* operations per sample from which on branching is tried first */
enum { REPORT_CUBE = 14 }; /* undecided classes up to which a report tries all sets */

/* ---- what the solvers share ---- */

double plx__label_unary(const plx__label_program *p, const double *gain, unsigned pattern, int s)
{
    double sum = -label_split_cost(p, __builtin_popcount(pattern), s);
    for (int v = 0; v < s; v++)
        if (pattern >> (s - 1 - v) & 1) sum += gain[v];
    return sum;
}

int plx__label_compare(const uint16_t *a, const uint16_t *b, plx_index k)
{
    for (plx_index i = 0; i < k; i++)
        if (a[i] != b[i]) return a[i] > b[i] ? 1 : -1;
    return 0;
}

/* The largest pattern of class i, above the one it has, with which the optimum is still reached. */
static void raise_class(uint16_t *pattern, double best, plx_index i, const plx__label_program *p, plx__label_work *work,
                        int s, plx__label_engine engine, uint16_t *other)
{
    for (int32_t q = (1 << s) - 1; q > pattern[i]; q--) {
        double value = 0;
        bool tie = false;
        work->fixed[i] = q;
        engine(other, &value, &tie, p, work, s);
        if (value < best - TIE_WINDOW) continue;
        memcpy(pattern, other, (size_t)p->k * sizeof *pattern);
        return;
    }
    work->fixed[i] = pattern[i];
}

void plx__label_settle(uint16_t *pattern, const plx__label_program *p, plx__label_work *work, int s,
                       plx__label_engine engine)
{
    double best = 0;
    bool tie = false;
    for (plx_index i = 0; i < p->k; i++) work->fixed[i] = -1;
    engine(pattern, &best, &tie, p, work, s);
    for (plx_index i = 0; tie && i < p->k; i++) raise_class(pattern, best, i, p, work, s, engine, work->other);
}

static void fill_gains(const plx__label_program *p, plx__label_work *work, const double *const *scores, int s)
{
    for (plx_index i = 0; i < p->k; i++)
        for (int v = 0; v < s; v++) work->gain[i * s + v] = p->w.score * scores[v][i] - TIE_BIT;
}

const char *plx__label_solver_name(plx__label_solver solver)
{
    static const char *const names[PLX__LABEL_SOLVERS] = {"none",           "flat-cover", "flat-blocks", "best-set",
                                                          "set-per-view",   "forest",     "all-sets",    "elimination",
                                                          "subtree-counts", "branch",     "search"};
    return solver >= 0 && solver < PLX__LABEL_SOLVERS ? names[solver] : "?";
}

/* ---- planning ---- */

static plx_index largest_room(const plx__label_program *p)
{
    plx_index most = 4 * p->k + 8; /* forest */
    plx_index states = (plx_index)1 << p->max_views;
    if (p->rules->flat) most = plx__max((p->k + 1) * states, 6 * states); /* flat-cover, flat-blocks */
    if (p->clique && p->k <= BRANCH_CLASSES) most = plx__max(most, (p->k + 1) * p->k);
    if (p->sets) most = plx__max(most, 7 * p->sets->count);
    if (p->tree && p->tree->paths) most = plx__max(most, (2 * p->k + 1) * states);
    if (p->tree && p->tree->counts) most = plx__max(most, p->tree->room);
    if (p->cube) most = plx__max(most, (plx_index)3 << p->k);
    for (int s = 1; s <= p->max_views; s++) most = plx__max(most, plx__label_elim_room(p->elim, p->k, s));
    return most;
}

static plx_status plan_solvers(plx__label_program *p, plx__arena *arena)
{
    const plx__label_rules *r = p->rules;
    PLX_TRY(plx__arena_u8(&p->is_above, arena, p->k));
    for (plx_index i = 0; i < p->k; i++)
        for (plx_index j = 0; j < p->k; j++) p->is_above[j] |= label_has(r->above + i * r->words, j);
    if (r->flat) return PLX_OK;
    PLX_TRY(plx__label_sets_make(&p->sets, arena, r));
    PLX_TRY(plx__label_tree_make(&p->tree, arena, r));
    PLX_TRY(plx__label_cube_make(&p->cube, arena, r));
    PLX_TRY(plx__label_cliques_make(&p->clique, arena, r));
    return plx__label_elim_make(&p->elim, arena, r);
}

/* The whole cube and elimination both take anything: whichever has less to do goes first, unless that is much and
 * branching can be tried. */
static void preference(plx__label_solver order[LABEL_ORDER], const plx__label_program *p, int s)
{
    double cube = p->cube ? (double)p->k * ldexp(3.0, (int)p->k) : INFINITY,
           elim = plx__label_elim_cost(p->elim, p->k, s);
    bool cube_first = cube < elim;
    int o = 0;
    order[o++] = PLX__LABEL_FLAT_BLOCKS;
    order[o++] = PLX__LABEL_FLAT_COVER;
    order[o++] = PLX__LABEL_BEST_SET;
    order[o++] = PLX__LABEL_SET_PER_VIEW;
    order[o++] = PLX__LABEL_FOREST;
    if (fmin(cube, elim) > MUCH) {
        order[o++] = PLX__LABEL_SUBTREE_COUNTS;
        order[o++] = PLX__LABEL_BRANCH;
    }
    order[o++] = cube_first ? PLX__LABEL_ALL_SETS : PLX__LABEL_ELIMINATION;
    order[o++] = cube_first ? PLX__LABEL_ELIMINATION : PLX__LABEL_ALL_SETS;
    if (o == LABEL_ORDER) return;
    order[o++] = PLX__LABEL_SUBTREE_COUNTS;
    order[o] = PLX__LABEL_BRANCH;
}

plx_status plx__label_plan(plx__label_program **out, plx__arena *arena, const plx__label_rules *rules,
                           plx__label_weights w, int max_views)
{
    plx__label_program *p = NULL;
    *out = NULL;
    if (!(w.score >= 0 && w.disagree >= 0 && w.violate >= 0))
        PLX_FAIL(arena->ctx, PLX_E_ARG, "the weights of a label program must be >= 0");
    if (max_views < 1 || max_views > PLX__LABEL_MAX_VIEWS)
        PLX_FAIL(arena->ctx, PLX_E_ARG, "label programs take 1 to %d views (found %d)", PLX__LABEL_MAX_VIEWS,
                 max_views);
    PLX_TRY(PLX__ARENA_NEW(&p, arena, 1));
    *p = (plx__label_program){.rules = rules, .w = w, .k = rules->k, .max_views = max_views};
    if (w.violate == 0 && !rules->flat) { /* rules that cost nothing are none */
        plx__label_rules *none = NULL;
        PLX_TRY(PLX__ARENA_NEW(&none, arena, 1));
        PLX_TRY(plx__label_rules_flat(none, arena, rules->k));
        none->flat = false;
        p->rules = none;
    }
    PLX_TRY(plan_solvers(p, arena));
    for (int s = 1; s <= max_views; s++) preference(p->order[s], p, s);
    p->n_real = largest_room(p);
    for (int s = 1; s <= max_views; s++) p->n_level = plx__max(p->n_level, plx__label_elim_levels(p->elim, s));
    p->n_whole = plx__max(2 * p->k, p->sets ? 3 * p->sets->count : 0) + 1;
    *out = p;
    return PLX_OK;
}

plx_status plx__label_work_new(plx__label_work **out, plx__arena *arena, const plx__label_program *p)
{
    plx__label_work *w = NULL;
    PLX_TRY(PLX__ARENA_NEW(&w, arena, 1));
    PLX_TRY(plx__arena_f64(&w->real, arena, p->n_real, 1));
    PLX_TRY(plx__arena_i32(&w->whole, arena, p->n_whole));
    PLX_TRY(plx__arena_f64(&w->gain, arena, p->k, p->max_views));
    PLX_TRY(PLX__ARENA_NEW(&w->set, arena, (p->max_views + 2) * p->rules->words));
    PLX_TRY(plx__arena_f64(&w->level, arena, p->n_level, 1));
    if (p->n_level) PLX_TRY(plx__arena_f64(&w->cost, arena, 8, (plx_index)1 << (2 * ELIM_TABLE_VIEWS)));
    PLX_TRY(plx__arena_i32(&w->fixed, arena, p->k));
    PLX_TRY(PLX__ARENA_NEW(&w->trial, arena, p->k));
    PLX_TRY(PLX__ARENA_NEW(&w->other, arena, p->k));
    PLX_TRY(plx__arena_i64(&w->offset, arena, p->k));
    *out = w;
    return PLX_OK;
}

/* ---- solving ---- */

static bool can_serve(plx__label_solver solver, const plx__label_program *p, plx__label_work *work, int s)
{
    bool flat = p->rules->flat;
    switch (solver) {
    case PLX__LABEL_FLAT_COVER: return flat;
    case PLX__LABEL_FLAT_BLOCKS: return flat && plx__label_can_flat_blocks(p, work, s);
    case PLX__LABEL_BEST_SET: return !flat && s == 1 && p->sets && plx__label_can_sets(p, work, s);
    case PLX__LABEL_SET_PER_VIEW:
        return !flat && s >= 2 && ((s <= 3 && p->sets) || (p->tree && p->tree->paths)) &&
               plx__label_can_sets(p, work, s);
    case PLX__LABEL_FOREST: return !flat && s == 1 && p->tree && p->tree->listed;
    case PLX__LABEL_ALL_SETS: return !flat && s <= 2 && p->cube;
    case PLX__LABEL_ELIMINATION: return !flat && isfinite(plx__label_elim_cost(p->elim, p->k, s));
    case PLX__LABEL_SUBTREE_COUNTS: return !flat && s == 1 && plx__label_can_count(p, work);
    case PLX__LABEL_BRANCH: return !flat && s == 1 && p->k <= BRANCH_CLASSES;
    default: return false;
    }
}

/* false: it gave up. */
static bool run(plx__label_solver solver, uint16_t *pattern, const plx__label_program *p, plx__label_work *work, int s)
{
    switch (solver) {
    case PLX__LABEL_FLAT_COVER: plx__label_flat_cover(pattern, p, work, s); break;
    case PLX__LABEL_FLAT_BLOCKS: plx__label_flat_blocks(pattern, p, work, s); break;
    case PLX__LABEL_BEST_SET: plx__label_best_set(pattern, p, work); break;
    case PLX__LABEL_SET_PER_VIEW:
        if (s <= 3 && p->sets) plx__label_set_per_view(pattern, p, work, s);
        else plx__label_settle(pattern, p, work, s, plx__label_paths);
        break;
    case PLX__LABEL_FOREST: plx__label_settle(pattern, p, work, s, plx__label_forest); break;
    case PLX__LABEL_ALL_SETS: plx__label_all_sets(pattern, p, work, s); break;
    case PLX__LABEL_ELIMINATION: plx__label_settle(pattern, p, work, s, plx__label_elimination); break;
    case PLX__LABEL_SUBTREE_COUNTS: plx__label_settle(pattern, p, work, s, plx__label_subtree_counts); break;
    case PLX__LABEL_BRANCH: return plx__label_branch(pattern, p, work);
    default: break;
    }
    return true;
}

plx__label_solver plx__label_solve(uint16_t *pattern, const plx__label_program *p, plx__label_work *work,
                                   const double *const *scores, int s)
{
    const plx__label_solver *order = p->order[s];
    fill_gains(p, work, scores, s);
    for (int o = 0; o < LABEL_ORDER; o++)
        if (can_serve(order[o], p, work, s) && run(order[o], pattern, p, work, s)) return order[o];
    return PLX__LABEL_NONE;
}

bool plx__label_solve_by(uint16_t *pattern, plx__label_solver solver, const plx__label_program *p,
                         plx__label_work *work, const double *const *scores, int s)
{
    fill_gains(p, work, scores, s);
    return can_serve(solver, p, work, s) && run(solver, pattern, p, work, s);
}

/* ---- reporting ---- */

/* Classes left open by the views, and the sum of their scores as the gain of a single view. */
static plx_index open_classes(const plx__label_program *p, plx__label_work *work, const uint16_t *pattern,
                              const double *const *scores, int s)
{
    plx_index n = 0;
    for (plx_index i = 0; i < p->k; i++) {
        double sum = 0;
        for (int v = 0; v < s; v++) sum += scores[v][i];
        work->gain[i] = p->w.score * sum - TIE_BIT;
        if (pattern[i] && pattern[i] != (1 << s) - 1) work->whole[n++] = (int32_t)i;
    }
    return n;
}

/* Flat: with no label settled the best open class is worth avoiding an empty set; every further one costs `price`. */
static void report_flat(uint16_t *out, const plx__label_program *p, plx__label_work *work, plx_index n_open,
                        double price)
{
    plx_index settled = 0, best = -1;
    for (plx_index i = 0; i < p->k; i++) settled += out[i];
    for (plx_index o = 0; !settled && o < n_open; o++) {
        plx_index i = work->whole[o];
        if (best < 0 || work->gain[i] > work->gain[best] + TIE_WINDOW) best = i;
    }
    if (best >= 0) out[best] = work->gain[best] + price > 0;
    for (plx_index o = 0; o < n_open; o++)
        if (work->whole[o] != best && work->gain[work->whole[o]] > price) out[work->whole[o]] = 1;
}

/* Are the views' sets consistent? Leaves the agreed bits in work->set, and after them the bits any view has. */
static bool bounds_of(const plx__label_program *p, plx__label_work *work, const uint16_t *pattern, int s)
{
    plx_index words = p->rules->words;
    uint64_t *least = work->set + s * words, *most = least + words;
    bool consistent = true;
    memset(work->set, 0, (size_t)((s + 2) * words) * sizeof *work->set);
    for (plx_index i = 0; i < p->k; i++) {
        for (int v = 0; v < s; v++)
            if (pattern[i] >> (s - 1 - v) & 1) work->set[v * words + i / 64] |= plx__label_bit(i);
        if (pattern[i]) most[i / 64] |= plx__label_bit(i);
        if (pattern[i] == (1 << s) - 1) least[i / 64] |= plx__label_bit(i);
    }
    for (int v = 0; v < s; v++) consistent &= plx__label_violations(p->rules, work->set + v * words) == 0;
    memmove(work->set, least, (size_t)(2 * words) * sizeof *work->set);
    return consistent;
}

/* All sets of the open classes; the first class is the highest bit, so later of equals is larger. */
static void report_cube(uint16_t *out, const plx__label_program *p, plx__label_work *work, plx_index n_open,
                        double price)
{
    uint64_t *set = work->set; /* the agreed bits */
    uint32_t best = 0;
    double most = -INFINITY;
    for (uint32_t y = 0; y < 1u << n_open; y++) {
        double value = 0;
        for (plx_index o = 0; o < n_open; o++) {
            plx_index i = work->whole[o];
            bool on = y >> (n_open - 1 - o) & 1;
            set[i / 64] = on ? set[i / 64] | plx__label_bit(i) : set[i / 64] & ~plx__label_bit(i);
            if (on) value += work->gain[i];
        }
        value -= price * (double)plx__label_violations(p->rules, set);
        if (value < most - TIE_WINDOW) continue;
        most = fmax(most, value);
        best = y;
    }
    for (plx_index o = 0; o < n_open; o++) out[work->whole[o]] = best >> (n_open - 1 - o) & 1;
}

/* Consistent views leave a consistent set between what all have and what any has. */
static bool report_sets(uint16_t *out, const plx__label_program *single, plx__label_work *work)
{
    plx_index words = single->rules->words;
    uint64_t *least = work->set + single->max_views * words, *most = least + words;
    memmove(least, work->set, (size_t)(2 * words) * sizeof *least);
    bool suffices = plx__label_can_sets(single, work, 1);
    memcpy(work->set, least, (size_t)words * sizeof *least); /* that used it; the cube may need it */
    return suffices && plx__label_between(out, single, work, least, most);
}

plx__label_solver plx__label_report(uint16_t *out, const plx__label_program *p, plx__label_work *work,
                                    const uint16_t *pattern, const double *const *scores, int s)
{
    plx__label_program single = *p;
    plx_index n_open = open_classes(p, work, pattern, scores, s);
    single.w.violate *= s;
    for (plx_index i = 0; i < p->k; i++) out[i] = pattern[i] == (1 << s) - 1;
    if (!n_open) return p->rules->flat ? PLX__LABEL_FLAT_COVER : PLX__LABEL_BEST_SET;
    if (p->rules->flat) {
        report_flat(out, p, work, n_open, single.w.violate);
        return PLX__LABEL_FLAT_COVER;
    }
    if (bounds_of(p, work, pattern, s) && p->sets && report_sets(out, &single, work)) return PLX__LABEL_BEST_SET;
    if (n_open > REPORT_CUBE) return PLX__LABEL_NONE;
    report_cube(out, p, work, n_open, single.w.violate);
    return PLX__LABEL_ALL_SETS;
}

/* ---- value ---- */

double plx__label_value(const plx__label_program *p, plx__label_work *work, const uint16_t *pattern,
                        const double *const *scores, int s)
{
    plx_index words = p->rules->words, violations = 0;
    double score = 0, split = 0;
    memset(work->set, 0, (size_t)(s * words) * sizeof *work->set);
    for (plx_index i = 0; i < p->k; i++) {
        if (!pattern[i]) continue;
        split += label_split_cost(p, __builtin_popcount(pattern[i]), s);
        for (int v = 0; v < s; v++) {
            if (!(pattern[i] >> (s - 1 - v) & 1)) continue;
            score += scores[v][i];
            work->set[v * words + i / 64] |= plx__label_bit(i);
        }
    }
    for (int v = 0; v < s; v++) violations += plx__label_violations(p->rules, work->set + v * words);
    return p->w.score * score - split - p->w.violate * (double)violations;
}
