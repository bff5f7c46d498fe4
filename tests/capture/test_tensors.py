"""Tensors out of the ordinary: sparse, nested, complex, quantised, empty, lazy views, subclasses, meta."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.fx.experimental.symbolic_shapes import ShapeEnv

import trec
from tests.capture.paths import Apply, check_function, connected, ends, flow, ops, record

pytestmark = [
    pytest.mark.torch,
    pytest.mark.filterwarnings(
        "ignore:Sparse", "ignore:.*sparse", "ignore:.*nested tensors", "ignore:.*quantization", "ignore:.*quantize"
    ),
]


def through_sparse(x: Tensor, y: Tensor) -> Any:
    return torch.sparse.mm(x.to_sparse(), y)


def made_sparse(x: Tensor, y: Tensor) -> Any:
    made = torch.sparse_coo_tensor(torch.tensor([[0, 1], [0, 1]]), x.diagonal()[:2], (3, 3))
    return made.coalesce().values() * 2, (made @ y)


def through_csr(x: Tensor, y: Tensor) -> Any:
    return x.to_sparse_csr() @ y


def values_written(x: Tensor, y: Tensor) -> Any:
    sparse = x.to_sparse().coalesce()
    sparse.values().mul_(y.sum())
    return sparse.to_dense()


def through_nested(x: Tensor, y: Tensor) -> Any:
    nested = torch.nested.nested_tensor([x[:2], y])
    return torch.nested.to_padded_tensor(nested * 2, 0.0)


def through_nested_of_views(x: Tensor, y: Tensor) -> Any:
    return torch.nested.as_nested_tensor([x[:1], y]).unbind()[1].sum() + x


def through_jagged(x: Tensor, y: Tensor) -> Any:
    nested = torch.nested.as_nested_tensor([x[:2], y], layout=torch.jagged)
    return torch.sin(nested * 2).values()


def unbound_jagged(x: Tensor, y: Tensor) -> Any:
    nested = torch.nested.as_nested_tensor([x[:2], y], layout=torch.jagged)
    return sum(part.sum() for part in nested.unbind())


def through_complex(x: Tensor, y: Tensor) -> Any:
    made = torch.complex(x, y)
    return made.conj().imag + x, (made * (1 + 1j)).real, torch.view_as_real(made)


def complex_part_written(x: Tensor, y: Tensor) -> Any:
    made = torch.complex(x, x)
    made.imag.copy_(y)
    return made


def through_fft(x: Tensor, y: Tensor) -> Any:
    return torch.fft.irfft(torch.fft.rfft(x) * torch.fft.rfft(y))


def quantized(x: Tensor, y: Tensor) -> Any:
    made = torch.quantize_per_tensor(x, 0.1, 0, torch.quint8)
    return made.dequantize() + y


def empty(x: Tensor, y: Tensor) -> Any:
    return torch.cat([x[:0], y]), x.new_zeros(0, 3) + 1, x[:0].sum() + y


def scalars(x: Tensor, y: Tensor) -> Any:
    return x.sum() * y.mean() + torch.tensor(2.0)


def other_dtypes(x: Tensor, y: Tensor) -> Any:
    return x.half().double().bfloat16().float() * (y > 0), x.int().long() & 1, y.to(torch.float8_e4m3fn).float()


def negated(x: Tensor, y: Tensor) -> Any:
    return torch.complex(x, y).conj().imag.neg() + x, x.mT.conj() + y


def overlapping(x: Tensor, y: Tensor) -> Any:
    windows = x.reshape(-1).as_strided((4, 3), (1, 1))
    return windows.sum() + y


FUNCTIONS = [
    through_sparse, made_sparse, through_csr, through_nested, through_nested_of_views, through_jagged, unbound_jagged,
    through_complex, complex_part_written, through_fft, quantized, scalars, other_dtypes, negated, overlapping,
    values_written,
]  # fmt: skip


@pytest.fixture(scope="module", autouse=True)
def _first_jagged_tensor() -> None:
    """The first jagged tensor of a process makes one that torch keeps for all others."""
    torch.nested.nested_tensor([torch.ones(2)], layout=torch.jagged).sin()


@pytest.mark.parametrize("grads", [False, True], ids=["no_grad", "grad"])
@pytest.mark.parametrize("function", FUNCTIONS)
def test_flow_through_unusual_tensors(function: Any, grads: bool) -> None:
    with torch.set_grad_enabled(grads):
        check_function(function, (3, 3), (3, 3), whole_calls=False)


def test_empty_tensors_are_followed_like_any_other() -> None:
    graph = record(Apply(empty), torch.randn(2, 3), torch.randn(2, 3))
    assert ("input:0", "output:0") in flow(graph)
    assert [graph.type_of(graph.nodes[index].inputs[0]).shape for index in ends(graph, "output:")] == [
        (2, 3), (0, 3), (2, 3),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("make", "expected"),
    [
        (lambda: torch.eye(3).to_sparse(), ("sparse_coo", "float32", (3, 3))),
        (lambda: torch.eye(3).to_sparse_csr(), ("sparse_csr", "float32", (3, 3))),
        (lambda: torch.complex(torch.eye(3), torch.eye(3)), ("strided", "complex64", (3, 3))),
        (lambda: torch.quantize_per_tensor(torch.eye(3), 0.1, 0, torch.qint8), ("strided", "qint8", (3, 3))),
        (lambda: torch.zeros(0, 4), ("strided", "float32", (0, 4))),
        (lambda: torch.zeros(()), ("strided", "float32", ())),
        (lambda: torch.empty(2, device="meta"), ("strided", "float32", (2,))),
        (lambda: torch.nested.nested_tensor([torch.ones(2), torch.ones(3)]), ("strided", "float32", (2, "?"))),
        (
            lambda: torch.nested.nested_tensor([torch.ones(2), torch.ones(3)], layout=torch.jagged),
            ("jagged", "float32", (2, "?")),
        ),
    ],
)
def test_types_of_inputs_and_parameters(make: Any, expected: Any) -> None:
    graph = record(Apply(lambda net, x: (x.clone(), net.held.clone()), held=make()), make())
    for end in (*ends(graph, "input:"), *ends(graph, "buffer:")):
        type_ = graph.type_of(graph.nodes[end].outputs[0])
        assert (type_.layout, type_.dtype, type_.shape) == expected
    assert flow(graph) == {("input:0", "output:0"), ("buffer:held", "output:1")}


class Marked(Tensor):
    """A subclass without handlers of its own."""


class Logged(Tensor):
    """A subclass that sees every function."""

    @classmethod
    def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        above: Any = super().__torch_function__
        return above(func, types, args, kwargs or {})


class Wrapped(Tensor):
    """A tensor that holds two others and has none of its own."""

    first: Tensor
    second: Tensor

    @staticmethod
    def __new__(cls: Any, first: Tensor, second: Tensor) -> Any:
        return Tensor._make_wrapper_subclass(cls, first.shape, dtype=first.dtype)

    def __init__(self, first: Tensor, second: Tensor) -> None:
        self.first, self.second = first, second

    def __tensor_flatten__(self) -> Any:
        return ["first", "second"], None

    @classmethod
    def __torch_dispatch__(cls: Any, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:  # type: ignore[override]
        firsts = [arg.first if isinstance(arg, cls) else arg for arg in args]
        seconds = [arg.second if isinstance(arg, cls) else arg for arg in args]
        first, second = func(*firsts, **(kwargs or {})), func(*seconds, **(kwargs or {}))
        return cls(first, second) if isinstance(first, Tensor) else first


@pytest.mark.parametrize("kind", [Marked, Logged])
def test_a_subclass_is_a_tensor_like_any_other(kind: Any) -> None:
    def forward(x: Tensor, y: Tensor) -> Any:
        held = (x * 1).as_subclass(kind)
        held[0] = y[0]
        return torch.sin(held), (held + 1).as_subclass(Tensor)

    check_function(forward, (3, 3), (3, 3))


def test_a_subclass_may_be_input_and_parameter() -> None:
    net = Apply(lambda held, x: held.weight * x)
    net.gives_itself = True
    net.weight = nn.Parameter(torch.ones(2).as_subclass(Logged))
    graph = record(net, torch.ones(2).as_subclass(Logged))
    assert flow(graph) == {("input:0", "output:0"), ("param:weight", "output:0")}


def test_a_wrapper_subclass_is_followed() -> None:
    graph = trec.capture(Apply(lambda x: torch.sin(x) * 2), args=(Wrapped(torch.ones(3), torch.ones(3)),)).verify()
    assert connected(graph, "input:0", "output:0")
    assert ops(graph) == ["sin", "mul"]


def test_fake_tensors_are_recorded() -> None:
    with FakeTensorMode():
        net, x = nn.Linear(3, 2), torch.empty(4, 3)
        graph = trec.capture(net, args=(x,)).verify()
    assert ops(graph) == ["linear"]
    assert flow(graph) == {("input:0", "output:0"), ("param:weight", "output:0"), ("param:bias", "output:0")}


def test_symbolic_sizes_keep_their_names() -> None:
    mode = FakeTensorMode(shape_env=ShapeEnv())
    x = mode.from_tensor(torch.ones(5, 3), static_shapes=False)
    with mode:
        net = nn.Linear(3, 2)
    graph = trec.capture(net, args=(x,)).verify()
    rows = graph.type_of(graph.nodes[ends(graph, "input:0")[0]].outputs[0]).shape[0]
    assert isinstance(rows, str)
    assert graph.type_of(graph.nodes[ends(graph, "output:0")[0]].inputs[0]).shape == (rows, 2)


def test_a_lazy_model_seen_on_meta() -> None:
    assert ops(trec.capture(nn.LazyLinear(3), (4, 2), device="meta"))


def test_a_model_on_meta_and_a_model_seen_on_meta() -> None:
    real = nn.Sequential(nn.Conv2d(3, 4, 3), nn.BatchNorm2d(4), nn.Flatten(), nn.Linear(4 * 36, 2))
    meta = nn.Sequential(nn.Conv2d(3, 4, 3), nn.BatchNorm2d(4), nn.Flatten(), nn.Linear(4 * 36, 2)).to("meta")
    expected = record(real, torch.randn(1, 3, 8, 8))
    for net in (real, meta):
        graph = trec.capture(net, (1, 3, 8, 8), device="meta").verify()
        assert {type_.device for type_ in graph.types} == {"meta"}
        assert ops(graph) == ops(expected)
        assert flow(graph) == flow(expected)


def test_inference_tensors_are_recorded() -> None:
    with torch.inference_mode():
        net, x = nn.Linear(3, 3), torch.randn(2, 3)
        graph = record(net, x)
    assert flow(graph) == {("input:0", "output:0"), ("param:weight", "output:0"), ("param:bias", "output:0")}


def test_a_call_that_looks_at_its_argument_and_returns_it_lies_on_the_path() -> None:
    x = torch.sparse_coo_tensor(torch.tensor([[0, 1], [1, 0]]), torch.ones(2), (2, 2), check_invariants=True)
    graph = record(Apply(lambda x: x.coalesce().values() * 2), x.coalesce())
    assert ops(graph, "op", "host") == ["coalesce", "values", "mul"]
    assert connected(graph, "op:coalesce", "output:0")
