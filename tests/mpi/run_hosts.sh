#!/usr/bin/env bash
# Four network namespaces as four hosts on one bridge, over TCP: tests/mpi/run_hosts.sh BUILD_DIR
#
# Compares a model fitted by four hosts with that of one process, kills a rank in the middle of coem and of spectral, looks
# for the one line, and goes on from the checkpoint to the same bytes. Prints what ordered sums cost beside MPI_Allreduce
# over these links when BUILD_DIR has plx-mpi-sums. Needs the right to make namespaces (root); says so and does nothing
# otherwise. Hosts have addresses of 198.18.0.0/24 (for benchmarks) inside of namespaces of their own, and go in the end.
set -u
build=$(cd "$1" && pwd)
tag=plx$$
hosts="1 2 3 4"
work=$(mktemp -d)
failed=0

if ! ip netns add "$tag-hub" 2>/dev/null; then
    echo "hosts: network namespaces cannot be made here (root is needed); skipped"
    rmdir "$work"
    exit 0
fi

job=0
clean() {
    [ "$job" = 0 ] || kill -TERM "$job" 2>/dev/null
    for h in $hosts; do
        for pid in $(ip netns pids "$tag-$h" 2>/dev/null); do kill -KILL "$pid" 2>/dev/null; done
        ip netns del "$tag-$h" 2>/dev/null
    done
    ip netns del "$tag-hub" 2>/dev/null
    rm -rf "$work"
}
trap clean EXIT

# A bridge in the hub, a cable to every host.
ip -n "$tag-hub" link add bridge type bridge && ip -n "$tag-hub" link set bridge up || exit 1
for h in $hosts; do
    ip netns add "$tag-$h" && ip -n "$tag-$h" link set lo up || exit 1
    ip -n "$tag-$h" link add net0 type veth peer name "port$h" netns "$tag-hub" || exit 1
    ip -n "$tag-hub" link set "port$h" master bridge up || exit 1
    ip -n "$tag-$h" addr add "198.18.0.$h/24" dev net0 && ip -n "$tag-$h" link set net0 up || exit 1
done

# What mpirun calls in the place of ssh: AGENT ADDRESS COMMAND...
cat >"$work/agent" <<AGENT
#!/bin/sh
number=\${1##*.}; shift
exec ip netns exec "$tag-\$number" unshare --uts sh -c "hostname host\$number; \$*"
AGENT
chmod +x "$work/agent"
cd "$work" || exit 1

export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
# across ARGUMENTS...: one rank per host, started from the first.
across() {
    ip netns exec "$tag-1" unshare --uts sh -c 'hostname host1; exec "$@"' - \
        mpirun --host 198.18.0.1,198.18.0.2,198.18.0.3,198.18.0.4 -n 4 --map-by node \
        --mca plm_rsh_agent "$work/agent" --mca plm_rsh_no_tree_spawn 1 --mca pml ob1 --mca btl tcp,self \
        --mca btl_tcp_if_include net0 --mca oob_tcp_if_include net0 --mca mpi_yield_when_idle 1 "$@"
}

# Processes of the rank on a host: the one that stands by, and its child that works.
rank_on() { for pid in $(ip netns pids "$tag-$1"); do [ "$(cat "/proc/$pid/comm" 2>/dev/null)" = parallax-mpi ] && echo "$pid"; done; }
worker_on() { for pid in $(rank_on "$1"); do pgrep -P "$pid" -x parallax-mpi; done; }

# killed NAME FILE: ends the rank on host 3 and looks at what the job says.
killed() {
    kill -KILL "$(worker_on 3)"
    wait "$job"; code=$?
    job=0
    told=$(grep -c '^parallax-mpi: ended from outside' "$2")
    named=$(grep -c '^parallax-mpi: rank 2 was killed by signal 9' "$2")
    printf '%s, the rank on host 3 killed: exit code %d, told %d times, its rank named %d times\n' "$1" $code "$told" "$named"
    [ $code = 1 ] && [ "$told" = 1 ] && [ "$named" = 1 ] || { cat "$2"; failed=1; }
    for _ in $(seq 100); do
        left=$(for h in $hosts; do rank_on "$h"; done | wc -l)
        [ "$left" = 0 ] && break
        sleep 0.1
    done
    [ "$left" = 0 ] || { echo "$1: $left ranks live on"; failed=1; }
}

[ ! -x "$build/plx-mpi-sums" ] || across -x PLX_WIRE=1 "$build/plx-mpi-sums" 11 || failed=1

"$build/parallax" data generate text docs --set n=100000 --set views=2 --set classes=4 --set features=300 \
    --set length=10 --seed 1 --quiet || exit 1
long="--labels 5% --set max_iter=60 --set tol=0 --threads 1 --quiet"
# shellcheck disable=SC2086
"$build/parallax" fit coem docs $long --model one.plx || exit 1
# shellcheck disable=SC2086
across "$build/parallax-mpi" fit coem docs $long --model four.plx
if cmp -s one.plx four.plx; then echo "coem, four hosts: same"; else echo "coem, four hosts: DIFFERENT"; failed=1; fi

# shellcheck disable=SC2086
across "$build/parallax-mpi" fit coem docs $long --model many.plx --checkpoint state --every 0 >killed.txt 2>&1 &
job=$!
for _ in $(seq 600); do [ -s state ] && break; sleep 0.1; done
killed coem killed.txt
[ ! -e many.plx ] || { echo "coem: it was over before the kill"; failed=1; }
# shellcheck disable=SC2086
across "$build/parallax-mpi" fit coem docs $long --model many.plx --checkpoint state --resume
if cmp -s one.plx many.plx; then echo "coem, resumed by four hosts: same"; else echo "coem, resumed: DIFFERENT"; failed=1; fi

"$build/parallax" data generate two-gauss long --set n=10000 --set classes=3 --set dims=60 --set labelled=0 --seed 1 --quiet
across "$build/parallax-mpi" fit spectral long --set clusters=3 --threads 1 --quiet --model spectral.plx >said.txt 2>&1 &
job=$!
for _ in $(seq 300); do [ -n "$(worker_on 3)" ] && break; sleep 0.1; done
sleep 3
if grep -q 'built without' said.txt; then echo "spectral: this build has no PETSc and SLEPc"; wait $job; job=0
else killed spectral said.txt; fi
exit $failed
