"""Graphs with one thing changed, for whatever has to see it; None where there is nothing of the kind to change."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

from hypothesis import strategies as st
from msgspec.structs import replace

from trec.ir.rewrite import with_nodes
from trec.ir.types import SOURCE_KINDS, AttrRow, Node, NodeKind, Scope

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from trec.ir.graph import Graph

Item = TypeVar("Item")


def one_of(data: st.DataObject, items: Sequence[Item]) -> Item | None:
    return data.draw(st.sampled_from(items)) if items else None


def steps(graph: Graph) -> list[int]:
    return [index for index, node in enumerate(graph.nodes) if node.kind == "op" and node.scope < 0]


def with_row(graph: Graph, table: str, at: int, **fields: Any) -> Graph:
    rows = list(getattr(graph, table))
    rows[at] = replace(rows[at], **fields)
    return replace(graph, **{table: tuple(rows)})


def with_attrs(graph: Graph, table: str, at: int, row: AttrRow) -> Graph:
    known = [repr(other) for other in graph.attrs]
    if repr(row) in known:
        return with_row(graph, table, at, attrs=known.index(repr(row)))
    return with_row(replace(graph, attrs=(*graph.attrs, row)), table, at, attrs=len(graph.attrs))


# ---- steps


def other_op(graph: Graph, data: st.DataObject) -> Graph | None:
    index = one_of(data, steps(graph))
    return None if index is None else with_row(graph, "nodes", index, op="zz")


def other_kind(graph: Graph, data: st.DataObject) -> Graph | None:
    index = one_of(data, steps(graph))
    return None if index is None else with_row(graph, "nodes", index, kind="host")


def other_attribute(graph: Graph, data: st.DataObject) -> Graph | None:
    index = one_of(data, range(len(graph.nodes)))
    return None if index is None else with_attrs(graph, "nodes", index, (("zz", 1),))


def other_call(graph: Graph, data: st.DataObject) -> Graph | None:
    index = one_of(data, steps(graph))
    if index is None:
        return None
    closed = {node.scope for node in graph.nodes} | {graph.nodes[index].parent}
    phase = graph.phase_of(graph.nodes[index])
    free = [at for at, scope in enumerate(graph.scopes) if at not in closed and scope.phase == phase]
    parent = one_of(data, free)
    if parent is None:
        return None
    scope = graph.scopes[parent]
    return with_row(graph, "nodes", index, parent=parent, depth=scope.depth + (scope.kind == "module" or parent == 0))


def a_step_more(graph: Graph, data: st.DataObject) -> Graph:
    return with_nodes(graph, [*graph.nodes, Node("op", "zz", "a step more", 0, 1, (), ())])


def a_step_less(graph: Graph, data: st.DataObject) -> Graph | None:
    read = {value for node in graph.nodes for value in node.inputs}
    read |= {edge.value for edge in graph.carried}
    index = one_of(data, [index for index in steps(graph) if read.isdisjoint(graph.nodes[index].outputs)])
    return None if index is None else with_nodes(graph, [*graph.nodes[:index], *graph.nodes[index + 1 :]])


# ---- what flows


def other_type(graph: Graph, data: st.DataObject) -> Graph | None:
    at = one_of(data, range(len(graph.values)))
    if at is None:
        return None
    old = graph.type_of(at)
    new = one_of(data, [replace(old, **{name: "zz"}) for name in ("dtype", "device", "layout")])
    return with_row(replace(graph, types=(*graph.types, new)), "values", at, type=len(graph.types))


def other_input(graph: Graph, data: st.DataObject) -> Graph | None:
    index = one_of(data, [index for index, node in enumerate(graph.nodes) if node.inputs])
    if index is None:
        return None
    node = graph.nodes[index]
    made = sum([len(earlier.outputs) for earlier in graph.nodes[:index]])
    value, port = data.draw(st.integers(0, made - 1)), data.draw(st.integers(0, len(node.inputs) - 1))
    inputs = (*node.inputs[:port], value, *node.inputs[port + 1 :])
    return with_row(graph, "nodes", index, inputs=inputs) if inputs != node.inputs else None


def an_input_more(graph: Graph, data: st.DataObject) -> Graph | None:
    index = one_of(data, [index for index in steps(graph) if graph.nodes[index].inputs])
    if index is None:
        return None
    inputs = graph.nodes[index].inputs
    return with_row(graph, "nodes", index, inputs=(*inputs, inputs[0]))


def an_output_less(graph: Graph, data: st.DataObject) -> Graph | None:
    index = one_of(data, [index for index, node in enumerate(graph.nodes) if node.kind == "output"])
    return None if index is None else with_nodes(graph, [*graph.nodes[:index], *graph.nodes[index + 1 :]])


def inputs_exchanged(graph: Graph, data: st.DataObject) -> Graph | None:
    inputs = [index for index, node in enumerate(graph.nodes) if node.kind == "input"]
    if len(inputs) < 2:
        return None
    for position, index in enumerate([*inputs[1:], inputs[0]]):
        graph = with_attrs(graph, "nodes", index, (("index", position),))
    return graph


def one_carried_less(graph: Graph, data: st.DataObject) -> Graph | None:
    edge = one_of(data, graph.carried)
    return None if edge is None else replace(graph, carried=tuple([row for row in graph.carried if row != edge]))


def other_source(graph: Graph, data: st.DataObject) -> Graph | None:
    sources = [index for index, node in enumerate(graph.nodes) if node.kind in SOURCE_KINDS - {"input"}]
    index = one_of(data, [index for index in sources if not graph.nodes[index].inputs])
    if index is None:
        return None
    kind: NodeKind = "constant" if graph.nodes[index].kind != "constant" else "param"
    return with_row(graph, "nodes", index, kind=kind, op=kind)


def other_parameter(graph: Graph, data: st.DataObject) -> Graph | None:
    index = one_of(data, [index for index, node in enumerate(graph.nodes) if node.kind in ("param", "buffer")])
    return None if index is None else with_attrs(graph, "nodes", index, (("qualname", "a new name"),))


# ---- calls


def other_class(graph: Graph, data: st.DataObject) -> Graph:
    return with_row(graph, "scopes", data.draw(st.integers(0, len(graph.scopes) - 1)), cls="zz")


def other_argument(graph: Graph, data: st.DataObject) -> Graph:
    return with_attrs(graph, "scopes", data.draw(st.integers(0, len(graph.scopes) - 1)), (("zz", 1),))


def other_path(graph: Graph, data: st.DataObject) -> Graph | None:
    at = one_of(data, [at for at, scope in enumerate(graph.scopes) if at and scope.kind == "module"])
    return None if at is None else with_row(graph, "scopes", at, path=f"{graph.scopes[at].path}zz")


def a_repeat_more(graph: Graph, data: st.DataObject) -> Graph | None:
    at = one_of(data, [at for at, scope in enumerate(graph.scopes) if scope.repeats])
    return None if at is None else with_row(graph, "scopes", at, repeats=(*graph.scopes[at].repeats, "zz"))


def a_call_more(graph: Graph, data: st.DataObject) -> Graph:
    return replace(graph, scopes=(*graph.scopes, Scope("module", "a call more", "a call more", "Zz", 0, 0, 1)))


CHANGES: dict[str, Callable[[Graph, st.DataObject], Graph | None]] = {
    change.__name__: change
    for change in (
        other_op, other_kind, other_attribute, other_call, a_step_more, a_step_less, other_type, other_input,
        an_input_more, an_output_less, inputs_exchanged, one_carried_less, other_source, other_parameter, other_class,
        other_argument, other_path, a_repeat_more, a_call_more,
    )
}  # fmt: skip
