#!/usr/bin/env python3
"""All classifiers with their defaults beside logistic regression, as a Markdown table of accuracies.

Usage: compare_classifiers.py PARALLAX --journal FILE [--data DIR] [--sets NAME,...] [--methods NAME,...] [--draws 3]
                              [--labels 0.1] [--older] [--confirm 5] [--limit SECONDS] [--table]

Every method sees the same labels: that share of every class (at least two), drawn once per data set and number of the
draw. The accuracy is over all other samples. --older also runs every combination of the values that `scale` and
`decision` (`rows` for methods over counts) had before `auto`, on the first draw, to find how far a default is below
the best of them. The best of several on one draw is partly luck: where it is more than 3 points above the default,
both are run on as many further draws as --confirm says, and an exact sign-flip test tells chance from more. Logistic
regression is scikit-learn's with C = 1 on the joined views, missing rows filled with the
mean, sparse views with rows of unit length and dense ones with columns of deviation 1.

One line is appended to the journal per run, and a run found there is not repeated; --table only prints what it holds.
"""
import argparse
import csv
import itertools
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time

SETS = ["wine", "breast_cancer_wisconsin", "ionosphere", "mfeat", "protein_fold27", "breast_tcga", "webkb_cornell",
        "webkb_texas", "webkb_washington", "webkb_wisconsin", "webkb", "webkb_course", "newsgv2", "newsgv4", "cora",
        "citeseer"]
BASELINE = "logistic regression"
AUTO = "auto"
WORTH = 0.03
OLDER = {"scale": ["none", "unit", "zscore"], "decision": ["argmax", "share"], "rows": ["raw", "l1"]}


def manifest(data):
    with open(os.path.join(data, "dataset.json"), encoding="utf-8") as f:
        return json.load(f)


def truth_of(data):
    with open(os.path.join(data, manifest(data)["truth"]), encoding="utf-8") as f:
        return f.read().split("\n")[:-1]


def draw_labels(truth, share, number):
    """Flags of the labelled samples: a share of every class, two at least."""
    rng = random.Random(f"{number}")
    flags = [0] * len(truth)
    for name in sorted(set(truth) - {"?"}):
        rows = [i for i, t in enumerate(truth) if t == name]
        for i in rng.sample(rows, min(len(rows), max(2, round(share * len(rows))))):
            flags[i] = 1
    return flags


def accuracy(truth, flags, found):
    scored = [i for i, t in enumerate(truth) if t != "?" and not flags[i]]
    return sum(found[i] == truth[i] for i in scored) / len(scored)


# ---- runs ----

def run_ours(parallax, method, settings, data, truth, flags, limit):
    with tempfile.TemporaryDirectory() as scratch:
        labels, out = os.path.join(scratch, "labels.txt"), os.path.join(scratch, "out.csv")
        with open(labels, "w", encoding="utf-8") as f:
            f.writelines(f"{flag}\n" for flag in flags)
        command = [parallax, "fit", method, data, "--labels", f"file:{labels}", "--out", out, "--quiet"]
        for key, value in settings.items():
            command += ["--set", f"{key}={value}"]
        done = subprocess.run(command, check=False, capture_output=True, text=True, timeout=limit)
        if done.returncode:
            raise RuntimeError(done.stderr.strip().split("\n")[-1])
        with open(out, encoding="utf-8", newline="") as f:
            found = [row["label"] for row in csv.DictReader(f)]
        return accuracy(truth, flags, found)


def read_view(data, view):
    import numpy
    path = os.path.join(data, view["file"])
    if path.endswith(".mtx"):
        from scipy.io import mmread
        x = mmread(path).tocsr().astype(float)
        length = numpy.sqrt(x.multiply(x).sum(1)).A1 if hasattr(x, "A1") else numpy.sqrt(
            numpy.asarray(x.multiply(x).sum(1)).ravel())
        length[length == 0] = 1
        from scipy.sparse import diags
        return diags(1 / length) @ x
    with open(path, encoding="utf-8") as f:
        x = numpy.array([[float(v) for v in row] for row in csv.reader(f)])
    mean = numpy.nanmean(x, 0)
    x = numpy.where(numpy.isnan(x), mean, x)
    deviation = x.std(0)
    return (x - mean) / numpy.where(deviation > 0, deviation, 1)


def run_baseline(data, truth, flags):
    import numpy
    from scipy.sparse import csr_matrix, hstack
    from sklearn.linear_model import LogisticRegression
    x = hstack([csr_matrix(read_view(data, v)) for v in manifest(data)["views"]]).tocsr()
    known = numpy.array(flags) > 0
    names = numpy.array(truth)
    model = LogisticRegression(C=1.0, max_iter=2000).fit(x[known], names[known])
    return accuracy(truth, flags, model.predict(x))


# ---- journal ----

def key_of(method, settings, name, draw):
    return json.dumps([method, settings, name, draw], sort_keys=True)


def read_journal(path):
    if not os.path.exists(path):
        return {}
    with open(path, encoding="utf-8") as f:
        lines = [json.loads(line) for line in f]
    return {key_of(*line["key"]): line for line in lines}


def combinations(parameters):
    values = {n: [v for v in OLDER[n] if v in parameters[n]["range"].split("|")] for n in OLDER if n in parameters}
    values = {n: v for n, v in values.items() if v}
    return [dict(zip(values, chosen)) for chosen in itertools.product(*values.values())] if values else []


def plan(methods, sets, draws, older):
    for name in sets:
        for draw in range(1, draws + 1):
            yield BASELINE, {}, name, draw
            for method in methods:
                yield method, {}, name, draw
    if older:
        for name in sets:
            for method, parameters in methods.items():
                for settings in combinations(parameters):
                    yield method, settings, name, 1


def best_older(journal, method, parameters, name):
    """(accuracy, settings) of the best older setting on the first draw and the default's accuracy, where both are known."""
    default = journal.get(key_of(method, {}, name, 1), {}).get("accuracy")
    tried = [(journal[k]["accuracy"], s) for s in combinations(parameters)
             if "accuracy" in journal.get(k := key_of(method, s, name, 1), {})]
    return (max(tried, key=lambda t: t[0]), default) if tried and default is not None else (None, default)


def plan_confirmation(journal, methods, sets, draws):
    for method, parameters in methods.items():
        for name in sets:
            best, default = best_older(journal, method, parameters, name)
            if best and best[0] - default > WORTH:
                for draw in range(2, draws + 2):
                    yield method, {}, name, draw
                    yield method, best[1], name, draw


def run_all(args, methods, sets):
    run_plan(args, plan(methods, sets, args.draws, args.older))
    if args.older and args.confirm:
        run_plan(args, plan_confirmation(read_journal(args.journal), methods, sets, args.confirm))


def run_plan(args, planned):
    journal = read_journal(args.journal)
    for method, settings, name, draw in planned:
        if key_of(method, settings, name, draw) in journal:
            continue
        data = os.path.join(args.data, name)
        truth = truth_of(data)
        flags = draw_labels(truth, args.labels, draw)
        started, line = time.time(), {"key": [method, settings, name, draw]}
        try:
            line["accuracy"] = (run_baseline(data, truth, flags) if method == BASELINE else
                                run_ours(args.parallax, method, settings, data, truth, flags, args.limit))
        except subprocess.TimeoutExpired:
            line["problem"] = f"more than {args.limit:.0f} s"
        except RuntimeError as problem:
            line["problem"] = str(problem)
        line["seconds"] = round(time.time() - started, 2)
        with open(args.journal, "a", encoding="utf-8") as f:
            f.write(json.dumps(line) + "\n")


# ---- tables ----

def mean_of(journal, method, name, draws):
    lines = [journal.get(key_of(method, {}, name, d)) for d in range(1, draws + 1)]
    scores = [line["accuracy"] for line in lines if line and "accuracy" in line]
    return statistics.mean(scores) if scores else None


def majority(data, draws):
    truth = truth_of(data)
    names = [t for t in truth if t != "?"]
    return max(names.count(n) for n in set(names)) / len(names)


def print_defaults(args, journal, methods, sets):
    print("| method | " + " | ".join(sets) + " | mean |\n|---|" + "---|" * (len(sets) + 1))
    rows = {"majority class": [majority(os.path.join(args.data, n), args.draws) for n in sets]}
    for method in [BASELINE] + list(methods):
        rows[method] = [mean_of(journal, method, n, args.draws) for n in sets]
    for method, cells in rows.items():
        texts = ["-" if c is None else f"{100 * c:.1f}" for c in cells]
        known = [c for c in cells if c is not None]
        whole = f"{100 * statistics.mean(known):.1f}" if len(known) == len(sets) else f"({len(known)} sets)"
        print(f"| {method} | " + " | ".join(texts) + f" | {whole} |")


def print_problems(journal):
    print("\nRuns without an answer:")
    for line in journal.values():
        if "problem" in line and not line["key"][1]:
            print(f"- {line['key'][0]} on {line['key'][2]} (draw {line['key'][3]}): {line['problem']}")


def sign_flip(differences):
    """Share of all signs of these differences whose sum is at least theirs: the chance of it when there is nothing."""
    total, n = sum(differences), len(differences)
    sums = (sum(d if k >> i & 1 else -d for i, d in enumerate(differences)) for k in range(2 ** n))
    return sum(s >= total - 1e-12 for s in sums) / 2 ** n


def confirmation(journal, method, settings, name, draws):
    """What the setting gains on each further draw."""
    pairs = [(journal.get(key_of(method, settings, name, d), {}).get("accuracy"),
              journal.get(key_of(method, {}, name, d), {}).get("accuracy")) for d in range(2, draws + 2)]
    return [a - b for a, b in pairs if a is not None and b is not None]


def print_older(journal, methods, sets, draws):
    cells, above, rows = 0, 0, []
    for method, parameters in methods.items():
        for name in sets:
            best, default = best_older(journal, method, parameters, name)
            cells += best is not None
            if best and best[0] - default > WORTH:
                above += 1
                gains = confirmation(journal, method, best[1], name, draws)
                if gains:
                    rows.append((statistics.mean(gains), sign_flip(gains), method, name, best[1], len(gains)))
    held = sorted((r for r in rows if r[0] > WORTH and r[1] <= 0.05), reverse=True)
    print(f"\nOf {cells} cells {above} are more than 3 points below the best older setting of the first draw; {len(rows)} were "
          f"run again, {sum(r[0] > WORTH for r in rows)} stay more than 3 points below in the mean, {len(held)} of them beyond "
          "chance (5 %):")
    for gain, p, method, name, settings, n in held:
        told = " ".join(f"{k}={v}" for k, v in settings.items())
        print(f"- {method} on {name}: {100 * gain:+.1f} with {told} ({n} draws, p = {p:.3f})")


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    here = os.path.dirname(os.path.abspath(__file__))
    p.add_argument("parallax")
    p.add_argument("--journal", required=True)
    p.add_argument("--data", default=os.environ.get("PARALLAX_DATA", os.path.join(here, "../../shared/data")))
    p.add_argument("--sets", default=",".join(SETS))
    p.add_argument("--methods", default="")
    p.add_argument("--draws", type=int, default=3)
    p.add_argument("--labels", type=float, default=0.1)
    p.add_argument("--limit", type=float, default=120, help="seconds per run")
    p.add_argument("--older", action="store_true")
    p.add_argument("--confirm", type=int, default=5, help="further draws for what --older finds")
    p.add_argument("--table", action="store_true")
    args = p.parse_args()
    told = json.loads(subprocess.run([args.parallax, "methods", "--json"], check=True, capture_output=True).stdout)
    chosen = args.methods.split(",") if args.methods else [m["name"] for m in told if m["task"] == "classify"]
    chosen += [AUTO] if not args.methods else []
    methods = {m["name"]: {q["name"]: q for q in m["parameters"]} for m in told if m["name"] in chosen}
    methods.update({AUTO: {}} if AUTO in chosen else {})
    sets = args.sets.split(",")
    if not args.table:
        run_all(args, methods, sets)
    journal = read_journal(args.journal)
    print_defaults(args, journal, methods, sets)
    print_problems(journal)
    if args.older:
        print_older(journal, methods, sets, args.confirm)
    return 0


if __name__ == "__main__":
    sys.exit(main())
