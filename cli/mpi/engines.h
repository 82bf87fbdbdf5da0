/*
 * Systems and spectra over the ranks, for plx_context_set_engines().
 */
#ifndef CLI_MPI_ENGINES_H
#define CLI_MPI_ENGINES_H

#include <parallax/parallax.h>

/* Adds the solvers of PETSc and SLEPc with these options of theirs (NULL: none), which start when first needed; nothing in
 * a build without them. */
void mpi_engines_open(plx_engines *engines, const char *options);

/* Before the end of MPI. */
void mpi_engines_close(void);

#endif
