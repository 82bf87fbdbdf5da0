#!/usr/bin/env python3
"""infobottleneck beside k-means, on complete data and with 30 % of the views missing: normalised mutual information.

Usage: reproduce_infobottleneck.py PARALLAX [--data DIR] [--seed 1] [--only NAME]...

The number of clusters is the number of classes; all else is at its default. A share of the views is removed by
`parallax data drop` (every sample keeps one). k-means is scikit-learn's with ten starts on all views side by side, once on
standardised columns and once (where a view is sparse) on tf-idf rows of unit length, missing views at the mean of what is
there. Prints Markdown; the last row are means.
"""
import argparse
import json
import os
import subprocess
import sys
import tempfile

try:
    import numpy
    from scipy.io import mmread
    from sklearn.cluster import KMeans
    from sklearn.feature_extraction.text import TfidfTransformer
    from sklearn.metrics import normalized_mutual_info_score
except ImportError:
    sys.exit("reproduce: infobottleneck is compared with scikit-learn, which this Python does not have")

SETS = ["mfeat", "newsgv2", "newsgv4", "wine", "breast_cancer_wisconsin", "breast_tcga", "webkb", "webkb_course", "cora",
        "citeseer", "ionosphere", "protein_fold27", "webkb_cornell", "webkb_washington"]


def lines(path):
    with open(path, encoding="utf-8") as f:
        return f.read().split("\n")[:-1]


def read_views(folder):
    """(matrix, flags of presence, sparse?) of every view, and the classes."""
    with open(os.path.join(folder, "dataset.json"), encoding="utf-8") as f:
        about = json.load(f)
    views = []
    for view in about["views"]:
        path = os.path.join(folder, view["file"])
        sparse = path.endswith(".mtx")
        x = numpy.asarray(mmread(path).todense(), float) if sparse else numpy.loadtxt(path, delimiter=",", ndmin=2)
        present = numpy.ones(len(x), bool)
        if view.get("present"):
            present = numpy.loadtxt(os.path.join(folder, view["present"])) > 0
        views.append((x, present & ~numpy.isnan(x).all(axis=1), sparse))
    return views, numpy.array(lines(os.path.join(folder, about["truth"])))


def prepared(x, present, words):
    """Standardised columns, or tf-idf of unit length; rows that are missing are at the mean of the others."""
    out = numpy.zeros_like(x)
    if words:
        out[present] = TfidfTransformer().fit_transform(numpy.abs(x[present])).toarray()
        out[~present] = out[present].mean(axis=0)
        return out
    deviation = x[present].std(axis=0)
    out[present] = (x[present] - x[present].mean(axis=0)) / numpy.where(deviation > 0, deviation, 1)
    return out


def k_means(folder, words, seed):
    views, truth = read_views(folder)
    x = numpy.hstack([prepared(m, present, words and sparse) for m, present, sparse in views])
    found = KMeans(len(set(truth)), n_init=10, random_state=seed).fit_predict(x)
    return normalized_mutual_info_score(truth, found), any(sparse for _, _, sparse in views)


def ours(parallax, folder, clusters, seed):
    done = subprocess.run([parallax, "fit", "infobottleneck", folder, "--set", f"clusters={clusters}", "--seed", str(seed),
                           "--quiet", "--json", "-"], check=True, capture_output=True, text=True)
    return json.loads(done.stdout)["metrics"]["nmi"]


def row(parallax, folder, seed):
    """Ours, k-means of standardised columns, k-means with tf-idf (the same where nothing is sparse)."""
    clusters = len(set(read_views(folder)[1]))
    plain, sparse = k_means(folder, False, seed)
    return [ours(parallax, folder, clusters, seed), plain, k_means(folder, True, seed)[0] if sparse else plain]


def main():
    here = os.path.dirname(os.path.abspath(__file__))
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("parallax")
    p.add_argument("--data", default=os.environ.get("PARALLAX_DATA", os.path.join(here, "..", "..", "shared", "data")))
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--only", action="append", default=[])
    options = p.parse_args()
    print("| data | ours | k-means | k-means, tf-idf | ours, 30 % missing | k-means | k-means, tf-idf |\n|" + "---|" * 7)
    table = []
    with tempfile.TemporaryDirectory() as scratch:
        for name in options.only or SETS:
            source, holes = os.path.join(options.data, name), os.path.join(scratch, name)
            subprocess.run([options.parallax, "data", "drop", source, holes, "--rate", "0.3", "--seed", str(options.seed),
                            "--quiet"], check=True)
            table.append(row(options.parallax, source, options.seed) + row(options.parallax, holes, options.seed))
            print(f"| `{name}` | " + " | ".join(f"{x:.3f}" for x in table[-1]) + " |", flush=True)
    print("| mean | " + " | ".join(f"{x:.3f}" for x in numpy.mean(table, axis=0)) + " |")
    return 0


if __name__ == "__main__":
    sys.exit(main())
