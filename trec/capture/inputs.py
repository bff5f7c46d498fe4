"""Inputs made from shapes, and the names of those that are given."""

from __future__ import annotations

import inspect
import operator
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any

import torch

from trec.capture.leaves import leaves
from trec.capture.naming import walk
from trec.capture.torch_api import DisableTorchFunction
from trec.errors import OptionError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from torch import Tensor

_COMPUTED_IN = frozenset({torch.float64, torch.float32, torch.bfloat16, torch.float16})
"""Floating point dtypes that models compute in, and do not only store."""


UNUSABLE = (RuntimeError, AssertionError, ImportError)
"""What torch raises for a device that it was not built for, that is not there, or that has no room."""


def make_inputs(net: Any, shapes: Any, dtypes: Any, device: Any) -> tuple[Tensor, ...]:
    """Return one tensor for each shape: normal for floating dtypes, small whole numbers for integers.

    The numbers are the same every time, and no random generator of the process is touched.

    Args:
        net: the model; integers stay below the smallest of its embedding tables.
        shapes: a tuple of sizes for one input, a list of tuples for several.
        dtypes: one dtype for all inputs, or a list of one for each; when None, that of the model's floating point
            parameters if they have one in common, else the default dtype.
        device: where they lie; that of the first parameter when None. Where that is a fake tensor, they are as well.

    Raises:
        OptionError: shapes or dtypes are of another form, or there is no such device, or no room on it.
    """
    wanted = _shape_list(shapes)
    kinds = _dtype_list(dtypes, len(wanted), net)
    first = next(_parameters(net), None)
    if device is None:
        device = torch.device("cpu") if first is None else first.device
    generator = torch.Generator().manual_seed(0)
    with DisableTorchFunction(), getattr(first, "fake_mode", None) or nullcontext():
        try:
            if torch.device(device).type == "meta":  # no numbers on the way either: they may be more than fit in memory
                return tuple(
                    torch.empty(shape, dtype=kind, device=device) for shape, kind in zip(wanted, kinds, strict=True)
                )
            return tuple(
                _make(shape, kind, net, generator).to(device) for shape, kind in zip(wanted, kinds, strict=True)
            )
        except UNUSABLE as error:
            raise OptionError(
                f"no inputs of shapes={shapes!r} can be made on {str(device)!r}: {first_sentence(error)}"
            ) from error


def device_of(device: Any) -> torch.device | None:
    """Return the device that is meant.

    Raises:
        OptionError: torch knows none of that name.
    """
    try:
        return None if device is None else torch.device(device)
    except (RuntimeError, TypeError) as error:
        raise OptionError(
            f"device={device!r} is no device that torch knows: expected one such as 'cpu', 'cuda:0' or 'meta'"
        ) from error


def first_sentence(error: Exception) -> str:
    """Return what torch says, without the pages that may follow."""
    return str(error).split("\n", 1)[0].split(". ", 1)[0]


def _shape_list(shapes: Any) -> list[tuple[int, ...]]:
    many = isinstance(shapes, list) or (isinstance(shapes, tuple) and any(isinstance(size, tuple) for size in shapes))
    wanted = [tuple(shape) if isinstance(shape, (tuple, list)) else None for shape in (shapes if many else [shapes])]
    if many and shapes and all(isinstance(size, int) for size in shapes):
        raise OptionError(f"shapes={shapes!r} is a list of numbers; write one shape as a tuple: {tuple(shapes)!r}")
    sizes = [None if shape is None else [_size(size) for size in shape] for shape in wanted]
    for shape in sizes:
        if shape is None or not all(size is not None and size >= 0 for size in shape):
            raise OptionError(
                f"shapes={shapes!r} is no shape: expected a tuple of sizes such as (1, 3, 224, 224) for one input, "
                "or a list of such tuples for several; other inputs go into args= and kwargs="
            )
    return [tuple(shape) for shape in sizes]  # type: ignore[arg-type]


def _size(size: Any) -> int | None:
    """Return a size as a plain int, also one of numpy; None if it is none, as `True` is."""
    try:
        return None if isinstance(size, bool) else operator.index(size)
    except TypeError:
        return None


def _dtype_list(dtypes: Any, count: int, net: Any) -> list[torch.dtype]:
    kinds = list(dtypes) if isinstance(dtypes, (list, tuple)) else [dtypes] * count
    if None in kinds:
        common = _dtype_of(net)
        kinds = [common if kind is None else kind for kind in kinds]
    if len(kinds) != count or not all(isinstance(kind, torch.dtype) for kind in kinds):
        raise OptionError(
            f"dtypes={dtypes!r} does not fit {count} shapes: expected one torch.dtype, or a list of {count}"
        )
    return kinds


def _dtype_of(net: Any) -> torch.dtype:
    """Return the dtype that all floating point parameters have in common, else the default one."""
    kinds = {tensor.dtype for tensor in _parameters(net) if tensor.dtype.is_floating_point}
    common = kinds.pop() if len(kinds) == 1 else None
    return common if common in _COMPUTED_IN else torch.get_default_dtype()


def _parameters(net: Any) -> Iterator[Tensor]:
    for _, module in walk(net):
        for tensor in (getattr(module, "_parameters", None) or {}).values():
            if tensor is not None:
                yield tensor


def _make(shape: tuple[int, ...], kind: torch.dtype, net: Any, generator: torch.Generator) -> Tensor:
    if kind is torch.bool:
        return torch.randint(0, 2, shape, generator=generator).bool()
    if kind.is_floating_point or kind.is_complex:
        base = torch.complex64 if kind.is_complex else torch.float32
        return torch.randn(shape, generator=generator, dtype=base).to(kind)
    return torch.randint(0, integer_range(net), shape, generator=generator).to(kind)


def integer_range(net: Any) -> int:
    """Return the exclusive upper end of integers that fit every embedding table of the model; 2 if it has none."""
    tables = [module.num_embeddings for _, module in walk(net) if isinstance(module, torch.nn.Embedding)]
    return max(1, min(tables, default=2))


def name_inputs(function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[tuple[str, Any]]:
    """Return name and tensor of every tensor leaf: of args, then of kwargs in the order of the call."""
    names: list[str] = []
    spread = ""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        parameters = ()  # type: ignore[assignment]
    for parameter in parameters:
        if parameter.kind in (parameter.POSITIONAL_ONLY, parameter.POSITIONAL_OR_KEYWORD):
            names.append(parameter.name)
        elif parameter.kind is parameter.VAR_POSITIONAL:
            spread = parameter.name
    found = []
    for position, value in enumerate(args):
        if position < len(names):
            name = names[position]
        else:
            name = f"{spread}.{position - len(names)}" if spread else f"input{position}"
        found.extend(leaves(value, name))
    for key, value in kwargs.items():
        found.extend(leaves(value, key))
    return found


def name_outputs(result: Any) -> list[tuple[str, Tensor]]:
    """Return name and tensor of every tensor leaf of a result: its key, or `output` with its position."""
    if isinstance(result, torch.Tensor):
        return [("output", result)]
    return [(f"output{name}" if name[:1].isdigit() else name or "output", tensor) for name, tensor in leaves(result)]
