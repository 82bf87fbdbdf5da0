#!/usr/bin/env python3
"""Naive Bayes beside Table 3 of Zhuang et al. (2012): NBC_V1.., NBC_E at label rates 0.01 to 0.05.

Usage: reproduce_nb.py PARALLAX [--data DIR] [--runs 20] [--weights counts|tfidf] [--uniform] [--only NAME]...

Every run draws labels with its own seed (of every class the rate, rounded up, as `--labels R%` does), fits `nb` with them and
counts the accuracy on the samples whose label was hidden, for every view alone and for the ensemble. A sample that lacks
a view gets the most frequent class from it. Counts are used as they are (rows=raw), as in the paper. Prints a Markdown table: published, ours, difference.
"""
import argparse
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

RATES = (1, 2, 3, 4, 5)

# mean and deviation over 20 runs, one pair per rate, as printed in Table 3
PUBLISHED = {
    "cornell": {
        "V1": ((82.06, 3.74), (79.13, 1.00), (82.47, 3.16), (81.64, 2.30), (85.79, 3.36)),
        "V2": ((77.24, 8.91), (79.05, 0.61), (77.55, 7.04), (79.44, 0.74), (80.08, 1.08)),
        "E": ((81.82, 3.48), (78.92, 0.73), (81.89, 2.82), (80.99, 2.03), (84.89, 3.25))},
    "washington": {
        "V1": ((82.05, 7.10), (86.83, 4.92), (79.84, 5.19), (85.23, 7.45), (89.95, 3.95)),
        "V2": ((71.96, 0.48), (72.32, 0.84), (71.97, 0.72), (72.32, 1.06), (72.33, 1.23)),
        "E": ((80.88, 6.79), (86.18, 5.33), (79.10, 4.89), (84.50, 7.24), (88.85, 4.13))},
    "newsgv2": {
        "V1": ((61.01, 4.50), (67.92, 3.86), (68.14, 5.48), (70.29, 6.38), (73.68, 2.78)),
        "V2": ((68.58, 4.60), (77.91, 5.02), (82.15, 4.44), (86.11, 2.81), (86.85, 2.40)),
        "E": ((70.60, 5.93), (81.77, 5.37), (85.29, 4.61), (87.99, 3.14), (90.48, 1.93))},
    "newsgv4": {
        "V1": ((58.76, 8.44), (70.01, 5.89), (74.41, 5.51), (78.28, 2.75), (79.46, 2.42)),
        "V2": ((63.89, 5.63), (75.11, 6.09), (79.13, 5.04), (81.58, 5.23), (85.38, 1.90)),
        "V3": ((65.79, 8.20), (76.04, 6.64), (78.51, 8.04), (87.59, 4.87), (89.86, 2.94)),
        "V4": ((51.85, 5.23), (65.35, 5.51), (71.85, 4.00), (76.17, 3.74), (79.93, 2.22)),
        "E": ((78.73, 6.06), (91.26, 2.48), (94.10, 2.10), (96.43, 1.56), (97.80, 0.67))},
}

# our directory, manifest in it, class against the rest (None: the classes as they are)
SOURCES = {"cornell": ("webkb_cornell", "dataset_adj.json", "course"),
           "washington": ("webkb_washington", "dataset_adj.json", "course"),
           "newsgv2": ("newsgv2", "dataset.json", None), "newsgv4": ("newsgv4", "dataset.json", None)}


def lines(path):
    with open(path, encoding="utf-8") as f:
        return f.read().split("\n")[:-1]


def write_tfidf(source, target):
    """Counts times ln(rows / rows with the word), in Matrix Market form."""
    body = [line for line in lines(source) if line and not line.startswith("%")]
    rows, cols, _ = (int(x) for x in body[0].split())
    entries = [line.split() for line in body[1:]]
    df = [0] * (cols + 1)
    for entry in entries:
        df[int(entry[1])] += 1
    with open(target, "w", encoding="utf-8") as f:
        f.write("%%MatrixMarket matrix coordinate real general\n{} {} {}\n".format(rows, cols, len(entries)))
        for i, j, x in entries:
            f.write("{} {} {!r}\n".format(i, j, float(x) * math.log(rows / df[int(j)])))


def prepare(name, data, weights, scratch):
    """A copy of the data set with the wanted manifest, truth and weights."""
    directory, manifest, positive = SOURCES[name]
    target = os.path.join(scratch, name)
    shutil.copytree(os.path.join(data, directory), target, copy_function=shutil.copyfile)
    os.chmod(target, 0o755)
    with open(os.path.join(target, manifest), encoding="utf-8") as f:
        description = json.load(f)
    truth = lines(os.path.join(target, description["truth"]))
    if positive:
        truth = [positive if t == positive else "rest" for t in truth]
        with open(os.path.join(target, "two_classes.txt"), "w", encoding="utf-8") as f:
            f.write("\n".join(truth) + "\n")
        description["truth"] = "two_classes.txt"
    if weights == "tfidf":
        for view in description["views"]:
            write_tfidf(os.path.join(target, view["file"]), os.path.join(target, "tfidf." + view["file"]))
            view.update(file="tfidf." + view["file"], kind="real")
    with open(os.path.join(target, "dataset.json"), "w", encoding="utf-8") as f:
        json.dump(description, f)
    return target, [view["name"] for view in description["views"]], truth


def argmax(row):
    return max(range(len(row)), key=lambda c: (row[c], -c))


def accuracy(posterior, prior, classes, truth, hidden):
    guess = [argmax(row if any(row) else prior) for row in posterior]
    return 100.0 * sum(classes[guess[i]] == truth[i] for i in hidden) / len(hidden)


def draw(truth, rate, seed, uniform, path):
    """Labelled samples: the rate of every class (or of all samples), rounded up. Writes one flag per line; hands back the others."""
    random_numbers = random.Random(seed)
    chosen, classes = set(), set(truth)
    while {truth[i] for i in chosen} != classes:
        chosen = set()
        for name in [None] if uniform else sorted(classes):
            members = [i for i, t in enumerate(truth) if name is None or t == name]
            chosen.update(random_numbers.sample(members, -(-rate * len(members) // 100)))
    with open(path, "w", encoding="utf-8") as f:
        f.writelines("1\n" if i in chosen else "0\n" for i in range(len(truth)))
    return [i for i in range(len(truth)) if i not in chosen]


def one_run(parallax, target, views, truth, rate, seed, uniform, scratch):
    """Accuracy of every view and of the ensemble."""
    flags = os.path.join(scratch, "labelled.txt")
    hidden = draw(truth, rate, seed, uniform, flags)
    out = {"E": os.path.join(scratch, "E.csv"), "prior": os.path.join(scratch, "prior.csv")}
    argv = [parallax, "fit", "nb", target, "--set", "rows=raw", "--labels", "file:" + flags, "--quiet",
            "--json", os.path.join(scratch, "result.json"), "--dump", "posterior=" + out["E"], "--dump", "prior=" + out["prior"]]
    for number, view in enumerate(views, 1):
        out["V{}".format(number)] = os.path.join(scratch, "V{}.csv".format(number))
        argv += ["--dump", "posterior.{}={}".format(view, out["V{}".format(number)])]
    subprocess.run(argv, check=True)
    with open(os.path.join(scratch, "result.json"), encoding="utf-8") as f:
        result = json.load(f)
    prior = read_dump(out["prior"])[0]
    found = {key: accuracy(read_dump(path), prior, result["classes"], truth, hidden) for key, path in out.items() if key != "prior"}
    if abs(found["E"] - 100 * result["metrics"]["accuracy"]) > 1e-6:
        sys.exit("reproduce_nb: our accuracy and the command's differ")
    return found


def report(name, measured, weights, runs):
    print("\n**{}** ({}, {} runs; accuracy in %: published / ours, difference)\n".format(name, weights, runs))
    print("| classifier |" + "".join(" r = 0.0{} |".format(r) for r in RATES))
    print("|---|" + "---|" * len(RATES))
    for key, published in PUBLISHED[name].items():
        cells = []
        for (mean, deviation), values in zip(published, measured[key]):
            ours = statistics.mean(values)
            spread = statistics.stdev(values) if len(values) > 1 else 0.0
            cells.append("{:.1f} ± {:.1f} / **{:.1f} ± {:.1f}**, {:+.1f}".format(mean, deviation, ours, spread, ours - mean))
        print("| NBC_{} | {} |".format(key, " | ".join(cells)))
    sys.stdout.flush()


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("parallax")
    parser.add_argument("--data", default=os.environ.get("PARALLAX_DATA", "../shared/data"))
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--weights", choices=("counts", "tfidf"), default="counts")
    parser.add_argument("--uniform", action="store_true", help="draw from all samples alike, not class by class")
    parser.add_argument("--only", action="append", choices=sorted(SOURCES))
    args = parser.parse_args()
    for name in args.only or PUBLISHED:
        if not os.path.isdir(os.path.join(args.data, SOURCES[name][0])):
            print("reproduce_nb: {} is not in {}; skipped".format(SOURCES[name][0], args.data), file=sys.stderr)
            continue
        with tempfile.TemporaryDirectory() as scratch:
            target, views, truth = prepare(name, args.data, args.weights, scratch)
            measured = {key: [] for key in PUBLISHED[name]}
            for rate in RATES:
                found = [one_run(args.parallax, target, views, truth, rate, seed, args.uniform, scratch)
                         for seed in range(1, args.runs + 1)]
                for key in measured:
                    measured[key].append([f[key] for f in found])
            report(name, measured, args.weights, args.runs)


if __name__ == "__main__":
    main()
