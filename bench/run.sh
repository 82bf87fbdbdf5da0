#!/bin/sh
# Benchmarks against limits and peers, each claim a ratio measured in one run. Appends to bench/log.txt.
#   bench/run.sh [linalg|chol|dense|neighbours|read|methods|mvkmeans|coem|mvplsa|kcca|coreg|spectral|graph|gp|sense|trees|acquire|ner|understand|clusterers|python]...        default: all
set -eu
cd "$(dirname "$0")/.."
jobs=$(nproc 2>/dev/null || echo 2)
threads=${THREADS:-$jobs}
cmake -S . -B build/bench -G Ninja -DCMAKE_BUILD_TYPE=Release -DCMAKE_C_FLAGS_RELEASE="-O3 -g1 -DNDEBUG" -DPLX_BUILD_BENCH=ON \
    -DPLX_BUILD_TESTS=OFF -DPLX_REFERENCES=ON >/dev/null
cmake --build build/bench -j "$jobs" >/dev/null
tools/python_env.sh build/bench-venv numpy scipy pandas scikit-learn matplotlib seaborn
python=build/bench-venv/bin/python
# mvlearn asks for a matplotlib that no longer builds; what is measured does not need it.
"$python" -c 'import mvlearn' 2>/dev/null || "$python" -m pip install --quiet --no-deps mvlearn 2>/dev/null || echo "mvlearn: could not be installed" >&2
[ $# -gt 0 ] || set -- linalg chol dense neighbours read methods mvkmeans coem mvplsa kcca coreg spectral graph gp sense trees acquire ner understand clusterers python
export PARALLAX=build/bench/parallax # whose machine and BLAS core the rows of results.csv name
log=build/bench/result.txt
{
    printf '\n# %s, %s, %s threads, load %s\n' "$(date -u +%Y-%m-%d)" "$(sed -n 's/^model name.*: //p' /proc/cpuinfo | head -n 1)" \
        "$threads" "$(cut -d' ' -f1 /proc/loadavg)"
    for part; do
        case $part in
        linalg) build/bench/bench/bench_linalg "$threads" ;;
        chol)
            for n in 5000 20000 50000; do for d in 2 5; do build/bench/bench/bench_sparse_chol $n $d 10; done; done
            ;;
        neighbours)
            "$python" -c 'import pynndescent' 2>/dev/null || "$python" -m pip install --quiet pynndescent
            "$python" bench/bench_neighbours.py --program build/bench/bench/bench_neighbours --threads "$threads" --million --exact
            ;;
        dense)
            # the newest scikit-learn is not what mvlearn was written for
            tools/python_env.sh build/bench-mvlearn "numpy<2" scipy "scikit-learn<1.3" joblib matplotlib seaborn >&2
            build/bench-mvlearn/bin/pip install --quiet --no-deps mvlearn >&2 || true
            tools/python_env.sh build/bench-zoo cca-zoo >&2
            "$python" bench/bench_dense.py build/bench/parallax 1
            ;;
        read) "$python" bench/bench_read.py --program build/bench/bench/bench_read --megabytes "${MEGABYTES:-1000}" ;;
        methods) "$python" bench/bench_methods.py build/bench/parallax "$threads" ;;
        mvkmeans)
            for n in 10000 100000 1000000; do build/bench/bench/bench_mvkmeans iterate $n 100 "$threads"; done
            for k in 25 50; do build/bench/bench/bench_mvkmeans iterate 100000 $k "$threads"; done
            "$python" bench/bench_mvkmeans.py --parallax build/bench/parallax --program build/bench/bench/bench_mvkmeans --threads "$threads"
            build/bench/bench/bench_mvkmeans programs 100000 200 "$threads" 1
            build/bench/bench/bench_label_search 40 1 20 0.7 5
            build/bench/bench/bench_label_search 84 1 20 0.7
            build/bench/bench/bench_label_search 40 3 20 0.7
            ;;
        python)
            "$python" -m pip install --quiet cffi mofapy2 || echo "mofapy2: could not be installed" >&2
            tools/python_build.sh "$python" build/bench
            PYTHONPATH=$PWD/build/python/site "$python" bench/bench_python.py build/bench/parallax
            OMP_NUM_THREADS=1 PYTHONPATH=$PWD/build/python/site "$python" bench/bench_peers.py
            ;;
        clusterers)
            tools/python_env.sh build/bench-mvlearn "numpy<2" scipy "scikit-learn<1.3" joblib matplotlib seaborn >&2
            build/bench-mvlearn/bin/pip install --quiet --no-deps mvlearn >&2 || true
            "$python" -m pip install --quiet imml polyview || echo "imml, polyview: could not be installed" >&2
            "$python" bench/bench_clusterers.py build/bench/parallax
            ;;
        trees)
            "$python" -c 'import fastcluster' 2>/dev/null || "$python" -m pip install --quiet fastcluster
            "$python" bench/bench_trees.py build/bench/parallax "$threads"
            ;;
        coem) "$python" bench/bench_coem.py --program build/bench/bench/bench_coem --threads "$threads" --large ;;
        mvplsa)
            "$python" bench/bench_mvplsa.py --program build/bench/bench/bench_mvplsa --threads "$threads"
            "$python" bench/bench_mvplsa.py --program build/bench/bench/bench_mvplsa --threads "$threads" --grow
            ;;
        kcca)
            tools/python_env.sh build/bench-zoo cca-zoo >&2
            "$python" bench/bench_kcca.py build/bench/parallax "$threads"
            ;;
        coreg)
            "$python" bench/bench_coreg.py build/bench/parallax "$threads"
            ;;
        spectral)
            "$python" bench/bench_spectral.py build/bench/parallax "$threads"
            ;;
        graph)
            "$python" bench/bench_graph.py build/bench/parallax "$threads"
            ;;
        gp)
            build/bench/bench/bench_gp dense 4000 200 "$threads"
            build/bench/bench/bench_gp evidence 2000 200 "$threads"
            "$python" bench/bench_gp.py build/bench/parallax "$threads"
            for n in 25000 50000 100000; do build/bench/bench/bench_gp pivots $n 200 "$threads"; done
            ;;
        acquire)
            "$python" bench/bench_acquire.py build/bench/parallax 1
            ;;
        ner)
            "$python" bench/bench_ner.py build/bench/parallax "$threads"
            ;;
        understand)
            "$python" bench/bench_understand.py build/bench/parallax 1
            ;;
        sense)
            "$python" bench/bench_sense.py build/bench/parallax "$threads"
            ;;
        *) echo "unknown part: $part" >&2 ;;
        esac
    done
} | tee "$log"
cat "$log" >>bench/log.txt
tools/gen_benchmarks.py
