"""Print a drawing in the DOT language of Graphviz."""

from __future__ import annotations

from typing import TYPE_CHECKING, Unpack

from trec.backends import attributes
from trec.backends.lower import lower
from trec.ir.atomic import write_text

if TYPE_CHECKING:
    import os
    from collections.abc import Iterator

    from trec.backends.drawing import Drawing
    from trec.backends.options import PictureOptions
    from trec.ir.graph import Graph


def to_dot(
    graph: Graph,
    path: str | os.PathLike[str] | None = None,
    **options: Unpack[PictureOptions],
) -> str:
    """Return the drawing of a graph in the DOT language.

    Args:
        graph: what to draw.
        path: file that the text is written to as well; with the suffix `.gz` it is compressed.
        **options: see `trec.backends.options.PictureOptions`.
    """
    drawing = lower(graph, **options)
    text = "\n".join(lines(drawing)) + "\n"
    if path is not None:
        write_text(path, [text.removesuffix("\n")])
    return text


def lines(drawing: Drawing, *, tooltips: bool = True) -> Iterator[str]:
    """Yield the lines of a drawing in the DOT language, without line ends.

    Boxes are named `n0`, `n1`, ..., clusters `cluster_0`, `cluster_1`, ... by their positions in the drawing.

    Args:
        drawing: what to print.
        tooltips: whether tooltips are printed.

    Source: "DOT Language", the grammar in the documentation of Graphviz.
    """
    yield f'digraph "{attributes.name(drawing)}" {{'
    yield f"\tgraph [{_row(attributes.graph(drawing))}]"
    yield f"\tnode [{_row(attributes.node(drawing))}]"
    yield f"\tedge [{_row(attributes.edge(drawing))}]"
    looks = [f" {_row(look)}]" for look in attributes.looks(drawing)]
    label = attributes.Labels(drawing)
    for depth, index in walk(drawing):
        indent = "\t" * (depth + 1)
        if index is None:
            yield indent + "}"
        elif index < 0:
            yield f"{indent}subgraph cluster_{-1 - index} {{"
            yield f"{indent}\t{_row(attributes.cluster(drawing, label, -1 - index, tooltips=tooltips), '; ')}"
        else:
            box = drawing.boxes[index]
            tooltip = f' tooltip="{attributes.quoted(box.tooltip)}"' if tooltips else ""
            target = f" {_row(attributes.link(box))}" if box.link else ""
            yield f"{indent}n{index} [label={_value(label.of(box))}{tooltip}{target}{looks[box.look]}"
    if drawing.first:
        yield f"\t{{rank=source; {'; '.join([f'n{index}' for index in drawing.first])}}}"
    strokes = [_row(stroke) for stroke in attributes.strokes(drawing)]
    quoted = attributes.quoted
    for edge in drawing.edges:
        text = f'label="  {quoted(edge.label)}" ' if edge.label else ""
        tooltip = f'tooltip="{quoted(edge.tooltip)}" ' if tooltips else ""
        weight = "" if edge.main else "weight=1 "
        length = "" if edge.length == 1 else f"minlen={edge.length} "
        row = f"{text}{tooltip}{weight}{length}{strokes[edge.stroke]}".rstrip()
        yield f"\tn{edge.source} -> n{edge.target} [{row}]" if row else f"\tn{edge.source} -> n{edge.target}"
    yield "}"


def walk(drawing: Drawing) -> Iterator[tuple[int, int | None]]:
    """Yield boxes and clusters as they nest, with their depths: a box, `-1 - cluster`, or None at a cluster's end."""
    content = drawing.content
    stack = [iter(content[-1])]
    while stack:
        entry = next(stack[-1], None)
        if entry is None:
            stack.pop()
            if stack:
                yield len(stack) - 1, None
        else:
            yield len(stack) - 1, entry
            if entry < 0:
                stack.append(iter(content[-1 - entry]))


def _row(values: dict[str, str], separator: str = " ") -> str:
    return separator.join([f"{key}={_value(value)}" for key, value in values.items()])


def _value(value: str) -> str:
    return value if value.startswith("<") else f'"{value}"'
