/*
 * Arenas: memory that is given back all at once.
 *
 * Scratch (plx__scratch(ctx)) is rewound by the framework when a public call returns, for
 * whatever reason; a model or data set has an arena of its own that goes with it. Code that
 * allocates only here needs no clean-up. Inside loops: mark, work, rewind.
 * Blocks are 64-byte aligned. The memory limit of the context is enforced here.
 */
#ifndef PLX_CORE_ARENA_H
#define PLX_CORE_ARENA_H

#include "core/base.h"

typedef struct plx__block plx__block;

typedef struct plx__arena {
    plx_context *ctx;   /* allocator, limit and error sink */
    plx__block *top;    /* newest block */
    size_t block_bytes; /* size of ordinary blocks; 0: every request is its own block */
    plx__block *spare;  /* rewound blocks kept at hand: the system would take their pages away and clear them again */
    size_t spare_bytes, spare_limit;
} plx__arena;

typedef struct plx__mark {
    plx__block *block;
    size_t used;
} plx__mark;

void plx__arena_init(plx__arena *arena, plx_context *ctx);
/* For an arena that loops mark and rewind: keep some blocks. They count as used until plx__arena_free. */
void plx__arena_keep_blocks(plx__arena *arena);
void plx__arena_free(plx__arena *arena);

plx__mark plx__arena_mark(const plx__arena *arena);
void plx__arena_rewind(plx__arena *arena, plx__mark mark);

/* count * size bytes, product checked; memory is *not* cleared. count = 0 gives a valid pointer. */
plx_status plx__arena_bytes(void **out, plx__arena *arena, plx_index count, size_t size);

/* Zero-filled arrays of one type; rows * cols is checked for overflow. */
plx_status plx__arena_f64(double **out, plx__arena *arena, plx_index rows, plx_index cols);
plx_status plx__arena_i64(int64_t **out, plx__arena *arena, plx_index count);
plx_status plx__arena_i32(int32_t **out, plx__arena *arena, plx_index count);
plx_status plx__arena_u8(uint8_t **out, plx__arena *arena, plx_index count);
plx_status plx__arena_ptrs(void ***out, plx__arena *arena, plx_index count);

/* Zero-filled struct array: PLX__ARENA_NEW(&p, arena, count) for any `T *p`. */
#define PLX__ARENA_NEW(out, arena, count) plx__arena_zeroed((void **)(out), (arena), (count), sizeof **(out))
plx_status plx__arena_zeroed(void **out, plx__arena *arena, plx_index count, size_t size);

/* Zero-filled dense matrix with ld = cols; CSR with room for nnz entries (ptr zero-filled). */
plx_status plx__arena_mat(plx_mat *out, plx__arena *arena, plx_index rows, plx_index cols);
plx_status plx__arena_csr(plx_csr *out, plx__arena *arena, plx_index rows, plx_index cols, plx_index nnz);

/* Copies of text; `len` bytes plus a terminating NUL. */
plx_status plx__arena_text(const char **out, plx__arena *arena, const char *text);
plx_status plx__arena_textn(const char **out, plx__arena *arena, const char *text, size_t len);
plx_status plx__arena_printf(const char **out, plx__arena *arena, const char *fmt, ...) PLX_PRINTF(3, 4);

#endif
