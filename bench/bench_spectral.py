#!/usr/bin/env python3
"""Sparse spectral clustering and mvll against peers, in one run on the same data and threads. Reading is not counted.

usage: bench_spectral.py PARALLAX [THREADS] [spectral|mvll]...

spectral  a graph of 100,000 samples (10 neighbours, symmetrised), 20 clusters, against scikit-learn's SpectralClustering
          on the same precomputed graph.
mvll      20,000 samples, two views of 20 features, 10 neighbours, 5 classes, 5 % labels, end to end, against the
          straightforward NumPy/SciPy version below (distances by blocks, one solve per sample and view, conjugate
          gradients with the same tolerance).
"""
import json
import multiprocessing
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from queue import Empty

PARALLAX = sys.argv[1]
THREADS = sys.argv[2] if len(sys.argv) > 2 else "2"
PARTS = sys.argv[3:] or ["spectral", "mvll"]
LIMIT = int(os.environ.get("LIMIT", "240"))  # seconds a peer may take
for key in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ[key] = THREADS
os.environ.setdefault("OMP_WAIT_POLICY", "passive")  # on a busy machine waiting threads must not spin, on either side

import numpy as np  # noqa: E402 (the thread limits must come first)
import scipy.sparse as sp  # noqa: E402
import scipy.sparse.linalg as spl  # noqa: E402


def ours(data, method, *settings):
    """Seconds of the fit, processor seconds of the whole command (reading included), metrics."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    with tempfile.TemporaryDirectory() as scratch:
        out = Path(scratch) / "r.json"
        subprocess.run([PARALLAX, "fit", method, str(data), "--json", str(out), "--quiet", "--threads", THREADS, *settings], check=True)
        result = json.loads(out.read_text())
        cpu = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before
        return (result["seconds"], cpu), result.get("metrics", {})


def theirs(run):
    wall, cpu = time.perf_counter(), time.process_time()
    result = run()
    return (time.perf_counter() - wall, time.process_time() - cpu), result


def theirs_within(limit, run):
    """As theirs(), in a process of its own; None when it has not finished after `limit` seconds."""
    queue = multiprocessing.get_context("fork").Queue()
    worker = multiprocessing.get_context("fork").Process(target=lambda: queue.put(theirs(run)))
    worker.start()
    try:
        return queue.get(timeout=limit)
    except Empty:
        return None
    finally:
        worker.kill()


def line(name, mine, peer, what):
    print(f"{name}: {peer[0] / mine[0]:.2f} times as fast as {what} ({mine[0]:.3f} s against {peer[0]:.3f} s; processor time, ours with "
          f"reading, {mine[1]:.3f} s against {peer[1]:.3f} s)", flush=True)


# ---- spectral ----

def bench_spectral(folder, n=100000, clusters=20, k=10):
    from sklearn.cluster import SpectralClustering
    from sklearn.metrics import normalized_mutual_info_score
    graph = Path(os.environ.get("GRAPH", Path(folder) / "graph"))
    if not (graph / "graph.npz").exists():
        subprocess.run([sys.executable, str(Path(__file__).parent / "make_graph.py"), str(graph), str(n), str(clusters), str(k)], check=True)
    mine, metrics = ours(graph, "spectral", "--set", f"clusters={clusters}")
    w = sp.load_npz(graph / "graph.npz")
    truth = (graph / "truth.txt").read_text().split()
    model = SpectralClustering(clusters, affinity="precomputed", random_state=0, n_jobs=int(THREADS))
    found = theirs_within(LIMIT, lambda: model.fit_predict(w))
    if found is None:
        print(f"spectral, graph of {n}, {clusters} clusters: {mine[0]:.2f} s (NMI with the generating clusters {metrics['nmi']:.3f}); scikit-learn's "
              f"SpectralClustering has not finished after {LIMIT} s, {LIMIT / mine[0]:.0f} times as long", flush=True)
        return
    peer, labels = found
    line(f"spectral, graph of {n}, {clusters} clusters", mine, peer, "scikit-learn's SpectralClustering")
    print(f"  NMI with the generating clusters: ours {metrics['nmi']:.3f}, theirs {normalized_mutual_info_score(truth, labels):.3f}")


# ---- mvll ----

def neighbours(x, k, block=500):
    """The k nearest of every row, itself left out: squared distances by blocks, then a partial sort."""
    squares, out = (x * x).sum(1), np.empty((len(x), k), dtype=int)
    for at in range(0, len(x), block):
        d = squares[at:at + block, None] + squares[None, :] - 2 * x[at:at + block] @ x.T
        d[np.arange(len(d)), at + np.arange(len(d))] = np.inf
        out[at:at + block] = np.argsort(d, axis=1)[:, :k]
    return out


def straightforward(views, labels, k, lam, coupling):
    n = len(views[0])
    near = [neighbours(x, k) for x in views]
    rows, cols, vals = [], [], []
    for i in range(n):
        members = np.unique(np.concatenate([m[i] for m in near]))
        alpha, total = np.zeros(len(members)), 0.0
        for x in views:
            diff = x[members] - x[i]
            z = np.linalg.solve(lam * np.eye(len(members)) + diff @ diff.T, np.ones(len(members)))
            q = 1 / (1 + len(views) * coupling / (lam * z.sum()))
            alpha += q * z / z.sum()
            total += q
        rows.append(np.full(len(members), i))
        cols.append(members)
        vals.append(alpha / total)
    a = sp.csr_matrix((np.concatenate(vals), (np.concatenate(rows), np.concatenate(cols))), shape=(n, n))
    b = sp.identity(n, format="csr") - a
    c = (labels >= 0).astype(float)
    system = sp.csr_matrix(b.T @ b) + sp.diags(c)
    jacobi = sp.diags(1 / system.diagonal())
    f = np.empty((n, labels.max() + 1))
    for cls in range(f.shape[1]):
        y = np.where(labels < 0, 0.0, np.where(labels == cls, 1.0, -1.0))
        f[:, cls], _ = spl.cg(system, c * y, rtol=1e-8, M=jacobi, maxiter=200000)
    return f


def bench_mvll(folder, n=20000, d=20, classes=5, k=10):
    rng = np.random.default_rng(1)
    truth = rng.integers(0, classes, n)
    views = [rng.normal(size=(classes, d))[truth] + rng.normal(size=(n, d)) for _ in range(2)]
    labels = np.where(rng.random(n) < 0.05, truth, -1)
    data = Path(folder) / "local"
    data.mkdir()
    for v, x in enumerate(views):
        np.save(data / f"v{v}.npy", x)
    (data / "labels.txt").write_text("".join(f"{t}\n" if t >= 0 else "?\n" for t in labels))
    (data / "truth.txt").write_text("".join(f"{t}\n" for t in truth))
    (data / "dataset.json").write_text(json.dumps({"parallax": 1, "name": "local", "labels": "labels.txt", "truth": "truth.txt", "views": [
        {"name": f"v{v}", "file": f"v{v}.npy", "kind": "real"} for v in range(2)]}))
    mine, metrics = ours(data, "mvll", "--set", f"neighbours={k}")
    peer, f = theirs(lambda: straightforward(views, labels, k, 1.0, 0.1))
    accuracy = np.mean((f.argmax(1) == truth)[labels < 0])
    line(f"mvll, 2 x {n} x {d}, k {k}", mine, peer, "straightforward NumPy/SciPy")
    print(f"  accuracy: ours {metrics['accuracy']:.4f}, theirs {accuracy:.4f}")


with tempfile.TemporaryDirectory() as scratch:
    for part in PARTS:
        {"spectral": bench_spectral, "mvll": bench_mvll}[part](scratch)
