"""Files of mudata and anndata read by us, files of ours read by them.

Needs mudata, anndata, h5py, scipy, pytest. PARALLAX_BIN is the command: `$PARALLAX_BIN data convert IN OUT`
between a data set directory and .h5mu (or from .h5ad).
"""
import json
import os
import pathlib
import subprocess
import warnings

import anndata
import h5py
import mudata
import numpy as np
import pandas as pd
import pytest
import scipy.io
import scipy.sparse as sp

warnings.filterwarnings("ignore")
anndata.settings.allow_write_nullable_strings = True
mudata.set_options(pull_on_update=False)


def convert(source, target, *more):
    done = subprocess.run([os.environ["PARALLAX_BIN"], "data", "convert", str(source), str(target), *more],
                          capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return target


def refuse(source, target):
    done = subprocess.run([os.environ["PARALLAX_BIN"], "data", "convert", str(source), str(target)],
                          capture_output=True, text=True)
    assert done.returncode != 0
    return done.stderr


def lines(folder, name):
    return (pathlib.Path(folder) / name).read_text(encoding="utf-8").splitlines()


class Dump:
    """A data set directory in memory: views as dense arrays, rows of absent samples zero."""

    def __init__(self, folder):
        head = json.loads((pathlib.Path(folder) / "dataset.json").read_text())
        self.ids = lines(folder, head["ids"]) if "ids" in head else None
        self.labels = lines(folder, head["labels"]) if "labels" in head else None
        self.truth = lines(folder, head["truth"]) if "truth" in head else None
        self.names = [v["name"] for v in head["views"]]
        self.kind = {v["name"]: v["kind"] for v in head["views"]}
        self.x, self.present, self.features = {}, {}, {}
        for v in head["views"]:
            path = str(pathlib.Path(folder) / v["file"])
            if path.endswith(".mtx"):
                x = scipy.io.mmread(path)
                x = x.toarray() if sp.issparse(x) else x
            elif path.endswith(".npy"):
                x = np.load(path)
            else:
                x = pd.read_csv(path, header=0 if v.get("header") else None, float_precision="round_trip").to_numpy(float)
            here = np.array([int(t) for t in lines(folder, v["present"])]) if "present" in v else np.ones(len(x), int)
            x = np.where(here[:, None] == 1, x, 0.0)
            self.x[v["name"]], self.present[v["name"]] = x, here
            self.features[v["name"]] = lines(folder, v["features"]) if "features" in v else None


def check_against(dump, mdata, label=None, truth=None):
    """Every value, name and hole of a MuData is in the dump, joined by sample name."""
    assert dump.names == list(mdata.mod)
    assert sorted(dump.ids) == sorted(mdata.obs_names)
    for name, ad in mdata.mod.items():
        x = ad.X.toarray() if sp.issparse(ad.X) else np.asarray(ad.X)
        rows = [dump.ids.index(i) for i in ad.obs_names]
        np.testing.assert_array_equal(dump.x[name][rows], x.astype(float))
        assert dump.present[name].sum() == len(rows) and dump.present[name][rows].all()
        assert dump.features[name] == list(ad.var_names)
    for column, mine in ((label, dump.labels), (truth, dump.truth)):
        if column is None:
            assert mine is None
            continue
        theirs = mdata.obs[column].reindex(dump.ids)
        assert mine == ["?" if pd.isna(v) else str(v) for v in theirs]


def modalities(seed, n=30):
    rng = np.random.default_rng(seed)
    names = [f"cell_{i}" for i in range(n)]
    first, second = rng.permutation(n)[:24], rng.permutation(n)[:20]
    counts = sp.random(24, 50, 0.2, "csr", random_state=seed, data_rvs=lambda k: rng.integers(1, 9, k)).astype(np.float32)
    rna = anndata.AnnData(counts, obs=pd.DataFrame(index=[names[i] for i in first]),
                          var=pd.DataFrame(index=[f"g{j}" for j in range(50)]))
    prot = anndata.AnnData(rng.normal(size=(20, 7)).astype(np.float32), obs=pd.DataFrame(index=[names[i] for i in second]),
                           var=pd.DataFrame(index=[f"p{j}" for j in range(7)]))
    return rna, prot


def with_labels(mdata, column, seed=3):
    rng = np.random.default_rng(seed)
    values = rng.choice(["T cell", "B cell", "häm", None], len(mdata.obs))
    mdata.obs[column] = pd.Categorical(values, categories=["B cell", "T cell", "häm", "never"])
    return mdata


@pytest.mark.parametrize("compression", [None, "gzip"])
def test_reads_mudata(tmp_path, compression):
    rna, prot = modalities(1)
    m = with_labels(mudata.MuData({"rna": rna, "prot": prot}), "label")
    m.write_h5mu(tmp_path / "m.h5mu", compression=compression)
    dump = Dump(convert(tmp_path / "m.h5mu", tmp_path / "out"))
    check_against(dump, m, "label")
    assert dump.kind == {"rna": "counts", "prot": "real"}


def test_reads_csc_and_wide_types(tmp_path):
    rna, prot = modalities(2)
    rna.X = sp.csc_matrix(rna.X).astype(np.int64)
    prot.X = (np.asarray(prot.X) > 0).astype(np.uint8)
    m = with_labels(mudata.MuData({"z": rna, "a": prot}), "cell_type")
    m.write_h5mu(tmp_path / "m.h5mu")
    dump = Dump(convert(tmp_path / "m.h5mu", tmp_path / "out"))
    check_against(dump, m, "cell_type")
    assert dump.kind == {"z": "counts", "a": "binary"}


def test_reads_nullable_strings_and_string_index(tmp_path):
    rna, prot = modalities(4)
    for ad in (rna, prot):
        ad.obs.index = ad.obs.index.astype("string")
        ad.var.index = ad.var.index.astype("string")
    m = mudata.MuData({"rna": rna, "prot": prot})
    m.obs["label"] = pd.array([None if i % 4 == 0 else f"unique {i}" for i in range(len(m.obs))], dtype="string")
    m.write_h5mu(tmp_path / "m.h5mu")
    check_against(Dump(convert(tmp_path / "m.h5mu", tmp_path / "out")), m, "label")


@pytest.mark.parametrize("dtype", ["Int64", "boolean", "int8", "float64"])
def test_reads_every_kind_of_label_column(tmp_path, dtype):
    rna, _ = modalities(5)
    values = [0, 1] * 12
    rna.obs["labels"] = pd.array([None] + values[1:], dtype=dtype) if dtype[0] in "Ib" else np.array(values, dtype)
    rna.write_h5ad(tmp_path / "a.h5ad", compression="gzip")
    dump = Dump(convert(tmp_path / "a.h5ad", tmp_path / "out"))
    expect = ["?" if dtype[0] in "Ib" and i == 0 else str(v) for i, v in enumerate(values)]
    assert dump.ids == list(rna.obs_names)
    assert dump.labels == expect
    np.testing.assert_array_equal(dump.x["X"], rna.X.toarray())


def test_refuses_lzf_with_a_hint(tmp_path):
    rna, _ = modalities(6)
    rna.write_h5ad(tmp_path / "a.h5ad", compression="lzf")
    message = refuse(tmp_path / "a.h5ad", tmp_path / "out")
    assert "LZF" in message and "gzip" in message and "a.h5ad" in message


def write_directory(folder):
    """Three views with holes, labels and truth; every number with 17 digits."""
    rng = np.random.default_rng(9)
    folder.mkdir()
    n, ids = 12, [f"s{i}" for i in rng.permutation(12)]
    present = (rng.random(n) < 0.7).astype(int)
    views = {"text": rng.integers(0, 3, (n, 6)), "image": rng.normal(size=(n, 4)), "flag": rng.integers(0, 2, (n, 3))}
    kinds = {"text": "counts", "image": "real", "flag": "binary"}
    entries = []
    for name, x in views.items():
        np.savetxt(folder / f"{name}.csv", x, fmt="%.17g", delimiter=",")
        entries.append({"name": name, "file": f"{name}.csv", "kind": kinds[name]})
    entries[1]["present"] = "image.present.txt"
    (folder / "image.present.txt").write_text("".join(f"{p}\n" for p in present))
    labels = rng.choice(["x", "y|z", "?"], n)
    truth = rng.choice(["x", "y"], n)
    for file, values in (("ids.txt", ids), ("labels.txt", labels), ("truth.txt", truth)):
        (folder / file).write_text("".join(f"{v}\n" for v in values))
    (folder / "dataset.json").write_text(json.dumps({"parallax": 1, "name": "made", "ids": "ids.txt", "views": entries,
                                                     "labels": "labels.txt", "truth": "truth.txt"}))
    return ids, views, present, list(labels), list(truth)


def check_ours(m, ids, views, present, labels, truth):
    assert list(m.mod) == ["text", "image", "flag"]
    assert sorted(m.obs_names) == sorted(ids)
    for name, x in views.items():
        keep = present == 1 if name == "image" else np.ones(len(ids), bool)
        ad = m.mod[name]
        assert list(ad.obs_names) == [i for i, k in zip(ids, keep) if k]
        got = ad.X.toarray() if sp.issparse(ad.X) else np.asarray(ad.X)
        np.testing.assert_array_equal(got, np.asarray(x, float)[keep])
    ordered = m.obs.reindex(ids)
    assert ["?" if pd.isna(v) else v for v in ordered["label"]] == labels
    assert list(ordered["truth"]) == truth
    assert ordered["label"].dtype.name == "category"


def test_mudata_reads_ours(tmp_path):
    made = write_directory(tmp_path / "in")
    path = convert(tmp_path / "in", tmp_path / "ours.h5mu")
    m = mudata.read_h5mu(path)
    check_ours(m, *made)
    assert m.uns["parallax"]["views"]["text"]["kind"] == "counts"
    one = mudata.read(f"{path}/image")
    np.testing.assert_array_equal(np.asarray(one.X), made[1]["image"][made[2] == 1])
    backed = mudata.read_h5mu(path, backed="r")
    assert backed.n_obs == 12
    with open(path, "rb") as f:
        assert f.read(6) == b"MuData"


def test_ours_through_mudata_and_back(tmp_path):
    write_directory(tmp_path / "in")
    path = convert(tmp_path / "in", tmp_path / "ours.h5mu")
    first = Dump(convert(path, tmp_path / "first"))
    mudata.read_h5mu(path).write_h5mu(tmp_path / "theirs.h5mu")
    second = Dump(convert(tmp_path / "theirs.h5mu", tmp_path / "second"))
    assert first.names == second.names and first.kind == second.kind
    order = [second.ids.index(i) for i in first.ids]
    for name in first.names:
        np.testing.assert_array_equal(first.x[name], second.x[name][order])
        np.testing.assert_array_equal(first.present[name], second.present[name][order])
        assert first.features[name] == second.features[name]
    assert first.labels == [second.labels[i] for i in order]
    assert first.truth == [second.truth[i] for i in order]


def test_every_element_of_ours_is_marked(tmp_path):
    write_directory(tmp_path / "in")
    path = convert(tmp_path / "in", tmp_path / "ours.h5mu")
    with h5py.File(path) as f:
        unmarked = []
        f.visititems(lambda name, item: unmarked.append(name) if "encoding-type" not in item.attrs else None)
        assert f.userblock_size == 512
        assert list(f["mod"].attrs["mod-order"]) == ["text", "image", "flag"]
        assert f["obsmap/image"].dtype == np.uint32
    assert all(n == "mod" or n.split("/")[-1] in ("data", "indices", "indptr") for n in unmarked), unmarked
