/*
 * Rankings by method and kind. A method without a ranking of labels gets the general one: its own descriptor with the
 * parameters of label_ranking.h added, made once for all methods.
 */
#include "methods/acquirers.h"

#include <pthread.h>
#include <string.h>

#include "active/label_ranking.h"
#include "methods/registry.h"

enum { MOST_METHODS = 64, MOST_TABLES = 24, MOST_ARRAYS = 64, MOST_NAMES = 8 };

/* The general ranking of labels by a method. */
typedef struct general {
    plx__method method, plain; /* plain: fits only, with the parameters of the rankings */
    plx__param_table tables[MOST_TABLES];
    plx__array_spec arrays[MOST_ARRAYS];
    const char *names[MOST_NAMES]; /* besides views', in key.NAME */
} general;

static general all[MOST_METHODS];
static pthread_once_t once = PTHREAD_ONCE_INIT;

/* The descriptor of `of`'s rankings that brings the parameters, or its own. */
static const plx__method *with_params(const plx__method *of)
{
    for (int k = 0; k < PLX__ACQUIRE_KINDS; k++)
        if (of->acquire[k]) return of->acquire[k];
    return of;
}

static plx_status fit_and_rank(plx__run *run)
{
    const plx__method *of = plx__method_find(run->method->name);
    PLX_TRY(of->fit(run));
    return plx__rank_labels(run, of);
}

static double memory_of_both(const plx__run *run)
{
    double own = plx__method_find(run->method->name)->memory(run);
    return run->fitted ? own : own + plx__rank_labels_bytes(run);
}

static void add_arrays(general *g, const plx__method *of)
{
    int count = 0;
    for (; of->arrays[count].name && count < MOST_ARRAYS - 2; count++) g->arrays[count] = of->arrays[count];
    g->arrays[count++] = (plx__array_spec){"label_gain", "n x 1", 0,
                                           "What makes the label worth asking for, not divided by its cost; 0 where it "
                                           "is known."};
    g->arrays[count] = (plx__array_spec){NULL, NULL, 0, NULL};
}

static void add_tables(general *g, const plx__method *of)
{
    int count = 0;
    for (; of->params[count] && count < MOST_TABLES - 3; count++) g->tables[count] = of->params[count];
    g->tables[count++] = plx__label_params;
    g->tables[count++] = plx__acquire_params;
    g->tables[count] = NULL;
}

/* cost.label besides what the method has. */
static void add_names(general *g, const plx__method *of)
{
    int count = 0;
    for (; of->extra_views && of->extra_views[count] && count < MOST_NAMES - 2; count++)
        g->names[count] = of->extra_views[count];
    g->names[count++] = "label";
    g->names[count] = NULL;
}

static void make_general(void)
{
    for (plx_index i = 0; i < plx__method_count() && i < MOST_METHODS; i++) {
        const plx__method *of = plx__method_at(i), *from = with_params(of);
        general *g = &all[i];
        g->method = *of;
        add_tables(g, of);
        add_arrays(g, of);
        add_names(g, of);
        g->method.params = from != of ? from->params : g->tables; /* rankings of its own bring these parameters */
        g->method.params_size = from->params_size;
        g->method.arrays = g->arrays;
        g->method.extra_views = g->names;
        g->method.fit = fit_and_rank;
        memset(g->method.acquire, 0, sizeof g->method.acquire);
        g->plain = g->method;
        g->plain.arrays = of->arrays;
        g->plain.fit = of->fit;
        if (of->memory) g->method.memory = memory_of_both;
    }
}

static const general *general_of(plx_index i)
{
    pthread_once(&once, make_general);
    return &all[i];
}

/* ---- looking up ---- */

static plx_index number_of(const char *name)
{
    for (plx_index i = 0; i < plx__method_count(); i++)
        if (strcmp(plx__method_at(i)->name, name) == 0) return i;
    return -1;
}

static const plx__method *ranking_of(plx_index i, plx_acquire_kind kind)
{
    const plx__method *of = plx__method_at(i);
    if (of->acquire[kind]) return of->acquire[kind];
    return kind == PLX_ACQUIRE_LABELS && of->task == PLX_TASK_CLASSIFY ? &general_of(i)->method : NULL;
}

static const plx__method *any_ranking(plx_index i)
{
    const plx__method *own = with_params(plx__method_at(i));
    return own != plx__method_at(i) ? own : ranking_of(i, PLX_ACQUIRE_LABELS);
}

plx_index plx__acquirer_count(void)
{
    plx_index count = 0;
    for (plx_index i = 0; i < plx__method_count(); i++) count += any_ranking(i) != NULL;
    return count;
}

const char *plx__acquirer_name(plx_index number)
{
    for (plx_index i = 0; number >= 0 && i < plx__method_count(); i++)
        if (any_ranking(i) && number-- == 0) return plx__method_at(i)->name;
    return NULL;
}

const plx__method *plx__acquirer_find(const char *name, plx_acquire_kind kind)
{
    plx_index i = number_of(name);
    return i < 0 ? NULL : ranking_of(i, kind);
}

const plx__method *plx__acquirer_by_scores(const char *name)
{
    plx_index i = number_of(name);
    return i < 0 || plx__method_at(i)->task != PLX_TASK_CLASSIFY ? NULL : &general_of(i)->method;
}

const plx__method *plx__acquirer_plain(const char *name)
{
    plx_index i = number_of(name);
    return i < 0 ? NULL : &general_of(i)->plain;
}

/* Names of the methods that rank this kind, separated by commas. */
static plx_status names_of(const char **out, plx_context *ctx, int kind)
{
    plx__textbuf list;
    plx__textbuf_init(&list, plx__scratch(ctx));
    for (plx_index i = 0, count = 0; i < plx__method_count(); i++)
        if (ranking_of(i, (plx_acquire_kind)kind))
            plx__textbuf_printf(&list, "%s%s", count++ ? ", " : "", plx__method_at(i)->name);
    return plx__textbuf_done(out, &list);
}

plx_status plx__acquirer_require(const plx__method **out, plx_context *ctx, const char *name, int kind)
{
    static const char *const words[] = {"labels", "features", "labels and features together"};
    const plx__method *of = NULL;
    const char *who = NULL;
    *out = NULL;
    if (kind < -1 || kind >= PLX__ACQUIRE_KINDS)
        PLX_FAIL(ctx, PLX_E_ARG, "acquire: unknown kind %d; expected labels, features or any", kind);
    PLX_TRY(plx__method_require(&of, ctx, name));
    plx_index i = number_of(name);
    *out = kind < 0 ? any_ranking(i) : ranking_of(i, (plx_acquire_kind)kind);
    if (*out) return PLX_OK;
    if (kind <= PLX_ACQUIRE_LABELS)
        PLX_FAIL(ctx, PLX_E_ARG, "acquire: %s does not classify, so it cannot rank labels%s; use a classifier", name,
                 kind < 0 ? ", nor does it rank features" : "");
    PLX_TRY(names_of(&who, ctx, kind));
    PLX_FAIL(ctx, PLX_E_ARG, "acquire: %s cannot rank %s; available: %s", name, words[kind], who);
}

plx_status plx__acquirer_as_set(const plx__method **out, plx_context *ctx, const char *name, plx_acquire_kind kind,
                                const plx_params *params)
{
    static const char *const keys[] = {"criterion", "density_weight"};
    PLX_TRY(plx__acquirer_require(out, ctx, name, (int)kind));
    const plx__method *by_scores = plx__acquirer_by_scores(name);
    if (!params || params->tables != (*out)->params || !by_scores) return PLX_OK;
    for (int k = 0; k < 2 && kind != PLX_ACQUIRE_LABELS; k++)
        if (plx__view_value_level(params, keys[k], NULL) > 0)
            PLX_FAIL(ctx, PLX_E_ARG,
                     "%s is about labels only: %s values %s by information; leave it out, or acquire labels", keys[k],
                     name, kind == PLX_ACQUIRE_ANY ? "labels and features together" : "features");
    if (kind != PLX_ACQUIRE_LABELS || (*out)->fit == by_scores->fit) return PLX_OK;
    if (plx__view_value_level(params, "criterion", NULL) > 0) *out = by_scores;
    else if (plx__view_value_level(params, "density_weight", NULL) > 0)
        PLX_FAIL(ctx, PLX_E_ARG,
                 "density_weight multiplies a criterion, and %s values labels by information: set criterion, "
                 "for instance criterion=margin, too",
                 name);
    return PLX_OK;
}
