"""The dimensions of all values of several runs: what each is, given those of the inputs."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from trec.analysis.expressions import Size, Sizes, fit, windows
from trec.analysis.groups import short_op
from trec.errors import OptionError
from trec.passes.alternatives import any_attr

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from trec.ir.graph import Graph
    from trec.ir.types import Attr, AttrRow, Node

Dimension = int | str | Size

_PLACES = {1: "N", 2: "BT", 3: "BTC", 4: "BCHW", 5: "BCDHW"}
"""For ranks, the names of dimensions."""
_WINDOWED = re.compile(r"(conv|(max|avg)_pool)(\d)d|convolution|max_pool2d_with_indices")
_NUMBER = re.compile(r"\d+")


class Dimensions:
    """Expressions for sizes, found node by node in the order of the program."""

    def __init__(self, graphs: Sequence[Graph], names: Mapping[str, Sequence[str | None]]) -> None:
        """Name the sizes of inputs.

        Args:
            graphs: runs of one structure.
            names: for inputs by name, a name for each dimension, or None.

        Raises:
            OptionError: the names do not fit.
        """
        self.graphs, self.first = graphs, graphs[0]
        self.names: dict[str, Sizes] = {}
        self.found: dict[int, list[Dimension]] = {}
        """For values, what each of their dimensions is."""
        inputs = {node.name: node.outputs[0] for node in self.first.nodes if node.kind == "input"}
        unknown = [name for name in names if name not in inputs]
        if unknown:
            raise OptionError(f"names={unknown[0]!r} is no input: expected one of {', '.join(inputs)}")
        for name, given in names.items():
            self._take(name, inputs[name], given)
        for value in inputs.values():
            self._name_by_place(value)

    def sizes(self, value: int, axis: int) -> tuple[int | str, ...]:
        """Return what a dimension is in each run."""
        return tuple([graph.type_of(value).shape[axis] for graph in self.graphs])

    def shape(self, value: int) -> tuple[int | str, ...]:
        """Return the shape of a value, sizes that vary as text."""
        return tuple([size if isinstance(size, int) else str(size) for size in self.found[value]])

    # ---- inputs

    def _take(self, name: str, value: int, given: Sequence[str | None]) -> None:
        rank = len(self.first.type_of(value).shape)
        if len(given) != rank:
            raise OptionError(f"names of {name!r} are {given!r}: expected {rank}, one for each dimension, or None")
        for axis, symbol in enumerate(given):
            if symbol is None:
                continue
            sizes = self._varying(value, axis)
            if not symbol.isidentifier() or "x" in symbol:
                raise OptionError(f"{symbol!r} is no name of a size: expected letters and digits without an x")
            if sizes is None:
                raise OptionError(
                    f"dimension {axis} of {name!r} is to be {symbol!r}, but does not vary between the runs"
                )
            if self.names.setdefault(symbol, sizes) != sizes:
                raise OptionError(f"{symbol!r} is {self.names[symbol]} and {sizes} in the runs: name them differently")

    def _name_by_place(self, value: int) -> None:
        rank = len(self.first.type_of(value).shape)
        for axis in range(rank):
            sizes = self._varying(value, axis)
            if sizes is not None and sizes not in self.names.values():
                self._introduce(_PLACES[rank][axis] if rank in _PLACES else "", sizes)

    def _introduce(self, symbol: str, sizes: Sizes) -> str:
        """Return a new name for sizes: the symbol, with a number if it is taken."""
        count = 2 if symbol else 0
        name = symbol or "s0"
        while name in self.names:
            count += not (symbol and name == symbol)
            name = f"{symbol or 's'}{count}"
        self.names[name] = sizes
        return name

    def _varying(self, value: int, axis: int) -> Sizes | None:
        sizes = self.sizes(value, axis)
        whole = tuple([size for size in sizes if isinstance(size, int)])
        return whole if len(whole) == len(sizes) and len(set(whole)) > 1 else None

    # ---- what nodes make

    def add(self, node: Node) -> None:
        """Find the dimensions of what a node makes; those of what it reads are known."""
        for value in node.outputs:
            rank = len(self.first.type_of(value).shape)
            self.found[value] = [self._dimension(node, value, axis) for axis in range(rank)]

    def _dimension(self, node: Node, value: int, axis: int) -> Dimension:
        sizes = self._varying(value, axis)
        if sizes is None:
            alike = set(self.sizes(value, axis))
            return alike.pop() if len(alike) == 1 else "?"
        size = self._windows(node, axis, sizes) or self._given(node, axis, sizes) or fit(sizes, self.names)
        return size or Size(((self._introduce("", sizes), 1),))

    def _given(self, node: Node, axis: int, sizes: Sizes) -> Size | None:
        """Return the same size of what a node reads, that of the same dimension first."""
        for is_same in (True, False):
            for value in node.inputs:
                for at, size in enumerate(self.found[value]):
                    if isinstance(size, Size) and (at == axis or not is_same) and self.sizes(value, at) == sizes:
                        return size
        return None

    def _windows(self, node: Node, axis: int, sizes: Sizes) -> Size | None:
        """Return what a convolution or pooling makes of the size that it is given."""
        facts = dict(self.first.attrs[node.attrs])
        if not node.inputs or not _WINDOWED.fullmatch(short_op(node.op)) or facts.get("transposed") is True:
            return None
        if facts.get("ceil_mode") is True or axis >= len(self.found[node.inputs[0]]):
            return None
        before = self.found[node.inputs[0]][axis]
        rank, given = len(self.found[node.inputs[0]]), facts.get("kernel_size")
        place = axis - 2
        if given is None and len(node.inputs) > 1:
            given = self.first.type_of(node.inputs[1]).shape[2:]
        if place < 0 or not isinstance(before, Size) or given is None or rank < 3:
            return None
        kernel = _at(given, place)
        numbers = [kernel, *[_at(facts.get(name), place, default) for name, default in self._defaults(facts, kernel)]]
        if not all(isinstance(number, int) for number in numbers):
            return None
        size = windows(before, *numbers)  # type: ignore[arg-type]
        return size if self._value(size) == sizes else None

    @staticmethod
    def _defaults(facts: Mapping[str, Attr], kernel: object) -> list[tuple[str, object]]:
        return [("stride", kernel if "kernel_size" in facts else 1), ("padding", 0), ("dilation", 1)]

    def _value(self, size: Size) -> Sizes:
        """Return what a size is in each run."""
        found = []
        for run in range(len(self.graphs)):
            total = size.constant
            for name, count in size.terms:
                for factor in name.split("*"):
                    count *= self.names[factor][run]
                total += count
            found.append(total // size.divisor)
        return tuple(found)

    # ---- arguments

    def row(self, rows: Sequence[AttrRow], values: Iterable[int]) -> AttrRow:
        """Return the attributes of all runs, numbers that vary as expressions.

        Args:
            rows: the attributes in each run, of the same names.
            values: what the node makes and reads, whose sizes come first.
        """
        if all(row == rows[0] for row in rows):
            return rows[0]
        known: dict[Sizes, Size] = {}
        for value in values:
            for size in self.found[value]:
                if isinstance(size, Size):
                    known.setdefault(self._value(size), size)
        tables = [dict(row) for row in rows]
        return tuple([(name, self._attr([table.get(name) for table in tables], known)) for name, _ in rows[0]])

    def _attr(self, values: Sequence[Attr], known: Mapping[Sizes, Size]) -> Attr:
        first = values[0]
        if all(repr(value) == repr(first) for value in values):
            return first
        if all(type(value) is int for value in values):
            return self._number(tuple(values), known) or any_attr(values)  # type: ignore[arg-type]
        tuples = [value for value in values if isinstance(value, tuple)]
        if len(tuples) == len(values) and len(set(map(len, tuples))) == 1:
            return tuple([self._attr(entries, known) for entries in zip(*tuples, strict=True)])  # type: ignore[misc]
        texts = [value for value in values if isinstance(value, str)]
        if len(texts) == len(values) and len({_NUMBER.sub("#", text) for text in texts}) == 1:
            return self._text(texts, known) or any_attr(values)
        return any_attr(values)

    def _number(self, sizes: Sizes, known: Mapping[Sizes, Size]) -> str | None:
        size = known.get(sizes) or fit(sizes, self.names)
        return str(size) if size else None

    def _text(self, texts: Sequence[str], known: Mapping[Sizes, Size]) -> str | None:
        """Return a text such as a slice with its numbers as expressions."""
        words = []
        for numbers in zip(*[_NUMBER.findall(text) for text in texts], strict=True):
            sizes = tuple(map(int, numbers))
            word = numbers[0] if len(set(sizes)) == 1 else self._number(sizes, known)
            if word is None:
                return None
            words.append(word)
        rest = iter(words)
        return _NUMBER.sub(lambda _: next(rest), texts[0])


def _at(given: object, place: int, default: object = None) -> object:
    """Return the entry of a tuple for one dimension, of a number the number, of nothing the default."""
    if given is None or given == ():
        return default
    if isinstance(given, tuple):
        return given[place] if place < len(given) else given[-1]
    return given
