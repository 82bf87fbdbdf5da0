/*
 * Arenas as a chain of blocks, newest first. A request that does not fit into the top block
 * gets a new one; an oversized request gets a block of its own.
 */
#include "core/arena.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "core/ctx.h"
#include "core/paging.h"
#include "core/text.h"

enum { ALIGN = 64, DEFAULT_BLOCK = 1 << 18, HUGE_PAGE = 1 << 21, HUGE_BLOCK = 4 * HUGE_PAGE, MAX_SPARE = 1 << 29 };
enum { ZERO_AT_ONCE = 1 << 26 };

struct plx__block {
    plx__block *below;
    size_t used, capacity; /* of the data area */
    size_t total;          /* bytes asked of the allocator */
    size_t clean;          /* zero from here on, because nobody has used it yet; capacity: not known */
};

static char *block_data(plx__block *b)
{
    uintptr_t p = (uintptr_t)(b + 1);
    return (char *)((p + ALIGN - 1) / ALIGN * ALIGN);
}

void plx__arena_init(plx__arena *arena, plx_context *ctx)
{
    *arena = (plx__arena){.ctx = ctx};
    arena->block_bytes = ctx->arena_block == 0 ? DEFAULT_BLOCK : ctx->arena_block == 1 ? 0 : ctx->arena_block;
}

/* Checked builds give every block back, so that a use after rewinding is caught. */
void plx__arena_keep_blocks(plx__arena *arena)
{
#ifndef PLX_CHECKED
    if (arena->block_bytes > 0) arena->spare_limit = (size_t)plx__min(MAX_SPARE, arena->ctx->memory_limit / 16);
#else
    (void)arena;
#endif
}

static void drop_top(plx__arena *arena)
{
    plx__block *b = arena->top;
    arena->top = b->below;
    if (arena->spare_bytes + b->total <= arena->spare_limit) {
        b->below = arena->spare;
        arena->spare = b;
        arena->spare_bytes += b->total;
        if (arena->ctx->paging && b->total >= PLX__PAGED_BYTES) plx__paging_at_hand(arena->ctx->paging, b, false);
    } else plx__release(arena->ctx, b, b->total);
}

static void drop_spare(plx__arena *arena)
{
    while (arena->spare) {
        plx__block *b = arena->spare;
        arena->spare = b->below;
        plx__release(arena->ctx, b, b->total);
    }
    arena->spare_bytes = 0;
}

/* The newest spare block that fits without wasting more than half of itself; NULL: none. Loops ask for the same sizes
 * in the same order, so the first look mostly finds it. */
static plx__block *take_spare(plx__arena *arena, size_t bytes)
{
    for (plx__block **at = &arena->spare; *at; at = &(*at)->below) {
        plx__block *b = *at;
        if (b->capacity < bytes || b->capacity / 2 > bytes) continue;
        *at = b->below;
        arena->spare_bytes -= b->total;
        return b;
    }
    return NULL;
}

void plx__arena_free(plx__arena *arena)
{
    while (arena->top) drop_top(arena);
    drop_spare(arena);
}

plx__mark plx__arena_mark(const plx__arena *arena)
{
    plx__mark m = {arena->top, arena->top ? arena->top->used : 0};
    return m;
}

void plx__arena_rewind(plx__arena *arena, plx__mark mark)
{
    while (arena->top != mark.block) drop_top(arena);
    if (arena->top) arena->top->used = mark.used;
}

/* A large block touched page by page costs more in page faults than the work on it; 2 MiB pages are 512 times fewer. */
static void ask_for_huge_pages(void *block, size_t bytes)
{
    uintptr_t begin = ((uintptr_t)block + HUGE_PAGE - 1) / HUGE_PAGE * HUGE_PAGE;
    uintptr_t end = ((uintptr_t)block + bytes) / HUGE_PAGE * HUGE_PAGE;
#if defined(MADV_HUGEPAGE)
    if (begin < end) madvise((void *)begin, end - begin, MADV_HUGEPAGE); /* advice: refusal does no harm */
#else
    (void)begin;
    (void)end;
#endif
}

/* Two reasons, two remedies: our own limit, or the system has nothing left. */
static plx_status refuse_block(plx_context *ctx, size_t bytes)
{
    char more[PLX__SIZE_BYTES], limit[PLX__SIZE_BYTES];
    plx__size_text(more, (double)bytes);
    plx__size_text(limit, (double)ctx->memory_limit);
    if (ctx->paging && bytes >= PLX__PAGED_BYTES)
        PLX_FAIL(ctx, PLX_E_NOMEM,
                 "%s refuses %s more to stream through; free space there or name another directory "
                 "(TMPDIR)",
                 plx__paging_directory(ctx->paging), more);
    if ((double)atomic_load(&ctx->memory_used) + (double)bytes > (double)ctx->memory_limit)
        PLX_FAIL(ctx, PLX_E_NOMEM,
                 "out of memory: %s more would pass the memory limit of %s; raise the limit, or use fewer samples, "
                 "features or views",
                 more, limit);
    PLX_FAIL(ctx, PLX_E_NOMEM,
             "out of memory: the system refused %s more (within the memory limit of %s); free memory on this machine, "
             "or use fewer samples, features or views",
             more, limit);
}

static plx_status push_block(plx__arena *arena, size_t bytes)
{
    size_t capacity = bytes > arena->block_bytes ? bytes : arena->block_bytes;
    size_t total = sizeof(plx__block) + ALIGN + capacity;
    if (total < capacity) return plx__fail(arena->ctx, PLX_E_NOMEM, "a size overflowed");
    plx__block *b = take_spare(arena, capacity);
    if (b) {
        b->below = arena->top;
        b->used = 0;
        arena->top = b;
        return PLX_OK;
    }
    b = plx__alloc(arena->ctx, total);
    if (!b && arena->spare) {
        drop_spare(arena);
        b = plx__alloc(arena->ctx, total);
    }
    if (!b) return refuse_block(arena->ctx, bytes);
    bool paged = arena->ctx->paging && total >= PLX__PAGED_BYTES;
    if (total >= HUGE_BLOCK && arena->ctx->system_memory && !paged) ask_for_huge_pages(b, total);
    *b = (plx__block){arena->top, 0, capacity, total, paged ? 0 : capacity};
    arena->top = b;
    return PLX_OK;
}

/* What is in use, and what was before a rewind, is not known to be zero. */
static void mark_used(plx__block *b) { b->clean = b->used > b->clean ? b->used : b->clean; }

static plx_status take_bytes(void **out, plx__arena *arena, plx_index count, size_t size)
{
    size_t bytes;
    *out = NULL;
    if (count < 0 || __builtin_mul_overflow((size_t)count, size, &bytes) || bytes > SIZE_MAX / 2)
        return plx__fail(arena->ctx, PLX_E_NOMEM, "an array of %lld x %zu bytes is too large", (long long)count, size);
    size_t padded = (bytes + ALIGN - 1) / ALIGN * ALIGN;
    bool own_block = arena->block_bytes == 0;
    if (own_block || !arena->top || arena->top->capacity - arena->top->used < padded)
        PLX_TRY(push_block(arena, own_block ? bytes : padded));
    plx__block *b = arena->top;
    *out = block_data(b) + b->used;
    b->used = own_block ? b->capacity : b->used + padded;
    return PLX_OK;
}

plx_status plx__arena_bytes(void **out, plx__arena *arena, plx_index count, size_t size)
{
    PLX_TRY(take_bytes(out, arena, count, size));
    mark_used(arena->top);
    return PLX_OK;
}

/* Pages of a file that nobody has touched are zero, and need not be read and written to make them so. */
static bool is_clean(plx__arena *arena, const void *at)
{
    return (size_t)((const char *)at - block_data(arena->top)) >= arena->top->clean;
}

plx_status plx__arena_zeroed(void **out, plx__arena *arena, plx_index count, size_t size)
{
    PLX_TRY(take_bytes(out, arena, count, size));
    size_t bytes = is_clean(arena, *out) ? 0 : (size_t)count * size;
    mark_used(arena->top);
    for (size_t at = 0; at < bytes; at += ZERO_AT_ONCE) { /* the first touch of a gigabyte can take a second */
        if (at > 0) PLX_TRY(plx__poll(arena->ctx));
        memset((char *)*out + at, 0, bytes - at < ZERO_AT_ONCE ? bytes - at : ZERO_AT_ONCE);
    }
    return PLX_OK;
}

plx_status plx__arena_f64(double **out, plx__arena *arena, plx_index rows, plx_index cols)
{
    plx_index count = 0;
    *out = NULL;
    if (rows < 0 || cols < 0 || __builtin_mul_overflow(rows, cols, &count))
        return plx__fail(arena->ctx, PLX_E_NOMEM, "a matrix of %lld x %lld is too large", (long long)rows,
                         (long long)cols);
    return PLX__ARENA_NEW(out, arena, count);
}

plx_status plx__arena_i64(int64_t **out, plx__arena *arena, plx_index count)
{
    return PLX__ARENA_NEW(out, arena, count);
}

plx_status plx__arena_i32(int32_t **out, plx__arena *arena, plx_index count)
{
    return PLX__ARENA_NEW(out, arena, count);
}

plx_status plx__arena_u8(uint8_t **out, plx__arena *arena, plx_index count)
{
    return PLX__ARENA_NEW(out, arena, count);
}

plx_status plx__arena_ptrs(void ***out, plx__arena *arena, plx_index count)
{
    return PLX__ARENA_NEW(out, arena, count);
}

plx_status plx__arena_mat(plx_mat *out, plx__arena *arena, plx_index rows, plx_index cols)
{
    *out = (plx_mat){NULL, rows, cols, cols};
    return plx__arena_f64(&out->data, arena, rows, cols);
}

plx_status plx__arena_csr(plx_csr *out, plx__arena *arena, plx_index rows, plx_index cols, plx_index nnz)
{
    *out = (plx_csr){rows, cols, NULL, NULL, NULL};
    PLX_TRY(plx__arena_i64(&out->ptr, arena, rows + 1));
    PLX_TRY(plx__arena_bytes((void **)&out->col, arena, nnz, sizeof(int32_t)));
    return plx__arena_bytes((void **)&out->val, arena, nnz, sizeof(double));
}

plx_status plx__arena_textn(const char **out, plx__arena *arena, const char *text, size_t len)
{
    char *copy = NULL;
    *out = NULL;
    if (len > (size_t)INT64_MAX - 1) return plx__fail(arena->ctx, PLX_E_NOMEM, "a text is too long");
    PLX_TRY(plx__arena_bytes((void **)&copy, arena, (plx_index)len + 1, 1));
    if (len) memcpy(copy, text, len);
    copy[len] = '\0';
    *out = copy;
    return PLX_OK;
}

plx_status plx__arena_text(const char **out, plx__arena *arena, const char *text)
{
    return plx__arena_textn(out, arena, text, strlen(text));
}

plx_status plx__arena_printf(const char **out, plx__arena *arena, const char *fmt, ...)
{
    va_list args, again;
    char *text = NULL;
    *out = NULL;
    va_start(args, fmt);
    va_copy(again, args);
    int len = vsnprintf(NULL, 0, fmt, args);
    plx_status st = len < 0 ? plx__fail(arena->ctx, PLX_E_INTERNAL, "bad format '%s'", fmt)
                            : plx__arena_bytes((void **)&text, arena, (plx_index)len + 1, 1);
    if (st == PLX_OK) {
        vsnprintf(text, (size_t)len + 1, fmt, again);
        *out = text;
    }
    va_end(again);
    va_end(args);
    return st;
}
