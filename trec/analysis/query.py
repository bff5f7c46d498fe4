"""The query form of selectors: from text to an expression."""

from __future__ import annotations

import re
from difflib import get_close_matches
from typing import TYPE_CHECKING

from msgspec import Struct

from trec.errors import OptionError

if TYPE_CHECKING:
    from collections.abc import Iterator

KEYS = ("class", "device", "dtype", "in", "is", "kind", "name", "op", "path", "phase", "scope", "shape")
"""What can stand before the colon of a term; a term without one has the key `""`."""

_TOKEN = re.compile(r"""\s*(?:(?P<mark>[()])|(?P<key>[a-z]+:)?(?:"(?P<double>[^"]*)"|'(?P<single>[^']*)'|"""
                    r"""(?P<plain>[^\s()"']*)))""")  # fmt: skip
_WORDS = ("and", "or", "not", "(", ")")
_DEEPEST = 100


class Term(Struct, frozen=True):
    """One condition."""

    key: str
    """What is looked at, one of `KEYS`; empty for a term without a key."""
    pattern: str
    """What it must be like."""

    def __str__(self) -> str:
        return f"{self.key}:{self.pattern}" if self.key else self.pattern


class Not(Struct, frozen=True):
    """Holds where its operand does not."""

    operand: Expression
    """What must not hold."""


class Both(Struct, frozen=True):
    """Holds where both operands do."""

    left: Expression
    """The one."""
    right: Expression
    """The other."""


class Either(Struct, frozen=True):
    """Holds where at least one operand does."""

    left: Expression
    """The one."""
    right: Expression
    """The other."""


Expression = Term | Not | Both | Either


def parse(text: str) -> Expression:
    """Return the expression that a query stands for.

    `not` binds closest, then `and`, then `or`; parentheses group. A pattern with spaces or parentheses, or that is one
    of these words, stands in quotes.

    Raises:
        OptionError: the text is no query; the message shows where it ends to be one, and what could follow.

    Example:
        >>> parse("op:conv* and not (path:head or is:view)").right
        Not(operand=Either(left=Term(key='path', pattern='head'), right=Term(key='is', pattern='view')))
    """
    return _Parser(text).whole()


def terms(expression: Expression) -> Iterator[Term]:
    """Yield the conditions of an expression from left to right."""
    if isinstance(expression, Term):
        yield expression
    elif isinstance(expression, Not):
        yield from terms(expression.operand)
    else:
        yield from terms(expression.left)
        yield from terms(expression.right)


class _Parser:
    """Reads a query from left to right, one token ahead."""

    def __init__(self, text: str) -> None:
        self.text, self.end = text, 0
        self.word: str | Term | None = None
        """The token ahead: a mark or a word that joins, a term, or None at the end."""
        self.start = self.depth = 0
        self.advance()

    def advance(self) -> None:
        """Read the next token."""
        rest = self.text[self.end :]
        self.start = self.end + len(rest) - len(rest.lstrip())
        if not rest.strip():
            self.word = None
            return
        match = _TOKEN.match(self.text, self.end)
        if match is None or match.end() == self.start:
            raise self.fault("a quote that is not closed")
        self.end = match.end()
        mark, key, double, single, plain = match.group("mark", "key", "double", "single", "plain")
        if mark or (key is None and plain in _WORDS):
            self.word = mark or plain
        else:
            pattern = next(part for part in (double, single, plain) if part is not None)
            self.word = self.term(key.removesuffix(":") if key else "", pattern)

    def term(self, key: str, pattern: str) -> Term:
        if key and key not in KEYS:
            close = get_close_matches(key, KEYS, 3, 0.5)
            hint = f"did you mean {' or '.join([f'{word}:' for word in close])}?" if close else "put names in quotes."
            known = ", ".join([f"{word}:" for word in KEYS])
            raise OptionError(f"{self.text!r} has the unknown key {key + ':'!r}; {hint} Known keys are: {known}")
        if not pattern and key != "shape":
            quote = self.text[self.end : self.end + 1] in ("'", '"')
            raise self.fault("a quote that is not closed" if quote else "a pattern that is empty")
        return Term(key, pattern)

    def whole(self) -> Expression:
        found = self.either()
        if self.word is not None:
            quotes = " (a name with spaces stands in quotes)" if isinstance(self.word, Term) else ""
            raise self.fault(f"{self.word} where 'and' or 'or' could follow{quotes}")
        return found

    def either(self) -> Expression:
        found = [self.both()]
        while self.word == "or":
            self.advance()
            found.append(self.both())
        return _balanced(Either, found)

    def both(self) -> Expression:
        found = [self.single()]
        while self.word == "and":
            self.advance()
            found.append(self.single())
        return _balanced(Both, found)

    def single(self) -> Expression:
        self.depth += 1
        if self.depth > _DEEPEST:
            raise self.fault("more than a hundred levels")
        word = self.word
        if isinstance(word, Term):
            found: Expression = word
            self.advance()
        elif word == "not":
            self.advance()
            found = Not(self.single())
        elif word == "(":
            self.advance()
            found = self.either()
            if self.word != ")":
                raise self.fault("an opening parenthesis without a closing one")
            self.advance()
        else:
            raise self.fault(f"{word!r} where a term should be" if word else "an end where a term should be")
        self.depth -= 1
        return found

    def fault(self, what: str) -> OptionError:
        shown = f"{self.text[: self.start].rstrip()} >>> {self.text[self.start :]}".strip()
        return OptionError(
            f"the selector {self.text!r} is not complete: it has {what}, at {shown!r}; expected terms such as "
            "layers.*.attn, op:conv* or class:Linear, joined by and, or, not and parentheses"
        )


def _balanced(join: type[Both | Either], operands: list[Expression]) -> Expression:
    """Return operands joined so that thousands of them are only a few levels deep."""
    while len(operands) > 1:
        pairs = [operands[at : at + 2] for at in range(0, len(operands), 2)]
        operands = [join(*pair) if len(pair) == 2 else pair[0] for pair in pairs]
    return operands[0]
