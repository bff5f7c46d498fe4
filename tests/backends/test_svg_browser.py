"""Text measured by a real browser, in the fonts that the table of widths is made from."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from tests.backends.chromium import title
from tests.backends.samples import HOSTILE, aten, marks, named, sample
from trec.backends.svg import to_svg

if TYPE_CHECKING:
    from pathlib import Path

MEASURE = """<script>
let over = [], count = 0;
for (const text of document.querySelectorAll("svg g > text")) {
  const box = text.parentElement.querySelector(":scope > rect, :scope > circle");
  if (!box) continue;
  const [inner, outer] = [text.getBBox(), box.getBBox()];
  count += 1;
  if (inner.x < outer.x || inner.x + inner.width > outer.x + outer.width) over.push(text.textContent);
}
document.title = `measured ${count}, over: ${JSON.stringify(over)}`;
</script>"""


@pytest.mark.browser
@pytest.mark.parametrize("font", ["Helvetica, Arial, sans-serif", "DejaVu Sans"])
def test_no_text_is_wider_than_its_box(font: str, tmp_path: Path) -> None:
    graphs = [sample(), marks(), aten(), *[named(name) for name in HOSTILE]]
    pictures = [to_svg(graph, params=True).replace("Helvetica, Arial, sans-serif", font) for graph in graphs]
    page = tmp_path / "page.html"
    page.write_text(f"<!DOCTYPE html><meta charset=utf-8><body>{''.join(pictures)}{MEASURE}", encoding="utf-8")
    found = re.fullmatch(r"measured (\d+), over: (.*)", title(page, "--disable-gpu"))
    assert found is not None
    assert int(found[1]) > 200
    assert found[2] == "[]"
