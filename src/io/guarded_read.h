/*
 * Reading a file in a process of its own, with limits of memory and processor time.
 *
 * libhdf5 and libmatio follow lengths and addresses found in the file; a hostile or damaged one makes them crash,
 * hang or take gigabytes, and with them whatever program they are loaded into. So another process reads, and sends the
 * data set over a pipe: the program `parallax-reader` where it is found (any program can start it, whatever threads it
 * has), else a fork of this one.
 */
#ifndef PLX_IO_GUARDED_READ_H
#define PLX_IO_GUARDED_READ_H

#include "parallax/dataset.h"

/* A reader the other process can be asked for by name. */
typedef struct plx__file_reader {
    const char *name; /* "h5mu" */
    const char *what; /* "HDF5": for messages */
    plx_status (*read)(plx_dataset **out, plx_context *ctx, const char *path, const plx_read_options *options);
} plx__file_reader;

extern const plx__file_reader plx__h5mu_reader_entry, plx__mat_reader_entry;

/* The file through `reader`: in another process, or here when the options say that the file is trusted. */
plx_status plx__guarded_read(plx_dataset **out, plx_context *ctx, const char *path, const plx_read_options *options,
                             const plx__file_reader *reader);

/* What parallax-reader does: see plx_reader_main(). */
plx_status plx__reader_main(int argc, char **argv);

#endif
