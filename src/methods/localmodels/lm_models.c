/*
 * Linear models of localmodels: learned on few or all columns, applied to samples with any views, and asked about the
 * labelled samples by cross-validation.
 */
#include <math.h>
#include <string.h>

#include "core/parallel.h"
#include "methods/localmodels/localmodels.h"
#include "optim/klr.h"

enum { FOLDS = 5, LEAST_KEPT = 10, SAMPLE_GRAIN = 32 };

plx_index plx__lm_wanted(double setting, plx_index cols)
{
    if (setting >= 1) return plx__min((plx_index)setting, cols);
    return plx__min(plx__max((plx_index)ceil(setting * (double)cols - 1e-9), LEAST_KEPT), cols);
}

static plx__linear_task task_of(const lm *m, plx_cmat rows, const int32_t *label, plx_index classes)
{
    return (plx__linear_task){rows, label, classes, (plx__linear_learner)m->set->learner, m->set->reg, "localmodels"};
}

/* ---- decisions ---- */

static double decide(const lm_model *model, plx_index function, const double *value)
{
    const double *w = model->weight.data + function * model->weight.ld;
    return plx__dot(w, value, model->count) + w[model->count];
}

static void label_of(const lm_said *said, plx_index i, plx_index classes)
{
    const double *f = said->decision.data + i * said->decision.ld;
    int32_t best = classes > 2 ? 0 : f[0] > 0;
    for (plx_index c = 1; classes > 2 && c < classes; c++)
        if (f[c] > f[best]) best = (int32_t)c;
    said->label[i] = best;
}

static void probabilities(const lm_said *said, plx_index i, const plx__platt *platt, plx_index classes)
{
    const double *f = said->decision.data + i * said->decision.ld;
    double *p = said->probability.data + i * said->probability.ld, sum = 0;
    for (plx_index c = 0; c < said->decision.cols; c++)
        p[c] = platt ? plx__platt_probability(platt[c], f[c]) : plx__sigmoid(f[c]);
    if (classes <= 2) {
        p[1] = p[0];
        p[0] = 1.0 - p[1];
        return;
    }
    for (plx_index c = 0; c < classes; c++) sum += p[c];
    for (plx_index c = 0; c < classes; c++) p[c] = sum > 0 ? p[c] / sum : 1.0 / (double)classes;
}

static plx_status open_said(lm_said *out, plx_context *ctx, plx_index n, plx_index classes)
{
    PLX_TRY(plx__arena_mat(&out->decision, plx__scratch(ctx), n, plx__linear_functions(classes)));
    PLX_TRY(plx__arena_mat(&out->probability, plx__scratch(ctx), n, classes));
    return plx__arena_i32(&out->label, plx__scratch(ctx), n);
}

/* Decisions on rows of the model's block; some of them, or all. */
static void decide_rows(const lm_said *out, const lm_model *model, plx_cmat rows, const plx_index *which,
                        plx_index count, double *value, plx_index classes)
{
    for (plx_index k = 0; k < count; k++) {
        plx_index i = which ? which[k] : k;
        for (plx_index c = 0; c < model->count; c++) value[c] = rows.data[i * rows.ld + model->column[c]];
        for (plx_index f = 0; f < out->decision.cols; f++)
            out->decision.data[i * out->decision.ld + f] = decide(model, f, value);
        label_of(out, i, classes);
        probabilities(out, i, model->platt, classes);
    }
}

/* ---- learning ---- */

/* Platt's curves on the decisions of the rows learned from. */
static plx_status fit_curves(lm_model *model, const lm *m, plx_cmat rows, const int32_t *label, plx_index classes)
{
    plx__arena *scratch = plx__scratch(m->ctx);
    lm_said said;
    uint8_t *positive = NULL;
    double *value = NULL, *s = NULL;
    if (m->set->learner == PLX__LEARN_LOGISTIC) return PLX_OK;
    PLX_TRY(PLX__ARENA_NEW(&model->platt, scratch, model->weight.rows));
    plx__mark mark = plx__arena_mark(scratch);
    PLX_TRY(open_said(&said, m->ctx, rows.rows, classes));
    PLX_TRY(plx__arena_u8(&positive, scratch, rows.rows));
    PLX_TRY(plx__arena_f64(&s, scratch, rows.rows, 1));
    PLX_TRY(plx__arena_f64(&value, scratch, model->count, 1));
    decide_rows(&said, model, rows, NULL, rows.rows, value, classes);
    for (plx_index f = 0; f < model->weight.rows; f++) {
        for (plx_index i = 0; i < rows.rows; i++) {
            positive[i] = label[i] == (classes > 2 ? f : 1);
            s[i] = said.decision.data[i * said.decision.ld + f];
        }
        model->platt[f] = plx__platt_fit(s, positive, rows.rows);
    }
    plx__arena_rewind(scratch, mark);
    return PLX_OK;
}

static plx_status learn_columns(lm_model *model, const lm *m, plx_cmat rows, const int32_t *label, plx_index classes)
{
    plx__linear_task task = task_of(m, rows, label, classes);
    PLX_TRY(plx__arena_mat(&model->weight, plx__scratch(m->ctx), plx__linear_functions(classes), model->count + 1));
    PLX_TRY(plx__linear_task_fit(m->ctx, &task, model->column, model->count, model->weight));
    return fit_curves(model, m, rows, label, classes);
}

plx_status plx__lm_learn(lm_model *out, const lm *m, const lm_block *block, plx_cmat rows, const int32_t *label,
                         plx_index classes, double wanted)
{
    plx__linear_task task = task_of(m, rows, label, classes);
    *out = (lm_model){.block = block, .count = wanted > 0 ? plx__lm_wanted(wanted, block->cols) : block->cols};
    PLX_TRY(plx__eliminate(&out->column, m->ctx, &task, out->count, m->set->rfe_step));
    return learn_columns(out, m, rows, label, classes);
}

/* ---- all samples ---- */

typedef struct apply_job {
    const lm *m;
    const lm_model *model;
    const lm_said *out;
    plx_index classes;
    double *value; /* workers x count */
} apply_job;

static plx_status apply_rows(void *arg, plx_context *ctx, plx_index begin, plx_index end, int worker)
{
    const apply_job *job = arg;
    const lm_model *model = job->model;
    double *value = job->value + worker * model->count;
    PLX_TRY(plx__poll(ctx));
    for (plx_index i = begin; i < end; i++) {
        plx__lm_standard_some(value, job->m, model->block, model->column, model->count, i);
        for (plx_index f = 0; f < job->out->decision.cols; f++)
            job->out->decision.data[i * job->out->decision.ld + f] = decide(model, f, value);
        label_of(job->out, i, job->classes);
        probabilities(job->out, i, model->platt, job->classes);
    }
    return PLX_OK;
}

plx_status plx__lm_apply(lm_said *out, const lm *m, const lm_model *model, plx_index classes)
{
    apply_job job = {m, model, out, classes, NULL};
    PLX_TRY(open_said(out, m->ctx, m->x->n, classes));
    PLX_TRY(plx__arena_f64(&job.value, plx__scratch(m->ctx), plx__workers(m->ctx), plx__max(model->count, 1)));
    return plx__parallel_for(m->ctx, m->x->n, SAMPLE_GRAIN, apply_rows, &job);
}

/* ---- labelled samples by models that have not seen them ---- */

/* Position of every labelled sample within its class, modulo FOLDS. */
static plx_status assign_folds(uint8_t **out, const lm *m, plx_index **size)
{
    plx_index *seen = NULL;
    PLX_TRY(plx__arena_u8(out, plx__scratch(m->ctx), m->l));
    PLX_TRY(plx__arena_i64(&seen, plx__scratch(m->ctx), m->classes));
    PLX_TRY(plx__arena_i64(size, plx__scratch(m->ctx), m->classes));
    for (plx_index i = 0; i < m->l; i++) (*out)[i] = (uint8_t)(seen[m->label[i]]++ % FOLDS);
    memcpy(*size, seen, (size_t)m->classes * sizeof **size);
    return PLX_OK;
}

/* Labelled samples in (or not in) a fold; false: leaving them out would leave a class without any. */
static bool split_fold(plx_index *in, plx_index *n_in, plx_index *rest, plx_index *n_rest, const lm *m,
                       const uint8_t *fold, int f, plx_index *left)
{
    memset(left, 0, (size_t)m->classes * sizeof *left);
    *n_in = *n_rest = 0;
    for (plx_index i = 0; i < m->l; i++) {
        if (fold[i] == f) in[(*n_in)++] = i;
        else {
            rest[(*n_rest)++] = i;
            left[m->label[i]]++;
        }
    }
    for (plx_index c = 0; c < m->classes; c++)
        if (!left[c]) return false;
    return true;
}

static plx_status say_fold(const lm_said *out, const lm *m, const lm_model *full, plx_cmat rows, const plx_index *in,
                           plx_index n_in, const plx_index *rest, plx_index n_rest)
{
    plx__mark mark = plx__arena_mark(plx__scratch(m->ctx));
    lm_model model = {.block = full->block, .column = full->column, .count = full->count};
    int32_t *label = NULL;
    double *value = NULL;
    plx_mat some;
    PLX_TRY(plx__arena_mat(&some, plx__scratch(m->ctx), n_rest, rows.cols));
    PLX_TRY(plx__arena_i32(&label, plx__scratch(m->ctx), n_rest));
    PLX_TRY(plx__arena_f64(&value, plx__scratch(m->ctx), plx__max(model.count, 1), 1));
    for (plx_index k = 0; k < n_rest; k++) {
        memcpy(some.data + k * some.ld, rows.data + rest[k] * rows.ld, (size_t)rows.cols * sizeof *some.data);
        label[k] = m->label[rest[k]];
    }
    PLX_TRY(learn_columns(&model, m, plx__cmat(some), label, m->classes));
    decide_rows(out, &model, rows, in, n_in, value, m->classes);
    plx__arena_rewind(plx__scratch(m->ctx), mark);
    return PLX_OK;
}

static void copy_row(const lm_said *to, plx_index i, const lm_said *from, plx_index j)
{
    memcpy(to->decision.data + i * to->decision.ld, from->decision.data + j * from->decision.ld,
           (size_t)to->decision.cols * sizeof(double));
    memcpy(to->probability.data + i * to->probability.ld, from->probability.data + j * from->probability.ld,
           (size_t)to->probability.cols * sizeof(double));
    to->label[i] = from->label[j];
}

plx_status plx__lm_say_labelled(lm_said *out, const lm *m, const lm_model *model, plx_cmat rows, const lm_said *all)
{
    plx__arena *scratch = plx__scratch(m->ctx);
    plx_index *in = NULL, *rest = NULL, *left = NULL, n_in = 0, n_rest = 0;
    uint8_t *fold = NULL;
    PLX_TRY(open_said(out, m->ctx, m->l, m->classes));
    for (plx_index i = 0; i < m->l; i++) copy_row(out, i, all, m->labelled[i]);
    if (m->set->outputs == LM_OUTPUTS_FIT) return PLX_OK;
    PLX_TRY(plx__arena_i64(&in, scratch, m->l));
    PLX_TRY(plx__arena_i64(&rest, scratch, m->l));
    PLX_TRY(assign_folds(&fold, m, &left));
    for (int f = 0; f < FOLDS; f++) {
        if (!split_fold(in, &n_in, rest, &n_rest, m, fold, f, left) || !n_in) continue;
        PLX_TRY(say_fold(out, m, model, rows, in, n_in, rest, n_rest));
        PLX_TRY(plx__report(m->ctx, "folds", f + 1, FOLDS, NAN));
    }
    return PLX_OK;
}

/* ---- in a model file ---- */

/* "weights_NAME" is public; "_platt_NAME" and, with all_columns unset, "NAME_features". */
plx_status plx__lm_model_put(const lm *m, const lm_model *model, const char *name, bool all_columns)
{
    const char *key = NULL;
    plx_mat out;
    PLX_TRY(plx__arena_printf(&key, plx__scratch(m->ctx), "weights_%s", name));
    PLX_TRY(plx__store_put(m->run->out, key, plx__cmat(model->weight)));
    if (model->platt) {
        PLX_TRY(plx__arena_printf(&key, plx__scratch(m->ctx), "_platt_%s", name));
        PLX_TRY(plx__store_new(&out, m->run->out, key, model->weight.rows, 2));
        for (plx_index f = 0; f < out.rows; f++) {
            out.data[2 * f] = model->platt[f].a;
            out.data[2 * f + 1] = model->platt[f].b;
        }
    }
    if (all_columns) return PLX_OK;
    PLX_TRY(plx__arena_printf(&key, plx__scratch(m->ctx), "%s_features", name));
    PLX_TRY(plx__store_new(&out, m->run->out, key, model->count, 1));
    for (plx_index c = 0; c < model->count; c++) out.data[c] = (double)model->column[c];
    return PLX_OK;
}

static plx_status get_columns(lm_model *out, const lm *m, const char *name)
{
    const char *key = NULL;
    plx_cmat stored;
    PLX_TRY(plx__arena_printf(&key, plx__scratch(m->ctx), "%s_features", name));
    bool all = !plx__store_find(m->run->fitted, key);
    if (all) out->count = out->block->cols;
    else {
        PLX_TRY(plx__store_shaped(&stored, m->ctx, m->run->fitted, key, -1, 1));
        out->count = stored.rows;
    }
    PLX_TRY(plx__arena_i64(&out->column, plx__scratch(m->ctx), out->count));
    for (plx_index c = 0; c < out->count; c++) {
        double at = all ? (double)c : stored.data[c];
        if (!(at >= 0 && at < (double)out->block->cols) || (c && at <= (double)out->column[c - 1]))
            PLX_FAIL(m->ctx, PLX_E_FORMAT, "the model's features cannot be right");
        out->column[c] = (plx_index)at;
    }
    return PLX_OK;
}

plx_status plx__lm_model_get(lm_model *out, const lm *m, const lm_block *block, const char *name, plx_index classes)
{
    const char *key = NULL;
    plx_cmat stored;
    plx_index functions = plx__linear_functions(classes);
    *out = (lm_model){.block = block};
    PLX_TRY(get_columns(out, m, name));
    PLX_TRY(plx__arena_printf(&key, plx__scratch(m->ctx), "weights_%s", name));
    PLX_TRY(plx__store_shaped(&stored, m->ctx, m->run->fitted, key, functions, out->count + 1));
    PLX_TRY(plx__mat_clone(&out->weight, plx__scratch(m->ctx), stored));
    if (m->set->learner == PLX__LEARN_LOGISTIC) return PLX_OK;
    PLX_TRY(plx__arena_printf(&key, plx__scratch(m->ctx), "_platt_%s", name));
    PLX_TRY(plx__store_shaped(&stored, m->ctx, m->run->fitted, key, functions, 2));
    PLX_TRY(PLX__ARENA_NEW(&out->platt, plx__scratch(m->ctx), functions));
    for (plx_index f = 0; f < functions; f++) out->platt[f] = (plx__platt){stored.data[2 * f], stored.data[2 * f + 1]};
    return PLX_OK;
}
