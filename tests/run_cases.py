#!/usr/bin/env python3
"""Run golden cases through the command and compare what they say with what it wrote.

usage: run_cases.py PARALLAX [--only PATTERN] [--device NAME] [--verbose] DIR...

Each DIR is a case (it has a case.json) or a tree of cases. A case runs with its own directory as the working
directory; everything it writes goes to a scratch directory. Numbers agree when |a - b| <= atol + rtol |b| with b
expected, and shapes must be the same. The last line reads "N passed, M failed"; the exit status is 1 when a case failed
or none was found.
"""
import csv
import fnmatch
import json
import math
import os
import re
import subprocess
import sys
import tempfile

TIME_LIMIT = 600
DEVICE_VERBS = ("fit", "predict", "transform", "retrieve")
KNOWN_KEYS = {"argv", "steps", "arrays", "labels", "json", "metrics_at_least", "ranking", "outputs", "error_contains",
              "note"}


class Mismatch(Exception):
    """What differs, in words."""


# ---- numbers and tables ----

def to_number(text):
    try:
        return float(text)
    except (TypeError, ValueError):
        return None


def near(found, expected, rtol, atol):
    if math.isnan(found) or math.isnan(expected):
        return math.isnan(found) and math.isnan(expected)
    if math.isinf(found) or math.isinf(expected):
        return found == expected
    return abs(found - expected) <= atol + rtol * abs(expected)


def tolerances(entry):
    if not isinstance(entry, dict):
        return 0.0, 0.0
    return float(entry.get("rtol", 0)), float(entry.get("atol", 0))


def read_text(path):
    if not os.path.exists(path):
        raise Mismatch(f"{os.path.basename(path)} was not written")
    with open(path, encoding="utf-8") as f:
        return f.read()


def read_matrix(path):
    """Rows of numbers of a csv file; a header, which begins with "id", and the names under it are left out."""
    rows = []
    lines = [fields for fields in csv.reader(read_text(path).splitlines()) if fields and any(fields)]
    named = bool(lines) and lines[0][0] == "id"
    for number, fields in enumerate(lines[named:], 1 + named):
        row = [to_number(field) for field in fields[named:]]
        if None in row:
            raise Mismatch(f"{os.path.basename(path)} line {number}: not a number: {','.join(fields)}")
        rows.append(row)
    return rows


def shape(rows):
    return f"{len(rows)} x {len(rows[0]) if rows else 0}"


def compare_matrix(name, found, expected, rtol, atol):
    if [len(r) for r in found] != [len(r) for r in expected]:
        raise Mismatch(f"array {name} is {shape(found)}, expected {shape(expected)}")
    for i, (a, b) in enumerate(zip(found, expected)):
        for j, (x, y) in enumerate(zip(a, b)):
            if not near(x, y, rtol, atol):
                raise Mismatch(f"array {name} ({i}, {j}): {x!r}, expected {y!r}")


# ---- labels ----

def read_predictions(path):
    with open(path, encoding="utf-8", newline="") as f:
        rows = list(csv.reader(f))
    if not rows or "label" not in rows[0]:
        raise Mismatch("the predictions have no column 'label'")
    column = rows[0].index("label")
    return [row[column] for row in rows[1:]]


def compare_labels(found, expected, upto_permutation):
    if len(found) != len(expected):
        raise Mismatch(f"{len(found)} labels, expected {len(expected)}")
    pairs = [(i, a, b) for i, (a, b) in enumerate(zip(found, expected)) if b != "?"]
    if upto_permutation:
        forward, backward = {}, {}
        for i, a, b in pairs:
            if forward.setdefault(a, b) != b or backward.setdefault(b, a) != a:
                raise Mismatch(f"label of sample {i}: {a} and {b} do not fit the renaming found so far")
        return
    for i, a, b in pairs:
        if a != b:
            raise Mismatch(f"label of sample {i}: {a}, expected {b}")


# ---- values and texts ----

def compare_value(where, found, expected, rtol, atol):
    if isinstance(expected, bool) or isinstance(expected, str) or expected is None:
        same = type(found) is type(expected) and found == expected
    elif isinstance(expected, (int, float)):
        same = isinstance(found, (int, float)) and not isinstance(found, bool) and near(found, expected, rtol, atol)
    elif isinstance(expected, list):
        if not isinstance(found, list) or len(found) != len(expected):
            length = len(found) if isinstance(found, list) else "no list"
            raise Mismatch(f"{where}: {length} entries, expected {len(expected)}")
        for i, (a, b) in enumerate(zip(found, expected)):
            compare_value(f"{where}[{i}]", a, b, rtol, atol)
        return
    else:
        if not isinstance(found, dict):
            raise Mismatch(f"{where}: expected an object")
        for key, value in expected.items():
            if key not in found:
                raise Mismatch(f"{where}: the key \"{key}\" is missing")
            compare_value(f"{where}.{key}", found[key], value, rtol, atol)
        return
    if not same:
        raise Mismatch(f"{where}: {found!r}, expected {expected!r}")


def look_up(result, key):
    """At the top level, else among the metrics."""
    if key in result:
        return result[key]
    metrics = result.get("metrics")
    if isinstance(metrics, dict) and key in metrics:
        return metrics[key]
    raise Mismatch(f"the result has no \"{key}\"")


def compare_fields(name, found, expected, rtol, atol):
    """Line by line, field by field: blanks, tabs and commas separate; numbers with tolerance, the rest exactly."""
    a, b = found.splitlines(), expected.splitlines()
    if len(a) != len(b):
        raise Mismatch(f"{name} has {len(a)} lines, expected {len(b)}")
    for number, (x, y) in enumerate(zip(a, b), 1):
        if x == y:
            continue
        fields, wanted = re.split(r"[\s,]", x.rstrip()), re.split(r"[\s,]", y.rstrip())
        if len(fields) != len(wanted):
            raise Mismatch(f"{name} line {number}: {len(fields)} fields, expected {len(wanted)}")
        for u, v in zip(fields, wanted):
            m, n = to_number(u), to_number(v)
            if u != v and (m is None or n is None or not near(m, n, rtol, atol)):
                raise Mismatch(f"{name} line {number}: {u}, expected {v}")


def compare_ranking(found, expected, rtol, atol):
    """Column `score` with tolerance, everything else exactly."""
    a, b = list(csv.reader(found.splitlines())), list(csv.reader(expected.splitlines()))
    if not a or not b or a[0] != b[0]:
        raise Mismatch(f"the ranking's header is {a[0] if a else []}, expected {b[0] if b else []}")
    if len(a) != len(b):
        raise Mismatch(f"the ranking has {len(a) - 1} rows, expected {len(b) - 1}")
    for number, (row, wanted) in enumerate(zip(a[1:], b[1:]), 1):
        if len(row) != len(wanted):
            raise Mismatch(f"ranking row {number}: {len(row)} fields, expected {len(wanted)}")
        for name, x, y in zip(b[0], row, wanted):
            m, n = to_number(x), to_number(y)
            good = near(m, n, rtol, atol) if name == "score" and None not in (m, n) else x == y
            if not good:
                raise Mismatch(f"ranking row {number}, {name}: {x}, expected {y}")


# ---- one case ----

class Case:
    def __init__(self, parallax, directory, scratch, device=None):
        self.parallax, self.directory, self.scratch, self.device = parallax, directory, scratch, device
        with open(os.path.join(directory, "case.json"), encoding="utf-8") as f:
            self.about = json.load(f)
        unknown = set(self.about) - KNOWN_KEYS
        if unknown:
            raise Mismatch(f"case.json has unknown keys: {', '.join(sorted(unknown))}")
        if ("argv" in self.about) == ("steps" in self.about):
            raise Mismatch("case.json needs exactly one of argv and steps")

    def path(self, name):
        return os.path.join(self.scratch, name)

    def expected(self, name):
        return os.path.join(self.directory, name)

    def command(self, argv):
        """argv with the data set put in and options for what the case compares."""
        argv = [a.replace("{out}", self.scratch) for a in argv]
        if argv[0] in ("fit", "acquire"):
            argv = argv[:2] + ["."] + argv[2:]
        for i, name in enumerate(self.about.get("arrays", {})):
            argv += ["--dump", f"{name}={self.path(f'array{i}.csv')}"]
        if "labels" in self.about or "ranking" in self.about:
            argv += ["--out", self.path("out.csv")]
        if "json" in self.about or "metrics_at_least" in self.about:
            argv += ["--json", self.path("result.json")]
        return argv

    def run(self):
        """Every command; the last one's status and error text."""
        commands = [self.command(self.about["argv"])] if "argv" in self.about else [
            [a.replace("{out}", self.scratch) for a in step] for step in self.about["steps"]]
        status, text = 0, ""
        for argv in commands:
            if self.device and argv[0] in DEVICE_VERBS:
                argv = [*argv, "--device", self.device]
            try:
                done = subprocess.run([self.parallax, *argv], cwd=self.directory, stdin=subprocess.DEVNULL,
                                      timeout=TIME_LIMIT, capture_output=True, text=True, encoding="utf-8",
                                      errors="replace", check=False)
            except subprocess.TimeoutExpired as late:
                raise Mismatch(f"not finished after {TIME_LIMIT} s") from late
            status, text = done.returncode, done.stderr
            if status != 0:
                break
        return status, text

    def check_error(self, status, text):
        if status == 0:
            raise Mismatch("succeeded, expected an error")
        if status < 0:
            raise Mismatch(f"killed by signal {-status}: {text.strip()}")
        for word in self.about["error_contains"]:
            if word not in text:
                raise Mismatch(f"the message lacks '{word}': {text.strip()}")

    def check_arrays(self):
        for i, (name, entry) in enumerate(self.about.get("arrays", {}).items()):
            found, expected = read_matrix(self.path(f"array{i}.csv")), read_matrix(self.expected(entry["file"]))
            compare_matrix(name, found, expected, *tolerances(entry))

    def check_labels(self):
        entry = self.about.get("labels")
        if entry:
            expected = [line.strip() for line in read_text(self.expected(entry["file"])).splitlines()]
            compare_labels(read_predictions(self.path("out.csv")), expected, entry.get("upto_permutation", False))

    def check_json(self):
        if "json" not in self.about and "metrics_at_least" not in self.about:
            return
        result = json.loads(read_text(self.path("result.json")))
        for key, entry in self.about.get("json", {}).items():
            expected = entry["value"] if isinstance(entry, dict) and "value" in entry else entry
            compare_value(key, look_up(result, key), expected, *tolerances(entry))
        for key, least in self.about.get("metrics_at_least", {}).items():
            found = look_up(result, key)
            if not isinstance(found, (int, float)) or not found >= least:
                raise Mismatch(f"{key} = {found}, expected at least {least}")

    def check_ranking(self):
        entry = self.about.get("ranking")
        if entry:
            found, expected = read_text(self.path("out.csv")), read_text(self.expected(entry["file"]))
            compare_ranking(found, expected, *tolerances(entry))

    def check_outputs(self):
        for name, entry in self.about.get("outputs", {}).items():
            found, expected = read_text(self.path(name)), read_text(self.expected(entry["file"]))
            if name.endswith(".json"):
                compare_value(name, json.loads(found), json.loads(expected), *tolerances(entry))
            else:
                compare_fields(name, found, expected, *tolerances(entry))

    def check(self):
        status, text = self.run()
        if "error_contains" in self.about:
            self.check_error(status, text)
            return
        if status != 0:
            raise Mismatch(f"exit status {status}: {text.strip()}")
        for part in (self.check_arrays, self.check_labels, self.check_json, self.check_ranking, self.check_outputs):
            part()


# ---- all cases ----

def find_cases(roots):
    for root in roots:
        if not os.path.isdir(root):
            raise SystemExit(f"run_cases.py: {root} is not a directory")
        for directory, folders, files in os.walk(root):
            folders.sort()
            if "case.json" in files:
                yield os.path.abspath(directory)


def name_of(directory):
    return "/".join(directory.split(os.sep)[-2:])


def run_case(parallax, directory, device):
    """None, or what is wrong."""
    with tempfile.TemporaryDirectory(prefix="plx_case_") as scratch:
        try:
            Case(parallax, directory, scratch, device).check()
        except (Mismatch, OSError, ValueError, KeyError) as problem:
            return f"{problem}" if isinstance(problem, Mismatch) else f"{type(problem).__name__}: {problem}"
    return None


def parse(argv):
    roots, only, device, verbose, rest = [], None, None, False, list(argv)
    while rest:
        word = rest.pop(0)
        if word == "--only" and rest:
            only = rest.pop(0)
        elif word == "--device" and rest:
            device = rest.pop(0)
        elif word == "--verbose":
            verbose = True
        elif word.startswith("-"):
            raise SystemExit(__doc__)
        else:
            roots.append(word)
    if len(roots) < 2:
        raise SystemExit(__doc__)
    return os.path.abspath(roots[0]), roots[1:], only, device, verbose


def main():
    parallax, roots, only, device, verbose = parse(sys.argv[1:])
    passed = failed = 0
    for directory in find_cases(roots):
        name = name_of(directory)
        if only and not (only in name or fnmatch.fnmatch(name, only)):
            continue
        problem = run_case(parallax, directory, device)
        if problem is None:
            passed += 1
            if verbose:
                print(f"ok   {name}")
        else:
            failed += 1
            print(f"FAIL {name}: {problem}")
    print(f"{passed} passed, {failed} failed")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
