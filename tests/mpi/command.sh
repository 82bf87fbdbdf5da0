#!/usr/bin/env bash
# What parallax-mpi does beside the fits of table.sh: tests/mpi/command.sh BUILD_DIR [RANKS...]
#
# Files of every format that ranks read in parts, by each number of ranks; what they write together; streaming;
# checkpoints, also after a rank was killed; new samples; other verbs; and what is refused, each in one line. Everything
# beside the bytes of one process.
# shellcheck source=tests/mpi/common.sh
. "$(dirname "$0")/common.sh"
[ $# -gt 0 ] || set -- 2 3 8
all_ranks=$*

# alike WHAT FILE...: each is many.FILE of several processes beside one.FILE.
alike() {
    local what=$1 file result=same
    shift
    for file in "$@"; do
        if [ ! -s "one.$file" ] || ! cmp -s "one.$file" "many.$file"; then
            result=DIFFERENT
            failed=1
        fi
        rm -f "many.$file"
    done
    printf '%-40s %s\n' "$what" $result
}

# refused PATTERN ARGUMENTS...: two processes say so in one line, and fail.
refused() {
    local pattern=$1
    shift
    if ranks 2 "$@" --quiet >said.txt 2>&1; then fault "not refused: $*"; fi
    if [ "$(grep -c "^parallax" said.txt)" != 1 ] || ! grep -Eq "^parallax(-mpi)?: $pattern" said.txt; then
        fault "not told in one line: $pattern"
        cat said.txt
    fi
}

make_text docs "$samples" 300 10

# ---- reading ----

settings_of() {
    case $1 in
    coem | mvkmeans) echo "--labels 5% --set max_iter=3" ;;
    mvplsa) echo "--labels 5% --set max_iter=3 --set topics=4" ;;
    *) echo "--labels 5%" ;;
    esac
}

# read_by COUNTS WHAT METHOD DATA ARGUMENTS...: a fit of DATA by so many ranks beside that of one process.
read_by() {
    local counts=$1 what=$2 method=$3 count
    shift 3
    # shellcheck disable=SC2046
    one fit "$method" "$@" $(settings_of "$method") --model one.plx --out one.csv
    for count in $counts; do
        # shellcheck disable=SC2046
        ranks "$count" fit "$method" "$@" $(settings_of "$method") --model many.plx --out many.csv --quiet || true
        alike "$what, $method, $count ranks" plx csv
    done
}

# Row ranges, and parts.
one data convert docs docs.h5mu
one data shard docs parts --parts 5
for method in nb coem mvkmeans; do
    read_by 3 "a .h5mu file" $method docs.h5mu
    read_by 3 "five parts" $method parts
done

# Ranges of lines: quoted line ends, ids, views joined in another order.
awk 'BEGIN { for (i = 0; i < 100000; i++) { printf "c%d", i % 3
    for (j = 1; j < 9; j++) printf " %d:%d", 7 * j - i % 5, (i * j) % 4 + (j % 3 == i % 3); print "" } }' >rows.svm
awk 'BEGIN { print "id,a,b,label"; for (i = 0; i < 100000; i++) { k = (i * 7 + 3) % 100000
    printf i % 9 ? "s%d,%g,%d,c%d\n" : "\"s%d\",%g,%d,\"c\n%d\"\n", k, i % 13 / 4, i % 4, i % 3 } }' >rows.csv
awk 'BEGIN { print "id,a,b"; for (i = 0; i < 100000; i++) printf "s%d,%d,%d\n", i, i % 5, i % 7 }' >more.csv
read_by "$all_ranks" .svmlight nb rows.svm
read_by "$all_ranks" .csv mvkmeans rows.csv
read_by "$all_ranks" "joined by id" mvkmeans rows.csv --view more=more.csv

# A faulty line is told as by one process, whichever rank has it.
sed '77777s/:/;/' rows.svm >fault.svm
if one fit nb fault.svm 2>one.said; then fault "one process reads a faulty line"; fi
ranks 3 fit nb fault.svm --quiet >said.txt 2>&1 || true
grep '^parallax' said.txt >many.said || true
alike "a faulty line" said

# No rank keeps the values of all rows: rank 0 of four has a quarter of them, to the nearest end of a pane.
ranks 4 fit nb docs.h5mu --labels 5% --verbose >said.txt 2>&1
sed -n 's/^rows *0 to \([0-9]*\) of .* rank 0.*/\1/p' said.txt |
    awk -v n="$samples" '{ d = $1 - n / 4; ok = d <= 16384 && d >= -16384 } END { exit !ok }' ||
    fault "rank 0 of 4 holds other rows than its own: $(cat said.txt)"

# ---- streaming ----

for method in coem mvplsa; do
    # shellcheck disable=SC2046
    one fit $method docs $(settings_of $method) --model one.plx --out one.csv
    # shellcheck disable=SC2046
    ranks 2 fit $method docs $(settings_of $method) --model many.plx --out many.csv --stream --memory 256M --quiet
    alike "$method streams on 2 ranks" plx csv
done

# ---- writing ----

# Results that stay with the ranks are written in parts; metrics are computed together; a .mtx goes column by column.
together="--labels 2% --dump posterior=X.npy --dump posterior.text0=X.tsv --dump posterior.text1=X.mtx --json X.json"
# shellcheck disable=SC2086
one fit nb docs ${together//X/one}
# shellcheck disable=SC2086
ranks 3 fit nb docs ${together//X/many} --quiet
for who in one many; do sed -i /seconds/d $who.json; done
alike "dumps and metrics" npy tsv mtx json

# What is asked for beside the model is computed by all, written by one.
one fit colr docs --labels 2% --set gem_iter=2 --dump posterior_precision=one.csv
ranks 2 fit colr docs --labels 2% --set gem_iter=2 --dump posterior_precision=many.csv --report colr.html --quiet
alike "an array that is computed when asked for" csv
ranks 2 fit nb docs --labels 2% --report nb.html --quiet
for page in colr nb; do grep -q '<html' $page.html || fault "no report of $page"; done

# Sums in any order differ by rounding, which leaves the labels.
one fit coem docs --labels 5% --set max_iter=3 --out all.csv
ranks 3 fit coem docs --labels 5% --set max_iter=3 --out any.csv --deterministic 0 --quiet
for who in one.all many.any; do cut -d, -f1,2 ${who#*.}.csv >${who%.*}.labels; done
alike "labels with --deterministic 0" labels

# ---- new samples ----

# predicts_by COUNTS WHAT MODEL DATA ARGUMENTS...: labels, what is said and metrics, by so many ranks and by one process.
predicts_by() {
    local counts=$1 what=$2 model=$3 data=$4 count
    shift 4
    "$build/parallax" predict "$model" "$data" --out one.csv --json one.json 2>one.said
    sed -i 's/^wrote .*//' one.said
    for count in $counts; do
        ranks "$count" predict "$model" "$data" --out many.csv --json many.json "$@" 2>many.said || true
        sed -i 's/^wrote .*//' many.said
        alike "$what, $count ranks" csv json said
    done
}

# transforms_by COUNT MODEL DATA ENDING: the coordinates as such a file.
transforms_by() {
    one transform "$2" "$3" --out "one.$4"
    ranks "$1" transform "$2" "$3" --out "many.$4" --quiet || true
    alike "transform to .$4, $1 ranks" "$4"
}

# Samples without one of the views, and some without any.
one data generate two-gauss train --set n=600 --set classes=3 --set dims=8 --set views=2 --set labelled=300 --seed 1
one data generate two-gauss many --set n=100000 --set classes=3 --set dims=8 --set views=2 --seed 2
one data drop many holes.h5mu --rate 0.2 --allow-none --seed 3
one data drop docs thin --rate 0.2 --allow-none --seed 3
one fit nb docs --labels 5% --model nb.plx
one fit coem docs --labels 5% --set max_iter=3 --model coem.plx
one fit mvkmeans docs --labels 5% --set max_iter=3 --model mvkmeans.plx
one fit mvplsa docs --labels 5% --set max_iter=3 --set topics=4 --model mvplsa.plx
one fit svm train --set kernel=rbf --model svm.plx
one fit gp train --set optimize=none --model gp.plx
one fit cca train --set dim=2 --model cca.plx
one fit mvc train --set clusters=3 --model mvc.plx
predicts_by "$all_ranks" "predict, nb" nb.plx docs
predicts_by 3 "predict, nb, missing views" nb.plx thin
predicts_by 2 "predict, nb, streaming" nb.plx docs --stream --memory 256M
predicts_by 3 "predict, coem" coem.plx docs
predicts_by 2 "predict, mvkmeans" mvkmeans.plx docs.h5mu
predicts_by 3 "predict, mvplsa" mvplsa.plx parts
predicts_by "$all_ranks" "predict, svm, missing views" svm.plx holes.h5mu
predicts_by 3 "predict, gp, missing views" gp.plx holes.h5mu
predicts_by 2 "predict, mvc: all rows everywhere" mvc.plx holes.h5mu
predicts_by 3 "predict, fewer panes than ranks" svm.plx train
transforms_by 3 cca.plx many npy
transforms_by 2 cca.plx holes.h5mu csv
transforms_by 3 nb.plx docs tsv
transforms_by 2 nb.plx docs mtx
one predict gp.plx train --out - >one.txt
ranks 3 predict gp.plx train --out - --quiet >many.txt
alike "predict to standard output" txt

# ---- other verbs ----

awk 'BEGIN { for (i = 0; i < 100000; i++) print "c" i % 3, i % 10 ? "3:" 1 + i % 4 : "" }' >zeros.svm
for data in docs thin holes.h5mu zeros.svm rows.csv; do
    "$build/parallax" data info $data >one.txt
    ranks 3 data info $data >many.txt
    one data info $data --json one.json
    ranks 3 data info $data --json many.json --quiet
    alike "data info $data" txt json
done
grep -q 'all-zero rows' <("$build/parallax" data info zeros.svm) || fault "no rows of zeros"
one predict nb.plx docs --out labels.csv
one eval labels.csv docs --json one.json
ranks 3 eval labels.csv docs --json many.json
alike "eval, by rank 0 alone" json

# ---- checkpoints ----

long="--labels 5% --set max_iter=80 --set tol=0"
# shellcheck disable=SC2086
one fit coem docs $long --model one.plx
# shellcheck disable=SC2086
ranks 3 fit coem docs $long --model many.plx --checkpoint state --every 0 --quiet >killed.txt 2>&1 &
job=$!
victim=
for _ in $(seq 3000); do
    # Chosen before the first checkpoint: looking through all processes takes a while on a busy machine.
    # shellcheck disable=SC2046
    if [ -z "$victim" ]; then victim=$(workers $(descendants $job) | tail -1); fi
    if [ -s state ] && [ -n "$victim" ]; then break; fi
    sleep 0.02
done
# shellcheck disable=SC2046
kill -0 "$victim" 2>/dev/null || victim=$(workers $(descendants $job) | tail -1)
rank=$(tr '\0' '\n' <"/proc/$victim/environ" | sed -n 's/^OMPI_COMM_WORLD_RANK=//p')
kill -KILL "$victim"
code=0
wait $job || code=$?
told killed.txt "$rank" $code
grep -q 'with --resume' killed.txt || fault "how to go on is not told"
[ ! -e many.plx ] || fault "coem was over before its rank was killed"
# shellcheck disable=SC2086
ranks 2 fit coem docs $long --model many.plx --checkpoint state --resume --quiet
alike "killed with 3 ranks, resumed with 2" plx

# ---- what fails, in one line ----

# One rank alone.
code=0
timeout 100 mpirun --quiet --oversubscribe -n 1 "$build/parallax-mpi" fit coem docs --stream --quiet : \
    -n 1 env TMPDIR=/nonexistent "$build/parallax-mpi" fit coem docs --stream --quiet >said.txt 2>&1 || code=$?
if [ $code != 1 ] || [ "$(grep '^parallax' said.txt | grep -c 'rank 1: parallax: /nonexistent: ')" != 1 ]; then
    fault "a rank that fails alone, exit code $code: $(cat said.txt)"
fi

one fit lapreg train --model lapreg.plx
refused "lapreg labels only the samples it was fitted to" predict lapreg.plx train
refused "/nowhere/labels.csv: the directory" predict nb.plx docs --out /nowhere/labels.csv
refused "--time-limit would strike" predict nb.plx docs --time-limit 5
refused "hknn is not distributed" fit hknn docs --labels 5%
refused "--time-limit would strike" fit nb docs --time-limit 5
refused "init = label: expected" fit coem docs --labels 5% --set init=label
refused "docs.* needs about .* but the memory limit" fit nb docs --memory 5M
refused "cotrain: base = svm is not distributed" fit cotrain docs --labels 1% --set base=svm
refused "rls: kernel = rbf \(view 'joined'\) is not distributed" fit rls docs --labels 1% --set kernel=rbf
refused "rls: solver = cg is not distributed" fit rls docs --labels 1% --set solver=cg
refused "colr: graph = rbf is not distributed" fit colr docs --labels 2% --set graph=rbf
one data generate two-gauss groups --set n=600 --set classes=3 --set dims=8 --set views=2 --set labelled=40 --seed 1
refused "laprls: kernel = rbf \(view 'joined'\) is not distributed" fit laprls groups --set kernel=rbf
refused "bct: pivots = 0 with these kernels is not distributed" fit bct groups --set kernel=rbf
refused "corls: the kernel of view 'v0' is not distributed" fit corls groups --set kernel=rbf
refused "gp: pivots = 0 is not distributed" fit gp groups
refused "spectral: (affinities of all pairs|several processes need solvers)" fit spectral groups --set clusters=3 \
    --set affinity_k=0
refused "lapreg: (several processes need solvers|the solver of all processes failed: )" fit lapreg groups \
    --petsc "-ksp_type nothing"
[ $failed != 0 ] || echo "what fails is told in one line"
exit $failed
