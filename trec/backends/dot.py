"""Print a drawing in the DOT language of Graphviz."""

from __future__ import annotations

from typing import TYPE_CHECKING, Unpack

from trec.backends import attributes
from trec.backends.escape import quoted
from trec.backends.lower import lower
from trec.ir.atomic import write_text
from trec.ir.collector import paused

if TYPE_CHECKING:
    import os
    from collections.abc import Iterator, Sequence

    from trec.backends.drawing import Drawing
    from trec.backends.options import PictureOptions
    from trec.ir.graph import Graph

_MANY = 4096
"""Lines that are printed at a time."""


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
    with paused():
        text = "\n".join([*lines(lower(graph, **options)), ""])
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
    names = [f"n{box}" for box in range(len(drawing.boxes))]
    yield from _boxes(drawing, names, tooltips)
    if drawing.first:
        yield f"\t{{rank=source; {'; '.join([names[box] for box in drawing.first])}}}"
    yield from _edges(drawing, names, tooltips)
    yield "}"


def _boxes(drawing: Drawing, names: Sequence[str], tooltips: bool) -> Iterator[str]:
    boxes, label = drawing.boxes, attributes.Labels(drawing)
    looks = [_row(look) for look in attributes.looks(drawing)]
    frames = [_row(frame, "; ") for frame in attributes.frames(drawing)]
    before, after = [], []
    for row in boxes.faces:
        tooltip = (' tooltip="', f'{quoted(row.about)}"') if tooltips else ("", "")
        before.append(f" [label={_value(label.of(row))}{tooltip[0]}")
        after.append(f"{tooltip[1]}{_also(attributes.link(row))} {looks[row.look]}]")
    face, heads = boxes.face, attributes.all_quoted(boxes.names) if tooltips else [""] * len(boxes)
    about = attributes.all_quoted([cluster.tooltip for cluster in drawing.clusters]) if tooltips else ()
    rows: list[str] = []
    for depth, entry in drawing.walk():
        indent = "\t" * (depth + 1)
        if entry is None:
            rows.append(indent + "}")
        elif isinstance(entry, int):
            own = drawing.clusters[entry]
            words = f'; tooltip="{about[entry]}"' if tooltips else ""
            link = _also(attributes.link(own), "; ") if own.link else ""
            rows.append(f"{indent}subgraph cluster_{entry} {{")
            rows.append(f"{indent}\tlabel={_value(label.of(own, left=True))}; {frames[own.look]}{words}{link}")
        else:
            part = slice(entry.start, entry.stop)
            columns = zip(names[part], face[part], heads[part], strict=True)
            rows += [f"{indent}{name}{before[at]}{head}{after[at]}" for name, at, head in columns]
        if len(rows) > _MANY:
            yield "\n".join(rows)
            rows.clear()
    if rows:
        yield "\n".join(rows)


def _edges(drawing: Drawing, names: Sequence[str], tooltips: bool) -> Iterator[str]:
    edges, strokes = drawing.edges, [_row(stroke) for stroke in attributes.strokes(drawing)]
    before, after = [], []
    for arrow in edges.arrows:
        label = f'label="  {quoted(arrow.label)}" ' if arrow.label else ""
        tooltip = ('tooltip="', f'{quoted(arrow.about)}" ') if tooltips else ("", "")
        weight = "" if arrow.main else "weight=1 "
        length = "" if arrow.length == 1 else f"minlen={arrow.length} "
        before.append(f" [{label}{tooltip[0]}")
        after.append(f"{tooltip[1]}{weight}{length}{strokes[arrow.stroke]}]")
    about = attributes.all_quoted(edges.names) if tooltips else [""] * len(edges.names)
    for start in range(0, len(edges), _MANY):
        part = slice(start, start + _MANY)
        rows = zip(edges.sources[part], edges.targets[part], edges.arrow[part], edges.values[part], strict=True)
        yield "\n".join([
            f"\t{names[source]} -> {names[target]}{before[arrow]}{about[value]}{after[arrow]}"
            for source, target, arrow, value in rows
        ])  # fmt: skip


def _row(values: dict[str, str], separator: str = " ") -> str:
    return separator.join([f"{key}={_value(value)}" for key, value in values.items()])


def _also(values: dict[str, str], separator: str = " ") -> str:
    return f"{separator}{_row(values, separator)}" if values else ""


def _value(value: str) -> str:
    return value if value.startswith("<") else f'"{value}"'
