"""What computes: the processor, a device by name, or whichever pays."""
import numpy as np
import pytest

import parallax


@pytest.fixture
def two_views():
    rng = np.random.default_rng(0)
    y = np.arange(40) % 2
    return [rng.normal(size=(40, 3)) + y[:, None], rng.normal(size=(40, 2))], y


def test_devices_agree(two_views):
    X, y = two_views
    scores = [parallax.Gp(kernel="rbf", width=1.0, device=d).fit(X, y).predict_proba(X)
              for d in (None, "cpu", "auto", "host")]
    assert np.array_equal(scores[0], scores[1]) and np.array_equal(scores[0], scores[2])
    np.testing.assert_allclose(scores[3], scores[0], rtol=1e-6)


def test_a_device_that_is_not_there(two_views):
    X, y = two_views
    with pytest.raises(parallax.DeviceError, match="libparallax_nowhere.so"):
        parallax.Gp(device="nowhere").fit(X, y)
    with pytest.raises(parallax.ArgumentError, match="device"):
        parallax.Gp(device="GPU").fit(X, y)
