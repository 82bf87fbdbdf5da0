/*
 * A function depends on the rows through their inner products only, so with more columns than rows l everything is
 * learned from the l x l Gram matrix, which loses one outer product per column dropped; the weights are X'b.
 */
#include "optim/elimination.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "optim/linear_models.h"

enum { REFRESH = 64 }; /* rounds after which the Gram matrix is computed anew */

plx_index plx__linear_functions(plx_index classes) { return classes > 2 ? classes : 1; }

/* Class 0 of what the solvers see is the one a single function is for. */
static plx_status solver_labels(const int32_t **out, plx_context *ctx, const plx__linear_task *t)
{
    int32_t *label = NULL;
    PLX_TRY(plx__arena_i32(&label, plx__scratch(ctx), t->x.rows));
    for (plx_index i = 0; i < t->x.rows; i++) label[i] = t->classes > 2 ? t->label[i] : 1 - t->label[i];
    *out = label;
    return PLX_OK;
}

static plx_status learn(plx_context *ctx, const plx__linear_task *t, plx_cmat rows, const int32_t *label, plx_mat w)
{
    plx__design x;
    PLX_TRY(plx__design_open(&x, ctx, plx__points_dense(rows), label, t->what));
    if (t->learner == PLX__LEARN_SVM) return plx__linear_svm_fit(ctx, &x, t->lambda, w);
    return plx__linear_logit_fit(ctx, &x, t->lambda, w);
}

/* Chosen columns and a 1 behind them. */
static void gather(plx_mat out, plx_cmat x, const plx_index *cols, plx_index count)
{
    for (plx_index i = 0; i < x.rows; i++) {
        for (plx_index j = 0; j < count; j++) out.data[i * out.ld + j] = x.data[i * x.ld + cols[j]];
        out.data[i * out.ld + count] = 1.0;
    }
}

/* dual: l x functions, the start and the result. */
static plx_status learn_by_gram(plx_context *ctx, const plx__linear_task *t, plx_cmat gram, const int32_t *label,
                                plx_mat dual)
{
    plx__mark mark = plx__arena_mark(plx__scratch(ctx));
    double *target = NULL, *b = NULL;
    PLX_TRY(plx__arena_f64(&target, plx__scratch(ctx), gram.rows, 1));
    PLX_TRY(plx__arena_f64(&b, plx__scratch(ctx), gram.rows, 1));
    for (plx_index c = 0; c < dual.cols; c++) {
        for (plx_index i = 0; i < gram.rows; i++) {
            target[i] = label[i] == c ? 1.0 : -1.0;
            b[i] = dual.data[i * dual.ld + c];
        }
        PLX_TRY(plx__gram_fit(ctx, gram, target, t->learner, t->lambda, b, t->what));
        for (plx_index i = 0; i < gram.rows; i++) dual.data[i * dual.ld + c] = b[i];
    }
    plx__arena_rewind(plx__scratch(ctx), mark);
    return PLX_OK;
}

plx_status plx__linear_task_fit(plx_context *ctx, const plx__linear_task *t, const plx_index *cols, plx_index count,
                                plx_mat w)
{
    plx__mark mark = plx__arena_mark(plx__scratch(ctx));
    plx_index l = t->x.rows;
    const int32_t *label = NULL;
    plx_mat rows, gram, part;
    PLX_TRY(solver_labels(&label, ctx, t));
    PLX_TRY(plx__arena_mat(&rows, plx__scratch(ctx), l, count + 1));
    gather(rows, t->x, cols, count);
    PLX_TRY(plx__arena_mat(&part, plx__scratch(ctx), count < l ? count + 1 : l, w.rows));
    if (count < l) {
        PLX_TRY(learn(ctx, t, plx__cmat(rows), label, part));
        plx__mat_transpose(w, plx__cmat(part));
    } else {
        PLX_TRY(plx__arena_mat(&gram, plx__scratch(ctx), l, l));
        PLX_TRY(plx__syrk(ctx, 1.0, plx__cmat(rows), PLX__N, 0.0, gram));
        PLX_TRY(learn_by_gram(ctx, t, plx__cmat(gram), label, part));
        PLX_TRY(plx__gemm(ctx, 1.0, plx__cmat(part), PLX__T, plx__cmat(rows), PLX__N, 0.0, w));
    }
    plx__arena_rewind(plx__scratch(ctx), mark);
    return PLX_OK;
}

/* ---- elimination ---- */

typedef struct ranked {
    double importance;
    plx_index column;
} ranked;

typedef struct rounds {
    plx_context *ctx;
    const plx__linear_task *task;
    const int32_t *label;
    plx_index l, functions;
    plx_index *active, count; /* ascending */
    plx_mat rows;             /* l x (count + 1), the last column 1 */
    double *room;             /* where rows are */
    plx_mat gram;             /* l x l, where there were more columns than rows to begin with */
    plx_mat dual;             /* l x functions: weights of rows */
    plx_mat weight;           /* functions x (count + 1) */
    ranked *rank;             /* count */
    uint8_t *dropped;         /* count */
    double *column;           /* l: work */
    plx_index since;          /* rounds since the Gram matrix was computed */
} rounds;

static plx_status open_rounds(rounds *r)
{
    plx__arena *scratch = plx__scratch(r->ctx);
    plx_index d = r->task->x.cols;
    PLX_TRY(solver_labels(&r->label, r->ctx, r->task));
    PLX_TRY(PLX__ARENA_NEW(&r->rank, scratch, d));
    PLX_TRY(plx__arena_u8(&r->dropped, scratch, d));
    PLX_TRY(plx__arena_f64(&r->column, scratch, r->l, 1));
    PLX_TRY(plx__arena_f64(&r->room, scratch, r->l, d + 1));
    PLX_TRY(plx__arena_mat(&r->weight, scratch, r->functions, d + 1));
    PLX_TRY(plx__arena_mat(&r->dual, scratch, r->l, r->functions));
    if (d >= r->l) PLX_TRY(plx__arena_mat(&r->gram, scratch, r->l, r->l));
    r->count = d;
    for (plx_index j = 0; j < d; j++) r->active[j] = j;
    r->rows = plx__mat_of(r->room, r->l, d + 1);
    gather(r->rows, r->task->x, r->active, d);
    r->since = REFRESH;
    return PLX_OK;
}

static plx_status train_by_gram(rounds *r)
{
    if (r->since >= REFRESH) PLX_TRY(plx__syrk(r->ctx, 1.0, plx__cmat(r->rows), PLX__N, 0.0, r->gram));
    r->since = r->since >= REFRESH ? 1 : r->since + 1;
    PLX_TRY(learn_by_gram(r->ctx, r->task, plx__cmat(r->gram), r->label, r->dual));
    return plx__gemm(r->ctx, 1.0, plx__cmat(r->dual), PLX__T, plx__cmat(r->rows), PLX__N, 0.0, r->weight);
}

static plx_status train_by_columns(rounds *r)
{
    plx_mat w;
    PLX_TRY(plx__arena_mat(&w, plx__scratch(r->ctx), r->count + 1, r->functions));
    plx__mat_transpose(w, plx__cmat(r->weight)); /* the last round's, less what was dropped */
    PLX_TRY(learn(r->ctx, r->task, plx__cmat(r->rows), r->label, w));
    plx__mat_transpose(r->weight, plx__cmat(w));
    return PLX_OK;
}

static plx_status train(rounds *r)
{
    plx__mark mark = plx__arena_mark(plx__scratch(r->ctx));
    r->weight = plx__mat_of(r->weight.data, r->functions, r->count + 1);
    if (r->gram.data) PLX_TRY(train_by_gram(r));
    else PLX_TRY(train_by_columns(r));
    for (plx_index j = 0; j < r->count; j++) {
        r->rank[j] = (ranked){0, j};
        for (plx_index c = 0; c < r->functions; c++) {
            double w = r->weight.data[c * (r->count + 1) + j];
            r->rank[j].importance += w * w;
        }
    }
    plx__arena_rewind(plx__scratch(r->ctx), mark);
    return PLX_OK;
}

static int by_importance(const void *a, const void *b)
{
    const ranked *x = a, *y = b;
    if (x->importance != y->importance) return x->importance < y->importance ? -1 : 1;
    return (x->column > y->column) - (x->column < y->column);
}

/* Flags the `drop` least important columns; ties go by index. */
static void choose(rounds *r, plx_index drop)
{
    plx_index least = 0;
    memset(r->dropped, 0, (size_t)r->count);
    if (drop == 1) {
        for (plx_index j = 1; j < r->count; j++)
            if (r->rank[j].importance < r->rank[least].importance) least = j;
        r->dropped[least] = 1;
        return;
    }
    qsort(r->rank, (size_t)r->count, sizeof *r->rank, by_importance);
    for (plx_index k = 0; k < drop; k++) r->dropped[r->rank[k].column] = 1;
}

/* Closes the gaps in a matrix of count + 1 columns whose rows lie one behind the other. */
static void close_gaps(plx_mat m, const uint8_t *dropped, plx_index count)
{
    double *to = m.data;
    for (plx_index i = 0; i < m.rows; i++) {
        const double *from = m.data + i * (count + 1);
        for (plx_index j = 0; j <= count; j++)
            if (j == count || !dropped[j]) *to++ = from[j];
    }
}

static void leave_gram(rounds *r, plx_index column)
{
    for (plx_index i = 0; i < r->l; i++) r->column[i] = r->rows.data[i * r->rows.ld + column];
    for (plx_index i = 0; i < r->l; i++) plx__axpy(r->gram.data + i * r->l, -r->column[i], r->column, r->l);
}

static void drop_columns(rounds *r)
{
    plx_index left = 0;
    for (plx_index j = 0; j < r->count; j++) {
        if (!r->dropped[j]) r->active[left++] = r->active[j];
        else if (r->gram.data && r->since < REFRESH) leave_gram(r, j);
    }
    close_gaps(r->rows, r->dropped, r->count);
    close_gaps(r->weight, r->dropped, r->count);
    r->count = left;
    r->rows = plx__mat_of(r->room, r->l, left + 1);
}

/* When time is up the last ranking decides at once. */
static plx_index how_many(const rounds *r, plx_index wanted, double step)
{
    plx_index most = r->count - wanted;
    if (plx__out_of_time(r->ctx)) return most;
    return plx__min(plx__max(1, (plx_index)floor(step * (double)r->count)), most);
}

plx_status plx__eliminate(plx_index **kept, plx_context *ctx, const plx__linear_task *task, plx_index wanted,
                          double step)
{
    rounds r = {.ctx = ctx, .task = task, .l = task->x.rows, .functions = plx__linear_functions(task->classes)};
    plx_index d = task->x.cols;
    PLX_TRY(plx__arena_i64(kept, plx__scratch(ctx), d));
    plx__mark mark = plx__arena_mark(plx__scratch(ctx));
    r.active = *kept;
    PLX_TRY(open_rounds(&r));
    while (r.count > wanted) {
        PLX_TRY(train(&r));
        choose(&r, how_many(&r, wanted, step));
        drop_columns(&r);
        PLX_TRY(plx__report(ctx, "elimination", d - r.count, d - wanted, NAN));
    }
    plx__arena_rewind(plx__scratch(ctx), mark);
    return PLX_OK;
}
