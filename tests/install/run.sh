#!/bin/sh
# Installs the build into a scratch prefix and builds a foreign project against it, through the CMake package and through
# pkg-config, as they were installed. Serves shared and static builds. Usage: run.sh SOURCE_DIR BUILD_DIR
set -eu
source=$1 build=$2
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
prefix=$scratch/prefix
cmake --install "$build" --prefix "$prefix" >/dev/null

library=$(find "$prefix" -name 'libparallax.so' -o -name 'libparallax.a' | head -n 1)
lib=$(dirname "$library")
test -x "$prefix/bin/parallax"
"$prefix/bin/parallax" version >/dev/null

# What the shells and man look for is what the command prints.
for text in "man man/man1/parallax.1" "completion-bash bash-completion/completions/parallax" \
    "completion-zsh zsh/site-functions/_parallax" "completion-fish fish/vendor_completions.d/parallax.fish"; do
    # shellcheck disable=SC2046
    "$prefix/bin/parallax" $(echo "${text%% *}" | tr - ' ') | cmp - "$prefix/share/${text#* }"
done

# The reading process is found from where the library was installed: a file that crashes it is one line.
test -x "$prefix/libexec/parallax/parallax-reader"
if "$prefix/bin/parallax" data info "$source/tests/data/hostile/h5mu_segv_1.h5mu" >/dev/null 2>"$scratch/said"; then exit 1; fi
grep -q 'damaged or hostile' "$scratch/said"

cmake -S "$source/tests/install/consumer" -B "$scratch/cmake" -DCMAKE_PREFIX_PATH="$prefix" -DCMAKE_BUILD_TYPE=Release >/dev/null
cmake --build "$scratch/cmake" >/dev/null
"$scratch/cmake/stranger"

export PKG_CONFIG_PATH="$lib/pkgconfig"
static=""
case $library in *.a) static=--static ;; esac
# shellcheck disable=SC2046
cc -o "$scratch/stranger" "$source"/tests/install/consumer/*.c $(pkg-config $static --cflags --libs parallax) -Wl,-rpath,"$lib"
"$scratch/stranger"
if [ -n "$static" ]; then
    ! readelf -d "$scratch/stranger" | grep -q 'NEEDED.*libparallax' || { echo "the program still needs a shared libparallax" >&2; exit 1; }
else # the name that programs remember changes with the minor version before 1.0
    version=$(pkg-config --modversion parallax)
    case $version in 0.*) name=libparallax.so.${version%.*} ;; *) name=libparallax.so.${version%%.*} ;; esac
    readelf -d "$library" | grep -q "SONAME.*\\[$name\\]" || { echo "the library is not called $name" >&2; exit 1; }
fi

# Every public header compiles alone, in every standard it promises.
for header in "$prefix"/include/parallax/*.h; do
    for std in c99 c11 c17; do
        printf '#include "%s"\ntypedef int not_empty;\n' "$header" | cc -std=$std -Wall -Wextra -Wpedantic -Werror -I"$prefix/include" -fsyntax-only -x c -
    done
    if command -v c++ >/dev/null 2>&1; then
        printf '#include "%s"\ntypedef int not_empty;\n' "$header" | c++ -std=c++17 -Wall -Wextra -Werror -I"$prefix/include" -fsyntax-only -x c++ -
    fi
done

# Marked functions: a warning where they are called, none where the program has said it knows.
marked() {
    printf '#include <parallax/export.h>\nPLX_EXPERIMENTAL int f(void);\nPLX_DEPRECATED("use h") int g(void);\nint use(void);\nint use(void) { return %s; }\n' "$1" |
        cc -std=c99 -Wall -Werror -I"$prefix/include" $2 -fsyntax-only -x c - >/dev/null 2>&1
}
marked 'f()' '-DPLX_ALLOW_EXPERIMENTAL'
marked 'g()' '-DPLX_NO_DEPRECATION'
! marked 'f()' '' || { echo "PLX_EXPERIMENTAL gives no warning" >&2; exit 1; }
! marked 'g()' '' || { echo "PLX_DEPRECATED gives no warning" >&2; exit 1; }
echo "install: CMake package, pkg-config, headers and marks work"
