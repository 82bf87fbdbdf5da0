#!/usr/bin/env python3
"""Names in biomedical text (JNLPBA) beside the published figures of selective sampling and feature bootstrapping.

Usage: reproduce_ner.py PARALLAX [--data DIR] [--only PART]... [--sentences N] [--pool N] [--test N] [--rounds N]
                        [--batch N] [--steps N] [--history N] [--draw N] [--metrics LIST] [--shares LIST]
                        [--speed-sentences N] [--threads N] [--curves DIR]

Parts: supervised (F of view 1, view 2, both, and of support vector machines over words and spans), select (learning
curves of four ways to choose sentences, and the annotation saved at equal F), bootstrap (some of the training sentences
tagged, the rest as unlabelled text) and speed (beside CRFsuite, when the Python package pycrfsuite is there).
--curves DIR keeps the learning curves there, and does not simulate again what it finds there. Documents come from the
.docs lists; --draw N (not 0) shuffles those of the training text. The dev text has no such list and would be one
document of 1,739 sentences, in which the name memory of the support vector machines spreads every mistake: bootstrapping
is measured on the last training sentences instead, which are then part of no text. Prints Markdown.
"""
import argparse
import csv
import json
import math
import os
import random
import resource
import subprocess
import sys
import tempfile
import time

METRICS = ("random", "kl-max", "kl-ave", "f-complement")
PUBLISHED = {"kl-max": "26.7 % fewer sentences (f = 69)", "kl-ave": "23.5 % fewer tokens", "f-complement": "10 %"}


def read_sentences(path, docs=None):
    """(document, [lines]) of every sentence."""
    with open(path, encoding="utf-8") as f:
        blocks = [b.split("\n") for b in f.read().strip("\n").split("\n\n")]
    blocks = [[line for line in b if line] for b in blocks]
    blocks = [b for b in blocks if b]
    ids = ["0"] * len(blocks)
    if docs:
        with open(docs, encoding="utf-8") as f:
            ids = f.read().split()
    if len(ids) != len(blocks):
        raise SystemExit(f"{path}: {len(blocks)} sentences, {len(ids)} documents")
    return list(zip(ids, blocks))


def write_sentences(path, sentences, tags=True):
    last = None
    with open(path, "w", encoding="utf-8") as f:
        for document, lines in sentences:
            if document != last:
                f.write("-DOCSTART-\n\n")
            last = document
            f.write("\n".join(line if tags else line.split("\t")[0] for line in lines) + "\n\n")
    return path


def shuffled(sentences, draw):
    """The same documents in another order."""
    documents = {}
    for document, lines in sentences:
        documents.setdefault(document, []).append((document, lines))
    order = list(documents.values())
    random.Random(draw).shuffle(order)
    return [s for d in order for s in d]


class Bench:
    def __init__(self, args, scratch):
        self.args, self.scratch = args, scratch
        data = os.path.join(args.data, "ner_jnlpba")
        self.train = read_sentences(f"{data}/train.conll", f"{data}/train.docs.txt")
        if args.draw:
            self.train = shuffled(self.train, args.draw)
        self.test = read_sentences(f"{data}/test.conll", f"{data}/test.docs.txt")

    def path(self, name):
        return os.path.join(self.scratch, name)

    def run(self, *argv):
        """Wall seconds, processor seconds and largest memory (KiB) of a command."""
        start = time.time()
        child = subprocess.Popen([self.args.parallax, *argv, "--quiet", "--threads", str(self.args.threads)])
        _, status, use = os.wait4(child.pid, 0)
        child.returncode = status
        if status != 0:
            raise SystemExit(f"failed: {' '.join(argv)}")
        return time.time() - start, use.ru_utime + use.ru_stime, use.ru_maxrss

    def score(self, model, test):
        out = self.path("tagged")
        spent = self.run("ner", "tag", "--model", model, "--in", test, "--out", out)
        done = subprocess.run([self.args.parallax, "ner", "eval", "--in", out, "--json", "-"], check=True,
                              capture_output=True, text=True)
        return json.loads(done.stdout), spent


# ---- supervised ----

def supervised(b):
    n = b.args.sentences or len(b.train)
    train = write_sentences(b.path("train"), b.train[:n])
    test = write_sentences(b.path("test"), b.test)
    words = sum(len(s) for _, s in b.test)
    print(f"\n## Supervised, {n} training sentences, all {len(b.test)} test sentences\n")
    print("| learner | precision | recall | F1 | features | steps | training s | peak MiB | tokens/s (tagging) |")
    print("|---|---|---|---|---|---|---|---|---|")
    runs = [(f"memm, view {v}", ["--learner", "memm", "--view", v]) for v in ("1", "2", "all")]
    runs += [(f"svm, {w} window", ["--learner", "svm", "--set", f"window={w}"]) for w in ("simple", "enhanced")]
    for name, options in runs:
        model, log = b.path("m.plx"), b.path("log.json")
        spent = b.run("ner", "train", "--train", train, *options, "--model", model, "--json", log)
        facts = json.load(open(log, encoding="utf-8"))
        s, tagging = b.score(model, test)
        print(f"| {name} | {s['precision']:.4f} | {s['recall']:.4f} | {s['f1']:.4f} | {facts['features']} | "
              f"{facts.get('iterations', '')} | {spent[0]:.0f} | {spent[2] / 1024:.0f} | {words / tagging[0]:.0f} |",
              flush=True)


# ---- selective sampling ----

def cost_to_reach(rows, f1, column):
    """Linear interpolation of F over cost; None: never reached."""
    for a, z in zip(rows, rows[1:]):
        if a["f1"] < f1 <= z["f1"]:
            return a[column] + (f1 - a["f1"]) / (z["f1"] - a["f1"]) * (z[column] - a[column])
    return None


def select(b):
    seed, pool = 500, b.args.pool
    files = [write_sentences(b.path("seed"), b.train[:seed]), write_sentences(b.path("pool"), b.train[seed:seed + pool]),
             write_sentences(b.path("test"), b.test[:b.args.test])]
    print(f"\n## Selective sampling: {seed} seed, {pool} pool, {b.args.test} test sentences, batch {b.args.batch}, "
          f"{b.args.rounds} rounds, {b.args.steps} L-BFGS steps, history {b.args.history}, draw {b.args.draw}\n", flush=True)
    curves = {}
    metrics = [m for m in METRICS if m in b.args.metrics.split(",")]
    for metric in metrics:
        out = os.path.join(b.args.curves, f"{b.args.draw}_{metric}.csv") if b.args.curves else b.path(metric + ".csv")
        if not os.path.exists(out):
            simulate(b, files, metric, out)
        with open(out, encoding="utf-8") as f:
            curves[metric] = [{k: float(v) for k, v in row.items()} for row in csv.DictReader(f)]
    print("| sentences | " + " | ".join(metrics) + " |\n|" + "---|" * (len(metrics) + 1))
    for k, row in enumerate(curves[metrics[0]]):
        print(f"| {row['sentences']:.0f} | " + " | ".join(f"{curves[m][k]['f1']:.4f}" for m in metrics) + " |")
    print_savings(curves)


def simulate(b, files, metric, out):
    b.run("ner", "simulate", "--train", files[0], "--pool", files[1], "--test", files[2], "--metric", metric, "--batch",
          str(b.args.batch), "--rounds", str(b.args.rounds), "--set", f"max_iter={b.args.steps}", "--set",
          f"history={b.args.history}", "--seed", str(b.args.draw + 1), "--out", out)


def print_savings(curves):
    if "random" not in curves:
        return
    target = max(row["f1"] for row in curves["random"])
    print(f"\nAt the best F of random, {target:.4f}: 1 - cost / cost of random\n")
    print("| metric | sentences | tokens | entities | published |\n|---|---|---|---|---|")
    for metric in [m for m in METRICS[1:] if m in curves]:
        saved = []
        for column in ("sentences", "tokens", "entities"):
            ours, theirs = (cost_to_reach(curves[m], target, column) for m in (metric, "random"))
            saved.append(f"{100 * (1 - ours / theirs):.1f} %" if ours is not None and theirs else "not reached")
        print(f"| {metric} | " + " | ".join(saved) + f" | {PUBLISHED[metric]} |", flush=True)


# ---- bootstrapping ----

HELD_OUT = 1000  # training sentences that take the place of dev


def bootstrap(b):
    n = min(b.args.sentences or len(b.train), len(b.train)) - HELD_OUT
    dev, test = write_sentences(b.path("dev"), b.train[n:n + HELD_OUT]), write_sentences(b.path("test"), b.test)
    print(f"\n## Feature bootstrapping, {n} sentences tagged or as text, {HELD_OUT} others to choose by\n")
    print("| tagged | training | phase | F1, held out | support | F1 on test (best model) | without bootstrapping | s |")
    print("|---|---|---|---|---|---|---|---|", flush=True)
    for share in b.args.shares.split(","):
        few = max(1, round(n * float(share) / 100))
        train = write_sentences(b.path("few"), b.train[:few])
        text = write_sentences(b.path("text"), b.train[few:n], tags=False)
        model, log = b.path("boot.plx"), b.path("boot.json")
        plain = []
        for window in ("enhanced", "simple"):
            b.run("ner", "train", "--train", train, "--learner", "svm", "--set", f"window={window}", "--model",
                  b.path("plain.plx"))
            plain.append(f"{window} {b.score(b.path('plain.plx'), test)[0]['f1']:.4f}")
        spent = b.run("ner", "bootstrap", "--train", train, "--dev", dev, "--text", text, "--model", model, "--json", log)
        facts = json.load(open(log, encoding="utf-8"))
        best = b.score(model, test)[0]["f1"]
        for k, (phase, f1, support) in enumerate(zip(facts["phase"], facts["dev_f1"], facts["support"])):
            mark = f"{best:.4f}" if k == facts["best"] else ""
            first = (", ".join(plain), f"{spent[1]:.0f}") if k == 0 else ("", "")
            print(f"| {share} % | {k} | {phase} | {f1:.4f} | {support} | {mark} | {first[0]} | {first[1]} |", flush=True)


# ---- speed ----

def count_words(sentences):
    counts = {}
    for _, lines in sentences:
        for line in lines:
            word = line.split("\t")[0].lower()
            counts[word] = counts.get(word, 0) + 1
    return counts


def crf_features(dump, counts):
    """Sentences of (features without tag history, tag) from --dump-features; a history of <s> starts a sentence. The dump
    of a test text counts its own words: frequencies are put in by `counts`."""
    sentences = []
    with open(dump, encoding="utf-8") as f:
        for line in f:
            tag, *features = line.rstrip("\n").split("\t")
            if "t1:<s>" in features:
                sentences.append(([], []))
            plain = [x for x in features if not (x[0] == "t" and x[1] in "123") and not x.startswith(("par:", "fr:"))]
            word = next(x for x in features if x.startswith("w:"))[2:]
            plain.append(f"fr:{int(math.log2(1 + counts.get(word.lower(), 0)))}")
            sentences[-1][0].append(plain)
            sentences[-1][1].append(tag)
    return sentences


def speed(b):
    import pycrfsuite  # pylint: disable=import-outside-toplevel
    n = b.args.speed_sentences or len(b.train)
    train, test = write_sentences(b.path("train"), b.train[:n]), write_sentences(b.path("test"), b.test)
    dumps = [b.path("train.features"), b.path("test.features")]
    steps = b.args.steps
    common = ["ner", "train", "--learner", "memm", "--view", "all", "--set", f"max_iter={steps}"]
    spent = b.run(*common, "--train", train, "--model", b.path("m.plx"), "--json", b.path("log.json"))
    ours, tagging = b.score(b.path("m.plx"), test)
    b.run(*common[:-1], "max_iter=1", "--train", train, "--model", b.path("x.plx"), "--dump-features", dumps[0])
    b.run(*common[:-1], "max_iter=1", "--train", test, "--model", b.path("x.plx"), "--dump-features", dumps[1])
    few = b.run(*common[:-1], "max_iter=2", "--train", train, "--model", b.path("x.plx"))
    facts = json.load(open(b.path("log.json"), encoding="utf-8"))
    print(f"\n## Speed: {n} training sentences, all features, {steps} L-BFGS steps, threads {b.args.threads}, "
          f"load {os.getloadavg()[0]:.1f}\n")
    print("| | processor s per step | peak MiB | F1 |\n|---|---|---|---|")
    per_step = (spent[1] - few[1]) / max(1, facts["iterations"] - 2)
    print(f"| parallax memm | {per_step:.3f} | {spent[2] / 1024:.0f} | {ours['f1']:.4f} |", flush=True)
    for possible in (0, 1):
        print_crf(b, pycrfsuite, dumps, steps, possible, count_words(b.train[:n]))
    words = sum(len(s) for _, s in b.test)
    print(f"\nTagging, history 3: {words / tagging[1]:.0f} tokens per processor second")
    for history in (1, 2):
        b.run(*common, "--set", f"history={history}", "--train", train, "--model", b.path("h.plx"))
        result, spent = b.score(b.path("h.plx"), test)
        print(f"history {history}: {words / spent[1]:.0f} tokens per processor second, F1 {result['f1']:.4f}")


def print_crf(b, pycrfsuite, dumps, steps, possible, counts):
    """In a process of its own, so that its memory is its own."""
    child = os.fork()
    if child == 0:
        times = []
        for most in (2, steps):
            trainer = pycrfsuite.Trainer(verbose=False)
            for features, tags in crf_features(dumps[0], counts):
                trainer.append(features, tags)
            trainer.select("lbfgs")
            trainer.set_params({"c1": 0, "c2": 0.5, "max_iterations": most, "feature.possible_states": possible})
            start = time.process_time()
            trainer.train(b.path("crf"))
            times.append(time.process_time() - start)
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        tagger = pycrfsuite.Tagger()
        tagger.open(b.path("crf"))
        with open(b.path("crf.out"), "w", encoding="utf-8") as f:
            for features, tags in crf_features(dumps[1], counts):
                for gold, guess in zip(tags, tagger.tag(features)):
                    f.write(f"x {gold} {guess}\n")
                f.write("\n")
        done = subprocess.run([b.args.parallax, "ner", "eval", "--in", b.path("crf.out"), "--json", "-"], check=True,
                              capture_output=True, text=True)
        name = "all pairs" if possible else "pairs seen"
        print(f"| CRFsuite, {name} (with Python) | {(times[1] - times[0]) / max(1, steps - 2):.3f} | {peak:.0f} | "
              f"{json.loads(done.stdout)['f1']:.4f} |", flush=True)
        os._exit(0)
    os.waitpid(child, 0)


PARTS = {"supervised": supervised, "select": select, "bootstrap": bootstrap, "speed": speed}


def main():
    here = os.path.dirname(os.path.abspath(__file__))
    p = argparse.ArgumentParser()
    p.add_argument("parallax")
    p.add_argument("--data", default=os.environ.get("PARALLAX_DATA", os.path.join(here, "../../shared/data")))
    p.add_argument("--only", action="append", choices=sorted(PARTS))
    p.add_argument("--sentences", type=int, default=0)
    p.add_argument("--pool", type=int, default=10000)
    p.add_argument("--test", type=int, default=2000)
    p.add_argument("--rounds", type=int, default=30)
    p.add_argument("--batch", type=int, default=50)
    p.add_argument("--steps", type=int, default=60)
    p.add_argument("--history", type=int, default=3)
    p.add_argument("--draw", type=int, default=0)
    p.add_argument("--metrics", default=",".join(METRICS))
    p.add_argument("--curves")
    p.add_argument("--shares", default="5,10,20")
    p.add_argument("--speed-sentences", type=int, default=0)
    p.add_argument("--threads", type=int, default=os.cpu_count())
    args = p.parse_args()
    args.parallax = os.path.abspath(args.parallax)
    with tempfile.TemporaryDirectory(prefix="plx_ner_") as scratch:
        bench = Bench(args, scratch)
        for part in args.only or ("supervised", "select", "bootstrap", "speed"):
            try:
                PARTS[part](bench)
            except ImportError:
                print(f"\n## {part}: left out, the Python package pycrfsuite is not installed")
    return 0


if __name__ == "__main__":
    sys.exit(main())
