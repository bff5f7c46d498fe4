"""Numbers that describe a graph, for the whole and module by module."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from msgspec import Struct

from trec.analysis.paths import is_step, levels
from trec.analysis.sizes import elements, size_bytes
from trec.analysis.sums import Sums
from trec.analysis.table import bytes_text, lines, plain
from trec.ir.types import Phase

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from trec.ir.graph import Graph


class ModuleStats(Struct, frozen=True):
    """One call of a module, with everything inside it."""

    name: str
    """Name of the call."""
    cls: str
    """Class of the module."""
    depth: int
    """Number of modules around it."""
    times: int
    """How many equal calls it stands for; the numbers are for one."""
    ops: int
    """Operators that ran in it."""
    params: int
    """Elements of the distinct parameters that these read."""
    param_bytes: int
    """Bytes of these parameters."""
    flops: int
    """Floating point operations, where they were counted."""


class PhaseStats(Struct, frozen=True):
    """One part of a step of training."""

    phase: Phase
    """Which one."""
    ops: int
    """Operators that ran in it."""
    flops: int
    """Floating point operations, where they were counted."""


class Stats(Struct, frozen=True):
    """What a graph amounts to; calls that stand for several count as often as they ran."""

    name: str
    """Name of the graph."""
    nodes: int
    """Rows of the program."""
    ops: int
    """Operators that ran."""
    params: int
    """Elements of the parameters that were read, shared ones once."""
    param_bytes: int
    """Bytes of these parameters."""
    buffers: int
    """Elements of the buffers that were read."""
    buffer_bytes: int
    """Bytes of these buffers."""
    flops: int
    """Floating point operations, where they were counted."""
    depth: int
    """Nodes that are steps on the longest path; of what was folded, one iteration."""
    width: int
    """The most nodes that are steps and equally far from the start."""
    by_op: tuple[tuple[str, int], ...]
    """How often each operator ran, the most frequent first; a collapsed call counts as its class."""
    modules: tuple[ModuleStats, ...]
    """The calls of modules, in the order in which they began."""
    phases: tuple[PhaseStats, ...] = ()
    """The parts of a step of training, in order of appearance; most graphs have but the forward one."""

    def rows(self) -> list[dict[str, Any]]:
        """Return the calls of modules as plain rows."""
        return plain(self.modules)

    def __str__(self) -> str:
        head = [
            f"{self.name}: {self.ops:,} operators in {self.nodes:,} nodes, depth {self.depth:,}, width {self.width:,}",
            f"{self.params:,} parameters ({bytes_text(self.param_bytes)}), {self.buffers:,} in buffers"
            f" ({bytes_text(self.buffer_bytes)})" + (f", {self.flops:,} FLOPs" if self.flops else ""),
            *self.phase_lines(),
        ]
        rows = [
            ("  " * row.depth + row.name, row.cls, row.times, row.ops, row.params, row.flops) for row in self.modules
        ]
        return "\n".join([*head, *lines(("module", "class", "times", "ops", "params", "flops"), rows)])

    def phase_lines(self) -> list[str]:
        """Return what each part of a step of training amounts to, in words; nothing if there is but one."""
        return [
            f"{row.phase}: {row.ops:,} operators" + (f", {row.flops:,} FLOPs" if self.flops else "")
            for row in self.phases
            if len(self.phases) > 1
        ]


def stats(graph: Graph) -> Stats:
    """Return how many operators, parameters, bytes and FLOPs a graph has, in all and module by module.

    A parameter that several modules share counts once in each of them, and once in what is around them. Collapsed
    calls count with the sums that they carry; what they share with others is not known any more.

    Args:
        graph: what to look at.

    Cost: near-linear.

    Example:
        >>> from trec.ir.builder import GraphBuilder
        >>> builder = GraphBuilder("Net")
        >>> root, type_ = builder.scope("module", path="", cls="Net"), builder.tensor_type((4, 4), "float32")
        >>> value = builder.node("param", parent=root, name="w", results=[type_])
        >>> _ = builder.node("op", "mm", parent=root, inputs=[*value, *value], results=[type_])
        >>> print(stats(builder.build()))
        Net: 1 operators in 2 nodes, depth 1, width 1
        16 parameters (64 B), 0 in buffers (0 B)
        module  class  times  ops  params  flops
        Net     Net        1    1      16      0
    """
    sums = Sums(graph)
    total = sums.of_scopes[0] if graph.scopes else (0, 0, 0, 0)
    sizes = [(elements(type_), size_bytes(type_)) for type_ in graph.types]
    buffers = [
        [size * graph.times(node) for size in sizes[graph.values[node.outputs[0]].type]]
        for node in graph.nodes
        if node.kind == "buffer"
    ]
    steps = [level for level, node in zip(levels(graph), graph.nodes, strict=True) if is_step(node.kind)]
    modules = [
        ModuleStats(scope.name, scope.cls, scope.depth, graph.counts[index], *sums.of_scopes[index])
        for index, scope in enumerate(graph.scopes)
        if scope.kind == "module" or index == 0
    ]
    return Stats(
        graph.name,
        len(graph.nodes),
        *total[:3],
        sum([elements_ for elements_, _ in buffers]),
        sum([bytes_ for _, bytes_ in buffers]),
        total[3],
        max(steps, default=0),
        max(Counter(steps).values(), default=0),
        tuple(sorted(_by_op(graph).items(), key=lambda pair: (-pair[1], pair[0]))),
        tuple(modules),
        tuple(_phases(graph, sums)),
    )


def _phases(graph: Graph, sums: Sums) -> Iterator[PhaseStats]:
    """Yield what each phase amounts to: a scope counts with what is in it, without the scopes of other phases."""
    totals: dict[Phase, list[int]] = {phase: [0, 0] for phase in graph.phases}
    for index, scope in enumerate(graph.scopes):
        around = None if scope.parent < 0 else graph.scopes[scope.parent].phase
        if around == scope.phase:
            continue
        ops, _, _, flops = sums.of_scopes[index]
        times = graph.counts[index]
        for phase, sign in ((scope.phase, 1), (around, -1)):
            if phase is not None:
                totals[phase][0] += sign * ops * times
                totals[phase][1] += sign * flops * times
    return (PhaseStats(phase, *total) for phase, total in totals.items())


def _by_op(graph: Graph) -> Counter[str]:
    counts: Counter[str] = Counter()
    for node in graph.nodes:
        if node.kind in ("op", "module"):
            counts[node.op] += graph.times(node)
    return counts
