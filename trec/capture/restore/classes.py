"""Attributes of the classes of modules, such as counters that a model keeps there."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from trec.capture.leaves import OPAQUE
from trec.capture.restore.refill import MISSING

if TYPE_CHECKING:
    from trec.capture.restore.left import Left

_NOT_OF_THE_USER = frozenset({"torch", "builtins", "abc", "typing"})


class Classes:
    """What the classes of the user's own modules held, by identity."""

    def __init__(self) -> None:
        self._held: list[tuple[type, dict[str, Any]]] = []
        self._seen: set[int] = set()

    def is_new(self, kind: type) -> bool:
        """Tell whether a class was not looked at yet."""
        return id(kind) not in self._seen

    def remember(self, kind: type) -> list[Any]:
        """Remember the attributes of a class and of those it is derived from; return what may be worth a look."""
        found: list[Any] = []
        for base in type.__dict__["__mro__"].__get__(kind):
            if id(base) in self._seen:
                continue
            self._seen.add(id(base))
            if str(base.__module__).partition(".")[0] in _NOT_OF_THE_USER:
                continue
            held = dict(type.__dict__["__dict__"].__get__(base))
            self._held.append((base, held))
            found += [value for name, value in held.items() if _is_own(name) and not issubclass(type(value), OPAQUE)]
        return found

    def restore(self, left: Left) -> None:
        """Give every class the attributes that it had."""
        for kind, old in self._held:
            now = type.__dict__["__dict__"].__get__(kind)
            for name in [name for name in now if name not in old and _is_own(name)]:
                left.attempt(f"{kind.__name__}.{name}", type.__delattr__, kind, name)
            for name, value in old.items():
                if now.get(name, MISSING) is not value and _is_own(name):
                    left.attempt(f"{kind.__name__}.{name}", type.__setattr__, kind, name, value)


def _is_own(name: str) -> bool:
    """Tell whether a name is not one of those that Python itself writes, such as `__annotations__`."""
    return not (name.startswith("__") and name.endswith("__"))
