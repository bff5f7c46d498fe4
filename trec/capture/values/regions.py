"""Which bytes of a storage a tensor covers, and how two such regions overlap."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING

from msgspec import Struct

if TYPE_CHECKING:
    from collections.abc import Iterable

    from torch import Tensor

Run = tuple[int, int]
"""First byte and the one past the last."""

APART, PART, WHOLE = 0, 1, 2
MOST_RUNS = 256
"""A region of more separate runs of bytes is known by its strides alone."""


class Region(Struct, frozen=True, gc=False):
    """A set of bytes."""

    runs: tuple[Run, ...]
    """Disjoint runs in order; the span from the first byte to the last if `exact` is false."""
    exact: bool = True
    """Whether the runs are all there is to know; otherwise only some of their bytes belong to the region."""
    block: int = 0
    """Length of a run of bytes, where runs repeat at regular distances; 0 if they do not."""
    steps: tuple[tuple[int, int], ...] = ()
    """Distance and number of those repetitions, the shortest distance first."""


EMPTY = Region(())
UNKNOWN = Region(((0, 1 << 62),), exact=False)


def region_of(tensor: Tensor, shift: int = 0) -> Region:
    """Return the bytes that a tensor covers; UNKNOWN if it has no strides or its sizes are not known.

    Args:
        tensor: what lies in the storage.
        shift: address of the first byte of the storage.
    """
    try:
        offset, shape, strides, size = tensor.storage_offset(), tensor.shape, tensor.stride(), tensor.element_size()
    except (RuntimeError, NotImplementedError):
        return UNKNOWN
    if type(offset) is not int or any(type(number) is not int for number in (*shape, *strides)):
        return UNKNOWN
    if 0 in shape:
        return EMPTY
    block = size
    steps: list[tuple[int, int]] = []
    for stride, length in sorted(zip(strides, shape, strict=True)):
        distance = stride * size
        if length == 1 or not stride:
            continue
        if not steps and distance <= block:
            block += (length - 1) * distance
        elif steps and distance == steps[-1][0] * steps[-1][1]:
            steps[-1] = (steps[-1][0], steps[-1][1] * length)
        else:
            steps.append((distance, length))
    first = shift + offset * size
    if not steps:
        return Region(((first, first + block),), True, block)
    if prod(length for _, length in steps) > MOST_RUNS:
        stop = first + sum(distance * (length - 1) for distance, length in steps) + block
        return Region(((first, stop),), False, block, tuple(steps))
    starts = [first]
    for distance, length in reversed(steps):
        starts = [start + step * distance for start in starts for step in range(length)]
    return Region(joined((start, start + block) for start in sorted(starts)), True, block, tuple(steps))


def joined(runs: Iterable[Run]) -> tuple[Run, ...]:
    """Return runs in order with those that touch made one."""
    result: list[Run] = []
    for start, stop in runs:
        if result and start <= result[-1][1]:
            result[-1] = (result[-1][0], max(stop, result[-1][1]))
        else:
            result.append((start, stop))
    return tuple(result)


def overlap(written: Region, read: Region) -> int:
    """Return how much of the region that is read was written: APART, PART or WHOLE.

    The answer errs only towards PART: of regions that are known by their strides alone, or not known.
    """
    if not written.runs or not read.runs:
        return APART
    if written.exact and read.exact:
        return _overlap_of_runs(written.runs, read.runs)
    if written.runs[-1][1] <= read.runs[0][0] or read.runs[-1][1] <= written.runs[0][0]:
        return APART
    if written.exact and _overlap_of_runs(written.runs, read.runs) != PART:
        return _overlap_of_runs(written.runs, read.runs)
    if not written.block or not read.block:
        return PART
    return WHOLE if written == read else _overlap_of_boxes(written, read)


def touches(start: int, stop: int, region: Region) -> bool:
    """Tell whether a run of bytes has any in common with a region known by its strides; errs only towards yes."""
    if len(region.steps) != 1:
        return overlap(Region(((start, stop),), True, stop - start), region) != APART
    (distance, count), first = region.steps[0], region.runs[0][0]
    run = max(0, (start - first - region.block) // distance + 1)
    return run < count and first + run * distance < stop


def _overlap_of_runs(written: tuple[Run, ...], read: tuple[Run, ...]) -> int:
    position, count, touched, whole = 0, len(written), False, True
    for start, stop in read:
        while position < count and written[position][1] <= start:
            position += 1
        if position == count or written[position][0] >= stop:
            whole = False
        else:
            touched = True
            whole = whole and written[position][0] <= start and stop <= written[position][1]
        if touched and not whole:
            return PART
    return WHOLE if whole else APART


def _overlap_of_boxes(written: Region, read: Region) -> int:
    """Compare two boxes of one row-major array, whose axes are the distances that either of them has."""
    axes = sorted({distance for distance, _ in (*written.steps, *read.steps)} | {1}, reverse=True)
    first, second = _box(written, axes), _box(read, axes)
    if first is None or second is None:
        return PART
    if any(a + m <= b or b + n <= a for (a, m), (b, n) in zip(first, second, strict=True)):
        return APART
    return WHOLE if all(a <= b and b + n <= a + m for (a, m), (b, n) in zip(first, second, strict=True)) else PART


def _box(region: Region, axes: list[int]) -> list[Run] | None:
    """Return start and length on each axis; None if the region is no box within those axes."""
    lengths = dict.fromkeys(axes, 1)
    lengths[1] = region.block
    lengths.update(region.steps)
    box, rest = [], region.runs[0][0]
    for position, axis in enumerate(axes):
        start, rest = divmod(rest, axis)
        if position and (start + lengths[axis]) * axis > axes[position - 1]:
            return None
        box.append((start, lengths[axis]))
    return box
