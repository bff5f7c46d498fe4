"""Memory that several storages share, or that torch shares with others: numpy arrays, DLPack, parts of sparse tensors.

All of it is one memory in which each storage has its address, so storages that overlap see each other's writes. What
numpy writes no mode can see: memory that was handed out is compared with its checksum whenever it is read.
"""

from __future__ import annotations

from ctypes import c_char
from itertools import repeat
from typing import TYPE_CHECKING, Any
from weakref import ref
from zlib import crc32

from trec.capture.values.storages import SHARED, Share, Storage
from trec.capture.values.stretches import Stretches
from trec.capture.values.writes import Writes

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    import torch

    from trec.capture.values.memory import Memory

_FIRST_PLACE = 1 << 48
"""Addresses above this are given to storages that have none: on meta, or on other devices."""


class SharedMemory:
    """The one memory of all storages that overlap, or may."""

    def __init__(self) -> None:
        self.writes = Writes()
        self._shares: Stretches[Share] = Stretches(_is_gone)
        self._watched: Stretches[Share] = Stretches(_is_unwatched)
        self._owned: Stretches[Storage] = Stretches(lambda storage: False)
        """Storages of the user's, which must be put back after a write."""
        self._others: Stretches[tuple[Storage, Callable[[], Any]]] = Stretches(_is_taken)
        """Storages that were met and are not part of this memory."""
        self._newest: Storage | None = None
        """The newest of them."""
        self._next_place = _FIRST_PLACE

    def take(self, storage: Storage, untyped: torch.UntypedStorage, *, foreign: bool = False) -> None:
        """Make a storage part of the shared memory, with what it holds."""
        if storage.shares:
            return
        start, stop = self.place(untyped)
        alive: Callable[[], Any] = storage.alive or repeat(untyped).__next__
        if not self.overlaps(start, stop):
            self.writes.clear(start, stop)
        share = Share(start, stop, alive, foreign)
        self._shares.add(start, stop, share)
        if storage.owner is not None:
            self._owned.add(start, stop, storage)
        if storage.writes is not None:
            self.writes.move(storage.writes, 0, stop - start, start)
        self.writes.fill(storage.value, start, stop)
        storage.shares, storage.writes, storage.version = (share,), self.writes, SHARED
        storage.lay_sources(storage.sources)

    def place(self, untyped: torch.UntypedStorage) -> tuple[int, int]:
        """Return the addresses of a storage; one that has none is given some."""
        start, size = real_address(untyped), untyped.nbytes()
        if start is None:
            start = self._next_place
            self._next_place += 1 << 40
        return start, start + (size if type(size) is int else 1 << 40)

    def overlaps(self, start: int, stop: int) -> bool:
        """Whether a living storage of the shared memory lies at some of the addresses."""
        if not self.writes.within_span(start, stop):
            return False
        return bool(self._shares.touching(start, stop))

    def owned(self, start: int, stop: int) -> list[Storage]:
        """Return the storages of the user's that lie at some of the addresses."""
        return self._owned.touching(start, stop)

    def others(self, start: int, stop: int, memory: Memory) -> list[tuple[Storage, torch.UntypedStorage]]:
        """Return the storages that lie at some of the addresses though they are not part of the shared memory yet."""
        newest = self._newest
        for key, storage in reversed(memory.storages.items()):
            if storage is newest:
                break
            if self._newest is newest:
                self._newest = storage
            owner = memory.owned_storages.get(key)
            alive = storage.alive or (None if owner is None else repeat(owner.untyped_storage()).__next__)
            untyped = None if alive is None or storage.shares else alive()
            first = None if untyped is None else real_address(untyped)
            if alive is not None and untyped is not None and first is not None:
                self._others.add(first, first + untyped.nbytes(), (storage, alive))
        return [(storage, alive()) for storage, alive in self._others.touching(start, stop)]

    # ---- what others than torch write

    def watch(self, storage: Storage, array: Any = None) -> None:
        """Let what others write into a storage be noticed from now on.

        Args:
            storage: part of the shared memory.
            array: who may write it, until it is gone; for ever if that cannot be told.
        """
        for share in storage.shares:
            watched = self._watched.touching(share.start, share.stop)
            around = next((other for other in watched if other.start <= share.start <= share.stop <= other.stop), None)
            if around is None:
                live = share.alive()
                if live is None or real_address(live) is None:
                    continue
                share.checksum, share.arrays = _checksum(live), []
                self._watched.add(share.start, share.stop, share)
                around = share
            try:
                if around.arrays is not None:
                    around.arrays.append(ref(array))
            except TypeError:
                around.arrays = None

    def changed(self, storage: Storage) -> list[Share]:
        """Return the stretches round a storage that others have written since torch did."""
        found = []
        for share in self._touching(storage):
            live = share.alive()
            checksum = None if live is None else _checksum(live)
            if checksum is not None and checksum != share.checksum:
                share.checksum = checksum
                found.append(share)
            if share.arrays is not None and not any(array() is not None for array in share.arrays):
                share.checksum = None  # nobody may write it any more
        return found

    def written(self, storage: Storage) -> None:
        """Note that torch itself has written a storage."""
        for share in self._touching(storage):
            live = share.alive()
            share.checksum = None if live is None else _checksum(live)
        for share in storage.shares:
            live = share.alive()
            if share.foreign and live is not None:  # held: its array may be given to torch again
                share.foreign, share.alive = False, repeat(live).__next__
                self.watch(storage)

    def _touching(self, storage: Storage) -> Iterable[Share]:
        found = [share for own in storage.shares for share in self._watched.touching(own.start, own.stop)]
        return {id(share): share for share in found}.values()


def _is_gone(share: Share) -> bool:
    return share.alive() is None


def _is_unwatched(share: Share) -> bool:
    return share.checksum is None or share.alive() is None


def _is_taken(other: tuple[Storage, Callable[[], Any]]) -> bool:
    return bool(other[0].shares) or other[1]() is None


def real_address(untyped: torch.UntypedStorage) -> int | None:
    """Return the address of a storage in the memory of the process; None if it has none."""
    if untyped.device.type != "cpu":
        return None
    try:
        return untyped.data_ptr() or None
    except RuntimeError:
        return None


def _checksum(untyped: torch.UntypedStorage) -> int:
    return crc32((c_char * untyped.nbytes()).from_address(untyped.data_ptr()))
