"""Print a graph as GEXF, which Gephi reads."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from trec.backends.escape import xml
from trec.backends.places import places
from trec.backends.xml_rows import Rows
from trec.ir.atomic import write_text

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable, Iterator

    from trec.backends.places import Places
    from trec.backends.style import Style
    from trec.backends.themes import ThemeName
    from trec.backends.xml_rows import Column
    from trec.ir.graph import Graph

_SPACE = 'xmlns="http://gexf.net/1.3" xmlns:viz="http://gexf.net/1.3/viz"'


def to_gexf(
    graph: Graph,
    path: str | os.PathLike[str] | None = None,
    *,
    scopes: bool = False,
    layout: bool = False,
    style: Style | ThemeName | None = None,
) -> str:
    """Return the graph as GEXF 1.3: one node per node, one edge per use, all that is known as attributes.

    Args:
        graph: what to write.
        path: file that the text is written to as well; with the suffix `.gz` it is compressed. To write a large graph
            without holding its text, use `graph.write`.
        scopes: whether the calls of modules are nodes too, which the `pid` of what they hold names. Their `node_kind`
            is `scope`, and no edge leads to them.
        layout: whether nodes have the positions, sizes and colours of the picture.
        style: see `trec.backends.options.PictureOptions`; for `layout`.

    Cost: linear, but for the layout.
    """
    text = "\n".join(lines(graph, scopes=scopes, layout=layout, style=style)) + "\n"
    if path is not None:
        write_text(path, [text.removesuffix("\n")])
    return text


def write(graph: Graph, path: str | os.PathLike[str], **options: Any) -> None:
    """Write the graph as GEXF, line by line."""
    write_text(path, lines(graph, **options))


def lines(
    graph: Graph, *, scopes: bool = False, layout: bool = False, style: Style | ThemeName | None = None
) -> Iterator[str]:
    """Yield the lines of a graph as GEXF, without line ends; options are those of `to_gexf`.

    Source: "GEXF 1.3 Primer" and the schema of the Gephi project. Nodes lie flat: readers disagree about nested ones.
    """
    rows = Rows(graph, _cell)
    marks = _marks(places(graph, style=style)) if layout else [""] * len(graph.nodes)
    yield '<?xml version="1.0" encoding="UTF-8"?>'
    yield f'<gexf {_SPACE} version="1.3">'
    yield f"<meta><creator>trec</creator><description>{xml(graph.name)}</description></meta>"
    yield '<graph defaultedgetype="directed">'
    yield from _declared("node", rows.of_nodes.values())
    yield from _declared("edge", rows.of_uses.values())
    yield "<nodes>"
    if scopes:
        for index, (scope, cells) in enumerate(zip(graph.scopes, rows.scopes(), strict=True)):
            around = f' pid="s{scope.parent}"' if scope.parent >= 0 else ""
            yield f'<node id="s{index}" label="{xml(scope.name)}"{around}><attvalues>{cells}</attvalues></node>'
    for index, (node, cells) in enumerate(zip(graph.nodes, rows.nodes(), strict=True)):
        around = f' pid="s{node.parent}"' if scopes else ""
        label = xml(node.name)
        yield f'<node id="{index}" label="{label}"{around}><attvalues>{cells}</attvalues>{marks[index]}</node>'
    yield "</nodes>\n<edges>"
    for index, (use, cells) in enumerate(rows.uses()):
        yield f'<edge id="{index}" source="{use[0]}" target="{use[1]}"><attvalues>{cells}</attvalues></edge>'
    yield "</edges>\n</graph>\n</gexf>"


def _cell(column: Column, value: str) -> str:
    return f'<attvalue for="{column.id}" value="{value}"/>'


def _declared(kind: str, columns: Iterable[Column]) -> Iterator[str]:
    yield f'<attributes class="{kind}">'
    for column in columns:
        yield f'<attribute id="{column.id}" title="{xml(column.title)}" type="{column.type}"/>'
    yield "</attributes>"


def _marks(found: Places) -> list[str]:
    """Return for each node its colour, position and size; in Gephi y grows upwards."""
    marks = []
    for (x, y), size, colour in zip(found.points, found.sizes, found.borders, strict=True):
        red, green, blue = (int(colour[at : at + 2], 16) for at in (1, 3, 5))
        marks.append(
            f'<viz:color r="{red}" g="{green}" b="{blue}"/>'
            f'<viz:position x="{x:.1f}" y="{0 - y:.1f}" z="0"/><viz:size value="{size[1] / 2:.1f}"/>'
        )
    return marks
