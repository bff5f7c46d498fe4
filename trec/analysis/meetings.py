"""Which communications of several ranks are one: matched by group and sequence, sends and receives by their ends."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, NamedTuple

from trec.analysis.agreement import Check, Part
from trec.errors import MergeError
from trec.ir.collectives import RANK, RECV, SEND, WORLD_SIZE, collective_of
from trec.ir.given import given_graphs

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from trec.ir.graph import Graph


class Meeting(NamedTuple):
    """One communication, with what each rank does in it."""

    parts: tuple[Part, ...]
    """In the order of the group; the sender before the receiver."""


def by_rank(graphs: Iterable[Graph]) -> dict[int, Graph]:
    """Return graphs by the rank that each was recorded on, all ranks of a job.

    Raises:
        MergeError: a graph says of no rank, two say the same one, some are missing, or they are of different jobs.
    """
    found: dict[int, Graph] = {}
    sizes: dict[int, int] = {}
    for graph in given_graphs(graphs):
        meta = dict(graph.meta)
        rank, size = meta.get(RANK), meta.get(WORLD_SIZE)
        if not isinstance(rank, int) or not isinstance(size, int):
            raise MergeError(
                f"the graph {graph.name!r} says of no rank: record it in a process that has called "
                "torch.distributed.init_process_group, as torchrun starts it"
            )
        if rank in found:
            raise MergeError(
                f"two graphs are of rank {rank}: {found[rank].name!r} and {graph.name!r}; give one of each"
            )
        found[rank], sizes[size] = graph, rank
    if len(sizes) > 1:
        told = " and ".join([f"rank {rank} is one of {size}" for size, rank in sizes.items()])
        raise MergeError(f"the graphs are not of one job: {told}")
    if not found:
        raise MergeError("there is no graph to merge: give those of all ranks")
    missing = [str(rank) for rank in range(next(iter(sizes))) if rank not in found]
    if missing:
        raise MergeError(
            f"of {next(iter(sizes))} ranks these are missing: {', '.join(missing)}; give the graphs of all"
        )
    return dict(sorted(found.items()))


def meetings(graphs: Mapping[int, Graph]) -> list[Meeting]:
    """Return the communications of all ranks, in the order in which the lowest of their ranks begins them.

    Those of a group are matched by their number in it, a send and a receive by ranks, tag and number.

    Args:
        graphs: the graph of each rank.

    Raises:
        MergeError: ranks wait for one another in vain, or communicate different things.
    """
    together: dict[tuple[tuple[int, ...], str, int], list[Part]] = defaultdict(list)
    ends: dict[tuple[int, int, int, str, int], list[Part]] = defaultdict(list)
    check = Check(graphs)
    for rank, graph in graphs.items():
        for index, node in enumerate(graph.nodes):
            says = collective_of(graph, node)
            if says is None:
                continue
            part = Part(rank, index, says)
            check.membership(part)
            if says.collective in (SEND, RECV):
                pair = (rank, says.peer) if says.collective == SEND else (says.peer, rank)
                ends[(*pair, says.tag, says.group_name, says.sequence)].append(part)
            else:
                together[says.group, says.group_name, says.sequence].append(part)
    for parts in together.values():
        parts.sort(key=lambda part: part.says.group.index(part.rank))
        check.together(parts)
    for parts in ends.values():
        parts.sort(key=lambda part: part.says.collective == RECV)
        check.end_to_end(parts)
    found = [Meeting(tuple(parts)) for parts in (*together.values(), *ends.values())]
    return sorted(found, key=lambda meeting: min([(part.rank, part.node) for part in meeting.parts]))
