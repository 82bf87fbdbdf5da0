/*
 * A start given as a file: one row of non-negative weights per sample, in any matrix format.
 */
#ifndef PLX_RUN_START_FILE_H
#define PLX_RUN_START_FILE_H

#include "run/run.h"

/* Rows of this run's samples (n x cols, in scratch) from the file of `setting` = "file:F", which has a row for every
 * row of the caller's data and is relative to its directory. Errors name the parameter and the place: unreadable file,
 * wrong shape, an entry that is negative or not finite, a row without any positive entry. */
plx_status plx__start_file_read(plx_mat *out, plx__run *run, const char *parameter, const char *setting,
                                plx_index cols);

/* The same for a file that need not say anything sensible of some samples: their rows are zero in the result. `used`
 * NULL: all are used; cols 0: as many as the file has. */
plx_status plx__start_file_read_some(plx_mat *out, plx__run *run, const char *parameter, const char *setting,
                                     plx_index cols, const uint8_t *used);

/* Responsibilities (n x columns, in scratch) from init = "file:F". `columns` 0: as many as the file has. Rows of samples
 * that are not `used` (NULL: all are) may hold anything and are zero in the result. */
plx_status plx__responsibilities_read(plx_mat *out, plx__run *run, const char *setting, plx_index columns,
                                      const uint8_t *used);

#endif
