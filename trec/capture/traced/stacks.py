"""Calls of modules in a traced program: from the stacks that torch wrote on the nodes to scopes."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from torch.fx import Node

    from trec.ir.builder import GraphBuilder
    from trec.ir.types import AttrRow

_ROOT = re.compile(r"^L\['\w+'\]\.?|^L__\w+?__$")
_STEP = re.compile(r"\._modules\['([^']*)'\]|\['([^']*)'\]|\[(\d+)\]")


class Frame(NamedTuple):
    """One call of a module that a node lies in."""

    key: str
    """Tells calls of one module apart."""
    path: str
    cls: str


Chain = tuple[Frame, ...]
"""The calls around a node, outermost first, without the root."""


class Stacks:
    """The calls around each node of one graph.

    Args:
        nodes: the graph.
        base: the calls around the graph itself.
        own: whether the nodes name calls from the graph itself on, not from the root of all.
    """

    def __init__(self, nodes: Iterable[Node], base: Chain, *, own: bool) -> None:
        listed = list(nodes)
        known = [_chain(node) for node in listed]
        if base:
            inside = _inside if own else _rest
            known = [chain if chain is None else base + inside(chain, base) for chain in known]
        self._chains = dict(zip(listed, _filled(known, base), strict=True))

    def __getitem__(self, node: Node) -> Chain:
        return self._chains[node]


def root_class(nodes: Iterable[Node]) -> str:
    """Return the class of the model that a graph was made of, if its nodes tell; else an empty text."""
    for node in nodes:
        for path, cls in (node.meta.get("nn_module_stack") or {}).values():
            if not _path(path):
                return _class_name(cls)
    return ""


def _chain(node: Node) -> Chain | None:
    """Return the calls that a node names; None if it names none."""
    stack = node.meta.get("nn_module_stack")
    if not stack:
        return None
    frames = [Frame(str(key), _path(path), _class_name(cls)) for key, (path, cls) in stack.items()]
    return tuple([frame for frame in frames if frame.path])


def _path(text: Any) -> str:
    """Return a path as modules have it: the compiler writes `L['self'].layers[0]`, or with `_modules` between."""
    path = _STEP.sub(lambda match: f".{match[1] or match[2] or match[3]}", _ROOT.sub("", str(text)))
    return path.strip(".").partition("@")[0]


def _class_name(cls: Any) -> str:
    name = cls.__name__ if isinstance(cls, type) else str(cls)
    return name.rpartition(".")[2]


def _inside(chain: Chain, base: Chain) -> Chain:
    """Return calls inside a graph that names them from itself on."""
    return tuple([frame._replace(path=f"{base[-1].path}.{frame.path}") for frame in chain])


def _rest(chain: Chain, base: Chain) -> Chain:
    """Return calls inside a graph that names them from the root on, without those around it."""
    return chain[len(base) :]


def _filled(known: list[Chain | None], base: Chain) -> list[Chain]:
    """Put nodes that name no calls where the nodes before and behind them are both."""
    following: list[Chain] = []
    ahead: Chain = base
    for chain in reversed(known):
        ahead = ahead if chain is None else chain
        following.append(ahead)
    following.reverse()
    filled: list[Chain] = []
    before: Chain = base
    for chain, after in zip(known, following, strict=True):
        if chain is not None:
            before = chain
        filled.append(chain if chain is not None else _common(before, after, base))
    return filled


def _common(first: Chain, second: Chain, least: Chain) -> Chain:
    count = 0
    while count < min(len(first), len(second)) and first[count] == second[count]:
        count += 1
    return first[:count] if count > len(least) else least


class Calls:
    """Opens a scope for each call when a step in it is first met."""

    def __init__(self, builder: GraphBuilder, describe: Callable[[str, str], AttrRow]) -> None:
        self.builder, self.describe = builder, describe
        self._scopes: dict[Chain, int] = {(): 0}
        self._counts: dict[str, int] = {}
        self._paths: dict[str, str] = {}

    def scope(self, chain: Chain) -> int:
        """Return the index of the scope of the innermost call."""
        known = self._scopes.get(chain)
        if known is not None:
            return known
        parent = self.scope(chain[:-1])
        frame = chain[-1]
        path = self._first_path(frame)
        call = self._counts.get(path, 0)
        self._counts[path] = call + 1
        attrs = self.describe(path, frame.cls)
        self._scopes[chain] = made = self.builder.scope(
            "module", path=path, cls=frame.cls, parent=parent, call=call, attrs=attrs
        )
        return made

    def _first_path(self, frame: Frame) -> str:
        """Return the first path of a module that is called by two: keys of numbers are the identities of modules."""
        identity = frame.key.partition("@")[0]
        return self._paths.setdefault(identity, frame.path) if identity.isdigit() else frame.path
