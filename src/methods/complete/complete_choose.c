/*
 * Which method fills which view: a share of the rows of every view is hidden, everything is learned from the rest, and
 * what each method says about the hidden rows is compared with what they are.
 */
#include <math.h>
#include <string.h>

#include "core/rng.h"
#include "methods/complete/complete_impl.h"

enum { MOST_CHOICES = 16, MOST_RESIDUALS = 500 };

typedef struct trial {
    complete hidden; /* learned without the hidden rows */
    const plx__view *views;
    plx_index v;
    plx_index *row, count; /* hidden rows of the view */
    double *truth, *value, *deviation;
    plx_mat z;
    complete_rows rows;
    plx_index rounds;
    double *sums; /* views x methods x choices: squared errors of all rounds */
} trial;

/* ---- hiding ---- */

/* Rows that are left; a sample keeps at least one of its views. */
static plx_status hide(uint8_t **out, const complete *c, plx_index round)
{
    PLX_TRY(plx__arena_u8(out, plx__scratch(c->ctx), c->n * c->m));
    for (plx_index i = 0; i < c->n; i++) {
        plx_index left = 0, kept = -1;
        double most = -1;
        for (plx_index v = 0; v < c->m; v++) {
            uint64_t row = (uint64_t)c->run->problem->row[i];
            double draw = plx__rng_uniform(c->ctx->seed, PLX__STREAM('h', 'i', 'd', 'e', round * c->m + v), row);
            if (!c->seen[i * c->m + v]) continue;
            (*out)[i * c->m + v] = draw >= c->set->hide;
            left += (*out)[i * c->m + v];
            if (draw > most) most = draw, kept = v;
        }
        if (!left && kept >= 0) (*out)[i * c->m + kept] = 1;
    }
    return PLX_OK;
}

/* ---- residuals ---- */

static bool has_other(const complete *c, plx_index i, plx_index v)
{
    for (plx_index u = 0; u < c->m; u++)
        if (u != v && c->seen[i * c->m + u]) return true;
    return false;
}

/* column: root mean square of what the prediction of a view that is there leaves; latent: of its components. Of single
 * entries and deviations only the relations matter: calibration does the rest. */
static plx_status find_residuals(complete *c, plx__arena *arena, const plx__view *views, plx_index v,
                                 const complete_rows *rows)
{
    complete_view *view = &c->views[v];
    plx_index *row = NULL, count = 0;
    double *column = NULL, *latent = NULL, *x = NULL, *value = NULL, *deviation = NULL;
    plx_mat z;
    PLX_TRY(plx__arena_f64(&column, arena, view->d, 1));
    PLX_TRY(plx__arena_f64(&latent, arena, view->r, 1));
    PLX_TRY(plx__arena_i64(&row, plx__scratch(c->ctx), c->n));
    PLX_TRY(plx__arena_f64(&x, plx__scratch(c->ctx), view->d, 3));
    value = x + view->d;
    deviation = value + view->d;
    view->column = column;
    view->latent = latent;
    for (plx_index i = 0; i < c->n && count < MOST_RESIDUALS; i++)
        if (c->seen[i * c->m + v] && (has_other(c, i, v) || c->m == 1)) row[count++] = i;
    PLX_TRY(plx__arena_mat(&z, plx__scratch(c->ctx), count, view->r));
    PLX_TRY(plx__complete_predict(z, c, v, &view->choice, rows, row, count));
    double whole = 0;
    for (plx_index k = 0; k < count; k++) {
        const double *own = c->z.data + row[k] * c->z.ld + view->at;
        if (plx__complete_row(x, view, &views[v], row[k])) continue; /* what is not known has no residual */
        whole++;
        if (view->choice.method == COMPLETE_KNN)
            PLX_TRY(plx__complete_fill_near(value, deviation, c, v, rows, row[k], true));
        else plx__complete_fill_row(value, deviation, c, v, z.data + k * z.ld);
        for (plx_index e = 0; e < view->d; e++) column[e] += pow(x[e] - (value[e] - view->mean[e]) / view->sd[e], 2);
        for (plx_index e = 0; e < view->r; e++) latent[e] += pow(own[e] - z.data[k * z.ld + e], 2);
    }
    for (plx_index e = 0; e < view->d; e++) column[e] = whole > 0 ? fmax(sqrt(column[e] / whole), 1e-6) : 1.0;
    for (plx_index e = 0; e < view->r; e++) latent[e] = whole > 0 ? fmax(latent[e] / whole, 1e-8) : 1.0;
    return plx__poll(c->ctx);
}

/* ---- what a choice is worth ---- */

/* Sum over the hidden entries of the squared error, standardised; of its ratio to the deviations. */
static plx_status judge(double *square, double *ratio, double *entries, trial *t, const complete_choice *how)
{
    complete *c = &t->hidden;
    complete_view *view = &c->views[t->v];
    view->choice = *how;
    *square = *ratio = *entries = 0;
    PLX_TRY(plx__complete_predict(t->z, c, t->v, how, &t->rows, t->row, t->count));
    for (plx_index k = 0; k < t->count; k++) {
        if (how->method == COMPLETE_KNN)
            PLX_TRY(plx__complete_fill_near(t->value, t->deviation, c, t->v, &t->rows, t->row[k], false));
        else plx__complete_fill_row(t->value, t->deviation, c, t->v, t->z.data + k * t->z.ld);
        plx__complete_row(t->truth, view, &t->views[t->v], t->row[k]);
        for (plx_index e = 0; e < view->d; e++) {
            double error = t->truth[e] - (t->value[e] - view->mean[e]) / view->sd[e];
            *square += error * error;
            *ratio += pow(error * view->sd[e] / t->deviation[e], 2);
            *entries += 1;
        }
    }
    return plx__poll(c->ctx);
}

static plx_index list_choices(complete_choice *out, const complete *c, int method)
{
    static const double lambdas[] = {0.01, 0.1, 0.3, 1, 3, 10, 30};
    plx_index count = 0, near = c->set->neighbours;
    if (method == COMPLETE_MEAN) out[count++] = (complete_choice){.method = method};
    for (plx_index k = plx__max(1, near / 2); k <= 4 * near && method == COMPLETE_KNN; k = k < near ? near : 2 * k)
        out[count++] = (complete_choice){.method = method, .number = k};
    for (int l = 0; l < 14 && method == COMPLETE_RIDGE; l++)
        out[count++] = (complete_choice){.method = method, .lambda = lambdas[l / 2], .number = l % 2};
    for (int l = 2; l < 6 && method == COMPLETE_CCA; l += 2) /* 0.3 and 3 */
        for (plx_index rank = 1; rank <= 40; rank = rank * 3 + 1)
            for (plx_index pairs = 0; pairs < 2; pairs++)
                out[count++] = (complete_choice){.method = method, .lambda = lambdas[l], .rank = rank, .number = pairs};
    for (plx_index k = 0; k < c->n_mixtures && method == COMPLETE_MIXTURE; k++)
        out[count++] = (complete_choice){.method = method, .number = k};
    return count;
}

static bool is_tried(const complete *c, int method)
{
    return c->set->with == 0 || method == COMPLETE_MEAN || method == c->set->with - 1;
}

/* Squared errors of every choice of every method, added to those of earlier rounds. */
static plx_status measure_view(const complete *c, trial *t)
{
    for (int method = 0; method < COMPLETE_METHODS; method++) {
        complete_choice choices[MOST_CHOICES];
        double *sums = t->sums + (t->v * COMPLETE_METHODS + method) * MOST_CHOICES, square = 0, ratio = 0, entries = 0;
        plx_index count = is_tried(c, method) ? list_choices(choices, &t->hidden, method) : 0;
        for (plx_index k = 0; k < count; k++) {
            PLX_TRY(judge(&square, &ratio, &entries, t, &choices[k]));
            sums[k] += square;
        }
    }
    return PLX_OK;
}

/* The best choice of every method for the view, and of those the best, or the one asked for. */
static void choose_view(complete *c, trial *t, double *error)
{
    double best = INFINITY, mean = t->sums[t->v * COMPLETE_METHODS * MOST_CHOICES];
    complete_choice chosen = {.method = COMPLETE_MEAN};
    for (int method = 0; method < COMPLETE_METHODS; method++) {
        complete_choice choices[MOST_CHOICES], own = {.method = method};
        const double *sums = t->sums + (t->v * COMPLETE_METHODS + method) * MOST_CHOICES;
        plx_index count = is_tried(c, method) && t->count ? list_choices(choices, &t->hidden, method) : 0;
        double least = INFINITY;
        for (plx_index k = 0; k < count; k++)
            if (sums[k] < least) least = sums[k], own = choices[k];
        error[method] = !count ? NAN : mean > 0 ? sqrt(least / mean) : 0.0;
        bool wanted = c->set->with ? method == c->set->with - 1 : least < best;
        if (count && wanted) best = least, chosen = own;
    }
    c->views[t->v].choice = t->hidden.views[t->v].choice = chosen;
}

/* Deviations that are as large as the errors they speak of, over all hidden entries. */
static plx_status calibrate(complete *c, trial *t)
{
    double square = 0, ratio = 0, entries = 0;
    complete_choice choice = c->views[t->v].choice;
    PLX_TRY(find_residuals(&t->hidden, plx__scratch(c->ctx), t->views, t->v, &t->rows));
    PLX_TRY(judge(&square, &ratio, &entries, t, &choice));
    if (entries > 0 && ratio > 0) c->views[t->v].calibration = sqrt(ratio / entries);
    return PLX_OK;
}

/* Hidden rows of the view, and room for one of them. */
static plx_status open_view(trial *t, const complete *c, const uint8_t *left)
{
    complete_view *view = &t->hidden.views[t->v];
    double *ones = NULL;
    t->count = 0;
    PLX_TRY(plx__arena_i64(&t->row, plx__scratch(c->ctx), c->n));
    PLX_TRY(plx__arena_f64(&t->truth, plx__scratch(c->ctx), view->d, 4));
    t->value = t->truth + view->d;
    t->deviation = t->value + view->d;
    ones = t->deviation + view->d;
    for (plx_index e = 0; e < view->d; e++) ones[e] = 1.0;
    view->column = ones;
    view->rows = c->views[t->v].rows;
    for (plx_index i = 0; i < c->n; i++)
        if (c->seen[i * c->m + t->v] && !left[i * c->m + t->v]) t->row[t->count++] = i;
    return plx__arena_mat(&t->z, plx__scratch(c->ctx), t->count, view->r);
}

/* One hiding; after the last the choices. */
static plx_status try_round(complete *c, trial *t, plx__arena *arena, plx_index round, plx_mat error,
                            double *entry_error)
{
    uint8_t *left = NULL;
    bool last = round + 1 == t->rounds;
    t->hidden = *c;
    PLX_TRY(hide(&left, c, round));
    PLX_TRY(plx__complete_learn_views(&t->hidden, arena, t->views, left));
    PLX_TRY(plx__complete_learn_joint(&t->hidden, arena, is_tried(c, COMPLETE_MIXTURE)));
    t->rows = (complete_rows){c->n, t->hidden.z, left};
    for (t->v = 0; t->v < c->m; t->v++) {
        plx__mark mark = plx__arena_mark(plx__scratch(c->ctx));
        PLX_TRY(plx__report(c->ctx, "choose", round * c->m + t->v + 1, t->rounds * c->m, NAN));
        PLX_TRY(open_view(t, c, left));
        PLX_TRY(measure_view(c, t));
        if (last) choose_view(c, t, error.data + t->v * error.ld);
        if (last && t->count) PLX_TRY(calibrate(c, t));
        if (last && t->count && t->views[t->v].missing_values)
            PLX_TRY(plx__complete_entry_error(&entry_error[t->v], &t->hidden, t->v, &t->views[t->v], t->row, t->count,
                                              left));
        plx__arena_rewind(plx__scratch(c->ctx), mark);
    }
    return PLX_OK;
}

/* Few samples: several hidings, since the choice would be by chance otherwise. */
plx_status plx__complete_choose(complete *c, plx_mat error, double *entry_error)
{
    plx__mark mark = plx__arena_mark(plx__scratch(c->ctx));
    trial t = {.views = c->run->problem->views, .rounds = c->n >= 1000 ? 1 : plx__min(5, 1000 / plx__max(c->n, 1) + 1)};
    plx_status st = PLX_OK;
    for (plx_index v = 0; v < c->m; v++) entry_error[v] = NAN;
    PLX_TRY(plx__arena_f64(&t.sums, plx__scratch(c->ctx), c->m, COMPLETE_METHODS * MOST_CHOICES));
    for (plx_index round = 0; round < t.rounds && st == PLX_OK; round++) {
        plx__arena arena; /* scratch is rewound by what learns */
        plx__arena_init(&arena, c->ctx);
        st = try_round(c, &t, &arena, round, error, entry_error);
        plx__arena_free(&arena);
    }
    plx__arena_rewind(plx__scratch(c->ctx), mark);
    return st;
}

plx_status plx__complete_residuals(complete *c, plx__arena *arena)
{
    complete_rows all = {c->n, c->z, c->seen};
    for (plx_index v = 0; v < c->m; v++) PLX_TRY(find_residuals(c, arena, c->run->problem->views, v, &all));
    return PLX_OK;
}
