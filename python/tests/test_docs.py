"""Blocks marked ```python test on the pages run, in order, and print what stands behind them."""
import contextlib
import io
import re

import pytest

from conftest import ROOT

PAGES = [ROOT / "docs/guide/python.md", ROOT / "docs/guide/coming-from.md", ROOT / "python/README.md"]
BLOCK = re.compile(r"^```python test\n(.*?)^```\n(?:\n```text\n(.*?)^```)?", re.M | re.S)


def fits(found, expected):
    pattern = ".*".join(map(re.escape, expected.strip().split("...")))
    return re.fullmatch(pattern, found.strip()) is not None


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.name)
def test_page(page):
    space, blocks = {}, BLOCK.findall(page.read_text(encoding="utf-8"))
    assert blocks
    for code, expected in blocks:
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            exec(compile(code, str(page), "exec"), space)
        assert not expected or fits(out.getvalue(), expected), out.getvalue()
