/*
 * Data frames of anndata files, current and old: an index and columns, each of which may be stored as strings,
 * numbers, a categorical (group with codes and categories, or codes with a reference to the categories) or
 * values with a mask.
 */
#include <math.h>
#include <string.h>

#include "core/number.h"
#include "io/h5_impl.h"
#include "io/h5mu_impl.h"

enum { DEEPEST = 3 }; /* a categorical of nullable strings is two levels; a file may link a group into itself */

static plx_status read_texts(const char *const **out, plx_index *count, const plx__h5 *f, plx__arena *arena,
                             const char *object, int depth);

/* ---- one column ---- */

static plx_status integer_texts(const char **to, const plx__h5 *f, plx__arena *arena, const char *object)
{
    int64_t *values = NULL;
    plx__h5_shape shape;
    PLX_TRY(plx__h5_read_i64(&values, &shape, f, plx__scratch(f->ctx), object));
    for (plx_index i = 0; i < shape.count; i++) PLX_TRY(plx__arena_printf(&to[i], arena, "%lld", (long long)values[i]));
    return PLX_OK;
}

static plx_status real_texts(const char **to, const plx__h5 *f, plx__arena *arena, const char *object)
{
    double *values = NULL;
    plx__h5_shape shape;
    char number[PLX__NUMBER_BYTES];
    PLX_TRY(plx__h5_read_f64(&values, &shape, f, plx__scratch(f->ctx), object));
    for (plx_index i = 0; i < shape.count; i++) {
        if (isnan(values[i])) continue;
        plx__print_short(number, values[i]);
        PLX_TRY(plx__arena_text(&to[i], arena, number));
    }
    return PLX_OK;
}

static plx_status number_texts(const char *const **out, plx_index *count, const plx__h5 *f, plx__arena *arena,
                               const char *object)
{
    plx__h5_shape shape;
    const char **texts = NULL;
    PLX_TRY(plx__h5_shape_of(&shape, f, object));
    PLX_TRY(PLX__ARENA_NEW(&texts, arena, shape.count));
    PLX_TRY(plx__h5_is_integer(f, object) ? integer_texts(texts, f, arena, object)
                                          : real_texts(texts, f, arena, object));
    *out = texts;
    *count = shape.count;
    return PLX_OK;
}

static plx_status categorical_texts(const char *const **out, plx_index *count, const plx__h5 *f, plx__arena *arena,
                                    const char *codes, const char *categories, int depth)
{
    int64_t *code = NULL;
    plx__h5_shape shape;
    const char *const *names = NULL;
    const char **texts = NULL;
    plx_index n_names = 0;
    PLX_TRY(plx__h5_read_i64(&code, &shape, f, plx__scratch(f->ctx), codes));
    PLX_TRY(read_texts(&names, &n_names, f, arena, categories, depth + 1));
    PLX_TRY(PLX__ARENA_NEW(&texts, arena, shape.count));
    for (plx_index i = 0; i < shape.count; i++) {
        if (code[i] < -1 || code[i] >= n_names)
            PLX_FAIL(f->ctx, PLX_E_FORMAT, "%s: %s: row %lld has code %lld, but there are %lld categories", f->path,
                     codes, (long long)i, (long long)code[i], (long long)n_names);
        texts[i] = code[i] < 0 ? NULL : names[code[i]];
    }
    *out = texts;
    *count = shape.count;
    return PLX_OK;
}

static plx_status masked_texts(const char *const **out, plx_index *count, const plx__h5 *f, plx__arena *arena,
                               const char *values, const char *mask, int depth)
{
    const char *const *all = NULL;
    const char **texts = NULL;
    double *missing = NULL;
    PLX_TRY(read_texts(&all, count, f, arena, values, depth + 1));
    PLX_TRY(plx__h5_read_vector(&missing, *count, f, plx__scratch(f->ctx), mask));
    PLX_TRY(PLX__ARENA_NEW(&texts, arena, *count));
    for (plx_index i = 0; i < *count; i++) texts[i] = missing[i] != 0 ? NULL : all[i];
    *out = texts;
    return PLX_OK;
}

static plx_status group_texts(const char *const **out, plx_index *count, const plx__h5 *f, plx__arena *arena,
                              const char *group, int depth)
{
    plx__arena *scratch = plx__scratch(f->ctx);
    const char *codes = NULL, *categories = NULL, *values = NULL, *mask = NULL;
    PLX_TRY(plx__arena_printf(&codes, scratch, "%s/codes", group));
    PLX_TRY(plx__arena_printf(&categories, scratch, "%s/categories", group));
    PLX_TRY(plx__arena_printf(&values, scratch, "%s/values", group));
    PLX_TRY(plx__arena_printf(&mask, scratch, "%s/mask", group));
    if (plx__h5_what(f, codes) == PLX__H5_NUMBERS)
        return categorical_texts(out, count, f, arena, codes, categories, depth);
    if (plx__h5_what(f, mask) == PLX__H5_NUMBERS) return masked_texts(out, count, f, arena, values, mask, depth);
    return plx__h5_fail(f, PLX_E_FORMAT, group, "is neither a categorical nor a list of values with a mask");
}

static plx_status read_texts(const char *const **out, plx_index *count, const plx__h5 *f, plx__arena *arena,
                             const char *object, int depth)
{
    const char *categories = NULL;
    *out = NULL;
    *count = 0;
    if (depth > DEEPEST) return plx__h5_fail(f, PLX_E_FORMAT, object, "is nested too deeply");
    switch (plx__h5_what(f, object)) {
    case PLX__H5_TEXTS: return plx__h5_read_texts(out, count, f, arena, object);
    case PLX__H5_GROUP: return group_texts(out, count, f, arena, object, depth);
    case PLX__H5_NUMBERS:
        PLX_TRY(plx__h5_attr_target(&categories, f, plx__scratch(f->ctx), object, "categories"));
        if (categories) return categorical_texts(out, count, f, arena, object, categories, depth);
        return number_texts(out, count, f, arena, object);
    case PLX__H5_NONE: return plx__h5_fail(f, PLX_E_FORMAT, object, "is missing or damaged");
    case PLX__H5_OTHER: break;
    }
    return plx__h5_fail(f, PLX_E_UNSUPPORTED, object, "has a type that cannot be read as a column");
}

/* ---- frames ---- */

static plx_status check_frame(const plx__h5 *f, const char *frame)
{
    plx__h5_kind kind = plx__h5_what(f, frame);
    if (kind == PLX__H5_GROUP) return PLX_OK;
    if (kind == PLX__H5_OTHER)
        return plx__h5_fail(
            f, PLX_E_UNSUPPORTED, frame,
            "is a table of anndata before 0.7; open the file with a current anndata and write it again");
    return plx__h5_fail(f, PLX_E_FORMAT, frame, "is missing; expected a data frame");
}

plx_status plx__h5mu_index(const char *const **names, plx_index *count, const plx__h5 *f, plx__arena *arena,
                           const char *frame)
{
    plx__arena *scratch = plx__scratch(f->ctx);
    const char *index = NULL, *path = NULL;
    PLX_TRY(check_frame(f, frame));
    PLX_TRY(plx__h5_attr_text(&index, f, scratch, frame, "_index"));
    PLX_TRY(plx__arena_printf(&path, scratch, "%s/%s", frame, index[0] ? index : "_index"));
    if (!index[0] && plx__h5_what(f, path) == PLX__H5_NONE)
        PLX_TRY(plx__arena_printf(&path, scratch, "%s/index", frame));
    PLX_TRY(read_texts(names, count, f, arena, path, 0));
    for (plx_index i = 0; i < *count; i++)
        if (!(*names)[i] || !(*names)[i][0])
            PLX_FAIL(f->ctx, PLX_E_DATA, "%s: %s: row %lld has no name", f->path, path, (long long)i);
    return PLX_OK;
}

plx_status plx__h5mu_column(const char *const **out, const plx__h5 *f, plx__arena *arena, const char *frame,
                            const char *column, plx_index rows)
{
    const char *path = NULL;
    plx_index count = 0;
    *out = NULL;
    PLX_TRY(plx__arena_printf(&path, plx__scratch(f->ctx), "%s/%s", frame, column));
    if (strchr(column, '/') || plx__h5_what(f, path) == PLX__H5_NONE) return PLX_OK;
    PLX_TRY(read_texts(out, &count, f, arena, path, 0));
    if (count != rows)
        PLX_FAIL(f->ctx, PLX_E_FORMAT, "%s: %s: has %lld rows, expected %lld", f->path, path, (long long)count,
                 (long long)rows);
    return PLX_OK;
}
