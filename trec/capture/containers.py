"""Mutable containers and plain objects that the model can reach, and their contents before a recording."""

from __future__ import annotations

import sys
from collections import OrderedDict, deque
from operator import is_
from typing import Any

import torch
from torch import Tensor

from trec.capture.leaves import OPAQUE, slots

MISSING = object()
MOST_OBJECTS = 20_000
"""So many objects are looked at from each attribute; what lies behind them is not put back."""

LARGEST_ARRAY = 1 << 24
"""Size in bytes of the largest numpy array that is copied."""


class Contents:
    """What containers held, remembered by identity; numpy arrays and generators by value."""

    def __init__(self) -> None:
        self._boxes: list[tuple[Any, Any, Any]] = []
        self._generators: list[tuple[torch.Generator, Tensor]] = []
        self._seen: set[int] = set()

    def restore(self) -> None:
        """Give every container what it held."""
        for box, old, kind in self._boxes:
            refill(box, old, kind)
        for generator, state in self._generators:
            generator.set_state(state)

    def remember(self, value: Any) -> list[Tensor]:
        """Remember what can be reached from a value, without reading properties; return the tensors among it."""
        found: list[Tensor] = []
        todo, count = [value], 0
        while todo and count < MOST_OBJECTS:
            value = todo.pop()
            kind = type(value)  # to ask the object itself for its class could run code of the user's
            if id(value) in self._seen or issubclass(kind, OPAQUE):
                continue
            count += 1
            if issubclass(kind, Tensor):
                found.append(value)
            else:
                self._seen.add(id(value))
                todo.extend(self._open(value))
        return found

    def _open(self, value: Any) -> list[Any]:
        """Note what one object holds and return it."""
        kind = type(value)
        numpy = sys.modules.get("numpy")
        if issubclass(kind, torch.Generator):
            self._generators.append((value, value.get_state()))
        elif issubclass(kind, dict):
            table = _table(kind)
            self._boxes.append((value, table(table.items(value)), dict))
            return [*dict.values(value), *self._attributes(value)]
        elif (sequence := next((base for base in (list, deque, set) if issubclass(kind, base)), None)) is not None:
            held = list(sequence.__iter__(value))
            self._boxes.append((value, held, sequence))
            return held + self._attributes(value)
        elif (base := next((base for base in (tuple, frozenset) if issubclass(kind, base)), None)) is not None:
            return [*base.__iter__(value), *self._attributes(value)]
        elif numpy is not None and issubclass(kind, numpy.ndarray):
            if value.dtype != object and value.nbytes < LARGEST_ARRAY and value.flags.writeable:
                self._boxes.append((value, value.copy(), numpy.ndarray))
            return []
        return self._attributes(value)

    def _attributes(self, value: Any) -> list[Any]:
        held: list[Any] = []
        try:
            own = object.__getattribute__(value, "__dict__")
        except (AttributeError, TypeError):
            own = None
        if type(own) is dict:
            self._boxes.append((own, own.copy(), dict))
            held.extend(own.values())
        if hasattr(type(value), "__slots__") and (slotted := slots(value)):
            self._boxes.append((value, slotted, slots))
            held.extend(slotted.values())
        return held


def _table(kind: type) -> Any:
    """Return the class whose methods tell the true contents of a dict: an ordered one keeps an order of its own."""
    return OrderedDict if issubclass(kind, OrderedDict) else dict


def same(now: dict[str, Any], old: dict[str, Any]) -> bool:
    """Tell whether two dicts hold the very same objects in the same order; values are never compared."""
    table = _table(type(now))
    values = table.values(now)
    return len(values) == len(old) and all(map(is_, values, old.values())) and all(map(is_, table.keys(now), old))


def refill(box: Any, old: Any, kind: Any) -> None:
    """Give a container the contents that it had, unless it still has them; no method of a subclass is called."""
    if kind is dict:
        if not same(box, old):
            table = _table(type(box))
            table.clear(box)
            for key, value in old.items():
                table.__setitem__(box, key, value)
    elif kind is list or kind is deque:
        now = list(kind.__iter__(box))
        if len(now) != len(old) or not all(map(is_, now, old)):
            kind.clear(box)
            kind.extend(box, old)
    elif kind is set:
        if {id(item) for item in set.__iter__(box)} != set(map(id, old)):
            set.clear(box)
            set.update(box, old)
    elif kind is slots:
        _refill_slots(box, old)
    else:  # a numpy array
        box[...] = old


def _refill_slots(box: Any, old: dict[str, Any]) -> None:
    now = slots(box)
    for name in now.keys() | old.keys():
        if name not in old:
            object.__delattr__(box, name)
        elif now.get(name, MISSING) is not old[name]:
            object.__setattr__(box, name, old[name])
