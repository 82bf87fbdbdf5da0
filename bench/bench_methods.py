#!/usr/bin/env python3
"""Methods against their limits or peers, in one run on the same data and threads.

usage: python3 bench/bench_methods.py PARALLAX [THREADS [METHOD...]]

nb   fit and score of 200,000 documents x 2 views x 50,000 words (about 20M entries, 20 classes, all labelled) against
     scikit-learn's MultinomialNB on each view plus the average of the posteriors. Reading is not counted on either side.
rls  one-against-rest least squares on 4,000 labelled samples of a dense view with 300 features, 10 classes, rbf kernel,
     against scikit-learn's KernelRidge with the same kernel and penalty.
cotrain  20 rounds of co-training on 20,000 documents x 2 views x 20,000 words, 10 classes, 1 % labelled, a pool of 75 or of
     all others, against the same loop written with scikit-learn's MultinomialNB and LogisticRegression (default accuracy; ours goes to
     gradient norm 1e-10).
colr  4,000 samples in two views of 200 features, 400 labelled, against scikit-learn's LogisticRegression on the joined views.
bct  dense form, 4,000 samples in two rbf views, 100 labelled, against the bare LAPACK factorisations and inverses it needs.
"""
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

PARALLAX = sys.argv[1]
THREADS = sys.argv[2] if len(sys.argv) > 2 else "2"
for key in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ[key] = THREADS

import numpy as np  # noqa: E402 (the thread limits must come first)
import scipy.io  # noqa: E402
from scipy.linalg import lapack  # noqa: E402
from sklearn.kernel_ridge import KernelRidge  # noqa: E402
from sklearn.linear_model import LogisticRegression  # noqa: E402
from sklearn.naive_bayes import MultinomialNB  # noqa: E402

from ratios import Row, best, fit  # noqa: E402

def ours(folder, method, *settings):
    return fit(PARALLAX, method, Path(folder) / "data", *settings, threads=THREADS)


def line(name, mine, peer, what, must=1.0):
    Row(name, mine, peer, what, must, threads=int(THREADS)).record(PARALLAX)


def bench_nb(folder):
    subprocess.run([PARALLAX, "data", "generate", "text", str(Path(folder) / "data"), "--quiet", "--set", "n=200000", "--set", "views=2",
                    "--set", "classes=20", "--set", "features=50000", "--set", "length=60", "--set", "labelled=all"], check=True)
    views = json.loads((Path(folder) / "data/dataset.json").read_text())["views"]
    x = [scipy.io.mmread(Path(folder) / "data" / v["file"]).tocsr() for v in views]
    y = np.array((Path(folder) / "data/labels.txt").read_text().split())
    line("nb, 2 x 200k x 50k", ours(folder, "nb"),
         best(lambda: np.mean([MultinomialNB().fit(v, y).predict_proba(v) for v in x], axis=0)), "scikit-learn's MultinomialNB per view")


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
         best(lambda: model.fit(x, target).predict(x)), "scikit-learn's KernelRidge")


def plain_cotrain(x, given, learner, rounds, pool_size):
    """Every view teaches its surest sample of every class in the pool to all; a pool_size of 0: all unlabelled samples."""
    labels = np.array(given, dtype=object)
    queue = list(np.random.default_rng(0).permutation([i for i, label in enumerate(labels) if label is None]))
    pool_size = pool_size or len(queue)
    pool, queue = queue[:pool_size], queue[pool_size:]
    for _ in range(rounds):
        known = np.array([label is not None for label in labels])
        waiting, surest = np.array(pool), {}
        for view in x:
            model = learner().fit(view[known], labels[known].astype(str))
            score = model.predict_log_proba(view[waiting])
            for c, name in enumerate(model.classes_):
                mine = np.flatnonzero(score.argmax(1) == c)
                if len(mine):
                    i = mine[score[mine, c].argmax()]
                    surest[waiting[i]] = max(surest.get(waiting[i], (-np.inf, "")), (score[i, c], name))
        for sample, (_, name) in surest.items():
            labels[sample] = name
        pool = [i for i in pool if i not in surest] + queue[:len(surest)]
        queue = queue[len(surest):]
    known = np.array([label is not None for label in labels])
    return [learner().fit(view[known], labels[known].astype(str)).predict_proba(view) for view in x]


def bench_cotrain(folder):
    subprocess.run([PARALLAX, "data", "generate", "text", str(Path(folder) / "data"), "--quiet", "--set", "n=20000", "--set", "views=2",
                    "--set", "classes=10", "--set", "features=20000", "--set", "length=60", "--set", "labelled=1%"], check=True)
    views = json.loads((Path(folder) / "data/dataset.json").read_text())["views"]
    x = [scipy.io.mmread(Path(folder) / "data" / v["file"]).tocsr() for v in views]
    given = [None if y == "?" else y for y in (Path(folder) / "data/labels.txt").read_text().split()]
    for base, learner, pool, must in (("nb", MultinomialNB, 75, 5), ("nb", MultinomialNB, 0, 1),
                                      ("logistic", lambda: LogisticRegression(C=1.0), 0, 1)):
        line(f"cotrain, {base}, 2 x 20k x 20k, 20 rounds, pool " + (str(pool) if pool else "of all"),
             ours(folder, "cotrain", "--set", "base=" + base, "--set", "rounds=20", "--set", "grow=1", "--set", f"pool={pool}"),
             best(lambda: plain_cotrain(x, given, learner, 20, pool)), "the loop over scikit-learn's learner", must)


def write_dense(folder, views, labels):
    data = Path(folder) / "data"
    data.mkdir()
    for name, x in views.items():
        np.save(data / f"{name}.npy", x)
    (data / "labels.txt").write_text("".join(f"{c}\n" for c in labels))
    (data / "dataset.json").write_text(json.dumps({"parallax": 1, "name": "dense", "labels": "labels.txt", "views": [
        {"name": name, "file": f"{name}.npy", "kind": "real"} for name in views]}))


def bench_bct(folder):
    rng = np.random.default_rng(3)
    n = 4000
    y = rng.integers(0, 2, n)
    views = {name: rng.standard_normal((n, 10)) + y[:, None] for name in "ab"}
    write_dense(folder, views, [y[i] if i < 100 else "?" for i in range(n)])
    s = views["a"] @ views["a"].T + n * np.eye(n)

    def bare():
        for _ in range(3):
            factor, _ = lapack.dpotrf(s, lower=1)
            lapack.dpotri(factor, lower=1, overwrite_c=1)

    mine = ours(folder, "bct", "--set", "kernel=rbf", "--set", "width=3")
    limit = best(bare)
    line("bct, dense, 2 views, 4000 samples", mine, limit, "its three bare factorisations and inverses (LAPACK)", must=None)


def bench_colr(folder):
    rng = np.random.default_rng(4)
    n = 4000
    y = rng.integers(0, 2, n)
    views = {name: rng.standard_normal((n, 200)) + 0.2 * y[:, None] for name in "ab"}
    write_dense(folder, views, [y[i] if i < 400 else "?" for i in range(n)])
    x = np.hstack(list(views.values()))
    model = LogisticRegression(max_iter=1000)
    line("colr, 400 of 4000 labelled", ours(folder, "colr"), best(lambda: model.fit(x[:400], y[:400]).predict_proba(x)),
         "scikit-learn's LogisticRegression, which learns from labels alone")


BENCHES = {"nb": bench_nb, "rls": bench_rls, "cotrain": bench_cotrain, "bct": bench_bct, "colr": bench_colr}
for bench in (BENCHES[name] for name in sys.argv[3:] or BENCHES):
    with tempfile.TemporaryDirectory() as scratch:
        bench(scratch)
