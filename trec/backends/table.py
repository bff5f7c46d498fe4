"""Tabulate the calls of modules: what goes in, what comes out, parameters and operations."""

from __future__ import annotations

import csv
import io
import re
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from trec.analysis.costs import are_counted
from trec.analysis.stats import Stats, stats
from trec.analysis.table import bytes_text, lines, plain
from trec.backends.plain import tensor
from trec.errors import DependencyError, OptionError
from trec.ir.atomic import write_text

if TYPE_CHECKING:
    import os

    from rich.table import Table as RichTable

    from trec.ir.graph import Graph

_HEADS = ("module", "class", "input", "output", "times", "ops", "params", "flops")
_MANY = 3
_BOUND = re.compile(r"\d+(?:#\d+)?|backward(?:_\d+)?")


class Row(Struct, frozen=True):
    """One call of a module, with everything inside it."""

    name: str
    """Name of the call."""
    cls: str
    """Class of the module."""
    depth: int
    """Number of modules around it."""
    inputs: tuple[str, ...]
    """Shapes of the tensors that go in, such as `1x3x224x224`, without parameters and buffers."""
    outputs: tuple[str, ...]
    """Shapes of the tensors that come out and are read."""
    times: int
    """How many equal calls it stands for; the numbers are for one."""
    ops: int
    """Operators that ran in it."""
    params: int
    """Elements of the distinct parameters that these read."""
    param_bytes: int
    """Bytes of these parameters."""
    flops: int | None
    """Floating point operations; None if they were not counted."""


class Table(Struct, frozen=True):
    """The calls of modules as a table: `print` shows it as text, `rich.print` in colours."""

    stats: Stats
    """What the whole graph amounts to."""
    calls: tuple[Row, ...]
    """In the order in which they began, the root first."""

    def rows(self) -> list[dict[str, Any]]:
        """Return the calls as plain rows."""
        return plain(self.calls)

    def csv(self) -> str:
        """Return the calls as comma-separated values, several shapes joined by a space.

        Source: RFC 4180, with line feeds.
        """
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(Row.__struct_fields__)
        for row in self.calls:
            cells = [getattr(row, field) for field in Row.__struct_fields__]
            writer.writerow([" ".join(cell) if isinstance(cell, tuple) else cell for cell in cells])
        return text.getvalue()

    def rich(self) -> RichTable:
        """Return the table as the package rich draws it.

        Raises:
            DependencyError: the package rich is not installed.
        """
        try:
            from rich.table import Table as Drawn
            from rich.text import Text
        except ImportError as error:
            raise DependencyError("Table.rich() needs the package rich: pip install 'trec[table]'") from error

        found = Drawn(title=Text(self.stats.name), caption=Text(self.total()))
        for at, head in enumerate(self.heads()):
            found.add_column(head, justify="right" if at > _MANY else "left", style=None if at else "bold")
        for cells in self.cells():
            found.add_row(*[Text(f"{cell:,}" if type(cell) is int else str(cell)) for cell in cells])
        return found

    def __rich__(self) -> RichTable:
        return self.rich()

    def __str__(self) -> str:
        return "\n".join([*lines(self.heads(), self.cells()), self.total()])

    def heads(self) -> tuple[str, ...]:
        """Return the names of the columns."""
        return _HEADS if any(row.flops is not None for row in self.calls) else _HEADS[:-1]

    def cells(self) -> list[tuple[object, ...]]:
        """Return the calls as rows of cells, the first of each indented by two spaces for each module around it."""
        count = len(self.heads())
        return [
            (
                "  " * row.depth + _short(row.name, row.depth),
                row.cls,
                _shapes(row.inputs),
                _shapes(row.outputs),
                row.times,
                row.ops,
                row.params,
                row.flops,
            )[:count]
            for row in self.calls
        ]

    def total(self) -> str:
        """Return the sums of the whole graph in words."""
        all_ = self.stats
        words = f"{all_.ops:,} operators, {all_.params:,} parameters ({bytes_text(all_.param_bytes)})"
        return "\n".join([f"{words}, {all_.flops:,} FLOPs" if all_.flops else words, *all_.phase_lines()])


def to_table(graph: Graph, path: str | os.PathLike[str] | None = None, *, depth: int | None = None) -> Table:
    """Return the calls of modules as a table: shapes in and out, operators, parameters, floating point operations.

    Args:
        graph: what to tabulate.
        path: file that the rows are written to as comma-separated values; with the suffix `.gz` it is compressed.
        depth: levels of modules to show; 0 shows the root only, None all.

    Raises:
        OptionError: the depth is no whole number from 0.

    Cost: linear, times the depth of the modules.

    Example:
        >>> from trec.ir.builder import GraphBuilder
        >>> builder = GraphBuilder("Net")
        >>> root, type_ = builder.scope("module", path="", cls="Net"), builder.tensor_type((2, 3), "float32")
        >>> x = builder.node("input", parent=root, name="x", results=[type_])
        >>> y = builder.node("op", "relu", parent=root, inputs=x, results=[type_])
        >>> to_table(builder.build()).rows()[0]["ops"]
        1
    """
    if depth is not None and (type(depth) is not int or depth < 0):
        raise OptionError(f"depth must be the levels of modules to show, a whole number from 0, not {depth!r}")
    found = stats(graph)
    inputs, outputs = _crossing(graph)
    shapes = [tensor(type_)["tensor_shape"] for type_ in graph.types]
    counted = are_counted(graph)
    scopes = [index for index, scope in enumerate(graph.scopes) if scope.kind == "module" or index == 0]
    rows = [
        Row(
            module.name,
            module.cls,
            module.depth,
            tuple([shapes[graph.values[value].type] for value in inputs[scope]]),
            tuple([shapes[graph.values[value].type] for value in outputs[scope]]),
            module.times,
            module.ops,
            module.params,
            module.param_bytes,
            module.flops if counted else None,
        )
        for scope, module in zip(scopes, found.modules, strict=True)
        if depth is None or module.depth <= depth
    ]
    table = Table(found, tuple(rows))
    if path is not None:
        write_text(path, [table.csv().removesuffix("\n")])
    return table


def _crossing(graph: Graph) -> tuple[list[dict[int, None]], list[dict[int, None]]]:
    """Return for each scope the values that go in and those that come out, in the order in which they first do.

    For the root, these are the inputs and what outputs return.
    """
    inputs: list[dict[int, None]] = [{} for _ in graph.scopes]
    outputs: list[dict[int, None]] = [{} for _ in graph.scopes]
    inner = [node.scope if node.scope >= 0 else node.parent for node in graph.nodes]
    for index, node in enumerate(graph.nodes):
        if node.kind == "input":
            inputs[0].update(dict.fromkeys(node.outputs))
        elif node.kind == "output":
            outputs[0].update(dict.fromkeys(node.inputs))
        for value in node.inputs:
            producer = graph.producers[value]
            if graph.nodes[producer].kind in ("param", "buffer"):
                continue
            source, target = inner[producer], inner[index]
            # A scope follows the one around it, so the later of two that differ is in no case around the other.
            while source != target:
                if source > target:
                    outputs[source][value] = None
                    source = graph.scopes[source].parent
                else:
                    inputs[target][value] = None
                    target = graph.scopes[target].parent
    return inputs, outputs


def _short(name: str, depth: int) -> str:
    """Return the name of a call without its path, as deep as it stands.

    A number keeps what it is a number of, and a backward what it is the backward of.
    """
    parts = name.split(".")
    count = 1
    while depth and count < len(parts) and _BOUND.fullmatch(parts[-count]):
        count += 1
    return ".".join(parts[-count:])


def _shapes(shapes: tuple[str, ...]) -> str:
    """Return shapes as a cell shows them: the first few, equal ones once with their count."""
    counts: dict[str, int] = {}
    for shape in shapes:
        counts[shape] = counts.get(shape, 0) + 1
    words = [(shape or "scalar") + (f" ({count})" if count > 1 else "") for shape, count in counts.items()]
    return ", ".join([*words[:_MANY], *(["…"] if len(words) > _MANY else [])])
