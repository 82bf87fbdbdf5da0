#!/usr/bin/env python3
"""Methods against their limits or peers, in one run on the same data and threads.

usage: python3 bench/bench_methods.py PARALLAX [THREADS]

nb   fit and score of 200,000 documents x 2 views x 50,000 words (about 20M entries, 20 classes, all labelled) against
     scikit-learn's MultinomialNB on each view plus the average of the posteriors. Reading is not counted on either side.
rls  one-against-rest least squares on 4,000 labelled samples of a dense view with 300 features, 10 classes, rbf kernel,
     against scikit-learn's KernelRidge with the same kernel and penalty.
"""
import json
import os
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
import scipy.io  # noqa: E402
from sklearn.kernel_ridge import KernelRidge  # noqa: E402
from sklearn.naive_bayes import MultinomialNB  # noqa: E402

REPEATS = 3


def ours(folder, method, *settings):
    best = float("inf")
    for _ in range(REPEATS):
        out = Path(folder) / "r.json"
        subprocess.run([PARALLAX, "fit", method, str(Path(folder) / "data"), "--json", str(out), "--quiet", "--threads", THREADS,
                        *settings], check=True)
        best = min(best, json.loads(out.read_text())["seconds"])
    return best


def theirs(run):
    best = float("inf")
    for _ in range(REPEATS):
        start = time.perf_counter()
        run()
        best = min(best, time.perf_counter() - start)
    return best


def line(name, mine, peer, what):
    print(f"{name}: {peer / mine:.2f} times as fast as {what} ({mine:.3f} s against {peer:.3f} s)")


def bench_nb(folder):
    subprocess.run([PARALLAX, "data", "generate", "text", str(Path(folder) / "data"), "--quiet", "--set", "n=200000", "--set", "views=2",
                    "--set", "classes=20", "--set", "features=50000", "--set", "length=60", "--set", "labelled=all"], check=True)
    views = json.loads((Path(folder) / "data/dataset.json").read_text())["views"]
    x = [scipy.io.mmread(Path(folder) / "data" / v["file"]).tocsr() for v in views]
    y = np.array((Path(folder) / "data/labels.txt").read_text().split())
    line("nb, 2 x 200k x 50k", ours(folder, "nb"),
         theirs(lambda: np.mean([MultinomialNB().fit(v, y).predict_proba(v) for v in x], axis=0)), "scikit-learn's MultinomialNB per view")


def bench_rls(folder):
    rng = np.random.default_rng(1)
    n, d, k = 4000, 300, 10
    y = rng.integers(0, k, n)
    x = rng.standard_normal((n, d)) + rng.standard_normal((k, d))[y]
    data = Path(folder) / "data"
    data.mkdir()
    np.save(data / "x.npy", x)
    (data / "labels.txt").write_text("".join(f"c{c}\n" for c in y))
    (data / "dataset.json").write_text(json.dumps({"parallax": 1, "name": "dense", "labels": "labels.txt",
                                                   "views": [{"name": "x", "file": "x.npy", "kind": "real"}]}))
    target = np.where(y[:, None] == np.arange(k), 1.0, -1.0)
    model = KernelRidge(alpha=0.01 * n, kernel="rbf", gamma=1 / (2 * 20.0 ** 2))
    line("rls, rbf, 4000 x 300", ours(folder, "rls", "--set", "kernel=rbf", "--set", "width=20", "--set", "bias=0", "--set", "solver=dense"),
         theirs(lambda: model.fit(x, target).predict(x)), "scikit-learn's KernelRidge")


for bench in (bench_nb, bench_rls):
    with tempfile.TemporaryDirectory() as scratch:
        bench(scratch)
