/*
 * Systems by conjugate gradients of PETSc, preconditioned by Jacobi, spectra by Krylov-Schur of SLEPc.
 *
 * The tolerance is that of the residual itself, not of the preconditioned one. Every option of the two libraries counts
 * (--petsc "-pc_type gamg -eps_ncv 200"), after what is set here.
 */
#include "engines.h"

#include <slepceps.h>
#include <stdbool.h>
#include <stdio.h>

static char wanted[4096]; /* options */
static bool started;

/* ---- start, end, errors ---- */

/* What failed first, for the one line; PETSc itself keeps silent. */
typedef struct complaint {
    char *text;
    size_t size;
} complaint;

static PetscErrorCode note_error(MPI_Comm comm, int line, const char *function, const char *file, PetscErrorCode code,
                                 PetscErrorType type, const char *message, void *arg)
{
    complaint *c = arg;
    (void)comm, (void)line, (void)file;
    if (type == PETSC_ERROR_INITIAL) snprintf(c->text, c->size, "%s: %s", function, message ? message : "");
    return code;
}

static PetscErrorCode start(void)
{
    if (started) return 0;
    PetscFunctionBeginUser;
    PetscCall(SlepcInitializeNoArguments());
    started = true;
    PetscCall(PetscPopSignalHandler()); /* the command has its own */
    PetscCall(PetscOptionsInsertString(NULL, wanted));
    PetscFunctionReturn(0);
}

void mpi_engines_close(void)
{
    if (started) SlepcFinalize();
}

/* ---- matrices ---- */

static PetscErrorCode make_matrix(Mat *out, const plx_matrix_rows *m)
{
    PetscInt rows = (PetscInt)(m->end - m->begin), *ptr = NULL, *col = NULL;
    PetscFunctionBeginUser;
    PetscCall(PetscMalloc2(rows + 1, &ptr, m->ptr[rows], &col));
    for (PetscInt i = 0; i <= rows; i++) ptr[i] = (PetscInt)m->ptr[i];
    for (int64_t p = 0; p < m->ptr[rows]; p++) col[p] = m->col[p];
    PetscCall(
        MatCreateMPIAIJWithArrays(PETSC_COMM_WORLD, rows, rows, (PetscInt)m->n, (PetscInt)m->n, ptr, col, m->val, out));
    PetscCall(PetscFree2(ptr, col));
    PetscCall(MatSetOption(*out, MAT_SYMMETRIC, PETSC_TRUE));
    PetscFunctionReturn(0);
}

/* Column j of local rows x k, row by row, to or from a vector. */
static PetscErrorCode put_column(Vec v, const double *from, PetscInt k, PetscInt j)
{
    PetscInt rows = 0;
    PetscScalar *to = NULL;
    PetscFunctionBeginUser;
    PetscCall(VecGetLocalSize(v, &rows));
    PetscCall(VecGetArrayWrite(v, &to));
    for (PetscInt i = 0; i < rows; i++) to[i] = from[i * k + j];
    PetscCall(VecRestoreArrayWrite(v, &to));
    PetscFunctionReturn(0);
}

static PetscErrorCode take_column(Vec v, double *to, PetscInt k, PetscInt j)
{
    PetscInt rows = 0;
    const PetscScalar *from = NULL;
    PetscFunctionBeginUser;
    PetscCall(VecGetLocalSize(v, &rows));
    PetscCall(VecGetArrayRead(v, &from));
    for (PetscInt i = 0; i < rows; i++) to[i * k + j] = from[i];
    PetscCall(VecRestoreArrayRead(v, &from));
    PetscFunctionReturn(0);
}

/* ---- systems ---- */

static PetscErrorCode set_solver(KSP *out, Mat a, const plx_rank_system *s)
{
    PC pc = NULL;
    PetscFunctionBeginUser;
    PetscCall(KSPCreate(PETSC_COMM_WORLD, out));
    PetscCall(KSPSetOperators(*out, a, a));
    PetscCall(KSPSetType(*out, KSPCG));
    PetscCall(KSPSetNormType(*out, KSP_NORM_UNPRECONDITIONED));
    PetscCall(KSPGetPC(*out, &pc));
    PetscCall(PCSetType(pc, PCJACOBI));
    PetscInt most = (PetscInt)(10 * s->a->n < 100 ? 100 : 10 * s->a->n);
    PetscCall(KSPSetTolerances(*out, s->tol, 1e-300, PETSC_DEFAULT, most));
    PetscCall(KSPSetFromOptions(*out));
    PetscFunctionReturn(0);
}

/* *reason: the worst of all right sides. */
static PetscErrorCode solve_columns(KSP solver, Mat a, plx_rank_system *s, KSPConvergedReason *reason)
{
    Vec b = NULL, x = NULL;
    PetscFunctionBeginUser;
    PetscCall(MatCreateVecs(a, &x, &b));
    for (PetscInt j = 0; j < s->columns; j++) {
        KSPConvergedReason why = KSP_CONVERGED_ITERATING;
        PetscInt iterations = 0;
        PetscCall(put_column(b, s->b, (PetscInt)s->columns, j));
        PetscCall(KSPSolve(solver, b, x));
        PetscCall(KSPGetConvergedReason(solver, &why));
        PetscCall(KSPGetIterationNumber(solver, &iterations));
        PetscCall(take_column(x, s->x, (PetscInt)s->columns, j));
        if (why < *reason) *reason = why;
        if (iterations > s->iterations) s->iterations = iterations;
    }
    PetscCall(VecDestroy(&b));
    PetscCall(VecDestroy(&x));
    PetscFunctionReturn(0);
}

static PetscErrorCode solve_all(plx_rank_system *s, KSPConvergedReason *reason)
{
    Mat a = NULL;
    KSP solver = NULL;
    PetscFunctionBeginUser;
    PetscCall(start());
    PetscCall(make_matrix(&a, s->a));
    PetscCall(set_solver(&solver, a, s));
    PetscCall(solve_columns(solver, a, s, reason));
    PetscCall(KSPDestroy(&solver));
    PetscCall(MatDestroy(&a));
    PetscFunctionReturn(0);
}

/* With PETSc's own words kept for the line. */
static PetscErrorCode quietly(PetscErrorCode (*work)(void *arg), void *arg, char *why, size_t size)
{
    complaint c = {why, size};
    PetscPushErrorHandler(note_error, &c);
    PetscErrorCode code = work(arg);
    PetscPopErrorHandler();
    return code;
}

typedef struct system_job {
    plx_rank_system *s;
    KSPConvergedReason reason;
} system_job;

static PetscErrorCode work_system(void *arg)
{
    system_job *job = arg;
    return solve_all(job->s, &job->reason);
}

static int solve(plx_rank_system *s, char *why, size_t size, void *payload)
{
    system_job job = {s, KSP_CONVERGED_ITS};
    (void)payload;
    if (quietly(work_system, &job, why, size) != 0) return 2;
    s->converged = job.reason > 0;
    if (job.reason >= 0 || job.reason == KSP_DIVERGED_ITS) return 0;
    snprintf(why, size, "%s", KSPConvergedReasons[job.reason]);
    return 1;
}

/* ---- spectra ---- */

typedef struct shell {
    Mat m;
    plx_rank_spectrum *s;
} shell;

/* y = M x + E x. */
static PetscErrorCode multiply(Mat a, Vec x, Vec y)
{
    shell *z = NULL;
    const PetscScalar *from = NULL;
    PetscScalar *to = NULL;
    PetscFunctionBeginUser;
    PetscCall(MatShellGetContext(a, &z));
    PetscCall(MatMult(z->m, x, y));
    PetscCall(VecGetArrayRead(x, &from));
    PetscCall(VecGetArray(y, &to));
    int failed = z->s->add(z->s->arg, from, to);
    PetscCall(VecRestoreArray(y, &to));
    PetscCall(VecRestoreArrayRead(x, &from));
    PetscCheck(!failed, PETSC_COMM_SELF, PETSC_ERR_USER, "a product failed");
    PetscFunctionReturn(0);
}

static PetscErrorCode make_operator(Mat *out, shell *z)
{
    PetscInt rows = (PetscInt)(z->s->m->end - z->s->m->begin), n = (PetscInt)z->s->m->n;
    PetscFunctionBeginUser;
    PetscCall(MatCreateShell(PETSC_COMM_WORLD, rows, rows, n, n, z, out));
    PetscCall(MatShellSetOperation(*out, MATOP_MULT, (void (*)(void))multiply));
    PetscCall(MatSetOption(*out, MAT_SYMMETRIC, PETSC_TRUE));
    PetscFunctionReturn(0);
}

static PetscErrorCode set_search(EPS *out, Mat a, const plx_rank_spectrum *s)
{
    Vec begin = NULL;
    PetscFunctionBeginUser;
    PetscCall(EPSCreate(PETSC_COMM_WORLD, out));
    PetscCall(EPSSetOperators(*out, a, NULL));
    PetscCall(EPSSetProblemType(*out, EPS_HEP));
    PetscCall(EPSSetType(*out, EPSKRYLOVSCHUR));
    PetscCall(EPSSetWhichEigenpairs(*out, s->largest ? EPS_LARGEST_REAL : EPS_SMALLEST_REAL));
    PetscCall(EPSSetDimensions(*out, (PetscInt)s->k, (PetscInt)s->basis, PETSC_DEFAULT));
    PetscCall(EPSSetConvergenceTest(*out, EPS_CONV_ABS));
    PetscInt restarts = (PetscInt)(10 * s->m->n / s->k < 300 ? 300 : 10 * s->m->n / s->k);
    PetscCall(EPSSetTolerances(*out, s->tol, restarts));
    PetscCall(MatCreateVecs(a, &begin, NULL));
    PetscCall(put_column(begin, s->start, 1, 0));
    PetscCall(EPSSetInitialSpace(*out, 1, &begin));
    PetscCall(VecDestroy(&begin));
    PetscCall(EPSSetFromOptions(*out));
    PetscFunctionReturn(0);
}

static PetscErrorCode take_pairs(EPS search, Mat a, plx_rank_spectrum *s)
{
    PetscInt found = 0, steps = 0;
    Vec v = NULL;
    PetscFunctionBeginUser;
    PetscCall(EPSGetConverged(search, &found));
    PetscCall(EPSGetIterationNumber(search, &steps));
    s->iterations = steps;
    s->converged = found >= s->k;
    PetscCall(MatCreateVecs(a, &v, NULL));
    for (PetscInt j = 0; j < s->k && j < found; j++) {
        PetscScalar value = 0;
        PetscCall(EPSGetEigenpair(search, j, &value, NULL, v, NULL));
        s->values[j] = value;
        PetscCall(take_column(v, s->vectors, (PetscInt)s->k, j));
    }
    PetscCall(VecDestroy(&v));
    PetscFunctionReturn(0);
}

static PetscErrorCode work_spectrum(void *arg)
{
    plx_rank_spectrum *s = arg;
    shell z = {NULL, s};
    Mat whole = NULL;
    EPS search = NULL;
    PetscFunctionBeginUser;
    PetscCall(start());
    PetscCall(make_matrix(&z.m, s->m));
    if (s->add) PetscCall(make_operator(&whole, &z));
    PetscCall(set_search(&search, s->add ? whole : z.m, s));
    PetscCall(EPSSolve(search));
    PetscCall(take_pairs(search, z.m, s));
    PetscCall(EPSDestroy(&search));
    PetscCall(MatDestroy(&whole));
    PetscCall(MatDestroy(&z.m));
    PetscFunctionReturn(0);
}

static int eigen(plx_rank_spectrum *s, char *why, size_t size, void *payload)
{
    (void)payload;
    return quietly(work_spectrum, s, why, size) ? 2 : 0;
}

void mpi_engines_open(plx_engines *engines, const char *options)
{
    if (options) snprintf(wanted, sizeof wanted, "%s", options);
    engines->solve = solve;
    engines->eigen = eigen;
}
