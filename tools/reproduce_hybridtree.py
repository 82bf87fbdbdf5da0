#!/usr/bin/env python3
"""hybridtree: how good the splits of hybrid trees are beside those of single views, as Figure 6 of Gupta and Dasgupta (2005).

Usage: reproduce_hybridtree.py PARALLAX [PICTURE.svg]

Inverse goodness of a split: cost after it over cost before it, in the view that made it; smaller is better. Nodes of two
samples, where it is always 0, do not count. The TIMIT phonemes of the paper are not at hand; in their place 39 synthetic
ones: 39 columns of sounds around seven manners of speaking (Euclidean), and the distribution of the next sound over 39
(Kullback-Leibler), which groups them otherwise. And the six views of mfeat.
"""
import csv
import json
import os
import random
import subprocess
import sys
import tempfile

PARALLAX = sys.argv[1]
DATA = os.environ["PARALLAX_DATA"]
BINS = 5


def read(path):
    with open(path, encoding="utf-8") as f:
        rows = list(csv.reader(f))
    named = int(bool(rows) and rows[0][0] == "id")  # names stand around arrays of data with ids
    return [[float(x) for x in row[named:]] for row in rows[named:]]


def make_phonemes(folder):
    names = "aa ae ah aw ay b ch d dh eh er ey f g hh ih iy jh k l m n ng ow oy p r s sh sil t th uh uw v w y z zh".split()
    rng = random.Random(2005)
    manner = [rng.randrange(7) for _ in names]
    place = [rng.randrange(5) for _ in names]
    centre = [[rng.gauss(0, 1) for _ in range(39)] for _ in range(7)]
    habit = [[rng.gammavariate(0.3, 1) + 1e-3 for _ in range(39)] for _ in range(5)]
    sounds = [[c + rng.gauss(0, 0.5) for c in centre[m]] for m in manner]
    following = []
    for p in place:
        row = [rng.gammavariate(20 * h, 1) + 1e-6 for h in habit[p]]
        following.append([x / sum(row) for x in row])
    os.makedirs(folder)
    for name, rows in (("sound", sounds), ("next", following)):
        with open(os.path.join(folder, name + ".csv"), "w", encoding="utf-8") as f:
            f.writelines(",".join(map(repr, row)) + "\n" for row in rows)
    with open(os.path.join(folder, "ids.txt"), "w", encoding="utf-8") as f:
        f.writelines(n + "\n" for n in names)
    with open(os.path.join(folder, "dataset.json"), "w", encoding="utf-8") as f:
        json.dump({"parallax": 1, "name": "phonemes", "ids": "ids.txt",
                   "views": [{"name": "sound", "file": "sound.csv", "kind": "real"},
                             {"name": "next", "file": "next.csv", "kind": "probability"}]}, f)


def fit(data, scratch, *settings, extra=()):
    dump = ["--dump", "linkage=" + os.path.join(scratch, "linkage.csv")]
    command = [PARALLAX, "fit", "hybridtree", data, "--quiet", *dump, *extra]
    for s in settings:
        command += ["--set", s]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return read(os.path.join(scratch, "linkage.csv"))


def single_splits(linkage):
    """A group costs the sum of the merges below it."""
    n, cost, found = len(linkage) + 1, {}, []
    for r, (a, b, height, size) in enumerate(linkage):
        parts = cost.get(int(a), 0) + cost.get(int(b), 0)
        cost[n + r] = parts + height
        if size > 2 and cost[n + r] > 0:
            found.append(parts / cost[n + r])
    return found


def hybrid_splits(data, scratch, *settings, extra=()):
    path = os.path.join(scratch, "goodness.csv")
    linkage = fit(data, scratch, "mode=hybrid", *settings, extra=("--dump", "goodness=" + path, *extra))
    return [1 / g[0] for g, row in zip(read(path), linkage) if row[3] > 2]


def histogram(values):
    count = [0] * BINS
    for v in values:
        count[min(int(v * BINS), BINS - 1)] += 1
    return " | ".join(f"{100 * c / len(values):.0f}" for c in count)


def report(title, data, scratch, views, extra=()):
    edges = " | ".join(f"{i / BINS:.1f} to {(i + 1) / BINS:.1f}" for i in range(BINS))
    print(f"\n## {title}\n\n| tree | splits | mean | {edges} |\n|{'---|' * (BINS + 3)}")
    trees = [("hybrid", hybrid_splits(data, scratch, extra=extra))]
    trees += [(f"single:{v}", single_splits(fit(data, scratch, "mode=single:" + v))) for v in views]
    for name, values in trees:
        print(f"| {name} | {len(values)} | {sum(values) / len(values):.3f} | {histogram(values)} |")


def main():
    with tempfile.TemporaryDirectory() as scratch:
        phonemes, model = os.path.join(scratch, "phonemes"), os.path.join(scratch, "m.plx")
        make_phonemes(phonemes)
        report("39 synthetic phonemes: share of splits in %, by inverse goodness", phonemes, scratch, ["sound", "next"],
               extra=("--model", model))
        if len(sys.argv) > 2:
            subprocess.run([PARALLAX, "tree", model, "--svg", "--out", sys.argv[2], "--quiet"], check=True)
        views = ["fou", "fac", "kar", "pix", "zer", "mor"]
        mfeat = os.path.join(DATA, "mfeat")
        report("mfeat: share of splits in %, by inverse goodness", mfeat, scratch, views)
        print("\n| tree of mfeat, 10 clusters | NMI | ARI |\n|---|---|---|")
        for mode in ["linear", "hybrid"] + ["single:" + v for v in views]:
            result = json.loads(subprocess.run([PARALLAX, "fit", "hybridtree", mfeat, "--set", "mode=" + mode, "--set",
                                                "clusters=10", "--quiet", "--json", "-"], check=True,
                                               stdout=subprocess.PIPE).stdout)["metrics"]
            print(f"| {mode} | {result['nmi']:.3f} | {result['ari']:.3f} |")


main()
