/*
 * HDF5 files: opening, creating, closing, and what is inside.
 */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "core/text.h"
#include "io/h5_impl.h"

__attribute__((weak)) const char *plx__hdf5_missing(void) { return NULL; }

/* ---- the lock ---- */

static pthread_mutex_t library = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;

void plx__h5_lock(void) { pthread_mutex_lock(&library); }
void plx__h5_unlock(void) { pthread_mutex_unlock(&library); }

/* The owner of a recursive lock is a thread, and the only thread of a copy is another one. */
void plx__h5_forked(void)
{
    pthread_mutex_t fresh = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
    library = fresh;
}

void plx__h5_enter(plx__h5 *f, plx_context *ctx, const char *path)
{
    *f = (plx__h5){.ctx = ctx, .path = path, .file = -1, .base = -1, .entered = true};
    plx__h5_lock();
    H5Eget_auto2(H5E_DEFAULT, &f->print, &f->print_data);
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
}

void plx__h5_close(plx__h5 *f)
{
    if (!f->entered) return;
    if (f->file >= 0) H5Fclose(f->file);
    f->file = -1;
    plx__outfile_abort(&f->out);
    plx__h5_unmap(f);
    H5Eset_auto2(H5E_DEFAULT, f->print, f->print_data);
    f->entered = false;
    plx__h5_unlock();
}

/* ---- opening and creating ---- */

/* Closing the file closes whatever in it is still open; file systems without locks are no reason to fail. */
static hid_t access_properties(void)
{
    hid_t fapl = H5Pcreate(H5P_FILE_ACCESS);
    H5Pset_fclose_degree(fapl, H5F_CLOSE_STRONG);
#if H5_VERSION_GE(1, 12, 1) || (H5_VERSION_GE(1, 10, 7) && !H5_VERSION_GE(1, 12, 0))
    H5Pset_file_locking(fapl, true, true);
#endif
    return fapl;
}

static plx_status require_library(const plx__h5 *f)
{
    const char *why = plx__hdf5_missing();
    if (!why) return PLX_OK;
    PLX_FAIL(f->ctx, PLX_E_IO, "%s: the HDF5 library cannot be used (%s); install it", f->path, why);
}

static plx_status open_file(plx__h5 *f)
{
    PLX_TRY(require_library(f));
    PLX_TRY(plx__note_file(f->ctx, f->path));
    FILE *probe = fopen(f->path, "rbe"); /* for the system's reason, which HDF5 does not hand on */
    if (!probe) PLX_FAIL(f->ctx, PLX_E_IO, "%s: %s", f->path, strerror(errno));
    fclose(probe);
    if (plx__is_directory(f->path)) PLX_FAIL(f->ctx, PLX_E_IO, "%s: is a directory, expected a file", f->path);
    if (H5Fis_hdf5(f->path) <= 0) PLX_FAIL(f->ctx, PLX_E_FORMAT, "%s: is not an HDF5 file", f->path);
    hid_t fapl = access_properties();
    f->file = H5Fopen(f->path, H5F_ACC_RDONLY, fapl);
    H5Pclose(fapl);
    if (f->file < 0)
        PLX_FAIL(f->ctx, PLX_E_FORMAT,
                 "%s: damaged HDF5 file (its header or end is missing), or one still being written", f->path);
    f->base = f->file;
    plx__h5_map(f);
    return plx__h5_check_heaps(f);
}

plx_status plx__h5_open(plx__h5 *f, plx_context *ctx, const char *path)
{
    plx__h5_enter(f, ctx, path);
    plx_status st = open_file(f);
    if (st != PLX_OK) plx__h5_close(f);
    return st;
}

static plx_status create_file(plx__h5 *f, size_t userblock)
{
    if (strcmp(f->path, "-") == 0)
        PLX_FAIL(f->ctx, PLX_E_ARG, "an HDF5 file cannot go to standard output; give a file name");
    if (plx__is_stream(f->path))
        PLX_FAIL(f->ctx, PLX_E_IO, "%s: is a device or a pipe; an HDF5 file needs a name on a disk", f->path);
    PLX_TRY(require_library(f));
    PLX_TRY(plx__outfile_open(&f->out, f->ctx, f->path));
    hid_t fapl = access_properties(), fcpl = H5Pcreate(H5P_FILE_CREATE);
    if (userblock) H5Pset_userblock(fcpl, userblock);
    f->file = H5Fcreate(f->out.temporary, H5F_ACC_TRUNC, fcpl, fapl);
    H5Pclose(fcpl);
    H5Pclose(fapl);
    if (f->file < 0) PLX_FAIL(f->ctx, PLX_E_IO, "%s: cannot write an HDF5 file here", f->path);
    f->base = f->file;
    return PLX_OK;
}

plx_status plx__h5_create(plx__h5 *f, plx_context *ctx, const char *path, size_t userblock)
{
    plx__h5_enter(f, ctx, path);
    plx_status st = create_file(f, userblock);
    if (st != PLX_OK) plx__h5_close(f);
    return st;
}

plx_status plx__h5_enter_group(plx__h5 *part, const plx__h5 *f, const char *group)
{
    *part = *f;
    part->base = H5Gopen2(f->base, plx__h5_name(group), H5P_DEFAULT);
    return part->base < 0 ? plx__h5_fail(f, PLX_E_FORMAT, group, "is not a readable group") : PLX_OK;
}

void plx__h5_leave(plx__h5 *part)
{
    if (part->base >= 0) H5Gclose(part->base);
    part->base = -1;
}

plx_status plx__h5_finish(plx__h5 *f)
{
    if (f->file < 0) return PLX_OK;
    herr_t closed = H5Fclose(f->file);
    f->file = -1;
    if (closed < 0) PLX_FAIL(f->ctx, PLX_E_IO, "%s: cannot write the end of the file; is the disk full?", f->path);
    return PLX_OK;
}

plx_status plx__h5_commit(plx__h5 *f, const char *head)
{
    PLX_TRY(plx__h5_finish(f));
    if (head && fwrite(head, 1, strlen(head), f->out.file) != strlen(head))
        PLX_FAIL(f->ctx, PLX_E_IO, "%s: cannot write: %s", f->path, strerror(errno));
    return plx__outfile_commit(&f->out, f->ctx);
}

/* ---- looking around ---- */

plx_status plx__h5_fail(const plx__h5 *f, plx_status code, const char *object, const char *what)
{
    return plx__fail(f->ctx, code, "%s: %s: %s", f->path, object, what);
}

static H5O_type_t object_type(const plx__h5 *f, const char *object)
{
    H5O_info_t info;
    hid_t id = H5Oopen(f->base, plx__h5_name(object), H5P_DEFAULT);
    if (id < 0) return H5O_TYPE_UNKNOWN;
    H5O_type_t type = H5Oget_info(id, &info) < 0 ? H5O_TYPE_UNKNOWN : info.type;
    H5Oclose(id);
    return type;
}

H5T_class_t plx__h5_class(const plx__h5 *f, const char *object)
{
    hid_t set = H5Dopen2(f->base, plx__h5_name(object), H5P_DEFAULT);
    if (set < 0) return H5T_NO_CLASS;
    hid_t type = H5Dget_type(set), space = H5Dget_space(set);
    H5T_class_t class = type < 0 || H5Sget_simple_extent_type(space) == H5S_NULL ? H5T_NO_CLASS : H5Tget_class(type);
    if (space >= 0) H5Sclose(space);
    if (type >= 0) H5Tclose(type);
    H5Dclose(set);
    return class;
}

plx__h5_kind plx__h5_what(const plx__h5 *f, const char *object)
{
    H5O_type_t type = object_type(f, object);
    if (type == H5O_TYPE_GROUP) return PLX__H5_GROUP;
    if (type == H5O_TYPE_UNKNOWN) return PLX__H5_NONE;
    if (type != H5O_TYPE_DATASET) return PLX__H5_OTHER;
    H5T_class_t class = plx__h5_class(f, object);
    if (class == H5T_INTEGER || class == H5T_FLOAT || class == H5T_ENUM) return PLX__H5_NUMBERS;
    return class == H5T_STRING ? PLX__H5_TEXTS : PLX__H5_OTHER;
}

bool plx__h5_is_integer(const plx__h5 *f, const char *object)
{
    H5T_class_t class = plx__h5_class(f, object);
    return class == H5T_INTEGER || class == H5T_ENUM;
}

typedef struct child_list {
    plx__arena *arena;
    const char **names;
    plx_index count, capacity;
    plx_status status;
} child_list;

static herr_t add_child(hid_t group, const char *name, const H5L_info_t *info, void *list_)
{
    (void)group;
    (void)info;
    child_list *list = list_;
    if (list->count == list->capacity) {
        const char **bigger = NULL;
        list->status = PLX__ARENA_NEW(&bigger, list->arena, 2 * list->capacity + 16);
        if (list->status != PLX_OK) return -1;
        if (list->count) memcpy(bigger, list->names, (size_t)list->count * sizeof *bigger);
        list->names = bigger;
        list->capacity = 2 * list->capacity + 16;
    }
    list->status = plx__arena_text(&list->names[list->count], list->arena, name);
    if (list->status != PLX_OK) return -1;
    list->count++;
    return 0;
}

plx_status plx__h5_children(const char *const **names, plx_index *count, const plx__h5 *f, plx__arena *arena,
                            const char *group)
{
    child_list list = {.arena = arena};
    hsize_t position = 0;
    *names = NULL;
    *count = 0;
    hid_t id = H5Gopen2(f->base, plx__h5_name(group), H5P_DEFAULT);
    if (id < 0) return plx__h5_fail(f, PLX_E_FORMAT, group, "is not a readable group");
    herr_t walked = H5Literate(id, H5_INDEX_NAME, H5_ITER_INC, &position, add_child, &list);
    H5Gclose(id);
    PLX_TRY(list.status);
    if (walked < 0) return plx__h5_fail(f, PLX_E_FORMAT, group, "the group is damaged, its members cannot be listed");
    if (list.count) qsort(list.names, (size_t)list.count, sizeof *list.names, plx__compare_text);
    *names = list.names;
    *count = list.count;
    return PLX_OK;
}
