"""Let one of many equal blocks stand for all."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from trec.analysis.blocks import Blocks
from trec.analysis.loops import find_loops, whole_steps
from trec.ir.collector import paused
from trec.ir.derivation import derived, members_since
from trec.ir.given import given_names
from trec.passes.repeated import first_iterations

if TYPE_CHECKING:
    from collections.abc import Collection

    from trec.ir.graph import Graph


def fold(graph: Graph, *, shapes: bool = True, ignore: str | Collection[str] = ()) -> Graph:
    """Return the graph with equal blocks that follow one another as one, which names the others.

    Blocks are calls of modules and functions, or stretches of steps and calls, such as the iterations of a loop. They
    are equal if they are the same program: the same operators with the same arguments, types and wiring, in calls of
    the same classes. Their parameters are their own and may have any names. Paths may differ in numbers (`layers.3`),
    numbers may count on by a fixed step where they tell a position (the index of an item, `layer_idx` of a module), and
    each block may read another result of one step, such as `unbind`. Folding goes on inside the block that stays.

    Blocks may read those of an earlier run one by one, in their order or in reverse, as the second half of a U-Net
    reads the first and as backward passes and optimizers read what is forward: then what the i-th reads of one of them
    must be the same for every i. The weights that belong to the blocks are part of them wherever they are read, if
    those of all are read alike; else the runs end where they are not. So the phases of a step of training are folded
    together.

    `graph.repeats()` says which blocks are equal, and in what those that look alike differ; what does not matter can
    then be left aside by `shapes` or `ignore`.

    Args:
        graph: what to rewrite.
        shapes: whether sizes must be equal; otherwise ranks are enough, and what is shown is the first block's.
        ignore: names of arguments that may differ, such as `drop_prob`.

    Ensures:
        `Scope.repeats` of the block that stays has the names of the others; for blocks of several steps a new scope of
        the class `repeat` does. What a block hands to the next is in `Graph.carried`, and what one of those that read
        others reads of what these began with. With that, a path leads from one remaining node to another if one did
        before, and exactly then but for those through a folded block. `graph.counts` says how often each scope ran, and
        `graph.times` for how many a node stands, so sums come out as before.

    Cost: near-linear.

    Example:
        >>> from trec.ir.builder import GraphBuilder
        >>> builder = GraphBuilder("Net")
        >>> root, type_ = builder.scope("module", path="", cls="Net"), builder.tensor_type((2,), "float32")
        >>> value = builder.node("input", parent=root, name="x", results=[type_])
        >>> for layer in ("0", "1", "2"):
        ...     scope = builder.scope("module", path=layer, cls="ReLU", parent=root)
        ...     value = builder.node("op", "relu", parent=scope, inputs=value, results=[type_])
        >>> print(fold(builder.build()))
        graph Net: 2 nodes, 2 values, 2 scopes
          %x: f32[2] = input
          %1: f32[2] = relu(%x)  # 0 x3
          carried(%1 -> '0.relu' port 0)  # 0 x3
    """
    return folded(graph, shapes=shapes, ignore=given_names(ignore))


def folded(
    graph: Graph,
    *,
    shapes: bool = True,
    ignore: Collection[str] = (),
    same: bool = False,
    leave: frozenset[str] = frozenset(),
) -> Graph:
    """Return the graph with the first iteration of its loops instead of all.

    Args:
        graph: what to rewrite.
        shapes: whether sizes must be equal.
        ignore: names of arguments that may differ.
        same: only calls of the same modules, with the same parameters.
        leave: names of nodes; a loop stays as it is that holds one of them, or has one as a source of its own.
    """
    result = graph
    with paused():
        while True:
            blocks = Blocks(result, shapes=shapes, ignore=ignore)
            loops = find_loops(blocks, same=same, leave=leave)
            if not loops:
                break
            result = first_iterations(blocks, whole_steps(loops) or loops)
    if result is graph:
        return graph
    again = partial(folded, shapes=shapes, ignore=ignore, same=same)
    return derived(
        result, graph, members_since(result, graph), lambda name: again(graph, leave=leave | {name})
    )  # fmt: skip
