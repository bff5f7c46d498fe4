"""The text form of a graph: one line per node, short, deterministic and readable in a diff."""

from __future__ import annotations

import re
from collections import Counter
from itertools import groupby
from typing import TYPE_CHECKING

from trec.ir.types import SOURCE_KINDS, UNKNOWN

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from trec.ir.graph import Graph
    from trec.ir.types import Attr, Carried, Node, TensorType

SHORT = {
    "bfloat16": "bf16",
    **{f"float{bits}": f"f{bits}" for bits in (16, 32, 64)},
    **{f"complex{bits}": f"c{bits}" for bits in (32, 64, 128)},
    **{f"int{bits}": f"i{bits}" for bits in (8, 16, 32, 64)},
    **{f"uint{bits}": f"u{bits}" for bits in (8, 16, 32, 64)},
}
"""Short names of element types; any other type keeps its own."""

_BARE = re.compile(r"[^\W\d][\w.]*(?:[#:-][\w.]+)*")
_MANY = 8
"""More uses of one value after another than that are counted."""
_ROW_ERRORS = (AttributeError, IndexError, KeyError, TypeError, ValueError)


def lines(graph: Graph) -> Iterator[str]:
    """Yield the text form of a graph, line by line without line ends.

    A value that a node brings in (input, parameter, buffer, constant) goes by the name of that node, any other by its
    number. The comment is the call that the node belongs to, and what it differentiates. What is as expected is left
    out: the device that most tensors lie on, a position or qualified name that the line already tells.

    Example:
        >>> from trec.ir.builder import GraphBuilder
        >>> builder = GraphBuilder("Net")
        >>> root = builder.scope("module", path="", cls="Net")
        >>> _ = builder.node("input", parent=root, name="x", results=[builder.tensor_type((2, 3), "float32")])
        >>> list(lines(builder.build()))[1]
        '  %x: f32[2,3] = input'
    """
    printer = _Printer(graph)
    yield printer.header()
    for index, node in enumerate(graph.nodes):
        yield f"  {printer.line(index, node)}"
    for edge in graph.carried:
        yield f"  {printer.carried(edge)}"
    for scope in graph.scopes:
        error = graph.attrs_of(scope).get("error") if scope.attrs else None
        if error is not None:
            yield f"  failed: {word(scope.path) if scope.path else 'the root'} ({word(scope.cls)}) raised {error}"
    for note in graph.notes:
        yield f"  note: {' '.join([word(part) for part in (note.kind, note.name, note.text) if part])}"


def window(graph: Graph, index: int, radius: int = 3) -> str:
    """Return the numbered lines around a node, which is marked; a broken graph is printed as far as it can be.

    Args:
        graph: the program, which need not be valid.
        index: index of the node in the middle.
        radius: how many nodes to show before and after it.
    """
    nodes = graph.nodes
    printer: _Printer | None
    try:
        printer = _Printer(graph)
    except _ROW_ERRORS:
        printer = None
    shown = []
    for near in range(max(index - radius, 0), min(index + radius + 1, len(nodes))):
        try:
            text = repr(nodes[near]) if printer is None else printer.line(near, nodes[near])
        except _ROW_ERRORS:
            text = repr(nodes[near])
        shown.append(f"{'>' if near == index else ' '}{near:>7}  {clipped(text)}")
    return "\n".join(shown)


def type_text(type_: TensorType, device: str = "cpu") -> str:
    """Return a tensor type in short, such as `f32[2,3]`, with its device if that is not the given one."""
    text = f"{SHORT.get(type_.dtype, word(type_.dtype))}[{','.join([word(str(size)) for size in type_.shape])}]"
    if type_.layout != "strided":
        text = f"{text}:{word(type_.layout)}"
    return text if type_.device in (device, UNKNOWN) else f"{text}@{word(type_.device)}"


def word(text: str) -> str:
    """Return the text, quoted and escaped where it holds a character that is not printable."""
    return text if text.isprintable() else repr(text)


def clipped(text: str, most: int = 400) -> str:
    """Return the text, without its middle where it is longer than a message should be."""
    if len(text) <= most:
        return text
    half = most // 2
    return f"{text[:half]} ... ({len(text) - 2 * half:,} characters) ... {text[-half:]}"


class _Printer:
    """What the lines of one graph have in common."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        used = Counter([value.type for value in graph.values if 0 <= value.type < len(graph.types)])
        devices: Counter[str] = Counter()
        for type_, count in used.items():
            if graph.types[type_].device != UNKNOWN:
                devices[graph.types[type_].device] += count
        self.device = min(devices, key=lambda device: (-devices[device], device), default="cpu")
        self.types = [type_text(type_, self.device) for type_ in graph.types]
        self.names: dict[int, str] = {}
        self.position: dict[int, int] = {}
        counts = {"input": 0, "output": 0}
        for index, node in enumerate(graph.nodes):
            if node.kind in SOURCE_KINDS:
                self.names.update(dict.fromkeys(node.outputs, _reference(node.name)))
            if node.kind in counts:
                self.position[index] = counts[node.kind]
                counts[node.kind] += 1
        self.calls = ["" if scope.parent < 0 else f"  # {word(scope.name)}" for scope in graph.scopes]
        if any(scope.repeats for scope in graph.scopes):
            for scope, count in enumerate(graph.counts):
                self.calls[scope] += f"{'' if self.calls[scope] else '  #'} x{count}" if count > 1 else ""
        self.differentiated = {
            index: f" of {', '.join([word(graph.nodes[other].name) for other in others])}"
            for index, others in graph.differentiated.items()
        }
        self.rows: list[str | None] = [None] * len(graph.attrs)

    def header(self) -> str:
        graph = self.graph
        facts = [_count(graph.nodes, "node"), _count(graph.values, "value"), _count(graph.scopes, "scope")]
        facts += [_attr(name, value) for name, value in graph.meta]
        if self.device != "cpu":
            facts.append(f"on {word(self.device)}")
        return f"graph {word(graph.name)}: {', '.join(facts)}"

    def line(self, index: int, node: Node) -> str:
        head = word(node.op) if node.kind in ("op", node.op) else f"{node.kind} {word(node.op)}"
        inputs = ", ".join(self.inputs(node))
        if node.kind == "output" and node.name != "output":
            inputs = f"{_name(node.name)}={inputs}"
        row = self.row(index, node)
        arguments = f"{inputs}, {row}" if inputs and row else inputs or row
        if arguments or node.kind not in SOURCE_KINDS:
            head = f"{head}({arguments})"
        call = node.parent if node.scope < 0 else node.scope
        comment = self.calls[call] if 0 <= call < len(self.calls) else f"  # scope {call}?"
        comment += self.differentiated.get(index, "")
        if not node.outputs:
            return head + comment
        results = ", ".join([self.value(value) for value in node.outputs])
        types = ", ".join([self.type(value) for value in node.outputs])
        return f"{results}: {types} = {head}{comment}"

    def inputs(self, node: Node) -> Iterator[str]:
        """Yield what a node reads; of one value many times over, as from a rolled loop, how often."""
        for value, uses in groupby(node.inputs):
            count = len(list(uses))
            if count > _MANY:
                yield f"{self.value(value)} x{count}"
            else:
                yield from [self.value(value)] * count

    def value(self, value: int) -> str:
        return self.names.get(value) or f"%{value}"

    def type(self, value: int) -> str:
        known = 0 <= value < len(self.graph.values)
        type_ = self.graph.values[value].type if known else -1
        return self.types[type_] if 0 <= type_ < len(self.types) else "?"

    def row(self, index: int, node: Node) -> str:
        if not 0 <= node.attrs < len(self.rows):
            return f"attrs {node.attrs}?"
        if node.kind in SOURCE_KINDS or node.kind == "output":
            told = {("index", self.position.get(index)), ("qualname", node.name)}
            return ", ".join([_attr(*pair) for pair in self.graph.attrs[node.attrs] if pair not in told])
        row = self.rows[node.attrs]
        if row is None:
            row = self.rows[node.attrs] = ", ".join([_attr(*pair) for pair in self.graph.attrs[node.attrs]])
        return row

    def carried(self, edge: Carried) -> str:
        call = self.calls[edge.loop] if edge.loop >= 0 else ""
        return f"carried({self.value(edge.value)} -> {_name(self.graph.nodes[edge.node].name)} port {edge.port}){call}"


def _count(rows: Sequence[object], noun: str) -> str:
    return f"{len(rows)} {noun}" if len(rows) == 1 else f"{len(rows)} {noun}s"


def _name(text: str) -> str:
    return text if _BARE.fullmatch(text) else repr(text)


def _reference(name: str) -> str:
    return f"%{_name(name)}"


def _attr(name: str, value: Attr) -> str:
    return f"{_name(name)}={value!r}"
