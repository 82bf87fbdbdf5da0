/*
 * A look at a file beside libhdf5, for damage that would make it misbehave.
 *
 * libhdf5 (1.10 at least) trusts the sizes inside a global heap, where all variable-length strings live, and the
 * references into it: one damaged byte there and it reads or writes far outside of its memory. Both are easily
 * checked from outside. A heap collection is
 *   "GCOL", version 1, three zero bytes, collection size (8 bytes, header included), then objects of
 *   index (2), references (2), reserved (4), size (8), data padded to 8; index 0 is the free rest.
 * A string in a data set is length (4), address of the collection (8), index of the object (4).
 */
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/ctx.h"
#include "core/paging.h"
#include "io/h5_impl.h"

enum { HEAP_HEADER = 16, OBJECT_HEADER = 16, SMALLEST_HEAP = 4096 };

static uint64_t little_endian(const unsigned char *p, int bytes)
{
    uint64_t x = 0;
    for (int i = bytes - 1; i >= 0; i--) x = x << 8 | p[i];
    return x;
}

/* Is this really a collection, and not the same four letters inside somebody's numbers? */
static bool is_heap(const unsigned char *p, uint64_t room)
{
    return room >= HEAP_HEADER && p[4] == 1 && !p[5] && !p[6] && !p[7];
}

static bool heap_is_sound(const unsigned char *p, uint64_t room)
{
    uint64_t size = little_endian(p + 8, 8), at = HEAP_HEADER;
    if (size < SMALLEST_HEAP || size > room) return false;
    while (size - at >= OBJECT_HEADER) {
        uint64_t index = little_endian(p + at, 2), length = little_endian(p + at + 8, 8);
        if (length > size) return false;
        uint64_t need = index ? OBJECT_HEADER + (length + 7) / 8 * 8 : length;
        if (need < OBJECT_HEADER || need > size - at) return false;
        at += need;
        if (index == 0) break;
    }
    return true;
}

static bool heaps_are_sound(const unsigned char *bytes, uint64_t size)
{
    const unsigned char *p = bytes, *end = bytes + size;
    while ((p = memmem(p, (size_t)(end - p), "GCOL", 4)) != NULL) {
        if (is_heap(p, (uint64_t)(end - p)) && !heap_is_sound(p, (uint64_t)(end - p))) return false;
        p += 4;
    }
    return true;
}

void plx__h5_map(plx__h5 *f)
{
    struct stat info;
    int fd = open(f->path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return; /* whoever opens it next says why */
    if (fstat(fd, &info) == 0 && S_ISREG(info.st_mode) && info.st_size > 0) {
        void *map = mmap(NULL, (size_t)info.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
        if (map != MAP_FAILED) {
            f->map = map;
            f->map_size = (size_t)info.st_size;
            if (f->ctx->paging) plx__paging_watch(f->ctx->paging, map, f->map_size);
        }
    }
    close(fd);
}

void plx__h5_unmap(plx__h5 *f)
{
    if (f->map && f->ctx->paging) plx__paging_forget(f->ctx->paging, (void *)f->map);
    if (f->map) munmap((void *)f->map, f->map_size);
    f->map = NULL;
}

/* Where addresses count from (after the user block); false when they are not the usual 8 bytes long, or there is no
 * map. */
static bool can_check(uint64_t *base, const plx__h5 *f)
{
    hsize_t userblock = 0;
    size_t address = 0, length = 0;
    hid_t plist = H5Fget_create_plist(f->file);
    if (plist < 0) return false;
    bool known = H5Pget_userblock(plist, &userblock) >= 0 && H5Pget_sizes(plist, &address, &length) >= 0;
    H5Pclose(plist);
    *base = userblock;
    return known && address == 8 && length == 8 && f->map;
}

plx_status plx__h5_check_heaps(const plx__h5 *f)
{
    uint64_t base = 0;
    if (!can_check(&base, f) || heaps_are_sound(f->map, f->map_size)) return PLX_OK;
    PLX_FAIL(f->ctx, PLX_E_FORMAT, "%s: damaged HDF5 file (its texts: a global heap is inconsistent)", f->path);
}

/* ---- references ---- */

typedef struct heap_cursor { /* texts are mostly stored in the order in which they are read */
    uint64_t heap, size;     /* place and length of the collection; 0: none yet */
    uint64_t next;           /* where the object after the last one found starts */
} heap_cursor;

/* Searches [from, size) of the collection for the object; false when it is not there with exactly this length. */
static bool find_object(heap_cursor *c, const unsigned char *heap, uint64_t from, uint32_t index, uint32_t length)
{
    for (uint64_t at = from; c->size - at >= OBJECT_HEADER;) {
        uint64_t here = little_endian(heap + at, 2), bytes = little_endian(heap + at + 8, 8);
        if (here == 0) return false;
        at += OBJECT_HEADER + (bytes + 7) / 8 * 8;
        if (here != index) continue;
        c->next = at;
        return bytes == length;
    }
    return false;
}

static bool reference_is_sound(const plx__h5 *f, heap_cursor *c, const unsigned char *p, uint64_t base)
{
    uint32_t length = (uint32_t)little_endian(p, 4), index = (uint32_t)little_endian(p + 12, 4);
    uint64_t address = little_endian(p + 4, 8), heap = base + address;
    if (address == 0 || address == UINT64_MAX) return true; /* no text */
    if (heap < address || heap >= f->map_size) return false;
    const unsigned char *at = f->map + heap;
    if (c->heap != heap || c->size == 0) {
        uint64_t room = f->map_size - heap;
        if (memcmp(at, "GCOL", room < 4 ? (size_t)room : 4) != 0 || !is_heap(at, room) || !heap_is_sound(at, room))
            return false;
        *c = (heap_cursor){heap, little_endian(at + 8, 8), HEAP_HEADER};
    }
    return find_object(c, at, c->next, index, length) || find_object(c, at, HEAP_HEADER, index, length);
}

/* Only for contiguous storage, the usual one for texts: what is compressed has a checksum of its own. */
plx_status plx__h5_check_references(const plx__h5 *f, hid_t set, plx_index count, const char *object)
{
    uint64_t base = 0;
    heap_cursor cursor = {0, 0, HEAP_HEADER};
    haddr_t offset = H5Dget_offset(set);
    if (!can_check(&base, f) || offset == HADDR_UNDEF) return PLX_OK;
    if (offset > f->map_size || (f->map_size - offset) / 16 < (uint64_t)count)
        return plx__h5_fail(f, PLX_E_FORMAT, object, "its texts are cut off");
    for (plx_index i = 0; i < count; i++)
        if (!reference_is_sound(f, &cursor, f->map + offset + 16 * (uint64_t)i, base))
            PLX_FAIL(f->ctx, PLX_E_FORMAT, "%s: %s: the text of row %lld is damaged", f->path, object, (long long)i);
    return PLX_OK;
}
