"""Modules as they were before a recording; those whose attributes have the same names are kept and compared as one."""

from __future__ import annotations

from collections import OrderedDict
from itertools import chain, repeat
from operator import is_
from typing import TYPE_CHECKING, Any

import torch

from trec.capture.leaves import ATOMS
from trec.capture.restore.refill import refill_dict, refill_set

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trec.capture.restore.left import Left

_FRESH = torch.nn.Module().__dict__
_TABLE_KINDS = frozenset({dict, OrderedDict, set})
_TABLES = frozenset(name for name, value in _FRESH.items() if type(value) in _TABLE_KINDS)
"""Attributes that every module has and that hold its parameters, buffers, modules and hooks; most are empty."""
_FLAGS = frozenset(name for name, value in _FRESH.items() if type(value) in ATOMS)


class Alike:
    """Modules with the same names of attributes in the same order.

    All values stand in one list, module by module, so that thousands of them are compared at the speed of C. Nothing is
    compared but identities.
    """

    def __init__(self, names: tuple[str, ...], kind: type, positions: list[int], modules: list[Any]) -> None:
        self.names, self.kind, self.positions = names, kind, positions
        self.modules = [modules[position] for position in positions]
        self.held = held = _attributes(self.modules)
        self.values = _values(held)
        first = dict(zip(names, self.values, strict=False))
        self.regular = first.keys() >= _TABLES and all(type(first[name]) in _TABLE_KINDS for name in _TABLES)
        """Whether the modules have the tables that a module has; those of a script are others."""
        known = _FLAGS | _TABLES if self.regular else _FLAGS
        self._places = [place for place, name in enumerate(names) if self.regular and name in _TABLES]
        self._others = [place for place, name in enumerate(names) if name not in known]
        self._tables: list[Any] = [table for place in self._places for table in self._column(place)]
        self._filled: list[Any] = list(filter(None, self._tables))
        self._contents = [table.copy() for table in self._filled]
        self._plain = list(map(type, self._filled)).count(dict) == len(self._filled)

    def attributes(self) -> Iterator[tuple[int, str, Any]]:
        """Yield what may be, or lead to, something that the model writes: position of its module, name and value."""
        for place in self._others:
            column = self._column(place)
            if not ATOMS.issuperset(map(type, column)):
                for position, value in zip(self.positions, column, strict=True):
                    kind = type(value)
                    if kind not in ATOMS and not (kind is tuple and ATOMS.issuperset(map(type, value))):
                        yield position, self.names[place], value

    def restore(self, left: Left) -> None:
        """Make all of them what they were."""
        if self._is_unchanged():
            return
        contents = {id(table): held for table, held in zip(self._filled, self._contents, strict=True)}
        for position in range(len(self.modules)):
            left.attempt(f"the attributes of a {self.kind.__name__}", self._restore, position, contents)

    def _column(self, place: int) -> list[Any]:
        return self.values[place :: len(self.names)]

    def _is_unchanged(self) -> bool:
        modules, held, count = self.modules, self.held, len(self.modules)
        if list(map(type, modules)).count(self.kind) < count or list(map(tuple, held)).count(self.names) < count:
            return False
        if not all(map(is_, _attributes(modules), held)):
            return False
        if not all(map(is_, _values(held), self.values)):
            return False
        filled, contents = list(filter(None, self._tables)), self._contents
        return (
            self._plain
            and list(map(len, filled)) == list(map(len, contents))
            and all(map(is_, filled, self._filled))
            and all(map(is_, _values(filled), _values(contents)))
            and all(map(is_, chain.from_iterable(filled), chain.from_iterable(contents)))
        )

    def _restore(self, position: int, contents: dict[int, Any]) -> None:
        module, kind, held = self.modules[position], self.kind, self.held[position]
        width = len(self.names)
        values = self.values[position * width : (position + 1) * width]
        if type(module) is not kind:
            object.__setattr__(module, "__class__", kind)
        if object.__getattribute__(module, "__dict__") is not held:
            object.__setattr__(module, "__dict__", held)
        refill_dict(held, dict(zip(self.names, values, strict=True)))
        for place in self._places:
            table = values[place]
            (refill_set if type(table) is set else refill_dict)(table, contents.get(id(table), {}))


def group(modules: list[Any]) -> list[Alike]:
    """Return modules in groups of those that are alike."""
    groups: dict[Any, list[int]] = {}
    for position, key in enumerate(zip(map(tuple, _attributes(modules)), map(type, modules), strict=True)):
        positions = groups.get(key)
        if positions is None:
            groups[key] = [position]
        else:
            positions.append(position)
    return [Alike(names, kind, positions, modules) for (names, kind), positions in groups.items()]


def _attributes(modules: list[Any]) -> list[dict[str, Any]]:
    return list(map(object.__getattribute__, modules, repeat("__dict__")))


def _values(held: list[dict[str, Any]]) -> list[Any]:
    return list(chain.from_iterable(map(dict.values, held)))
