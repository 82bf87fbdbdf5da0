#!/usr/bin/env python3
"""MVPLSA, DPLSA, co-training and naive Bayes beside Tables 3, 4 and 5 of Zhuang et al. (2012), and clustering.

Usage: reproduce_mvplsa.py PARALLAX [--data DIR] [--runs 20] [--part classify|split|cluster]... [--only NAME]...

classify: label rates 0.01 to 0.05; every run draws ceil(rate n_c) labelled documents of every class c with its own seed and counts the
accuracy on the others. Word counts for WebKB (content words and adjacency), tf-idf values used as counts for the newsgroups, as in
the paper; mvplsa and dplsa with rows=raw (as published) and rows=unit. Topics: 12 (WebKB) and 128; 150 iterations. Co-training as
Blum and Mitchell describe it (rows=raw, prior=taught: class priors follow the labels taught); nothing is tuned.
split: every view of newsgv4 alone, its features split at random into four views (Table 5).
cluster: no labels, start from the consensus of the views; NMI and pairwise F (the paper shows them as a plot only).
"""
import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile

from dumps import read_dump
from reproduce_nb import PUBLISHED as NBC, RATES, SOURCES, accuracy, draw, prepare

TOPICS = {"cornell": 12, "washington": 12, "newsgv2": 128, "newsgv4": 128}
WEIGHTS = {"cornell": "counts", "washington": "counts", "newsgv2": "tfidf", "newsgv4": "tfidf"}

# mean and deviation over 20 runs, one pair per rate, as printed in Tables 3 and 4
PUBLISHED = {
    "cornell": {
        "CoTr_V1": ((82.86, 5.35), (80.58, 4.63), (83.91, 5.06), (88.01, 5.72), (91.09, 4.36)),
        "CoTr_V2": ((79.43, 2.24), (79.55, 1.31), (79.97, 1.20), (80.86, 2.15), (82.55, 2.34)),
        "CoTr_E": ((82.97, 4.88), (80.95, 4.48), (84.07, 4.73), (88.23, 5.63), (91.33, 4.56)),
        "DPLSA": ((92.97, 3.27), (94.16, 2.49), (94.18, 2.91), (95.35, 1.01), (95.52, 1.34)),
        "MVPLSA": ((93.49, 4.54), (94.32, 2.91), (94.65, 2.17), (95.54, 0.96), (95.90, 1.14))},
    "washington": {
        "CoTr_V1": ((83.85, 10.22), (89.91, 5.35), (87.98, 8.83), (90.43, 6.15), (92.12, 2.06)),
        "CoTr_V2": ((74.96, 3.70), (77.19, 2.87), (77.06, 4.03), (78.23, 3.17), (78.85, 2.52)),
        "CoTr_E": ((83.55, 9.69), (89.78, 5.15), (87.89, 8.57), (89.95, 5.91), (91.94, 2.13)),
        "DPLSA": ((93.07, 1.37), (93.93, 1.38), (93.26, 1.54), (93.61, 1.29), (93.06, 1.72)),
        "MVPLSA": ((93.55, 1.45), (94.06, 1.30), (94.22, 1.42), (94.50, 1.21), (93.96, 1.62))},
    "newsgv2": {
        "CoTr_V1": ((82.54, 10.83), (86.87, 3.95), (87.96, 3.45), (88.43, 2.95), (89.18, 2.65)),
        "CoTr_V2": ((89.83, 13.11), (94.55, 1.77), (95.19, 1.13), (95.15, 0.99), (95.65, 1.11)),
        "CoTr_E": ((90.10, 13.10), (94.95, 2.54), (95.65, 1.75), (95.92, 1.31), (96.34, 1.28)),
        "DPLSA": ((85.38, 12.70), (90.97, 3.60), (89.80, 3.21), (90.40, 2.70), (92.15, 2.45)),
        "MVPLSA": ((94.44, 4.74), (97.10, 0.66), (96.71, 0.93), (97.16, 0.76), (97.36, 0.55))},
    "newsgv4": {
        "DPLSA": ((98.66, 0.41), (98.99, 0.19), (99.00, 0.26), (99.07, 0.12), (99.13, 0.11)),
        "MVPLSA": ((99.43, 0.11), (99.50, 0.06), (99.48, 0.09), (99.50, 0.06), (99.49, 0.06))},
}

# what the methods of the paper do, where our defaults differ
PRESETS = {"nb": ("rows=raw",), "cotrain": ("rows=raw", "prior=taught")}

# Table 5: view by view of newsgv4, 1 % labelled
SPLIT_NBC, SPLIT_MVPLSA = (58.76, 63.89, 65.79, 51.85), (77.52, 87.80, 94.99, 77.43)


def fit(run, method, settings=(), dumps=(), labels=True):
    """Runs the command; hands back its JSON result and the dumped arrays."""
    out = os.path.join(run["scratch"], "result.json")
    argv = [run["parallax"], "fit", method, run["target"], "--quiet", "--seed", str(run["seed"]), "--threads", "1", "--json", out]
    argv += ["--labels", "file:" + run["flags"]] if labels else ["--labels", "none"]
    for setting in settings:
        argv += ["--set", setting]
    files = {name: os.path.join(run["scratch"], "dump.%d.csv" % i) for i, name in enumerate(dumps)}
    for name, path in files.items():
        argv += ["--dump", "{}={}".format(name, path)]
    subprocess.run(argv, check=True)
    with open(out, encoding="utf-8") as f:
        result = json.load(f)
    return result, {name: read_dump(path) for name, path in files.items()}


def by_views(run, method, prefix, prior):
    """Accuracy of every view alone and of all together; `prior` names the array a sample without the view is labelled by."""
    names = ["posterior"] + ["posterior." + view for view in run["views"]] + ([prior] if prior else [])
    result, arrays = fit(run, method, PRESETS[method], dumps=names)
    usual = arrays[prior][0] if prior else [run["hidden_prior"][c] for c in result["classes"]]
    found = {prefix + "_E": 100 * result["metrics"]["accuracy"]}
    for number, view in enumerate(run["views"], 1):
        found["{}_V{}".format(prefix, number)] = accuracy(arrays["posterior." + view], usual, result["classes"], run["truth"], run["hidden"])
    return found


def one_run(run, topics):
    found = by_views(run, "nb", "NBC", "prior")
    found.update(by_views(run, "cotrain", "CoTr", None))
    for model in ("dplsa", "mvplsa"):
        for rows in ("raw", "unit"):
            result, _ = fit(run, "mvplsa", ("model=" + model, "topics=%d" % topics, "rows=" + rows))
            found["{} {}".format(model.upper(), rows)] = 100 * result["metrics"]["accuracy"]
    return found


def open_run(parallax, target, views, truth, rate, seed, scratch):
    flags = os.path.join(scratch, "labelled.txt")
    hidden = draw(truth, rate, seed, False, flags)
    given = [t for i, t in enumerate(truth) if i not in set(hidden)]
    return {"parallax": parallax, "target": target, "views": views, "truth": truth, "flags": flags, "hidden": hidden, "seed": seed,
            "scratch": scratch, "hidden_prior": {c: given.count(c) for c in set(truth)}}


def published_rows(name):
    rows = {"NBC_" + key: values for key, values in NBC[name].items()}
    rows.update(PUBLISHED[name])
    return rows


def report(name, measured, runs):
    published = published_rows(name)
    print("\n**{}** ({}, {} runs; accuracy in %: published / ours, difference)\n".format(name, WEIGHTS[name], runs))
    print("| method |" + "".join(" r = 0.0{} |".format(r) for r in RATES))
    print("|---|" + "---|" * len(RATES))
    for key, columns in measured.items():
        cells = []
        for rate, values in enumerate(columns):
            ours, spread = statistics.mean(values), statistics.stdev(values) if len(values) > 1 else 0.0
            cell = "**{:.1f} ± {:.1f}**".format(ours, spread)
            if key.split()[0] in published:
                mean, deviation = published[key.split()[0]][rate]
                cell = "{:.1f} ± {:.1f} / {}, {:+.1f}".format(mean, deviation, cell, ours - mean)
            cells.append(cell)
        print("| {} | {} |".format(key, " | ".join(cells)))
    sys.stdout.flush()


def classify(args, name):
    with tempfile.TemporaryDirectory() as scratch:
        target, views, truth = prepare(name, args.data, WEIGHTS[name], scratch)
        measured = {}
        for rate in RATES:
            for seed in range(1, args.runs + 1):
                found = one_run(open_run(args.parallax, target, views, truth, rate, seed, scratch), TOPICS[name])
                for key in sorted(found, key=lambda k: (["NBC", "CoTr", "DPLSA", "MVPLSA"].index(k.replace(" ", "_").split("_")[0]), "E" in k[-1], k)):
                    measured.setdefault(key, [[] for _ in RATES])[rate - 1].append(found[key])
        report(name, measured, args.runs)


def only_view(target, number):
    with open(os.path.join(target, "dataset.json"), encoding="utf-8") as f:
        description = json.load(f)
    description["views"] = [description["views"][number]]
    with open(os.path.join(target, "dataset.json"), "w", encoding="utf-8") as f:
        json.dump(description, f)
    return [description["views"][0]["name"]]


def split(args, name):
    if name != "newsgv4":
        return
    print("\n**newsgv4, one view split into four** (1 % labelled, {} runs; accuracy in %: published / ours)\n".format(args.runs))
    print("| view | NBC | MVPLSA rows=raw | MVPLSA rows=unit | MVPLSA rows=unit, not split |\n|---|---|---|---|---|")
    for number in range(4):
        columns = {"nb": [], "raw": [], "unit": [], "whole": []}
        with tempfile.TemporaryDirectory() as scratch:
            target, _, truth = prepare(name, args.data, WEIGHTS[name], scratch)
            views = only_view(target, number)
            for seed in range(1, args.runs + 1):
                run = open_run(args.parallax, target, views, truth, 1, seed, scratch)
                columns["nb"].append(100 * fit(run, "nb", PRESETS["nb"])[0]["metrics"]["accuracy"])
                for rows in ("raw", "unit"):
                    result, _ = fit(run, "mvplsa", ("topics=128", "split=4", "rows=" + rows))
                    columns[rows].append(100 * result["metrics"]["accuracy"])
                columns["whole"].append(100 * fit(run, "mvplsa", ("topics=128", "rows=unit"))[0]["metrics"]["accuracy"])
        ours = ["**{:.1f} ± {:.1f}**".format(statistics.mean(v), statistics.stdev(v) if len(v) > 1 else 0) for v in columns.values()]
        print("| {} | {} / {} | {} / {} | {} / {} | {} |".format(number + 1, SPLIT_NBC[number], ours[0], SPLIT_MVPLSA[number], ours[1],
                                                                SPLIT_MVPLSA[number], ours[2], ours[3]), flush=True)


def cluster(args, name):
    with tempfile.TemporaryDirectory() as scratch:
        target, views, truth = prepare(name, args.data, WEIGHTS[name], scratch)
        cells = []
        for settings in (("rows=raw",), ("rows=unit",), ("rows=raw", "model=dplsa"), ("rows=unit", "model=dplsa")):
            values = {"nmi": [], "pair_f": []}
            for seed in range(1, args.runs + 1):
                run = {"parallax": args.parallax, "target": target, "seed": seed, "scratch": scratch}
                result, _ = fit(run, "mvplsa", settings + ("clusters=%d" % len(set(truth)), "topics=%d" % TOPICS[name]), labels=False)
                for key in values:
                    values[key].append(result["metrics"][key])
            cells.append("{:.3f} / {:.3f}".format(*(statistics.mean(v) for v in values.values())))
        print("| {} | {} |".format(name, " | ".join(cells)), flush=True)


PARTS = {"classify": classify, "split": split, "cluster": cluster}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("parallax")
    parser.add_argument("--data", default=os.environ.get("PARALLAX_DATA", "../shared/data"))
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--part", action="append", choices=sorted(PARTS))
    parser.add_argument("--only", action="append", choices=sorted(SOURCES))
    args = parser.parse_args()
    for part in args.part or PARTS:
        if part == "cluster":
            print("\n**Clustering** ({} runs, NMI / pairwise F, means)\n".format(args.runs))
            print("| data | MVPLSA raw | MVPLSA unit | DPLSA raw | DPLSA unit |\n|---|---|---|---|---|")
        for name in args.only or PUBLISHED:
            if os.path.isdir(os.path.join(args.data, SOURCES[name][0])):
                PARTS[part](args, name)
            else:
                print("reproduce_mvplsa: {} is not in {}; skipped".format(SOURCES[name][0], args.data), file=sys.stderr)


if __name__ == "__main__":
    main()
