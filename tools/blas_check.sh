#!/bin/sh
# Builds with other BLAS libraries and runs the tests of the linear algebra and all cases: BLIS from the distribution's
# packages, MKL from PyPI (not free software: nothing of it is passed on). What cannot be had is left out, and said.
#   tools/blas_check.sh [blis] [mkl]        default: both
set -eu
cd "$(dirname "$0")/.."
jobs=$(nproc 2>/dev/null || echo 2)
tests='unit.test_(blas|cholesky|dense|eigen|factor|gemm|kernel|knn|lowrank|pivoted|qr|ridge|rsvd|solve|spmm|svm_dual)|^case\.'
failed=""
check() { # NAME CMAKE-ARGUMENTS...
    name=$1
    shift
    echo "== $name"
    cmake -S . -B "build/blas-$name" -G Ninja -DCMAKE_BUILD_TYPE=Release -DPLX_BLAS="$name" "$@" >/dev/null &&
        cmake --build "build/blas-$name" -j "$jobs" >"build/blas-$name/log" && "build/blas-$name/parallax" doctor &&
        ctest --test-dir "build/blas-$name" -R "$tests" -j "$jobs" --output-on-failure | tail -n 12 || failed="$failed $name"
}
[ $# -gt 0 ] || set -- blis mkl
for name; do
    case $name in
    blis)
        if [ -e /usr/share/doc/libblis-openmp-dev ] || apt-get install -y -qq libblis-openmp-dev >/dev/null 2>&1; then check blis
        else echo "blis: libblis-openmp-dev cannot be installed; left out"; fi
        ;;
    mkl)
        tools/python_env.sh build/mkl mkl
        library=$(ls build/mkl/lib/libmkl_rt.so.* 2>/dev/null | head -n 1)
        if [ -n "$library" ]; then LD_LIBRARY_PATH=$PWD/build/mkl/lib check mkl -DPLX_BLAS_LIBRARY="$PWD/$library"
        else echo "mkl: the package cannot be installed; left out"; fi
        ;;
    *) echo "usage: tools/blas_check.sh [blis] [mkl]" >&2; exit 2 ;;
    esac
done
[ -z "$failed" ] || { echo "failed:$failed"; exit 1; }
