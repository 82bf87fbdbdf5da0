#!/bin/sh
# The CUDA device as plain C++ on the CPU (gpu/emulate): builds it and runs the self-test over it.
#   gpu/emulate.sh [OUT [PATTERN]]     OUT: build/emulated; PATTERN: operations to test
#   SANITIZE=address,undefined         with sanitizers
# Exit status 77: there is no C++ compiler, or no BLAS with LAPACKE.
set -eu
cd "$(dirname "$0")/.."
out=${1:-build/emulated}
cxx=${CXX:-c++}
command -v "$cxx" >/dev/null || { echo "no C++ compiler"; exit 77; }
pkg-config --exists openblas lapacke || { echo "no OpenBLAS with LAPACKE"; exit 77; }
flags="-std=c++17 -O2 -g -mfma -ffp-contract=off -fPIC -fvisibility=hidden -Wall -Wextra -Werror -Wno-unknown-pragmas -DPLX_EMULATED
    -Iinclude -Igpu -Igpu/emulate $(pkg-config --cflags openblas lapacke)"
[ -z "${SANITIZE:-}" ] || flags="$flags -fsanitize=$SANITIZE -fno-omit-frame-pointer -fno-sanitize-recover=all"
mkdir -p "$out"
export cxx flags out
# Only what has changed: headers count for all.
newest=$(ls -t gpu/*.h gpu/emulate/* gpu/emulate.sh include/parallax/device.h | head -n 1)
export newest
ls gpu/*.cu gpu/emulate/fibers.cc | xargs -P 2 -I{} sh -c '
    o="$out/$(basename "{}" | sed "s/\..*//").o"
    [ "$o" -nt "{}" ] && [ "$o" -nt "$newest" ] || $cxx -x c++ $flags -c "{}" -o "$o" || exit 255'
# shellcheck disable=SC2086
$cxx -shared $flags -o "$out/libparallax_cuda.so" "$out"/*.o $(pkg-config --libs openblas lapacke)
sanitizers=
[ -z "${SANITIZE:-}" ] || sanitizers="-fsanitize=$SANITIZE -fno-omit-frame-pointer"
# shellcheck disable=SC2086
${CC:-cc} -std=c17 -O2 -g $sanitizers -Wall -Wextra -Werror -D_GNU_SOURCE -Iinclude -o "$out/check_table" gpu/check/*.c -ldl -lm
[ "${2:-}" != none ] || exit 0
OMP_NUM_THREADS=1 ASAN_OPTIONS=detect_stack_use_after_return=0:detect_leaks=0 exec "$out/check_table" "$out/libparallax_cuda.so" small ${2:+"$2"}
