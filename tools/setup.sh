#!/bin/sh
# Installs what Parallax needs from the distribution's packages: Debian 12 or newer, Ubuntu 22.04 or newer.
# Does nothing when everything is there; asks for sudo only when it is not run as root.
#   tools/setup.sh          what building and testing need
#   tools/setup.sh ci       also what .ci/run and tools/pre-commit.sh need: clang and clang-format, what draws PNG, OpenMPI
#   tools/setup.sh mpi      also what -DPLX_MPI=ON needs: OpenMPI, and PETSc and SLEPc for graph methods
#   tools/setup.sh full     also what `make check-full`, `make bench` and the lint targets need, and a browser for reports
set -eu

packages="gcc make cmake ninja-build pkg-config python3 python3-venv
libopenblas-openmp-dev liblapacke-dev libsuitesparse-dev liblbfgs-dev libjansson-dev libhdf5-dev
libmatio-dev libutf8proc-dev libstemmer-dev libsqlite3-dev zlib1g-dev libcmocka-dev"
# Only the tests use these, to compare with (PLX_REFERENCES in the presets); CHOLMOD comes with libsuitesparse-dev.
packages="$packages libglpk-dev libsvm-dev"
# For the page of --report (report/); a build without them has none.
packages="$packages nodejs npm"
# Opened by `parallax plot` for a .png; without them the test of it sees the message instead.
pictures="librsvg2-2 fonts-dejavu-core"
mpi="libopenmpi-dev openmpi-bin procps"
case "${1:-}" in
# Without PETSc and SLEPc, which are another half minute: so the build that has no solvers is tested too.
ci) packages="$packages clang clang-format libomp-dev $mpi $pictures" ;;
mpi) packages="$packages $mpi libpetsc64-real-dev libslepc64-real-dev" ;;
full) packages="$packages clang clang-format libomp-dev clang-tidy cppcheck valgrind lcov chromium $pictures" ;;
esac

# For the Python package: the headers of the interpreter, unless it is one of the user's own.
if ! python3 -c 'import os, sysconfig, sys; sys.exit(not os.path.exists(sysconfig.get_path("include") + "/Python.h"))' 2>/dev/null; then
    packages="$packages python3-dev"
fi

missing=""
for p in $packages; do
    dpkg-query -W -f='${Status}' "$p" 2>/dev/null | grep -q '^install ok installed$' || missing="$missing $p"
done
# A compiler, CMake, Python, Node or browser of the user's own is as good as the package.
for pair in gcc:gcc make:make cmake:cmake ninja-build:ninja python3:python3 nodejs:node npm:npm chromium:chromium chromium:google-chrome; do
    p=${pair%%:*}
    if command -v "${pair##*:}" >/dev/null 2>&1; then
        missing=$(printf '%s' " $missing " | sed "s/ $p / /; s/^ *//; s/ *\$//")
    fi
done
if command -v python3 >/dev/null 2>&1 && python3 -c 'import ensurepip, venv' >/dev/null 2>&1; then
    missing=$(printf '%s' " $missing " | sed "s/ python3-venv / /; s/^ *//; s/ *\$//")
fi
[ -n "$missing" ] || exit 0

if ! command -v apt-get >/dev/null 2>&1; then
    echo "setup: please install these (Debian names): $missing" >&2
    exit 1
fi
sudo=""
if [ "$(id -u)" -ne 0 ]; then
    command -v sudo >/dev/null 2>&1 || { echo "setup: run as root, or install: $missing" >&2; exit 1; }
    sudo=sudo
fi
echo "setup: installing$(printf ' %s' $missing)"
$sudo apt-get update -qq
# shellcheck disable=SC2086
$sudo env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $missing >/dev/null
