#!/usr/bin/env python3
"""Measures files and functions of the tree: files of at most 600 lines, functions of at most 100 (style.md wants most of
them under 20, and a second look at those over 60, which are listed with --long). Every .c file starts with a comment
that says how it does its work.
A function runs from the line that starts its head to the closing brace in the first column, as clang-format writes it."""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
FILE_LINES, FUNCTION_LINES, SECOND_LOOK = 600, 100, 60
NAME = re.compile(r"(\w+)\(")


def functions(lines):
    """(name, first line, lines) of every function."""
    begin = None
    for number, line in enumerate(lines, 1):
        if begin is None and line[:1].isalpha() and "(" in line and not line.rstrip().endswith(";"):
            begin = number
        elif begin is not None and line.startswith("}"):
            name = NAME.search(lines[begin - 1])
            yield name.group(1) if name else "?", begin, number - begin + 1
            begin = None
        elif begin is not None and (not line.strip() or line.rstrip().endswith(";")) and "{" not in "".join(lines[begin - 1:number]):
            begin = None  # a declaration over several lines
        if begin == number and line.rstrip().endswith("}"):
            yield NAME.search(line).group(1), number, 1
            begin = None


def main():
    bad, looks, sizes = [], [], []
    for folder in ("src", "cli", "include", "examples"):
        for path in sorted((ROOT / folder).rglob("*.[ch]")):
            lines = path.read_text().split("\n")[:-1]
            where = path.relative_to(ROOT)
            if len(lines) > FILE_LINES and not path.name.endswith("_table.h"):
                bad.append(f"{where}: {len(lines)} lines")
            if path.suffix == ".c" and not lines[0].startswith("/*"):
                bad.append(f"{where}: begin with a comment that says how the file does its work")
            for name, at, size in functions(lines):
                sizes.append(size)
                if size > FUNCTION_LINES:
                    bad.append(f"{where}:{at}: {name} has {size} lines")
                elif size > SECOND_LOOK:
                    looks.append(f"{where}:{at}: {name} has {size} lines")
    if "--long" in sys.argv:
        print("\n".join(looks))
    sizes.sort()
    print("\n".join(bad) if bad else f"sizes: {len(sizes)} functions, median {sizes[len(sizes) // 2]} lines, longest {sizes[-1]}")
    return 1 if bad else 0


sys.exit(main())
