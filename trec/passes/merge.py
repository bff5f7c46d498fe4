"""Join what several ranks did into one program."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trec.analysis.alike_ranks import representatives
from trec.analysis.joint_order import Joint, joint_order
from trec.analysis.meetings import by_rank, meetings
from trec.errors import MergeError
from trec.ir.collector import paused
from trec.passes.lanes import Lanes

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from trec.analysis.meetings import Meeting
    from trec.ir.graph import Graph


def merge(graphs: Iterable[Graph], *, fold: bool = True, name: str | None = None) -> Graph:
    """Return one graph of what all ranks of a job did, each recorded in its own process.

    Each rank is a region `rank 0`, `rank 1`, ..., which holds its inputs, calls and outputs. Communications of a group
    are matched by their number in it, sends and receives by ranks, tag and order. Each is one node, which reads what
    its ranks give and yields what they get. Ranks that run the same program become one, which names the others.

    Args:
        graphs: the graphs of all ranks, in any order.
        fold: whether ranks that run the same program become one.
        name: name of the new graph; that of the lowest rank's when left out.

    Raises:
        MergeError: a rank is missing, two ranks disagree on what they communicate, or they wait for one another for
            ever. The message names both sides with module and line.

    Ensures:
        A node that joins ranks lies where the first of them begins it. It has that one's attributes
        (`trec.ir.collectives`), and `groups`: the ranks of each communication that it stands for.

    Cost: near-linear.

    Example:
        >>> from trec.ir.builder import GraphBuilder
        >>> from trec.ir.collectives import Collective
        >>> def on(rank):
        ...     builder = GraphBuilder("Net", meta=(("rank", rank), ("world_size", 2)))
        ...     root, type_ = builder.scope("module", path="", cls="Net"), builder.tensor_type((4,), "float32")
        ...     value = builder.node("input", parent=root, name="x", results=[type_])
        ...     row = Collective("all_reduce", (0, 1), "0", 0, 16, "sum").row()
        ...     _ = builder.node("op", "all_reduce", parent=root, inputs=value, results=[type_], attrs=row)
        ...     return builder.build()
        >>> merged = merge([on(0), on(1)])
        >>> [(scope.name, scope.repeats) for scope in merged.scopes]
        [('Net', ()), ('rank 0', ('rank 1',)), ('rank 0.Net', ())]
    """
    with paused():
        ranks = by_rank(graphs)
        found = meetings(ranks)
        stands = representatives(ranks, found) if fold else {rank: rank for rank in ranks}
        kept = {rank: ranks[rank] for rank in sorted(set(stands.values()))}
        try:
            order = joint_order(kept, _joints(found, stands))
        except MergeError:
            joint_order(ranks, _joints(found, {rank: rank for rank in ranks}))  # says it of all ranks
            raise
        return Lanes(kept, stands, name).graph(order)


def _joints(found: Sequence[Meeting], stands: Mapping[int, int]) -> list[Joint]:
    """Return the communications of the ranks that stay; those of ranks that are one are one."""
    joints: dict[frozenset[tuple[int, int]], Joint] = {}
    for meeting in found:
        ends = tuple(dict.fromkeys([(stands[part.rank], part.node) for part in meeting.parts]))
        joint = joints.setdefault(frozenset(ends), Joint(ends, meeting.parts[0].says, []))
        joint.groups.append(tuple([part.rank for part in meeting.parts]))
    return list(joints.values())
