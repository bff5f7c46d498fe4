"""Where torchrecorder fails or draws what is not so, the data flows as in the model on ours, at every depth."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
import torch
from torch import Tensor, nn

import trec.torchrecorder as ours
from tests.capture.paths import Apply
from tests.torchrecorder.drawings import drawn_flows, has_cycle, read, true_flows
from tests.torchrecorder.original import torchrecorder as theirs

if TYPE_CHECKING:
    from collections.abc import Callable

    from trec.ir.graph import Graph

pytestmark = pytest.mark.torch

DEPTHS = (0, 1, 2, 3, 256)


class Model(nn.Module):
    """A model with the given modules whose forward is the given function."""

    def __init__(self, function: Callable[..., Any], **modules: nn.Module) -> None:
        super().__init__()
        self.function = function
        for name, module in modules.items():
            self.add_module(name, module)

    def forward(self, *args: Any) -> Any:
        return self.function(self, *args)


def without_gradient(net: Any, x: Tensor) -> Any:
    with torch.no_grad():
        return net.linear(x).relu() * x


def written_through_a_view(net: Any, x: Tensor, y: Tensor) -> Any:
    whole = x * 2
    part = whole[:, 0]
    part.add_(y[:, 0])
    return whole, y


def filled(net: Any, x: Tensor) -> Tensor:
    whole = torch.zeros(2, 5, dtype=torch.int64)
    whole[:, 1:] = x
    return whole


def selected(net: Any, x: Tensor, y: Tensor) -> Any:
    return net.linear(x)[y.argmax(1)]


def straight_through(net: Any, x: Tensor, y: Tensor) -> Any:
    return x + (net.linear(y) - x).detach()


def caught(net: Any, x: Tensor) -> Any:
    try:
        net.wrong(x)
    except RuntimeError:
        x = x + 1
    return net.linear(x)


def linear() -> nn.Linear:
    return nn.Linear(4, 4)


def frozen(*modules: nn.Module) -> nn.Module:
    return nn.Sequential(*modules).requires_grad_(False)


def homes(shared: nn.Module) -> nn.Module:
    return nn.Sequential(nn.Sequential(shared), nn.Sequential(shared, nn.ReLU()))


def floats(*shape: int) -> Tensor:
    return torch.randn(shape)


def integers(*shape: int) -> Tensor:
    return torch.randint(0, 4, shape)


CASES: dict[str, tuple[Callable[[], nn.Module], Callable[[], Any]]] = {
    "a list of tensors": (
        lambda: Model(lambda net, pair: net.linear(pair[0]) + pair[1], linear=linear()),
        lambda: [floats(2, 4), floats(2, 4)],
    ),
    "a dict of tensors": (
        lambda: Model(lambda net, named: {"sum": net.linear(named["x"]) + named["y"]}, linear=linear()),
        lambda: {"x": floats(2, 4), "y": floats(2, 4)},
    ),
    "arguments that are no tensors": (
        lambda: Model(lambda net, x, mask, scale: net.linear(x) * scale, linear=linear()),
        lambda: (floats(2, 4), None, 3.0),
    ),
    "integers": (lambda: nn.Sequential(nn.Embedding(5, 3), nn.Linear(3, 2)), lambda: integers(1, 2)),
    "integers into frozen weights": (lambda: frozen(nn.Embedding(5, 3), nn.Linear(3, 2)), lambda: integers(1, 2)),
    "no gradient in forward": (lambda: Model(without_gradient, linear=linear()), lambda: floats(2, 4)),
    "a module called twice": (
        lambda: Model(lambda net, x, y: (net.linear(x), net.linear(y)), linear=linear()),
        lambda: (floats(2, 4), floats(2, 4)),
    ),
    "a module in two places": (lambda: homes(linear()), lambda: floats(2, 4)),
    "heads that are no part of the calls": (
        lambda: Model(lambda net, x: [head(x) for head in (net.first, net.second)], first=linear(), second=linear()),
        lambda: floats(2, 4),
    ),
    "a weight of a module that is not called": (lambda: nn.MultiheadAttention(4, 2), lambda: (floats(3, 1, 4),) * 3),
    "several results of one operation": (
        lambda: nn.Sequential(Apply(lambda x: x.split(2, 1)), Apply(lambda pair: pair[0] + pair[1])),
        lambda: floats(2, 4),
    ),
    "an input that is returned": (lambda: Model(lambda net, x: (net.a(x), x), a=linear()), lambda: floats(2, 4)),
    "a result that is returned twice": (
        lambda: Model(lambda net, x: (lambda y: (y, y))(net.a(x)), a=linear()),
        lambda: floats(2, 4),
    ),
    "a detached part": (lambda: Model(straight_through, linear=linear()), lambda: (floats(2, 4), floats(2, 4))),
    "positions chosen by numbers": (lambda: Model(selected, linear=linear()), lambda: (floats(2, 4), floats(2, 2))),
    "a write through a view of integers": (
        lambda: Model(written_through_a_view),
        lambda: (integers(2, 4), integers(2, 4)),
    ),
    "integers written into zeros": (lambda: Model(filled), lambda: integers(2, 4)),
    "a module that fails and is caught": (
        lambda: Model(caught, wrong=nn.Linear(3, 3), linear=linear()),
        lambda: floats(2, 4),
    ),
    "a mask": (
        lambda: Model(lambda net, x, y: net.linear(x).masked_fill(y > 0, 0.0), linear=linear()),
        lambda: (floats(2, 4), floats(2, 4)),
    ),
    "dropout that does nothing": (
        lambda: nn.Sequential(linear(), nn.Dropout(), nn.Sequential(nn.Dropout(), linear())).eval(),
        lambda: floats(2, 4),
    ),
    "a transform": (
        lambda: Model(lambda net, x: torch.vmap(lambda row: net.linear(row))(x), linear=linear()),
        lambda: floats(2, 4),
    ),
    "a branch": (
        lambda: Model(lambda net, x: torch.cond(x.sum() > 0, net.linear, torch.cos, (x,)), linear=linear()),
        lambda: floats(2, 4),
    ),
    "a lazy module": (lambda: nn.Sequential(nn.LazyLinear(3), nn.ReLU()), lambda: floats(2, 4)),
}


ALSO_RIGHT = {"a module that fails and is caught", "a lazy module", "a transform"}
"""What torchrecorder draws right too, though it leaves lazy modules filled in."""


def are_right(make_dot: Any, rec: Any, graph: Graph) -> bool:
    """Tell whether data flows from inputs to outputs as in the model, whose modules are closed alike."""
    return all(drawn_flows(make_dot(rec, depth)) == true_flows(graph.collapse(depth=depth)) for depth in DEPTHS)


@pytest.mark.parametrize("case", CASES)
def test_data_flows_as_in_the_model(case: str) -> None:
    make, data = CASES[case]
    rec = ours.record(make(), "Net", None, data())
    assert rec.graph is not None
    assert true_flows(rec.graph)
    assert are_right(ours.make_dot, rec, rec.graph)


@pytest.mark.parametrize("case", sorted(CASES.keys() - ALSO_RIGHT))
def test_torchrecorder_fails_or_draws_other_flows(case: str) -> None:
    make, data = CASES[case]
    graph = ours.record(make(), "Net", None, data()).graph
    assert graph is not None
    try:
        right = are_right(theirs.make_dot, theirs.record(make(), "Net", None, data()), graph)
    except Exception:  # whatever it stumbles over
        right = False
    assert not right


def test_a_write_in_place_between_modules_closes_no_cycle() -> None:
    def forward(net: Any, x: Tensor) -> Any:
        y = net.first(x)
        y += x
        return net.second(y)

    net = Model(forward, first=nn.Linear(4, 4), second=nn.ReLU())
    right, wrong = (package.make_dot(package.record(net, "Net", (2, 4)), 1) for package in (ours, theirs))
    assert read(right).edges == read(wrong).edges  # by labels: the tensor has one name
    assert has_cycle(wrong)
    assert not has_cycle(right)


@pytest.mark.filterwarnings("ignore:.*torch.jit")
@pytest.mark.parametrize("depth", [0, 1, 256])
def test_scripted_modules_are_modules_too(depth: int) -> None:
    scripted = torch.jit.script(nn.Sequential(nn.Linear(4, 3), nn.ReLU()))
    net = nn.Sequential(scripted, nn.Linear(3, 2))
    with pytest.raises(RuntimeError, match="not supported on ScriptModules"):
        theirs.record(net, "Net", (2, 4))
    rec = ours.record(nn.Sequential(scripted, nn.Linear(3, 2)), "Net", (2, 4))
    digraph = ours.make_dot(rec, depth)
    assert drawn_flows(digraph) == {(0, 0)}
    assert (read(digraph).edges["0\n(RecursiveScriptModule)", "Tensor-2\n[2, 3]"] == 1) == (depth == 1)


def test_operations_that_autograd_keeps_no_record_of_have_the_names_of_functions() -> None:
    make, data = CASES["no gradient in forward"]
    labels = [label for label, *_ in read(ours.make_dot(ours.record(make(), "Net", None, data()))).nodes]
    assert {"linear", "relu", "mul"} <= set(labels)


def test_a_write_in_place_without_a_gradient_is_an_operation() -> None:
    net = frozen(nn.Embedding(5, 4), nn.ReLU(inplace=True), linear())
    edges = read(ours.make_dot(ours.record(net, "Net", None, integers(2, 3)))).edges
    assert [target for source, target in edges if source == "Tensor-2\n[2, 3, 4]"] == ["relu"]
    assert edges["relu", "Tensor-3\n[2, 3, 4]"] == 1


def test_a_buffer_and_what_is_made_of_it_alone_are_not_drawn() -> None:
    class Scaled(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.scale: Tensor
            self.register_buffer("scale", torch.ones(4))

        def forward(self, x: Tensor) -> Any:
            return x * (self.scale * 2).exp()

    nodes = read(ours.make_dot(ours.record(Scaled(), "Net", (2, 4)))).nodes
    assert sorted(label.split("\n")[0] for label, *_ in nodes) == ["Input", "MulBackward0", "Output"]
