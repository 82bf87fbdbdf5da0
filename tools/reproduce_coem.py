#!/usr/bin/env python3
"""coem beside Figures 1 and 2 of Bickel and Scheffer (2005): cluster entropy in bits, mean and standard error over runs.

Usage: reproduce_coem.py PARALLAX [--data DIR] [--runs 20] [--only clusters|views|eta|anneal|splits]... [--smoothing 0.1]

clusters  co-EM, concatenated views and merged views against the number of clusters on citeseer, cora and webkb, each with
          text, inbound and outbound links. Merged: text beside the undirected links (inbound + outbound).
views     every view alone, and the product model, as many clusters as classes.
eta       fixed weights of the consensus, as many clusters as classes.
anneal    eta fixed at 1 against eta annealed to 0, linearly and geometrically.
splits    random splits of the words of six subsets of newsgroups20 (1,000 documents of five groups each, words in at least
          three documents) into one to six views; a new split and a new start in every run.

The figures of the paper are plots, so its statements are what is compared. A run is one random start on the rows as they are
(init=random restarts=1 rows=raw), as in the paper; the seed is its number.
"""
import argparse
import json
import math
import os
import random
import statistics
import subprocess
import sys
import tempfile

PARTS = ("clusters", "views", "eta", "anneal", "splits")
SETS = ("citeseer", "cora", "webkb")
CLUSTERS = (4, 6, 8, 12, 16)
ETAS = (0, 0.25, 0.5, 0.75, 1)
PRESET = ("init=random", "restarts=1", "rows=raw")


def lines(path):
    with open(path, encoding="utf-8") as f:
        return f.read().split("\n")[:-1]


def entries(path):
    """Rows, columns and (row, column, value) from 0 of a Matrix Market file."""
    body = [line.split() for line in lines(path) if line and not line.startswith("%")]
    return int(body[0][0]), int(body[0][1]), [(int(e[0]) - 1, int(e[1]) - 1, float(e[2]) if len(e) > 2 else 1.0) for e in body[1:]]


def write_entries(path, rows, cols, found):
    with open(path, "w", encoding="utf-8") as f:
        f.write("%%MatrixMarket matrix coordinate real general\n{} {} {}\n".format(rows, cols, len(found)))
        f.writelines("{} {} {:g}\n".format(i + 1, j + 1, x) for i, j, x in found)


def write_set(folder, names, truth, kind="counts"):
    with open(os.path.join(folder, "truth.txt"), "w", encoding="utf-8") as f:
        f.write("".join(t + "\n" for t in truth))
    views = [{"name": name, "file": name + ".mtx", "kind": kind} for name in names]
    with open(os.path.join(folder, "dataset.json"), "w", encoding="utf-8") as f:
        json.dump({"parallax": 1, "name": "made", "views": views, "truth": "truth.txt"}, f)


def linked_documents(name, data, scratch):
    """The three views; and the same with both link views over one set of columns, so that they can be added."""
    source = os.path.join(data, name)
    truth = lines(os.path.join(source, "truth.txt"))
    files = {"text": "text", "inbound": "links", "outbound": "outbound"}
    views = {view: entries(os.path.join(source, file + ".mtx")) for view, file in files.items()}
    plain, common = os.path.join(scratch, name), os.path.join(scratch, name + "_common")
    targets = {view: lines(os.path.join(source, files[view] + ".cols.txt")) for view in ("inbound", "outbound")}
    place = {target: j for j, target in enumerate(sorted(set(targets["inbound"]) | set(targets["outbound"])))}
    for folder in (plain, common):
        os.mkdir(folder)
        write_set(folder, list(files), truth)
    for view, (rows, cols, found) in views.items():
        write_entries(os.path.join(plain, view + ".mtx"), rows, cols, found)
        if view in targets:
            cols, found = len(place), [(i, place[targets[view][j]], x) for i, j, x in found]
        write_entries(os.path.join(common, view + ".mtx"), rows, cols, found)
    return plain, common, len(set(truth))


class Runner:
    def __init__(self, parallax, scratch, runs, smoothing):
        self.parallax, self.scratch, self.runs, self.smoothing = parallax, scratch, runs, smoothing

    def entropy(self, folder, clusters, settings, seed):
        out = os.path.join(self.scratch, "result.json")
        command = [self.parallax, "fit", "coem", folder, "--seed", str(seed), "--json", out, "--quiet", "--threads", "1"]
        for setting in ["clusters={}".format(clusters), "smoothing={}".format(self.smoothing), *PRESET, *settings]:
            command += ["--set", setting]
        subprocess.run(command, check=True, stderr=subprocess.DEVNULL)
        with open(out, encoding="utf-8") as f:
            return json.load(f)["metrics"]["cluster_entropy"]

    def several(self, folder, clusters, settings):
        return [self.entropy(folder, clusters, settings, seed) for seed in range(1, self.runs + 1)]


def cell(values):
    error = statistics.stdev(values) / math.sqrt(len(values)) if len(values) > 1 else 0.0
    return "{:.3f} ± {:.3f}".format(statistics.mean(values), error)


def table(title, head, rows):
    print("\n{}\n\n| {} |\n|{}".format(title, " | ".join(head), "---|" * len(head)))
    for row in rows:
        print("| " + " | ".join(row) + " |")
    sys.stdout.flush()


def clusters_tables(run, data):
    rules = {"co-EM": (0, []), "concat": (0, ["mode=concat"]), "merged": (1, ["mode=merged", "merge=text;inbound+outbound"])}
    for name in SETS:
        *folders, _ = linked_documents(name, data, run.scratch)
        rows = []
        for m in CLUSTERS:
            found = {rule: run.several(folders[which], m, settings) for rule, (which, settings) in rules.items()}
            best = min(found, key=lambda rule: statistics.mean(found[rule]))
            rows.append([str(m)] + [cell(values) for values in found.values()] + [best])
        table("{}: entropy against the number of clusters".format(name), ["clusters", *rules, "lowest"], rows)


def eta_table(run, data, what):
    settings = {"eta={:g}".format(eta): ["eta={}".format(eta)] for eta in ETAS}
    titles = {"eta": "fixed eta", "anneal": "eta fixed at 1 against annealed", "views": "every view alone, all together"}
    if what == "views":
        settings = {mode: ["mode=" + mode] for mode in ("single:text", "single:inbound", "single:outbound", "joint", "coem")}
    if what == "anneal":
        settings = {"eta=1": [], "linear": ["anneal=linear"], "geometric": ["anneal=geometric"]}
    rows = []
    for name in SETS:
        folder, _, classes = linked_documents(name, data, run.scratch)
        rows.append([name, str(classes)] + [cell(run.several(folder, classes, s)) for s in settings.values()])
    table(titles[what] + ", as many clusters as classes", ["data", "clusters", *settings], rows)


def newsgroups_subset(data, number):
    """1,000 documents, 200 from each of five groups; the words in at least three of them."""
    draw = random.Random(1000 + number)
    truth = lines(os.path.join(data, "newsgroups20", "truth.txt"))
    groups = draw.sample(sorted(set(truth)), 5)
    chosen = [i for g in groups for i in draw.sample([i for i, t in enumerate(truth) if t == g], 200)]
    place = {i: k for k, i in enumerate(chosen)}
    found = [(place[i], j, x) for i, j, x in newsgroups_subset.all if i in place]
    df = {}
    for _, j, _ in found:
        df[j] = df.get(j, 0) + 1
    words = sorted(j for j, count in df.items() if count >= 3)
    column = {j: k for k, j in enumerate(words)}
    return [(i, column[j], x) for i, j, x in found if j in column], len(words), [truth[i] for i in chosen], groups


def split_run(run, subset, views, seed):
    found, words, truth, _ = subset
    draw = random.Random(7919 * seed + views)
    order = list(range(words))
    draw.shuffle(order)
    sizes = [0] * views
    place = {}
    for k, j in enumerate(order):
        place[j] = (k % views, sizes[k % views])
        sizes[k % views] += 1
    with tempfile.TemporaryDirectory(dir=run.scratch) as folder:
        names = ["v{}".format(v) for v in range(views)]
        write_set(folder, names, truth)
        for v, name in enumerate(names):
            part = [(i, place[j][1], x) for i, j, x in found if place[j][0] == v]
            write_entries(os.path.join(folder, name + ".mtx"), len(truth), sizes[v], part)
        return run.entropy(folder, len(set(truth)), [], seed)


def splits_table(run, data):
    newsgroups_subset.all = entries(os.path.join(data, "newsgroups20", "text.mtx"))[2]
    counts = range(1, 7)
    rows = []
    for number in range(1, 7):
        subset = newsgroups_subset(data, number)
        found = {s: [split_run(run, subset, s, seed) for seed in range(1, run.runs + 1)] for s in counts}
        best = min(found, key=lambda s: statistics.mean(found[s]))
        rows.append(["{}: {}".format(number, ", ".join(subset[3]))] + [cell(found[s]) for s in counts] + [str(best)])
    table("random splits of newsgroups20 subsets into views, five clusters",
          ["subset"] + ["1 view"] + ["{} views".format(s) for s in counts if s > 1] + ["lowest"], rows)


def main():
    here = os.path.dirname(os.path.abspath(__file__))
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("parallax")
    p.add_argument("--data", default=os.environ.get("PARALLAX_DATA", os.path.join(here, "..", "..", "shared", "data")))
    p.add_argument("--runs", type=int, default=20)
    p.add_argument("--only", action="append", choices=PARTS)
    p.add_argument("--smoothing", default="0.1")
    a = p.parse_args()
    if not os.path.isdir(a.data):
        sys.exit("reproduce_coem: there is no directory {}; set PARALLAX_DATA to where the data sets are".format(a.data))
    for part in a.only or PARTS:
        with tempfile.TemporaryDirectory() as scratch:
            run = Runner(os.path.abspath(a.parallax), scratch, a.runs, a.smoothing)
            if part == "clusters":
                clusters_tables(run, a.data)
            elif part == "splits":
                splits_table(run, a.data)
            else:
                eta_table(run, a.data, part)


if __name__ == "__main__":
    main()
