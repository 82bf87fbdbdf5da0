#!/usr/bin/env python3
"""Known figures, measured again: results.csv says what was found, with which settings, and how far it may move.

Usage: check.py PARALLAX [--print]

A row is method,dataset,settings,metric,value,tolerance,published: `settings` are the options of `parallax fit`, `metric` is a key of its
JSON metrics, `published` the mean of a paper for the same task, if there is one (a row here is one draw of the labels; docs/methods
compares means). Data sets are directories of $PARALLAX_DATA (default: ../shared/data beside the source); without any of them the exit
status is 77, which ctest calls skipped. --print writes the table with the values found.
"""
import csv
import json
import os
import shlex
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))


def measure(parallax, data, row):
    argv = [parallax, "fit", row["method"], data, *shlex.split(row["settings"]), "--quiet", "--json", "-"]
    result = json.loads(subprocess.run(argv, check=True, stdout=subprocess.PIPE).stdout)
    return result["metrics"][row["metric"]]


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    parallax, printing = sys.argv[1], "--print" in sys.argv[2:]
    root = os.environ.get("PARALLAX_DATA") or os.path.join(HERE, "..", "..", "..", "shared", "data")
    with open(os.path.join(HERE, "results.csv"), newline="", encoding="utf-8") as f:
        rows = list(csv.DictReader(f))
    done = failed = 0
    writer = csv.DictWriter(sys.stdout, rows[0].keys(), lineterminator="\n")
    if printing:
        writer.writeheader()
    for row in rows:
        data = os.path.join(root, row["dataset"])
        if not os.path.isdir(data):
            print("regression: {} is not in {}; skipped".format(row["dataset"], root), file=sys.stderr)
            continue
        value = measure(parallax, data, row)
        done += 1
        if printing:
            writer.writerow(dict(row, value="{:.4f}".format(value)))
        elif abs(value - float(row["value"])) > float(row["tolerance"]):
            failed += 1
            print("{} on {} ({}): {} is {:.4f}, expected {} +- {}".format(
                row["method"], row["dataset"], row["settings"], row["metric"], value, row["value"], row["tolerance"]))
    if not done:
        sys.exit(77)
    if not printing:
        print("regression: {} figures measured, {} moved".format(done, failed))
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
