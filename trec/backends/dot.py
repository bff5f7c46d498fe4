"""Print a drawing in the DOT language of Graphviz."""

from __future__ import annotations

from io import StringIO
from typing import TYPE_CHECKING, Unpack

from trec.backends import attributes
from trec.backends.escape import quoted
from trec.backends.lower import lower
from trec.ir.atomic import write_text

if TYPE_CHECKING:
    import os
    from collections.abc import Iterator

    from trec.backends.drawing import Drawing
    from trec.backends.options import PictureOptions
    from trec.ir.graph import Graph

_MANY = 4096
"""Edges that are printed at a time."""


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
    printed = StringIO()
    for part in lines(lower(graph, **options)):
        printed.write(part)
        printed.write("\n")
    text = printed.getvalue()
    if path is not None:
        write_text(path, [text.removesuffix("\n")])
    return text


def lines(drawing: Drawing, *, tooltips: bool = True) -> Iterator[str]:
    """Yield the lines of a drawing in the DOT language, one or several at a time, without the last line end.

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
    yield from _boxes(drawing, tooltips)
    if drawing.first:
        yield f"\t{{rank=source; {'; '.join([f'n{index}' for index in drawing.first])}}}"
    yield from _edges(drawing, tooltips)
    yield "}"


def _boxes(drawing: Drawing, tooltips: bool) -> Iterator[str]:
    boxes, label = drawing.boxes, attributes.Labels(drawing)
    looks = [_row(look) for look in attributes.looks(drawing)]
    before = [f"[label={_value(label.of(face))}" for face in boxes.faces]
    after = [f"{_also(attributes.link(face))} {looks[face.look]}]" for face in boxes.faces]
    names = [""] * len(boxes) if not tooltips else attributes.all_quoted(boxes.names)
    if tooltips:
        before = [f'{text} tooltip="' for text in before]
        after = [f'{quoted(face.about)}"{text}' for face, text in zip(boxes.faces, after, strict=True)]
    clusters = _clusters(drawing, label, tooltips)
    for depth, entry in drawing.walk():
        indent = "\t" * (depth + 1)
        if entry is None:
            yield indent + "}"
        elif isinstance(entry, int):
            yield f"{indent}subgraph cluster_{entry} {{\n{indent}\t{clusters[entry]}"
        else:
            part = slice(entry.start, entry.stop)
            rows = zip(entry, boxes.face[part], names[part], strict=True)
            yield "\n".join([f"{indent}n{box} {before[face]}{name}{after[face]}" for box, face, name in rows])


def _clusters(drawing: Drawing, label: attributes.Labels, tooltips: bool) -> list[str]:
    frames = [_row(frame, "; ") for frame in attributes.frames(drawing)]
    texts = []
    for row in drawing.clusters:
        tooltip = f'; tooltip="{quoted(row.tooltip)}"' if tooltips else ""
        link = _also(attributes.link(row), "; ")
        texts.append(f"label={_value(label.of(row, left=True))}; {frames[row.look]}{tooltip}{link}")
    return texts


def _edges(drawing: Drawing, tooltips: bool) -> Iterator[str]:
    edges, arrows = drawing.edges, drawing.edges.arrows
    strokes = [_row(stroke) for stroke in attributes.strokes(drawing)]
    before = [f'[label="  {quoted(arrow.label)}" ' if arrow.label else "[" for arrow in arrows]
    weights = ["" if arrow.main else "weight=1 " for arrow in arrows]
    lengths = ["" if arrow.length == 1 else f"minlen={arrow.length} " for arrow in arrows]
    after = [
        f"{weight}{length}{strokes[arrow.stroke]}]"
        for weight, length, arrow in zip(weights, lengths, arrows, strict=True)
    ]
    names = [""] * len(edges.names) if not tooltips else attributes.all_quoted(edges.names)
    if tooltips:
        before = [f'{text}tooltip="' for text in before]
        after = [f'{quoted(arrow.about)}" {text}' for arrow, text in zip(arrows, after, strict=True)]
    boxes = list(map(str, range(len(drawing.boxes))))
    for start in range(0, len(edges), _MANY):
        part = slice(start, start + _MANY)
        rows = zip(edges.sources[part], edges.targets[part], edges.arrow[part], edges.values[part], strict=True)
        yield "\n".join([
            f"\tn{boxes[source]} -> n{boxes[target]} {before[arrow]}{names[value]}{after[arrow]}"
            for source, target, arrow, value in rows
        ])  # fmt: skip


def _row(values: dict[str, str], separator: str = " ") -> str:
    return separator.join([f"{key}={_value(value)}" for key, value in values.items()])


def _also(values: dict[str, str], separator: str = " ") -> str:
    return f"{separator}{_row(values, separator)}" if values else ""


def _value(value: str) -> str:
    return value if value.startswith("<") else f'"{value}"'
