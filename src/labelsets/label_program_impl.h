/*
 * Inside of the label programs: what the solvers share.
 *
 * Every solver maximises the objective minus TIE_BIT per set bit, which settles "fewest bits" among equal values, and
 * treats what then differs by less than TIE_WINDOW as equal; those ties go to the lexicographically largest pattern.
 */
#ifndef PLX_LABELSETS_LABEL_PROGRAM_IMPL_H
#define PLX_LABELSETS_LABEL_PROGRAM_IMPL_H

#include <math.h>
#include <string.h>

#include "labelsets/label_program.h"

#define TIE_BIT 1e-12
#define TIE_WINDOW 5e-13

enum { CUBE_CLASSES = 16 };     /* largest k of all-sets */
enum { BRANCH_CLASSES = 1024 }; /* largest k of branch and bound */
enum { ELIM_TABLE_VIEWS = 4 };  /* elimination keeps a table of broken rules up to here */
#define ELIM_LIMIT 22           /* largest s (width + 1) of elimination */

/* All consistent sets (upward closed, nothing exclusive), by size, then lexicographically descending. */
typedef struct label_sets {
    plx_index count, words, n_steps;
    uint64_t *bits;            /* count x words */
    int32_t *parent, *added;   /* set = parent + {added}; of set 0 (empty): -1 */
    int32_t *bigger, *smaller; /* n_steps pairs that differ by one class, bigger ascending */
    int32_t *size;
} label_sets;

/* Forest in which the classes below one class (or the roots) are all exclusive or all free of each other. */
typedef struct label_tree {
    int32_t *order;                      /* classes, deeper ones first */
    int32_t *parent;                     /* -1: root */
    int32_t *first_child, *next_sibling; /* k + 1 and k: list k holds the roots */
    uint8_t *siblings_exclude;           /* k + 1: the classes in that list exclude each other */
    bool listed;                         /* each class requires its parent alone and excludes siblings alone: forest */
    bool paths;                          /* the consistent sets are the paths from a root */
    bool counts, sparse;                 /* subtree-counts serves; all lists exclude */
    int32_t *size, depth;                /* classes in a subtree; longest chain */
    plx_index most, room;                /* subtree-counts: most classes selected, room for its tables */
    plx_index *count_at, *before_at;     /* where the tables of a class start */
} label_tree;

/* One step of the elimination: the class, the classes its message speaks of, and what it is computed from. */
typedef struct label_step {
    int32_t class, n_scope, n_inputs;
    int32_t *scope;  /* classes still there that touch it */
    int32_t *inputs; /* earlier steps whose message speaks of it */
} label_step;

typedef struct label_elim {
    plx_index width;   /* largest scope */
    label_step *steps; /* k */
} label_elim;

enum { LABEL_ORDER = PLX__LABEL_SEARCH - 1 };

struct plx__label_program {
    plx__label_solver order[PLX__LABEL_MAX_VIEWS + 1][LABEL_ORDER]; /* by number of views: who is asked first */
    const plx__label_rules *rules;
    plx__label_weights w;
    plx_index k;
    int max_views;
    uint8_t *is_above;                  /* some class requires this one */
    uint16_t *cube;                     /* violations of every set, or NULL */
    label_sets *sets;                   /* or NULL */
    label_tree *tree;                   /* or NULL */
    label_elim *elim;                   /* or NULL */
    int32_t *clique;                    /* of every class, for branch and bound; flat: NULL */
    plx_index n_real, n_whole, n_level; /* room the solvers need */
};

struct plx__label_work {
    double *real;
    int32_t *whole;
    double *gain;            /* k x s: score * s_i^v - TIE_BIT */
    uint64_t *set;           /* (max_views + 2) x words */
    int32_t *fixed;          /* k: pattern a class must have, or -1 */
    double *level, *cost;    /* elimination: values by depth; broken rules of two classes */
    uint16_t *trial, *other; /* k each */
    plx_index *offset;       /* k: where the message of a step starts */
};

static inline bool label_has(const uint64_t *set, plx_index j) { return (set[j / 64] & plx__label_bit(j)) != 0; }

static inline plx_index plx__label_bit_count(const uint64_t *set, plx_index words)
{
    plx_index count = 0;
    for (plx_index w = 0; w < words; w++) count += __builtin_popcountll(set[w]);
    return count;
}

/* Cost of c of s views having a class: pairs of views that differ. */
static inline double label_split_cost(const plx__label_program *p, int c, int s) { return p->w.disagree * c * (s - c); }

/* Value of a pattern of one class, without rules. gain: s values of the class. */
double plx__label_unary(const plx__label_program *p, const double *gain, unsigned pattern, int s);

/* > 0 when a is lexicographically larger. */
int plx__label_compare(const uint16_t *a, const uint16_t *b, plx_index k);

/* Solves with work->fixed; the value goes to *value, *tie says that another solution may be as good. */
typedef void (*plx__label_engine)(uint16_t *pattern, double *value, bool *tie, const plx__label_program *p,
                                  plx__label_work *work, int s);

/* Runs an engine and settles its ties by fixing class after class to the largest pattern that loses nothing. */
void plx__label_settle(uint16_t *pattern, const plx__label_program *p, plx__label_work *work, int s,
                       plx__label_engine engine);

/* ---- the solvers; `can` looks at work->gain ---- */
void plx__label_flat_cover(uint16_t *pattern, const plx__label_program *p, plx__label_work *work, int s);
bool plx__label_can_flat_blocks(const plx__label_program *p, const plx__label_work *work, int s);
void plx__label_flat_blocks(uint16_t *pattern, const plx__label_program *p, plx__label_work *work, int s);
plx_status plx__label_sets_make(label_sets **out, plx__arena *arena, const plx__label_rules *rules);
bool plx__label_can_sets(const plx__label_program *p, plx__label_work *work, int s);
void plx__label_best_set(uint16_t *pattern, const plx__label_program *p, plx__label_work *work);
void plx__label_set_per_view(uint16_t *pattern, const plx__label_program *p, plx__label_work *work, int s);
/* Best consistent set between the bounds `least` and `most` (bits) for the gains of one view; false: none. */
bool plx__label_between(uint16_t *out, const plx__label_program *p, plx__label_work *work, const uint64_t *least,
                        const uint64_t *most);
plx_status plx__label_tree_make(label_tree **out, plx__arena *arena, const plx__label_rules *rules);
void plx__label_forest(uint16_t *pattern, double *value, bool *tie, const plx__label_program *p, plx__label_work *work,
                       int s);
void plx__label_paths(uint16_t *pattern, double *value, bool *tie, const plx__label_program *p, plx__label_work *work,
                      int s);
plx_status plx__label_counts_make(label_tree *t, plx__arena *arena, const plx__label_rules *rules);
bool plx__label_can_count(const plx__label_program *p, const plx__label_work *work);
void plx__label_subtree_counts(uint16_t *pattern, double *value, bool *tie, const plx__label_program *p,
                               plx__label_work *work, int s);
plx_status plx__label_cube_make(uint16_t **out, plx__arena *arena, const plx__label_rules *rules);
void plx__label_all_sets(uint16_t *pattern, const plx__label_program *p, plx__label_work *work, int s);
plx_status plx__label_elim_make(label_elim **out, plx__arena *arena, const plx__label_rules *rules);
double plx__label_elim_cost(const label_elim *elim, plx_index k, int s);
plx_index plx__label_elim_levels(const label_elim *elim, int s);
plx_index plx__label_elim_room(const label_elim *elim, plx_index k, int s);
void plx__label_elimination(uint16_t *pattern, double *value, bool *tie, const plx__label_program *p,
                            plx__label_work *work, int s);

plx_status plx__label_cliques_make(int32_t **out, plx__arena *arena, const plx__label_rules *rules);
/* false: too many cases. */
bool plx__label_branch(uint16_t *pattern, const plx__label_program *p, plx__label_work *work);

#endif
