"""Nodes to boxes and scopes to clusters: their text and their look."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from trec.backends import labels
from trec.backends.changes import change_of, shows_diff, was, without_marks
from trec.backends.colouring import colouring, family_keys
from trec.backends.drawing import Box, Cluster, Key, Line, Look, Shape
from trec.backends.families import LEADING, Family, family_of_class, family_of_function, short_name, sign_of
from trec.backends.templates import label, link
from trec.ir.collectives import RANK

if TYPE_CHECKING:
    from collections.abc import Mapping

    from trec.backends.plan import Plan
    from trec.backends.style import Paint, Style
    from trec.ir.graph import Graph
    from trec.ir.types import Node, Scope, TensorType


class Painter:
    """Turn the rows of one graph into boxes and clusters, keeping every look once."""

    def __init__(self, graph: Graph, plan: Plan, style: Style, dtype: str, links: str) -> None:
        self.graph, self.plan, self.style, self.dtype = graph, plan, style, dtype
        self.families: set[Family] = set()
        """Those whose colours are on the picture."""
        self.looks: list[Look] = []
        self._look_index: dict[Look, int] = {}
        self._known: dict[tuple[object, ...], int] = {}
        self.shapes = [labels.shape(type_, dtype) for type_ in graph.types]
        self._calls = [labels.call(row) for row in graph.attrs]
        self._together: dict[int, list[int]] = {}
        for other, leader in plan.merged.items():
            self._together.setdefault(leader, []).append(other)
        self._facts = [dict(row) for row in graph.attrs]
        self._places = [f"{source.file}:{source.line}" for source in graph.sources]
        self._diff = shows_diff(graph)
        self._links = [link(links, source) for source in graph.sources] if links else []
        self.colours = colouring(graph, style, [index for index, shown in enumerate(plan.shown) if shown])
        self._elements = {
            value: labels.elements(graph.type_of(value))
            for node in graph.nodes
            if node.kind == "param"
            for value in node.outputs
        }

    # ---- text

    def shape(self, value: int) -> str:
        """Return the shape of a value as it is written on the picture."""
        return self.shapes[self.graph.values[value].type]

    def scope_title(self, scope: Scope) -> str:
        """Return the name of a call as seen from the calls around it."""
        if scope.kind != "module":
            return short_name(scope.cls) or scope.name
        around = self.graph.scopes[scope.parent].path if scope.parent >= 0 else ""
        title = (labels.relative(scope.path, around) if scope.path else "") or scope.cls or self.graph.name
        if scope.call:
            title = f"{title} ({scope.call + 1})"
        return title

    def _cut(self, title: str) -> str:
        return labels.shorten(title, self.style.name_length)

    def _tooltip(self, head: str, row: Node | Scope) -> str:
        arguments = self._calls[row.attrs]
        place = f"\n{self._places[row.source]}" if row.source >= 0 else ""
        return f"{head}\n{arguments}{place}" if arguments else head + place

    # ---- looks

    def add_look(self, look: Look) -> int:
        """Return the index of a look, which is added if it is new."""
        index = self._look_index.get(look)
        if index is None:
            index = self._look_index[look] = len(self.looks)
            self.looks.append(look)
        return index

    def _look(
        self, shape: Shape, paint: Paint, size: float, *, bold: bool = False, line: Line = "solid", error: bool = False
    ) -> int:
        key = (shape, id(paint), size, bold, line, error)
        index = self._known.get(key)
        if index is None:
            border, width = (self.style.theme.error, 2.0) if error else (paint.border, paint.width)
            line = paint.line if line == "solid" else line
            index = self._known[key] = self.add_look(
                Look(shape, paint.fill, border, paint.text, paint.muted, line, width, size, bold)
            )
        return index

    def _paint(self, family: Family) -> Paint:
        self.families.add(family)
        return self.style.paint(family)

    def legend(self, wanted: bool | None) -> tuple[Key, ...]:
        """Return what the colours stand for, if that is wanted; by default only where it is not families."""
        keys = self.colours.keys
        if wanted and not keys:
            keys = family_keys(self.style, self.families)
        if wanted is False:
            return ()
        return tuple([Key(key.text, self._look("box", key.paint, self.style.detail_size)) for key in keys])

    # ---- clusters

    def clusters(self) -> list[Cluster]:
        """Return one cluster for each scope that the plan frames."""
        clusters: list[Cluster] = []
        depths: list[int] = []
        for scope_index, parent in zip(self.plan.scopes, self.plan.parents, strict=True):
            scope = self.graph.scopes[scope_index]
            depths.append(0 if parent < 0 else depths[parent] + 1)
            title = self.scope_title(scope)
            subtitle = {"module": scope.cls, "region": "region"}.get(scope.kind, "")
            error = self._facts[scope.attrs].get("error")
            look = self._look(
                "box",
                self.style.theme.clusters[depths[-1] % 2],
                self.style.name_size if scope.kind == "module" else self.style.op_size,
                bold=scope.kind == "module",
                line="dashed" if scope.kind == "region" else "solid",
                error=error is not None,
            )
            change = change_of(self.graph, scope) if self._diff else None
            if change is not None:
                look = self._bordered(look, self.style.theme.changes[change])
            tooltip = self._tooltip(f"{scope.path or scope.name}: {scope.cls}", scope)
            target = self._links[scope.source] if self._links and scope.source >= 0 else ""
            repeats = labels.repeats(scope)
            words = labels.times("" if subtitle == title else self._cut(subtitle), repeats)
            text = (self._cut(title), words, str(error or ""), tooltip)
            rank = int(self._facts[scope.attrs].get(RANK, -1)) if scope.kind == "region" else -1  # type: ignore[arg-type]
            clusters.append(Cluster(*text, parent, look, target, repeats, scope.phase, rank))
        return clusters

    # ---- boxes

    def boxes(self) -> tuple[list[Box], list[int]]:
        """Return the boxes, and for each node the index of its box, -1 for a hidden one."""
        boxes: list[Box] = []
        box_of: list[int] = []
        plan, style, graph = self.plan, self.style, self.graph
        cluster_of = plan.cluster_of
        for index, node in enumerate(graph.nodes):
            if not plan.shown[index] or index in plan.merged:
                box_of.append(box_of[plan.merged[index]] if index in plan.merged else -1)
                continue
            box_of.append(len(boxes))
            title, subtitle, detail, tooltip, look = self._draw(index, node)
            if index in self.colours.paints:
                look = self._repainted(look, self.colours.paints[index])
            if style.label_node is not None and node.kind in ("op", "module"):
                title = self._cut(self._labelled(node, title))
            outer = node.parent
            if index in plan.stands_for:
                outer = graph.scopes[plan.stands_for[index]].parent
            target = self._links[node.source] if self._links and node.source >= 0 else ""
            repeats = labels.repeats(graph.scopes[node.scope]) if node.scope >= 0 else 1
            boxes.append(Box(title, subtitle, detail, tooltip, cluster_of[outer], look, index, target, repeats))
        return boxes, box_of

    def _repainted(self, look: int, paint: Paint) -> int:
        old = self.looks[look]
        line, width = (paint.line, paint.width) if self._diff else (old.line, old.width)
        new = Look(old.shape, paint.fill, paint.border, paint.text, paint.muted, line, width, old.size, old.bold)
        return self.add_look(new)

    def _bordered(self, look: int, paint: Paint) -> int:
        return self.add_look(replace(self.looks[look], border=paint.border, line=paint.line, width=paint.width))

    def _labelled(self, node: Node, title: str) -> str:
        """Return the title that the style gives a node."""
        given = self.style.label_node
        if given is None or callable(given):
            return (given(self.graph, node) if given else None) or title
        return label(given, self.graph, node, title, self.shape(node.outputs[0]) if node.outputs else "")

    def _draw(self, index: int, node: Node) -> tuple[str, str, str, str, int]:
        kind = node.kind
        if kind == "module":
            return self._module(node, self.graph.scopes[node.scope], self._facts[node.attrs])
        if index in self.plan.stands_for:
            scope = self.graph.scopes[self.plan.stands_for[index]]
            if scope.kind == "module":
                return self._module(
                    node, scope, {"params": sum({v: self._elements.get(v, 0) for v in node.inputs}.values())}
                )
        if kind == "op":
            return self._op(node)
        if kind in ("input", "output"):
            return self._terminal(index, node)
        if kind == "link":
            return "", "", "", f"{node.name}: {node.op}", self._look("point", self.style.theme.arithmetic, 1.0)
        if kind in ("host", "region"):
            return self._outside(node)
        return self._state(node)

    def closed(self, scope: Scope, params: int) -> tuple[str, str, str, str, int]:
        """Return title, subtitle, detail, tooltip and look of a call with so many parameters as one box."""
        return self._module(None, scope, {"params": params})

    def _module(self, node: Node | None, scope: Scope, facts: Mapping[str, object]) -> tuple[str, str, str, str, int]:
        title = self.scope_title(scope)
        own = self._facts[node.attrs if node else scope.attrs]
        words = labels.detail(scope.cls, without_marks(self.graph.attrs[scope.attrs]))
        count = facts.get("params")
        if isinstance(count, int) and count > 0:
            words.append(labels.params(count))
        error = self._facts[scope.attrs].get("error") or own.get("error")
        words += [str(error)] if error is not None else []
        words += was(self._facts[scope.attrs]) or was(own)
        family = self._family_of_class(scope.cls)
        if family == "other":
            family = self._family(node) if node and node.kind == "op" else self._family_of_layers(scope)
        line: Line = "dashed" if node and node.kind in ("host", "region") else "solid"
        look = self._look(
            "box", self._paint(family), self.style.name_size, bold=True, line=line, error=error is not None
        )
        subtitle = scope.cls if scope.cls != title else ""
        tooltip = self._tooltip(f"{scope.path or scope.name}: {scope.cls}", scope)
        subtitle = labels.times(self._cut(subtitle), labels.repeats(scope))
        return self._cut(title), subtitle, " · ".join(words), tooltip, look

    def _terminal(self, index: int, node: Node) -> tuple[str, str, str, str, int]:
        values = node.outputs or node.inputs
        title, shape, tooltip = node.name, self.shape(values[0]) if values else "", f"{node.name}: {node.kind}"
        together = self._together.get(index)
        if together is not None:
            names = [node.name, *[self.graph.nodes[other].name for other in together]]
            parts = [name.split(".") for name in names]
            common = [words[0] for words in zip(*parts, strict=False) if len(set(words)) == 1]
            title, shape, tooltip = ".".join(common), f"{len(names)} tensors", "\n".join(names)
        look = self._look("pill", self.style.theme.terminal, self.style.name_size, bold=True)
        return self._cut(title), shape, "", tooltip, look

    def _family(self, node: Node) -> Family:
        return self.style.classify.get(node.op) or family_of_function(node.op)

    def _family_of_layers(self, scope: Scope) -> Family:
        """Return the family that matters most among the layers of a call that runs them one after the other."""
        layers = self._facts[scope.attrs].get("layers")
        found = {self._family_of_class(str(name)) for name in layers} if isinstance(layers, tuple) else set()
        return next((family for family in LEADING if family in found), "other")

    def _family_of_class(self, cls: str) -> Family:
        return self.style.classify.get(cls) or family_of_class(cls)

    def _op(self, node: Node) -> tuple[str, str, str, str, int]:
        error = self._facts[node.attrs].get("error")
        tooltip = self._tooltip(f"{node.name}: {node.op}", node)
        sign = sign_of(node.op)
        family = self._family(node)
        if sign and family == "other" and error is None:
            return sign, "", "", tooltip, self._look("circle", self.style.theme.arithmetic, self.style.op_size)
        view = family == "view"
        look = self._look(
            "box",
            self._paint(family),
            self.style.view_size if view else self.style.op_size,
            error=error is not None,
        )
        detail = " · ".join(was(self._facts[node.attrs]) if error is None else [str(error)])
        return self._cut(short_name(node.op)), "", detail, tooltip, look

    def _outside(self, node: Node) -> tuple[str, str, str, str, int]:
        error = self._facts[node.attrs].get("error")
        look = self._look("box", self._paint("other"), self.style.op_size, line="dashed", error=error is not None)
        title, subtitle = self._cut(short_name(node.op)), node.kind if node.op != node.kind else ""
        return title, subtitle, str(error or ""), self._tooltip(f"{node.name}: {node.op}", node), look

    def _state(self, node: Node) -> tuple[str, str, str, str, int]:
        facts = self._facts[node.attrs]
        name = str(facts.get("qualname", node.name))
        around = self.graph.scopes[node.parent].path
        shape = self.shape(node.outputs[0]) if node.outputs else ""
        look = self._look(
            "box",
            self.style.theme.state,
            self.style.view_size,
            line="dashed" if node.kind == "constant" else "solid",
        )
        tooltip = self._tooltip(f"{name}: {node.kind}", node)
        return self._cut(labels.relative(name, around)), shape, "", tooltip, look

    def tensor(self, value: int, cluster: int) -> Box:
        """Return a value as a box of its own."""
        type_: TensorType = self.graph.type_of(value)
        look = self._look("box", self.style.theme.state, self.style.view_size)
        name = self.graph.values[value].name
        return Box(self.shape(value) or "tensor", "", "", f"{name}: {type_.dtype} on {type_.device}", cluster, look)
