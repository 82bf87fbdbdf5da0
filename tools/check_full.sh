#!/bin/sh
# Everything that is too slow for every change: sanitizers over all tests, threads, valgrind, long fuzzing, coverage, lint.
#   FUZZ_SECONDS (600) per target; COVERAGE (90): per cent of the lines of src/ that the tests must reach.  ONLY=tsan,valgrind,fuzz,coverage,lint,clang,static,blas,mpi,cuda runs a part.
set -u
cd "$(dirname "$0")/.."
jobs=$(nproc 2>/dev/null || echo 2)
seconds=${FUZZ_SECONDS:-600}
only=${ONLY:-asan,clang,static,blas,mpi,cuda,tsan,valgrind,fuzz,coverage,lint}
failed=""
want() { case ",$only," in *",$1,"*) return 0 ;; *) return 1 ;; esac; }
fuzz_env() {
    ASAN_OPTIONS=allocator_may_return_null=1:max_allocation_size_mb=256 LSAN_OPTIONS=suppressions=tools/lsan.supp:print_suppressions=0 "$@"
}
part() { printf '\n== %s\n' "$*"; }
# run LOG COMMAND...: the end of what it prints, and its own exit status
run() {
    log=$1
    shift
    "$@" >"$log" 2>&1
    status=$?
    tail -n 12 "$log"
    return $status
}

if want asan; then
    part "all tests under AddressSanitizer and UBSan"
    cmake --preset asan >/dev/null && cmake --build build/asan -j "$jobs" >/dev/null &&
        run build/asan.log ctest --test-dir build/asan -j "$jobs" --output-on-failure || failed="$failed asan"
fi
if want clang; then
    part "clang, warnings as errors"
    cmake -S . -B build/clang -G Ninja -DCMAKE_C_COMPILER=clang -DCMAKE_BUILD_TYPE=Release -DPLX_WERROR=ON >/dev/null &&
        run build/clang.log cmake --build build/clang -j "$jobs" || failed="$failed clang"
fi
if want tsan; then
    part "threaded tests under ThreadSanitizer"
    # OMP_NUM_THREADS: OpenBLAS's own threads are not told to the sanitizer (ours are not OpenMP's).
    cmake --preset tsan >/dev/null && cmake --build build/tsan -j "$jobs" >/dev/null &&
        run build/tsan.log env OMP_NUM_THREADS=1 TSAN_OPTIONS="ignore_noninstrumented_modules=1" \
            ctest --test-dir build/tsan -L 'unit|contract|example' -j "$jobs" --output-on-failure || failed="$failed tsan"
fi
if want valgrind; then
    part "unit tests under valgrind memcheck"
    cmake -S . -B build/valgrind -G Ninja -DCMAKE_BUILD_TYPE=Debug -DPLX_CHECKED=ON -DCMAKE_C_FLAGS="-O1 -g" >/dev/null &&
        cmake --build build/valgrind -j "$jobs" >/dev/null || failed="$failed valgrind-build"
    for t in build/valgrind/test_*; do
        [ -x "$t" ] || continue
        OMP_NUM_THREADS=1 OPENBLAS_CORETYPE=Haswell valgrind --quiet --error-exitcode=9 --leak-check=full --show-leak-kinds=definite \
            --errors-for-leak-kinds=definite --suppressions=tools/valgrind.supp "$t" >build/valgrind/log.txt 2>&1
        [ $? -eq 9 ] && { echo "$t"; grep -A12 '^==' build/valgrind/log.txt | head -n 30; failed="$failed $(basename "$t")"; }
    done
fi
if want fuzz; then
    part "fuzzing, $seconds s per target"
    cmake -S . -B build/fuzz -G Ninja -DCMAKE_C_COMPILER=clang -DCMAKE_BUILD_TYPE=Debug -DCMAKE_C_FLAGS="-O1 -g" -DPLX_BUILD_FUZZ=ON \
        -DPLX_BUILD_TESTS=OFF -DPLX_CHECKED=ON >/dev/null && cmake --build build/fuzz -j "$jobs" >/dev/null || failed="$failed fuzz-build"
    for t in build/fuzz/fuzz_*; do
        [ -x "$t" ] || continue
        name=$(basename "$t" | sed 's/^fuzz_//')
        mkdir -p "build/fuzz/corpus/$name" "build/fuzz/found"
        # Large requests are refused, as the reading process's memory limit does (src/io/guarded_read.c). libhdf5 and libmatio
        # crash and hang on some files, which that process is there for: of those two only faults of our own count.
        guarded=""
        case "$name" in h5mu | mat) guarded="-fork=1 -ignore_crashes=1 -ignore_timeouts=1 -ignore_ooms=1" ;; esac
        # shellcheck disable=SC2086
        fuzz_env "$t" $guarded -max_total_time="$seconds" -malloc_limit_mb=1000000 -rss_limit_mb=8192 -timeout=60 -artifact_prefix="build/fuzz/found/$name-" \
            "build/fuzz/corpus/$name" "tests/fuzz/corpus/$name" >"build/fuzz/$name.log" 2>&1 ||
            { echo "fuzz_$name found something: build/fuzz/$name.log"; failed="$failed fuzz_$name"; }
        [ -z "$guarded" ] || fuzz_env python3 tools/fuzz_faults.py "$t" "build/fuzz/found/$name"-* || failed="$failed fuzz_$name"
        grep -h 'DONE\|stat::number' "build/fuzz/$name.log" | tail -n 1 | sed "s/^/$name: /"
    done
fi
if want coverage; then
    part "coverage of src/"
    cmake -S . -B build/coverage -G Ninja -DCMAKE_BUILD_TYPE=Debug -DCMAKE_C_FLAGS="--coverage -O0" >/dev/null &&
        cmake --build build/coverage -j "$jobs" >/dev/null && ctest --test-dir build/coverage -j "$jobs" >/dev/null
    lcov --quiet --capture --directory build/coverage --output-file build/coverage/all.info 2>/dev/null &&
        lcov --quiet --extract build/coverage/all.info '*/src/*' --output-file build/coverage/src.info 2>/dev/null &&
        lcov --summary build/coverage/src.info >build/coverage/summary.txt 2>&1 && grep -E 'lines|functions' build/coverage/summary.txt || failed="$failed coverage"
    awk -v least="${COVERAGE:-90}" '/lines\.*:/ {sub("%", "", $2); found = 1; if ($2 < least) {print "lines covered: " $2 " %, at least " least " wanted"; exit 1}}
        END {if (!found) exit 1}' build/coverage/summary.txt || failed="$failed coverage-below-${COVERAGE:-90}"
fi
if want mpi; then
    part "fits over ranks"
    make -s test-mpi || failed="$failed mpi"
fi
if want cuda; then
    part "the CUDA device: compiled, and its kernels on the CPU"
    run build/cuda.log tools/check_cuda.sh || failed="$failed cuda"
fi
if want static; then
    part "static build, installed and linked"
    run build/static.log tools/static_check.sh || failed="$failed static"
fi
if want blas; then
    part "other BLAS libraries"
    run build/blas.log tools/blas_check.sh || failed="$failed blas"
fi
if want lint; then
    part "static analysis"
    tools/lint.sh || failed="$failed lint"
fi
if [ -n "$failed" ]; then
    printf '\ncheck-full: failed:%s\n' "$failed"
    exit 1
fi
printf '\ncheck-full: all passed\n'
