"""Sizes as expressions of names: what a size that varies between runs is, given those that it depends on."""

from __future__ import annotations

from itertools import combinations, combinations_with_replacement
from math import gcd, prod
from typing import TYPE_CHECKING

from msgspec import Struct

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

Sizes = tuple[int, ...]
"""What a size is in each run."""

_MOST = 64
"""The largest divisor that is tried."""


class Size(Struct, frozen=True):
    """A size that follows from others: `(2*T + 1) // 4`, the division rounded down."""

    terms: tuple[tuple[str, int], ...]
    """Names, or products of names such as `B*T`, and how many of each, in order."""
    constant: int = 0
    """What is added."""
    divisor: int = 1
    """What all of it is divided by."""

    def __str__(self) -> str:
        signs = {1: "", -1: "-"}
        parts = [f"{signs.get(count, f'{count}*')}{name}" for name, count in self.terms]
        text = "+".join(parts).replace("+-", "-") + (f"{self.constant:+d}" if self.constant or not parts else "")
        if self.divisor == 1:
            return text
        is_plain = len(parts) == 1 and not self.constant and self.terms[0][1] == 1 and "*" not in text
        return f"{text if is_plain else f'({text})'}//{self.divisor}"

    def plus(self, number: int) -> Size:
        """Return the size with a number added."""
        return _reduced(self.terms, self.constant + number * self.divisor, self.divisor)

    def over(self, divisor: int) -> Size:
        """Return the size divided by a positive number, rounded down.

        Example:
            >>> str(Size((("H", 1),)).plus(-1).over(2).plus(1))
            '(H+1)//2'
        """
        return _reduced(self.terms, self.constant, self.divisor * divisor)


def _reduced(terms: tuple[tuple[str, int], ...], constant: int, divisor: int) -> Size:
    """Return a size in its simplest form: common factors go; what is rounded down allows it of the constant too."""
    common = gcd(divisor, *[count for _, count in terms])
    return Size(tuple([(name, count // common) for name, count in terms]), constant // common, divisor // common)


def windows(size: Size, kernel: int, stride: int, padding: int, dilation: int) -> Size:
    """Return how many windows of a convolution or pooling there are along one dimension.

    Source: `torch.nn.Conv2d`, the formula of the output's shape.

    Example:
        >>> str(windows(windows(Size((("H", 1),)), 7, 2, 3, 1), 3, 2, 1, 1))
        '(H+3)//4'
    """
    return size.plus(2 * padding - dilation * (kernel - 1) - 1).over(stride).plus(1)


def fit(sizes: Sizes, names: Mapping[str, Sizes]) -> Size | None:
    """Return the simplest expression of some names that gives these sizes in all runs; None if none is known.

    Tried in this order: a multiple of a name, of a product of two or three, a sum or difference of two; a name divided
    by a number; a multiple of a name with something added, the least one first.

    Args:
        sizes: what is to be expressed.
        names: each name and its sizes in the same runs.

    Example:
        >>> names = {"B": (2, 3), "T": (5, 9)}
        >>> [str(fit(sizes, names)) for sizes in ((4, 6), (10, 27), (7, 12), (11, 19), (2, 4))]
        ['2*B', 'B*T', 'B+T', '2*T+1', 'T//2']
        >>> fit((9, 2), names), str(fit((9, 5), names)), str(fit((3, 6), names))
        (None, '-T+14', 'T-B')
    """
    return next((size for size, found in _candidates(sizes, names) if found == sizes), None)


def _candidates(sizes: Sizes, names: Mapping[str, Sizes]) -> Iterator[tuple[Size, Sizes]]:
    for degree in (1, 2, 3):
        for some in combinations_with_replacement(names, degree):
            product = tuple(map(prod, zip(*[names[name] for name in some], strict=True)))
            if product[0] and sizes[0] % product[0] == 0 and sizes[0]:
                factor = sizes[0] // product[0]
                yield Size((("*".join(some), factor),)), tuple([factor * size for size in product])
    for one, other in combinations(names, 2):
        pairs = list(zip(names[one], names[other], strict=True))
        yield Size(((one, 1), (other, 1))), tuple([a + b for a, b in pairs])
        yield Size(((one, 1), (other, -1))), tuple([a - b for a, b in pairs])
        yield Size(((other, 1), (one, -1))), tuple([b - a for a, b in pairs])
    for name, given in names.items():
        for divisor in range(2, _MOST + 1):
            yield Size(((name, 1),), 0, divisor), tuple([size // divisor for size in given])
    lines = []
    for name, given in names.items():
        step, rise = given[-1] - given[0], sizes[-1] - sizes[0]
        if step and rise and rise % step == 0 and rise // step >= -1:
            factor = rise // step
            lines.append((abs(factor), abs(sizes[0] - factor * given[0]), name, factor))
    for _, _, name, factor in sorted(lines):
        added = sizes[0] - factor * names[name][0]
        yield Size(((name, factor),), added), tuple([factor * size + added for size in names[name]])
