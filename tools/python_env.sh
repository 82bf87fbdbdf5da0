#!/bin/sh
# A virtual environment with the Python packages the interoperability tests use (mudata, anndata). Without python3-venv or
# a package index the tests that need it skip, and say so. Usage: python_env.sh DIR [PACKAGE...]
set -u
dir=$1
shift
packages=${*:-mudata anndata pytest}
stamp=$dir/.ready-$(printf '%s' "$packages" | cksum | cut -d' ' -f1)
[ -e "$stamp" ] && exit 0
echo "== Python environment for interoperability tests ($packages)"
if python3 -m venv "$dir" >/dev/null 2>&1 && "$dir/bin/pip" install --quiet --disable-pip-version-check $packages >"$dir/pip.log" 2>&1; then
    : >"$stamp"
else
    echo "python_env: could not be made (python3-venv missing, or no package index); tests that need it will skip"
fi
exit 0
