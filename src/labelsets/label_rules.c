/*
 * Rules between classes as rows of bits, and their closure.
 *
 * "above" is closed transitively; two classes are exclusive when some ancestor (or self) of the one was declared
 * exclusive with some ancestor (or self) of the other.
 */
#include "core/text.h"
#include "labelsets/label_program_impl.h"

typedef struct closing {
    plx_index k, words;
    const char *const *names;
    uint64_t *ancestors, *below; /* k x words each; below includes the class itself */
} closing;

static uint64_t *row(uint64_t *bits, plx_index i, plx_index words) { return bits + i * words; }

static void set_bit(uint64_t *set, plx_index j) { set[j / 64] |= plx__label_bit(j); }

static void join(uint64_t *to, const uint64_t *from, plx_index words)
{
    for (plx_index w = 0; w < words; w++) to[w] |= from[w];
}

static plx_status new_bits(uint64_t **out, plx__arena *arena, plx_index rows, plx_index words)
{
    int64_t *bits = NULL;
    if (words && rows > INT64_MAX / words) PLX_FAIL(arena->ctx, PLX_E_NOMEM, "too many classes");
    PLX_TRY(plx__arena_i64(&bits, arena, rows * words));
    *out = (uint64_t *)bits;
    return PLX_OK;
}

plx_status plx__label_rules_flat(plx__label_rules *out, plx__arena *arena, plx_index k)
{
    *out = (plx__label_rules){.k = k, .words = (k + 63) / 64, .flat = true, .closed = true};
    PLX_TRY(new_bits(&out->above, arena, k, out->words));
    return new_bits(&out->exclusive, arena, k, out->words);
}

/* Ancestors of every class: repeated until nothing is added; a pass per level of the hierarchy. */
static void close_upwards(closing *c, const int32_t *subset, plx_index n)
{
    for (plx_index p = 0; p < n; p++) set_bit(row(c->ancestors, subset[2 * p], c->words), subset[2 * p + 1]);
    for (bool changed = true; changed;) {
        changed = false;
        for (plx_index p = 0; p < n; p++) {
            uint64_t *to = row(c->ancestors, subset[2 * p], c->words);
            const uint64_t *from = row(c->ancestors, subset[2 * p + 1], c->words);
            for (plx_index w = 0; w < c->words; w++) {
                changed |= (from[w] & ~to[w]) != 0;
                to[w] |= from[w];
            }
        }
    }
    for (plx_index i = 0; i < c->k; i++) {
        set_bit(row(c->below, i, c->words), i);
        for (plx_index a = 0; a < c->k; a++)
            if (label_has(row(c->ancestors, i, c->words), a)) set_bit(row(c->below, a, c->words), i);
    }
}

/* What the declared pairs forbid: what is below a, with what is below b. */
static plx_status close_exclusive(plx__label_rules *r, plx__arena *scratch, closing *c)
{
    uint64_t *forbidden = NULL; /* by a class itself, downwards */
    PLX_TRY(new_bits(&forbidden, scratch, r->k, r->words));
    for (plx_index a = 0; a < r->k; a++)
        for (plx_index b = 0; b < r->k; b++)
            if (label_has(row(r->exclusive, a, r->words), b))
                join(row(forbidden, a, r->words), row(c->below, b, r->words), r->words);
    memset(r->exclusive, 0, (size_t)(r->k * r->words) * sizeof *r->exclusive);
    for (plx_index i = 0; i < r->k; i++) {
        uint64_t *mine = row(r->exclusive, i, r->words);
        join(mine, row(forbidden, i, r->words), r->words);
        for (plx_index a = 0; a < r->k; a++)
            if (label_has(row(c->ancestors, i, r->words), a)) join(mine, row(forbidden, a, r->words), r->words);
    }
    return PLX_OK;
}

static plx_status check_unrelated(const plx__label_rules *r, plx_context *ctx, const closing *c)
{
    for (plx_index i = 0; i < r->k; i++)
        if (label_has(r->exclusive + i * r->words, i))
            PLX_FAIL(ctx, PLX_E_DATA,
                     "hierarchy: class '%s' is below two classes that mutex makes exclusive; no sample could have it",
                     c->names[i]);
    for (plx_index i = 0; i < r->k; i++)
        for (plx_index j = 0; j < r->k; j++) {
            if (label_has(r->exclusive + i * r->words, j) && label_has(c->ancestors + i * r->words, j))
                PLX_FAIL(ctx, PLX_E_DATA, "hierarchy: mutex between '%s' and '%s', but the first is below the second",
                         c->names[i], c->names[j]);
        }
    return PLX_OK;
}

static bool same_bits(const uint64_t *a, const uint64_t *b, plx_index count)
{
    return count == 0 || memcmp(a, b, (size_t)count * sizeof *a) == 0;
}

plx_status plx__label_rules_pairs(plx__label_rules *out, plx__arena *arena, const char *const *names, plx_index k,
                                  const int32_t *subset, plx_index n_subset, const int32_t *mutex, plx_index n_mutex,
                                  bool close)
{
    plx_context *ctx = arena->ctx;
    plx__arena *scratch = plx__scratch(ctx);
    plx_index words = (k + 63) / 64;
    closing c = {.k = k, .words = words, .names = names};
    plx__label_rules full = {.k = k, .words = words, .closed = true};
    *out = full;
    PLX_TRY(new_bits(&out->above, arena, k, words));
    PLX_TRY(new_bits(&out->exclusive, arena, k, words));
    PLX_TRY(new_bits(&c.ancestors, scratch, k, words));
    PLX_TRY(new_bits(&c.below, scratch, k, words));
    PLX_TRY(new_bits(&full.exclusive, scratch, k, words));
    for (plx_index p = 0; p < n_subset; p++) set_bit(row(out->above, subset[2 * p], words), subset[2 * p + 1]);
    for (plx_index p = 0; p < n_mutex; p++) {
        set_bit(row(out->exclusive, mutex[2 * p], words), mutex[2 * p + 1]);
        set_bit(row(out->exclusive, mutex[2 * p + 1], words), mutex[2 * p]);
    }
    close_upwards(&c, subset, n_subset);
    PLX_TRY(check_unrelated(out, ctx, &c));
    if (k) memcpy(full.exclusive, out->exclusive, (size_t)(k * words) * sizeof *full.exclusive);
    PLX_TRY(close_exclusive(&full, scratch, &c));
    if (close) PLX_TRY(check_unrelated(&full, ctx, &c));
    out->closed = close || (same_bits(out->above, c.ancestors, k * words) &&
                            same_bits(out->exclusive, full.exclusive, k * words));
    if (!close || !k) return PLX_OK;
    memcpy(out->above, c.ancestors, (size_t)(k * words) * sizeof *out->above);
    memcpy(out->exclusive, full.exclusive, (size_t)(k * words) * sizeof *out->exclusive);
    return PLX_OK;
}

plx_index plx__label_violations(const plx__label_rules *r, const uint64_t *set)
{
    plx_index count = 0, missing = 0, clashes = 0;
    for (plx_index w = 0; w < r->words; w++) {
        uint64_t rest = set[w];
        count += __builtin_popcountll(rest);
        while (!r->flat && rest) {
            plx_index i = w * 64 + __builtin_clzll(rest);
            rest &= ~plx__label_bit(i);
            const uint64_t *above = r->above + i * r->words, *exclusive = r->exclusive + i * r->words;
            for (plx_index v = 0; v < r->words; v++) {
                missing += __builtin_popcountll(above[v] & ~set[v]);
                clashes += __builtin_popcountll(exclusive[v] & set[v]);
            }
        }
    }
    if (r->flat) return count > 1 ? count - 1 : 1 - count;
    return missing + clashes / 2;
}
