from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.passes import samples
from tests.passes.samples import ended, started
from trec.backends.lower import lower
from trec.backends.style import DARK, LIGHT, PAPER
from trec.backends.themes import THEMES

if TYPE_CHECKING:
    from trec.analysis.diff import Diff
    from trec.backends.themes import ThemeName
    from trec.ir.graph import Graph


def net(*ops: str) -> Graph:
    builder, type_, x = started("Net")
    for op in ops:
        (x,) = builder.node("op", op, parent=0, inputs=[x], results=[type_])
    return ended(builder, x)


def found() -> Diff:
    return net("conv2d", "relu", "tanh", "dropout", "sigmoid").diff(net("conv2d", "gelu", "tanh", "sigmoid", "softmax"))


@pytest.mark.parametrize("name", THEMES)
def test_colour_and_stroke_tell_what_happened(name: ThemeName) -> None:
    theme = THEMES[name]
    drawing = lower(found().to_graph(), style=name)
    borders = {box.title: (drawing.looks[box.look].border, drawing.looks[box.look].line) for box in drawing.boxes}
    for title, change in (("gelu", "changed"), ("dropout", "removed"), ("softmax", "added")):
        paint = theme.changes[change]  # type: ignore[index]
        assert borders[title] == (paint.border, paint.line)
    view = theme.families["view"]
    assert borders["conv2d"] == borders["tanh"] == (view.border, view.line)
    assert [key.text for key in drawing.legend] == ["added", "removed", "changed"]
    assert drawing.legend_title == "Net, then Net"
    assert next(box.detail for box in drawing.boxes if box.title == "gelu") == "was relu"


def test_arrows_are_added_and_removed() -> None:
    drawing = lower(found().to_graph())
    titles = [box.title for box in drawing.boxes]
    colours = {
        (titles[edge.source], titles[edge.target]): (
            drawing.strokes[edge.stroke].colour,
            drawing.strokes[edge.stroke].line,
        )
        for edge in drawing.edges
    }
    assert colours["tanh", "dropout"] == colours["dropout", "sigmoid"] == (LIGHT.changes["removed"].border, "dashed")
    assert colours["tanh", "sigmoid"] == colours["sigmoid", "softmax"] == (LIGHT.changes["added"].border, "solid")
    assert colours["conv2d", "gelu"] == (LIGHT.edge, "solid")


def test_every_change_has_its_own_stroke_in_black_and_white() -> None:
    assert len({(paint.line, paint.width, paint.fill) for paint in PAPER.changes.values()}) == len(PAPER.changes)
    assert list(PAPER.changes) == list(DARK.changes) == list(LIGHT.changes)


def test_frames_of_calls_that_were_added_or_removed_are_coloured() -> None:
    before, after = samples.blocks(), samples.blocks().focus("layers.0")
    for one, other, change in ((before, after, "removed"), (after, before, "added")):
        drawing = lower(one.diff(other).to_graph())
        frame = next(cluster for cluster in drawing.clusters if cluster.title == "layers.1")
        assert drawing.looks[frame.look].border == LIGHT.changes[change].border  # type: ignore[index]


def test_a_diff_draws_itself() -> None:
    svg = found().to_svg(rankdir="LR")
    assert svg == found().to_graph().to_svg(rankdir="LR")
    assert LIGHT.changes["removed"].border in svg
    assert LIGHT.changes["removed"].border in found().to_graph().to_dot()


def test_other_graphs_have_no_strokes_for_changes() -> None:
    assert len(lower(net("relu")).strokes) == 3
    assert lower(net("relu")).legend == ()
