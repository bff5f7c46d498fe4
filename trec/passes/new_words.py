"""New words by old ones, as passes that give other words take them."""

from __future__ import annotations

from collections.abc import Mapping
from difflib import get_close_matches
from typing import TYPE_CHECKING, TypeVar

from trec.errors import OptionError
from trec.ir.tables import clean
from trec.ir.types import Node, Scope

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    Words = Mapping[str, str] | Callable[[Node | Scope], str]

Row = TypeVar("Row", Node, Scope)
_SUGGESTIONS = 3
_CANDIDATES = 2000


def checked(words: Words, known: Iterable[str], option: str, *, missing_ok: bool) -> Words:
    """Return the new words, if each of them has something to be the word for.

    Args:
        words: new words by old ones, or a function of a node or scope.
        known: the old words that there are, in program order.
        option: name of the option that they come from, for messages.
        missing_ok: whether there may be new words for what is not there.

    Raises:
        OptionError: these are no words, or old ones are not there; the message says what they could have been.
    """
    if callable(words):
        return words
    if not isinstance(words, Mapping):
        raise OptionError(f"{option} takes a mapping from old words to new ones, or a function, not {words!r}")
    there = dict.fromkeys(known)
    wrong = [] if missing_ok else [word for word in words if word not in there]
    if wrong:
        candidates = list(there)[:_CANDIDATES]
        raise OptionError(f"{option} has {'; '.join([_told(word, candidates) for word in wrong])}")
    return words


def new_word(words: Words, row: Row, old: str, option: str) -> str:
    """Return the new word for a node or scope, fit for every format.

    Raises:
        OptionError: it is not text.
    """
    word = words(row) if callable(words) else words.get(old, old)
    if not isinstance(word, str):
        raise OptionError(f"{option} must give text, but give {word!r} for {row.name!r}")
    return clean(word)


def _told(word: object, known: list[str]) -> str:
    close = get_close_matches(str(word), known, _SUGGESTIONS, 0.5)
    if close:
        return f"{word!r}, which is nowhere; did you mean {', '.join(map(repr, close))}?"
    shown = ", ".join(map(repr, known[:_SUGGESTIONS]))
    return f"{word!r}, which is nowhere; there are, for example, {shown}"
