#!/bin/sh
# A static build, installed and linked by a foreign project. Without optimisation: what is tested is the linking.
set -eu
cd "$(dirname "$0")/.."
jobs=$(nproc 2>/dev/null || echo 2)
cmake -S . -B build/static -G Ninja -DCMAKE_BUILD_TYPE=Debug -DCMAKE_C_FLAGS_DEBUG="-O0" -DBUILD_SHARED_LIBS=OFF \
    -DPLX_BUILD_TESTS=OFF -DPLX_WERROR=ON >/dev/null
cmake --build build/static -j "$jobs" >/dev/null
tests/install/run.sh "$PWD" "$PWD/build/static"
