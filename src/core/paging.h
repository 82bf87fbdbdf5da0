/*
 * Large blocks whose pages live in a file.
 *
 * A context that streams (plx_context_set_stream) takes its large blocks from here: each is the mapping of a nameless
 * file, so that the system may write its pages out and read them again whenever memory is needed. What works on the
 * blocks notices nothing: the same code runs over the same values in the same order, whoever holds the pages, which is
 * why a streamed run gives the same bytes as one in memory. A keeper thread looks thousands of times per second how
 * much of the files is resident and lets it go when that passes what the memory limit leaves; blocks that are wanted at
 * hand only where it must.
 *
 * Disk space is reserved when a block is taken, so a full disk is a refused request, never a fault later.
 */
#ifndef PLX_CORE_PAGING_H
#define PLX_CORE_PAGING_H

#include "core/base.h"

typedef struct plx__paging plx__paging;

enum { PLX__PAGED_BYTES = 1 << 20 }; /* smaller blocks stay in memory */

/* $TMPDIR, else /var/tmp. */
const char *plx__temporary_directory(void);
/* A file that is gone when it is closed; -1: none can be made there. */
int plx__nameless_file(const char *directory);

/* `directory` NULL: the one for temporary files. Fails when no file can be made there. */
plx_status plx__paging_open(plx__paging **out, plx_context *ctx, const char *directory);
void plx__paging_close(plx__paging *paging); /* NULL is allowed */
const char *plx__paging_directory(const plx__paging *paging);

/* A zero-filled block; NULL: the disk has no room. Any thread. */
void *plx__paging_take(plx__paging *paging, size_t bytes);
/* Give it back; false: it is none of these blocks. */
bool plx__paging_give(plx__paging *paging, void *block);

/* A read-only mapping of an input file: its pages are let go with the others, until it is forgotten. */
void plx__paging_watch(plx__paging *paging, void *mapping, size_t bytes);
void plx__paging_forget(plx__paging *paging, void *mapping);

/* The block that `inside` is in, if there is one, is needed again and again: it is let go after all others. */
void plx__paging_at_hand(plx__paging *paging, const void *inside, bool wanted);

/* What the keeper does, if it has not done so for a while: busy threads do not leave it to chance when it runs. */
void plx__paging_look(plx__paging *paging);

/* Bytes in blocks now, and free on the disk. */
int64_t plx__paging_used(const plx__paging *paging);
int64_t plx__paging_room(const plx__paging *paging);

#endif
