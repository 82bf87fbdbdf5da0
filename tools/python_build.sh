#!/bin/sh
# Builds the Python package into build/python/site, to be used with PYTHONPATH: python_build.sh PYTHON BUILD
# PYTHON is an interpreter that has cffi; BUILD is a folder where the library is built, e.g. build/release. (A wheel
# builds the library itself: tools/python_wheel.sh.)
set -eu
cd "$(dirname "$0")/.."
python=$(command -v "$1") library=$(cd "$2" && pwd) site=build/python/site
case $python in /*) ;; *) python=$PWD/$python ;; esac
mkdir -p build/python
{
    cmake -S python -B build/python/tree -G Ninja -DCMAKE_BUILD_TYPE=Release -DPython_EXECUTABLE="$python" \
        -DPLX_PREBUILT="$library"
    cmake --build build/python/tree
    rm -rf "$site"
    cmake --install build/python/tree --prefix "$site" --component python
} >build/python/build.log 2>&1 || { cat build/python/build.log; exit 1; }
cp -r python/parallax/. "$site/parallax/"
