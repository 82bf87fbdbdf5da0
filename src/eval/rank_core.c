/*
 * AUC, precision-recall break-even point and average precision from two sorted lists.
 *
 * Scores of positives and of negatives are sorted apart (radix sort of the bit patterns, O(n)) and walked
 * together from the top, one distinct score at a time, so that ties enter together:
 *   auc   = sum over scores of p_g (N below + n_g / 2) / (R N)
 *   prbep = (tp_a + (R - a) p_g / (p_g + n_g)) / R at the score where the cut-off R falls
 *   average precision = sum of p_g / R * tp / (tp + fp)
 */
#include "eval/rank_core.h"

#include <math.h>
#include <string.h>

#include "core/parallel.h"
#include "eval/label_sets.h"

/* ---- who is positive ---- */

static void membership_single(uint8_t *member, const plx__codes *texts, const char *const *classes, plx_index n_classes)
{
    for (plx_index k = 0; k < n_classes; k++) {
        plx_index code = plx__map_get(&texts->map, classes[k]);
        if (code >= 0) member[k * texts->count + code] = 1;
    }
}

static plx_status membership_sets(uint8_t *member, plx__arena *arena, const plx__codes *texts,
                                  const char *const *classes, plx_index n_classes)
{
    plx__codes names;
    plx__label_sets sets;
    int32_t code;
    PLX_TRY(plx__codes_init(&names, arena));
    for (plx_index k = 0; k < n_classes; k++) PLX_TRY(plx__codes_add(&code, &names, classes[k]));
    PLX_TRY(plx__sets_split(&sets, texts, &names));
    for (int32_t s = 0; s < sets.count; s++) {
        plx__set_view set = plx__set_at(&sets, s);
        for (plx_index i = 0; i < set.count; i++)
            if (set.ids[i] < n_classes) member[set.ids[i] * texts->count + s] = 1;
    }
    return PLX_OK;
}

plx_status plx__rank_truth_make(plx__rank_truth *out, plx_context *ctx, const char *const *truth, plx_index n,
                                const char *const *classes, plx_index n_classes, bool multilabel)
{
    plx__arena *arena = plx__scratch(ctx);
    plx__codes texts;
    int32_t *code = NULL;
    uint8_t *member = NULL;
    plx_index cells = 0;
    PLX_TRY(plx__codes_init(&texts, arena));
    PLX_TRY(plx__encode(&code, &texts, truth, n, (plx__encode_options){.what = "truth"}));
    if (__builtin_mul_overflow(n_classes, texts.count, &cells)) PLX_FAIL(ctx, PLX_E_NOMEM, "too many classes");
    PLX_TRY(plx__arena_u8(&member, arena, cells));
    if (multilabel) PLX_TRY(membership_sets(member, arena, &texts, classes, n_classes));
    else membership_single(member, &texts, classes, n_classes);
    *out = (plx__rank_truth){n, texts.count, code, member};
    return PLX_OK;
}

/* ---- sorting ---- */

/* Bit pattern that orders like the number; both zeros are equal. */
static uint64_t sortable(double x)
{
    uint64_t bits;
    x += 0.0;
    memcpy(&bits, &x, sizeof bits);
    return bits >> 63 ? ~bits : bits | UINT64_C(1) << 63;
}

/* Byte-wise radix sort, ascending. Passes in which all bytes agree are left out. */
static void radix_sort(uint64_t *keys, uint64_t *spare, plx_index n)
{
    uint64_t *from = keys, *to = spare;
    for (int shift = 0; shift < 64; shift += 8) {
        plx_index start[257] = {0};
        for (plx_index i = 0; i < n; i++) start[(from[i] >> shift & 255) + 1]++;
        if (n == 0 || start[(from[0] >> shift & 255) + 1] == n) continue;
        for (int b = 0; b < 256; b++) start[b + 1] += start[b];
        for (plx_index i = 0; i < n; i++) to[start[from[i] >> shift & 255]++] = from[i];
        uint64_t *swap = from;
        from = to;
        to = swap;
    }
    if (from != keys) memcpy(keys, from, (size_t)n * sizeof *keys);
}

/* ---- walking ---- */

static void walk(plx__rank_result *r, const uint64_t *pos, const uint64_t *neg)
{
    plx_index p = r->positives, n = r->negatives, total = p; /* still below the current score; R */
    int64_t pairs = 0;                                       /* twice the won pairs */
    double precision_sum = 0, lost = 0;                      /* compensated sum */
    while (p > 0) {
        uint64_t score = n > 0 && neg[n - 1] > pos[p - 1] ? neg[n - 1] : pos[p - 1];
        plx_index above = total - p + r->negatives - n, tp_above = total - p, p_g = 0, n_g = 0;
        while (p > 0 && pos[p - 1] == score) p--, p_g++;
        while (n > 0 && neg[n - 1] == score) n--, n_g++;
        pairs += p_g * (2 * n + n_g);
        if (above < total && total <= above + p_g + n_g)
            r->prbep = ((double)tp_above + (double)(total - above) * (double)p_g / (double)(p_g + n_g)) / (double)total;
        double term = (double)p_g * (double)(tp_above + p_g) / (double)(above + p_g + n_g) - lost;
        double next = precision_sum + term;
        lost = (next - precision_sum) - term;
        precision_sum = next;
    }
    r->average_precision = precision_sum / (double)total;
    if (r->negatives) r->auc = 0.5 * (double)pairs / (double)total / (double)r->negatives;
}

typedef struct job {
    const plx__rank_truth *truth;
    plx_cmat scores;
    plx__rank_result *out;
    plx_index first;          /* first column of the batch */
    uint64_t **keys, **spare; /* per column of the batch, n long */
} job;

/* Positives from the front of keys, negatives from the back. */
static void gather(plx__rank_result *r, uint64_t *keys, const job *j, plx_index column)
{
    const plx__rank_truth *t = j->truth;
    const uint8_t *member = t->membership + column * t->codes;
    plx_index p = 0, q = 0;
    for (plx_index i = 0; i < t->n; i++) {
        if (t->code[i] < 0) continue;
        double s = j->scores.data[i * j->scores.ld + column];
        if (isnan(s) && r->nan_row < 0) r->nan_row = i;
        if (member[t->code[i]]) keys[p++] = sortable(s);
        else keys[t->n - ++q] = sortable(s);
    }
    r->positives = p;
    r->negatives = q;
}

static plx_status rank_some(void *arg, plx_context *ctx, plx_index begin, plx_index end, int worker)
{
    const job *j = arg;
    (void)worker;
    for (plx_index k = begin; k < end; k++) {
        plx__rank_result *r = &j->out[j->first + k];
        *r = (plx__rank_result){.nan_row = -1};
        PLX_TRY(plx__poll(ctx));
        gather(r, j->keys[k], j, j->first + k);
        if (r->nan_row >= 0 || r->positives == 0) continue;
        uint64_t *negatives = j->keys[k] + j->truth->n - r->negatives;
        radix_sort(j->keys[k], j->spare[k], r->positives);
        radix_sort(negatives, j->spare[k], r->negatives);
        walk(r, j->keys[k], negatives);
    }
    return PLX_OK;
}

/* Columns go in batches of one per thread, so that the buffers do not grow with the number of classes. */
plx_status plx__rank_columns(plx__rank_result *out, plx_context *ctx, const plx__rank_truth *truth, plx_cmat scores)
{
    plx__arena *arena = plx__scratch(ctx);
    job j = {.truth = truth, .scores = scores, .out = out};
    plx_index batch = plx__min(plx__workers(ctx), scores.cols);
    PLX_TRY(PLX__ARENA_NEW(&j.keys, arena, batch));
    PLX_TRY(PLX__ARENA_NEW(&j.spare, arena, batch));
    for (plx_index k = 0; k < batch; k++) {
        PLX_TRY(plx__arena_bytes((void **)&j.keys[k], arena, truth->n, sizeof(uint64_t)));
        PLX_TRY(plx__arena_bytes((void **)&j.spare[k], arena, truth->n, sizeof(uint64_t)));
    }
    for (; j.first < scores.cols; j.first += batch)
        PLX_TRY(plx__parallel_for(ctx, plx__min(batch, scores.cols - j.first), 1, rank_some, &j));
    return PLX_OK;
}
