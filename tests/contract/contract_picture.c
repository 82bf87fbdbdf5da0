/*
 * Results copied out of a model or prediction, and compared: byte for byte, or within a tolerance with rows and
 * features in another order. Which dimension is counted in samples or features is read from the declared shapes.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "contract.h"

static void *get(size_t count, size_t size)
{
    void *p = calloc(count ? count : 1, size);
    if (!p) abort();
    return p;
}

/* ---- taking ---- */

static void copy_array(picture_array *to, const plx__array *a)
{
    to->name = strdup(a->name);
    to->rows = a->sparse ? a->csr.rows : a->dense.rows;
    to->cols = a->sparse ? a->csr.cols : a->dense.cols;
    to->x = get((size_t)(to->rows * to->cols), sizeof(double));
    for (plx_index i = 0; i < to->rows; i++) {
        double *row = to->x + i * to->cols;
        if (!a->sparse) memcpy(row, a->dense.data + i * a->dense.ld, (size_t)to->cols * sizeof *row);
        else
            for (int64_t k = a->csr.ptr[i]; k < a->csr.ptr[i + 1]; k++) row[a->csr.col[k]] = a->csr.val[k];
    }
}

static picture *take(const plx__method *method, const plx__store *store, const plx__outcome *o)
{
    picture *p = get(1, sizeof *p);
    p->array = get((size_t)store->count, sizeof *p->array);
    for (const plx__array *a = store->first; a; a = a->next) {
        const plx__array_spec *spec = plx__array_spec_find(method, a->name);
        p->array[p->n_arrays].infinite = spec && (spec->flags & PLX__MAY_BE_INFINITE);
        copy_array(&p->array[p->n_arrays++], a);
    }
    p->n = o->n;
    p->label = get((size_t)o->n, sizeof *p->label);
    for (plx_index i = 0; i < o->n; i++) p->label[i] = strdup(o->label && o->label[i] ? o->label[i] : "?");
    p->k = o->scores.data ? o->scores.cols : 0;
    p->scores = get((size_t)(p->n * p->k), sizeof(double));
    for (plx_index i = 0; p->k && i < p->n; i++)
        memcpy(p->scores + i * p->k, o->scores.data + i * o->scores.ld, (size_t)p->k * sizeof(double));
    p->objective = NAN;
    return p;
}

picture *picture_model(const plx_model *m)
{
    picture *p = take(m->method, &m->store, &m->fitted.outcome);
    p->iterations = m->facts.iterations;
    p->objective = m->facts.objective;
    return p;
}

picture *picture_prediction(const plx_prediction *p) { return take(p->method, &p->store, &p->outcome); }

void picture_free(picture *p)
{
    if (!p) return;
    for (plx_index a = 0; a < p->n_arrays; a++) {
        free(p->array[a].name);
        free(p->array[a].x);
    }
    for (plx_index i = 0; i < p->n; i++) free(p->label[i]);
    free(p->array);
    free(p->label);
    free(p->scores);
    free(p);
}

picture *fit_picture(trial *t, plx_context *ctx, const raw *r)
{
    plx_dataset *data = raw_dataset(t, r, ctx);
    plx_model *m = must_fit(t, ctx, data);
    picture *p = m ? picture_model(m) : NULL;
    plx_model_destroy(m);
    plx_dataset_destroy(data);
    return p;
}

picture *predict_picture(trial *t, plx_context *ctx, const plx_model *model, const raw *r)
{
    plx_dataset *data = raw_dataset(t, r, ctx);
    plx_prediction *out = NULL;
    plx_status st = plx_predict(&out, ctx, model, data);
    picture *p = st == PLX_OK ? picture_prediction(out) : NULL;
    CHECK(t, st == PLX_OK, "predict fails: %s: %s", plx_status_name(st), plx_context_error(ctx));
    plx_prediction_destroy(out);
    plx_dataset_destroy(data);
    return p;
}

bool picture_finite(const picture *p, char *where, size_t bytes)
{
    for (plx_index a = 0; a < p->n_arrays; a++)
        for (plx_index i = 0; i < p->array[a].rows * p->array[a].cols; i++)
            if (!isfinite(p->array[a].x[i]) && !(isnan(p->array[a].x[i]) && p->array[a].name[0] == '_') &&
                !(p->array[a].infinite && p->array[a].x[i] > 0))
                return snprintf(where, bytes, "array %s, entry %lld", p->array[a].name, (long long)i), false;
    for (plx_index i = 0; i < p->n * p->k; i++)
        if (!isfinite(p->scores[i])) return snprintf(where, bytes, "scores, entry %lld", (long long)i), false;
    return true;
}

/* ---- comparing ---- */

static char difference[256];

/* Order of a dimension of an array: of the samples, of a view's features, or NULL for unchanged. */
static const plx_index *order_of(const trial *t, const char *name, int dimension, const moved *m)
{
    const plx__array_spec *spec = plx__array_spec_find(t->about, name);
    if (!m || !spec) return NULL;
    if (plx__array_by_sample(spec, dimension)) return m->row;
    const char *cross = strstr(spec->shape, " x "), *dot = strrchr(name, '.');
    bool features = cross && (dimension == 0 ? strncmp(spec->shape, "d x", 3) == 0 : strcmp(cross + 3, "d") == 0);
    if (!features || !dot || !m->data) return NULL;
    for (plx_index v = 0; v < m->data->n_views; v++)
        if (strcmp(m->data->view[v].name, dot + 1) == 0) return m->feature[v];
    return NULL;
}

static bool near(double a, double b, double tolerance)
{
    return a == b || (isnan(a) && isnan(b)) || fabs(a - b) <= tolerance * fmax(1.0, fmax(fabs(a), fabs(b)));
}

static bool compare_values(const char *what, const double *a, const double *b, plx_index rows, plx_index cols,
                           double tolerance, const plx_index *row, const plx_index *col)
{
    if (tolerance == 0) {
        if (memcmp(a, b, (size_t)(rows * cols) * sizeof *a) == 0) return true;
        snprintf(difference, sizeof difference, "%s: the bytes differ", what);
        return false;
    }
    for (plx_index i = 0; i < rows; i++)
        for (plx_index j = 0; j < cols; j++) {
            double x = a[i * cols + j], y = b[(row ? row[i] : i) * cols + (col ? col[j] : j)];
            if (near(x, y, tolerance)) continue;
            snprintf(difference, sizeof difference, "%s (%lld, %lld): %.17g and %.17g", what, (long long)i,
                     (long long)j, x, y);
            return false;
        }
    return true;
}

static const picture_array *find(const picture *p, const char *name)
{
    for (plx_index a = 0; a < p->n_arrays; a++)
        if (strcmp(p->array[a].name, name) == 0) return &p->array[a];
    return NULL;
}

static bool has_flag(const trial *t, const char *name, unsigned flag)
{
    const plx__array_spec *spec = plx__array_spec_find(t->about, name);
    return spec && spec->flags & flag;
}

static void rename_samples(const picture_array *a, const plx_index *row)
{
    for (plx_index i = 0; i < a->rows * a->cols; i++) a->x[i] = (double)row[(plx_index)a->x[i]];
}

static bool compare_arrays(const trial *t, const picture *a, const picture *b, double tolerance, const moved *m)
{
    for (plx_index i = 0; i < a->n_arrays; i++) {
        const picture_array *x = &a->array[i], *y = find(b, x->name);
        if (tolerance > 0 && (x->name[0] == '_' || (m && m->row && is_clusterer(t)))) continue;
        if (!y || x->rows != y->rows || x->cols != y->cols) {
            snprintf(difference, sizeof difference, "array %s is %s", x->name, y ? "of another shape" : "not there");
            return false;
        }
        if (m && m->row && has_flag(t, x->name, PLX__SAMPLE_ORDER)) continue;
        if (m && m->row && has_flag(t, x->name, PLX__SAMPLE_NUMBERS)) rename_samples(x, m->row);
        if (!compare_values(x->name, x->x, y->x, x->rows, x->cols, tolerance, order_of(t, x->name, 0, m),
                            order_of(t, x->name, 1, m)))
            return false;
    }
    return true;
}

/* Two best scores this near make the label a matter of rounding. */
static bool is_tie(const picture *p, plx_index i)
{
    double best = -INFINITY, second = -INFINITY;
    for (plx_index c = 0; c < p->k; c++) {
        double s = p->scores[i * p->k + c];
        if (s > best) {
            second = best;
            best = s;
        } else if (s > second) {
            second = s;
        }
    }
    return p->k > 1 && best - second <= 1e-7 * fmax(1.0, fabs(best));
}

/* Cluster names may change with the order of the rows: then pairs must agree. */
static bool compare_labels(const trial *t, const picture *a, const picture *b, double tolerance, const moved *m)
{
    const plx_index *row = m ? m->row : NULL;
    bool up_to_names = row && is_clusterer(t);
    for (plx_index i = 0; i < a->n; i++) {
        const char *x = a->label[i], *y = b->label[row ? row[i] : i];
        bool same = strcmp(x, y) == 0;
        for (plx_index j = 0; up_to_names && j < a->n; j++) {
            same = (strcmp(x, a->label[j]) == 0) == (strcmp(y, b->label[row[j]]) == 0);
            if (!same) break;
        }
        if (same || (tolerance > 0 && is_tie(a, i))) continue;
        snprintf(difference, sizeof difference, "label of sample %lld: %s and %s", (long long)i, x, y);
        return false;
    }
    return true;
}

const char *picture_difference(const trial *t, const picture *a, const picture *b, double tolerance, const moved *m)
{
    if (!a || !b) return "there is no result";
    if (a->n != b->n || a->k != b->k || (tolerance == 0 && a->n_arrays != b->n_arrays)) return "sizes differ";
    if (!compare_labels(t, a, b, tolerance, m)) return difference;
    if (!(m && m->row && is_clusterer(t)) &&
        !compare_values("scores", a->scores, b->scores, a->n, a->k, tolerance, m ? m->row : NULL, NULL))
        return difference;
    if (!near(a->objective, b->objective, tolerance)) {
        snprintf(difference, sizeof difference, "objective: %.17g and %.17g", a->objective, b->objective);
        return difference;
    }
    return compare_arrays(t, a, b, tolerance, m) ? NULL : difference;
}
