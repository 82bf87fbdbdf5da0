# Sourced by the scripts of this folder, whose first argument is BUILD_DIR: a folder to work in, which goes in the end,
# data to fit, and how one process and several are called. $SAMPLES (200000): of text; fewer for a quick look.
# shellcheck shell=bash disable=SC2034
set -euo pipefail
build=$(cd "$1" && pwd)
shift
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_btl_base_warn_component_unused=0
samples=${SAMPLES:-200000}
work=$(mktemp -d)
leave() { rm -rf "$work"; }
trap leave EXIT
cd "$work"
failed=0

# fault TEXT...: the script goes on, and fails in the end.
fault() {
    echo "FAULT: $*"
    failed=1
}

# one ARGUMENTS...: one process.
one() { "$build/parallax" "$@" --quiet; }

# ranks COUNT ARGUMENTS...: so many processes; a job that hangs is ended.
ranks() {
    local count=$1
    shift
    timeout 600 mpirun --quiet --oversubscribe --bind-to none -n "$count" "$build/parallax-mpi" "$@"
}

# make_text NAME SAMPLES FEATURES LENGTH: two views of counts, four classes.
make_text() {
    one data generate text "$1" --set n="$2" --set views=2 --set classes=4 --set features="$3" --set length="$4" --seed 1
}

# ---- ranks that die ----

descendants() {
    local pid
    for pid in $(pgrep -P "$1" || true); do echo "$pid" && descendants "$pid"; done
}

# workers PID...: those of the processes that work as ranks; each is the child of one that stands by.
workers() {
    local pid
    for pid in "$@"; do
        if [ "$(ps -o comm= -p "$pid")" = parallax-mpi ] &&
            [ "$(ps -o comm= -p "$(ps -o ppid= -p "$pid" | tr -d ' ')")" = parallax-mpi ]; then echo "$pid"; fi
    done
}

# told FILE RANK CODE: what a job with a killed rank has said, in one line, and its exit code.
told() {
    printf 'rank %d killed: exit code %d; %s\n' "$2" "$3" "$(grep '^parallax' "$1" || true)"
    if [ "$3" != 1 ] || [ "$(grep -c '^parallax' "$1")" != 1 ] ||
        ! grep -q "^parallax-mpi: rank $2 was killed by signal 9" "$1"; then
        fault "the killed rank is not told in one line with exit code 1"
        cat "$1"
    fi
}
