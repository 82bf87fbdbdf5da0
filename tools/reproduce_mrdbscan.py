#!/usr/bin/env python3
"""mrdbscan on mfeat: adjusted Rand index by the semantics of neighbourhoods, beside single views and HDBSCAN, as Markdown.

Usage: reproduce_mrdbscan.py PARALLAX

Radii are chosen from the data (eps=auto, minpts=4); noise counts as a cluster. HDBSCAN (package hdbscan, with NumPy) runs on
the standardised views side by side, where it is installed.
"""
import csv
import json
import os
import shutil
import subprocess
import sys
import tempfile

PARALLAX = sys.argv[1]
DATA = os.path.join(os.environ["PARALLAX_DATA"], "mfeat")


def fit(data, scratch, *settings):
    out = os.path.join(scratch, "clusters.csv")
    command = [PARALLAX, "fit", "mrdbscan", data, "--quiet", "--json", "-", "--out", out]
    for s in settings:
        command += ["--set", s]
    result = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)
    with open(out, encoding="utf-8") as f:
        labels = [row["label"] for row in csv.DictReader(f)]
    return result["metrics"]["ari"], labels


def row(name, ari, labels):
    noise = sum(x == "noise" for x in labels)
    print(f"| {name} | {ari:.3f} | {len(set(labels) - {'noise'})} | {100 * noise / len(labels):.1f} |", flush=True)


def joined(scratch, views):
    try:
        import hdbscan
        import numpy as np
    except ImportError:
        return None
    parts = [np.loadtxt(os.path.join(DATA, v["file"]), delimiter=",") for v in views]
    scaled = [(x - x.mean(0)) / np.where(x.std(0) > 0, x.std(0), 1) for x in parts]
    found = hdbscan.HDBSCAN(min_cluster_size=20, min_samples=4).fit_predict(np.hstack(scaled))
    labels = ["noise" if c < 0 else f"c{c}" for c in found]
    path = os.path.join(scratch, "hdbscan.txt")
    with open(path, "w", encoding="utf-8") as f:
        f.writelines(x + "\n" for x in labels)
    result = subprocess.run([PARALLAX, "eval", path, DATA, "--clusters", "--quiet", "--json", "-"], check=True,
                            stdout=subprocess.PIPE)
    return json.loads(result.stdout)["ari"], labels


def main():
    with open(os.path.join(DATA, "dataset.json"), encoding="utf-8") as f:
        views = json.load(f)["views"]
    print("| mfeat, 2,000 samples | ARI | clusters | noise, % |\n|---|---|---|---|")
    with tempfile.TemporaryDirectory() as scratch:
        for semantics in ("union", "intersection", "majority"):
            row(semantics, *fit(DATA, scratch, "semantics=" + semantics))
        for view in views:
            alone = os.path.join(scratch, view["name"])
            os.makedirs(alone)
            for name in (view["file"], "truth.txt"):
                shutil.copyfile(os.path.join(DATA, name), os.path.join(alone, name))
            with open(os.path.join(alone, "dataset.json"), "w", encoding="utf-8") as f:
                json.dump({"parallax": 1, "name": "alone", "views": [view], "truth": "truth.txt"}, f)
            row("view " + view["name"], *fit(alone, scratch))
        found = joined(scratch, views)
        if found:
            row("HDBSCAN on the joined views (min_cluster_size 20)", *found)


main()
