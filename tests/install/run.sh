#!/bin/sh
# Installs the build into a scratch prefix and builds a foreign project against it, through the CMake package and through
# pkg-config. Usage: run.sh SOURCE_DIR BUILD_DIR
set -eu
source=$1 build=$2
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
prefix=$scratch/prefix
cmake --install "$build" --prefix "$prefix" >/dev/null

lib=$(dirname "$(find "$prefix" -name 'libparallax.so' | head -n 1)")
test -x "$prefix/bin/parallax"
"$prefix/bin/parallax" version >/dev/null

cmake -S "$source/tests/install/consumer" -B "$scratch/cmake" -DCMAKE_PREFIX_PATH="$prefix" -DCMAKE_BUILD_TYPE=Release >/dev/null
cmake --build "$scratch/cmake" >/dev/null
"$scratch/cmake/stranger"

export PKG_CONFIG_PATH="$lib/pkgconfig"
# shellcheck disable=SC2046
cc -o "$scratch/stranger" "$source"/tests/install/consumer/*.c $(pkg-config --define-variable=prefix="$prefix" --cflags --libs parallax) \
    -Wl,-rpath,"$lib"
"$scratch/stranger"

# Every public header compiles alone, in every standard it promises.
for header in "$prefix"/include/parallax/*.h; do
    for std in c99 c11 c17; do
        printf '#include "%s"\ntypedef int not_empty;\n' "$header" | cc -std=$std -Wall -Wextra -Wpedantic -Werror -I"$prefix/include" -fsyntax-only -x c -
    done
    if command -v c++ >/dev/null 2>&1; then
        printf '#include "%s"\ntypedef int not_empty;\n' "$header" | c++ -std=c++17 -Wall -Wextra -Werror -I"$prefix/include" -fsyntax-only -x c++ -
    fi
done
echo "install: CMake package, pkg-config and headers work"
