/* A process beside every rank that tells its end. */
#ifndef CLI_MPI_GUARD_H
#define CLI_MPI_GUARD_H

#include <stdbool.h>

/* Whether `name` is among the arguments, with or without a value behind `=`. */
bool mpi_has_argument(int argc, char **argv, const char *name);

/* Goes on in a child; the process that called waits for it and ends with its exit code, or with one line and CLI_FAILED
 * where it was killed; the line says how to go on if a checkpoint is kept. Without a child (the system refuses one) it
 * goes on unguarded. Before MPI_Init(). */
void mpi_stand_guard(int argc, char **argv);

#endif
