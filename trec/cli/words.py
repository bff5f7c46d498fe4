"""What users type as values: literals, whole numbers, one word of several; and the word that they may have meant."""

from __future__ import annotations

import ast
from argparse import ArgumentTypeError
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

_CONSTANTS = {"true": True, "false": False, "none": None, "null": None}
_SHOWN = 8


def literal(text: str) -> Any:
    """Return what a literal of Python stands for; what is none is text.

    Example:
        >>> literal("4"), literal("(1, 2)"), literal("true"), literal("same")
        (4, (1, 2), True, 'same')
    """
    if text.lower() in _CONSTANTS:
        return _CONSTANTS[text.lower()]
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return text


def assignment(text: str) -> tuple[str, Any]:
    """Return the name and the value of `name=value`.

    Raises:
        ArgumentTypeError: the text is of another form.
    """
    name, sign, value = text.partition("=")
    name = name.strip().replace("-", "_")
    if not sign or not name.isidentifier():
        raise ArgumentTypeError(f"{text!r} is not of the form name=value, such as depth=4")
    return name, literal(value)


def natural(text: str) -> int:
    """Return a whole number from 0.

    Raises:
        ArgumentTypeError: the text is none.
    """
    if not text.isdecimal():
        raise ArgumentTypeError(f"{text!r} is no whole number from 0")
    return int(text)


def one_of(known: Iterable[str]) -> Callable[[str], str]:
    """Return a function that takes one of some words and refuses any other, with a hint."""
    words = tuple(known)

    def checked(text: str) -> str:
        if text not in words:
            raise ArgumentTypeError(f"{text!r} is not known; {meant(text, words)}")
        return text

    return checked


def meant(word: str, known: Iterable[str]) -> str:
    """Return which known word may have been meant, else which there are.

    Example:
        >>> meant("rendr", ["render", "show"])
        'did you mean render?'
        >>> meant("paint", ["render", "show"])
        'there are: render, show'
    """
    words = list(known)
    close = get_close_matches(word, words, 2, 0.7)
    if close:
        return f"did you mean {' or '.join(close)}?"
    shown = ", ".join(words[:_SHOWN]) + (", ..." if len(words) > _SHOWN else "")
    return f"there are: {shown}" if words else "there are none"
