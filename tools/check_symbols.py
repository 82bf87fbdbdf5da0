#!/usr/bin/env python3
"""Compares what the shared library exports with tools/symbols.txt, and looks for calls a library must not make.
Usage: check_symbols.py LIBRARY [OBJECT]... [--update]
With object files the calls are looked for in those (the library may hold others' code too), and every exported function
must come from an object of src/api and be called by no other: the border is in one place, above everything else."""
import pathlib
import subprocess
import sys

LIST = pathlib.Path(__file__).with_name("symbols.txt")
# A library never ends the process, prints, draws from the process-wide generator, or changes the locale or signals.
FORBIDDEN = {"exit", "_exit", "abort", "printf", "puts", "putchar", "perror", "rand", "srand", "random", "srandom", "setlocale",
             "signal", "sigaction", "raise", "system"}


def nm(files, *flags):
    out = subprocess.run(["nm", *flags, *files], check=True, capture_output=True, text=True).stdout
    return sorted({line.split()[-1].split("@")[0] for line in out.splitlines() if line.strip()})


def strays(objects, exported):
    """Exported functions that an object outside src/api defines, or calls upwards."""
    for path in objects:
        if not path.endswith(".o") or "/src/api/" in path.replace("\\", "/"):
            continue
        for symbol in set(nm([path], "--defined-only", "--extern-only")) & set(exported):
            yield f"{symbol} is defined in {path}; exported functions live in src/api"
        for symbol in set(nm([path], "--undefined-only")) & set(exported):
            yield f"{symbol} is called in {path}; below src/api call the function behind it"


def main():
    update = "--update" in sys.argv
    library, *objects = [a for a in sys.argv[1:] if a != "--update"]
    exported = [s for s in nm([library], "-D", "--defined-only") if not s.startswith("_")]
    called = nm(objects, "--undefined-only") if objects else nm([library], "-D", "--undefined-only")
    if update:
        LIST.write_text("\n".join(exported) + "\n")
    listed = LIST.read_text().split()
    bad = [f"exported but not listed: {s}" for s in exported if s not in listed]
    bad += [f"listed but not exported: {s}" for s in listed if s not in exported]
    bad += [f"not ours: {s}" for s in exported if not s.startswith("plx_") or s.startswith("plx__")]
    bad += sorted(strays(objects, exported))
    bad += [f"the library must not call {s}" for s in called if s in FORBIDDEN]
    print("\n".join(bad) if bad else f"symbols: {len(exported)} exported, as listed")
    return 1 if bad else 0


sys.exit(main())
