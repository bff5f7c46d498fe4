"""Whether ranks that communicate agree on what: checks that find, without running anything, who would wait in vain."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from trec.errors import MergeError
from trec.ir.collectives import RECV, SEND, Collective, collective_of
from trec.ir.text import type_text

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from trec.ir.graph import Graph
    from trec.ir.types import Node, TensorType

_SAME_SHAPE = frozenset({"all_reduce", "broadcast", "reduce"})
"""Operations in which each rank gives or gets the whole tensor."""


class Part(NamedTuple):
    """What one rank does in a communication."""

    rank: int
    node: int
    """Index into `Graph.nodes` of the rank's graph."""
    says: Collective


class Check:
    """Checks of communications of several ranks."""

    def __init__(self, graphs: Mapping[int, Graph]) -> None:
        self.graphs = graphs

    def membership(self, part: Part) -> None:
        """Check that a rank is in the group that it communicates in.

        Raises:
            MergeError: it is not, as where a group was made without `new_group`, which alone knows its ranks.
        """
        if part.rank not in part.says.group:
            raise MergeError(
                f"{self.tell(part)} in a group of the ranks {_group(part.says)}, which it is not in; "
                "make groups with torch.distributed.new_group or a device mesh, so that their ranks are known"
            )

    def together(self, parts: Sequence[Part]) -> None:
        """Check what all ranks of a group do at one moment.

        Args:
            parts: what was found, in the order of the group.

        Raises:
            MergeError: a rank of the group does nothing, or something else than the others.
        """
        first = parts[0]
        here = {part.rank for part in parts}
        absent = next((rank for rank in first.says.group if rank not in here), None)
        if absent is not None:
            raise MergeError(
                f"a deadlock: {self.tell(first)} waits for rank {absent}, which {self._does_instead(absent, first)}"
            )
        for other in parts[1:]:
            for what, one, two in self._facts(first, other):
                if one != two:
                    raise MergeError(
                        f"ranks disagree on {what} ({one} and {two}) in communication {first.says.sequence} of group "
                        f"{_group(first.says)}: {self.tell(first)}, but {self.tell(other)}"
                    )

    def end_to_end(self, parts: Sequence[Part]) -> None:
        """Check a send and a receive that should meet.

        Args:
            parts: what was found, the send before the receive.

        Raises:
            MergeError: one of them is missing, or the other is of another type or size.
        """
        first = parts[0]
        if len(parts) == 1:
            other, verb = ("receives", "from") if first.says.collective == SEND else ("sends", "to")
            if first.says.peer < 0:
                raise MergeError(f"{self.tell(first)} takes what any rank sends, so its sender cannot be told")
            raise MergeError(
                f"a deadlock: {self.tell(first)} waits for rank {first.says.peer}, which {other} nothing more {verb} "
                f"rank {first.rank} with tag {first.says.tag} ({first.says.sequence} came before)"
            )
        for what, one, two in self._facts(first, parts[1]):
            if one != two and what != "the operation":
                raise MergeError(
                    f"ranks disagree on {what} ({one} and {two}): {self.tell(first)}, but {self.tell(parts[1])}"
                )

    def tell(self, part: Part) -> str:
        """Return in words what a rank does, and where in its program."""
        graph, node = self.graphs[part.rank], self.graphs[part.rank].nodes[part.node]
        type_ = self._type(part)
        source, path = graph.source_of(node), graph.scopes[node.parent].path
        ends = {SEND: f" to rank {part.says.peer}", RECV: f" from rank {part.says.peer}"}
        return (
            f"rank {part.rank} {_verb(part.says)}"
            + (f" of {type_text(type_)}" if type_ is not None else "")
            + ends.get(part.says.collective, "")
            + f" in {f'module {path!r}' if path else f'the root of {graph.name}'}"
            + (f", {source.file}:{source.line}" if source is not None else "")
        )

    def _does_instead(self, rank: int, part: Part) -> str:
        """Return in words what a rank does in a group where it should communicate once more."""
        mine = list(_in_group(self.graphs[rank], part.says))
        if mine:
            index, last = mine[-1]
            return f"communicates {len(mine)} times in group {_group(part.says)}, last where " + self.tell(
                Part(rank, index, last)
            )
        return f"never communicates in group {_group(part.says)}"

    def _facts(self, first: Part, other: Part) -> Iterator[tuple[str, object, object]]:
        """Yield name and values of what two parts must have in common."""
        one, two = first.says, other.says
        yield "the operation", one.collective, two.collective
        yield "the reduction", one.reduction or "none", two.reduction or "none"
        yield "the root", one.root, two.root
        mine, theirs = self._type(first), self._type(other)
        if mine is not None and theirs is not None:
            yield "the element type", mine.dtype, theirs.dtype
            if one.collective in _SAME_SHAPE:
                yield "the shape", list(mine.shape), list(theirs.shape)
        if one.collective != "all_to_all":
            yield "the size in bytes", one.bytes, two.bytes

    def _type(self, part: Part) -> TensorType | None:
        """Return the type of the first tensor that a rank gives, or else gets; None if there is none."""
        graph = self.graphs[part.rank]
        node: Node = graph.nodes[part.node]
        values = (*node.inputs, *node.outputs)
        return graph.type_of(values[0]) if values else None


def _in_group(graph: Graph, says: Collective) -> Iterator[tuple[int, Collective]]:
    for index, node in enumerate(graph.nodes):
        found = collective_of(graph, node)
        if found is None or found.collective in (SEND, RECV):
            continue
        if (found.group, found.group_name) == (says.group, says.group_name):
            yield index, found


def _verb(says: Collective) -> str:
    words = {SEND: "sends", RECV: "receives"}
    return words.get(says.collective, f"is at {says.collective}") + (f" ({says.reduction})" if says.reduction else "")


def _group(says: Collective) -> str:
    return str(list(says.group))
