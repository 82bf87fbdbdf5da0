#!/usr/bin/env python3
"""kcca beside Tables 2 to 4 and 6, 7 of Fortuna and Shawe-Taylor (2005), on Europarl instead of the Hansards and Reuters.

Usage: reproduce_kcca.py PARALLAX [--data DIR] [--runs 5] [--dims 400,800,1200] [--classes-only] [--retrieval-only]

Retrieval: every run draws 1500 pairs to learn the space from and 896 others to search among (the sizes of the paper),
tf-idf weights, tau 0.5, threshold 0.4. Whole documents find their mates; then queries of the 5 and 10 words of a document
with the largest tf-idf weight (each word once) find the document itself or its mate.
Classification: topics are built from the titles of the debates (see TOPICS). The space comes from 1500 pairs without a
topic; a linear support vector machine (C = 1, 800 directions) is trained on one language of half of the documents with a
topic and applied to the other half in either language. Average precision per topic, as in Table 7; the baseline is a
linear classifier on the words of one language (svm where the command has it, else rls).
"""
import argparse
import collections
import json
import math
import os
import random
import re
import statistics
import subprocess
import sys
import tempfile

LEARN, SEARCH = 1500, 896
DIRECTIONS = (("en", "en"), ("en", "fr"), ("fr", "en"), ("fr", "fr"))

# Top1/Top10 in percent, human generated corpus: Tables 3 and 4
PUBLISHED = {
    5: {400: ("76/98", "59/93", "60/92", "74/98"), 800: ("83/99", "64/95", "65/94", "81/99"), 1200: ("87/99", "66/96", "65/95", "84/99")},
    10: {400: ("93/99", "79/99", "78/97", "90/100"), 800: ("96/100", "82/99", "81/98", "94/100"), 1200: ("97/100", "82/99", "81/98", "96/100")}}

# words that a title must begin a word with; titles of several topics are left out
TOPICS = {"fisheries": r"fish|catch|cod\b|tuna", "budget": r"budget|discharge|financ",
          "transport": r"transport|rail|roads?\b|air\b|airports?|airlines?|aviation|ships?\b|shipping|ports?\b|maritime",
          "environment": r"environment|climate|waste|emission|pollut|water", "health": r"health|medic|food|tobacco|disease|bse",
          "farming": r"agricult|farm|wine|milk|sugar|beef|animal"}


# ---- data ----

def lines(path):
    with open(path, encoding="utf-8") as f:
        return f.read().split("\n")[:-1]


def read_counts(path):
    """Rows as {column: count}, and the number of columns."""
    with open(path, encoding="utf-8") as f:
        body = [line for line in f if not line.startswith("%")]
    rows, cols, _ = map(int, body[0].split())
    out = [{} for _ in range(rows)]
    for line in body[1:]:
        i, j, x = line.split()
        out[int(i) - 1][int(j) - 1] = float(x)
    return out, cols


def write_set(folder, name, views, ids, cols, labels=None, truth=None):
    """views: {language: list of rows, None where the language is missing}"""
    path = os.path.join(folder, name)
    os.mkdir(path)
    manifest = {"parallax": 1, "name": name, "ids": "ids.txt", "views": []}
    for view, rows in views.items():
        with open(os.path.join(path, view + ".mtx"), "w", encoding="utf-8") as f:
            entries = sum(len(row) for row in rows if row)
            f.write("%%MatrixMarket matrix coordinate real general\n{} {} {}\n".format(len(rows), cols[view], entries))
            for i, row in enumerate(rows):
                f.writelines("{} {} {:g}\n".format(i + 1, j + 1, row[j]) for j in sorted(row or {}))
        with open(os.path.join(path, view + ".present.txt"), "w", encoding="utf-8") as f:
            f.writelines("0\n" if row is None else "1\n" for row in rows)
        manifest["views"].append({"name": view, "file": view + ".mtx", "kind": "counts", "present": view + ".present.txt"})
    for key, values in (("ids", ids), ("labels", labels), ("truth", truth)):
        if values is None:
            continue
        manifest[key] = key + ".txt"
        with open(os.path.join(path, key + ".txt"), "w", encoding="utf-8") as f:
            f.writelines(str(v) + "\n" for v in values)
    with open(os.path.join(path, "dataset.json"), "w", encoding="utf-8") as f:
        json.dump(manifest, f)
    return path


def keywords(row, idf, count):
    """The words of largest tf-idf weight, once each; ties: smaller column."""
    best = sorted((j for j in row if idf.get(j, 0) > 0), key=lambda j: (-row[j] * idf[j], j))[:count]
    return {j: 1.0 for j in best}


def idf_of(rows):
    df = collections.Counter(j for row in rows for j in row)
    return {j: math.log(len(rows) / n) for j, n in df.items()}


def run(argv):
    done = subprocess.run(argv, stdout=subprocess.PIPE, stderr=subprocess.PIPE, universal_newlines=True)
    if done.returncode:
        sys.exit("{}\n{}".format(" ".join(argv), done.stderr))
    return done.stdout


# ---- retrieval ----

def search(parallax, model, queries, items, source, target):
    found = json.loads(run([parallax, "retrieve", model, "--query", queries, "--in", items, "--from", source, "--to", target,
                            "--quiet", "--json", "-"]))["metrics"]
    return 100 * found["top1"], 100 * found["top10"]


def retrieval_run(parallax, data, dims, seed, results):
    rows, cols, ids = data
    chosen = random.Random(seed).sample(range(len(ids)), LEARN + SEARCH)
    learn, other = chosen[:LEARN], chosen[LEARN:]
    with tempfile.TemporaryDirectory() as scratch:
        train = write_set(scratch, "train", {v: [rows[v][i] for i in learn] for v in rows}, [ids[i] for i in learn], cols)
        test = write_set(scratch, "test", {v: [rows[v][i] for i in other] for v in rows}, [ids[i] for i in other], cols)
        idf = {v: idf_of([rows[v][i] for i in learn]) for v in rows}
        queries = {words: write_set(scratch, "q{}".format(words), {v: [keywords(rows[v][i], idf[v], words) for i in other] for v in rows},
                                    [ids[i] for i in other], cols) for words in (5, 10)}
        for dim in dims:
            model = os.path.join(scratch, "m{}.plx".format(dim))
            run([parallax, "fit", "kcca", train, "--set", "scale=tfidf", "--set", "tau=0.5", "--set", "gs_threshold=0.4", "--set",
                 "dim={}".format(dim), "--set", "retrieval=false", "--model", model, "--quiet"])
            for source, target in DIRECTIONS:
                if source != target:
                    results[dim, 0, source, target].append(search(parallax, model, test, test, source, target))
                for words, path in queries.items():
                    results[dim, words, source, target].append(search(parallax, model, path, test, source, target))
            os.remove(model)


def cell(found):
    top1, top10 = zip(*found)
    return "{:.0f}/{:.0f}".format(statistics.mean(top1), statistics.mean(top10))


def retrieval(parallax, data, dims, runs):
    results = collections.defaultdict(list)
    for seed in range(runs):
        retrieval_run(parallax, data, dims, seed, results)
    print("\n**Mate retrieval, whole documents** (Top1/Top10 in %, {} draws; published: Top1 96-98, Top10 100)\n".format(runs))
    print("| dim | EN-FR | FR-EN |\n|---|---|---|")
    for dim in dims:
        print("| {} | **{}** | **{}** |".format(dim, cell(results[dim, 0, "en", "fr"]), cell(results[dim, 0, "fr", "en"])))
    for words in (5, 10):
        print("\n**Queries of {} keywords** (Top1/Top10 in %: published, **ours**)\n".format(words))
        print("| dim | EN-EN | EN-FR | FR-EN | FR-FR |\n|---|---|---|---|---|")
        for dim in dims:
            published = PUBLISHED[words].get(dim, ("",) * 4)
            print("| {} | ".format(dim) + " | ".join("{}, **{}**".format(p, cell(results[dim, words, s, t]))
                                                     for p, (s, t) in zip(published, DIRECTIONS)) + " |")
    sys.stdout.flush()


# ---- classification ----

def topic_of(title):
    found = [t for t, pattern in TOPICS.items() if re.search(r"\b(?:" + pattern + ")", title, re.IGNORECASE)]
    return found[0] if len(found) == 1 else None


def average_precision(scores, relevant):
    order = sorted(range(len(scores)), key=lambda i: -scores[i])
    hits = total = 0
    for place, i in enumerate(order, 1):
        if relevant[i]:
            hits += 1
            total += hits / place
    return 100 * total / max(hits, 1)


def read_scores(path):
    with open(path, encoding="utf-8") as f:
        head = f.readline().rstrip("\n").split(",")
        body = [line.rstrip("\n").split(",") for line in f]
    return {h[6:]: [float(r[k]) for r in body] for k, h in enumerate(head) if h.startswith("score_")}


def judge(path, begin, truth, into, key):
    for topic, values in read_scores(path).items():
        into[key, topic].append(average_precision(values[begin:], [t == topic for t in truth]))


def classification_run(parallax, data, topics, baseline, seed, results):
    rows, cols, ids = data
    numbers = random.Random(1000 + seed)
    plain = numbers.sample([i for i, t in enumerate(topics) if t is None], LEARN)
    labelled = [i for i, t in enumerate(topics) if t]
    numbers.shuffle(labelled)
    train, test = labelled[:len(labelled) // 2], labelled[len(labelled) // 2:]
    truth = [topics[i] for i in test]
    everyone = plain + train + test
    names = ["{}".format(k) for k in range(len(everyone))]
    labels = ["?"] * len(plain) + [topics[i] for i in train] + ["?"] * len(test)
    with tempfile.TemporaryDirectory() as scratch:
        out = os.path.join(scratch, "p.csv")
        for source, target in DIRECTIONS:
            views = {v: [rows[v][i] for i in plain] + [rows[v][i] if v == source else None for i in train] +
                     [rows[v][i] if v == target else None for i in test] for v in rows}
            path = write_set(scratch, source + target, views, names, cols, labels)
            run([parallax, "fit", "kcca", path, "--set", "scale=tfidf", "--set", "tau=0.5", "--set", "gs_threshold=0.4", "--set", "dim=800",
                 "--set", "retrieval=false", "--set", "classifier=svm", "--out", out, "--quiet"])
            judge(out, len(plain) + len(train), truth, results, (source, target))
        for view in rows:
            some = train + test
            path = write_set(scratch, "only-" + view, {view: [rows[view][i] for i in some]}, names[len(plain):], cols, labels[len(plain):])
            run([parallax, "fit", baseline, path, "--set", "scale=tfidf", "--out", out, "--quiet"])
            judge(out, len(train), truth, results, (view,))


def classification(parallax, data, titles, runs):
    topics = [topic_of(t) for t in titles]
    counts = collections.Counter(t for t in topics if t)
    known = run([parallax, "methods"]).split()
    baseline = "svm" if "svm" in known else "rls"
    results = collections.defaultdict(list)
    for seed in range(runs):
        classification_run(parallax, data, topics, baseline, seed, results)
    print("\n**Classification by topic** (average precision in %, {} draws; trained on the first language, applied to the second)\n".format(runs))
    print("| | " + " | ".join("{} ({})".format(t, counts[t]) for t in TOPICS) + " | mean |\n|---" + "|---" * (len(TOPICS) + 1) + "|")
    rows = [("words of EN only ({})".format(baseline), ("en",)), ("words of FR only ({})".format(baseline), ("fr",))]
    rows += [("kcca {}-{}".format(s.upper(), t.upper()), (s, t)) for s, t in DIRECTIONS]
    for name, key in rows:
        values = [statistics.mean(results[key, t]) for t in TOPICS]
        print("| {} | ".format(name) + " | ".join("{:.0f}".format(v) for v in values) + " | **{:.1f}** |".format(statistics.mean(values)))
    sys.stdout.flush()


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("parallax")
    parser.add_argument("--data", default=os.environ.get("PARALLAX_DATA", "../shared/data"))
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--dims", default="400,800,1200")
    parser.add_argument("--classes-only", action="store_true")
    parser.add_argument("--retrieval-only", action="store_true")
    args = parser.parse_args()
    folder = os.path.join(args.data, "europarl_en_fr")
    if not os.path.isdir(folder):
        print("reproduce_kcca: europarl_en_fr is not in {}; skipped".format(args.data), file=sys.stderr)
        return
    rows, cols = {}, {}
    for view in ("en", "fr"):
        rows[view], cols[view] = read_counts(os.path.join(folder, view + ".mtx"))
    data = rows, cols, lines(os.path.join(folder, "ids.txt"))
    if not args.classes_only:
        retrieval(args.parallax, data, [int(d) for d in args.dims.split(",")], args.runs)
    if not args.retrieval_only:
        classification(args.parallax, data, [line.split("\t")[1] for line in lines(os.path.join(folder, "debates.txt"))], args.runs)


if __name__ == "__main__":
    main()
