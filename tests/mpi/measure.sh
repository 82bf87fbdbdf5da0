#!/usr/bin/env bash
# What ranks and streaming cost on one machine: tests/mpi/measure.sh BUILD_DIR [PART...]
#
#   ranks    two ranks with a thread each beside one process with two threads (coem, mvkmeans), $SAMPLES (200000) of them:
#            the least of $REPETITIONS (5), which take turns; also with sums by MPI_Allreduce (--deterministic 0)
#   sums     ordered sums beside MPI_Allreduce, without anything else
#   predict  peak memory of every rank and seconds of predict (nb, coem, rls), $NEW (262144) samples of 276 MB, by one process
#            and by 1, 2 and 4 ranks
#   stream   nb, mvkmeans and coem with --stream and data 4, 8 and 16 times as large as --memory, beside what it takes to
#            read the file into memory
#   large    $LARGE (10000000) samples of 50,000 features in 100 classes with --stream --memory $MEMORY (3G), by one process
#            with two threads and by two ranks, one iteration and three; needs some 6 kB of disk per sample in $TMPDIR
#
# Without a PART: the first three. Figures of docs/dev/scale.md; run it while nothing else runs.
# shellcheck source=tests/mpi/common.sh
. "$(dirname "$0")/common.sh"
[ $# -gt 0 ] || set -- ranks sums stream
repetitions=${REPETITIONS:-5}

# took COMMAND...: its wall seconds, processor seconds, and in MB the peak of the largest of its processes, and that of what
# the process itself has in memory beside pages of files, which the system can take back (looked at every 10 ms).
took() {
    python3 - "$@" <<'TOOK'
import resource, subprocess, sys, time
begin, own = time.monotonic(), 0
process = subprocess.Popen(sys.argv[1:], stdout=subprocess.DEVNULL)
while process.poll() is None:
    with open("/proc/%d/status" % process.pid) as status:
        own = max([own] + [int(line.split()[1]) for line in status if line.startswith("RssAnon")])
    time.sleep(0.01)
if process.returncode:
    sys.exit("failed: " + " ".join(sys.argv[1:]))
wall, used = time.monotonic() - begin, resource.getrusage(resource.RUSAGE_CHILDREN)
print("%.2f %.2f %.0f %.0f" % (wall, used.ru_utime + used.ru_stime, used.ru_maxrss / 1000, own / 1000))
TOOK
}

# figure NAME FILE: a number of the JSON.
figure() { grep -o "\"$1\": *[0-9.e+-]*" "$2" | head -1 | sed 's/.*: *//'; }

# least COLUMN FILE
least() { awk -v k="$1" 'NR == 1 || $k < m { m = $k } END { print m }' "$2"; }

load() { echo "load average $1: $(cut -d' ' -f1-3 /proc/loadavg)"; }

# ---- two ranks beside two threads ----

# once LABEL PROCESSES ARGUMENTS...: wall seconds of the fit, and processor seconds of all processes but those in MPI,
# which waits busily; the whole process, so that what a fit of more iterations takes longer is its own.
once() {
    local label=$1 processes=$2 used
    shift 2
    if [ "$processes" = 1 ]; then
        used=$(took "$build/parallax" fit "$@" --threads 2 --json fit.json --quiet | cut -d' ' -f2)
    else
        ranks 2 fit "$@" --threads 1 --json fit.json --verbose >said.txt 2>&1 || { cat said.txt; exit 1; }
        used=$(awk '/^parallax-mpi: 2 ranks took/ { print $5 - $10 }' said.txt)
    fi
    echo "$(figure seconds fit.json) $used" >>"$label.times"
}

# The least of all repetitions of a way: wall and processor seconds of 21 iterations and of one.
least_of() {
    echo "$1 $(least 1 "many.$1.times") $(least 2 "many.$1.times") $(least 1 "few.$1.times") $(least 2 "few.$1.times")"
}

part_ranks() {
    local method way settings count
    one data generate text docs --set n="$samples" --set views=2 --set classes=20 --set features=5000 --set length=60 \
        --set overlap=0.9 --seed 1 # hard enough for so many iterations
    for method in coem mvkmeans; do
        rm -f ./*.times
        for _ in $(seq "$repetitions"); do
            for way in threads ranks any; do
                settings="--labels 5%" count=2
                [ $method = mvkmeans ] || settings="$settings --set tol=0"
                [ $way != threads ] || count=1
                [ $way != any ] || settings="$settings --deterministic 0"
                # shellcheck disable=SC2086
                once few.$way $count $method docs $settings --set max_iter=1
                # shellcheck disable=SC2086
                once many.$way $count $method docs $settings --set max_iter=21
            done
        done
        for way in threads ranks any; do least_of $way; done | awk -v m=$method '
            $1 == "threads" { wall = $2; wall20 = $2 - $4; used = $3 - $5 }
            { printf "%-9s %-8s wall %.2f s, of twenty iterations %.2f s, processor %.2f s; efficiency %.2f, %.2f, %.2f\n",
                  m, $1, $2, $2 - $4, $3 - $5, wall / $2, wall20 / ($2 - $4), used / ($3 - $5) }'
    done
}

part_sums() {
    local count
    for count in 2 4; do timeout 600 mpirun --quiet --oversubscribe --bind-to none -n $count "$build/plx-mpi-sums"; done
}

# ---- streaming ----

# make_copies NAME PART SAMPLES COPIES: a data set of so many copies of an .h5mu with so many samples, side by side.
make_copies() {
    local i separator=""
    mkdir "$1"
    for i in $(seq "$4"); do cp "$2" "$1/part$i.h5mu"; done
    {
        printf '{"parallax": 1, "name": "%s", "parts": [' "$1"
        for i in $(seq "$4"); do
            printf '%s{"file": "part%d.h5mu", "rows": %d}' "$separator" "$i" "$3"
            separator=", "
        done
        echo ']}'
    } >"$1/dataset.json"
}

# make_part NAME SAMPLES CLASSES FEATURES: an .h5mu of two views with 60 words per sample.
make_part() {
    one data generate text text --set n="$2" --set views=2 --set classes="$3" --set features="$4" --set length=60 --seed 1
    one data convert text "$1.h5mu"
    rm -r text
}

settings_of() {
    case $1 in
    nb) echo "--labels 5%" ;;
    coem) echo "--labels 5% --set tol=0 --set max_iter=${2:-3}" ;;
    mvkmeans) echo "--labels 5% --set max_iter=${2:-3}" ;;
    esac
}

# read_and_fit DATA METHOD ARGUMENTS...: in memory and streamed.
read_and_fit() {
    local data=$1 method=$2
    shift 2
    printf '%-34s %s\n' "$method" "$(took "$build/parallax" fit "$method" "$data" --trust --threads 2 "$@" \
        --model near.plx --quiet)"
    printf '%-34s %s\n' "$method --stream --memory 128M" "$(took "$build/parallax" fit "$method" "$data" --trust \
        --threads 2 "$@" --stream --memory 128M --model far.plx --quiet)"
    cmp near.plx far.plx || fault "$method, streamed: another model"
}

part_stream() {
    local copies method rows=240000
    make_part docs $rows 20 5000
    for copies in 2 4 8; do
        make_copies "docs$copies" docs.h5mu $rows $copies
        echo "$((rows * copies)) samples, $((2 * copies)) times the memory: wall s, processor s, peak MB, without files MB"
        printf '%-34s %s\n' "data info, which reads the file" "$(took "$build/parallax" data info "docs$copies" --trust)"
        for method in nb mvkmeans coem; do
            # shellcheck disable=SC2046
            read_and_fit "docs$copies" $method $(settings_of $method)
        done
        rm -r "docs$copies"
    done
}

# ---- new samples ----

# peaks COMMAND...: wall seconds, and in MB the peak of the largest process of the command and of the largest that reads for
# it (looked at every 5 ms).
peaks() {
    python3 - "$@" <<'PEAKS'
import os, subprocess, sys, time
begin, peak = time.monotonic(), {}
process = subprocess.Popen(sys.argv[1:], stdout=subprocess.DEVNULL)
def of_this_command(pid):
    while pid > 1:
        if pid == process.pid: return True
        with open("/proc/%d/stat" % pid) as stat: pid = int(stat.read().rsplit(")", 1)[1].split()[1])
    return False
while process.poll() is None:
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open("/proc/%s/comm" % pid) as comm: name = comm.read().strip()
            if not name.startswith("parallax") or not of_this_command(int(pid)): continue
            with open("/proc/%s/status" % pid) as status:
                kib = max([int(line.split()[1]) for line in status if line.startswith("VmHWM")] + [0])
            peak[name == "parallax-reader"] = max(peak.get(name == "parallax-reader", 0), kib)
        except (FileNotFoundError, ProcessLookupError): pass
    time.sleep(0.005)
if process.returncode: sys.exit("failed: " + " ".join(sys.argv[1:]))
print("%.2f %.0f %.0f" % (time.monotonic() - begin, peak.get(False, 0) / 1000, peak.get(True, 0) / 1000))
PEAKS
}

part_predict() {
    local method count
    one data generate text new --set n="${NEW:-262144}" --set views=2 --set classes=8 --set features=2000 --set length=60 \
        --seed 1
    one data convert new new.h5mu
    rm -r new
    echo "predict: wall s, peak MB of the largest rank, and of what reads for it"
    for method in nb coem rls; do
        # shellcheck disable=SC2046
        one fit $method new.h5mu --labels 1% $([ $method != coem ] || echo --set max_iter=3) --model $method.plx
        printf '%-34s %s\n' "$method, one process" "$(peaks "$build/parallax" predict $method.plx new.h5mu --threads 1 \
            --out one.csv --quiet)"
        for count in 1 2 4; do
            printf '%-34s %s\n' "$method, $count ranks" "$(peaks mpirun --quiet --oversubscribe --bind-to none -n $count \
                "$build/parallax-mpi" predict $method.plx new.h5mu --threads 1 --out many.csv --quiet)"
            cmp one.csv many.csv || fault "$method: other labels by $count ranks"
        done
    done
}

# ---- as large as the disk allows ----

# one_way LABEL METHOD ITERATIONS THREADS MODEL COMMAND...: what it took.
one_way() {
    local label=$1 method=$2 iterations=$3 threads=$4 model=$5
    shift 5
    # shellcheck disable=SC2046
    printf '%-34s %s\n' "$method, $iterations iterations, $label" "$(took "$@" fit "$method" large --trust \
        --threads "$threads" $(settings_of "$method" "$iterations") --stream --memory "${MEMORY:-3G}" --model "$model" --quiet)"
}

part_large() {
    local all=${LARGE:-10000000} rows=500000 method iterations
    [ "$all" -ge $rows ] || rows=$all
    make_part big "$rows" 100 50000
    make_copies large big.h5mu "$rows" $((all / rows))
    echo "$((all / rows * rows)) samples, --stream --memory ${MEMORY:-3G}: wall s, processor s, peak MB, and of one process without files MB"
    for method in ${METHODS:-nb mvkmeans coem}; do
        for iterations in 1 3; do
            one_way "two threads" "$method" $iterations 2 one.plx "$build/parallax"
            one_way "two ranks" "$method" $iterations 1 many.plx mpirun --quiet --oversubscribe --bind-to none -n 2 \
                "$build/parallax-mpi"
            cmp one.plx many.plx || fault "$method: another model by two ranks"
            [ "$method" != nb ] || break
        done
    done
}

load before
for part in "$@"; do
    case $part in
    ranks) part_ranks ;;
    sums) part_sums ;;
    stream) part_stream ;;
    predict) part_predict ;;
    large) part_large ;;
    *) fault "$part is none of ranks, sums, predict, stream, large" ;;
    esac
done
load after
exit $failed
