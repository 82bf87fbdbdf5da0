#!/usr/bin/env python3
"""A sparse nearest-neighbour graph of clustered points, as a Parallax data set with one sparse kernel view.
Usage: make_graph.py DIRECTORY SAMPLES CLUSTERS NEIGHBOURS"""
import json
import pathlib
import sys

import numpy as np
import scipy.io
import scipy.sparse as sp
from sklearn.neighbors import kneighbors_graph


def main():
    out, n, clusters, k = pathlib.Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4])
    rng = np.random.default_rng(1)
    centres = rng.normal(size=(clusters, 10)) * 2.0
    truth = np.arange(n) % clusters
    x = centres[truth] + rng.normal(size=(n, 10))
    w = kneighbors_graph(x, k, mode="distance", n_jobs=2)
    w.data = np.exp(-0.5 * (w.data / np.mean(w.data)) ** 2)
    w = sp.csr_matrix(w.maximum(w.T))
    out.mkdir(parents=True, exist_ok=True)
    scipy.io.mmwrite(out / "graph.mtx", w, symmetry="general", precision=17)
    sp.save_npz(out / "graph.npz", w)
    (out / "truth.txt").write_text("".join(f"{t}\n" for t in truth))
    (out / "dataset.json").write_text(json.dumps({"parallax": 1, "name": "graph", "truth": "truth.txt", "views": [
        {"name": "graph", "file": "graph.mtx", "kind": "kernel"}]}))


if __name__ == "__main__":
    main()
