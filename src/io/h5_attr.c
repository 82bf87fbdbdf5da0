/*
 * Reading HDF5 attributes.
 */
#include <string.h>

#include "io/h5_impl.h"

/* An attribute opened for one read; set < 0 when there is none. */
typedef struct attribute {
    hid_t id, type, space;
    plx__h5_shape shape;
} attribute;

static void close_attribute(attribute *a)
{
    if (a->space >= 0) H5Sclose(a->space);
    if (a->type >= 0) H5Tclose(a->type);
    if (a->id >= 0) H5Aclose(a->id);
}

static plx_status attr_fail(const plx__h5 *f, const char *object, const char *attr, const char *what)
{
    return plx__fail(f->ctx, PLX_E_FORMAT, "%s: %s: attribute '%s' %s", f->path, object, attr, what);
}

bool plx__h5_has_attr(const plx__h5 *f, const char *object, const char *attr)
{
    return H5Aexists_by_name(f->base, plx__h5_name(object), attr, H5P_DEFAULT) > 0;
}

static plx_status open_attribute(attribute *a, const plx__h5 *f, const char *object, const char *attr)
{
    *a = (attribute){-1, -1, -1, {0}};
    if (!plx__h5_has_attr(f, object, attr)) return PLX_OK;
    a->id = H5Aopen_by_name(f->base, plx__h5_name(object), attr, H5P_DEFAULT, H5P_DEFAULT);
    if (a->id >= 0) a->type = H5Aget_type(a->id);
    if (a->id >= 0) a->space = H5Aget_space(a->id);
    if (a->type < 0 || a->space < 0) return attr_fail(f, object, attr, "is damaged");
    if (H5Sget_simple_extent_type(a->space) == H5S_NULL) {
        a->shape = (plx__h5_shape){0};
        return PLX_OK;
    }
    PLX_TRY(plx__h5_space_shape(&a->shape, f, a->space, object));
    /* An attribute lives inside the file's metadata: no honest one is larger than this. */
    if ((double)a->shape.count * (double)H5Tget_size(a->type) > 1e9)
        return attr_fail(f, object, attr, "claims an impossible size");
    return PLX_OK;
}

static plx_status read_texts(const char **to, const plx__h5 *f, plx__arena *arena, const attribute *a,
                             const char *object, const char *attr)
{
    char *raw = NULL;
    PLX_TRY(plx__arena_zeroed((void **)&raw, plx__scratch(f->ctx), a->shape.count, H5Tget_size(a->type)));
    plx_status st = PLX_OK;
    if (H5Aread(a->id, a->type, raw) < 0) st = attr_fail(f, object, attr, "is damaged");
    if (st == PLX_OK) st = plx__h5_copy_texts(to, a->shape.count, arena, a->type, raw);
    if (H5Tis_variable_str(a->type) > 0) H5Dvlen_reclaim(a->type, a->space, H5P_DEFAULT, raw);
    return st;
}

plx_status plx__h5_attr_texts(const char *const **out, plx_index *count, const plx__h5 *f, plx__arena *arena,
                              const char *object, const char *attr)
{
    attribute a;
    const char **texts = NULL;
    *out = NULL;
    *count = 0;
    plx_status st = open_attribute(&a, f, object, attr);
    if (st != PLX_OK || a.id < 0 || a.shape.count == 0) goto done;
    if (H5Tget_class(a.type) != H5T_STRING) {
        st = attr_fail(f, object, attr, "does not hold texts");
        goto done;
    }
    PLX_GOTO(PLX__ARENA_NEW(&texts, arena, a.shape.count));
    PLX_GOTO(read_texts(texts, f, arena, &a, object, attr));
    *out = texts;
    *count = a.shape.count;
done:
    close_attribute(&a);
    return st;
}

plx_status plx__h5_attr_text(const char **out, const plx__h5 *f, plx__arena *arena, const char *object,
                             const char *attr)
{
    const char *const *texts = NULL;
    plx_index count = 0;
    *out = "";
    PLX_TRY(plx__h5_attr_texts(&texts, &count, f, arena, object, attr));
    if (count > 1) return attr_fail(f, object, attr, "is a list, expected one text");
    if (count == 1) *out = texts[0];
    return PLX_OK;
}

plx_status plx__h5_attr_i64(int64_t *out, plx_index count, const plx__h5 *f, const char *object, const char *attr)
{
    attribute a;
    plx_status st = open_attribute(&a, f, object, attr);
    if (st != PLX_OK) goto done;
    H5T_class_t class = a.id < 0 ? H5T_NO_CLASS : H5Tget_class(a.type);
    if (class != H5T_INTEGER && class != H5T_ENUM) {
        st = attr_fail(f, object, attr, a.id < 0 ? "is missing" : "does not hold integers");
    } else if (a.shape.count != count) {
        st = attr_fail(f, object, attr, "has another length than expected");
    } else if (H5Aread(a.id, H5T_NATIVE_INT64, out) < 0) {
        st = attr_fail(f, object, attr, "is damaged");
    }
done:
    close_attribute(&a);
    return st;
}

static plx_status name_of_reference(const char **out, const plx__h5 *f, plx__arena *arena, hobj_ref_t target,
                                    const char *object, const char *attr)
{
    hid_t id = H5Rdereference2(f->file, H5P_DEFAULT, H5R_OBJECT, &target);
    if (id < 0) return attr_fail(f, object, attr, "points to nothing");
    char *name = NULL;
    plx_status st = PLX_OK;
    ssize_t len = H5Iget_name(id, NULL, 0);
    if (len <= 0) st = attr_fail(f, object, attr, "points to an object without a name");
    else st = plx__arena_bytes((void **)&name, arena, (plx_index)len + 1, 1);
    if (st == PLX_OK && H5Iget_name(id, name, (size_t)len + 1) == len) *out = name;
    H5Oclose(id);
    return st;
}

plx_status plx__h5_attr_target(const char **out, const plx__h5 *f, plx__arena *arena, const char *object,
                               const char *attr)
{
    attribute a;
    hobj_ref_t target = 0;
    *out = NULL;
    plx_status st = open_attribute(&a, f, object, attr);
    if (st != PLX_OK || a.id < 0) goto done;
    if (H5Tequal(a.type, H5T_STD_REF_OBJ) <= 0 || a.shape.count != 1) goto done;
    if (H5Aread(a.id, H5T_STD_REF_OBJ, &target) < 0) st = attr_fail(f, object, attr, "is damaged");
    else st = name_of_reference(out, f, arena, target, object, attr);
done:
    close_attribute(&a);
    return st;
}
