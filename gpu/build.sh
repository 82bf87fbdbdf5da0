#!/bin/sh
# Builds libparallax_cuda.so and its self-test.
#   gpu/build.sh [OUT]          OUT: build/gpu
#   NVCC      the compiler; else the one on the PATH, in /usr/local/cuda, or in the environment that tools/check_cuda.sh makes
#   ARCHS     "90 80": machine code for these, and PTX for the first
#   JOBS      compilations at a time
#   LINES_KEPT=1  keep line numbers, for compute-sanitizer (eight times the size)
# cuBLAS and cuSOLVER are looked for beside the compiler and among Python's packages (nvidia-cublas, nvidia-cusolver), with
# headers of the compiler's own version first.
set -eu
cd "$(dirname "$0")/.."
out=${1:-build/gpu}
jobs=${JOBS:-$(nproc)}
archs=${ARCHS:-90 80}
say() { printf '%s\n' "$*"; }
stop() { printf 'gpu/build.sh: %s\n' "$*" >&2; exit 1; }

find_nvcc() {
    for c in "${NVCC:-}" "$(command -v nvcc || true)" /usr/local/cuda/bin/nvcc build/cuda-venv/lib/python3*/site-packages/nvidia/cu13/bin/nvcc; do
        [ -n "$c" ] && [ -x "$c" ] && { readlink -f "$c"; return; }
    done
    stop "no nvcc; set NVCC, or run tools/check_cuda.sh once"
}

# Folders that may hold the CUDA libraries' headers (include/) and files (lib/, lib64/).
roots() {
    home=$(dirname "$(dirname "$nvcc")")
    printf '%s\n' "$home" "$home/targets/x86_64-linux" /usr/local/cuda
    python3 - <<'PY' 2>/dev/null || true
import glob, sys
for folder in sys.path:
    for found in sorted(glob.glob(folder + "/nvidia/*")):
        print(found)
PY
}

find_header() {
    for r in $roots; do [ -f "$r/include/$1" ] && { printf '%s' "$r/include"; return; }; done
    stop "$1 was not found beside $nvcc nor among Python's packages"
}

find_library() {
    for r in $roots; do
        for l in lib lib64; do
            for f in "$r/$l/$1.so" "$r/$l/$1".so.[0-9]*; do [ -e "$f" ] && { printf '%s' "$f"; return; }; done
        done
    done
    stop "$1 was not found beside $nvcc nor among Python's packages"
}

find_file() {
    for r in $roots; do
        for l in lib lib64; do [ -f "$r/$l/$1" ] && { printf '%s' "$r/$l/$1"; return; }; done
    done
    stop "$1 was not found beside $nvcc nor among Python's packages"
}

nvcc=$(find_nvcc)
roots=$(roots)
flags="-std=c++17 -O3 --fmad=false ${LINES_KEPT:+-lineinfo} -Xcompiler -fPIC,-fvisibility=hidden,-Wall,-Wextra -Werror all-warnings -Iinclude -Igpu"
for h in cuda_runtime.h cublas_v2.h cusolverDn.h; do flags="$flags -isystem $(find_header $h)"; done
first=
for a in $archs; do
    flags="$flags -gencode=arch=compute_$a,code=sm_$a"
    [ -n "$first" ] || first=$a
done
flags="$flags -gencode=arch=compute_$first,code=compute_$first"
blas=$(find_library libcublas)
solver=$(find_library libcusolver)
runtime=$(find_file libcudart_static.a)

mkdir -p "$out"
say "compiler: $nvcc ($("$nvcc" --version | sed -n 's/.*release //p'))"
# Only what has changed: headers, flags and this file count for all.
printf '%s\n' "$nvcc $flags" >"$out/flags.new"
cmp -s "$out/flags.new" "$out/flags" || mv "$out/flags.new" "$out/flags"
newest=$(ls -t gpu/*.h gpu/build.sh include/parallax/device.h "$out/flags" | head -n 1)
export nvcc flags out newest
ls gpu/*.cu | xargs -P "$jobs" -I{} sh -c '
    name=$(basename "{}" .cu)
    [ "$out/$name.o" -nt "{}" ] && [ "$out/$name.o" -nt "$newest" ] && exit 0
    "$nvcc" $flags -Xptxas -v -c "{}" -o "$out/$name.o" >"$out/$name.log" 2>&1 || { cat "$out/$name.log"; exit 255; }' ||
    stop "a file does not compile"
${CXX:-c++} -shared -o "$out/libparallax_cuda.so" "$out"/*.o "$runtime" "$blas" "$solver" -ldl -lrt -lpthread \
    -Wl,-rpath,"$(dirname "$blas"):$(dirname "$solver")" -Wl,--no-undefined -Wl,--exclude-libs,ALL
python3 gpu/registers.py "$out"/*.log >"$out/registers.txt"
say "registers: $(tail -n 1 "$out/registers.txt") ($out/registers.txt)"
${CC:-cc} -std=c17 -O2 -Wall -Wextra -Werror -D_GNU_SOURCE -Iinclude -o "$out/check_table" gpu/check/*.c -ldl -lm
${CC:-cc} -std=c17 -O2 -Wall -Wextra -Werror -D_GNU_SOURCE -Iinclude -o "$out/bench_table" gpu/bench/table.c -ldl -lm
say "built $out/libparallax_cuda.so, check_table and bench_table"
