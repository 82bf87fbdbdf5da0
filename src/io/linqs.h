/*
 * LINQS citation data: `NAME.content` with lines `id f1 ... fd label` and `NAME.cites` with lines
 * `cited citing`, both separated by tabs (blanks are accepted).
 *
 * Gives the views `text` (sparse; binary when all values are 0 or 1, else counts, else real), `inbound` (columns:
 * documents that cite the row's document) and `outbound` (columns: documents it cites), both binary; columns
 * are named by document and listed in sample order. The label becomes the truth.
 */
#ifndef PLX_IO_LINQS_H
#define PLX_IO_LINQS_H

#include "parallax/dataset.h"

/* `path`: either file, or a directory that holds exactly one .content file. Citations of documents that
 * have no content are dropped with one warning; without a .cites file there is only the text view. */
plx_status plx__linqs_read(plx_dataset **out, plx_context *ctx, const char *path);

#endif
