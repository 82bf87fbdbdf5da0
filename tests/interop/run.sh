#!/bin/sh
# Interoperability with the real mudata and anndata. Usage: run.sh PARALLAX VENV. Exit 77: skipped.
python=$2/bin/python
if [ ! -x "$python" ] || ! "$python" -c 'import mudata, anndata, pytest' 2>/dev/null; then
    echo "skipped: no Python environment with mudata, anndata and pytest at $2 (tools/python_env.sh makes one)"
    exit 77
fi
PARALLAX_BIN=$1 exec "$python" -m pytest -q -p no:cacheprovider "$(dirname "$0")"
