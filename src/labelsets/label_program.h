/*
 * Best label sets of one sample: small integer programs, solved exactly.
 *
 * A sample has s views; view v gives class i the score s_i^v. Wanted are 0/1 vectors y^v, one per view, that maximise
 *
 *     score * sum_v y^v.s^v  -  disagree * sum_{u<v} sum_i |y_i^u - y_i^v|  -  violate * sum_v viol(y^v)
 *
 * viol(y) is |sum_i y_i - 1| (flat: exactly one label), or the number of broken rules "i only with j" (subset) and
 * "not i and j" (mutex). One vector for all views is the case s = 1. Weights must be >= 0, scores may have any sign.
 *
 * A plan is made once per set of rules and weights and picks the solvers that can serve them; which one serves a
 * sample may depend on its scores. Among equally good solutions (within 1e-12) the one with the fewest set bits wins,
 * then the lexicographically largest (class by class, view by view inside a class).
 *
 * A plan is read-only after it was made; every thread needs its own work area.
 */
#ifndef PLX_LABELSETS_LABEL_PROGRAM_H
#define PLX_LABELSETS_LABEL_PROGRAM_H

#include "core/ctx.h"

enum { PLX__LABEL_MAX_VIEWS = 12 };

/* ---- rules (label_rules.c) ---- */

/* Pairs as rows of bits: class j stands at bit 63 - j % 64 of word j / 64, so that larger means earlier classes. */
typedef struct plx__label_rules {
    plx_index k, words;
    bool flat;           /* exactly one label; no pairs */
    bool closed;         /* the pairs contain everything they imply */
    uint64_t *above;     /* k x words: i requires these */
    uint64_t *exclusive; /* k x words, symmetric */
} plx__label_rules;

static inline uint64_t plx__label_bit(plx_index j) { return UINT64_C(1) << (63 - j % 64); }

plx_status plx__label_rules_flat(plx__label_rules *out, plx__arena *arena, plx_index k);

/* Pairs (below, above) and unordered exclusive pairs; doubles count once. With `close` also everything they imply:
 * subset is transitive, what is below exclusive classes is exclusive. PLX_E_DATA naming the classes when related
 * classes are exclusive. `names` for messages. The subset pairs must have no cycle. */
plx_status plx__label_rules_pairs(plx__label_rules *out, plx__arena *arena, const char *const *names, plx_index k,
                                  const int32_t *subset, plx_index n_subset, const int32_t *mutex, plx_index n_mutex,
                                  bool close);

/* Number of broken rules of a set given as bits (words of them); flat: |count - 1|. */
plx_index plx__label_violations(const plx__label_rules *rules, const uint64_t *set);

/* ---- programs ---- */

typedef struct plx__label_weights {
    double score, disagree, violate;
} plx__label_weights;

typedef enum plx__label_solver {
    PLX__LABEL_NONE = 0,       /* only the search can */
    PLX__LABEL_FLAT_COVER,     /* flat: dynamic program over the classes, any numbers */
    PLX__LABEL_FLAT_BLOCKS,    /* flat: closed form, one label in every view */
    PLX__LABEL_BEST_SET,       /* one view: best consistent set */
    PLX__LABEL_SET_PER_VIEW,   /* consistent sets in two or three views, or in a tree */
    PLX__LABEL_FOREST,         /* one view, tree with exclusive siblings as listed */
    PLX__LABEL_ALL_SETS,       /* one or two views, few classes: the whole cube */
    PLX__LABEL_ELIMINATION,    /* variable elimination */
    PLX__LABEL_SUBTREE_COUNTS, /* one view, closed rules on a tree or forest: counts per subtree */
    PLX__LABEL_BRANCH,         /* one view: branch and bound, gives up on very hard ones */
    PLX__LABEL_SEARCH,         /* anything: branch and bound with multipliers */
    PLX__LABEL_SOLVERS
} plx__label_solver;

const char *plx__label_solver_name(plx__label_solver solver);

typedef struct plx__label_program plx__label_program;
typedef struct plx__label_work plx__label_work;

/* The rules are borrowed. max_views <= PLX__LABEL_MAX_VIEWS is the largest s that will be asked for. */
plx_status plx__label_plan(plx__label_program **out, plx__arena *arena, const plx__label_rules *rules,
                           plx__label_weights weights, int max_views);
plx_status plx__label_work_new(plx__label_work **out, plx__arena *arena, const plx__label_program *program);

/* Solution: pattern[i] holds the bits of class i, view v at bit s - 1 - v. scores: s rows of k.
 * The solver that served is returned; PLX__LABEL_NONE: none of them can, ask plx__label_search. */
plx__label_solver plx__label_solve(uint16_t *pattern, const plx__label_program *program, plx__label_work *work,
                                   const double *const *scores, int s);

/* One solver, whatever the plan prefers: false when it cannot serve this sample. */
bool plx__label_solve_by(uint16_t *pattern, plx__label_solver solver, const plx__label_program *program,
                         plx__label_work *work, const double *const *scores, int s);

/* One set out of the views' sets: bits on which all views agree stay, the others are chosen to maximise
 * score * y.(sum_v s^v) - violate * s * viol(y). out[i] is 0 or 1. PLX__LABEL_NONE: ask plx__label_search_report. */
plx__label_solver plx__label_report(uint16_t *out, const plx__label_program *program, plx__label_work *work,
                                    const uint16_t *pattern, const double *const *scores, int s);

/* What the others cannot do, not flat: branch and bound until the optimum is proved, in scratch memory; the work may grow
 * exponentially with the classes. Listens to the user; past the time limit the best solution found is returned. */
plx_status plx__label_search(uint16_t *pattern, plx_context *ctx, const plx__label_program *program,
                             const double *const *scores, int s);
plx_status plx__label_search_report(uint16_t *out, plx_context *ctx, const plx__label_program *program,
                                    const uint16_t *pattern, const double *const *scores, int s);

/* The objective of a solution. */
double plx__label_value(const plx__label_program *program, plx__label_work *work, const uint16_t *pattern,
                        const double *const *scores, int s);

#endif
