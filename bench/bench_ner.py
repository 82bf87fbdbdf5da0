#!/usr/bin/env python3
"""Taggers of names beside their peers, on JNLPBA (ner_jnlpba): support vector machines beside liblinear on the same matrix.

Usage: bench_ner.py PARALLAX THREADS [SENTENCES]

Time and objective of every category with the simple and the enhanced window; liblinear is scikit-learn's LinearSVC (dual
coordinate descent) on the features that --dump-features wrote, asked for its default accuracy and for 1e-8. The
conditional Markov model beside CRFsuite is `tools/reproduce_ner.py --only speed`. Processor seconds.
"""
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
import warnings

import numpy as np
import scipy.sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import LinearSVC

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../tools"))
from reproduce_ner import read_sentences, write_sentences  # noqa: E402


def matrix(dump):
    """Design matrix and labels of a file of --dump-features."""
    names, labels, ptr, col, val = {}, [], [0], [], []
    with open(dump, encoding="utf-8") as f:
        for line in f:
            _, _, _, label, *features = line.rstrip("\n").split("\t")
            labels.append(label)
            for x in features:
                name, value = x.rsplit("=", 1)
                col.append(names.setdefault(name, len(names)))
                val.append(float(value))
            ptr.append(len(col))
    return scipy.sparse.csr_matrix((val, col, ptr), shape=(len(labels), len(names))), np.array(labels)


def objective(x, y, w):
    slack = np.maximum(0, 1 - y * (x @ w))
    return 0.5 * w @ w + slack @ slack


def theirs(x, labels, categories, tol):
    start, values = time.process_time(), []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        for category in categories:
            y = np.where(labels == category, 1.0, -1.0)
            m = LinearSVC(C=1, loss="squared_hinge", dual=True, fit_intercept=False, tol=tol, max_iter=20000).fit(x, y)
            values.append((y, m.coef_[0]))
    spent = time.process_time() - start
    return spent, sum(objective(x, y, w) for y, w in values)


def ours(parallax, threads, train, window, scratch, dump):
    model, log = os.path.join(scratch, "m.plx"), os.path.join(scratch, "log.json")
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([parallax, "ner", "train", "--train", train, "--learner", "svm", "--set", f"window={window}", "--model",
                    model, "--json", log, "--quiet", "--threads", threads, *(["--dump-features", dump] if dump else [])],
                   check=True)
    use = resource.getrusage(resource.RUSAGE_CHILDREN)
    with open(log, encoding="utf-8") as f:
        facts = json.load(f)
    values = {k[10:]: v for k, v in facts.items() if k.startswith("objective:")}
    return use.ru_utime + use.ru_stime - before.ru_utime - before.ru_stime, values


def main():
    parallax, threads = os.path.abspath(sys.argv[1]), sys.argv[2]
    n = int(sys.argv[3]) if len(sys.argv) > 3 else 400
    root = os.environ.get("PARALLAX_DATA", os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../shared/data"))
    data = os.path.join(root, "ner_jnlpba")
    if not os.path.isdir(data):
        print(f"ner: left out, {data} is not there")
        return
    with tempfile.TemporaryDirectory(prefix="plx_ner_") as scratch:
        sentences = read_sentences(f"{data}/train.conll", f"{data}/train.docs.txt")[:n]
        train = write_sentences(os.path.join(scratch, "train"), sentences)
        for window in ("simple", "enhanced"):
            dump = os.path.join(scratch, "features")
            ours(parallax, threads, train, window, scratch, dump)
            spent, values = ours(parallax, threads, train, window, scratch, None)
            x, labels = matrix(dump)
            print(f"ner svm {window}, {n} sentences, {x.shape[0]} x {x.shape[1]}, {x.nnz} entries, {len(values)} categories: "
                  f"{spent:.1f} s (reading and writing included), sum of objectives {sum(values.values()):.8g}", flush=True)
            for tol in (1e-4, 1e-8):
                peer, value = theirs(x, labels, sorted(values), tol)
                print(f"  LinearSVC, tol {tol:g}: {peer:.1f} s ({peer / spent:.2f} x ours), {value:.8g}", flush=True)


if __name__ == "__main__":
    main()
