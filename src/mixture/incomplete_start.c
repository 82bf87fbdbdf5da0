/*
 * Rows with missing entries: patterns, column statistics, and the start of a mixture.
 */
#include <math.h>
#include <string.h>

#include "core/text.h"
#include "mixture/incomplete_internal.h"

/* ---- patterns ---- */

static plx_status number_patterns(plx__patterns *p, plx_context *ctx, const uint8_t *seen)
{
    plx__mark mark = plx__arena_mark(plx__scratch(ctx));
    plx__map known;
    char *key = NULL;
    PLX_TRY(plx__map_init(&known, plx__scratch(ctx), p->n));
    for (plx_index i = 0; i < p->n; i++) {
        plx_index existing = -1;
        if (i > 0 && memcmp(seen + i * p->d, seen + (i - 1) * p->d, (size_t)p->d) == 0) { /* mostly so */
            p->of[i] = p->of[i - 1];
            continue;
        }
        PLX_TRY(PLX__ARENA_NEW(&key, plx__scratch(ctx), p->d + 1));
        for (plx_index j = 0; j < p->d; j++) key[j] = seen[i * p->d + j] ? '1' : '0';
        PLX_TRY(plx__map_add(&known, key, p->count, &existing));
        p->of[i] = existing >= 0 ? existing : p->count++;
    }
    plx__arena_rewind(plx__scratch(ctx), mark);
    return PLX_OK;
}

static void sort_rows(plx__patterns *p)
{
    for (plx_index i = 0; i < p->n; i++) p->first[p->of[i] + 1]++;
    for (plx_index q = 0; q < p->count; q++) p->first[q + 1] += p->first[q];
    for (plx_index i = 0; i < p->n; i++) p->order[p->first[p->of[i]]++] = i;
    for (plx_index q = p->count; q > 0; q--) p->first[q] = p->first[q - 1];
    p->first[0] = 0;
}

static void list_columns(plx__patterns *p, const uint8_t *seen)
{
    for (plx_index q = 0; q < p->count; q++) {
        const uint8_t *row = seen + p->order[p->first[q]] * p->d;
        int32_t *column = p->column + q * p->d;
        plx_index at = 0;
        for (plx_index j = 0; j < p->d; j++)
            if (row[j]) column[at++] = (int32_t)j;
        p->observed[q] = at;
        for (plx_index j = 0; j < p->d; j++)
            if (!row[j]) column[at++] = (int32_t)j;
    }
}

static plx_status find_patterns(plx__patterns *p, plx_context *ctx, plx__arena *arena, const plx__incomplete_data *data)
{
    *p = (plx__patterns){.n = data->x.rows, .d = data->x.cols};
    PLX_TRY(plx__arena_i64(&p->of, arena, p->n));
    PLX_TRY(number_patterns(p, ctx, data->seen));
    PLX_TRY(plx__arena_i64(&p->first, arena, p->count + 1));
    PLX_TRY(plx__arena_i64(&p->order, arena, p->n));
    PLX_TRY(plx__arena_i64(&p->observed, arena, p->count));
    PLX_TRY(plx__arena_i32(&p->column, arena, p->count * p->d));
    sort_rows(p);
    list_columns(p, data->seen);
    return PLX_OK;
}

/* ---- columns ---- */

/* Means of the observed entries of every column, and their population variances; row by row, as they are stored. */
static plx_status column_moments(double *variance, plx_context *ctx, const plx__incomplete_data *data)
{
    plx__mark mark = plx__arena_mark(plx__scratch(ctx));
    plx_index d = data->x.cols;
    double *count = NULL;
    PLX_TRY(plx__arena_f64(&count, plx__scratch(ctx), d, 1));
    for (plx_index i = 0; i < data->x.rows; i++)
        for (plx_index j = 0; j < d; j++) {
            bool seen = data->seen[i * d + j] != 0;
            data->mean[j] += seen ? data->x.data[i * data->x.ld + j] : 0.0;
            count[j] += seen;
        }
    for (plx_index j = 0; j < d; j++) data->mean[j] = count[j] > 0 ? data->mean[j] / count[j] : 0.0;
    for (plx_index i = 0; i < data->x.rows; i++)
        for (plx_index j = 0; j < d; j++) {
            double gap = data->x.data[i * data->x.ld + j] - data->mean[j];
            variance[j] += data->seen[i * d + j] ? gap * gap : 0.0;
        }
    for (plx_index j = 0; j < d; j++) variance[j] = count[j] > 0 ? variance[j] / count[j] : 0.0;
    plx__arena_rewind(plx__scratch(ctx), mark);
    return PLX_OK;
}

plx_status plx__incomplete_describe(plx__incomplete_data *data, plx_context *ctx, plx__arena *arena)
{
    double *variance = NULL;
    PLX_TRY(find_patterns(&data->patterns, ctx, arena, data));
    PLX_TRY(plx__arena_f64(&data->mean, arena, data->x.cols, 1));
    PLX_TRY(plx__arena_f64(&data->spread, arena, data->n_blocks, 1));
    PLX_TRY(plx__arena_f64(&variance, plx__scratch(ctx), data->x.cols, 1));
    PLX_TRY(column_moments(variance, ctx, data));
    data->usable = 0;
    for (plx_index q = 0; q < data->patterns.count; q++)
        if (data->patterns.observed[q] > 0) data->usable += data->patterns.first[q + 1] - data->patterns.first[q];
    for (plx_index b = 0; b < data->n_blocks; b++) {
        plx_index cols = data->block[b + 1] - data->block[b];
        double sum = 0;
        for (plx_index j = data->block[b]; j < data->block[b + 1]; j++) sum += variance[j];
        data->spread[b] = sum > 0 && cols > 0 ? sum / (double)cols : 1.0;
    }
    return PLX_OK;
}

/* ---- farthest-first ---- */

static double filled(const plx__incomplete_data *data, plx_index i, plx_index j)
{
    return data->seen[i * data->x.cols + j] ? data->x.data[i * data->x.ld + j] : data->mean[j];
}

/* Squared distance between filled rows; to the column means with other < 0. */
static double distance_sq(const plx__incomplete_data *data, plx_index i, plx_index other)
{
    double sum = 0;
    for (plx_index j = 0; j < data->x.cols; j++) {
        double gap = filled(data, i, j) - (other < 0 ? data->mean[j] : filled(data, other, j));
        sum += gap * gap;
    }
    return sum;
}

static bool is_usable(const plx__incomplete_data *data, plx_index i)
{
    return data->patterns.observed[data->patterns.of[i]] > 0;
}

plx_status plx__incomplete_farthest_first(plx_mat out, plx_context *ctx, const plx__incomplete_data *data)
{
    plx__mark mark = plx__arena_mark(plx__scratch(ctx));
    plx_index n = data->x.rows, centre = -1;
    double *near = NULL;
    PLX_TRY(plx__arena_f64(&near, plx__scratch(ctx), n, 1));
    plx__mat_fill(out, 0.0);
    for (plx_index i = 0; i < n && out.cols == 1; i++) out.data[i * out.ld] = is_usable(data, i);
    for (plx_index i = 0; i < n && out.cols > 1; i++) {
        near[i] = distance_sq(data, i, -1);
        if (is_usable(data, i) && (centre < 0 || near[i] < near[centre])) centre = i;
    }
    for (plx_index z = 0; z < out.cols && centre >= 0; z++) {
        plx_index next = -1;
        for (plx_index i = 0; i < n; i++) {
            if (!is_usable(data, i)) continue;
            double gap = distance_sq(data, i, centre);
            if (z == 0 || gap < near[i]) {
                near[i] = gap;
                for (plx_index y = 0; y <= z; y++) out.data[i * out.ld + y] = y == z;
            }
            if (next < 0 || near[i] > near[next]) next = i;
        }
        centre = next;
    }
    plx__arena_rewind(plx__scratch(ctx), mark);
    return PLX_OK;
}

/* ---- sums of a start ---- */

static bool has_block(const plx__incomplete_data *data, plx_index i, plx_index b)
{
    for (plx_index j = data->block[b]; j < data->block[b + 1]; j++)
        if (data->seen[i * data->x.cols + j]) return true;
    return false;
}

/* `gap` is the row about the means. */
static void add_start_block(plx__incomplete_sums *s, const plx__incomplete_data *data, const double *gap, plx_index z,
                            plx_index b, double r)
{
    plx_index d = data->x.cols, begin = data->block[b], end = data->block[b + 1];
    s->mass[z * data->n_blocks + b] += r;
    plx__axpy(s->first.data + z * s->first.ld + begin, r, gap + begin, end - begin);
    for (plx_index j = begin; j < end && !s->full; j++) s->second.data[z * s->second.ld + j] += r * gap[j] * gap[j];
    for (plx_index j = begin; j < end && s->full; j++)
        plx__axpy(s->second.data + (z * d + j) * s->second.ld + begin, r * gap[j], gap + begin, end - begin);
}

plx_status plx__incomplete_start_sums(plx__incomplete_sums *s, plx_context *ctx, const plx__incomplete_data *data,
                                      plx_cmat start)
{
    plx__mark mark = plx__arena_mark(plx__scratch(ctx));
    double *gap = NULL;
    PLX_TRY(plx__arena_f64(&gap, plx__scratch(ctx), data->x.cols, 1));
    for (plx_index i = 0; i < data->x.rows; i++) {
        if (!is_usable(data, i)) continue;
        for (plx_index j = 0; j < data->x.cols; j++) gap[j] = filled(data, i, j) - data->mean[j];
        for (plx_index z = 0; z < start.cols; z++) {
            double r = start.data[i * start.ld + z];
            s->weight[z] += r;
            if (!(r > 0)) continue;
            for (plx_index b = 0; b < data->n_blocks; b++)
                if (has_block(data, i, b)) add_start_block(s, data, gap, z, b, r);
        }
    }
    plx__arena_rewind(plx__scratch(ctx), mark);
    return PLX_OK;
}
