"""Selectors: one query form for nodes and calls, for all passes and backends."""

from __future__ import annotations

from difflib import get_close_matches
from functools import lru_cache
from operator import and_, or_
from typing import TYPE_CHECKING

from trec.analysis.query import Both, Expression, Not, Term, parse, terms
from trec.analysis.terms import masks, own_calls, vocabulary
from trec.errors import OptionError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any

    from trec.ir.graph import Graph

    Part = str | Callable[[Any], object]
    Selector = Part | Iterable[Part]

_SUGGESTIONS = 5
_CANDIDATES = 2000
_ALWAYS_KNOWN = frozenset({"kind", "is", "phase"})
"""Keys whose patterns come from a fixed list: a word of that list that selects nothing is no mistake."""
_OF_NODES = frozenset({"op", "shape", "dtype", "device", "is"})
"""Keys that select no call of a module."""


def nodes(graph: Graph, selector: Selector, *, option: str = "selector", missing_ok: bool = False) -> bytes:
    """Mark the nodes that a selector selects.

    A query is made of terms, joined by `and`, `or`, `not` and parentheses:

    - `layers.*.attn`: nodes in the module of that path, however deep, or of that name; a class name works as well.
      `*`, `?` and `[...]` match within one component, the component `**` any number of them.
    - `path:`, `class:`, `scope:` (name of a call, such as `block.norm#2`): the same, for only one of these.
    - `in:`: inside a module of that path or class.
    - `name:`, `kind:param`, `op:conv*` (short names of ATen operators too), `dtype:f16`, `device:cuda*`.
    - `phase:backward`, of a step of training: `forward`, `backward` or `optimizer`.
    - `shape:1x*x768`: a result of that shape; `**` stands for any number of sizes.
    - `is:view`, `is:cast`, `is:identity`, `is:dropout` (switched off), `is:inplace`.

    Args:
        graph: where to look.
        selector: a query, a predicate over nodes, or several of them, any of which is enough.
        option: name of the option that the selector comes from, for messages.
        missing_ok: whether it may select nothing.

    Returns:
        One byte for each node, 1 if it is selected.

    Raises:
        OptionError: the query is wrong, or selects nothing; the message says what it could have been.

    Example:
        >>> from trec.ir.builder import GraphBuilder
        >>> builder = GraphBuilder("Net")
        >>> root = builder.scope("module", path="", cls="Net")
        >>> _ = [builder.node("op", op, parent=root) for op in ("conv1d", "relu", "conv2d")]
        >>> list(nodes(builder.build(), "op:conv* and not name:*1d"))
        [0, 0, 1]
    """
    return _selected(graph, selector, option, missing_ok, which=0)


def scopes(graph: Graph, selector: Selector, *, option: str = "selector", missing_ok: bool = False) -> bytes:
    """Mark the scopes that a selector selects; as `nodes`, but a call's path or class is its own."""
    return _selected(graph, selector, option, missing_ok, which=1)


def calls(graph: Graph, selector: Selector, *, option: str) -> frozenset[int]:
    """Return the indices of the module scopes that a selector selects; the root counts as a call of its class.

    Raises:
        OptionError: the query is wrong, or selects nothing; the message says what it could have been.
    """
    found: set[int] = set()
    for part in _parts(selector, option):
        if isinstance(part, str):
            # What stands there word for word is meant, whatever it would mean as a query.
            mask = own_calls(graph, part)
            if not any(mask):
                mask = _masks(graph, _compiled(part))[1]
        else:
            mask = bytes([bool(part(scope)) for scope in graph.scopes])
        selected = {
            index for index, scope in enumerate(graph.scopes) if mask[index] and (scope.kind == "module" or not index)
        }
        if not selected:
            raise OptionError(f"{option}={part!r} matches no module that was called{_advice(graph, part, calls=True)}")
        found |= selected
    return frozenset(found)


def _parts(selector: Selector, option: str) -> list[Part]:
    if isinstance(selector, str) or callable(selector):
        selector = [selector]
    try:
        parts = list(selector)
    except TypeError:
        parts = [selector]  # type: ignore[list-item]
    for part in parts:
        if not callable(part) and (type(part) is not str or not part):
            raise OptionError(f"{option} takes path globs and class names, other selectors or a function, not {part!r}")
    return parts


def _selected(graph: Graph, selector: Selector, option: str, missing_ok: bool, which: int) -> bytes:
    rows = (graph.nodes, graph.scopes)[which]
    found = bytes(len(rows))
    for part in _parts(selector, option):
        if isinstance(part, str):
            expression = _compiled(part)
            mask = _masks(graph, expression)[which]
            if not missing_ok and not any(mask) and not all(map(_is_known, terms(expression))):
                what = ("node", "call")[which]
                raise OptionError(f"{option}={part!r} matches no {what}{_advice(graph, part, calls=which == 1)}")
        else:
            mask = bytes([bool(part(row)) for row in rows])
        found = bytes(map(or_, found, mask))
    return found


@lru_cache(maxsize=256)
def _compiled(text: str) -> Expression:
    return parse(text)


def _masks(graph: Graph, expression: Expression) -> tuple[bytes, bytes]:
    if isinstance(expression, Term):
        if expression.key in _ALWAYS_KNOWN and not _is_known(expression):
            raise OptionError(f"{str(expression)!r} is not known{_close(graph, expression)}")
        return masks(graph, expression)
    if isinstance(expression, Not):
        first, second = _masks(graph, expression.operand)
        return bytes([not bit for bit in first]), bytes([not bit for bit in second])
    join = and_ if isinstance(expression, Both) else or_
    left, right = _masks(graph, expression.left), _masks(graph, expression.right)
    return bytes(map(join, left[0], right[0])), bytes(map(join, left[1], right[1]))


def _is_known(term: Term) -> bool:
    """Return whether a term is right whatever graph it is for."""
    return term.key in _ALWAYS_KNOWN and (
        term.pattern in vocabulary(_NO_GRAPH, term) or any(sign in term.pattern for sign in "*?[")
    )


_NO_GRAPH: Graph = None  # type: ignore[assignment]  # what is always known is known without a graph


def _advice(graph: Graph, part: Part, *, calls: bool = False) -> str:
    """Return what a selector that selects nothing could have been, term by term."""
    if not isinstance(part, str):
        return "; the function is true for none"
    if calls and sum(scope.kind == "module" for scope in graph.scopes) <= 1:
        return "; no submodule was called"
    expression = _compiled(part)
    if isinstance(expression, Term):
        if calls and expression.key in _OF_NODES:
            return f"; {expression.key}: is about nodes, modules are selected by path:, class:, in: or scope:"
        if calls and not expression.key:
            expression = Term("in", expression.pattern)
        return _close(graph, expression)
    empty = [term for term in terms(expression) if not any(map(any, masks(graph, term)))]
    return "".join([f"; {str(term)!r} is nowhere{_close(graph, term)}" for term in empty]) or "; its terms never meet"


def _close(graph: Graph, term: Term) -> str:
    known = [word for word in vocabulary(graph, term) if word != term.pattern]
    close = get_close_matches(term.pattern, known[:_CANDIDATES], _SUGGESTIONS, 0.5)
    part = term.pattern.strip(".*")
    if not close and part:  # such as the end of a path
        close = [word for word in known if part in word][:_SUGGESTIONS]
    if close:
        return f"; did you mean {', '.join(map(repr, close))}?"
    shown = ", ".join(map(repr, known[:_SUGGESTIONS]))
    return f"; there are, for example, {shown}" if shown else "; there are none"
