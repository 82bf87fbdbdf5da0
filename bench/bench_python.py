#!/usr/bin/env python3
"""What Python adds to a fit: mvkmeans on sparse counts through the package and through the command.

usage: bench_python.py PARALLAX [--rows N] [--columns D] [--entries E] [--restarts K] [--runs R]

The command's figure is the time of the fit alone, without reading; Python's is all of estimator.fit(), from the caller's
CSR matrix to labels_. What Python adds is the difference to the library's call in the same process, in processor time, which
other work on the machine disturbs least. Peak memory is that of the Python process above what it held with the data in memory; beside
it stands what the library took for the fit, and what it holds for a data set over the same matrix: flags, no copy.
Needs the parallax package on PYTHONPATH.
"""
import argparse
import json
import os
import pathlib
import resource
import subprocess
import sys
import tempfile
import time

SETTINGS = {"clusters": 10, "max_iter": 10}


def make(rows, columns, entries):
    """Rows of distinct columns with counts; ten groups that prefer columns of their own."""
    import numpy as np
    import scipy.sparse as sp

    generator = np.random.default_rng(0)
    group = generator.integers(0, 10, rows)
    step = columns // entries
    start = generator.integers(0, step, (rows, 1)) // 10 + group[:, None] * (step // 10)
    indices = (start + np.arange(entries) * step).astype(np.int32)
    values = generator.integers(1, 9, rows * entries).astype(float)
    matrix = sp.csr_matrix((values, indices.ravel(), np.arange(rows + 1) * entries), shape=(rows, columns))
    matrix.has_canonical_format = True
    return matrix


def python_run(arguments):
    """One fit in this process, reported as JSON."""
    import parallax
    from parallax import _estimator
    from parallax._core import lib

    X = make(arguments.rows, arguments.columns, arguments.entries)
    held = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    pathlib.Path("/proc/self/clear_refs").write_text("5")  # start the high-water mark again
    now = int(pathlib.Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    library, inner = _estimator.fit, []

    def timed(*words):
        began = time.process_time()
        fitted = library(*words)
        inner.append(time.process_time() - began)
        return fitted

    _estimator.fit = timed
    began, cpu = time.perf_counter(), time.process_time()
    model = parallax.Mvkmeans(**SETTINGS, restarts=arguments.restarts).fit([X])
    took, cpu = time.perf_counter() - began, time.process_time() - cpu
    context = model._model.owned.context
    taken = lib.plx_context_memory_peak(context.pointer)
    peak = next(int(line.split()[1]) * 1024 for line in open("/proc/self/status") if line.startswith("VmHWM"))
    data = parallax.Dataset([X])
    copied = lib.plx_context_memory_used(data._context.pointer)
    print(json.dumps({"taken": taken, "copied": copied, "wall": took, "cpu": cpu, "inner": inner[0],
                      "inside": model.facts()["seconds"], "above_data": peak - now, "held": held,
                      "data": X.data.nbytes + X.indices.nbytes + X.indptr.nbytes,
                      "labels": int(model.labels_.sum())}))


def command_run(parallax, folder, restarts):
    result = pathlib.Path(folder) / "result.json"
    words = [w for key, value in {**SETTINGS, "restarts": restarts}.items() for w in ("--set", f"{key}={value}")]
    subprocess.run([parallax, "fit", "mvkmeans", str(pathlib.Path(folder) / "data"), *words, "--json", str(result),
                    "--quiet"], check=True)
    return json.loads(result.read_text())


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parallax")
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--columns", type=int, default=50_000)
    parser.add_argument("--entries", type=int, default=30)
    parser.add_argument("--restarts", type=int, default=10)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--one", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.one:
        return python_run(arguments)
    import parallax

    with tempfile.TemporaryDirectory(prefix="plx_bench_") as folder:
        parallax.Dataset({"view0": make(arguments.rows, arguments.columns, arguments.entries)}).write(f"{folder}/data")
        ours, theirs = [], []
        for _ in range(arguments.runs):  # in turn, so that a busy moment strikes both
            done = subprocess.run([sys.executable, __file__, *sys.argv[1:], "--one"], check=True, capture_output=True)
            ours.append(json.loads(done.stdout))
            theirs.append(command_run(arguments.parallax, folder, arguments.restarts))
    python, command = min(o["wall"] for o in ours), min(t["seconds"] for t in theirs)
    above, data = min(o["above_data"] for o in ours), ours[0]["data"]
    print(f"mvkmeans {arguments.rows} x {arguments.columns}, {arguments.entries} entries per row, best of {arguments.runs}")
    print(f"  command, fit alone   {command:8.3f} s")
    print(f"  python, fit() in all {python:8.3f} s   ratio {python / command:.3f}")
    added, inner = min(o["cpu"] - o["inner"] for o in ours), min(o["inner"] for o in ours)
    print(f"  processor time: {inner:.3f} s in the library, Python adds {added:.3f} s, a factor of {1 + added / inner:.4f}")
    print(f"  data {data / 2**20:.0f} MiB; peak above it {above / 2**20:.0f} MiB, of which the library took "
          f"{ours[0]['taken'] / 2**20:.0f} MiB; a data set over it takes {ours[0]['copied'] / 2**20:.1f} MiB")
    return None


if __name__ == "__main__":
    sys.exit(main())
