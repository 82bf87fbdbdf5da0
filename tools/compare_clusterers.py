#!/usr/bin/env python3
"""All clusterers beside each other on data with missing views, as Markdown: NMI and processor seconds.

Usage: compare_clusterers.py PARALLAX --journal FILE [--data DIR] [--sets NAME,...] [--rates 0,30,50] [--masks 3]
                             [--methods NAME,...] [--peers [NAME,...]] [--limit SECONDS] [--table]

Every method runs with its defaults; only the number of clusters is told. A share of the views is removed at random by
`parallax data drop` (every sample keeps one), the same for all methods, in as many masks as asked for. --peers adds
NEMO and EEIMVC of iMML and co-trained spectral clustering of polyview on mean-imputed views, where these Python
packages are installed; they get the scaled views as dense arrays with missing rows as NaN.

One line is appended to the journal per run, and a run found there is not repeated; --table only prints what it holds.
"""
import argparse
import csv
import importlib.util
import json
import multiprocessing
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time

SETS = ["mfeat", "newsgv2", "newsgv4", "webkb", "breast_tcga"]
OURS = {"spectral": [], "smd": [], "nlapreg": ["task=cluster"], "mvll": ["task=cluster"], "bct": ["task=cluster"], "coem": [],
        "mvkmeans": [], "mvc": [], "infobottleneck": [], "hybridtree": []}


def truth_of(data):
    with open(os.path.join(data, "dataset.json"), encoding="utf-8") as f:
        name = json.load(f)["truth"]
    with open(os.path.join(data, name), encoding="utf-8") as f:
        return f.read().split("\n")[:-1]


def drop(parallax, source, rate, seed, folder):
    if rate == 0:
        return source
    target = os.path.join(folder, f"{os.path.basename(source)}-{rate}-{seed}")
    if os.path.exists(target):
        return target
    subprocess.run([parallax, "data", "drop", source, target, "--rate", str(rate / 100), "--seed", str(seed), "--quiet"],
                   check=True)
    return target


def processor_seconds():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def ours(parallax, method, data, clusters, limit):
    with tempfile.TemporaryDirectory() as scratch:
        out = os.path.join(scratch, "r.json")
        command = [parallax, "fit", method, data, "--json", out, "--quiet", "--set", f"clusters={clusters}"]
        for s in OURS[method]:
            command += ["--set", s]
        done = subprocess.run(command, check=False, capture_output=True, text=True, timeout=limit)
        if done.returncode:
            raise RuntimeError(done.stderr.strip().split("\n")[-1])
        with open(out, encoding="utf-8") as f:
            return json.load(f)["metrics"]["nmi"]


# ---- peers ----

def dense_views(parallax, data):
    """Views as arrays, columns with zero mean and unit deviation, missing rows NaN."""
    import numpy
    with tempfile.TemporaryDirectory() as scratch:
        target = os.path.join(scratch, "dense")
        subprocess.run([parallax, "data", "convert", data, target, "--quiet"], check=True)
        with open(os.path.join(target, "dataset.json"), encoding="utf-8") as f:
            about = json.load(f)
        views = []
        for view in about["views"]:
            path = os.path.join(target, view["file"])
            if path.endswith(".mtx"):
                from scipy.io import mmread
                x = numpy.asarray(mmread(path).todense(), dtype=float)
            else:
                with open(path, encoding="utf-8") as f:
                    x = numpy.array([[float(v) for v in row] for row in csv.reader(f)])
            if view.get("present"):
                present = numpy.loadtxt(os.path.join(target, view["present"])) > 0
                x[~present] = numpy.nan
            if (x[~numpy.isnan(x[:, 0])] != 0).mean() < 0.25:
                x = x / numpy.maximum(numpy.sqrt((x * x).sum(1, keepdims=True)), 1e-300)
            else:
                deviation = numpy.nanstd(x, 0)
                x = (x - numpy.nanmean(x, 0)) / numpy.where(deviation > 0, deviation, 1)
            views.append(x)
        return views


def peer_nemo(views, clusters):
    from imml.cluster import NEMO
    return NEMO(n_clusters=clusters, random_state=0).fit_predict(views)


def peer_eeimvc(views, clusters):
    from imml.cluster import EEIMVC
    return EEIMVC(n_clusters=clusters, random_state=0).fit_predict(views)


def peer_polyview(views, clusters):
    import numpy
    from polyview.cluster import MultiViewCoTrainSpectralClustering
    filled = [numpy.where(numpy.isnan(x), numpy.nanmean(x, 0), x) for x in views]
    return MultiViewCoTrainSpectralClustering(n_clusters=clusters, random_state=0).fit_predict(filled)


PEERS = {"NEMO (iMML)": ("imml", peer_nemo), "EEIMVC (iMML)": ("imml", peer_eeimvc),
         "co-trained spectral (polyview)": ("polyview", peer_polyview)}


def peer_work(out, function, views, truth, clusters):
    from sklearn.metrics import normalized_mutual_info_score
    found = function(views, clusters)
    known = [i for i, t in enumerate(truth) if t != "?"]
    out.put(float(normalized_mutual_info_score([truth[i] for i in known], [found[i] for i in known])))


def peer(function, views, truth, clusters, limit):
    """In a process of its own, so that it can be ended and its processor time be told."""
    out = multiprocessing.Queue()
    work = multiprocessing.Process(target=peer_work, args=(out, function, views, truth, clusters))
    work.start()
    work.join(limit)
    if work.is_alive():
        work.kill()
        work.join()
        raise subprocess.TimeoutExpired(function.__name__, limit)
    if work.exitcode:
        raise RuntimeError("failed; see above")
    return out.get()


# ---- journal ----

def key_of(title, name, rate, mask):
    return json.dumps([title, name, rate, mask])


def read_journal(path):
    if not os.path.exists(path):
        return {}
    with open(path, encoding="utf-8") as f:
        lines = [json.loads(line) for line in f]
    return {key_of(*line["key"]): line for line in lines}


def plan(args, runs):
    """Masks of one data set stay together, so that they are made and read once."""
    for rate in args.rates:
        for name in args.sets:
            for mask in range(1, (args.masks if rate else 1) + 1):
                for title in runs:
                    yield title, name, rate, mask


def run_one(args, runs, title, data, clusters):
    function = runs[title]
    if not function:
        started, used = time.time(), processor_seconds()
        nmi = ours(args.parallax, title, data, clusters, args.limit)
    else:
        views, truth = dense_views(args.parallax, data), truth_of(data)
        started, used = time.time(), processor_seconds()
        nmi = peer(function, views, truth, clusters, args.limit)
    return {"nmi": nmi, "seconds": round(time.time() - started, 2), "processor": round(processor_seconds() - used, 2)}


def run_all(args, runs):
    journal = read_journal(args.journal)
    with tempfile.TemporaryDirectory() as scratch:
        for title, name, rate, mask in plan(args, runs):
            if key_of(title, name, rate, mask) in journal:
                continue
            data = drop(args.parallax, os.path.join(args.data, name), rate, mask, scratch)
            line = {"key": [title, name, rate, mask]}
            try:
                line.update(run_one(args, runs, title, data, len(set(truth_of(data)) - {"?"})))
            except subprocess.TimeoutExpired:
                line["problem"] = f"more than {args.limit:.0f} s"
            except RuntimeError as problem:
                line["problem"] = str(problem)
            with open(args.journal, "a", encoding="utf-8") as f:
                f.write(json.dumps(line) + "\n")


# ---- table ----

def cell(journal, args, title, name, rate):
    """Mean NMI over the masks and mean processor seconds; None where a run has no answer."""
    lines = [journal.get(key_of(title, name, rate, m), {}) for m in range(1, (args.masks if rate else 1) + 1)]
    if any("nmi" not in line for line in lines):
        return None
    return statistics.mean(line["nmi"] for line in lines), statistics.mean(line["processor"] for line in lines)


def number(value):
    return f"{value:.3f}".removeprefix("0")


def print_table(args, journal, runs):
    print("| method | missing | " + " | ".join(args.sets) + " | mean | seconds |\n|---|---|" + "---|" * (len(args.sets) + 2))
    for rate in args.rates:
        for title in runs:
            cells = [cell(journal, args, title, name, rate) for name in args.sets]
            if not any(cells):
                continue
            whole = number(statistics.mean(c[0] for c in cells)) if all(cells) else "-"
            seconds = [c[1] for c in cells if c]
            print(f"| {title} | {rate} % | " + " | ".join(number(c[0]) if c else "-" for c in cells) +
                  f" | {whole} | {min(seconds):.1f} to {max(seconds):.1f} |")
    for line in journal.values():
        if "problem" in line:
            print(f"- {line['key'][0]} on {line['key'][1]}, {line['key'][2]} % missing: {line['problem']}")


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("parallax")
    here = os.path.dirname(os.path.abspath(__file__))
    p.add_argument("--journal", required=True)
    p.add_argument("--data", default=os.environ.get("PARALLAX_DATA", os.path.join(here, "../../shared/data")))
    p.add_argument("--sets", default=",".join(SETS))
    p.add_argument("--rates", default="0,30,50")
    p.add_argument("--masks", type=int, default=3)
    p.add_argument("--methods", default=",".join(OURS))
    p.add_argument("--limit", type=float, default=600, help="seconds per run")
    p.add_argument("--peers", nargs="?", const=",".join(PEERS), default="", help="all, or those whose names are given")
    p.add_argument("--table", action="store_true")
    args = p.parse_args()
    args.sets, args.rates = args.sets.split(","), [int(r) for r in args.rates.split(",")]
    runs = {m: None for m in args.methods.split(",") if m}
    runs.update({t: f for t, (package, f) in PEERS.items() if args.peers and
                 any(t.startswith(name) for name in args.peers.split(",")) and
                 (args.table or importlib.util.find_spec(package))})
    if not args.table:
        run_all(args, runs)
    print_table(args, read_journal(args.journal), runs)
    return 0


if __name__ == "__main__":
    sys.exit(main())
