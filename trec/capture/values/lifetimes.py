"""How long what operators make is there, and how long the program itself holds it.

A weak reference to each storage tells when it is given back. What autograd keeps is not given back, though the program
alone, as it runs under `torch.no_grad()`, would have let go of it. So a storage that was made while gradients were
followed is also looked at: does anything but autograd still hold a tensor that lies in it? To look costs time. It is
done only where what is there, as far as is known, is more than ever before: so the peak is found, and what is known of
a storage meanwhile is when it was last seen to be held.
"""

from __future__ import annotations

from sys import getrefcount
from typing import TYPE_CHECKING, Any
from weakref import ref

import torch
from torch import is_grad_enabled

from trec.capture.log import Lifetime
from trec.capture.torch_api import use_count
from trec.capture.values.storages import carrier

if TYPE_CHECKING:
    from collections.abc import Callable

    from torch import Tensor

    from trec.capture.log import Log
    from trec.capture.thread import Thread
    from trec.capture.values.memory import Entry
    from trec.capture.values.storages import Storage

_FEW = 64
"""So many storages are looked at whenever there is reason to; more, only when they have become an eighth more."""


class Watch(ref[Any]):
    """A weak reference to a storage that knows its lifetime."""

    __slots__ = ("lifetime", "lifetimes")
    lifetime: Lifetime
    lifetimes: Lifetimes


class Lifetimes:
    """The lifetimes of the storages that operators make, while they make them."""

    def __init__(self, log: Log, entries: dict[int, Entry], thread: Callable[[], Callable[[], Thread | None] | None]):
        self.log = log
        self.size = 0
        """Bytes that are there, as far as is known."""
        self.peak = 0
        """The most bytes that were known to be there at once."""
        self._entries, self._thread = entries, thread
        self._followed: list[Storage] = []
        """Those that autograd may keep, as far as they are not known to be let go."""
        self._most = _FEW
        """How many of them there may be before they are looked at."""
        self._closed = False

    def begin(self, untyped: torch.UntypedStorage, value: int) -> Watch:
        """Note that an operator made a storage, and return the reference that watches it.

        Args:
            untyped: the storage.
            value: what lies in it.
        """
        size = untyped.nbytes()
        watch = Watch(untyped, _gone)
        watch.lifetimes = self
        lifetime = watch.lifetime = Lifetime([value], size)
        if type(size) is int:
            self.size += size
            self.log.lifetimes.append(lifetime)
        else:
            self.log.followed = False  # its size is only a name
        return watch

    def write(self, lifetime: Lifetime, tensor: Tensor, value: int) -> None:
        """Note that a storage was written; it may have been made larger for that."""
        lifetime.values.append(value)
        size = carrier(tensor).untyped_storage().nbytes()
        if type(size) is int and size > lifetime.bytes:
            self.size += size - lifetime.bytes
            lifetime.bytes = size

    def follow(self, storage: Storage, lifetime: Lifetime) -> None:
        """Look at a storage that was just made from time to time, if autograd may keep it."""
        if is_grad_enabled():
            self.log.followed = self.log.followed and TELLS_HOLDERS
            lifetime.held = lifetime.values[0]
            self._followed.append(storage)
        if self.size > self.peak:
            self._settle(lifetime.values[0])

    def end(self) -> None:
        """Look at all that is there when the run has ended, while its results are still held."""
        self._most = len(self._followed)
        self._settle(len(self.log.types))

    def close(self) -> None:
        """Note nothing any more: the recording has ended."""
        self._closed = True
        self._followed.clear()

    def _settle(self, now: int) -> None:
        """Find the peak: look at what autograd may keep, and take note of what the program has let go.

        What a function that still runs has made may be held in C++. It is not judged before the function ends.
        """
        if len(self._followed) > self._most:
            return
        began = self._began(now)
        left, unsettled = [], 0
        for storage in self._followed:
            lifetime = storage.lifetime
            if lifetime is None or lifetime.freed >= 0:
                continue
            if self._is_held(storage):
                lifetime.held = now
            elif lifetime.values[0] >= began:
                unsettled += lifetime.bytes
            else:
                lifetime.end = began
                self.size -= lifetime.bytes
                continue
            left.append(storage)
        self._followed = left
        self._most = max(_FEW, len(left) + len(left) // 8)
        self.peak = max(self.peak, self.size - unsettled)

    def _began(self, now: int) -> int:
        """Return the first value that was made in the call which runs."""
        current = self._thread()
        thread = None if current is None else current()
        call = None if thread is None else thread.call
        return next((event[4][0] for event in call.events if event[4]), now) if call is not None else now

    def _is_held(self, storage: Storage) -> bool:
        """Whether anything but autograd, or C++, holds a tensor that lies in a storage."""
        for known in storage.tensors or (storage.first,):
            entry = self._entries.get(known)
            if entry is not None and entry.storage is storage and _holders(entry.tensor) > NOBODY:
                return True
        return False


def _gone(watch: Watch) -> None:
    lifetimes, lifetime = watch.lifetimes, watch.lifetime
    if lifetimes._closed:
        return
    lifetime.freed = len(lifetimes.log.types)
    if lifetime.end < 0:
        lifetime.end = lifetime.freed
        lifetimes.size -= lifetime.bytes


def _holders(reach: Callable[[], Tensor | None]) -> int:
    """Return how many references Python code has to a tensor, and `NOBODY` more; 0 if it is gone."""
    tensor = reach()
    if tensor is None:
        return 0
    return getrefcount(tensor) - (use_count(tensor) > 1)  # if C++ holds it, that keeps its object by one reference


def _nobody() -> tuple[int, bool]:
    """Return what `_holders` gives for a tensor that only autograd holds, and whether it tells it from others."""
    with torch.enable_grad(), torch.inference_mode(False):
        leaf = torch.ones(1, requires_grad=True)
        kept = leaf * 1
        reach = ref(kept)
        alone = _holders(reach)
        product = kept * kept
        saved = _holders(reach)
        del kept
        nobody = _holders(reach)
        del product
    return nobody, alone == saved == nobody + 1 > 1


NOBODY, TELLS_HOLDERS = (0, False) if use_count is None else _nobody()
