"""Colours that stand for numbers are those of pictures."""

from __future__ import annotations

import json
import subprocess

import pytest

from tests.backends.node import FOLDER
from trec.backends.colouring import _shade
from trec.backends.style import Style
from trec.backends.themes import DARK, LIGHT, Theme


@pytest.mark.node
@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=["light", "dark"])
def test_shades_are_those_of_pictures_all_along_the_scale(theme: Theme) -> None:
    shares = [step / 64 for step in range(65)]
    wanted = json.dumps({"scale": list(theme.scale), "shares": shares})
    done = subprocess.run(["node", str(FOLDER / "shade.mjs"), wanted], capture_output=True, check=True)
    paints = [_shade(Style(theme=theme), share) for share in shares]
    for found, paint in zip(json.loads(done.stdout), paints, strict=True):
        # A half is rounded to even in one language and up in the other.
        for one, other in zip(found[:2], (paint.fill, paint.border), strict=True):
            assert all(abs(int(one[at : at + 2], 16) - int(other[at : at + 2], 16)) <= 1 for at in (1, 3, 5))
        assert found[2:] == [paint.text, paint.muted]
