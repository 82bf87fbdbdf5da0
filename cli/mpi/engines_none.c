/*
 * A build without PETSc and SLEPc: the library tells of it where it matters.
 */
#include "engines.h"

void mpi_engines_open(plx_engines *engines, const char *options) { (void)engines, (void)options; }

void mpi_engines_close(void) {}
