#!/usr/bin/env bash
# Fits by several processes beside those of one: tests/mpi/table.sh BUILD_DIR [RANKS...]
#
# Prints a table of methods x ranks, each with every number of threads of $THREADS (1 2); of $METHODS only, where that is
# set. "same": model and results have the bytes of one process with one thread; a number: the largest difference of an
# array, within a tolerance argued below, with the same labels. Fails where it is otherwise, and where a method that
# `parallax methods` calls distributed has no row here. Without PETSc and SLEPc graph methods are left out, and the build
# has to say so.
# shellcheck source=tests/mpi/common.sh
. "$(dirname "$0")/common.sh"
[ $# -gt 0 ] || set -- 1 2 3 5 8
all_ranks=$*
threads=${THREADS:-1 2}
tried=" "

# wanted METHOD
wanted() {
    tried="$tried$1 "
    case " ${METHODS:-$1} " in *" $1 "*) ;; *) return 1 ;; esac
}

row_begins() { printf '| %-26s |' "$1"; }

cell() { printf ' %-9s |' "$1"; }

# same NAME METHOD ARGUMENTS...
same() {
    local name=$1 write="--out " count t result
    shift
    wanted "$1" || return 0
    row_begins "$name"
    case $1 in cca | kcca) write="--dump shared=" ;; esac # they find coordinates, no labels
    # shellcheck disable=SC2086
    one fit "$@" --model one.plx ${write}one.csv --threads 1
    for count in $all_ranks; do
        result=same
        for t in $threads; do
            rm -f many.plx many.csv
            # shellcheck disable=SC2086
            if ! ranks "$count" fit "$@" --model many.plx ${write}many.csv --threads "$t" --quiet; then result=FAILED
            elif ! cmp -s one.plx many.plx || ! cmp -s one.csv many.csv; then result=DIFFERENT; fi
        done
        [ $result = same ] || failed=1
        cell $result
    done
    echo
}

# The largest difference of two tables of numbers, of the same shape.
difference() {
    [ "$(wc -l <"$1")" = "$(wc -l <"$2")" ] || { echo inf; return; }
    paste -d, "$1" "$2" | awk -F, '{
        for (i = 1; i <= NF / 2; i++) { d = $i - $(i + NF / 2); if (d < 0) d = -d; if (d > most) most = d }
    } END { printf "%.1e", most }'
}

# near NAME ARRAY TOLERANCE METHOD ARGUMENTS...: the ranks also with $petsc.
petsc=""
near() {
    local name=$1 array=$2 tolerance=$3 count t most off
    shift 3
    wanted "$1" || return 0
    row_begins "$name"
    one fit "$@" --out one.csv --dump "$array=one.dump.csv" --threads 1
    for count in $all_ranks; do
        most=0
        for t in $threads; do
            rm -f many.csv many.dump.csv
            if ! ranks "$count" fit "$@" ${petsc:+--petsc "$petsc"} --out many.csv --dump "$array=many.dump.csv" \
                --threads "$t" --quiet; then
                most=FAILED
                break
            fi
            if ! cmp -s <(cut -d, -f1,2 one.csv) <(cut -d, -f1,2 many.csv); then most=LABELS; break; fi
            off=$(difference one.dump.csv many.dump.csv)
            most=$(awk -v a="$most" -v b="$off" 'BEGIN { print (a + 0 > b + 0 ? a : b) }')
        done
        awk -v off="$most" -v most="$tolerance" 'BEGIN { exit !(off ~ /^[0-9]/ && off + 0 <= most + 0) }' || failed=1
        cell "$most"
    done
    echo
}

# Panes are runs of 32,768 samples (65,536 for coem here); every data set has two of them, so that there is a sum.
at_least() { echo $(($1 > $2 ? $1 : $2)); }
make_text docs "$(at_least "$samples" 70000)" 300 10
make_text wide "$(at_least $((samples * 2 / 5)) 35000)" 3000 20
# groups NAME SAMPLES_OF_A_CLASS ARGUMENTS...
groups() {
    local name=$1 n=$2
    shift 2
    one data generate two-gauss "$name" --set n="$n" --set classes=3 --set views=2 --seed 1 "$@"
}
groups pairs "$(at_least $((samples / 5)) 12000)" --set dims=6 --set separation=1.2 --set labelled=20 --set missing=0.2
groups few 12000 --set dims=3 --set missing=0.1
groups small 600 --set dims=8 --set separation=1.2 --set missing=0.2 --set labelled=40
groups crowd 12000 --set dims=8 --set separation=1.2 --set labelled=100

row_begins ranks
for count in $all_ranks; do cell "$count"; done
printf '\n|---|'
for count in $all_ranks; do printf -- '---|'; done
echo

# Sums over samples.
same "nb" nb docs --labels 5%
same "coem" coem docs --labels 5% --set max_iter=3
same "mvkmeans" mvkmeans docs --labels 5% --set max_iter=3
same "mvplsa" mvplsa docs --labels 5% --set max_iter=3 --set topics=4
same "cotrain" cotrain docs --labels 1% --set rounds=3
same "cotrain, pool of all" cotrain docs --labels 1% --set rounds=2 --set pool=0
# Linear least squares: normal equations (up to 2,000 features), a small kernel matrix, conjugate gradients.
same "rls" rls docs --labels 60%
same "rls, cosine" rls docs --labels 60% --set kernel=cosine
same "rls, few labels" rls docs --labels 1%
same "rls, many features" rls wide --labels 60% --set gamma_a=0.1
# The classes are divided.
same "svm" svm docs --labels 4% --set gamma_a=0.1
same "svm, rbf kernel" svm docs --labels 1% --set kernel=rbf --set width=4
# By the matrices of the views, by products, by their factors.
same "cca" cca docs --set dim=3 --set retrieval=false
same "cca, iterative" cca pairs --set dim=2 --set retrieval=false --set solver=iterative
same "cca, svd" cca docs --set dim=3 --set retrieval=false --set solver=svd
# Matrices (few features), conjugate gradients.
same "colr" colr docs --labels 2% --set gem_iter=3
same "colr, many features" colr wide --labels 5% --set hyper=fixed --set gem_iter=2
# Neighbours by the ring, then sums.
same "laprls" laprls crowd --set knn=exact
# Pivots, and the features of linear kernels; some samples lack a view.
same "bct, pivots" bct pairs --set kernel=rbf --set width=3 --set pivots=30
same "bct, pivots, learned" bct pairs --set kernel=rbf --set width=3 --set pivots=10 \
    --set optimize=view_variance --set max_iter=3
same "bct, features" bct pairs --set lowrank=exact
same "rls, pivots" rls pairs --labels 60% --set kernel=rbf --set width=3 --set pivots=40
same "corls, pivots" corls pairs --set kernel=rbf --set width=3 --set pivots=30
same "corls, linear" corls pairs --set gamma_c=1
same "gp, pivots" gp pairs --labels 40% --set kernel=rbf --set width=3 --set pivots=20 --set max_iter=2
# Rows of the reduced views, centred by means over all pairs or not.
same "kcca, linear" kcca pairs --set gs_max=6 --set dim=2 --set retrieval=false
same "kcca, rbf" kcca pairs --set kernel=rbf --set width=3 --set gs_max=40 --set dim=3 --set center=false \
    --set retrieval=false
same "kcca, rbf, centred" kcca few --set kernel=rbf --set width=3 --set gs_max=30 --set dim=3 --set retrieval=false

# Systems and spectra, by the solvers of the build.
ranks 2 fit lapreg small --quiet >said.txt 2>&1 || true
if grep -q 'built without' said.txt; then
    [ "$(grep -c '^parallax: lapreg: several processes need solvers' said.txt)" = 1 ] || fault "$(cat said.txt)"
    tried="${tried}lapreg nlapreg llereg llreg mvll spectral smd "
else
    # Scores: |dF| <= tol |C Y| / smallest eigenvalue of L + C, which is at least c_u. With tol = 1e-10, c_u = 1e-3 and
    # 120 labels of 3 classes, |C Y| = sqrt(360) per three columns: 1e-10 x 19 / 1e-3 = 1.9e-6.
    for method in lapreg nlapreg llereg llreg mvll; do
        near "$method, scores" scores 1.9e-6 $method small --set c_u=0.001
    done
    # Another preconditioner, the same scores.
    petsc="-pc_type gamg" near "lapreg by gamg, scores" scores 1.9e-6 lapreg small --set c_u=0.001
    # Eigenvalues: a residual r leaves an error of at most r, here 1e-10 (one process: the same relative to values <= 1;
    # smallest ones: 1e-12 of the norm of L, which is below 100).
    near "spectral, eigenvalues" eigenvalues 2e-10 spectral small --set clusters=3
    near "smd, singular values" singular_values 2e-10 smd small --set clusters=3 --set affinity_k=50
    near "nlapreg, eigenvalues" eigenvalues 2e-10 nlapreg small --set task=cluster --set clusters=3
fi

for method in $("$build/parallax" methods | awk '!NF { exit } $3 != "-" { print $1 }'); do
    case $tried in *" $method "*) ;; *) fault "$method is not in the table" ;; esac
done
exit $failed
