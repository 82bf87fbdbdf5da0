#!/usr/bin/env python3
"""clusters=auto: the number chosen beside the true one, as Markdown.

Usage: reproduce_clusters.py PARALLAX [METHOD[:KEY=VALUE]...]...

mfeat has 10 classes, newsgv2 2, newsgv4 3, wine 3; `blobs` is generated here: 6 normal groups in two views of 5 columns. A
choice that takes more than LIMIT seconds (900) of processor time is given up.
"""
import json
import os
import random
import resource
import subprocess
import sys
import tempfile

PARALLAX = sys.argv[1]
STABLE = ":clusters_by=stability"
METHODS = sys.argv[2:] or ["spectral", "hybridtree", "mvkmeans", "mvc", "coem", "smd", "mvplsa", "infobottleneck",
                           "bct:task=cluster", "mvll:task=cluster", "lapreg:task=cluster", "spectral" + STABLE,
                           "hybridtree" + STABLE, "mvkmeans" + STABLE]
DATA = os.environ["PARALLAX_DATA"]
LIMIT = int(os.environ.get("LIMIT", "900"))


def make_blobs(folder):
    rng = random.Random(17)
    centres = [[[rng.gauss(0, 3) for _ in range(5)] for _ in range(6)] for _ in range(2)]
    group = [i % 6 for i in range(300)]
    os.makedirs(folder)
    for v in range(2):
        with open(os.path.join(folder, f"v{v}.csv"), "w", encoding="utf-8") as f:
            f.writelines(",".join(repr(c + rng.gauss(0, 1)) for c in centres[v][g]) + "\n" for g in group)
    with open(os.path.join(folder, "truth.txt"), "w", encoding="utf-8") as f:
        f.writelines(f"g{g}\n" for g in group)
    with open(os.path.join(folder, "dataset.json"), "w", encoding="utf-8") as f:
        json.dump({"parallax": 1, "name": "blobs", "truth": "truth.txt",
                   "views": [{"name": f"v{v}", "file": f"v{v}.csv", "kind": "real"} for v in range(2)]}, f)


def limit_time():
    resource.setrlimit(resource.RLIMIT_CPU, (LIMIT, LIMIT))


def chosen(method, data):
    name, *settings = method.split(":")
    command = [PARALLAX, "fit", name, data, "--set", "clusters=auto", "--quiet", "--json", "-"]
    for s in settings:
        command += ["--set", s]
    result = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, preexec_fn=limit_time, check=False)
    if result.returncode < 0:
        return "time"
    if result.returncode:
        print(f"{method} {data}: {result.stderr.decode().strip()}", file=sys.stderr, flush=True)
        return "refused"
    result = json.loads(result.stdout)
    return f"{result['clusters_chosen']} ({result['metrics']['nmi']:.2f})"


def main():
    sets = {"mfeat": 10, "newsgv2": 2, "newsgv4": 3, "wine": 3, "blobs": 6}
    print("Number chosen (NMI); true numbers in the head.\n")
    print("| method | " + " | ".join(f"{name} ({k})" for name, k in sets.items()) + " |\n|" + "---|" * (len(sets) + 1))
    with tempfile.TemporaryDirectory() as scratch:
        make_blobs(os.path.join(scratch, "blobs"))
        for method in METHODS:
            cells = [chosen(method, os.path.join(scratch if name == "blobs" else DATA, name)) for name in sets]
            print(f"| {method} | " + " | ".join(cells) + " |", flush=True)


main()
