#!/usr/bin/env python3
"""What the assembler says of kernels, a line each: architecture, registers, shared memory, stack and spills.

usage: registers.py LOG...      (what nvcc -Xptxas -v wrote)
The last line counts them; kernels that spill are marked."""
import re
import subprocess
import sys

ENTRY = re.compile(r"Compiling entry function '(\S+)' for '(\S+)'")
STACK = re.compile(r"(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads")
USED = re.compile(r"Used (\d+) registers(?:.*?(\d+) bytes smem)?")


def plain_names(names):
    try:
        done = subprocess.run(["c++filt", "-p"], input="\n".join(names), capture_output=True, text=True, check=True)
        return [re.sub(r"\(.*\)", "", line) for line in done.stdout.splitlines()]
    except (OSError, subprocess.CalledProcessError):
        return names


def main():
    rows, name, arch, stack = [], None, None, (0, 0, 0)
    for path in sys.argv[1:]:
        with open(path, encoding="utf-8", errors="replace") as f:
            for line in f:
                if m := ENTRY.search(line):
                    name, arch = m.groups()
                elif m := STACK.search(line):
                    stack = tuple(int(x) for x in m.groups())
                elif (m := USED.search(line)) and name:
                    rows.append((name, arch, int(m.group(1)), int(m.group(2) or 0), *stack))
                    name = None
    names = plain_names([r[0] for r in rows])
    print("arch   registers  shared  stack  spilled  kernel")
    for shown, (_, arch, registers, shared, frame, stores, loads) in sorted(zip(names, rows), key=lambda x: (x[1][1], x[0])):
        mark = "  *" if stores or loads else ""
        print(f"{arch:<7}{registers:9d}{shared:8d}{frame:7d}{stores + loads:9d}  {shown}{mark}")
    spilled = sum(1 for r in rows if r[5] or r[6])
    print(f"{len(rows)} kernels, {spilled} of them spill")


main()
