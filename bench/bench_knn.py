"""Exact nearest neighbours against scikit-learn's brute force, in one run on the same data and threads.

usage: python3 bench/bench_knn.py [path to bench_linalg] [threads]
Prints the ratio of the times (scikit-learn / ours: above 1 we are faster) and how many neighbour lists agree.
"""
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import sklearn
from sklearn.neighbors import NearestNeighbors

ROWS, COLS, K, REPEATS = 20000, 64, 10, 3


def time_sklearn(x, threads):
    model = NearestNeighbors(n_neighbors=K, algorithm="brute", n_jobs=threads).fit(x)
    best = float("inf")
    for _ in range(REPEATS):
        start = time.perf_counter()
        index = model.kneighbors(return_distance=False)
        best = min(best, time.perf_counter() - start)
    return best, index


def time_ours(program, x, threads):
    with tempfile.TemporaryDirectory() as folder:
        data, out = Path(folder) / "x.bin", Path(folder) / "index.bin"
        x.tofile(data)
        command = [program, "knn", data, ROWS, COLS, K, threads, out]
        seconds = float(subprocess.run([str(c) for c in command], check=True, capture_output=True, text=True).stdout)
        return seconds, np.fromfile(out, dtype=np.int64).reshape(ROWS, K)


def main():
    program = sys.argv[1] if len(sys.argv) > 1 else "build/release/bench/bench_linalg"
    threads = int(sys.argv[2]) if len(sys.argv) > 2 else 2
    x = np.random.default_rng(0).standard_normal((ROWS, COLS))
    theirs, their_index = time_sklearn(x, threads)
    ours, our_index = time_ours(program, x, threads)
    same = int((np.sort(our_index, 1) == np.sort(their_index, 1)).all(1).sum())
    print(f"knn {ROWS} x {COLS}, k = {K}, {threads} threads: {theirs / ours:.2f} x the speed of scikit-learn "
          f"{sklearn.__version__} ({ours:.3f} s against {theirs:.3f} s), {same} of {ROWS} lists agree")


if __name__ == "__main__":
    main()
