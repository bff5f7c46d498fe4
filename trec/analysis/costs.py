"""What nodes and calls cost: floating point operations, bytes, time."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from trec.analysis.below import sums_of_distinct
from trec.analysis.sizes import size_bytes
from trec.ir.types import FLOPS, SOURCE_KINDS

if TYPE_CHECKING:
    from collections.abc import Iterable

    from trec.ir.graph import Graph
    from trec.ir.types import AttrRow, Node

_MAKES_NOTHING = SOURCE_KINDS | {"link", "output"}


class Cost(Struct, frozen=True, gc=False):
    """What a node or a call costs."""

    flops: int | None
    """Floating point operations, a multiplication with an addition counted as two; None if they were not counted."""
    output_bytes: int
    """Bytes of the tensors that its steps yield, a view as much as a copy; unknown sizes count as nothing.

    What is yielded and read inside a collapsed node is not known any more.
    """
    parameter_bytes: int
    """Bytes of the distinct parameters that its steps read; unknown sizes count as nothing."""
    seconds: float | None
    """Wall time of the recorded run; None if it was not taken, and always in a graph from a file."""


class Costs(Struct, frozen=True):
    """What a graph costs, part by part."""

    nodes: tuple[Cost, ...]
    """By node. A parameter, an input or a link costs nothing."""
    scopes: tuple[Cost, ...]
    """By scope, with everything inside it; a parameter read by several steps counts once."""

    @property
    def total(self) -> Cost:
        """What the whole graph costs."""
        return self.scopes[0]


def costs(graph: Graph) -> Costs:
    """Return what each node and each call costs.

    Bytes follow from the types of values, so they are known for every graph. Floating point operations and seconds are
    there if the graph was recorded with `costs=True`; seconds are not kept in files. The time of an operator or of a
    function is what its kernels took to return; that of a module is all from its call to its return, without what
    recording took. What PyTorch takes to call the recording is still in it: nothing that shows where a module takes
    milliseconds, but several times the module's own time where it takes microseconds.

    Args:
        graph: what to look at, at any level, collapsed or not.

    Cost: near-linear.

    Example:
        >>> from trec.ir.builder import GraphBuilder
        >>> builder = GraphBuilder("Net", (("costs", True),))
        >>> root = builder.scope("module", path="", cls="Net")
        >>> made = builder.tensor_type((2, 3), "float32")
        >>> _ = builder.node("op", "mm", parent=root, results=[made], attrs=(("flops", 24),))
        >>> costs(builder.build()).total
        Cost(flops=24, output_bytes=24, parameter_bytes=0, seconds=None)
    """
    sizes = [size_bytes(type_) for type_ in graph.types]
    bytes_of = [sizes[value.type] for value in graph.values]
    parameters = {node.outputs[0] for node in graph.nodes if node.kind == "param"}
    flops = flops_of_rows(graph) if are_counted(graph) else None
    sums = [_Sum() for _ in graph.scopes]
    nodes = []
    for node in graph.nodes:
        seconds = graph.seconds.get(node.name)
        if node.kind in _MAKES_NOTHING:
            nodes.append(Cost(None if flops is None else 0, 0, 0, seconds))
            continue
        read = parameters.intersection(node.inputs)
        read_bytes = sum([bytes_of[value] for value in read])
        inner_bytes = _inner_bytes(graph, node, read_bytes)
        cost = Cost(
            None if flops is None else flops[node.attrs],
            sum([bytes_of[value] for value in node.outputs]),
            inner_bytes + read_bytes,
            seconds,
        )
        nodes.append(cost)
        sum_ = sums[node.parent if node.scope < 0 else node.scope]
        sum_.parameters |= read
        sum_.add(cost, inner_bytes)
    return Costs(tuple(nodes), tuple(_of_scopes(graph, sums, bytes_of, counted=flops is not None)))


def are_counted(graph: Graph) -> bool:
    """Return whether floating point operations were counted when the graph was recorded."""
    return ("costs", True) in graph.meta


def flops_of_rows(graph: Graph) -> list[int]:
    """Return for each row of attributes the floating point operations that it tells of."""
    found = [dict(row).get(FLOPS, 0) for row in graph.attrs]
    return [flops if isinstance(flops, int) else 0 for flops in found]


def with_flops(nodes: Iterable[Node], flops: Iterable[int], attrs: list[AttrRow]) -> list[Node]:
    """Return the nodes with their floating point operations, where they have any, in rows appended to `attrs`."""
    counted = []
    for node, count in zip(nodes, flops, strict=True):
        if count:
            arguments = [pair for pair in attrs[node.attrs] if pair[0] != FLOPS]
            attrs.append((*arguments, (FLOPS, count)))
            counted.append(replace(node, attrs=len(attrs) - 1))
        else:
            counted.append(node)
    return counted


class _Sum:
    """What the steps of a scope cost together, as far as they are known."""

    __slots__ = ("flops", "inner_bytes", "output_bytes", "parameters", "seconds")

    def __init__(self) -> None:
        self.flops = self.output_bytes = self.inner_bytes = 0
        self.parameters: set[int] = set()
        self.seconds: float | None = None

    def add(self, cost: Cost, inner_bytes: int, times: int = 1) -> None:
        self.flops += (cost.flops or 0) * times
        self.output_bytes += cost.output_bytes * times
        self.inner_bytes += inner_bytes
        if cost.seconds is not None:
            self.seconds = (self.seconds or 0.0) + cost.seconds


def _of_scopes(graph: Graph, sums: list[_Sum], bytes_of: list[int], *, counted: bool) -> list[Cost]:
    """Return what each scope costs, given the sums of what it holds itself."""
    found: list[Cost] = []
    parameter_bytes = sums_of_distinct(graph, [sum_.parameters for sum_ in sums], bytes_of)
    for scope, sum_, bytes_ in zip(reversed(graph.scopes), reversed(sums), reversed(parameter_bytes), strict=True):
        seconds = graph.seconds.get(scope.name, sum_.seconds)
        cost = Cost(sum_.flops if counted else None, sum_.output_bytes, sum_.inner_bytes + bytes_, seconds)
        found.append(cost)
        if scope.parent >= 0:
            sums[scope.parent].add(cost, sum_.inner_bytes, 1 + len(scope.repeats))
    return found[::-1]


def _inner_bytes(graph: Graph, node: Node, read_bytes: int) -> int:
    """Return the bytes of the parameters that lie inside a collapsed node, which it does not read from outside."""
    whole = graph.attrs_of(node).get("param_bytes") if node.kind == "module" else None
    return whole - read_bytes if isinstance(whole, int) else 0
