"""Give a container or an object the contents that it had; no method of a subclass is called, and no value compared."""

from __future__ import annotations

from collections import OrderedDict, defaultdict, deque
from operator import is_
from typing import Any

from trec.capture.leaves import slots

MISSING = object()
FACTORY: Any = vars(defaultdict)["default_factory"]


def table_of(kind: type) -> Any:
    """Return the class whose methods tell the true contents of a dict: an ordered one keeps an order of its own."""
    return OrderedDict if issubclass(kind, OrderedDict) else dict


def same(now: dict[Any, Any], old: dict[Any, Any]) -> bool:
    """Tell whether two dicts hold the very same objects in the same order; values are never compared."""
    table = table_of(type(now))
    values = table.values(now)
    return len(values) == len(old) and all(map(is_, values, old.values())) and all(map(is_, table.keys(now), old))


def refill_dict(box: Any, old: Any) -> None:
    """Give a dict the contents that it had, in their order, unless it still has them."""
    if same(box, old):
        return
    table = table_of(type(box))
    table.clear(box)
    for key, value in old.items():
        table.__setitem__(box, key, value)


def refill_list(box: Any, old: Any) -> None:
    """Give a list the contents that it had."""
    if len(now := list(list.__iter__(box))) != len(old) or not all(map(is_, now, old)):
        list.__setitem__(box, slice(None), old)


def refill_deque(box: Any, old: Any) -> None:
    """Give a deque the contents that it had."""
    if len(now := list(deque.__iter__(box))) != len(old) or not all(map(is_, now, old)):
        deque.clear(box)
        deque.extend(box, old)


def refill_set(box: Any, old: Any) -> None:
    """Take off what was added and add what was taken off, so that the order stays where it can."""
    before = set(map(id, old))
    for item in [item for item in set.__iter__(box) if id(item) not in before]:
        set.discard(box, item)
    held = {id(item) for item in set.__iter__(box)}
    for item in old:
        if id(item) not in held:
            set.add(box, item)


def refill_slice(box: Any, old: Any) -> None:
    """Give a bytearray or an array the numbers that it had."""
    if box != old:
        box[:] = old


def refill_view(box: memoryview, old: bytes) -> None:
    """Give the memory that a view shows the bytes that it had."""
    if box.tobytes() != old:
        box.cast("B")[:] = old


def refill_attributes(box: Any, old: tuple[dict[str, Any], dict[str, Any]]) -> None:
    """Give an object its own dict of attributes, with what that held."""
    own, held = old
    if object.__getattribute__(box, "__dict__") is not own:
        object.__setattr__(box, "__dict__", own)
    refill_dict(own, held)


def refill_slots(box: Any, old: list[Any]) -> None:
    """Give the slots of an object the values that they had."""
    now = {id(slot): value for slot, _, value in slots(box)}
    before = {id(slot) for slot, _, _ in old}
    for slot, _, _ in slots(box):
        if id(slot) not in before:
            slot.__delete__(box)
    for slot, _, value in old:
        if now.get(id(slot), MISSING) is not value:
            slot.__set__(box, value)


def set_class(box: Any, old: type) -> None:
    """Give an object the class that it had."""
    if type(box) is not old:
        object.__setattr__(box, "__class__", old)


def set_factory(box: Any, old: Any) -> None:
    """Give a defaultdict the maker of values that it had."""
    if FACTORY.__get__(box) is not old:
        FACTORY.__set__(box, old)


def set_state(box: Any, old: Any) -> None:
    """Give a bit generator of numpy the state that it had."""
    box.state = old
