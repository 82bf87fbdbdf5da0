/*
 * Predictions that another program made on our splits: read, matched by the name of the run and the id of the sample, and
 * measured like those of our own methods.
 */
#include <math.h>
#include <string.h>

#include "compare/comparison.h"
#include "core/number.h"
#include "eval/fit_metrics.h"
#include "eval/label_files.h"
#include "eval/metrics_store.h"
#include "eval/rule_check.h"

typedef struct guest {
    plx_comparison *c;
    plx_context *ctx;
    plx__arena arena; /* of the table: scratch is rewound while it is read */
    const char *path;
    plx__text_table table;
    plx_index run, id, label; /* columns */
    plx__map runs;            /* name of a run -> first row */
    plx_index *next;          /* rows: next row of the same run, or -1 */
} guest;

/* ---- the file ---- */

static plx_status find_columns(guest *g)
{
    g->run = plx__strings_column(&g->table, "run");
    g->id = plx__strings_column(&g->table, "id");
    g->label = plx__strings_column(&g->table, "label");
    if (g->run < 0 || g->id < 0 || g->label < 0)
        PLX_FAIL(g->ctx, PLX_E_FORMAT, "%s: has no column '%s'; predictions of a comparison have run, id and label",
                 g->path,
                 g->run < 0  ? "run"
                 : g->id < 0 ? "id"
                             : "label");
    return PLX_OK;
}

static plx_status read_table(guest *g)
{
    plx_index *last = NULL, existing = -1;
    PLX_TRY(plx__text_table_read(&g->table, &g->arena, g->path));
    PLX_TRY(find_columns(g));
    PLX_TRY(plx__map_init(&g->runs, &g->arena, 64));
    PLX_TRY(plx__arena_i64(&g->next, &g->arena, g->table.rows));
    PLX_TRY(plx__arena_i64(&last, &g->arena, g->table.rows));
    for (plx_index i = 0; i < g->table.rows; i++) {
        PLX_TRY(plx__map_add(&g->runs, g->table.cells[i * g->table.cols + g->run], i, &existing));
        plx_index first = existing >= 0 ? existing : i;
        if (existing >= 0) g->next[last[first]] = i;
        last[first] = i;
        g->next[i] = -1;
    }
    return PLX_OK;
}

/* ---- one run ---- */

static plx_status sample_names(plx__map *map, plx_context *ctx, const plx_dataset *data)
{
    plx_index existing = -1;
    PLX_TRY(plx__map_init(map, plx__scratch(ctx), data->n));
    for (plx_index i = 0; i < data->n; i++) {
        const char *name = data->ids ? data->ids[i] : NULL;
        if (!name) PLX_TRY(plx__arena_printf(&name, plx__scratch(ctx), "%lld", (long long)i));
        PLX_TRY(plx__map_add(map, name, i, &existing));
    }
    return PLX_OK;
}

/* Score columns of classes of this data set. */
static plx_status score_columns(plx_index **column, plx__fit_outcome *o, guest *g, const plx_dataset *data)
{
    const char **names = NULL;
    PLX_TRY(plx__arena_i64(column, plx__scratch(g->ctx), g->table.cols));
    PLX_TRY(PLX__ARENA_NEW(&names, plx__scratch(g->ctx), g->table.cols));
    for (plx_index k = 0; k < data->n_classes && o->kind == PLX__FIT_CLASSIFIER; k++)
        for (plx_index j = 0; j < g->table.cols; j++)
            if (plx__starts_with(g->table.header[j], "score_") &&
                strcmp(g->table.header[j] + strlen("score_"), data->classes[k]) == 0) {
                names[o->n_classes] = data->classes[k];
                (*column)[o->n_classes++] = j;
                break;
            }
    o->classes = names;
    return PLX_OK;
}

static plx_status read_scores(plx_mat scores, guest *g, const plx_index *column, plx_index row, plx_index sample)
{
    for (plx_index k = 0; k < scores.cols; k++) {
        const char *cell = g->table.cells[row * g->table.cols + column[k]];
        double *to = &scores.data[sample * scores.ld + k];
        if (*cell && !plx__parse_double(to, cell))
            PLX_FAIL(g->ctx, PLX_E_FORMAT, "%s: line %lld, column '%s': '%s' is not a number", g->path,
                     plx__table_line(row), g->table.header[column[k]], cell);
    }
    return PLX_OK;
}

static plx_status read_rows(const char **pred, plx_mat scores, guest *g, const plx_dataset *data,
                            const plx_index *column, plx_index first)
{
    plx__map samples;
    PLX_TRY(sample_names(&samples, g->ctx, data));
    for (plx_index i = first; i >= 0; i = g->next[i]) {
        const char *const *cells = g->table.cells + i * g->table.cols;
        plx_index at = plx__map_get(&samples, cells[g->id]);
        if (at < 0)
            PLX_FAIL(g->ctx, PLX_E_DATA, "%s: line %lld: data set '%s' has no sample '%s'", g->path, plx__table_line(i),
                     data->name, cells[g->id]);
        if (pred[at])
            PLX_FAIL(g->ctx, PLX_E_DATA, "%s: line %lld: sample '%s' is there twice in run '%s'", g->path,
                     plx__table_line(i), cells[g->id], cells[g->run]);
        pred[at] = *cells[g->label] ? cells[g->label] : "?";
        PLX_TRY(read_scores(scores, g, column, i, at));
    }
    return PLX_OK;
}

/* Truth of the scored samples only; each of them must have a prediction. */
static plx_status scored_truth(const char ***out, guest *g, const plx_dataset *data, const uint8_t *role,
                               const char **pred, const char *run)
{
    PLX_TRY(PLX__ARENA_NEW(out, plx__scratch(g->ctx), data->n));
    for (plx_index i = 0; i < data->n; i++) {
        bool scored = plx__role_scored(g->c, role[i]);
        (*out)[i] = scored ? plx__class_of(data, i) : NULL;
        if (scored && !pred[i])
            PLX_FAIL(g->ctx, PLX_E_DATA, "%s: run '%s' has no prediction for sample %s%s (row %lld), which is scored",
                     g->path, run, data->ids ? "" : "number ", data->ids ? data->ids[i] : "", (long long)i);
        if (!pred[i]) pred[i] = "?";
    }
    return PLX_OK;
}

static plx_status measure(plx__measured *to, guest *g, const plx_dataset *data, const uint8_t *role, plx_index first)
{
    plx__fit_outcome o = {.kind = g->c->task == PLX_TASK_CLUSTER ? PLX__FIT_CLUSTERER : PLX__FIT_CLASSIFIER,
                          .n = data->n};
    const char **pred = NULL, **truth = NULL;
    plx_index *column = NULL;
    plx_mat scores;
    plx_metrics_hierarchy h;
    plx_metrics *metrics = NULL;
    PLX_TRY(PLX__ARENA_NEW(&pred, plx__scratch(g->ctx), data->n));
    PLX_TRY(score_columns(&column, &o, g, data));
    PLX_TRY(plx__arena_mat(&scores, plx__scratch(g->ctx), data->n, o.n_classes));
    for (plx_index i = 0; i < data->n * o.n_classes; i++) scores.data[i] = NAN;
    PLX_TRY(read_rows(pred, scores, g, data, column, first));
    PLX_TRY(scored_truth(&truth, g, data, role, pred, g->table.cells[first * g->table.cols + g->run]));
    o.truth = truth;
    o.pred = pred;
    if (o.n_classes) o.scores = plx__cmat(scores);
    if (data->hierarchy) {
        PLX_TRY(plx__metrics_hierarchy(&h, plx__scratch(g->ctx), data->hierarchy));
        o.hierarchy = &h;
    }
    PLX_TRY(plx__metrics_new(&metrics, g->ctx));
    plx_status st = plx__metrics_for_fit(metrics, &o);
    if (st == PLX_OK) st = plx__measured_take(to, g->c, metrics);
    plx__metrics_destroy(metrics);
    return st;
}

static plx_status measure_run(guest *g, const plx_dataset *data, plx_index entry, plx_index block, plx_index run)
{
    plx__measured *to = plx__measured_of(g->c, block, entry, run);
    const char *name = NULL, *reason = NULL;
    uint8_t *role = NULL;
    PLX_TRY(plx__arena_u8(&role, plx__scratch(g->ctx), data->n));
    PLX_TRY(plx__run_roles(role, g->ctx, g->c, data, block, run));
    PLX_TRY(plx__run_name(&name, plx__scratch(g->ctx), g->c, data, block, run, role));
    plx_index first = plx__map_get(&g->runs, name);
    if (first >= 0) return measure(to, g, data, role, first);
    PLX_TRY(plx__arena_printf(&reason, plx__scratch(g->ctx),
                              "%s has no predictions for run '%s'; were they made on these splits?", g->path, name));
    return plx__measured_fail(to, g->c, PLX_E_DATA, reason);
}

static plx_status measure_all(guest *g, const plx_dataset *const *data, plx_index entry)
{
    PLX_TRY(read_table(g));
    for (plx_index b = 0; b < g->c->n_blocks; b++)
        for (plx_index r = 0; r < g->c->runs; r++) {
            plx__mark mark = plx__arena_mark(plx__scratch(g->ctx));
            PLX_TRY(measure_run(g, data[g->c->block[b].data], entry, b, r));
            plx__arena_rewind(plx__scratch(g->ctx), mark);
            PLX_TRY(plx__poll(g->ctx));
        }
    return PLX_OK;
}

plx_status plx__guest_measure(plx_comparison *c, plx_context *ctx, const plx_dataset *const *data, plx_index entry)
{
    guest g = {.c = c, .ctx = ctx, .path = c->entry[entry].file};
    plx__arena_init(&g.arena, ctx);
    plx_status st = measure_all(&g, data, entry);
    plx__arena_free(&g.arena);
    return st;
}
