"""Which value each tensor holds at each moment, through views, writes and shared storages.

A tensor is known by its `id`, guarded by a weak reference, so nothing is kept alive and nothing is written on it. A
storage is known by its address, guarded likewise. A write makes a new value and is noted with the bytes that it covers
(`trec.capture.values.writes`); a tensor that shares the storage is brought up to date when it is next read.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import repeat
from typing import TYPE_CHECKING, Any
from weakref import ref

from msgspec import Struct
from torch import Tensor

from trec.capture.leaves import PLAIN_TENSORS
from trec.capture.log import STRIDED, Log, Origin
from trec.capture.values.introduce import introduce, introduce_named
from trec.capture.values.lifetimes import Lifetimes
from trec.capture.values.regions import Region
from trec.capture.values.shared import SharedMemory
from trec.capture.values.storages import SHARED, Storage, carrier, components, covered, likeness, storage_key

if TYPE_CHECKING:
    from trec.capture.log import Call
    from trec.capture.thread import Thread


class Entry(Struct, gc=False):
    """The value that one tensor holds."""

    tensor: Callable[[], Tensor | None]
    value: int
    storage: Storage
    seen: float
    """The newest write of the storage that the value takes account of."""


class Memory:
    """The values of all tensors met so far."""

    def __init__(
        self,
        log: Log,
        protect: Callable[[], Callable[[Storage, Thread], None] | None],
        threads: Mapping[int, Thread],
    ) -> None:
        self.log = log
        self._protect = protect
        self.entries: dict[int, Entry] = {}
        self.lifetimes = Lifetimes(log, self.entries, threads)
        self.storages: dict[int, Storage] = {}
        self.shared = SharedMemory()
        self.origins: dict[int, Origin] = {}
        """Names of the tensors that belong to the model, by id."""
        self.owned: dict[int, Tensor] = {}
        """Tensors of the user's that are put back afterwards, by id; held, so an id stays theirs."""
        self.owned_storages: dict[int, Tensor] = {}
        """The same by address of their storage."""
        self._owned_keys: dict[int, int] = {}
        """Address of the storage of each owned tensor that may be let go, by id."""
        self.together: dict[int, list[Tensor]] = {}
        """Those that share a storage with others, by its address."""
        self.labels: dict[int, str] = {}
        """Path of the attribute that holds a tensor which is neither parameter nor buffer."""
        self.lazy: set[int] = set()
        """Ids of the parameters that had no shape when recording began; they are named when it ends."""
        self.introduced: set[int] = set()
        """Ids of the parameters and buffers that have a node."""
        self.holds = True
        """Whether all that is the user's is held to the end, so that its ids and addresses stay its own."""
        self.narrowed: dict[int, list[int]] = {}
        """Values of views that others were taken of past them, and what these were taken of instead."""

    def close(self) -> None:
        """Note nothing any more: the recording has ended."""
        self.lifetimes.close()

    def protect(self, storage: Storage, thread: Thread) -> None:
        """Keep a copy of a storage of the user's before its first write."""
        protect = self._protect()
        if protect is not None:
            protect(storage, thread)

    # ---- reading

    def entry(self, tensor: Tensor, thread: Thread) -> Entry:
        """Return what is known of a tensor, brought up to date; it is introduced if it was never met."""
        entry = self.entries.get(id(tensor))
        if entry is None or entry.tensor() is not tensor:
            return introduce(self, tensor, thread)
        if entry.seen != entry.storage.version:
            self._update(tensor, entry, thread)
        return entry

    def known(self, tensor: Tensor) -> Entry | None:
        """Return what is known of a tensor, or None; nothing is introduced and no write is followed."""
        entry = self.entries.get(id(tensor))
        return entry if entry is not None and entry.tensor() is tensor else None

    def _update(self, tensor: Tensor, entry: Entry, thread: Thread) -> None:
        """Take account of the writes made through other tensors of the same memory."""
        storage = entry.storage
        writes = storage.writes
        if writes is None:
            entry.seen = storage.version
            return
        if storage.shares:
            self.notice_others(storage, tensor, thread)
        if entry.seen == writes.latest:
            return
        region = covered(tensor, storage)
        found = writes.parts(region, entry.value, entry.seen)
        entry.seen = writes.latest
        if found is None:
            return
        parts, calls = found
        if len(parts) == 1 and self.log.type_of(parts[0])[:2] == (tensor.shape, tensor.dtype):
            entry.value = parts[0]
            return
        like = likeness(tensor, storage)
        known = writes.views.get(like)
        if known is not None and known[1] == writes.latest:
            entry.value = known[0]
            return
        call = thread.call
        within = call is not None and any(where is call for where in calls)
        events: list[Any] = call.events if call is not None and within else self.log.events
        entry.value = self._join_parts("update", parts, tensor, thread.scope, events)
        writes.read(entry.value, region, like)

    def take_own_writes(self, tensor: Tensor, entry: Entry, call: Call) -> None:
        """An argument that a call wrote through a view of it: the call yields its new value."""
        writes = entry.storage.writes
        if writes is None or entry.seen == writes.latest:
            return
        region = covered(tensor, entry.storage)
        found = writes.parts(region, entry.value, entry.seen)
        if found is not None:
            parts, calls = found
            if any(where is not call for where in calls):
                return
            entry.value = self._join_parts("write", parts, tensor, call.scope, call.events)
            writes.read(entry.value, region, likeness(tensor, entry.storage))
        entry.seen = writes.latest

    def _join_parts(self, name: str, parts: list[int], tensor: Tensor, scope: int, events: list[Any]) -> int:
        self.log.linked = True
        made = self.log.value(tensor)
        events.append(("link", name, scope, parts, [made], None, None))
        return made

    def content(self, tensor: Tensor, storage: Storage) -> list[int]:
        """Return the values that lie where a tensor lies."""
        if storage.writes is None and len(storage.sources) < 2:
            return [storage.value]
        writes = storage.writes or storage.begin_writes()
        region = covered(tensor, storage)
        return writes.within(region, len(self.log.types)) or [storage.value]

    def notice_others(self, storage: Storage, tensor: Tensor, thread: Thread) -> None:
        """Give a new value to memory that others than torch have written: it reads what stood there."""
        for share in self.shared.changed(storage):
            region = Region(((share.start, share.stop),))
            parts = self.shared.writes.within(region, len(self.log.types)) or []
            value = self.log.value(tensor)
            thread.emit_before(("host", "shared_memory", thread.scope, parts, [value], None, None))
            self.shared.writes.add(value, region)

    # ---- tensors that an operator made or wrote

    def make(self, tensor: Tensor, sources: Sequence[Storage], aliases: bool = False, reads: Any = None) -> int:
        """Note that an operator made the tensor, and return its value.

        Args:
            tensor: what it made; it may share the storage of one of the tensors it was made from.
            sources: storages of those tensors.
            aliases: whether its schema says that it shares the memory of one of them.
            reads: values of those tensors; of a part of one the value becomes what lies in that part.
        """
        log = self.log
        if type(tensor) is not Tensor or tensor.layout is not STRIDED:
            return self._make_special(tensor, sources, aliases)
        try:
            key = (tensor.shape, tensor.dtype, tensor.device, STRIDED)
        except RuntimeError:  # a strided nested tensor has no shape
            return self._make_special(tensor, sources, aliases)
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
                if storage.lifetime is not None:
                    storage.lifetime.values.append(value)
                if storage.tensors is None:
                    storage.tensors = [storage.first, known]
                else:
                    storage.tensors.append(known)
                if storage.version:
                    return self._make_part(tensor, value, storage, sources, reads)
                break
        else:
            if aliases and (found := self.live(address)) is not None:  # a part of a sparse tensor
                self.join(tensor, value, found)
                return value
            self.storages.pop(address, None)
            reach = ref(tensor)
            storage = self.storages[address] = Storage(address, known, value, None)
            self.lifetimes.begin(storage, untyped, reach)
            if aliases:
                storage.owner = self.owned_storages.get(address)
            self.entries[known] = Entry(reach, value, storage, 0)
            return value
        self.entries[known] = Entry(ref(tensor), value, storage, 0)
        return value

    def _make_part(self, tensor: Tensor, value: int, storage: Storage, sources: Any, reads: Any) -> int:
        """Note a view of memory whose parts were written: it reads what lies where it lies."""
        writes = storage.writes
        assert writes is not None
        self.entries[id(tensor)] = Entry(ref(tensor), value, storage, writes.latest)
        exact = writes.within(covered(tensor, storage))
        if not exact:
            return value
        writes.explained[value] = tuple(exact)
        if reads is not None:
            position = next(index for index, source in enumerate(sources) if source is storage)
            old = writes.explained.get(reads[position])
            if old is not None and set(exact) < set(old):
                self.narrowed.setdefault(reads[position], []).extend(exact)
                reads[position : position + 1] = exact
        return value

    def _make_special(self, tensor: Tensor, sources: Sequence[Storage], aliases: bool) -> int:
        value = self.log.value(tensor)
        key = storage_key(tensor)
        storage = next((source for source in sources if source.key == key), None) if key is not None else None
        if storage is None and aliases:
            storage = self.live(key)
            if key is None and sources and not components(tensor):
                storage = sources[0]
        if storage is None:
            self._begin(tensor, self.place(tensor, value, key).storage)
        else:
            self.join(tensor, value, storage)
            if storage.lifetime is not None:
                storage.lifetime.values.append(value)
        return value

    def _begin(self, tensor: Tensor, storage: Storage) -> None:
        """Watch the storage of a tensor that is not a plain one, if it has one."""
        if storage.key is None:
            self.log.followed = False
            return
        self.lifetimes.begin(storage, carrier(tensor).untyped_storage(), self.entries[id(tensor)].tensor)

    def write(
        self, tensor: Tensor, entry: Entry, sources: Sequence[Storage], call: Call | None, reads: list[int]
    ) -> int:
        """Note that an operator wrote the tensor and return the new value.

        Args:
            tensor: what it wrote.
            entry: what was known of that.
            sources: storages of the tensors that it was given.
            call: the call that it runs in.
            reads: values that it read; of a storage that the tensor is put in, only what lies where the tensor lies.
        """
        storage = entry.storage
        if call is not None:
            call.wrote = True
        key = storage_key(tensor)
        if key != storage.key:  # set_ and resize_ give it another one
            found = self.live(key)
            if found is None:
                return self.make(tensor, sources)
            if found.writes is not None:
                lying, exact = found.writes.within(found.whole()), found.writes.within(covered(tensor, found))
                if lying and exact:
                    reads[:] = [value for value in reads if value not in lying or value in exact]
            return self.make(tensor, [*sources, found])
        value = self.log.value(tensor)
        entry.value = value
        if storage.lifetime is not None:
            self.lifetimes.write(storage.lifetime, tensor, value)
        if storage.tensors is None and storage.owner is None and not storage.version:
            storage.value = value
            return value
        if key is None:
            self.place(tensor, value, key)  # its parts may be others now
            storage = self.entries[id(tensor)].storage
            entry.storage = storage
        writes = storage.writes
        if writes is None:
            self.introduce_together(storage)
            writes = storage.begin_writes()
        writes.add(value, covered(tensor, storage), call)
        entry.seen = writes.latest
        if storage.shares:
            self.shared.written(storage)
        else:
            storage.version = value
        return value

    def reform(self, tensor: Tensor, entry: Entry) -> int:
        """Note that a tensor lies in its memory in another form, as after `t_`, and return its new value."""
        value = entry.value = self.log.value(tensor)
        if entry.storage.lifetime is not None:
            entry.storage.lifetime.values.append(value)
        if entry.storage.writes is not None:
            region = covered(tensor, entry.storage)
            entry.storage.writes.read(value, region, likeness(tensor, entry.storage))
        return value

    def christen(self, tensor: Tensor, origin: Origin) -> None:
        """Note that a tensor made in the pass is a parameter or buffer from now on."""
        self.origins[id(tensor)] = origin
        entry = self.known(tensor)
        if entry is not None and id(tensor) not in self.introduced:
            self.introduced.add(id(tensor))
            value = self.log.like(entry.value)
            self.log.events.append((origin.kind, origin.names[0], 0, [entry.value], [value], origin, None))
            entry.value, entry.tensor = value, repeat(tensor).__next__

    def introduce_together(self, storage: Storage) -> None:
        """Give parameters and buffers that share a storage a node each, before it is written or read past them."""
        for tensor in self.together.get(storage.key, ()) if storage.key is not None else ():
            origin = self.origins.get(id(tensor))
            if origin is not None and id(tensor) not in self.introduced and id(tensor) not in self.lazy:
                introduce_named(self, tensor, origin, storage.key, storage, [])

    def add_source(self, tensor: Tensor, entry: Entry) -> None:
        """Note that a tensor of the user's lies in a storage, with a value of its own."""
        if not self.holds:
            return
        storage = entry.storage
        source = (entry.value, tensor)
        storage.sources += (source,)
        storage.lay_sources(storage.sources if len(storage.sources) == 2 else [source])

    def forget(self, tensor: Tensor) -> None:
        """Drop what is known of a tensor object that was given another storage."""
        self.entries.pop(id(tensor), None)
        self.origins.pop(id(tensor), None)

    def give(self, tensor: Tensor, value: int) -> Entry:
        """Make known a tensor that is handed to the model, with its value."""
        key = storage_key(tensor)
        storage = self.live(key)
        owner = self.owned_storages.get(key) if key is not None else None
        if storage is None:
            entry = self.place(tensor, value, key, strong=self.holds)
            entry.storage.owner = tensor if owner is None and self.holds else owner
            self.add_source(tensor, entry)
            if key is not None and type(tensor) is Tensor and not (untyped := tensor.untyped_storage()).resizable():
                self.shared.take(entry.storage, untyped)  # of numpy, and perhaps that of another input too
            return entry
        entry = self.join(tensor, value, storage, strong=self.holds)
        self.add_source(tensor, entry)
        return entry

    def own(self, tensor: Tensor) -> bool:
        """Note that a tensor in a storage that was never met is the user's; return whether it is."""
        key = storage_key(tensor)
        if id(tensor) in self.entries or self.live(key) is not None:
            return False
        self.owned[id(tensor)] = tensor
        if key is not None:
            self.owned_storages.setdefault(key, tensor)
            self._owned_keys[id(tensor)] = key
        return True

    def release(self, known: int) -> None:
        """Drop what was held of a tensor whose module is gone."""
        self.introduced.discard(known)
        key = self._owned_keys.pop(known, None)
        if key is not None and self.owned_storages.get(key) is self.owned[known]:
            del self.owned_storages[key]
        for table in (self.entries, self.origins, self.labels, self.owned):
            table.pop(known, None)

    def place(self, tensor: Tensor, value: int, key: int | None, *, strong: bool = False) -> Entry:
        """Make known a tensor whose storage was not met before."""
        held = strong and self.holds
        alive = None if held or key is None or type(tensor) not in PLAIN_TENSORS else ref(tensor.untyped_storage())
        storage = Storage(key, id(tensor), value, alive)
        if key is not None:
            self.meet(storage)
            storage.owner = self.owned_storages.get(key)
        else:
            self._place_components(tensor, value, storage)
        return self._enter(tensor, value, storage, strong=strong)

    def _place_components(self, tensor: Tensor, value: int, storage: Storage) -> None:
        """Let a sparse tensor share the memory of its parts."""
        for part in components(tensor):
            untyped = part.untyped_storage()
            found = self.live(untyped._cdata)
            if found is None:
                found = self.meet(Storage(untyped._cdata, id(part), value, ref(untyped)))
                found.owner = self.owned_storages.get(untyped._cdata)
            self.shared.take(found, untyped)
            storage.shares += found.shares
        if storage.shares:
            storage.writes, storage.version = self.shared.writes, SHARED

    def join(self, tensor: Tensor, value: int, storage: Storage, *, strong: bool = False) -> Entry:
        """Make known a tensor that lies in a storage which is known."""
        if storage.tensors is None:
            storage.tensors = [storage.first]
        storage.tensors.append(id(tensor))
        return self._enter(tensor, value, storage, strong=strong)

    def _enter(self, tensor: Tensor, value: int, storage: Storage, *, strong: bool) -> Entry:
        reach: Callable[[], Tensor | None] = repeat(tensor).__next__ if strong else ref(tensor)
        seen = storage.version if storage.writes is None else storage.writes.latest
        entry = self.entries[id(tensor)] = Entry(reach, value, storage, seen)
        return entry

    def meet(self, storage: Storage) -> Storage:
        """Make a storage known by its address, as the newest of all."""
        key: Any = storage.key
        self.storages.pop(key, None)
        self.storages[key] = storage
        return storage

    def live(self, key: int | None) -> Storage | None:
        """Return what is known of the storage at an address, if it is still the same."""
        storage = None if key is None else self.storages.get(key)
        if storage is not None and storage.alive is not None and storage.alive() is None:
            return None  # the address was given to a new storage
        return storage
