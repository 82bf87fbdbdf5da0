#!/usr/bin/env bash
# Fits over ranks and threads give the bytes of one process: tests/mpi/run_mpi.sh BUILD_DIR [RANKS...]
#
# Prints a table of methods x ranks x threads, and fails when a model or a prediction differs, when a rank that is killed
# does not end the job, or when the job does not go on from its checkpoint to the same bytes.
set -u
build=$(cd "$1" && pwd); shift
[ $# -gt 0 ] || set -- 1 2 3 5 8
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_btl_base_warn_component_unused=0
work=$(mktemp -d); trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
"$build/parallax" data generate text docs --set n=200000 --set views=2 --set classes=4 --set features=300 \
    --set length=10 --seed 1 --quiet || exit 1
failed=0

method_settings() {
    case $1 in
    coem) echo "--set max_iter=3" ;;
    mvkmeans) echo "--set max_iter=3" ;;
    mvplsa) echo "--set max_iter=3 --set topics=4" ;;
    esac
}

for method in nb coem mvkmeans mvplsa; do
    settings=$(method_settings $method)
    # shellcheck disable=SC2086
    "$build/parallax" fit $method docs --labels 5% $settings --model one.plx --out one.csv --threads 1 --quiet || exit 1
    for ranks in "$@"; do
        for threads in 1 2; do
            # shellcheck disable=SC2086
            mpirun --oversubscribe -n "$ranks" "$build/parallax-mpi" fit $method docs --labels 5% $settings \
                --model many.plx --out many.csv --threads $threads --quiet
            if cmp -s one.plx many.plx && cmp -s one.csv many.csv; then result=same; else result=DIFFERENT; failed=1; fi
            printf '%-9s %d ranks x %d threads: %s\n' $method "$ranks" $threads $result
            rm -f many.plx many.csv
        done
    done
done

# Files whose rows every rank reads for itself: one .h5mu, and parts.
"$build/parallax" data convert docs docs.h5mu --quiet && "$build/parallax" data shard docs parts --parts 5 --quiet || exit 1
for data in docs.h5mu parts; do
    for method in nb coem mvkmeans; do
        settings=$(method_settings $method)
        # shellcheck disable=SC2086
        "$build/parallax" fit $method docs --labels 5% $settings --model own.plx --out own.csv --threads 1 --quiet || exit 1
        # shellcheck disable=SC2086
        mpirun --oversubscribe -n 3 "$build/parallax-mpi" fit $method $data --labels 5% $settings \
            --model many.plx --out many.csv --quiet
        if cmp -s own.plx many.plx && cmp -s own.csv many.csv; then result=same; else result=DIFFERENT; failed=1; fi
        printf '%-9s 3 ranks, %s: %s\n' $method $data $result
    done
done

# Text, of which every rank reads a range of lines: quoted line ends, ids, views joined in another order, faults.
awk 'BEGIN { for (i = 0; i < 100000; i++) { printf "c%d", i % 3
    for (j = 1; j < 9; j++) printf " %d:%d", 7 * j - i % 5, (i * j) % 4 + (j % 3 == i % 3); print "" } }' >rows.svm
awk 'BEGIN { print "id,a,b,label"; for (i = 0; i < 100000; i++) { k = (i * 7 + 3) % 100000
    printf i % 9 ? "s%d,%g,%d,c%d\n" : "\"s%d\",%g,%d,\"c\n%d\"\n", k, i % 13 / 4, i % 4, i % 3 } }' >rows.csv
awk 'BEGIN { print "id,a,b"; for (i = 0; i < 100000; i++) printf "s%d,%d,%d\n", i, i % 5, i % 7 }' >more.csv
sed '77777s/:/;/' rows.svm >fault.svm
read_text() { # WHAT, then the arguments of fit
    what=$1; shift
    "$build/parallax" fit "$@" --model own.plx --out own.csv --threads 1 --quiet || exit 1
    for ranks in $all_ranks; do
        mpirun --oversubscribe -n "$ranks" "$build/parallax-mpi" fit "$@" --model many.plx --out many.csv --quiet
        if cmp -s own.plx many.plx && cmp -s own.csv many.csv; then result=same; else result=DIFFERENT; failed=1; fi
        printf '%-9s %d ranks, text: %s\n' "$what" "$ranks" $result
        rm -f many.plx many.csv
    done
}
all_ranks=$*
read_text svmlight nb rows.svm --labels 5%
read_text csv mvkmeans rows.csv --labels 5% --set max_iter=3
read_text joined mvkmeans rows.csv --view more=more.csv --labels 5% --set max_iter=3
"$build/parallax" fit nb fault.svm 2>one.txt
mpirun --oversubscribe -n 3 "$build/parallax-mpi" fit nb fault.svm 2>said.txt
[ "$(grep '^parallax:' said.txt)" = "$(cat one.txt)" ] || { echo "a faulty line is told otherwise by 3 ranks"; failed=1; }

# Every rank holds the values of its own rows, and says how many: no rank those of all.
mpirun --oversubscribe -n 4 "$build/parallax-mpi" fit nb docs.h5mu --labels 5% --verbose --model many.plx 2>said.txt
grep -q '^rows     0 to 65536 of 200000 are rank 0' said.txt || { echo "rank 0 holds other rows than its own"; failed=1; }

# With --stream, too.
mpirun --oversubscribe -n 2 "$build/parallax-mpi" fit mvplsa docs --labels 5% --set max_iter=3 --set topics=4 \
    --model many.plx --out many.csv --stream --memory 256M --quiet
if cmp -s one.plx many.plx && cmp -s one.csv many.csv; then echo "streamed by 2 ranks: same"; else echo "streamed: DIFFERENT"; failed=1; fi

# One rank is killed in the middle; the job ends, and goes on from its checkpoint.
long="--labels 5% --set max_iter=40 --set tol=0"
# shellcheck disable=SC2086
"$build/parallax" fit coem docs $long --model one.plx --quiet || exit 1
# shellcheck disable=SC2086
mpirun --oversubscribe -n 3 "$build/parallax-mpi" fit coem docs $long --model many.plx --checkpoint state --every 0 \
    --quiet >killed.txt 2>&1 &
job=$!
for _ in $(seq 600); do [ -s state ] && break; sleep 0.1; done
victim=$(pgrep -P "$job" -f parallax-mpi | tail -1)
kill -KILL "$victim"
wait "$job" && { echo "a killed rank: the job went on"; failed=1; }
# shellcheck disable=SC2086
mpirun --oversubscribe -n 2 "$build/parallax-mpi" fit coem docs $long --model many.plx --checkpoint state --resume --quiet
if cmp -s one.plx many.plx; then echo "killed, resumed with 2 ranks: same"; else echo "resumed: DIFFERENT"; failed=1; fi

# What cannot be is said once.
mpirun --oversubscribe -n 2 "$build/parallax-mpi" fit hknn docs --labels 5% 2>said.txt
[ "$(grep -c '^parallax: hknn is not distributed' said.txt)" = 1 ] || { echo "not told once: hknn"; failed=1; }
exit $failed
