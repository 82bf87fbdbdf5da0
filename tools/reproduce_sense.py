#!/usr/bin/env python3
"""Active sensing beside Figure 5 of Yu, Krishnapuram, Rosales and Rao (2011), and on breast_tcga with proteins hidden.

Usage: reproduce_sense.py PARALLAX [--data DIR] [--runs 20] [--only toy|breast]... [--threads 1] [--picture DIR]

Every run draws its own samples (toys), labels and hidden views, the same for the three strategies: mutual information (mi),
posterior variance (var) and chance (random). A curve is the AUC on the samples whose label was hidden, after every
acquisition; a table row is its mean over all acquisitions, and the difference to random with the standard error over the runs.
--picture writes learning curves as sense.svg.
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

CRITERIA = ("mi", "var", "random")
TOY_STEPS, BREAST_STEPS = 24, 30


class Bench:
    def __init__(self, program, folder, threads):
        self.program, self.folder, self.threads = program, folder, threads

    def write(self, name, views, truth, hidden, labelled):
        """A complete data set, with the pairs to be hidden and the labels to be seen as files beside it."""
        path = os.path.join(self.folder, name)
        os.makedirs(path, exist_ok=True)
        put(os.path.join(path, "truth.txt"), truth)
        for view, values in views.items():
            put(os.path.join(path, view + ".csv"), map(repr, values))
        put(os.path.join(path, "labelled.txt"), [int(i < labelled) for i in range(len(truth))])
        put(os.path.join(path, "hide.csv"), ["id,view"] + ["{},{}".format(i, v) for i, v in hidden])
        manifest = {"parallax": 1, "name": name, "truth": "truth.txt",
                    "views": [{"name": v, "kind": "real", "file": v + ".csv"} for v in views]}
        with open(os.path.join(path, "dataset.json"), "w", encoding="utf-8") as f:
            json.dump(manifest, f)
        return path

    def curves(self, data, settings, options):
        """criterion -> run -> list of AUC after 0, 1, ... acquisitions."""
        out = os.path.join(self.folder, "curves.csv")
        command = [self.program, "acquire", "features", data, "--with", "bct", "--quiet", "--out", out,
                   "--threads", str(self.threads), "--criteria", ",".join(CRITERIA)] + options
        for s in settings if any(s.startswith("scale=") for s in settings) else ["scale=none"] + settings:
            command += ["--set", s]
        subprocess.run(command, check=True)
        found = {}
        with open(out, encoding="utf-8") as f:
            for row in csv.DictReader(f):
                found.setdefault(row["criterion"], {}).setdefault(int(row["run"]), []).append(float(row["auc"]))
        return found


def put(path, values):
    with open(path, "w", encoding="utf-8") as f:
        f.writelines("{}\n".format(v) for v in values)


# ---- toys ----

def make_toy(seed, n, gap, share, exclusive, labelled):
    """Two unit-variance normals with means (gap, -gap) and (-gap, gap), one coordinate per view; the first `labelled` samples
    are labelled. Exclusive: a sample loses either coordinate with probability `share`, never both; otherwise each on its own,
    and only labelled samples keep one."""
    rng = random.Random(seed)
    truth, one, two, hidden = [], [], [], []
    for i in range(n):
        side = 1 if i % 2 else -1
        truth.append("pos" if side > 0 else "neg")
        one.append(rng.gauss(gap * side, 1))
        two.append(rng.gauss(-gap * side, 1))
        u, w = rng.random(), rng.random()
        if exclusive:
            hidden += [(i, "one")] if u < share else [(i, "two")] if u < 2 * share else []
        else:
            hidden += [(i, "one")] if u < share else []
            hidden += [(i, "two")] if w < share and not (i < labelled and u < share) else []
    return {"one": one, "two": two}, truth, hidden, labelled


TOYS = [  # name, samples, gap, labels per class, view variance, share hidden, one coordinate at most
    ("figure 5", 40, 2, 2, .01, .4, True), ("figure 5", 40, 2, 2, .1, .4, True), ("figure 5", 40, 2, 2, 1, .4, True),
    ("figure 5", 40, 2, 4, .01, .4, True), ("figure 5", 40, 2, 4, .1, .4, True), ("figure 5", 40, 2, 4, 1, .4, True),
    ("closer means", 40, 1, 4, .1, .4, True), ("more samples", 100, 2, 2, .1, .4, True),
    ("some without any view", 40, 2, 4, .1, .6, False)]


def toys(bench, args, panels):
    print("## Toys: {} runs, {} acquisitions, rbf width 0.5, two components, expectation at their means\n".format(
        args.runs, TOY_STEPS))
    head("toy | samples | labels per class | view variance")
    for name, n, distance, labels, variance, share, exclusive in TOYS:
        all_runs = {c: [] for c in CRITERIA}
        for seed in range(1, args.runs + 1):
            data = bench.write("toy", *make_toy(seed, n, distance, share, exclusive, 2 * labels))
            found = bench.curves(data, ["kernel=rbf", "width=0.5", "components=2", "view_variance={}".format(variance)],
                                 ["--simulate", str(TOY_STEPS), "--hide-file", os.path.join(data, "hide.csv"),
                                  "--labels", "file:" + os.path.join(data, "labelled.txt"), "--seed", str(seed)])
            for c in CRITERIA:
                all_runs[c].append(found[c][0])
        title = "{} | {} | {} | {}".format(name, n, labels, variance)
        report(title, all_runs)
        if (name, labels, variance) in (("figure 5", 2, .1), ("some without any view", 4, .1)):
            panels.append(("{}, {} labels per class".format(name, labels), all_runs))


# ---- breast_tcga ----

def write_breast(bench, source, positive):
    path = os.path.join(bench.folder, "breast_" + positive)
    os.makedirs(path, exist_ok=True)
    with open(os.path.join(source, "truth.txt"), encoding="utf-8") as f:
        put(os.path.join(path, "truth.txt"), [positive if line.strip() == positive else "rest" for line in f])
    with open(os.path.join(source, "dataset.json"), encoding="utf-8") as f:
        manifest = json.load(f)
    for view in manifest["views"]:
        for key in ("file", "present"):
            if key in view:
                view[key] = os.path.abspath(os.path.join(source, view[key]))
    manifest["ids"] = os.path.abspath(os.path.join(source, "ids.txt"))
    with open(os.path.join(path, "dataset.json"), "w", encoding="utf-8") as f:
        json.dump(manifest, f)
    return path


BREAST = [  # positive class, kernel, hidden
    ("Her2", "rbf", ("protein=0.5",)), ("Her2", "linear", ("protein=0.5",)), ("LumA", "rbf", ("protein=0.5",)),
    ("Her2", "rbf", ("mrna=0.5", "mirna=0.5", "protein=0.5"))]


def breast(bench, args, panels):
    source = os.path.join(args.data, "breast_tcga")
    print("\n## breast_tcga: {} runs, 5 labels per class, {} acquisitions, zscore, diagonal covariances\n".format(
        args.runs, BREAST_STEPS))
    head("class against the rest | kernel | hidden")
    for positive, kernel, hidden in BREAST:
        options = ["--simulate", str(BREAST_STEPS), "--labels", "5", "--runs", str(args.runs), "--seed", "1"]
        for h in hidden:
            options += ["--hide", h]
        found = bench.curves(write_breast(bench, source, positive),
                             ["scale=zscore", "kernel=" + kernel, "view_variance=1", "covariance=diag"], options)
        all_runs = {c: list(found[c].values()) for c in CRITERIA}
        what = "half of protein" if len(hidden) == 1 else "half of every view"
        report("{} | {} | {}".format(positive, kernel, what), all_runs)
        if kernel == "rbf" and positive == "Her2":
            panels.append(("breast_tcga, Her2, {} hidden".format(what), all_runs))


# ---- tables ----

def head(columns):
    print("| {} | before | after (mi) | mi | var | random | mi - random | var - random |".format(columns))
    print("|" + "---|" * (columns.count("|") + 8))


def mean_of(curve):
    return statistics.mean(curve[1:]) if len(curve) > 1 else curve[0]


def gap(all_runs, criterion):
    differences = [mean_of(a) - mean_of(b) for a, b in zip(all_runs[criterion], all_runs["random"])]
    spread = statistics.stdev(differences) / math.sqrt(len(differences)) if len(differences) > 1 else float("nan")
    return "{:+.4f} ({:.4f})".format(statistics.mean(differences), spread)


def report(title, all_runs):
    means = ["{:.4f}".format(statistics.mean(map(mean_of, all_runs[c]))) for c in CRITERIA]
    before = statistics.mean(curve[0] for curve in all_runs["mi"])
    after = statistics.mean(curve[-1] for curve in all_runs["mi"])
    print("| {} | {:.4f} | {:.4f} | {} | {} | {} |".format(title, before, after, " | ".join(means), gap(all_runs, "mi"),
                                                        gap(all_runs, "var")))
    sys.stdout.flush()


# ---- picture ----

COLOURS = {"mi": "#1b6ca8", "var": "#d1662f", "random": "#777777"}
WIDTH, HEIGHT, MARGIN = 340, 240, 44


def points(all_runs, criterion):
    """(step, mean, standard error) while every run goes on."""
    runs = all_runs[criterion]
    for step in range(min(map(len, runs))):
        values = [curve[step] for curve in runs]
        error = statistics.stdev(values) / math.sqrt(len(values)) if len(values) > 1 else 0
        yield step, statistics.mean(values), error


def panel(f, left, title, all_runs):
    drawn = {c: list(points(all_runs, c)) for c in CRITERIA}
    low = min(m - e for c in drawn for _, m, e in drawn[c])
    high = max(m + e for c in drawn for _, m, e in drawn[c])
    last = max(len(drawn[c]) for c in drawn) - 1

    def place(step, value):
        return (left + MARGIN + (WIDTH - MARGIN - 10) * step / max(last, 1),
                HEIGHT - MARGIN - (HEIGHT - 2 * MARGIN) * (value - low) / (high - low or 1))

    f.write('<text x="{}" y="20">{}</text>\n'.format(left + MARGIN, title))
    f.write('<path d="M {0} {1} V {2} H {3}" fill="none" stroke="black"/>\n'.format(
        left + MARGIN - 4, MARGIN - 8, HEIGHT - MARGIN + 4, left + WIDTH - 10))
    for value in (low, high):
        f.write('<text x="{:.1f}" y="{:.1f}" text-anchor="end">{:.3f}</text>\n'.format(left + MARGIN - 8, place(0, value)[1] + 4,
                                                                                      value))
    f.write('<text x="{:.1f}" y="{}" text-anchor="middle">acquisitions (0 to {})</text>\n'.format(
        left + (WIDTH + MARGIN) / 2, HEIGHT - 14, last))
    for c in CRITERIA:
        line = " L ".join("{:.1f} {:.1f}".format(*place(s, m)) for s, m, _ in drawn[c])
        f.write('<path d="M {}" fill="none" stroke="{}" stroke-width="1.5"/>\n'.format(line, COLOURS[c]))
        for s, m, e in drawn[c]:
            x, top = place(s, m + e)
            f.write('<path d="M {0:.1f} {1:.1f} V {2:.1f}" stroke="{3}" stroke-opacity="0.45"/>\n'.format(
                x, top, place(s, m - e)[1], COLOURS[c]))


def picture(path, panels):
    with open(path, "w", encoding="utf-8") as f:
        columns = min(2, len(panels))
        rows = (len(panels) + columns - 1) // columns
        f.write('<svg xmlns="http://www.w3.org/2000/svg" width="{}" height="{}" font-family="sans-serif" font-size="11">\n'
                '<rect width="100%" height="100%" fill="white"/>\n'.format(columns * WIDTH, rows * HEIGHT + 24))
        for k, (title, all_runs) in enumerate(panels):
            f.write('<g transform="translate(0 {})">\n'.format(k // columns * HEIGHT))
            panel(f, k % columns * WIDTH, title, all_runs)
            f.write("</g>\n")
        for k, c in enumerate(CRITERIA):
            f.write('<text x="{}" y="{}" fill="{}">{}</text>\n'.format(MARGIN + 80 * k, rows * HEIGHT + 12, COLOURS[c], c))
        f.write("</svg>\n")


def main():
    here = os.path.dirname(os.path.abspath(__file__))
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--data", default=os.environ.get("PARALLAX_DATA", os.path.join(here, "..", "..", "shared", "data")))
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--only", action="append", choices=["toy", "breast"])
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--picture")
    args = parser.parse_args()
    panels = []
    with tempfile.TemporaryDirectory(prefix="plx_sense_") as folder:
        bench = Bench(os.path.abspath(args.program), folder, args.threads)
        if not args.only or "toy" in args.only:
            toys(bench, args, panels)
        if not args.only or "breast" in args.only:
            breast(bench, args, panels)
    if args.picture and panels:
        picture(os.path.join(args.picture, "sense.svg"), panels)


if __name__ == "__main__":
    main()
