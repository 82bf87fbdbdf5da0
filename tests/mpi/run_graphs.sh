#!/usr/bin/env bash
# Graph methods over ranks and threads against one process: tests/mpi/run_graphs.sh BUILD_DIR [RANKS...]
#
# Prints the largest difference of scores or eigenvalues for methods x ranks x threads, and fails when one is larger than
# the tolerance below, when a prediction differs, or when what cannot be is not said in one line. Does nothing in a build
# without PETSc and SLEPc but see that it says so.
set -u
build=$(cd "$1" && pwd); shift
[ $# -gt 0 ] || set -- 1 2 3 5 8
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_btl_base_warn_component_unused=0
work=$(mktemp -d); trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
"$build/parallax" data generate two-gauss groups --set n=600 --set classes=3 --set dims=8 --set separation=1.2 \
    --set views=2 --set missing=0.2 --set labelled=40 --seed 1 --quiet || exit 1
failed=0

# ranks COUNT ARGUMENTS...
ranks() { local count=$1; shift; mpirun --oversubscribe -n "$count" "$build/parallax-mpi" "$@"; }

ranks 2 fit lapreg groups --quiet 2>said.txt || true
if grep -q 'built without' said.txt; then
    [ "$(grep -c '^parallax: lapreg: several processes need solvers' said.txt)" = 1 ] || { cat said.txt; exit 1; }
    echo "graph methods: this build has no PETSc and SLEPc, and says so"
    exit 0
fi

# The largest difference of two tables of numbers.
difference() {
    paste -d, "$1" "$2" | awk -F, '{
        for (i = 1; i <= NF / 2; i++) { d = $i - $(i + NF / 2); if (d < 0) d = -d; if (d > most) most = d }
    } END { printf "%.1e", most }'
}

# check NAME ARRAY TOLERANCE ARGUMENTS...
check() {
    local name=$1 array=$2 tolerance=$3; shift 3
    "$build/parallax" fit "$@" --out one.csv --dump "$array=one.dump.csv" --threads 1 --quiet || exit 1
    for count in $all_ranks; do
        for threads in 1 2; do
            rm -f many.csv many.dump.csv
            ranks "$count" fit "$@" --out many.csv --dump "$array=many.dump.csv" --threads $threads --quiet
            off=$(difference one.dump.csv many.dump.csv)
            result=same
            cut -d, -f1,2 one.csv >one.labels; cut -d, -f1,2 many.csv >many.labels
            cmp -s one.labels many.labels || result="OTHER LABELS"
            awk -v off="$off" -v most="$tolerance" 'BEGIN { exit !(off <= most) }' || result="TOO FAR"
            [ -s many.dump.csv ] || result="FAILED"
            [ "$result" = same ] || failed=1
            printf '%-18s %d ranks x %d threads: %s off by %s (at most %s), labels %s\n' "$name" "$count" $threads \
                "$array" "$off" "$tolerance" "$result"
        done
    done
}
all_ranks=$*

# Scores: |dF| <= tol |C Y| / smallest eigenvalue of L + C, which is at least c_u. With tol = 1e-10, c_u = 1e-3 and
# 120 labels of 3 classes, |C Y| = sqrt(360) per three columns: 1e-10 x 19 / 1e-3 = 1.9e-6.
for method in lapreg nlapreg llereg llreg mvll; do
    check $method scores 1.9e-6 $method groups --set c_u=0.001
done
# Eigenvalues: a residual r leaves an error of at most r, here 1e-10 (one process: the same relative to values <= 1;
# smallest ones: 1e-12 of the norm of L, which is below 100).
check spectral eigenvalues 2e-10 spectral groups --set clusters=3
check smd singular_values 2e-10 smd groups --set clusters=3 --set affinity_k=50
check "nlapreg, clusters" eigenvalues 2e-10 nlapreg groups --set task=cluster --set clusters=3

# Options of PETSc: another preconditioner, the same scores; an unknown solver is one line.
"$build/parallax" fit lapreg groups --set c_u=0.001 --dump scores=one.dump.csv --quiet
ranks 3 fit lapreg groups --set c_u=0.001 --dump scores=many.dump.csv --quiet --petsc "-pc_type gamg"
off=$(difference one.dump.csv many.dump.csv)
printf 'lapreg with gamg: off by %s\n' "$off"
awk -v off="$off" 'BEGIN { exit !(off <= 1.9e-6) }' || failed=1
ranks 2 fit lapreg groups --quiet --petsc "-ksp_type nothing" 2>said.txt && failed=1
[ "$(grep -c '^parallax: lapreg: the solver of all processes failed: ' said.txt)" = 1 ] ||
    { echo "not told once: -ksp_type"; cat said.txt; failed=1; }

# A rank is killed in the middle: the job ends, and rank 0 says so in one line.
"$build/parallax" data generate two-gauss long --set n=10000 --set classes=3 --set dims=60 --set labelled=0 --seed 1 --quiet
ranks 3 fit spectral long --set clusters=3 --quiet >killed.txt 2>&1 &
job=$!
for _ in $(seq 100); do [ "$(pgrep -c -P "$(pgrep -P $job -x mpirun || echo $job)" parallax-mpi)" = 3 ] && break; sleep 0.1; done
sleep 2
kill -KILL "$(pgrep -P "$(pgrep -P $job -x mpirun || echo $job)" parallax-mpi | tail -1)"
wait $job; code=$?
told=$(grep -c '^parallax-mpi: ended from outside' killed.txt)
printf 'spectral, a rank killed: exit code %d, told %d times\n' $code "$told"
[ $code != 0 ] && [ "$told" = 1 ] || { cat killed.txt; failed=1; }

# What cannot be is said once.
ranks 2 fit spectral groups --set clusters=3 --set affinity_k=0 2>said.txt && failed=1
[ "$(grep -c '^parallax: spectral: affinities of all pairs' said.txt)" = 1 ] || { echo "not told once: affinity_k"; failed=1; }
exit $failed
