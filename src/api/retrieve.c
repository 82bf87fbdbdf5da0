/*
 * plx_retrieve: queries and items brought into the space of a model, then searched by cosine.
 */
#include "parallax/retrieve.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "api/api_args.h"
#include "api/model_impl.h"
#include "core/file.h"
#include "core/number.h"
#include "eval/metrics_store.h"
#include "linalg/cosine_search.h"

struct plx_retrieval {
    plx__arena arena;
    plx_index queries, items, top;
    int64_t *item;      /* queries x top */
    double *similarity; /* queries x top */
    double *rank;       /* queries */
};

/* ---- coordinates ---- */

static plx_status unknown_view(plx_context *ctx, const plx_model *m, const char *option, const char *view)
{
    const char **names = NULL;
    char near[128];
    PLX_TRY(PLX__ARENA_NEW(&names, plx__scratch(ctx), m->n_views));
    for (plx_index v = 0; v < m->n_views; v++) names[v] = m->views[v].name;
    PLX_FAIL(ctx, PLX_E_ARG, "%s = %s: the model has no such view%s", option, view,
             plx__suggest(near, sizeof near, view, names, m->n_views));
}

/* The shared coordinates, or those by one view: the array projection.VIEW. */
static plx_status coordinates(plx_cmat *out, plx_context *ctx, const plx_model *m, const plx_prediction *p,
                              const char *option, const char *view)
{
    const char *name = m->method->transform;
    bool known = !view;
    for (plx_index v = 0; v < m->n_views; v++) known |= view && strcmp(m->views[v].name, view) == 0;
    if (!known) return unknown_view(ctx, m, option, view);
    if (view) PLX_TRY(plx__view_key(&name, ctx, "projection", view));
    return plx__store_dense(out, ctx, &p->store, name);
}

static plx_status check_model(plx_context *ctx, const plx_model *m)
{
    if (m->method->task == PLX_TASK_EMBED && m->method->transform) return PLX_OK;
    PLX_FAIL(ctx, PLX_E_UNSUPPORTED, "%s finds no space to search in; fit kcca or cca", m->method->name);
}

/* ---- mates ---- */

static plx_status find_mates(plx_index **out, plx_context *ctx, const plx_dataset *queries, const plx_dataset *items)
{
    plx__map known;
    plx_index existing = -1;
    bool by_row = !queries->ids && !items->ids && queries->n == items->n;
    PLX_TRY(plx__arena_i64(out, plx__scratch(ctx), queries->n));
    for (plx_index i = 0; i < queries->n; i++) (*out)[i] = by_row ? i : -1;
    if (!queries->ids || !items->ids) return PLX_OK;
    PLX_TRY(plx__map_init(&known, plx__scratch(ctx), items->n));
    for (plx_index j = 0; j < items->n; j++) PLX_TRY(plx__map_add(&known, items->ids[j], j, &existing));
    for (plx_index i = 0; i < queries->n; i++) (*out)[i] = plx__map_get(&known, queries->ids[i]);
    return PLX_OK;
}

/* ---- searching ---- */

static plx_status create(plx_retrieval **out, plx_context *ctx, plx_index queries, plx_index items, plx_index top)
{
    plx_retrieval *r = plx__alloc(ctx, sizeof *r);
    if (!r) PLX_FAIL(ctx, PLX_E_NOMEM, "out of memory");
    *r = (plx_retrieval){.queries = queries, .items = items, .top = plx__min(top, items)};
    plx__arena_init(&r->arena, ctx);
    plx_status st = plx__arena_i64(&r->item, &r->arena, queries * r->top);
    if (st == PLX_OK) st = plx__arena_f64(&r->similarity, &r->arena, queries, r->top);
    if (st == PLX_OK) st = plx__arena_f64(&r->rank, &r->arena, queries, 1);
    if (st == PLX_OK) *out = r;
    else plx_retrieval_destroy(r);
    return st;
}

static plx_status search(plx_retrieval *r, plx_context *ctx, plx_cmat from, plx_cmat to, const plx_dataset *queries,
                         const plx_dataset *items)
{
    plx_index *mate = NULL;
    plx__search_result result = {r->top, r->item, r->similarity, r->rank};
    PLX_TRY(find_mates(&mate, ctx, queries, items));
    return plx__cosine_search(ctx, from, to, mate, &result);
}

static plx_status retrieve(plx_retrieval **out, plx_context *ctx, const plx_model *m, const plx_dataset *queries,
                           const plx_dataset *items, const plx_retrieve_options *given)
{
    plx_retrieve_options o = PLX_RETRIEVE_OPTIONS_INIT;
    plx_prediction *asked = NULL, *there = NULL;
    plx_retrieval *r = NULL;
    plx_cmat from, to;
    plx_status st = PLX_OK;
    PLX_TRY(plx__take_options(&o, sizeof o, ctx, given, "PLX_RETRIEVE_OPTIONS_INIT"));
    if (o.top < 1) PLX_FAIL(ctx, PLX_E_ARG, "top = %lld: must be at least 1", (long long)o.top);
    PLX_TRY(check_model(ctx, m));
    PLX_GOTO(plx__predict(&asked, ctx, m, queries, NULL, queries->n, NULL, 0));
    PLX_GOTO(coordinates(&from, ctx, m, asked, "from", o.from));
    if (items != queries) PLX_GOTO(plx__predict(&there, ctx, m, items, NULL, items->n, NULL, 0));
    PLX_GOTO(coordinates(&to, ctx, m, there ? there : asked, "to", o.to));
    PLX_GOTO(create(&r, ctx, queries->n, items->n, o.top));
    PLX_GOTO(search(r, ctx, from, to, queries, items));
    *out = r;
    r = NULL;
done:
    plx_prediction_destroy(asked);
    plx_prediction_destroy(there);
    plx_retrieval_destroy(r);
    return st;
}

plx_status plx_retrieve(plx_retrieval **out, plx_context *ctx, const plx_model *model, const plx_dataset *queries,
                        const plx_dataset *items, const plx_retrieve_options *options)
{
    if (out) *out = NULL;
    PLX__CALL(ctx, retrieve(out, ctx, model, queries, items, options), PLX__ARG(out), PLX__ARG(model),
              PLX__WHOLE(queries), PLX__WHOLE(items));
}

/* ---- reading ---- */

void plx_retrieval_destroy(plx_retrieval *r)
{
    if (!r) return;
    plx_context *ctx = r->arena.ctx;
    plx__arena_free(&r->arena);
    plx__release(ctx, r, sizeof *r);
}

static bool listed(const plx_retrieval *r, plx_index query, plx_index place)
{
    return r && query >= 0 && query < r->queries && place >= 0 && place < r->top;
}

plx_index plx_retrieval_queries(const plx_retrieval *r) { return r ? r->queries : 0; }
plx_index plx_retrieval_listed(const plx_retrieval *r) { return r ? r->top : 0; }

plx_index plx_retrieval_item(const plx_retrieval *r, plx_index query, plx_index place)
{
    return listed(r, query, place) ? r->item[query * r->top + place] : -1;
}

double plx_retrieval_similarity(const plx_retrieval *r, plx_index query, plx_index place)
{
    return listed(r, query, place) ? r->similarity[query * r->top + place] : NAN;
}

double plx_retrieval_rank(const plx_retrieval *r, plx_index query)
{
    return r && query >= 0 && query < r->queries ? r->rank[query] : NAN;
}

/* ---- metrics ---- */

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double share_up_to(const double *rank, plx_index count, plx_index limit)
{
    plx_index within = 0;
    for (plx_index i = 0; i < count; i++) within += rank[i] <= (double)limit;
    return (double)within / (double)count;
}

static plx_status add_metrics(plx_metrics *m, plx_context *ctx, const plx_retrieval *r)
{
    double *rank = NULL, reciprocal = 0;
    plx_index count = 0;
    PLX_TRY(plx__arena_f64(&rank, plx__scratch(ctx), r->queries, 1));
    for (plx_index i = 0; i < r->queries; i++) {
        if (isnan(r->rank[i])) continue;
        rank[count++] = r->rank[i];
        reciprocal += 1 / r->rank[i];
    }
    PLX_TRY(plx__metrics_add(m, (double)count, "mates"));
    if (!count) return PLX_OK;
    qsort(rank, (size_t)count, sizeof *rank, by_value);
    PLX_TRY(plx__metrics_add(m, share_up_to(rank, count, 1), "top1"));
    PLX_TRY(plx__metrics_add(m, share_up_to(rank, count, 10), "top10"));
    PLX_TRY(plx__metrics_add(m, share_up_to(rank, count, r->top), "top%lld", (long long)r->top));
    PLX_TRY(plx__metrics_add(m, reciprocal / (double)count, "mrr"));
    return plx__metrics_add(m, 0.5 * (rank[(count - 1) / 2] + rank[count / 2]), "median_rank");
}

static plx_status retrieval_metrics(plx_metrics **out, plx_context *ctx, const plx_retrieval *r)
{
    plx_metrics *m = NULL;
    PLX_TRY(plx__metrics_new(&m, ctx));
    plx_status st = add_metrics(m, ctx, r);
    if (st == PLX_OK) *out = m;
    else plx_metrics_destroy(m);
    return st;
}

plx_status plx_retrieval_metrics(plx_metrics **out, plx_context *ctx, const plx_retrieval *retrieval)
{
    if (out) *out = NULL;
    PLX__CALL(ctx, retrieval_metrics(out, ctx, retrieval), PLX__ARG(out), PLX__ARG(retrieval));
}

/* ---- writing ---- */

static void write_id(FILE *f, const plx_dataset *data, plx_index i)
{
    const char *id = data ? plx_dataset_id(data, i) : NULL;
    if (id) plx__write_cell(f, "", id);
    else fprintf(f, "%lld", (long long)i);
}

static plx_status retrieval_write(plx_context *ctx, const plx_retrieval *r, const plx_dataset *queries,
                                  const plx_dataset *items, const char *path)
{
    plx__outfile out;
    char number[PLX__NUMBER_BYTES];
    if ((queries && queries->n != r->queries) || (items && items->n != r->items))
        PLX_FAIL(ctx, PLX_E_ARG, "the result is about %lld queries and %lld items, not about these data sets",
                 (long long)r->queries, (long long)r->items);
    PLX_TRY(plx__outfile_open(&out, ctx, path));
    fputs("query,rank,item,similarity\n", out.file);
    for (plx_index i = 0; i < r->queries; i++)
        for (plx_index j = 0; j < r->top; j++) {
            write_id(out.file, queries, i);
            fprintf(out.file, ",%lld,", (long long)j + 1);
            write_id(out.file, items, r->item[i * r->top + j]);
            plx__print_double(number, r->similarity[i * r->top + j]);
            fprintf(out.file, ",%s\n", number);
        }
    return plx__outfile_commit(&out, ctx);
}

plx_status plx_retrieval_write(plx_context *ctx, const plx_retrieval *retrieval, const plx_dataset *queries,
                               const plx_dataset *items, const char *path)
{
    PLX__CALL(ctx, retrieval_write(ctx, retrieval, queries, items, path), PLX__ARG(retrieval), PLX__ARG(path));
}
