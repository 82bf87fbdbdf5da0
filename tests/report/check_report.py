#!/usr/bin/env python3
"""Reports of every verb, looked at without a browser: check_report.py PARALLAX

The data in a page are JSON that parses and agrees with what the command writes elsewhere; no name of the data is markup;
nothing is fetched from anywhere. Exit 77: this build has no report, and says so in one line."""
import collections
import csv
import html.parser
import json
import math
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile
import xml.etree.ElementTree

import hostile


class Page(html.parser.HTMLParser):
    """Scripts, and everything that could load something."""

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.tags, self.loads, self.scripts, self.inside = collections.Counter(), [], [], None
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.tags[tag] += 1
        self.loads += [(tag, k, v) for k, v in attributes if k in ("src", "href", "srcset", "action", "data", "poster")]
        if tag == "script":
            self.inside = dict(attributes)

    def handle_data(self, data):
        if self.inside is not None:
            self.scripts.append((self.inside, data))

    def handle_endtag(self, tag):
        if tag == "script":
            self.inside = None


def parallax(*words, status=0):
    done = subprocess.run([PARALLAX, *map(str, words)], capture_output=True, text=True)
    assert done.returncode == status, (words, done.returncode, done.stderr)
    return done


def load(path):
    """The data of a page, after looking at its markup."""
    text = path.read_text()
    page = Page(text)
    assert page.tags["script"] == 2 and page.tags["img"] == 0 and page.tags["link"] == 0 and page.tags["iframe"] == 0, page.tags
    assert not page.loads, page.loads
    assert "Content-Security-Policy" in text and "default-src 'none'" in text
    assert not re.search(r"@import|url\((?!['\"]?(data:|#))", text.split("<script", 1)[0]), "the style loads something"
    kind, data = page.scripts[0]
    assert kind.get("type") == "application/json"
    assert not set("<>&\u2028\u2029") & set(data), "characters that must be escaped"
    return json.loads(data)


def close(a, b, tolerance=1e-9):
    assert a is not None and b is not None and abs(a - b) <= tolerance * max(1, abs(a), abs(b)), (a, b)


def check_fit(data, out, present):
    parallax("fit", "coem", data, "--labels", "5", "--seed", "3", "--report", out / "fit.html", "--json", out / "fit.json", "--model", out / "m.plx", "--quiet")
    page, other = load(out / "fit.html"), json.loads((out / "fit.json").read_text())
    metrics = dict(page["metrics"])
    for name, value in other["metrics"].items():
        close(metrics[name], value)
    confusion = next(part for part in page["sections"] if part["key"] == "confusion")
    unseen = len(present) - 5 * len(hostile.CLASSES)
    assert sum(sum(row[1:]) for row in confusion["rows"]) == unseen, "the matrix counts samples whose label was not seen"
    right = sum(row[1 + confusion["columns"][1:].index(row[0])] for row in confusion["rows"])
    close(right / unseen, other["metrics"]["accuracy"])
    patterns = collections.Counter(tuple(v for v, there in enumerate(row) if there) for row in present)
    assert {tuple(p["views"]): p["samples"] for p in page["data"]["presence"]["patterns"]} == patterns
    maps = page["data"]["maps"]
    assert maps["drawn"] == maps["of"] == len(present) and len(maps["panels"]) == 4 and sum(maps["seen"]) == 15
    for v, panel in enumerate(maps["panels"][1:]):  # the first is of all views
        assert [x is not None for x in panel["x"]] == [row[v] for row in present]
    assert hostile.SCRIPT in page["question"] and "fit coem" in page["command"] and page["version"]
    assert ["seed", "3", "0"] in page["settings"]


def check_seen_labels(out):
    """Where every label was seen while fitting, nothing is said about quality."""
    table = out / "seen.csv"
    table.write_text("x,class\n" + "".join(f"{i % 2 + i / 100},{'ab'[i % 2] if i < 10 else ''}\n" for i in range(20)))
    parallax("fit", "gp", table, "--report", out / "seen.html", "--quiet")
    page = load(out / "seen.html")
    assert not page["metrics"] and not page.get("sections") and "no truth" in page["answer"] and "comparison" in page["answer"]
    parallax("fit", "gp", table, "--labels", "3", "--report", out / "hidden.html", "--quiet")
    page = load(out / "hidden.html")
    assert dict(page["metrics"])["accuracy"] == 1 and any(s["key"] == "confusion" for s in page["sections"])


def check_explain(data, out):
    parallax("explain", out / "m.plx", data, "--report", out / "explain.html", "--json", out / "explain.json", "--quiet")
    page, other = load(out / "explain.html"), json.loads((out / "explain.json").read_text())
    assert [part["key"] for part in page["sections"]] == list(other)
    for part in page["sections"]:
        rows = [dict(zip(part["columns"], row)) for row in part["rows"]]
        assert rows == other[part["key"]]["rows"], part["key"]


def check_views(data, out):
    parallax("views", data, "--report", out / "views.html", "--quiet")
    page = load(out / "views.html")
    assert {"views", "pairs", "presence", "advice"} <= {part["key"] for part in page["sections"]}


def check_compare(data, out):
    parallax("compare", data, "--methods", "nb:uncovered=prior,svm,coem,cca", "--labels", "3,6", "--repeats", "3", "--jobs", "1", "--out", out / "c.csv",
             "--report", out / "compare.html", "--quiet")
    page = load(out / "compare.html")["comparison"]
    seen = 0
    for row in csv.DictReader(open(out / "c.csv")):
        block = [b["dataset"] == row["dataset"] and b["labels"] == row["labels"] for b in page["blocks"]].index(True)
        cell = page["cells"][page["metrics"].index(row["metric"])][block][page["entries"].index(row["method"])]
        if row["mean"] in ("", "nan"):
            assert cell["mean"] is None
            continue
        close(cell["mean"], float(row["mean"]))
        values = [x for x in cell["values"] if x is not None]
        close(cell["mean"], statistics.mean(values))
        close(cell["sd"], statistics.stdev(values))
        seen += 1
    assert seen >= 8, "cells that were compared"


def check_acquire(data, out):
    parallax("acquire", "labels", data, "--with", "coem", "--simulate", "6", "--labels", "2", "--runs", "4", "--out", out / "a.csv",
             "--report", out / "acquire.html", "--quiet")
    page = load(out / "acquire.html")["curves"]
    by_state = collections.defaultdict(list)
    for row in csv.DictReader(open(out / "a.csv")):
        if row["accuracy"] not in ("", "nan"):
            by_state[row["criterion"], int(row["step"])].append(float(row["accuracy"]))
    assert page["metric"] == "accuracy" and len(page["strategies"]) == 3
    for strategy in page["strategies"]:
        for state in strategy["states"]:
            values = by_state.pop((strategy["name"], state["step"]))
            close(state["mean"], statistics.mean(values))
            close(state["error"], statistics.stdev(values) / math.sqrt(len(values)), 1e-6)
    assert not by_state, "states that the page lacks"


def picture(out, figure, name):
    parallax("plot", figure, out / f"{name}.html", "--out", out / f"{figure}.svg", "--quiet")
    return xml.etree.ElementTree.parse(out / f"{figure}.svg").getroot()


def check_figures(out):
    """Pictures of the same data: as many signs and the same numbers as the page has."""
    svg = "{http://www.w3.org/2000/svg}"
    page = load(out / "fit.html")
    maps = page["data"]["maps"]
    root = picture(out, "embedding", "fit")
    drawn = sum(x is not None for panel in maps["panels"] for x in panel["x"])
    assert len(list(root.iter(svg + "circle"))) == drawn + len(maps["names"])
    assert {tag.tag for tag in root.iter()} <= {svg + t for t in ("svg", "g", "rect", "text", "circle", "path")}, "names are no markup"
    confusion = next(part for part in page["sections"] if part["key"] == "confusion")
    counts = sorted(x for row in confusion["rows"] for x in row[1:] if x)
    texts = [t.text or "" for t in picture(out, "confusion", "fit").iter(svg + "text")]
    assert sorted(int(t) for t in texts if t.isdigit()) == counts
    states = sum(len(strategy["states"]) for strategy in load(out / "acquire.html")["curves"]["strategies"])
    root = picture(out, "curves", "acquire")
    assert len(list(root.iter(svg + "circle"))) == states + 3
    picture(out, "curves", "compare")
    hold = (out / "fit.html").read_text()
    for bad, status, word in ((hold[:hold.index('id="data">') + 50], 1, "not a report"), ("", 1, "not a report"), (replaced(hold, "[1, 2"), 1, "bad.html"),
                              (replaced(hold, '{"data": {"maps": {"panels": [1, {"x": [1, null, "a"], "y": {}}], "class": 3}}}'), 0, ""),
                              (replaced(hold, "[]"), 1, "no maps")):
        (out / "bad.html").write_text(bad)
        done = parallax("plot", "embedding", out / "bad.html", "--out", out / "bad.svg", "--quiet", status=status)
        assert word in done.stderr and done.stderr.count("\n") == status, done.stderr
    done = parallax("plot", "curves", out / "acquire.html", "--out", out / "x.pdf", status=2)
    assert "rsvg-convert" in done.stderr


def replaced(page, data):
    """A page that holds other data."""
    begin = page.index('id="data">') + len('id="data">')
    return page[:begin] + data + page[page.index("</script>", begin):]


def check_refusals(data, out):
    done = parallax("fit", "nb", data, "--report", data / "ids.txt", status=2)
    assert "ids.txt" in done.stderr and done.stderr.count("\n") == 1, done.stderr
    done = parallax("fit", "nb", data, "--report", out / "nowhere" / "x.html", status=1)
    assert "nowhere" in done.stderr and done.stderr.count("\n") == 1, done.stderr
    first, second = out / "1.html", out / "2.html"
    for path, threads in ((first, 1), (second, 2)):
        parallax("views", data, "--report", path, "--threads", threads, "--quiet")
    a, b = load(first), load(second)
    a.pop("command"), b.pop("command")
    assert a == b, "the same figures on any number of threads"


def main():
    with tempfile.TemporaryDirectory() as folder:
        out = pathlib.Path(folder)
        data = out / "data"
        present = hostile.write(data)
        probe = subprocess.run([PARALLAX, "views", str(data), "--report", str(out / "x.html")], capture_output=True, text=True)
        if probe.returncode == 1 and "this build has no HTML report" in probe.stderr:
            assert probe.stderr.count("\n") == 1 and not (out / "x.html").exists()
            print("skipped: this build has no report, and says so")
            return 77
        check_fit(data, out, present)
        check_seen_labels(out)
        check_explain(data, out)
        check_views(data, out)
        check_compare(data, out)
        check_acquire(data, out)
        check_figures(out)
        check_refusals(data, out)
    print("reports: all as they should be")
    return 0


PARALLAX = str(pathlib.Path(sys.argv[1]).resolve())
sys.exit(main())
