"""Which parameters and buffers a model reads, how large they are, and where they are used."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from trec.analysis.sizes import elements, size_bytes
from trec.analysis.table import bytes_text, lines, plain
from trec.ir.text import type_text

if TYPE_CHECKING:
    from typing import Any

    from trec.ir.graph import Graph


class Parameter(Struct, frozen=True):
    """One parameter or buffer; one that has several names is one."""

    name: str
    """Its qualified name."""
    aliases: tuple[str, ...]
    """Its other names, where it is tied."""
    kind: str
    """`param` or `buffer`."""
    type: str
    """Element type and shape, such as `f32[64,3,7,7]`."""
    elements: int
    """Number of elements; 0 where a size is not known."""
    bytes: int
    """Bytes of its elements."""
    times: int
    """How many equal ones it stands for, itself included, where blocks were folded."""
    users: tuple[str, ...]
    """Names of the nodes that read it, in program order."""
    modules: tuple[str, ...]
    """Paths of the modules that these lie in or stand for, each once."""


class Parameters(Struct, frozen=True):
    """The parameters and buffers that a graph reads, in the order in which they are first needed."""

    parameters: tuple[Parameter, ...]
    """Each of them."""

    @property
    def shared(self) -> tuple[Parameter, ...]:
        """Those that several modules read, or that have several names."""
        return tuple([item for item in self.parameters if len(item.modules) > 1 or item.aliases])

    def rows(self) -> list[dict[str, Any]]:
        """Return them as plain rows."""
        return plain(self.parameters)

    def __str__(self) -> str:
        rows = [
            (item.name, item.type, item.times * item.elements, bytes_text(item.times * item.bytes), len(item.users))
            for item in self.parameters
        ]
        return "\n".join(lines(("name", "type", "elements", "bytes", "users"), rows))


def parameters(graph: Graph) -> Parameters:
    """Return the parameters and buffers that a graph reads, and where.

    What a collapsed node took in is not seen; its sums are in `graph.stats()`.
    """
    found = []
    for node in graph.nodes:
        if node.kind not in ("param", "buffer"):
            continue
        attrs = graph.attrs_of(node)
        value = node.outputs[0]
        type_ = graph.type_of(value)
        users = [graph.nodes[user] for user in dict.fromkeys(graph.users[value])]
        scopes = [user.scope if user.scope >= 0 else user.parent for user in users if user.kind != "output"]
        aliases = str(attrs.get("aliases") or "")
        found.append(
            Parameter(
                str(attrs.get("qualname", node.name)),
                tuple(aliases.split(",")) if aliases else (),
                node.kind,
                type_text(type_),
                elements(type_),
                size_bytes(type_),
                graph.times(node),
                tuple([user.name for user in users]),
                tuple(dict.fromkeys([graph.scopes[scope].path for scope in scopes])),
            )
        )
    return Parameters(tuple(found))
