"""Rows of the table of benchmarks: our time and a peer's, measured in one run.

    from ratios import Row, best, command, fit
    Row("kcca rbf, n = 1500, 200 directions", ours=fit(parallax, "kcca", data, "--set", "dims=200"),
        peer=best(lambda: model.fit(x)), beside="mvlearn 0.5.0", must=5).record()

A time is a pair of wall and processor seconds. The ratio that counts is that of the processor times, which other work on
the machine disturbs least; where a side uses several cores the wall times stand beside it. record() prints the row and
appends it to bench/results.csv; tools/gen_benchmarks.py makes docs/benchmarks.md of the newest row of every name.
"""
import csv
import datetime
import json
import os
import pathlib
import resource
import subprocess
import tempfile
import time
from dataclasses import dataclass
from typing import NamedTuple, Optional

ROOT = pathlib.Path(__file__).resolve().parent.parent
RESULTS = ROOT / "bench" / "results.csv"
COLUMNS = ("date", "commit", "processor", "blas_core", "load", "threads", "what", "ours_wall", "ours_cpu", "peer", "peer_wall",
           "peer_cpu", "ratio", "must", "remark")


class Time(NamedTuple):
    """Seconds of one piece of work."""
    wall: float
    cpu: float


def processor_time():
    """Of this process and of the children it has waited for."""
    mine, children = resource.getrusage(resource.RUSAGE_SELF), resource.getrusage(resource.RUSAGE_CHILDREN)
    return mine.ru_utime + mine.ru_stime + children.ru_utime + children.ru_stime


def best(work, repeats=3):
    """The shortest of some runs of work(), wall and processor time each on its own."""
    runs = []
    for _ in range(repeats):
        wall, cpu = time.perf_counter(), processor_time()
        work()
        runs.append(Time(time.perf_counter() - wall, processor_time() - cpu))
    return Time(min(r.wall for r in runs), min(r.cpu for r in runs))


def command(arguments, repeats=3):
    """The whole of a command: start, reading and writing included."""
    return best(lambda: subprocess.run([str(a) for a in arguments], check=True, stdout=subprocess.DEVNULL), repeats)


def fit(parallax, method, *arguments, threads=1, repeats=3):
    """The fit alone, without reading, as the command reports it."""
    runs = []
    with tempfile.TemporaryDirectory() as folder:
        out = pathlib.Path(folder) / "result.json"
        for _ in range(repeats):
            subprocess.run([str(a) for a in (parallax, "fit", method, *arguments, "--json", out, "--quiet", "--threads", threads)],
                           check=True)
            result = json.loads(out.read_text())
            runs.append(Time(result["seconds"], result["processor_seconds"]))
    return Time(min(r.wall for r in runs), min(r.cpu for r in runs))


def machine(parallax):
    """Processor, BLAS core and commit: what a ratio depends on."""
    model = next((line.split(":", 1)[1].strip() for line in open("/proc/cpuinfo") if line.startswith("model name")), "unknown")
    said = subprocess.run([str(parallax), "doctor", "--json"], capture_output=True, text=True, check=False).stdout
    core = json.loads(said).get("kernels", "unknown") if said.startswith("{") else "unknown"
    commit = subprocess.run(["git", "-C", str(ROOT), "rev-parse", "--short", "HEAD"], capture_output=True, text=True, check=False)
    return {"processor": model, "blas_core": core, "commit": commit.stdout.strip() or "unknown"}


@dataclass
class Row:
    """One piece of work, ours beside a peer's; must: the least ratio we accept (1: no peer is to be ahead; None: no promise)."""
    what: str
    ours: Time
    peer: Time
    beside: str
    must: Optional[float] = 1.0
    remark: str = ""
    threads: int = 1

    @property
    def ratio(self):
        """How many times as fast as the peer we are, by processor time."""
        return self.peer.cpu / max(self.ours.cpu, 1e-9)

    def record(self, parallax=None):
        """Print the row and keep it."""
        parallax = parallax or os.environ.get("PARALLAX", str(ROOT / "build/release/parallax"))
        limit = "" if self.must is None else f", must be {self.must:g}" + ("" if self.ratio >= self.must else ": MISSED")
        print(f"{self.what}: {self.ratio:.2f} times as fast as {self.beside} ({self.ours.cpu:.3f} s of processor time against "
              f"{self.peer.cpu:.3f} s; wall {self.ours.wall:.3f} against {self.peer.wall:.3f} s){limit}", flush=True)
        here = machine(parallax)
        values = dict(here, date=datetime.date.today().isoformat(), load=f"{os.getloadavg()[0]:.1f}", threads=self.threads,
                      what=self.what, ours_wall=f"{self.ours.wall:.4g}", ours_cpu=f"{self.ours.cpu:.4g}", peer=self.beside,
                      peer_wall=f"{self.peer.wall:.4g}", peer_cpu=f"{self.peer.cpu:.4g}", ratio=f"{self.ratio:.3g}",
                      must="" if self.must is None else f"{self.must:g}", remark=self.remark)
        fresh = not RESULTS.exists()
        with open(RESULTS, "a", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, COLUMNS)
            if fresh:
                writer.writeheader()
            writer.writerow(values)
        return self
