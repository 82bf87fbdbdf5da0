/*
 * Sparse matrices of the host device and the sweeps over them: plain loops in the words of parallax/device.h.
 */
#include <math.h>
#include <string.h>

#include "device/host_device.h"

/* ---- matrices ---- */

static plx_status keep(plx_device_csr *to, plx_ccsr a, bool both)
{
    plx_csr plain, flipped;
    PLX_TRY(plx__csr_clone(&plain, &to->arena, a));
    to->plain = plx__ccsr(plain);
    if (!both) return PLX_OK;
    PLX_TRY(plx__csr_transpose(&flipped, &to->arena, a));
    to->flipped = plx__ccsr(flipped);
    return PLX_OK;
}

int plx__host_csr_create(plx_device *d, int64_t rows, int64_t cols, const int64_t *ptr, const int32_t *col,
                         const double *val, int flags, plx_device_csr **out)
{
    int code = plx__host_enter(d);
    *out = NULL;
    if (code != PLX_DEVICE_OK) return code;
    plx_device_csr *csr = plx__alloc(d->ctx, sizeof *csr);
    if (!csr) return plx__host_leave(d, PLX_E_NOMEM);
    *csr = (plx_device_csr){0};
    plx__arena_init(&csr->arena, d->ctx);
    plx_ccsr given = {rows, cols, ptr, col, val};
    code = plx__host_leave(d, keep(csr, given, (flags & PLX_DEVICE_BOTH_WAYS) != 0));
    if (code == PLX_DEVICE_OK) *out = csr;
    else plx__host_csr_release(d, csr);
    return code;
}

void plx__host_csr_release(plx_device *d, plx_device_csr *csr)
{
    if (!csr) return;
    plx__arena_free(&csr->arena);
    plx__release(d->ctx, csr, sizeof *csr);
}

int64_t plx__host_csr_bytes(plx_device *d, int64_t rows, int64_t cols, int64_t entries, int flags)
{
    (void)d;
    int64_t blocks = (int64_t)1 << 20, one = 12 * entries + 8 * rows;
    return blocks + one + ((flags & PLX_DEVICE_BOTH_WAYS) ? 12 * entries + 16 * cols : 0);
}

int plx__host_spmm(plx_device *d, double alpha, const plx_device_csr *a, plx_device_trans ta, plx_device_mat b,
                   double beta, plx_device_mat c)
{
    plx_ccsr x = ta == PLX_DEVICE_TRANSPOSED ? a->flipped : a->plain;
    PLX__HOST_CALL(d, plx__spmm(d->ctx, alpha, x, plx__host_cmat(b), beta, plx__host_mat(c)));
}

int plx__host_class_sums(plx_device *d, const plx_device_csr *x, const plx_device_buffer *label,
                         const plx_device_buffer *factor, int64_t k, plx_device_mat out)
{
    int code = plx__host_enter(d);
    const int32_t *of = plx__host_values(label);
    const double *times = plx__host_values(factor);
    plx_mat to = plx__host_mat(out);
    if (code != PLX_DEVICE_OK) return code;
    plx__mat_fill(to, 0.0);
    for (plx_index i = 0; i < x->plain.rows; i++)
        for (int64_t e = x->plain.ptr[i]; of[i] >= 0 && of[i] < k && e < x->plain.ptr[i + 1]; e++)
            to.data[of[i] * to.ld + x->plain.col[e]] += (times ? times[i] : 1.0) * x->plain.val[e];
    return code;
}

/* out (width) = row i of x times table. */
static void score_row(double *out, plx_ccsr x, plx_index i, plx_cmat table, plx_index width)
{
    memset(out, 0, (size_t)width * sizeof *out);
    for (int64_t e = x.ptr[i]; e < x.ptr[i + 1]; e++) plx__axpy(out, x.val[e], table.data + x.col[e] * table.ld, width);
}

static bool has_channel(const plx_device_channel *c, plx_index i)
{
    const uint8_t *present = plx__host_values(c->present);
    return !present || present[i];
}

/* ---- coem ---- */

/* p = softmax(z); returns log sum exp z. */
static double softmax(double *p, const double *z, plx_index width)
{
    double top = -INFINITY, sum = 0;
    for (plx_index j = 0; j < width; j++) top = fmax(top, z[j]);
    for (plx_index j = 0; j < width; j++) sum += p[j] = exp(z[j] - top);
    for (plx_index j = 0; j < width; j++) p[j] /= sum;
    return top + log(sum);
}

typedef struct mixture_room { /* channels x width each */
    double *z, *p, *joint;
} mixture_room;

static void one_hot(double *p, plx_index width, int32_t label)
{
    memset(p, 0, (size_t)width * sizeof *p);
    p[label] = 1;
}

/* z and P of the channels the sample has; returns their number. */
static plx_index posteriors(const plx_device_mixture *q, const mixture_room *w, plx_index i, int32_t label)
{
    plx_index count = 0;
    bool fresh = true;
    for (plx_index c = 0; c < q->n_channels; c++) {
        const plx_device_channel *ch = &q->channel[c];
        double *z = w->z + c * q->width, *p = w->p + c * q->width;
        const double *score = plx__host_data(ch->score) + i * ch->score.ld;
        if (!has_channel(ch, i)) continue;
        for (plx_index j = 0; j < q->width; j++) {
            z[j] = ch->log_prior[j] + score[j];
            w->joint[j] = fresh ? z[j] : w->joint[j] + score[j];
        }
        fresh = false;
        double loglik = softmax(p, z, q->width);
        if (q->measure) q->loglik[c] += loglik;
        if (label >= 0) one_hot(p, q->width, label);
        count++;
    }
    for (plx_index c = 0; q->joint && c < q->n_channels; c++) {
        if (!has_channel(&q->channel[c], i)) continue;
        if (label >= 0) one_hot(w->p + c * q->width, q->width, label);
        else (void)softmax(w->p + c * q->width, w->joint, q->width);
    }
    return count;
}

/* Responsibilities of channel v at weight eta. */
static double responsibility(const plx_device_mixture *q, const mixture_room *w, plx_index i, plx_index v, double eta,
                             plx_index count, plx_index j)
{
    double own = w->p[v * q->width + j], others = 0;
    if (count < 2 || q->joint) return own;
    for (plx_index c = 0; c < q->n_channels; c++)
        if (c != v && has_channel(&q->channel[c], i)) others += w->p[c * q->width + j];
    return (1 - eta) * own + eta / ((double)count - 1) * others;
}

static void add_sample(const plx_device_mixture *q, const mixture_room *w, plx_index i, plx_index count)
{
    double *out = plx__host_data(q->weights) + i * q->weights.ld;
    bool told = false;
    for (plx_index c = 0; c < q->n_channels; c++) {
        if (!has_channel(&q->channel[c], i)) continue;
        for (plx_index j = 0; j < q->width; j++) {
            if (!q->joint || !told) q->prior[j] += w->p[c * q->width + j];
            if (c == q->target) q->mass[j] += out[j] = responsibility(q, w, i, c, q->eta, count, j);
            if (q->measure)
                *q->objective += responsibility(q, w, i, c, q->measure_eta, count, j) * w->z[c * q->width + j];
        }
        told = true;
    }
}

static plx_status mixture_pass(plx_device *d, const plx_device_mixture *q)
{
    const int32_t *label = plx__host_values(q->label);
    mixture_room w;
    double **room[] = {&w.z, &w.p, &w.joint};
    for (int r = 0; r < 3; r++) PLX_TRY(plx__arena_f64(room[r], plx__scratch(d->ctx), q->n_channels, q->width));
    memset(q->prior, 0, (size_t)q->width * sizeof *q->prior);
    memset(q->mass, 0, (size_t)q->width * sizeof *q->mass);
    memset(q->loglik, 0, (size_t)q->n_channels * sizeof *q->loglik);
    *q->objective = 0;
    for (plx_index c = 0; c < q->n_channels; c++) {
        const plx_device_channel *ch = &q->channel[c];
        for (plx_index i = 0; ch->refresh && i < q->n; i++)
            score_row(plx__host_data(ch->score) + i * ch->score.ld, ch->x->plain, i, plx__host_cmat(ch->table),
                      q->width);
    }
    plx__mat_fill(plx__host_mat(q->weights), 0.0);
    for (plx_index i = 0; i < q->n; i++) add_sample(q, &w, i, posteriors(q, &w, i, label[i]));
    return PLX_OK;
}

int plx__host_mixture(plx_device *d, const plx_device_mixture *pass) { PLX__HOST_CALL(d, mixture_pass(d, pass)); }

/* ---- mvkmeans ---- */

/* The scores of a sample joined over its channels; false: it has none. */
static bool joined_scores(double *out, double *room, const plx_device_assign *q, plx_index i)
{
    bool any = false;
    memset(out, 0, (size_t)q->k * sizeof *out);
    for (plx_index c = 0; c < q->n_channels; c++) {
        const double *factor = plx__host_values(q->factor ? q->factor[c] : NULL);
        if (!has_channel(&q->channel[c], i)) continue;
        score_row(room, q->channel[c].x->plain, i, plx__host_cmat(q->channel[c].table), q->k);
        for (plx_index j = 0; j < q->k; j++) {
            double score = (factor ? factor[i] : 1.0) * room[j];
            if (q->product) out[j] = (any ? out[j] : 1.0) * fmax(score, 0);
            else out[j] = any ? out[j] + score : score;
        }
        any = true;
    }
    return any;
}

/* The largest, lowest class among those within the tie; -1: all are 0. */
static int32_t best_of(const double *x, const plx_device_assign *q)
{
    double best = x[0];
    bool any = x[0] != 0;
    int32_t first = 0;
    for (plx_index j = 1; j < q->k; j++) {
        best = fmax(best, x[j]);
        any |= x[j] != 0;
    }
    while (any && x[first] < best - q->tie) first++;
    return any ? first : -1;
}

static plx_status assign_pass(plx_device *d, const plx_device_assign *q)
{
    double *x = NULL, *room = NULL, *own = q->own_score ? (double *)(void *)q->own_score->data : NULL;
    const uint8_t *fixed = plx__host_values(q->fixed);
    int32_t *label = (int32_t *)(void *)q->label->data;
    PLX_TRY(plx__arena_f64(&x, plx__scratch(d->ctx), q->k, 1));
    PLX_TRY(plx__arena_f64(&room, plx__scratch(d->ctx), q->k, 1));
    *q->objective = 0;
    *q->flips = *q->without = 0;
    for (plx_index i = 0; i < q->n; i++) {
        (void)joined_scores(x, room, q, i);
        if (!fixed || !fixed[i]) {
            int32_t best = best_of(x, q);
            *q->without += best < 0;
            if (best < 0) best = q->fallback;
            *q->flips += best == label[i] ? 0 : label[i] < 0 ? 1 : 2;
            label[i] = best;
        }
        const double at_label = label[i] < 0 ? 0 : x[label[i]];
        *q->objective += at_label;
        if (own) own[i] = at_label;
    }
    return PLX_OK;
}

int plx__host_assign(plx_device *d, const plx_device_assign *pass) { PLX__HOST_CALL(d, assign_pass(d, pass)); }

/* ---- mvplsa ---- */

static double plsa_row(const plx_device_plsa *q, plx_index i)
{
    static const double tiny = 1e-300;
    plx_ccsr x = q->counts->plain;
    plx_mat gain = plx__host_mat(q->gain), scatter = plx__host_mat(q->scatter);
    plx_index width = q->table.cols;
    const double *c = plx__host_data(q->mix) + i * q->mix.ld;
    double likelihood = 0;
    for (int64_t e = x.ptr[i]; e < x.ptr[i + 1]; e++) {
        const double *u = plx__host_data(q->table) + x.col[e] * q->table.ld;
        double m = plx__dot(u, c, width), r = m < tiny ? 0 : x.val[e] / m;
        if (gain.data) plx__axpy(gain.data + i * gain.ld, r, u, width);
        if (scatter.data) plx__axpy(scatter.data + x.col[e] * scatter.ld, r, c, width);
        likelihood += x.val[e] * log(fmax(m, tiny));
    }
    return likelihood;
}

int plx__host_plsa(plx_device *d, const plx_device_plsa *step)
{
    int code = plx__host_enter(d);
    double likelihood = 0;
    if (code != PLX_DEVICE_OK) return code;
    if (step->scatter.buffer) plx__mat_fill(plx__host_mat(step->scatter), 0.0);
    for (plx_index i = 0; i < step->counts->plain.rows; i++) likelihood += plsa_row(step, i);
    if (step->likelihood) *step->likelihood = likelihood;
    return code;
}

int plx__host_plsa_mixture(plx_device *d, plx_device_mat next, plx_device_mat mix, plx_device_mat gain,
                           const plx_device_buffer *label, double flush)
{
    int code = plx__host_enter(d);
    plx_mat to = plx__host_mat(next);
    plx_cmat c = plx__host_cmat(mix), g = plx__host_cmat(gain);
    const int32_t *of = plx__host_values(label);
    for (plx_index i = 0; code == PLX_DEVICE_OK && i < to.rows; i++) {
        double *out = to.data + i * to.ld, sum = 0;
        for (plx_index j = 0; j < to.cols; j++) sum += out[j] = c.data[i * c.ld + j] * g.data[i * g.ld + j];
        bool keeps = (of && of[i] >= 0) || !(sum > 0);
        for (plx_index j = 0; j < to.cols; j++) {
            out[j] = keeps ? c.data[i * c.ld + j] : out[j] / sum;
            if (!keeps && out[j] < flush) out[j] = 0;
        }
    }
    return code;
}
