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
            if isinstance(value, OPAQUE) or id(value) in self._seen:
                continue
            count += 1
            if isinstance(value, Tensor):
                found.append(value)
            else:
                self._seen.add(id(value))
                todo.extend(self._open(value))
        return found

    def _open(self, value: Any) -> list[Any]:
        """Note what one object holds and return it."""
        held: list[Any] = []
        numpy = sys.modules.get("numpy")
        if isinstance(value, torch.Generator):
            self._generators.append((value, value.get_state()))
        elif isinstance(value, dict):
            self._boxes.append((value, dict.copy(value), dict))
            held.extend(dict.values(value))
        elif isinstance(value, (list, deque)):
            self._boxes.append((value, list(value), list))
            held.extend(value)
        elif isinstance(value, set):
            self._boxes.append((value, set(value), set))
        elif isinstance(value, (tuple, frozenset)):
            held.extend(value)
        elif numpy is not None and isinstance(value, numpy.ndarray):
            if value.dtype != object and value.nbytes < LARGEST_ARRAY and value.flags.writeable:
                self._boxes.append((value, value.copy(), numpy.ndarray))
            return held
        try:
            own = object.__getattribute__(value, "__dict__")
        except (AttributeError, TypeError):
            own = None
        if type(own) is dict:
            self._boxes.append((own, dict(own), dict))
            held.extend(own.values())
        if hasattr(type(value), "__slots__") and (slotted := slots(value)):
            self._boxes.append((value, slotted, slots))
            held.extend(slotted.values())
        return held


def same(now: dict[str, Any], old: dict[str, Any]) -> bool:
    """Whether two dicts hold the very same objects in the same order; values are never compared."""
    return len(now) == len(old) and all(map(is_, now.values(), old.values())) and all(map(is_, now, old))


def refill(box: Any, old: Any, kind: Any) -> None:
    """Give a container the contents that it had, unless it still has them."""
    if kind is dict:
        if not same(box, old):
            table = OrderedDict if isinstance(box, OrderedDict) else dict
            table.clear(box)
            for key, value in old.items():
                table.__setitem__(box, key, value)
    elif kind is list:
        if len(box) != len(old) or not all(map(is_, box, old)):
            box.clear()
            box.extend(old)
    elif kind is set:
        if {id(item) for item in box} != {id(item) for item in old}:
            box.clear()
            box.update(old)
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
