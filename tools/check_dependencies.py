#!/usr/bin/env python3
"""Compares the libraries that libparallax.so asks the loader for, or opens itself, with the tables of
docs/dev/dependencies.md.
Usage: check_dependencies.py LIBRARY"""
import pathlib
import re
import subprocess
import sys

PAGE = pathlib.Path(__file__).resolve().parent.parent / "docs/dev/dependencies.md"
# Names that depend on the distribution or the compiler, by what the table calls them.
ALSO = {"libhdf5": "libhdf5_serial", "libomp": "libgomp", "libblas": "libopenblas", "ld-linux-x86-64": "ld-linux",
        "ld-linux-aarch64": "ld-linux"}

C_LIBRARY = {"libm", "libc", "ld-linux"}  # which parts of it are asked for is the toolchain's business


def needed(library):
    text = subprocess.run(["readelf", "-d", library], check=True, capture_output=True, text=True).stdout
    names = (name.split(".so")[0] for name in re.findall(r"\(NEEDED\).*\[(.+?)\]", text))
    return {ALSO.get(name, name) for name in names}


def opened(library, rows):
    """Those of the rows whose file name stands in the library itself."""
    content = pathlib.Path(library).read_bytes()
    return {name for name in rows for real in [name, *(a for a, b in ALSO.items() if b == name)] if f"{real}.so".encode() in content}


def listed():
    table = PAGE.read_text().split("## Not linked")[0]
    rows = (line.split("|") for line in table.splitlines() if line.startswith("| `"))
    found = {}
    for row in rows:
        for name in re.findall(r"`(.+?)`", row[1]):
            found[name] = [cell.strip() for cell in row[2:-1]]
    return found


def main():
    rows = listed()
    have = needed(sys.argv[1]) | opened(sys.argv[1], rows)
    bad = [f"{name} is linked but has no row in {PAGE.name}" for name in sorted(have - set(rows))]
    bad += [f"{name} has a row in {PAGE.name} but is not linked" for name in sorted(set(rows) - have - C_LIBRARY)]
    bad += [f"the row of {name} names no licence" for name, cells in rows.items() if len(cells) < 3 or not cells[2]]
    print("\n".join(bad) if bad else f"dependencies: {len(have)} libraries, all described")
    return 1 if bad else 0


sys.exit(main())
