#!/usr/bin/env python3
"""The GPU benchmarks, one part at a time; every part adds rows to a CSV file.

usage: bench.py PART --parallax P --library L --table T [--csv bench/gpu.csv] [--limit SECONDS] [--small]

  ceilings   copy bandwidth and rate of double-precision products: what the others are shares of
  factor     potrf and potri at n = 20,000 and 40,000 against torch's (cuSOLVER's potrf; its inverse)
  gp, bct    fits at n = 20,000 and 40,000: against the bare factorisations and solves they need, by torch, the same fit on
             the CPU (n = 20,000), and (gp) GPyTorch's exact GP with as many evaluations of the evidence and its gradient
  gp_given   gp at n = 40,000 with hyper-parameters given, since searching for them takes the CPU half an hour
  knn        exact 10 neighbours of 1M x 64 against torch: blocked product and topk
  kcca       n = 10,000, two views, GPU against CPU
  spectral   n = 1M, neighbour graph, GPU against CPU
  sweeps     coem, mvkmeans and mvplsa over 1e9 entries: share of the copy bandwidth by compulsory traffic, and against
             products written by hand with CuPy

P is the command, L libparallax_cuda.so, T bench_table. --small: sizes for a dry run. A peer that is missing is named as
missing; a part that runs beyond its limit says so in its row. Seconds of fits are those the command states for the fit,
without reading. Device times: best of some, waiting at both ends.
"""
import argparse
import csv
import datetime
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

COLUMNS = ["date", "commit", "device", "part", "what", "ours_seconds", "peer", "peer_seconds", "ratio", "remark"]
ROOT = pathlib.Path(__file__).resolve().parents[2]


def options():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("part")
    p.add_argument("--parallax", required=True)
    p.add_argument("--library", required=True)
    p.add_argument("--table", required=True)
    p.add_argument("--csv", default=str(ROOT / "bench" / "gpu.csv"))
    p.add_argument("--limit", type=float, default=240)
    p.add_argument("--small", action="store_true")
    p.add_argument("--fit", help="bench_fit of gpu/pack.sh")
    p.add_argument("--sizes", type=lambda t: [int(n) for n in t.split(",")], help="of factor, gp and bct")
    p.add_argument("--most-cpu", type=float, default=3600.0, help="seconds a fit on the CPU may take")
    return p.parse_args()


ARGS = options()
START = time.monotonic()


def short_output(*words):
    try:
        return subprocess.run(words, capture_output=True, text=True, check=True, cwd=ROOT).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return "unknown"


def write_row(what, ours, peer="", peers=None, remark="", ratio=None):
    if ratio is None and ours and peers:
        ratio = peers / ours
    number = lambda x: "" if x is None else f"{x:.4g}"  # noqa: E731
    row = [datetime.date.today().isoformat(), short_output("git", "rev-parse", "--short", "HEAD") if not os.environ.get("BENCH_COMMIT") else os.environ["BENCH_COMMIT"],
           short_output("nvidia-smi", "--query-gpu=name", "--format=csv,noheader"), ARGS.part, what, number(ours), peer,
           number(peers), number(ratio), remark]
    fresh = not os.path.exists(ARGS.csv)
    with open(ARGS.csv, "a", newline="", encoding="utf-8") as f:
        out = csv.writer(f)
        if fresh:
            out.writerow(COLUMNS)
        out.writerow(row)
    print("  ".join(str(x) for x in row[3:]), flush=True)


def left():
    return max(5.0, ARGS.limit - (time.monotonic() - START))


def table(*words):
    """{what: (seconds, bytes, operations)} of one run of bench_table."""
    done = subprocess.run([ARGS.table, ARGS.library, *map(str, words)], capture_output=True, text=True, timeout=left())
    if done.returncode != 0:
        raise RuntimeError(done.stderr.strip())
    rows = [line.split(",") for line in done.stdout.splitlines()]
    return {" ".join(r[0].split()[1:] + [r[1]]): tuple(float(x or 0) for x in r[2:5]) for r in rows}


def torch_or_none():
    try:
        import torch
        return torch if torch.cuda.is_available() else None
    except ImportError:
        return None


def torch_time(torch, run, repeats=3):
    best = float("inf")
    for r in range(repeats + 1):
        torch.cuda.synchronize()
        begin = time.perf_counter()
        run()
        torch.cuda.synchronize()
        if r:
            best = min(best, time.perf_counter() - begin)
    return best


# ---- data and fits ----

def write_views(folder, views, labels):
    import numpy as np
    entries = []
    for name, x in views.items():
        np.save(folder / f"{name}.npy", x)
        entries.append({"name": name, "file": f"{name}.npy", "kind": "real"})
    manifest = {"parallax": 1, "name": "bench", "views": entries}
    if labels is not None:
        (folder / "labels.txt").write_text("\n".join(map(str, labels)) + "\n")
        manifest["labels"] = "labels.txt"
    (folder / "dataset.json").write_text(json.dumps(manifest))


def fit(method, folder, device, settings, limit):
    """What the command says of the fit; a text where it did not end well, seconds where it did not end in these."""
    out = folder / f"{device}.json"
    words = [ARGS.parallax, "fit", method, str(folder), "--quiet", "--device", device, "--json", str(out)]
    for s in settings:
        words += ["--set", s]
    env = dict(os.environ, PARALLAX_DEVICE_PATH=str(pathlib.Path(ARGS.library).resolve().parent))
    try:
        done = subprocess.run(words, capture_output=True, text=True, timeout=limit, env=env)
    except subprocess.TimeoutExpired:
        return limit
    return json.loads(out.read_text()) if done.returncode == 0 else done.stderr.strip()[-200:]


def later_fit(method, folder, settings):
    """Seconds of a fit in a process that has made one before; None where that cannot be measured."""
    if not ARGS.fit or not os.path.exists(ARGS.fit):
        return None
    run = str(pathlib.Path(ARGS.fit).parent / "run")
    env = dict(os.environ, PARALLAX_DEVICE_PATH=str(pathlib.Path(ARGS.library).resolve().parent))
    done = subprocess.run([run, "bench_fit", str(folder), method, "cuda", "4", *settings], capture_output=True, text=True,
                          timeout=left(), env=env)
    if done.returncode != 0:
        raise RuntimeError(done.stderr.strip()[-160:])
    return min(float(x) for x in done.stdout.split()[1:])


def compare_devices(method, folder, settings, what, cpu=True):
    """Row of the fit on the GPU against the CPU; what the GPU's said."""
    gpu = fit(method, folder, "cuda", settings, left())
    if not isinstance(gpu, dict):
        write_row(what, None, remark=gpu if isinstance(gpu, str) else f"did not end in {gpu:.0f} s")
        return None
    write_row(what, gpu["seconds"])  # at once: the CPU may take longer than there is time
    host = fit(method, folder, "cpu", settings, min(ARGS.most_cpu, left() - 3)) if cpu else "not run"
    if isinstance(host, float):
        write_row(what, gpu["seconds"], f"{os.cpu_count()} CPU cores", host, "the CPU was stopped then: at least this ratio")
    elif isinstance(host, str):
        write_row(what, gpu["seconds"], f"{os.cpu_count()} CPU cores", None, host)
    else:
        write_row(what, gpu["seconds"], f"{os.cpu_count()} CPU cores", host["seconds"], "goal: ratio >= 20" if method in ("gp", "bct") else "")
    return gpu


# ---- parts ----

def ceilings():
    found = table("ceilings")
    write_row("copy, 4 GB", found["copy"][0], remark=f"{found['copy'][1] / found['copy'][0] / 1e12:.2f} TB/s")
    write_row("product, 8192", found["product"][0], remark=f"{found['product'][2] / found['product'][0] / 1e12:.1f} Tflop/s")
    return found["copy"][1] / found["copy"][0]


def sizes():
    return ARGS.sizes or ([200, 400] if ARGS.small else [20000, 40000])


def torch_kernel(torch, n):
    """A well-conditioned rbf matrix of order n."""
    x = torch.randn(n, 20, dtype=torch.float64, device="cuda")
    a = torch.exp(-torch.cdist(x, x) ** 2 / 128)
    a.diagonal().add_(1.0)
    return a


def bare_factors(torch, n):
    """Seconds of torch's factorisation (cuSOLVER's potrf) and of its inverse."""
    a = torch_kernel(torch, n)
    l = torch.linalg.cholesky(a)
    plain = torch_time(torch, lambda: torch.linalg.cholesky(a), 2)
    inverse = torch_time(torch, lambda: torch.cholesky_inverse(l), 1)
    return plain, inverse


def bare_pair(torch, n, labelled):
    """Seconds of what exact bct of two views needs, by torch: Lambda = L L', Lambda^-1 K(:, labelled), its product with a
    kernel matrix, and L^-1 K for the variances."""
    a = torch_kernel(torch, n)

    def one():
        l = torch.linalg.cholesky(a)
        t = torch.cholesky_solve(a[:, :labelled], l)
        a @ t
        torch.linalg.solve_triangular(l, a, upper=False)

    return torch_time(torch, one, 1)


def factor():
    torch = torch_or_none()
    for n in sizes():
        mine = table("factor", n)
        plain, inverse = bare_factors(torch, n) if torch else (None, None)
        peer = "torch (cuSOLVER)" if torch else "torch is missing"
        write_row(f"potrf, n = {n}", mine["potrf"][0], peer, plain)
        write_row(f"potri, n = {n}", mine["potri"][0], peer, inverse)
        write_row(f"potrs of one, n = {n}", mine["potrs"][0])
        shapes = table("kernel", n, 20)
        write_row(f"rbf matrix, n = {n}, d = 20", shapes["rbf"][0])
        write_row(f"gradient sums, n = {n}", shapes["gradient"][0])


def gp_data(n):
    import numpy as np
    rng = np.random.default_rng(1)
    x = rng.normal(size=(n, 10))
    return x, np.sin(x[:, 0]) * x[:, 1] + x[:, 2] + 0.3 * rng.normal(size=n)


def gpytorch_time(x, y, evaluations):
    """Seconds of `evaluations` exact evaluations of the evidence and its gradient, by Cholesky factors."""
    import gpytorch
    import torch

    class Model(gpytorch.models.ExactGP):
        def __init__(self, train_x, train_y, likelihood):
            super().__init__(train_x, train_y, likelihood)
            self.mean_module = gpytorch.means.ConstantMean()
            self.covar_module = gpytorch.kernels.ScaleKernel(gpytorch.kernels.RBFKernel())

        def forward(self, rows):
            return gpytorch.distributions.MultivariateNormal(self.mean_module(rows), self.covar_module(rows))

    rows, values = torch.tensor(x, device="cuda"), torch.tensor(y, device="cuda")
    likelihood = gpytorch.likelihoods.GaussianLikelihood().double().cuda()
    model = Model(rows, values, likelihood).double().cuda()
    evidence = gpytorch.mlls.ExactMarginalLogLikelihood(likelihood, model)
    model.train()
    likelihood.train()

    def one():
        model.zero_grad()
        (-evidence(model(rows), values)).backward()

    with gpytorch.settings.fast_computations(False, False, False), gpytorch.settings.max_cholesky_size(10 ** 7):
        return torch_time(torch, one, 1) * evaluations


def gp():
    torch = torch_or_none()
    for n in sizes():
        x, y = gp_data(n)
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            write_views(folder, {"x": x}, y)
            settings = ["task=regression", "kernel=rbf", "width=3", "scale=none", "max_iter=3"]
            said = compare_devices("gp", folder, settings, f"gp, n = {n}", n < 30000)
        if not said:
            continue
        evaluations = said.get("evaluations", said.get("iterations", 0) + 1)
        if torch:
            bare = evaluations * sum(bare_factors(torch, n))
            write_row(f"gp, n = {n}, {evaluations} evaluations", said["seconds"], "bare potrf and inverse of each by torch "
                      "(cuSOLVER)", bare, "goal: ratio >= 0.67")
            torch.cuda.empty_cache()
        try:
            peer = gpytorch_time(x, y, evaluations) if torch else None
            write_row(f"gp, n = {n}", said["seconds"], "GPyTorch, exact, as many evaluations", peer)
        except Exception as e:  # noqa: BLE001 (out of memory, or not installed: the row says so)
            write_row(f"gp, n = {n}", said["seconds"], "GPyTorch", None, f"{type(e).__name__}: {str(e)[:120]}")


def gp_given():
    """The largest gp with hyper-parameters given: on the GPU, again in a process that has used it, and on the CPU."""
    n = sizes()[-1]
    x, y = gp_data(n)
    settings = ["task=regression", "kernel=rbf", "width=3", "scale=none", "optimize=none"]
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        write_views(folder, {"x": x}, y)
        later = later_fit("gp", folder, settings)
        write_row(f"gp, n = {n}, hyper-parameters given, not the first fit of a process", later)
        compare_devices("gp", folder, settings, f"gp, n = {n}, hyper-parameters given")


def bct():
    import numpy as np
    torch = torch_or_none()
    for n in sizes():
        rng = np.random.default_rng(2)
        truth = rng.integers(0, 2, n)
        views = {v: rng.normal(size=(n, 10)) + truth[:, None] for v in ("a", "b")}
        labels = [f"c{t}" if i % 10 == 0 else "?" for i, t in enumerate(truth)]
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            write_views(folder, views, labels)
            settings = ["kernel=rbf", "width=3", "scale=none"]
            said = compare_devices("bct", folder, settings, f"bct, n = {n}")
            later = later_fit("bct", folder, settings) if said else None
        if said and torch:
            bare, peer = bare_pair(torch, n, n // 10), "bare factor and solves it needs by torch (cuSOLVER, cuBLAS)"
            write_row(f"bct, n = {n}", said["seconds"], peer, bare, "goal: ratio >= 0.67")
            if later:
                write_row(f"bct, n = {n}, not the first fit of a process", later, peer, bare, "goal: ratio >= 0.67")
            torch.cuda.empty_cache()


def torch_once(torch, run):
    torch.cuda.synchronize()
    begin = time.perf_counter()
    run()
    torch.cuda.synchronize()
    return time.perf_counter() - begin


def knn():
    n, d, k = (300, 16, 10) if ARGS.small else (1000000, 64, 10)
    mine = table("knn", n, d, k)["knn"]
    write_row(f"{k} neighbours, {n} x {d}", mine[0], remark=f"{mine[2] / mine[0] / 1e12:.1f} Tflop/s of products")
    torch = torch_or_none()
    if not torch:
        write_row(f"{k} neighbours, {n} x {d}", mine[0], "torch is missing")
        return
    for kind in (torch.float64, torch.float32):
        x = (torch.rand(n, d, dtype=torch.float64, device="cuda") * 2 - 1).to(kind)
        norms, block, part = (x * x).sum(1), 2048, min(n, 65536)

        def some_rows():
            for at in range(0, part, block):
                torch.topk(norms - 2 * x[at:at + block] @ x.T, k + 1, largest=False)

        some_rows()
        peer = torch_once(torch, some_rows) * n / part
        write_row(f"{k} neighbours, {n} x {d}", mine[0], f"torch, {str(kind)[6:]}: product and topk", peer,
                  f"torch timed on {part} queries; not exact")


def kcca():
    import numpy as np
    n = 100 if ARGS.small else 10000
    rng = np.random.default_rng(3)
    shared = rng.normal(size=(n, 20))
    views = {v: shared @ rng.normal(size=(20, 50)) + rng.normal(size=(n, 50)) for v in ("a", "b")}
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        write_views(folder, views, None)
        compare_devices("kcca", folder, ["kernel=rbf", "dim=20"], f"kcca, n = {n}")
    mine = table("eigen", n, 20)
    write_row(f"20 largest pairs, n = {n}", mine["sym_eigen"][0])


def spectral():
    import numpy as np
    n = 400 if ARGS.small else 1000000
    rng = np.random.default_rng(4)
    centres = rng.normal(size=(20, 20)) * 3
    x = centres[rng.integers(0, 20, n)] + rng.normal(size=(n, 20))
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        write_views(folder, {"x": x}, None)
        compare_devices("spectral", folder, ["clusters=20", "affinity_k=10", "knn=exact"], f"spectral, n = {n}, 10 neighbours")


def cupy_matrix(cupy, rows, cols, per_row):
    """Columns as bench_table draws them."""
    import cupyx.scipy.sparse as sparse
    ptr = cupy.arange(rows + 1, dtype=cupy.int32) * per_row
    stretch = (cupy.arange(per_row) + cupy.random.rand(rows, per_row)) / per_row
    col = (cols * stretch ** 3).astype(cupy.int32).ravel()
    x = sparse.csr_matrix((cupy.ones(col.size), col, ptr), (rows, cols))
    x.sum_duplicates()
    return x


def sparse_classes(cupy, label, width):
    """rows x width, a one at each row's class."""
    out = cupy.zeros((label.size, width))
    out[cupy.arange(label.size), label] = 1
    return out


def cupy_steps(rows, cols, per_row, width):
    """Seconds of one step of each method as a user would write it with CuPy."""
    import cupy
    x = cupy_matrix(cupy, rows, cols, per_row)
    flipped = x.T.tocsr()
    t, r = cupy.random.rand(cols, width), cupy.random.rand(rows, width)
    row = cupy.repeat(cupy.arange(rows, dtype=cupy.int32), cupy.diff(x.indptr).tolist())

    def coem():
        z = x @ t - 3.0
        top = z.max(1, keepdims=True)
        e = cupy.exp(z - top)
        total = e.sum(1, keepdims=True)
        (cupy.log(total) + top).sum()
        flipped @ (e / total)

    def mvkmeans():
        best = (x @ t).argmax(1)
        flipped @ sparse_classes(cupy, best, width)

    def mvplsa():
        block, gain = 1 << 24, cupy.zeros_like(r)
        ratio = cupy.empty_like(x.data)
        for at in range(0, x.data.size, block):
            part = slice(at, at + block)
            m = (t[x.indices[part]] * r[row[part]]).sum(1)
            ratio[part] = x.data[part] / m
            (x.data[part] * cupy.log(m)).sum()
        weighted = type(x)((ratio, x.indices, x.indptr), x.shape)
        gain += weighted @ t
        weighted.T @ r

    def best(run):
        run()
        cupy.cuda.Device().synchronize()
        begin = time.perf_counter()
        run()
        cupy.cuda.Device().synchronize()
        return time.perf_counter() - begin

    return {"coem": best(coem), "mvkmeans": best(mvkmeans), "mvplsa": best(mvplsa)}


def sweep_rows(found, kind, width, bandwidth):
    """A row for every operation; seconds of one step of each method."""
    shape = f"{found['entries'][0]:.3g} {kind}, {width} columns"
    seconds = {}
    for what in ("spmm", "spmm transposed", "mixture", "assign", "class_sums", "plsa"):
        seconds[what], moved, _ = found[f"{width} {what}"]
        write_row(f"{what}, {shape}", seconds[what], "copy bandwidth", moved / bandwidth,
                  "share of it by compulsory traffic; goal >= 0.5")
    return {"coem": seconds["mixture"] + seconds["spmm transposed"], "mvkmeans": seconds["assign"] + seconds["class_sums"],
            "mvplsa": seconds["plsa"]}


def sweeps():
    rows, widths = (3000, [2, 8]) if ARGS.small else (10000000, [2, 4, 8, 16, 32])
    ceiling = table("ceilings")["copy"] if not ARGS.small else (1.0, 1.0, 0.0)
    bandwidth = ceiling[1] / ceiling[0]
    like_texts = table("texts", rows, 1000 if ARGS.small else 18136, 100, *widths)
    for width in widths:
        sweep_rows(like_texts, "entries like those of texts", width, bandwidth)
    cols, per_row = (500, 40) if ARGS.small else (100000, 100)
    found = table("sweeps", rows, cols, per_row, *widths)
    seconds, moved, _ = found["upload and transpose"]
    write_row(f"upload and transpose, {found['entries'][0]:.3g} entries", seconds, remark=f"{moved / seconds / 1e9:.1f} GB/s")
    for width in widths:
        mine = sweep_rows(found, "entries", width, bandwidth)
        if width not in (8, 16):
            continue
        try:
            part = rows // 8  # its copies need several times the memory
            for method, seconds in cupy_steps(part, cols, per_row, width).items():
                write_row(f"{method}, one step, {width} columns", mine[method], "CuPy by hand", seconds * rows / part,
                          "peer timed on an eighth of the rows; ours has two channels in coem")
        except Exception as e:  # noqa: BLE001 (not installed, or out of memory: the row says so)
            write_row("one step", None, "CuPy", None, f"{type(e).__name__}: {str(e)[:120]}")


PARTS = {f.__name__: f for f in (ceilings, factor, gp, gp_given, bct, knn, kcca, spectral, sweeps)}


def main():
    if ARGS.part not in PARTS:
        sys.exit(f"bench.py: no part {ARGS.part}; there are {', '.join(PARTS)}")
    try:
        PARTS[ARGS.part]()
    except (subprocess.TimeoutExpired, RuntimeError) as e:
        write_row(ARGS.part, None, remark=f"stopped: {str(e)[:160]}")
        sys.exit(1)


main()
