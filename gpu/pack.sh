#!/bin/sh
# Collects what a GPU machine without our libraries needs: the command, libparallax, the shared libraries it is linked with
# (not the C library's own), and the tests of devices, the self-test and the plug-in where they are built here.
#   gpu/pack.sh [BUILD [OUT]]      BUILD: build/release, OUT: build/gpu-pack; the golden cases are in the repository
# OUT then holds one file, pack.tar.gz, which gpu/check.sh unpacks beside it. OUT/parallax.sh is then the command.
set -eu
cd "$(dirname "$0")/.."
build=${1:-build/release}
out=${2:-build/gpu-pack}
[ -x "$build/parallax" ] || { echo "gpu/pack.sh: build $build first" >&2; exit 1; }
rm -rf "$out"
mkdir -p "$out/lib"
cp -L "$build/parallax" "$build/parallax-reader" "$build"/libparallax.so.?.? "$out/"
${CC:-cc} -std=c17 -O2 -D_GNU_SOURCE -Iinclude -I"$build/include" -o "$out/bench_fit" gpu/bench/fit.c -L"$build" -lparallax
# What the loader finds, less what belongs to the C library and must be the machine's own.
for t in test_host_device test_host_sweeps test_device_methods; do [ ! -x "$build/$t" ] || cp "$build/$t" "$out/"; done
ldd "$build/parallax" "$out"/test_* 2>/dev/null | sort -u | sed -n 's/.*=> \(\/[^ ]*\) .*/\1/p' |
    grep -v -E '/(libc|libm|libdl|librt|libpthread|ld-linux[^/]*|libresolv|libparallax)\.so' | while read -r f; do cp -L "$f" "$out/lib/"; done
for f in libparallax_cuda.so check_table bench_table; do [ ! -f "build/gpu/$f" ] || cp "build/gpu/$f" "$out/"; done
strip --strip-unneeded "$out/parallax" "$out"/test_* "$out"/libparallax.so.* "$out"/lib/* 2>/dev/null || true
cat >"$out/run" <<'RUN'
#!/bin/sh
here=$(cd "$(dirname "$0")" && pwd)
program=$1
shift
LD_LIBRARY_PATH="$here:$here/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}" exec "$here/$program" "$@"
RUN
chmod +x "$out/run"
# A single file that can stand for the command where one word is wanted.
printf '#!/bin/sh\nexec "$(dirname "$0")/run" parallax "$@"\n' >"$out/parallax.sh"
chmod +x "$out/parallax.sh"
tar -C "$out" -cf - . | gzip -9 >"$out.tar.gz"
rm -rf "$out"
mkdir -p "$out"
mv "$out.tar.gz" "$out/pack.tar.gz"
du -sh "$out" | sed 's/\t/ in /'
[ "$(du -sm "$out" | cut -f1)" -lt 40 ] || { echo "gpu/pack.sh: more than 40 MiB" >&2; exit 1; }
