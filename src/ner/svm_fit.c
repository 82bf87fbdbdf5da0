/*
 * Fitting the support vector machines: for every category min 1/2 |w|^2 + C sum max(0, 1 - y w.x)^2 by Newton's method
 * with conjugate gradients, categories side by side.
 *
 * The design matrix is never formed. X w: scores of slot x form first, then sums over the words of each instance. X' r:
 * sums of r over slot x form first, then over the forms' features.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/crew.h"
#include "core/parallel.h"
#include "ner/svm_rows.h"
#include "optim/newton_cg.h"

enum { MOST_STEPS = 500 };

/* Of a Newton step far from the minimum: most instances that have a loss there will have none in the end, so accurate steps
 * are wasted. */
static const double ACCURACY = 0.1;

typedef struct problem {
    const plx__svm *m;
    const plx__svm_text *t;
    plx__svm_layout l;
    plx_index instances;
    const int8_t *y;
    double twice_c;
    double *slack, *work; /* by instance */
    double *table;        /* slots x forms */
    double *start, *end;  /* by token: sums over the instances that start there; that end there */
    plx__svm_rows rows;   /* of the instances with a loss, as long as have_rows */
    plx__arena rows_arena;
    bool have_rows;
} problem;

/* ---- instances ---- */

static bool is_enhanced(const plx__svm *m) { return m->params.window == 1; }

int32_t plx__svm_label(const plx__svm *m, const plx__ner_mark *gold, plx_index n, plx_index begin, plx_index end)
{
    int32_t type = gold[begin].prefix == 'O' ? -1 : gold[begin].type;
    if (type < 0) return -1;
    if (is_enhanced(m)) {
        /* A name: begins here, goes on to the end, and no further. */
        bool starts =
            gold[begin].prefix == 'B' || begin == 0 || gold[begin - 1].prefix == 'O' || gold[begin - 1].type != type;
        for (plx_index i = begin + 1; i < end; i++)
            if (gold[i].prefix != 'I' || gold[i].type != type) return -1;
        if (!starts || (end < n && gold[end].prefix == 'I' && gold[end].type == type)) return -1;
    }
    for (plx_index c = 0; c < m->n_cat; c++)
        if (m->type[c] == type) return (int32_t)c;
    return -1;
}

static plx_index count_instances(const plx__svm *m, const plx__svm_text *t)
{
    plx_index count = 0;
    for (plx_index s = 0; s < t->n_sentences; s++) PLX__EACH_INSTANCE(t, m, s, begin, stop) count++;
    return count;
}

static void label_instances(int32_t *label, const plx__svm *m, const plx__svm_text *t, const plx__ner_mark *gold)
{
    for (plx_index s = 0; s < t->n_sentences; s++) {
        plx_index first = t->sentence[s], n = t->sentence[s + 1] - first;
        PLX__EACH_INSTANCE(t, m, s, begin, stop)
        *label++ = plx__svm_label(m, gold + first, n, begin - first, stop - first);
    }
}

/* ---- X w ---- */

static void make_table(double *table, const plx__svm_text *t, const plx__svm_layout *l, const double *w)
{
    for (plx_index slot = 0; slot < l->slots; slot++)
        for (plx_index f = 0; f < t->n_forms; f++) {
            const double *column = w + slot * l->base;
            double sum = 0;
            for (plx_index k = t->ptr[f]; k < t->ptr[f + 1]; k++) sum += column[t->base[k]] * t->value[k];
            table[slot * t->n_forms + f] = sum;
        }
}

/* Score of the word at `at` of sentence s in a slot, or of its absence. */
static double at_slot(const problem *p, const double *w, plx_index s, plx_index at, plx_index slot)
{
    const plx__svm_text *t = p->t;
    if (at < t->sentence[s] || at >= t->sentence[s + 1]) return w[p->l.pad + slot];
    return p->table[slot * t->n_forms + t->form[at]];
}

static double contexts(const plx_index *ptr, const int32_t *col, const double *val, const double *w, plx_index i)
{
    double sum = 0;
    for (plx_index k = ptr[i]; k < ptr[i + 1]; k++) sum += w[col[k]] * val[k];
    return sum;
}

/* What an instance gets from where it starts (its first word is `i`), and from where it ends (its last word is `i`). */
static void make_edges(problem *p, const double *w, plx_index s)
{
    const plx__svm_text *t = p->t;
    const plx__svm_layout *l = &p->l;
    for (plx_index i = t->sentence[s]; i < t->sentence[s + 1]; i++) {
        double start = contexts(t->pre_ptr, t->pre_col, t->pre_val, w + l->pre, i);
        double end = contexts(t->suc_ptr, t->suc_col, t->suc_val, w + l->suc, i);
        for (int k = 0; k < 3; k++) start += at_slot(p, w, s, i - 3 + k, l->before + k);
        for (int k = 0; k < 2; k++) end += at_slot(p, w, s, i + 1 + k, l->after + k);
        p->start[i] = start + p->table[(l->focus >= 0 ? l->focus : l->first) * t->n_forms + t->form[i]];
        p->end[i] = end + (l->last >= 0 ? p->table[l->last * t->n_forms + t->form[i]] : 0);
    }
}

static void times(problem *p, const double *w, double *out)
{
    const plx__svm_text *t = p->t;
    const plx__svm_layout *l = &p->l;
    make_table(p->table, t, l, w);
    for (plx_index s = 0; s < t->n_sentences; s++) {
        make_edges(p, w, s);
        if (!is_enhanced(p->m)) {
            for (plx_index i = t->sentence[s]; i < t->sentence[s + 1]; i++)
                if (plx__svm_is_candidate(t, i)) *out++ = p->start[i] + p->end[i] + w[l->bias];
            continue;
        }
        const double *inner = p->table + l->inner * t->n_forms;
        for (plx_index begin = t->sentence[s]; begin < t->sentence[s + 1]; begin++) {
            double inside = 0;
            plx_index last = plx__min(t->sentence[s + 1], begin + p->m->params.max_span);
            if (!plx__svm_is_candidate(t, begin)) continue;
            for (plx_index stop = begin + 1; stop <= last; stop++) {
                if (stop - begin > 2) inside += inner[t->form[stop - 2]];
                if (plx__svm_is_candidate(t, stop - 1))
                    *out++ = p->start[begin] + p->end[stop - 1] + inside + w[l->bias] +
                             w[l->len] * (double)(stop - begin) / PLX__SVM_SPAN_UNIT;
            }
        }
    }
}

/* ---- X' r ---- */

static void add_slot(const problem *p, double *g, plx_index s, plx_index at, plx_index slot, double r)
{
    const plx__svm_text *t = p->t;
    if (at < t->sentence[s] || at >= t->sentence[s + 1]) g[p->l.pad + slot] += r;
    else p->table[slot * t->n_forms + t->form[at]] += r;
}

/* Residuals by start and end go to the words around. */
static void add_edges(problem *p, double *g, plx_index s)
{
    const plx__svm_text *t = p->t;
    const plx__svm_layout *l = &p->l;
    for (plx_index i = t->sentence[s]; i < t->sentence[s + 1]; i++) {
        double a = p->start[i], b = p->end[i];
        for (int k = 0; k < 3; k++) add_slot(p, g, s, i - 3 + k, l->before + k, a);
        for (int k = 0; k < 2; k++) add_slot(p, g, s, i + 1 + k, l->after + k, b);
        p->table[(l->focus >= 0 ? l->focus : l->first) * t->n_forms + t->form[i]] += a;
        if (l->last >= 0) p->table[l->last * t->n_forms + t->form[i]] += b;
        for (plx_index k = t->pre_ptr[i]; k < t->pre_ptr[i + 1]; k++) g[l->pre + t->pre_col[k]] += a * t->pre_val[k];
        for (plx_index k = t->suc_ptr[i]; k < t->suc_ptr[i + 1]; k++) g[l->suc + t->suc_col[k]] += b * t->suc_val[k];
    }
}

static const double *spread_spans(problem *p, double *g, plx_index s, const double *r)
{
    const plx__svm_text *t = p->t;
    double *inner = p->table + p->l.inner * t->n_forms;
    PLX__EACH_INSTANCE(t, p->m, s, begin, stop)
    {
        p->start[begin] += *r;
        p->end[stop - 1] += *r;
        g[p->l.bias] += *r;
        g[p->l.len] += *r * (double)(stop - begin) / PLX__SVM_SPAN_UNIT;
        for (plx_index i = begin + 1; *r != 0 && i < stop - 1; i++) inner[t->form[i]] += *r;
        r++;
    }
    return r;
}

static const double *spread_words(problem *p, double *g, plx_index s, const double *r)
{
    const plx__svm_text *t = p->t;
    for (plx_index i = t->sentence[s]; i < t->sentence[s + 1]; i++) {
        if (!plx__svm_is_candidate(t, i)) continue;
        p->start[i] = p->end[i] = *r;
        g[p->l.bias] += *r++;
    }
    return r;
}

static void times_t(problem *p, const double *r, double *g)
{
    const plx__svm_text *t = p->t;
    const plx__svm_layout *l = &p->l;
    memset(g, 0, (size_t)l->columns * sizeof *g);
    memset(p->table, 0, (size_t)(l->slots * t->n_forms) * sizeof *p->table);
    memset(p->start, 0, (size_t)t->n * sizeof *p->start);
    memset(p->end, 0, (size_t)t->n * sizeof *p->end);
    for (plx_index s = 0; s < t->n_sentences; s++) {
        r = (is_enhanced(p->m) ? spread_spans : spread_words)(p, g, s, r);
        add_edges(p, g, s);
    }
    for (plx_index slot = 0; slot < l->slots; slot++)
        for (plx_index f = 0; f < t->n_forms; f++) {
            double sum = p->table[slot * t->n_forms + f], *column = g + slot * l->base;
            for (plx_index k = t->ptr[f]; k < t->ptr[f + 1]; k++) column[t->base[k]] += sum * t->value[k];
        }
}

/* ---- the problem of a category ---- */

static plx_status value(void *arg, plx_context *ctx, const double *w, double *f, double *gradient)
{
    problem *p = arg;
    double loss = 0, square = 0;
    PLX_TRY(plx__poll(ctx));
    p->have_rows = false;
    times(p, w, p->work);
    for (plx_index i = 0; i < p->instances; i++) {
        double slack = fmax(0.0, 1.0 - p->y[i] * p->work[i]);
        p->slack[i] = slack;
        loss += slack * slack;
        p->work[i] = -p->twice_c * p->y[i] * slack;
    }
    times_t(p, p->work, gradient);
    for (plx_index k = 0; k < p->l.columns; k++) {
        gradient[k] += w[k];
        square += w[k] * w[k];
    }
    *f = 0.5 * square + 0.5 * p->twice_c * loss;
    return PLX_OK;
}

/* Rows of the instances that have a loss at the point of the last value(). */
static plx_status need_rows(problem *p, plx_context *ctx)
{
    if (p->have_rows) return PLX_OK;
    plx__arena_free(&p->rows_arena);
    plx__arena_init(&p->rows_arena, ctx);
    PLX_TRY(plx__svm_rows_make(&p->rows, &p->rows_arena, p->m, p->t, p->slack));
    p->have_rows = true;
    return PLX_OK;
}

static plx_status curve(void *arg, plx_context *ctx, double *out, const double *v)
{
    problem *p = arg;
    PLX_TRY(plx__poll(ctx));
    PLX_TRY(need_rows(p, ctx));
    memcpy(out, v, (size_t)p->l.columns * sizeof *out);
    plx__svm_rows_gram(&p->rows, out, p->twice_c, v);
    return PLX_OK;
}

typedef struct fit {
    plx__svm *m;
    const plx__svm_text *t;
    const int32_t *label;
    plx_index instances;
    plx_index *support; /* by category */
    plx__crew crew;
} fit;

static plx_status open_problem(problem *p, plx__arena *arena)
{
    PLX_TRY(plx__arena_f64(&p->slack, arena, p->instances, 1));
    PLX_TRY(plx__arena_f64(&p->work, arena, p->instances, 1));
    PLX_TRY(plx__arena_f64(&p->table, arena, p->l.slots, p->t->n_forms));
    PLX_TRY(plx__arena_f64(&p->start, arena, p->t->n, 1));
    return plx__arena_f64(&p->end, arena, p->t->n, 1);
}

static plx_status solve(problem *p, plx_context *ctx, double *w, double tol, double *objective)
{
    plx__newton_problem newton = {p->l.columns, ACCURACY, p, value, curve};
    double *gradient = NULL;
    PLX_TRY(plx__newton_cg(ctx, &newton, w, tol, MOST_STEPS, NULL));
    PLX_TRY(plx__arena_f64(&gradient, plx__scratch(ctx), p->l.columns, 1));
    return value(p, ctx, w, objective, gradient);
}

static plx_status fit_category(fit *f, plx_context *ctx, plx_index cat)
{
    plx__arena *scratch = plx__scratch(ctx);
    int8_t *y = NULL;
    problem p = {.m = f->m, .t = f->t, .l = plx__svm_layout_of(f->m), .instances = f->instances};
    PLX_TRY(plx__arena_bytes((void **)&y, scratch, p.instances, sizeof *y));
    for (plx_index i = 0; i < p.instances; i++) y[i] = f->label[i] == cat ? 1 : -1;
    p.y = y;
    p.twice_c = 2 * f->m->params.C;
    PLX_TRY(open_problem(&p, scratch));
    plx__arena_init(&p.rows_arena, ctx);
    plx_status st = solve(&p, ctx, f->m->weight + cat * f->m->columns, 0.01 * f->m->params.tol, &f->m->objective[cat]);
    plx__arena_free(&p.rows_arena);
    PLX_TRY(st);
    for (plx_index i = 0; i < p.instances; i++) f->support[cat] += p.slack[i] > 0;
    return PLX_OK;
}

static plx_status fit_categories(void *arg, plx_context *ctx, plx_index begin, plx_index end, int worker)
{
    fit *f = arg;
    plx_context *own = f->crew.member[worker];
    (void)ctx;
    for (plx_index cat = begin; cat < end; cat++) {
        plx__mark mark = plx__arena_mark(plx__scratch(own));
        plx_status st = fit_category(f, own, cat);
        plx__arena_rewind(plx__scratch(own), mark);
        PLX_TRY(st);
    }
    return PLX_OK;
}

/* Weights of the same features in another model: new features start at 0. */
static void start_from(plx__svm *m, const plx__svm *start)
{
    plx__svm_layout to = plx__svm_layout_of(m), from = plx__svm_layout_of(start);
    if (m->params.window != start->params.window) return;
    for (plx_index cat = 0; cat < m->n_cat; cat++) {
        double *w = m->weight + cat * m->columns;
        const double *before = start->weight + cat * start->columns;
        for (plx_index k = 0; k < to.base; k++) {
            plx_index at = plx__dict_get(&start->base, m->base.key[k].text, m->base.key[k].length);
            for (plx_index slot = 0; at >= 0 && slot < to.slots; slot++)
                w[slot * to.base + k] = before[slot * from.base + at];
        }
        memcpy(w + to.pad, before + from.pad, (size_t)(to.columns - to.pad) * sizeof *w);
    }
}

plx_status plx__svm_fit(plx__svm *m, plx_context *ctx, plx__arena *arena, const plx__svm_text *text,
                        const plx__ner_mark *gold, const plx__svm *start)
{
    plx__mark mark = plx__arena_mark(plx__scratch(ctx));
    int32_t *label = NULL;
    fit f = {.m = m, .t = text, .instances = count_instances(m, text)};
    m->columns = plx__svm_layout_of(m).columns;
    m->support = 0;
    PLX_TRY(plx__arena_f64(&m->weight, arena, m->n_cat, m->columns));
    PLX_TRY(plx__arena_f64(&m->objective, arena, m->n_cat, 1));
    PLX_TRY(plx__arena_i32(&label, plx__scratch(ctx), f.instances));
    PLX_TRY(PLX__ARENA_NEW(&f.support, plx__scratch(ctx), m->n_cat));
    label_instances(label, m, text, gold);
    f.label = label;
    if (start) start_from(m, start);
    plx_status st = plx__crew_open(&f.crew, ctx, m->n_cat);
    if (st == PLX_OK) st = plx__parallel_for(ctx, m->n_cat, 1, fit_categories, &f);
    plx__crew_close(&f.crew);
    PLX_TRY(st);
    for (plx_index c = 0; c < m->n_cat; c++) m->support += f.support[c];
    plx__arena_rewind(plx__scratch(ctx), mark);
    return PLX_OK;
}

/* ---- categories ---- */

static int compare_text(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

plx_status plx__svm_categories(plx__svm *m, plx_context *ctx, plx__arena *arena, const plx__ner_text *text,
                               const plx__ner_types *types)
{
    bool *there = NULL;
    int32_t *type = NULL;
    PLX_TRY(PLX__ARENA_NEW(&there, plx__scratch(ctx), types->count));
    for (plx_index i = 0; i < text->n; i++)
        if (text->gold[i].prefix != 'O') there[text->gold[i].type] = true;
    PLX_TRY(PLX__ARENA_NEW(&m->cat, arena, types->count));
    PLX_TRY(plx__arena_i32(&type, arena, types->count));
    m->n_cat = 0;
    for (plx_index k = 0; k < types->count; k++)
        if (there[k]) PLX_TRY(plx__arena_text(&m->cat[m->n_cat++], arena, types->name[k]));
    qsort(m->cat, (size_t)m->n_cat, sizeof *m->cat, compare_text);
    for (plx_index c = 0; c < m->n_cat; c++) type[c] = (int32_t)plx__map_get(&types->map, m->cat[c]);
    m->type = type;
    if (m->n_cat == 0) PLX_FAIL(ctx, PLX_E_DATA, "there are no names in the training text");
    return PLX_OK;
}
