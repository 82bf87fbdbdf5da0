/*
 * A class hierarchy with samples at its leaves.
 *
 * Level l = 1..depth has branching^l classes, numbered level by level; class p of a level is below class
 * p / branching of the level above (its first parent) and, with probability extra_parents, below a second one there.
 * Classes with the same first parent exclude each other unless some class is below both. Every class has a topic
 * (text) or an offset (dense); a sample is made of those of its leaf and of everything above it, and its label
 * is that set, top first.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "data/generate_impl.h"

enum { MOST_CLASSES = 20000 };

typedef struct ontology {
    plx_index depth, branching, classes, first_leaf, leaves;
    const char **names;
    int32_t *parent; /* 2 per class: -1 = none */
    int32_t **above; /* all classes above a class and itself, ascending */
    plx_index *n_above;
} ontology;

/* ---- structure ---- */

static plx_status count_classes(ontology *o, plx_context *ctx)
{
    double total = 0, level = 1;
    for (plx_index l = 0; l < o->depth; l++) total += level *= (double)o->branching;
    if (total > MOST_CLASSES)
        PLX_FAIL(ctx, PLX_E_ARG, "depth = %lld and branching = %lld make %.6g classes; at most %d are allowed",
                 (long long)o->depth, (long long)o->branching, total, MOST_CLASSES);
    o->classes = (plx_index)total;
    o->leaves = (plx_index)level;
    o->first_leaf = o->classes - o->leaves;
    return PLX_OK;
}

/* The class's name is its first parent's and its number among the siblings: c2-0-1. */
static plx_status name_class(ontology *o, plx__arena *arena, plx_index c, plx_index place)
{
    plx_index number = place % o->branching;
    if (o->parent[2 * c] < 0) return plx__arena_printf(&o->names[c], arena, "c%lld", (long long)number);
    return plx__arena_printf(&o->names[c], arena, "%s-%lld", o->names[o->parent[2 * c]], (long long)number);
}

/* A second parent among the others of the level above, or -1. */
static int32_t draw_extra(uint64_t seed, double rate, plx_index c, plx_index first_above, plx_index size_above,
                          plx_index first_parent)
{
    if (size_above < 2 || plx__rng_uniform(seed, PLX__STREAM('o', 'n', 't', 'x', 0), (uint64_t)c) >= rate) return -1;
    double u = plx__rng_uniform(seed, PLX__STREAM('o', 'n', 't', 'x', 1), (uint64_t)c);
    plx_index p = first_above + (plx_index)(u * (double)(size_above - 1));
    return (int32_t)(p + (p >= first_parent));
}

static plx_status build_tree(ontology *o, plx_context *ctx, plx__arena *arena, double extra)
{
    plx_index first = 0, first_above = 0, size_above = 0, size = o->branching;
    PLX_TRY(plx__arena_ptrs((void ***)&o->names, arena, o->classes));
    PLX_TRY(plx__arena_i32(&o->parent, arena, 2 * o->classes));
    for (plx_index l = 0; l < o->depth; l++) {
        for (plx_index place = 0; place < size; place++) {
            plx_index c = first + place, parent = l ? first_above + place / o->branching : -1;
            o->parent[2 * c] = (int32_t)parent;
            o->parent[2 * c + 1] = l ? draw_extra(ctx->seed, extra, c, first_above, size_above, parent) : -1;
            PLX_TRY(name_class(o, arena, c, place));
        }
        first_above = first;
        size_above = size;
        first += size;
        size *= o->branching;
    }
    return PLX_OK;
}

/* Union of two ascending lists, and c at the end (every class above c has a smaller number). */
static plx_index merge(int32_t *out, const int32_t *a, plx_index na, const int32_t *b, plx_index nb, plx_index c)
{
    plx_index n = 0, i = 0, j = 0;
    while (i < na || j < nb) {
        int32_t next = j == nb || (i < na && a[i] <= b[j]) ? a[i] : b[j];
        i += i < na && a[i] == next;
        j += j < nb && b[j] == next;
        out[n++] = next;
    }
    out[n++] = (int32_t)c;
    return n;
}

static plx_status close_upwards(ontology *o, plx__arena *arena)
{
    PLX_TRY(plx__arena_ptrs((void ***)&o->above, arena, o->classes));
    PLX_TRY(plx__arena_i64(&o->n_above, arena, o->classes));
    for (plx_index c = 0; c < o->classes; c++) {
        int32_t p = o->parent[2 * c], q = o->parent[2 * c + 1];
        plx_index np = p < 0 ? 0 : o->n_above[p], nq = q < 0 ? 0 : o->n_above[q];
        PLX_TRY(plx__arena_i32(&o->above[c], arena, np + nq + 1));
        o->n_above[c] = merge(o->above[c], np ? o->above[p] : NULL, np, nq ? o->above[q] : NULL, nq, c);
    }
    return PLX_OK;
}

static plx_status build_ontology(ontology *o, plx__gen_run *run)
{
    *o = (ontology){.depth = plx__gen_int(&run->set, "depth"), .branching = plx__gen_int(&run->set, "branching")};
    PLX_TRY(count_classes(o, run->ctx));
    PLX_TRY(build_tree(o, run->ctx, plx__scratch(run->ctx), plx__gen_real(&run->set, "extra_parents")));
    return close_upwards(o, plx__scratch(run->ctx));
}

/* ---- constraints ---- */

static bool siblings(const ontology *o, plx_index a, plx_index b) { return o->parent[2 * a] == o->parent[2 * b]; }

static int compare_pairs(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return x < y ? -1 : x > y;
}

/* Sibling pairs with a common class below, as a * classes + b, sorted; they cannot be exclusive. Counts only when
 * `out` is NULL. */
static plx_index overlapping_pairs(int64_t *out, const ontology *o)
{
    plx_index count = 0;
    for (plx_index c = 0; c < o->classes; c++)
        for (plx_index i = 0; i < o->n_above[c]; i++)
            for (plx_index j = i + 1; j < o->n_above[c]; j++) {
                plx_index a = o->above[c][i], b = o->above[c][j];
                if (!siblings(o, a, b)) continue;
                if (out) out[count] = a * o->classes + b;
                count++;
            }
    if (out && count) qsort(out, (size_t)count, sizeof *out, compare_pairs);
    return count;
}

/* Siblings are neighbours in number: groups of `branching`, starting at multiples of it on every level. */
static plx_status exclusive_pairs(int32_t **out, plx_index *count, plx__gen_run *run, const ontology *o)
{
    plx__arena *scratch = plx__scratch(run->ctx);
    int64_t *overlap = NULL;
    plx_index n_overlap = overlapping_pairs(NULL, o);
    *count = 0;
    PLX_TRY(plx__arena_i64(&overlap, scratch, n_overlap));
    overlapping_pairs(overlap, o);
    PLX_TRY(plx__arena_i32(out, scratch, o->classes * (o->branching - 1)));
    for (plx_index a = 0; a < o->classes; a++)
        for (plx_index b = a + 1; b < o->classes && siblings(o, a, b); b++) {
            int64_t key = a * o->classes + b;
            if (n_overlap && bsearch(&key, overlap, (size_t)n_overlap, sizeof key, compare_pairs)) continue;
            (*out)[2 * *count] = (int32_t)a;
            (*out)[2 * (*count)++ + 1] = (int32_t)b;
        }
    return PLX_OK;
}

static plx_status set_hierarchy(plx__gen_run *run, const ontology *o)
{
    int32_t *subset = NULL, *mutex = NULL;
    plx_index n_subset = 0, n_mutex = 0;
    PLX_TRY(plx__arena_i32(&subset, plx__scratch(run->ctx), 4 * o->classes));
    for (plx_index k = 0; k < 2 * o->classes; k++) {
        if (o->parent[k] < 0) continue;
        subset[2 * n_subset] = (int32_t)(k / 2);
        subset[2 * n_subset++ + 1] = o->parent[k];
    }
    if (plx__gen_flag(&run->set, "exclusive")) PLX_TRY(exclusive_pairs(&mutex, &n_mutex, run, o));
    return plx__dataset_set_hierarchy(run->data, run->ctx, o->names, o->classes, subset, n_subset, mutex, n_mutex);
}

/* ---- views ---- */

typedef struct path_mix {
    const ontology *o;
    const plx__topics *topics;
    double noise, overlap;
} path_mix;

static plx_index leaf_of(const ontology *o, plx_index row) { return o->first_leaf + row % o->leaves; }

static plx_index pick_on_path(const void *arg, plx_index row, double u)
{
    const path_mix *m = arg;
    plx_index topic = 0, leaf = leaf_of(m->o, row);
    if (!plx__topics_own(&u, &topic, m->topics, m->noise, m->overlap)) return topic;
    plx_index k = (plx_index)(u * (double)m->o->n_above[leaf]);
    return m->o->above[leaf][plx__min(k, m->o->n_above[leaf] - 1)];
}

static plx_status add_path_text(plx__gen_run *run, const ontology *o, plx_index v)
{
    plx__arena *scratch = plx__scratch(run->ctx);
    const plx__gen_settings *s = &run->set;
    plx__topics topics;
    plx_csr x;
    char name[32];
    PLX_TRY(plx__topics_draw(&topics, run->ctx, scratch, o->classes, (plx_index)plx__gen_at(s, "features", v),
                             plx__gen_real(s, "concentration"), v));
    path_mix mix = {o, &topics, plx__gen_real(s, "noise"), plx__gen_at(s, "overlap", v)};
    PLX_TRY(plx__topics_write(&x, run->ctx, scratch, &topics, run->n, plx__gen_at(s, "length", v), v,
                              run->present + v * run->n, pick_on_path, &mix));
    snprintf(name, sizeof name, "text%lld", (long long)v);
    return plx__gen_add_sparse(run, name, PLX_VIEW_COUNTS, x, "w", 1);
}

/* Sum of the offsets of the leaf and all above it, plus noise. */
static plx_status add_path_dense(plx__gen_run *run, const ontology *o, plx_index v)
{
    const plx__gen_settings *s = &run->set;
    plx_index dims = plx__gen_int(s, "dims");
    double separation = plx__gen_real(s, "separation"), sd = plx__gen_real(s, "sd");
    uint64_t seed = run->ctx->seed;
    plx_mat x, mean;
    char name[32];
    PLX_TRY(plx__arena_mat(&mean, plx__scratch(run->ctx), o->leaves, dims));
    PLX_TRY(plx__arena_mat(&x, plx__scratch(run->ctx), run->n, dims));
    for (plx_index l = 0; l < o->leaves; l++)
        for (plx_index k = 0; k < o->n_above[o->first_leaf + l]; k++)
            for (plx_index j = 0; j < dims; j++) {
                uint64_t item = (uint64_t)(o->above[o->first_leaf + l][k] * dims + j);
                mean.data[l * dims + j] += separation * plx__rng_normal(seed, PLX__STREAM('o', 'o', 'f', 'f', v), item);
            }
    for (plx_index i = 0; i < run->n; i++)
        for (plx_index j = 0; j < dims; j++)
            x.data[i * dims + j] =
                mean.data[i % o->leaves * dims + j] +
                sd * plx__rng_normal(seed, PLX__STREAM('o', 'n', 'o', 'i', v), (uint64_t)(i * dims + j));
    snprintf(name, sizeof name, "dense%lld", (long long)v);
    return plx__gen_add_dense(run, name, x);
}

static plx_status set_paths(plx__gen_run *run, const ontology *o)
{
    plx__arena *scratch = plx__scratch(run->ctx);
    const char **path = NULL, **truth = NULL;
    PLX_TRY(plx__arena_ptrs((void ***)&path, scratch, o->leaves));
    PLX_TRY(plx__arena_ptrs((void ***)&truth, scratch, run->n));
    for (plx_index l = 0; l < o->leaves; l++) {
        plx__textbuf text;
        plx__textbuf_init(&text, scratch);
        for (plx_index k = 0; k < o->n_above[o->first_leaf + l]; k++) {
            if (k) plx__textbuf_add(&text, "|");
            plx__textbuf_add(&text, o->names[o->above[o->first_leaf + l][k]]);
        }
        PLX_TRY(plx__textbuf_done(&path[l], &text));
    }
    for (plx_index i = 0; i < run->n; i++) truth[i] = path[i % o->leaves];
    return plx__gen_truth(run, truth, NULL);
}

static plx_status make_ontology(plx__gen_run *run)
{
    plx__arena *scratch = plx__scratch(run->ctx);
    bool dense = plx__gen_is(&run->set, "kind", "dense"), mixed = plx__gen_is(&run->set, "kind", "mixed");
    ontology o;
    PLX_TRY(build_ontology(&o, run));
    PLX_TRY(plx__gen_begin(run, plx__gen_int(&run->set, "n"), plx__gen_int(&run->set, "views")));
    PLX_TRY(set_hierarchy(run, &o));
    for (plx_index v = 0; v < run->views; v++) {
        plx__mark mark = plx__arena_mark(scratch);
        if (dense || (mixed && v % 2)) PLX_TRY(add_path_dense(run, &o, v));
        else PLX_TRY(add_path_text(run, &o, v));
        plx__arena_rewind(scratch, mark);
        PLX_TRY(plx__report(run->ctx, "generate", v + 1, run->views, NAN));
    }
    return set_paths(run, &o);
}

static const plx__param_spec ONTOLOGY_PARAMS[] = {
    PLX__GEN_ROW("n", INT, "540", 1, 1e9, NULL, "Samples; sample i belongs to leaf i mod the number of leaves."),
    PLX__GEN_ROW("depth", INT, "3", 1, 20, NULL, "Levels of classes."),
    PLX__GEN_ROW("branching", INT, "3", 1, 1000, NULL, "Classes below each class, and at the top."),
    PLX__GEN_ROW("extra_parents", REAL, "0", 0, 1, NULL, "Probability that a class has a second parent."),
    PLX__GEN_ROW("exclusive", BOOL, "1", 0, 1, NULL, "1: siblings exclude each other."),
    PLX__GEN_ROW("views", INT, "2", 1, 1000, NULL, "Number of views."),
    PLX__GEN_ROW("kind", CHOICE, "text", 0, 0, "text|dense|mixed", "Text views, dense views, or both in turn."),
    PLX__GEN_TEXT_PARAMS,
    PLX__GEN_ROW("dims", INT, "20", 1, 1e6, NULL, "Coordinates of a dense view."),
    PLX__GEN_ROW("separation", REAL, "1", 0, 1e6, NULL, "Standard deviation of a class's offset in a dense view."),
    PLX__GEN_ROW("sd", REAL, "1", 0, 1e6, NULL, "Standard deviation of the noise in a dense view: larger is harder."),
    PLX__GEN_ROW("labelled", TEXT, "20%", 0, 0, NULL, "Labelled samples per leaf: 2, 10%, all or none."),
    PLX__PARAM_END};

const plx__generator plx__gen_ontology = {"ontology",
                                          "A class hierarchy; samples carry the classes on the way to their leaf.",
                                          ONTOLOGY_PARAMS, make_ontology};
