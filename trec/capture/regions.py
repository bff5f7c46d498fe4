"""Which bytes of a storage a tensor covers, and how two such regions overlap."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from torch import Tensor

Region = tuple[int, tuple[int, ...], tuple[int, ...], int]
"""Offset in elements, shape, strides in elements, size of an element in bytes."""

APART, PART, WHOLE = 0, 1, 2
ENUMERABLE = 8192
"""Regions of at most so many bytes together are compared byte by byte when their spans do not tell."""


def region_of(tensor: Tensor) -> Region | None:
    """Return the bytes that a tensor covers; None if it has no strides or its sizes are not known."""
    try:
        region = (tensor.storage_offset(), tuple(tensor.shape), tensor.stride(), tensor.element_size())
    except (RuntimeError, NotImplementedError):
        return None
    if any(type(size) is not int for size in (region[0], *region[1], *region[2])):
        return None
    return region  # type: ignore[return-value]


def overlap(written: Region | None, read: Region | None) -> int:
    """Return how much of the region that is read was written: APART, PART or WHOLE.

    The answer errs only towards PART: of regions that are too large to enumerate, or not known.
    """
    if written is None or read is None:
        return PART
    if written == read:
        return WHOLE
    written_bytes = prod(written[1]) * written[3]
    read_bytes = prod(read[1]) * read[3]
    if not written_bytes or not read_bytes:
        return APART
    (start, stop), (low, high) = _span(written), _span(read)
    if stop <= low or high <= start:
        return APART
    if start <= low and high <= stop and written_bytes == stop - start and not _expanded(written):
        return WHOLE
    if written_bytes + read_bytes <= ENUMERABLE:
        touched, asked = _bytes(written), _bytes(read)
        if not touched & asked:
            return APART
        return WHOLE if asked <= touched else PART
    return _strided_overlap(written, read)


def _span(region: Region) -> tuple[int, int]:
    offset, shape, strides, size = region
    last = offset + sum((length - 1) * stride for length, stride in zip(shape, strides, strict=True))
    return offset * size, (last + 1) * size


def _expanded(region: Region) -> bool:
    return any(length > 1 and stride == 0 for length, stride in zip(region[1], region[2], strict=True))


def _bytes(region: Region) -> set[int]:
    offset, shape, strides, size = region
    starts = [offset]
    for length, stride in zip(shape, strides, strict=True):
        starts = [start + step * stride for start in starts for step in range(length)]
    return {byte for start in starts for byte in range(start * size, start * size + size)}


def _strided_overlap(written: Region, read: Region) -> int:
    """Compare two boxes of one row-major array, whose axes are the strides that either of them has."""
    if written[3] != read[3]:
        return PART
    steps = {
        stride for region in (written, read) for length, stride in zip(region[1], region[2], strict=True) if length > 1
    }
    axes = sorted(steps | {1}, reverse=True)
    if axes[-1] < 1:
        return PART
    first, second = _box(written, axes), _box(read, axes)
    if first is None or second is None:
        return PART
    if any(a + m <= b or b + n <= a for (a, m), (b, n) in zip(first, second, strict=True)):
        return APART
    return WHOLE if all(a <= b and b + n <= a + m for (a, m), (b, n) in zip(first, second, strict=True)) else PART


def _box(region: Region, axes: list[int]) -> list[tuple[int, int]] | None:
    """Return start and length on each axis; None if the region is no box within those axes."""
    lengths = dict.fromkeys(axes, 1)
    for length, stride in zip(region[1], region[2], strict=True):
        if length > 1:
            if lengths[stride] > 1:
                return None
            lengths[stride] = length
    box, rest = [], region[0]
    for position, axis in enumerate(axes):
        start, rest = divmod(rest, axis)
        if position and (start + lengths[axis]) * axis > axes[position - 1]:
            return None
        box.append((start, lengths[axis]))
    return box
