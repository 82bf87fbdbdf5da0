/*
 * A matrix from any of the file formats, found by the file's name and, where that says nothing, by its content:
 * .csv .tsv .mtx .npy .svm .svmlight .libsvm, each also with .gz behind.
 */
#ifndef PLX_IO_MATRIX_FILE_H
#define PLX_IO_MATRIX_FILE_H

#include "io/csv.h"
#include "io/svmlight.h"

typedef struct plx__matrix_options { /* all zero: everything is found out */
    const char *format;              /* "csv", "tsv", "mtx", "npy", "svmlight", or NULL */
    plx__csv_options csv;
    plx__svmlight_options svmlight;
    bool
        in_order; /* rows without names are the samples: only those that the context asks for are kept (data/divided.h) */
} plx__matrix_options;

plx_status plx__matrix_file_read(plx__table *out, plx_context *ctx, plx__arena *arena, const char *path,
                                 const plx__matrix_options *options);

/* By the name's ending; csv when that says nothing. */
plx_status plx__matrix_file_write(plx_context *ctx, const char *path, const plx__table *table);

#endif
