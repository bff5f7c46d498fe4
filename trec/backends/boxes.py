"""Nodes to boxes and scopes to clusters."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from trec.analysis.sizes import elements
from trec.backends import labels
from trec.backends.changes import change_of, shows_diff
from trec.backends.colouring import colouring, family_keys
from trec.backends.drawing import Boxes, Cluster, Face, Key
from trec.backends.faces import STEPS, Faces
from trec.backends.looks import Looks
from trec.backends.templates import label
from trec.ir.collectives import RANK

if TYPE_CHECKING:
    from collections.abc import Sequence

    from trec.backends.faces import Named
    from trec.backends.plan import Plan
    from trec.backends.style import Style
    from trec.ir.graph import Graph
    from trec.ir.types import Node, Scope


class Painter:
    """Turn the rows of one graph into boxes and clusters."""

    def __init__(self, graph: Graph, plan: Plan, style: Style, dtype: str, links: str) -> None:
        self.graph, self.plan, self.style = graph, plan, style
        self.looks = Looks(style)
        self.types = [value.type for value in graph.values]
        """For each value, the index of its type."""
        self.shapes = [labels.shape(type_, dtype) for type_ in graph.types]
        self.faces = Faces(graph, style, self.looks, self.types, self.shapes, links)
        self.colours = colouring(graph, style, plan.drawn)
        self._diff = shows_diff(graph)
        self._together: dict[int, list[str]] = {}
        for other, leader in plan.merged.items():
            self._together.setdefault(leader, []).append(graph.nodes[other].name)
        self._calls = _calls(graph, plan)
        self._params = _params(graph, self.types)

    def legend(self, wanted: bool | None) -> tuple[Key, ...]:
        """Return what the colours stand for, if that is wanted; by default only where it is not families."""
        keys = self.colours.keys
        if wanted and not keys:
            keys = family_keys(self.style, self.looks.families)
        if wanted is False:
            return ()
        return tuple([Key(key.text, self.looks.of("box", key.paint, self.style.detail_size)) for key in keys])

    # ---- clusters

    def clusters(self) -> list[Cluster]:
        """Return one cluster for each scope that the plan frames."""
        clusters: list[Cluster] = []
        depths: list[int] = []
        for index, parent in zip(self.plan.scopes, self.plan.parents, strict=True):
            depths.append(0 if parent < 0 else depths[parent] + 1)
            clusters.append(self._cluster(self.graph.scopes[index], parent, depths[-1]))
        return clusters

    def _cluster(self, scope: Scope, parent: int, depth: int) -> Cluster:
        facts, faces, theme = dict(self.graph.attrs[scope.attrs]), self.faces, self.style.theme
        title = faces.title(scope)
        subtitle = {"module": scope.cls, "region": "region"}.get(scope.kind, "")
        error = facts.get("error")
        module = scope.kind == "module"
        look = self.looks.of(
            "box",
            theme.clusters[depth % 2],
            self.style.name_size if module else self.style.op_size,
            bold=module,
            line="dashed" if scope.kind == "region" else "solid",
            error=error is not None,
        )
        change = change_of(self.graph, scope) if self._diff else None
        if change is not None:
            look = self.looks.bordered(look, theme.changes[change])
        repeats = labels.repeats(scope)
        words = labels.times("" if subtitle == title else faces.cut(subtitle), repeats)
        tooltip = (scope.path or scope.name) + faces.about(scope.cls, scope)
        text = (faces.cut(title), words, str(error or ""), tooltip)
        rank = facts.get(RANK) if scope.kind == "region" else None
        number = rank if isinstance(rank, int) else -1
        return Cluster(*text, parent, look, faces.link(scope.source), repeats, scope.phase, number)

    # ---- boxes

    def boxes(self) -> tuple[Boxes, list[int]]:
        """Return the boxes, and for each node the index of its box, -1 for a hidden one."""
        graph, plan = self.graph, self.plan
        drawn, merged = plan.drawn, plan.merged
        if merged:
            drawn = [index for index in drawn if index not in merged]
        nodes = [graph.nodes[index] for index in drawn]
        names = [node.name for node in nodes]
        faces: list[int] = []
        styled = self.style.label_node is not None or self.colours.paints
        calls, known = self._calls, self.faces.of_steps
        for index, node in zip(drawn, nodes, strict=True):
            face = None
            if node.kind == "op" and node.scope < 0 and index not in calls:
                face = known.get((node.op, node.attrs, node.source))  # as for most: a call takes longer than all this
            if face is None:
                names[len(faces)], face = self._named(index, node)
            faces.append(self._styled(index, node, face) if styled else face)
        clusters = [plan.cluster_of[node.parent] for node in nodes]
        box_of = [-1] * len(graph.nodes)
        for box, index in enumerate(drawn):
            box_of[index] = box
        for other, leader in plan.merged.items():
            box_of[other] = box_of[leader]
        return Boxes(tuple(self.faces), faces, names, clusters, drawn), box_of

    def _named(self, index: int, node: Node) -> Named:
        """Return what the tooltip of a node begins with, and the index of its face."""
        kind, call = node.kind, self._calls.get(index)
        if call is not None:
            if kind == "module":
                params = self.faces.params(node)
            else:
                params = sum(map(self._params.__getitem__, set(node.inputs)))
            return self.faces.call(node, self.graph.scopes[call], params)
        if kind in STEPS:
            return node.name, self.faces.step(node)
        if kind in ("input", "output"):
            return self.faces.terminal(node, self._together.get(index, ()))
        return self.faces.state(node)

    def closed(self, scope: Scope, params: int) -> Face:
        """Return what stands on a call with so many parameters as one box."""
        _, face = self.faces.call(None, scope, params)
        return self.faces[face]

    def _styled(self, index: int, node: Node, face: int) -> int:
        """Return the index of a face in the colours and with the title that the style gives a node."""
        row = self.faces[face]
        paint = self.colours.paints.get(index)
        if paint is not None:
            row = replace(row, look=self.looks.repainted(row.look, paint, border=self._diff))
        if self.style.label_node is not None and node.kind in ("op", "module"):
            row = replace(row, title=self.faces.cut(self._labelled(node, row.title)))
        return face if row is self.faces[face] else self.faces.add(row)

    def _labelled(self, node: Node, title: str) -> str:
        given = self.style.label_node
        if given is None or callable(given):
            return (given(self.graph, node) if given else None) or title
        shape = self.shapes[self.graph.values[node.outputs[0]].type] if node.outputs else ""
        return label(given, self.graph, node, title, shape)


def _calls(graph: Graph, plan: Plan) -> dict[int, int]:
    """Return the call of a module that a node is drawn as, by node, where there is one."""
    scopes, modules = graph.scopes, graph.of_kind.get("module", ())
    calls = {node: scope for node, scope in plan.stands_for.items() if scopes[scope].kind == "module"}
    return calls | {index: graph.nodes[index].scope for index in modules}


def _params(graph: Graph, types: Sequence[int]) -> list[int]:
    """Return for each value how many elements it has if it is a parameter, else 0."""
    sizes = [elements(type_) for type_ in graph.types]
    params = [0] * len(types)
    for index in graph.of_kind.get("param", ()):
        for value in graph.nodes[index].outputs:
            params[value] = sizes[types[value]]
    return params
