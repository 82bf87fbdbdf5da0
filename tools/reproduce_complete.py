#!/usr/bin/env python3
"""Filling in missing views beside polyview's KNNViewImputer and CrossViewRegressionImputer and iMML's MOFAImputer.

Usage: reproduce_complete.py PARALLAX [--data DIR] [--seeds 3] [--only NAME]... (in a Python with numpy, scikit-learn, polyview, imml)

Of breast_tcga, mfeat, wine (13 columns as three views) and newsgv2 (its 300 and 300 most frequent words) 30 and 50 % of the rows
of every view are hidden, no sample losing its last view. The error is the root mean square over the hidden values of
standardised columns, divided by that of the column means; it is the mean over the views. Accuracy: logistic regression on all
completed views side by side, five folds, against bct on the incomplete data with the same folds. Times are processor seconds of
fitting and filling, ours with files read and written.
"""
import argparse
import csv
import json
import os
import subprocess
import sys
import tempfile
import time
import warnings

import numpy as np

warnings.filterwarnings("ignore")


# ---- data ----

def load(args, name):
    """Views as dense arrays, and labels."""
    if name == "wine":
        views, labels = read_folder(os.path.join(args.data, "wine"))
        x = views[0]
        return [x[:, :5], x[:, 5:9], x[:, 9:]], labels
    views, labels = read_folder(os.path.join(args.data, name), args.program)
    if name == "newsgv2":
        views = [v[:, np.argsort(-(v > 0).sum(0), kind="stable")[:300]] for v in views]
    return views, labels


def read_folder(folder, program=None):
    with open(os.path.join(folder, "dataset.json"), encoding="utf-8") as f:
        about = json.load(f)
    views = []
    for v in about["views"]:
        views.append(read_matrix(os.path.join(folder, v["file"])))
        present = v.get("present")
        if present:
            flags = np.loadtxt(os.path.join(folder, present)).astype(bool)
            views[-1] = np.where(flags[:, None], views[-1], np.nan)
    truth = about.get("truth") or about.get("labels")
    with open(os.path.join(folder, truth), encoding="utf-8") as f:
        labels = [line.rstrip("\n") for line in f]
    return views, np.array(labels[-len(views[0]):])


def read_matrix(path):
    if path.endswith(".npy"):
        return np.load(path).astype(float)
    if ".mtx" in path:
        from scipy.io import mmread
        return np.asarray(mmread(path).todense(), dtype=float)
    rows = list(csv.reader(open(path, encoding="utf-8")))
    start = 0 if is_number(rows[0][-1]) else 1
    return np.array([[float(x) for x in r] for r in rows[start:]])


def is_number(text):
    try:
        float(text)
        return True
    except ValueError:
        return False


def hide(views, rate, seed):
    rng = np.random.default_rng(seed)
    there = np.array([~np.isnan(v).any(1) for v in views]).T
    draw = rng.random(there.shape)
    left = there & (draw >= rate)
    for i in np.flatnonzero(~left.any(1)):
        left[i, np.argmax(np.where(there[i], draw[i], -1))] = True
    return there, left


# ---- fillers ----

def write(folder, views, labels, kind):
    os.makedirs(folder)
    entries = []
    for k, v in enumerate(views):
        rows = np.isnan(v).any(1)
        np.save(os.path.join(folder, "v{}.npy".format(k)), np.where(rows[:, None], 0, v))
        with open(os.path.join(folder, "p{}.txt".format(k)), "w", encoding="utf-8") as f:
            f.writelines("{}\n".format(int(not r)) for r in rows)
        entries.append({"name": "v{}".format(k), "kind": kind, "file": "v{}.npy".format(k), "present": "p{}.txt".format(k)})
    with open(os.path.join(folder, "truth.txt"), "w", encoding="utf-8") as f:
        f.writelines(t + "\n" for t in labels)
    with open(os.path.join(folder, "dataset.json"), "w", encoding="utf-8") as f:
        json.dump({"parallax": 1, "name": "x", "views": entries, "truth": "truth.txt"}, f)


def ours(args, views, labels, kind, with_):
    with tempfile.TemporaryDirectory() as folder:
        data, out = os.path.join(folder, "in"), os.path.join(folder, "out")
        write(data, views, labels, kind)
        start = os.times().children_user
        subprocess.run([args.program, "data", "complete", data, out, "--with", with_, "--quiet", "--threads", "2"], check=True)
        seconds = os.times().children_user - start
        filled, _ = read_folder(out)
        return filled, seconds


def scaled(views):
    mean = [np.nanmean(v, 0) for v in views]
    sd = [np.where(np.nanstd(v, 0) > 0, np.nanstd(v, 0), 1) for v in views]
    return [(v - m) / s for v, m, s in zip(views, mean, sd)], mean, sd


def peer(imputer, views):
    z, mean, sd = scaled(views)
    start = time.process_time()
    filled = imputer().fit_transform(z)
    seconds = time.process_time() - start
    return [np.asarray(f) * s + m for f, m, s in zip(filled, mean, sd)], seconds


def peers():
    from polyview.imputation import CrossViewRegressionImputer, KNNViewImputer
    found = {"polyview knn": KNNViewImputer, "polyview cross-view": CrossViewRegressionImputer}
    try:
        from imml.impute import MOFAImputer
        found["imml MOFA"] = lambda: MOFAImputer(n_components=10, random_state=0)
    except ImportError:
        print("imml's MOFAImputer cannot be imported", file=sys.stderr)
    return found


# ---- figures ----

def error(views, filled, hidden, there, left):
    """Root mean square error on hidden rows by that of the mean of the rows that are left; mean over views."""
    ratios = []
    for k, v in enumerate(views):
        rows = there[:, k] & ~left[:, k]
        mean, sd = hidden[k][left[:, k]].mean(0), hidden[k][left[:, k]].std(0)
        sd = np.where(sd > 0, sd, 1)
        truth = (v[rows] - mean) / sd
        ratios.append(np.sqrt((((filled[k][rows] - mean) / sd - truth) ** 2).sum() / (truth ** 2).sum()))
    return float(np.mean(ratios))


def accuracy(filled, labels):
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import StratifiedKFold, cross_val_score
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler
    x = np.hstack(filled)
    folds = StratifiedKFold(5, shuffle=True, random_state=0)
    return cross_val_score(make_pipeline(StandardScaler(), LogisticRegression(max_iter=200)), x, labels, cv=folds).mean()


def bct(args, views, labels, kind):
    from sklearn.model_selection import StratifiedKFold
    right = 0
    with tempfile.TemporaryDirectory() as folder:
        data = os.path.join(folder, "in")
        write(data, views, labels, kind)
        for train, test in StratifiedKFold(5, shuffle=True, random_state=0).split(np.zeros(len(labels)), labels):
            flags = np.zeros(len(labels), int)
            flags[train] = 1
            np.savetxt(os.path.join(folder, "flags.txt"), flags, fmt="%d")
            out = os.path.join(folder, "out.csv")
            subprocess.run([args.program, "fit", "bct", data, "--labels", "file:" + os.path.join(folder, "flags.txt"), "--out", out,
                            "--quiet", "--threads", "2"], check=True)
            rows = list(csv.DictReader(open(out, encoding="utf-8")))
            right += sum(rows[i]["label"] == labels[i] for i in test)
    return right / len(labels)


def entries(args, rate=0.1):
    """Single entries taken away: the error per view, and what the report says it is."""
    print("| data | method | error per view | reported |\n|---|---|---|---|")
    for name in args.only or ["wine", "mfeat"]:
        views, _ = load(args, name)
        rng = np.random.default_rng(0)
        holes = [rng.random(v.shape) < rate for v in views]
        for method in ("auto", "knn", "ridge", "mixture"):
            with tempfile.TemporaryDirectory() as folder:
                data, out, report = (os.path.join(folder, x) for x in ("in", "out", "report.json"))
                os.makedirs(data)
                for k, v in enumerate(views):
                    np.save(os.path.join(data, "v{}.npy".format(k)), np.where(holes[k], np.nan, v))
                with open(os.path.join(data, "dataset.json"), "w", encoding="utf-8") as f:
                    json.dump({"parallax": 1, "name": "x", "views": [
                        {"name": "v{}".format(k), "kind": "real", "file": "v{}.npy".format(k)} for k in range(len(views))]}, f)
                subprocess.run([args.program, "data", "complete", data, out, "--with", method, "--quiet", "--json", report],
                               check=True)
                with open(os.path.join(out, "dataset.json"), encoding="utf-8") as f:
                    filled = [read_matrix(os.path.join(out, v["file"])) for v in json.load(f)["views"]]
                with open(report, encoding="utf-8") as f:
                    told = json.load(f)
            errors = []
            for k, v in enumerate(views):
                left = np.where(holes[k], np.nan, v)
                mean, sd = np.nanmean(left, 0), np.nanstd(left, 0)
                sd = np.where(sd > 0, sd, 1)
                square = ((((filled[k] - v) / sd)[holes[k]]) ** 2).sum() / ((((mean - v) / sd)[holes[k]]) ** 2).sum()
                errors.append("{:.2f}".format(np.sqrt(square)))
            print("| {} | {} | {} | {} |".format(name, method, " ".join(errors), " ".join(
                "{:.2f}".format(told["nrmse_entries.v{}".format(k)]) for k in range(len(views)))), flush=True)


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("program")
    p.add_argument("--data", default=os.environ.get("PARALLAX_DATA", "../shared/data"))
    p.add_argument("--seeds", type=int, default=3)
    p.add_argument("--only", action="append")
    p.add_argument("--accuracy", action="store_true", help="also the accuracy of logistic regression and of bct")
    p.add_argument("--entries", action="store_true", help="10 %% of the single entries instead of rows, ours only")
    args = p.parse_args()
    if args.entries:
        entries(args)
        return 0
    print("| data | hidden | method | error | seconds | accuracy |\n|---|---|---|---|---|---|")
    for name in args.only or ["wine", "breast_tcga", "newsgv2", "mfeat"]:
        views, labels = load(args, name)
        kind = "counts" if name == "newsgv2" else "real"
        for rate in (0.3, 0.5):
            results = {}
            for seed in range(args.seeds):
                there, left = hide(views, rate, seed)
                hidden = [np.where(left[:, [k]], v, np.nan) for k, v in enumerate(views)]
                jobs = {"ours, " + w: (lambda w=w: ours(args, hidden, labels, kind, w))
                        for w in ("auto", "mean", "knn", "ridge", "cca", "mixture")}
                for title, imputer in peers().items():
                    jobs[title] = lambda imputer=imputer: peer(imputer, hidden)
                for title, job in jobs.items():
                    try:
                        filled, seconds = job()
                    except Exception as e:
                        print("{} {} {}: {}".format(name, rate, title, str(e)[:200]), file=sys.stderr)
                        continue
                    good = accuracy(filled, labels) if args.accuracy and seed == 0 else np.nan
                    results.setdefault(title, []).append((error(views, filled, hidden, there, left), seconds, good))
                if args.accuracy and seed == 0:
                    results["bct, nothing filled"] = [(np.nan, np.nan, bct(args, hidden, labels, kind))]
            for title, found in results.items():
                e, s, a = (np.nanmean([f[k] for f in found]) if not all(np.isnan(f[k]) for f in found) else np.nan for k in range(3))
                print("| {} | {:.0f} % | {} | {} | {} | {} |".format(name, 100 * rate, title, *(
                    "" if np.isnan(v) else form.format(v) for v, form in ((e, "{:.3f}"), (s, "{:.2f}"), (a, "{:.4f}")))), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
