"""What stands on boxes: for each sort of node its words and its look, decided once."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trec.backends import labels
from trec.backends.changes import was, without_marks
from trec.backends.drawing import Face, Line
from trec.backends.families import LEADING, Family, family_of_class, family_of_function, short_name, sign_of
from trec.backends.templates import link
from trec.ir.tables import Table
from trec.ir.types import TIMES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from trec.backends.looks import Looks
    from trec.backends.style import Style
    from trec.ir.graph import Graph
    from trec.ir.types import Node, Scope

STEPS = frozenset({"op", "link", "host", "region"})
"""Kinds of nodes whose faces depend on nothing but operator, arguments and place."""

Named = tuple[str, int]
"""What the tooltip of a box begins with, and the index of its face."""


class Faces(Table[Face]):
    """The faces of a picture in order of first appearance.

    A face is made once for all that it depends on; most nodes of a large graph find theirs.
    """

    __slots__ = (
        "_calls", "_graph", "_known", "_links", "_looks", "_places", "_shapes", "_style", "_types", "of_steps",
    )  # fmt: skip

    def __init__(
        self, graph: Graph, style: Style, looks: Looks, types: Sequence[int], shapes: Sequence[str], links: str
    ) -> None:
        super().__init__()
        self._graph, self._style, self._looks, self._types, self._shapes = graph, style, looks, types, shapes
        self._calls: dict[int, str] = {}
        self._places = [f"\n{source.file}:{source.line}" for source in graph.sources]
        self._links = [link(links, source) for source in graph.sources] if links else []
        self._known: dict[tuple[object, ...], int] = {}
        self.of_steps: dict[tuple[str, int, int], int] = {}
        """The faces of operators that stand for no scope, by operator, arguments and place, as far as they were made.
        """

    # ---- words

    def title(self, scope: Scope) -> str:
        """Return the name of a call as seen from the calls around it."""
        if scope.kind != "module":
            return short_name(scope.cls) or scope.name
        name, outer = labels.called(scope), self._graph.scopes[max(scope.parent, 0)]
        around = "" if scope.parent < 0 else outer.path if name == scope.path else labels.called(outer)
        title = (labels.relative(name, around) if name else "") or scope.cls or self._graph.name
        return f"{title} ({scope.call + 1})" if scope.call and name == scope.path else title

    def cut(self, title: str) -> str:
        """Return a title that is not too long."""
        return labels.shorten(title, self._style.name_length)

    def about(self, what: str, row: Node | Scope) -> str:
        """Return what a tooltip says behind a name: what that is, its arguments and its place in the code."""
        arguments = self._calls.get(row.attrs)
        if arguments is None:
            arguments = self._calls[row.attrs] = labels.call(self._graph.attrs[row.attrs])
        place = self._places[row.source] if row.source >= 0 else ""
        return f": {what}\n{arguments}{place}" if arguments else f": {what}{place}"

    def link(self, source: int) -> str:
        """Return the address that a place in the code leads to, which may be empty."""
        return self._links[source] if self._links and source >= 0 else ""

    def _repeats(self, node: Node) -> int:
        return 1 if node.scope < 0 else labels.repeats(self._graph.scopes[node.scope])

    # ---- steps

    def step(self, node: Node) -> int:
        """Return the face of an operator, of a link, or of what lies outside torch."""
        key = (node.kind, node.op, node.attrs, node.source, 1 if node.scope < 0 else self._repeats(node))
        face = self._known.get(key)
        if face is None:
            make = {"op": self._op, "link": self._link}.get(node.kind, self._outside)
            face = self._known[key] = self.add(make(node))
            if node.kind == "op" and node.scope < 0:
                self.of_steps[node.op, node.attrs, node.source] = face
        return face

    def _step(self, node: Node, title: str, subtitle: str, detail: str, look: int) -> Face:
        about = self.about(node.op, node)
        return Face(title, subtitle, detail, look, about, self.link(node.source), self._repeats(node))

    def _op(self, node: Node) -> Face:
        error = self._graph.attrs_of(node).get("error")
        sign = sign_of(node.op)
        family = self._family(node)
        repeats = self._repeats(node)
        if sign and family == "other" and error is None and repeats == 1:
            look = self._looks.of("circle", self._style.theme.arithmetic, self._style.op_size)
            return self._step(node, sign, "", "", look)
        size = self._style.view_size if family == "view" else self._style.op_size
        look = self._looks.of("box", self._looks.family(family), size, error=error is not None)
        detail = " · ".join(was(self._graph.attrs_of(node)) if error is None else [str(error)])
        return self._step(node, self.cut(short_name(node.op)), labels.times("", repeats), detail, look)

    def _link(self, node: Node) -> Face:
        look = self._looks.of("point", self._style.theme.arithmetic, 1.0)
        return Face("", "", "", look, f": {node.op}", self.link(node.source), self._repeats(node))

    def _outside(self, node: Node) -> Face:
        error = self._graph.attrs_of(node).get("error")
        paint = self._looks.family("other")
        look = self._looks.of("box", paint, self._style.op_size, line="dashed", error=error is not None)
        subtitle = node.kind if node.op != node.kind else ""
        return self._step(node, self.cut(short_name(node.op)), subtitle, str(error or ""), look)

    # ---- calls of modules

    def params(self, node: Node) -> int:
        """Return how many parameters are in a collapsed call."""
        found = self._graph.attrs_of(node).get("params")
        return found if isinstance(found, int) else 0

    def call(self, node: Node | None, scope: Scope, params: int) -> Named:
        """Return name and face of a call as one box.

        Args:
            node: the node that is drawn as the call, if there is one.
            scope: the call.
            params: how many parameters are in it.
        """
        title = self.title(scope)
        key = (
            title, params, scope.kind, scope.cls, scope.attrs, scope.source, len(scope.repeats),
            node and (node.kind, node.op, node.attrs, node.source, 1 if node.scope < 0 else self._repeats(node)),
        )  # fmt: skip
        face = self._known.get(key)
        if face is None:
            face = self._known[key] = self.add(self._call(title, node, scope, params))
        return scope.path or scope.name, face

    def _call(self, title: str, node: Node | None, scope: Scope, params: int) -> Face:
        facts, own = self._graph.attrs_of(scope), self._graph.attrs_of(node or scope)
        words = labels.detail(scope.cls, without_marks(self._graph.attrs[scope.attrs]))
        if params > 0:
            words.append(labels.params(params))
        error = facts.get("error") or own.get("error")
        words += [str(error)] if error is not None else []
        words += was(facts) or was(own)
        family = self._family_of_class(scope.cls)
        if family == "other":
            family = self._family(node) if node and node.kind == "op" else self._family_of_layers(scope)
        line: Line = "dashed" if node and node.kind in ("host", "region") else "solid"
        paint, size = self._looks.family(family), self._style.name_size
        look = self._looks.of("box", paint, size, bold=True, line=line, error=error is not None)
        subtitle = labels.times(self.cut(scope.cls if scope.cls != title else ""), labels.repeats(scope))
        target, repeats = (self.link(node.source), self._repeats(node)) if node else ("", 1)
        about = self.about(scope.cls, scope)
        return Face(self.cut(title), subtitle, " · ".join(words), look, about, target, repeats)

    def _family(self, node: Node) -> Family:
        return self._style.classify.get(node.op) or family_of_function(node.op)

    def _family_of_layers(self, scope: Scope) -> Family:
        """Return the family that matters most among the layers of a call that runs them one after the other."""
        layers = self._graph.attrs_of(scope).get("layers")
        found = {self._family_of_class(str(name)) for name in layers} if isinstance(layers, tuple) else set()
        return next((family for family in LEADING if family in found), "other")

    def _family_of_class(self, cls: str) -> Family:
        return self._style.classify.get(cls) or family_of_class(cls)

    # ---- tensors

    def terminal(self, node: Node, together: Sequence[str]) -> Named:
        """Return name and face of an input or an output.

        Args:
            node: the first node that is drawn in the box.
            together: names of the other ones.
        """
        values = node.outputs or node.inputs
        name, title, shape, about = node.name, node.name, self._shape(values[0]) if values else "", f": {node.kind}"
        if together:
            names = [name, *together]
            parts = [part.split(".") for part in names]
            common = [words[0] for words in zip(*parts, strict=False) if len(set(words)) == 1]
            name, title, shape, about = "\n".join(names), ".".join(common), f"{len(names)} tensors", ""
        look = self._looks.of("pill", self._style.theme.terminal, self._style.name_size, bold=True)
        face = Face(self.cut(title), shape, "", look, about, self.link(node.source), self._repeats(node))
        return name, self.add(face)

    def state(self, node: Node) -> Named:
        """Return name and face of a parameter, a buffer or a constant."""
        name = str(self._graph.attrs_of(node).get("qualname", node.name)) if node.attrs else node.name
        title = labels.relative(name, self._graph.scopes[node.parent].path)
        type_ = self._types[node.outputs[0]] if node.outputs else -1
        key = (node.kind, title, type_, node.attrs, node.source, node.scope)
        face = self._known.get(key)
        if face is None:
            line: Line = "dashed" if node.kind == "constant" else "solid"
            look = self._looks.of("box", self._style.theme.state, self._style.view_size, line=line)
            equal = self._graph.attrs_of(node).get(TIMES)
            repeats = equal if type(equal) is int else 1
            shape = labels.times(self._shapes[type_] if type_ >= 0 else "", repeats)
            about, target = self.about(node.kind, node), self.link(node.source)
            made = Face(self.cut(title), shape, "", look, about, target, repeats)
            face = self._known[key] = self.add(made)
        return name, face

    def tensor(self, value: int) -> Named:
        """Return name and face of a value that is a box of its own."""
        row, type_ = self._graph.values[value], self._graph.type_of(value)
        look = self._looks.of("box", self._style.theme.state, self._style.view_size)
        shape = self._shape(value) or "tensor"
        return row.name, self.add(Face(shape, "", "", look, f": {type_.dtype} on {type_.device}"))

    def _shape(self, value: int) -> str:
        return self._shapes[self._types[value]]
