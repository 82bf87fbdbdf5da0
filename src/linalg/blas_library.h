/*
 * Which BLAS library this is, and how many threads it may use: the few calls that are not the same in all of them.
 */
#ifndef PLX_LINALG_BLAS_LIBRARY_H
#define PLX_LINALG_BLAS_LIBRARY_H

/* Threads of its own, in this process; 1 when nothing is known about it. */
int plx__blas_threads(void);
void plx__blas_set_threads(int n);

/* Its name and version, and its name for the kernels it chose; empty when it does not tell. */
const char *plx__blas_name(void);
const char *plx__blas_kernels(void);

#endif
