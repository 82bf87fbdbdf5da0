/*
 * Which subsets of the views there are: all up to a size, by size and then in lexicographic order, or a list.
 */
#include <string.h>

#include "methods/hknn/hknn.h"

enum { ALL_VIEWS = 12, MOST_SUBSETS = 65536 };

static plx_status name_subset(const char **out, const hknn *h, const int32_t *view, plx_index count)
{
    const plx__view *views = h->run->problem->views;
    PLX_TRY(plx__arena_text(out, plx__scratch(h->ctx), views[view[0]].name));
    for (plx_index i = 1; i < count; i++)
        PLX_TRY(plx__arena_printf(out, plx__scratch(h->ctx), "%s+%s", *out, views[view[i]].name));
    return PLX_OK;
}

static plx_status name_all(hknn *h)
{
    hknn_subsets *s = &h->subsets;
    PLX_TRY(PLX__ARENA_NEW(&s->name, plx__scratch(h->ctx), s->count));
    for (plx_index i = 0; i < s->count; i++)
        PLX_TRY(name_subset(&s->name[i], h, s->view + s->ptr[i], s->ptr[i + 1] - s->ptr[i]));
    return PLX_OK;
}

/* ---- all of them ---- */

/* Number of subsets with up to `size` of m views, and of their members; refused when there are too many. */
static plx_status count_subsets(plx_index *subsets, plx_index *members, const hknn *h, plx_index size)
{
    plx_index m = h->n_views;
    double of_size = 1, sum = 0, all = 0;
    for (plx_index i = 1; i <= size; i++) {
        of_size = of_size * (double)(m - i + 1) / (double)i;
        sum += of_size;
        all += of_size * (double)i;
        if (sum > MOST_SUBSETS)
            PLX_FAIL(h->ctx, PLX_E_ARG,
                     "max_subset = %lld: %lld views have more than %d such subsets; set a smaller "
                     "max_subset or select = list:...",
                     (long long)size, (long long)m, (int)MOST_SUBSETS);
    }
    *subsets = (plx_index)(sum + 0.5);
    *members = (plx_index)(all + 0.5);
    return PLX_OK;
}

/* The next subset of the same size in lexicographic order; false after the last. */
static bool advance(int32_t *view, plx_index size, plx_index m)
{
    plx_index i = size - 1;
    while (i >= 0 && view[i] == (int32_t)(m - size + i)) i--;
    if (i < 0) return false;
    view[i]++;
    for (plx_index j = i + 1; j < size; j++) view[j] = view[j - 1] + 1;
    return true;
}

static plx_status largest_size(plx_index *out, const hknn *h)
{
    const plx__value *v = &h->set->max_subset;
    plx_index m = h->n_views;
    *out = v->word >= 0 ? m : plx__min((plx_index)v->number, m);
    if (v->word < 0 && v->number != (double)(plx_index)v->number)
        PLX_FAIL(h->ctx, PLX_E_ARG, "max_subset = %s: expected a whole number", v->text);
    if (*out == m && m > ALL_VIEWS)
        PLX_FAIL(h->ctx, PLX_E_ARG, "hknn: %lld views have too many subsets; set max_subset to less than %lld",
                 (long long)m, (long long)m);
    return PLX_OK;
}

plx_status plx__hknn_subsets(hknn *h)
{
    plx_index size = 0, members = 0, s = 0, *ptr = NULL;
    int32_t *view = NULL, *at = NULL;
    if (plx__starts_with(h->set->select, "list:")) return plx__hknn_subset_parse(h, h->set->select + strlen("list:"));
    PLX_TRY(largest_size(&size, h));
    PLX_TRY(count_subsets(&h->subsets.count, &members, h, size));
    PLX_TRY(plx__arena_i64(&ptr, plx__scratch(h->ctx), h->subsets.count + 1));
    PLX_TRY(plx__arena_i32(&view, plx__scratch(h->ctx), members));
    PLX_TRY(plx__arena_i32(&at, plx__scratch(h->ctx), h->n_views));
    for (plx_index k = 1; k <= size; k++) {
        for (plx_index i = 0; i < k; i++) at[i] = (int32_t)i;
        do {
            memcpy(view + ptr[s], at, (size_t)k * sizeof *view);
            ptr[s + 1] = ptr[s] + k;
            s++;
        } while (advance(at, k, h->n_views));
    }
    h->subsets.ptr = ptr;
    h->subsets.view = view;
    return name_all(h);
}

/* ---- a list ---- */

static plx_status next_part(const char **out, const char **rest, plx_context *ctx, const char *separators)
{
    size_t length = strcspn(*rest, separators);
    PLX_TRY(plx__arena_textn(out, plx__scratch(ctx), *rest, length));
    *rest += length;
    return PLX_OK;
}

/* One subset "a+b": its views in ascending order, each once. */
static plx_status parse_subset(int32_t *view, plx_index *count, hknn *h, const char *text)
{
    uint8_t *seen = NULL;
    PLX_TRY(plx__arena_u8(&seen, plx__scratch(h->ctx), h->n_views));
    for (const char *rest = text;; rest++) {
        const char *name = NULL;
        plx_index index = 0;
        PLX_TRY(next_part(&name, &rest, h->ctx, "+"));
        PLX_TRY(plx__require_view(&index, h->run, name, "select"));
        seen[index] = 1;
        if (!*rest) break;
    }
    *count = 0;
    for (plx_index v = 0; v < h->n_views; v++)
        if (seen[v]) view[(*count)++] = (int32_t)v;
    return PLX_OK;
}

plx_status plx__hknn_subset_parse(hknn *h, const char *list)
{
    plx_index count = 1, s = 0, *ptr = NULL;
    int32_t *view = NULL;
    for (const char *c = list; *c; c++) count += *c == ',';
    PLX_TRY(plx__arena_i64(&ptr, plx__scratch(h->ctx), count + 1));
    PLX_TRY(plx__arena_i32(&view, plx__scratch(h->ctx), count * h->n_views));
    for (const char *rest = list;; rest++) {
        const char *text = NULL;
        plx_index views = 0;
        PLX_TRY(next_part(&text, &rest, h->ctx, ","));
        PLX_TRY(parse_subset(view + ptr[s], &views, h, text));
        ptr[s + 1] = ptr[s] + views;
        s++;
        if (!*rest) break;
    }
    h->subsets = (hknn_subsets){.count = s, .ptr = ptr, .view = view};
    return name_all(h);
}
