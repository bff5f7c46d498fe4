"""How long what operators make is there, and how long the program itself holds it.

A weak reference to each storage tells when it is given back. What autograd keeps is not given back, though the program
alone, as it runs under `torch.no_grad()`, would have let go of it. So a storage that was made while gradients were
followed is also looked at: does anything but autograd still hold a tensor that lies in it? To look costs time. It is
done only where what is there, as far as is known, is more than ever before: so the peak is found, and what is known of
a storage meanwhile is when it was last seen to be held.
"""

from __future__ import annotations

from sys import getrefcount
from threading import get_ident
from typing import TYPE_CHECKING, Any
from weakref import ref

import torch
from torch import is_grad_enabled

from trec.capture.log import Lifetime
from trec.capture.torch_api import use_count
from trec.capture.values.storages import carrier

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from torch import Tensor

    from trec.capture.log import Log
    from trec.capture.thread import Thread
    from trec.capture.values.memory import Entry
    from trec.capture.values.storages import Storage

_FEW = 64
"""So many storages are looked at whenever there is reason to; more, only when they have become an eighth more."""


Followed = tuple["Storage", Lifetime, "Callable[[], Tensor | None]"]
"""A storage that autograd may keep, its lifetime, and what returns the tensor that was made with it."""


class Watch(ref[Any]):
    """A weak reference to a storage that knows its lifetime."""

    __slots__ = ("lifetime",)
    lifetime: Lifetime


class Lifetimes:
    """The lifetimes of the storages that operators make, while they make them."""

    def __init__(self, log: Log, entries: dict[int, Entry], threads: Mapping[int, Thread]) -> None:
        self.log = log
        self.size = 0
        """Bytes that are there, as far as is known."""
        self._gone: list[Watch] = []
        """References to those given back. No code of Python's runs then: an interrupt that came in it would be lost."""
        self.peak = 0
        """The most bytes that were known to be there at once."""
        self.reserve = 0
        """Id of a tensor that an operator is making and that would be empty if autograd did not need it."""
        self._entries, self._threads = entries, threads
        self._followed: list[Followed] = []
        """Those that autograd may keep, as far as they are not known to be let go."""
        self._enough = 0
        """How many of them there must be to be looked at again."""
        self._follows = is_grad_enabled()
        """Whether autograd may keep more than the model asks it to."""
        log.followed = TELLS_HOLDERS or not self._follows

    def begin(self, storage: Storage, untyped: torch.UntypedStorage, reach: Callable[[], Tensor | None]) -> None:
        """Note that an operator made a storage; if autograd may keep it, it will be looked at from time to time.

        Args:
            storage: what is known of it.
            untyped: the storage itself.
            reach: returns the tensor that was made with it.
        """
        size = untyped.nbytes()
        if type(size) is not int:
            self.log.followed, size = False, 0  # it is only a name
        value = storage.value
        if self._gone:
            self._take_gone(value)
        watch = storage.alive = Watch(untyped, self._gone.append)
        lifetime = watch.lifetime = storage.lifetime = Lifetime([value], size)
        self.log.lifetimes.append(lifetime)
        if self.reserve == storage.first:
            self.reserve, lifetime.is_reserve, lifetime.end = 0, True, value
            return
        self.size += size
        if self.size > self.peak:
            self._settle(value)
        if self._follows and is_grad_enabled():
            lifetime.held = value
            self._followed.append((storage, lifetime, reach))

    def write(self, lifetime: Lifetime, tensor: Tensor, value: int) -> None:
        """Note that a storage was written; it may have been made larger for that."""
        lifetime.values.append(value)
        size = carrier(tensor).untyped_storage().nbytes()
        if type(size) is int and size > lifetime.bytes:
            self.size += size - lifetime.bytes
            lifetime.bytes = size

    def end(self) -> None:
        """Look at all that is there when the run has ended, while its results are still held."""
        self._enough = 0
        self._take_gone(len(self.log.types))
        self._settle(len(self.log.types))

    def close(self) -> None:
        """Note nothing any more: the recording has ended."""
        self._take_gone(len(self.log.types))
        self._followed.clear()

    def _settle(self, now: int) -> None:
        """Find the peak: look at what autograd may keep, and take note of what the program has let go.

        What a function that still runs has made may be held in C++. It is not judged before the function ends.
        """
        if not self._followed:
            self.peak = max(self.peak, self.size)
            return
        if len(self._followed) < self._enough:
            return
        left, unsure = _held(self._followed, now)
        unsettled = 0
        if unsure:
            began = self._began(now)
            for followed in unsure:
                storage, lifetime, _ = followed
                if self._is_held(storage, lifetime, now):
                    left.append(followed)
                elif lifetime.values[0] >= began:
                    unsettled += lifetime.bytes
                    left.append(followed)
                else:
                    lifetime.end = began
                    self.size -= lifetime.bytes
        self._followed = left
        self._enough = len(left) + len(left) // 8 if len(left) > _FEW else 0
        self.peak = max(self.peak, self.size - unsettled)

    def _take_gone(self, now: int) -> None:
        """Note what was given back since the last storage was made.

        What was made before the call that runs went before it.
        """
        began, gone = self._began(now), self._gone
        while gone:  # another may go meanwhile, in this thread or another
            lifetime = gone.pop().lifetime
            lifetime.freed = now if lifetime.values[0] >= began else began
            if lifetime.end < 0:
                lifetime.end, lifetime.held = lifetime.freed, -1
                self.size -= lifetime.bytes

    def _began(self, now: int) -> int:
        """Return the first value that was made in the call which runs."""
        thread = self._threads.get(get_ident())
        if thread is not None and thread.call is not None:
            for event in thread.call.events:
                if event[4]:
                    return event[4][0]
        return now

    def _is_held(self, storage: Storage, lifetime: Lifetime, now: int) -> bool:
        """Whether Python code holds a tensor that lies in a storage.

        References in C++ are those of autograd, which stay, and those of variables there. So where they have become
        fewer, one of the latter was there when they were counted last.
        """
        references, is_held = 0, False
        for known in storage.tensors or (storage.first,):
            entry = self._entries.get(known)
            tensor = entry.tensor() if entry is not None and entry.storage is storage else None
            if tensor is not None:
                count = use_count(tensor)
                references += count
                is_held = is_held or getrefcount(tensor) - (count > 1) > NOBODY
        if is_held:
            lifetime.held = now
        elif references < lifetime.references:
            lifetime.held = lifetime.looked
        lifetime.looked, lifetime.references = now, references
        return is_held


def _held(followed: list[Followed], now: int) -> tuple[list[Followed], list[Followed]]:
    """Return which storages Python code holds for sure, and which must be looked at more closely; not those gone."""
    held, unsure = [], []
    tensors, counts = _counted([reach for _, _, reach in followed])
    for each, tensor, count in zip(followed, tensors, counts, strict=True):
        lifetime = each[1]
        if lifetime.end >= 0:
            continue
        if count > UNSURE and tensor is not None:
            lifetime.held = now
            held.append(each)
        else:
            unsure.append(each)
    return held, unsure


def _counted(reaches: Sequence[Callable[[], Tensor | None]]) -> tuple[list[Tensor | None], list[int]]:
    """Return tensors with the number of references to each; if that is more than `UNSURE`, Python code has one."""
    tensors = [reach() for reach in reaches]
    return tensors, list(map(getrefcount, tensors))


def _holders(reach: Callable[[], Tensor | None]) -> int:
    """Return how many references Python code has to a tensor, and `NOBODY` more."""
    tensor = reach()
    return getrefcount(tensor) - int(use_count(tensor) > 1)  # if C++ holds it, that keeps its object by one reference


def _calibrated() -> tuple[int, int, bool]:
    """Return what `_holders` and `_counted` give for a tensor that only autograd holds, and whether that tells it."""
    with torch.enable_grad(), torch.inference_mode(False):
        kept = torch.ones(1, requires_grad=True) * 1
        reach = ref(kept)
        alone = _holders(reach)
        product = kept * kept
        saved = _holders(reach)
        del kept
        nobody, unsure = _holders(reach), _counted([reach])[1][0]
        del product
    return nobody, unsure, alone == saved == nobody + 1


NOBODY, UNSURE, TELLS_HOLDERS = (0, 0, False) if use_count is None else _calibrated()
