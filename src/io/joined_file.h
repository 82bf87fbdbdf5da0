/*
 * A file that several ranks write together: each writes its part, and rank 0 joins them in the order of the ranks. Parts
 * of other ranks than 0 are nameless files in the directory for temporary ones, so nothing is left of them whatever
 * happens, and come as messages, so the ranks need no file system in common.
 */
#ifndef PLX_IO_JOINED_FILE_H
#define PLX_IO_JOINED_FILE_H

#include "core/file.h"

typedef struct plx__joined {
    plx__outfile out; /* write to out.file */
    bool together;    /* false: this process writes the file by itself */
    bool first;       /* what stands before the rows, such as names of columns, is for this part */
} plx__joined;

plx_status plx__joined_open(plx__joined *j, plx_context *ctx, const char *path, bool together);

/* `st`: what became of the part. Joins the parts and gives the file its name; all ranks fail when one has. */
plx_status plx__joined_close(plx__joined *j, plx_context *ctx, plx_status st);

#endif
