"""What every registered pass promises, on random graphs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.passes.laws import LOOPS, assert_laws, reached
from tests.passes.steps import steps
from tests.strategies import any_graph, repeating
from trec import registry
from trec.analysis.selectors import nodes
from trec.passes.level import LEVELS, level_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from trec.ir.graph import Graph


def collapse_options(graph: Graph) -> st.SearchStrategy[dict[str, Any]]:
    depth = st.fixed_dictionaries({"depth": st.integers(0, 5)}, optional={"keep": some_calls(graph)})
    return st.one_of(depth, st.fixed_dictionaries({"only": some_calls(graph)}, optional={"keep": some_calls(graph)}))


def some_calls(graph: Graph) -> st.SearchStrategy[Any]:
    """Return selectors of any module calls, of which there is always the root."""
    indices = [index for index, scope in enumerate(graph.scopes) if scope.kind == "module" or index == 0]
    names = st.frozensets(st.sampled_from([graph.scopes[index].name for index in indices]), min_size=1)
    return names.map(lambda chosen: lambda scope: scope.name in chosen)


def level_options(graph: Graph) -> st.SearchStrategy[dict[str, Any]]:
    return st.fixed_dictionaries({"level": st.sampled_from(LEVELS[: LEVELS.index(level_of(graph)) + 1])})


SELECTORS = (
    "kind:op", "kind:param or kind:constant", "is:view", "op:relu", "not kind:output", "kind:link", "kind:module",
    "layers.**", "**", "dtype:f*", "not op:relu", "kind:input", "kind:output", "shape:**", "kind:region or op:relu",
)  # fmt: skip


def some_nodes(graph: Graph) -> st.SearchStrategy[Any]:
    """Return selectors of any nodes: queries, and predicates that know the nodes by name."""
    names = st.frozensets(st.sampled_from([node.name for node in graph.nodes] or [""]))
    return st.one_of(st.sampled_from(SELECTORS), names.map(lambda chosen: lambda node: node.name in chosen))


def hide_options(graph: Graph) -> st.SearchStrategy[dict[str, Any]]:
    return st.fixed_dictionaries({"what": some_nodes(graph), "missing_ok": st.just(True)})


def focus_options(graph: Graph) -> st.SearchStrategy[dict[str, Any]]:
    found = [query for query in SELECTORS if any(nodes(graph, query, missing_ok=True))]
    if not found:
        return st.just({"on": "kind:input"})
    steps = st.one_of(st.none(), st.integers(0, 3))
    direction = st.sampled_from(("both", "up", "down"))
    near = st.fixed_dictionaries({"on": st.sampled_from(found), "steps": steps, "direction": direction})
    return st.one_of(near, st.sampled_from(_joined(graph, found)).map(dict)) if _joined(graph, found) else near


def _joined(graph: Graph, queries: list[str]) -> list[dict[str, str]]:
    """Return pairs of queries between whose nodes a path leads."""
    marks = {query: nodes(graph, query) for query in queries[:4]}
    found = []
    for query, mask in marks.items():
        ends = {index: 1 for index, mark in enumerate(mask) if mark}
        leads = reached(graph, ends, carried=True)
        found += [
            {"on": other, "to": query}
            for other, start in marks.items()
            if any(start[index] and (leads[index] or index in ends) for index in range(len(start)))
        ]
    return found


def phase_options(graph: Graph) -> st.SearchStrategy[dict[str, Any]]:
    phases = sorted({"forward", *map(graph.phase_of, graph.nodes)})
    return st.fixed_dictionaries({"phase": st.sampled_from(phases)})


def prune_options(graph: Graph) -> st.SearchStrategy[dict[str, Any]]:
    found = [query for query in SELECTORS if any(nodes(graph, query, missing_ok=True))]
    return st.sampled_from([{}, *[{"keep": query} for query in found]])


OPTIONS: dict[str, Callable[[Graph], st.SearchStrategy[dict[str, Any]]]] = {
    "collapse": collapse_options,
    "focus": focus_options,
    "fold": lambda _: st.fixed_dictionaries({"shapes": st.booleans(), "ignore": st.sampled_from(("", "key", "dim"))}),
    "hide": hide_options,
    "level": level_options,
    "phase": phase_options,
    "prune": prune_options,
    "relabel": lambda _: st.just({"labels": lambda row: "relu"}),
    "rename": lambda _: st.just({"names": lambda row: row.name.upper()}),
    "roll": lambda _: st.just({}),
    "tensors": lambda _: st.sampled_from([{"which": "boundaries"}, {"which": "all"}]),
}
"""For each registered pass, the options that it takes for a graph."""


def test_every_registered_pass_is_under_the_laws() -> None:
    assert OPTIONS.keys() == registry.PASSES.keys()


@pytest.mark.parametrize("name", OPTIONS)
@settings(max_examples=300)
@given(st.data(), st.one_of(any_graph(), repeating()))
def test_laws(name: str, data: st.DataObject, graph: Graph) -> None:
    assert_laws(graph, name, data.draw(OPTIONS[name](graph)))


@settings(max_examples=300)
@given(any_graph(), st.integers(0, 5), st.integers(0, 5))
def test_collapsing_twice_is_collapsing_to_the_lesser_depth(graph: Graph, first: int, second: int) -> None:
    assert graph.collapse(depth=first).collapse(depth=second) == graph.collapse(depth=min(first, second))


@settings(max_examples=300)
@given(st.one_of(repeating(), repeating(), steps()), st.booleans())
def test_folding_keeps_sums_and_members(graph: Graph, shapes: bool) -> None:
    folded = graph.fold(shapes=shapes)
    assert operators(folded) == operators(graph)
    assert sums(folded.collapse(depth=0)) == sums(graph.collapse(depth=0))
    found = [name for node in folded.nodes for name in folded.origin(node.name)]
    assert sorted(found) == sorted(graph.index_of)
    assert folded is graph or folded.expand() is graph
    for name in folded.derivation.members if folded.derivation else ():
        opened = folded.expand(name).verify()
        assert set(opened.origin(name)) < set(folded.origin(name))


@settings(max_examples=300)
@given(st.one_of(repeating(), repeating(), steps()), st.sampled_from(LOOPS))
def test_a_folded_graph_is_an_image_of_what_it_was(graph: Graph, name: str) -> None:
    """Every node is one that it stands for, and reads what that read, in the same iteration or from the one before.

    Where each iteration reads another result of one step, such as `unbind`, it reads the first.
    """
    folded = graph.apply(name)
    image = {origin: index for index, node in enumerate(folded.nodes) for origin in folded.origin(node.name)}
    carried = {(edge.node, edge.port, edge.value) for edge in folded.carried}
    for node in graph.nodes:
        here = folded.nodes[image[node.name]]
        assert (here.kind, here.op, len(here.inputs), len(here.outputs)) == (
            node.kind, node.op, len(node.inputs), len(node.outputs),
        )  # fmt: skip
        assert [folded.type_of(value) for value in here.outputs] == [graph.type_of(value) for value in node.outputs]
        for port, value in enumerate(node.inputs):
            maker = graph.nodes[graph.producers[value]]
            became = folded.nodes[image[maker.name]].outputs[maker.outputs.index(value)]
            if (image[node.name], port, became) not in carried:
                assert folded.producers[became] == folded.producers[here.inputs[port]]
                assert became == here.inputs[port] or node.name != here.name
    rows = {(image[graph.nodes[row.node].name], image[graph.nodes[row.forward].name]) for row in graph.derivatives}
    assert rows == {(row.node, row.forward) for row in folded.derivatives}


@given(repeating())
def test_what_is_rolled_is_folded(graph: Graph) -> None:
    assert len(graph.fold().nodes) <= len(graph.roll().nodes)


@given(any_graph())
def test_collapsing_below_the_deepest_module_changes_nothing(graph: Graph) -> None:
    deepest = max(scope.depth for scope in graph.scopes)
    assert graph.collapse(depth=deepest + 1) is graph


@given(any_graph(), st.integers(0, 5))
def test_collapsing_leaves_nothing_deeper(graph: Graph, depth: int) -> None:
    result = graph.collapse(depth=depth)
    assert all(scope.depth <= depth for scope in result.scopes if scope.kind == "module")
    assert all(node.depth <= max(depth, 1) for node in result.nodes)


@given(any_graph(), st.integers(0, 5), st.integers(0, 5))
def test_collapsing_keeps_sums(graph: Graph, first: int, second: int) -> None:
    assert operators(graph.collapse(depth=first)) == operators(graph)
    totals = [sums(graph.collapse(depth=first).collapse(depth=second)), sums(graph.collapse(depth=second))]
    assert second > first or totals[0] == totals[1]


def operators(graph: Graph) -> int:
    """Return how many operators ran, also inside collapsed calls, in repeats once for each."""
    total = 0
    for node in graph.nodes:
        ops = graph.attrs_of(node).get("ops", 0) if node.kind == "module" else node.kind == "op"
        assert isinstance(ops, int)
        total += ops * graph.counts[node.scope if node.kind == "module" else node.parent]
    return total


def sums(graph: Graph) -> list[tuple[str, Any]]:
    return [(node.name, graph.attrs_of(node)) for node in graph.nodes if node.kind == "module"]


@settings(max_examples=300)
@given(any_graph())
def test_the_module_level_is_reached_by_way_of_functions(graph: Graph) -> None:
    if level_of(graph) == "aten":
        assert graph.level("function").level("module") == graph.level("module")
