"""Where things are, and small data for many tests."""
import os
import pathlib

import numpy as np
import pytest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent


def pytest_addoption(parser):
    parser.addoption("--quick", action="store_true", help="a subset that takes less than a minute")


def pytest_collection_modifyitems(config, items):
    if config.getoption("--quick"):
        for item in items:
            if item.get_closest_marker("full"):
                item.add_marker(pytest.mark.skip(reason="left to the full tests"))


@pytest.fixture(scope="session")
def command():
    """The parallax command of the same source, to compare with."""
    path = pathlib.Path(os.environ.get("PARALLAX_COMMAND", ROOT / "build/release/parallax"))
    if not path.exists():
        pytest.skip("the parallax command is not built (PARALLAX_COMMAND)")
    return str(path)


@pytest.fixture
def two_views():
    """120 samples of three classes in two views, and their labels."""
    generator = np.random.default_rng(7)
    y = np.repeat(np.arange(3), 40)
    left = generator.normal(size=(120, 4)) + 4 * np.eye(4)[y]
    right = generator.normal(size=(120, 3)) + 4 * np.eye(3)[y]
    order = generator.permutation(120)
    return {"left": left[order], "right": right[order]}, y[order]


@pytest.fixture
def few_labels(two_views):
    """The same with five labels per class."""
    Xs, y = two_views
    shown = np.full(len(y), -1)
    for c in range(3):
        rows = np.flatnonzero(y == c)[:5]
        shown[rows] = c
    return Xs, shown, y
