"""The conventions of scikit-learn."""
import pickle

import numpy as np
import pytest
from sklearn.base import clone, is_classifier, is_clusterer
from sklearn.compose import ColumnTransformer
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import check_estimator

import parallax
from parallax.preprocessing import PerView

# In a region of its own a local model decides; the probabilities are those of the global one.
EXCEPTIONS = {"Localmodels": {"check_classifiers_train": "inside its region the local model decides, while the "
                                                         "probabilities are those of the global one"}}


def single(made):
    """An estimator of one matrix."""
    extra = {"clusters": 3} if made.method.task == "cluster" and made.method.has("clusters") else {}
    return made(views=made.method.min_views if made.method.min_views > 1 else None, **extra)


CHECKED = [made for made in parallax.all_estimators() if is_classifier(single(made)) or is_clusterer(single(made))]


def pytest_generate_tests(metafunc):
    if "checked" in metafunc.fixturenames:
        chosen = CHECKED[::4] if metafunc.config.getoption("--quick") else CHECKED
        metafunc.parametrize("checked", chosen, ids=lambda made: made.__name__)


@pytest.mark.filterwarnings("ignore")
def test_check_estimator(checked):
    made = checked
    results = check_estimator(single(made), on_fail=None, expected_failed_checks=EXCEPTIONS.get(made.__name__))
    assert [(r["check_name"], str(r["exception"])) for r in results if r["status"] == "failed"] == []
    assert len(results) > 40


def test_all_methods_are_checked_but_those_that_label_no_new_samples():
    left = {made.method.name for made in parallax.all_estimators()} - {made.method.name for made in CHECKED}
    assert left == {m.method.name for m in parallax.all_estimators()
                    if m.method.task == "embed" or not m.method.capabilities["predict"]}


@pytest.mark.parametrize("made", parallax.all_estimators(), ids=lambda made: made.__name__)
def test_pickling_keeps_predictions_and_arrays(made, two_views):
    Xs, y = two_views
    Xs = {name: np.abs(X) for name, X in Xs.items()}
    model = single(made).set_params(views=None).fit(Xs, None if made.method.task == "cluster" else y)
    again = pickle.loads(pickle.dumps(model))
    for call in ("predict", "predict_proba", "decision_function", "transform", "membership"):
        if hasattr(model, call):
            assert np.array_equal(getattr(model, call)(Xs), getattr(again, call)(Xs), equal_nan=True), call
    assert np.array_equal(model.labels_, again.labels_)
    for a in made.method.arrays:
        if not hasattr(model, a.attribute):
            continue
        before, after = getattr(model, a.attribute), getattr(again, a.attribute)
        for x, z in zip(before.values(), after.values()) if isinstance(before, dict) else [(before, after)]:
            x, z = (m.toarray() if hasattr(m, "toarray") else np.asarray(m) for m in (x, z))
            assert np.array_equal(x, z, equal_nan=True), a.attribute
    assert clone(model).get_params() == model.get_params()
    twice = pickle.loads(pickle.dumps(again))
    assert np.array_equal(model.labels_, twice.labels_)


def test_grid_search_over_view_variances(few_labels):
    Xs, _, truth = few_labels
    X = np.hstack(list(Xs.values()))
    model = parallax.Bct(views={"left": slice(0, 4), "right": slice(4, 7)})
    search = GridSearchCV(model, {"view_variance__left": [0.1, 1, 10], "view_variance__right": [0.1, 10]}, cv=3)
    search.fit(X, truth)
    assert search.best_score_ > 0.9
    assert set(search.best_estimator_.view_variance) == {None, "left", "right"}
    data = parallax.Dataset(Xs, truth)
    by_data = GridSearchCV(parallax.Bct(), {"view_variance": [{"left": 0.1}, {"left": 10.0}]}, cv=3).fit(data, truth)
    assert by_data.best_score_ > 0.9


def test_cross_validation_hides_labels(few_labels):
    Xs, _, truth = few_labels
    assert cross_val_score(parallax.Rls(views=[slice(0, 4), slice(4, 7)]), np.hstack(list(Xs.values())), truth,
                           cv=4, n_jobs=2).mean() > 0.9


def test_pipelines_with_a_scaler_per_view(few_labels):
    Xs, shown, truth = few_labels
    per_view = make_pipeline(PerView(StandardScaler()), parallax.Bct(scale="none")).fit(Xs, shown)
    assert (per_view.predict(Xs) == truth).mean() > 0.9
    X = np.hstack(list(Xs.values()))
    columns = ColumnTransformer([("left", StandardScaler(), slice(0, 4)), ("right", "passthrough", slice(4, 7))])
    joined = make_pipeline(columns, parallax.Bct(views=[slice(0, 4), slice(4, 7)])).fit(X, shown)
    assert (joined.predict(X) == truth).mean() > 0.9


def test_embedding_in_a_pipeline(two_views):
    from sklearn.linear_model import LogisticRegression

    Xs, y = two_views
    found = make_pipeline(parallax.Cca(dim=2), LogisticRegression()).fit(Xs, y)
    assert found.score(Xs, y) > 0.9
    model = parallax.Cca(dim=2).fit(Xs)
    assert list(model.get_feature_names_out()) == ["cca0", "cca1"]
    assert model.set_output(transform="pandas").transform(Xs).shape == (120, 2)


def test_names_of_features(few_labels):
    import pandas as pd

    Xs, shown, _ = few_labels
    X = pd.DataFrame(np.hstack(list(Xs.values())), columns=list("abcdefg"))
    model = parallax.Rls(views={"left": list("abcd"), "right": list("efg")}).fit(X, shown)
    assert list(model.feature_names_in_) == list("abcdefg") and model.n_features_in_ == 7
    with pytest.raises(ValueError, match="feature names"):
        model.predict(X.rename(columns={"a": "z"}))
    nb = parallax.Nb().fit(X.abs(), shown)
    theta = nb.theta_by_view_["view0"]
    assert list(theta.columns) == list("abcdefg") and list(theta.index) == ["0", "1", "2"]


def test_random_state(two_views):
    Xs, _ = two_views
    one, same, other = (parallax.Mvkmeans(clusters=3, random_state=s).fit(Xs) for s in (1, 1, 2))
    assert np.array_equal(one.labels_, same.labels_)
    assert one.facts()["seed"] == 1 and other.facts()["seed"] == 2
    assert parallax.Mvkmeans(clusters=3, random_state=np.random.RandomState(0)).fit(Xs).labels_.max() == 2


def test_threads_change_nothing(few_labels):
    Xs, shown, _ = few_labels
    one, two = (parallax.Bct(n_jobs=n).fit(Xs, shown) for n in (1, 2))
    assert one.mean_.tobytes() == two.mean_.tobytes()
