"""The layout of the page is that of Python."""

from __future__ import annotations

import json
import subprocess
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings

from tests.backends.node import FOLDER
from tests.layout.test_arrange import diagrams
from trec.layout.arrange import arrange

if TYPE_CHECKING:
    from pathlib import Path

    from trec.layout.diagram import Diagram

pytestmark = pytest.mark.node

CLOSE = 1e-6


def as_data(diagram: Diagram) -> dict[str, Any]:
    """Return a diagram as the layout of the page takes it."""
    wires = [[wire.source, wire.target, wire.net, rank] for rank, wire in enumerate(diagram.wires)]
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
    }


def in_node(found: list[Diagram], path: Path) -> list[dict[str, Any]]:
    """Return where the page puts everything."""
    path.write_text(json.dumps([as_data(diagram) for diagram in found]), encoding="utf-8")
    done = subprocess.run(["node", str(FOLDER / "layout.mjs"), str(path)], capture_output=True, check=False)
    assert done.returncode == 0, done.stderr.decode()
    answers: list[dict[str, Any]] = json.loads(done.stdout)
    return answers


def numbers(value: object) -> list[float | None]:
    """Return all numbers of nested lists, with a mark at the end of each list."""
    if isinstance(value, int | float):
        return [value]
    if value is None:
        return [None, None]
    assert isinstance(value, list | tuple)
    return [*[number for part in value for number in numbers(part)], None]


def compare(found: list[Diagram], path: Path) -> None:
    for diagram, answer in zip(found, in_node(found, path), strict=True):
        wanted = expected(diagram)
        for name, value in wanted.items():
            one, other = numbers(answer[name]), numbers(value)
            same = len(one) == len(other) and all(
                x == y if x is None or y is None else abs(x - y) <= CLOSE for x, y in zip(one, other, strict=True)
            )
            assert same, (name, answer[name], value, diagram)


def collected(count: int, most: int) -> list[Diagram]:
    """Return so many random diagrams, always the same."""
    found: list[Diagram] = []

    @settings(max_examples=count, phases=[Phase.generate], database=None, suppress_health_check=list(HealthCheck))
    @given(diagrams(most))
    def collect(diagram: Diagram) -> None:
        found.append(diagram)

    collect()
    return found


@pytest.mark.parametrize("most", [14, 60])
def test_random_diagrams_are_laid_out_as_in_python(most: int, tmp_path: Path) -> None:
    compare(collected(200, most), tmp_path / "diagrams.json")
