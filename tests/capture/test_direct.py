"""Functions that are recorded without a look at their operators: the graph is the one that the operators tell."""

from __future__ import annotations

import contextlib
import sys
from itertools import islice
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn
from torch.autograd import forward_ad
from torch.nn import functional
from torch.overrides import TorchFunctionMode
from torch.utils.flop_counter import FlopCounterMode

import trec
from tests.capture.paths import Apply, connected

ADD: Any = torch.add
KINDS = (torch.float32, torch.int64, torch.bool)
SAMPLES = 8


def direct() -> Any:
    trec.capture(nn.Identity(), (1,))  # brings the module in
    return sys.modules["trec.capture.direct"]


def both(function: Any, *args: Any, monkeypatch: pytest.MonkeyPatch, **kwargs: Any) -> tuple[Any, Any]:
    """Return the graph of a call, and what it is when every operator is watched."""
    graph = trec.capture(Apply(function), args=args, kwargs=kwargs)
    with monkeypatch.context() as patch:
        patch.setattr(sys.modules["trec.capture.functions"], "DIRECT", {})
        return graph, trec.capture(Apply(function), args=args, kwargs=kwargs)


def known_operators() -> list[Any]:
    """Return torch's own operators with samples, whose module forbids the whole process to set flags of backends."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(torch.backends, "disable_global_flags", lambda: None)
        from torch.testing._internal.common_methods_invocations import op_db
    return list(op_db)


def samples(op: Any) -> Any:
    for kind in KINDS:
        if op.supports_dtype(kind, "cpu"):
            yield from islice(op.sample_inputs("cpu", kind), SAMPLES)


KNOWN = [
    (op, function)
    for op in known_operators()
    for function in {id(f): f for f in (op.op, op.method_variant, op.operator_variant)}.values()
    if function in direct().DIRECT
]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    ("op", "function"), KNOWN, ids=[f"{op.name}-{op.variant_test_name}-{f.__qualname__}" for op, f in KNOWN]
)
def test_operators_tell_nothing_more(op: Any, function: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    for sample in samples(op):
        args = (sample.input, *sample.args)
        with torch.no_grad():
            try:
                function(*args, **sample.kwargs)
            except (RuntimeError, TypeError, ValueError):  # a sample for another variant of the operator
                continue
            graph, watched = both(function, *args, monkeypatch=monkeypatch, **sample.kwargs)
        assert str(graph) == str(watched)
        assert graph == watched


def test_most_of_the_functions_are_put_to_that_test() -> None:
    tested = {function for _, function in KNOWN}
    assert len(tested) > 0.8 * len(direct().DIRECT)


class Spy:
    """Counts the calls that were recorded directly."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.made = self.watched = 0
        module = direct()
        call = module.DirectCalls.call

        def counted(this: Any, *args: Any) -> Any:
            result = call(this, *args)
            self.made += result is not module.WATCH
            self.watched += result is module.WATCH
            return result

        monkeypatch.setattr(module.DirectCalls, "call", counted)


def test_plain_calls_are_direct(monkeypatch: pytest.MonkeyPatch) -> None:
    spy = Spy(monkeypatch)
    net = nn.Sequential(nn.Conv2d(3, 4, 3), nn.BatchNorm2d(4), nn.ReLU(), nn.Flatten(), nn.Linear(16, 2)).eval()
    with torch.no_grad():
        trec.capture(net, (1, 3, 4, 4))
    assert (spy.made, spy.watched) == (5, 0)


class Passing(TorchFunctionMode):
    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if func is torch.relu:
            args[0].add_(1)
        return func(*args, **(kwargs or {}))


class Marked(Tensor):
    pass


class Answers:
    """No tensor, but torch lets it answer the calls that are given it."""

    def __init__(self, held: Tensor) -> None:
        self.held = held

    @classmethod
    def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return func(*[arg.held if isinstance(arg, cls) else arg for arg in args], **(kwargs or {}))


class Row:
    """An index that is computed when it is asked for."""

    def __init__(self, held: Tensor) -> None:
        self.held = held

    def __index__(self) -> int:
        return int((self.held * 0).sum())


def under_autocast(x: Tensor) -> Tensor:
    with torch.autocast("cpu", torch.bfloat16):
        return torch.mm(x, x)


def under_a_transform(x: Tensor) -> Tensor:
    return torch.func.vmap(torch.relu)(x)


def under_a_mode_for_functions(x: Tensor) -> Tensor:
    with Passing():
        return torch.relu(x) + x


def under_a_mode_for_operators(x: Tensor) -> Tensor:
    with FlopCounterMode(display=False):
        return torch.mm(x, x)


def dual(x: Tensor) -> Tensor:
    with forward_ad.dual_level():
        made = torch.relu(forward_ad.make_dual(x, x * 2))  # type: ignore[no-untyped-call]
        tangent: Tensor = forward_ad.unpack_dual(made).tangent  # type: ignore[no-untyped-call]
        return tangent


WATCHED = [
    under_autocast,
    under_a_transform,
    under_a_mode_for_operators,
    dual,
    lambda x: functional.relu(x.clone(), inplace=True),
    lambda x: functional.leaky_relu(x.clone(), 0.1, True),
    lambda x: torch.add(x, x, out=torch.empty(3, 3)),
    lambda x: functional.batch_norm(x, torch.zeros(3), torch.ones(3), None, None, True),
    lambda x: functional.embedding(torch.tensor([0]), x.clone(), None, 1.0),
    lambda x: torch.add(x.to_sparse(), x.to_sparse()).to_dense(),
    lambda x: x[Row(x)],
    lambda x: x[(x[0] > 0).numpy()],
    lambda x: x[(x[0, 0] * 0).long() : 2],
    lambda x: x[:, [0, (x[0, 0] * 0).long()]] * np.float32(2),
]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("function", WATCHED)
def test_calls_whose_operators_tell_more_are_watched(function: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    spy = Spy(monkeypatch)
    with torch.no_grad():
        graph, watched = both(function, torch.randn(3, 3), monkeypatch=monkeypatch)
    assert spy.watched
    assert str(graph) == str(watched)
    assert connected(graph, "input:0", "output:0")


def test_calls_of_a_subclass_are_watched(monkeypatch: pytest.MonkeyPatch) -> None:
    spy = Spy(monkeypatch)
    with torch.no_grad():
        graph, watched = both(lambda x: torch.relu(x.as_subclass(Marked)), torch.randn(3, 3), monkeypatch=monkeypatch)
    assert not spy.made
    assert str(graph) == str(watched)


@pytest.mark.filterwarnings("ignore")
def test_nested_tensors(monkeypatch: pytest.MonkeyPatch) -> None:
    def forward(x: Tensor) -> Tensor:
        return torch.relu(torch.nested.nested_tensor([x, x[:2]])).to_padded_tensor(0)

    with torch.no_grad():
        graph, watched = both(forward, torch.randn(3, 3), monkeypatch=monkeypatch)
    assert str(graph) == str(watched)


def test_a_mode_of_the_users_is_watched(monkeypatch: pytest.MonkeyPatch) -> None:
    with torch.no_grad():
        graph, watched = both(under_a_mode_for_functions, torch.randn(3, 3), monkeypatch=monkeypatch)
    assert str(graph) == str(watched)


def test_what_an_object_of_others_does_when_it_is_asked_is_watched(monkeypatch: pytest.MonkeyPatch) -> None:
    with torch.no_grad():
        graph, watched = both(lambda x: ADD(Answers(x), x), torch.randn(3, 3), monkeypatch=monkeypatch)
    assert str(graph) == str(watched)
    assert connected(graph, "input:0", "output:0")


def test_what_autograd_follows_is_watched(monkeypatch: pytest.MonkeyPatch) -> None:
    spy = Spy(monkeypatch)
    x = torch.randn(3, 3, requires_grad=True)

    def forward(x: Tensor) -> Tensor:
        (gradient,) = torch.autograd.grad(functional.layer_norm(x * 2, (3,)).sum(), x)
        return gradient

    graph, watched = both(forward, x, monkeypatch=monkeypatch)
    assert not spy.made
    assert str(graph) == str(watched)


def test_the_switch_is_put_back_after_a_failure() -> None:
    def forward(x: Tensor) -> Tensor:
        with contextlib.suppress(RuntimeError):
            torch.mm(x, torch.ones(5, 5))
        return x.clone().add_(1)

    with torch.no_grad():
        graph = trec.capture(Apply(forward), args=(torch.randn(3, 3),))
    assert [node.op for node in graph.nodes if node.kind == "op"] == ["ones", "clone", "add_"]
