"""Arguments and results of any form: every tensor inside is an input or output, in order, under its name."""

from __future__ import annotations

from collections import OrderedDict, UserDict, deque, namedtuple
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, NamedTuple

import pytest
import torch
from torch import Tensor, nn

import trec
from tests.capture.paths import Apply, connected, ends, flow, record

pytestmark = pytest.mark.torch

x, y, z = torch.ones(2, 3), torch.full((2, 3), 2.0), torch.full((2, 3), 3.0)


@dataclass
class Batch:
    first: Tensor
    label: str = "none"
    others: list[Any] = field(default_factory=list)


class Pair(NamedTuple):
    left: Any
    right: Any


class Plain:
    """An object of the user's, with properties that must not be asked."""

    def __init__(self, **held: Any) -> None:
        self.__dict__.update(held)

    @property
    def broken(self) -> Any:
        raise AssertionError("a property was asked")


class Slotted:
    __slots__ = ("inner", "missing")

    def __init__(self, inner: Any) -> None:
        self.inner = inner


class Lazy(dict[str, Any]):
    """A mapping with more than a dict has."""

    def __getattr__(self, name: str) -> Any:
        return self[name]


Point = namedtuple("Point", "a b")  # the older form

FORMS: list[tuple[str, Any, Any, list[str]]] = [
    ("list", [x, y], lambda v: v[0] + v[1], ["v.0", "v.1"]),
    ("tuple in list", [(x, None), (y, 1)], lambda v: v[0][0] + v[1][0], ["v.0.0", "v.1.0"]),
    ("dict", {"b": x, "a": y, 3: z}, lambda v: v["a"] + v["b"] + v[3], ["v.b", "v.a", "v.3"]),
    ("nested dict", {"a": {"b": [x, {"c": y}]}}, lambda v: v["a"]["b"][0] + v["a"]["b"][1]["c"], ["v.a.b.0", "v.a.b.1.c"]),  # noqa: E501
    ("ordered dict", OrderedDict(b=x, a=y), lambda v: v["a"] + v["b"], ["v.b", "v.a"]),
    ("mapping", MappingProxyType({"k": x}), lambda v: v["k"] + 1, ["v.k"]),
    ("subclass of dict", Lazy(k=x), lambda v: v.k + 1, ["v.k"]),
    ("dataclass", Batch(x, "q", [y, 3]), lambda v: v.first + v.others[0], ["v.first", "v.others.0"]),
    ("named tuple", Pair(x, {"k": y}), lambda v: v.left + v.right["k"], ["v.left", "v.right.k"]),
    ("older named tuple", Point(x, y), lambda v: v.a + v.b, ["v.a", "v.b"]),
    ("deque", deque([x, y]), lambda v: v[0] + v[1], ["v.0", "v.1"]),
    ("object", Plain(one=x, two=[y]), lambda v: v.one + v.two[0], ["v.one", "v.two.0"]),
    ("object with slots", Slotted(Plain(one=x)), lambda v: v.inner.one + 1, ["v.inner.one"]),
    ("list of dataclasses", [Batch(x), Batch(y)], lambda v: v[0].first + v[1].first, ["v.0.first", "v.1.first"]),
]  # fmt: skip


class Takes(nn.Module):
    def __init__(self, function: Any) -> None:
        super().__init__()
        self.function = function

    def forward(self, v: Any) -> Any:
        return self.function(v)


def names(graph: Any, kind: str) -> list[str]:
    return [graph.nodes[index].name for index in ends(graph, f"{kind}:")]


@pytest.mark.parametrize(("form", "read", "expected"), [row[1:] for row in FORMS], ids=[row[0] for row in FORMS])
def test_every_tensor_of_an_argument_is_an_input(form: Any, read: Any, expected: list[str]) -> None:
    for graph in (record(Takes(read), form), record(Takes(read), v=form)):
        assert names(graph, "input") == expected
        assert flow(graph) == {(f"input:{index}", "output:0") for index in range(len(expected))}


@pytest.mark.parametrize(("form", "expected"), [(row[1], row[3]) for row in FORMS], ids=[row[0] for row in FORMS])
def test_every_tensor_of_a_result_is_an_output(form: Any, expected: list[str]) -> None:
    graph = record(Takes(lambda v: form), torch.ones(1))
    shown = [name.removeprefix("v.") for name in expected]
    shown = [f"output{name}" if name[0].isdigit() else name for name in shown]
    assert names(graph, "output") == shown


def test_outputs_have_the_shape_of_their_leaf_and_their_position() -> None:
    graph = record(Takes(lambda v: {"a": v[0], "b": [v.sum(), None, "text", 3, (v.view(3, 2),)]}), x)
    outputs = [graph.nodes[index] for index in ends(graph, "output:")]
    assert [graph.type_of(node.inputs[0]).shape for node in outputs] == [(3,), (), (3, 2)]
    assert [graph.attrs_of(node)["index"] for node in outputs] == [0, 1, 2]


def test_what_is_no_tensor_is_no_input() -> None:
    def forward(v: Any, flag: bool, text: str, nothing: None, number: int, *, scale: float) -> Any:
        assert flag
        assert text == "mean"
        assert nothing is None
        return v * number * scale

    graph = record(Apply(forward), x, True, "mean", None, 3, scale=2.5)
    assert names(graph, "input") == ["args.0"]


def test_the_same_tensor_twice_is_two_inputs() -> None:
    graph = record(Apply(lambda a, b: a + b), x, x)
    assert len(ends(graph, "input:")) == 2


def test_the_same_tensor_returned_twice_is_two_outputs() -> None:
    graph = record(Apply(lambda a: [a + 1] * 2), x)
    assert flow(graph) == {("input:0", "output:0"), ("input:0", "output:1")}


def test_names_of_positional_keyword_and_spread_arguments() -> None:
    class Net(nn.Module):
        def forward(self, first: Tensor, /, second: Tensor, *rest: Tensor, only: Tensor, **more: Tensor) -> Tensor:
            return first + second + rest[0] + rest[1] + only + more["extra"]

    arguments = [torch.randn(2) for _ in range(4)]
    graph = record(Net(), *arguments, only=torch.randn(2), extra=torch.randn(2))
    assert names(graph, "input") == ["first", "second", "rest.0", "rest.1", "only", "extra"]


def test_keywords_come_after_positions_in_the_order_of_the_call() -> None:
    class Net(nn.Module):
        def forward(self, a: Tensor, b: Tensor, c: Tensor) -> Tensor:
            return a + b + c

    assert names(record(Net(), x, c=y, b=z), "input") == ["a", "c", "b"]


def test_a_model_without_inputs() -> None:
    graph = record(Apply(lambda net: net.weight * 2, weight=nn.Parameter(torch.ones(2))))
    assert not ends(graph, "input:")
    assert connected(graph, "param:weight", "output:0")


def test_an_input_may_be_left_unread_and_an_output_may_be_an_input() -> None:
    graph = record(Apply(lambda a, b: b), x, y)
    assert flow(graph) == {("input:1", "output:0")}


@pytest.mark.parametrize("result", [None, 3, "text", [], {}, (1, None)], ids=repr)
def test_a_result_without_tensors_has_no_outputs(result: Any) -> None:
    graph = record(Apply(lambda a: (a + 1, result)[1]), x)
    assert not ends(graph, "output:")
    assert ends(graph, "op:add")


def test_a_container_that_holds_itself_ends() -> None:
    form: list[Any] = [x]
    form.append(form)
    graph = trec.capture(Apply(lambda v: v[0] + v[1][0]), args=(form,))
    assert names(graph, "input") == ["args.0.0"]
    assert len(form) == 2


def test_a_container_that_fails_to_list_its_items_is_passed_over() -> None:
    class Broken(UserDict[str, Any]):
        def items(self) -> Any:
            raise RuntimeError("no items")

    assert not ends(record(Takes(lambda v: 1), Broken(a=x)), "input:")


def test_modules_hand_on_containers() -> None:
    class Inner(nn.Module):
        def forward(self, batch: Batch, *, scale: dict[str, Tensor]) -> dict[str, Any]:
            return {"sum": batch.first + batch.others[0], "scale": Pair(scale["s"] * 2, None)}

    class Outer(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.inner = Inner()

        def forward(self, a: Tensor, b: Tensor) -> tuple[Tensor, Tensor]:
            found = self.inner(Batch(a, "x", [b]), scale={"s": b})
            return found["sum"], found["scale"].left

    graph = record(Outer(), x, y)
    assert flow(graph) == {("input:0", "output:0"), ("input:1", "output:0"), ("input:1", "output:1")}
