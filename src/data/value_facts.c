/*
 * Four values at a time; comparisons of vectors are gathered as bits.
 */
#include "data/value_facts.h"

#include <float.h>

#include "core/ctx.h"
#include "linalg/clones.h"

typedef double values __attribute__((vector_size(32)));
typedef double loose __attribute__((vector_size(32), aligned(8)));
typedef int64_t mask __attribute__((vector_size(32)));

#define ANY(m) (((m)[0] | (m)[1] | (m)[2] | (m)[3]) != 0)

/* Whole numbers below 2^52 stay when 2^52 is added and taken away again; larger ones are all whole. */
PLX__CLONES static void add_fours(plx__value_facts *facts, const double *x, plx_index count)
{
    mask zero = {0}, nan = {0}, infinite = {0}, negative = {0}, other = {0}, fraction = {0};
    for (plx_index i = 0; i < count; i += 4) {
        values v = *(const loose *)(x + i), whole = (v + 0x1p52) - 0x1p52;
        mask is_zero = v == 0, is_nan = v != v;
        zero |= is_zero;
        nan |= is_nan;
        negative |= v < 0;
        infinite |= (v > DBL_MAX) | (v < -DBL_MAX);
        other |= ~(is_zero | is_nan | (v == 1));
        fraction |= (whole != v) & (v > 0) & (v < 0x1p52);
    }
    facts->zero |= ANY(zero);
    facts->nan |= ANY(nan);
    facts->infinite |= ANY(infinite);
    facts->negative |= ANY(negative);
    facts->other |= ANY(other);
    facts->fraction |= ANY(fraction);
}

void plx__value_facts_add(plx__value_facts *facts, const double *x, plx_index count)
{
    plx_index fours = count / 4 * 4;
    double rest[4];
    if (count == 0) return;
    add_fours(facts, x, fours);
    if (fours == count) return;
    for (int k = 0; k < 4; k++)
        rest[k] = x[fours + k < count ? fours + k : count - 1]; /* the last one again and again */
    add_fours(facts, rest, 4);
}

void plx__value_facts_scan(plx__value_facts *facts, plx_context *ctx, const double *x, plx_index count)
{
    enum { AT_ONCE = 1 << 17 };
    for (plx_index at = 0; at < count; at += AT_ONCE) {
        if (ctx->paging) plx__look_at_pages(ctx);
        plx__value_facts_add(facts, x + at, plx__min(AT_ONCE, count - at));
    }
}
