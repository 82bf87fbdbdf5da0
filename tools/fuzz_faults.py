#!/usr/bin/env python3
"""Faults in our own code among those a fuzzing run of a guarded reader met: python3 tools/fuzz_faults.py LOG.

libhdf5 and libmatio crash on some malformed files; the reading process is there for that (src/io/guarded_read.c). So
the fuzz targets of those readers go on after a crash, and this decides: a fault counts as ours when the innermost frame
that is neither the sanitizer's nor the C library's lies in src/, or when there is no stack (abort in a check of ours).
"""
import re
import sys

FRAME = re.compile(r"^\s+#\d+ 0x[0-9a-f]+ (?:in (\S+) )?(.*)$")
START = re.compile(r"ERROR: (AddressSanitizer|libFuzzer|LeakSanitizer)|runtime error:")
FOREIGN = ("libc.so", "compiler-rt", "sanitizer", "/sysdeps/", "string/", "libgcc")


def blocks(lines):
    """The lines of every report, from its first line to the summary."""
    block = None
    for line in lines:
        if START.search(line) and block is None:
            block = []
        if block is not None:
            block.append(line.rstrip())
            if line.startswith("SUMMARY"):
                yield block
                block = None
    if block:
        yield block


def innermost(block):
    for line in block:
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


def main():
    with open(sys.argv[1], errors="replace") as f:
        found = [(b, innermost(b)) for b in blocks(f)]
    waits = [b for b, _ in found if "timeout" in b[0] or "out-of-memory" in b[0]]
    ours = [b for b, place in found if b not in waits and (place is None or "/src/" in place or "/tests/" in place)]
    for block in ours:
        print("\n".join(block[:12]))
    print(f"{len(found)} faults: {len(waits)} ended by a limit, {len(found) - len(waits) - len(ours)} inside the libraries, "
          f"{len(ours)} of our own")
    return 1 if ours else 0


if __name__ == "__main__":
    sys.exit(main())
