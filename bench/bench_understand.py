#!/usr/bin/env python3
"""infobottleneck and localmodels beside the same work in NumPy and scikit-learn, in one run on the same data.

usage: python3 bench/bench_understand.py PARALLAX [THREADS]

infobottleneck  100 sweeps from a given start over sparse counts (20,000 x 10,000, 20 clusters, 1.2M entries), against the
                same equations over scipy.sparse; both end at the same value of the objective.
localmodels     linear SVMs with recursive elimination, one feature at a time, from 300 features to 30 over 1,000 labelled
                samples, five folds and the pattern on top, against scikit-learn's RFE over LinearSVC, the elimination alone.
"""
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

PARALLAX = sys.argv[1]
THREADS = sys.argv[2] if len(sys.argv) > 2 else "1"
for key in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ[key] = THREADS

import numpy as np  # noqa: E402 (the thread limits must come first)
import scipy.io  # noqa: E402
import scipy.sparse as sp  # noqa: E402
import sklearn  # noqa: E402
from sklearn.feature_selection import RFE  # noqa: E402
from sklearn.svm import LinearSVC  # noqa: E402

from ratios import Row, best, fit  # noqa: E402


def bottleneck(p, start, beta, sweeps):
    """IB over rows p (normalised, CSR) with uniform P(u): returns P(c|u) after some sweeps, and F."""
    n, pcu = p.shape[0], start
    for _ in range(sweeps):
        pc = pcu.mean(0)
        profile = (p.T @ pcu).T / (n * pc)[:, None]
        score = np.log(pc) + beta * (p @ np.log(np.maximum(profile, 1e-300)).T)
        score -= score.max(1, keepdims=True)
        pcu = np.exp(score)
        pcu /= pcu.sum(1, keepdims=True)
    return pcu, objective(p, pcu, beta)


def objective(p, pcu, beta):
    """F = I(U;C) - beta I(V;C)."""
    n, pc = p.shape[0], pcu.mean(0)
    told = np.where(pcu > 0, pcu * np.log(np.maximum(pcu, 1e-300) / pc), 0).sum() / n
    profile = (p.T @ pcu).T / (n * pc)[:, None]
    mean = np.asarray(p.mean(0)).ravel()
    joint = pc[:, None] * profile
    with np.errstate(divide="ignore", invalid="ignore"):
        kept = np.where(joint > 0, joint * np.log(profile / mean), 0).sum()
    return told - beta * kept


def bench_bottleneck(folder):
    data = Path(folder) / "data"
    subprocess.run([PARALLAX, "data", "generate", "text", data, "--quiet", "--set", "n=20000", "--set", "views=1", "--set", "classes=20",
                    "--set", "features=10000", "--set", "length=60"], check=True)
    view = json.loads((data / "dataset.json").read_text())["views"][0]
    x = scipy.io.mmread(data / view["file"]).tocsr().astype(float)
    p = sp.csr_matrix(x.multiply(1 / np.maximum(np.asarray(x.sum(1)), 1e-300)))
    start = np.random.default_rng(0).dirichlet(np.ones(20), x.shape[0])
    np.save(data / "start.npy", start)
    settings = ("--set", "clusters=20", "--set", "beta=100", "--set", "init=file:start.npy", "--set", "max_iter=100", "--set", "tol=0",
                "--set", "prepare=none")
    theirs = best(lambda: bottleneck(p, start, 100, 100), repeats=1)
    out = Path(folder) / "result.json"
    subprocess.run([PARALLAX, "fit", "infobottleneck", data, *settings, "--quiet", "--json", out], check=True)
    mine, peer = json.loads(out.read_text())["objective"], bottleneck(p, start, 100, 100)[1]
    if abs(mine - peer) > 1e-6 * abs(peer):
        sys.exit(f"infobottleneck: the objectives differ, {mine} and {peer}")
    Row("infobottleneck, 20,000 x 10,000 sparse, 20 clusters, 100 sweeps", fit(PARALLAX, "infobottleneck", data, *settings, threads=THREADS),
        theirs, f"the same sweeps with scipy.sparse {scipy.__version__}", threads=int(THREADS)).record(PARALLAX)


def bench_localmodels(folder):
    generator = np.random.default_rng(1)
    y = generator.integers(0, 2, 1000)
    x = generator.standard_normal((1000, 300)) + 0.3 * y[:, None] * (np.arange(300) < 60)
    data = Path(folder) / "data"
    data.mkdir()
    np.save(data / "x.npy", x)
    (data / "labels.txt").write_text("".join(f"c{c}\n" for c in y))
    (data / "dataset.json").write_text(json.dumps({"parallax": 1, "name": "dense", "labels": "labels.txt",
                                                   "views": [{"name": "x", "file": "x.npy", "kind": "real"}]}))
    scaled = (x - x.mean(0)) / x.std(0)
    elimination = RFE(LinearSVC(C=0.1, intercept_scaling=1.0, dual=False, tol=1e-9, max_iter=10000), n_features_to_select=30, step=1)
    Row("localmodels, 1,000 x 300, elimination to 30 features", fit(PARALLAX, "localmodels", data, "--set", "global_features=30", threads=THREADS),
        best(lambda: elimination.fit(scaled, y)), f"RFE over LinearSVC, scikit-learn {sklearn.__version__}, the elimination alone",
        threads=int(THREADS)).record(PARALLAX)


for bench in (bench_bottleneck, bench_localmodels):
    with tempfile.TemporaryDirectory() as scratch:
        bench(scratch)
