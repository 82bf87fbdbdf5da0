#!/usr/bin/env python3
"""Seconds of the last runs of the tests, summed by level (the first word of their names), for CONTRIBUTING.md.
Usage: test_times.py BUILD_DIR..."""
import collections
import pathlib
import sys

for build in sys.argv[1:]:
    seconds, count = collections.Counter(), collections.Counter()
    for line in (pathlib.Path(build) / "Testing/Temporary/CTestCostData.txt").read_text().splitlines():
        words = line.split()
        if len(words) == 3 and float(words[2]) > 0:
            level = words[0].split(".")[0]
            seconds[level] += float(words[2])
            count[level] += 1
    for level, total in seconds.most_common():
        print(f"{build}: {level}: {count[level]} tests, {total:.0f} s")
