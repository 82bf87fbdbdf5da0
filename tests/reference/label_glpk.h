/*
 * Label programs as integer programs for GLPK: the reference that tests and benchmarks compare with (PLX_REFERENCES).
 *
 * Columns: y_i^v binary; for every class and pair of views d >= |y_i^u - y_i^v|; for every rule and view a slack that
 * takes up what is broken. At an optimum the continuous columns take their smallest value, so this is the objective.
 */
#ifndef PLX_REFERENCE_LABEL_GLPK_H
#define PLX_REFERENCE_LABEL_GLPK_H

#include <glpk.h>
#include <setjmp.h>

#include "labelsets/label_program_impl.h"

typedef struct model {
    glp_prob *lp;
    const plx__label_program *p;
    int s;
    double violate;
} model;

static int y_column(const model *m, plx_index i, int v) { return 1 + (int)i * m->s + v; }

static int penalty_column(model *m, double price)
{
    int c = glp_add_cols(m->lp, 1);
    glp_set_col_bnds(m->lp, c, GLP_LO, 0, 0);
    glp_set_obj_coef(m->lp, c, -price);
    return c;
}

/* a * col[0] + b * col[1] - slack <= bound */
static void soft_row(model *m, int first, double a, int second, double b, int slack, double bound)
{
    int index[4] = {0, first, second, slack}, r = glp_add_rows(m->lp, 1);
    double value[4] = {0, a, b, -1};
    glp_set_row_bnds(m->lp, r, GLP_UP, 0, bound);
    glp_set_mat_row(m->lp, r, 3, index, value);
}

static void add_labels(model *m, const double *const *scores)
{
    const plx__label_program *p = m->p;
    if (p->k * m->s > 0) glp_add_cols(m->lp, (int)(p->k * m->s));
    for (plx_index i = 0; i < p->k; i++)
        for (int v = 0; v < m->s; v++) {
            glp_set_col_kind(m->lp, y_column(m, i, v), GLP_BV);
            glp_set_obj_coef(m->lp, y_column(m, i, v), p->w.score * scores[v][i]);
        }
}

static void add_disagreement(model *m)
{
    if (m->p->w.disagree == 0) return;
    for (plx_index i = 0; i < m->p->k; i++)
        for (int u = 0; u < m->s; u++)
            for (int v = u + 1; v < m->s; v++) {
                int d = penalty_column(m, m->p->w.disagree);
                soft_row(m, y_column(m, i, u), 1, y_column(m, i, v), -1, d, 0);
                soft_row(m, y_column(m, i, v), 1, y_column(m, i, u), -1, d, 0);
            }
}

/* sum_i y_i - over + under = 1 for a view. */
static plx_status add_cardinality(model *m, plx_context *ctx, int v)
{
    int *index = NULL;
    double *value = NULL;
    plx_index k = m->p->k;
    int over = penalty_column(m, m->violate), under = penalty_column(m, m->violate), r = glp_add_rows(m->lp, 1);
    PLX_TRY(plx__arena_i32(&index, plx__scratch(ctx), k + 3));
    PLX_TRY(plx__arena_f64(&value, plx__scratch(ctx), k + 3, 1));
    for (plx_index i = 0; i < k; i++) {
        index[i + 1] = y_column(m, i, v);
        value[i + 1] = 1;
    }
    index[k + 1] = over;
    value[k + 1] = -1;
    index[k + 2] = under;
    value[k + 2] = 1;
    glp_set_row_bnds(m->lp, r, GLP_FX, 1, 1);
    glp_set_mat_row(m->lp, r, (int)k + 2, index, value);
    return PLX_OK;
}

static void add_pairs(model *m, int v)
{
    const plx__label_rules *r = m->p->rules;
    if (m->violate == 0) return;
    for (plx_index i = 0; i < r->k; i++)
        for (plx_index j = 0; j < r->k; j++) {
            if (label_has(r->above + i * r->words, j))
                soft_row(m, y_column(m, i, v), 1, y_column(m, j, v), -1, penalty_column(m, m->violate), 0);
            if (j > i && label_has(r->exclusive + i * r->words, j))
                soft_row(m, y_column(m, i, v), 1, y_column(m, j, v), 1, penalty_column(m, m->violate), 1);
        }
}

static plx_status build(model *m, plx_context *ctx, const double *const *scores)
{
    glp_set_obj_dir(m->lp, GLP_MAX);
    add_labels(m, scores);
    add_disagreement(m);
    for (int v = 0; v < m->s; v++) {
        if (m->p->rules->flat) PLX_TRY(add_cardinality(m, ctx, v));
        else add_pairs(m, v);
    }
    return PLX_OK;
}

/* Agreed classes are fixed; their scores count, which does not change the argmax. */
static void fix_agreed(model *m, const uint16_t *pattern, int s)
{
    for (plx_index i = 0; i < m->p->k; i++)
        if (pattern[i] == 0 || pattern[i] == (1 << s) - 1)
            glp_set_col_bnds(m->lp, y_column(m, i, 0), GLP_FX, pattern[i] != 0, 0);
}

/* A hard program can take minutes: the user may stop it at every node. */
static void look_up(glp_tree *tree, void *info)
{
    if (plx__poll(info) != PLX_OK) glp_ios_terminate(tree);
}

static plx_status optimise(model *m, plx_context *ctx, uint16_t *pattern)
{
    glp_iocp options;
    glp_init_iocp(&options);
    options.msg_lev = GLP_MSG_OFF;
    options.presolve = GLP_ON;
    options.cb_func = look_up;
    options.cb_info = ctx;
    int code = m->p->k > 0 ? glp_intopt(m->lp, &options) : 0;
    if (code == GLP_ESTOP) return plx__poll(ctx);
    if (m->p->k > 0 && (code != 0 || glp_mip_status(m->lp) != GLP_OPT))
        PLX_FAIL(ctx, PLX_E_NUMERIC,
                 "GLPK did not solve a label program of %lld classes; use fewer rules or closure=true",
                 (long long)m->p->k);
    for (plx_index i = 0; i < m->p->k; i++) {
        pattern[i] = 0;
        for (int v = 0; v < m->s; v++)
            pattern[i] = (uint16_t)(pattern[i] << 1 | (glp_mip_col_val(m->lp, y_column(m, i, v)) > 0.5));
    }
    return PLX_OK;
}

static void escape(void *info) { longjmp(*(jmp_buf *)info, 1); }

/* GLPK ends the process when it runs out of memory unless a hook leaves first; its memory then goes with its
 * environment. An environment that was there before is somebody else's and stays. */
static plx_status with_glpk(uint16_t *out, plx_context *ctx, const plx__label_program *p, const uint16_t *pattern,
                            const double *const *scores, int s)
{
    jmp_buf back;
    model m = {NULL, p, pattern ? 1 : s, pattern ? p->w.violate * s : p->w.violate};
    volatile bool ours = glp_init_env() == 0;
    volatile int words = glp_term_out(GLP_OFF);
    plx_status st = PLX_OK;
    plx__mark mark = plx__arena_mark(plx__scratch(ctx));
    if (setjmp(back)) {
        glp_error_hook(NULL, NULL);
        glp_term_out(words);
        if (ours) glp_free_env();
        plx__arena_rewind(plx__scratch(ctx), mark);
        PLX_FAIL(ctx, PLX_E_NOMEM, "GLPK ran out of memory on a label program of %lld classes", (long long)p->k);
    }
    glp_error_hook(escape, &back);
    m.lp = glp_create_prob();
    st = build(&m, ctx, scores);
    if (st == PLX_OK && pattern) fix_agreed(&m, pattern, s);
    if (st == PLX_OK) st = optimise(&m, ctx, out);
    glp_delete_prob(m.lp);
    glp_error_hook(NULL, NULL);
    glp_term_out(words);
    if (ours) glp_free_env();
    plx__arena_rewind(plx__scratch(ctx), mark);
    return st;
}

static inline plx_status glpk_solve(uint16_t *pattern, plx_context *ctx, const plx__label_program *p,
                                    const double *const *scores, int s)
{
    return with_glpk(pattern, ctx, p, NULL, scores, s);
}

static inline plx_status glpk_report(uint16_t *out, plx_context *ctx, const plx__label_program *p,
                                     const uint16_t *pattern, const double *const *scores, int s)
{
    double *sum = NULL;
    PLX_TRY(plx__arena_f64(&sum, plx__scratch(ctx), p->k, 1));
    for (plx_index i = 0; i < p->k; i++)
        for (int v = 0; v < s; v++) sum[i] += scores[v][i];
    const double *const one[1] = {sum};
    return with_glpk(out, ctx, p, pattern, one, s);
}

#endif
