/*
 * The right kernels of the linear algebra for this processor.
 */
#ifndef CLI_KERNELS_H
#define CLI_KERNELS_H

#include <stdbool.h>

/* Starts the command again with OPENBLAS_CORETYPE set when the library chose kernels that are weaker than the processor and
 * the user chose none. Does not return then; where it cannot start itself it goes on with what there is. */
void cli_choose_kernels(char **argv);

/* Did that happen before this process began? */
bool cli_kernels_were_chosen(void);

#endif
