#!/usr/bin/env python3
"""Reading of matrix files: ours against pandas.read_csv(engine="c") and scipy.io.mmread, in one run.

Generates a csv of doubles with 17 significant digits, one with 6, and coordinate .mtx files (random order and column
by column), then times the readers alternately on the same files and prints the best time of each and the ratio.

  python3 bench/bench_read.py --program build/release/bench_read [--megabytes 1000] [--entries 10000000]

Needs numpy, pandas and scipy. Ours returns a CSR matrix with sorted rows; mmread returns unsorted triplets, so the time
of its conversion to CSR is shown as well. Processor time (all threads) is what to compare on a busy machine.
"""
import argparse
import os
import subprocess
import sys
import tempfile
import time

from ratios import Row, Time


def our_seconds(program, path, threads):
    out = subprocess.run([program, path, str(threads), "1"], check=True, capture_output=True, text=True).stdout
    fields = out.split()
    return tuple(float(fields[fields.index(key) + 1]) for key in ("seconds", "cpu", "sum"))


def timed(function):
    start, worked = time.perf_counter(), time.process_time()
    result = function()
    return time.perf_counter() - start, time.process_time() - worked, result


def write_csv(path, digits, megabytes):
    """One block of random rows, repeated until the file has the size asked for."""
    import numpy as np
    block = np.random.default_rng(1).standard_normal((20000, 20))
    form = f"%.{digits}g"
    text = "".join(",".join(form % x for x in row) + "\n" for row in block)
    with open(path, "w") as f:
        for _ in range(max(1, int(megabytes * 1e6 / len(text)))):
            f.write(text)


def write_mtx(path, entries, by_column):
    import numpy as np
    rows, cols = 200000, 50000
    random = np.random.default_rng(2)
    i, j = random.integers(1, rows + 1, entries), random.integers(1, cols + 1, entries)
    v = random.standard_normal(entries)
    if by_column:
        order = np.lexsort((i, j))
        i, j, v = i[order], j[order], v[order]
    with open(path, "w") as f:
        f.write(f"%%MatrixMarket matrix coordinate real general\n{rows} {cols} {entries}\n")
        for a in range(0, entries, 500000):
            b = a + 500000
            f.write("".join("%d %d %.17g\n" % t for t in zip(i[a:b].tolist(), j[a:b].tolist(), v[a:b].tolist())))


def read_on_one_thread(path):
    """pandas reads large files on several threads since 3.1; before that on one anyway."""
    import pandas
    try:
        pandas.get_option("mode.max_threads")
    except (KeyError, AttributeError):
        return pandas.read_csv(path, header=None, engine="c")
    with pandas.option_context("mode.max_threads", 1):
        return pandas.read_csv(path, header=None, engine="c")


def compare(what, path, peer, total, options, beside, must):
    """Alternate the two readers; total(result) is the sum of all values, which must agree."""
    ours, theirs, our_cpu, their_cpu = [], [], [], []
    for _ in range(options.repeats):
        seconds, cpu, our_sum = our_seconds(options.program, path, options.threads)
        ours.append(seconds)
        our_cpu.append(cpu)
        seconds, cpu, result = timed(lambda: peer(path))
        theirs.append(seconds)
        their_cpu.append(cpu)
        their_sum = total(result)
        del result
        if abs(our_sum - their_sum) > 1e-6 * max(1.0, abs(their_sum)):
            sys.exit(f"{what}: sums differ: {our_sum!r} and {their_sum!r}")
    Row(what, Time(min(ours), min(our_cpu)), Time(min(theirs), min(their_cpu)), beside, must,
        f"{os.path.getsize(path) / 1e6:.0f} MB", threads=options.threads).record()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", default="build/release/bench_read")
    parser.add_argument("--megabytes", type=float, default=1000)
    parser.add_argument("--entries", type=int, default=10_000_000)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--directory", default=None, help="where the files go; default: the temporary directory")
    options = parser.parse_args()
    os.environ["OMP_NUM_THREADS"] = str(options.threads)
    import pandas
    import scipy
    import scipy.io
    import scipy.io._fast_matrix_market as fast_matrix_market
    fast_matrix_market.PARALLELISM = options.threads
    print(f"pandas {pandas.__version__}, scipy {scipy.__version__}, {options.threads} threads, "
          f"best of {options.repeats}")
    with tempfile.TemporaryDirectory(dir=options.directory) as directory:
        for digits in (17, 6):
            path = os.path.join(directory, f"digits{digits}.csv")
            write_csv(path, digits, options.megabytes)
            beside = f"pandas {pandas.__version__}"
            compare(f"read csv, {digits} digits", path, lambda p: pandas.read_csv(p, header=None, engine="c"),
                    lambda r: float(r.to_numpy().sum()), options, beside, 4)
            compare(f"read csv, {digits} digits, beside one thread", path, read_on_one_thread,
                    lambda r: float(r.to_numpy().sum()), options, beside, None)
            os.remove(path)
        for by_column in (False, True):
            path = os.path.join(directory, "entries.mtx")
            write_mtx(path, options.entries, by_column)
            what = "read mtx, 10M entries, " + ("by column" if by_column else "random order")
            compare(what + ", to rows", path, lambda p: scipy.io.mmread(p).tocsr(), lambda r: float(r.data.sum()), options,
                    f"mmread().tocsr() of scipy {scipy.__version__}", 3)
            compare(what, path, scipy.io.mmread, lambda r: float(r.data.sum()), options,
                    f"mmread() of scipy {scipy.__version__}, unsorted triplets", None)
            os.remove(path)


if __name__ == "__main__":
    main()
