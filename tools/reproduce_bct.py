#!/usr/bin/env python3
"""bct and gp beside Yu, Krishnapuram, Rosales and Rao (2011): toys of Figure 4, Tables 1 and 2, and data with missing views.

Usage: reproduce_bct.py PARALLAX [--data DIR] [--draws 20] [--only toys|citeseer|webkb|mfeat|errors|breast]...
                        [--threads N] [--picture DIR]

Labels are drawn with Python's generator, seed = number of the draw. AUC counts ties 1/2; F1 counts latent means >= 0 as
positive, which is how the published F1 of the link views can be had (co-trained gp: probability >= 1/2). All scores
are over samples whose label was hidden.
--picture writes the toys as SVG files.
"""
import argparse
import csv
import json
import math
import os
import random
import statistics
import subprocess
import sys
import tempfile

from dumps import read_dump

PUBLISHED = {
    "citeseer": {"text": (.5725, .5770), "inbound": (.5451, .5479), "outbound": (.5550, .5662), "joined": (.5730, .5782),
                 "co-trained gp": (.6459, .6519), "bct": (.6536, .6880)},
    "webkb": {"page": (.5767, .6150), "link": (.5211, .5210), "joined": (.5766, .6150), "co-trained gp": (.5624, .5959),
              "bct": (.5794, .6140)},
}


# What the figures were made with, where it is not today's default.
PINNED = {"bct": ["scale=none", "view_variance=3"], "gp": ["scale=none", "missing=error"]}


def pinned(method, settings):
    given = {s.split("=")[0] for s in settings}
    return [s for s in PINNED.get(method, []) if s.split("=")[0] not in given] + settings


class Bench:
    def __init__(self, program, folder, threads):
        self.program, self.folder, self.threads = program, folder, threads

    def write(self, name, views, truth, labels):
        """A data set directory; views: name -> (kind, file or rows, present flags or None)."""
        path = os.path.join(self.folder, name)
        os.makedirs(path, exist_ok=True)
        manifest = {"parallax": 1, "name": name, "views": [], "labels": "labels.txt", "truth": "truth.txt"}
        for view, (kind, values, present) in views.items():
            entry = {"name": view, "kind": kind}
            if isinstance(values, str):
                entry["file"] = os.path.abspath(values)
            else:
                entry["file"] = view + ".csv"
                with open(os.path.join(path, entry["file"]), "w", encoding="utf-8") as f:
                    f.writelines(",".join(map(repr, row)) + "\n" for row in values)
            if present:
                entry["present"] = view + ".present.txt"
                put(os.path.join(path, entry["present"]), present)
            manifest["views"].append(entry)
        put(os.path.join(path, "truth.txt"), truth)
        put(os.path.join(path, "labels.txt"), labels)
        with open(os.path.join(path, "dataset.json"), "w", encoding="utf-8") as f:
            json.dump(manifest, f)
        return path

    def fit(self, method, data, settings, array="mean"):
        """Metrics, and the first column of an array."""
        result, values = os.path.join(self.folder, "result.json"), os.path.join(self.folder, "array.csv")
        command = [self.program, "fit", method, data, "--quiet", "--json", result, "--dump", array + "=" + values]
        command += ["--threads", str(self.threads)] if self.threads else []
        for s in pinned(method, settings):
            command += ["--set", s]
        subprocess.run(command, check=True)
        with open(result, encoding="utf-8") as f:
            answer = json.load(f)
        return answer["metrics"], [row[0] for row in read_dump(values)]

    def decide(self, method, data, settings):
        """Metrics, and values that are >= 0 where the class "pos" is at least as probable as "neg"."""
        if method != "cotrain":
            return self.fit(method, data, settings)
        metrics, negative = self.fit(method, data, settings, "posterior")
        return metrics, [0.5 - p for p in negative]


def put(path, values):
    with open(path, "w", encoding="utf-8") as f:
        f.writelines("{}\n".format(v) for v in values)


def lines(path):
    with open(path, encoding="utf-8") as f:
        return f.read().split("\n")[:-1]


def f1(truth, labels, mean):
    hit = wrong = missed = 0
    for t, l, m in zip(truth, labels, mean):
        if l != "?":
            continue
        hit += t == "pos" and m >= 0
        wrong += t != "pos" and m >= 0
        missed += t == "pos" and m < 0
    return 2 * hit / (2 * hit + wrong + missed) if hit else 0.0


def spread(values):
    return "{:.3f} ({:.3f})".format(statistics.mean(values), statistics.stdev(values) if len(values) > 1 else 0)


def show(header, rows):
    print("| " + " | ".join(header) + " |\n|" + "---|" * len(header))
    for row in rows:
        print("| " + " | ".join(row) + " |")
    print(flush=True)


# ---- toys ----

def draw_toy(means, per, labelled, seed):
    """Unit Gaussians around the means of (class, x, y): two views of one coordinate each."""
    rng = random.Random(seed)
    points, truth = [], []
    for label, x, y in means:
        for _ in range(per):
            points.append((rng.gauss(x, 1), rng.gauss(y, 1)))
            truth.append(label)
    labels = ["?"] * len(truth)
    for g in range(len(means)):
        for i in rng.sample(range(g * per, (g + 1) * per), labelled):
            labels[i] = truth[i]
    return points, truth, labels


def picture(path, points, truth, labels, title):
    """A scatter plot: colour is the class, rings are labelled points."""
    size, scale = 300, 28
    with open(path, "w", encoding="utf-8") as f:
        f.write('<svg xmlns="http://www.w3.org/2000/svg" width="{0}" height="{1}" font-family="sans-serif" font-size="12">\n'
                '<rect width="{0}" height="{1}" fill="white"/>\n<text x="8" y="16">{2}</text>\n'.format(size, size + 20, title))
        for (x, y), t, l in sorted(zip(points, truth, labels), key=lambda p: p[2] != "?"):
            colour = "#c0392b" if t == "pos" else "#2471a3"
            ring = ' stroke="black" stroke-width="1.5"' if l != "?" else ' fill-opacity="0.55"'
            f.write('<circle cx="{:.1f}" cy="{:.1f}" r="{}" fill="{}"{}/>\n'.format(
                size / 2 + scale * x, 20 + size / 2 - scale * y, 6 if l != "?" else 3, colour, ring))
        f.write("</svg>\n")


def toys(bench, args):
    wide = ["kernel=rbf", "width={!r}".format(1 / math.sqrt(2)), "view_variance=0.1", "amplitude=1"]
    a = [("pos", 2, -2), ("neg", -2, 2)]
    d = [("pos", 2, 0), ("neg", -2, 0)]
    g = [("pos", 2, 2), ("pos", -2, -2), ("neg", 2, -2), ("neg", -2, 2)]
    rows = []
    for name, means, per, labelled, method, settings in (
            ("a", a, 100, 2, "bct", wide), ("d, fixed", d, 100, 10, "bct", wide),
            ("d, learned", d, 100, 10, "bct", wide + ["optimize=view_variance"]),
            ("d, learned from 2 per class", d, 100, 2, "bct", wide + ["optimize=view_variance"]),
            ("g", g, 50, 4, "bct", wide), ("g", g, 50, 4, "gp", ["kernel=rbf", "width=1", "optimize=none"])):
        scores, right = [], 0
        for seed in range(1, 11):
            points, truth, labels = draw_toy(means, per, labelled, seed)
            data = bench.write("toy", {"x": ("real", [(p[0],) for p in points], None),
                                       "y": ("real", [(p[1],) for p in points], None)}, truth, labels)
            metrics, told = bench.fit(method, data, settings, "view_weight" if method == "bct" else "mean")
            scores.append(metrics["accuracy"])
            right += told[0] > told[1]
            if args.picture and seed == 1 and "2 per class" not in name:
                picture(os.path.join(args.picture, "toy_{}.svg".format(name[0])), points, truth, labels, "toy " + name[0])
        rows.append([name, method, "{:.3f}".format(statistics.mean(scores)), "{:.3f}".format(min(scores)),
                     "{:.3f}".format(max(scores)), "{} of 10".format(right) if "learned" in name else ""])
    print("### Toys of Figure 4: accuracy over ten draws\n")
    show(["toy", "method", "mean", "lowest", "highest", "first view weighs more"], rows)


# ---- Tables 1 and 2 ----

def table(bench, args, name, views, truth, sizes, models):
    found = {m: [] for m in models}
    for positive, negative in sizes:
        scores = {m: ([], []) for m in models}
        for seed in range(1, args.draws + 1):
            rng = random.Random(seed)
            labels = ["?"] * len(truth)
            for c, count in (("pos", positive), ("neg", negative)):
                for i in rng.sample([i for i, t in enumerate(truth) if t == c], count):
                    labels[i] = c
            data = bench.write(name, views, truth, labels)
            for m, (method, settings) in models.items():
                metrics, mean = bench.decide(method, data, settings)
                scores[m][0].append(metrics["auc"])
                scores[m][1].append(f1(truth, labels, mean))
        for m in models:
            found[m].append(scores[m])
    header = ["model"]
    for positive, negative in sizes:
        header += ["AUC +{}/-{}".format(positive, negative), "published", "F1"]
    rows = []
    for m in models:
        row = [m]
        for s in range(len(sizes)):
            known = PUBLISHED[name].get(m)
            row += [spread(found[m][s][0]), "{:.3f}".format(known[s]) if known else "", spread(found[m][s][1])]
        rows.append(row)
    show(header, rows)


def citeseer(bench, args):
    folder = os.path.join(args.data, "citeseer")
    classes = lines(os.path.join(folder, "truth.txt"))
    largest = max(sorted(set(classes)), key=classes.count)
    truth = ["pos" if c == largest else "neg" for c in classes]
    files = {"text": "text.mtx", "inbound": "inbound_df2.mtx", "outbound": "outbound_df2.mtx"}
    views = {v: ("binary", os.path.join(folder, f), None) for v, f in files.items()}
    models = {v: ("gp", ["view=" + v, "optimize=none"]) for v in files}
    models["joined"] = ("gp", ["optimize=none"])
    models["co-trained gp"] = ("cotrain", ["base=gp", "rounds=50", "grow=5,1", "pool=0", "zero_rows=present"])
    models["bct"] = ("bct", ["scale=unit", "view_variance=10"])
    models["bct raw"] = ("bct", ["amplitude=1", "view_variance=1", "zero_rows=present"])
    print("### Citeseer, largest class against the rest: mean (deviation) over {} draws\n".format(args.draws))
    table(bench, args, "citeseer", views, truth, [(2, 10), (4, 20)], models)


def webkb(bench, args):
    folder = os.path.join(args.data, "webkb_course")
    classes = lines(os.path.join(folder, "truth.txt"))
    smallest = min(sorted(set(classes)), key=classes.count)
    truth = ["pos" if c == smallest else "neg" for c in classes]
    views = {v: ("counts", os.path.join(folder, v + ".mtx"), None) for v in ("page", "link")}
    models = {v: ("gp", ["view=" + v, "optimize=none"]) for v in ("page", "link")}
    models["joined"] = ("gp", ["optimize=none"])
    models["co-trained gp"] = ("cotrain", ["base=gp", "rounds=50", "grow=1", "pool=0", "zero_rows=present"])
    models["bct"] = ("bct", ["scale=unit", "view_variance=10"])
    print("### WebKB course pages (other data than the published table): mean (deviation) over {} draws\n".format(args.draws))
    table(bench, args, "webkb", views, truth, [(2, 2), (4, 4)], models)


# ---- missing views ----

def missing_views(bench, args, name, per_class, draws, models):
    folder = os.path.join(args.data, name)
    with open(os.path.join(folder, "dataset.json"), encoding="utf-8") as f:
        manifest = json.load(f)
    truth = lines(os.path.join(folder, "truth.txt"))
    rows = {m: [m] for m in models}
    rates = (0, 10, 30, 50)
    for rate in rates:
        scores = {m: [] for m in models}
        for seed in range(1, draws + 1):
            rng = random.Random(seed)
            labels = ["?"] * len(truth)
            for c in sorted(set(truth)):
                for i in rng.sample([i for i, t in enumerate(truth) if t == c], per_class):
                    labels[i] = c
            flags = [[int(rng.random() * 100 >= rate) for _ in truth] for _ in manifest["views"]]
            for i in range(len(truth)):  # nobody loses everything
                if not any(f[i] for f in flags):
                    flags[rng.randrange(len(flags))][i] = 1
            views = {}
            for v, present in zip(manifest["views"], flags):
                if "present" in v:
                    known = lines(os.path.join(folder, v["present"]))
                    present = [p * int(k) for p, k in zip(present, known)]
                views[v["name"]] = (v["kind"], os.path.join(folder, v["file"]), present)
            data = bench.write(name, views, truth, labels)
            for m, (method, settings) in models.items():
                scores[m].append(bench.fit(method, data, settings)[0]["accuracy"])
        for m in models:
            rows[m].append(spread(scores[m]))
    print("### {}: accuracy, {} labels per class, mean (deviation) over {} draws\n".format(name, per_class, draws))
    show(["model"] + ["{} % of the pairs missing".format(r) for r in rates], rows.values())


def errors(bench, args):
    """What bct and single views get wrong on complete mfeat, first draw: 6 and 9 are what rotation makes of each other."""
    folder = os.path.join(args.data, "mfeat")
    with open(os.path.join(folder, "dataset.json"), encoding="utf-8") as f:
        manifest = json.load(f)
    truth = lines(os.path.join(folder, "truth.txt"))
    rng = random.Random(1)
    labels = ["?"] * len(truth)
    for c in sorted(set(truth)):
        for i in rng.sample([i for i, t in enumerate(truth) if t == c], 5):
            labels[i] = c
    views = {v["name"]: (v["kind"], os.path.join(folder, v["file"]), None) for v in manifest["views"]}
    fewer = {v: x for v, x in views.items() if v not in ("mor", "zer")}
    data = {False: bench.write("mfeat", views, truth, labels), True: bench.write("mfeat_fewer", fewer, truth, labels)}
    models = {v: ("gp", ["scale=zscore", "amplitude=auto", "optimize=none", "view=" + v]) for v in ("fou", "zer", "mor")}
    for s in (1, 3, 10, 100):
        models["bct, view variance {}".format(s)] = ("bct", ["scale=zscore", "view_variance={}".format(s)])
        models["bct, view variance {}, without mor and zer".format(s)] = models["bct, view variance {}".format(s)]
    rows = []
    for m, (method, settings) in models.items():
        out, result = os.path.join(bench.folder, "p.csv"), os.path.join(bench.folder, "result.json")
        command = [bench.program, "fit", method, data["without" in m], "--quiet", "--out", out, "--json", result]
        for s in pinned(method, settings):
            command += ["--set", s]
        subprocess.run(command, check=True)
        with open(out, encoding="utf-8") as f:
            wrong = [(t, p["label"]) for t, l, p in zip(truth, labels, csv.DictReader(f)) if l == "?" and p["label"] != t]
        with open(result, encoding="utf-8") as f:
            evidence = json.load(f)["objective"]
        swapped, eights = (sum(e in pairs for e in wrong) for pairs in ((("6", "9"), ("9", "6")), (("6", "8"), ("9", "8"))))
        rows.append([m, str(len(wrong)), str(swapped), str(eights), "{:.1f}".format(evidence)])
    print("### mfeat, complete, first draw: errors\n")
    show(["model", "errors", "6 and 9 for each other", "6 or 9 for 8", "log evidence"], rows)


MODELS = {"gp, column means": ("gp", ["scale=zscore", "kernel=rbf", "missing=mean"]),
          "gp, sum of kernels": ("gp", ["scale=zscore", "kernel=rbf", "combine=sum", "amplitude=auto"]),
          "gp, column means, linear": ("gp", ["scale=zscore", "missing=mean", "amplitude=auto"]),
          "gp, sum of linear kernels": ("gp", ["scale=zscore", "combine=sum", "amplitude=auto"]),
          "gp, sum of linear kernels, fixed": ("gp", ["scale=zscore", "combine=sum", "amplitude=auto", "optimize=none"]),
          "bct, linear, view variance 1": ("bct", ["scale=zscore", "view_variance=1"]),
          "bct, linear, view variance 3": ("bct", ["scale=zscore"]),
          "bct, linear, view variance 10": ("bct", ["scale=zscore", "view_variance=10"]),
          "bct, linear, view variance 100": ("bct", ["scale=zscore", "view_variance=100"]),
          "bct, rbf": ("bct", ["scale=zscore", "kernel=rbf", "amplitude=100", "view_variance=10"])}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parallax")
    parser.add_argument("--data", default=os.environ.get("PARALLAX_DATA", "../shared/data"))
    parser.add_argument("--draws", type=int, default=20)
    parser.add_argument("--only", action="append", choices=["toys", "citeseer", "webkb", "mfeat", "errors", "breast"])
    parser.add_argument("--threads", type=int, default=0)
    parser.add_argument("--picture")
    args = parser.parse_args()
    parts = {"toys": toys, "citeseer": citeseer, "webkb": webkb,
             "mfeat": lambda b, a: missing_views(b, a, "mfeat", 5, min(5, a.draws), MODELS),
             "errors": errors,
             "breast": lambda b, a: missing_views(b, a, "breast_tcga", 10, a.draws, MODELS)}
    with tempfile.TemporaryDirectory() as folder:
        for name, run in parts.items():
            if not args.only or name in args.only:
                run(Bench(os.path.abspath(args.parallax), folder, args.threads), args)
    return 0


if __name__ == "__main__":
    sys.exit(main())
