#!/usr/bin/env python3
"""All clusterers beside each other on data with missing views, as Markdown: NMI and seconds.

Usage: compare_clusterers.py PARALLAX [--data DIR] [--sets NAME,...] [--rates 0,30,50] [--masks 3] [--methods NAME,...]
                             [--peers [NAME,...]]

Every method runs with its defaults; only the number of clusters is told. A share of the views is removed at random by
`parallax data drop` (every sample keeps one), the same for all methods, in as many masks as asked for. --peers adds
NEMO and EEIMVC of iMML and co-trained spectral clustering of polyview on mean-imputed views, where these Python
packages are installed; they get the scaled views as dense arrays with missing rows as NaN.
"""
import argparse
import csv
import importlib.util
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time

SETS = ["mfeat", "newsgv2", "newsgv4", "webkb", "breast_tcga"]
OURS = {"spectral": [], "smd": [], "nlapreg": ["task=cluster"], "mvll": ["task=cluster"], "bct": ["task=cluster"], "coem": [],
        "mvkmeans": [], "mvc": [], "infobottleneck": [], "hybridtree": []}


def truth_of(data):
    with open(os.path.join(data, "dataset.json"), encoding="utf-8") as f:
        name = json.load(f)["truth"]
    with open(os.path.join(data, name), encoding="utf-8") as f:
        return f.read().split("\n")[:-1]


def drop(parallax, source, rate, seed, folder):
    if rate == 0:
        return source
    target = os.path.join(folder, f"{os.path.basename(source)}-{rate}-{seed}")
    if os.path.exists(target):
        return target
    subprocess.run([parallax, "data", "drop", source, target, "--rate", str(rate / 100), "--seed", str(seed), "--quiet"],
                   check=True)
    return target


def ours(parallax, method, data, clusters, limit):
    with tempfile.TemporaryDirectory() as scratch:
        out = os.path.join(scratch, "r.json")
        command = [parallax, "fit", method, data, "--json", out, "--quiet", "--set", f"clusters={clusters}"]
        for s in OURS[method]:
            command += ["--set", s]
        started = time.time()
        done = subprocess.run(command, check=False, capture_output=True, text=True, timeout=limit)
        if done.returncode:
            raise RuntimeError(done.stderr.strip().split("\n")[-1])
        with open(out, encoding="utf-8") as f:
            return json.load(f)["metrics"]["nmi"], time.time() - started


# ---- peers ----

def dense_views(parallax, data):
    """Views as arrays, columns with zero mean and unit deviation, missing rows NaN."""
    import numpy
    with tempfile.TemporaryDirectory() as scratch:
        target = os.path.join(scratch, "dense")
        subprocess.run([parallax, "data", "convert", data, target, "--quiet"], check=True)
        with open(os.path.join(target, "dataset.json"), encoding="utf-8") as f:
            about = json.load(f)
        views = []
        for view in about["views"]:
            path = os.path.join(target, view["file"])
            if path.endswith(".mtx"):
                from scipy.io import mmread
                x = numpy.asarray(mmread(path).todense(), dtype=float)
            else:
                with open(path, encoding="utf-8") as f:
                    x = numpy.array([[float(v) for v in row] for row in csv.reader(f)])
            if view.get("present"):
                present = numpy.loadtxt(os.path.join(target, view["present"])) > 0
                x[~present] = numpy.nan
            if (x[~numpy.isnan(x[:, 0])] != 0).mean() < 0.25:
                x = x / numpy.maximum(numpy.sqrt((x * x).sum(1, keepdims=True)), 1e-300)
            else:
                deviation = numpy.nanstd(x, 0)
                x = (x - numpy.nanmean(x, 0)) / numpy.where(deviation > 0, deviation, 1)
            views.append(x)
        return views


def peer_nemo(views, clusters):
    from imml.cluster import NEMO
    return NEMO(n_clusters=clusters, random_state=0).fit_predict(views)


def peer_eeimvc(views, clusters):
    from imml.cluster import EEIMVC
    return EEIMVC(n_clusters=clusters, random_state=0).fit_predict(views)


def peer_polyview(views, clusters):
    import numpy
    from polyview.cluster import MultiViewCoTrainSpectralClustering
    filled = [numpy.where(numpy.isnan(x), numpy.nanmean(x, 0), x) for x in views]
    return MultiViewCoTrainSpectralClustering(n_clusters=clusters, random_state=0).fit_predict(filled)


PEERS = {"NEMO (iMML)": ("imml", peer_nemo), "EEIMVC (iMML)": ("imml", peer_eeimvc),
         "co-trained spectral (polyview)": ("polyview", peer_polyview)}


def peer(function, parallax, data, truth, clusters):
    from sklearn.metrics import normalized_mutual_info_score
    views = dense_views(parallax, data)
    started = time.time()
    found = function(views, clusters)
    seconds = time.time() - started
    known = [i for i, t in enumerate(truth) if t != "?"]
    return normalized_mutual_info_score([truth[i] for i in known], [found[i] for i in known]), seconds


# ---- tables ----

def cell(run, masks):
    """Mean NMI and seconds over the masks, or the reason why there are none."""
    scores, seconds = [], []
    for mask in masks:
        try:
            score, took = run(mask)
        except Exception as problem:  # a peer may fail in any way
            print(f"  {type(problem).__name__}: {problem}", file=sys.stderr)
            return None, "-"
        scores.append(score)
        seconds.append(took)
    return statistics.mean(scores), f"{statistics.mean(scores):.3f} ({statistics.mean(seconds):.1f} s)"


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("parallax")
    here = os.path.dirname(os.path.abspath(__file__))
    p.add_argument("--data", default=os.environ.get("PARALLAX_DATA", os.path.join(here, "../../shared/data")))
    p.add_argument("--sets", default=",".join(SETS))
    p.add_argument("--rates", default="0,30,50")
    p.add_argument("--masks", type=int, default=3)
    p.add_argument("--methods", default=",".join(OURS))
    p.add_argument("--limit", type=float, default=600, help="seconds per run")
    p.add_argument("--peers", nargs="?", const=",".join(PEERS), default="", help="all, or those whose names are given")
    args = p.parse_args()
    names = args.sets.split(",")
    runs = {m: None for m in args.methods.split(",") if m}
    if args.peers:
        runs.update({t: f for t, (package, f) in PEERS.items()
                     if any(t.startswith(name) for name in args.peers.split(",")) and importlib.util.find_spec(package)})
    with tempfile.TemporaryDirectory() as scratch:
        for rate in [int(r) for r in args.rates.split(",")]:
            print(f"\n## {rate} % of the views missing: NMI (seconds)\n")
            print("| method | " + " | ".join(names) + " | mean |\n|---|" + "---|" * (len(names) + 1))
            for title, function in runs.items():
                cells, means = [], []
                for name in names:
                    source = os.path.join(args.data, name)
                    truth = truth_of(source)
                    clusters = len(set(truth) - {"?"})
                    masks = [drop(args.parallax, source, rate, s, scratch)
                             for s in range(1, (args.masks if rate else 1) + 1)]
                    mean, text = cell(lambda d: peer(function, args.parallax, d, truth, clusters) if function
                                      else ours(args.parallax, title, d, clusters, args.limit), masks)
                    cells.append(text)
                    means.append(mean)
                whole = f"{statistics.mean(means):.3f}" if None not in means else "-"
                print(f"| {title} | " + " | ".join(cells) + f" | {whole} |", flush=True)


if __name__ == "__main__":
    main()
