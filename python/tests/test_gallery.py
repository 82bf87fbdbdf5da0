"""The scripts of the gallery run, and say what they say."""
import os
import subprocess
import sys

import pytest

from conftest import ROOT

SCRIPTS = sorted((ROOT / "python/gallery").glob("*.py"))


@pytest.mark.full
@pytest.mark.parametrize("script", SCRIPTS, ids=lambda s: s.stem)
def test_script_runs(script, tmp_path):
    pytest.importorskip("matplotlib")
    done = subprocess.run([sys.executable, "-W", "ignore", script], cwd=tmp_path, capture_output=True, text=True,
                          env={**os.environ, "MPLBACKEND": "agg"}, timeout=600)
    assert done.returncode == 0, done.stderr
    assert done.stdout and script.read_text().startswith('"""')


def test_there_are_ten():
    assert len(SCRIPTS) == 10
