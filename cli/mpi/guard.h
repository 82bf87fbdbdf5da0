/* A process beside every rank that tells its end. */
#ifndef CLI_MPI_GUARD_H
#define CLI_MPI_GUARD_H

/* Goes on in a child; the process that called waits for it and ends with its exit code, or with one line and CLI_FAILED
 * where it was killed. Without a child (the system refuses one) it goes on unguarded. Before MPI_Init(). */
void mpi_stand_guard(void);

#endif
