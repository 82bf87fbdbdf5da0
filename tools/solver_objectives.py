#!/usr/bin/env python3
"""Objective of every solver of the kernel methods on unscaled data, as the table of docs/dev/solvers.md.

  python3 tools/solver_objectives.py build/release/parallax [--factors 1e-6,1,1e3,1e6] [--seconds 120] > table.md

One convex problem has one objective: a run may miss it only when it says that it did not converge. Generated histograms
(counts with very different column means) at four sizes, and four real sets of $PARALLAX_DATA with 10 % labels, all with
scale=none. A run that takes longer than --seconds is ended and shown as such.
"""
import argparse
import json
import os
import subprocess
import sys
import tempfile

import numpy as np

METHODS = ("rls", "svm", "laprls", "lapsvm", "corls", "colaprls", "colapsvm")
SOLVERS = ("dense", "primal", "cg")
REAL_SETS = ("wine", "mfeat", "protein_fold27", "breast_cancer_wisconsin")
AGREE = 1e-6  # relative: what the solvers promise


def write_histograms(folder, factor):
    """210 samples of 7 classes, 256 counts whose means differ by orders of magnitude; 21 labels."""
    os.makedirs(folder, exist_ok=True)
    r = np.random.default_rng(0)
    n, classes = 210, 7
    z = np.arange(n) % classes
    profile = r.gamma(0.3, 1, size=256) * 200 * np.exp(0.25 * r.normal(size=(classes, 256)))
    x = profile[z] * r.gamma(20, 1 / 20, size=(n, 1))
    x = r.poisson(x * max(factor, 1.0)) * min(factor, 1.0)
    np.savetxt(os.path.join(folder, "histogram.csv"), x, delimiter=",", fmt="%.17g")
    with open(os.path.join(folder, "truth.txt"), "w") as f:
        f.writelines(f"k{c}\n" for c in z)
    with open(os.path.join(folder, "labels.txt"), "w") as f:
        f.writelines((f"k{c}" if i < 21 else "?") + "\n" for i, c in enumerate(z))
    with open(os.path.join(folder, "dataset.json"), "w") as f:
        json.dump(dict(parallax=1, name="histograms", labels="labels.txt", truth="truth.txt",
                       views=[dict(name="histogram", file="histogram.csv", kind="real")]), f)


def fit(binary, data, labels, method, solver, seconds):
    """(objective, converged) of one fit, or a word that says why there is none."""
    with tempfile.NamedTemporaryFile(suffix=".json") as out:
        command = [binary, "fit", method, data, "--quiet", "--seed", "1", "--json", out.name,
                   "--set", "scale=none", "--set", f"solver={solver}"] + labels
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=seconds)
        except subprocess.TimeoutExpired:
            return f"over {seconds:g} s"
        if done.returncode != 0:
            return done.stderr.strip().split("\n")[-1]
        with open(out.name) as f:
            result = json.load(f)
    return result["objective"], result["converged"]


def cell(result, best):
    if isinstance(result, str):
        return result
    objective, converged = result
    text = f"{objective:.9g}"
    if not converged:
        return text + " (did not converge, said)"
    return text if abs(objective - best) <= AGREE * abs(best) else text + " **disagrees**"


def main():
    p = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    p.add_argument("parallax")
    p.add_argument("--factors", default="1e-6,1,1e3,1e6")
    p.add_argument("--seconds", type=float, default=120)
    p.add_argument("--methods", default=",".join(METHODS))
    args = p.parse_args()
    root = os.environ.get("PARALLAX_DATA", "../shared/data")
    with tempfile.TemporaryDirectory() as work:
        sets = []
        for factor in args.factors.split(","):
            folder = os.path.join(work, "histograms" + factor)
            write_histograms(folder, float(factor))
            sets.append((f"histograms x {factor}", folder, []))
        sets += [(name, os.path.join(root, name), ["--labels", "10%"]) for name in REAL_SETS]
        print("| data | method | " + " | ".join(SOLVERS) + " |\n|" + "---|" * (len(SOLVERS) + 2))
        bad = 0
        for name, data, labels in sets:
            for method in args.methods.split(","):
                results = [fit(args.parallax, data, labels, method, s, args.seconds) for s in SOLVERS]
                reached = [r[0] for r in results if not isinstance(r, str) and r[1]]
                best = min(reached) if reached else 0.0
                cells = [cell(r, best) for r in results]
                bad += sum("disagrees" in c for c in cells)
                print(f"| {name} | {method} | " + " | ".join(cells) + " |", flush=True)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
