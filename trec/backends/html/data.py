"""A graph as the page holds it: columns of numbers, and every text once.

The data is one object, JSON when it is written; `viewer/types.js` says the same of it for the reader.

- `version`, `name`, `title`, `main` (the element type of most values), `meta` (pairs of texts), `diff` (what two graphs
  are compared; empty if none are).
- `texts`: what columns that hold texts refer to by position.
- `faces`: what stands on boxes: title, subtitle, detail (texts), position in `looks`, and for how many equal ones that
  stands, which its subtitle says.
- `looks`: shape, role of the colours, line, font size, whether bold, whether it shows an error. `style` and `themes`
  hold the font, the other sizes and what colours each role has.
- `types`: columns `shape`, `dtype`, `device` (texts), `elements` and `bytes`.
- `attrs`: rows of names and values, both texts, in turn. `sources`: columns `file`, `line`, and `link`, the
  address that they lead to (texts but for the line).
- `scopes`: columns `kind`, `name`, `path`, `cls` (texts; name and path as `Texts.below` writes them), `call`, `phase`,
  `parent`, `face` (closed) and `frame` (open), `attrs`, `source`, `change`, `times` (for how many equal calls it
  stands), `like` (how many scopes before it the one is that folding shows instead; 0 for none), and sums over all in
  it: `ops`, `params`, `flops`, `bytes` (of results) and `held` (bytes of parameters).
- `nodes`: columns `kind`, `op`, `name` (texts), `parent` (as a difference to that of the node before), `face`, `attrs`,
  `source`, `scope`, `change`, and `inputs` and `outputs`, how many values it reads and yields.
- `values`: the type of each value, in the order in which they are yielded.
- `uses`: for each input of each node, how many values before the first that the node yields its value is.
- `changed`: pairs of a position in `uses` and what happened to that use. `carried`: value, node, port and loop of what
  loops hand on. `derivatives`: pairs of a node of a backward pass and one that it differentiates.
- `runs`: of how many runs it is, 0 for a single one. `partial`: pairs of a position in `uses` and the runs in which
  this use is there, if these are not all.
- `groups`: by name of a group, which operators (texts) are of it; see `trec.analysis.groups`.
- `colours`: what the style colours nodes by; see `trec.backends.html.colours`.
- `glyphs`: `characters` that can stand on the picture, and how wide each is in a `regular` and in a `bold` font, in
  thousandths of the font size.
- `options`: what is shown at first.

A column all of whose entries are equal is that one number. Kinds are positions in `NODE_KINDS` and `SCOPE_KINDS`,
phases in `PHASES`, changes in `CHANGES`, counted from 1; 0 is none.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from trec.analysis.diff_graph import CHANGE, MARKS, READ_BEFORE, READ_NOW
from trec.analysis.sizes import elements, size_bytes
from trec.backends import labels
from trec.backends.boxes import Painter
from trec.backends.changes import CHANGES, change_of, change_of_box, shows_diff
from trec.backends.html.groups import groups
from trec.backends.html.palette import in_roles, look, themes
from trec.backends.html.sums import sums
from trec.backends.html.texts import Texts
from trec.backends.lower import main_dtype
from trec.backends.plan import plan_of_all
from trec.backends.several_runs import how_often, joined, mark, runs_of_uses
from trec.backends.templates import link
from trec.ir.run_marks import run_names
from trec.ir.types import NODE_KINDS, PHASES
from trec.layout.text import width

if TYPE_CHECKING:
    from trec.backends.drawing import Box, Cluster
    from trec.backends.style import Style
    from trec.ir.graph import Graph
    from trec.ir.types import Node, Scope

VERSION = 1
SCOPE_KINDS = ("module", "function", "region")

_MADE = "×…() 0123456789tensors"
"""Characters of the texts that a page makes itself."""

Columns = dict[str, list[int] | int]
Face = tuple[str, str, str, int, int]


def data(graph: Graph, style: Style, *, links: str = "", like: dict[int, int] | None = None) -> dict[str, Any]:
    """Return what a page holds of a graph.

    Args:
        graph: what is shown.
        style: how it looks.
        links: address of a line of code, as in `trec.backends.options.PictureOptions`.
        like: scopes that another one, an earlier one, can be shown instead of.

    Cost: linear, about 30 µs a node.
    """
    return _Columns(graph, style, links, like or {}).data()


class _Columns:
    """Turn the rows of one graph into columns."""

    def __init__(self, graph: Graph, style: Style, links: str, like: dict[int, int]) -> None:
        self.graph, self.style, self.links, self.like = graph, style, links, like
        self.main = main_dtype(graph)
        self.texts = Texts()
        self.diff = shows_diff(graph)
        # Without the mark of a diff, boxes keep the colours of their families, between which a page can choose.
        unmarked = replace(graph, meta=tuple([row for row in graph.meta if row[0] != CHANGE]))
        self.plan = plan_of_all(unmarked)
        self.painter = Painter(unmarked, self.plan, in_roles(style), self.main, "")
        self.runs = run_names(graph)
        self.clusters = self.painter.clusters()
        self.boxes, self.box_of = self.painter.boxes()
        if self.runs:
            self.boxes, self.clusters = mark(graph, self.painter, self.boxes, self.clusters)
        self._faces: dict[Face, int] = {}
        self._rows: dict[tuple[tuple[str, str], ...], int] = {(): 0}
        self._row_of: dict[tuple[int, str], int] = {}

    def data(self) -> dict[str, Any]:
        """Return everything."""
        graph, add = self.graph, self.texts.add
        found: dict[str, Any] = {
            "version": VERSION,
            "name": add(graph.name),
            "main": add(self.main),
            "meta": [[add(name), add(_value(value))] for name, value in graph.meta],
            "diff": add(str(dict(graph.meta).get(CHANGE, ""))),
            "types": self._types(),
            "scopes": {"count": len(graph.scopes), **_short(self._scopes())},
            "nodes": {"count": len(graph.nodes), **_short(self._nodes())},
            "values": [value.type for value in graph.values],
            "uses": self._uses(),
            "changed": self._changed() if self.diff else [],
            "carried": [[row.value, row.node, row.port, row.loop] for row in graph.carried],
            "derivatives": [[row.node, row.forward] for row in graph.derivatives],
            "runs": len(self.runs),
            "partial": self._partial(),
            "sources": self._sources(),
            "groups": self._groups(),
        }
        found["attrs"] = [[add(word) for pair in row for word in pair] for row in self._rows]
        found["faces"] = [[*map(add, words), look_, times] for *words, look_, times in self._faces]
        found["looks"] = [look(row) for row in self.painter.looks]
        found["style"] = {
            "font": self.style.font,
            "sizes": [self.style.class_size, self.style.detail_size, self.style.detail_size],
        }
        found["themes"] = themes(self.style)
        found["texts"] = self.texts.rows()
        found["glyphs"] = glyphs({*_MADE, *"".join(found["texts"])})
        return found

    def _face(self, face: Face) -> int:
        return self._faces.setdefault(face, len(self._faces))

    def _types(self) -> dict[str, list[int]]:
        add, types = self.texts.add, self.graph.types
        return {
            "shape": [add(labels.shape(type_, type_.dtype)) for type_ in types],
            "dtype": [add(type_.dtype) for type_ in types],
            "device": [add(type_.device) for type_ in types],
            "elements": [elements(type_) for type_ in types],
            "bytes": [size_bytes(type_) for type_ in types],
        }

    def _sources(self) -> dict[str, list[int]]:
        add, sources = self.texts.add, self.graph.sources
        return {
            "file": [add(source.file) for source in sources],
            "line": [source.line for source in sources],
            "link": [add(link(self.links, source)) if self.links else 0 for source in sources],
        }

    def _groups(self) -> Columns:
        found = groups(node.op for node in self.graph.nodes if node.kind == "op")
        return {group: [self.texts.add(op) for op in ops] for group, ops in found.items()}

    # ---- attributes

    def _row(self, row: Node | Scope) -> int:
        """Return the position of the attributes of a node or scope, without what its name and its marks say already."""
        key = (row.attrs, row.name if "qualname" in self._names(row.attrs) else "")
        position = self._row_of.get(key)
        if position is None:
            pairs = tuple([
                (name, _value(value))
                for name, value in self.graph.attrs[row.attrs]
                if name not in MARKS and not (name == "qualname" and value == row.name)
            ])  # fmt: skip
            position = self._row_of[key] = self._rows.setdefault(pairs, len(self._rows))
        return position

    def _names(self, attrs: int) -> list[str]:
        return [name for name, _ in self.graph.attrs[attrs]]

    # ---- scopes

    def _scopes(self) -> dict[str, list[int]]:
        graph, add, below = self.graph, self.texts.add, self.texts.below
        scopes = graph.scopes
        around = [scopes[scope.parent] if scope.parent >= 0 else None for scope in scopes]
        whole = sums(graph)
        changes = self._changes([change_of(graph, scope) for scope in scopes])
        return {
            "kind": [SCOPE_KINDS.index(scope.kind) for scope in scopes],
            "name": [below(s.name, outer.name if outer else "") for s, outer in zip(scopes, around, strict=True)],
            "path": [below(s.path, outer.path if outer else "") for s, outer in zip(scopes, around, strict=True)],
            "cls": [add(scope.cls) for scope in scopes],
            "call": [scope.call for scope in scopes],
            "phase": [PHASES.index(scope.phase) for scope in scopes],
            "parent": [scope.parent for scope in scopes],
            "face": [self._closed(scope, params) for scope, params in zip(scopes, whole["params"], strict=True)],
            "frame": [self._face(_words(row)) for row in self.clusters],
            "attrs": [self._row(scope) for scope in scopes],
            "source": [scope.source for scope in scopes],
            "change": changes,
            "times": [labels.repeats(scope) for scope in scopes],
            "like": [index - self.like[index] if index in self.like else 0 for index in range(len(scopes))],
            **whole,
        }

    def _closed(self, scope: Scope, params: int) -> int:
        row = self.painter.closed(scope, params)
        often = how_often(self.graph, scope) if self.runs else ""
        detail = joined(row.detail, often) if often else row.detail
        look = self.painter.looks.dashed(row.look) if often else row.look
        return self._face((row.title, row.subtitle, detail, look, labels.repeats(scope)))

    # ---- nodes

    def _nodes(self) -> dict[str, list[int]]:
        graph, add = self.graph, self.texts.add
        nodes, scopes = graph.nodes, graph.scopes
        faces = [self._face(_words(box)) for box in self.boxes]
        parents = [node.parent for node in nodes]
        changes = [change_of_box(graph, index) for index in range(len(nodes))] if self.diff else [None] * len(nodes)
        return {
            "kind": [NODE_KINDS.index(node.kind) for node in nodes],
            "op": [add(node.op) for node in nodes],
            "name": [self.texts.below(node.name, scopes[node.parent].name) for node in nodes],
            "parent": [after - before for before, after in zip([0, *parents], parents, strict=False)],
            "face": [faces[box] for box in self.box_of],
            "attrs": [self._row(node) for node in nodes],
            "source": [node.source for node in nodes],
            "scope": [node.scope for node in nodes],
            "change": self._changes(changes),
            "inputs": [len(node.inputs) for node in nodes],
            "outputs": [len(node.outputs) for node in nodes],
        }

    def _changes(self, found: list[Any]) -> list[int]:
        return [CHANGES.index(change) + 1 if change else 0 for change in found]

    # ---- uses

    def _uses(self) -> list[int]:
        found, first = [], 0
        for node in self.graph.nodes:
            found += [first - value for value in node.inputs]
            first += len(node.outputs)
        return found

    def _partial(self) -> list[Any]:
        uses = enumerate(runs_of_uses(self.graph))
        return [[at, sorted(runs)] for at, (_, _, runs) in uses if len(runs) < len(self.runs)]

    def _changed(self) -> list[list[int]]:
        found, start = [], 0
        for node in self.graph.nodes:
            facts = dict(self.graph.attrs[node.attrs])
            for name, change in ((READ_NOW, "added"), (READ_BEFORE, "removed")):
                ports = facts.get(name)
                if isinstance(ports, tuple):
                    found += [[start + port, CHANGES.index(change) + 1] for port in ports if isinstance(port, int)]
            start += len(node.inputs)
        return found


def _words(row: Box | Cluster) -> Face:
    return row.title, row.subtitle, row.detail, row.look, row.repeats


def _short(columns: dict[str, list[int]]) -> Columns:
    """Return columns, those all of whose entries are equal as one number."""
    return {name: row[0] if row and row.count(row[0]) == len(row) else row for name, row in columns.items()}


def glyphs(characters: set[str]) -> dict[str, Any]:
    """Return how wide characters are, in the order of their code points."""
    order = sorted(characters)
    return {
        "characters": "".join(order),
        "regular": [round(width(character, 1000)) for character in order],
        "bold": [round(width(character, 1000, True)) for character in order],
    }


def _value(value: object) -> str:
    return value if isinstance(value, str) else repr(value)
