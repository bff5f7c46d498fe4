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

from trec.capture.storages import SHARED, Share, Storage
from trec.capture.writes import Writes

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    import torch

_FIRST_PLACE = 1 << 48
"""Addresses above this are given to storages that have none: on meta, or on other devices."""


class SharedMemory:
    """The one memory of all storages that overlap, or may."""

    def __init__(self) -> None:
        self.writes = Writes()
        self._shares: list[Share] = []
        self._watched: list[Share] = []
        self._owned: list[tuple[Share, Storage]] = []
        """Storages of the user's, which must be put back after a write."""
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
        self._shares.append(share)
        if storage.owner is not None:
            self._owned.append((share, storage))
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
        self._shares = [share for share in self._shares if share.alive() is not None]
        return any(share.start < stop and start < share.stop for share in self._shares)

    def owned(self, start: int, stop: int) -> list[Storage]:
        """Return the storages of the user's that lie at some of the addresses."""
        return [storage for share, storage in self._owned if share.start < stop and start < share.stop]

    # ---- what others than torch write

    def watch(self, storage: Storage, array: Any = None) -> None:
        """Let what others write into a storage be noticed from now on.

        Args:
            storage: part of the shared memory.
            array: who may write it, until it is gone; for ever if that cannot be told.
        """
        for share in storage.shares:
            around = next(
                (other for other in self._watched if other.start <= share.start <= share.stop <= other.stop), None
            )
            if around is None:
                live = share.alive()
                if live is None or real_address(live) is None:
                    continue
                share.checksum, share.arrays = _checksum(live), []
                self._watched = [other for other in self._watched if other.alive() is not None]
                self._watched.append(share)
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
            if live is None or (share.arrays is not None and not any(array() is not None for array in share.arrays)):
                self._watched = [other for other in self._watched if other is not share]
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
        return [
            share
            for share in self._watched
            if any(share.start < own.stop and own.start < share.stop for own in storage.shares)
        ]


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
