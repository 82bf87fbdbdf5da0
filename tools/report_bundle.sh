#!/bin/sh
# Makes the page that --report fills: one HTML file with its style, its program and the licences of what is in it.
#   tools/report_bundle.sh WORK OUT [optional]
# WORK is where the packages of report/package-lock.json are installed, once for all builds that name it: `npm ci` runs
# again only when the lock file or Node changes. With "optional" a failure (no network, an old Node) leaves an empty
# OUT, which the library takes for "no report in this build".
set -eu
source=$(cd "$(dirname "$0")/../report" && pwd)
work=$1
out=$2
mode=${3:-}

give_up() {
    echo "report: $1" >&2
    [ "$mode" = optional ] || exit 1
    echo "report: --report will not be in this build; repair it and build with -DPLX_REPORT=ON" >&2
    : >"$out"
    exit 0
}

mkdir -p "$work"
exec 9>"$work/lock" # two builds may share WORK
if command -v flock >/dev/null 2>&1; then flock 9; fi

command -v node >/dev/null 2>&1 && command -v npm >/dev/null 2>&1 || give_up "needs Node 18 or newer with npm (Debian: nodejs, npm)"
[ "$(node -p 'process.versions.node.split(".")[0]')" -ge 18 ] || give_up "needs Node 18 or newer, this is $(node --version)"

rm -rf "$work/src"
cp -R "$source/package.json" "$source/package-lock.json" "$source/.npmrc" "$source/build.mjs" "$source/src" "$work/"
stamp=$( (cat "$source/package-lock.json" && node --version) | cksum)
if [ "$(cat "$work/installed" 2>/dev/null || true)" != "$stamp" ]; then
    rm -f "$work/installed"
    (cd "$work" && npm ci --ignore-scripts --no-audit --no-fund --loglevel=error >npm.log 2>&1) ||
        give_up "npm could not install the packages of report/package-lock.json: $(tail -n 1 "$work/npm.log")"
    echo "$stamp" >"$work/installed"
fi
(cd "$work" && node build.mjs page.html) || give_up "the page could not be bundled"
cp "$work/page.html" "$out"
