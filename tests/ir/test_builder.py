from __future__ import annotations

import pytest

from trec.ir.builder import GraphBuilder, unique
from trec.ir.types import Source, Value


def test_depths_count_modules_only() -> None:
    builder = GraphBuilder("Net")
    root = builder.scope("module", path="", cls="Net")
    call = builder.scope("function", path="", cls="f", parent=root)
    inner = builder.scope("module", path="a", cls="A", parent=call)
    region = builder.scope("region", path="a", cls="script", parent=inner)
    function = builder.scope("function", path="a", cls="g", parent=region)
    for scope in (root, call, inner, region, function):
        builder.node("op", "relu", parent=scope)
    graph = builder.build().verify()
    assert [scope.depth for scope in graph.scopes] == [0, 1, 1, 2, 2]
    assert [node.depth for node in graph.nodes] == [1, 1, 2, 2, 2]


def test_a_region_root_counts_as_a_module() -> None:
    builder = GraphBuilder("script")
    root = builder.scope("region", path="", cls="script")
    builder.node("op", "relu", parent=builder.scope("module", path="a", cls="A", parent=root))
    assert [node.depth for node in builder.build().verify().nodes] == [2]


def test_names_are_made_from_scopes_and_kept_apart() -> None:
    builder = GraphBuilder("Net")
    root = builder.scope("module", path="", cls="Net")
    first = builder.scope("module", path="fc", cls="Linear", parent=root)
    second = builder.scope("module", path="fc", cls="Linear", parent=root, call=1)
    for scope in (root, root, first, first, second):
        builder.node("op", "relu", parent=scope)
    builder.node("op", "relu", parent=root, name="fc")
    graph = builder.build().verify()
    assert [scope.name for scope in graph.scopes] == ["Net", "fc", "fc#2"]
    assert [node.name for node in graph.nodes] == ["relu", "relu_1", "fc.relu", "fc.relu_1", "fc#2.relu", "fc_1"]


def test_a_collapsed_node_has_the_name_of_its_scope_and_its_second_part_another() -> None:
    builder = GraphBuilder("Net")
    root = builder.scope("module", path="", cls="Net")
    body = builder.scope("module", path="body", cls="Body", parent=root)
    for _ in range(2):
        builder.node("module", "Body", parent=root, scope=body)
    assert [node.name for node in builder.build().verify().nodes] == ["body", "body_1"]


def test_values_have_the_names_of_their_nodes() -> None:
    builder = GraphBuilder("Net")
    root = builder.scope("module", path="", cls="Net")
    type_ = builder.tensor_type((2,), "int64")
    assert list(builder.node("op", "a", parent=root, results=[type_])) == [0]
    assert list(builder.node("op", "b", parent=root, results=[type_, type_])) == [1, 2]
    assert list(builder.node("op", "c", parent=root, results=[type_], value_names=["own"])) == [3]
    assert list(builder.node("op", "d", parent=root)) == []
    assert builder.build().values == tuple([Value(0, name) for name in ("a", "b:0", "b:1", "own")])


def test_repeated_rows_are_stored_once() -> None:
    builder = GraphBuilder("Net")
    root = builder.scope("module", path="", cls="Net", attrs=(("bias", True),))
    for value in (True, 1, 1.0, True):
        builder.node("op", parent=root, attrs=(("bias", value),), source=Source("model.py", 3))
    assert builder.tensor_type((2,), "int64") == builder.tensor_type([2], "int64")
    graph = builder.build().verify()
    assert graph.attrs == ((), (("bias", True),), (("bias", 1),), (("bias", 1.0),))
    assert [node.attrs for node in graph.nodes] == [1, 2, 3, 1]
    assert [node.op for node in graph.nodes] == ["op"] * 4
    assert len(graph.sources) == len(graph.types) == 1


@pytest.mark.parametrize(
    ("value", "stored"),
    [
        (float("inf"), "inf"),
        (-float("inf"), "-inf"),
        (float("nan"), "nan"),
        (2**64, "0x10000000000000000"),
        (-(2**63) - 1, "-0x8000000000000001"),
        (2**64 - 1, 2**64 - 1),
        ("a\ud800", "a\ufffd"),
        ("a\ud83d\ude00", "a😀"),
        (((float("inf"), "\udfff"), None), (("inf", "\ufffd"), None)),
    ],
)
def test_attributes_are_stored_as_files_can_hold_them(value: object, stored: object) -> None:
    row = (("a\ud800", value),)
    builder = GraphBuilder("Net\ud800", row)  # type: ignore[arg-type]
    root = builder.scope("module", path="", cls="\ud800", attrs=row)  # type: ignore[arg-type]
    builder.node("op", "\ud800", parent=root, name="\ud800", attrs=row)  # type: ignore[arg-type]
    builder.node("op", parent=root, attrs=(("a\ufffd", stored),))  # type: ignore[arg-type]
    graph = builder.build().verify()
    assert graph.attrs == ((), (("a\ufffd", stored),))
    assert graph.meta == (("a\ufffd", stored),)
    assert graph.name == "Net\ufffd"
    assert {node.attrs for node in graph.nodes} == {1}


def test_unique_counts_on_and_steps_over_what_is_taken() -> None:
    taken: dict[str, int] = {}
    assert [unique(name, taken) for name in ("a", "a_1", "a", "a", "a_1", "a")] == [
        "a", "a_1", "a_2", "a_3", "a_1_1", "a_4",
    ]  # fmt: skip
