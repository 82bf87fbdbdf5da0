#!/usr/bin/env python3
"""An EM iteration of coem against the memory bandwidth (bench_coem) and against the EM a user would write with scipy.sparse: two
sparse products and a softmax per step. Both sides in one run on the same word counts, best of several iterations each.

  python3 bench/bench_coem.py --program build/bench/bench/bench_coem [--threads 2] [--entries 10000000] [--large]

--large adds one line with 100 million entries (a million samples), to show growth in the entries and the memory.
"""
import argparse
import re
import subprocess
import tempfile
import time
from pathlib import Path

import numpy as np
import scipy
import scipy.sparse as sp
from ratios import Row, Time, processor_time

SAMPLES, WORDS, CLASSES, STEPS = 100_000, 50_000, 20, 6


def scipy_iteration(x, smoothing=0.1):
    """Best time of an EM iteration of a multinomial mixture, random start."""
    rng = np.random.default_rng(1)
    r = np.eye(CLASSES)[rng.integers(0, CLASSES, x.shape[0])]
    xt = x.T.tocsr()
    best = Time(float("inf"), float("inf"))
    for _ in range(STEPS):
        start = Time(time.perf_counter(), processor_time())
        alpha = r.mean(0)
        sums = xt @ r + smoothing
        scores = x @ np.log(sums / sums.sum(0)) + np.log(np.maximum(alpha, 1e-300))
        top = scores.max(1, keepdims=True)
        e = np.exp(scores - top)
        total = e.sum(1, keepdims=True)
        r = e / total
        (np.log(total) + top).sum()
        best = Time(min(best.wall, time.perf_counter() - start.wall), min(best.cpu, processor_time() - start.cpu))
    return best


def load(folder, samples):
    ptr, col, val = (np.fromfile(Path(folder) / (name + "0.bin"), dtype) for name, dtype in (("ptr", np.int64), ("col", np.int32), ("val", float)))
    return sp.csr_matrix((val, col, ptr.astype(np.int32)), (samples, WORDS))


def ours(program, threads, entries, views, samples=SAMPLES):
    text = subprocess.run([program, str(samples), str(WORDS), str(entries), str(CLASSES), str(views), str(threads)], check=True,
                          capture_output=True, text=True).stdout
    print(text, end="", flush=True)
    wall, cpu = re.search(r"([0-9.]+) ms, processors ([0-9.]+) ms", text).groups()
    return Time(float(wall) / 1e3, float(cpu) / 1e3)


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--program", required=True)
    p.add_argument("--threads", default="2")
    p.add_argument("--entries", type=int, default=10_000_000)
    p.add_argument("--large", action="store_true")
    a = p.parse_args()
    mine = ours(a.program, a.threads, a.entries, 1)
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([a.program, "write", folder, str(SAMPLES), str(WORDS), str(a.entries), "1"], check=True)
        peer = scipy_iteration(load(folder, SAMPLES))
    again = ours(a.program, a.threads, a.entries, 1)
    mine = Time(min(mine.wall, again.wall), min(mine.cpu, again.cpu))
    Row(f"coem, one iteration, {a.entries / 1e6:.0f}M entries, {CLASSES} classes", mine, peer, f"EM with scipy.sparse {scipy.__version__}", must=6,
        threads=int(a.threads)).record()
    ours(a.program, a.threads, a.entries, 2)
    if a.large:
        ours(a.program, a.threads, 10 * a.entries, 1, 10 * SAMPLES)


if __name__ == "__main__":
    main()
