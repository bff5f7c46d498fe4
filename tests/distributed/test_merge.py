"""Ranks are joined where they communicate, and told apart where they do not fit."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from msgspec.structs import replace

import trec
from trec.backends.lower import lower
from trec.backends.stages import columns
from trec.ir.builder import GraphBuilder
from trec.ir.collectives import Collective
from trec.ir.types import Source

if TYPE_CHECKING:
    from trec.ir.graph import Graph

Call = tuple[Any, ...]


class Rank:
    """The program of one rank, written step by step; each step reads what the one before made."""

    def __init__(self, rank: int, world: int = 2) -> None:
        meta = (("level", "function"), ("rank", rank), ("world_size", world))
        self.rank, self.world, self.builder = rank, world, GraphBuilder("Net", meta=meta)
        self.root = self.builder.scope("module", path="", cls="Net")
        self.layer = self.builder.scope("module", path="layer", cls="Linear", parent=self.root)
        self.type = self.builder.tensor_type((4,), "float32")
        self.counts: dict[Any, int] = {}
        (self.value,) = self.builder.node("input", parent=self.root, name="x", results=[self.type])

    def op(self, name: str) -> Rank:
        (self.value,) = self.builder.node("op", name, parent=self.layer, inputs=[self.value], results=[self.type])
        return self

    def together(self, operation: str, *, shape: Any = (4,), dtype: str = "float32", **facts: Any) -> Rank:
        group = facts.pop("group", tuple(range(self.world)))
        type_ = self.builder.tensor_type(shape, dtype)
        if shape != (4,) or dtype != "float32":
            (self.value,) = self.builder.node("op", "to", parent=self.layer, inputs=[self.value], results=[type_])
        says = Collective(operation, group, str(group), self._next(group), facts.pop("bytes", 16), **facts)
        return self._communicate(says, [self.value], [type_])

    def send(self, peer: int, tag: int = 0) -> Rank:
        return self._communicate(self._end("send", peer, tag), [self.value], [])

    def recv(self, peer: int, tag: int = 0) -> Rank:
        return self._communicate(self._end("recv", peer, tag), [], [self.type])

    def graph(self) -> Graph:
        self.builder.node("output", parent=self.root, inputs=[self.value], name="y")
        return self.builder.build().verify()

    def _end(self, operation: str, peer: int, tag: int) -> Collective:
        number = self._next((operation, peer, tag))
        return Collective(operation, tuple(range(self.world)), "0", number, 16, peer=peer, tag=tag)

    def _next(self, key: Any) -> int:
        self.counts[key] = self.counts.get(key, -1) + 1
        return self.counts[key]

    def _communicate(self, says: Collective, inputs: list[int], types: list[int]) -> Rank:
        made = self.builder.node(
            "op", says.collective, parent=self.layer, inputs=inputs, results=types, attrs=says.row(),
            source=Source("train.py", 10 + self.rank),
        )  # fmt: skip
        self.value = made[0] if made else self.value
        return self


def merge(*ranks: Rank, **options: Any) -> Graph:
    return trec.merge([rank.graph() for rank in ranks], **options).verify()


def lanes(graph: Graph) -> list[tuple[str, ...]]:
    return [(scope.name, *scope.repeats) for scope in graph.scopes if scope.parent == 0]


def reads(graph: Graph, name: str) -> list[str]:
    return [graph.nodes[graph.producers[value]].name for value in graph.nodes[graph.index_of[name]].inputs]


def on_all(world: int, *operations: str) -> list[Rank]:
    ranks = [Rank(rank, world) for rank in range(world)]
    for rank in ranks:
        for operation in operations:
            rank.op("relu").together(operation, reduction="sum")
    return ranks


# ---- what is joined


def test_equal_ranks_are_one_that_names_the_others() -> None:
    merged = merge(*on_all(3, "all_reduce"))
    assert lanes(merged) == [("rank 0", "rank 1", "rank 2")]
    node = merged.nodes[merged.index_of["rank 0.layer.all_reduce"]]
    assert merged.attrs_of(node)["groups"] == ((0, 1, 2),)
    assert merged.scopes[node.parent].path == "layer"


def test_ranks_can_be_kept_apart() -> None:
    merged = merge(*on_all(2, "all_reduce"), fold=False)
    assert lanes(merged) == [("rank 0",), ("rank 1",)]
    assert reads(merged, "rank 0.layer.all_reduce") == ["rank 0.layer.relu", "rank 1.layer.relu"]
    assert reads(merged, "rank 1.y") == ["rank 0.layer.all_reduce"]


def test_the_order_of_the_graphs_does_not_matter() -> None:
    ranks = [rank.graph() for rank in (Rank(0).op("relu").send(1), Rank(1).recv(0).op("neg"))]
    assert trec.merge(ranks) == trec.merge(reversed(ranks))


def test_a_send_meets_the_receive_of_its_tag_and_number() -> None:
    first = Rank(0).op("relu").send(1, tag=7).op("neg").send(1, tag=5).op("exp").send(1, tag=7)
    second = Rank(1).recv(0, tag=5).op("five").recv(0, tag=7).op("seven").recv(0, tag=7).op("last")
    merged = merge(first, second)
    read = {name: reads(merged, reads(merged, f"rank 1.layer.{name}")[0]) for name in ("five", "seven", "last")}
    assert read == {"five": ["rank 0.layer.neg"], "seven": ["rank 0.layer.relu"], "last": ["rank 0.layer.exp"]}


def test_ranks_that_send_round_a_ring_are_equal() -> None:
    world = 4
    ring = [Rank(rank, world).op("relu").send((rank + 1) % world).recv((rank - 1) % world) for rank in range(world)]
    merged = merge(*ring)
    assert lanes(merged) == [("rank 0", "rank 1", "rank 2", "rank 3")]
    assert merged.communication().count == world
    assert {row.groups for row in merged.communication().traffic} == {((0, 1), (1, 2), (2, 3), (3, 0))}


def test_ranks_in_the_middle_of_a_pipeline_are_not_equal() -> None:
    """Each has another neighbour that differs from its own kind."""
    middle = [Rank(rank, 4).recv(rank - 1).op("relu").send(rank + 1) for rank in (1, 2)]
    merged = merge(Rank(0, 4).op("relu").send(1), *middle, Rank(3, 4).recv(2).op("relu"))
    assert len(lanes(merged)) == 4


def test_groups_of_a_mesh_are_one() -> None:
    ranks = []
    for rank in range(4):
        rows, columns = ((0, 1), (2, 3)), ((0, 2), (1, 3))
        mine = Rank(rank, 4)
        for groups in (rows, columns):
            mine.op("relu").together("all_reduce", group=next(group for group in groups if rank in group))
        ranks.append(mine)
    merged = merge(*ranks)
    assert [row.groups for row in merged.communication().traffic] == [((0, 1), (2, 3)), ((0, 2), (1, 3))]
    assert merged.communication().count == 4


def test_a_rank_that_computes_something_else_stays_apart() -> None:
    ranks = on_all(3, "all_reduce")
    ranks[1].op("neg")
    assert lanes(merge(*ranks)) == [("rank 0", "rank 2"), ("rank 1",)]


def test_counts_hold_for_all_ranks() -> None:
    merged = merge(*on_all(4, "all_reduce", "all_reduce"))
    assert merged.stats().ops == 4 * 4
    assert merged.communication().count == 2
    assert merged.fold().communication().count == 2


def test_what_crosses_at_once_is_no_deadlock() -> None:
    """Both are begun before either is waited for, as `batch_isend_irecv` does."""
    merged = merge(Rank(0).op("relu").send(1).recv(1), Rank(1).op("relu").send(0).recv(0), fold=False)
    assert reads(merged, "rank 0.y") != reads(merged, "rank 1.y")


def test_what_leaves_a_closed_module_stays_with_its_rank() -> None:
    """What rank 0 does in between splits the module of rank 1, both parts of which read the constant."""
    ranks = [Rank(0), Rank(1)]
    for rank in ranks:
        weight = rank.builder.node("constant", parent=rank.root, name="w", results=[rank.type])
        for again in (True, False):
            read = [rank.value, *weight]
            (rank.value,) = rank.builder.node("op", "add", parent=rank.root, inputs=read, results=[rank.type])
            if again:
                rank.together("all_reduce", reduction="sum")
    merged = merge(*ranks, fold=False).collapse(depth=1).verify()
    assert merged.scopes[merged.nodes[merged.index_of["rank 1.w"]].parent].name == "rank 1"


def test_merged_graphs_are_saved_and_rewritten_like_others(tmp_path: Any) -> None:
    merged = merge(*on_all(2, "all_reduce"), fold=False)
    merged.save(tmp_path / "all.trec")
    assert trec.load(tmp_path / "all.trec") == merged
    merged.collapse(depth=1).verify()
    assert merged.to_networkx().number_of_nodes() == len(merged.nodes)
    assert "rank 1" in merged.to_svg()


def test_ranks_are_columns_of_a_picture() -> None:
    graph = merge(*on_all(3, "all_reduce"), fold=False)
    drawing = lower(graph)
    upward, column = columns(drawing)
    assert upward == (False, False, False)
    found = [(graph.nodes[box.node].op, at) for box, at in zip(drawing.boxes, column, strict=True)]
    assert [at for op, at in found if op == "relu"] == [0, 1, 2]
    assert [at for op, at in found if op == "all_reduce"] == [0]


# ---- what does not fit

RANK_0 = r"rank 0 is at all_reduce \(sum\) of f32\[4\] in module 'layer', train\.py:10"


@pytest.mark.parametrize(
    ("other", "said"),
    [
        (
            Rank(1).together("all_gather"),
            rf"the operation \(all_reduce and all_gather\) in communication 0 of group \[0, 1\]: {RANK_0}, "
            r"but rank 1 is at all_gather of f32\[4\] in module 'layer', train\.py:11",
        ),
        (Rank(1).together("all_reduce", reduction="max"), r"the reduction \(sum and max\)"),
        (Rank(1).together("all_reduce", reduction="sum", shape=(2, 2)), r"the shape \(\[4\] and \[2, 2\]\)"),
        (Rank(1).together("all_reduce", reduction="sum", dtype="float16", bytes=8), "the element type"),
        (
            Rank(1),
            rf"a deadlock: {RANK_0} waits for rank 1, which never communicates in group \[0, 1\]",
        ),
    ],
)
def test_a_collective_that_ranks_disagree_on_names_both_sides(other: Rank, said: str) -> None:
    with pytest.raises(trec.MergeError, match=said):
        merge(Rank(0).together("all_reduce", reduction="sum"), other)


def test_ranks_disagree_on_the_root() -> None:
    with pytest.raises(trec.MergeError, match=r"the root \(0 and 1\)"):
        merge(Rank(0).together("broadcast", root=0), Rank(1).together("broadcast", root=1))


def test_ranks_disagree_on_a_size() -> None:
    with pytest.raises(trec.MergeError, match=r"the size in bytes \(16 and 32\)"):
        merge(Rank(0).together("all_gather"), Rank(1).together("all_gather", bytes=32))


def test_a_rank_that_stops_early_is_told_with_its_last_communication() -> None:
    both = on_all(2, "all_reduce")
    with pytest.raises(
        trec.MergeError,
        match=r"rank 0 is at barrier .* waits for rank 1, which communicates 1 times in group \[0, 1\], "
        r"last where rank 1 is at all_reduce .*train\.py:11",
    ):
        merge(both[0].together("barrier", bytes=0), both[1])


def test_a_send_that_nobody_receives() -> None:
    with pytest.raises(
        trec.MergeError,
        match=r"rank 0 sends of f32\[4\] to rank 1 in module 'layer', train\.py:10 waits for rank 1, "
        r"which receives nothing more from rank 0 with tag 3 \(0 came before\)",
    ):
        merge(Rank(0).send(1, tag=3), Rank(1).recv(0, tag=4))


def test_a_receive_from_anyone_cannot_be_matched() -> None:
    with pytest.raises(trec.MergeError, match="takes what any rank sends"):
        merge(Rank(0), Rank(1).recv(-1))


def test_ranks_that_wait_for_one_another_are_a_deadlock() -> None:
    """Each sends what it makes of what it gets."""
    with pytest.raises(trec.MergeError, match=r"a deadlock, each waits for the one after it: .*rank 0.*rank 1"):
        merge(Rank(0).recv(1).op("relu").send(1), Rank(1).recv(0).op("relu").send(0))


def crossed(*, blocking: bool) -> list[Rank]:
    """Return two ranks that use two groups, each in another order."""
    ranks = []
    for number, order in enumerate([((0, 1), (1, 0)), ((1, 0), (0, 1))]):
        rank = Rank(number)
        given = rank.value
        for group in order:
            rank.value = given
            rank.together("all_reduce", group=group, reduction="sum", blocking=blocking)
        ranks.append(rank)
    return ranks


def test_ranks_that_block_in_another_order_are_a_deadlock() -> None:
    merge(*crossed(blocking=False))
    with pytest.raises(trec.MergeError, match=r"a deadlock, each waits for the one after it: .*rank 0.*rank 1"):
        merge(*crossed(blocking=True))


def test_a_group_that_a_rank_is_not_in() -> None:
    with pytest.raises(
        trec.MergeError, match=r"rank 1 is at barrier .* in a group of the ranks \[0\], which it is not"
    ):
        merge(Rank(0), Rank(1).together("barrier", group=(0,), bytes=0))


def test_missing_doubled_and_foreign_ranks() -> None:
    graph = Rank(0, 3).graph()
    with pytest.raises(trec.MergeError, match="of 3 ranks these are missing: 1, 2"):
        trec.merge([graph])
    with pytest.raises(trec.MergeError, match="two graphs are of rank 0"):
        trec.merge([graph, graph])
    with pytest.raises(trec.MergeError, match="not of one job: rank 0 is one of 3 and rank 1 is one of 2"):
        trec.merge([graph, Rank(1, 2).graph()])
    with pytest.raises(trec.MergeError, match="says of no rank"):
        trec.merge([replace(graph, meta=())])
    with pytest.raises(trec.MergeError, match="no graph to merge"):
        trec.merge([])


# ---- the table


def test_a_rank_tells_what_it_takes_part_in() -> None:
    table = Rank(1).recv(0).together("all_reduce", reduction="sum").send(0).graph().communication()
    assert [(row.module, row.operation, row.groups, row.count, row.bytes) for row in table.traffic] == [
        ("layer", "recv", ((0, 1),), 1, 16),
        ("layer", "all_reduce", ((0, 1),), 1, 16),
        ("layer", "send", ((1, 0),), 1, 16),
    ]
    assert str(table).splitlines()[:3] == [
        "3 communications of 48 B",
        "module    phase         operation  groups  count  bytes",
        "layer   forward              recv   0 > 1      1     16",
    ]
    assert table.rows()[0]["operation"] == "recv"


def test_a_graph_that_does_not_communicate_says_so() -> None:
    assert str(Rank(0).op("relu").graph().communication()) == "0 communications of 0 B"
