/*
 * A data set as a stream of bytes between two processes of this machine: what the reading helper found, or why it
 * failed. The receiver trusts nothing: whatever was read from a hostile file may have taken the sender over.
 */
#ifndef PLX_IO_DATASET_STREAM_H
#define PLX_IO_DATASET_STREAM_H

#include "data/dataset_impl.h"

/* The outcome of a call on `ctx`: its warnings, then the data set, or the failure `st` with the context's message.
 * False when the other side went away. */
bool plx__dataset_send(int fd, const plx_context *ctx, plx_status st, const plx_dataset *data);

typedef enum plx__stream_end {
    PLX__STREAM_COMPLETE,
    PLX__STREAM_EMPTY, /* nothing came: the sender never got to work */
    PLX__STREAM_CUT    /* it ended in the middle, or is not a stream of ours */
} plx__stream_end;

/* Receives what plx__dataset_send sent: the data set in *out, or its failure as this call's own. `end` says whether
 * the status is the sender's (COMPLETE) or there is none; PLX_E_CANCELLED and PLX_E_NOMEM can also be our own. */
plx_status plx__dataset_receive(plx_dataset **out, plx__stream_end *end, plx_context *ctx, int fd);

#endif
