"""A model that fails is drawn up to where it failed; a wrong call says what is wrong."""

from __future__ import annotations

import signal
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn
from torch.utils._python_dispatch import TorchDispatchMode

import trec
from tests.capture.paths import Apply, connected, ops, paths
from tests.capture.states import unchanged
from trec.capture.restore.state import State

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = pytest.mark.torch


class Broken(nn.Module):
    def forward(self, x: Tensor) -> Any:
        x = torch.sin(x)
        raise ValueError("broken inside")


class Net(nn.Module):
    def __init__(self, inner: nn.Module) -> None:
        super().__init__()
        self.first = nn.Linear(3, 3)
        self.body = nn.ModuleList([nn.Sequential(nn.Tanh(), inner)])
        self.last = nn.Linear(3, 3)

    def forward(self, x: Tensor) -> Any:
        x = self.body[0](self.first(x))
        return self.last(x)


def failure(net: nn.Module, *args: Any, **options: Any) -> trec.CaptureError:
    with pytest.raises(trec.CaptureError) as caught:
        trec.capture(net, *args, **options)
    return caught.value


@pytest.mark.parametrize("level", ["module", "function", "aten"])
def test_the_graph_shows_what_ran_and_which_call_failed(level: Any) -> None:
    net = Net(Broken())
    with unchanged(net):
        error = failure(net, (2, 3), level=level)
    graph = error.graph
    assert graph is not None
    graph.verify()
    assert paths(graph)[:2] == ["", "first"] or level == "module"
    assert "last" not in paths(graph)
    marked = [scope.path for scope in graph.scopes if graph.attrs_of(scope).get("error") == "ValueError"]
    marked += [node.name for node in graph.nodes if graph.attrs_of(node).get("error") == "ValueError"]
    assert "body.0.1" in marked
    assert "digraph" in graph.to_dot()
    assert graph.to_networkx().number_of_nodes() == len(graph.nodes)


def test_the_message_names_the_module_and_keeps_the_cause() -> None:
    error = failure(Net(Broken()), (2, 3))
    assert isinstance(error.__cause__, ValueError)
    for part in ("ValueError", "body.0.1", "Broken", "broken inside"):
        assert part in str(error)


def test_a_failing_operator_keeps_the_operators_before_it() -> None:
    def forward(x: Tensor) -> Any:
        y = torch.sin(x)
        y[0] = 1
        return torch.mm(y, torch.ones(7, 7))

    error = failure(Apply(forward), (2, 3))
    assert error.graph is not None
    assert ops(error.graph)[:2] == ["sin", "__setitem__"]
    assert connected(error.graph, "input:0", "op:__setitem__")
    assert isinstance(error.__cause__, RuntimeError)


class UnprintableError(Exception):
    def __str__(self) -> str:
        raise RuntimeError("no text")


def raised_anew(x: Tensor) -> Any:
    try:
        return torch.mm(x, torch.ones(7, 7))
    except RuntimeError as error:
        raise KeyError("other") from error


def caught_before(x: Tensor) -> Any:
    with suppress(RuntimeError):
        torch.mm(x, torch.ones(7, 7))
    raise ValueError("later")


def unprintable(x: Tensor) -> Any:
    raise UnprintableError


def recursive(x: Tensor) -> Any:
    return recursive(x)


FAILURES: dict[str, tuple[Any, str, str | None]] = {
    "shapes": (lambda x: torch.mm(x, torch.ones(7, 7)), "at mm(f32[2,3], f32[7,7])", "mm"),
    "arguments": (lambda x: (x * 2).view(4, 4), "at view(f32[2,3], size=(4, 4))", "view"),
    "method": (lambda x: x[7], "at __getitem__(f32[2,3], key=7)", "__getitem__"),
    "write": (lambda x: (x * 1).__setitem__(5, 1), "at __setitem__(f32[2,3], key=5, value=1)", "__setitem__"),
    "memory": (lambda x: x + torch.empty(10**16), "at empty(size=10000000000000000)", "empty"),
    "no gradient": (lambda x: torch.autograd.grad(x.sum(), x), "at grad(f32[], f32[2,3]", "grad"),
    "within a function": (
        lambda x: nn.functional.interpolate(x, scale_factor=2), "at interpolate(f32[2,3]", "interpolate"
    ),
    "branch": (lambda x: torch.cond(x.sum() > -99, torch.inverse, torch.neg, (x,)), "at inverse(f32[2,3])", "inverse"),
    "below vmap": (lambda x: torch.vmap(lambda v: v.mm(v))(x), "at mm(", "mm"),
    "raised anew": (raised_anew, "KeyError", "mm"),
    "caught before": (caught_before, "ValueError", None),
    "attribute": (lambda x: x.absent, "AttributeError", None),
    "iteration": (lambda x: next(iter(())), "StopIteration", None),
    "recursion": (recursive, "RecursionError", None),
    "no text": (unprintable, "an exception that has no text", None),
}  # fmt: skip


@pytest.mark.parametrize("level", ["function", "aten"])
@pytest.mark.parametrize(("function", "text", "op"), FAILURES.values(), ids=FAILURES.keys())
def test_the_call_that_failed_is_named_and_drawn_with_what_it_was_given(
    function: Any, text: str, op: str | None, level: Any
) -> None:
    net = nn.Sequential(nn.Tanh(), Apply(function))
    with unchanged(net):
        error = failure(net, (2, 3), level=level)
    assert text in str(error)
    assert "in module '1' (Apply)" in str(error)
    graph = error.graph
    assert graph is not None
    graph.verify()
    marked = [node for node in graph.nodes if "error" in graph.attrs_of(node)]
    marked += [scope for scope in graph.scopes if scope.kind == "function" and "error" in graph.attrs_of(scope)]  # type: ignore[misc]
    assert [getattr(row, "op", None) or getattr(row, "cls", None) for row in marked] == [op] * (op is not None)
    if op in ("mm", "view", "__getitem__", "inverse") and "(f32" in text:
        assert connected(graph, "input:0", f"op:{op}")
    assert "digraph" in graph.to_dot()
    graph.level("function").verify()


def test_hooks_that_fail_are_told_by_the_module_that_they_belong_to() -> None:
    net: Any = nn.Sequential(nn.Linear(3, 3), nn.Sequential(nn.Linear(3, 3)))
    net[1][0].register_forward_pre_hook(lambda module, args: torch.mm(args[0], torch.ones(9, 9)))
    error = failure(net, (2, 3))
    assert "in module '1.0' (Linear), at mm(f32[2,3], f32[9,9])" in str(error)


def test_a_lazy_module_that_cannot_be_made_is_told() -> None:
    class Lazy(nn.LazyLinear):
        def initialize_parameters(self, input: Tensor) -> None:
            raise ValueError("no shape")

    assert "in module '0' (Lazy): no shape" in str(failure(nn.Sequential(Lazy(3)), (2, 3)))


def test_a_failure_in_a_thread_is_the_failure_of_the_model() -> None:
    def forward(held: Any, x: Tensor) -> Any:
        with ThreadPoolExecutor(1) as pool:
            return pool.submit(held.inner, x).result()

    net = Apply(forward, inner=Apply(lambda x: torch.mm(x, torch.ones(7, 7))))
    assert "in module 'inner' (Apply), at mm(f32[2,3], f32[7,7])" in str(failure(net, (2, 3)))


def test_an_error_that_the_model_catches_itself_is_none() -> None:
    class Careful(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.broken, self.fc = Broken(), nn.Linear(3, 3)

        def forward(self, x: Tensor) -> Any:
            try:
                x = self.broken(x)
            except ValueError:
                x = self.fc(x)
            return x * 2

    graph = trec.capture(Careful(), (2, 3)).verify()
    assert paths(graph) == ["", "broken", "fc"]
    assert ops(graph) == ["sin", "linear", "mul"]
    assert [graph.scopes[node.parent].path for node in graph.nodes if node.kind == "op"] == ["broken", "fc", ""]


def test_only_the_error_that_stopped_the_model_is_marked() -> None:
    class Careful(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.caught, self.final = Broken(), nn.Sequential(Broken())

        def forward(self, x: Tensor) -> Any:
            try:
                self.caught(x)
            except ValueError:
                x = x * 2
            return self.final(x)

    error = failure(Careful(), (2, 3))
    assert error.graph is not None
    marked = [scope.path for scope in error.graph.scopes if "error" in error.graph.attrs_of(scope)]
    assert marked == ["final.0"]
    assert "final.0" in str(error)


def test_an_interrupt_passes_and_what_was_open_is_closed() -> None:
    class Interrupted(nn.Module):
        def forward(self, x: Tensor) -> Any:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        trec.capture(Net(Interrupted()), (2, 3))
    assert ops(trec.capture(nn.Linear(3, 3), (2, 3))) == ["linear"]


def test_a_wrong_signature_is_told_like_an_error_of_the_model() -> None:
    error = failure(nn.Linear(3, 3), args=(torch.ones(1, 3), 5))
    assert isinstance(error.__cause__, TypeError)
    assert error.graph is not None


@pytest.mark.parametrize(
    "net", [nn.Embedding(5, 3), Apply(lambda x: nn.functional.one_hot(x, 5)), Apply(lambda x: torch.ones(5)[x])]
)
def test_integers_are_hinted_at_where_numbers_made_of_shapes_do_not_fit(net: nn.Module) -> None:
    assert "dtypes=torch.int64" in str(failure(net, (2, 3)))
    trec.capture(net, (2, 3), dtypes=torch.int64).verify()


def test_no_hint_where_the_user_gave_the_tensors() -> None:
    assert "dtypes=" not in str(failure(nn.Embedding(5, 3), args=(torch.ones(2),)))


@pytest.mark.parametrize(
    ("options", "part"),
    [
        ({"shapes": [1, 3]}, "list of numbers"),
        ({"shapes": "1x3"}, "is no shape"),
        ({"shapes": (1, -3)}, "is no shape"),
        ({"shapes": (1, 3), "dtypes": [torch.int64, torch.int64]}, "does not fit"),
        ({"shapes": (1, 3), "args": (torch.ones(1, 3),)}, "either shapes or args"),
        ({"args": torch.ones(1, 3)}, "tuple of positional"),
        ({"args": (torch.ones(1, 3),), "kwargs": [1]}, "kwargs takes a dict"),
        ({"shapes": (1, 3), "level": "fine"}, "known are: module, function, aten"),
        ({"shapes": (1, 3), "method": "encode"}, "no method 'encode'"),
        ({"shapes": (1, 3), "name": 3}, "name must be a text, not 3"),
        ({"shapes": (1, 3), "device": "abacus"}, "device='abacus' is no device that torch knows"),
        ({"args": (torch.ones(1, 3),), "device": 1.5}, "device=1.5 is no device that torch knows"),
        ({"shapes": (1, 3), "device": "vulkan"}, "no inputs of shapes=.* can be made on 'vulkan'"),
        ({"shapes": (2**50, 3)}, "no inputs of shapes=.* can be made on 'cpu'"),
    ],
)
def test_wrong_options_are_answered_with_what_is_right(options: dict[str, Any], part: str) -> None:
    with pytest.raises(trec.OptionError, match=part):
        trec.capture(nn.Linear(3, 3), **options)


def test_only_modules_are_captured() -> None:
    with pytest.raises(trec.OptionError, match=r"takes an nn\.Module, not function"):
        trec.capture(lambda x: x, (1, 3))  # type: ignore[arg-type]


def test_inputs_made_of_shapes_fit_the_model_and_are_the_same_every_time() -> None:
    seen: list[Any] = []
    net = Apply(lambda held, *tensors: (seen.append(tensors), held.table(tensors[1]))[1], table=nn.Embedding(3, 2))  # type: ignore[func-returns-value]
    for _ in range(2):
        trec.capture(net, [(2, 3), (50,), (4,)], dtypes=[torch.float64, torch.int64, torch.bool])
    assert [tensor.dtype for tensor in seen[0]] == [torch.float64, torch.int64, torch.bool]
    assert int(seen[0][1].max()) < 3
    assert all(torch.equal(first, second) for first, second in zip(*seen, strict=True))


def test_a_recording_inside_a_recording_is_an_error_or_nests() -> None:
    inner: list[Any] = []

    def forward(held: Any, x: Tensor) -> Any:
        inner.append(trec.capture(held.fc, args=(x.detach(),)))
        return held.fc(x)

    try:
        graph = trec.capture(Apply(forward, fc=nn.Linear(3, 3)), (2, 3)).verify()
    except trec.CaptureError:
        return
    assert ops(inner[0]) == ["linear"]
    assert ops(graph).count("linear") >= 1


# ---- whatever stops the model, and wherever


class Stop(BaseException):
    """Nobody catches it by mistake."""


class Bomb(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Raises in the place of one operator."""

    def __init__(self, at: int, error: type[BaseException]) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.at, self.error, self.count = at, error, 0

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        self.count += 1
        if self.count == self.at:
            raise self.error("here")
        return func(*args, **(kwargs or {}))


class Training(nn.Module):
    """Takes a step of an optimiser in its forward."""

    def __init__(self) -> None:
        super().__init__()
        self.fc, self.norm, self.drop = nn.Linear(3, 3), nn.BatchNorm1d(3), nn.Dropout()
        self.optimiser = torch.optim.AdamW(self.parameters())
        self.kept: list[Tensor] = []

    def forward(self, x: Tensor) -> Any:
        self.optimiser.zero_grad()
        self.kept.append(self.drop(self.norm(self.fc(x))))
        self.kept[-1].square().sum().backward()  # type: ignore[no-untyped-call]
        self.optimiser.step()
        self.fc.weight.data = self.fc.weight.data * 2
        return self.fc(x)


@pytest.mark.parametrize("error", [ValueError, Stop, KeyboardInterrupt])
@pytest.mark.parametrize(
    ("make", "shape"),
    [
        (Training, (4, 3)),
        (lambda: nn.Sequential(nn.LazyLinear(3), nn.LazyBatchNorm1d(), nn.ReLU(inplace=True)), (4, 5)),
        (lambda: nn.LSTM(3, 4, num_layers=2, dropout=0.5), (2, 3, 3)),
    ],
    ids=["training", "lazy", "lstm"],
)
@pytest.mark.filterwarnings("ignore:Lazy modules")
def test_an_error_in_any_operator_leaves_no_trace(make: Any, shape: Any, error: type[BaseException]) -> None:
    net, x = make(), torch.randn(shape, requires_grad=True)
    with Bomb(0, error) as bomb:
        trec.capture(net, args=(x,))
    assert bomb.count > 5
    for at in range(1, bomb.count + 1):
        with unchanged(net, x), pytest.raises((trec.CaptureError, error)), Bomb(at, error):
            trec.capture(net, args=(x,))


def interrupt_in_forward(net: Any, x: Tensor) -> Any:
    raise KeyboardInterrupt


def interrupt_by_signal(net: Any, x: Tensor) -> Any:
    net.fc.weight.data.zero_()
    signal.raise_signal(signal.SIGINT)
    return net.fc(x)


@pytest.fixture
def interruptible() -> Iterator[None]:
    """Let interrupts raise, also where the process was started in the background of a shell, which ignores them."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("interruptible")
@pytest.mark.parametrize("forward", [interrupt_in_forward, interrupt_by_signal])
def test_an_interrupt_leaves_no_trace(forward: Any) -> None:
    net, x = Apply(forward, fc=nn.Linear(3, 3)), torch.ones(2, 3)
    handler = signal.getsignal(signal.SIGINT)
    with unchanged(net, x), pytest.raises(KeyboardInterrupt):
        trec.capture(net, args=(x,))
    assert signal.getsignal(signal.SIGINT) is handler


@pytest.mark.parametrize("error", [KeyboardInterrupt, SystemExit])
def test_an_interrupt_in_a_hook_or_in_backward_leaves_no_trace(error: type[BaseException]) -> None:
    def fail(*_: Any) -> Any:
        raise error

    def forward(held: Any, x: Tensor) -> Any:
        y = held.fc(x)
        y.register_hook(fail)
        y.sum().backward()

    net, x = Apply(forward, fc=nn.Linear(3, 3)), torch.ones(2, 3)
    with unchanged(net, x), pytest.raises(error):
        trec.capture(net, args=(x,))
    hooked = nn.Sequential(nn.BatchNorm1d(3))
    hooked[0].register_forward_hook(fail)
    with unchanged(hooked, x), pytest.raises(error):
        trec.capture(hooked, args=(x,))


@pytest.mark.usefixtures("interruptible")
def test_an_interrupt_while_the_model_is_put_back_waits_until_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    restore = State.restore

    def interrupted(self: State) -> None:
        signal.raise_signal(signal.SIGINT)
        restore(self)

    monkeypatch.setattr(State, "restore", interrupted)
    net, x = nn.BatchNorm1d(3), torch.randn(4, 3)
    with unchanged(net, x), pytest.raises(KeyboardInterrupt):
        trec.capture(net, args=(x,))


def test_a_model_that_cannot_be_looked_at_is_told_and_not_touched() -> None:
    class Net(nn.Module):
        def forward(self, x: Tensor) -> Any:
            return x

    net, whole = Net(), Net()
    net.inner = whole
    parameters = whole.__dict__.pop("_parameters")
    with pytest.raises(trec.CaptureError, match=r"cannot be looked at"):
        trec.capture(net, (1, 3))
    whole.__dict__["_parameters"] = parameters
    with unchanged(net):
        trec.capture(net, (1, 3))


# ---- inputs made from shapes


def test_sizes_of_numpy_are_sizes_and_truth_values_are_not() -> None:
    trec.capture(nn.Linear(3, 3), (np.int64(2), np.int32(3)))  # type: ignore[arg-type]
    for shape in ((True, 3), (np.bool_(True), 3), (2.0, 3)):
        with pytest.raises(trec.OptionError, match="is no shape"):
            trec.capture(nn.Linear(3, 3), shape)  # type: ignore[arg-type]


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float64, torch.float32])
def test_inputs_take_the_dtype_that_the_parameters_have_in_common(dtype: torch.dtype) -> None:
    graph = trec.capture(nn.Sequential(nn.Linear(3, 3), nn.BatchNorm1d(3)).to(dtype).eval(), (2, 3))
    assert str(dtype) == f"torch.{graph.types[graph.values[0].type].dtype}"


def test_another_dtype_is_hinted_at_where_parameters_have_several() -> None:
    net = nn.Sequential(nn.Linear(3, 3).to(torch.bfloat16), nn.Linear(3, 3))
    assert "dtypes=torch.bfloat16" in str(failure(net, (2, 3)))


class Plain(nn.Module):
    """Holds tensors that are neither parameters nor buffers."""

    def __init__(self) -> None:
        super().__init__()
        self.scale, self.rows, self.table = torch.ones(3), [torch.ones(3)], {"bias": torch.ones(3)}

    def forward(self, x: Tensor) -> Any:
        return x * self.scale + self.rows[0] + self.table["bias"]

    def encode(self, x: Tensor) -> Any:
        return self.forward(x).relu()


def test_tensors_that_are_attributes_have_twins_on_meta() -> None:
    net = Plain()
    with unchanged(net):
        assert ops(trec.capture(net, (2, 3), device="meta")) == ["mul", "add", "add"]
        assert ops(trec.capture(net, (2, 3), device="meta", method="encode"))[-1] == "relu"


@pytest.mark.filterwarnings("ignore:.*torch.jit")
def test_a_scripted_model_on_meta_is_refused() -> None:
    with pytest.raises(trec.OptionError, match="scripted"):
        trec.capture(torch.jit.script(nn.Linear(3, 3)), (2, 3), device="meta")
