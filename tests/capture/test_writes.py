"""What lies in each part of a memory after any writes, held against an array that knows who wrote each element."""

from __future__ import annotations

from typing import Any

import hypothesis.strategies as st
import pytest
import torch
from hypothesis import given

from trec.capture.values import regions
from trec.capture.values.regions import region_of
from trec.capture.values.writes import Writes

pytestmark = pytest.mark.torch

ROWS, COLUMNS = 6, 5
FILL = 1

spans = st.tuples(st.integers(0, 5), st.integers(1, 6)).map(lambda pair: slice(pair[0], pair[0] + pair[1]))
boxes = st.tuples(spans, spans)
wholes = st.just((slice(None), slice(None)))
columns = spans.map(lambda span: (slice(None), span))
steps = st.lists(st.tuples(st.sampled_from(["write", "read"]), boxes | wholes | columns), max_size=14)


most_runs = st.sampled_from([1, 3, 256])
"""So many separate runs are known one by one; regions of more by their strides."""


def begun() -> tuple[Writes, torch.Tensor, Any]:
    writes = Writes()
    writes.fill(FILL, 0, 1 << 62)
    return writes, torch.zeros(ROWS, COLUMNS, dtype=torch.uint8), torch.full((ROWS, COLUMNS), FILL)


def region(memory: torch.Tensor, box: Any, shift: int, most: int) -> Any:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(regions, "MOST_RUNS", most)
        return region_of(memory[box], shift)


@given(most=most_runs, steps=steps, shift=st.sampled_from([0, 10, 13]))
def test_what_is_read_holds_all_that_lies_there(most: int, steps: Any, shift: int) -> None:
    writes, memory, written = begun()
    for value, (what, box) in enumerate(steps, start=2):
        if not written[box].numel():
            continue
        if what == "write":
            writes.add(value, region(memory, box, shift, most))
            written[box] = value
            continue
        lies = set(written[box].unique().tolist())
        assert lies <= set(writes.within(region(memory, box, shift, most)) or ())
        for time in range(1, value):
            pieces, whole = writes.since(region(memory, box, shift, most), time)
            assert {found for found in lies if found > time} <= {piece.value for piece in pieces}
            assert not whole or min(lies) > time


@given(most=most_runs, order=st.lists(st.integers(0, COLUMNS - 1), max_size=12), last=st.integers(0, COLUMNS - 1))
def test_columns_are_told_apart(most: int, order: list[int], last: int) -> None:
    writes, memory, written = begun()
    for value, column in enumerate(order, start=2):
        box = (slice(None), slice(column, column + 1))
        writes.add(value, region(memory, box, 0, most))
        written[box] = value
    for box in ((slice(None), slice(last, last + 1)), (slice(None), slice(0, last + 1)), (slice(None), slice(None))):
        assert writes.within(region(memory, box, 0, most)) == sorted(written[box].unique().tolist())


@given(most=most_runs, steps=st.lists(boxes | columns, max_size=8), box=boxes, shift=st.integers(0, 9))
def test_what_is_moved_lies_there_too(most: int, steps: Any, box: Any, shift: int) -> None:
    writes, memory, written = begun()
    for value, target in enumerate(steps, start=2):
        if written[target].numel():
            writes.add(value, region(memory, target, 0, most))
            written[target] = value
    moved = Writes()
    moved.move(writes, 0, ROWS * COLUMNS, shift)
    if written[box].numel():
        assert set(written[box].unique().tolist()) <= set(moved.within(region(memory, box, shift, most)) or ())
