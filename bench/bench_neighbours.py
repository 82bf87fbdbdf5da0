"""Approximate neighbours of all samples beside pynndescent, at equal recall, in one run on the same data and threads.

usage: python3 bench/bench_neighbours.py [--program bench_neighbours] [--threads 2] [--million] [--exact]

pynndescent compiles itself on first use; that time is not counted. It runs with growing lists until its recall of the ten
nearest, counted here on 1,000 samples, is 0.95; ours must then reach the recall that it has.
--million: also one million samples x 50 (the limit there is ten minutes on two cores). --exact: our exact search, too.
"""
import argparse
import subprocess
import tempfile
from pathlib import Path

import numpy as np
import pynndescent
import scipy.sparse as sp
from ratios import Row, Time, best

K, SAMPLE, TARGET = 10, 1000, 0.95


def clouds(n, rng):
    """Three clouds of 50 dimensions, all of them noise: the hard case."""
    return 1.5 * rng.normal(size=(3, 50))[rng.integers(0, 3, n)] + rng.normal(size=(n, 50))


def surfaces(n, rng):
    """A hundred groups on a curved surface of 8 dimensions in 50, with a little noise: more like what people have."""
    latent = 2 * rng.normal(size=(100, 8))[rng.integers(0, 100, n)] + rng.normal(size=(n, 8))
    return np.tanh(latent @ rng.normal(size=(8, 50)) / 3) + 0.05 * rng.normal(size=(n, 50))


def texts(n, rng):
    """Some 60 words of 20,000 per row, a third of them from one of 200 topics."""
    topics = rng.integers(0, 20000, size=(200, 60))
    common = np.floor(20000 * rng.random((n, 40)) ** 4).astype(np.int64)
    own = topics[rng.integers(0, 200, n)][np.arange(n)[:, None], rng.integers(0, 60, size=(n, 20))]
    cols = np.hstack([common, own])
    x = sp.csr_matrix((np.ones(cols.size), cols.ravel(), np.arange(0, cols.size + 1, 60)), shape=(n, 20000))
    x.sum_duplicates()
    return x


CASES = (("surfaces of 8 dimensions, 100,000 x 50", surfaces, 100000, "euclid"), ("clouds of 50 dimensions, 100,000 x 50", clouds, 100000, "euclid"),
         ("texts, 50,000 x 20,000 sparse, cosine", texts, 50000, "cosine"))
MILLION = (("surfaces of 8 dimensions, 1,000,000 x 50", surfaces, 1000000, "euclid"),)


def ours(program, x, metric, threads, target):
    with tempfile.TemporaryDirectory() as folder:
        data, out = Path(folder) / "x", Path(folder) / "index"
        if sp.issparse(x):
            with open(data, "wb") as file:
                for part, kind in ((x.indptr, np.int64), (x.indices, np.int32), (x.data, np.float64)):
                    part.astype(kind).tofile(file)
        else:
            x.tofile(data)
        entries = x.nnz if sp.issparse(x) else 0
        said = subprocess.run([str(a) for a in (program, data, *x.shape, entries, K, metric, threads, target, out)], check=True,
                              capture_output=True, text=True).stdout.split()
        return Time(float(said[0]), float(said[1])), np.fromfile(out, dtype=np.int64).reshape(-1, K)


def truth(x, metric, rows):
    """Distances of the ten nearest of some rows, the row itself left out."""
    if sp.issparse(x):
        unit = sp.diags(1 / np.sqrt(x.multiply(x).sum(1).A1)) @ x
        near = 1 - (unit[rows] @ unit.T).toarray()
    else:
        near = np.maximum(0, (x[rows] ** 2).sum(1)[:, None] + (x ** 2).sum(1)[None] - 2 * x[rows] @ x.T)
    near[np.arange(len(rows)), rows] = np.inf
    return near, np.partition(near, K - 1, axis=1)[:, K - 1]


def recall(index, rows, known):
    near, reach = known
    found = [np.sum(near[t, [j for j in index[i] if j != i][:K]] <= reach[t] * (1 + 1e-9) + 1e-12) for t, i in enumerate(rows)]
    return np.sum(found) / (K * len(rows))


def theirs(x, metric, threads, rows, known):
    values = x.astype(np.float32)
    name = "cosine" if metric == "cosine" else "euclidean"
    pynndescent.NNDescent(values[:20000], metric=name, n_neighbors=K + 1, random_state=0, n_jobs=threads)
    for length in (K + 1, 16, 24, 32, 48, 64):
        kept = []
        spent = best(lambda: kept.append(pynndescent.NNDescent(values, metric=name, n_neighbors=length, random_state=0,
                                                               n_jobs=threads).neighbor_graph[0]), repeats=1)
        share = recall(kept[0], rows, known)
        if share >= TARGET:
            break
    return spent, share, length


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--program", default="build/release/bench/bench_neighbours")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--million", action="store_true")
    parser.add_argument("--exact", action="store_true")
    a = parser.parse_args()
    for what, make, n, metric in CASES + (MILLION if a.million else ()):
        rng = np.random.default_rng(1)
        x = make(n, rng)
        rows = rng.choice(n, SAMPLE if n < 500000 else SAMPLE // 5, replace=False)
        known = truth(x, metric, rows)
        peer, peer_recall, length = theirs(x, metric, a.threads, rows, known)
        target = max(TARGET, min(peer_recall, 0.999))
        mine, index = ours(a.program, x, metric, a.threads, target)
        remark = f"recall {recall(index, rows, known):.3f} against {peer_recall:.3f} (lists of {length})"
        if a.exact:
            remark += f"; our exact search {ours(a.program, x, metric, a.threads, 0)[0].cpu:.1f} s"
        print(remark)
        Row(f"10 approximate neighbours, {what}", ours=mine, peer=peer, beside=f"pynndescent {pynndescent.__version__}", must=1,
            remark=remark, threads=a.threads).record()


if __name__ == "__main__":
    main()
