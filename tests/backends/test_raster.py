"""PNG and PDF, which two libraries make of the SVG."""

from __future__ import annotations

import struct
import sys
from typing import TYPE_CHECKING, Any

import pytest

from tests.backends.samples import HOSTILE, marks, named, sample
from trec.backends.pdf import to_pdf
from trec.backends.png import to_png
from trec.errors import DependencyError, OptionError

if TYPE_CHECKING:
    from pathlib import Path


def size(picture: bytes) -> tuple[int, int]:
    assert picture.startswith(b"\x89PNG\r\n\x1a\n")
    width, height = struct.unpack(">II", picture[16:24])
    return width, height


def test_png_has_the_wanted_number_of_pixels(tmp_path: Path) -> None:
    one, three = size(to_png(sample(), scale=1)), size(to_png(sample(), scale=3))
    assert one[0] > 100
    assert one[1] > 200
    assert abs(three[0] - 3 * one[0]) <= 3
    assert abs(three[1] - 3 * one[1]) <= 3
    assert to_png(marks(), tmp_path / "net.png") == (tmp_path / "net.png").read_bytes()


def test_pdf_is_one_page_that_is_the_same_every_time(tmp_path: Path) -> None:
    page = to_pdf(marks(), tmp_path / "net.pdf", caption=True)
    assert page.startswith(b"%PDF-")
    assert page == (tmp_path / "net.pdf").read_bytes() == to_pdf(marks(), caption=True)
    assert page.count(b"/MediaBox") == 1


@pytest.mark.parametrize("name", HOSTILE)
def test_any_name_is_drawn(name: str) -> None:
    assert size(to_png(named(name), scale=0.5))
    assert to_pdf(named(name)).startswith(b"%PDF-")


@pytest.mark.parametrize("scale", [0, -1, float("inf"), float("nan"), "2", True])
def test_a_wrong_scale_is_refused(scale: Any) -> None:
    with pytest.raises(OptionError, match="scale must be a positive number"):
        to_png(sample(), scale=scale)


def test_too_many_pixels_are_refused() -> None:
    with pytest.raises(OptionError, match="too large for PNG"):
        to_png(sample(), scale=1000)


@pytest.mark.parametrize(("module", "draw", "extra"), [("resvg_py", to_png, "png"), ("typst", to_pdf, "pdf")])
def test_a_missing_library_names_the_extra(module: str, draw: Any, extra: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(DependencyError, match=rf"trec\[{extra}\]"):
        draw(sample())
