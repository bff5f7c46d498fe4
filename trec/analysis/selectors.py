"""Patterns that select calls of modules: globs over dotted paths, and class names."""

from __future__ import annotations

import re
from difflib import get_close_matches
from typing import TYPE_CHECKING

from trec.errors import OptionError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from trec.ir.graph import Graph

_SUGGESTIONS = 5
_CANDIDATES = 2000


def calls(graph: Graph, patterns: str | Iterable[str], *, option: str) -> frozenset[int]:
    """Return the indices of the module scopes that at least one pattern selects.

    Args:
        graph: where to look; the root counts as a call of its class, and has no path.
        patterns: one pattern or several. A pattern is a class name, or a glob over the path of a module: `*`, `?` and
            `[...]` match within one component, and the component `**` stands for any number of components. With `#`
            it is matched against the name of the call (`block.norm#2`).
        option: name of the option that the patterns come from, for messages.

    Raises:
        OptionError: a pattern is not a string, or selects nothing; the message says what it could have been.
    """
    found: set[int] = set()
    for pattern in [patterns] if isinstance(patterns, str) else patterns:
        if type(pattern) is not str or not pattern:
            raise OptionError(f"{option} takes path globs and class names, not {pattern!r}")
        selected = _calls(graph, pattern)
        if not selected:
            raise OptionError(f"{option}={pattern!r} matches no module that was called{_advice(graph, pattern)}")
        found |= selected
    return frozenset(found)


def path_glob(pattern: str) -> re.Pattern[str]:
    """Return a regular expression that matches, as a whole, the dotted paths that the glob stands for."""
    parts: list[str] = []
    dot = ""
    for component in pattern.split("."):
        if component == "**":
            parts.append(r"(?:\.[^.]+)*" if dot else r"(?:[^.]+(?:\.(?!\Z)|\Z))*")
            dot = dot and r"\."
        else:
            parts.append(dot + word_glob(component))
            dot = r"\."
    return re.compile("".join(parts), re.DOTALL)


def word_glob(pattern: str) -> str:
    """Return the regular expression of a glob within one component."""

    def translated(match: re.Match[str]) -> str:
        token = match[0]
        if token == "*":
            return "[^.]*"
        if token == "?":
            return "[^.]"
        if len(token) > 1:
            body = token[1:-1].replace("\\", r"\\").replace("[", r"\[")
            return f"[^{body[1:]}.]" if body.startswith("!") else f"[{body.replace('^', chr(92) + '^')}]"
        return re.escape(token)

    return re.sub(r"\[!?[^\]]+\]|.", translated, pattern, flags=re.DOTALL)


def _calls(graph: Graph, pattern: str) -> set[int]:
    matches = path_glob(pattern).fullmatch
    by_name = "#" in pattern
    return {
        index
        for index, scope in enumerate(graph.scopes)
        if (scope.kind == "module" or index == 0)
        and (scope.cls == pattern or (index > 0 and matches(scope.name if by_name else scope.path)))
    }


def _advice(graph: Graph, pattern: str) -> str:
    scopes = [scope for scope in graph.scopes if scope.kind == "module"]
    if len(scopes) <= 1:
        return "; no submodule was called"
    known = list(dict.fromkeys([scope.cls for scope in scopes] + [scope.path for scope in scopes if scope.path]))
    close = get_close_matches(pattern, known[:_CANDIDATES], _SUGGESTIONS, 0.5)
    if close:
        return f"; did you mean {', '.join(map(repr, close))}?"
    shown = ", ".join(map(repr, known[:_SUGGESTIONS]))
    return f"; there are, for example, {shown}"
