"""Everything that may be called Xs or y."""
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

import parallax
from parallax._core import Context, ffi, lib
from parallax._views import build, gather


def scores(model, Xs, **kwargs):
    return np.asarray(model.predict_proba(Xs, **kwargs))


def addresses(Xs, **kwargs):
    """Where the library reads the values of each view."""
    context = Context()
    samples = gather(Xs, **kwargs)
    data, found = build(context, samples), []
    for v in range(len(samples.views)):
        dense, sparse = ffi.new("plx_cmat *"), ffi.new("plx_ccsr *")
        if lib.plx_dataset_dense(dense, data.pointer, v) == lib.PLX_OK:
            found.append((int(ffi.cast("uintptr_t", dense.data)),))
        else:
            assert lib.plx_dataset_sparse(sparse, data.pointer, v) == lib.PLX_OK
            found.append((int(ffi.cast("uintptr_t", sparse.val)), int(ffi.cast("uintptr_t", sparse.col))))
    return found


# ---- copies ----

def test_row_major_and_csr_are_not_copied():
    X = np.random.default_rng(0).normal(size=(50, 6))
    S = sp.random(50, 30, density=0.2, format="csr", random_state=0)
    S.sort_indices()
    assert addresses([X, S]) == [(X.ctypes.data,), (S.data.ctypes.data, S.indices.ctypes.data)]


def test_slices_of_one_matrix_are_not_copied():
    X = np.random.default_rng(0).normal(size=(50, 6))
    assert addresses(X, views=[slice(0, 2), [2, 3, 4, 5]]) == [(X.ctypes.data,), (X.ctypes.data + 16,)]


def test_other_types_are_converted():
    X = np.random.default_rng(0).normal(size=(40, 5))
    y = np.arange(40) % 2
    expected = scores(parallax.Gp().fit([X], y), [X])
    for same in (np.asfortranarray(X), X.astype(np.float64)[::1], X.tolist(), X.astype(">f8")):
        assert np.array_equal(scores(parallax.Gp().fit([same], y), [same]), expected)
    for Z in (X.astype(np.float32), np.round(X * 9).astype(np.int16), X[:, ::2], np.repeat(X, 2, axis=0)[::2]):
        plain = np.array(Z, dtype=float, order="C")
        assert np.array_equal(scores(parallax.Gp().fit([Z], y), [Z]), scores(parallax.Gp().fit([plain], y), [plain]))


def test_sparse_formats_and_index_types_agree():
    S = sp.random(60, 20, density=0.3, format="csr", random_state=1)
    y = np.arange(60) % 3
    expected = scores(parallax.Nb().fit([S], y), [S])
    large = S.copy()
    large.indices, large.indptr = large.indices.astype(np.int64), large.indptr.astype(np.int64)
    messy = S.tocoo()
    order = np.random.default_rng(0).permutation(messy.nnz)
    messy = sp.csr_matrix((messy.data[order], (messy.row[order], messy.col[order])), shape=S.shape)
    shuffled = messy.copy()
    shuffled.indices[:2], shuffled.data[:2] = shuffled.indices[:2][::-1].copy(), shuffled.data[:2][::-1].copy()
    shuffled.has_sorted_indices = shuffled.has_canonical_format = False
    for same in (large, S.tocsc(), S.tocoo(), sp.csr_array(S), messy, shuffled, S.astype(np.float64).todok()):
        assert np.array_equal(scores(parallax.Nb().fit([same], y), [same]), expected)


def test_the_callers_values_are_never_changed(few_labels):
    Xs, shown, _ = few_labels
    S = sp.csr_matrix(np.maximum(np.round(Xs["left"]), 0))
    S.data[::3] = 0  # stored zeros
    views = {"left": Xs["left"].copy(), "words": S}
    before = views["left"].copy(), S.copy()
    views["left"][5] = np.nan
    parallax.Bct().fit(views, shown)
    assert np.isnan(views["left"][5]).all()
    assert np.array_equal(views["left"][6:], before[0][6:])
    assert np.array_equal(S.data, before[1].data) and np.array_equal(S.indptr, before[1].indptr)
    frozen = Xs["right"].copy()
    frozen.flags.writeable = False
    parallax.Bct().fit([frozen], shown)


# ---- missing views ----

def test_missing_views_are_nan_rows_or_flags_or_index(few_labels):
    Xs, shown, _ = few_labels
    flags = np.ones((120, 2), dtype=bool)
    flags[10:30, 0] = flags[50:60, 1] = False
    by_mask = parallax.Bct().fit(Xs, shown, present=flags)
    holes = {name: X.copy() for name, X in Xs.items()}
    for v, X in enumerate(holes.values()):
        X[~flags[:, v]] = np.nan
    by_nan = parallax.Bct().fit(holes, shown)
    frames = {name: pd.DataFrame(X)[flags[:, v]] for v, (name, X) in enumerate(Xs.items())}
    by_index = parallax.Bct().fit(frames, pd.Series(shown))
    assert np.array_equal(by_mask.mean_, by_nan.mean_)
    order = by_index.labels_.size and by_index._index
    assert set(order) == set(range(120))
    assert np.allclose(by_index.mean_.sort_index().to_numpy(), by_mask.mean_, rtol=0, atol=1e-9)


def test_five_lines_from_two_frames_to_predictions(few_labels):
    Xs, shown, truth = few_labels
    names = [f"patient{i}" for i in range(120)]
    blood = pd.DataFrame(Xs["left"], index=names, columns=list("abcd")).drop(names[3:20])
    genes = pd.DataFrame(Xs["right"], index=names, columns=["x", "y", "z"]).drop(names[40:60])
    known = pd.Series(np.array(["no", "yes", "maybe"])[truth], index=names)[::9]
    model = parallax.Bct().fit({"blood": blood, "genes": genes}, known)
    found = model.predict({"genes": genes.iloc[:5]})
    assert list(found.index) == list(genes.index[:5]) and set(found) <= set(known)
    everyone = model.fit_predict({"blood": blood, "genes": genes}, known)
    right = np.array(["no", "yes", "maybe"])[truth]
    assert (everyone.loc[names] == right).mean() > 0.9
    assert list(model.view_weight_.index) == ["blood", "genes"]
    assert list(model.feature_names_in_[:2]) == ["blood:a", "blood:b"]


@pytest.mark.parametrize("kind", [str, int, float])
def test_labels_go_with_their_samples(few_labels, kind):
    """Frames with holes are joined in an order of their own; a Series is read by its index everywhere."""
    pandas = pytest.importorskip("pandas")
    Xs, _, truth = few_labels
    names = [f"s{i}" for i in range(len(truth))]
    frames = {name: pandas.DataFrame(X, index=names) for name, X in Xs.items()}
    first, second = frames
    frames[first] = frames[first].drop(names[5:60])
    frames[second] = frames[second].iloc[::-1]
    y = pandas.Series(truth.astype(kind), index=names)
    data = parallax.Dataset(frames, y.iloc[:40], truth=y)
    right = {name: str(v) for name, v in y.items()}
    assert data.ids != names and dict(zip(data.ids, data.truth)) == right
    assert {i: v for i, v in zip(data.ids, data.labels) if v is not None} == {i: right[i] for i in names[:40]}
    assert data.relabel(y).labels.tolist() == data.truth.tolist() == data.with_truth(y[::-1]).truth.tolist()
    model = parallax.Rls().fit(frames, y)
    found = model.predict(frames)
    accuracy = (found == y.loc[found.index]).mean()
    assert model.score(frames, y) == accuracy > 0.8
    assert parallax.explain.explain(model, frames, y)["quality"].to_frame()["value"][0] == accuracy
    assert model.score(frames, y.iloc[:40]) == (found == y.loc[found.index])[names[:40]].mean()
    with pytest.raises(ValueError, match="more than once"):
        parallax.Dataset(frames, pandas.concat([y, y.iloc[:1]]))
    with pytest.raises(ValueError, match="none of the samples"):
        parallax.Dataset(frames, y.set_axis([f"t{i}" for i in range(len(y))]))


def test_new_samples_may_lack_views(few_labels):
    Xs, shown, truth = few_labels
    model = parallax.Bct().fit(Xs, shown)
    assert (model.predict({"right": Xs["right"]}) == truth).mean() > 0.8
    with pytest.raises(parallax.DataError):
        model.predict({"other": Xs["right"]})


# ---- labels ----

@pytest.mark.parametrize("hide, kind", [(lambda v: -1, int), (lambda v: np.nan, float), (lambda v: None, object)])
def test_unlabelled_by_type(few_labels, hide, kind):
    Xs, shown, truth = few_labels
    y = np.array([hide(v) if v == -1 else v for v in shown], dtype=kind)
    model = parallax.Bct().fit(Xs, y)
    assert list(model.classes_) == [0, 1, 2]
    assert (model.labels_ == truth).mean() > 0.9


def test_classes_keep_their_type_and_order(few_labels):
    Xs, shown, truth = few_labels
    for names in (np.array([10, 2, 33]), np.array(["b", "a", "c"]), np.array([0.5, 1.5, 2.5]) * 2):
        y = np.array([None if c < 0 else names[c] for c in shown], dtype=object)
        model = parallax.Rls().fit(Xs, y)
        assert list(model.classes_) == sorted(names)
        found = model.predict(Xs)
        assert found.dtype.kind == names.dtype.kind and (found == names[truth]).mean() > 0.9
        best = model.classes_[np.argmax(model.decision_function(Xs), axis=1)]
        assert (best == found).all()


def test_two_classes_called_minus_one_and_one(few_labels):
    Xs, _, truth = few_labels
    two = truth < 2
    y = np.where(truth[two] == 0, -1, 1)
    with pytest.warns(parallax.ParallaxWarning, match="two classes"):
        model = parallax.Rls().fit([Xs["left"][two]], y)
    assert (model.predict([Xs["left"][two]]) == y).mean() > 0.9


def test_regression(few_labels):
    Xs, _, _ = few_labels
    target = Xs["left"][:, 0] + Xs["right"][:, 0]
    seen = target.copy()
    seen[::4] = np.nan
    model = parallax.Gp(task="regression").fit(Xs, seen)
    assert np.corrcoef(model.predict(Xs)[::4], target[::4])[0, 1] > 0.99
    assert not hasattr(model, "predict_proba") and model.score(Xs, target) > 0.98


def test_sets_of_labels():
    generator = np.random.default_rng(0)
    y = [{"a"} if i % 3 == 0 else {"a", "b"} if i % 3 == 1 else {"c"} for i in range(60)]
    X = generator.random((60, 6)) + 3 * np.eye(6)[np.arange(60) % 3]
    data = parallax.Dataset([X], y).set_hierarchy(["a", "b", "c"], subset=[(1, 0)], mutex=[(0, 2)])
    model = parallax.Mvkmeans(assignment="hier-sumscore").fit(data)
    assert set(model.labels_) <= {"a", "a|b", "c"} and list(model.classes_) == ["a", "b", "c"]
    found = parallax.metrics.multilabel(y, list(model.labels_))
    assert found["subset_accuracy"] > 0.9
    with pytest.raises(parallax.DataError, match="several labels"):
        parallax.Mvkmeans().fit([X], y)


# ---- other packages ----

def test_polars_and_arrow(few_labels):
    polars, pyarrow = pytest.importorskip("polars"), pytest.importorskip("pyarrow")
    Xs, shown, _ = few_labels
    expected = scores(parallax.Bct().fit(Xs, shown), Xs)
    frames = {name: polars.DataFrame(X, schema=[f"{name}{j}" for j in range(X.shape[1])]) for name, X in Xs.items()}
    model = parallax.Bct().fit(frames, shown)
    assert np.array_equal(scores(model, frames), expected)
    assert list(model.feature_names_in_[:1]) == ["left:left0"]
    tables = {name: frame.to_arrow() for name, frame in frames.items()}
    assert np.array_equal(scores(parallax.Bct().fit(tables, shown), tables), expected)


@pytest.mark.filterwarnings("ignore::FutureWarning", "ignore::UserWarning")
def test_mudata_there_and_back(few_labels, tmp_path):
    anndata, mudata = pytest.importorskip("anndata"), pytest.importorskip("mudata")
    Xs, shown, truth = few_labels
    names = [f"cell{i}" for i in range(120)]
    rna = anndata.AnnData(sp.csr_matrix(np.maximum(np.round(Xs["left"]), 0)), obs=pd.DataFrame(index=names))
    adt = anndata.AnnData(Xs["right"], obs=pd.DataFrame(index=names))[20:].copy()
    whole = mudata.MuData({"rna": rna, "adt": adt})
    kinds = np.array(["B", "T", "NK"])
    whole.obs["type"] = pd.Series([None if c < 0 else kinds[c] for c in shown], index=names)
    model = parallax.Bct().fit(whole, y="type")
    found = model.predict(whole)
    assert list(found.index) == list(whole.obs_names)
    assert (found.loc[names].to_numpy() == kinds[truth]).mean() > 0.85
    data = parallax.Dataset(whole, y="type")
    assert data.present["adt"].sum() == 100 and data.kinds["rna"] == "counts"
    again = data.to_mudata()
    assert set(again.mod) == {"rna", "adt"} and again["adt"].n_obs == 100
    assert np.array_equal(again["adt"].X, adt.X) and (again["rna"].X != rna.X).nnz == 0
    again.write(tmp_path / "cells.h5mu")
    stored = parallax.read(tmp_path / "cells.h5mu")
    assert stored.ids == names and sorted(stored.view_names) == ["adt", "rna"]
    assert np.array_equal(stored["adt"][20:], adt.X)
    single = parallax.Bct().fit(rna, shown)
    assert list(single.view_names_) == ["X"]


def test_data_sets_are_cut_and_relabelled(few_labels):
    Xs, shown, truth = few_labels
    data = parallax.Dataset(Xs, shown, truth=truth, ids=[f"s{i}" for i in range(120)], name="toy")
    assert len(data) == 120 and data.shape == (120, 7) and data.classes == ["0", "1", "2"]
    part = data[[5, 3, 4]]
    assert part.ids == ["s5", "s3", "s4"] and np.array_equal(part["left"], Xs["left"][[5, 3, 4]])
    assert data[truth == 0].truth.tolist() == ["0"] * 40
    assert data.relabel(None).labels is None
    assert np.shares_memory(data["left"], Xs["left"])
    assert "120 samples" in repr(data) and "<table>" in data._repr_html_()


# ---- what is refused ----

@pytest.mark.parametrize("call, kind, words", [
    (lambda X, y: parallax.Bct().fit([X, X[:5]], y), parallax.DataError, "expected 60"),
    (lambda X, y: parallax.Bct(noise=-1).fit([X], y), parallax.ArgumentError, "noise"),
    (lambda X, y: parallax.Bct(noise={"view0": 1}).fit([X], y), ValueError, "one for all views"),
    (lambda X, y: parallax.Bct(kernel={"left": "rbf"}).fit([X], y), parallax.ArgumentError, "left"),
    (lambda X, y: parallax.Bct(arrays=["kernal"]).fit([X], y), parallax.ArgumentError, "kernel"),
    (lambda X, y: parallax.Bct(kinds="words").fit([X], y), ValueError, "words"),
    (lambda X, y: parallax.Bct().fit([X], y[:3]), ValueError, "inconsistent numbers of samples"),
    (lambda X, y: parallax.Bct().fit([X]), ValueError, "set clusters"),
    (lambda X, y: parallax.Bct(memory_limit=10**6).fit([np.tile(X, (40, 60))], np.tile(y, 40)), MemoryError, "memory"),
    (lambda X, y: parallax.Bct().fit({"a.b": X}, y), parallax.DataError, "a.b"),
    (lambda X, y: parallax.read("/nowhere"), OSError, "/nowhere"),
    (lambda X, y: parallax.Bct().predict([X]), ValueError, "not fitted"),
    (lambda X, y: parallax.Bct(n_jobs=0).fit([X], y), ValueError, "n_jobs"),
])
def test_errors_say_what_is_wrong(call, kind, words):
    X, y = np.random.default_rng(0).normal(size=(60, 5)), np.arange(60) % 2
    with pytest.raises(kind, match=words):
        call(X, y)


def test_arrays_on_request(few_labels):
    Xs, shown, _ = few_labels
    with pytest.raises(AttributeError, match=r"arrays=\['kernel'\]"):
        parallax.Bct().fit(Xs, shown).kernel_
    model = parallax.Bct(arrays=["kernel"]).fit(Xs, shown)
    assert model.kernel_.shape == (120, 120) and not model.kernel_.flags.writeable
    assert "kernel_" in dir(model)
