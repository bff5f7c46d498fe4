"""What steps do besides yielding results: they write what was there before, draw random numbers, communicate."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trec.analysis.groups import DROPOUTS, GROUPS, OVERWRITERS, is_in_place, short_op
from trec.analysis.storage import storages
from trec.ir.collectives import collective_of
from trec.ir.types import SOURCE_KINDS

if TYPE_CHECKING:
    from trec.ir.graph import Graph
    from trec.ir.types import Node

_RANDOM = frozenset({
    "_fused_dropout", "_sample_dirichlet", "_standard_gamma", "bernoulli", "bernoulli_", "binomial", "cauchy_",
    "exponential_", "fractional_max_pool2d", "fractional_max_pool3d", "geometric_", "gumbel_softmax", "log_normal_",
    "multinomial", "native_dropout", "normal", "normal_", "poisson", "rand", "rand_like", "randint", "randint_like",
    "randn", "randn_like", "random_", "randperm", "rrelu_with_noise", "uniform_",
})  # fmt: skip
"""Operators that draw random numbers, and so change what the next one draws."""

_SWITCHES = {
    "_scaled_dot_product_attention_math": "dropout_p", "_scaled_dot_product_efficient_attention": "dropout_p",
    "_scaled_dot_product_flash_attention": "dropout_p", "_scaled_dot_product_flash_attention_for_cpu": "dropout_p",
    "batch_norm": "training", "cudnn_batch_norm": "training", "embedding": "max_norm", "embedding_bag": "max_norm",
    "gru": "dropout", "instance_norm": "use_input_stats", "lstm": "dropout", "miopen_batch_norm": "training",
    "multi_head_attention_forward": "dropout_p", "native_batch_norm": "training", "rnn_relu": "dropout",
    "rnn_tanh": "dropout", "rrelu": "training", "scaled_dot_product_attention": "dropout_p",
}  # fmt: skip
"""Operators that draw random numbers, or write what they are given, only if an argument says so, and that argument."""


def effects(graph: Graph) -> bytes:
    """Mark the nodes that do something that shows elsewhere than in what reads their results.

    These are: writes in place into memory that was there before, of inputs, parameters, buffers and constants, and
    such as may be into it; attributes of modules that are assigned; random numbers; running statistics; what ranks
    communicate; steps of optimizers; gradients that are added up; what yields nothing, and code that is not seen. What
    a collapsed call does inside does not count.

    Returns:
        One byte for each node, 1 if it has an effect.
    """
    found = bytearray(len(graph.nodes))
    memory = storages(graph)
    for index, node in enumerate(graph.nodes):
        if node.kind in ("host", "region") or not node.outputs or graph.phase_of(node) == "optimizer":
            found[index] = 1
        elif node.kind in SOURCE_KINDS:
            found[index] = bool(node.inputs)
        elif node.kind == "op":
            found[index] = _writes(graph, node, memory) or _is_switched_on(graph, node)
    for row in graph.derivatives:
        if graph.nodes[row.forward].kind in SOURCE_KINDS:
            found[row.node] = 1
    return bytes(found)


def _writes(graph: Graph, node: Node, memory: list[int]) -> bool:
    """Return whether an operator writes, by its name, what is not surely a result of another in the graph."""
    if not is_in_place(node.op):
        return bool(graph.attrs_of(node).get("out"))
    if short_op(node.op) in OVERWRITERS or not node.inputs:  # nothing tells what they write
        return True
    makers = [graph.nodes[graph.producers[memory[value]]] for value in node.inputs[: len(node.outputs)]]
    return any(maker.kind in SOURCE_KINDS or (maker.kind == "op" and _is_written(graph, maker)) for maker in makers)


def _is_written(graph: Graph, maker: Node) -> bool:
    """Return whether what an operator makes lies in memory of which nothing tells whose it is."""
    return is_in_place(maker.op) or bool(graph.attrs_of(maker).get("out"))


def _is_switched_on(graph: Graph, node: Node) -> bool:
    """Return whether an operator draws random numbers, updates statistics, or communicates."""
    name = short_op(node.op)
    if name in _RANDOM or collective_of(graph, node) is not None:
        return True
    if name in DROPOUTS:
        return not GROUPS["dropout"](graph, node)
    attrs = graph.attrs_of(node)
    return bool(attrs.get(_SWITCHES.get(name, ""))) and attrs.get("train") is not False
