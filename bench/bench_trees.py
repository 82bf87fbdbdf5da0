#!/usr/bin/env python3
"""Trees, neighbours and density over views against their peers, in one run on the same data.

usage: python3 bench/bench_trees.py PARALLAX [THREADS [ward|kl|hknn|mrdbscan]...]

ward      Ward's tree of 20,000 samples x 50 standard normal columns against fastcluster and SciPy, linkage(method="ward").
kl        Ward's tree of 5,000 distributions over 50 values under Kullback-Leibler divergence; no peer.
hknn      all 63 subsets of the six views of mfeat, 600 of 2,000 samples labelled; no peer.
mrdbscan  50,000 samples, two views of 20 columns, radii given, against scikit-learn's DBSCAN run once per view: clustered
          and uniform data.

Wall and processor seconds of the whole command, reading included; peers without reading.
"""
import json
import os
import resource
import subprocess
import sys
import tempfile
import time

PARALLAX = sys.argv[1]
THREADS = sys.argv[2] if len(sys.argv) > 2 else "1"
PARTS = sys.argv[3:] or ["ward", "kl", "hknn", "mrdbscan"]
for key in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ[key] = THREADS

import numpy as np  # noqa: E402 (the thread limits must come first)

DATA = os.environ.get("PARALLAX_DATA", "../shared/data")


def dataset(folder, views, **more):
    os.makedirs(folder)
    listed = []
    for name, (values, kind) in views.items():
        np.save(os.path.join(folder, name + ".npy"), values)
        listed.append({"name": name, "file": name + ".npy", "kind": kind})
    with open(os.path.join(folder, "dataset.json"), "w", encoding="utf-8") as f:
        json.dump({"parallax": 1, "name": "bench", "views": listed, **more}, f)
    return folder


def fit(method, data, *settings):
    """Wall seconds, processor seconds, peak MB above the process and the data, result."""
    command = [PARALLAX, "fit", method, data, "--quiet", "--threads", THREADS, "--json", "-"]
    for s in settings:
        command += ["--set", s]
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.time()
    result = subprocess.run(command, check=True, stdout=subprocess.PIPE)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    processor = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return time.time() - start, processor, json.loads(result.stdout)


def peer(function):
    start, processor = time.time(), time.process_time()
    result = function()
    return time.time() - start, time.process_time() - processor, result


def ward(scratch):
    import fastcluster
    from scipy.cluster.hierarchy import linkage
    x = np.random.default_rng(0).normal(size=(20000, 50))
    data = dataset(os.path.join(scratch, "ward"), {"x": (x, "real")})
    ours = fit("hybridtree", data, "mode=single:x", "scale=none", "clusters=10")
    print(f"ward 20,000 x 50: {ours[0]:.1f} s, processor {ours[1]:.1f} s")
    for name, call in (("fastcluster", fastcluster.linkage), ("SciPy", linkage)):
        theirs = peer(lambda: call(x, method="ward"))
        print(f"  {name}: {theirs[0]:.1f} s, processor {theirs[1]:.1f} s: {theirs[1] / ours[1]:.1f} x ours by processor time")


def kl(scratch):
    x = np.random.default_rng(0).dirichlet(np.full(50, 0.5), size=5000)
    data = dataset(os.path.join(scratch, "kl"), {"x": (x, "probability")})
    ours = fit("hybridtree", data, "mode=single:x", "clusters=10")
    print(f"kl-ward 5,000 x 50: {ours[0]:.1f} s, processor {ours[1]:.1f} s")


def hknn(scratch):
    data = os.path.join(scratch, "mfeat")
    subprocess.run([PARALLAX, "data", "split", os.path.join(DATA, "mfeat"), data, "--labels", "30%", "--seed", "1", "--quiet"],
                   check=True)
    ours = fit("hknn", data)
    print(f"hknn, 63 subsets of mfeat, 600 labelled: {ours[0]:.1f} s, processor {ours[1]:.1f} s, "
          f"accuracy {ours[2]['metrics']['accuracy']:.4f}")


def mrdbscan(scratch):
    """Clusters that boxes keep apart, and uniform data, where no index helps."""
    rng = np.random.default_rng(0)
    label = rng.integers(0, 30, 50000)
    against_dbscan(scratch, "30 clusters", 4.5,
                   [rng.normal(size=(50000, 20)) + 4 * rng.normal(size=(30, 20))[label] for _ in range(2)])
    against_dbscan(scratch, "uniform", 0.9, [rng.uniform(size=(50000, 20)) for _ in range(2)])


def against_dbscan(scratch, what, eps, views):
    from sklearn.cluster import DBSCAN
    data = dataset(os.path.join(scratch, what.replace(" ", "_")), {"a": (views[0], "real"), "b": (views[1], "real")})
    ours = fit("mrdbscan", data, "scale=none", f"eps={eps}", "minpts=5", "semantics=union")
    theirs = peer(lambda: [DBSCAN(eps=eps, min_samples=5, n_jobs=int(THREADS)).fit(v) for v in views])
    print(f"mrdbscan 50,000 x 2 views of 20, {what}: {ours[0]:.1f} s, processor {ours[1]:.1f} s; "
          f"scikit-learn DBSCAN per view: {theirs[0]:.1f} s, processor {theirs[1]:.1f} s: "
          f"{theirs[0] / ours[0]:.1f} x ours by wall, {theirs[1] / ours[1]:.1f} x by processor time (limit 2)")


with tempfile.TemporaryDirectory() as folder:
    for part in PARTS:
        globals()[part](folder)
        sys.stdout.flush()
