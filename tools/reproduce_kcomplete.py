#!/usr/bin/env python3
"""kcomplete beside Figure 1 of Williams and Carin (2005): AUC with features removed at random; and with whole views removed.

Usage: reproduce_kcomplete.py PARALLAX [--data DIR] [--trials 40] [--fractions 0,0.1,...,0.9] [--view-trials 10] [--views-only] [--features-only]

ionosphere: every entry is removed with the given probability, 25 % of the samples are labelled (again until both classes
are there), the area under the ROC curve is measured on the others. One Gaussian fitted to all rows, width=median, ridge
0.01 for all ways. `none missing` is the same kernel on the complete data.
mfeat: two classes of the digits (DIGITS), 200 samples each, the views of up to 100 features (VIEWS: a covariance of all 649
features from 400 samples would say little and cost much); every view of a sample is removed with the given probability (a
sample always keeps one), 25 % labelled, zscore. Prints Markdown tables and a plot in characters.
"""
import argparse
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile

WAYS = (("completed kernel", ["completion=analytic"]), ("conditional mean", ["completion=conditional_mean"]),
        ("column mean", ["completion=mean"]), ("none missing", ["completion=mean"]))
MARKS = "*co."
DIGITS = ("3", "8")
VIEWS = ("fou", "kar", "mor", "zer")


def lines(path):
    with open(path, encoding="utf-8") as f:
        return f.read().split("\n")[:-1]


def read_rows(path):
    return [line.split(",") for line in lines(path)]


def write_set(folder, views, labels, truth):
    os.makedirs(folder, exist_ok=True)
    manifest = {"parallax": 1, "name": "holes", "labels": "labels.txt", "truth": "truth.txt", "views": []}
    for name, rows in views.items():
        with open(os.path.join(folder, name + ".csv"), "w", encoding="utf-8") as f:
            f.writelines(",".join(row) + "\n" for row in rows)
        manifest["views"].append({"name": name, "file": name + ".csv", "kind": "real"})
    for name, values in (("labels", labels), ("truth", truth)):
        with open(os.path.join(folder, name + ".txt"), "w", encoding="utf-8") as f:
            f.writelines(v + "\n" for v in values)
    with open(os.path.join(folder, "dataset.json"), "w", encoding="utf-8") as f:
        json.dump(manifest, f)


def auc(parallax, folder, settings):
    argv = [parallax, "fit", "kcomplete", folder, "--quiet", "--json", "-"]
    for s in settings if any(s.startswith("scale=") for s in settings) else ["scale=none"] + settings:
        argv += ["--set", s]
    done = subprocess.run(argv, stdout=subprocess.PIPE, stderr=subprocess.PIPE, universal_newlines=True)
    if done.returncode:
        sys.exit("{}\n{}".format(" ".join(argv), done.stderr))
    return json.loads(done.stdout)["metrics"]["auc"]


def draw_labels(truth, numbers):
    while True:
        chosen = set(numbers.sample(range(len(truth)), len(truth) // 4))
        if len({truth[i] for i in chosen}) == 2:
            return [t if i in chosen else "?" for i, t in enumerate(truth)]


def drop_entries(views, fraction, numbers):
    """Every column keeps at least one entry."""
    out = {v: [["nan" if numbers.random() < fraction else x for x in row] for row in rows] for v, rows in views.items()}
    for v, rows in out.items():
        for j in range(len(rows[0])):
            if all(row[j] == "nan" for row in rows):
                rows[0][j] = views[v][0][j]
    return out


def drop_views(views, fraction, numbers):
    names = list(views)
    out = {v: [list(row) for row in rows] for v, rows in views.items()}
    for i in range(len(views[names[0]])):
        gone = [v for v in names if numbers.random() < fraction]
        if len(gone) == len(names):
            gone.remove(numbers.choice(names))
        for v in gone:
            out[v][i] = ["nan"] * len(out[v][i])
    return out


def trial(parallax, views, truth, fraction, drop, extra, seed):
    numbers = random.Random(seed)
    labels = draw_labels(truth, numbers)
    with tempfile.TemporaryDirectory() as scratch:
        holes, whole = os.path.join(scratch, "holes"), os.path.join(scratch, "whole")
        write_set(holes, drop(views, fraction, numbers), labels, truth)
        write_set(whole, views, labels, truth)
        return [auc(parallax, whole if name == "none missing" else holes, settings + extra) for name, settings in WAYS]


def plot(curves, fractions):
    low, high, height = 0.5, 1.0, 20
    grid = [[" "] * (6 * len(fractions)) for _ in range(height + 1)]
    for way, values in enumerate(curves):
        for x, value in enumerate(values):
            y = round((min(max(value, low), high) - low) / (high - low) * height)
            cell = grid[height - y]
            at = 6 * x + 1 + way
            cell[at] = MARKS[way]
    print("\n```text")
    for k, row in enumerate(grid):
        print("{:4.2f} |{}".format(high - k * (high - low) / height, "".join(row).rstrip()))
    print("     +" + "".join("{:<6}".format("-----") for _ in fractions))
    print("      " + "".join("{:<6}".format(f) for f in fractions))
    print("      " + ", ".join("{} {}".format(m, name) for m, (name, _) in zip(MARKS, WAYS)) + "\n```")


def table(parallax, title, views, truth, fractions, drop, extra, trials):
    curves = [[] for _ in WAYS]
    print("\n**{}** (mean AUC ± deviation, {} trials)\n".format(title, trials))
    print("| missing | " + " | ".join(name for name, _ in WAYS) + " | completed − conditional |\n|---" + "|---" * (len(WAYS) + 1) + "|")
    for fraction in fractions:
        found = list(zip(*(trial(parallax, views, truth, fraction, drop, extra, seed) for seed in range(trials))))
        for curve, values in zip(curves, found):
            curve.append(statistics.mean(values))
        gaps = [a - b for a, b in zip(found[0], found[1])]
        error = statistics.stdev(gaps) / len(gaps) ** 0.5 if len(gaps) > 1 else 0.0
        print("| {} | ".format(fraction) + " | ".join("{:.3f} ± {:.3f}".format(statistics.mean(v), statistics.pstdev(v)) for v in found) +
              " | {:+.4f} ± {:.4f} |".format(statistics.mean(gaps), error), flush=True)
    plot(curves, fractions)
    sys.stdout.flush()


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("parallax")
    parser.add_argument("--data", default=os.environ.get("PARALLAX_DATA", "../shared/data"))
    parser.add_argument("--trials", type=int, default=40)
    parser.add_argument("--fractions", default="0,0.1,0.2,0.3,0.4,0.5,0.6,0.7,0.8,0.9")
    parser.add_argument("--view-trials", type=int, default=10)
    parser.add_argument("--view-fractions", default="0.3,0.5,0.7,0.9")
    parser.add_argument("--views-only", action="store_true")
    parser.add_argument("--features-only", action="store_true")
    args = parser.parse_args()
    folder = os.path.join(args.data, "ionosphere")
    if not args.views_only and os.path.isdir(folder):
        truth = lines(os.path.join(folder, "truth.txt"))
        views = {"radar": read_rows(os.path.join(folder, "radar.csv"))}
        table(args.parallax, "ionosphere, features removed", views, truth, [float(f) for f in args.fractions.split(",")], drop_entries, [],
              args.trials)
    folder = os.path.join(args.data, "mfeat")
    if not args.features_only and os.path.isdir(folder):
        with open(os.path.join(folder, "dataset.json"), encoding="utf-8") as f:
            files = {v["name"]: v["file"] for v in json.load(f)["views"] if v["name"] in VIEWS}
        truth = lines(os.path.join(folder, "truth.txt"))
        keep = [i for i, t in enumerate(truth) if t in DIGITS]
        views = {name: [row for i, row in enumerate(read_rows(os.path.join(folder, path))) if truth[i] in DIGITS] for name, path in files.items()}
        table(args.parallax, "mfeat, digits {} and {}, whole views removed".format(*DIGITS), views, [truth[i] for i in keep],
              [float(f) for f in args.view_fractions.split(",")], drop_views, ["scale=zscore"], args.view_trials)


if __name__ == "__main__":
    main()
