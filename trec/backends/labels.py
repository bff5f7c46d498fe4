"""The words on a picture: names, shapes, numbers and what matters of a module's arguments."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from trec.ir.types import UNKNOWN

if TYPE_CHECKING:
    from collections.abc import Callable

    from trec.ir.types import Attr, AttrRow, Scope, TensorType

Arguments = dict[str, "Attr"]

_HIDDEN = re.compile(
    r"eps|momentum|inplace|training|idx|index|dtype|device|layer_id|seed|version|^_|bias|affine|track|error"
)
_BEHIND_A_PATH = re.compile(r"(\.backward)?(#\d+)?(_\d+)?")
"""What the name of a call has behind the path of its module."""


def shorten(text: str, length: int) -> str:
    """Return the text, without its middle if it is longer than `length` characters.

    Example:
        >>> shorten("a_rather_long_name", 9)
        'a_ra…name'
    """
    if len(text) <= length:
        return text
    tail = (length - 1) // 2
    return f"{text[: length - 1 - tail]}…{text[len(text) - tail :]}"


def relative(path: str, around: str) -> str:
    """Return the path of a module as seen from the module around it.

    A name that is only a number keeps what it is a number of.

    Example:
        >>> relative("model.layers.0", "model"), relative("layers.0", "layers"), relative("conv", "")
        ('layers.0', 'layers.0', 'conv')
    """
    inner = path.removeprefix(f"{around}.") if around else path
    if not inner[:1].isdigit() and path != around:
        return inner
    start = path.rfind(".") + 1 if around and path == around else len(path) - len(inner)
    while start > 0 and path[start : start + 1].isdigit() and path[start:].replace(".", "").isdigit():
        start = path.rfind(".", 0, start - 1) + 1
    return path[start:]


def called(scope: Scope) -> str:
    """Return the path of the module that is called, or the name of the call if `rename` gave it another."""
    made = scope.name.startswith(scope.path) and _BEHIND_A_PATH.fullmatch(scope.name, len(scope.path))
    return scope.path if made or not scope.path else scope.name


def shape(type_: TensorType, main_dtype: str) -> str:
    """Return the sizes with a sign between them, and the element type if it is not the main one; nothing if unknown."""
    if type_.shape == (UNKNOWN,) and type_.dtype == UNKNOWN:
        return ""
    text = "×".join(map(str, type_.shape)) if type_.shape else "scalar"
    return text if type_.dtype == main_dtype else f"{text} {type_.dtype}"


def number(count: int) -> str:
    """Return a count in at most four characters and a unit.

    Example:
        >>> number(12), number(9408), number(25_557_032), number(999_960)
        ('12', '9.4 k', '25.6 M', '1 M')
    """
    if count < 1000:
        return str(count)
    value = float(count)
    for unit in ("k", "M", "G", "T"):
        value /= 1000
        rounded = round(value, 1) if value < 99.95 else round(value)
        if rounded < 1000 or unit == "T":
            break
    return f"{rounded:g} {unit}"


def params(count: int) -> str:
    """Return how many parameters, in words; nothing for none."""
    return f"{number(count)} param{'' if count == 1 else 's'}" if count > 0 else ""


def plain(value: Attr) -> str:
    """Return an argument as it is written on a picture."""
    if isinstance(value, tuple):
        return "×".join(map(plain, value)) if value else "()"
    return f"{value:g}" if isinstance(value, float) else str(value)


def call(row: AttrRow) -> str:
    """Return named arguments as they would be written in a call."""
    return ", ".join([f"{name}={value!r}" for name, value in row])


def detail(cls: str, row: AttrRow) -> list[str]:
    """Return what matters of the constructor arguments of a module, the most important first."""
    arguments = dict(row)
    for recipe in _RECIPES:
        words = recipe(cls, arguments)
        if words:
            return words
    return []


def _uniform(value: Attr) -> Attr:
    """Return the number that all entries of a tuple are, if they are."""
    if isinstance(value, tuple) and value and len(set(value)) == 1:
        return value[0]
    return value


def _convolution(cls: str, arguments: Arguments) -> list[str]:
    if not {"in_channels", "out_channels", "kernel_size"} <= arguments.keys():
        return []
    kernel = arguments["kernel_size"]
    words = [f"{plain(arguments['in_channels'])}→{plain(arguments['out_channels'])}", _kernel(cls, kernel)]
    stride = _uniform(arguments.get("stride", 1))
    if stride != 1:
        words.append(f"s{plain(stride)}")
    groups = arguments.get("groups", 1)
    if groups == arguments["in_channels"] and groups != 1:
        words.append("depthwise")
    elif groups not in (1, None):
        words.append(f"g{plain(groups)}")
    dilation = _uniform(arguments.get("dilation", 1))
    if dilation != 1:
        words.append(f"d{plain(dilation)}")
    return words


def _kernel(cls: str, kernel: Attr) -> str:
    if isinstance(kernel, tuple) and len(kernel) == 1:
        return f"k{plain(kernel[0])}"
    if isinstance(kernel, tuple):
        return plain(kernel)
    dimensions = {"2d": 2, "3d": 3}.get(cls[-2:], 1)
    return "×".join([plain(kernel)] * dimensions) if dimensions > 1 else f"k{plain(kernel)}"


def _linear(cls: str, arguments: Arguments) -> list[str]:
    for first, second in (("in_features", "out_features"), ("nx", "nf"), ("input_dim", "output_dim")):
        if first in arguments and second in arguments:
            return [f"{plain(arguments[first])}→{plain(arguments[second])}"]
    return []


def _recurrent(cls: str, arguments: Arguments) -> list[str]:
    if not {"input_size", "hidden_size"} <= arguments.keys():
        return []
    words = [f"{plain(arguments['input_size'])}→{plain(arguments['hidden_size'])}"]
    layers = arguments.get("num_layers", 1)
    if layers not in (1, None):
        words.append(f"{plain(layers)} layers")
    if arguments.get("bidirectional") is True:
        words.append("both ways")
    return words


def _embedding(cls: str, arguments: Arguments) -> list[str]:
    if not {"num_embeddings", "embedding_dim"} <= arguments.keys():
        return []
    return [f"{plain(arguments['num_embeddings'])}×{plain(arguments['embedding_dim'])}"]


def _attention(cls: str, arguments: Arguments) -> list[str]:
    heads = _first(arguments, "num_heads", "num_attention_heads", "n_heads", "n_head", "nhead", "heads")
    if heads is None:
        return []
    width = _first(arguments, "embed_dim", "hidden_size", "d_model", "dim", "inner_dim")
    return [*([] if width is None else [f"d={plain(width)}"]), f"{plain(heads)} heads"]


def _normalisation(cls: str, arguments: Arguments) -> list[str]:
    if "num_groups" in arguments and "num_channels" in arguments:
        return [f"{plain(arguments['num_channels'])} in {plain(arguments['num_groups'])} groups"]
    width = _first(arguments, "normalized_shape", "num_features", *(["hidden_size", "dim"] if "Norm" in cls else []))
    return [] if width is None else [f"d={plain(width)}"]


def _pooling(cls: str, arguments: Arguments) -> list[str]:
    if "output_size" in arguments:
        size = arguments["output_size"]
        if not isinstance(size, tuple):
            size = (size,) * {"2d": 2, "3d": 3}.get(cls[-2:], 1)
        return [f"→{'×'.join('=' if part is None else plain(part) for part in size)}"]
    if "kernel_size" in arguments and "Pool" in cls:
        kernel = arguments["kernel_size"]
        words = [_kernel(cls, kernel)]
        stride = _uniform(arguments.get("stride", 1))
        if stride not in (None, 1):
            words.append(f"s{plain(stride)}")
        return words
    if arguments.get("scale_factor") is not None:
        return [f"×{plain(_uniform(arguments['scale_factor']))}", *_text(arguments.get("mode"))]
    return []


def _dropout(cls: str, arguments: Arguments) -> list[str]:
    for name in ("p", "drop_prob"):
        if isinstance(arguments.get(name), float | int):
            return [f"p={plain(arguments[name])}"]
    return []


def _other(cls: str, arguments: Arguments) -> list[str]:
    words: list[str] = []
    for name, value in arguments.items():
        if _HIDDEN.search(name) or value is None or isinstance(value, bool | tuple) or not str(value):
            continue
        word = f"{name}={plain(value)}"
        if len(word) <= 20 and len(words) < 2:
            words.append(word)
    return words


def _first(arguments: Arguments, *names: str) -> Attr:
    return next((arguments[name] for name in names if arguments.get(name) is not None), None)


def _text(value: Attr) -> list[str]:
    return [value] if isinstance(value, str) else []


_RECIPES: tuple[Callable[[str, Arguments], list[str]], ...] = (
    _convolution, _linear, _recurrent, _embedding, _attention, _normalisation, _pooling, _dropout, _other,
)  # fmt: skip


def repeats(scope: Scope) -> int:
    """Return how many equal calls a scope stands for."""
    return 1 + len(scope.repeats)


def times(subtitle: str, repeats: int) -> str:
    """Return the words beside a title, with how many equal calls it stands for."""
    return f"{subtitle} ×{repeats}".lstrip() if repeats > 1 else subtitle
