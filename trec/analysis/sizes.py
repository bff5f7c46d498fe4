"""How many elements and bytes a tensor has, as far as its type tells."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from trec.ir.types import TensorType

_BYTES = {
    **dict.fromkeys(("complex128",), 16),
    **dict.fromkeys(("float64", "int64", "uint64", "complex64"), 8),
    **dict.fromkeys(("float32", "int32", "uint32", "complex32", "qint32"), 4),
    **dict.fromkeys(("float16", "bfloat16", "int16", "uint16", "bits16"), 2),
}


def elements(type_: TensorType) -> int:
    """Return the number of elements; 0 where a size is not known."""
    sizes = [size for size in type_.shape if isinstance(size, int)]
    return prod(sizes) if len(sizes) == len(type_.shape) else 0


def item_bytes(dtype: str) -> int:
    """Return the bytes that one element takes; 1 for every small or packed type."""
    return _BYTES.get(dtype, 1)


def size_bytes(type_: TensorType) -> int:
    """Return the bytes of all elements, each stored once; 0 where a size is not known."""
    return elements(type_) * item_bytes(type_.dtype)
