"""Mutable containers and plain objects that the model can reach, and their contents before a recording.

Objects are looked at through `object`'s and the containers' own methods alone: no property is read, nothing is
compared, hashed or asked for its truth, and no method of a subclass is called.
"""

from __future__ import annotations

import array
import functools
import random
import sys
import types
import weakref
from collections import defaultdict, deque
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from trec.capture.leaves import ATOMS, OPAQUE, slots
from trec.capture.restore.arrays import ArrayFacts, refill_array
from trec.capture.restore.refill import (
    FACTORY,
    MISSING,
    refill_attributes,
    refill_deque,
    refill_dict,
    refill_list,
    refill_set,
    refill_slice,
    refill_slots,
    refill_view,
    set_class,
    set_factory,
    set_state,
    table_of,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from trec.capture.restore.left import Left

MOST_OBJECTS = 50_000
"""So many objects are looked at from each attribute; what lies behind them is not put back."""

BOUND_TO_THE_PROCESS = frozenset({
    "threading", "_thread", "_queue", "queue", "concurrent", "multiprocessing", "asyncio", "logging", "socket",
    "subprocess", "io", "_io", "importlib", "ctypes", "ssl", "select", "selectors", "sqlite3", "tempfile",
    "contextvars",
})  # fmt: skip
"""Modules whose objects stand for something that goes on meanwhile: to rewind them would break it."""

Box = tuple["Callable[[Any, Any], Any]", Any, Any]
"""How contents are put back, what they belong to, and what they were."""


class Contents:
    """What containers and objects held, remembered by identity; numbers and generators by value."""

    def __init__(self) -> None:
        self.boxes: list[Box] = []
        self.modules: list[torch.nn.Module] = []
        """Modules that were met in containers and objects, for the one who asked to look at."""
        self._seen: set[int] = set()
        self._openers: dict[int, Callable[[Contents, Any], Iterable[Any]] | None] = {}
        """By class. No bound methods: these would keep all of this, and so what it holds, for the collector to find."""
        self._kept: list[Any] = []

    def restore(self, left: Left) -> None:
        """Give every container what it held."""
        for put_back, box, old in self.boxes:
            left.attempt(f"the contents of a {type(box).__name__}", put_back, box, old)

    def drop(self) -> None:
        """Forget all of it."""
        self.boxes, self._kept = [], []

    def remember(self, value: Any, left: Left) -> list[Tensor]:
        """Remember what can be reached from a value; return the tensors among it."""
        found: list[Tensor] = []
        todo, count = [value], 0
        seen, openers = self._seen, self._openers
        while todo:
            value = todo.pop()
            kind = type(value)  # to ask the object itself for its class could run code of the user's
            opener = openers.get(id(kind), MISSING)
            if opener is MISSING:
                opener = openers[id(kind)] = self._opener(kind)
                self._kept.append(kind)
            if opener is None:
                continue
            if issubclass(kind, Tensor):
                found.append(value)
            if id(value) in seen:
                continue
            if count == MOST_OBJECTS:
                left.append(f"what lies behind the first {MOST_OBJECTS} objects of an attribute")
                break
            count += 1
            seen.add(id(value))
            self._kept.append(value)  # what a property made would go, and its id with it
            try:
                todo.extend(opener(self, value))  # type: ignore[operator]
            except Exception as error:
                left.append(f"the contents of a {kind.__name__}, which could not be read ({type(error).__name__})")
        return found

    # ---- one opener for each kind of object: it notes the contents and returns what they are

    @classmethod
    def _opener(cls, kind: type) -> Callable[[Contents, Any], Iterable[Any]] | None:
        if issubclass(kind, torch.nn.Module):
            return cls._open_module
        if issubclass(kind, (types.MethodType, functools.partial)):
            return _open_callable
        if issubclass(kind, OPAQUE) or any(_is_bound(base) for base in kind.__mro__):
            return None
        for base, opener in (
            (Tensor, _open_nothing),
            (dict, cls._open_dict),
            (list, cls._open_list),
            (deque, cls._open_deque),
            (set, cls._open_set),
            (bytearray, cls._open_bytes),
            (array.array, cls._open_bytes),
            (memoryview, cls._open_view),
            (torch.Generator, cls._open_generator),
            (random.Random, cls._open_random),
            (weakref.ref, _open_reference),
        ):
            if issubclass(kind, base):
                return opener
        return cls._numpy_opener(kind) or cls._open_object

    @classmethod
    def _numpy_opener(cls, kind: type) -> Callable[[Contents, Any], Iterable[Any]] | None:
        numpy = sys.modules.get("numpy")
        if numpy is None:
            return None
        if issubclass(kind, numpy.ndarray):
            return cls._open_array
        if issubclass(kind, numpy.generic):
            return _open_nothing
        if not hasattr(numpy, "random"):
            return None
        if issubclass(kind, numpy.random.Generator):
            return lambda _, value: (value.bit_generator,)
        if issubclass(kind, numpy.random.BitGenerator):
            return cls._open_bit_generator
        if issubclass(kind, numpy.random.RandomState):
            return cls._open_random_state
        return None

    def _open_module(self, value: Any) -> Iterable[Any]:
        self.modules.append(value)
        return ()

    def _open_dict(self, value: Any) -> Iterable[Any]:
        table = table_of(type(value))
        held = table(table.items(value))
        self.boxes.append((refill_dict, value, held))
        if issubclass(type(value), defaultdict):
            self.boxes.append((set_factory, value, FACTORY.__get__(value)))
        keys = [] if set(map(type, held)) <= ATOMS else list(held)
        return _contents(held.values()) + keys + self._attributes(value)

    def _open_list(self, value: Any) -> Iterable[Any]:
        held = list(list.__iter__(value))
        self.boxes.append((refill_list, value, held))
        return _contents(held) + self._attributes(value)

    def _open_deque(self, value: Any) -> Iterable[Any]:
        held = list(deque.__iter__(value))
        self.boxes.append((refill_deque, value, held))
        return _contents(held) + self._attributes(value)

    def _open_set(self, value: Any) -> Iterable[Any]:
        held = list(set.__iter__(value))
        self.boxes.append((refill_set, value, held))
        return _contents(held) + self._attributes(value)

    def _open_bytes(self, value: Any) -> Iterable[Any]:
        self.boxes.append((refill_slice, value, value[:]))
        return self._attributes(value)

    def _open_view(self, value: memoryview) -> Iterable[Any]:
        if not value.readonly:
            self.boxes.append((refill_view, value, value.tobytes()))
        return ()

    def _open_generator(self, value: torch.Generator) -> Iterable[Any]:
        self.boxes.append((torch.Generator.set_state, value, value.get_state()))
        return ()

    def _open_random(self, value: random.Random) -> Iterable[Any]:
        if not issubclass(type(value), random.SystemRandom):
            self.boxes.append((random.Random.setstate, value, random.Random.getstate(value)))
        return self._attributes(value)

    def _open_bit_generator(self, value: Any) -> Iterable[Any]:
        self.boxes.append((set_state, value, value.state))
        return ()

    def _open_random_state(self, value: Any) -> Iterable[Any]:
        self.boxes.append((type(value).set_state, value, value.get_state(legacy=False)))
        return ()

    def _open_array(self, value: Any) -> Iterable[Any]:
        facts = ArrayFacts(value)
        self.boxes.append((refill_array, value, facts))
        return [*facts.objects, *self._attributes(value)]

    def _open_object(self, value: Any) -> Iterable[Any]:
        kind = type(value)
        count = len(self.boxes)
        held = self._attributes(value)
        for base in (tuple, frozenset):
            if issubclass(kind, base):
                return _contents(base.__iter__(value)) + held
        if len(self.boxes) > count:
            self.boxes.insert(count, (set_class, value, kind))
        return held

    def _attributes(self, value: Any) -> list[Any]:
        held: list[Any] = []
        try:
            own = object.__getattribute__(value, "__dict__")
        except (AttributeError, TypeError):
            own = None
        if type(own) is dict:
            self.boxes.append((refill_attributes, value, (own, own.copy())))
            held.extend(_contents(own.values()))
        if hasattr(type(value), "__slots__") and (slotted := slots(value)):
            self.boxes.append((refill_slots, value, slotted))
            held.extend(value for _, _, value in slotted)
        return held


def _contents(held: Iterable[Any]) -> list[Any]:
    """Return what may be worth a look."""
    return [item for item in held if type(item) not in ATOMS]


def _is_bound(kind: type) -> bool:
    name = kind.__module__
    return type(name) is str and name.partition(".")[0] in BOUND_TO_THE_PROCESS


def _open_nothing(_: Contents, value: Any) -> Iterable[Any]:
    return ()


def _open_callable(_: Contents, value: Any) -> Iterable[Any]:
    if issubclass(type(value), types.MethodType):
        return (value.__self__,)
    partial = functools.partial
    of: list[Any] = [partial.func, partial.args, partial.keywords]  # descriptors: a subclass may define others
    return [descriptor.__get__(value) for descriptor in of]


def _open_reference(_: Contents, value: Any) -> Iterable[Any]:
    return (weakref.ref.__call__(value),)
