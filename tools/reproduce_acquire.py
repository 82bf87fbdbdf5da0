#!/usr/bin/env python3
"""Would it have paid? Simulated acquisition of labels and features, the chosen strategy beside random and uncertainty.

Usage: reproduce_acquire.py PARALLAX [--data DIR] [--runs 20] [--threads 2] [--only PART]...

Parts: labels (webkb_course and newsgv2 with nb, mfeat with svm, breast_tcga with colr), colr (labels of webkb_course and newsgv2,
their 300 most frequent words of each view, and of mfeat; in a Python with numpy and scipy), features (breast_tcga with
colr and bct, two synthetic sensors with 9 and 20 features with colr), costs (labels and features of the two sensors together
under prices 1:1, 1:5 and 5:1). Every run draws its own labels, test samples and hidden views, the same for all strategies.
Scores are those of test samples that are never asked about; a figure is the mean over all acquisitions, differences to random
are taken run by run and have their standard error in brackets. The last columns say how many acquisitions it took to come
within 5 % of what all labels and views together give, and in how many runs that was reached.
"""
import argparse
import csv
import json
import math
import os
import statistics
import subprocess
import sys
import tempfile
import time

import random


def run(args, kind, data, method, options, settings, strategies):
    """strategy -> run -> list of (step, cost, score)."""
    out = os.path.join(args.folder, "curves.csv")
    command = [args.program, "acquire", kind, data, "--with", method, "--quiet", "--out", out, "--threads", str(args.threads),
               "--runs", str(args.runs), "--criteria", ",".join(strategies + ["all"])] + options
    for s in settings:
        command += ["--set", s]
    subprocess.run(command, check=True)
    found = {}
    with open(out, encoding="utf-8") as f:
        for row in csv.DictReader(f):
            if row["accuracy"]:
                found.setdefault(row["criterion"], {}).setdefault(int(row["run"]), []).append(
                    (int(row["step"]), float(row["cost"]), float(row["accuracy"]), row["view"]))
    return found


def curve_mean(curve):
    return statistics.mean(p[2] for p in curve if p[0] > 0)


def gap(found, strategy):
    if strategy == "random":
        return ""
    d = [curve_mean(found[strategy][r]) - curve_mean(found["random"][r]) for r in found["random"]]
    error = statistics.stdev(d) / math.sqrt(len(d)) if len(d) > 1 else float("nan")
    return "{:+.4f} ({:.4f})".format(statistics.mean(d), error)


def reached(found, strategy, column):
    steps = []
    for r, curve in found[strategy].items():
        goal = 0.95 * found["all"][r][-1][2]
        hits = [p[column] for p in curve if p[2] >= goal]
        steps += hits[:1]
    return ("{:.1f}".format(statistics.mean(steps)) if steps else "-", len(steps))


def rows(title, found, strategies, column=0):
    full = statistics.mean(c[-1][2] for c in found["all"].values())
    for s in strategies:
        runs = found[s]
        first = statistics.mean(c[0][2] for c in runs.values())
        last = statistics.mean(c[-1][2] for c in runs.values())
        mean, hits = reached(found, s, column)
        print("| {} | {} | {:.4f} | {:.4f} | {:.4f} | {} | {:.4f} | {} | {} of {} |".format(
            title, s, first, statistics.mean(curve_mean(c) for c in runs.values()), last, gap(found, s), full, mean, hits,
            len(runs)), flush=True)


HEAD = ("| data and method | strategy | before | mean | after | to random | with all | acquisitions to 95 % | reached |\n"
        "|---|---|---|---|---|---|---|---|---|")


def labels(args):
    print("\nLabels\n\n" + HEAD)
    usual = ["chosen", "random", "uncertainty"]
    parts = [("webkb_course", "nb", ["--labels", "2", "--simulate", "40"], [], ["margin", "entropy", "disagreement", "random"]),
             ("newsgv2", "nb", ["--labels", "2", "--simulate", "40"], [], ["margin", "entropy", "disagreement", "random"]),
             ("mfeat", "svm", ["--labels", "2", "--simulate", "100", "--batch", "10"], [], ["chosen", "entropy", "random"]),
             ("breast_tcga", "colr", ["--labels", "3", "--simulate", "30", "--batch", "3"], ["gem_tol=1e-6"], usual)]
    for name, method, options, settings, strategies in parts:
        start = time.time()
        found = run(args, "labels", os.path.join(args.data, name), method, options, settings, strategies)
        rows("{}, {}".format(name, method), found, strategies)
        print("<!-- {:.0f} s -->".format(time.time() - start), flush=True)


def frequent(args, name, words=300):
    """The data set with the most frequent words of every view only: colr has a weight's precision for every pair of words."""
    import numpy as np
    from reproduce_complete import read_folder
    views, truth = read_folder(os.path.join(args.data, name))
    folder = os.path.join(args.folder, name)
    os.makedirs(folder)
    for k, v in enumerate(views):
        np.save(os.path.join(folder, "v{}.npy".format(k)), v[:, np.argsort(-(v > 0).sum(0), kind="stable")[:words]])
    with open(os.path.join(folder, "truth.txt"), "w", encoding="utf-8") as f:
        f.writelines(t + "\n" for t in truth)
    manifest = {"parallax": 1, "name": name, "truth": "truth.txt",
                "views": [{"name": "v{}".format(k), "kind": "counts", "file": "v{}.npy".format(k)} for k in range(len(views))]}
    with open(os.path.join(folder, "dataset.json"), "w", encoding="utf-8") as f:
        json.dump(manifest, f)
    return folder


def colr(args):
    print("\nLabels, colr\n\n" + HEAD)
    usual = ["chosen", "random", "uncertainty"]
    few = ["--labels", "2", "--simulate", "40", "--batch", "5"]
    parts = [("webkb_course", frequent(args, "webkb_course"), few), ("newsgv2", frequent(args, "newsgv2"), few),
             ("mfeat", os.path.join(args.data, "mfeat"), ["--labels", "2", "--simulate", "60", "--batch", "20"])]
    for name, data, options in parts:
        start = time.time()
        found = run(args, "labels", data, "colr", options, ["gem_tol=1e-5"], usual)
        rows("{}, colr".format(name), found, usual)
        print("<!-- {:.0f} s -->".format(time.time() - start), flush=True)


def sensors(args, n=240):
    """Two sensors that see the same objects: 9 features, two of which tell; 20 features, three of which tell, less."""
    rng = random.Random(7)
    folder = os.path.join(args.folder, "sensors")
    os.makedirs(folder, exist_ok=True)
    truth, radar, infrared = [], [], []
    for i in range(n):
        side = 1 if i % 2 else -1
        truth.append("mine" if side > 0 else "clutter")
        radar.append([rng.gauss(0.7 * side if k < 2 else 0, 1) for k in range(9)])
        infrared.append([rng.gauss(0.5 * side if k < 3 else 0, 1) for k in range(20)])
    for name, values in (("radar", radar), ("infrared", infrared)):
        with open(os.path.join(folder, name + ".csv"), "w", encoding="utf-8") as f:
            f.writelines(",".join(map(repr, row)) + "\n" for row in values)
    with open(os.path.join(folder, "truth.txt"), "w", encoding="utf-8") as f:
        f.writelines(t + "\n" for t in truth)
    manifest = {"parallax": 1, "name": "sensors", "truth": "truth.txt",
                "views": [{"name": v, "kind": "real", "file": v + ".csv"} for v in ("radar", "infrared")]}
    with open(os.path.join(folder, "dataset.json"), "w", encoding="utf-8") as f:
        json.dump(manifest, f)
    return folder


def features(args):
    print("\nFeatures\n\n" + HEAD)
    usual = ["chosen", "random", "uncertainty"]
    breast = os.path.join(args.data, "breast_tcga")
    hide = ["--hide", "mrna=0.5", "--hide", "mirna=0.5", "--hide", "protein=0.5", "--test", "0.4"]
    wide = ["covariance=diag", "components=1"]
    parts = [("sensors, colr", sensors(args), "colr", ["--labels", "20", "--simulate", "40", "--hide", "radar=0.5", "--hide",
              "infrared=0.5", "--test", "0.4"], ["gem_tol=1e-6"]),
             ("breast_tcga, bct", breast, "bct", ["--labels", "5", "--simulate", "30", "--batch", "3"] + hide,
              ["kernel=rbf", "view_variance=1"] + wide),
             ("breast_tcga, colr", breast, "colr", ["--labels", "10", "--simulate", "30", "--batch", "6"] + hide,
              ["gem_tol=1e-5"] + wide)]
    for title, data, method, options, settings in parts:
        start = time.time()
        found = run(args, "features", data, method, options, settings, usual)
        rows(title, found, usual)
        print("<!-- {:.0f} s -->".format(time.time() - start), flush=True)


def costs(args):
    print("\nLabels or features, two sensors, colr, budget 60\n")
    print("| label : view | labels bought | views bought | mean accuracy | to random | labels only | features only |")
    print("|---|---|---|---|---|---|---|")
    data = sensors(args)
    base = ["--labels", "5", "--simulate", "60", "--hide", "radar=0.5", "--hide", "infrared=0.5", "--test", "0.4",
            "--retrain-every", "3"]
    for label, view in ((1, 1), (1, 5), (5, 1)):
        settings = ["gem_tol=1e-6", "cost.label={}".format(label), "cost.radar={}".format(view), "cost.infrared={}".format(view),
                    "budget=60"]
        both = run(args, "any", data, "colr", base, settings, ["chosen", "random"])
        one = {k: run(args, k, data, "colr", base, settings, ["chosen"])["chosen"] for k in ("labels", "features")}
        bought = [sum(p[3] == "label" for p in c) * 3 for c in both["chosen"].values()]
        total = [c[-1][0] for c in both["chosen"].values()]
        spent = [round(c[-1][1]) for c in both["chosen"].values()]
        n_labels = statistics.mean((s - view * t) / (label - view) if label != view else b
                                   for s, t, b in zip(spent, total, bought))
        print("| {} : {} | {:.1f} | {:.1f} | {:.4f} | {} | {:.4f} | {:.4f} |".format(
            label, view, n_labels, statistics.mean(total) - n_labels,
            statistics.mean(curve_mean(c) for c in both["chosen"].values()), gap(both, "chosen"),
            statistics.mean(curve_mean(c) for c in one["labels"].values()),
            statistics.mean(curve_mean(c) for c in one["features"].values())), flush=True)


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("program")
    p.add_argument("--data", default=os.environ.get("PARALLAX_DATA", "../shared/data"))
    p.add_argument("--runs", type=int, default=20)
    p.add_argument("--threads", type=int, default=2)
    p.add_argument("--only", action="append", choices=("labels", "colr", "features", "costs"))
    args = p.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        args.folder = folder
        for name, part in (("costs", costs), ("features", features), ("labels", labels), ("colr", colr)):
            if not args.only or name in args.only:
                part(args)
    return 0


if __name__ == "__main__":
    sys.exit(main())
