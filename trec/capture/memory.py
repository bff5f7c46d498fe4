"""Which value each tensor holds at each moment, through views, writes and shared storages.

A tensor is known by its `id`, guarded by a weak reference, so nothing is kept alive and nothing is written on it. A
storage is known by its address, guarded likewise. A write makes a new value and is noted in the log of the storage,
with the bytes that it covers; a tensor that shares the storage is brought up to date when it is next read.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import repeat
from typing import TYPE_CHECKING, Any
from weakref import ref

from msgspec import Struct
from torch import Tensor
from torch.nn import Parameter

from trec.capture.log import STRIDED, Log, Origin, UninitializedTensor
from trec.capture.regions import APART, WHOLE, Region, overlap, region_of

if TYPE_CHECKING:
    from trec.capture.log import Call
    from trec.capture.thread import Thread

Write = tuple[int, "Region | None", "Call | None"]
"""The value that a write made, the bytes that it covered, and the call that it happened in."""

PLAIN_TENSORS = (Tensor, Parameter)


class Storage(Struct, gc=False):
    """What is known of one storage."""

    key: int | None
    """Its address; None if the tensor has no storage of its own."""
    last: int
    """The newest value in it."""
    tensors: list[int]
    """Ids of the tensors that were seen to share it."""
    alive: Callable[[], Any] | None
    """Weak reference to it; None if it is held anyway."""
    writes: Sequence[Write] = ()
    version: int = 0
    """Number of writes."""
    owner: Tensor | None = None
    """A tensor of the user's that lies in it and must be put back after a write."""
    foreign: bool = False
    """Whether what lies in it came from outside the model, so that it must be put back after a write."""
    saved: bool = False


class Entry(Struct, gc=False):
    """The value that one tensor holds."""

    tensor: Callable[[], Tensor | None]
    value: int
    storage: Storage
    seen: int
    """How many writes of the storage the value takes account of."""


class Memory:
    """The values of all tensors met so far."""

    def __init__(self, log: Log) -> None:
        self.log = log
        self.entries: dict[int, Entry] = {}
        self.storages: dict[int, Storage] = {}
        self.origins: dict[int, Origin] = {}
        """Names of the tensors that belong to the model, by id."""
        self.owned: dict[int, Tensor] = {}
        """Tensors of the user's that are put back afterwards, by id; held, so an id stays theirs."""
        self.owned_storages: dict[int, Tensor] = {}
        """The same by address of their storage."""
        self.labels: dict[int, str] = {}
        """Path of the attribute that holds a tensor which is neither parameter nor buffer."""
        self.exported: list[tuple[int, int, int]] = []
        """First address, end and value of the tensors whose memory was given to numpy, in order."""
        self.lazy: set[int] = set()
        """Ids of the parameters that had no shape when recording began; they are named when it ends."""
        self.introduced: set[int] = set()
        """Ids of the parameters and buffers that have a node."""

    # ---- reading

    def entry(self, tensor: Tensor, thread: Thread) -> Entry:
        """Return what is known of a tensor, brought up to date; it is introduced if it was never met."""
        entry = self.entries.get(id(tensor))
        if entry is None or entry.tensor() is not tensor:
            return self._introduce(tensor, thread)
        if entry.seen != entry.storage.version:
            self._update(tensor, entry, thread)
        return entry

    def known(self, tensor: Tensor) -> Entry | None:
        """Return what is known of a tensor, or None; nothing is introduced and no write is followed."""
        entry = self.entries.get(id(tensor))
        return entry if entry is not None and entry.tensor() is tensor else None

    def _update(self, tensor: Tensor, entry: Entry, thread: Thread) -> None:
        """Take account of the writes made through other tensors of the same storage."""
        writes = entry.storage.writes
        covered, parts = region_of(tensor), [entry.value]
        for value, region, _ in writes[entry.seen :]:
            touched = overlap(region, covered)
            if touched == WHOLE:
                parts = [value]
            elif touched != APART:
                parts.append(value)
        pending = writes[entry.seen :]
        entry.seen = entry.storage.version
        if parts == [entry.value]:
            return
        if len(parts) == 1 and self.log.type_of(parts[0])[:2] == (tensor.shape, tensor.dtype):
            entry.value = parts[0]
            return
        made = self.log.value(tensor)
        call = thread.call
        within = call is not None and any(where is call for value, _, where in pending if value in parts)
        events: list[Any] = call.events if call is not None and within else self.log.events
        events.append(("link", "update", thread.scope, parts, [made], None, None))
        entry.value = made

    # ---- tensors that no operator was seen to make

    def _introduce(self, tensor: Tensor, thread: Thread) -> Entry:
        """Make a tensor known: a parameter, a view made in C++, or a constant."""
        key = storage_key(tensor)
        storage = self._live(key)
        origin = self.origins.get(id(tensor))
        if origin is None and id(tensor) not in self.lazy:
            origin = thread.find_origin(tensor)
        if origin is not None and id(tensor) not in self.introduced:
            made_of = []
            if storage is not None and storage.owner is None:  # a parameter made in the pass, of what lay there
                made_of = [self._alias(tensor, storage, thread)]
            return self._introduce_named(tensor, origin, key, storage, made_of)
        if storage is None and key is not None and (owner := self.owned_storages.get(key)) is not None:
            if owner is not tensor:
                self.entry(owner, thread)
            storage = self._live(key)
        if storage is not None:
            value = self._alias(tensor, storage, thread)
            return self._join(tensor, value, storage)
        return self._introduce_constant(tensor, key, thread)

    def _introduce_named(
        self, tensor: Tensor, origin: Origin, key: int | None, storage: Storage | None, made_of: list[int]
    ) -> Entry:
        value = self.log.value(tensor)
        self.log.events.append((origin.kind, origin.names[0], 0, made_of, [value], origin, None))
        known = id(tensor)
        self.introduced.add(known)
        if storage is None:
            storage = Storage(key, value, [known], None)
            if key is not None:
                self.storages[key] = storage
        else:
            storage.tensors.append(known)
        if storage.owner is None:
            storage.owner = self.owned.get(known)
        # A parameter that anyone holds a weak reference to cannot be swapped by the user's own code.
        entry = self.entries[known] = Entry(repeat(tensor).__next__, value, storage, storage.version)
        return entry

    def _introduce_constant(self, tensor: Tensor, key: int | None, thread: Thread) -> Entry:
        value = self.log.value(tensor)
        source = self.shared_with(tensor)
        label = self.labels.get(id(tensor))
        call = thread.call
        if source is not None:
            self.log.events.append(("host", "shared_memory", thread.scope, [source], [value], None, None))
        elif call is not None and label is None and not any(given is tensor for given in call.tensors):
            call.events.append(("constant", "constant", call.scope, [], [value], None, None))  # made in C++ just now
        else:
            self.log.events.append(("constant", label or "constant", thread.scope, [], [value], None, None))
        entry = self._place(tensor, value, key)
        if entry.storage.owner is None:
            entry.storage.owner = self.owned.get(id(tensor))
        entry.storage.foreign = call is None or label is not None or any(given is tensor for given in call.tensors)
        return entry

    def shared_with(self, tensor: Tensor) -> int | None:
        """Return the value whose memory was given to numpy and holds the first element of the tensor."""
        address = data_address(tensor) if self.exported else None
        if address is None:
            return None
        return next((value for start, stop, value in reversed(self.exported) if start <= address < stop), None)

    def _alias(self, tensor: Tensor, storage: Storage, thread: Thread) -> int:
        """Return the value of a tensor that shares a storage, though no operator was seen to make it."""
        covered = region_of(tensor)
        widest = None
        sharing = [(known, other) for known in storage.tensors if (other := self._sharing(known, storage)) is not None]
        storage.tensors = [known for known, _ in sharing]
        for _, other in reversed(sharing):
            region = region_of(other)
            if region == covered and other.dtype == tensor.dtype:
                return self.entry(other, thread).value
            if overlap(region, covered) == WHOLE:
                widest = other
        value = storage.last if widest is None else self.entry(widest, thread).value
        if self.log.type_of(value)[:2] == (tensor.shape, tensor.dtype):
            return value
        made = self.log.value(tensor)
        thread.emit(("link", "alias", thread.scope, [value], [made], None, None))
        return made

    def _sharing(self, known: int, storage: Storage) -> Tensor | None:
        entry = self.entries.get(known)
        return entry.tensor() if entry is not None and entry.storage is storage else None

    # ---- tensors that an operator made or wrote

    def make(self, tensor: Tensor, sources: Sequence[Storage], aliases: bool = False) -> int:
        """Note that an operator made the tensor, and return its value.

        Args:
            tensor: what it made; it may share the storage of one of the tensors it was made from.
            sources: storages of those tensors.
            aliases: whether a result without storage, such as a sparse one, is an alias of the first of them.
        """
        log = self.log
        if type(tensor) is not Tensor or tensor.layout is not STRIDED or tensor.is_nested:
            value = log.value(tensor)
            self._make_special(tensor, value, sources, aliases)
            return value
        key = (tensor.shape, tensor.dtype, tensor.device, STRIDED)
        index = log.type_index.get(key)
        if index is None:
            index = log.add_type(key)
        types = log.types
        value = len(types)
        types.append(index)
        untyped = tensor.untyped_storage()
        address: int = untyped._cdata
        known = id(tensor)
        for storage in sources:
            if storage.key == address:
                storage.last = value
                storage.tensors.append(known)
                break
        else:
            storage = self.storages[address] = Storage(address, value, [known], ref(untyped))
            storage.owner = self.owned_storages.get(address)  # part of a sparse tensor, say
        self.entries[known] = Entry(ref(tensor), value, storage, storage.version)
        return value

    def _make_special(self, tensor: Tensor, value: int, sources: Sequence[Storage], aliases: bool) -> None:
        key = storage_key(tensor)
        if key is None and aliases and sources:
            self._join(tensor, value, sources[0])
            return
        for storage in sources:
            if key is not None and storage.key == key:
                storage.last = value
                self._join(tensor, value, storage)
                return
        self._place(tensor, value, key)

    def write(self, tensor: Tensor, entry: Entry, sources: Sequence[Storage], call: Call | None) -> int:
        """Note that an operator wrote the tensor and return the new value."""
        storage = entry.storage
        if call is not None:
            call.wrote = True
        if storage_key(tensor) != storage.key:  # set_ and resize_ give it another one
            return self.make(tensor, sources)
        value = self.log.value(tensor)
        entry.value = storage.last = value
        if len(storage.tensors) > 1 or storage.owner is not None:
            if not storage.version:
                storage.writes = []
            storage.writes.append((value, region_of(tensor), call))  # type: ignore[attr-defined]
            storage.version += 1
        entry.seen = storage.version
        return value

    def christen(self, tensor: Tensor, origin: Origin) -> None:
        """Note that a tensor made in the pass is a parameter or buffer from now on."""
        self.origins[id(tensor)] = origin
        entry = self.known(tensor)
        if entry is not None and id(tensor) not in self.introduced:
            self.introduced.add(id(tensor))
            value = self.log.like(entry.value)
            self.log.events.append((origin.kind, origin.names[0], 0, [entry.value], [value], origin, None))
            entry.value = value

    def forget(self, tensor: Tensor) -> None:
        """Drop what is known of a tensor object that was given another storage."""
        self.entries.pop(id(tensor), None)
        self.origins.pop(id(tensor), None)

    def give(self, tensor: Tensor, value: int) -> Entry:
        """Make known a tensor that is handed to the model, with its value."""
        key = storage_key(tensor)
        storage = self._live(key)
        owner = self.owned_storages.get(key, tensor) if key is not None else tensor
        if storage is None:
            entry = self._place(tensor, value, key, strong=True)
            entry.storage.owner = owner
            return entry
        return self._join(tensor, value, storage, strong=True)

    def _place(self, tensor: Tensor, value: int, key: int | None, *, strong: bool = False) -> Entry:
        alive = None if strong or key is None or type(tensor) not in PLAIN_TENSORS else ref(tensor.untyped_storage())
        storage = Storage(key, value, [id(tensor)], alive)
        if key is not None:
            self.storages[key] = storage
            storage.owner = self.owned_storages.get(key)
        return self._enter(tensor, value, storage, strong=strong)

    def _join(self, tensor: Tensor, value: int, storage: Storage, *, strong: bool = False) -> Entry:
        storage.tensors.append(id(tensor))
        return self._enter(tensor, value, storage, strong=strong)

    def _enter(self, tensor: Tensor, value: int, storage: Storage, *, strong: bool) -> Entry:
        reach: Callable[[], Tensor | None] = repeat(tensor).__next__ if strong else ref(tensor)
        entry = self.entries[id(tensor)] = Entry(reach, value, storage, storage.version)
        return entry

    def _live(self, key: int | None) -> Storage | None:
        storage = None if key is None else self.storages.get(key)
        if storage is not None and storage.alive is not None and storage.alive() is None:
            return None  # the address was given to a new storage
        return storage


def storage_key(tensor: Tensor) -> int | None:
    """Return the address of the storage of a tensor; None if it has none (sparse, functorch, lazy)."""
    kind = type(tensor)
    if kind is not Tensor and kind is not Parameter and hasattr(kind, "__tensor_flatten__"):
        names, _ = tensor.__tensor_flatten__()  # type: ignore[attr-defined]
        return storage_key(getattr(tensor, names[0]))
    if isinstance(tensor, UninitializedTensor):
        return None
    try:
        return int(tensor.untyped_storage()._cdata)
    except (RuntimeError, NotImplementedError):
        return None


def data_address(tensor: Tensor) -> int | None:
    """Return the address of the first element; None if there is none."""
    try:
        return tensor.data_ptr() or None
    except (RuntimeError, NotImplementedError):
        return None
