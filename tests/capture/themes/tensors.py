"""Unusual tensors, operators and modes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor, nn
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.nn import functional
from torch.overrides import TorchFunctionMode

from tests.capture.themes.builders import each, of, with_modules

if TYPE_CHECKING:
    from tests.capture.models import Call


def several_results(x: Tensor) -> Any:
    first, *_ = x.split([1, 3])  # type: ignore[no-untyped-call]
    values, indices = x.max(1)
    grid = torch.meshgrid(x[0], x[1], indexing="ij")
    u, s, v = torch.linalg.svd(x)
    return first, values, indices, grid, (u * s) @ v, x.sort().values, torch.var_mean(x), x.unbind(1)[1]


def odd_types(x: Tensor) -> Any:
    return x.to_sparse() @ x, torch.fft.rfft(x).abs(), torch.complex(x, x).conj().imag, x.half().float().bool()


def quantised(x: Tensor) -> Any:
    q: Any = torch.quantize_per_tensor(x, 0.1, 0, torch.qint8)
    return q.dequantize() + q.int_repr()


def empty(x: Tensor) -> Any:
    return x[:0] * 2, x[:0].sum(), torch.cat([x[:0], x])


def jagged(held: Any, x: Tensor) -> Any:
    made = torch.nested.as_nested_tensor([x, x[:2]], layout=torch.jagged)
    return torch.nested.to_padded_tensor(functional.silu(held.fc(made)), 0.0)


@torch.library.custom_op("trec_themes::shifted", mutates_args=())
def shifted(x: Tensor, by: float) -> Tensor:
    return x * 2 + by


@torch.library.custom_op("trec_themes::filled", mutates_args={"x"})
def filled(x: Tensor) -> None:
    x.fill_(3)


def own_operators(x: Tensor) -> Any:
    y = torch.ops.trec_themes.shifted(shifted(x, 0.5), 1.0)
    z = torch.ops.aten.leaky_relu.default(y, 0.1) + torch.ops.aten.add(x, 1)
    filled(y)
    return y, z


def rearranged(x: Tensor) -> Any:
    from einops import rearrange, reduce

    return rearrange(x, "(a b) c -> a (b c)", a=2) + reduce(x, "a b -> a 1", "mean")[:2]


def profiled(x: Tensor) -> Any:
    with torch.profiler.record_function("squared"):
        return x * x


class Doubling(TorchFunctionMode):
    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        result = func(*args, **(kwargs or {}))
        return result * 2 if func is torch.sin else result


def under_a_mode(held: Any, x: Tensor) -> Any:
    with Doubling():
        return torch.sin(held.fc(x))


class Marked(Tensor):
    """A subclass that adds to one function."""

    @classmethod
    def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        result = super().__torch_function__(func, types, args, kwargs or {})  # type: ignore[no-untyped-call]
        return result.neg() if func is torch.sin else result


def marked(held: Any, x: Tensor) -> Any:
    return torch.sin(held.fc(x.as_subclass(Marked))).as_subclass(Tensor)


class Wrapped(Tensor):
    """A tensor that holds another and has no memory of its own."""

    held: Tensor

    @staticmethod
    def __new__(cls: Any, inner: Tensor) -> Any:
        return Tensor._make_wrapper_subclass(cls, inner.shape, dtype=inner.dtype)

    def __init__(self, inner: Tensor) -> None:
        self.held = inner

    def __tensor_flatten__(self) -> Any:
        return ["held"], None

    @classmethod
    def __torch_dispatch__(cls: Any, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:  # type: ignore[override]
        result = func(*(arg.held if isinstance(arg, cls) else arg for arg in args), **(kwargs or {}))
        return cls(result) if isinstance(result, Tensor) else result


def wrapped(held: Any, x: Tensor) -> Any:
    result: Any = functional.linear(Wrapped(x), held.fc.weight.detach())
    return result.sin().held


def on_meta() -> Call:
    return nn.Sequential(nn.Linear(9, 9), nn.LayerNorm(9)).to("meta"), (torch.empty(2, 9, device="meta"),), {}


def fake(held: Any, x: Tensor) -> Any:
    with FakeTensorMode(allow_non_fake_inputs=True) as mode:
        return functional.linear(mode.from_tensor(x), mode.from_tensor(held.fc.weight.detach())).relu()


CALLS = {
    "on_meta": on_meta,
    **each(of, several_results, odd_types, quantised, empty, own_operators, rearranged, profiled),
    **each(with_modules, jagged, under_a_mode, marked, wrapped, fake),
}
