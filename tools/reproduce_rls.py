#!/usr/bin/env python3
"""Least squares beside Table 1 of Sindhwani, Niyogi and Belkin (2005): RLS with 12 labels on the WebKB course pages.

Usage: reproduce_rls.py PARALLAX [--data DIR] [--runs 100] [--gammas 0.001,0.01,0.1,1]

Every run draws 12 of the 1051 pages at random, again when a class is missing, and measures the precision-recall break-even
point of class `course` on the other 1039. Prints a Markdown table: representation, offset, gamma_a, mean and deviation.
"""
import argparse
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile

PUBLISHED = {"link": 72.0, "page": 71.6, "concat": 78.3}


def draw(truth, count, seed, path):
    numbers = random.Random(seed)
    chosen = numbers.sample(range(len(truth)), count)
    while len({truth[i] for i in chosen}) < 2:
        chosen = numbers.sample(range(len(truth)), count)
    with open(path, "w", encoding="utf-8") as f:
        f.writelines("1\n" if i in set(chosen) else "0\n" for i in range(len(truth)))


def prbep(parallax, data, labels, view, bias, gamma):
    argv = [parallax, "fit", "rls", data, "--labels", "file:" + labels, "--set", "view=" + view, "--set", "bias=" + bias,
            "--set", "gamma_a=" + gamma, "--set", "scale=none", "--quiet", "--json", "-"]
    result = json.loads(subprocess.run(argv, check=True, stdout=subprocess.PIPE).stdout)
    return 100 * result["metrics"]["prbep:course"]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("parallax")
    parser.add_argument("--data", default=os.environ.get("PARALLAX_DATA", "../shared/data"))
    parser.add_argument("--runs", type=int, default=100)
    parser.add_argument("--gammas", default="0.001,0.01,0.1,1")
    args = parser.parse_args()
    data = os.path.join(args.data, "webkb_course")
    if not os.path.isdir(data):
        print("reproduce_rls: webkb_course is not in {}; skipped".format(args.data), file=sys.stderr)
        return
    with open(os.path.join(data, "truth.txt"), encoding="utf-8") as f:
        truth = f.read().split("\n")[:-1]
    print("\n**webkb_course** (12 labels, {} draws; mean PRBEP of `course` in %)\n".format(args.runs))
    print("| view | bias | gamma_a | published | ours | difference |\n|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as scratch:
        for run in range(args.runs):
            draw(truth, 12, run, os.path.join(scratch, "{}.txt".format(run)))
        for view, published in PUBLISHED.items():
            for bias in ("1", "0"):
                for gamma in args.gammas.split(","):
                    found = [prbep(args.parallax, data, os.path.join(scratch, "{}.txt".format(run)), view, bias, gamma)
                             for run in range(args.runs)]
                    spread = statistics.stdev(found) if len(found) > 1 else 0.0
                    print("| {} | {} | {} | {:.1f} | **{:.1f} ± {:.1f}** | {:+.1f} |".format(
                        view, bias, gamma, published, statistics.mean(found), spread, statistics.mean(found) - published), flush=True)


if __name__ == "__main__":
    main()
