from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.passes import samples
from tests.passes.samples import ended, started
from trec import OptionError

if TYPE_CHECKING:
    from collections.abc import Callable

    from trec.ir.graph import Graph


@pytest.mark.parametrize("level", ["function", "module"])
def test_golden(level: Any, golden: Callable[[str, str], None]) -> None:
    before = samples.functions()
    golden(f"level-functions-{level}.txt", f"{before}\n---\n{before.level(level).verify()}\n")


def folded(graph: Graph, name: str) -> tuple[list[str], list[str]]:
    """Return the names of the values that a node reads and makes."""
    node = graph.nodes[graph.index_of[name]]
    return [graph.values[value].name for value in node.inputs], [graph.values[value].name for value in node.outputs]


def test_a_function_has_its_arguments_and_results_first() -> None:
    graph = samples.functions().level("function")
    assert folded(graph, "fc.mix") == (
        ["fc.weight", "x", "x", "fc.aten._to_copy.default"],
        ["fc.mix:0", "fc.mix:1", "fc.mix:2"],
    )
    node = graph.nodes[graph.index_of["fc.mix"]]
    assert (node.kind, node.op, node.parent, node.depth, node.scope) == ("op", "mix", 1, 2, -1)
    assert graph.attrs_of(node) == {"alpha": 2}
    assert graph.source_of(node) is not None


def test_what_ran_during_a_call_without_need_of_it_goes_before_it() -> None:
    graph = samples.functions().level("function")
    assert graph.index_of["fc.aten._to_copy.default"] < graph.index_of["fc.mix"]


def test_a_function_without_results_that_leaves_torch_is_a_host_node() -> None:
    graph = samples.functions().level("function")
    node = graph.nodes[graph.index_of["item"]]
    assert (node.kind, node.op, node.outputs) == ("host", "item", ())


def test_a_function_around_a_module_is_replaced_by_what_it_holds() -> None:
    graph = samples.functions().level("function")
    assert [(scope.name, scope.kind, scope.parent) for scope in graph.scopes] == [
        ("Functions", "module", -1),
        ("fc", "module", 0),
        ("act", "module", 0),
    ]
    node = graph.nodes[graph.index_of["grad.aten.neg.default"]]
    assert (node.parent, node.depth) == (0, 1)


def test_a_call_that_waits_for_a_foreign_step_becomes_two_nodes() -> None:
    builder, type_, x = started("Net", "aten")
    call = builder.scope("function", path="", cls="f", parent=0, name="f", inputs=(0,), outputs=(3,))
    (a,) = builder.node("op", "aten.a.default", parent=call, inputs=[x], results=[type_])
    (b,) = builder.node("op", "aten.b.default", parent=0, inputs=[a], results=[type_])
    (c,) = builder.node("op", "aten.c.default", parent=call, inputs=[b, x], results=[type_])
    graph = ended(builder, c).level("function").verify()
    assert [node.name for node in graph.nodes] == ["x", "f", "aten.b.default", "f_1", "output0"]
    assert folded(graph, "f_1") == (["x", "aten.b.default"], ["f_1"])


def test_two_calls_that_take_turns_do_not_make_a_cycle() -> None:
    builder, type_, x = started("Net", "aten")
    calls = [builder.scope("function", path="", cls=name, parent=0, name=name) for name in "fg"]
    for turn in range(4):
        (x,) = builder.node("op", "aten.a.default", parent=calls[turn % 2], inputs=[x], results=[type_])
    graph = ended(builder, x).level("function").verify()
    assert [node.name for node in graph.nodes] == ["x", "f", "g", "f_1", "g_1", "output0"]


def test_two_calls_that_take_turns_on_their_own_are_two_nodes() -> None:
    builder, type_, x = started("Net", "aten")
    calls = [builder.scope("function", path="", cls=name, parent=0, name=name) for name in "fg"]
    values = [x, x]
    for turn in range(4):
        (values[turn % 2],) = builder.node(
            "op", "aten.a.default", parent=calls[turn % 2], inputs=[values[turn % 2]], results=[type_]
        )
    graph = ended(builder, *values).level("function").verify()
    assert [node.name for node in graph.nodes] == ["x", "f", "g", "output0", "output1"]


def test_the_module_level_leaves_what_stands_between_modules() -> None:
    graph = samples.blocks().level("module")
    assert [node.name for node in graph.nodes if node.kind != "param"][1:-1] == [
        "layers.0.fc",
        "layers.0.head",
        "layers.0.__add__",
        "layers.1.fc",
        "layers.1.head",
        "layers.1.__add__",
    ]
    assert graph.meta == (("level", "module"),)


def test_a_model_without_modules_is_one_node_at_the_module_level(chain: Graph) -> None:
    assert [node.kind for node in chain.level("module").nodes] == ["input", "module", "output"]


def test_collapsed_calls_are_not_collapsed_again() -> None:
    graph = samples.blocks().collapse(depth=1)
    assert [node.name for node in graph.level("module").nodes] == [node.name for node in graph.nodes]
    root = samples.blocks().collapse(depth=0)
    assert root.level("module").nodes == root.nodes


def test_a_level_that_is_there_already_changes_nothing(chain: Graph, aten: Graph) -> None:
    assert chain.level("function") is chain
    assert aten.level("aten") is aten
    assert aten.level("module").level("module") == aten.level("function").level("module")


def test_a_coarser_graph_cannot_be_refined(chain: Graph) -> None:
    with pytest.raises(OptionError, match='capture again with level="aten"'):
        chain.level("aten")
    with pytest.raises(OptionError, match='capture again with level="function"'):
        chain.level("module").level("function")


def test_an_unknown_level_is_answered_with_the_known_ones(chain: Graph) -> None:
    with pytest.raises(OptionError, match="module, function, aten"):
        chain.level("operator")  # type: ignore[arg-type]


def test_a_function_that_is_one_node_already_stays_one(collapsed: Graph) -> None:
    graph = collapsed.level("function").verify()
    assert [(node.kind, node.op, node.scope) for node in graph.nodes] == [
        ("input", "input", -1),
        ("module", "Body", 1),
        ("op", "relu", -1),
        ("output", "output", -1),
    ]
