#!/usr/bin/env python3
"""Co-regularisation beside Tables 1 and 2 of Sindhwani, Niyogi and Belkin (2005), and the picture of two moons and two lines.

Usage: reproduce_coreg.py PARALLAX [--data DIR] [--runs 100] [--splits 10] [--jobs N] [--only table1,table2,toy] [--rows NAME,...] [--pictures DIR]

Table 1: every run draws 12 of the 1051 WebKB course pages at random, again when a class is missing, and measures the
precision-recall break-even point (PRBEP) of class `course` on the other 1039, by link, by page and by both. Table 2: one
page in four is set aside as a test page and labelled by the rule for new samples; PRBEP on test and on unlabelled pages, for
every gamma_a that was tried. (The data do not tell which university a page is from.)
Prints Markdown; the picture is an SVG file.
"""
import argparse
import collections
import concurrent.futures
import csv
import json
import math
import os
import random
import shutil
import statistics
import subprocess
import sys
import tempfile

from dumps import read_dump

# link, page, page+link
PUBLISHED = {
    "RLS": (72.0, 71.6, 78.3), "SVM": (74.4, 77.8, 84.4), "LapRLS": (80.8, 89.0, 93.1), "LapSVM": (81.9, 89.5, 93.6),
    "Co-trained RLS": (74.8, 80.2, None), "Co-RLS": (80.8, 90.1, None), "Co-LapRLS1": (93.1, 90.8, 90.4), "Co-LapRLS2": (94.4, 92.0, 93.6),
    "Co-trained SVM": (88.3, 88.7, None), "Co-LapSVM1": (93.2, 93.2, 90.8), "Co-LapSVM2": (94.3, 93.3, 94.2)}
TABLE2 = {"Cornell": ((91.6, 90.9), (88.9, 88.8), (88.2, 88.7)), "Texas": ((94.8, 95.5), (91.6, 92.4), (90.9, 93.5)),
          "Washington": ((94.7, 94.9), (94.0, 93.9), (93.7, 92.4)), "Wisconsin": ((92.0, 91.4), (87.6, 86.6), (86.1, 84.5))}
# One setting for page, page+link and the joint methods; the graph of the anchor texts alone wants less smoothing.
GRAPH = ["graph_metric=cosine", "graph_weights=cosine", "graph_k=200", "gamma_a=1e-4", "gamma_i=1"]
# Co-training teaches 1 course page and 3 others per view and round, as Blum and Mitchell (1998) did on these pages.
LINK = ["graph_metric=cosine", "graph_weights=cosine", "graph_k=50", "gamma_a=0.01", "gamma_i=0.01"]


def jobs_of(methods):
    """name -> list of (method, settings, which metric gives which column)."""
    one = {"link": 0, "page": 1, "concat": 2}
    jobs = collections.OrderedDict()
    for name, method in (("RLS", "rls"), ("SVM", "svm")):
        jobs[name] = [(method, ["view=" + v], {"prbep:course": c}) for v, c in one.items()]
    for name, method in (("LapRLS", "laprls"), ("LapSVM", "lapsvm")):
        jobs[name] = [(method, ["view=" + v] + (LINK if v == "link" else GRAPH), {"prbep:course": c}) for v, c in one.items()]
    views = {"prbep:course@link": 0, "prbep:course@page": 1}
    if "cotrain" in methods:
        for name, learner in (("Co-trained RLS", "rls"), ("Co-trained SVM", "svm")):
            jobs[name] = [("cotrain", ["base=" + learner, "grow=1,3"], views)]
    jobs["Co-RLS"] = [("corls", ["orthogonal=1", "gamma=1", "gamma_c=100"], dict(views, **{"prbep:course": 2}))]
    for name, method in (("Co-LapRLS", "colaprls"), ("Co-LapSVM", "colapsvm")):
        both = dict(views, **{"prbep:course": 2})
        jobs[name + "1"] = [(method, GRAPH + ["combine=concat"], both)]
        jobs[name + "2"] = [(method, GRAPH + ["combine=concat", "laplacian_concat=1"], both)]
    return jobs


def draw(truth, count, seed, path):
    numbers = random.Random(seed)
    chosen = numbers.sample(range(len(truth)), count)
    while len({truth[i] for i in chosen}) < 2:
        chosen = numbers.sample(range(len(truth)), count)
    with open(path, "w", encoding="utf-8") as f:
        f.writelines("1\n" if i in set(chosen) else "0\n" for i in range(len(truth)))
    return set(chosen)


def fit(parallax, method, data, settings, extra):
    argv = [parallax, "fit", method, data, "--quiet", "--threads", "1", "--json", "-"] + extra
    plain = [] if method == "cotrain" else ["scale=none", "decision=argmax"]  # the figures are of the data as they are
    for setting in plain + settings:
        argv += ["--set", setting]
    return json.loads(subprocess.run(argv, check=True, stdout=subprocess.PIPE).stdout)


def table1(args, data, truth, methods):
    jobs = {name: parts for name, parts in jobs_of(methods).items() if not args.rows or name in args.rows.split(",")}
    found = {name: [[], [], []] for name in jobs}
    positives = []
    with tempfile.TemporaryDirectory() as scratch, concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        work = []
        for run in range(args.runs):
            path = os.path.join(scratch, "{}.txt".format(run))
            positives.append(sum(truth[i] == "course" for i in draw(truth, 12, run, path)))
            for name, parts in jobs.items():
                for method, settings, columns in parts:
                    work.append((name, columns, pool.submit(fit, args.parallax, method, data, settings, ["--labels", "file:" + path])))
        for name, columns, future in work:
            metrics = future.result()["metrics"]
            for metric, column in columns.items():
                found[name][column].append(100 * metrics[metric])
    print("\n**webkb_course** (12 labels, {} draws; mean PRBEP of `course` in %, published / ours ± deviation / difference)\n".format(args.runs))
    print("| method | link | page | page+link |\n|---|---|---|---|")
    for name, published in PUBLISHED.items():
        if name not in found:
            continue
        cells = []
        for column, known in zip(found[name], published):
            if not column:
                cells.append("-")
                continue
            mean, spread = statistics.mean(column), statistics.stdev(column) if len(column) > 1 else 0.0
            cells.append("{} / **{:.1f} ± {:.1f}** / {}".format("-" if known is None else "{:.1f}".format(known), mean, spread,
                                                             "-" if known is None else "{:+.1f}".format(mean - known)))
        print("| {} | {} |".format(name, " | ".join(cells)), flush=True)
    by_positives({n: f for n, f in found.items() if n.startswith("Co-trained")}, positives)


def by_positives(found, positives):
    """Mean PRBEP on link and page, by how many of the 12 labelled pages are course pages."""
    if not found:
        return
    print("\n| labelled course pages (draws) | {} |\n|---|{}".format(" | ".join(n + ", link / page" for n in found), "---|" * len(found)))
    for title, chosen in (("1", [1]), ("2", [2]), ("3 or more", range(3, 13))):
        runs = [r for r, p in enumerate(positives) if p in chosen]
        cells = [" / ".join("{:.1f}".format(statistics.mean(f[c][r] for r in runs)) if runs else "-" for c in (0, 1)) for f in found.values()]
        print("| {} ({}) | {} |".format(title, len(runs), " | ".join(cells)), flush=True)


# ---- Table 2 ----

def break_even(scores, positive, rows):
    """Precision at the number of positives, ties at the cut in expectation."""
    total = sum(positive[i] for i in rows)
    ranked = sorted((scores[i] for i in rows), reverse=True)
    cut = ranked[total - 1]
    above = [i for i in rows if scores[i] > cut]
    tied = [i for i in rows if scores[i] == cut]
    hits, maybe = sum(positive[i] for i in above), sum(positive[i] for i in tied)
    return 100 * (hits + (total - len(above)) * maybe / len(tied)) / total


def split_run(args, data, truth, seed, gamma, scratch):
    numbers = random.Random(1000 + seed)
    order = list(range(len(truth)))
    numbers.shuffle(order)
    test = set(order[:len(order) // 4])
    rest = order[len(order) // 4:]
    labelled = set(numbers.sample(rest, 12))
    while len({truth[i] for i in labelled}) < 2:
        labelled = set(numbers.sample(rest, 12))
    paths = {name: os.path.join(scratch, "{}.{}.{}".format(seed, gamma, name)) for name in ("labels", "heldout", "concat", "page", "link")}
    for name, chosen in (("labels", labelled), ("heldout", test)):
        with open(paths[name], "w", encoding="utf-8") as f:
            f.writelines("1\n" if i in chosen else "0\n" for i in range(len(truth)))
    extra = ["--labels", "file:" + paths["labels"]]
    for name, array in (("concat", "scores"), ("page", "f_page"), ("link", "f_link")):
        extra += ["--dump", "{}={}".format(array, paths[name])]
    settings = [g for g in GRAPH if not g.startswith("gamma_a")] + ["gamma_a=" + gamma, "combine=concat", "laplacian_concat=1", "heldout=" + os.path.abspath(paths["heldout"])]
    fit(args.parallax, "colapsvm", data, settings, extra)
    column = sorted(set(truth)).index("course")
    positive = [t == "course" for t in truth]
    free = [i for i in range(len(truth)) if i not in test and i not in labelled]
    cells = []
    for name in ("concat", "page", "link"):
        scores = [row[column] for row in read_dump(paths[name])]
        cells.append((break_even(scores, positive, sorted(test)), break_even(scores, positive, free)))
    return cells


def table2(args, data, truth):
    print("\n**Co-LapSVM2, test and unlabelled pages** ({} splits; mean PRBEP in %, test , unlabelled)\n".format(args.splits))
    print("| | page+link | page | link |\n|---|---|---|---|")
    for university, cells in TABLE2.items():
        print("| published, {} | {} |".format(university, " | ".join("{:.1f} , {:.1f}".format(*c) for c in cells)))
    for gamma in ("1e-4", "0.01", "1", "100"):
        with tempfile.TemporaryDirectory() as scratch, concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
            runs = list(pool.map(lambda seed: split_run(args, data, truth, seed, gamma, scratch), range(args.splits)))
        ours = [tuple(statistics.mean(run[c][side] for run in runs) for side in (0, 1)) for c in range(3)]
        print("| ours, a random quarter as test, `gamma_a={}` | {} |".format(gamma, " | ".join("**{:.1f} , {:.1f}**".format(*c) for c in ours)), flush=True)


# ---- the toy ----

def toy_points(count, noise, seed=0):
    """Two moons and two lines as specified; normal noise on the moons."""
    numbers = random.Random(seed)
    moons, lines, truth = [], [], []
    for kind in ("a", "b"):
        for i in range(count):
            t = math.pi * (i + 0.5) / count
            x, y = (math.cos(t), math.sin(t)) if kind == "a" else (1 - math.cos(t), 0.5 - math.sin(t))
            moons.append((x + numbers.gauss(0, noise), y + numbers.gauss(0, noise)) if noise else (x, y))
            p = (7 * i + 3) % count if kind == "a" else (11 * i + 5) % count
            s = -1 + 2 * (p + 0.5) / count
            lines.append((s, s + 0.5) if kind == "a" else (s, s - 0.5))
            truth.append(kind)
    return moons, lines, truth


def write_data(folder, moons, lines, truth, labelled):
    os.makedirs(folder, exist_ok=True)
    views = [{"name": n, "file": n + ".csv", "kind": "real"} for n in ("moons", "lines")]
    with open(os.path.join(folder, "dataset.json"), "w", encoding="utf-8") as f:
        json.dump({"parallax": 1, "name": "toy", "views": views, "labels": "labels.txt", "truth": "truth.txt"}, f)
    for name, rows in (("moons", moons), ("lines", lines)):
        with open(os.path.join(folder, name + ".csv"), "w", encoding="utf-8") as f:
            f.writelines("{!r},{!r}\n".format(*row) for row in rows)
    with open(os.path.join(folder, "truth.txt"), "w", encoding="utf-8") as f:
        f.writelines(t + "\n" for t in truth)
    with open(os.path.join(folder, "labels.txt"), "w", encoding="utf-8") as f:
        f.writelines((t if i in labelled else "?") + "\n" for i, t in enumerate(truth))


def grid_of(points, steps):
    low = [min(p[d] for p in points) - 0.3 for d in (0, 1)]
    high = [max(p[d] for p in points) + 0.3 for d in (0, 1)]
    return [(low[0] + (high[0] - low[0]) * (i + 0.5) / steps, low[1] + (high[1] - low[1]) * (j + 0.5) / steps)
            for j in range(steps) for i in range(steps)], low, high


def panel(at, points, truth, labelled, cells, low, high, steps, title):
    """SVG of one view: the class of every cell of a grid, the samples, the labelled ones ringed."""
    size = 220.0

    def place(p):
        return (at[0] + size * (p[0] - low[0]) / (high[0] - low[0]), at[1] + size * (high[1] - p[1]) / (high[1] - low[1]))
    out = ['<text x="{:.1f}" y="{:.1f}" font-size="12">{}</text>'.format(at[0], at[1] - 6, title)]
    side = size / steps
    for number, label in enumerate(cells):
        i, j = number % steps, number // steps
        out.append('<rect x="{:.2f}" y="{:.2f}" width="{:.2f}" height="{:.2f}" fill="{}"/>'.format(
            at[0] + i * side, at[1] + size - (j + 1) * side, side + 0.05, side + 0.05, "#cfe3ff" if label == "a" else "#ffdccc"))
    for i, p in enumerate(points):
        x, y = place(p)
        out.append('<circle cx="{:.1f}" cy="{:.1f}" r="3" fill="{}"/>'.format(x, y, "#1f5fbf" if truth[i] == "a" else "#d1491a"))
        if i in labelled:
            out.append('<circle cx="{:.1f}" cy="{:.1f}" r="8" fill="none" stroke="black" stroke-width="2"/>'.format(x, y))
    return out


def regions(args, folder, scratch, method, settings, view, grid):
    """Fits, and labels the grid with only this view given; also the accuracy of the fit."""
    model, where = os.path.join(scratch, "m.plx"), os.path.join(scratch, "grid")
    result = fit(args.parallax, method, folder, settings, ["--model", model])
    shutil.rmtree(where, ignore_errors=True)
    os.makedirs(where)
    with open(os.path.join(where, view + ".csv"), "w", encoding="utf-8") as f:
        f.writelines("{!r},{!r}\n".format(*p) for p in grid)
    with open(os.path.join(where, "dataset.json"), "w", encoding="utf-8") as f:
        json.dump({"parallax": 1, "name": "grid", "views": [{"name": view, "file": view + ".csv", "kind": "real"}]}, f)
    out = os.path.join(scratch, "grid.csv")
    subprocess.run([args.parallax, "predict", model, where, "--quiet", "--out", out], check=True)
    with open(out, encoding="utf-8") as f:
        return [row["label"] for row in csv.DictReader(f)], result["metrics"]


def toy(args):
    kernels = ["kernel.moons=rbf", "width.moons=0.5", "kernel.lines=linear"]
    graph = ["graph_k=6", "gamma_a=0.01", "gamma_i=1"]
    stories = (
        ("corls", 0.0, [("RLS", "rls", {"moons": ["view=moons", "kernel=rbf", "width=0.5", "bias=0"], "lines": ["view=lines", "bias=0"]}),
                        ("Co-RLS", "corls", {v: kernels + ["gamma=0.01", "gamma_c=1"] for v in ("moons", "lines")})]),
        ("colapsvm", 0.3, [("LapSVM", "lapsvm", {"moons": ["view=moons", "kernel=rbf", "width=0.5"] + graph, "lines": ["view=lines"] + graph}),
                           ("Co-LapSVM", "colapsvm", {v: kernels + graph for v in ("moons", "lines")})]))
    os.makedirs(args.pictures, exist_ok=True)
    print("\n**Two moons, two lines** (20 samples per class, one label each; accuracy on the others)\n")
    print("| noise on the moons | method | moons | lines | both |\n|---|---|---|---|---|")
    for name, noise, rows in stories:
        moons, lines, truth = toy_points(20, noise)
        labelled = {6, 20 + 10}
        svg, steps = [], 44
        with tempfile.TemporaryDirectory() as scratch:
            folder = os.path.join(scratch, "toy")
            write_data(folder, moons, lines, truth, labelled)
            for r, (title, method, settings) in enumerate(rows):
                accuracy, both = [], "-"
                for c, (view, points) in enumerate((("moons", moons), ("lines", lines))):
                    grid, low, high = grid_of(points, steps)
                    cells, metrics = regions(args, folder, scratch, method, settings[view], view, grid)
                    svg += panel((20 + 250 * c, 30 + 260 * r), points, truth, labelled, cells, low, high, steps, "{}, {}".format(title, view))
                    own = metrics.get("view_accuracy:" + view, metrics["accuracy"])
                    both = "{:.2f}".format(metrics["accuracy"]) if "view_accuracy:" + view in metrics else "-"
                    accuracy.append("{:.2f}".format(own))
                print("| {} | {} | {} | {} | {} |".format(noise, title, accuracy[0], accuracy[1], both), flush=True)
        path = os.path.join(args.pictures, "toy_{}.svg".format(name))
        with open(path, "w", encoding="utf-8") as f:
            f.write('<svg xmlns="http://www.w3.org/2000/svg" width="520" height="540" font-family="sans-serif">\n' + "\n".join(svg) + "\n</svg>\n")
        print("picture: " + path, file=sys.stderr)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("parallax")
    parser.add_argument("--data", default=os.environ.get("PARALLAX_DATA", "../shared/data"))
    parser.add_argument("--runs", type=int, default=100)
    parser.add_argument("--splits", type=int, default=10)
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--rows", default="", help="rows of Table 1, by name, separated by commas; default: all")
    parser.add_argument("--only", default="table1,table2,toy")
    parser.add_argument("--pictures", default="build/pictures")
    args = parser.parse_args()
    parts = args.only.split(",")
    data = os.path.join(args.data, "webkb_course")
    if not os.path.isdir(data):
        print("reproduce_coreg: webkb_course is not in {}; skipped".format(args.data), file=sys.stderr)
        parts = [p for p in parts if p == "toy"]
    if "toy" in parts:
        toy(args)
    if {"table1", "table2"} & set(parts):
        listed = subprocess.run([args.parallax, "methods", "--json"], stdout=subprocess.PIPE, check=True).stdout
        methods = {m["name"] for m in json.loads(listed)}
        with open(os.path.join(data, "truth.txt"), encoding="utf-8") as f:
            truth = f.read().split("\n")[:-1]
        if "table1" in parts:
            table1(args, data, truth, methods)
        if "table2" in parts:
            table2(args, data, truth)


if __name__ == "__main__":
    main()
