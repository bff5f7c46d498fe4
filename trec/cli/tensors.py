"""Inputs of a model as they are typed, and the tensors that they ask for."""

from __future__ import annotations

import re
from argparse import ArgumentTypeError
from typing import TYPE_CHECKING, Any

import msgspec

from trec.cli.words import meant
from trec.ir.text import SHORT

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

DTYPES = {
    **{name: name for name in ("bool", *SHORT)},
    **{short: name for name, short in SHORT.items()},
    "float": "float32",
    "double": "float64",
    "half": "float16",
    "long": "int64",
    "int": "int32",
}
"""Names of element types: those of PyTorch, those of the text form, and the usual words."""

_SIZES = re.compile(r"\s*[(\[]?(?:\d+(?:\s*[,x]\s*\d+)*)?\s*,?\s*[)\]]?\s*")


class Tensor(msgspec.Struct, frozen=True):
    """A tensor that is asked for."""

    shape: tuple[int, ...]
    """Its sizes."""
    dtype: str | None = None
    """Its element type, by PyTorch's name; None for what fits the model."""


def dtype(text: str) -> str:
    """Return PyTorch's name of an element type.

    Raises:
        ArgumentTypeError: there is none of that name.
    """
    name = text.removeprefix("torch.")
    if name not in DTYPES:
        raise ArgumentTypeError(f"{text!r} is no element type; {meant(name, DTYPES)}")
    return DTYPES[name]


def tensor(text: str) -> Tensor:
    """Return the tensor that sizes ask for, such as `1,3,224,224` or `1,16:int64`.

    Raises:
        ArgumentTypeError: the text is of another form.

    Example:
        >>> tensor("1,16:i64")
        Tensor(shape=(1, 16), dtype='int64')
    """
    sizes, sign, kind = text.partition(":")
    if not _SIZES.fullmatch(sizes):
        raise ArgumentTypeError(f"{text!r} is no shape; write sizes such as 1,3,224,224, or with a type 1,16:int64")
    return Tensor(tuple(map(int, re.findall(r"\d+", sizes))), dtype(kind) if sign else None)


def value(text: str) -> Any:
    """Return what JSON stands for, with a `Tensor` for each object of `shape` and perhaps `dtype`.

    Raises:
        ArgumentTypeError: the text is no JSON.

    Example:
        >>> value('[{"shape": [3, 8, 8]}, true]')
        [Tensor(shape=(3, 8, 8), dtype=None), True]
    """
    try:
        return _asked(msgspec.json.decode(text))
    except msgspec.DecodeError as error:
        raise ArgumentTypeError(f"{text!r} is no JSON: {error}") from error


def keywords(text: str) -> dict[str, Any]:
    """Return keyword arguments: an object of JSON, or `name=shape`.

    Raises:
        ArgumentTypeError: the text is neither.
    """
    if text.lstrip().startswith("{"):
        found = value(text)
        if isinstance(found, dict):
            return found
    name, sign, sizes = text.partition("=")
    if not sign or not name.isidentifier():
        raise ArgumentTypeError(f"{text!r} is neither name=shape, such as mask=1,16:bool, nor an object of JSON")
    return {name: tensor(sizes)}


def asked(found: Any) -> Iterator[Tensor]:
    """Yield the tensors that a value asks for, from left to right."""
    if isinstance(found, Tensor):
        yield found
    elif isinstance(found, (list, dict)):
        for item in found.values() if isinstance(found, dict) else found:
            yield from asked(item)


def filled(found: Any, make: Callable[[], Any]) -> Any:
    """Return a value with what `make` returns in place of each tensor, from left to right."""
    if isinstance(found, Tensor):
        return make()
    if isinstance(found, list):
        return [filled(item, make) for item in found]
    if isinstance(found, dict):
        return {key: filled(item, make) for key, item in found.items()}
    return found


def _asked(found: Any) -> Any:
    if isinstance(found, list):
        return [_asked(item) for item in found]
    if not isinstance(found, dict):
        return found
    if "shape" in found and not found.keys() - {"shape", "dtype"}:
        sizes = found["shape"]
        if not isinstance(sizes, list) or not all(type(size) is int and size >= 0 for size in sizes):
            raise ArgumentTypeError(f'"shape" is {sizes!r}, expected a list of sizes such as [1, 3, 224, 224]')
        return Tensor(tuple(sizes), dtype(str(found["dtype"])) if "dtype" in found else None)
    return {key: _asked(item) for key, item in found.items()}
