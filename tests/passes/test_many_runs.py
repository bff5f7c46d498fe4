from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

import trec
from tests.capture.models import build
from tests.passes.several import Branch, Recurrent, Routed
from tests.strategies import any_graph, repeating
from trec.errors import OptionError
from trec.ir.rewrite import with_nodes
from trec.ir.run_marks import READ_IN, RUNS, ports, runs_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from trec.ir.graph import Graph

EITHER_GRAPH = st.one_of(any_graph(), repeating())


def runs(make: Callable[[], torch.nn.Module], inputs: list[torch.Tensor], **options: Any) -> list[Graph]:
    torch.manual_seed(1)
    net = make()
    return [trec.capture(net, args=(x,), **options) for x in inputs]


def some(count: int, *shape: int) -> list[torch.Tensor]:
    torch.manual_seed(0)
    return [torch.randn(shape) for _ in range(count)]


def program(graph: Graph) -> tuple[Counter[Any], Counter[Any]]:
    """Return what ran, and what read which result of what."""
    nodes, producers = graph.nodes, graph.producers
    edges: Counter[Any] = Counter()
    for node in nodes:
        for port, value in enumerate(node.inputs):
            maker = nodes[producers[value]]
            edges[maker.kind, maker.op, maker.outputs.index(value), node.kind, node.op, port] += 1
    scopes = Counter([(scope.kind, scope.path, scope.cls) for scope in graph.scopes[1:]])
    return Counter([(node.kind, node.op, len(node.outputs)) for node in nodes]) + scopes, edges


def often(graph: Graph, name: str) -> int:
    return len(runs_of(graph, next(scope for scope in graph.scopes if scope.name == name)))


@settings(max_examples=200)
@given(EITHER_GRAPH, st.integers(1, 3))
def test_the_union_of_equal_graphs_is_that_graph(graph: Graph, count: int) -> None:
    both = trec.union([graph] * count).verify()
    meta = tuple([pair for pair in both.meta if pair[0] != RUNS])
    assert replace(both, meta=meta) == replace(with_nodes(graph, graph.nodes), meta=meta)


@settings(max_examples=300)
@given(st.lists(EITHER_GRAPH, min_size=2, max_size=4))
def test_a_union_gives_back_each_run(graphs: list[Graph]) -> None:
    graphs = [replace(graph, meta=()) for graph in graphs]
    both = trec.union(graphs).verify()
    assert trec.union(graphs) == both
    for at, graph in enumerate(graphs):
        assert program(both.run(at).verify()) == program(graph)
        assert len(both.run(at).carried) == len(graph.carried)


@pytest.mark.torch
def test_a_branch_meets_in_a_link() -> None:
    inputs = some(4, 2, 4)
    graphs = runs(Branch, [*inputs, *[-4 * x for x in inputs]])
    both = trec.union(graphs).verify()
    assert often(both, "left") + often(both, "right") == 8
    assert often(both, "stem") == often(both, "head") == 8
    link = next(node for node in both.nodes if node.op == "either")
    read = ports(both, link, READ_IN)
    assert sorted(run for some in read.values() for run in some) == list(range(8))
    assert {both.nodes[both.producers[value]].op for value in link.inputs} == {"relu", "linear"}
    for at, graph in enumerate(graphs):
        assert not trec.diff(graph, both.run(at))


@pytest.mark.torch
def test_a_recurrent_net_of_three_lengths_has_the_calls_of_the_longest() -> None:
    graphs = runs(Recurrent, [torch.randn(length, 2, 4) for length in (2, 3, 5)])
    both = trec.union(graphs, names=("short", "middle", "long")).verify()
    calls = ["cell", "cell#2", "cell#3", "cell#4", "cell#5"]
    assert [often(both, name) for name in calls] == [3, 3, 2, 1, 1]
    stack = next(node for node in both.nodes if node.op == "stack")
    assert ports(both, stack, READ_IN) == {2: (1, 2), 3: (2,), 4: (2,)}
    assert str(both.type_of(both.nodes[0].outputs[0]).shape[0]) == "2|3|5"
    assert program(both.run("middle")) == program(graphs[1])
    text = both.to_dot()
    assert "2 of 3" in text
    assert "1 of 3" in text
    assert "dashed" in text


@pytest.mark.torch
def test_experts_say_how_often_they_ran() -> None:
    graphs = runs(Routed, some(8, 3, 4))
    both = trec.union(graphs).verify()
    ran = Counter([scope.path for graph in graphs for scope in graph.scopes if scope.path.startswith("experts.")])
    found = {scope.path: len(runs_of(both, scope)) for scope in both.scopes if scope.path in ran}
    assert found == dict(ran)
    assert len([scope for scope in both.scopes if scope.path in ran]) == len(ran)
    for at, graph in enumerate(graphs):
        assert program(both.run(at)) == program(graph)


@pytest.mark.torch
def test_routing_of_mixtral_over_eight_inputs() -> None:
    net, _, options = build("Mixtral")
    torch.manual_seed(0)
    graphs = [trec.capture(net, args=(torch.randint(0, 32, (1, 2)),), kwargs=options) for _ in range(8)]
    both = trec.union(graphs).verify()
    assert len({len(graph.nodes) for graph in graphs}) > 1
    assert len(both.nodes) < 1.1 * max(len(graph.nodes) for graph in graphs)
    for at, graph in enumerate(graphs):
        assert program(both.run(at).verify()) == program(graph)


@pytest.mark.torch
def test_training_and_evaluation_are_one_graph_whose_arguments_differ() -> None:
    net = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.Dropout(0.5))
    graphs = [trec.capture(net.train(mode), args=(torch.zeros(2, 4),)) for mode in (True, False)]
    both = trec.union(graphs, ("train", "eval")).verify()
    drop = next(node for node in both.nodes if node.op == "dropout")
    assert both.attrs_of(drop)["training"] == "True|False"
    assert len(both.nodes) == len(graphs[0].nodes)


@pytest.mark.torch
def test_a_collapsed_union_is_dashed_where_it_did_not_always_run() -> None:
    inputs = some(4, 2, 4)
    both = trec.union(runs(Branch, [*inputs, *[-4 * x for x in inputs]]))
    text = both.collapse(depth=1).to_mermaid()
    assert f"{often(both, 'left')} of 8" in text


def test_wrong_arguments_are_told() -> None:
    graph = trec.Graph("Net", (), (), (), (), ((),), ())
    with pytest.raises(OptionError, match="no graphs"):
        trec.union([])
    for join in (trec.union, trec.symbolic, trec.merge):
        graphs: Any
        for graphs, kind in ((graph, "Graph"), (3, "int"), ([graph, "net.trec"], "str")):
            with pytest.raises(OptionError, match=f"expected a list of graphs.* {kind}"):
                join(graphs)
    with pytest.raises(OptionError, match="expected 2 names"):
        trec.union([graph, graph], names=("one",))
    with pytest.raises(OptionError, match="same level"):
        trec.union([replace(graph, meta=(("level", "aten"),)), graph])
    with pytest.raises(OptionError, match="not of several runs"):
        graph.run(0)


@given(any_graph())
def test_a_run_that_is_not_there_is_told(graph: Graph) -> None:
    both = trec.union([graph, graph], names=("one", "two"))
    with pytest.raises(OptionError, match="one, two"):
        both.run("three")
    with pytest.raises(OptionError, match="0 to 1"):
        both.run(2)
    with pytest.raises(OptionError, match="union already"):
        trec.union([both, graph])
