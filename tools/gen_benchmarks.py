#!/usr/bin/env python3
"""Write docs/benchmarks.md from bench/results.csv: the newest row of every benchmark and processor, missed targets on top,
with the reasons of bench/why.csv (what, why: by how the name of the benchmark begins).

usage: gen_benchmarks.py [--check]      --check: exit 1 when the page is not what the table gives
"""
import csv
import pathlib
import sys
import textwrap

ROOT = pathlib.Path(__file__).resolve().parent.parent
HEAD = """# Benchmarks

<!-- Written by tools/gen_benchmarks.py from bench/results.csv; edit neither by hand. -->

Each row is one run of `make bench` that measured both sides on the same machine, one after the
other, at equal results. The ratio is the peer's processor time divided by ours: above 1 we are
faster. Processor time counts all threads of a process, so other work on the machine can neither
hide nor fake a ratio. "Target" is the least ratio that we accept; a row without one is there for
comparison.

"""


def newest():
    """The last row of every piece of work, peer and processor, in the order of first appearance."""
    rows = {}
    with open(ROOT / "bench/results.csv", newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            rows[row["what"], row["peer"].split(" ")[0], row["processor"], row["blas_core"]] = row
    return list(rows.values())


def missed(row):
    return bool(row["must"]) and float(row["ratio"]) < float(row["must"])


def table(rows):
    lines = ["| work | peer | ratio | target | ours, s (wall) | peer, s (wall) | threads | date, commit |",
             "|---|---|---:|---:|---:|---:|---:|---|"]
    for r in rows:
        lines.append(f"| {r['what']} | {r['peer']} | {r['ratio']} | {r['must'] or '–'} | {r['ours_cpu']} ({r['ours_wall']}) | "
                     f"{r['peer_cpu']} ({r['peer_wall']}) | {r['threads']} | {r['date']}, {r['commit']} |")
        if r["remark"]:
            lines.append(f"| | {r['remark']} | | | | | | |")
    return "\n".join(lines) + "\n"


def reasons(rows):
    """A line for every missed target that has one."""
    with open(ROOT / "bench/why.csv", newline="", encoding="utf-8") as file:
        known = [(row["what"], row["why"]) for row in csv.DictReader(file)]
    lines = []
    for what, why in known:
        if any(r["what"].startswith(what) for r in rows):
            lines.append(textwrap.fill(f"* {what}: {why}", 100, subsequent_indent="  ", break_long_words=False,
                                       break_on_hyphens=False))
    return "Why:\n\n" + "\n".join(lines) + "\n\n" if lines else ""


def page():
    rows = newest()
    parts = [HEAD]
    for title, some in (("Targets missed", [r for r in rows if missed(r)]),
                        ("Targets reached", [r for r in rows if r["must"] and not missed(r)]),
                        ("For comparison", [r for r in rows if not r["must"]])):
        for machine in dict.fromkeys((r["processor"], r["blas_core"]) for r in some):
            mine = [r for r in some if (r["processor"], r["blas_core"]) == machine]
            parts.append(f"## {title}: {machine[0]}, BLAS kernels {machine[1]}\n\n{table(mine)}\n")
        if title == "Targets missed":
            parts.append(reasons(some) if some else "## Targets missed\n\nNone.\n\n")
    return "".join(parts).rstrip("\n") + "\n"


def main():
    target = ROOT / "docs/benchmarks.md"
    text = page()
    if "--check" in sys.argv[1:]:
        if target.read_text(encoding="utf-8") != text:
            sys.exit("docs/benchmarks.md is not what bench/results.csv gives: run tools/gen_benchmarks.py")
        return
    target.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
