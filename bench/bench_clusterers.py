#!/usr/bin/env python3
"""Clusterers with their defaults beside those of iMML, polyview and mvlearn on the same views, complete and with holes.

usage: bench_clusterers.py PARALLAX [--mvlearn PYTHON]      (imml, polyview and scikit-learn to be imported)

Six groups of 300 samples in three views of 40, 60 and 80 numbers, of which each view tells some apart better than others; with
30 % of the views missing every sample keeps one. The methods are not the same, so agreement with the groups (NMI) stands
beside the time of both. A peer that is missing is named as missing.
"""
import argparse
import contextlib
import importlib.util
import io
import json
import os
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path

for key in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ[key] = "1"
os.environ.setdefault("OMP_WAIT_POLICY", "passive")

import numpy as np  # noqa: E402 (the thread limits must come first)

from ratios import Row, Time, best, fit  # noqa: E402

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tools"))
from compare_clusterers import PEERS, drop  # noqa: E402

warnings.simplefilter("ignore")
GROUPS, EACH = 6, 300

MVLEARN = """
import sys, time, warnings
warnings.simplefilter("ignore")
import numpy as np
from mvlearn.cluster import MultiviewCoRegSpectralClustering
x = [np.load(f) for f in sys.argv[2:]]
best = [np.inf, np.inf]
for _ in range(2):
    wall, cpu = time.perf_counter(), time.process_time()
    found = MultiviewCoRegSpectralClustering(n_clusters=int(sys.argv[1]), random_state=0).fit_predict(x)
    best = [min(best[0], time.perf_counter() - wall), min(best[1], time.process_time() - cpu)]
print(*best, *found)
"""


def write(folder):
    rng = np.random.default_rng(4)
    truth = np.repeat(np.arange(GROUPS), EACH)
    about = {"parallax": 1, "name": "groups", "truth": "truth.txt", "views": []}
    folder.mkdir()
    for v, columns in enumerate((40, 60, 80)):
        centres = rng.normal(size=(GROUPS, columns)) * (0.25 + 0.25 * ((np.arange(GROUPS) + v) % 3))[:, None]
        np.save(folder / f"v{v}.npy", centres[truth] + rng.normal(size=(len(truth), columns)))
        about["views"].append({"name": f"v{v}", "file": f"v{v}.npy", "kind": "real"})
    (folder / "truth.txt").write_text("".join(f"g{t}\n" for t in truth))
    (folder / "dataset.json").write_text(json.dumps(about))
    return truth


def views_of(folder):
    """The views scaled, rows that are missing NaN: what the peers ask for."""
    views = []
    for view in json.loads((folder / "dataset.json").read_text())["views"]:
        path = folder / view["file"]
        x = np.load(path) if path.suffix == ".npy" else np.loadtxt(path, delimiter=",", ndmin=2)
        if view.get("present"):
            x = np.where(np.loadtxt(folder / view["present"])[:, None] > 0, x, np.nan)
        views.append((x - np.nanmean(x, 0)) / np.nanstd(x, 0))
    return views


def mvlearn(python, views, scratch):
    """Time and labels in a Python of its own; it takes complete views only."""
    files = []
    for v, x in enumerate(views):
        files.append(scratch / f"mvlearn{v}.npy")
        np.save(files[-1], x)
    said = subprocess.run([python, "-c", MVLEARN, str(GROUPS), *files], check=True, capture_output=True, text=True).stdout.split()
    return Time(float(said[0]), float(said[1])), [int(c) for c in said[2:]]


def peers(views, complete, scratch, python):
    """Every peer that is here: name, time, labels."""
    for name, (package, function) in PEERS.items():
        if not importlib.util.find_spec(package):
            print(f"{name}: {package} is not installed")
            continue
        found = []
        with contextlib.redirect_stdout(io.StringIO()):
            taken = best(lambda: found.append(function([x.copy() for x in views], GROUPS)), 2)
        yield name, taken, found[-1]
    if complete and os.path.exists(python):
        yield ("co-regularised spectral (mvlearn)", *mvlearn(python, views, scratch))


def main():
    from sklearn.metrics import normalized_mutual_info_score as nmi
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parallax")
    parser.add_argument("--mvlearn", default="build/bench-mvlearn/bin/python")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        scratch = Path(place)
        truth = write(scratch / "groups")
        for rate in (0, 30):
            data = Path(drop(args.parallax, str(scratch / "groups"), rate, 1, place))
            out = scratch / "labels.json"
            mine = fit(args.parallax, "spectral", data, "--set", f"clusters={GROUPS}")
            subprocess.run([args.parallax, "fit", "spectral", data, "--set", f"clusters={GROUPS}", "--json", out, "--quiet"], check=True)
            ours = json.loads(out.read_text())["metrics"]["nmi"]
            for name, taken, found in peers(views_of(data), rate == 0, scratch, args.mvlearn):
                Row(f"spectral, {len(truth)} samples, three views, {rate} % of them missing, beside {name}", mine, taken, name, 1,
                    f"NMI {ours:.3f}, the other {nmi(truth, found):.3f}").record(args.parallax)


main()
