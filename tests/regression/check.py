#!/usr/bin/env python3
"""Known figures, measured again: results.csv says what was found, with which settings, and how far it may move.

Usage: check.py PARALLAX [--print]

A row is method,dataset,settings,metric,value,tolerance,published: `settings` are the options of `parallax fit`, `metric` is a key of its
JSON metrics, `published` the mean of a paper for the same task, if there is one (a row here is one draw of the labels; docs/methods
compares means). A data set "make KIND SETTING..." is generated here, with seed 1; every method has a row on one of those, so nothing
keeps the test from running. Other data sets are directories of $PARALLAX_DATA (default: ../shared/data beside the source) and are
passed over where they are not found. --print writes the table with the values found.
"""
import csv
import json
import os
import re
import shlex
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))


def measure(parallax, data, row):
    argv = [parallax, "fit", row["method"], data, *shlex.split(row["settings"]), "--quiet", "--json", "-"]
    result = json.loads(subprocess.run(argv, check=True, stdout=subprocess.PIPE).stdout)
    return result["metrics"][row["metric"]]


def methods():
    """All methods, from the list the library is built from."""
    with open(os.path.join(HERE, "..", "..", "src", "methods", "methods.def"), encoding="utf-8") as f:
        return re.findall(r"^PLX__METHOD\((\w+)\)", f.read(), re.MULTILINE)


def find_data(parallax, root, made, scratch, name):
    """Path of a data set; generated once. None: it is not on this machine."""
    if not name.startswith("make "):
        path = os.path.join(root, name)
        return path if os.path.isdir(path) else None
    if name not in made:
        kind, *settings = name.split()[1:]
        made[name] = os.path.join(scratch, "data{}".format(len(made)))
        options = [word for setting in settings for word in ("--set", setting)]
        subprocess.run([parallax, "data", "generate", kind, made[name], "--seed", "1", "--quiet", *options], check=True)
    return made[name]


def run(parallax, rows, root, scratch, writer):
    done = failed = 0
    made = {}
    for row in rows:
        data = find_data(parallax, root, made, scratch, row["dataset"])
        if data is None:
            print("regression: {} is not in {}; skipped".format(row["dataset"], root), file=sys.stderr)
            continue
        value = measure(parallax, data, row)
        done += 1
        if writer:
            writer.writerow(dict(row, value="{:.4f}".format(value)))
        elif not abs(value - float(row["value"])) <= float(row["tolerance"]):
            failed += 1
            print("{} on {} ({}): {} is {:.4f}, expected {} +- {}".format(
                row["method"], row["dataset"], row["settings"], row["metric"], value, row["value"], row["tolerance"]))
    return done, failed


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    parallax, printing = sys.argv[1], "--print" in sys.argv[2:]
    root = os.environ.get("PARALLAX_DATA") or os.path.join(HERE, "..", "..", "..", "shared", "data")
    with open(os.path.join(HERE, "results.csv"), newline="", encoding="utf-8") as f:
        rows = list(csv.DictReader(f))
    covered = {row["method"] for row in rows if row["dataset"].startswith("make ")}
    missing = [m for m in methods() if m not in covered]
    for m in missing:
        print("regression: {} has no row on generated data in results.csv".format(m))
    writer = csv.DictWriter(sys.stdout, rows[0].keys(), lineterminator="\n") if printing else None
    if writer:
        writer.writeheader()
    with tempfile.TemporaryDirectory() as scratch:
        done, failed = run(parallax, rows, root, scratch, writer)
    if not printing:
        print("regression: {} figures measured, {} moved".format(done, failed))
    sys.exit(1 if failed or missing else 0)


if __name__ == "__main__":
    main()
