#!/usr/bin/env bash
# What several ranks cost on one machine: tests/mpi/measure.sh BUILD_DIR [REPETITIONS]
#
# Two ranks with a thread each beside one process with two threads (coem, mvkmeans): least wall time and processor time of
# the fit over the repetitions, which take turns; MPI waits busily, so what rank 0 spent in it is given beside. The same with sums by MPI_Allreduce (--deterministic 0). Then ordered
# sums beside MPI_Allreduce alone. Figures of docs/dev/scale.md; run it while nothing else runs.
set -u
build=$(cd "$1" && pwd)
repetitions=${2:-5}
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_btl_base_warn_component_unused=0
work=$(mktemp -d); trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
"$build/parallax" data generate text docs --set n=200000 --set views=2 --set classes=20 --set features=5000 \
    --set length=60 --seed 1 --quiet || exit 1

# figure NAME FILE: a number of the JSON.
figure() { grep -o "\"$1\": *[0-9.e+-]*" "$2" | head -1 | sed 's/.*: *//'; }

# once LABEL PROCESSES THREADS ARGUMENTS...: wall and processor seconds of the fit, and those in MPI.
once() {
    local label=$1 processes=$2 threads=$3; shift 3
    if [ "$processes" = 1 ]; then "$build/parallax" fit "$@" --threads "$threads" --json fit.json --quiet || exit 1
    else mpirun --oversubscribe --bind-to none -n "$processes" "$build/parallax-mpi" fit "$@" --threads "$threads" --json fit.json \
        --verbose >/dev/null 2>said.txt || { cat said.txt; exit 1; }; fi
    moved=$(sed -n 's/^parallax-mpi: rank 0 spent \([0-9.]*\) s.*/\1/p' said.txt 2>/dev/null)
    echo "$(figure seconds fit.json) $(figure processor_seconds fit.json) ${moved:-0}" >>"$label.times"
}
# The least wall time, processor time, and processor time less that in MPI.
least() { awk -v k="$2" '{ v = k == 1 ? $1 : k == 2 ? $2 : $2 - $3; if (NR == 1 || v < m) m = v } END { print m }' "$1.times"; }

echo "load average before: $(cut -d' ' -f1-3 /proc/loadavg)"
for method in coem mvkmeans; do
    settings="--labels 5% --set max_iter=6 --set tol=0"
    [ $method = coem ] || settings="--labels 5% --set max_iter=6"
    for _ in $(seq "$repetitions"); do
        # shellcheck disable=SC2086
        {
            once "$method.threads" 1 2 $method docs $settings
            once "$method.ranks" 2 1 $method docs $settings
            once "$method.any" 2 1 $method docs $settings --deterministic 0
        }
    done
    awk -v m=$method -v wt="$(least $method.threads 1)" -v wr="$(least $method.ranks 1)" -v wa="$(least $method.any 1)" \
        -v pt="$(least $method.threads 2)" -v pr="$(least $method.ranks 2)" -v pa="$(least $method.any 2)" \
        -v or="$(least $method.ranks 3)" -v oa="$(least $method.any 3)" 'BEGIN {
        printf "%-9s 2 threads: wall %.2f s, processor %.2f s\n", m, wt, pt
        printf "%-9s 2 ranks: wall %.2f s, processor of a rank %.2f s, %.2f outside of MPI; efficiency by wall %.2f, by processor outside of MPI %.2f\n", m, wr, pr, or, wt / wr, pt / (2 * or)
        printf "%-9s 2 ranks, MPI_Allreduce: wall %.2f s, processor of a rank %.2f s, %.2f outside of MPI\n", m, wa, pa, oa }'
done
echo "load average after: $(cut -d' ' -f1-3 /proc/loadavg)"
[ ! -x "$build/plx-mpi-sums" ] || for count in 2 4; do mpirun --oversubscribe --bind-to none -n $count "$build/plx-mpi-sums" || exit 1; done
