"""The layout of the page is that of Python."""

from __future__ import annotations

import json
import subprocess
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from tests.backends.node import FOLDER, packages
from tests.layout.test_arrange import diagrams
from tests.layout.test_beside import divided
from trec.layout.arrange import arrange
from trec.layout.diagram import Diagram, Wire
from trec.layout.forks import forked
from trec.layout.text import fitted, width

if TYPE_CHECKING:
    from pathlib import Path

    from hypothesis.strategies import SearchStrategy

pytestmark = pytest.mark.node

CLOSE = 1e-6
VIEWER = FOLDER.parents[1] / "trec" / "backends" / "html" / "viewer"


def as_data(diagram: Diagram) -> dict[str, Any]:
    """Return a diagram as the layout of the page takes it."""
    wires = [[wire.source, wire.target, wire.net, index] for index, wire in enumerate(diagram.wires)]
    return {
        "sizes": [length for size in diagram.sizes for length in size],
        "scopes": diagram.scopes,
        "parents": diagram.parents,
        "titles": diagram.titles,
        "wires": [number for wire in wires for number in wire],
        "labels": list(diagram.labels.items()),
        "first": sorted(diagram.first),
        "direction": diagram.direction,
        "order": diagram.order,
        "wrap": diagram.wrap,
        "columns": diagram.columns,
        "columnOf": diagram.column_of,
    }


def expected(diagram: Diagram) -> dict[str, Any]:
    """Return where Python puts everything, in the form in which the page answers."""
    placement = arrange(diagram)
    return {
        "size": placement.size,
        "boxes": [coordinate for point in placement.boxes for coordinate in point],
        "frames": placement.frames,
        "titles": placement.titles,
        "routes": placement.routes,
        "labels": sorted(placement.labels.items()),
        "crossings": placement.crossings,
        "forks": forked(diagram.wires, placement.routes, sideways=diagram.direction in ("LR", "RL")),
    }


def in_node(what: str, given: object, path: Path) -> Any:
    """Return what the page makes of something."""
    path.write_text(json.dumps(given), encoding="utf-8")
    done = subprocess.run(["node", str(FOLDER / "layout.mjs"), what, str(path)], capture_output=True, check=False)
    assert done.returncode == 0, done.stderr.decode()
    return json.loads(done.stdout)


def numbers(value: object) -> list[float | None]:
    """Return all numbers of nested lists, with a mark at the end of each list."""
    if isinstance(value, int | float):
        return [value]
    if value is None:
        return [None, None]
    assert isinstance(value, list | tuple)
    return [*[number for part in value for number in numbers(part)], None]


def compare(found: list[Diagram], path: Path) -> None:
    """Check that the page puts everything where Python does, whatever other diagrams it remembers."""
    answers = in_node("diagrams", [as_data(diagram) for diagram in found], path)
    for diagram, (alone, in_a_row, again) in zip(found, answers, strict=True):
        assert alone == in_a_row == again
        for name, value in expected(diagram).items():
            one, other = numbers(alone[name]), numbers(value)
            same = len(one) == len(other) and all(
                x == y if x is None or y is None else abs(x - y) <= CLOSE for x, y in zip(one, other, strict=True)
            )
            assert same, (name, alone[name], value, diagram)


def collected(count: int, given_as: SearchStrategy[Diagram]) -> list[Diagram]:
    """Return so many random diagrams, always the same."""
    found: list[Diagram] = []

    @settings(max_examples=count, phases=[Phase.generate], database=None, suppress_health_check=list(HealthCheck))
    @given(given_as)
    def collect(diagram: Diagram) -> None:
        found.append(diagram)

    collect()
    return found


@pytest.mark.parametrize("most", [14, 60])
def test_random_diagrams_are_laid_out_as_in_python(most: int, tmp_path: Path) -> None:
    compare(collected(200, diagrams(most)), tmp_path / "diagrams.json")


def test_columns_beside_one_another_are_laid_out_as_in_python(tmp_path: Path) -> None:
    found = collected(200, divided())
    wrapped = [replace(diagram, wrap=90.0) for diagram in found[:60]]
    undivided = [replace(diagram, columns=(), column_of=()) for diagram in found[:20]]
    compare([*found, *wrapped, *undivided], tmp_path / "diagrams.json")


def test_more_long_nets_than_there_is_room_for_are_laid_out_as_in_python(tmp_path: Path) -> None:
    """Every box of a chain leads to the last as well."""
    count = 150
    pairs = [pair for index in range(count - 1) for pair in ((index, index + 1), (index, count - 1))]
    wires = tuple([Wire(*pair, pair[0]) for pair in pairs])
    compare([Diagram(((60.0, 20.0),) * count, (-1,) * count, (), (), wires, {})], tmp_path / "diagrams.json")


def test_texts_are_as_wide_as_in_python(tmp_path: Path) -> None:
    rows: list[tuple[str, float, float, bool]] = []

    @settings(max_examples=200, phases=[Phase.generate], database=None)
    @given(st.text(max_size=40), st.floats(5, 30), st.floats(10, 200), st.booleans())
    def collect(text: str, size: float, room: float, bold: bool) -> None:
        rows.append((text, size, room, bold))

    collect()
    characters = sorted({"…", *[character for text, *_ in rows for character in text]})
    regular, bold = ([width(character, 1000, heavy) for character in characters] for heavy in (False, True))
    glyphs = {"characters": "".join(characters), "regular": regular, "bold": bold}
    for row, (across, shown) in zip(
        rows, in_node("texts", {"glyphs": glyphs, "rows": rows}, tmp_path / "t"), strict=True
    ):
        text, size, room, heavy = row
        assert across == pytest.approx(width(text, size, heavy))
        assert shown == fitted(text, size, room, heavy)


def test_types_of_the_viewer_hold() -> None:
    compiler = packages() / ".bin" / "tsc"
    done = subprocess.run([compiler, "-p", VIEWER / "tsconfig.json"], capture_output=True, check=False)
    assert done.returncode == 0, done.stdout.decode()
