#!/usr/bin/env python3
"""localmodels beside Table 2 of Rueping (2005), and the influence of its parameters as in Table 1.

Usage: reproduce_localmodels.py PARALLAX [--data DIR] [--seed 1] [--reg 10] [--beta 10] [--only NAME]...

Five folds, balanced by class. In each the other four train the global model (a tenth of the features, as in the paper), the
local model on all features, and the pattern by classification (SVM), bottleneck (IB) and conditional bottleneck (CIB); the
held-out fifth is predicted as new samples are. Beside the accuracies stands how often the combined and the global model
differ, which tau bounds on the training data only. Three of the paper's sets are the same (balance is made by its rule);
the digits are two of mfeat's (kar, 64 features), the others are not the paper's. beta is not published. A third table lets
the region grow beyond the paper's tau, with a tenth of the features for the pattern too. Prints Markdown.
"""
import argparse
import itertools
import json
import math
import os
import random
import subprocess
import sys
import tempfile

from dumps import read_dump

# name: directory, view, classes (None: all), published global / local / combined by SVM, IB, CIB
SETS = {
    "balance": (None, "scale", None, (.644, .940, .727, .909, .788)),
    "breast": ("breast_cancer_wisconsin", "cytology", None, (.907, .969, .931, .956, .951)),
    "wine": ("wine", "chem", None, (.927, .971, .927, .943, .932)),
    "digits 3/8": ("mfeat", "kar", ("3", "8"), (.993, .996, .994, .993, .994)),
    "ionosphere": ("ionosphere", "radar", None, None),
    "tcga mrna": ("breast_tcga", "mrna", None, None),
}
PATTERNS = ("classification", "ib", "cib")


def lines(path):
    with open(path, encoding="utf-8") as f:
        return f.read().split("\n")[:-1]


def balance():
    """Labels and rows of the balance scale: all weights and distances from 1 to 5 on both sides, without the 49 in balance."""
    labels, rows = [], []
    for scale in itertools.product(range(1, 6), repeat=4):
        left, right = scale[0] * scale[1], scale[2] * scale[3]
        if left != right:
            labels.append("L" if left > right else "R")
            rows.append(",".join(map(str, scale)))
    return labels, rows


def read_view(data, name):
    """Labels and rows of the one view that is used."""
    directory, view, classes, _ = SETS[name]
    if directory is None:
        return balance()
    source = os.path.join(data, directory)
    with open(os.path.join(source, "dataset.json"), encoding="utf-8") as f:
        about = json.load(f)
    entry = next(v for v in about["views"] if v["name"] == view)
    truth, rows = lines(os.path.join(source, about["truth"])), lines(os.path.join(source, entry["file"]))
    keep = [i for i, t in enumerate(truth) if classes is None or t in classes]
    return [truth[i] for i in keep], [rows[i] for i in keep]


def prepare(data, name, seed, scratch):
    """One view of a data set with all labels, and a file of held-out samples per fold. Returns folder, labels, folds, columns."""
    labels, rows = read_view(data, name)
    target = os.path.join(scratch, name.replace(" ", "_").replace("/", "_"))
    os.mkdir(target)
    with open(os.path.join(target, "view.csv"), "w", encoding="utf-8") as f:
        f.writelines(row + "\n" for row in rows)
    with open(os.path.join(target, "labels.txt"), "w", encoding="utf-8") as f:
        f.writelines(t + "\n" for t in labels)
    with open(os.path.join(target, "dataset.json"), "w", encoding="utf-8") as f:
        json.dump({"parallax": 1, "name": "r", "labels": "labels.txt",
                   "views": [{"name": SETS[name][1], "file": "view.csv", "kind": "real"}]}, f)
    draw, fold = random.Random(seed), [0] * len(labels)
    for c in sorted(set(labels)):
        members = [i for i, t in enumerate(labels) if t == c]
        draw.shuffle(members)
        for k, i in enumerate(members):
            fold[i] = k % 5
    for k in range(5):
        with open(os.path.join(target, "fold{}.txt".format(k)), "w", encoding="utf-8") as f:
            f.writelines("{}\n".format(int(x == k)) for x in fold)
    return target, labels, fold, len(rows[0].split(","))


def measure(parallax, prepared, settings):
    """Accuracy of the global, local and combined model on held-out samples, how often the last differs from the first
    there and, at most over the folds, on the training data, and the share of the held-out samples in the region."""
    target, labels, fold, _ = prepared
    classes = {c: k for k, c in enumerate(sorted(set(labels)))}
    right, differ, bound, inside = [0, 0, 0], 0, 0.0, 0.0
    for k in range(5):
        out, rates, region = (os.path.join(target, x) for x in ("p.csv", "rates.csv", "inside.csv"))
        command = [parallax, "fit", "localmodels", target, "--quiet", "--dump", "predictions=" + out, "--dump",
                   "rates=" + rates, "--dump", "inside=" + region, "--set", "heldout=fold{}.txt".format(k)]
        for s in settings:
            command += ["--set", s]
        subprocess.run(command, check=True)
        said = read_dump(out)
        bound = max(bound, read_dump(rates)[0][3])
        inside += sum(row[0] for i, row in enumerate(read_dump(region)) if fold[i] == k)
        for i, row in enumerate(said):
            if fold[i] != k:
                continue
            for m in range(3):
                right[m] += row[m] == classes[labels[i]]
            differ += row[2] != row[0]
    n = len(labels)
    return [x / n for x in right], differ / n, bound, inside / n


def tenth(columns):
    return max(1, math.ceil(0.1 * columns - 1e-9))


def table_two(parallax, sets, common):
    print("| data | features | | global | local | SVM | IB | CIB | differ SVM/IB/CIB |\n|---|---|---|---|---|---|---|---|---|")
    for name, prepared in sets.items():
        cols, published = prepared[3], SETS[name][3]
        kept = tenth(cols)
        base = ["global_features={}".format(kept)] + common
        results = [measure(parallax, prepared, base + ["pattern=" + p]) for p in PATTERNS]
        ours = results[0][0][:2] + [r[0][2] for r in results]
        if published:
            print("| {} | {} of {} | paper | {} | |".format(name, kept, cols, " | ".join("%.3f" % x for x in published)))
        print("| {} | {} of {} | ours | {} | {} |".format(name, kept, cols, " | ".join("%.3f" % x for x in ours),
                                                      " ".join("%.3f" % r[1] for r in results)), flush=True)
        assert all(r[2] <= 0.05 + 1e-9 for r in results), "more than tau of the training data differ"


def table_one(parallax, prepared, common):
    print("\nInfluence of tau and of the pattern's features (CIB):\n")
    print("| tau | pattern features | global | local | combined | differ | differ at most in training |\n"
          "|---|---|---|---|---|---|---|")
    for tau, features in ((.025, 10), (.05, 10), (.1, 10), (.2, 10), (.4, 10), (.2, 2), (.2, 5), (.2, 20)):
        right, differ, bound, _ = measure(parallax, prepared, [
            "global_features={}".format(tenth(prepared[3])), "tau={}".format(tau), "pattern_features={}".format(features)] + common)
        assert bound <= tau + 1e-9
        print("| {} | {} | {} | {:.3f} | {:.3f} |".format(tau, features, " | ".join("%.3f" % x for x in right), differ, bound),
              flush=True)


def table_three(parallax, sets, common):
    """The paper says neither tau nor the pattern's features for its Table 2, and that samples with equal scores may take a
    region beyond tau: here tau itself is larger."""
    print("\nThe size of the region, a tenth of the features for global model and pattern:\n")
    print("| data | tau | IB | inside | differ | CIB | inside | differ |\n|---|---|---|---|---|---|---|---|")
    for name in [n for n in ("balance", "breast", "wine") if n in sets]:
        kept = tenth(sets[name][3])
        for tau in (.05, .15, .3, .5, 1):
            cells = []
            for pattern in ("ib", "cib"):
                right, differ, _, inside = measure(parallax, sets[name], [
                    "global_features={}".format(kept), "pattern_features={}".format(kept), "tau={}".format(tau),
                    "pattern=" + pattern] + common)
                cells += [right[2], inside, differ]
            print("| {} | {} | {} |".format(name, tau, " | ".join("%.3f" % x for x in cells)), flush=True)
        if SETS[name][3]:
            print("| {} | paper | {:.3f} | | | {:.3f} | | |".format(name, *SETS[name][3][3:]), flush=True)


def main():
    here = os.path.dirname(os.path.abspath(__file__))
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("parallax")
    p.add_argument("--data", default=os.environ.get("PARALLAX_DATA", os.path.join(here, "..", "..", "shared", "data")))
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--reg", type=float, default=10)
    p.add_argument("--beta", type=float, default=10)
    p.add_argument("--only", action="append", default=[])
    options = p.parse_args()
    names = options.only or list(SETS)
    missing = [SETS[n][0] for n in names if SETS[n][0] and not os.path.isdir(os.path.join(options.data, SETS[n][0]))]
    if missing:
        sys.exit("reproduce: {} is not in {}".format(", ".join(missing), options.data))
    with tempfile.TemporaryDirectory() as scratch:
        sets = {n: prepare(options.data, n, options.seed, scratch) for n in names}
        common = ["reg={}".format(options.reg), "beta={}".format(options.beta)]
        table_two(options.parallax, sets, common)
        for name in ("breast", "ionosphere", "digits 3/8"):
            if name in sets:
                print("\n{}:".format(name), end="")
                table_one(options.parallax, sets[name], common)
        table_three(options.parallax, sets, common)


if __name__ == "__main__":
    main()
