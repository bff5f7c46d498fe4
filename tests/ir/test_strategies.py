from __future__ import annotations

from typing import TYPE_CHECKING

from hypothesis import given, settings

from tests.strategies import any_graph
from trec.ir.types import NODE_KINDS

if TYPE_CHECKING:
    from trec.ir.graph import Graph


def test_every_graph_is_valid_and_every_kind_of_node_is_made() -> None:
    seen: set[str] = set()

    @settings(max_examples=500, derandomize=True)
    @given(any_graph())
    def check(graph: Graph) -> None:
        graph.verify()
        seen.update([node.kind for node in graph.nodes])

    check()
    assert seen == set(NODE_KINDS)
