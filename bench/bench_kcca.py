#!/usr/bin/env python3
"""Sparse cca and kcomplete against peers or limits, in one run on the same data and threads.

usage: python3 bench/bench_kcca.py PARALLAX [THREADS] [--zoo PYTHON]

cca       100,000 samples x (50,000 + 50,000) sparse features (about 40 per row), 100 directions, solver=svd: seconds and peak memory, against
          scikit-learn's CCA and PLSSVD and cca-zoo's RidgeCCA (each tried in a process of its own with a limit of memory and time), and against
          scikit-learn's randomised TruncatedSVD of both views alone, which a sparse pipeline would begin with.
kcomplete ionosphere-like: 351 x 34 with half of the entries missing, mixture and expected kernel; against its limit of 10 s.

A peer that is missing is named as missing.
"""
import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

PARSER = argparse.ArgumentParser()
PARSER.add_argument("parallax")
PARSER.add_argument("threads", nargs="?", default="2")
PARSER.add_argument("--zoo", default="build/bench-zoo/bin/python")
PARSER.add_argument("--only", default="cca,kcomplete")
PARSER.add_argument("--repeats", type=int, default=3)
ARGS = PARSER.parse_args()
for key in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ[key] = ARGS.threads

import numpy as np  # noqa: E402 (the thread limits must come first)
import scipy.io  # noqa: E402
import scipy.sparse  # noqa: E402

from ratios import Row, Time  # noqa: E402


def manifest(folder, views):
    (folder / "dataset.json").write_text(json.dumps({"parallax": 1, "name": folder.name, "views": views}))


def parallax(*words):
    subprocess.run([ARGS.parallax, *map(str, words), "--quiet", "--threads", ARGS.threads], check=True)


def ours(data, method, *settings):
    best = float("inf")
    for _ in range(ARGS.repeats):
        out = data / "r.json"
        parallax("fit", method, data, "--json", out, *settings)
        best = min(best, json.loads(out.read_text())["seconds"])
    return best


PEERS = {
    "scikit-learn's CCA": ("sklearn", "from sklearn.cross_decomposition import CCA\nCCA(n_components=100).fit(x[0].toarray(), x[1].toarray())"),
    "scikit-learn's PLSSVD": ("sklearn", "from sklearn.cross_decomposition import PLSSVD\nPLSSVD(n_components=100).fit(x[0].toarray(), x[1].toarray())"),
    "cca-zoo's RidgeCCA": ("zoo", "from cca_zoo.linear import RidgeCCA\nRidgeCCA(n_components=100, shrinkage=0.5).fit([v.toarray() for v in x])"),
    "TruncatedSVD of both views (220 each)": ("sklearn", "from sklearn.decomposition import TruncatedSVD\n"
                                              "[TruncatedSVD(220, n_iter=2, random_state=1).fit_transform(v) for v in x]")}

PEER = """
import resource, sys, time, warnings
warnings.simplefilter("ignore")
resource.setrlimit(resource.RLIMIT_AS, (18 << 30, 18 << 30))
import scipy.sparse
x = [scipy.sparse.load_npz(f) for f in sys.argv[1:3]]
start, worked = time.perf_counter(), time.process_time()
{}
print(time.perf_counter() - start, time.process_time() - worked)
"""


def bench_cca(scratch):
    rng = np.random.default_rng(2)
    n, d, topics = 100_000, 50_000, 150
    data = scratch / "cca"
    data.mkdir()
    topic = rng.integers(0, topics, n)
    for view in range(2):
        words = np.where(rng.random((n, 40)) < 0.7, (topic[:, None] * 300 + (rng.exponential(60, (n, 40)).astype(int) % 300)) % d, rng.integers(0, d, (n, 40)))
        x = scipy.sparse.csr_matrix((np.ones(n * 40), (np.repeat(np.arange(n), 40), words.ravel())), shape=(n, d))
        scipy.sparse.save_npz(data / f"v{view}.npz", x)
        scipy.io.mmwrite(data / f"v{view}.mtx", x)
    manifest(data, [{"name": f"v{i}", "file": f"v{i}.mtx", "kind": "counts"} for i in range(2)])
    out = data / "r.json"
    timed = subprocess.run(["/usr/bin/env", "time", "-v", ARGS.parallax, "fit", "cca", data, "--set", "dim=100", "--set", "scale=tfidf", "--set", "retrieval=false",
                            "--json", out, "--quiet", "--threads", ARGS.threads], stderr=subprocess.PIPE, universal_newlines=True)
    if timed.returncode:  # no time(1)
        parallax("fit", "cca", data, "--set", "dim=100", "--set", "scale=tfidf", "--set", "retrieval=false", "--json", out)
    peak = [line.split()[-1] for line in (timed.stderr or "").splitlines() if "Maximum resident" in line]
    result = json.loads(out.read_text())
    mine = Time(result["seconds"], result["processor_seconds"])
    memory = f", {int(peak[0]) / 2 ** 20:.1f} GiB at most, the data included" if peak else ""
    print(f"cca, 100k x (50k + 50k), 100 directions: {mine.wall:.1f} s{memory}")
    for name, (kind, code) in PEERS.items():
        python = sys.executable if kind == "sklearn" else ARGS.zoo
        if not os.path.exists(python):
            print(f"  {name}: not installed")
            continue
        try:
            found = subprocess.run([python, "-c", PEER.format(code), data / "v0.npz", data / "v1.npz"], stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, universal_newlines=True, timeout=1200)
        except subprocess.TimeoutExpired:
            print(f"  {name}: not finished after 1200 s")
            continue
        if found.returncode:
            print(f"  {name}: does not finish ({(found.stderr.strip().splitlines() or ['killed'])[-1][:110]})")
        else:
            Row("cca, sparse, 100k x (50k + 50k), 100 directions", mine, Time(*map(float, found.stdout.split())), name, 2,
                threads=int(ARGS.threads)).record(ARGS.parallax)


def bench_kcomplete(scratch):
    rng = np.random.default_rng(5)
    data = scratch / "holes"
    data.mkdir()
    x = rng.standard_normal((351, 6)) @ rng.standard_normal((6, 34)) + 0.5 * rng.standard_normal((351, 34))
    labels = np.where(x[:, 0] > 0, "g", "b")
    x[rng.random(x.shape) < 0.5] = np.nan
    np.savetxt(data / "x.csv", x, delimiter=",")
    (data / "labels.txt").write_text("".join(f"{c if i % 4 == 0 else '?'}\n" for i, c in enumerate(labels)))
    (data / "dataset.json").write_text(json.dumps({"parallax": 1, "name": "holes", "labels": "labels.txt",
                                                   "views": [{"name": "x", "file": "x.csv", "kind": "real"}]}))
    mine = ours(data, "kcomplete", "--dump", f"kernel={data / 'k.csv'}")
    print(f"kcomplete, 351 x 34, half missing, 500 iterations at most and the whole kernel: {mine:.2f} s (limit 10 s)")


for part in ARGS.only.split(","):
    with tempfile.TemporaryDirectory() as folder:
        {"cca": bench_cca, "kcomplete": bench_kcomplete}[part](Path(folder))
