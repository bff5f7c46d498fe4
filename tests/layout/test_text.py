from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trec.layout.text import fitted, width


def test_wider_letters_and_bold_ones_take_more() -> None:
    assert width("iii", 10) < width("nnn", 10) < width("mmm", 10) < width("mmm", 10, bold=True)
    assert width("", 10) == 0


@pytest.mark.parametrize(("text", "least"), [("日本語", 3.0), ("😀", 1.0), ("עברית", 2.0), ("→×·", 1.5), ("\x00", 0.5)])
def test_every_script_has_a_width(text: str, least: float) -> None:
    assert width(text, 1) >= least


def test_marks_over_letters_take_nothing() -> None:
    assert width("e\u0301", 10) == width("e", 10)


@given(st.text(max_size=30), st.floats(5, 200), st.booleans())
def test_a_fitted_text_fits_and_begins_and_ends_as_it_did(text: str, room: float, bold: bool) -> None:
    found = fitted(text, 10, room, bold)
    if width(text, 10, bold) <= room:
        assert found == text
        return
    assert width(found, 10, bold) <= room or found == "…"
    head, ellipsis, tail = found.partition("…") if "…" not in text else ("", "…", "")
    assert ellipsis
    assert text.startswith(head)
    assert text.endswith(tail)


@given(st.text(max_size=10), st.text(max_size=10))
def test_texts_add_up(one: str, other: str) -> None:
    assert width(one + other, 10) == pytest.approx(width(one, 10) + width(other, 10))
