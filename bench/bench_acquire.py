#!/usr/bin/env python3
"""A round of acquisition with colr against recomputing the determinant of the precision for each candidate.

usage: python3 bench/bench_acquire.py PARALLAX [THREADS]

2,050 samples in two views of 250 features, 50 labelled: 2,000 labels to ask for; and the same with one view of 2,000 samples
missing: 2,000 views to measure. Ours is the whole ranking minus a fit with the same settings; the other side is one LAPACK
Cholesky factorisation (dpotrf) of order 500, timed over a few and multiplied by the number of candidates; least processor time
of several rounds on both sides. Features include one pass of the density over the data. A batch of 20 is a ranking and 20 rank updates. Limit: 1/50.
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
THREADS = sys.argv[2] if len(sys.argv) > 2 else "1"
for key in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ[key] = THREADS

import numpy as np  # noqa: E402 (the thread limits must come first)
from scipy.linalg import lapack  # noqa: E402

N, D, LABELLED, CANDIDATES, LIMIT = 2050, 250, 50, 2000, 1 / 50


def write(data, rng, missing):
    data.mkdir()
    labels = rng.integers(0, 2, N)
    views = []
    for v in range(2):
        np.save(data / f"v{v}.npy", rng.normal(size=(N, D)) + 0.2 * labels[:, None])
        views.append({"name": f"v{v}", "kind": "real", "file": f"v{v}.npy"})
    if missing:
        (data / "p1.txt").write_text("".join("1\n" if i < LABELLED else "0\n" for i in range(N)))
        views[1]["present"] = "p1.txt"
    (data / "labels.txt").write_text("".join(f"c{c}\n" if i < LABELLED else "?\n" for i, c in enumerate(labels)))
    (data / "dataset.json").write_text(json.dumps({"parallax": 1, "name": "bench", "views": views, "labels": "labels.txt"}))
    return data


def once(folder, *command):
    """Processor time of one run."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    subprocess.run([PARALLAX, *command, "--json", str(folder / "r.json"), "--quiet", "--threads", THREADS, "--set", "hyper=fixed"],
                   check=True)
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before


def factorisation(matrix):
    start = time.process_time()
    for _ in range(20):
        lapack.dpotrf(matrix, lower=1)
    return (time.process_time() - start) / 20


def measure(folder, rounds, matrix, fit, runs):
    """Least time of every side, all of them in turn: a machine that is busy for a while is so for all."""
    best = [float("inf")] * (2 + len(runs))
    for _ in range(rounds):
        now = [factorisation(matrix), once(folder, *fit)] + [once(folder, *run) for run in runs]
        best = [min(a, b) for a, b in zip(best, now)]
    return best


def main():
    rng = np.random.default_rng(1)
    density = ["--set", "components=1", "--set", "em_iter=0", "--set", "covariance=diag"]
    matrix = rng.normal(size=(2 * D, 2 * D))
    matrix = np.asfortranarray(matrix @ matrix.T + 2 * D * np.eye(2 * D))
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        whole, holes = write(folder / "whole", rng, False), write(folder / "holes", rng, True)
        for kind, data, more in (("labels", whole, []), ("features", holes, density)):
            ranking = ["acquire", kind, str(data), "--with", "colr", *more]
            one, fit, *ranked = measure(folder, 15, matrix, ["fit", "colr", str(data)], [ranking, [*ranking, "--batch", "20"]])
            for what, seconds in zip(("", " batch of 20"), ranked):
                ours, brute = max(seconds - fit, 1e-4), CANDIDATES * one
                ratio = ours / brute
                print(f"acquire colr {kind:8s}{what} {CANDIDATES} candidates, {2 * D} features: "
                      f"{ours:.3f} s (fit {fit:.3f} s), determinants {brute:.2f} s, ratio {ratio:.4f} (limit {LIMIT}) "
                      f"{'ok' if ratio <= LIMIT else 'MISSED'}")


if __name__ == "__main__":
    main()
