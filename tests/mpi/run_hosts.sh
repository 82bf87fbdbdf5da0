#!/usr/bin/env bash
# Four network namespaces as four hosts on one bridge, over TCP: tests/mpi/run_hosts.sh BUILD_DIR
#
# Compares a model fitted by four hosts with that of one process, kills a rank in the middle of coem and of spectral, looks
# for the one line, and goes on from the checkpoint to the same bytes. Prints what ordered sums cost beside MPI_Allreduce
# over these links when BUILD_DIR has plx-mpi-sums. Needs the right to make namespaces (root); says so and does nothing
# otherwise. Hosts have addresses of 198.18.0.0/24 (for benchmarks) inside of namespaces of their own, and go in the end.
# shellcheck source=tests/mpi/common.sh
. "$(dirname "$0")/common.sh"
tag=plx$$
hosts="1 2 3 4"
job=0

if ! ip netns add "$tag-hub" 2>/dev/null; then
    echo "hosts: network namespaces cannot be made here (root and iproute2 are needed); skipped"
    exit 0
fi

# shellcheck disable=SC2317
leave() {
    local h pid
    [ "$job" = 0 ] || kill -TERM "$job" 2>/dev/null || true
    for h in $hosts; do
        for pid in $(ip netns pids "$tag-$h" 2>/dev/null); do kill -KILL "$pid" 2>/dev/null || true; done
        ip netns del "$tag-$h" 2>/dev/null || true
    done
    ip netns del "$tag-hub" 2>/dev/null || true
    rm -rf "$work"
}

# A bridge in the hub, a cable to every host.
ip -n "$tag-hub" link add bridge type bridge
ip -n "$tag-hub" link set bridge up
for h in $hosts; do
    ip netns add "$tag-$h"
    ip -n "$tag-$h" link set lo up
    ip -n "$tag-$h" link add net0 type veth peer name "port$h" netns "$tag-hub"
    ip -n "$tag-hub" link set "port$h" master bridge up
    ip -n "$tag-$h" addr add "198.18.0.$h/24" dev net0
    ip -n "$tag-$h" link set net0 up
done

# What mpirun calls in the place of ssh: AGENT ADDRESS COMMAND...
cat >agent <<AGENT
#!/bin/sh
number=\${1##*.}; shift
exec ip netns exec "$tag-\$number" unshare --uts sh -c "hostname host\$number; \$*"
AGENT
chmod +x agent

# across ARGUMENTS...: one rank per host, started from the first.
across() {
    # shellcheck disable=SC2016
    ip netns exec "$tag-1" unshare --uts sh -c 'hostname host1; exec "$@"' - \
        timeout 600 mpirun --quiet --host 198.18.0.1,198.18.0.2,198.18.0.3,198.18.0.4 -n 4 --map-by node \
        --mca plm_rsh_agent "$work/agent" --mca plm_rsh_no_tree_spawn 1 --mca pml ob1 --mca btl tcp,self \
        --mca btl_tcp_if_include net0 --mca oob_tcp_if_include net0 --mca mpi_yield_when_idle 1 "$@"
}

# Processes of the rank on a host: the one that stands by, and its child that works.
rank_on() {
    local pid
    for pid in $(ip netns pids "$tag-$1"); do
        [ "$(ps -o comm= -p "$pid")" != parallax-mpi ] || echo "$pid"
    done
}

# shellcheck disable=SC2046
worker_on() { workers $(rank_on "$1"); }

# killed NAME FILE: ends the rank that works on host 3, looks at what the job says, and waits for all others to go.
killed() {
    local code=0 left=0 h
    kill -KILL "$(worker_on 3)"
    wait "$job" || code=$?
    job=0
    printf '%s, on four hosts, ' "$1"
    told "$2" 2 "$code"
    for _ in $(seq 100); do
        left=$(for h in $hosts; do rank_on "$h"; done | wc -l)
        [ "$left" != 0 ] || return 0
        sleep 0.1
    done
    fault "$1: $left processes live on"
}

# same NAME FILE: it has the bytes of one.plx.
same() { if cmp -s one.plx "$2"; then echo "$1: same"; else fault "$1: DIFFERENT"; fi; }

[ ! -x "$build/plx-mpi-sums" ] || across -x PLX_WIRE=1 "$build/plx-mpi-sums" 11

make_text docs 100000 300 10
long="--labels 5% --set max_iter=60 --set tol=0 --threads 1 --quiet"
# shellcheck disable=SC2086
one fit coem docs $long --model one.plx
# shellcheck disable=SC2086
across "$build/parallax-mpi" fit coem docs $long --model four.plx
same "coem, four hosts" four.plx

# shellcheck disable=SC2086
across "$build/parallax-mpi" fit coem docs $long --model many.plx --checkpoint state --every 0 >killed.txt 2>&1 &
job=$!
for _ in $(seq 600); do
    [ ! -s state ] || break
    sleep 0.1
done
killed coem killed.txt
grep -q 'with --resume' killed.txt || fault "coem: how to go on is not told"
[ ! -e many.plx ] || fault "coem was over before the kill"
# shellcheck disable=SC2086
across "$build/parallax-mpi" fit coem docs $long --model many.plx --checkpoint state --resume
same "coem, resumed by four hosts" many.plx

one data generate two-gauss long --set n=10000 --set classes=3 --set dims=60 --set labelled=0 --seed 1
across "$build/parallax-mpi" fit spectral long --set clusters=3 --threads 1 --quiet --model spectral.plx >said.txt 2>&1 &
job=$!
for _ in $(seq 300); do
    [ -z "$(worker_on 3)" ] || break
    sleep 0.1
done
sleep 3
if grep -q 'built without' said.txt; then
    echo "spectral: this build has no PETSc and SLEPc"
    wait "$job" || true
    job=0
else
    killed spectral said.txt
    ! grep -q 'with --resume' said.txt || fault "spectral keeps no checkpoint to go on from"
fi
exit $failed
