#!/usr/bin/env bash
# Fits of further methods of sums over ranks and threads give the bytes of one process:
#   tests/mpi/run_families.sh BUILD_DIR [RANKS...]
#
# Prints a table of methods x ranks x threads, and fails when a model or a prediction differs, or when a setting that is
# not distributed is not refused in one line.
set -u
build=$(cd "$1" && pwd); shift
[ $# -gt 0 ] || set -- 1 2 3 5 8
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_btl_base_warn_component_unused=0
work=$(mktemp -d); trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
all_ranks=$*
failed=0
"$build/parallax" data generate text docs --set n=200000 --set views=2 --set classes=4 --set features=300 \
    --set length=10 --seed 1 --quiet || exit 1

# ranks COUNT ARGUMENTS...
ranks() { local count=$1; shift; mpirun --oversubscribe -n "$count" "$build/parallax-mpi" "$@"; }

# same NAME ARGUMENTS...
same() {
    local name=$1 write="--out " ; shift
    case $1 in cca | kcca) write="--dump shared=" ;; esac # they find coordinates, no labels
    # shellcheck disable=SC2086
    "$build/parallax" fit "$@" --model one.plx ${write}one.csv --threads 1 --quiet || exit 1
    for count in $all_ranks; do
        for threads in 1 2; do
            rm -f many.plx many.csv
            # shellcheck disable=SC2086
            ranks "$count" fit "$@" --model many.plx ${write}many.csv --threads $threads --quiet
            result=same
            cmp -s one.plx many.plx && cmp -s one.csv many.csv || { result=DIFFERENT; failed=1; }
            printf '%-24s %d ranks x %d threads: %s\n' "$name" "$count" $threads $result
        done
    done
}

# refused PATTERN ARGUMENTS...: in one line.
refused() {
    local pattern=$1; shift
    ranks 2 fit "$@" --quiet 2>said.txt && failed=1
    [ "$(grep -c "^parallax: $pattern" said.txt)" = 1 ] || { echo "not told once: $pattern"; cat said.txt; failed=1; }
}

same "cotrain" cotrain docs --labels 1% --set rounds=3
same "cotrain, pool of all" cotrain docs --labels 1% --set rounds=2 --set pool=0
refused "cotrain: base = svm is not distributed" cotrain docs --labels 1% --set base=svm

# Linear least squares: normal equations (up to 2,000 features), conjugate gradients, a small kernel matrix.
same "rls" rls docs --labels 60%
same "rls, cosine" rls docs --labels 60% --set kernel=cosine
same "rls, few labels" rls docs --labels 1%
refused "rls: kernel = rbf (view 'joined') is not distributed" rls docs --labels 1% --set kernel=rbf
refused "rls: solver = cg is not distributed" rls docs --labels 1% --set solver=cg
"$build/parallax" data generate text wide --set n=80000 --set views=2 --set classes=4 --set features=3000 \
    --set length=20 --seed 1 --quiet || exit 1
same "rls, many features" rls wide --labels 60% --set gamma_a=0.1

# Support vector machines: the classes are divided.
same "svm" svm docs --labels 4% --set gamma_a=0.1
same "svm, rbf kernel" svm docs --labels 1% --set kernel=rbf --set width=4

# Canonical correlations by products, and by the matrices of the views.
same "cca" cca docs --set dim=3 --set retrieval=false
same "cca, iterative" cca docs --set dim=3 --set retrieval=false --set solver=iterative

# Logistic regression with a co-training prior: matrices (few features), conjugate gradients.
same "colr" colr docs --labels 2% --set gem_iter=10
same "colr, many features" colr wide --labels 5% --set hyper=fixed --set gem_iter=2
# What is asked for beside the model is computed by all, written by one.
"$build/parallax" fit colr docs --labels 2% --set gem_iter=3 --dump posterior_precision=one.csv --report one.html --quiet || exit 1
timeout 120 mpirun --oversubscribe --bind-to none -n 2 "$build/parallax-mpi" fit colr docs --labels 2% --set gem_iter=3 \
    --dump posterior_precision=two.csv --report two.html --quiet
if [ -s two.html ] && cmp -s one.csv two.csv; then echo "colr, dump and report: same"; else echo "colr, dump and report: DIFFERENT"; failed=1; fi
timeout 120 mpirun --oversubscribe --bind-to none -n 2 "$build/parallax-mpi" fit nb docs --labels 2% --report nb.html --quiet
[ -s nb.html ] || { echo "nb, report: MISSING"; failed=1; }
refused "colr: graph = rbf is not distributed" colr docs --labels 2% --set graph=rbf
same "cca, svd" cca docs --set dim=3 --set retrieval=false --set solver=svd

# Least squares smoothed over a graph: neighbours by the ring, then sums.
"$build/parallax" data generate two-gauss groups --set n=12000 --set classes=3 --set dims=8 --set separation=1.2 \
    --set views=2 --set labelled=100 --seed 1 --quiet || exit 1
same "laprls" laprls groups --set knn=exact
refused "laprls: kernel = rbf (view 'joined') is not distributed" laprls groups --set kernel=rbf

# Bayesian co-training in weight space: pivots, and the features of linear kernels; some samples lack a view.
"$build/parallax" data generate two-gauss pairs --set n=40000 --set classes=3 --set dims=6 --set separation=1.2 \
    --set views=2 --set labelled=20 --set missing=0.2 --seed 1 --quiet || exit 1
same "bct, pivots" bct pairs --set kernel=rbf --set width=3 --set pivots=30
same "bct, pivots, learned" bct pairs --set kernel=rbf --set width=3 --set pivots=10 \
    --set optimize=view_variance --set max_iter=3
same "bct, features" bct pairs --set lowrank=exact
refused "bct: pivots = 0 with these kernels is not distributed" bct pairs --set kernel=rbf

# Least squares by pivots, of one view and of views that agree.
same "rls, pivots" rls pairs --labels 60% --set kernel=rbf --set width=3 --set pivots=40
same "corls, pivots" corls pairs --set kernel=rbf --set width=3 --set pivots=30
same "corls, linear" corls pairs --set gamma_c=1
refused "corls: the kernel of view 'v0' is not distributed" corls pairs --set kernel=rbf
same "gp, pivots" gp pairs --labels 40% --set kernel=rbf --set width=3 --set pivots=20 --set max_iter=2
refused "gp: pivots = 0 is not distributed" gp pairs

# Kernel canonical correlations: rows of the reduced views, centred by means over all pairs or not.
same "kcca, linear" kcca pairs --set gs_max=6 --set dim=2 --set retrieval=false
same "kcca, rbf" kcca pairs --set kernel=rbf --set width=3 --set gs_max=40 --set dim=3 --set center=false \
    --set retrieval=false
"$build/parallax" data generate two-gauss few --set n=12000 --set classes=3 --set dims=3 --set missing=0.1 --seed 1 \
    --quiet || exit 1
same "kcca, rbf, centred" kcca few --set kernel=rbf --set width=3 --set gs_max=30 --set dim=3 --set retrieval=false
exit $failed
