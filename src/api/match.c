/*
 * New data in a model's terms. Views and columns are found by name: a file whose columns come in another order,
 * with some more or some fewer, gives the same prediction or a clear refusal, never a silent mix-up.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "api/model_impl.h"
#include "core/ranks.h"
#include "data/divided.h"
#include "data/kernel_columns.h"
#include "linalg/csr.h"
#include "linalg/dense.h"

enum { NAMES_TOLD = 5 };

/* Where each column of the new view goes in the model's view; -1: the model does not know it. */
typedef struct column_map {
    int32_t *target;
    plx_index matched, unknown, missing;
    bool identity;
    const char *missing_names; /* the first few */
    const char *first_unknown;
} column_map;

/* ---- columns ---- */

static plx_status column_name(const char **out, plx_context *ctx, const char *const *names, plx_index j)
{
    if (names) {
        *out = names[j];
        return PLX_OK;
    }
    return plx__arena_printf(out, plx__scratch(ctx), "%lld", (long long)j);
}

static bool same_names(const plx__view_card *card, const char *const *names, plx_index cols)
{
    if (card->cols != cols || !card->features != !names) return false;
    for (plx_index j = 0; card->features && j < cols; j++)
        if (strcmp(card->features[j], names[j]) != 0) return false;
    return true;
}

/* "'a', 'b', 'c', 'd', 'e' and 7 more" of the model's columns that were not found. */
static plx_status list_missing(column_map *map, plx_context *ctx, const plx__view_card *card, const uint8_t *found)
{
    plx__textbuf text;
    const char *name = NULL;
    plx__textbuf_init(&text, plx__scratch(ctx));
    for (plx_index j = 0; j < card->cols; j++) {
        if (found[j] || map->missing++ >= NAMES_TOLD) continue;
        PLX_TRY(column_name(&name, ctx, card->features, j));
        plx__textbuf_printf(&text, "%s'%.60s'", map->missing > 1 ? ", " : "", name);
    }
    if (map->missing > NAMES_TOLD) plx__textbuf_printf(&text, " and %lld more", (long long)(map->missing - NAMES_TOLD));
    return plx__textbuf_done(&map->missing_names, &text);
}

static plx_status map_names(column_map *map, plx_context *ctx, const plx__view_card *card, const char *const *names,
                            plx_index cols)
{
    *map = (column_map){.identity = same_names(card, names, cols), .matched = cols};
    if (map->identity) return PLX_OK;
    plx__map known;
    plx_index existing = -1;
    uint8_t *found = NULL;
    const char *name = NULL;
    map->matched = 0;
    PLX_TRY(plx__map_init(&known, plx__scratch(ctx), card->cols));
    PLX_TRY(plx__arena_u8(&found, plx__scratch(ctx), card->cols));
    PLX_TRY(plx__arena_i32(&map->target, plx__scratch(ctx), cols));
    for (plx_index j = 0; j < card->cols; j++) {
        PLX_TRY(column_name(&name, ctx, card->features, j));
        PLX_TRY(plx__map_add(&known, name, j, &existing));
    }
    for (plx_index j = 0; j < cols; j++) {
        PLX_TRY(column_name(&name, ctx, names, j));
        map->target[j] = (int32_t)plx__map_get(&known, name);
        if (map->target[j] >= 0) {
            found[map->target[j]] = 1;
            map->matched++;
        } else if (!map->unknown++) map->first_unknown = name;
    }
    return list_missing(map, ctx, card, found);
}

/* The columns of a kernel view are samples. With one per sample of the new data they are those samples, unless names
 * say otherwise: then ids are tried before places. */
static plx_status map_columns(column_map *map, plx_context *ctx, const plx__view_card *card, const plx__view *v,
                              const plx_dataset *data)
{
    bool own = v->kind == PLX_VIEW_KERNEL && v->cols == data->n && data->ids;
    if (own && !v->features) PLX_TRY(map_names(map, ctx, card, data->ids, v->cols));
    if (own && !v->features && map->matched) return PLX_OK;
    PLX_TRY(map_names(map, ctx, card, v->features, v->cols));
    if (own && v->features && !map->matched) PLX_TRY(map_names(map, ctx, card, data->ids, v->cols));
    return PLX_OK;
}

static bool zero_is_absence(const plx__view_card *card)
{
    return card->kind == PLX_VIEW_COUNTS || card->kind == PLX_VIEW_BINARY;
}

/* Missing columns read as zero where zero means "did not occur"; elsewhere they are an error. */
static plx_status judge(plx_context *ctx, const column_map *map, const plx__view_card *card, const plx__view *v)
{
    if (map->identity) return PLX_OK;
    bool names_differ = !v->features != !card->features;
    if (!map->matched && (names_differ || !zero_is_absence(card)))
        PLX_FAIL(ctx, PLX_E_DATA,
                 "view '%s': none of its %lld features is among the %lld the model was fitted with (%s); %s", v->name,
                 (long long)v->cols, (long long)card->cols, map->missing_names,
                 names_differ ? "give the features the same names" : "check that it is the same view");
    if (map->missing && !zero_is_absence(card))
        PLX_FAIL(ctx, PLX_E_DATA, "view '%s' lacks %lld of the %lld features the model was fitted with: %s", v->name,
                 (long long)map->missing, (long long)card->cols, map->missing_names);
    if (map->missing && !card->sparse &&
        map->matched) /* a column of a table; a word that does not occur is no surprise */
        plx__warn(ctx,
                  "view '%s' lacks %lld of the %lld features the model was fitted with and has 0 in their place: %s",
                  v->name, (long long)map->missing, (long long)card->cols, map->missing_names);
    else if (map->missing)
        plx__info(ctx, "view '%s': %lld features of the model do not occur and count as zero", v->name,
                  (long long)map->missing);
    if (!map->matched)
        plx__warn(ctx, "view '%s': none of its %lld features is known to the model, e.g. '%s'; all are ignored",
                  v->name, (long long)v->cols, map->first_unknown);
    else if (map->unknown && card->kind != PLX_VIEW_KERNEL) /* a kernel view may tell about other samples as well */
        plx__warn(ctx, "view '%s': %lld %s unknown to the model and ignored, e.g. '%s'", v->name,
                  (long long)map->unknown, map->unknown == 1 ? "feature is" : "features are", map->first_unknown);
    return PLX_OK;
}

/* ---- views ---- */

static bool same_family(const plx__view_card *card, const plx__view *v)
{
    return (card->kind == PLX_VIEW_KERNEL) == (v->kind == PLX_VIEW_KERNEL);
}

/* The kinds must agree as far as methods care: a kernel is not a feature view. */
static plx_status check_kind(plx_context *ctx, const plx__view_card *card, const plx__view *v)
{
    if (same_family(card, v)) return PLX_OK;
    PLX_FAIL(ctx, PLX_E_DATA, "view '%s' is of kind %s, the model was fitted with kind %s", v->name,
             plx_view_kind_name(v->kind), plx_view_kind_name(card->kind));
}

static plx_status add_sparse(plx_dataset *to, plx_context *ctx, const plx__view_card *card, plx_ccsr values,
                             const uint8_t *present)
{
    if (card->sparse) return plx__dataset_add_sparse(to, ctx, card->name, card->kind, values, card->features, present);
    plx_mat full;
    PLX_TRY(plx__arena_mat(&full, plx__scratch(ctx), values.rows, values.cols));
    plx__csr_to_dense(full, values);
    return plx__dataset_add_dense(to, ctx, card->name, card->kind, plx__cmat(full), card->features, present);
}

static plx_status add_dense(plx_dataset *to, plx_context *ctx, const plx__view_card *card, plx_cmat values,
                            const uint8_t *present)
{
    if (!card->sparse) return plx__dataset_add_dense(to, ctx, card->name, card->kind, values, card->features, present);
    plx_csr thin;
    PLX_TRY(plx__csr_from_dense(&thin, plx__scratch(ctx), values));
    return plx__dataset_add_sparse(to, ctx, card->name, card->kind, plx__ccsr(thin), card->features, present);
}

/* Values of a view that are adopted, in an arena that the view takes over. */
static plx_status adopt_own(plx_dataset *to, plx_context *ctx, const plx__view_card *card, plx__view_source *s,
                            plx__arena *values, const uint8_t *present)
{
    s->name = card->name;
    s->kind = card->kind;
    s->sparse = card->sparse;
    s->features = card->features;
    s->present = present;
    s->divided = true;
    return plx__dataset_adopt_arena(to, ctx, values, s);
}

static plx_status own_sparse(plx__view_source *s, plx_context *ctx, plx__arena *arena, const plx__view_card *card,
                             const plx__view *v, const column_map *map)
{
    plx_index begin = v->begin, end = v->end;
    plx_mat full;
    if (map->identity) PLX_TRY(plx__csr_clone(&s->csr, card->sparse ? arena : plx__scratch(ctx), v->csr));
    else
        PLX_TRY(plx__csr_move_cols(&s->csr, card->sparse ? arena : plx__scratch(ctx), v->csr, map->target, card->cols));
    if (card->sparse) return PLX_OK;
    PLX_TRY(plx__arena_mat(&full, arena, end - begin, card->cols));
    plx__csr_to_dense(full, plx__csr_rows(plx__ccsr(s->csr), begin, end));
    s->dense = (plx_mat){plx__rows_at(full.data, begin, card->cols), v->csr.rows, card->cols, card->cols};
    return PLX_OK;
}

static plx_status own_dense(plx__view_source *s, plx_context *ctx, plx__arena *arena, const plx__view_card *card,
                            const plx__view *v, const column_map *map)
{
    plx_index begin = v->begin, end = v->end;
    plx_cmat here = {v->dense.data + begin * v->dense.ld, end - begin, v->cols, v->dense.ld};
    plx__arena *to = card->sparse ? plx__scratch(ctx) : arena;
    plx_mat moved;
    plx_csr thin;
    if (map->identity) PLX_TRY(plx__mat_clone(&moved, to, here));
    else PLX_TRY(plx__mat_move_cols(&moved, to, here, map->target, card->cols));
    s->dense = (plx_mat){plx__rows_at(moved.data, begin, card->cols), v->dense.rows, card->cols, card->cols};
    if (!card->sparse) return PLX_OK;
    PLX_TRY(plx__csr_from_dense(&thin, arena, plx__cmat(moved)));
    return plx__pad_rows(&s->csr, arena, thin, begin, v->dense.rows);
}

/* Of a divided view the rows that are here; what is known of all rows only together is agreed on in the end. */
static plx_status add_divided(plx_dataset *to, plx_context *ctx, const plx__view_card *card, const plx__view *v,
                              const column_map *map)
{
    plx__view_source s = {.begin = v->begin, .end = v->end};
    plx__arena arena;
    plx_status st = PLX_OK;
    plx__arena_init(&arena, to->arena.ctx);
    if (v->sparse) PLX_GOTO(own_sparse(&s, ctx, &arena, card, v, map));
    else PLX_GOTO(own_dense(&s, ctx, &arena, card, v, map));
    PLX_GOTO(adopt_own(to, ctx, card, &s, &arena, v->present));
done:
    plx__arena_free(&arena);
    return st;
}

static double entry(const plx__view *v, plx_index i, plx_index j)
{
    return v->sparse ? plx__csr_get(v->csr, i, j) : v->dense.data[i * v->dense.ld + j];
}

/* Is an n x n matrix of the new samples' similarities about as large as the view they come in? */
static bool peers_fit(const plx__view *v, const plx__kernel_columns *columns, plx_index n)
{
    plx_index known = 0;
    for (plx_index j = 0; columns->by_name && j < n; j++) known += columns->own[j] >= 0;
    if (!v->sparse) return known > n / 2;
    return known > n / 2 && (double)n * (double)n <= 16.0 * (double)v->nonzeros + 1e6;
}

/* A kernel view may also tell how similar new samples are to themselves and to each other, in columns the model does
 * not know. NaN: not told. */
static plx_status keep_self(plx_dataset *to, plx_context *ctx, const plx__view *v, const plx_dataset *data)
{
    plx__kernel_columns columns;
    double *self = NULL, *peers = NULL;
    plx_index n = data->n;
    if (v->kind != PLX_VIEW_KERNEL) return PLX_OK;
    PLX_TRY(plx__kernel_columns_find(&columns, ctx, v->features, v->cols, data->ids, data->n));
    PLX_TRY(plx__arena_f64(&self, &to->arena, n, 1));
    if (peers_fit(v, &columns, n)) PLX_TRY(plx__arena_f64(&peers, &to->arena, n, n));
    for (plx_index j = 0; j < n; j++) {
        plx_index own = columns.by_name ? columns.own[j] : -1;
        for (plx_index i = 0; peers && i < n; i++) peers[i * n + j] = own < 0 ? NAN : entry(v, i, own);
        self[j] = own < 0 ? NAN : entry(v, j, own);
    }
    to->views[to->n_views - 1].self = self;
    to->views[to->n_views - 1].peers = peers;
    return PLX_OK;
}

/* The columns agree, and so does all that values are checked and stored by: nothing is to be done but to call the view
 * as the model does. */
static plx_status share_view(plx_dataset *to, plx_context *ctx, const plx__view_card *card, const plx__view *v)
{
    plx__view renamed = *v;
    renamed.name = card->name;
    renamed.features = card->features;
    return plx__dataset_share(to, ctx, &renamed);
}

/* A method fitted to dense (sparse) rows gets dense (sparse) rows. */
static plx_status add_view(plx_dataset *to, plx_context *ctx, const plx__view_card *card, const plx__view *v,
                           const plx_dataset *data)
{
    column_map map;
    PLX_TRY(check_kind(ctx, card, v));
    PLX_TRY(map_columns(&map, ctx, card, v, data));
    PLX_TRY(judge(ctx, &map, card, v));
    if (map.identity && v->sparse == card->sparse && v->kind == card->kind) return share_view(to, ctx, card, v);
    if (v->divided) return add_divided(to, ctx, card, v, &map);
    if (v->sparse) {
        plx_csr moved;
        if (map.identity) return add_sparse(to, ctx, card, v->csr, v->present);
        PLX_TRY(plx__csr_move_cols(&moved, plx__scratch(ctx), v->csr, map.target, card->cols));
        return add_sparse(to, ctx, card, plx__ccsr(moved), v->present);
    }
    plx_mat moved;
    if (map.identity) return add_dense(to, ctx, card, v->dense, v->present);
    PLX_TRY(plx__mat_move_cols(&moved, plx__scratch(ctx), v->dense, map.target, card->cols));
    return add_dense(to, ctx, card, plx__cmat(moved), v->present);
}

/* Rows of zeros of a divided view: those that are here of another one. */
static plx_status add_missing_divided(plx_dataset *to, plx_context *ctx, const plx__view_card *card,
                                      const plx__view *like, const uint8_t *none)
{
    plx__view_source s = {.begin = like->begin, .end = like->end};
    plx_index n = to->n;
    plx_mat zero;
    plx__arena arena;
    plx_status st = PLX_OK;
    plx__arena_init(&arena, to->arena.ctx);
    if (card->sparse) PLX_GOTO(plx__arena_csr(&s.csr, &arena, n, card->cols, 0));
    else {
        PLX_GOTO(plx__arena_mat(&zero, &arena, s.end - s.begin, card->cols));
        s.dense = (plx_mat){plx__rows_at(zero.data, s.begin, card->cols), n, card->cols, card->cols};
    }
    PLX_GOTO(adopt_own(to, ctx, card, &s, &arena, none));
done:
    plx__arena_free(&arena);
    return st;
}

/* The first divided view, whose rows tell which are this rank's; NULL: there is none. */
static const plx__view *divided_view(const plx_dataset *data)
{
    for (plx_index v = 0; v < data->n_views; v++)
        if (data->views[v].divided) return &data->views[v];
    return NULL;
}

/* A view the new data do not have: there, but missing for everybody. */
static plx_status add_missing(plx_dataset *to, plx_context *ctx, const plx__view_card *card, const plx_dataset *data)
{
    const plx__view *like = divided_view(data);
    plx_index n = data->n;
    uint8_t *none = NULL;
    PLX_TRY(plx__arena_u8(&none, plx__scratch(ctx), n));
    if (like) return add_missing_divided(to, ctx, card, like, none);
    if (card->sparse) {
        plx_csr empty;
        PLX_TRY(plx__arena_csr(&empty, plx__scratch(ctx), n, card->cols, 0));
        return plx__dataset_add_sparse(to, ctx, card->name, card->kind, plx__ccsr(empty), card->features, none);
    }
    plx_mat zero;
    PLX_TRY(plx__arena_mat(&zero, plx__scratch(ctx), n, card->cols));
    return plx__dataset_add_dense(to, ctx, card->name, card->kind, plx__cmat(zero), card->features, none);
}

/* A view the model does not use counts as missing; its values, which nobody will look at, need no room of their own. */
static plx_status add_unused(plx_dataset *to, plx_context *ctx, const plx__view_card *card, const plx__view *v,
                             const plx_dataset *data)
{
    plx__view hidden = *v;
    uint8_t *none = NULL;
    if (v->cols != card->cols || v->sparse != card->sparse) return add_missing(to, ctx, card, data);
    PLX_TRY(plx__arena_u8(&none, plx__scratch(ctx), data->n));
    hidden.kind = card->kind;
    hidden.present = none;
    hidden.present_count = hidden.nonzeros = hidden.missing_values = 0;
    return share_view(to, ctx, card, &hidden);
}

/* ---- which view is which ---- */

/* A single file names its view after itself. One view on each side whose columns agree is the same view. */
static plx_status same_but_for_the_name(bool *out, plx_context *ctx, const plx_model *m, const plx_dataset *data)
{
    const plx__view_card *card = &m->views[0];
    const plx__view *v = &data->views[0];
    column_map map;
    *out = false;
    if (m->n_views != 1 || data->n_views != 1 || !same_family(card, v)) return PLX_OK;
    if (!card->features != !v->features && card->kind != PLX_VIEW_KERNEL) return PLX_OK;
    PLX_TRY(map_columns(&map, ctx, card, v, data));
    *out = map.identity ||
           (map.matched && (v->features || card->kind == PLX_VIEW_KERNEL) && (!map.missing || zero_is_absence(card)));
    return PLX_OK;
}

static plx_status find_view(plx_index *out, plx_context *ctx, const plx_model *m, const plx_dataset *data, plx_index v)
{
    bool same = false;
    *out = plx_dataset_find_view(data, m->views[v].name);
    if (*out >= 0 || data->n_views != 1) return PLX_OK;
    PLX_TRY(same_but_for_the_name(&same, ctx, m, data));
    if (!same) return PLX_OK;
    plx__info(ctx, "view '%s' is taken for the model's view '%s': their features agree", data->views[0].name,
              m->views[v].name);
    *out = 0;
    return PLX_OK;
}

static plx_status no_common_view(plx_context *ctx, const plx_model *m, const plx_dataset *data)
{
    const char **names = NULL, *found = NULL, *wanted = NULL;
    PLX_TRY(PLX__ARENA_NEW(&names, plx__scratch(ctx), plx__max(data->n_views, m->n_views)));
    for (plx_index w = 0; w < data->n_views; w++) names[w] = data->views[w].name;
    PLX_TRY(plx__list_names(&found, plx__scratch(ctx), names, data->n_views));
    for (plx_index v = 0; v < m->n_views; v++) names[v] = m->views[v].name;
    PLX_TRY(plx__list_names(&wanted, plx__scratch(ctx), names, m->n_views));
    PLX_FAIL(ctx, PLX_E_DATA,
             "the data set has none of the model's views: it has %.300s, the model knows %.300s; name the view so, or "
             "give its features the names they had",
             found[0] ? found : "no view", wanted);
}

static bool known_to_be_ignored(const plx_model *m, const char *name)
{
    for (plx_index v = 0; v < m->n_ignored; v++)
        if (strcmp(m->ignored[v], name) == 0) return true;
    return false;
}

static void warn_unknown(plx_context *ctx, const plx_model *m, const plx_dataset *data, const uint8_t *taken)
{
    for (plx_index w = 0; w < data->n_views; w++)
        if (!taken[w] && !known_to_be_ignored(m, data->views[w].name))
            plx__warn(ctx, "view '%s' is unknown to the model and ignored", data->views[w].name);
}

/* Views the model does not use are not looked at: they count as missing. */
static plx_status fill(plx_dataset *to, plx_context *ctx, const plx_model *m, const plx_dataset *data)
{
    plx_index matched = 0;
    uint8_t *taken = NULL;
    const uint8_t *used = NULL;
    PLX_TRY(plx__used_views(&used, ctx, &m->store, m->n_views));
    PLX_TRY(plx__arena_u8(&taken, plx__scratch(ctx), data->n_views));
    if (data->ids) PLX_TRY(plx__dataset_set_ids(to, ctx, data->ids));
    for (plx_index v = 0; v < m->n_views; v++) {
        plx__mark mark = plx__arena_mark(plx__scratch(ctx));
        plx_index w = -1;
        PLX_TRY(find_view(&w, ctx, m, data, v));
        if (w >= 0) taken[w] = 1;
        matched += w >= 0;
        if (w >= 0 && used && !used[v]) PLX_TRY(add_unused(to, ctx, &m->views[v], &data->views[w], data));
        else if (w >= 0) {
            PLX_TRY(add_view(to, ctx, &m->views[v], &data->views[w], data));
            PLX_TRY(keep_self(to, ctx, &data->views[w], data));
        } else PLX_TRY(add_missing(to, ctx, &m->views[v], data));
        plx__arena_rewind(plx__scratch(ctx), mark);
    }
    if (!matched) return no_common_view(ctx, m, data);
    warn_unknown(ctx, m, data, taken);
    return PLX_OK;
}

plx_status plx__match_data(plx_dataset **out, plx_context *ctx, const plx_model *m, const plx_dataset *data)
{
    plx_dataset *to = NULL;
    *out = NULL;
    PLX_TRY(plx__dataset_create(&to, ctx, data->name, data->n));
    plx_status st = fill(to, ctx, m, data);
    if (plx__dataset_divided(data)) st = plx__peers_settle(ctx, st);
    if (st == PLX_OK && plx__dataset_divided(to)) st = plx__dataset_agree(to, ctx);
    if (st == PLX_OK) *out = to;
    else plx_dataset_destroy(to);
    return st;
}
