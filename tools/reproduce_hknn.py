#!/usr/bin/env python3
"""hknn: errors of single subsets of the views and of ensembles of them, beside Table 1 of Okun and Priisalu (2005).

Usage: reproduce_hknn.py PARALLAX

protein_fold27: train and test part of Ding and Dubchak, five of their six views (no secondary structure), four of them
recomputed. The paper's best single subset has 41.04 % test error, its forward-chosen ensemble 36.36 %; it chose on the test
part and does not state K and lambda. mfeat: 20 samples per class labelled, six views, not in the paper.
"""
import csv
import json
import os
import shutil
import subprocess
import sys
import tempfile

PARALLAX = sys.argv[1]
DATA = os.environ["PARALLAX_DATA"]


def lines(path):
    with open(path, encoding="utf-8") as f:
        return f.read().split()


def with_labels(source, target, labelled):
    shutil.copytree(source, target, copy_function=shutil.copyfile)
    os.chmod(target, 0o755)
    truth = lines(os.path.join(source, "truth.txt"))
    with open(os.path.join(target, "labels.txt"), "w", encoding="utf-8") as f:
        f.writelines((t if l else "?") + "\n" for t, l in zip(truth, labelled))
    path = os.path.join(target, "dataset.json")
    with open(path, encoding="utf-8") as f:
        description = json.load(f)
    description["labels"] = "labels.txt"
    os.chmod(path, 0o644)
    with open(path, "w", encoding="utf-8") as f:
        json.dump(description, f)


def fit(data, scratch, *settings, dump=()):
    command = [PARALLAX, "fit", "hknn", data, "--quiet", "--json", "-"]
    for s in settings:
        command += ["--set", s]
    for name in dump:
        command += ["--dump", f"{name}={os.path.join(scratch, name + '.csv')}"]
    result = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)
    tables = []
    for name in dump:
        with open(os.path.join(scratch, name + ".csv"), encoding="utf-8") as f:
            rows = list(csv.reader(f))
            named = int(bool(rows) and rows[0][0] == "id")  # arrays over samples with ids have names around them
            tables.append([[float(x) for x in row[named:]] for row in rows[named:]])
    return result, tables


def single_subsets(data, scratch, truth, labelled):
    """Leave-one-out and test error of every subset, in percent."""
    result, (loo, predicted) = fit(data, scratch, "select=all", dump=("loo_error", "member_predictions"))
    classes = sorted(set(t for t, l in zip(truth, labelled) if l))
    test = [i for i, l in enumerate(labelled) if not l]
    rows = []
    for s, name in enumerate(result["subsets"]):
        wrong = sum(classes[int(predicted[i][s])] != truth[i] for i in test)
        rows.append((100 * loo[s][0], 100 * wrong / len(test), name))
    return rows


def report(title, data, scratch, truth, labelled):
    rows = single_subsets(data, scratch, truth, labelled)
    chosen, best = min(rows), min(rows, key=lambda r: r[1])
    print(f"\n## {title}\n\n| what | error on the test part, % |\n|---|---|")
    print(f"| subset of least leave-one-out error ({chosen[2]}, {chosen[0]:.2f}) | {chosen[1]:.2f} |")
    print(f"| best subset on the test part ({best[2]}), as the paper chose | {best[1]:.2f} |")
    for name, settings in (("all subsets", ["select=all"]), ("similar, 9 members", ["select=similar"]),
                           ("forward by leave-one-out, at most 9", ["select=forward"])):
        for rule in ("vote", "crv"):
            result, _ = fit(data, scratch, f"combine={rule}", *settings)
            print(f"| {name}, {rule} | {100 * (1 - result['metrics']['accuracy']):.2f} |")


def main():
    with tempfile.TemporaryDirectory() as scratch:
        source = os.path.join(DATA, "protein_fold27")
        labelled = [s.startswith("train") for s in lines(os.path.join(source, "split.txt"))]
        with_labels(source, os.path.join(scratch, "protein"), labelled)
        report("protein_fold27 (paper: 41.04 best single subset, 36.36 forward, both chosen on the test part)",
               os.path.join(scratch, "protein"), scratch, lines(os.path.join(source, "truth.txt")), labelled)
        source = os.path.join(DATA, "mfeat")
        truth = lines(os.path.join(source, "truth.txt"))
        seen, labelled = {}, []
        for t in truth:
            seen[t] = seen.get(t, 0) + 1
            labelled.append(seen[t] <= 20)
        with_labels(source, os.path.join(scratch, "mfeat"), labelled)
        report("mfeat, six views, 20 labels per class", os.path.join(scratch, "mfeat"), scratch, truth, labelled)


main()
