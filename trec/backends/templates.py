"""Texts that users write with gaps in them: titles of nodes, and addresses of source lines."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trec.backends.families import short_name
from trec.errors import OptionError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from trec.ir.graph import Graph
    from trec.ir.types import Node, Source


def label(template: str, graph: Graph, node: Node, title: str, shape: str) -> str:
    """Return the title that a template gives a node.

    Args:
        template: may name `{title}`, `{name}`, `{op}`, `{kind}`, `{depth}`, `{path}`, `{class}`, `{shape}`, `{dtype}`
            and any attribute of the node.
        graph: what is drawn.
        node: one of its nodes.
        title: what stands on its box otherwise.
        shape: the shape of its first result as it is written on pictures.

    Raises:
        OptionError: the template names something else.
    """
    scope = graph.scopes[node.scope if node.scope >= 0 else node.parent]
    facts = {
        "title": title,
        "name": node.name,
        "op": short_name(node.op),
        "kind": node.kind,
        "depth": node.depth,
        "path": scope.path,
        "class": scope.cls,
        "shape": shape,
        "dtype": graph.type_of(node.outputs[0]).dtype if node.outputs else "",
    }
    return _filled("label_node", template, {**dict(graph.attrs[node.attrs]), **facts}, tuple(facts))


def link(template: str, source: Source) -> str:
    """Return the address of a place in the source code.

    Args:
        template: may name `{file}` and `{line}`.
        source: the place.

    Raises:
        OptionError: the template names something else.
    """
    facts = {"file": source.file, "line": source.line}
    return _filled("links", template, facts, tuple(facts))


def _filled(option: str, template: str, facts: Mapping[str, object], known: tuple[str, ...]) -> str:
    try:
        return template.format_map(facts)
    except (KeyError, IndexError, ValueError, AttributeError, TypeError) as error:
        names = ", ".join(f"{{{name}}}" for name in known)
        raise OptionError(f"{option}={template!r} cannot be filled in; it may name {names}") from error
