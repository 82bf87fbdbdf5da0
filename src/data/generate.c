/*
 * The list of generators, and what they all do: ids, missing rows, truth and labels.
 */
#include <stdio.h>
#include <string.h>

#include "data/generate_impl.h"

static const plx__generator *const GENERATORS[] = {&plx__gen_two_gauss,   &plx__gen_irrelevant_view, &plx__gen_xor,
                                                   &plx__gen_moons_lines, &plx__gen_topic_text,      &plx__gen_links,
                                                   &plx__gen_ontology};
enum { N_GENERATORS = sizeof GENERATORS / sizeof *GENERATORS };

/* ---- listing ---- */

const plx__generator *plx__generator_at(plx_index k) { return k >= 0 && k < N_GENERATORS ? GENERATORS[k] : NULL; }

/* ---- building ---- */

plx_status plx__gen_names(const char *const **out, plx__arena *arena, const char *letter, plx_index count, int width)
{
    char **names = NULL, *text = NULL;
    size_t room = strlen(letter) + 24;
    int digits = 1;
    for (plx_index rest = count - 1; rest >= 10; rest /= 10) digits++;
    if (digits < width) digits = width;
    PLX_TRY(plx__arena_ptrs((void ***)&names, arena, count));
    PLX_TRY(plx__arena_bytes((void **)&text, arena, count, room));
    for (plx_index i = 0; i < count; i++) {
        names[i] = text + (size_t)i * room;
        snprintf(names[i], room, "%s%0*lld", letter, digits, (long long)i);
    }
    *out = (const char *const *)names;
    return PLX_OK;
}

static plx_status set_ids(plx__gen_run *run)
{
    plx__mark mark = plx__arena_mark(plx__scratch(run->ctx));
    const char *const *ids = NULL;
    PLX_TRY(plx__gen_names(&ids, plx__scratch(run->ctx), "s", run->n, PLX__GEN_ID_DIGITS));
    PLX_TRY(plx__dataset_set_ids(run->data, run->ctx, ids));
    plx__arena_rewind(plx__scratch(run->ctx), mark);
    return PLX_OK;
}

plx_status plx__gen_begin(plx__gen_run *run, plx_index n, plx_index views)
{
    plx_missing_options missing = PLX_MISSING_OPTIONS_INIT;
    plx_index flags = 0;
    run->n = n;
    run->views = views;
    if (__builtin_mul_overflow(n, views, &flags)) PLX_FAIL(run->ctx, PLX_E_NOMEM, "a size overflowed");
    PLX_TRY(plx__dataset_create(&run->data, run->ctx, run->set.name, n));
    if (plx__gen_flag(&run->set, "ids")) PLX_TRY(set_ids(run));
    PLX_TRY(plx__arena_u8(&run->present, plx__scratch(run->ctx), flags));
    missing.rate = plx__gen_real(&run->set, "missing");
    return plx__missing_draw(run->present, run->ctx, n, views, NULL, &missing, 'g');
}

static plx_status feature_names(const char *const **out, plx__gen_run *run, const char *letter, plx_index cols,
                                int digits)
{
    *out = NULL;
    if (!plx__gen_flag(&run->set, "names")) return PLX_OK;
    return plx__gen_names(out, plx__scratch(run->ctx), letter, cols, digits);
}

plx_status plx__gen_add_dense(plx__gen_run *run, const char *name, plx_mat values)
{
    plx__mark mark = plx__arena_mark(plx__scratch(run->ctx));
    const char *const *features = NULL;
    const uint8_t *present = run->present + run->data->n_views * run->n;
    PLX_TRY(feature_names(&features, run, "f", values.cols, 1));
    PLX_TRY(plx__dataset_add_dense(run->data, run->ctx, name, PLX_VIEW_REAL, plx__cmat(values), features, present));
    plx__arena_rewind(plx__scratch(run->ctx), mark);
    return PLX_OK;
}

plx_status plx__gen_add_sparse(plx__gen_run *run, const char *name, plx_view_kind kind, plx_csr values,
                               const char *letter, int digits)
{
    plx__mark mark = plx__arena_mark(plx__scratch(run->ctx));
    const char *const *features = NULL;
    const uint8_t *present = run->present + run->data->n_views * run->n;
    PLX_TRY(feature_names(&features, run, letter, values.cols, digits));
    PLX_TRY(plx__dataset_add_sparse(run->data, run->ctx, name, kind, plx__ccsr(values), features, present));
    plx__arena_rewind(plx__scratch(run->ctx), mark);
    return PLX_OK;
}

plx_status plx__gen_truth(plx__gen_run *run, const char *const *truth, const plx__strata *strata)
{
    plx_context *ctx = run->ctx;
    plx__strata classes;
    uint8_t *chosen = NULL;
    const char **labels = NULL;
    PLX_TRY(plx__dataset_set_truth(run->data, ctx, truth));
    PLX_TRY(plx__arena_u8(&chosen, plx__scratch(ctx), run->n));
    PLX_TRY(plx__arena_ptrs((void ***)&labels, plx__scratch(ctx), run->n));
    if (!strata) {
        PLX_TRY(plx__strata_of_classes(&classes, ctx, plx__scratch(ctx), run->data));
        strata = &classes;
    }
    PLX_TRY(plx__split_choose(chosen, ctx, strata, plx__gen_text(&run->set, "labelled")));
    plx__split_label_texts(labels, run->data, chosen);
    return plx__dataset_set_labels(run->data, ctx, labels);
}

/* ---- entry ---- */

static plx_status find_generator(const plx__generator **out, plx_context *ctx, const char *kind)
{
    const char *names[N_GENERATORS];
    char near[128];
    for (int k = 0; k < N_GENERATORS; k++) {
        names[k] = GENERATORS[k]->name;
        if (strcmp(kind, names[k]) == 0) {
            *out = GENERATORS[k];
            return PLX_OK;
        }
    }
    PLX_FAIL(ctx, PLX_E_ARG, "there is no generator '%s'%s", kind,
             plx__suggest(near, sizeof near, kind, names, N_GENERATORS));
}

plx_status plx__generate(plx_dataset **out, plx_context *ctx, const char *kind, const char *const *settings,
                         plx_index n_settings)
{
    plx__gen_run run = {.ctx = ctx};
    const plx__generator *g = NULL;
    PLX_TRY(find_generator(&g, ctx, kind));
    plx_status st = plx__gen_read_settings(&run.set, ctx, g, settings, n_settings);
    if (st == PLX_OK) st = g->make(&run);
    plx__params_destroy(run.set.params);
    if (st == PLX_OK) *out = run.data;
    else plx__dataset_destroy(run.data);
    return st;
}
