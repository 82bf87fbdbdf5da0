#!/usr/bin/env python3
"""mvkmeans against its peers, in one run: scikit-learn's KMeans (Lloyd) on the same concatenated sparse data, mvlearn's
MultiviewSphericalKMeans on the same dense data, and HiGHS (scipy.optimize.milp) on the same label programs.

  python3 bench/bench_mvkmeans.py --parallax build/release/parallax --program build/release/bench/bench_mvkmeans

Time per iteration (scikit-learn) is the difference between a run of many and a run of few iterations, best of three; mvlearn is
timed over a whole run, because it decides itself when to stop. A peer that is not
installed is left out. Needs numpy and scipy.
"""
import argparse
import json
import os
import subprocess
import sys
import tempfile
import time

import numpy as np
import scipy.io
import scipy.sparse as sp

FEW, MANY = 2, 8


def text_views(n, features, row, classes, seed):
    """Two sparse views of counts; a class prefers its own features."""
    rng = np.random.default_rng(seed)
    truth = np.arange(n) % classes
    views = []
    for _ in range(2):
        col = rng.integers(0, features, (n, row))
        own = rng.random((n, row)) < 0.25
        col[own] = (truth[:, None] * 37 + rng.integers(0, 40, (n, row)))[own] % features
        views.append(sp.csr_matrix((np.ones(n * row), (np.repeat(np.arange(n), row), col.ravel())), (n, features)))
    return views


def write_dataset(directory, views):
    names = ["a", "b"]
    for name, view in zip(names, views):
        scipy.io.mmwrite(os.path.join(directory, name + ".mtx"), view)
    with open(os.path.join(directory, "dataset.json"), "w") as f:
        json.dump({"parallax": 1, "name": "bench", "views": [{"name": v, "file": v + ".mtx", "kind": "counts"} for v in names]}, f)


def our_seconds(parallax, directory, k, rule, threads, count):
    """Seconds inside plx_fit, and iterations, best of three."""
    best = (1e9, 0)
    for _ in range(3):
        out = os.path.join(directory, "result.json")
        subprocess.run([parallax, "fit", "mvkmeans", directory, "--set", "clusters=%d" % k, "--set", "init=random", "--set",
                        "assignment=" + rule, "--set", "max_iter=%d" % count, "--threads", str(threads), "--seed", "1", "--json", out,
                        "--quiet"], check=True, stderr=subprocess.DEVNULL)
        with open(out) as f:
            result = json.load(f)
        best = min(best, (result["seconds"], result["iterations"]))
    return best


def our_iteration(parallax, directory, k, rule, threads):
    few, many = (our_seconds(parallax, directory, k, rule, threads, count) for count in (FEW, MANY))
    if many[1] != MANY:
        sys.exit("bench_mvkmeans: converged too early for a measurement")
    return (many[0] - few[0]) / (MANY - FEW)


def timed(run):
    start = time.perf_counter()
    run()
    return time.perf_counter() - start


def difference(run):
    best = {count: min(timed(lambda c=count: run(c)) for _ in range(3)) for count in (FEW, MANY)}
    return (best[MANY] - best[FEW]) / (MANY - FEW)


def against_sklearn(args):
    try:
        from sklearn.cluster import KMeans
    except ImportError:
        return
    views = text_views(args.samples, 50000, 60, 100, 1)
    joint = sp.hstack(views).tocsr()
    start = np.asarray(joint[np.random.default_rng(2).choice(args.samples, 100, replace=False)].todense())
    with tempfile.TemporaryDirectory() as directory:
        write_dataset(directory, views)
        ours = our_iteration(args.parallax, directory, 100, "concat", args.threads)
        both = our_iteration(args.parallax, directory, 100, "sumscore", args.threads)
    theirs = difference(lambda count: KMeans(100, init=start, n_init=1, max_iter=count, tol=0, algorithm="lloyd").fit(joint))
    print("scikit-learn KMeans, n=%d k=100 sparse: theirs %.3f s per iteration, concat %.3f s (%.1fx), sumscore %.3f s (%.1fx)"
          % (args.samples, theirs, ours, theirs / ours, both, theirs / both), flush=True)


def against_mvlearn(args):
    try:
        from mvlearn.cluster import MultiviewSphericalKMeans
    except ImportError as error:
        print("mvlearn: not installed (%s)" % error)
        return
    views = text_views(4000, 2000, 60, 20, 3)
    dense = [np.asarray(v.todense()) for v in views]
    with tempfile.TemporaryDirectory() as directory:
        write_dataset(directory, views)
        ours = our_seconds(args.parallax, directory, 20, "cotrain", args.threads, MANY)[0]
    theirs = min(timed(lambda: MultiviewSphericalKMeans(n_clusters=20, random_state=1, init="random", n_init=1, max_iter=MANY,
                                                        patience=1000).fit(dense)) for _ in range(3))
    print("mvlearn MultiviewSphericalKMeans, n=4000 d=2x2000 k=20, at most %d iterations: theirs %.3f s, cotrain %.3f s (%.0fx)"
          % (MANY, theirs, ours, theirs / ours), flush=True)


def read_programs(path):
    above, exclusive, samples, values = [], [], [], []
    with open(path) as f:
        for line in f:
            key, *rest = line.split()
            if key == "above":
                above.append((int(rest[0]), int(rest[1])))
            elif key == "exclusive":
                exclusive.append((int(rest[0]), int(rest[1])))
            elif key == "score":
                samples.append([float(x) for x in rest])
            else:
                values.append(float(rest[0]))
    return above, exclusive, np.array(samples).reshape(len(values), 2, -1), values


def highs_value(above, exclusive, score, weights=(0.5, 0.1, 1.0)):
    """The program as in tests/reference/label_glpk.h: y, |difference|, and a slack per rule and view."""
    from scipy.optimize import Bounds, LinearConstraint, milp
    views, k = score.shape
    rules = [(i, j, -1.0, 0.0) for i, j in above] + [(i, j, 1.0, 1.0) for i, j in exclusive]
    n_y, n_d, n_r = views * k, k, views * len(rules)
    cost = np.concatenate([-weights[0] * score.ravel(), np.full(n_d, weights[1]), np.full(n_r, weights[2])])
    rows, cols, vals, upper = [], [], [], []

    def add(terms, bound):
        for c, v in terms:
            rows.append(len(upper))
            cols.append(c)
            vals.append(v)
        upper.append(bound)

    for i in range(k):
        add([(i, 1), (k + i, -1), (n_y + i, -1)], 0)
        add([(k + i, 1), (i, -1), (n_y + i, -1)], 0)
    slack = n_y + n_d
    for v in range(views):
        for i, j, sign, bound in rules:
            add([(v * k + i, 1), (v * k + j, sign), (slack, -1)], bound)
            slack += 1
    matrix = sp.csr_matrix((vals, (rows, cols)), (len(upper), len(cost)))
    integral = np.concatenate([np.ones(n_y), np.zeros(n_d + n_r)])
    top = np.concatenate([np.ones(n_y), np.full(n_d + n_r, np.inf)])
    result = milp(cost, constraints=LinearConstraint(matrix, -np.inf, upper), integrality=integral, bounds=Bounds(0, top))
    return -result.fun


def against_highs(args):
    with tempfile.TemporaryDirectory() as directory:
        path = os.path.join(directory, "programs.txt")
        subprocess.run([args.program, "write", path, "2", "200"], check=True)
        above, exclusive, samples, values = read_programs(path)
    found = []
    seconds = timed(lambda: found.extend(highs_value(above, exclusive, s) for s in samples)) / len(samples)
    for ours, theirs in zip(values, found):
        if abs(ours - theirs) > 1e-6:
            print("HiGHS finds %.9g, we %.9g" % (theirs, ours))
    out = subprocess.run([args.program, "programs", "100000", "200", str(args.threads), "0"], check=True, capture_output=True, text=True).stdout
    each = float(out.split(" us per sample")[0].split()[-1]) * 1e-6
    print(out.strip())
    print("HiGHS, k=200 two views: %.2f s per sample, ours %.2f us (%.0fx)" % (seconds, 1e6 * each, seconds / each), flush=True)


PEERS = {"sklearn": against_sklearn, "mvlearn": against_mvlearn, "highs": against_highs}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--parallax", required=True)
    parser.add_argument("--program", required=True)
    parser.add_argument("--samples", type=int, default=100000)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--only", action="append", choices=sorted(PEERS))
    args = parser.parse_args()
    for peer in args.only or sorted(PEERS):
        PEERS[peer](args)


if __name__ == "__main__":
    main()
