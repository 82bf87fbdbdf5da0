#!/usr/bin/env python3
"""Writes the generated parts of the documentation from what the command says about its methods.

Usage: gen_docs.py PARALLAX [--check]

    docs/methods/NAME.md      the reference half, from `parallax methods show NAME --markdown`
    docs/methods/README.md    the table of all methods, from `parallax methods --json`
    README.md                 the same table

Generated text stands between the lines `<!-- generated: WHAT -->` and `<!-- end generated -->`; everything else is left as it
is. With --check nothing is written: exit status 1 tells that a page is not what it should be.
"""
import json
import os
import re
import subprocess
import sys

from wrap_prose import wrap

SOURCE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
PART = re.compile(r"(<!-- generated: (\S+) -->\n)(.*?)(<!-- end generated -->)", re.S)


def ask(parallax, *words):
    return subprocess.run([parallax, "methods", *words], check=True, stdout=subprocess.PIPE).stdout.decode("utf-8")


def tasks(method):
    """What a method does: its task, and what a parameter makes it do besides."""
    done = [method["task"]]
    for p in method["parameters"]:
        if p["name"] == "clusters" and "cluster" not in done:
            done.append("cluster")
        if p["name"] == "task" and "regression" in (p["range"] or ""):
            done.append("regression")
    return ", ".join(done)


# What tells methods apart: a capability as a word, where it is there.
WORDS = [("predict", "new samples"), ("kernel_views", "kernel views"), ("missing_values", "missing values"),
         ("label_sets", "sets of labels"), ("use_unlabelled", "unlabelled samples")]


def method_table(methods, folder):
    """One row per method; `folder` is where the pages are, seen from the file the table goes to."""
    rows = ["| method | tasks | what it is | views | takes also | missing views | time grows |", "|---|---|---|---|---|---|---|"]
    for m in methods:
        can = m["capabilities"]
        views = "{}{}".format(m["min_views"], "" if m["max_views"] == m["min_views"] else " or more" if not m["max_views"]
                              else " to {}".format(m["max_views"]))
        rows.append("| [`{}`]({}{}.md) | {} | {} | {} | {} | {} | {} |".format(
            m["name"], folder, m["name"], tasks(m), m["title"], views + (", of counts" if can["counts"] else ""),
            ", ".join(word for key, word in WORDS if can[key]) or "-", missing(m), m["growth"]))
    return "\n".join(rows) + "\n"


def missing(method):
    """How a method treats a sample that lacks a view."""
    names = {p["name"]: p for p in method["parameters"]}
    if not method["capabilities"]["missing_views"]:
        return "refused"
    if "missing" in names:
        return "by `missing`, default `{}`".format(names["missing"]["default"])
    if names.get("view", {}).get("default") == "joined":
        return "zeros; left out with a single `view`"
    return "left out of that view's part"


def with_parts(path, parts):
    """The text of a page, old and with its generated parts renewed."""
    with open(path, encoding="utf-8") as f:
        old = f.read()
    found = [match.group(2) for match in PART.finditer(old)]
    if sorted(found) != sorted(parts):
        sys.exit("{}: expected the generated parts {}, found {}".format(path, ", ".join(sorted(parts)), ", ".join(found) or "none"))
    return old, PART.sub(lambda match: match.group(1) + wrap(parts[match.group(2)]) + match.group(4), old)


def main():
    if len(sys.argv) < 2 or sys.argv[2:] not in ([], ["--check"]):
        sys.exit(__doc__)
    parallax, check = sys.argv[1], sys.argv[2:] == ["--check"]
    methods = json.loads(ask(parallax, "--json"))
    pages = {"README.md": {"methods": method_table(methods, "docs/methods/")},
             "docs/methods/README.md": {"methods": method_table(methods, "")}}
    for m in methods:
        page = "docs/methods/{}.md".format(m["name"])
        if not os.path.exists(os.path.join(SOURCE, page)):
            sys.exit("{}: the page of method {} is missing; see docs/dev/adding-a-method.md".format(page, m["name"]))
        pages[page] = {m["name"]: ask(parallax, "show", m["name"], "--markdown").rstrip("\n") + "\n"}
    stale = []
    for page, parts in pages.items():
        old, new = with_parts(os.path.join(SOURCE, page), parts)
        if old == new:
            continue
        stale.append(page)
        if not check:
            with open(os.path.join(SOURCE, page), "w", encoding="utf-8") as f:
                f.write(new)
    for page in stale:
        print("{}: {}".format(page, "is not current; run 'make docs'" if check else "written"))
    sys.exit(1 if check and stale else 0)


if __name__ == "__main__":
    main()
