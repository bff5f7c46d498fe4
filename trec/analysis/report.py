"""What a recording did not see, and what of the model it did not need."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from msgspec import Struct

from trec.analysis.groups import is_in_place
from trec.ir.text import type_text, word

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trec.ir.graph import Graph
    from trec.ir.types import Node

FindingKind = Literal[
    "unseen_region", "unseen_thread", "cut", "unused_param", "unused_buffer", "uncalled_module", "unused_result",
    "not_restored",
]  # fmt: skip

HEADINGS: dict[str, str] = {
    "unseen_region": "code whose operators were not seen",
    "unseen_thread": "threads that were not followed",
    "cut": "values that left torch, or came from outside it",
    "unused_param": "parameters that no operator read",
    "unused_buffer": "buffers that no operator read",
    "uncalled_module": "modules that were never called",
    "unused_result": "results that nothing used",
    "not_restored": "what could not be put back",
}
"""For each kind of finding what it says, in the order in which a report is printed."""


class Finding(Struct, frozen=True, gc=False):
    """One thing that was not seen or not used."""

    kind: str
    """One of `FindingKind`; a file of a newer trec may hold others."""
    name: str
    """Name of the node, or qualified name of the parameter, buffer or module; empty where it is about no single one."""
    path: str
    """Path of the module that it lies in; empty for the root, or where it is not known."""
    source: str
    """File and line of the call, as `model.py:31`; empty where it is not known."""
    text: str
    """What there is to say, in a few words."""


class Report(Struct, frozen=True):
    """What a recording did not see and what it did not need; false if there is nothing to tell."""

    name: str
    """Name of the graph."""
    findings: tuple[Finding, ...]
    """In the order of `HEADINGS`, those of one kind in the order of the program or of the model."""

    def __bool__(self) -> bool:
        return bool(self.findings)

    def __len__(self) -> int:
        return len(self.findings)

    def of(self, kind: FindingKind) -> tuple[Finding, ...]:
        """Return the findings of one kind."""
        return tuple(finding for finding in self.findings if finding.kind == kind)

    def rows(self) -> list[dict[str, str]]:
        """Return the findings as plain data: one dict for each, all with the same keys."""
        return [{key: getattr(finding, key) for key in Finding.__struct_fields__} for finding in self.findings]

    def __str__(self) -> str:
        return "\n".join(_lines(self))


def report(graph: Graph) -> Report:
    """Return what the recording did not see and what the model did not use.

    What is told at the level of ATen operators is what would be told of functions. Of what lies in a collapsed module,
    only the unused parameters and modules are known. What runs in the root of a recording of several calls is never
    called unused, since the code around may hold its result; and neither is a write.

    Args:
        graph: a recording, from a file or not, rewritten or not.

    Returns:
        Regions and threads that were not seen, places where values left torch, parameters, buffers, modules and
        results that were not used, and what could not be put back after the run. Empty, hence false, if all was seen.

    Example:
        >>> from trec.ir.builder import GraphBuilder
        >>> builder = GraphBuilder("Net")
        >>> root = builder.scope("module", path="", cls="Net")
        >>> x, = builder.node("input", parent=root, name="x", results=[builder.tensor_type((), "float32")])
        >>> _ = builder.node("host", "item", parent=root, inputs=[x])
        >>> print(report(builder.build()))
        Net: 1 finding
          values that left torch, or came from outside it
            item: item of x: f32[]
    """
    if dict(graph.meta).get("level") == "aten":
        graph = graph.level("function")
    found = [Finding(note.kind, note.name, "", "", note.text) for note in graph.notes]
    for index, node in enumerate(graph.nodes):
        told = _tell(graph, index, node)
        if told is not None:
            kind, text = told
            place = graph.source_of(node)
            source = "" if place is None else f"{place.file}:{place.line}"
            found.append(Finding(kind, node.name, graph.scopes[node.parent].path, source, text))
    order = {kind: position for position, kind in enumerate(HEADINGS)}
    found.sort(key=lambda finding: (order.get(finding.kind, len(order)), finding.kind))
    return Report(graph.name, tuple(found))


def _tell(graph: Graph, index: int, node: Node) -> tuple[FindingKind, str] | None:
    """Return what there is to say about a node."""
    if node.kind == "host":
        if node.inputs and not node.outputs:
            return "cut", f"{node.op} of {_values(graph, node.inputs)}"
        if node.outputs and not node.inputs:
            return "cut", f"{_values(graph, node.outputs)} comes from {node.op}"
        return None
    if node.kind == "region" and node.scope < 0:
        return "unseen_region", f"{node.op} is one node, what it runs is not seen"
    if node.kind not in ("op", "module", "region") or not node.outputs or is_in_place(node.op):
        return None
    if any(graph.users[value] for value in node.outputs) or (not node.parent and graph.scopes[0].kind == "region"):
        return None
    return "unused_result", f"{node.op} gives {_values(graph, node.outputs)}"


def _values(graph: Graph, values: tuple[int, ...]) -> str:
    return ", ".join(
        f"{word(graph.values[value].name)}: {type_text(graph.type_of(value))}" for value in dict.fromkeys(values)
    )


def _lines(report: Report) -> Iterator[str]:
    if not report:
        yield f"{word(report.name)}: everything was seen and used"
        return
    count = len(report)
    yield f"{word(report.name)}: {count} finding{'s' if count > 1 else ''}"
    heading = ""
    for finding in report.findings:
        if finding.kind != heading:
            heading = finding.kind
            yield f"  {HEADINGS.get(heading) or word(heading)}"
        place = " ".join(word(part) for part in (finding.path, finding.source) if part)
        text = ": ".join(word(part) for part in (finding.name, finding.text) if part)
        yield f"    {text}  # {place}" if place else f"    {text}"
