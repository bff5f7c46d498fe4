from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

import trec
from tests.capture.models import build
from tests.passes.alike import assert_alike
from tests.passes.samples import ended, started
from tests.passes.several import Branch, Recurrent, Routed
from tests.strategies import any_graph, repeating
from trec.errors import OptionError
from trec.ir.graph import Graph
from trec.ir.rewrite import with_nodes
from trec.ir.run_marks import READ_IN, RUNS, ports, runs_of
from trec.ir.types import Carried, Derivative

if TYPE_CHECKING:
    from collections.abc import Callable

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


@settings(max_examples=100, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(st.one_of(EITHER_GRAPH, repeating().map(Graph.fold)), min_size=1, max_size=3), st.integers(0, 3))
def test_a_union_gives_back_each_run(graphs: list[Graph], dropped: int) -> None:
    first = graphs[0]
    shorter = first.hide(lambda node: node.kind == "op" and first.index_of[node.name] % 3 == dropped, missing_ok=True)
    graphs = [replace(graph, meta=()) for graph in (*graphs, shorter)]
    both = trec.union(graphs).verify()
    assert trec.union(graphs) == both
    for at, graph in enumerate(graphs):
        assert_alike(both.run(at).verify(), graph)


def looped(*carried: tuple[int, int]) -> Graph:
    """Three steps of a loop, which hands some values to some steps of the next iteration."""
    builder, type_, x = started("Net")
    loop = builder.scope("module", path="loop", cls="Loop", parent=0)
    builder.scopes[loop] = replace(builder.scopes[loop], repeats=("loop_1",))
    made = [x]
    for op in ("a", "b", "c"):
        made += builder.node("op", op, parent=loop, inputs=[x, made[-1]], results=[type_])
    builder.carried += [Carried(made[value], node, 0, loop) for value, node in carried]
    return ended(builder, made[-1])


def test_each_run_carries_what_it_carries() -> None:
    graphs = [looped((3, 1)), looped((2, 1)), looped(), looped((2, 1), (3, 2), (3, 1))]
    both = trec.union(graphs).verify()
    assert len(both.carried) == 3
    for at, graph in enumerate(graphs):
        assert_alike(both.run(at).verify(), graph)


def differentiating(op: str) -> Graph:
    """Two steps, one of which is differentiated."""
    builder, type_, x = started("Net")
    back = builder.scope("region", path="", cls="backward", parent=0, name="backward", phase="backward")
    (y,) = builder.node("op", "exp", parent=0, inputs=[x], results=[type_])
    (y,) = builder.node("op", "sin", parent=0, inputs=[y], results=[type_])
    builder.node("op", "step", parent=back, inputs=[x, y], results=[type_])
    builder.derivatives.append(Derivative(3, 1 if op == "exp" else 2))
    return ended(builder, y)


def test_what_differentiates_something_else_is_another_step() -> None:
    graphs = [differentiating(op) for op in ("exp", "exp", "sin")]
    both = trec.union(graphs).verify()
    assert {runs_of(both, node) for node in both.nodes if node.op == "step"} == {(0, 1), (2,)}
    for at, graph in enumerate(graphs):
        assert_alike(both.run(at).verify(), graph)


def test_steps_that_read_nothing_stay_in_order() -> None:
    def net(*ops: str) -> Graph:
        builder, type_, _ = started("Net")
        made = [builder.node("op", op, parent=0, results=[type_])[0] for op in ops]
        return ended(builder, *made)

    graphs = [net("rand", "randn", "zeros"), net("ones", "zeros"), net("zeros", "rand")]
    both = trec.union(graphs).verify()
    for at, graph in enumerate(graphs):
        assert_alike(both.run(at).verify(), graph)


def test_arguments_that_are_called_like_a_mark_keep_their_names() -> None:
    def net(number: int) -> Graph:
        builder, type_, x = started("Net")
        call = builder.scope("module", path="sub", cls="Sub", parent=0, attrs=(("runs", 3), ("runs_", number)))
        (y,) = builder.node("op", "sub", parent=call, inputs=[x], results=[type_], attrs=(("read_in", "here"),))
        return ended(builder, y)

    both = trec.union([net(1), net(1)]).verify()
    assert str(both.run(0)) == str(net(1))
    assert runs_of(both, both.scopes[1]) == (0, 1)
    differing = trec.union([net(1), net(2)]).verify()
    assert dict(differing.run(1).attrs_of(differing.run(1).scopes[1])) == {"runs": 3, "runs_": "1|2"}


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
        for graphs, kind in ((graph, "single graph"), (3, "int"), ([graph, "net.trec"], "1 is .* str")):
            with pytest.raises(OptionError, match=f"expected .*graphs.* {kind}"):
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
