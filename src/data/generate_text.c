/*
 * Topic text in any number of views, and links between samples beside a text view.
 *
 * Sample i is of class i mod K. A token is noise (any word), common (the Zipf law all classes share), or
 * belongs to the sample's class, or to one other class the document borrows from; how much it borrows is the
 * document's own and the same in all views.
 */
#include <math.h>
#include <stdio.h>

#include "core/parallel.h"
#include "data/generate_impl.h"

typedef struct document_mix {
    const plx__topics *topics;
    plx_index classes;
    double noise, overlap, mixing;
    uint64_t seed;
    const int32_t *foreign; /* n: class a document borrows from */
    const double *share;    /* n: how much */
} document_mix;

static plx_index pick_topic(const void *arg, plx_index row, double u)
{
    const document_mix *m = arg;
    plx_index topic = 0;
    if (!plx__topics_own(&u, &topic, m->topics, m->noise, m->overlap)) return topic;
    return u < m->share[row] ? m->foreign[row] : row % m->classes;
}

/* share ~ U(0, 2 mixing), the other class uniform among the K - 1. */
static plx_status draw_mixing(document_mix *m, plx__gen_run *run)
{
    plx__arena *scratch = plx__scratch(run->ctx);
    double *share = NULL;
    int32_t *foreign = NULL;
    PLX_TRY(plx__arena_f64(&share, scratch, 1, run->n));
    PLX_TRY(plx__arena_i32(&foreign, scratch, run->n));
    for (plx_index i = 0; i < run->n; i++) {
        double u = plx__rng_uniform(run->ctx->seed, PLX__STREAM('t', 'm', 'i', 'x', 0), (uint64_t)i);
        double f = plx__rng_uniform(run->ctx->seed, PLX__STREAM('t', 'm', 'i', 'x', 1), (uint64_t)i);
        share[i] = m->classes > 1 ? 2.0 * m->mixing * u : 0.0;
        foreign[i] = (int32_t)((i + 1 + (plx_index)(f * (double)(m->classes - 1))) % m->classes);
    }
    m->share = share;
    m->foreign = foreign;
    return PLX_OK;
}

static plx_status begin_mix(document_mix *m, plx__gen_run *run, plx_index classes)
{
    *m = (document_mix){.classes = classes,
                        .noise = plx__gen_real(&run->set, "noise"),
                        .mixing = plx__gen_real(&run->set, "mixing"),
                        .seed = run->ctx->seed};
    return draw_mixing(m, run);
}

/* Text view number `t` as the next view of the data set. */
static plx_status add_text_view(plx__gen_run *run, document_mix *m, plx_index t, const char *name)
{
    plx__arena *scratch = plx__scratch(run->ctx);
    plx__mark mark = plx__arena_mark(scratch);
    const plx__gen_settings *s = &run->set;
    const uint8_t *present = run->present + run->data->n_views * run->n;
    plx__topics topics;
    plx_csr x;
    PLX_TRY(plx__topics_draw(&topics, run->ctx, scratch, m->classes, (plx_index)plx__gen_at(s, "features", t),
                             plx__gen_real(s, "concentration"), t));
    m->topics = &topics;
    m->overlap = plx__gen_at(s, "overlap", t);
    PLX_TRY(plx__topics_write(&x, run->ctx, scratch, &topics, run->n, plx__gen_at(s, "length", t), t, present,
                              pick_topic, m));
    PLX_TRY(plx__gen_add_sparse(run, name, PLX_VIEW_COUNTS, x, "w", 1));
    plx__arena_rewind(scratch, mark);
    return plx__report(run->ctx, "generate", run->data->n_views, run->views, NAN);
}

static plx_status truth_by_class(plx__gen_run *run, plx_index classes)
{
    const char *const *names = NULL;
    const char **truth = NULL;
    PLX_TRY(plx__gen_names(&names, plx__scratch(run->ctx), "c", classes, 1));
    PLX_TRY(plx__arena_ptrs((void ***)&truth, plx__scratch(run->ctx), run->n));
    for (plx_index i = 0; i < run->n; i++) truth[i] = names[i % classes];
    return plx__gen_truth(run, truth, NULL);
}

static plx_status make_text(plx__gen_run *run)
{
    plx_index classes = plx__gen_int(&run->set, "classes");
    document_mix mix;
    char name[32];
    PLX_TRY(plx__gen_begin(run, plx__gen_int(&run->set, "n"), plx__gen_int(&run->set, "views")));
    PLX_TRY(begin_mix(&mix, run, classes));
    for (plx_index v = 0; v < run->views; v++) {
        snprintf(name, sizeof name, "text%lld", (long long)v);
        PLX_TRY(add_text_view(run, &mix, v, name));
    }
    return truth_by_class(run, classes);
}

#define MIXING_PARAM                                                                                                   \
    PLX__GEN_ROW("mixing", REAL, "0.1", 0, 0.5, NULL,                                                                  \
                 "Mean share of a document's own tokens that it borrows from another class: larger is harder.")

static const plx__param_spec TEXT_PARAMS[] = {
    PLX__GEN_ROW("n", INT, "1000", 1, 1e9, NULL, "Samples."),
    PLX__GEN_ROW("views", INT, "2", 1, 1000, NULL, "Text views."),
    PLX__GEN_ROW("classes", INT, "4", 1, 100000, NULL, "Classes; sample i is of class i mod classes."),
    PLX__GEN_TEXT_PARAMS,
    MIXING_PARAM,
    PLX__GEN_ROW("labelled", TEXT, "10%", 0, 0, NULL, "Labelled samples per class: 2, 10%, c0=2,c1=5, all or none."),
    PLX__PARAM_END};

const plx__generator plx__gen_topic_text = {"text", "Sparse word counts: one word distribution per class and view.",
                                            TEXT_PARAMS, make_text};

/* ---- links ---- */

typedef struct link_job {
    plx_index n, classes;
    double within, between;
    bool upper;   /* undirected: only j > i, mirrored later */
    int64_t *ptr; /* counts at ptr[i + 1], then offsets */
    int32_t *col; /* NULL: count only */
} link_job;

/* Ascending members of one part of a row: every candidate with probability p, found by geometric jumps. */
typedef struct jumper {
    plx__rng r;
    double log_miss;     /* log(1 - p) */
    double place, count; /* among the candidates */
    plx_index row, classes;
    bool within;
} jumper;

static void jump(jumper *j)
{
    j->place += 1.0;
    if (j->log_miss == 0) j->place = j->count; /* p = 0 */
    else if (isfinite(j->log_miss)) j->place += floor(log(plx__next_uniform(&j->r)) / j->log_miss);
}

/* Sample that candidate number t of the row's class, or of the other classes, is; n past the end. */
static plx_index candidate(const jumper *j, plx_index n)
{
    if (j->place >= j->count) return n;
    plx_index t = (plx_index)j->place, own = j->row % j->classes;
    if (j->within) return own + t * j->classes;
    plx_index others = j->classes - 1, at = t % others;
    return t / others * j->classes + at + (at >= own);
}

static jumper start_jumper(const link_job *job, uint64_t seed, plx_index row, bool within)
{
    plx_index own = row % job->classes, members = (job->n - own + job->classes - 1) / job->classes;
    double p = within ? job->within : job->between;
    jumper j = {.r = {seed, PLX__STREAM('l', 'i', 'n', 'k', within), (uint64_t)row << 32},
                .log_miss = log1p(-p),
                .place = -1,
                .count = (double)(within ? members : job->n - members),
                .row = row,
                .classes = job->classes,
                .within = within};
    jump(&j);
    return j;
}

/* Links of one row in ascending order; returns how many, writing them when col is given. */
static int64_t link_row(const link_job *job, uint64_t seed, plx_index row, int32_t *col)
{
    int64_t count = 0;
    jumper a = start_jumper(job, seed, row, true), b = start_jumper(job, seed, row, false);
    for (;;) {
        plx_index x = candidate(&a, job->n), y = candidate(&b, job->n), next = plx__min(x, y);
        if (next >= job->n) return count;
        jump(x < y ? &a : &b);
        if (next == row || (job->upper && next < row)) continue;
        if (col) col[count] = (int32_t)next;
        count++;
    }
}

static plx_status link_rows(void *job_, plx_context *ctx, plx_index begin, plx_index end, int worker)
{
    const link_job *job = job_;
    (void)worker;
    for (plx_index i = begin; i < end; i++) {
        if (job->col) link_row(job, ctx->seed, i, job->col + job->ptr[i]);
        else job->ptr[i + 1] = link_row(job, ctx->seed, i, NULL);
    }
    return PLX_OK;
}

static plx_status ones(plx_csr *x, plx__arena *arena)
{
    PLX_TRY(plx__arena_bytes((void **)&x->val, arena, x->ptr[x->rows], sizeof *x->val));
    for (int64_t k = 0; k < x->ptr[x->rows]; k++) x->val[k] = 1.0;
    return PLX_OK;
}

static plx_status draw_links(plx_csr *out, plx_context *ctx, plx__arena *arena, link_job *job)
{
    enum { GRAIN = 256 };
    PLX_TRY(plx__arena_i64(&job->ptr, arena, job->n + 1));
    PLX_TRY(plx__parallel_for(ctx, job->n, GRAIN, link_rows, job));
    for (plx_index i = 0; i < job->n; i++) job->ptr[i + 1] += job->ptr[i];
    PLX_TRY(plx__arena_i32(&job->col, arena, job->ptr[job->n]));
    PLX_TRY(plx__parallel_for(ctx, job->n, GRAIN, link_rows, job));
    *out = (plx_csr){job->n, job->n, job->ptr, job->col, NULL};
    return ones(out, arena);
}

/* x' when !both, else x + x' of a strictly upper x. Going through the rows in order keeps columns ascending: the
 * transposed part of row i holds columns below i, its own part columns above. */
static plx_status transpose_links(plx_csr *out, plx__arena *arena, plx_csr x, bool both)
{
    plx_index n = x.rows;
    int64_t *ptr = NULL, *at = NULL;
    int32_t *col = NULL;
    PLX_TRY(plx__arena_i64(&ptr, arena, n + 1));
    PLX_TRY(plx__arena_i64(&at, arena, n));
    for (int64_t k = 0; k < x.ptr[n]; k++) ptr[x.col[k] + 1]++;
    for (plx_index i = 0; i < n; i++) ptr[i + 1] += ptr[i] + (both ? x.ptr[i + 1] - x.ptr[i] : 0);
    for (plx_index i = 0; i < n; i++) at[i] = ptr[i];
    PLX_TRY(plx__arena_i32(&col, arena, ptr[n]));
    for (plx_index i = 0; i < n; i++)
        for (int64_t k = x.ptr[i]; k < x.ptr[i + 1]; k++) col[at[x.col[k]]++] = (int32_t)i;
    for (plx_index i = 0; both && i < n; i++)
        for (int64_t k = x.ptr[i]; k < x.ptr[i + 1]; k++) col[at[i]++] = x.col[k];
    *out = (plx_csr){n, n, ptr, col, NULL};
    return ones(out, arena);
}

static plx_status add_link_views(plx__gen_run *run, plx_index classes)
{
    plx__arena *scratch = plx__scratch(run->ctx);
    plx__mark mark = plx__arena_mark(scratch);
    bool both = plx__gen_is(&run->set, "direction", "both");
    bool mirrored = plx__gen_is(&run->set, "direction", "undirected");
    link_job job = {.n = run->n,
                    .classes = classes,
                    .within = plx__gen_real(&run->set, "within"),
                    .between = plx__gen_real(&run->set, "between"),
                    .upper = mirrored};
    double expected = (double)run->n * (double)run->n * (job.within / (double)classes + job.between);
    plx_csr x, t;
    PLX_TRY(plx__need_memory(run->ctx, 12.0 * expected, "the generated links", "lower n, within or between"));
    PLX_TRY(draw_links(&x, run->ctx, scratch, &job));
    if (mirrored || both) PLX_TRY(transpose_links(&t, scratch, x, mirrored));
    PLX_TRY(
        plx__gen_add_sparse(run, both ? "out" : "links", PLX_VIEW_BINARY, mirrored ? t : x, "s", PLX__GEN_ID_DIGITS));
    if (both) PLX_TRY(plx__gen_add_sparse(run, "in", PLX_VIEW_BINARY, t, "s", PLX__GEN_ID_DIGITS));
    plx__arena_rewind(scratch, mark);
    return PLX_OK;
}

static plx_status make_links(plx__gen_run *run)
{
    plx_index classes = plx__gen_int(&run->set, "classes"), n = plx__gen_int(&run->set, "n");
    document_mix mix;
    PLX_TRY(plx__gen_begin(run, n, plx__gen_is(&run->set, "direction", "both") ? 3 : 2));
    PLX_TRY(begin_mix(&mix, run, classes));
    PLX_TRY(add_text_view(run, &mix, 0, "text"));
    PLX_TRY(add_link_views(run, classes));
    return truth_by_class(run, classes);
}

static const plx__param_spec LINK_PARAMS[] = {
    PLX__GEN_ROW("n", INT, "300", 2, 2e9, NULL, "Samples."),
    PLX__GEN_ROW("classes", INT, "3", 1, 100000, NULL, "Classes; sample i is of class i mod classes."),
    PLX__GEN_ROW("within", REAL, "0.05", 0, 1, NULL, "Probability of a link to a sample of the same class."),
    PLX__GEN_ROW("between", REAL, "0.005", 0, 1, NULL,
                 "Probability of a link to a sample of another: larger is harder."),
    PLX__GEN_ROW(
        "direction", CHOICE, "out", 0, 0, "out|both|undirected",
        "out: view links, row i holds what i links to; both: views out and in; undirected: a symmetric view links."),
    PLX__GEN_TEXT_PARAMS,
    MIXING_PARAM,
    PLX__GEN_ROW("labelled", TEXT, "10%", 0, 0, NULL, "Labelled samples per class: 2, 10%, c0=2,c1=5, all or none."),
    PLX__PARAM_END};

const plx__generator plx__gen_links = {
    "links", "A text view beside links between the samples, denser inside the classes.", LINK_PARAMS, make_links};
