/*
 * Fitting a conditional Markov model: L-BFGS on J = - sum_i log p(t_i | h_i) + |w|^2 / (2 sigma^2).
 *
 * A pass has two halves. Rows (tokens): scores, probabilities and the residuals p - 1{t = t_i}. Columns (features): the
 * gradient of a feature's weights is the sum of the residuals of its tokens, read from the transposed index. Both are
 * parallel without partial sums, so the bytes do not depend on the number of threads.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/parallel.h"
#include "linalg/clones.h"
#include "ner/memm.h"
#include "optim/lbfgs_run.h"

enum { TOKENS_AT_ONCE = 2048, ENTRIES_AT_ONCE = 1 << 16, MOST_STRIDES = 4 };

typedef double v4 __attribute__((vector_size(32), aligned(8)));

typedef struct fit {
    plx_context *ctx;
    const plx__memm_data *data;
    plx_index n_tags, stride, n_features, n;
    double precision; /* 1 / sigma^2 */
    int32_t *kept;    /* by feature of the data: its row of weights, -1: seen too rarely */
    int32_t *gold;    /* tag of every token */
    int64_t *ptr;     /* rows, with the features that are kept */
    int32_t *col;
    int64_t *back_ptr; /* the same by feature: tokens */
    int32_t *back;
    plx_index *part; /* features begin .. end of parts of about equal work */
    plx_index n_parts;
    double *residual; /* n x stride */
    double *loss;     /* by chunk of tokens */
    const double *w;
    double *gradient;
} fit;

/* ---- tags ---- */

static int compare_tags(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static plx_index mark_code(plx__ner_mark m)
{
    return m.prefix == 'O' ? 0 : 1 + 2 * (plx_index)m.type + (m.prefix == 'I');
}

/* The tags that occur, sorted, and the number of each token's. */
static plx_status find_tags(plx__memm *m, fit *f, plx__arena *arena, const plx__ner_types *types)
{
    plx__arena *scratch = plx__scratch(f->ctx);
    plx_index codes = 1 + 2 * types->count, count = 0;
    plx__ner_mark *mark = NULL, *sorted = NULL;
    const char **of_code = NULL;
    int32_t *number = NULL;
    PLX_TRY(PLX__ARENA_NEW(&mark, scratch, codes));
    PLX_TRY(PLX__ARENA_NEW(&of_code, scratch, codes));
    PLX_TRY(plx__arena_i32(&number, scratch, codes));
    PLX_TRY(plx__arena_i32(&f->gold, scratch, f->n));
    PLX_TRY(PLX__ARENA_NEW(&m->tag, arena, codes));
    for (plx_index i = 0; i < f->n; i++) {
        plx_index code = mark_code(f->data->gold[i]);
        if (of_code[code]) continue;
        mark[code] = f->data->gold[i];
        PLX_TRY(plx__ner_tag_text(&of_code[code], arena, types, mark[code]));
        m->tag[count++] = of_code[code];
    }
    qsort(m->tag, (size_t)count, sizeof *m->tag, compare_tags);
    PLX_TRY(PLX__ARENA_NEW(&sorted, arena, count));
    for (plx_index code = 0; code < codes; code++)
        for (plx_index t = 0; of_code[code] && t < count; t++)
            if (m->tag[t] == of_code[code]) {
                number[code] = (int32_t)t;
                sorted[t] = mark[code];
            }
    for (plx_index i = 0; i < f->n; i++) f->gold[i] = number[mark_code(f->data->gold[i])];
    m->mark = sorted;
    m->n_tags = f->n_tags = count;
    m->stride = f->stride = plx__memm_stride(count);
    return PLX_OK;
}

/* ---- features ---- */

static plx_status keep_features(plx__memm *m, fit *f, plx__arena *arena)
{
    const plx__memm_data *d = f->data;
    plx_index bias = plx__dict_get(&d->features, "b", 1), number = 0;
    int64_t *count = NULL;
    PLX_TRY(plx__arena_i64(&count, plx__scratch(f->ctx), d->features.count));
    PLX_TRY(plx__arena_i32(&f->kept, plx__scratch(f->ctx), d->features.count));
    PLX_TRY(plx__dict_init(&m->features, arena, d->features.count));
    for (int64_t e = 0; e < d->n_entries; e++) count[d->col[e]]++;
    for (plx_index k = 0; k < d->features.count; k++) {
        f->kept[k] = -1;
        if (count[k] < m->params.min_count && k != bias) continue;
        PLX_TRY(plx__dict_add(&number, &m->features, d->features.key[k].text, d->features.key[k].length));
        f->kept[k] = (int32_t)number;
    }
    f->n_features = m->features.count;
    return PLX_OK;
}

/* The data's own index serves when nothing was dropped. */
static plx_status keep_rows(fit *f)
{
    const plx__memm_data *d = f->data;
    plx_index entries = 0;
    f->ptr = d->ptr;
    f->col = d->col;
    if (f->n_features == d->features.count) return PLX_OK;
    PLX_TRY(plx__arena_i64(&f->ptr, plx__scratch(f->ctx), f->n + 1));
    PLX_TRY(plx__arena_i32(&f->col, plx__scratch(f->ctx), d->n_entries));
    for (plx_index i = 0; i < f->n; i++) {
        for (int64_t e = d->ptr[i]; e < d->ptr[i + 1]; e++)
            if (f->kept[d->col[e]] >= 0) f->col[entries++] = f->kept[d->col[e]];
        f->ptr[i + 1] = entries;
    }
    return PLX_OK;
}

static plx_status transpose(fit *f)
{
    plx__arena *scratch = plx__scratch(f->ctx);
    int64_t *next = NULL;
    PLX_TRY(plx__arena_i64(&f->back_ptr, scratch, f->n_features + 1));
    PLX_TRY(plx__arena_bytes((void **)&f->back, scratch, f->ptr[f->n], sizeof *f->back));
    PLX_TRY(plx__arena_i64(&next, scratch, f->n_features + 1));
    for (int64_t e = 0; e < f->ptr[f->n]; e++) f->back_ptr[f->col[e] + 1]++;
    for (plx_index k = 0; k < f->n_features; k++) f->back_ptr[k + 1] += f->back_ptr[k];
    memcpy(next, f->back_ptr, (size_t)(f->n_features + 1) * sizeof *next);
    for (plx_index i = 0; i < f->n; i++)
        for (int64_t e = f->ptr[i]; e < f->ptr[i + 1]; e++) f->back[next[f->col[e]]++] = (int32_t)i;
    return PLX_OK;
}

/* Frequent features come first: parts are cut by work, not by number. */
static plx_status cut_parts(fit *f)
{
    PLX_TRY(PLX__ARENA_NEW(&f->part, plx__scratch(f->ctx), f->n_features + 2));
    for (plx_index k = 0; k < f->n_features; k++) {
        plx_index begin = f->part[f->n_parts];
        if (f->back_ptr[k + 1] - f->back_ptr[begin] >= ENTRIES_AT_ONCE || k + 1 == f->n_features)
            f->part[++f->n_parts] = k + 1;
    }
    return PLX_OK;
}

/* ---- a pass ---- */

/* out = sum of the rows of `from` that `list` names; V rows of four. Written once, compiled for the usual widths. */
static inline __attribute__((always_inline)) void sum_rows(double *out, const double *from, const int32_t *list,
                                                           plx_index count, int V)
{
    v4 sum[MOST_STRIDES] = {{0}};
    for (plx_index k = 0; k < count; k++) {
        const v4 *row = (const v4 *)(from + (size_t)list[k] * 4 * (size_t)V);
        for (int v = 0; v < V; v++) sum[v] += row[v];
    }
    for (int v = 0; v < V; v++) ((v4 *)out)[v] += sum[v];
}

static void sum_wide(double *out, const double *from, const int32_t *list, plx_index count, plx_index stride)
{
    for (plx_index k = 0; k < count; k++) {
        const double *row = from + (size_t)list[k] * (size_t)stride;
        for (plx_index t = 0; t < stride; t++) out[t] += row[t];
    }
}

PLX__CLONES static void add_rows(double *out, const double *from, const int32_t *list, plx_index count,
                                 plx_index stride)
{
    switch (stride) {
    case 4: sum_rows(out, from, list, count, 1); break;
    case 8: sum_rows(out, from, list, count, 2); break;
    case 12: sum_rows(out, from, list, count, 3); break;
    case 16: sum_rows(out, from, list, count, 4); break;
    default: sum_wide(out, from, list, count, stride); break;
    }
}

/* Scores to residuals p - 1{gold}; returns - log p(gold). */
static double residuals(double *s, plx_index n_tags, plx_index stride, int32_t gold)
{
    double top = s[0], sum = 0, right = s[gold];
    for (plx_index t = 1; t < n_tags; t++)
        if (s[t] > top) top = s[t];
    for (plx_index t = 0; t < n_tags; t++) sum += s[t] = exp(s[t] - top);
    for (plx_index t = 0; t < n_tags; t++) s[t] /= sum;
    for (plx_index t = n_tags; t < stride; t++) s[t] = 0;
    s[gold] -= 1;
    return log(sum) + top - right;
}

static plx_status tokens_pass(void *arg, plx_context *ctx, plx_index begin, plx_index end, int worker)
{
    fit *f = arg;
    double loss = 0;
    (void)ctx, (void)worker;
    for (plx_index i = begin; i < end; i++) {
        double *row = f->residual + i * f->stride;
        memset(row, 0, (size_t)f->stride * sizeof *row);
        add_rows(row, f->w, f->col + f->ptr[i], f->ptr[i + 1] - f->ptr[i], f->stride);
        loss += residuals(row, f->n_tags, f->stride, f->gold[i]);
    }
    f->loss[begin / TOKENS_AT_ONCE] = loss;
    return PLX_OK;
}

static plx_status features_pass(void *arg, plx_context *ctx, plx_index begin, plx_index end, int worker)
{
    fit *f = arg;
    (void)ctx, (void)worker;
    for (plx_index k = f->part[begin]; k < f->part[end]; k++) {
        double *row = f->gradient + k * f->stride;
        const double *w = f->w + k * f->stride;
        for (plx_index t = 0; t < f->stride; t++) row[t] = f->precision * w[t];
        add_rows(row, f->residual, f->back + f->back_ptr[k], f->back_ptr[k + 1] - f->back_ptr[k], f->stride);
    }
    return PLX_OK;
}

static plx_status objective(void *arg, plx_context *ctx, const double *w, plx_index n, double *value, double *gradient)
{
    fit *f = arg;
    double square = 0;
    f->w = w;
    f->gradient = gradient;
    PLX_TRY(plx__parallel_for(ctx, f->n, TOKENS_AT_ONCE, tokens_pass, f));
    PLX_TRY(plx__parallel_for(ctx, f->n_parts, 1, features_pass, f));
    for (plx_index k = 0; k < n; k++) square += w[k] * w[k];
    *value = plx__sum(f->loss, (f->n + TOKENS_AT_ONCE - 1) / TOKENS_AT_ONCE) + 0.5 * f->precision * square;
    return PLX_OK;
}

/* ---- all ---- */

/* Weights of the same features and tags in another model. */
static void start_from(plx__memm *m, const plx__memm *start)
{
    for (plx_index k = 0; k < m->features.count; k++) {
        const plx__dict_key *key = &m->features.key[k];
        plx_index at = plx__dict_get(&start->features, key->text, key->length);
        for (plx_index t = 0, u = 0; at >= 0 && t < m->n_tags; t++) {
            while (u < start->n_tags && strcmp(start->tag[u], m->tag[t]) < 0) u++;
            if (u < start->n_tags && strcmp(start->tag[u], m->tag[t]) == 0)
                m->weight[k * m->stride + t] = start->weight[at * start->stride + u];
        }
    }
}

static plx_status minimise(plx__memm *m, fit *f)
{
    plx__lbfgs_options o = {.max_iter = m->params.max_iter,
                            .memory = 6,
                            .gradient_tol = m->params.tol,
                            .relative = true,
                            .change_tol = -1,
                            .phase = "train"};
    plx__lbfgs_result result = {0};
    PLX_TRY(plx__lbfgs(f->ctx, f->n_features * f->stride, m->weight, objective, f, &o, &result));
    m->objective = result.value;
    m->iterations = result.iterations;
    /* J is strictly convex: where no step lowers it any more in double precision, the minimum is reached. */
    m->converged = result.converged || (result.iterations < m->params.max_iter && !plx__out_of_time(f->ctx));
    return PLX_OK;
}

static plx_status fit_all(plx__memm *m, fit *f, plx__arena *arena, const plx__ner_types *types, const plx__memm *start)
{
    PLX_TRY(find_tags(m, f, arena, types));
    PLX_TRY(keep_features(m, f, arena));
    PLX_TRY(keep_rows(f));
    PLX_TRY(transpose(f));
    PLX_TRY(cut_parts(f));
    PLX_TRY(plx__arena_f64(&m->weight, arena, f->n_features, f->stride));
    PLX_TRY(plx__arena_f64(&f->residual, plx__scratch(f->ctx), f->n, f->stride));
    PLX_TRY(plx__arena_f64(&f->loss, plx__scratch(f->ctx), f->n / TOKENS_AT_ONCE + 1, 1));
    if (start) start_from(m, start);
    return minimise(m, f);
}

plx_status plx__memm_fit(plx__memm *m, plx_context *ctx, plx__arena *arena, const plx__memm_data *data,
                         const plx__ner_types *types, const plx__memm *start)
{
    plx__mark mark = plx__arena_mark(plx__scratch(ctx));
    fit f = {.ctx = ctx, .data = data, .n = data->n, .precision = 1 / (m->params.sigma * m->params.sigma)};
    PLX_TRY(fit_all(m, &f, arena, types, start));
    plx__arena_rewind(plx__scratch(ctx), mark);
    return PLX_OK;
}
