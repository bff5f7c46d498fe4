"""Globs: over dotted paths, over plain names, and over shapes.

A name or path that is written as it is always matches, also where it has brackets, as `heads[0]`.
"""

from __future__ import annotations

import re
from fnmatch import translate
from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


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
    return re.compile(f"{''.join(parts)}|{re.escape(pattern)}", re.DOTALL)


def word_glob(pattern: str) -> str:
    """Return the regular expression of a glob within one component."""

    def translated(match: re.Match[str]) -> str:
        token = match[0]
        if token == "*":
            return "[^.]*"
        if token == "?":
            return "[^.]"
        return _choice(token[1:-1]) if len(token) > 1 else re.escape(token)

    return re.sub(r"\[!?[^\]]+\]|.", translated, pattern, flags=re.DOTALL)


def _choice(inside: str) -> str:
    """Return what matches one character of those between brackets; of ranges that end before they begin, none."""
    is_not = inside.startswith("!")
    ranges = [
        f"{re.escape(first)}-{re.escape(last)}" if last else re.escape(first)
        for first, last in re.findall("(.)(?:-(.))?", inside.removeprefix("!"), re.DOTALL)
        if not last or first <= last
    ]
    if is_not:
        return f"[^{''.join(ranges)}.]"
    return f"[{''.join(ranges)}]" if ranges else "(?!)"


@lru_cache(maxsize=1024)
def name_glob(pattern: str) -> re.Pattern[str]:
    """Return a regular expression that matches, as a whole, the names that the glob stands for; dots are like any."""
    return re.compile(f"{translate(pattern)}|{re.escape(pattern)}", re.DOTALL)


@lru_cache(maxsize=1024)
def shape_glob(pattern: str) -> re.Pattern[str]:
    """Return a regular expression that matches, as a whole, the shapes that the glob stands for, in `shape_text`.

    Args:
        pattern: sizes between `x`: a number, the name of a size, a glob within one size, or `**` for any number of
            sizes; `?` is the size that is not known. Empty for a scalar.
    """
    parts: list[str] = []
    for size in pattern.split("x") if pattern else ():
        glob = "".join([".*" if part == "*" else re.escape(part) for part in re.split(r"(\*)", size)])
        parts.append(r"(?:[^,]*,)*" if size == "**" else glob.replace(".*", "[^,]*") + ",")
    return re.compile("".join(parts), re.DOTALL)


def shape_text(shape: Sequence[int | str]) -> str:
    """Return a shape as `shape_glob` reads it: each size and a comma after it."""
    return "".join([f"{str(size).replace('x', '_').replace(',', '_')}," for size in shape])
