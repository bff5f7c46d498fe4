"""When the memory that operators made was given back, in a recording that measures."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any
from weakref import ref

from torch import is_grad_enabled

from trec.capture.log import Lifetime
from trec.capture.values.memory import Memory
from trec.capture.values.storages import storage_key

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from torch import Tensor

    from trec.capture.log import Call, Log
    from trec.capture.thread import Thread
    from trec.capture.values.memory import Entry
    from trec.capture.values.storages import Storage


class MeasuredMemory(Memory):
    """The values of all tensors met so far; a weak reference to each storage that was made tells when it is gone."""

    def __init__(self, log: Log, protect: Callable[[], Callable[[Storage, Thread], None] | None]) -> None:
        super().__init__(log, protect)
        self.log.lifetimes = []
        self._made: dict[int, tuple[Lifetime, Any]] = {}
        """The storages that are there, by address, each with the reference."""

    def make(self, tensor: Tensor, sources: Sequence[Storage], aliases: bool = False, reads: Any = None) -> int:
        """Note that an operator made the tensor, and return its value; see `Memory.make`."""
        value = super().make(tensor, sources, aliases, reads)
        self._note(tensor, value, sources)
        return value

    def write(
        self, tensor: Tensor, entry: Entry, sources: Sequence[Storage], call: Call | None, reads: list[int]
    ) -> int:
        """Note that an operator wrote the tensor and return the new value; see `Memory.write`."""
        value = super().write(tensor, entry, sources, call, reads)
        self._note(tensor, value, sources)
        return value

    def close(self) -> None:
        """Leave alone what is still there."""
        self._made.clear()

    def _note(self, tensor: Tensor, value: int, sources: Iterable[Storage]) -> None:
        key = storage_key(tensor)
        known = None if key is None else self._made.get(key)
        if known is not None:
            if value not in known[0].values:
                known[0].values.append(value)
        elif key is None or all(source.key != key for source in sources):  # else it is the user's
            self._begin(tensor, value, key)

    def _begin(self, tensor: Tensor, value: int, key: int | None) -> None:
        log = self.log
        storage = None if key is None else tensor.untyped_storage()
        size = None if storage is None else storage.nbytes()
        if log.lifetimes is None or storage is None or key is None or type(size) is not int:
            log.lifetimes = None  # not all can be followed, or their sizes are only names
            return
        log.saves |= is_grad_enabled()
        lifetime = Lifetime([value], size)
        log.lifetimes.append(lifetime)
        self._made[key] = lifetime, ref(storage, partial(self._gone, key))

    def _gone(self, key: int, _: Any) -> None:
        lifetime, _ = self._made.pop(key)
        lifetime.end = len(self.log.types)
