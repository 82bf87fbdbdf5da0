/*
 * Rows and training samples of hknn.
 */
#ifndef PLX_METHODS_HKNN_HKNN_INPUT_H
#define PLX_METHODS_HKNN_HKNN_INPUT_H

#include "methods/hknn/hknn.h"

/* h->all: the samples of this run, scaled and balanced. */
plx_status plx__hknn_open_rows(hknn *h);

/* h->train: these samples of h->all, grouped by class; and their distances. */
plx_status plx__hknn_train_on(hknn *h, const plx_index *sample, plx_index count, const plx_index *class_begin);

/* The training rows as part of the model, and back; `_train_has` and `_class_begin` are read too. */
plx_status plx__hknn_keep_train(const hknn *h);
plx_status plx__hknn_load_train(hknn *h);

#endif
