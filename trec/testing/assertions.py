"""What a test may claim about a graph."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from trec.analysis.selectors import nodes as selected
from trec.errors import FormatError
from trec.ir.serialize import load
from trec.ir.text import type_text
from trec.testing.goldens import current

if TYPE_CHECKING:
    from trec.analysis.selectors import Selector
    from trec.ir.graph import Graph

_SHOWN = 10


def assert_matches(graph: Graph, golden: str | os.PathLike[str], *, names: bool = True) -> None:
    """Fail unless a graph is the one in a file; lines of source code and times may differ.

    Under `pytest --trec-update` the file is written instead, where it is missing, unreadable or differs.

    Args:
        graph: what the test made.
        golden: a `.json` or `.trec` file; a relative name begins at the folder of the test, without the plugin of
            pytest at the working directory.
        names: whether names of calls, parameters, inputs and outputs are compared.

    Raises:
        AssertionError: the graphs differ, and the message says in what; or there is no such file, and it says how to
            make it.
        FormatError: the file is no graph.

    Example:
        >>> from pathlib import Path
        >>> from tempfile import TemporaryDirectory
        >>> from trec.ir.builder import GraphBuilder
        >>> builder = GraphBuilder("Net")
        >>> _ = builder.scope("module", path="", cls="Net")
        >>> graph = builder.build()
        >>> with TemporaryDirectory() as folder:
        ...     graph.save(Path(folder) / "net.json")
        ...     assert_matches(graph, Path(folder) / "net.json")
    """
    __tracebackhide__ = True
    path = current.path(golden)
    how = f"`pytest --trec-update` or `graph.save({os.fspath(path)!r})`"
    found = None
    if path.exists():
        try:
            found = load(path).diff(graph, names=names)
        except FormatError as error:
            if not current.update:
                error.add_note(f"to write it anew: {how}")
                raise
        else:
            if not found:
                return
    if current.update:
        path.parent.mkdir(parents=True, exist_ok=True)
        graph.save(path)
        current.written.append(path)
        return
    if found is None:
        raise AssertionError(f"there is no golden graph {path}; to make it: {how}")
    raise AssertionError(f"the graph is not the one in {path}; what changed:\n{found}\nIf that is meant: {how}")


def assert_no(graph: Graph, selector: Selector) -> None:
    """Fail if a selector selects a node of a graph.

    Args:
        graph: where to look.
        selector: what must not be there, such as `dtype:float64` or `op:aten.*copy*`; see
            `trec.analysis.selectors.nodes`.

    Raises:
        AssertionError: there is such a node; the message names the first ones and their lines in the source code.
        OptionError: the selector is wrong.

    Example:
        >>> from trec.ir.builder import GraphBuilder
        >>> builder = GraphBuilder("Net")
        >>> root = builder.scope("module", path="", cls="Net")
        >>> _ = builder.node("op", "aten.relu.default", parent=root)
        >>> assert_no(builder.build(), "op:aten.*copy*")
        >>> assert_no(builder.build(), "op:relu")
        Traceback (most recent call last):
        AssertionError: 1 node of Net is selected by 'op:relu', expected none:
          aten.relu.default: aten.relu.default
    """
    __tracebackhide__ = True
    mask = selected(graph, selector, missing_ok=True)
    count = sum(mask)
    if not count:
        return
    what = repr(selector) if isinstance(selector, str) else "the selector"
    head = f"{count:,} node{' of' if count == 1 else 's of'} {graph.name} {'is' if count == 1 else 'are'} selected"
    told = [_told(graph, index) for index in range(len(mask)) if mask[index]][:_SHOWN]
    if count > _SHOWN:
        told.append(f"and {count - _SHOWN:,} more")
    raise AssertionError("\n  ".join([f"{head} by {what}, expected none:", *told]))


def _told(graph: Graph, index: int) -> str:
    """Return a node by its name, what it does, its results and the line that made it."""
    node = graph.nodes[index]
    types = ", ".join([type_text(graph.type_of(value)) for value in node.outputs])
    source = graph.source_of(node)
    place = f", {source.file}:{source.line}" if source else ""
    return f"{node.name}: {node.op}{f' gives {types}' if types else ''}{place}"
