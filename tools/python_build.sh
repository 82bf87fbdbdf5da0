#!/bin/sh
# Builds the Python package into build/python/site, to be used with PYTHONPATH: python_build.sh PYTHON
# PYTHON is an interpreter that has cffi; the extension works with every Python from 3.10 on.
set -eu
cd "$(dirname "$0")/.."
python=$1
site=build/python/site
cmake -S python -B build/python/tree -G Ninja -DCMAKE_BUILD_TYPE=Release -DPython_EXECUTABLE="$(command -v "$python")" \
    ${PLX_WERROR:+-DPLX_WERROR="$PLX_WERROR"} >/dev/null
cmake --build build/python/tree --target _parallax parallax-reader -j "${JOBS:-$(nproc)}" >build/python/build.log 2>&1 ||
    { cat build/python/build.log; exit 1; }
cmake --install build/python/tree --prefix "$site" --component python >/dev/null
cp -r python/parallax/. "$site/parallax/"
