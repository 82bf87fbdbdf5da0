/*
 * A set is judged once per different text, as in label_sets.c; samples then look their text up.
 */
#include "eval/rule_check.h"

#include <string.h>

#include "eval/label_sets.h"
#include "eval/metrics_store.h"
#include "labelsets/label_program.h"

static plx_status name_pairs(const char *const **out, plx__arena *arena, const plx__hierarchy *from,
                             const int32_t *pairs, plx_index count)
{
    const char **names = NULL;
    PLX_TRY(PLX__ARENA_NEW(&names, arena, 2 * count));
    for (plx_index i = 0; i < 2 * count; i++) names[i] = from->classes[pairs[i]];
    *out = names;
    return PLX_OK;
}

plx_status plx__metrics_hierarchy(plx_metrics_hierarchy *out, plx__arena *arena, const plx__hierarchy *from)
{
    *out = (plx_metrics_hierarchy){.struct_size = sizeof *out, .classes = from->classes, .n_classes = from->n_classes};
    out->n_subset = from->n_subset;
    out->n_mutex = from->n_mutex;
    PLX_TRY(name_pairs(&out->subset, arena, from, from->subset, from->n_subset));
    return name_pairs(&out->mutex, arena, from, from->mutex, from->n_mutex);
}

/* Pairs of names as pairs of codes. Classes are coded in the order of the hierarchy before. */
static plx_status code_pairs(int32_t **out, plx__codes *classes, const char *const *names, plx_index count,
                             const char *what)
{
    plx__arena *arena = classes->map.arena;
    PLX_TRY(plx__arena_i32(out, arena, 2 * count));
    for (plx_index i = 0; i < 2 * count; i++) {
        char hint[160];
        if (!names[i]) PLX_FAIL(arena->ctx, PLX_E_ARG, "hierarchy: %s name %lld is NULL", what, (long long)i);
        plx_index code = plx__map_get(&classes->map, names[i]);
        if (code < 0)
            PLX_FAIL(arena->ctx, PLX_E_DATA, "hierarchy: %s pair %lld names '%s', which is not among its classes%s",
                     what, (long long)i / 2 + 1, names[i],
                     plx__suggest(hint, sizeof hint, names[i], classes->names, classes->count));
        (*out)[i] = (int32_t)code;
    }
    return PLX_OK;
}

static plx_status open_rules(plx__label_rules *rules, plx__codes *classes, const plx_metrics_hierarchy *h)
{
    int32_t *subset = NULL, *mutex = NULL, code = 0;
    for (plx_index c = 0; c < h->n_classes; c++) PLX_TRY(plx__codes_add(&code, classes, h->classes[c]));
    PLX_TRY(code_pairs(&subset, classes, h->subset, h->n_subset, "subset"));
    PLX_TRY(code_pairs(&mutex, classes, h->mutex, h->n_mutex, "mutex"));
    return plx__label_rules_pairs(rules, classes->map.arena, classes->names, classes->count, subset, h->n_subset, mutex,
                                  h->n_mutex, true);
}

/* broken[t]: whether the set of text t breaks a rule. */
static plx_status judge_texts(uint8_t **broken, const plx__codes *texts, plx__codes *classes,
                              const plx__label_rules *rules)
{
    plx__arena *arena = classes->map.arena;
    plx__label_sets sets;
    uint64_t *bits = NULL;
    PLX_TRY(plx__sets_split(&sets, texts, classes));
    PLX_TRY(plx__arena_u8(broken, arena, texts->count));
    PLX_TRY(PLX__ARENA_NEW(&bits, arena, rules->words));
    for (int32_t t = 0; t < texts->count; t++) {
        plx__set_view set = plx__set_at(&sets, t);
        if (rules->words) memset(bits, 0, (size_t)rules->words * sizeof *bits);
        for (plx_index i = 0; i < set.count; i++)
            if (set.ids[i] < rules->k) bits[set.ids[i] / 64] |= plx__label_bit(set.ids[i]);
        (*broken)[t] = plx__label_violations(rules, bits) > 0;
    }
    return PLX_OK;
}

plx_status plx__metrics_violations(plx_metrics *metrics, const char *const *truth, const char *const *pred, plx_index n,
                                   const plx_metrics_hierarchy *hierarchy)
{
    plx__arena *arena = plx__scratch(metrics->ctx);
    plx__codes texts, classes;
    plx__label_rules rules;
    uint8_t *broken = NULL;
    int32_t *p = NULL;
    plx_index counted = 0, wrong = 0;
    PLX_TRY(plx__codes_init(&texts, arena));
    PLX_TRY(plx__codes_init(&classes, arena));
    PLX_TRY(open_rules(&rules, &classes, hierarchy));
    PLX_TRY(plx__encode(&p, &texts, pred, n, (plx__encode_options){.what = "prediction"}));
    PLX_TRY(judge_texts(&broken, &texts, &classes, &rules));
    for (plx_index i = 0; i < n; i++) {
        if (plx__is_unknown(truth[i])) continue;
        counted++;
        wrong += p[i] >= 0 && broken[p[i]];
    }
    if (counted == 0) return plx__metrics_undefined(metrics, "no sample has a known truth value", "h_violations");
    return plx__metrics_add(metrics, (double)wrong / (double)counted, "h_violations");
}
