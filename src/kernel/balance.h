/*
 * Views brought to one size: multiplied by t^-1/2, t the mean of |x - mean|^2 over some of the rows, so that a view
 * with many columns does not decide alone.
 */
#ifndef PLX_KERNEL_BALANCE_H
#define PLX_KERNEL_BALANCE_H

#include "kernel/prepared.h"

/* Balances rows->rows in scratch by its rows with present[i] and, where `use` is given, use[i]. Fitting: the factor is
 * found and kept in the model ("_balance.VIEW"); predicting: it is read back. What is only rounding counts as 0, and a
 * view without spread keeps factor 1. PLX_E_NUMERIC when values are too large. */
plx_status plx__balance(plx__prepared *rows, plx__run *run, const uint8_t *use);

#endif
