"""What a model is given: the tensors and values that a command line asks for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from trec.cli.models import taken
from trec.cli.tensors import Tensor, asked, filled
from trec.errors import OptionError

if TYPE_CHECKING:
    from argparse import Namespace


def given(net: Any, options: Namespace, default: dict[str, Tensor]) -> dict[str, Any]:
    """Return the arguments of `trec.capture` that say what the model is given.

    Args:
        net: the model.
        options: what was parsed.
        default: keyword arguments for when there are no positional ones, each unless it is given.

    Raises:
        OptionError: there are too few for what the model takes, or types that do not fit the shapes.
    """
    positional = _typed(options.inputs, options.dtype)
    named: dict[str, Any] = {name: item for group in options.kwargs for name, item in group.items()}
    if not positional:
        named = {**default, **named}
    device = "meta" if options.meta else options.device
    found: dict[str, Any] = {"kwargs": _with_tensors(net, named, device)}
    if positional and all(isinstance(item, Tensor) for item in positional):
        dtypes = [_dtype(item.dtype) for item in positional]
        found.update(shapes=[item.shape for item in positional], dtypes=dtypes if any(dtypes) else None)
    else:
        found["args"] = tuple(_with_tensors(net, positional, device))
        _check(net, options.method, found["args"], named)
    return found


def _typed(items: list[Any], dtypes: list[str]) -> list[Any]:
    """Return inputs with the types that were given apart from them."""
    plain = sum(_is_plain(item) for item in items)
    if len(dtypes) > 1 and len(dtypes) != plain:
        raise OptionError(f"--dtype is given {len(dtypes)} times, but there are {plain} shapes that name no type")
    each = iter(dtypes if len(dtypes) > 1 else dtypes * plain)
    return [Tensor(item.shape, next(each, None)) if _is_plain(item) else item for item in items]


def _is_plain(item: Any) -> bool:
    return isinstance(item, Tensor) and item.dtype is None


def _with_tensors(net: Any, found: Any, device: str | None) -> Any:
    """Return a value with a tensor in each place that asks for one."""
    from trec.capture.inputs import make_inputs  # needs torch

    wanted = list(asked(found))
    made = make_inputs(net, [one.shape for one in wanted], [_dtype(one.dtype) for one in wanted], device)
    return filled(found, iter(made).__next__)


def _dtype(name: str | None) -> Any:
    import torch

    return None if name is None else getattr(torch, name)


def _check(net: Any, method: str, args: tuple[Any, ...], named: dict[str, Any]) -> None:
    """Refuse inputs that are fewer than the model takes, which is told better here than by the model."""
    try:
        signature = taken(getattr(net, method))
        signature.bind(*args, **named)
    except (AttributeError, ValueError):
        return
    except TypeError as error:
        raise OptionError(
            f"{type(net).__name__}.{method} takes {signature}: {error}; give a --shape for each tensor, such as "
            "--shape 1,3,224,224, or --kwargs"
        ) from error
