"""What nodes and calls cost: floating point operations, bytes, time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msgspec import Struct
from msgspec.structs import replace

from trec.analysis.sizes import size_bytes
from trec.analysis.sums import Sums
from trec.analysis.table import lines, plain
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


class ModuleCost(Struct, frozen=True, gc=False):
    """What one call of a module costs, with everything inside it; of what stands for several calls, one."""

    name: str
    """Name of its scope."""
    cls: str
    """Class of the module."""
    depth: int
    """Levels below the root."""
    times: int
    """How many equal calls it stands for."""
    flops: int | None
    """As in `Cost`."""
    output_bytes: int
    """As in `Cost`."""
    parameter_bytes: int
    """As in `Cost`."""
    seconds: float | None
    """As in `Cost`."""


class Costs(Struct, frozen=True):
    """What a graph costs, part by part."""

    nodes: tuple[Cost, ...]
    """By node. A parameter, an input or a link costs nothing."""
    scopes: tuple[Cost, ...]
    """By scope, with everything inside it; a parameter read by several steps counts once."""
    modules: tuple[ModuleCost, ...] = ()
    """The calls of modules, in the order in which they began."""

    @property
    def total(self) -> Cost:
        """What the whole graph costs."""
        return self.scopes[0]

    def rows(self) -> list[dict[str, Any]]:
        """Return the calls of modules as plain rows."""
        return plain(self.modules)

    def __str__(self) -> str:
        timed = any(row.seconds is not None for row in self.modules)
        heads = ("module", "class", "times", "flops", "output bytes", "parameter bytes", "seconds")
        rows = [
            (
                "  " * row.depth + row.name,
                row.cls,
                row.times,
                "-" if row.flops is None else row.flops,
                row.output_bytes,
                row.parameter_bytes,
                "-" if row.seconds is None else f"{row.seconds:.6f}",
            )
            for row in self.modules
        ]
        kept = len(heads) if timed else len(heads) - 1
        return "\n".join(lines(heads[:kept], [row[:kept] for row in rows]))


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
    nodes = []
    for node in graph.nodes:
        seconds = graph.seconds.get(node.name)
        if node.kind in _MAKES_NOTHING:
            nodes.append(Cost(None if flops is None else 0, 0, 0, seconds))
            continue
        read_bytes = sum([bytes_of[value] for value in parameters.intersection(node.inputs)])
        nodes.append(
            Cost(
                None if flops is None else flops[node.attrs],
                sum([bytes_of[value] for value in node.outputs]),
                _inner_bytes(graph, node, read_bytes) + read_bytes,
                seconds,
            )
        )
    scopes = _of_scopes(graph, nodes)
    modules = [
        ModuleCost(
            row.name, row.cls, row.depth, graph.counts[index],
            cost.flops, cost.output_bytes, cost.parameter_bytes, cost.seconds,
        )
        for index, (row, cost) in enumerate(zip(graph.scopes, scopes, strict=True))
        if row.kind == "module" or index == 0
    ]  # fmt: skip
    return Costs(tuple(nodes), tuple(scopes), tuple(modules))


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


def _of_scopes(graph: Graph, nodes: list[Cost]) -> list[Cost]:
    """Return what each scope costs, in one of its runs, given the costs of the nodes."""
    output_bytes = [0] * len(graph.scopes)
    taken: list[float | None] = [None] * len(graph.scopes)
    for node, cost in zip(graph.nodes, nodes, strict=True):
        if node.kind not in _MAKES_NOTHING:
            scope = node.parent if node.scope < 0 else node.scope
            output_bytes[scope] += cost.output_bytes
            taken[scope] = _added(taken[scope], cost.seconds)
    for index in range(len(graph.scopes) - 1, -1, -1):
        row = graph.scopes[index]
        taken[index] = graph.seconds.get(row.name, taken[index])
        if row.parent >= 0:
            output_bytes[row.parent] += output_bytes[index] * (1 + len(row.repeats))
            taken[row.parent] = _added(taken[row.parent], taken[index])
    counted = are_counted(graph)
    return [
        Cost(flops if counted else None, output_bytes[index], param_bytes, taken[index])
        for index, (_, _, param_bytes, flops) in enumerate(Sums(graph).of_scopes)
    ]


def _added(one: float | None, other: float | None) -> float | None:
    return one if other is None else (one or 0.0) + other


def _inner_bytes(graph: Graph, node: Node, read_bytes: int) -> int:
    """Return the bytes of the parameters that lie inside a collapsed node, which it does not read from outside."""
    whole = graph.attrs_of(node).get("param_bytes") if node.kind == "module" else None
    return whole - read_bytes if isinstance(whole, int) else 0
