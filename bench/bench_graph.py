#!/usr/bin/env python3
"""Graph and local methods beside plain NumPy, SciPy and scikit-learn code for the same formulas, and how they grow.

usage: bench_graph.py PARALLAX [THREADS] [lines|growth]...

lines   one line per method (lapsvm colaprls colapsvm lapreg nlapreg llereg llreg): the fit as the command reports it against
        the peer from rows to labels, in one run on the same data; the share of equal labels shows that both do the same.
growth  seconds and peak memory of mvll (2 views x 20, 10 neighbours), spectral (20 columns, affinity_k=10, 20 clusters) and
        nlapreg (50 columns), for growing numbers of samples.
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
PARTS = sys.argv[3:] or ["lines", "growth"]
for key in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ[key] = THREADS
os.environ.setdefault("OMP_WAIT_POLICY", "passive")

import numpy as np  # noqa: E402 (the thread limits must come first)
import scipy.sparse as sp  # noqa: E402
import scipy.sparse.linalg as spl  # noqa: E402
from sklearn.neighbors import NearestNeighbors, kneighbors_graph  # noqa: E402
from sklearn.svm import SVC  # noqa: E402

CLASSES = 3


# ---- ours ----

def clouds(n, columns, views, groups=CLASSES, seed=1):
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, groups, n)
    return [1.5 * rng.normal(size=(groups, columns))[truth] + rng.normal(size=(n, columns)) for _ in range(views)], truth


def write(folder, views, labels):
    folder.mkdir(exist_ok=True)
    for v, x in enumerate(views):
        np.save(folder / f"v{v}.npy", x)
    (folder / "labels.txt").write_text("".join(f"{t}\n" if t >= 0 else "?\n" for t in labels))
    (folder / "dataset.json").write_text(json.dumps({"parallax": 1, "name": "bench", "labels": "labels.txt", "views": [
        {"name": f"v{v}", "file": f"v{v}.npy", "kind": "real"} for v in range(len(views))]}))


def fit(folder, method, settings):
    """JSON result, labels and peak GiB of one fit."""
    out, csv = folder / "r.json", folder / "p.csv"
    argv = [PARALLAX, "fit", method, str(folder), "--json", str(out), "--out", str(csv), "--quiet", "--threads", THREADS]
    for s in settings:
        argv += ["--set", s]
    child = subprocess.Popen(argv)
    _, status, usage = os.wait4(child.pid, 0)
    if status:
        sys.exit(f"{method} failed")
    return json.loads(out.read_text()), [row.split(",")[1] for row in csv.read_text().split("\n")[1:-1]], usage.ru_maxrss / 2 ** 20


# ---- peers ----

def knn_edges(x, k):
    w = kneighbors_graph(x, k, mode="connectivity")
    return w.maximum(w.T)


def local_edges(x, k, scale_k=7):
    d = kneighbors_graph(x, k, mode="distance")
    d = d.maximum(d.T).tocoo()
    s = NearestNeighbors(n_neighbors=scale_k).fit(x).kneighbors()[0][:, -1]
    return sp.csr_matrix((np.exp(-d.data ** 2 / (s[d.row] * s[d.col])), (d.row, d.col)), shape=d.shape)


def scaled_laplacian(w):
    degree = np.asarray(w.sum(1)).ravel()
    return (sp.diags(degree) - w) / degree.mean()


def targets(labels, known):
    return np.where(labels[known, None] == np.arange(CLASSES)[None], 1.0, -1.0)


def smooth_classifier(x, laplacian, labels, hinge, gamma_a=0.01, gamma_i=1.0):
    """laprls or lapsvm through the deformed kernel, linear kernel, with offset: scores n x classes."""
    gram, n = x @ x.T, len(x)
    known = np.flatnonzero(labels >= 0)
    deformed = gram @ np.linalg.inv(np.eye(n) + gamma_i / gamma_a * (laplacian @ gram))
    inner, scores = deformed[np.ix_(known, known)], np.empty((n, CLASSES))
    y = targets(labels, known)
    ell = len(known)
    if not hinge:
        system = np.block([[inner + gamma_a * ell * np.eye(ell), np.ones((ell, 1))], [np.ones((1, ell)), np.zeros((1, 1))]])
        solved = np.linalg.solve(system, np.vstack([y, np.zeros((1, CLASSES))]))
        return deformed[:, known] @ solved[:-1] + solved[-1]
    for c in range(CLASSES):
        machine = SVC(C=1 / (2 * gamma_a * ell), kernel="precomputed", tol=1e-8).fit(0.5 * (inner + inner.T), y[:, c])
        scores[:, c] = machine.decision_function(deformed[:, known])
    return scores


def one_view(views, labels):
    return smooth_classifier(views[0], scaled_laplacian(knn_edges(views[0], 50)), labels, True).argmax(1)


def coupled(hinge):
    def run(views, labels):
        joint = sum(scaled_laplacian(knn_edges(x, 50)) for x in views) / len(views)
        return np.mean([smooth_classifier(x, joint, labels, hinge) for x in views], axis=0).argmax(1)
    return run


def solve_labels(laplacian, labels):
    known = labels >= 0
    c = known.astype(float)
    y = np.where(known[:, None], np.where(labels[:, None] == np.arange(CLASSES)[None], 1.0, -1.0), 0.0)
    return spl.splu(sp.csc_matrix(laplacian + sp.diags(c))).solve(c[:, None] * y).argmax(1)


def by_graph(normalised):
    def run(views, labels):
        total = 0
        for x in views:
            w = local_edges(x, 10)
            degree = np.asarray(w.sum(1)).ravel()
            one = sp.diags(degree) - w
            root = sp.diags(1 / np.sqrt(degree))
            total = total + (root @ one @ root if normalised else one) / len(views)
        return solve_labels(total, labels)
    return run


def by_weights(linear):
    """llereg (locally linear weights, 1e-3) or llreg (linear local models, lambda 1), 10 neighbours, view by view."""
    def run(views, labels):
        total, n = 0, len(labels)
        for x in views:
            near = NearestNeighbors(n_neighbors=10).fit(x).kneighbors(return_distance=False)
            values = np.empty(near.shape)
            for i in range(n):
                diff = x[near[i]] - x[i]
                gram = diff @ diff.T
                ridge = 1.0 if linear else 1e-3 * np.trace(gram) / 10
                z = np.linalg.solve(gram + ridge * np.eye(10), np.ones(10))
                values[i] = z / z.sum()
            b = sp.identity(n) - sp.csr_matrix((values.ravel(), near.ravel(), np.arange(0, 10 * n + 1, 10)), shape=(n, n))
            total = total + b.T @ b / len(views)
        return solve_labels(total, labels)
    return run


# ---- lines ----

# Ours compute what the peers do, whatever the defaults are.
PLAIN = ["scale=none", "decision=argmax"]
SMOOTH = PLAIN + ["graph_k=50", "gamma_a=0.01", "gamma_i=1"]
LINES = (("lapsvm", 2000, 1, SMOOTH + ["view=v0"], one_view), ("colaprls", 2000, 2, SMOOTH, coupled(False)),
         ("colapsvm", 2000, 2, SMOOTH, coupled(True)), ("lapreg", 6000, 2, PLAIN, by_graph(False)),
         ("nlapreg", 6000, 2, PLAIN, by_graph(True)), ("llereg", 6000, 2, PLAIN, by_weights(False)),
         ("llreg", 6000, 2, PLAIN + ["lambda_scale=none"], by_weights(True)))


def share_equal(a, b):
    return np.mean([int(s) == t for s, t in zip(a, b)])


def lines(scratch):
    for method, n, count, settings, peer in LINES:
        views, truth = clouds(n, 20, count)
        labels = np.where(np.random.default_rng(2).random(n) < 0.05, truth, -1)
        folder = Path(scratch) / method
        write(folder, views, labels)
        result, mine, _ = fit(folder, method, settings)
        start = time.perf_counter()
        theirs = peer(views, labels)
        seconds = time.perf_counter() - start
        print(f"{method}, {count} x {n} x 20: {seconds / result['seconds']:.1f} times as fast as NumPy, SciPy and scikit-learn "
              f"({result['seconds']:.3f} s against {seconds:.3f} s; {100 * share_equal(mine, theirs):.1f} % the same)", flush=True)


# ---- growth ----

def grow(scratch, title, method, sizes, columns, views, groups, settings):
    print(f"\n{title}\n\n| n | seconds | peak GiB | iterations |\n|---|---|---|---|")
    for n in sizes:
        rows, truth = clouds(n, columns, views, groups)
        labels = np.where(np.random.default_rng(2).random(n) < 0.05, truth, -1)
        folder = Path(scratch) / f"{title[:20]}{n}".replace(" ", "_")
        write(folder, rows, labels)
        result, _, memory = fit(folder, method, settings)
        print(f"| {n} | {result['seconds']:.2f} | {memory:.2f} | {result['iterations']} |", flush=True)


def growth(scratch):
    grow(scratch, "mvll, two views x 20, 10 neighbours", "mvll", (5000, 10000, 20000, 40000), 20, 2, 5, [])
    grow(scratch, "spectral, x 20, affinity_k=10, width=3, 20 clusters", "spectral", (12500, 25000, 50000, 100000), 20, 1, 20,
         ["clusters=20", "affinity_k=10", "width=3", "combine=single:v0"])
    grow(scratch, "nlapreg, x 50, 10 neighbours", "nlapreg", (50000, 100000), 50, 1, 3, ["c_u=1e-6"])


with tempfile.TemporaryDirectory() as place:
    for part in PARTS:
        {"lines": lines, "growth": growth}[part](place)
