/*
 * Inside of kcca: two views with nearly as many columns as samples.
 */
#ifndef PLX_METHODS_CCA_KCCA_H
#define PLX_METHODS_CCA_KCCA_H

#include "methods/cca/canon.h"

/* What plx__canon_solve and the training projections would give, from matrices over the samples: half of the work.
 * Leaves *done false where that is not cheaper or not as exact (kcca_samples.c). */
plx_status plx__kcca_by_samples(canon *c, plx__pivoted *reduced, bool *done);

/* What plx__canon_solve would give, from a device (kcca_device.c). *done false: there is none, or not for this. */
plx_status plx__kcca_on_device(canon *c, bool *done);

#endif
