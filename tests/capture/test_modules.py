"""Module calls: each is a scope under its path, whatever the module is and however it is called."""

from __future__ import annotations

import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import Any

import pytest
import torch
from torch import Tensor, nn

import trec
from tests.capture.paths import Apply, check, connected, ends, flow, ops, paths, record

pytestmark = pytest.mark.torch


class Unhashable(nn.Linear):
    __hash__ = None  # type: ignore[assignment]

    def __eq__(self, other: object) -> bool:
        return True


class Incomparable(nn.Linear):
    def __eq__(self, other: object) -> bool:
        raise RuntimeError("compared")

    def __hash__(self) -> int:
        raise RuntimeError("hashed")

    def __bool__(self) -> bool:
        raise RuntimeError("asked for its truth")


class Silent(nn.Linear):
    def extra_repr(self) -> str:
        raise RuntimeError("no repr")

    def __repr__(self) -> str:
        raise RuntimeError("no repr")

    __str__ = __repr__


class Shadowing(nn.Linear):
    modules = parameters = children = named_modules = named_parameters = buffers = None  # type: ignore[assignment]
    name = path = training_mode = property(lambda self: 1 / 0)


class Closed(nn.Linear):
    def __getattr__(self, name: str) -> Any:
        if name in ("weight", "bias"):
            return super().__getattr__(name)
        raise AttributeError if name.startswith("__") else RuntimeError(f"asked for {name}")


class Sized(nn.Linear):
    """Empty, hence false."""

    def __len__(self) -> int:
        return 0


class WithGetattribute(nn.Linear):
    def __getattribute__(self, name: str) -> Any:
        if name == "__dict__":
            return dict(super().__getattribute__(name))
        return super().__getattribute__(name)


class Odd(nn.Linear):
    def extra_repr(self) -> str:
        return 'in = 3, ) <b>&\x00"quoted" \ud800'


HOSTILE = [Unhashable, Incomparable, Silent, Shadowing, Closed, Sized, Odd]


class Holds(nn.Module):
    def __init__(self, *modules: nn.Module) -> None:
        super().__init__()
        for index, module in enumerate(modules):
            self._modules[f"m{index}"] = module

    def forward(self, x: Tensor) -> Any:
        for module in self._modules.values():
            assert module is not None
            x = module(x)
        return x


@pytest.mark.parametrize(
    "kind",
    HOSTILE,
)
def test_inputs_for_a_hostile_module_are_made_from_shapes(kind: Any) -> None:
    trec.capture(Holds(kind(3, 3)), (2, 3))


@pytest.mark.parametrize("kind", HOSTILE)
def test_a_hostile_module_is_a_scope_like_any_other(kind: Any) -> None:
    # Recorded without the check of the state, which asks modules things that these refuse to answer.
    graph = trec.capture(Holds(kind(3, 3), kind(3, 3)), args=(torch.ones(2, 3),)).verify()
    assert paths(graph) == ["", "m0", "m1"]
    assert flow(graph) >= {("input:0", "output:0"), ("param:m0.weight", "output:0"), ("param:m1.bias", "output:0")}
    assert [scope.cls for scope in graph.scopes[1:]] == [kind.__name__] * 2
    levels: tuple[Any, ...] = ("aten", "module")
    for level in levels:
        trec.capture(Holds(kind(3, 3)), args=(torch.ones(2, 3),), level=level).verify()


@pytest.mark.parametrize("kind", HOSTILE)
def test_a_hostile_module_may_be_the_model(kind: Any) -> None:
    graph = trec.capture(kind(3, 3), args=(torch.ones(2, 3),)).verify()
    assert ops(graph) == ["linear"]
    assert len(ends(graph, "param:")) == 2


@pytest.mark.parametrize(
    "name", ["a.b", "a b", 'quo"te', "<x>", "é…", "0", "a\nb", "#2", "%1", "x" * 300], ids=range(10)
)
def test_names_may_hold_anything(name: str) -> None:
    net = Holds(nn.ReLU())
    net._modules[name] = nn.Linear(3, 3)
    graph = trec.capture(net, (2, 3)).verify()
    assert len(graph.scopes) == 3
    assert connected(graph, "input:0", "output:0")
    graph.to_dot()


# ---- how modules are called


def test_a_module_called_many_times_has_a_scope_for_each_call() -> None:
    class Net(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.cell = nn.GRUCell(3, 3)

        def forward(self, x: Tensor) -> Any:
            state = torch.zeros(2, 3)
            for step in x:
                state = self.cell(step, state)
            return state

    graph = record(Net(), torch.randn(4, 2, 3))
    assert [(scope.path, scope.call, scope.name) for scope in graph.scopes[1:]] == [
        ("cell", 0, "cell"), ("cell", 1, "cell#2"), ("cell", 2, "cell#3"), ("cell", 3, "cell#4"),
    ]  # fmt: skip


def test_a_recursive_module_is_a_scope_in_itself() -> None:
    class Tree(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.fc = nn.Linear(3, 3)
            self.itself = [self]

        def forward(self, x: Tensor, depth: int = 2) -> Any:
            x = self.fc(x)
            return self.itself[0](x, depth - 1) + x if depth else x

    graph = record(Tree(), torch.randn(2, 3))
    found = [(scope.path, scope.call, scope.depth) for scope in graph.scopes]
    assert found == [("", 0, 0), ("fc", 0, 1), ("", 1, 1), ("fc", 1, 2), ("", 2, 2), ("fc", 2, 3)]


def test_a_module_that_is_registered_in_itself_ends() -> None:
    net = Holds(nn.Linear(3, 3))
    net.inner = net
    net.forward = lambda x: net.m0(x)  # type: ignore[method-assign, operator]
    assert "m0" in paths(trec.capture(net, (2, 3)).verify())


def test_modules_in_plain_lists_and_dicts_have_a_path_under_where_they_are_called() -> None:
    class Net(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.hidden = [nn.Linear(3, 3), nn.Linear(3, 3)]
            self.table = {"a": nn.Sequential(nn.Linear(3, 3))}

        def forward(self, x: Tensor) -> Any:
            for module in self.hidden:
                x = module(x)
            return self.table["a"](x)

    graph = record(Net(), torch.randn(2, 3))
    assert paths(graph) == ["", "<Linear>", "<Linear>2", "<Sequential>", "<Sequential>.0"]
    assert {source for source, _ in flow(graph)} == {
        "input:0", *(f"param:{path}.{name}" for path in ("<Linear>", "<Linear>2", "<Sequential>.0")
                     for name in ("weight", "bias")),
    }  # fmt: skip


def test_forward_called_directly_is_no_scope_but_keeps_its_operators() -> None:
    graph = record(Apply(lambda net, x: net.fc.forward(x), fc=nn.Linear(3, 3)), torch.randn(2, 3))
    assert (paths(graph), ops(graph)) == ([""], ["linear"])


def test_forward_may_be_replaced_on_the_instance() -> None:
    net = Holds(nn.Linear(3, 3))
    inner: Any = net.m0
    inner.forward = torch.sin
    graph = record(net, torch.randn(2, 3))
    assert (paths(graph), ops(graph)) == (["", "m0"], ["sin"])


def test_hooks_of_the_user_run_and_are_drawn() -> None:
    net: Any = Holds(nn.Linear(3, 3), nn.Linear(3, 3))
    seen: list[str] = []
    net.m0.register_forward_pre_hook(lambda module, args: (seen.append("pre"), args[0] * 2)[1])  # type: ignore[func-returns-value]
    net.m0.register_forward_hook(lambda module, args, result: torch.sin(result))
    graph = trec.capture(net, (2, 3)).verify()
    assert seen == ["pre"]
    assert ops(graph) == ["mul", "linear", "sin", "linear"]
    parents = [graph.scopes[node.parent].path for node in graph.nodes if node.kind == "op"]
    assert parents == ["m0", "m0", "", "m1"]


def test_a_module_that_returns_its_argument_lies_on_the_path() -> None:
    net = nn.Sequential(nn.Identity(), nn.Linear(3, 3), nn.Dropout(0.5), nn.Sequential(nn.Identity())).eval()
    graph = record(net, torch.randn(2, 3))
    for path in ("0", "2", "3.0"):
        assert connected(graph, "input:0", f"module:{path}")
        assert connected(graph, f"module:{path}", "output:0")


class Swap(nn.Module):
    def forward(self, x: Tensor, y: Tensor) -> tuple[Tensor, dict[str, Tensor]]:
        return y, {"other": x}


def test_what_goes_through_a_call_side_by_side_does_not_meet() -> None:
    def forward(swap: nn.Module, x: Tensor, y: Tensor) -> Any:
        first, rest = swap(x, y)
        return first * 2, rest["other"] * 3

    graph = record(Apply(lambda net, x, y: forward(net.swap, x, y), swap=Swap()), torch.ones(2), torch.ones(2))
    assert flow(graph) == {("input:0", "output:1"), ("input:1", "output:0")}
    assert connected(graph, "input:0", "module:swap")
    assert connected(graph, "module:swap", "output:1")


class Leaves(nn.Module):
    """Calls a module and ends without a word of its own."""

    def __init__(self, error: type[BaseException]) -> None:
        super().__init__()
        self.fc, self.error = nn.Linear(3, 3), error

    def forward(self, x: Tensor) -> Any:
        raise self.error(self.fc(x))


class GoesOn(nn.Module):
    def __init__(self, error: type[BaseException]) -> None:
        super().__init__()
        self.inner, self.after = nn.Sequential(Leaves(error)), nn.Linear(3, 3)

    def forward(self, x: Tensor) -> Any:
        with suppress(BaseException):
            self.inner(x)
        return self.after(x) * 2

    def encode(self, x: Tensor) -> Any:
        return GoesOn.forward(self, x)


ENDINGS = [KeyboardInterrupt, GeneratorExit, SystemExit, StopIteration, ValueError]


@pytest.mark.parametrize("error", ENDINGS)
def test_what_follows_an_exception_that_is_caught_stands_where_it_was_called(error: Any) -> None:
    graph = record(nn.Sequential(GoesOn(error), nn.Tanh()), torch.randn(2, 3))
    found = [(node.op, graph.scopes[node.parent].path) for node in graph.nodes if node.kind == "op"]
    assert found == [("linear", "0.inner.0.fc"), ("linear", "0.after"), ("mul", "0"), ("tanh", "1")]
    graph = trec.capture(GoesOn(error), (2, 3), method="encode").verify()
    found = [(node.op, graph.scopes[node.parent].path) for node in graph.nodes if node.kind == "op"]
    assert found == [("linear", "inner.0.fc"), ("linear", "after"), ("mul", "")]


@pytest.mark.parametrize("error", ENDINGS)
def test_what_follows_a_call_of_itself_that_was_left_stands_where_it_was_called(error: Any) -> None:
    class Tree(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.fc, self.itself = nn.Linear(3, 3), [self]

        def forward(self, x: Tensor, depth: int = 1) -> Any:
            if not depth:
                raise error(self.fc(x))
            with suppress(BaseException):
                self.itself[0](x, depth - 1)
            return torch.tanh(self.fc(x))

    graph = record(nn.Sequential(Tree(), nn.Sigmoid()), torch.randn(2, 3))
    found = [(node.op, graph.scopes[node.parent].path, node.depth) for node in graph.nodes if node.kind == "op"]
    assert found == [("linear", "0.fc", 4), ("linear", "0.fc", 3), ("tanh", "0", 2), ("sigmoid", "1", 2)]


def test_modules_that_take_turns_keep_their_operators() -> None:
    greenlet = pytest.importorskip("greenlet")

    class Turn(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.first, self.second = nn.Linear(3, 3), nn.Linear(3, 3)

        def forward(self, x: Tensor) -> Any:
            x = self.first(x)
            greenlet.getcurrent().parent.switch()
            return self.second(x)

    def forward(held: Any, x: Tensor) -> Any:
        results: list[Tensor] = []
        turns = [greenlet.greenlet(lambda module=module: results.append(module(x))) for module in held.turns]
        for turn in turns * 2:
            turn.switch()
        return results

    graph = trec.capture(Apply(forward, turns=nn.ModuleList([Turn(), Turn()])), (2, 3)).verify()
    found = [graph.scopes[node.parent].path for node in graph.nodes if node.kind == "op"]
    assert found == ["turns.0.first", "turns.1.first", "turns.0.second", "turns.1.second"]
    assert ("param:turns.0.first.weight", "output:1") not in flow(graph)


def test_an_unused_module_has_no_scope() -> None:
    class Net(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.used, self.unused = nn.Linear(3, 3), nn.Linear(3, 3)

        def forward(self, x: Tensor) -> Any:
            return self.used(x)

    graph = record(Net(), torch.randn(2, 3))
    assert paths(graph) == ["", "used"]


def test_another_method_than_forward() -> None:
    class Net(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.fc = nn.Linear(3, 2)

        def encode(self, x: Tensor, *, scale: Tensor) -> Any:
            return self.fc(x) * scale

    graph = trec.capture(Net(), args=(torch.ones(2, 3),), kwargs={"scale": torch.ones(1)}, method="encode").verify()
    assert [node.name for node in graph.nodes if node.kind == "input"] == ["x", "scale"]
    assert ops(graph) == ["linear", "mul"]


def test_branches_share_what_is_computed_once() -> None:
    def build() -> Any:
        torch.manual_seed(0)
        net = nn.Linear(3, 3)
        return Apply(lambda held, x, y: (held.fc(x) + held.fc(y), held.fc(x) - x), fc=net), (
            torch.randn(2, 3),
            torch.randn(2, 3),
        )

    check(build)


# ---- deep ones


class Nested(nn.Module):
    def __init__(self, depth: int) -> None:
        super().__init__()
        self.inner = Nested(depth - 1) if depth else nn.Linear(2, 2)

    def forward(self, x: Tensor) -> Any:
        return self.inner(x) + 1


def test_modules_nested_deeply() -> None:
    limit = sys.getrecursionlimit()
    graph = trec.capture(Nested(200), (1, 2)).verify()
    assert sys.getrecursionlimit() == limit
    assert len(graph.scopes) == 202
    assert max(node.depth for node in graph.nodes) == 202
    assert flow(graph) == {
        (end, "output:0") for end in ("input:0", *(f"param:{'inner.' * 201}{name}" for name in ("weight", "bias")))
    }


def test_two_recordings_leave_the_limit_of_the_stack_as_it_was() -> None:
    limit = sys.getrecursionlimit()
    with ThreadPoolExecutor(2) as pool:
        list(pool.map(lambda _: trec.capture(Nested(5), (1, 2)), range(8)))
    assert sys.getrecursionlimit() == limit


def test_a_sequence_of_nested_modules_of_150_levels() -> None:
    net: nn.Module = nn.Tanh()
    for _ in range(150):
        net = nn.Sequential(net)
    graph = trec.capture(net, (1, 2)).verify()
    assert ops(graph) == ["tanh"]
    assert graph.nodes[graph.index_of[f"{'.'.join(['0'] * 150)}.tanh"]].depth == 151


def test_a_sequential_says_what_it_runs() -> None:
    net = nn.Sequential(nn.Sequential(nn.Linear(2, 2), nn.ReLU()), nn.Identity())
    graph = trec.capture(net, (1, 2))
    rows = {scope.path: graph.attrs_of(scope) for scope in graph.scopes}
    assert rows[""] == {"layers": ("Sequential", "Identity")}
    assert rows["0"] == {"layers": ("Linear", "ReLU")}


class HandsOn(nn.GRU):
    def __init__(self, note: str, *args: Any, **kwargs: Any) -> None:
        self.__dict__["note"] = note
        super().__init__(*args, **kwargs)


class Narrow(nn.Linear):
    def __init__(self, out: int, size: int) -> None:
        super().__init__(size, out, bias=False)


class Shaped(nn.Module):
    def __init__(self, width: int, height: int) -> None:
        super().__init__()
        self.width, self.height = width, height


class Squared(Shaped):
    def __init__(self, side: int, **kwargs: Any) -> None:
        super().__init__(side, side, **kwargs)

    def forward(self, x: Tensor) -> Tensor:
        return x


class Unknown(nn.Module):
    def __init__(self, *sizes: int) -> None:
        super().__init__()

    def extra_repr(self) -> str:
        return "7, bias=True"

    def forward(self, x: Tensor) -> Tensor:
        return x


@pytest.mark.parametrize(
    ("net", "arguments"),
    [
        (nn.LSTM(3, 4, num_layers=2), {"input_size": 3, "hidden_size": 4, "num_layers": 2}),
        (nn.RNN(3, 3), {"input_size": 3, "hidden_size": 3}),
        (HandsOn("a", 3, 4), {"input_size": 3, "hidden_size": 4}),
        (Narrow(2, 3), {"in_features": 3, "out_features": 2, "bias": False}),
        (nn.ReflectionPad1d(0), {"padding": (0, 0)}),
        (Squared(3), {"width": 3, "height": 3}),
        (Unknown(7), {"arg0": 7, "bias": True}),
    ],
    ids=lambda one: type(one).__name__,
)
def test_arguments_have_the_names_of_the_constructor_that_they_are_handed_on_to(
    net: nn.Module, arguments: dict[str, Any]
) -> None:
    graph = trec.capture(net, (5, 1, 3))
    assert graph.attrs_of(graph.scopes[0]) == arguments
