"""What a traced node says of its result: the examples that torch kept beside it, and where it stood in the source."""

from __future__ import annotations

import re
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor
from torch.fx.passes.shape_prop import TensorMetadata

from trec.capture.sources import short_name
from trec.capture.values.regions import UNKNOWN as ANYWHERE
from trec.capture.values.regions import Region, region_of
from trec.capture.values.storages import storage_key
from trec.ir.types import UNKNOWN, Source, TensorType

if TYPE_CHECKING:
    from collections.abc import Iterable

    from torch.fx import Node

NOTHING = TensorType((UNKNOWN,), UNKNOWN, UNKNOWN)
"""The type of a tensor of which nothing is known."""

MISSING = object()
"""The example of a node that has none."""

_KEPT_AS = ("val", "example_value", "tensor_meta")
_FRAME = re.compile(r'File "([^"]+)", line (\d+)')
_TORCH = str(Path(torch.__file__).parent)


def example_of(node: Node) -> Any:
    """Return what torch kept as the result of a node: tensors in their containers, or `MISSING`."""
    for key in _KEPT_AS:
        if node.meta.get(key) is not None:
            return node.meta[key]
    return None if "val" in node.meta else MISSING


def is_tensor(example: Any) -> bool:
    """Tell whether an example is one of a tensor."""
    return isinstance(example, (Tensor, TensorMetadata))


def type_of(example: Any) -> TensorType:
    """Return the type of an example of a tensor, symbolic sizes by their names."""
    device = str(example.device) if isinstance(example, Tensor) else UNKNOWN
    layout = str(example.layout).removeprefix("torch.") if isinstance(example, Tensor) else "strided"
    try:
        sizes = tuple([_size(size) for size in example.shape])
    except RuntimeError:  # a lazy parameter has no shape yet
        sizes = (UNKNOWN,)
    return TensorType(sizes, str(example.dtype).removeprefix("torch."), device, layout)


def _size(size: Any) -> int | str:
    if type(size) is int:
        return size
    text = str(size).replace(" ", "")
    try:
        return int(text)
    except ValueError:
        return UNKNOWN if re.fullmatch(r"j\d+", text) else text


def share_memory(nodes: Iterable[Node]) -> bool:
    """Tell whether examples of different nodes lie in the same memory where the tensors of the program would.

    Some ways of tracing keep such examples, others only copies of their shapes. If no two share, nothing is said.
    """
    seen = set()
    for node in nodes:
        example = example_of(node)
        if isinstance(example, Tensor) and node.op.startswith("call") and "getitem" not in str(node.target):
            key = storage_key(example)
            if key is not None and key in seen:
                return True
            seen.add(key)
    return False


@lru_cache(maxsize=4096)
def line_in(trace: str | None) -> Source | None:
    """Return the innermost line outside torch of a stack trace, as torch writes them down."""
    for file, line in reversed(_FRAME.findall(trace or "")):
        if not file.startswith((_TORCH, "<")) and int(line) > 0:
            return Source(short_name(file), int(line))
    return None


def region_in(example: Any) -> Region:
    """Return the bytes that an example covers in its memory; any, if that is not known."""
    return region_of(example) if isinstance(example, Tensor) else ANYWHERE
