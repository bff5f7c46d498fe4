"""Which column of a picture each box is drawn in: phases of a step, or ranks of a job, stand beside one another."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from trec.backends.drawing import Drawing


def columns(drawing: Drawing) -> tuple[tuple[bool, ...], tuple[int, ...]]:
    """Return for each column whether the flow goes up in it, and for each box its column.

    Each outermost frame of a later phase is a column of its own; backward passes go up. What is forward stands in the
    first column, but for what reads from a later phase, as the pass behind a step does: that begins a column behind it.
    Ranks are columns, too, in all of which the flow goes down. Both are empty for a drawing of one phase.
    """
    if any(cluster.rank >= 0 for cluster in drawing.clusters):
        return _ranks(drawing)
    if all(cluster.parent >= 0 or cluster.phase == "forward" for cluster in drawing.clusters):
        return (), ()
    outer = _outermost(drawing)
    reads: dict[int, set[int]] = {}
    for source, target in zip(drawing.edges.sources, drawing.edges.targets, strict=True):
        if outer[source] != outer[target]:
            reads.setdefault(outer[target], set()).add(outer[source])
    phases = ["forward"]
    found: dict[int, int] = {}
    for item in dict.fromkeys(outer):
        phase = "forward" if item < 0 else drawing.clusters[item].phase
        column = len(phases)
        if phase == "forward":
            before = max([found[source] for source in reads.get(item, ()) if source in found], default=0)
            column = phases.index("forward", before) if "forward" in phases[before:] else column
        found[item] = column
        if column == len(phases):
            phases.append(phase)
    return tuple([phase == "backward" for phase in phases]), tuple([found[item] for item in outer])


def _ranks(drawing: Drawing) -> tuple[tuple[bool, ...], tuple[int, ...]]:
    """Return a column for each outermost frame; what is outside of all stands in the first one."""
    outer = _outermost(drawing)
    frames = sorted({item for item in outer if item >= 0})
    column = {item: at for at, item in enumerate(frames)}
    return (False,) * len(frames), tuple([column.get(item, 0) for item in outer])


def _outermost(drawing: Drawing) -> list[int]:
    """Return for each box the outermost frame around it; for one without, `-1 - box`."""
    around: list[int] = []
    for index, cluster in enumerate(drawing.clusters):
        around.append(index if cluster.parent < 0 else around[cluster.parent])
    return [around[cluster] if cluster >= 0 else -1 - box for box, cluster in enumerate(drawing.boxes.clusters)]
