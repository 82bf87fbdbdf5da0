#!/usr/bin/env python3
"""Whose faults fuzzing met: python3 tools/fuzz_faults.py TARGET FILE... runs the target on each file again.

libhdf5 and libmatio crash on some malformed files; the reading process is there for that (src/io/guarded_read.c). So
the fuzz targets of those readers go on after a crash, and this decides: a fault counts as ours when the innermost frame
that is neither the sanitizer's nor the C library's lies in our sources, or when there is no stack.
"""
import os
import re
import subprocess
import sys

FRAME = re.compile(r"^\s+#\d+ 0x[0-9a-f]+ (?:in (\S+) )?(.*)$")
START = re.compile(r"ERROR: (AddressSanitizer|libFuzzer|LeakSanitizer)|runtime error:")
FOREIGN = ("libc.so", "compiler-rt", "sanitizer", "/sysdeps/", "string/", "libgcc")


def innermost(lines):
    """Where the first report in the output arose."""
    begun = False
    for line in lines:
        begun = begun or bool(START.search(line))
        if not begun:
            continue
        frame = FRAME.match(line)
        if not frame:
            continue
        name, place = frame.group(1) or "", frame.group(2)
        if name.startswith(("__asan", "__interceptor", "__sanitizer", "__lsan", "fuzzer::")) or any(f in place for f in FOREIGN):
            continue
        if name in ("malloc", "calloc", "realloc", "free", "memcpy", "memset", "memmove", "strlen", "abort", "raise"):
            continue
        return place
    return None


def verdict(target, name):
    """'none', 'limit', 'library' or 'own' for the fault of one file, and what was printed."""
    try:
        done = subprocess.run([target, "-timeout=60", name], capture_output=True, text=True, errors="replace", timeout=90)
    except subprocess.TimeoutExpired:
        return "limit", ""
    if done.returncode == 0:
        return "none", ""
    if "libFuzzer: timeout" in done.stderr or "libFuzzer: out-of-memory" in done.stderr:
        return "limit", ""
    place = innermost(done.stderr.split("\n"))
    return "own" if place is None or "/src/" in place or "/tests/" in place else "library", done.stderr


def main():
    counts = {"own": 0, "library": 0, "limit": 0, "none": 0}
    for name in filter(os.path.exists, sys.argv[2:]):
        whose, text = verdict(sys.argv[1], name)
        counts[whose] += 1
        if whose == "own":
            print(f"{name}:\n" + "\n".join(text.split("\n")[-40:]))
    print(f"faults: {counts['own']} of our own, {counts['library']} inside the libraries, {counts['limit']} ended by a limit, "
          f"{counts['none']} not met again")
    return 1 if counts["own"] else 0


if __name__ == "__main__":
    sys.exit(main())
