#!/bin/sh
# Builds the site of guide, methods, Python reference and gallery into build/python/docs: python_docs.sh BUILD
# BUILD is a folder where the library is built. Without a package index nothing is built, and it says so.
set -eu
cd "$(dirname "$0")/.."
build=$(cd "$1" && pwd)
mkdir -p build/python
venv=build/python/venv
# shellcheck disable=SC2046
tools/python_env.sh "$venv" $(cat python/requirements-dev.txt)
[ -x "$venv/bin/mkdocs" ] || { echo "python_docs: no environment; the site is not built"; exit 0; }
tools/python_build.sh "$venv/bin/python" "$build"
PYTHONPATH=$PWD/build/python/site "$venv/bin/python" -W ignore tools/gen_python_site.py build/python/docs-src
"$venv/bin/python" -m mkdocs build --quiet --config-file build/python/docs-src/mkdocs.yml
echo "site: build/python/docs/index.html, $(find build/python/docs -name '*.html' | wc -l) pages"
