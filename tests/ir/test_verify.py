from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from tests.strategies import any_graph
from trec.errors import VerifyError
from trec.ir.builder import GraphBuilder
from trec.ir.facts import Facts
from trec.ir.sweep import SWEPT, sweep
from trec.ir.types import Carried, Derivative, Source, TensorType, Value
from trec.ir.verify import CHECKS, verify

if TYPE_CHECKING:
    from collections.abc import Callable

    from trec.ir.graph import Graph

Break = tuple["Callable[[Graph], Graph]", str]


def whole() -> Graph:
    """Nodes: 0 input, 1 param, 2 op in a module, 3 op in a function, 4 collapsed, 5 link, 6 output."""
    builder = GraphBuilder("Whole", (("level", "aten"),))
    root = builder.scope("module", path="", cls="Whole", source=Source("model.py", 3))
    fc = builder.scope("module", path="fc", cls="Linear", parent=root, attrs=(("bias", True),))
    linear = builder.scope("function", path="fc", cls="linear", parent=fc, name="fc.linear", inputs=(0,), outputs=(2,))
    body = builder.scope("module", path="body", cls="Body", parent=root)
    type_ = builder.tensor_type((2, 3), "float32")
    long = builder.tensor_type((2, "s0"), "int64")
    (x,) = builder.node("input", parent=root, name="x", results=[type_], attrs=(("index", 0),))
    (w,) = builder.node("param", parent=fc, name="fc.weight", results=[type_], attrs=(("qualname", "fc.weight"),))
    (y,) = builder.node("op", "relu", parent=fc, inputs=[x, w], results=[type_], source=Source("model.py", 7))
    first, second = builder.node("op", "topk", parent=linear, inputs=[y], results=[type_, long])
    (z,) = builder.node("module", "Body", parent=root, inputs=[first], results=[type_], scope=body)
    (a,) = builder.node("link", "pass", parent=root, inputs=[z], results=[type_])
    builder.node("output", parent=root, inputs=[a])
    builder.carried.append(Carried(second, 2, 1))
    return builder.build()


def change(table: str, row: int, **fields: Any) -> Callable[[Graph], Graph]:
    """Return what changes fields of one row."""

    def changed(graph: Graph) -> Graph:
        rows = list(getattr(graph, table))
        rows[row] = replace(rows[row], **fields)
        return replace(graph, **{table: tuple(rows)})

    return changed


def differentiating(node: int, forward: int) -> Callable[[Graph], Graph]:
    """Return what makes the module `fc` one of the backward pass, and lets a node differentiate another."""

    def changed(graph: Graph) -> Graph:
        scopes = (graph.scopes[0], replace(graph.scopes[1], phase="backward"), *graph.scopes[2:])
        return replace(graph, scopes=scopes, derivatives=(Derivative(node, forward),))

    return changed


def twice(graph: Graph) -> Graph:
    """Return the graph with what it says of derivatives said again."""
    return replace(graph, derivatives=graph.derivatives * 2)


def change_row(table: str, row: int, new: Any) -> Callable[[Graph], Graph]:
    """Return what puts another row into the place of one."""

    def changed(graph: Graph) -> Graph:
        rows = list(getattr(graph, table))
        rows[row] = new
        return replace(graph, **{table: tuple(rows)})

    return changed


def append(table: str, new: Any) -> Callable[[Graph], Graph]:
    """Return what appends a row to a table."""
    return lambda graph: replace(graph, **{table: (*getattr(graph, table), new)})


def swap_values(graph: Graph) -> Graph:
    """Let two results of one node change their numbers."""
    return change("nodes", 3, outputs=(4, 3))(graph)


def attr(value: Any) -> Callable[[Graph], Graph]:
    """Return what puts a value into a row of attributes."""
    return change_row("attrs", 1, (("bias", value),))


BREAKS: dict[str, list[Break]] = {
    "tables": [
        (lambda graph: replace(graph, nodes=list(graph.nodes)), "nodes[0] is in a list, expected a tuple"),
        (change_row("values", 1, None), "values[1] is of type NoneType, expected Value"),
    ],
    "fields": [
        (lambda graph: replace(graph, name=None), "name[0] is None, expected text"),
        (change("nodes", 2, op=7), "nodes[2] has op 7, expected str"),
        (change("nodes", 2, depth=True), "nodes[2] has depth True, expected int"),
        (change("nodes", 2, inputs=[0, 1]), "nodes[2] has inputs [0, 1], expected tuple"),
        (change("nodes", 2, inputs=(0, 1.0)), "nodes[2] has inputs that hold 1.0, expected ints"),
        (change("nodes", 3, outputs=(None, 1)), "nodes[3] has outputs that hold None, expected ints"),
        (change("scopes", 2, inputs=("x",)), "scopes[2] has inputs that hold 'x', expected ints"),
        (change("scopes", 2, repeats=(1,)), "scopes[2] has repeats that hold 1, expected strs"),
        (change("carried", 0, loop="x"), "carried[0] has loop 'x', expected int"),
        (change("values", 0, type="0"), "values[0] has type '0', expected int"),
        (change("sources", 0, line=None), "sources[0] has line None, expected int"),
    ],
    "text": [
        (change("nodes", 2, name="\ud800"), "nodes[2] has name '\\ud800'"),
        (change("nodes", 2, name="ä\ud800"), "nodes[2] has name 'ä\\ud800'"),
        (change("scopes", 2, repeats=("\ud800",)), "scopes[2] has repeats"),
        (change("sources", 0, file="\udfff"), "sources[0] has file '\\udfff'"),
        (lambda graph: replace(graph, name="\ud800"), "name[0] is '\\ud800'"),
    ],
    "kinds": [
        (change("nodes", 2, kind="operator"), "nodes[2] has kind 'operator', expected one of: input, "),
        (change("scopes", 2, kind="call"), "scopes[2] has kind 'call', expected one of: module, function, region"),
        (
            change("scopes", 2, phase="late"),
            "scopes[2] has phase 'late', expected one of: forward, backward, optimizer",
        ),
    ],
    "shapes": [
        (change("types", 0, shape=(2, -1)), "types[0] has size -1"),
        (change("types", 0, shape=("",)), "types[0] has size ''"),
        (change("types", 0, shape=(2.5,)), "types[0] has size 2.5"),
        (change("types", 0, shape=("\ud800",)), "types[0] has size '\\ud800'"),
    ],
    "lines": [(change("sources", 1, line=0), "sources[1] has line 0")],
    "empty-row": [
        (change_row("attrs", 0, (("a", 1),)), "attrs[0] is (('a', 1),)"),
        (lambda graph: replace(graph, attrs=()), "attrs[0] is missing"),
    ],
    "attr-rows": [
        (change_row("attrs", 1, ("bias", True)), "attrs[1] is ('bias', True)"),
        (change_row("attrs", 1, (("bias",),)), "attrs[1] is (('bias',),)"),
        (change_row("attrs", 1, ((1, True),)), "attrs[1] is ((1, True),)"),
        (change_row("attrs", 1, (("\ud800", True),)), "attrs[1] is (('\\ud800', True),)"),
        (lambda graph: replace(graph, meta=(("level",),)), "meta[0] is (('level',),)"),
    ],
    "attr-values": [
        (attr([1]), "attrs[1] is (('bias', [1]),)"),
        (attr(((((1,),),),)), "attrs[1] is (('bias', ((((1,),),),)),)"),
        (attr((1, {})), "attrs[1] is (('bias', (1, {})),)"),
        (attr(2**64), "attrs[1] is (('bias', 18446744073709551616),)"),
        (attr((0, -(2**63) - 1)), "attrs[1] is (('bias', (0, -9223372036854775809)),)"),
        (attr(float("nan")), "attrs[1] is (('bias', nan),)"),
        (attr((float("inf"),)), "attrs[1] is (('bias', (inf,)),)"),
        (attr("\ud800"), "attrs[1] is (('bias', '\\ud800'),)"),
        (lambda graph: replace(graph, meta=(("level", b"x"),)), "meta[0] is (('level', b'x'),)"),
    ],
    "attr-names": [
        (change_row("attrs", 1, (("bias", True), ("bias", 1))), "attrs[1] is (('bias', True), ('bias', 1))"),
        (lambda graph: replace(graph, meta=(("a", 1), ("a", 1))), "meta[0] is"),
    ],
    "rows-once": [
        (append("types", TensorType((2, 3), "float32")), "types[2] repeats an earlier row"),
        (append("attrs", ()), "attrs[4] repeats an earlier row"),
        (append("sources", Source("model.py", 7)), "sources[2] repeats an earlier row"),
    ],
    "one-root": [
        (lambda graph: replace(graph, scopes=()), "scopes[0] is missing"),
        (change("scopes", 0, parent=0), "scopes[0] has parent 0, depth 0, path ''"),
        (change("scopes", 0, depth=1), "scopes[0] has parent -1, depth 1"),
        (change("scopes", 0, path="x"), "scopes[0] has parent -1, depth 0, path 'x'"),
        (change("scopes", 0, kind="function"), "scopes[0] is a function"),
        (change("scopes", 3, parent=-1), "scopes[3] is a second root"),
    ],
    "scope-parents": [
        (change("scopes", 1, parent=1), "scopes[1] has parent 1"),
        (change("scopes", 2, parent=99), "scopes[2] has parent 99"),
    ],
    "scope-names": [(change("scopes", 3, name="fc"), "scopes[3] has the name 'fc', as an earlier one has")],
    "scope-depths": [
        (change("scopes", 1, depth=2), "scopes[1] has depth 2, expected 1"),
        (change("scopes", 2, depth=1), "scopes[2] has depth 1, expected 2"),
    ],
    "scope-indices": [
        (change("scopes", 1, attrs=4), "scopes[1] has attrs 4, expected 0 to 3"),
        (change("scopes", 1, source=-2), "scopes[1] has source -2, expected -1 to 1"),
        (change("scopes", 1, call=-1), "scopes[1] has call -1"),
        (change("scopes", 2, inputs=(0, 7)), "scopes[2] has inputs 7, expected 0 to 6"),
        (change("scopes", 2, outputs=(-1,)), "scopes[2] has outputs -1, expected 0 to 6"),
    ],
    "node-indices": [
        (change("nodes", 2, parent=4), "nodes[2] has parent 4, expected 0 to 3"),
        (change("nodes", 2, parent=-1), "nodes[2] has parent -1, expected 0 to 3"),
        (change("nodes", 2, attrs=-1), "nodes[2] has attrs -1, expected 0 to 3"),
        (change("nodes", 2, source=2), "nodes[2] has source 2, expected -1 to 1"),
        (change("nodes", 4, scope=4), "nodes[4] has scope 4, expected -1 to 3"),
    ],
    "node-names": [(change("nodes", 3, name="x"), "nodes[3] has the name 'x', as an earlier one has")],
    "shared-names": [
        (change("nodes", 2, name="fc"), "nodes[2] has the name 'fc', as a scope has that it does not stand for"),
        (change("nodes", 4, name="fc.linear"), "nodes[4] has the name 'fc.linear', as a scope has"),
    ],
    "value-types": [
        (change("values", 1, type=2), "values[1] has type 2, expected 0 to 1"),
        (change("values", 1, type=-1), "values[1] has type -1, expected 0 to 1"),
    ],
    "one-producer": [
        (change("nodes", 3, outputs=(3, 2)), "nodes[3] produces value 2, as an earlier one does"),
        (append("values", Value(0, "nobody's")), "values[7] is produced by no node"),
    ],
    "production-order": [
        (swap_values, "nodes[3] produces values (4, 3), expected them to count on from 3"),
        (change("nodes", 5, outputs=(6, 7)), "nodes[5] produces values (6, 7), expected"),
    ],
    "inputs-earlier": [
        (change("nodes", 2, inputs=(0, 2)), "nodes[2] reads value 2, but before it only the values below 2"),
        (change("nodes", 2, inputs=(0, 99)), "nodes[2] reads value 99"),
        (change("nodes", 2, inputs=(-1,)), "nodes[2] reads value -1"),
    ],
    "node-depths": [
        (change("nodes", 2, depth=1), "nodes[2] has depth 1, expected 2"),
        (change("nodes", 3, depth=3), "nodes[3] has depth 3, expected 2"),
        (change("nodes", 4, depth=2), "nodes[4] has depth 2, expected 1"),
    ],
    "arity": [
        (change("nodes", 6, inputs=()), "nodes[6] is of kind output and has 0 inputs, expected 1"),
        (change("nodes", 5, inputs=()), "nodes[5] is of kind link and has 0 inputs, expected 1 or more"),
        (change("nodes", 1, kind="buffer", op="buffer", inputs=(0, 0)), "nodes[1] is of kind buffer and has 2 inputs"),
        (
            change("nodes", 3, kind="param", op="param", inputs=()),
            "nodes[3] is of kind param and has 2 outputs, expected 1",
        ),
        (
            change("nodes", 1, kind="constant", op="constant", inputs=(0,)),
            "nodes[1] is of kind constant and has 1 inputs, expected 0",
        ),
        (change("nodes", 1, inputs=(0, 0)), "nodes[1] is of kind param and has 2 inputs, expected 0 to 1"),
    ],
    "own-ops": [(change("nodes", 0, op="x"), "nodes[0] has op 'x', expected 'input'")],
    "link-ops": [
        (change("nodes", 5, op="copy"), "nodes[5] has op 'copy', expected one of: alias, either, pass, tensor, update")
    ],
    "places": [
        (change("nodes", 6, parent=1, depth=2), "nodes[6] is of kind output and lies in scope 1, expected the root"),
        (change("nodes", 1, parent=2), "nodes[1] is of kind param and lies in scope 2, expected a module"),
    ],
    "collapsed-kinds": [
        (change("nodes", 4, scope=-1, name="b"), "nodes[4] is of kind module and stands for no scope"),
        (change("nodes", 4, kind="op"), "nodes[4] is of kind op and stands for a scope of kind module"),
        (change("nodes", 4, kind="host"), "nodes[4] is of kind host and stands for a scope of kind module"),
        (change("nodes", 4, parent=1), "nodes[4] has parent 1, expected 0, the parent of its scope"),
    ],
    "collapsed-inside": [
        (change("nodes", 2, parent=3), "nodes[2] lies in scope 3, which is collapsed"),
        (change("scopes", 2, parent=1), ""),
    ],
    "carried": [
        (change("carried", 0, value=7), "carried[0] has value 7, expected 0 to 6"),
        (change("carried", 0, node=-1), "carried[0] has node -1, expected 0 to 6"),
        (change("carried", 0, port=2), "carried[0] has port 2, but node 2 has 2 inputs"),
        (change("carried", 0, port=-2), "carried[0] has port -2, but node 2 has 2 inputs"),
        (change("carried", 0, loop=9), "carried[0] has loop 9, expected -1 to 3"),
        (lambda graph: replace(graph, carried=graph.carried * 2), "carried[1] repeats an earlier row"),
    ],
    "derivatives": [
        (differentiating(7, 0), "derivatives[0] has node 7, expected 0 to 6"),
        (differentiating(2, 2), "derivatives[0] has forward 2, expected a node before 2"),
        (differentiating(2, -1), "derivatives[0] has forward -1, expected a node before 2"),
        (differentiating(5, 2), "derivatives[0] has node 5, which belongs to the forward pass"),
        (lambda graph: twice(differentiating(2, 1)(graph)), "derivatives[1] repeats an earlier row"),
    ],
}
BREAKS["collapsed-inside"][1] = (
    lambda graph: append("scopes", replace(graph.scopes[3], name="deep", parent=3, depth=2))(graph),
    "scopes[4] lies in scope 3, which is collapsed",
)


def test_the_graph_that_the_tests_break_is_whole() -> None:
    verify(whole())


def test_each_check_has_a_test_that_breaks_it() -> None:
    assert list(BREAKS) == list(CHECKS)


@pytest.mark.parametrize(
    ("check", "broken", "message"),
    [
        pytest.param(check, broken, message, id=f"{check}-{number}")
        for check, breaks in BREAKS.items()
        for number, (broken, message) in enumerate(breaks)
    ],
)
def test_a_broken_graph_is_named(check: str, broken: Callable[[Graph], Graph], message: str) -> None:
    with pytest.raises(VerifyError) as caught:
        verify(broken(whole()))
    head, row, *_ = str(caught.value).split("\n")
    assert f"breaks the invariant `{check}`: {CHECKS[check][0]}" in head
    assert message in row


def test_the_message_shows_the_program_around_the_fault() -> None:
    with pytest.raises(VerifyError) as caught:
        verify(change("nodes", 5, inputs=(6,))(whole()))
    assert str(caught.value) == (
        "Whole breaks the invariant `inputs-earlier`: a node reads what earlier nodes produce\n"
        "nodes[5] reads value 6, but before it only the values below 6 are produced\n"
        "       2  %2: f32[2,3] = relu(%x, %fc.weight)  # fc\n"
        "       3  %3, %4: f32[2,3], i64[2,s0] = topk(%2)  # fc.linear\n"
        "       4  %5: f32[2,3] = module Body(%3)  # body\n"
        ">      5  %6: f32[2,3] = link pass(%6)\n"
        "       6  output(%6)"
    )


@pytest.mark.parametrize(
    ("broken", "marked"),
    [
        (change("scopes", 2, depth=1), 3),
        (change("types", 1, shape=(-1,)), 3),
        (change("sources", 1, line=0), 2),
        (change("values", 3, type=9), 3),
        (change("carried", 0, port=2), 2),
        (attr(2**64), 0),
    ],
)
def test_a_fault_in_a_table_is_shown_where_it_is_used(broken: Callable[[Graph], Graph], marked: int) -> None:
    with pytest.raises(VerifyError) as caught:
        verify(broken(whole()))
    (line,) = [line for line in str(caught.value).splitlines() if line.startswith(">")]
    assert int(line[1:].split()[0]) == marked


def test_rows_that_are_equal_but_print_otherwise_may_stand_side_by_side() -> None:
    builder = GraphBuilder("Net")
    root = builder.scope("module", path="", cls="Net")
    for value in (1, 1.0, True):
        builder.node("op", "full", parent=root, attrs=(("value", value),))
    graph = builder.build().verify()
    assert len(graph.attrs) == 4


def test_verify_returns_the_graph(tiny: Graph) -> None:
    assert tiny.verify() is tiny


_INDICES = st.integers(-2, 14)
_FIELDS: dict[str, st.SearchStrategy[Any]] = {
    **dict.fromkeys(("parent", "depth", "attrs", "source", "scope"), _INDICES),
    **dict.fromkeys(("inputs", "outputs"), st.lists(_INDICES, max_size=3).map(tuple)),
}


@settings(max_examples=300)
@given(any_graph(), st.data())
def test_the_sweep_finds_exactly_what_its_checks_find(graph: Graph, data: st.DataObject) -> None:
    for _ in range(data.draw(st.integers(0, 2)) if graph.nodes else 0):
        field = data.draw(st.sampled_from(sorted(_FIELDS)))
        index = data.draw(st.integers(0, len(graph.nodes) - 1))
        graph = change("nodes", index, **{field: data.draw(_FIELDS[field])})(graph)
    faults = (check(Facts(graph)) for name, (_, check) in CHECKS.items() if name in SWEPT)
    assert sweep(Facts(graph)) == (not any(faults))


@settings(max_examples=300)
@given(any_graph())
def test_the_sweep_leaves_the_special_nodes_that_the_checks_would_look_for(graph: Graph) -> None:
    facts = Facts(graph)
    assert sweep(facts)
    assert list(facts.special.items()) == list(Facts(graph).special.items())


def test_of_nodes_that_are_wrong_in_the_same_way_the_first_is_named() -> None:
    graph = whole()
    for index in (0, 1):
        graph = change("nodes", index, op="x")(graph)
    with pytest.raises(VerifyError, match=r"nodes\[0\] has op 'x', expected 'input'"):
        verify(graph)
    with pytest.raises(VerifyError, match=r"nodes\[1\] has op 'x', expected 'param'"):
        verify(change("nodes", 0, op="input")(graph))
