/*
 * Starting again with better kernels: the library decides once, when it is loaded.
 */
#include "kernels.h"

#include <stdlib.h>
#include <unistd.h>

#include "parallax/parallax.h"

static const char mark[] = "PARALLAX_KERNELS"; /* says that the variable is ours, and ends the second start */

bool cli_kernels_were_chosen(void) { return getenv(mark) != NULL; }

void cli_choose_kernels(char **argv)
{
    const char *better = plx_blas_better_core();
    if (!better || getenv("OPENBLAS_CORETYPE") || getenv(mark)) return;
    if (setenv("OPENBLAS_CORETYPE", better, 1) != 0 || setenv(mark, better, 1) != 0) return;
    execv("/proc/self/exe", argv);
}
