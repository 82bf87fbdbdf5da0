#!/bin/sh
# Tests the Python package: python_test.sh environment|quick|full|nightly BUILD
#   environment  only make the environment (with a package index), so that tests have it
#   quick    less than a minute: a sixth of the golden cases, scikit-learn's checks of every fourth estimator
#   full     everything but what takes minutes
#   nightly  also 10,000 fits
# BUILD is a folder where command and library are built. Exit status 77: no environment, nothing was tested.
set -eu
cd "$(dirname "$0")/.."
level=$1 build=$(cd "$2" && pwd)
venv=build/python/venv
mkdir -p build/python
# shellcheck disable=SC2046
tools/python_env.sh "$venv" $(cat python/requirements-dev.txt)
if ! ls "$venv"/.ready-* >/dev/null 2>&1; then
    echo "python_test: no environment for the Python package; not tested"
    [ "$level" = environment ] && exit 0
    exit 77
fi
[ "$level" != environment ] || exit 0
tools/python_build.sh "$venv/bin/python" "$build"
case $level in
quick) set -- --quick ;;
full) set -- ;;
nightly) set -- -m "nightly or not nightly" ;;
*) echo "python_test: level '$level': expected quick, full or nightly" >&2; exit 2 ;;
esac
PYTHONPATH=$PWD/build/python/site PARALLAX_COMMAND=$build/parallax exec "$venv/bin/python" -m pytest -q -p no:cacheprovider \
    -c python/pyproject.toml --rootdir python "$@" python/tests
