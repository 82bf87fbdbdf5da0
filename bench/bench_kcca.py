#!/usr/bin/env python3
"""kcca, cca, retrieval and kcomplete against peers or limits, in one run on the same data and threads.

usage: python3 bench/bench_kcca.py PARALLAX [THREADS] [--mvlearn PYTHON] [--zoo PYTHON]

kcca      n = 1500, two views of 400 features, rbf and linear kernels, 200 directions, all columns, against mvlearn's KMCCA with partial Gram-Schmidt
          (what kcca does) and without (a dense eigenproblem of order 3000): wall clock, and processor time, which tells more on a busy machine.
cca       100,000 samples x (50,000 + 50,000) sparse features (about 40 per row), 100 directions, solver=svd: seconds and peak memory, against
          scikit-learn's CCA and PLSSVD and cca-zoo's RidgeCCA (each tried in a process of its own with a limit of memory and time), and against
          scikit-learn's randomised TruncatedSVD of both views alone, which a sparse pipeline would begin with.
retrieve  10,000 queries among 100,000 items in 100 dimensions, ranks of mates included.
kcomplete ionosphere-like: 351 x 34 with half of the entries missing, mixture and expected kernel; against its limit of 10 s.

mvlearn needs an older scikit-learn and is looked for in a Python of its own; a peer that is missing is named as missing.
"""
import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

PARSER = argparse.ArgumentParser()
PARSER.add_argument("parallax")
PARSER.add_argument("threads", nargs="?", default="2")
PARSER.add_argument("--mvlearn", default="build/bench-mvlearn/bin/python")
PARSER.add_argument("--zoo", default="build/bench-zoo/bin/python")
PARSER.add_argument("--only", default="kcca,cca,retrieve,kcomplete")
PARSER.add_argument("--repeats", type=int, default=3)
ARGS = PARSER.parse_args()
for key in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ[key] = ARGS.threads

import numpy as np  # noqa: E402 (the thread limits must come first)
import scipy.io  # noqa: E402
import scipy.sparse  # noqa: E402


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


KMCCA = """
import sys, time, warnings
warnings.simplefilter("ignore")
import numpy as np
from mvlearn.embed import KMCCA
x = [np.load(f) for f in sys.argv[1:3]]
params = {"gamma": float(sys.argv[3])} if sys.argv[5] == "rbf" else {}
for pgso in (True, False):
    best = cpu = float("inf")
    for _ in range(int(sys.argv[4])):
        start, worked = time.perf_counter(), time.process_time()
        KMCCA(n_components=200, kernel=sys.argv[5], kernel_params=params, regs=0.5, pgso=pgso, tol=1e-10).fit(x)
        best, cpu = min(best, time.perf_counter() - start), min(cpu, time.process_time() - worked)
    print(best, cpu)
"""

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
start = time.perf_counter()
{}
print(time.perf_counter() - start)
"""


def bench_kcca(scratch):
    rng = np.random.default_rng(1)
    shared = rng.standard_normal((1500, 300))
    data = scratch / "kcca"
    data.mkdir()
    for i in range(2):
        np.save(data / f"v{i}.npy", shared @ rng.standard_normal((300, 400)) + 5 * rng.standard_normal((1500, 400)))
    manifest(data, [{"name": f"v{i}", "file": f"v{i}.npy", "kind": "real"} for i in range(2)])
    for kernel in ("rbf", "linear"):
        compare_kcca(data, kernel, 500.0)


def compare_kcca(data, kernel, width):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    mine = ours(data, "kcca", "--set", "dim=200", "--set", f"kernel={kernel}", "--set", f"width={width}", "--set", "retrieval=false")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime) / ARGS.repeats
    found = subprocess.run([ARGS.mvlearn, "-c", KMCCA, data / "v0.npy", data / "v1.npy", str(1 / (2 * width ** 2)), str(min(ARGS.repeats, 2)), kernel],
                           stdout=subprocess.PIPE, stderr=subprocess.PIPE, universal_newlines=True) if os.path.exists(ARGS.mvlearn) else None
    if found is None or found.returncode:
        print(f"kcca, {kernel}, n = 1500, 200 directions: {mine:.3f} s (mvlearn could not be run)")
        return
    for way, line in zip(("pgso=True", "pgso=False"), found.stdout.splitlines()):
        peer, peer_cpu = map(float, line.split())
        print(f"kcca, {kernel}, n = 1500, 200 directions: {peer / mine:.1f} times as fast as mvlearn's KMCCA with {way} ({mine:.3f} s against {peer:.3f} s; "
              f"processor time {cpu:.2f} s with reading against {peer_cpu:.2f} s)")


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
    mine = json.loads(out.read_text())["seconds"]
    memory = f", {int(peak[0]) / 2 ** 20:.1f} GiB at most, the data included" if peak else ""
    print(f"cca, 100k x (50k + 50k), 100 directions: {mine:.1f} s{memory}")
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
            print(f"  {name}: {float(found.stdout):.1f} s, {float(found.stdout) / mine:.2f} times ours")


def bench_retrieve(scratch):
    rng = np.random.default_rng(3)
    folders = {}
    for name, n in (("learn", 2000), ("query", 10_000), ("items", 100_000)):
        folder = folders[name] = scratch / name
        folder.mkdir()
        hidden = np.random.default_rng(4).standard_normal((100_000, 100))[:n]
        for view in range(2):
            np.save(folder / f"v{view}.npy", hidden + rng.standard_normal((n, 100)))
        (folder / "ids.txt").write_text("".join(f"s{i}\n" for i in range(n)))
        (folder / "dataset.json").write_text(json.dumps({"parallax": 1, "name": name, "ids": "ids.txt", "views": [
            {"name": f"v{i}", "file": f"v{i}.npy", "kind": "real"} for i in range(2)]}))
    parallax("fit", "cca", folders["learn"], "--set", "dim=100", "--set", "retrieval=false", "--model", scratch / "m.plx")
    best = float("inf")
    for _ in range(ARGS.repeats):
        start = time.perf_counter()
        parallax("retrieve", scratch / "m.plx", "--query", folders["query"], "--in", folders["items"], "--from", "v0", "--to", "v1", "--top", "10",
                 "--out", scratch / "hits.csv")
        best = min(best, time.perf_counter() - start)
    print(f"retrieve, 10,000 queries among 100,000 items, 100 dimensions: {best:.1f} s with reading and writing")


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
        {"kcca": bench_kcca, "cca": bench_cca, "retrieve": bench_retrieve, "kcomplete": bench_kcomplete}[part](Path(folder))
