#!/usr/bin/env python3
"""Gains of all candidates of active sensing against factorising the precision anew for each of them.

usage: python3 bench/bench_sense.py PARALLAX [THREADS]

2,000 samples in two rbf views with 10 features, 30 % of the rows of each missing, 40 labelled, two components, expectation at
their means and by closed-form moments (which carry the rank of the kernel's covariance). Ours is the whole ranking minus the same run with strategy=var, which fits but needs no
gains; the other side is one LAPACK Cholesky factorisation (dpotrf) of a matrix of that order, timed over a few and multiplied
by the number of candidates; processor time on both sides. Limits: 0.05; moments must not be slower than factorising, 1.
"""
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

PARALLAX = sys.argv[1]
THREADS = sys.argv[2] if len(sys.argv) > 2 else "2"
for key in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ[key] = THREADS

import numpy as np  # noqa: E402 (the thread limits must come first)
from scipy.linalg import lapack  # noqa: E402

N, D = 2000, 10
EXPECTATIONS = {"point": (0.05, 3), "moments": (1.0, 1)}  # limit, repeats


def write(folder, rng):
    data = folder / "data"
    data.mkdir()
    labels = rng.integers(0, 2, N)
    hidden = rng.random((N, 2)) < 0.3
    hidden[:, 1] &= ~hidden[:, 0]
    views = []
    for v in range(2):
        np.save(data / f"v{v}.npy", rng.normal(size=(N, D)) + labels[:, None])
        (data / f"p{v}.txt").write_text("".join("0\n" if h else "1\n" for h in hidden[:, v]))
        views.append({"name": f"v{v}", "kind": "real", "file": f"v{v}.npy", "present": f"p{v}.txt"})
    (data / "labels.txt").write_text("".join(f"c{c}\n" if i < 40 else "?\n" for i, c in enumerate(labels)))
    (data / "dataset.json").write_text(json.dumps({"parallax": 1, "name": "bench", "views": views, "labels": "labels.txt"}))
    return data, int(hidden.sum())


def seconds(folder, data, repeats, *settings):
    best = float("inf")
    for _ in range(repeats):
        out = folder / "r.json"
        command = [PARALLAX, "acquire", "features", str(data), "--with", "bct", "--json", str(out), "--quiet", "--threads", THREADS]
        for s in ("kernel=rbf", "width=3", "components=2", *settings):
            command += ["--set", s]
        before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
        subprocess.run(command, check=True)
        best = min(best, resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before)
    return best


def factorisation(rng):
    a = rng.normal(size=(N, N))
    a = np.asfortranarray(a @ a.T + N * np.eye(N))
    best = float("inf")
    for _ in range(5):
        start = time.process_time()
        lapack.dpotrf(a, lower=1)
        best = min(best, time.process_time() - start)
    return best


def main():
    rng = np.random.default_rng(1)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        data, candidates = write(folder, rng)
        plain = seconds(folder, data, 3, "strategy=var")
        brute = candidates * factorisation(rng)
        for expectation, (limit, repeats) in EXPECTATIONS.items():
            whole = seconds(folder, data, repeats, "strategy=mi", "expectation=" + expectation)
            ours = max(whole - plain, 1e-4)
            ratio = ours / brute
            print(f"sense {expectation:8s} {candidates} candidates: gains {ours:.3f} s (fit {plain:.3f} s), "
                  f"refactorised {brute:.1f} s, ratio {ratio:.5f} (limit {limit}) {'ok' if ratio <= limit else 'MISSED'}")


if __name__ == "__main__":
    main()
