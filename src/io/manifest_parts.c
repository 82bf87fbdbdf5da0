/*
 * A data set in parts, one below the other: a manifest whose "parts" are data sets of their own, as `parallax data shard`
 * writes them. Every part has the same views. Where several ranks read (data/divided.h), each opens the first part, which
 * says what the views are, and those that have rows of its own; what belongs to the samples of the others is told by the
 * ranks that have them.
 */
#include <math.h>
#include <string.h>

#include "core/file.h"
#include "core/json.h"
#include "core/ranks.h"
#include "data/divided.h"
#include "io/dataset_file.h"
#include "io/manifest.h"

enum { DEEPEST = 4 }; /* parts may have parts, but not themselves */

typedef struct stack {
    plx_context *ctx;
    plx__arena *arena; /* of the reading */
    const char *path, *directory;
    const json_t *root;
    const plx__read_request *request;
    plx_dataset **at; /* NULL: the part has no rows of this rank, and is left to others */
    plx_index *first; /* count + 1: first sample of every part */
    plx_index count;
    bool divided;
    plx_index begin, end; /* samples whose values are kept */
    plx_index *bound;     /* of all ranks that read together; NULL: every part is read */
} stack;

/* ---- the manifest ---- */

static plx_status check_root(const stack *s)
{
    static const char *const known[] = {"parallax", "name", "parts", "text"};
    const char *key = NULL;
    json_t *value = NULL;
    const json_t *version = json_object_get(s->root, "parallax");
    if (!json_is_integer(version) || json_integer_value(version) != 1)
        PLX_FAIL(s->ctx, PLX_E_FORMAT, "%s: not a data set manifest (\"parallax\": 1 is missing)", s->path);
    json_object_foreach((json_t *)(uintptr_t)s->root, key, value)
    {
        bool found = false;
        for (size_t k = 0; k < sizeof known / sizeof *known; k++) found |= strcmp(key, known[k]) == 0;
        if (!found)
            PLX_FAIL(s->ctx, PLX_E_FORMAT, "%s: \"%s\" does not go with \"parts\": every part has its own", s->path,
                     key);
    }
    return PLX_OK;
}

static plx_status count_samples(stack *s)
{
    const json_t *list = json_object_get(s->root, "parts");
    if (!json_is_array(list) || json_array_size(list) == 0)
        PLX_FAIL(s->ctx, PLX_E_FORMAT, "%s: \"parts\" must be a list with at least one part", s->path);
    s->count = (plx_index)json_array_size(list);
    PLX_TRY(PLX__ARENA_NEW(&s->at, s->arena, s->count));
    PLX_TRY(plx__arena_i64(&s->first, s->arena, s->count + 1));
    for (plx_index p = 0; p < s->count; p++) {
        const json_t *part = json_array_get(list, (size_t)p), *rows = json_object_get(part, "rows");
        const char *file = json_string_value(json_object_get(part, "file"));
        int64_t end = 0;
        if (!file || !file[0] || !json_is_integer(rows) || json_integer_value(rows) < 1 ||
            __builtin_add_overflow(s->first[p], (int64_t)json_integer_value(rows), &end))
            PLX_FAIL(s->ctx, PLX_E_FORMAT, "%s: part %lld must have a \"file\" and its number of \"rows\"", s->path,
                     (long long)p + 1);
        s->first[p + 1] = end;
    }
    s->divided = plx__share_wanted(&s->begin, &s->end, s->ctx, s->first[s->count]);
    if (s->ctx->share.ranks < 2) return PLX_OK;
    PLX_TRY(plx__arena_i64(&s->bound, s->arena, plx__ranks(s->ctx) + 1));
    plx__slabs_bounds(s->bound, s->ctx, plx__slabs_cut(s->first[s->count], PLX__PANE_ROWS));
    return PLX_OK;
}

static bool is_needed(const stack *s, plx_index p)
{
    return !s->bound || p == 0 || (s->first[p] < s->end && s->first[p + 1] > s->begin);
}

/* ---- parts ---- */

/* Kinds that are guessed from values may differ between parts: all numbers are real, some of them counts or flags. */
static bool same_kind(const plx__view *a, const plx__view *b)
{
    return a->kind == b->kind || (a->kind <= PLX_VIEW_BINARY && b->kind <= PLX_VIEW_BINARY);
}

static bool same_view(const plx__view *a, const plx__view *b)
{
    bool same = strcmp(a->name, b->name) == 0 && a->cols == b->cols && a->sparse == b->sparse && same_kind(a, b) &&
                !a->features == !b->features;
    for (plx_index j = 0; same && a->features && j < a->cols; j++) same = strcmp(a->features[j], b->features[j]) == 0;
    return same;
}

/* Of the parts with rows that are here: real before counts before binary, as the kinds are numbered. */
static plx_view_kind kind_of_all(const stack *s, plx_index v)
{
    plx_view_kind kind = s->at[0]->views[v].kind;
    bool any = false;
    for (plx_index p = 0; p < s->count; p++) {
        const plx__view *x = s->at[p] ? &s->at[p]->views[v] : NULL;
        if (!x || plx__held_begin(x) == plx__held_end(x, s->at[p]->n)) continue;
        kind = !any || x->kind < kind ? x->kind : kind;
        any = true;
    }
    return kind;
}

static plx_status check_part(const stack *s, plx_index p, const char *file)
{
    const plx_dataset *part = s->at[p], *one = s->at[0];
    if (part->n != s->first[p + 1] - s->first[p])
        PLX_FAIL(s->ctx, PLX_E_DATA, "%s has %lld samples, %s says %lld; shard the data again", file,
                 (long long)part->n, s->path, (long long)(s->first[p + 1] - s->first[p]));
    bool same = part->n_views == one->n_views && !part->ids == !one->ids;
    for (plx_index v = 0; same && v < one->n_views; v++) same = same_view(&one->views[v], &part->views[v]);
    if (!same)
        PLX_FAIL(s->ctx, PLX_E_DATA, "%s has other views, columns or ids than the first part; shard the data again",
                 file);
    for (plx_index v = 0; v < part->n_views; v++)
        if (part->views[v].kind == PLX_VIEW_KERNEL)
            PLX_FAIL(s->ctx, PLX_E_DATA, "%s: view '%s' is of kind kernel, which cannot be read in parts", file,
                     part->views[v].name);
    return PLX_OK;
}

static plx_status read_part(stack *s, plx_index p)
{
    const json_t *part = json_array_get(json_object_get(s->root, "parts"), (size_t)p);
    plx__read_request request = {.o = PLX_READ_OPTIONS_INIT, .depth = s->request->depth + 1};
    plx__row_share share = s->ctx->share;
    const char *file = NULL;
    plx_index at = s->first[p], rows = s->first[p + 1] - at;
    plx__arena own;
    request.o.trust = s->request->o.trust;
    PLX_TRY(plx__path_join(&file, s->arena, s->directory, json_string_value(json_object_get(part, "file"))));
    if (!is_needed(s, p)) return plx__note_file(s->ctx, file);
    if (s->divided) {
        plx_index begin = plx__min(rows, plx__max(0, s->begin - at)), end = plx__min(rows, plx__max(0, s->end - at));
        s->ctx->share = (plx__row_share){.run = true, .begin = begin, .end = plx__max(begin, end)};
    }
    plx__arena_init(&own, s->ctx);
    plx_status st = plx__dataset_read_one(&s->at[p], s->ctx, &own, file, &request);
    plx__arena_free(&own);
    s->ctx->share = share;
    PLX_TRY(st);
    return check_part(s, p, file);
}

/* ---- one below the other ---- */

/* Rows of a part that is not here are empty. */
static plx_status stack_sparse(plx_csr *out, const stack *s, plx_index v, plx__arena *arena)
{
    int64_t entries = 0, at = 0;
    for (plx_index p = 0; p < s->count; p++) entries += s->at[p] ? s->at[p]->views[v].csr.ptr[s->at[p]->n] : 0;
    PLX_TRY(plx__arena_csr(out, arena, s->first[s->count], s->at[0]->views[v].cols, entries));
    for (plx_index p = 0; p < s->count; p++) {
        plx_ccsr x = {.rows = s->first[p + 1] - s->first[p]};
        if (s->at[p]) x = s->at[p]->views[v].csr;
        size_t count = x.ptr ? (size_t)x.ptr[x.rows] : 0;
        for (plx_index i = 0; i < x.rows; i++) out->ptr[s->first[p] + i + 1] = at + (x.ptr ? x.ptr[i + 1] : 0);
        plx__copy_long(arena->ctx, out->col + at, x.col, count * sizeof *out->col);
        plx__copy_long(arena->ctx, out->val + at, x.val, count * sizeof *out->val);
        at += (int64_t)count;
    }
    return PLX_OK;
}

static plx_status stack_dense(plx_mat *out, const stack *s, plx_index v, plx__arena *arena)
{
    plx_index cols = s->at[0]->views[v].cols;
    double *values = NULL;
    PLX_TRY(plx__arena_bytes((void **)&values, arena, s->end - s->begin, (size_t)cols * sizeof *values));
    values = s->begin ? plx__rows_at(values, s->begin, cols) : values;
    for (plx_index p = 0; p < s->count; p++) {
        const plx__view *x = s->at[p] ? &s->at[p]->views[v] : NULL;
        for (plx_index i = x ? plx__held_begin(x) : 0; x && i < plx__held_end(x, s->at[p]->n); i++) {
            plx__breathe(arena->ctx, i);
            memcpy(values + (s->first[p] + i) * cols, x->dense.data + i * x->dense.ld, (size_t)cols * sizeof *values);
        }
    }
    *out = (plx_mat){values, s->first[s->count], cols, cols};
    return PLX_OK;
}

static plx_status stack_view(plx_dataset *to, const stack *s, plx_index v)
{
    const plx__view *one = &s->at[0]->views[v];
    plx__view_source source = {
        .name = one->name, .kind = kind_of_all(s, v), .sparse = one->sparse, .features = one->features};
    const char *text = json_string_value(json_object_get(json_object_get(s->root, "text"), one->name));
    uint8_t *present = NULL;
    plx__arena arena;
    plx_status st = PLX_OK;
    plx__arena_init(&arena, s->ctx);
    PLX_GOTO(plx__arena_u8(&present, plx__scratch(s->ctx), to->n));
    memset(present, 1, (size_t)to->n); /* of parts that are not here, other ranks will say */
    for (plx_index p = 0; p < s->count; p++)
        if (s->at[p]) memcpy(present + s->first[p], s->at[p]->views[v].present, (size_t)s->at[p]->n);
    source.present = present;
    source.divided = s->divided;
    source.begin = s->divided ? s->begin : 0;
    source.end = s->divided ? s->end : 0;
    if (one->sparse) PLX_GOTO(stack_sparse(&source.csr, s, v, &arena));
    else PLX_GOTO(stack_dense(&source.dense, s, v, &arena));
    PLX_GOTO(plx__dataset_adopt_arena(to, s->ctx, &arena, &source));
    to->views[to->n_views - 1].cost = one->cost;
    if (text) PLX_GOTO(plx__arena_text(&to->views[to->n_views - 1].text, &to->arena, text));
done:
    plx__arena_free(&arena);
    return st;
}

/* Does any part have it, here or elsewhere? */
static plx_status ask_all(bool *any, const stack *s)
{
    int64_t here = *any, *all = NULL;
    if (!s->bound) return PLX_OK;
    PLX_TRY(plx__peers_tell(s->ctx, &here, 1, &all));
    for (int r = 0; r < plx__ranks(s->ctx); r++) *any |= all[r] != 0;
    return PLX_OK;
}

/* Texts of all samples; *out NULL where no part has any. */
static plx_status stack_texts(const char *const **out, const stack *s, size_t field)
{
    const char **texts = NULL;
    bool any = false;
    *out = NULL;
    PLX_TRY(PLX__ARENA_NEW(&texts, s->arena, s->first[s->count]));
    for (plx_index p = 0; p < s->count; p++) {
        if (!s->at[p]) continue;
        const char *const *from = *(const char *const *const *)(const void *)((const char *)s->at[p] + field);
        if (from) memcpy(texts + s->first[p], from, (size_t)s->at[p]->n * sizeof *texts);
        any |= from != NULL;
    }
    PLX_TRY(ask_all(&any, s));
    if (!any) return PLX_OK;
    *out = s->bound ? texts + s->begin : texts;
    return s->bound ? plx__share_texts(out, s->ctx, s->arena, s->bound) : PLX_OK;
}

static plx_status stack_costs(plx_dataset *to, const stack *s)
{
    double *costs = NULL;
    size_t *offset = NULL;
    bool any = false;
    PLX_TRY(plx__arena_f64(&costs, s->arena, to->n, 1));
    for (plx_index p = 0; p < s->count; p++)
        for (plx_index i = 0; s->at[p] && i < s->at[p]->n; i++) {
            any |= s->at[p]->sample_costs != NULL;
            costs[s->first[p] + i] = s->at[p]->sample_costs ? s->at[p]->sample_costs[i] : 1;
        }
    PLX_TRY(plx__dataset_set_label_cost(to, s->ctx, s->at[0]->label_cost));
    PLX_TRY(ask_all(&any, s));
    if (!any) return PLX_OK;
    if (s->bound) {
        PLX_TRY(PLX__ARENA_NEW(&offset, s->arena, plx__ranks(s->ctx) + 1));
        for (int r = 0; r <= plx__ranks(s->ctx); r++) offset[r] = (size_t)s->bound[r] * sizeof *costs;
        PLX_TRY(plx__peers_settle(s->ctx, PLX_OK));
        PLX_TRY(plx__peers_share(s->ctx, costs, offset));
    }
    return plx__dataset_set_sample_costs(to, s->ctx, costs);
}

static plx_status stack_all(plx_dataset *to, const stack *s)
{
    const char *const *ids = NULL, *const *labels = NULL, *const *truth = NULL;
    const plx__hierarchy *h = s->at[0]->hierarchy;
    PLX_TRY(stack_texts(&ids, s, offsetof(plx_dataset, ids)));
    PLX_TRY(stack_texts(&labels, s, offsetof(plx_dataset, labels)));
    PLX_TRY(stack_texts(&truth, s, offsetof(plx_dataset, truth)));
    if (ids) PLX_TRY(plx__dataset_set_ids(to, s->ctx, ids));
    for (plx_index v = 0; v < s->at[0]->n_views; v++) {
        plx__mark mark = plx__arena_mark(plx__scratch(s->ctx));
        PLX_TRY(stack_view(to, s, v));
        plx__arena_rewind(plx__scratch(s->ctx), mark);
    }
    if (h)
        PLX_TRY(plx__dataset_set_hierarchy(to, s->ctx, h->classes, h->n_classes, h->subset, h->n_subset, h->mutex,
                                           h->n_mutex));
    if (labels) PLX_TRY(plx__dataset_set_labels(to, s->ctx, labels));
    if (truth) PLX_TRY(plx__dataset_set_truth(to, s->ctx, truth));
    return stack_costs(to, s);
}

plx_status plx__manifest_parts(plx_dataset **out, plx_context *ctx, plx__arena *arena, const char *path,
                               const char *directory, const json_t *root, const plx__read_request *request)
{
    stack s = {.ctx = ctx, .arena = arena, .path = path, .directory = directory, .root = root, .request = request};
    const char *name = json_string_value(json_object_get(root, "name"));
    plx_status st = PLX_OK;
    if (request->depth >= DEEPEST)
        PLX_FAIL(ctx, PLX_E_FORMAT, "%s: parts within parts within parts; name files of values", path);
    PLX_GOTO(check_root(&s));
    PLX_GOTO(count_samples(&s));
    for (plx_index p = 0; p < s.count; p++) {
        PLX_GOTO(read_part(&s, p));
        PLX_GOTO(plx__report(ctx, "read parts", p + 1, s.count, NAN));
    }
    PLX_GOTO(plx__dataset_create(out, ctx, name ? name : s.at[0]->name, s.first[s.count]));
    PLX_GOTO(stack_all(*out, &s));
done:
    for (plx_index p = 0; s.at && p < s.count; p++) plx__dataset_destroy(s.at[p]);
    return st;
}
