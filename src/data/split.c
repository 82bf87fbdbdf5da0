/*
 * Stratified choices: labels to keep, folds, test samples.
 *
 * Every sample gets a random key per purpose; inside its class the samples are taken in the order of
 * their keys.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/file.h"
#include "core/number.h"
#include "core/rng.h"
#include "data/split_impl.h"
#include "data/targets.h"

static const uint64_t LABEL_STREAM = PLX__STREAM('s', 'p', 'l', 'b', 0);
static const uint64_t FOLD_STREAM = PLX__STREAM('s', 'p', 'f', 'd', 0);
static const uint64_t TEST_STREAM = PLX__STREAM('s', 'p', 't', 's', 0);

/* ---- strata ---- */

plx_status plx__strata_of_groups(plx__strata *out, plx__arena *arena, const int32_t *of, plx_index n,
                                 const char *const *names, plx_index count)
{
    plx_index *size = NULL;
    PLX_TRY(plx__arena_i64(&size, arena, count));
    for (plx_index i = 0; i < n; i++)
        if (of[i] >= 0) size[of[i]]++;
    *out = (plx__strata){n, count, names, of, size};
    return PLX_OK;
}

/* Distinct texts, byte-sorted, in *names. */
static plx_status distinct_texts(const char ***names, plx_index *count, plx_context *ctx, plx__arena *arena,
                                 const char *const *texts, plx_index n)
{
    plx__map seen;
    plx_index existing = -1;
    PLX_TRY(plx__map_init(&seen, plx__scratch(ctx), 0));
    for (plx_index i = 0; i < n; i++)
        if (texts[i]) PLX_TRY(plx__map_add(&seen, texts[i], i, &existing));
    PLX_TRY(plx__arena_ptrs((void ***)names, arena, seen.count));
    for (plx_index k = 0; k < seen.count; k++) (*names)[k] = seen.keys[k];
    if (seen.count) qsort(*names, (size_t)seen.count, sizeof **names, plx__compare_text);
    *count = seen.count;
    return PLX_OK;
}

/* All samples that have a text are one group. */
static plx_status strata_of_targets(plx__strata *out, plx__arena *arena, const char *const *texts, plx_index n)
{
    static const char *const everything[] = {"all samples"};
    int32_t *of = NULL;
    PLX_TRY(plx__arena_i32(&of, arena, n));
    for (plx_index i = 0; i < n; i++) of[i] = texts[i] ? 0 : -1;
    return plx__strata_of_groups(out, arena, of, n, everything, 1);
}

plx_status plx__strata_of_classes(plx__strata *out, plx_context *ctx, plx__arena *arena, const plx_dataset *data)
{
    const char *const *texts = data->truth ? data->truth : data->labels;
    const char **names = NULL;
    plx_index count = 0, existing = -1;
    int32_t *of = NULL;
    plx__map index;
    if (!texts) PLX_FAIL(ctx, PLX_E_DATA, "data set '%s' has neither truth nor labels to choose from", data->name);
    if (plx__are_targets(texts, data->n)) return strata_of_targets(out, arena, texts, data->n);
    PLX_TRY(distinct_texts(&names, &count, ctx, arena, texts, data->n));
    PLX_TRY(plx__map_init(&index, plx__scratch(ctx), count));
    for (plx_index c = 0; c < count; c++) PLX_TRY(plx__map_add(&index, names[c], c, &existing));
    PLX_TRY(plx__arena_i32(&of, arena, data->n));
    for (plx_index i = 0; i < data->n; i++) of[i] = texts[i] ? (int32_t)plx__map_get(&index, texts[i]) : -1;
    return plx__strata_of_groups(out, arena, of, data->n, names, count);
}

typedef struct keyed {
    uint64_t key;
    plx_index sample;
} keyed;

static int by_key(const void *a_, const void *b_)
{
    const keyed *a = a_, *b = b_;
    if (a->key != b->key) return a->key < b->key ? -1 : 1;
    return a->sample < b->sample ? -1 : a->sample > b->sample;
}

plx_status plx__strata_order(plx_index *order, plx_context *ctx, const plx__strata *s, uint64_t stream)
{
    plx__mark mark = plx__arena_mark(plx__scratch(ctx));
    keyed *items = NULL;
    plx_index *at = NULL, begin = 0;
    PLX_TRY(PLX__ARENA_NEW(&items, plx__scratch(ctx), s->n));
    PLX_TRY(plx__arena_i64(&at, plx__scratch(ctx), s->count + 1));
    for (plx_index g = 0; g < s->count; g++) at[g + 1] = at[g] + s->size[g];
    for (plx_index i = 0; i < s->n; i++) {
        plx_index g = s->of[i] >= 0 ? s->of[i] : s->count;
        items[at[g]++] = (keyed){plx__rng_u64(ctx->seed, stream, (uint64_t)i), i};
    }
    for (plx_index g = 0; g <= s->count; g++) { /* at[g] is now the end of group g */
        if (at[g] > begin) qsort(items + begin, (size_t)(at[g] - begin), sizeof *items, by_key);
        begin = at[g];
    }
    for (plx_index i = 0; i < s->n; i++) order[i] = items[i].sample;
    plx__arena_rewind(plx__scratch(ctx), mark);
    return PLX_OK;
}

/* ---- how many of each class ---- */

typedef struct amount {
    double value;
    bool percent;
} amount;

/* "10%" or "5" in [text, end). */
static bool read_amount(amount *out, const char *text, const char *end)
{
    int64_t count = 0;
    if (end > text && end[-1] == '%') {
        out->percent = true;
        return plx__read_double(&out->value, text, end - 1) == end - 1 && out->value >= 0 && out->value <= 100;
    }
    out->percent = false;
    if (plx__read_int64(&count, text, end) != end || count < 0) return false;
    out->value = (double)count;
    return true;
}

/* ceil(percent n / 100), forgiving the rounding of products like 1.1 * 1000. */
static plx_index take_of(const amount *a, plx_index n)
{
    if (!a->percent) return a->value < 9e15 ? (plx_index)a->value : INT64_MAX;
    double exact = a->value * (double)n / 100.0;
    return plx__min(n, (plx_index)ceil(exact - 1e-12 * exact));
}

static plx_status bad_spec(plx_context *ctx, const char *spec)
{
    double share = 0;
    if (plx__parse_double(&share, spec) && share > 0 && share < 1)
        PLX_FAIL(ctx, PLX_E_ARG, "choice of labels '%s': a share is written in percent; did you mean %g%%?", spec,
                 100 * share);
    PLX_FAIL(ctx, PLX_E_ARG,
             "choice of labels '%s': must be like 10%%, 5, class=2,other=10, all, none, or an existing file", spec);
}

/* An item is "name=amount". Names may hold ',' and '=', so the longest class name that fits decides. Returns the
 * item's end, or NULL when no class fits. */
static const char *match_item(plx_index *group, amount *out, const plx__strata *s, const char *item)
{
    const char *best = NULL;
    size_t longest = 0;
    for (plx_index g = 0; g < s->count; g++) {
        size_t len = strlen(s->names[g]);
        amount a;
        if (len <= longest || strncmp(item, s->names[g], len) != 0 || item[len] != '=') continue;
        const char *end = item + len + 1 + strcspn(item + len + 1, ",");
        if (!read_amount(&a, item + len + 1, end)) continue;
        longest = len;
        best = end;
        *group = g;
        *out = a;
    }
    return best;
}

/* The first ten names, and how many more there are. */
static const char *list_names(char *out, size_t size, const plx__strata *s)
{
    enum { SHOWN = 10 };
    size_t used = 0;
    out[0] = '\0';
    for (plx_index g = 0; g < s->count && g < SHOWN && used + 64 < size; g++)
        used += (size_t)snprintf(out + used, size - used, "%s%.50s", g ? ", " : "", s->names[g]);
    if (s->count > SHOWN) snprintf(out + used, size - used, " and %lld more", (long long)(s->count - SHOWN));
    return out;
}

/* An item that fits no class: either its amount cannot be read or its class is unknown. */
static plx_status bad_item(plx_context *ctx, const plx__strata *s, const char *spec, const char *item)
{
    amount a;
    char near[256], list[700];
    const char *name = NULL, *end = item + strcspn(item, ","), *equals = end;
    while (equals > item && *equals != '=') equals--;
    if (equals == item || !read_amount(&a, equals + 1, end)) return bad_spec(ctx, spec);
    PLX_TRY(plx__arena_textn(&name, plx__scratch(ctx), item, (size_t)(equals - item)));
    PLX_FAIL(ctx, PLX_E_ARG, "choice of labels: there is no class '%s' among %s%s", name,
             list_names(list, sizeof list, s), plx__suggest(near, sizeof near, name, s->names, s->count));
}

static plx_status named_quotas(plx_index *quota, plx_context *ctx, const plx__strata *s, const char *spec)
{
    for (const char *item = spec;;) {
        amount a = {0, false};
        plx_index g = 0;
        const char *end = match_item(&g, &a, s, item);
        if (!end) return bad_item(ctx, s, spec, item);
        quota[g] = take_of(&a, s->size[g]);
        if (quota[g] > s->size[g])
            PLX_FAIL(ctx, PLX_E_DATA, "choice of labels: class '%s' has %lld samples, %lld are asked for", s->names[g],
                     (long long)s->size[g], (long long)quota[g]);
        if (!*end) return PLX_OK;
        item = end + 1;
    }
}

static plx_status quotas(plx_index *quota, plx_context *ctx, const plx__strata *s, const char *spec)
{
    amount a = {0, false};
    if (strcmp(spec, "none") == 0) return PLX_OK;
    if (strcmp(spec, "all") == 0) a = (amount){100, true};
    else if (strchr(spec, '=')) return named_quotas(quota, ctx, s, spec);
    else if (!read_amount(&a, spec, spec + strlen(spec))) return bad_spec(ctx, spec);
    for (plx_index g = 0; g < s->count; g++) {
        quota[g] = take_of(&a, s->size[g]);
        if (quota[g] <= s->size[g]) continue;
        plx__warn(ctx, "class '%s' has only %lld samples, all of them are chosen (%s asked for)", s->names[g],
                  (long long)s->size[g], spec);
        quota[g] = s->size[g];
    }
    return PLX_OK;
}

/* ---- choices ---- */

/* Flag the first quota[g] samples of every group in `order`. */
static void flag_first(uint8_t *flags, const plx__strata *s, const plx_index *order, const plx_index *quota)
{
    memset(flags, 0, (size_t)s->n);
    for (plx_index g = 0, begin = 0; g < s->count; begin += s->size[g++])
        for (plx_index k = 0; k < quota[g]; k++) flags[order[begin + k]] = 1;
}

plx_status plx__split_choose(uint8_t *chosen, plx_context *ctx, const plx__strata *s, const char *spec)
{
    plx__mark mark = plx__arena_mark(plx__scratch(ctx));
    plx_index *order = NULL, *quota = NULL;
    PLX_TRY(plx__arena_i64(&order, plx__scratch(ctx), s->n));
    PLX_TRY(plx__arena_i64(&quota, plx__scratch(ctx), s->count));
    PLX_TRY(quotas(quota, ctx, s, spec));
    PLX_TRY(plx__strata_order(order, ctx, s, LABEL_STREAM));
    flag_first(chosen, s, order, quota);
    plx__arena_rewind(plx__scratch(ctx), mark);
    return PLX_OK;
}

/* The file a choice names: after file:, or by itself where nothing else can be meant. NULL: none. */
static const char *choice_file(const char *spec)
{
    amount a;
    if (plx__starts_with(spec, "file:")) return spec + 5;
    if (strcmp(spec, "all") == 0 || strcmp(spec, "none") == 0 || strchr(spec, '=')) return NULL;
    if (read_amount(&a, spec, spec + strlen(spec))) return NULL;
    return plx__file_exists(spec) && !plx__is_directory(spec) ? spec : NULL;
}

plx_status plx__split_labels(uint8_t *chosen, plx_context *ctx, const plx_dataset *data, const char *spec)
{
    plx__strata s;
    const char *file = choice_file(spec);
    if (file) return plx__split_read(chosen, ctx, data, file);
    PLX_TRY(plx__strata_of_classes(&s, ctx, plx__scratch(ctx), data));
    return plx__split_choose(chosen, ctx, &s, spec);
}

/* Strata by class; without any class all samples are one group. */
static plx_status strata_or_one(plx__strata *s, plx_context *ctx, const plx_dataset *data, bool by_class)
{
    static const char *const everything[] = {"all samples"};
    int32_t *zero = NULL;
    if (by_class && (data->truth || data->labels)) return plx__strata_of_classes(s, ctx, plx__scratch(ctx), data);
    PLX_TRY(plx__arena_i32(&zero, plx__scratch(ctx), data->n));
    return plx__strata_of_groups(s, plx__scratch(ctx), zero, data->n, everything, 1);
}

/* Dealing goes on round the folds from class to class: both the classes and the folds come out even. */
plx_status plx__split_folds(int32_t *fold, plx_context *ctx, const plx_dataset *data, plx_index k)
{
    plx__strata s;
    plx_index *order = NULL;
    if (k < 2 || k > data->n)
        PLX_FAIL(ctx, PLX_E_ARG, "folds = %lld: must be in [2, %lld], the number of samples", (long long)k,
                 (long long)data->n);
    PLX_TRY(strata_or_one(&s, ctx, data, true));
    PLX_TRY(plx__arena_i64(&order, plx__scratch(ctx), s.n));
    PLX_TRY(plx__strata_order(order, ctx, &s, FOLD_STREAM));
    for (plx_index i = 0; i < s.n; i++) fold[order[i]] = (int32_t)(i % k);
    return PLX_OK;
}

typedef struct remainder {
    double part;
    plx_index group;
} remainder_item;

static int by_remainder(const void *a_, const void *b_)
{
    const remainder_item *a = a_, *b = b_;
    if (a->part != b->part) return a->part > b->part ? -1 : 1;
    return a->group < b->group ? -1 : a->group > b->group;
}

/* Integers that sum to `total`, each size[g] * total / sum rounded down or up, up where the remainder is largest. */
static plx_status largest_remainder(plx_index *quota, plx_context *ctx, const plx__strata *s, plx_index total)
{
    remainder_item *rest = NULL;
    plx_index sum = 0, given = 0;
    PLX_TRY(PLX__ARENA_NEW(&rest, plx__scratch(ctx), s->count));
    for (plx_index g = 0; g < s->count; g++) sum += s->size[g];
    for (plx_index g = 0; g < s->count; g++) {
        double exact = (double)s->size[g] * (double)total / (double)sum, whole = floor(exact);
        quota[g] = (plx_index)whole;
        given += quota[g];
        rest[g] = (remainder_item){exact - whole, g};
    }
    if (s->count) qsort(rest, (size_t)s->count, sizeof *rest, by_remainder);
    for (plx_index r = 0; given < total && r < s->count; r++, given++) quota[rest[r].group]++;
    return PLX_OK;
}

/* Give samples without a class a group of their own, so that they too are tested in proportion. */
static plx_status close_strata(plx__strata *out, plx_context *ctx, const plx__strata *s)
{
    plx__arena *arena = plx__scratch(ctx);
    int32_t *of = NULL;
    const char **names = NULL;
    PLX_TRY(plx__arena_i32(&of, arena, s->n));
    PLX_TRY(plx__arena_ptrs((void ***)&names, arena, s->count + 1));
    for (plx_index g = 0; g < s->count; g++) names[g] = s->names[g];
    names[s->count] = "?";
    for (plx_index i = 0; i < s->n; i++) of[i] = s->of[i] >= 0 ? s->of[i] : (int32_t)s->count;
    return plx__strata_of_groups(out, arena, of, s->n, names, s->count + 1);
}

plx_status plx__split_test(uint8_t *test, plx_context *ctx, const plx_dataset *data, double fraction, bool stratified)
{
    plx__strata classes, s;
    plx_index *order = NULL, *quota = NULL;
    if (!(fraction > 0 && fraction < 1)) PLX_FAIL(ctx, PLX_E_ARG, "test fraction = %g: must be in (0, 1)", fraction);
    if (data->n < 2) PLX_FAIL(ctx, PLX_E_DATA, "one sample cannot be split into training and test samples");
    PLX_TRY(strata_or_one(&classes, ctx, data, stratified));
    PLX_TRY(close_strata(&s, ctx, &classes));
    plx_index total = plx__max(1, plx__min(s.n - 1, (plx_index)floor(fraction * (double)s.n + 0.5)));
    PLX_TRY(plx__arena_i64(&order, plx__scratch(ctx), s.n));
    PLX_TRY(plx__arena_i64(&quota, plx__scratch(ctx), s.count));
    PLX_TRY(largest_remainder(quota, ctx, &s, total));
    PLX_TRY(plx__strata_order(order, ctx, &s, TEST_STREAM));
    flag_first(test, &s, order, quota);
    return PLX_OK;
}

void plx__split_label_texts(const char **labels, const plx_dataset *data, const uint8_t *chosen)
{
    const char *const *texts = data->truth ? data->truth : data->labels;
    for (plx_index i = 0; i < data->n; i++) labels[i] = texts && chosen[i] ? texts[i] : NULL;
}

plx_status plx__split_groups(int32_t *group, plx_context *ctx, plx_index n, plx_index groups, bool contiguous,
                             uint64_t stream)
{
    plx__mark mark = plx__arena_mark(plx__scratch(ctx));
    plx_index *order = NULL;
    plx__rng r = plx__rng_start(ctx->seed, stream);
    if (contiguous) { /* the first n mod groups runs are one longer */
        plx_index size = n / groups, longer = n % groups, i = 0;
        for (plx_index g = 0; g < groups; g++)
            for (plx_index end = i + size + (g < longer); i < end; i++) group[i] = (int32_t)g;
        return PLX_OK;
    }
    PLX_TRY(plx__arena_i64(&order, plx__scratch(ctx), n));
    plx__permutation(&r, order, n);
    for (plx_index i = 0; i < n; i++) group[order[i]] = (int32_t)(i % groups);
    plx__arena_rewind(plx__scratch(ctx), mark);
    return PLX_OK;
}
