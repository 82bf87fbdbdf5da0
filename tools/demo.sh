#!/bin/sh
# Shows what Parallax does, in a few seconds and without any data of yours. Usage: demo.sh PARALLAX
set -eu
[ $# -eq 1 ] || { echo "usage: $0 PARALLAX" >&2; exit 2; }
case $1 in /*) parallax=$1 ;; *) parallax=$PWD/$1 ;; esac
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
trap 'exit 130' INT TERM
cd "$scratch"

say() { printf '\n%s\n' "$*"; }
# Prints a command as the reader would type it, then runs it.
run() {
    printf '  $ parallax'
    printf ' %s' "$@"
    printf '\n'
    "$parallax" "$@" >output.txt 2>&1 || { cat output.txt >&2; exit 1; }
    sed 's/^/    /' output.txt
}

say "Documents described three times over, with holes: every view is missing for three documents in ten."
run data generate text documents --set n=900 --set views=3 --set classes=3 --set missing=0.3 --set ids=1 --set names=1 --seed 1
run data info documents

say "Set three documents in ten aside. Learn from the rest, of which one in ten shows its class, and keep the model."
run data split documents parts --test 0.3 --seed 1
run fit nb parts/train --labels 10% --seed 1 --model model.plx

say "Label the documents set aside, which the model has never seen. Many of them lack a view or two."
run predict model.plx parts/test --out labels.csv

say "The more views a document has, the surer the answer:"
tail -n +2 labels.csv | cut -d, -f2 | paste -d' ' - parts/test/truth.txt parts/test/text?.present.txt | awk '
    { views = $3 + $4 + $5; all[views]++; right[views] += $1 == $2 }
    END {
        printf "    %-8s %10s %10s\n", "views", "documents", "accuracy"
        for (v = 1; v <= 3; v++) if (all[v]) printf "    %-8d %10d %9.1f%%\n", v, all[v], 100 * right[v] / all[v]
    }'

say "The same model serves data that have only one of its views. Views and words are found by name."
cat >parts/test/one-view.json <<'END'
{"parallax": 1, "name": "one view", "ids": "ids.txt", "truth": "truth.txt",
 "views": [{"name": "text1", "file": "text1.mtx", "kind": "counts", "present": "text1.present.txt", "features": "text1.features.txt"}]}
END
run predict model.plx parts/test/one-view.json --out one-view.csv

say "The same seed gives the same bytes for every number of threads:"
for threads in 1 2 4; do
    "$parallax" fit nb parts/train --labels 10% --seed 1 --threads $threads --out labels-$threads.csv --quiet
    printf '    %s thread(s): checksum %s\n' $threads "$(cksum <labels-$threads.csv | cut -d' ' -f1)"
done
cmp labels-1.csv labels-2.csv
cmp labels-1.csv labels-4.csv

say "Next: docs/guide/get-started.md, or 'parallax --help'."
