#!/usr/bin/env python3
"""Dense methods against peers that compute the same: each row checks that the results agree before it counts.

usage: bench_dense.py PARALLAX [THREADS] [ridge|kcca|smd|mvc|gp|knn|retrieve|wide]...   (default: all)

ridge     cca of two views of 4000 x 400, 50 directions, against cca-zoo's RidgeCCA (in a Python of its own: ZOO, default
          build/bench-zoo/bin/python).
kcca      n = 1500, two views of 400 features, rbf, 200 directions, all columns, against mvlearn's KMCCA (in a Python of its own:
          MVLEARN, default build/bench-mvlearn/bin/python), without and with partial Gram-Schmidt. Our values are checked against
          the definition; mvlearn's differ from it.
smd       two views of 2000 x 20, three clusters, against NumPy, SciPy and scikit-learn's k-means.
mvc       consensus of three given partitions of 20,000 samples, 100 updates, against the same updates in NumPy.
gp        2000 labelled samples, mode, evidence with gradient and probabilities, against scikit-learn's GaussianProcessClassifier.
knn       10 nearest of 20,000 x 64, exact, against scikit-learn's brute force (BENCH_LINALG: our program).
retrieve  10,000 queries among 100,000 items in 100 dimensions, top 10, against NumPy's product and argpartition.
wide      cca solver=exact of 169 samples with three views of 3,000 features, against its limit of one second.
"""
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

PARALLAX = sys.argv[1]
THREADS = sys.argv[2] if len(sys.argv) > 2 else "1"
ROOT = Path(__file__).resolve().parent.parent
MVLEARN = os.environ.get("MVLEARN", str(ROOT / "build/bench-mvlearn/bin/python"))
ZOO = os.environ.get("ZOO", str(ROOT / "build/bench-zoo/bin/python"))
BENCH_LINALG = os.environ.get("BENCH_LINALG", str(ROOT / "build/bench/bench/bench_linalg"))
for key in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ[key] = THREADS
os.environ.setdefault("OMP_WAIT_POLICY", "passive")  # waiting threads must not spin: processor time is what is compared

import numpy as np  # noqa: E402 (the thread limits must come first)

from ratios import Row, Time, best, command, fit  # noqa: E402


def write(folder, views, labels=None, kind="real", ids=False):
    """A data set of dense views by name."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, x in views.items():
        np.save(folder / f"{name}.npy", x)
    about = {"parallax": 1, "name": folder.name, "views": [{"name": v, "file": f"{v}.npy", "kind": kind} for v in views]}
    if labels is not None:
        (folder / "labels.txt").write_text("".join(f"{c}\n" for c in labels))
        about["labels"] = "labels.txt"
    if ids:
        (folder / "ids.txt").write_text("".join(f"s{i}\n" for i in range(len(x))))
        about["ids"] = "ids.txt"
    (folder / "dataset.json").write_text(json.dumps(about))
    return folder


def ours(method, folder, *settings):
    words = [word for s in settings for word in ("--set", s)]
    return fit(PARALLAX, method, folder, *words, threads=THREADS)


def arrays(method, folder, names, *settings, more=()):
    """Named arrays of one more fit, and its JSON."""
    words = [*more, *(word for s in settings for word in ("--set", s))]
    for name in names:
        words += ["--dump", f"{name}={folder / (name + '.npy')}"]
    out = folder / "check.json"
    subprocess.run([PARALLAX, "fit", method, folder, *words, "--json", out, "--quiet", "--threads", THREADS], check=True)
    return [np.load(folder / (name + ".npy")) for name in names], json.loads(out.read_text())


def agree(what, difference, limit):
    if not difference <= limit:
        sys.exit(f"{what}: results differ by {difference:.2g}, more than {limit:g}; nothing is compared")
    return f"results agree to {difference:.0e}"


def row(name, mine, peer, beside, must, remark):
    Row(name, mine, peer, beside, must, remark, threads=int(THREADS)).record(PARALLAX)


# ---- kcca ----

KMCCA = """
import sys, time, warnings
warnings.simplefilter("ignore")
import numpy as np
from mvlearn.embed import KMCCA
x = [np.load(f) for f in sys.argv[1:3]]
for pgso in (False, True):
    wall = cpu = float("inf")
    for _ in range(2):
        start, worked = time.perf_counter(), time.process_time()
        KMCCA(n_components=200, kernel="rbf", kernel_params={"gamma": float(sys.argv[3])}, regs=0.5, pgso=pgso, tol=1e-10).fit(x)
        wall, cpu = min(wall, time.perf_counter() - start), min(cpu, time.process_time() - worked)
    print(wall, cpu)
"""


def defined_values(views, width, count, tau=0.5):
    """rho by its definition: singular values of H_1^1/2 H_2^1/2 with H = K ((1 - tau) K + tau I)^-1."""
    roots = []
    for x in views:
        squares = (x * x).sum(1)
        k = np.exp(-np.maximum(0, squares[:, None] + squares[None, :] - 2 * x @ x.T) / (2 * width ** 2))
        k += k.mean() - k.mean(0) - k.mean(1)[:, None]
        value, vector = np.linalg.eigh(k)
        value = np.maximum(value, 0)
        roots.append(vector * np.sqrt(value / ((1 - tau) * value + tau)))
    return np.linalg.svd(roots[0].T @ roots[1], compute_uv=False)[:count]


def bench_kcca(scratch, samples=1500, width=500.0):
    rng = np.random.default_rng(1)
    shared = rng.standard_normal((samples, 300))
    views = {f"v{i}": shared @ rng.standard_normal((300, 400)) + 5 * rng.standard_normal((samples, 400)) for i in range(2)}
    folder = write(scratch, views)
    settings = ("dim=200", "kernel=rbf", f"width={width}", "retrieval=false", "scale=none")
    (values, ), _ = arrays("kcca", folder, ["rho"], *settings)
    if not os.path.exists(MVLEARN):
        print(f"kcca: no mvlearn at {MVLEARN}")
        return
    said = subprocess.run([MVLEARN, "-c", KMCCA, folder / "v0.npy", folder / "v1.npy", str(1 / (2 * width ** 2))], check=True,
                          capture_output=True, text=True).stdout.splitlines()
    mine = ours("kcca", folder, *settings)
    said_of = agree("kcca", abs(values.ravel() - defined_values(views.values(), width, 200)).max(), 1e-8)
    for way, line in zip(("pgso=False", "pgso=True"), said):
        wall, cpu = map(float, line.split())
        row(f"kcca rbf, n = {samples}, 200 directions, against {way}", mine, Time(wall, cpu), f"mvlearn's KMCCA with {way}", 5,
            said_of.replace("results", "ours and the definition in NumPy"))


# ---- smd ----

def disagreement(views, clusters):
    """smd of two complete views: W = A1 A2, singular vectors, rows at unit length, their mean, k-means. Returns values and labels."""
    from scipy.sparse.linalg import svds
    from sklearn.cluster import KMeans
    affinities = []
    for x in views:
        squares = (x * x).sum(1)
        d = np.maximum(0, squares[:, None] + squares[None, :] - 2 * x @ x.T)
        width = np.median(np.sqrt(d[np.triu_indices(len(x), 1)]))
        affinities.append(np.exp(-d / (2 * width ** 2)))
    w = affinities[0] @ affinities[1]
    rows, cols = w.sum(1), w.sum(0)
    u, s, vt = svds(w / np.sqrt(np.outer(rows, cols)), k=clusters)
    halves = [m / np.linalg.norm(m, axis=1, keepdims=True) for m in (u, vt.T)]
    return np.sort(s)[::-1], KMeans(clusters, n_init=10, random_state=0).fit_predict((halves[0] + halves[1]) / 2)


def bench_smd(scratch, samples=2000, columns=20, clusters=3):
    rng = np.random.default_rng(1)
    truth = rng.integers(0, clusters, samples)
    views = [1.5 * rng.normal(size=(clusters, columns))[truth] + rng.normal(size=(samples, columns)) for _ in range(2)]
    folder = write(scratch, {f"v{v}": x for v, x in enumerate(views)}, truth)
    settings = (f"clusters={clusters}", "scale=none")
    (values, ), _ = arrays("smd", folder, ["singular_values"], *settings)
    expected = []
    peer = best(lambda: expected.append(disagreement(views, clusters)))
    row(f"smd, 2 x {samples} x {columns}", ours("smd", folder, *settings), peer, "NumPy, SciPy and scikit-learn's k-means", 3,
        agree("smd", abs(values.ravel() - expected[0][0]).max(), 1e-8))


# ---- mvc ----

def numpy_consensus(patterns, b, iterations):
    """The I-divergence updates of mvc, all views present; returns the last objective."""
    maps = [(b.T @ a) / b.sum(0)[:, None] for a in patterns]
    objective = 0
    for _ in range(iterations):
        top, bottom = np.zeros_like(b), np.zeros(b.shape[1])
        for a, p in zip(patterns, maps):
            top += (a / np.maximum(b @ p, 1e-300)) @ p.T
            bottom += p.sum(1)
        b = b * top / np.maximum(bottom, 1e-300)
        maps = [p * (b.T @ (a / np.maximum(b @ p, 1e-300))) / b.sum(0)[:, None] for a, p in zip(patterns, maps)]
        objective = sum((np.where(a > 0, a * np.log(np.where(a > 0, a, 1) / np.maximum(b @ p, 1e-300)), 0) - a + b @ p).sum()
                        for a, p in zip(patterns, maps))
    return objective


def bench_mvc(scratch, samples=20_000, clusters=10, iterations=100):
    rng = np.random.default_rng(3)
    patterns = [np.eye(clusters + v)[rng.integers(0, clusters + v, samples)] for v in range(3)]
    first = rng.random((samples, clusters)) + 0.1
    folder = write(scratch, {f"v{v}": p for v, p in enumerate(patterns)}, kind="binary")
    np.save(folder / "b.npy", first)
    settings = (f"clusters={clusters}", f"max_iter={iterations}", "tol=0", "init=file:b.npy")
    found, expected = arrays("mvc", folder, [], *settings)[1]["objective"], []
    peer = best(lambda: expected.append(numpy_consensus(patterns, first, iterations)))
    row(f"mvc, {samples} samples, three partitions, {clusters} clusters, {iterations} updates", ours("mvc", folder, *settings), peer,
        "NumPy", 5, agree("mvc", abs(found / expected[0] - 1), 1e-9))


# ---- gp ----

def bench_gp(scratch, samples=2000, columns=10):
    from sklearn.gaussian_process import GaussianProcessClassifier
    from sklearn.gaussian_process.kernels import RBF, ConstantKernel
    rng = np.random.default_rng(2)
    y = rng.integers(0, 2, samples)
    x = rng.standard_normal((samples, columns)) + y[:, None]
    folder = write(scratch, {"x": x}, y)
    model = GaussianProcessClassifier(ConstantKernel(1.0) * RBF(3.0), optimizer=None)
    evidence = []

    def peer():
        model.fit(x, y)
        evidence.append(model.log_marginal_likelihood(model.kernel_.theta, eval_gradient=True)[0])
        model.predict_proba(x)

    settings = ("kernel=rbf", "width=3", "optimize=none", "scale=none")
    theirs, (_, result) = best(peer), arrays("gp", folder, [], *settings)
    row(f"gp, classification, {samples} labelled, evidence with gradient and probabilities", ours("gp", folder, *settings), theirs,
        "scikit-learn's GaussianProcessClassifier", 5, agree("gp", abs(result["objective"] / evidence[0] - 1), 1e-8))


# ---- exact neighbours ----

def bench_knn(scratch, rows=20_000, columns=64, k=10):
    from sklearn.neighbors import NearestNeighbors
    x = np.random.default_rng(0).standard_normal((rows, columns))
    scratch.mkdir()
    x.tofile(scratch / "x.bin")
    model = NearestNeighbors(n_neighbors=k, algorithm="brute", n_jobs=int(THREADS)).fit(x)
    expected = []
    peer = best(lambda: expected.append(model.kneighbors(return_distance=False)))
    ran = subprocess.run([BENCH_LINALG, "knn", scratch / "x.bin", *map(str, (rows, columns, k, THREADS)), scratch / "out.bin"],
                         check=True, capture_output=True, text=True).stdout.split()
    found = np.fromfile(scratch / "out.bin", dtype=np.int64).reshape(rows, k)
    same = (np.sort(found, 1) == np.sort(expected[0], 1)).all(1).sum()
    row(f"exact {k} nearest of {rows} x {columns}", Time(*map(float, ran)), peer, "scikit-learn's brute force", 3,
        agree("knn", 1 - same / rows, 0).replace("results agree to 0e+00", "all lists agree"))


# ---- retrieval ----

def best_items(queries, items, top, block=1000):
    """Product and argpartition, then the few in order, by blocks of queries that fit in memory."""
    found = np.empty((len(queries), top), dtype=int)
    for at in range(0, len(queries), block):
        product = queries[at:at + block] @ items.T
        few = np.argpartition(product, -top, axis=1)[:, -top:]
        order = np.argsort(-np.take_along_axis(product, few, 1), axis=1)
        found[at:at + block] = np.take_along_axis(few, order, 1)
    return found


def bench_retrieve(scratch, queries=10_000, items=100_000, columns=100, top=10):
    rng = np.random.default_rng(3)
    hidden = rng.standard_normal((items, columns))
    views = {name: [hidden[:n] + rng.standard_normal((n, columns)) for _ in range(2)]
             for name, n in (("learn", 2000), ("query", queries), ("items", items))}
    data = {name: write(scratch / name, {f"v{v}": x for v, x in enumerate(both)}, ids=True) for name, both in views.items()}
    model, hits, settings = scratch / "m.plx", scratch / "hits.csv", (f"dim={columns}", "retrieval=false", "scale=none")
    weights, _ = arrays("cca", data["learn"], ["weights.v0", "weights.v1"], *settings, more=("--model", model))
    mine = command([PARALLAX, "retrieve", model, "--query", data["query"], "--in", data["items"], "--from", "v0", "--to", "v1", "--top", top,
                    "--out", hits, "--quiet", "--threads", THREADS])
    sides = [(views[name][v] - views["learn"][v].mean(0)) @ weights[v] for v, name in enumerate(("query", "items"))]
    sides = [x / np.linalg.norm(x, axis=1, keepdims=True) for x in sides]
    expected = []
    peer = best(lambda: expected.append(best_items(*sides, top)), 2)
    found = np.array([int(line.split(",")[2][1:]) for line in hits.read_text().splitlines()[1:]]).reshape(queries, top)
    wrong = (found != expected[0]).any(1).mean()
    row(f"retrieve, {queries} queries among {items} items, {columns} dimensions", mine, peer,
        "NumPy's product and argpartition of unit rows", 3, "reading, projecting, ranks and writing in ours; " +
        agree("retrieve", wrong, 1e-3).replace("results agree to 0e+00", "all lists agree"))


# ---- more features than samples ----

def bench_wide(scratch, samples=169, columns=3000):
    rng = np.random.default_rng(1)
    shared = rng.standard_normal((samples, 20))
    views = [shared @ rng.standard_normal((20, columns)) + rng.standard_normal((samples, columns)) for _ in range(3)]
    folder = write(scratch, {f"v{v}": x for v, x in enumerate(views)})
    (values, ), _ = arrays("cca", folder, ["rho"], "solver=exact", "scale=none")
    # kernel form of the same problem: F_j F_j' = K_j ((1 - tau) K_j + tau I)^-1, and the eigenvalues of the blocks F_j' F_k
    halves = []
    for x in views:
        x = x - x.mean(0)
        value, vector = np.linalg.eigh(x @ x.T)
        value = np.maximum(value, 0)
        halves.append(vector * np.sqrt(value / (0.5 * value + 0.5)))
    blocks = np.hstack(halves)
    gram = blocks.T @ blocks
    for v in range(3):
        gram[v * samples:(v + 1) * samples, v * samples:(v + 1) * samples] = np.eye(samples)
    expected = (np.linalg.eigvalsh(gram)[::-1][:len(values)] - 1) / 2
    row(f"cca solver=exact, {samples} samples, three views of {columns} features", ours("cca", folder, "solver=exact", "scale=none"),
        Time(1, 1), "its limit of one second", 1, agree("cca", abs(values.ravel() - expected).max(), 1e-8))


# ---- linear directions ----

RIDGE = """
import sys, time, warnings
import numpy as np
warnings.simplefilter("ignore")
from cca_zoo.linear import RidgeCCA
x = [np.load(f) for f in sys.argv[1:3]]
best = [np.inf, np.inf]
for _ in range(3):
    wall, cpu = time.perf_counter(), time.process_time()
    z = RidgeCCA(n_components=50, shrinkage=0.5).fit(x).transform(x)
    best = [min(best[0], time.perf_counter() - wall), min(best[1], time.process_time() - cpu)]
print(*best, float(np.mean([abs(np.corrcoef(z[0][:, k], z[1][:, k])[0, 1]) for k in range(50)])))
"""


def bench_ridge(scratch, samples=4000, columns=400):
    """cca-zoo mixes the covariance, ours the scatter matrix, with the identity: its shrinkage of 1/2 is a tau of n/(n + 1)."""
    rng = np.random.default_rng(1)
    shared = rng.standard_normal((samples, 60))
    views = {f"v{i}": shared @ rng.standard_normal((60, columns)) + 8 * rng.standard_normal((samples, columns)) for i in range(2)}
    folder = write(scratch, views)
    settings = ("dim=50", f"tau={samples / (samples + 1)!r}", "retrieval=false", "scale=none")
    if not os.path.exists(ZOO):
        print(f"ridge: no cca-zoo at {ZOO}")
        return
    said = subprocess.run([ZOO, "-c", RIDGE, folder / "v0.npy", folder / "v1.npy"], check=True, capture_output=True, text=True).stdout
    wall, cpu, theirs = map(float, said.split())
    (correlation, ), _ = arrays("cca", folder, ["correlation"], *settings)
    row(f"cca, {samples} x {columns} x 2, 50 directions", ours("cca", folder, *settings), Time(wall, cpu), "cca-zoo's RidgeCCA", 1,
        agree("mean correlation", abs(correlation.mean() - theirs), 1e-3))


BENCHES = {"ridge": bench_ridge, "kcca": bench_kcca, "smd": bench_smd, "mvc": bench_mvc, "gp": bench_gp, "knn": bench_knn, "retrieve": bench_retrieve, "wide": bench_wide}

for part in sys.argv[3:] or BENCHES:
    with tempfile.TemporaryDirectory() as place:
        BENCHES[part](Path(place) / part)
