#!/usr/bin/env bash
# Runs cases of the command line: tests/cli/run.sh [--update] PARALLAX [CASE...]
#
# A case is a directory with `cmd`, a bash script that runs in an empty scratch directory and may use
#   $PARALLAX  the command       $CASE   the case's own directory
#   $CASES     tests/cases       $SHARED the directory of shared data (may be absent)
# and, to compare with: `status` (0 when there is none), `stdout`, `stderr`. In those two a * stands for anything
# inside a line and a line ** for any number of lines. A file that is absent is not compared.
# --update rewrites `status` and those of `stdout` and `stderr` that exist and no longer match.
set -u
here=$(cd "$(dirname "$0")" && pwd)
update=0
[ "${1:-}" = --update ] && { update=1; shift; }
[ $# -ge 1 ] || { echo "usage: $0 [--update] PARALLAX [CASE...]" >&2; exit 2; }
PARALLAX=$(cd "$(dirname "$1")" && pwd)/$(basename "$1"); shift
export PARALLAX CASES="$here/../cases" SHARED="${SHARED:-$here/../../../shared}"
export LC_ALL=C
[ $# -gt 0 ] || set -- "$here"/*/

# The text of a line as a pattern in which only * is special.
as_pattern() {
    local p=${1//'\'/'\\'}
    p=${p//'?'/'\?'}; p=${p//'['/'\['}; p=${p//']'/'\]'}
    p=${p//'('/'\('}; p=${p//')'/'\)'}; p=${p//'|'/'\|'}
    printf '%s' "$p"
}

# matches EXPECTED_FILE ACTUAL_FILE: line by line; prints the first difference.
matches() {
    local -a want got
    local i=0 j=0 pattern
    mapfile -t want <"$1"; mapfile -t got <"$2"
    while ((i < ${#want[@]})); do
        if [ "${want[i]}" = '**' ]; then
            i=$((i + 1))
            ((i == ${#want[@]})) && return 0
            pattern=$(as_pattern "${want[i]}")
            while ((j < ${#got[@]})) && [[ ${got[j]} != $pattern ]]; do j=$((j + 1)); done
        fi
        pattern=$(as_pattern "${want[i]}")
        if ((j >= ${#got[@]})); then echo "missing line: ${want[i]}"; return 1; fi
        if [[ ${got[j]} != $pattern ]]; then printf 'expected: %s\nfound:    %s\n' "${want[i]}" "${got[j]}"; return 1; fi
        i=$((i + 1)); j=$((j + 1))
    done
    if ((j < ${#got[@]})); then echo "unexpected line: ${got[j]}"; return 1; fi
}

failed=0
for path in "$@"; do
    CASE=$(cd "$path" && pwd) || exit 2
    export CASE
    scratch=$(mktemp -d) || exit 2
    mkdir "$scratch/work"
    (cd "$scratch/work" && exec bash "$CASE/cmd") >"$scratch/stdout" 2>"$scratch/stderr" </dev/null
    status=$?
    wanted=0
    [ -f "$CASE/status" ] && wanted=$(cat "$CASE/status")
    problem=
    if [ "$status" != "$wanted" ]; then
        problem="exit status $status, expected $wanted"$'\n'"$(head -5 "$scratch/stderr")"
        ((update)) && echo "$status" >"$CASE/status"
    fi
    for stream in stdout stderr; do
        [ -f "$CASE/$stream" ] || continue
        difference=$(matches "$CASE/$stream" "$scratch/$stream") && continue
        problem="$problem$stream: $difference"$'\n'
        ((update)) && cp "$scratch/$stream" "$CASE/$stream"
    done
    if [ -n "$problem" ]; then
        printf 'FAILED %s\n%s\n' "$(basename "$CASE")" "$problem"
        failed=$((failed + 1))
    fi
    rm -rf "$scratch"
done
((failed == 0)) || { echo "$failed of $# case(s) failed"; exit 1; }
echo "$# case(s) passed"
