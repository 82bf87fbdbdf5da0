#!/bin/sh
# Everything that needs a GPU, from the repository and the folder that gpu/pack.sh made. Parts run alone, each with a limit,
# so that a machine that one has for minutes can be used call by call.
#   gpu/check.sh build|self-test|units|cases|few|sanitizer|bench [NAME]|all
#     build      compiles the plug-in for this GPU's compiler (else the packed one is used)
#     self-test  every operation against plain loops
#     units      the library's own tests of devices, and every method with a seam, on this one
#     cases      all golden cases with --device cuda
#     few        self-test, units and golden cases of what has sweeps, all matrices laid out for few columns
#     sanitizer  compute-sanitizer: memcheck over the self-test, racecheck over what uses shared memory, small sizes
#     bench      gpu/bench/bench.py: all parts, or NAME; rows go to bench/gpu.csv (CSV=FILE: there);
#                SIZES=20000,40000 of factor, gp and bct, MOST_CPU=SECONDS for a fit on the CPU
#   PACK   folder of gpu/pack.sh (build/gpu-pack); LIMIT  seconds for a part
# Exit status 0: all that ran was right.
set -u
cd "$(dirname "$0")/.."
pack=${PACK:-build/gpu-pack}
built=build/gpu
failed=
[ ! -f "$pack/pack.tar.gz" ] || [ -f "$pack/run" ] || tar -C "$pack" -xzf "$pack/pack.tar.gz"
say() { printf '== %s\n' "$*"; }
within() { # SECONDS COMMAND...
    seconds=${LIMIT:-$1}
    shift
    timeout "$seconds" "$@"
    code=$?
    [ $code -ne 124 ] || echo "stopped after $seconds s"
    return $code
}
plugin() { # the folder of the plug-in: built here, or packed
    if [ -f $built/libparallax_cuda.so ]; then echo $built; else echo "$pack"; fi
}
program() { if [ -x "$pack/parallax.sh" ]; then echo "$pack/parallax.sh"; else echo build/release/parallax; fi; }

build() {
    say build
    ARCHS=${ARCHS:-90} LINES_KEPT=1 within 300 gpu/build.sh $built
}
self_test() {
    say self-test
    within 300 "$(plugin)/check_table" "$(plugin)/libparallax_cuda.so"
}
units() {
    for t in test_host_device test_host_sweeps test_device_methods; do
        say "$t"
        PLX_TEST_DEVICE=cuda PARALLAX_DEVICE_PATH=$(cd "$(plugin)" && pwd) within 200 "$pack/run" $t || failed="$failed $t"
    done
    [ -z "$failed" ]
}
cases() {
    say "golden cases"
    PARALLAX_DEVICE_PATH=$(cd "$(plugin)" && pwd) within 580 python3 tests/run_cases.py "$(program)" --device cuda tests/cases
}
few() {
    export PARALLAX_CUDA_RANKED=1
    for o in spmm class_sums mixture assign plsa; do
        say "few: $o"
        within 60 "$(plugin)/check_table" "$(plugin)/libparallax_cuda.so" small $o || failed="$failed $o"
    done
    for t in test_host_sweeps test_device_methods; do
        say "few: $t"
        PLX_TEST_DEVICE=cuda PARALLAX_DEVICE_PATH=$(cd "$(plugin)" && pwd) within 100 "$pack/run" $t || failed="$failed $t"
    done
    for m in coem mvkmeans mvplsa; do
        say "few: golden cases of $m"
        PARALLAX_DEVICE_PATH=$(cd "$(plugin)" && pwd) within 100 python3 tests/run_cases.py "$(program)" --device cuda \
            --only "$m*" tests/cases || failed="$failed $m"
    done
    unset PARALLAX_CUDA_RANKED
    [ -z "$failed" ]
}
check_with() { # SECONDS TOOL [OPERATION]: over the self-test with small sizes
    most=$1 tool=$2
    shift 2
    say "compute-sanitizer $tool $*"
    within "$most" compute-sanitizer --tool "$tool" ${calls:-} --error-exitcode 9 "$(plugin)/check_table" "$(plugin)/libparallax_cuda.so" \
        small "$@"
}
sanitizer() {
    command -v compute-sanitizer >/dev/null || { echo "no compute-sanitizer"; return 1; }
    calls="--report-api-errors no" # the self-test asks for too much memory on purpose
    check_with 290 memcheck || return 1
    calls=
    for o in triangle class_sums pivots spmm; do check_with 120 racecheck $o || return 1; done # those with shared memory
    export PARALLAX_CUDA_RANKED=1
    for o in spmm class_sums assign plsa; do check_with 60 memcheck $o && check_with 60 racecheck $o || return 1; done
    unset PARALLAX_CUDA_RANKED
}
bench() {
    for part in ${1:-ceilings factor knn sweeps gp gp_given bct kcca spectral}; do
        say "bench $part"
        within 400 python3 gpu/bench/bench.py "$part" --parallax "$(program)" --library "$(plugin)/libparallax_cuda.so" \
            --table "$(plugin)/bench_table" --fit "$pack/bench_fit" --csv "${CSV:-bench/gpu.csv}" --limit "${LIMIT:-380}" ${SMALL:+--small} ${SIZES:+--sizes $SIZES} ${MOST_CPU:+--most-cpu $MOST_CPU} || failed="$failed $part"
    done
    [ -z "$failed" ]
}

case ${1:-} in
build) build ;;
self-test) self_test ;;
units) units ;;
cases) cases ;;
few) few ;;
sanitizer) sanitizer ;;
bench) bench "${2:-}" ;;
all) build && self_test && units && cases && few && sanitizer && bench ;;
*)
    sed -n '2,12p' "$0" | sed 's/^# \{0,1\}//'
    exit 2
    ;;
esac
