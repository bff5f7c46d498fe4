"""What changed from one graph to another."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Literal

from msgspec import Struct
from msgspec.structs import replace

from trec.analysis.changes import Changes
from trec.analysis.diff_graph import diff_graph
from trec.analysis.stats import stats
from trec.analysis.table import plain
from trec.errors import OptionError
from trec.ir.collector import paused
from trec.ir.given import given_graphs

if TYPE_CHECKING:
    import os
    from collections.abc import Iterator
    from typing import Any

    from trec.ir.graph import Graph

EditKind = Literal["added", "removed", "moved", "renamed", "retyped", "attribute", "reshaped", "rewired"]
_SIGNS = {"added": "+", "removed": "-", "moved": ">", "renamed": "="}
_EXCHANGED = ("renamed", "retyped", "attribute", "reshaped")
_SHOWN = 3
_ELEMENTS = re.compile(r"(?:\A|(?<=, ))[^\[\]]+(?=\[)")
"""The types of elements in the text of types."""
_NUMBER = re.compile(r"(?<![^.])\d+(?![^.])")


class Edit(Struct, frozen=True):
    """One thing that changed."""

    kind: EditKind
    """What happened: `retyped` is another operator or class, `reshaped` another type of tensor, `rewired` another
    value that is read."""
    what: str
    """`scope`, or the kind of the node."""
    name: str
    """Its name in the second graph; of what was removed, in the first."""
    before: str = ""
    """What it was; empty if it was not there."""
    after: str = ""
    """What it is now; empty if it is gone."""


class Diff(Struct, frozen=True, dict=True):
    """The edits that lead from one graph to another; false if there are none."""

    before: str
    """Name of the first graph."""
    after: str
    """Name of the second."""
    edits: tuple[Edit, ...]
    """What changed, in the order of the second graph; what was removed comes last."""
    params: tuple[int, int]
    """Elements of the parameters that each graph reads."""
    flops: tuple[int, int]
    """Floating point operations of each, where they were counted."""
    marks: dict[str, EditKind]
    """For each node and scope of the second graph that changed, the gravest change; for pictures."""
    removed: tuple[str, ...]
    """Names of the nodes of the first graph that are gone."""

    def __bool__(self) -> bool:
        return bool(self.edits)

    def rows(self) -> list[dict[str, Any]]:
        """Return the edits as plain rows."""
        return plain(self.edits)

    def to_graph(self) -> Graph:
        """Return one graph that holds what both graphs have, what changed marked by the attribute `diff`.

        All backends that draw show the marks: what was added is green, what was removed red and dashed, what changed
        amber, what only has another place or name blue and dotted; a legend says so. So a diff keeps both graphs.

        Raises:
            OptionError: the diff was loaded or copied, so its graphs are not known.

        Example:
            >>> from trec.ir.builder import GraphBuilder
            >>> def net(*ops):
            ...     builder = GraphBuilder("Net")
            ...     root = builder.scope("module", path="", cls="Net")
            ...     _ = [builder.node("op", op, parent=root) for op in ops]
            ...     return builder.build()
            >>> print(diff(net("relu", "tanh"), net("tanh")).to_graph())
            graph Net: 2 nodes, 0 values, 1 scope, diff='Net, then Net'
              relu(diff='removed')
              tanh()
        """
        if "changes" not in self.__dict__:
            raise OptionError("this diff was not made by `trec.diff` in this process, so its graphs are not known")
        was: dict[str, str] = {}
        for edit in self.edits:
            if edit.kind in _EXCHANGED and edit.before:
                was.setdefault(edit.name, edit.before)
        return diff_graph(self.__dict__["changes"], self.marks, was)

    def to_svg(self, path: str | os.PathLike[str] | None = None, **options: Any) -> str:
        """Return one picture of both graphs as SVG; see `to_graph`, for arguments `trec.backends.svg.to_svg`."""
        return self.to_graph().to_svg(path, **options)

    def to_html(self, path: str | os.PathLike[str] | None = None, **options: Any) -> str:
        """Return a page of both graphs; see `to_graph`, for arguments `trec.backends.html.page.to_html`."""
        return self.to_graph().to_html(path, **options)

    def __str__(self) -> str:
        return "\n".join(_lines(self))


def diff(before: Graph, after: Graph, *, names: bool = True) -> Diff:
    """Return what changed from one graph to another.

    Calls and steps are matched by what they are, then by name and class, then by their place; parameters by who reads
    them. What follows from another edit is no edit of its own: what lies in a call that was added, names inside a call
    that was renamed, a reader of what was put before it. Lines of source code, times and facts of the recording are not
    compared, and neither are names of steps, which follow from those of calls and operators. An argument that
    is None is as good as not given.

    Args:
        before: the first graph.
        after: the second graph, of the same level.
        names: whether names of calls, parameters, inputs and outputs are compared.

    Raises:
        OptionError: one of them is no graph.

    Ensures:
        There are no edits exactly if the graphs are equal but for what is not compared.

    Cost: near-linear, where most of the graphs is equal.

    Example:
        >>> from trec.ir.builder import GraphBuilder
        >>> def net(op):
        ...     builder = GraphBuilder("Net")
        ...     root, type_ = builder.scope("module", path="", cls="Net"), builder.tensor_type((2,), "float32")
        ...     value = builder.node("input", parent=root, name="x", results=[type_])
        ...     _ = builder.node("op", op, parent=root, inputs=value, results=[type_])
        ...     return builder.build()
        >>> print(diff(net("relu"), net("gelu")))
        Net, then Net: 1 edit
        ~ gelu: relu, then gelu
    """
    before, after = given_graphs((before, after))
    with paused():
        changes = Changes(before, after, names=names)
        edits = [Edit(*row) for row in changes.rows()]  # type: ignore[arg-type]
    marks: dict[str, EditKind] = {}
    for kind, name in changes.marks():
        marks.setdefault(name, kind)  # type: ignore[arg-type]
    one, other = stats(before), stats(after)
    found = Diff(
        before.name,
        after.name,
        tuple(edits),
        (one.params, other.params),
        (one.flops, other.flops),
        marks,
        tuple([before.nodes[index].name for index in changes.gone]),
    )
    found.__dict__["changes"] = changes
    return found


def _lines(found: Diff) -> Iterator[str]:
    """Yield the text of a diff; edits of many nodes that read alike are one line."""
    count = len(found.edits)
    facts = [f"{count:,} edit{'' if count == 1 else 's'}" if count else "no edits"]
    for what, (one, other) in (("parameters", found.params), ("FLOPs", found.flops)):
        if one != other:
            facts.append(f"{other - one:+,} {what}")
    yield f"{found.before}, then {found.after}: {', '.join(facts)}"
    groups: dict[tuple[str, str, str], list[Edit]] = {}
    for edit in found.edits:
        alone = edit.name if edit.kind in ("moved", "renamed") else ""
        if edit.kind in ("added", "removed"):  # those of one list read alike
            alone = _NUMBER.sub("#", edit.name)
        before, after = _of_elements(edit) if edit.kind == "reshaped" else (edit.before, edit.after)
        groups.setdefault((edit.kind + alone, before, after), []).append(edit)
    for (_, before, after), edits in groups.items():
        edit = edits[0]
        names = ", ".join([edit.name for edit in edits[:_SHOWN]])
        if len(edits) > _SHOWN:
            names = f"{names} and {len(edits) - _SHOWN:,} more"
        if any((other.before, other.after) != (edit.before, edit.after) for other in edits):
            edit = replace(edit, before=before, after=after)
        yield f"{_SIGNS.get(edit.kind, '~')} {names}{_told(edit)}"


def _of_elements(edit: Edit) -> tuple[str, str]:
    """Return what the types of elements were and are, if nothing else of some types changed; else all of both."""
    if _ELEMENTS.sub("", edit.before) == _ELEMENTS.sub("", edit.after):
        pairs = zip(_ELEMENTS.findall(edit.before), _ELEMENTS.findall(edit.after), strict=True)
        changed = {(was, now) for was, now in pairs if was != now}
        if len(changed) == 1:
            return changed.pop()
    return edit.before, edit.after


def _told(edit: Edit) -> str:
    if edit.kind in ("added", "removed"):
        return f" ({edit.after or edit.before})" if edit.after or edit.before else ""
    if edit.kind == "moved":
        return f": moved, read {edit.before}, now {edit.after}" if edit.before else ": moved"
    if edit.kind == "rewired":
        return f": read {edit.before}, now {edit.after}"
    if edit.kind == "attribute" and not (edit.before and edit.after):
        return f": {edit.after} is new" if edit.after else f": {edit.before} is gone"
    return f": {edit.before}, then {edit.after}"
