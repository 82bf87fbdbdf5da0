#!/usr/bin/env python3
"""mvplsa against what a user would write and against scikit-learn, in one run on the same data: a plain NumPy EM of PLSA over the
non-zeros, and LatentDirichletAllocation (batch). Seconds per iteration, best of several.

  python3 bench/bench_mvplsa.py --program build/bench/bench/bench_mvplsa [--rows 100000] [--threads 2] [--grow]

--grow measures the program alone on 1, 10 and 100 million entries and shows the memory.
"""
import argparse
import os
import re
import subprocess
import tempfile
import time

import numpy as np
import scipy.sparse as sp

COLS, PER_ROW, CLASSES, TOPICS = 50000, 110, 20, 128


def ours(args, rows, *more):
    argv = [args.program, str(rows), str(COLS), str(PER_ROW), str(CLASSES), str(TOPICS), str(args.threads), *more]
    out = subprocess.run(argv, check=True, capture_output=True, text=True).stdout
    print(out.strip(), flush=True)
    return float(re.search(r"topics: ([0-9.]+) s", out).group(1))


def load(directory, rows):
    read = lambda name, kind: np.fromfile(os.path.join(directory, name), kind)
    return sp.csr_matrix((read("val.bin", float), read("col.bin", np.int32), read("ptr.bin", np.int64)), (rows, COLS))


def numpy_em(x, a, c):
    """One EM iteration of PLSA (topics = classes) over the non-zeros: p(f|z), p(z|d) as arrays features x Z and documents x Z. The
    topic layer, which would multiply this by the number of topics, is left out in its favour."""
    entries = x.tocoo()
    posterior = a[entries.col] * c[entries.row]
    posterior *= (entries.data / posterior.sum(1))[:, None]
    new_a, new_c = np.zeros_like(a), np.zeros_like(c)
    for z in range(a.shape[1]):
        new_a[:, z] = np.bincount(entries.col, posterior[:, z], a.shape[0])
        new_c[:, z] = np.bincount(entries.row, posterior[:, z], c.shape[0])
    return new_a / new_a.sum(0), new_c / new_c.sum(1, keepdims=True)


def timed(run):
    start = time.perf_counter()
    run()
    return time.perf_counter() - start


def against_numpy(x, seconds):
    rng = np.random.default_rng(1)
    a, c = rng.random((COLS, CLASSES)) + 0.1, rng.random((x.shape[0], CLASSES)) + 0.1
    a, c = a / a.sum(0), c / c.sum(1, keepdims=True)
    theirs = min(timed(lambda: numpy_em(x, a, c)) for _ in range(2))
    print("plain NumPy EM of PLSA over the non-zeros: %.2f s per iteration (%.1fx ours)" % (theirs, theirs / seconds), flush=True)


def against_sklearn(x, seconds, threads):
    try:
        from sklearn.decomposition import LatentDirichletAllocation
    except ImportError as error:
        print("scikit-learn: not installed (%s)" % error)
        return
    share = x[: x.shape[0] // 10]  # a tenth of the documents: its time is linear in them
    lda = LatentDirichletAllocation(CLASSES, learning_method="batch", max_iter=1, evaluate_every=0, n_jobs=threads, random_state=1)
    theirs = timed(lambda: lda.fit(share)) * x.shape[0] / share.shape[0]
    print("scikit-learn LatentDirichletAllocation (batch, %d topics): %.1f s per iteration (%.0fx ours), from a tenth of the documents"
          % (CLASSES, theirs, theirs / seconds), flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--program", required=True)
    parser.add_argument("--rows", type=int, default=100000)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--grow", action="store_true")
    args = parser.parse_args()
    if args.grow:
        for rows in (10000, 100000, 1000000):
            ours(args, rows, "-", "5", "1" if rows > 100000 else "3")
        return
    with tempfile.TemporaryDirectory() as directory:
        seconds = ours(args, args.rows, directory)
        x = load(directory, args.rows)
    against_numpy(x, seconds)
    against_sklearn(x, seconds, args.threads)


if __name__ == "__main__":
    main()
