#!/bin/sh
# A stranger's reproduction: make reproduce-nb, shortened to one data set and five draws. The published means and ours
# are of other draws of other samples of the same pages, with deviations of 1 to 9 points each; their mean over the
# five label rates must agree to 3 points. Usage: run.sh SOURCE PARALLAX; 77: the data sets are not here.
set -eu
data=${PARALLAX_DATA:-$1/../shared/data}
[ -d "$data/webkb_cornell" ] || { echo "no data sets in $data; set PARALLAX_DATA"; exit 77; }
table=$(python3 "$1/tools/reproduce_nb.py" "$2" --data "$data" --only cornell --runs 5)
printf '%s\n' "$table"
printf '%s\n' "$table" | python3 -c '
import re, sys
rows = [line for line in sys.stdin if line.startswith("| NBC_")]
assert len(rows) == 3, "three classifiers, found %d" % len(rows)
for row in rows:
    gaps = [float(gap) for gap in re.findall(r"\*\*, ([+-][0-9.]+)", row)]
    assert len(gaps) == 5, row
    mean = sum(gaps) / 5
    print("%s: mean difference %+.1f" % (row.split("|")[1].strip(), mean))
    assert abs(mean) <= 3, row
'
# Without its data sets a reproduction says which are missing and fails.
empty=$(mktemp -d)
trap 'rm -rf "$empty"' EXIT
! said=$(PARALLAX_DATA=$empty "$1/tools/reproduce_one.sh" nb "$2" 2>&1) || { echo "reproduce_one.sh does not fail without data"; exit 1; }
case $said in *"webkb_cornell webkb_washington newsgv2 newsgv4"*) ;; *) echo "says '$said'"; exit 1 ;; esac
