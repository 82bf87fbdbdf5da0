/*
 * Telling targets of a regression from classes by their values.
 */
#include "data/targets.h"

#include <math.h>

#include "core/number.h"

enum { FRACTIONS = 10, WHOLE = 20 };

/* The first twenty-one different values are kept; what repeats none of them counts as different. */
bool plx__are_targets(const char *const *texts, plx_index n)
{
    double seen[WHOLE + 1], value = 0;
    plx_index different = 0, known = 0, repeated = 0;
    bool fraction = false;
    for (plx_index i = 0; texts && i < n; i++) {
        if (!texts[i]) continue;
        if (!plx__parse_double(&value, texts[i]) || !isfinite(value)) return false;
        known++;
        fraction = fraction || value != floor(value);
        bool found = false;
        for (plx_index k = 0; k < different && !found; k++) found = seen[k] == value;
        repeated += found;
        if (!found && different <= WHOLE) seen[different++] = value;
    }
    if (fraction && different > FRACTIONS) return true;
    return different > WHOLE && 4 * (known - repeated) > known;
}
