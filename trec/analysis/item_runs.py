"""Runs of equal items of a scope, which may be told apart also by what they read of the loops before them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trec.analysis.places import step_of
from trec.analysis.tandem import Run, tandem_runs
from trec.analysis.wiring import differentiated

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from trec.analysis.blocks import Blocks
    from trec.analysis.loop import Item
    from trec.analysis.places import Place, Places


def item_runs(blocks: Blocks, items: Sequence[Item], places: Places | None) -> Iterator[Run]:
    """Yield the runs of equal items, in program order; loops may be added to `places` meanwhile.

    Args:
        blocks: the program.
        items: the steps and blocks of one scope.
        places: the loops before them, if what they read of these counts. Then steps that are alike fall into iterations
            that read those of other loops one by one.
    """
    keys = [blocks.item_key(item) for item in items]
    runs = sorted(tandem_runs(keys), key=lambda run: run.start)
    done = 0
    for at, run in enumerate(runs):
        if run.start < done:
            continue
        span = range(run.start, min(_end(runs, at), len(items)))
        read = [_read(blocks, items[item], places) for item in span] if places is not None and places.loops else []
        for part in _refined(span, keys, read) if any(read) else [run]:
            aligned = _behind_derivatives(blocks, items, part, keys)
            done = aligned.end
            yield aligned


def _end(runs: Sequence[Run], at: int) -> int:
    """Return where a run ends if its last repeat need not be whole, unless one that saves as much begins before."""
    run = runs[at]
    end = run.end + run.period - 1
    while (at := at + 1) < len(runs) and runs[at].start < end:
        if runs[at].saved >= run.saved:
            return runs[at].start
    return end


def _behind_derivatives(blocks: Blocks, items: Sequence[Item], run: Run, keys: Sequence[int]) -> Run:
    """Return a run moved so that no iteration begins with what differentiates the one before.

    What an operator differentiates ran before it, which is to be seen in the iteration that stays.
    """
    middle = run.start + run.period
    low, high = blocks.item_span(items[run.start])[0], blocks.item_span(items[middle - 1])[1]
    shift = 0
    for at in range(run.period):
        found = differentiated(blocks, *blocks.item_span(items[middle + at]))
        if any(low <= step_of(blocks, node) < high for _, node in found):
            shift = at + 1
    more = range(run.end, run.end + shift)
    goes_on = run.end + shift <= len(keys) and all(keys[at] == keys[at - run.period] for at in more)
    count = run.count if goes_on else run.count - 1
    return Run(run.start + shift, run.period, count) if 0 < shift < run.period and count > 1 else run


def _read(blocks: Blocks, item: Item, places: Places) -> tuple[tuple[int, int], ...]:
    """Return where in which loops the places are that an item reads or differentiates, but for what these carry.

    One of several items reads what the loop began with in the place of what it carries.
    """
    values = [places.of_value(value) for value in blocks.item_reads(item)]
    nodes = [places.of_node(node) for _, node in differentiated(blocks, *blocks.item_span(item))]
    found: list[Place] = [place for place in values if place is not None and not places.is_carried(place)]
    found += [place for place in nodes if place is not None and not places.makes_carried(place)]
    return tuple([(loop, position) for loop, _, position in found])


def _refined(span: range, keys: Sequence[int], read: Sequence[tuple[tuple[int, int], ...]]) -> list[Run]:
    """Return the runs in a span of items that read the same places as well."""
    known: dict[tuple[object, ...], int] = {}
    both = [known.setdefault((keys[at], places), at) for at, places in zip(span, read, strict=True)]
    found = [_shifted(part, both, read) for part in tandem_runs(both)]
    return sorted([Run(part.start + span.start, part.period, part.count) for part in found], key=lambda run: run.start)


def _shifted(run: Run, keys: Sequence[int], read: Sequence[object]) -> Run:
    """Return a run moved, if it goes on for so long, to where it begins with an item that reads other loops."""
    shift = next((at for at in range(run.period) if read[run.start + at]), 0)
    more = range(run.end, run.end + shift)
    goes_on = run.end + shift <= len(keys) and all(keys[at] == keys[at - run.period] for at in more)
    return Run(run.start + shift, run.period, run.count) if goes_on else run
