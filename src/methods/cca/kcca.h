/*
 * Inside of kcca: two views with nearly as many columns as samples.
 */
#ifndef PLX_METHODS_CCA_KCCA_H
#define PLX_METHODS_CCA_KCCA_H

#include "methods/cca/canon.h"

/* What plx__canon_solve and the training projections would give, from matrices over the samples: half of the work.
 * Leaves *done false where that is not cheaper or not as exact (kcca_samples.c). */
plx_status plx__kcca_by_samples(canon *c, plx__pivoted *reduced, bool *done);

#endif
