#!/usr/bin/env python3
"""Smoothed and co-regularised classifiers: how time and memory grow, and the sparse support vector machine beside a peer.

usage: python3 bench/bench_coreg.py PARALLAX [THREADS] [LARGEST] [laprls|corls|svm]...   (default: all)

laprls  n x 20 dense, 100 labels, graph of 50 neighbours, linear kernel: seconds and peak memory for n up to LARGEST
        (default 50,000), fit only, as the command reports them.
corls   two sparse views of 5,000 columns, 100 labels, linear kernels (conjugate gradients on the weights), the same n.
svm     20,000 labelled sparse rows x 20,000 columns, 2 classes, C = 1, against scikit-learn's LinearSVC with the hinge loss.
        The peer penalises the offset and stops at its own tolerance; both objectives are printed, and the time ours takes to
        an objective as low as the peer's (the largest tolerance of 1e-2, 1e-3, ... that reaches it).
"""
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

PARALLAX = sys.argv[1]
THREADS = sys.argv[2] if len(sys.argv) > 2 else "2"
LARGEST = int(sys.argv[3]) if len(sys.argv) > 3 else 50000
for key in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ[key] = THREADS

import numpy as np  # noqa: E402 (the thread limits must come first)
import scipy.io  # noqa: E402
import scipy.sparse  # noqa: E402
import sklearn  # noqa: E402
from sklearn.svm import LinearSVC  # noqa: E402

from ratios import Row, Time, best  # noqa: E402


def fit(folder, method, *settings):
    """Seconds, peak memory in GiB, and the JSON result of one fit."""
    out = Path(folder) / "r.json"
    argv = [PARALLAX, "fit", method, str(Path(folder) / "data"), "--json", str(out), "--quiet", "--threads", THREADS]
    for setting in settings:
        argv += ["--set", setting]
    child = subprocess.Popen(argv)
    _, status, usage = os.wait4(child.pid, 0)
    if status:
        sys.exit(f"{method} failed")
    result = json.loads(out.read_text())
    return result["seconds"], usage.ru_maxrss / 2 ** 20, result


def write(folder, views, labels):
    data = Path(folder) / "data"
    data.mkdir()
    about = []
    for name, x in views.items():
        sparse = scipy.sparse.issparse(x)
        file = name + (".mtx" if sparse else ".npy")
        if sparse:
            scipy.io.mmwrite(data / file, x)
        else:
            np.save(data / file, x)
        about.append({"name": name, "file": file, "kind": "real"})
    (data / "labels.txt").write_text("".join(label + "\n" for label in labels))
    (data / "dataset.json").write_text(json.dumps({"parallax": 1, "name": "bench", "labels": "labels.txt", "views": about}))


def growth(name, make, method, *settings):
    print(f"\n{name}\n\n| n | seconds | peak GiB | iterations |\n|---|---|---|---|")
    n = LARGEST // 4
    while n <= LARGEST:
        with tempfile.TemporaryDirectory() as folder:
            make(folder, n)
            seconds, memory, result = fit(folder, method, *settings)
            print(f"| {n} | {seconds:.2f} | {memory:.2f} | {result['iterations']} |", flush=True)
        n *= 2


def labels_of(y, known):
    return [f"c{c}" if i < known else "?" for i, c in enumerate(y)]


def dense_data(folder, n):
    rng = np.random.default_rng(3)
    y = rng.integers(0, 2, n)
    write(folder, {"x": rng.standard_normal((n, 20)) + 2 * rng.standard_normal((2, 20))[y]}, labels_of(y, 100))


def topics(rng, y, columns, entries):
    """Unit rows with `entries` columns each, drawn from the half of the columns that the class prefers in two of three draws."""
    n = len(y)
    half = columns // 2
    own = rng.random((n, entries)) < 0.67
    cols = rng.integers(0, half, (n, entries)) + half * (own == y[:, None])
    x = scipy.sparse.csr_matrix((np.ones(n * entries), (np.repeat(np.arange(n), entries), cols.ravel())), shape=(n, columns))
    return scipy.sparse.diags(1 / np.sqrt(np.asarray(x.multiply(x).sum(axis=1)).ravel())) @ x


def sparse_data(folder, n):
    rng = np.random.default_rng(4)
    y = rng.integers(0, 2, n)
    write(folder, {"a": topics(rng, y, 5000, 30), "b": topics(rng, y, 5000, 30)}, labels_of(y, 100))


def bench_svm():
    rng = np.random.default_rng(5)
    n = 20000
    y = rng.integers(0, 2, n)
    x = topics(rng, y, 20000, 40).tocsr()
    with tempfile.TemporaryDirectory() as folder:
        write(folder, {"x": x}, labels_of(y, n))
        gamma = f"gamma_a={1 / (2 * n)!r}"
        seconds, memory, result = fit(folder, "svm", gamma)
        peer = LinearSVC(C=1.0, loss="hinge", max_iter=100000, tol=1e-6)
        other = best(lambda: peer.fit(x, y))
        margin = np.maximum(0, 1 - (2 * y - 1) * peer.decision_function(x))
        theirs = 0.5 * float((peer.coef_ ** 2).sum()) + float(margin.sum())
        for tol in ("1e-2", "1e-3", "1e-4", "1e-5", "1e-6", "1e-7", "1e-8"):
            _, _, loose = fit(folder, "svm", gamma, "tol=" + tol)
            if loose["objective"] * n / 2 <= theirs:
                break
        again = [loose] + [fit(folder, "svm", gamma, "tol=" + tol)[2] for _ in range(2)]
        mine = Time(min(r["seconds"] for r in again), min(r["processor_seconds"] for r in again))
    print(f"\nsvm, 20,000 sparse rows, two classes: {seconds:.2f} s, {memory:.2f} GiB, {result['iterations']} sweeps; "
          f"LinearSVC: {other.wall:.2f} s; objective {result['objective'] * n / 2:.6f} against {theirs:.6f}")
    Row("svm, linear, 20,000 sparse rows, to an objective as low", mine, other,
        f"LinearSVC of scikit-learn {sklearn.__version__}", must=2, remark=f"tol={tol}", threads=int(THREADS)).record(PARALLAX)


BENCHES = {"laprls": lambda: growth("laprls, dense x 20, 50 neighbours, 100 labels", dense_data, "laprls", "graph_k=50"),
           "corls": lambda: growth("corls, two sparse views x 5,000, 100 labels", sparse_data, "corls"),
           "svm": bench_svm}
for part in sys.argv[4:] or BENCHES:
    BENCHES[part]()
