#!/usr/bin/env python3
"""What a tagger normalised per word loses against a conditional random field, on the same features of JNLPBA.

Usage: ner_peers.py PARALLAX [--data DIR] [--sentences N] [--sigmas LIST] [--histories LIST] [--c2 LIST] [--steps N]
                    [--only ours,maxent,crfsuite]

F1 on dev, to choose the strength of the prior by, and on test, of
  ours        `parallax ner train --learner memm`, all features;
  maxent      in Python (SciPy's L-BFGS, Viterbi), of the features CRFsuite gets and the tag before: the parameters of a
              first-order random field, normalised per word;
  CRFsuite    the same, normalised per sentence (python-crfsuite; left out when it is not there).
c2 = 1 / (2 sigma^2) is the same prior. Word frequencies of all three come from the training text. Prints Markdown.
"""
import argparse
import json
import os
import subprocess
import sys
import tempfile

import numpy as np
import scipy.optimize
import scipy.sparse

from reproduce_ner import count_words, crf_features, read_sentences, write_sentences

PARTS = ("train", "dev", "test")


class Desk:
    def __init__(self, args, scratch):
        data = os.path.join(args.data, "ner_jnlpba")
        self.args, self.scratch = args, scratch
        texts = {"train": read_sentences(f"{data}/train.conll", f"{data}/train.docs.txt")[:args.sentences],
                 "dev": read_sentences(f"{data}/dev.conll"),
                 "test": read_sentences(f"{data}/test.conll", f"{data}/test.docs.txt")}
        for part, sentences in texts.items():
            write_sentences(self.path(part), sentences)
        counts = count_words(texts["train"])
        self.features = {}
        for part in PARTS:
            self.run("ner", "train", "--train", self.path(part), "--learner", "memm", "--set", "max_iter=1", "--model",
                     self.path("x.plx"), "--dump-features", self.path("dump"))
            self.features[part] = crf_features(self.path("dump"), counts)

    def path(self, name):
        return os.path.join(self.scratch, name)

    def run(self, *argv):
        subprocess.run([self.args.parallax, *argv, "--quiet"], check=True)

    def measure(self, path):
        done = subprocess.run([self.args.parallax, "ner", "eval", "--in", path, "--json", "-"], check=True, capture_output=True,
                              text=True)
        return json.loads(done.stdout)

    def score(self, guess):
        """F1 on dev and test of guess(part): a list of tags per sentence."""
        found = []
        for part in ("dev", "test"):
            with open(self.path("guess"), "w", encoding="utf-8") as f:
                for (_, gold), tags in zip(self.features[part], guess(part)):
                    f.write("".join(f"x {g} {t}\n" for g, t in zip(gold, tags)) + "\n")
            found.append(self.measure(self.path("guess")))
        return found


def report(name, prior, steps, scores):
    dev, test = scores
    print(f"| {name} | {prior} | {steps} | {dev['f1']:.4f} | {test['precision']:.4f} | {test['recall']:.4f} | "
          f"{test['f1']:.4f} |", flush=True)


def ours(desk, history, sigma):
    model, log = desk.path("m.plx"), desk.path("log.json")
    desk.run("ner", "train", "--train", desk.path("train"), "--learner", "memm", "--set", f"history={history}", "--set",
             f"sigma={sigma}", "--set", f"max_iter={desk.args.steps}", "--model", model, "--json", log)
    scores = []
    for part in ("dev", "test"):
        desk.run("ner", "tag", "--model", model, "--in", desk.path(part), "--out", desk.path("tagged"))
        scores.append(desk.measure(desk.path("tagged")))
    with open(log, encoding="utf-8") as f:
        report(f"ours, history {history}", f"sigma {sigma}", json.load(f)["iterations"], scores)


class Maxent:
    """p(t | t before, features), weights by features and tag and by pairs of tags."""

    def __init__(self, sentences, sigma, steps):
        self.tags = sorted({t for _, tags in sentences for t in tags})
        self.ids = {}
        rows, gold = [], []
        for features, tags in sentences:
            for before, f, t in zip(["<s>", *tags], features, tags):
                rows.append([self.ids.setdefault(x, len(self.ids)) for x in [*f, "t1:" + before]])
                gold.append(self.tags.index(t))
        ptr = np.concatenate([[0], np.cumsum([len(r) for r in rows])])
        x = scipy.sparse.csr_matrix((np.ones(ptr[-1]), np.concatenate(rows), ptr), shape=(len(rows), len(self.ids)))
        back, shape, at = x.T.tocsr(), (len(self.ids), len(self.tags)), (np.arange(len(gold)), np.array(gold))

        def loss(w):
            w = w.reshape(shape)
            s = x @ w
            s -= np.logaddexp.reduce(s, axis=1)[:, None]
            p = np.exp(s)
            p[at] -= 1
            return -s[at].sum() + (w**2).sum() / (2 * sigma**2), (back @ p + w / sigma**2).ravel()

        done = scipy.optimize.minimize(loss, np.zeros(shape[0] * shape[1]), jac=True, method="L-BFGS-B",
                                       options={"maxiter": steps, "maxfun": 2 * steps, "maxcor": 6, "ftol": 1e-10})
        self.weight, self.steps = done.x.reshape(shape), done.nit

    def tag(self, features):
        """The most probable sequence."""
        nothing = np.zeros(len(self.tags))
        pairs = np.array([self.weight[self.ids[k]] if (k := "t1:" + t) in self.ids else nothing for t in self.tags])
        back, score = [], None
        for f in features:
            u = sum((self.weight[self.ids[x]] for x in f if x in self.ids), nothing)
            if score is None:
                s = u + self.weight[self.ids["t1:<s>"]]
                score = s - np.logaddexp.reduce(s)
                continue
            s = u + pairs
            s = score[:, None] + s - np.logaddexp.reduce(s, axis=1)[:, None]
            back.append(s.argmax(0))
            score = s.max(0)
        path = [int(score.argmax())]
        for step in reversed(back):
            path.append(int(step[path[-1]]))
        return [self.tags[k] for k in reversed(path)]


def crfsuite(desk, c2):
    import pycrfsuite  # pylint: disable=import-outside-toplevel
    trainer, tagger = pycrfsuite.Trainer(verbose=False), pycrfsuite.Tagger()
    for features, tags in desk.features["train"]:
        trainer.append(features, tags)
    trainer.select("lbfgs")
    trainer.set_params({"c1": 0, "c2": c2, "max_iterations": desk.args.steps})
    trainer.train(desk.path("crf"))
    tagger.open(desk.path("crf"))
    scores = desk.score(lambda part: [tagger.tag(f) for f, _ in desk.features[part]])
    report("CRFsuite", f"c2 {c2}", trainer.logparser.last_iteration["num"], scores)


def main():
    here = os.path.dirname(os.path.abspath(__file__))
    p = argparse.ArgumentParser()
    p.add_argument("parallax")
    p.add_argument("--data", default=os.environ.get("PARALLAX_DATA", os.path.join(here, "../../shared/data")))
    p.add_argument("--sentences", type=int, default=3000)
    p.add_argument("--sigmas", default="0.5,1,2")
    p.add_argument("--histories", default="1,2,3")
    p.add_argument("--c2", default="0.5,1,2")
    p.add_argument("--steps", type=int, default=400)
    p.add_argument("--only", default="ours,maxent,crfsuite")
    args = p.parse_args()
    args.parallax = os.path.abspath(args.parallax)
    with tempfile.TemporaryDirectory(prefix="plx_ner_") as scratch:
        desk = Desk(args, scratch)
        print(f"First {args.sentences} training sentences\n")
        print("| | prior | steps | F1 on dev | precision on test | recall | F1 |\n|---|---|---|---|---|---|---|")
        only, sigmas = args.only.split(","), args.sigmas.split(",")
        for history in args.histories.split(",") if "ours" in only else []:
            for sigma in sigmas:
                ours(desk, history, sigma)
        for sigma in sigmas if "maxent" in only else []:
            model = Maxent(desk.features["train"], float(sigma), args.steps)
            report("maxent, tag before", f"sigma {sigma}", model.steps,
                   desk.score(lambda part, m=model: [m.tag(f) for f, _ in desk.features[part]]))
        try:
            for c2 in args.c2.split(",") if "crfsuite" in only else []:
                crfsuite(desk, float(c2))
        except ImportError:
            print("\nCRFsuite: left out, the Python package python-crfsuite is not installed")
    return 0


if __name__ == "__main__":
    sys.exit(main())
