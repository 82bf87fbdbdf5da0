#!/usr/bin/env python3
"""mvkmeans beside Table 2 of Dalvi and Cohen: macro-F1 with 10 % and 30 % labels.

Usage: reproduce_mvkmeans.py PARALLAX [--data DIR] [--runs 10] [--weights binary|tfidf] [--views 2|3] [--only NAME]... [--ontology]

Without --weights or --views all four combinations, and the generated ontology. Every run draws the labelled samples
uniformly with its own seed. Two scores per rule: over all samples, the labelled ones included (how Table 2 seems to have
been made), and over the samples whose label was hidden. Rows marked * are not ours: a
few lines of Python below that treat an empty row as the paper seems to (all its scores are 0, products too, the first
class wins), to show what the difference comes from. --ontology compares flat and hierarchical rules on generated data.
"""
import argparse
import collections
import itertools
import json
import math
import os
import random
import shutil
import statistics
import subprocess
import sys
import tempfile

RATES = (10, 30)
RULES = {"V1": ["assignment=single:{0}"], "V2": ["assignment=single:{1}"], "V12": ["assignment=concat"],
         "V12 unit": ["assignment=concat", "concat_norm=unit"], "COTRAIN": ["assignment=cotrain"],
         "PROD": ["assignment=prodscore"], "SUM": ["assignment=sumscore"], "MAX": ["assignment=maxagree"]}

# macro-F1 at 10 % and 30 %, as printed in Table 2
PUBLISHED = {
    "cora": {"V1": (55.0, 69.2), "V2": (42.7, 62.1), "V12": (56.2, 70.6), "COTRAIN": (48.8, 64.3), "PROD": (45.0, 63.1),
             "SUM": (67.8, 77.6), "MAX": (67.8, 77.6)},
    "citeseer": {"V1": (64.4, 73.2), "V2": (33.3, 54.9), "V12": (64.4, 73.3), "COTRAIN": (49.4, 63.3), "PROD": (34.3, 55.7),
                 "SUM": (65.9, 75.0), "MAX": (65.9, 75.0)},
    "webkb": {"V1": (55.1, 68.9), "V2": (29.0, 50.0), "V12": (56.1, 69.8), "COTRAIN": (36.8, 57.6), "PROD": (29.1, 50.6),
              "SUM": (49.6, 62.8), "MAX": (49.6, 62.8)},
}


def lines(path):
    with open(path, encoding="utf-8") as f:
        return f.read().split("\n")[:-1]


def entries(path):
    """Rows and columns of a Matrix Market file, and its entries as (row, column, value) from 0."""
    body = [line.split() for line in lines(path) if line and not line.startswith("%")]
    rows, cols = int(body[0][0]), int(body[0][1])
    return rows, cols, [(int(e[0]) - 1, int(e[1]) - 1, float(e[2]) if len(e) > 2 else 1.0) for e in body[1:]]


def write_tfidf(source, target):
    """Values times ln(rows / rows with the feature)."""
    rows, cols, found = entries(source)
    df = collections.Counter(j for _, j, _ in found)
    with open(target, "w", encoding="utf-8") as f:
        f.write("%%MatrixMarket matrix coordinate real general\n{} {} {}\n".format(rows, cols, len(found)))
        for i, j, x in found:
            f.write("{} {} {!r}\n".format(i + 1, j + 1, x * math.log(rows / df[j])))


def prepare(name, data, weights, views, scratch):
    target = os.path.join(scratch, name)
    shutil.copytree(os.path.join(data, name), target, copy_function=shutil.copyfile)
    os.chmod(target, 0o755)
    with open(os.path.join(target, "dataset_3view.json" if views == 3 else "dataset.json"), encoding="utf-8") as f:
        description = json.load(f)
    if weights == "tfidf":
        for view in description["views"]:
            write_tfidf(os.path.join(target, view["file"]), os.path.join(target, "tfidf." + view["file"]))
            view.update(file="tfidf." + view["file"], kind="real")
    with open(os.path.join(target, "dataset.json"), "w", encoding="utf-8") as f:
        json.dump(description, f)
    files = [os.path.join(target, view["file"]) for view in description["views"]]
    return target, [view["name"] for view in description["views"]], files, lines(os.path.join(target, description["truth"]))


def macro_f1(truth, guess, which):
    """100 x mean over the classes of the truth."""
    scores = []
    for c in sorted(set(truth)):
        hit = sum(truth[i] == c == guess[i] for i in which)
        given, said = sum(truth[i] == c for i in which), sum(guess[i] == c for i in which)
        if given + said:
            scores.append(2 * hit / (given + said))
    return 100 * statistics.mean(scores)


def fit(parallax, target, settings, flags, scratch):
    out = os.path.join(scratch, "labels.csv")
    argv = [parallax, "fit", "mvkmeans", target, "--out", out, "--quiet"]
    if flags:
        argv += ["--labels", "file:" + flags]
    for setting in ["scale=none", *settings]:  # features as prepared, as in the paper
        argv += ["--set", setting]
    subprocess.run(argv, check=True, stderr=subprocess.DEVNULL)
    return [line.split(",")[1] for line in lines(out)[1:]]


# ---- the paper's treatment of empty rows ----

def unit_rows(path):
    rows, _, found = entries(path)
    out = [[] for _ in range(rows)]
    for i, j, x in found:
        out[i].append((j, x))
    for row in out:
        norm = math.sqrt(sum(x * x for _, x in row))
        row[:] = [(j, x / norm) for j, x in row]
    return out


def centroids(views, label, k):
    out = []
    for rows in views:
        sums = [collections.defaultdict(float) for _ in range(k)]
        for row, c in zip(rows, label):
            if c is not None:
                for j, x in row:
                    sums[c][j] += x
        for s in sums:
            norm = math.sqrt(sum(x * x for x in s.values())) or 1.0
            for j in s:
                s[j] /= norm
        columns = collections.defaultdict(lambda: [0.0] * k)
        for c, s in enumerate(sums):
            for j, x in s.items():
                columns[j][c] = x
        out.append(columns)
    return out


def as_published(files, truth, labelled, limit=100):
    """PROD over the views given (V2: one view): an empty row scores 0, ties go to the first class."""
    classes = sorted({truth[i] for i in labelled})
    k, views = len(classes), [unit_rows(f) for f in files]
    fixed = [classes.index(truth[i]) if i in labelled else None for i in range(len(truth))]
    label = list(fixed)
    for _ in range(limit):
        means, new = centroids(views, label, k), []
        for i, given in enumerate(fixed):
            if given is not None:
                new.append(given)
                continue
            product = [1.0] * k
            for rows, columns in zip(views, means):
                score = [0.0] * k
                for j, x in rows[i]:
                    if j in columns:
                        score = [s + x * m for s, m in zip(score, columns[j])]
                product = [p * s for p, s in zip(product, score)]
            new.append(max(range(k), key=lambda c: (product[c], -c)))
        if new == label:
            break
        label = new
    return [classes[c] for c in label]


# ---- Table 2 ----

def one_run(args, target, views, files, truth, rate, seed, scratch):
    n, flags = len(truth), os.path.join(scratch, "labelled.txt")
    labelled = set(random.Random(seed).sample(range(n), round(rate * n / 100)))
    with open(flags, "w", encoding="utf-8") as f:
        f.writelines("1\n" if i in labelled else "0\n" for i in range(n))
    hidden = [i for i in range(n) if i not in labelled]
    found = {}
    for rule, settings in RULES.items():
        guess = fit(args.parallax, target, [s.format(*views) for s in settings], flags, scratch)
        found[rule] = macro_f1(truth, guess, range(n)), macro_f1(truth, guess, hidden)
    if args.weights == "binary" and args.views == 2:
        for rule, which in (("V2 *", files[1:]), ("PROD *", files)):
            guess = as_published(which, truth, labelled)
            found[rule] = macro_f1(truth, guess, range(n)), macro_f1(truth, guess, hidden)
    return found


def mean_spread(values):
    return "{:.1f} ± {:.1f}".format(statistics.mean(values), statistics.stdev(values) if len(values) > 1 else 0.0)


def report(name, measured, args):
    print("\n**{}** ({} views, {}, {} splits; macro-F1 in %)\n".format(name, args.views, args.weights, args.runs))
    head = ["rule"]
    for rate in RATES:
        head += ["{} %: published".format(rate), "all samples", "difference", "hidden samples"]
    print("| {} |\n|{}".format(" | ".join(head), "---|" * len(head)))
    for rule in sorted(measured[RATES[0]][0], key=lambda r: (list(RULES).index(r.rstrip(" *")), r)):
        cells = [rule]
        for at, rate in enumerate(RATES):
            everyone, hidden = zip(*(run[rule] for run in measured[rate]))
            published = PUBLISHED[name].get(rule.rstrip(" *"))
            cells += ["{:.1f}".format(published[at]) if published else "", mean_spread(everyone),
                      "{:+.1f}".format(statistics.mean(everyone) - published[at]) if published else "", mean_spread(hidden)]
        print("| {} |".format(" | ".join(cells)))
    sys.stdout.flush()


# ---- flat and hierarchical rules on a generated ontology ----

ONTOLOGY = ["n=2000", "depth=3", "branching=4", "concentration=15", "overlap=0.6", "labelled=5%"]
PAIRS = (("SUM", ["assignment=sumscore"], ["assignment=hier-sumscore", "score_scale=mean"]),
         ("PROD", ["assignment=prodscore"], ["assignment=hier-prodscore"]),
         ("MAX", ["assignment=maxagree"], ["assignment=hier-maxagree"]))


def leaf_f1(truth, guess, hidden, leaves):
    scores = []
    for leaf in leaves:
        hit = sum(leaf in truth[i] and leaf in guess[i] for i in hidden)
        total = sum((leaf in truth[i]) + (leaf in guess[i]) for i in hidden)
        scores.append(2 * hit / total if total else 0.0)
    return 100 * statistics.mean(scores)


def ontology(args):
    results = collections.defaultdict(list)
    for seed in range(1, args.runs + 1):
        with tempfile.TemporaryDirectory() as scratch:
            target = os.path.join(scratch, "ontology")
            argv = [args.parallax, "data", "generate", "ontology", target, "--seed", str(seed), "--quiet"]
            for setting in ONTOLOGY:
                argv += ["--set", setting]
            subprocess.run(argv, check=True)
            truth = [set(t.split("|")) for t in lines(os.path.join(target, "truth.txt"))]
            hidden = [i for i, t in enumerate(lines(os.path.join(target, "labels.txt"))) if t == "?"]
            leaves = sorted({max(t, key=len) for t in truth})
            for name, flat, tree in PAIRS:
                for kind, settings in (("flat", flat), ("hier", tree)):
                    guess = [set(g.split("|")) for g in fit(args.parallax, target, settings, None, scratch)]
                    results[name, kind].append(leaf_f1(truth, guess, hidden, leaves))
    print("\n**Generated ontology** ({}; {} draws; macro-F1 in % over the leaf classes, hidden samples)\n".format(" ".join(ONTOLOGY), args.runs))
    print("| rule | flat | hierarchical | difference |\n|---|---|---|---|")
    for name, _, _ in PAIRS:
        flat, tree = results[name, "flat"], results[name, "hier"]
        print("| {} | {} | {} | {:+.1f} |".format(name, mean_spread(flat), mean_spread(tree), statistics.mean(tree) - statistics.mean(flat)))


def table_2(args):
    for name in args.only or PUBLISHED:
        if not os.path.isdir(os.path.join(args.data, name)):
            print("reproduce_mvkmeans: {} is not in {}; skipped".format(name, args.data), file=sys.stderr)
            continue
        with tempfile.TemporaryDirectory() as scratch:
            target, views, files, truth = prepare(name, args.data, args.weights, args.views, scratch)
            measured = {rate: [one_run(args, target, views, files, truth, rate, seed, scratch) for seed in range(1, args.runs + 1)]
                        for rate in RATES}
            report(name, measured, args)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("parallax")
    parser.add_argument("--data", default=os.environ.get("PARALLAX_DATA", "../shared/data"))
    parser.add_argument("--runs", type=int, default=10)
    parser.add_argument("--weights", choices=("binary", "tfidf"))
    parser.add_argument("--views", type=int, choices=(2, 3))
    parser.add_argument("--only", action="append", choices=sorted(PUBLISHED))
    parser.add_argument("--ontology", action="store_true")
    args = parser.parse_args()
    everything = not (args.weights or args.views or args.only)
    if not args.ontology:
        for args.weights, args.views in itertools.product([args.weights] if args.weights else ["binary", "tfidf"],
                                                          [args.views] if args.views else [2, 3]):
            table_2(args)
    if args.ontology or everything:
        ontology(args)


if __name__ == "__main__":
    main()
