"""Tensors that no operator was seen to make: parameters, views made in C++, memory of others, constants."""

from __future__ import annotations

from typing import TYPE_CHECKING
from weakref import ref

import torch
from torch import Tensor
from torch.nn import Parameter

from trec.capture.spread import layout_of
from trec.capture.values.regions import WHOLE, overlap
from trec.capture.values.shared import real_address
from trec.capture.values.storages import Storage, covered, inner_tensors, likeness, storage_key
from trec.capture.values.unseen import unseen_sources

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trec.capture.log import Origin
    from trec.capture.thread import Thread
    from trec.capture.values.memory import Entry, Memory

_LAST = 64
"""How many of the tensors that share a storage are looked at to find one that is like another, or holds it."""


def introduce(memory: Memory, tensor: Tensor, thread: Thread) -> Entry:
    """Make a tensor known and return what is known of it."""
    key = storage_key(tensor)
    storage = memory.live(key)
    origin = memory.origins.get(id(tensor))
    if origin is None and id(tensor) not in memory.lazy:
        origin = thread.find_origin(tensor)
    if origin is not None and id(tensor) not in memory.introduced:
        made_of = []
        if storage is not None and storage.owner is None:  # a parameter made in the pass, of what lay there
            made_of = [_alias(memory, tensor, storage, thread)]
            if any(origin.names[0] in known.names for known in memory.origins.values() if known is not origin):
                return memory.join(
                    tensor, made_of[0], storage
                )  # of a parameter's own parts, which lie on several ranks
        return introduce_named(memory, tensor, origin, key, storage, made_of)
    inner = [] if id(tensor) in memory.owned else inner_tensors(tensor)
    if len(inner) > 1:  # a wrapper that the model made of several tensors
        made = memory.log.value(tensor)
        parts = list(dict.fromkeys(memory.entry(part, thread).value for part in inner))
        thread.emit(("link", "alias", thread.scope, parts, [made], None, None))
        storage = memory.live(key)
        return memory.place(tensor, made, key) if storage is None else memory.join(tensor, made, storage)
    if storage is None and key is not None and (owner := memory.owned_storages.get(key)) is not None:
        if owner is not tensor:
            memory.entry(owner, thread)
        storage = memory.live(key)
    if storage is not None:
        memory.introduce_together(storage)
        return memory.join(tensor, _alias(memory, tensor, storage, thread), storage)
    return _introduce_constant(memory, tensor, key, thread)


def introduce_named(
    memory: Memory, tensor: Tensor, origin: Origin, key: int | None, storage: Storage | None, made_of: list[int]
) -> Entry:
    """Make a parameter or buffer known by a node of its own.

    Args:
        memory: what is known of all tensors.
        tensor: the parameter or buffer.
        origin: its names.
        key: address of its storage.
        storage: what is known of that.
        made_of: values that it was made of in the pass.
    """
    value = memory.log.value(tensor)
    origin.facts = layout_of(tensor)
    memory.log.events.append((origin.kind, origin.names[0], 0, made_of, [value], origin, None))
    known = id(tensor)
    memory.introduced.add(known)
    # A parameter that anyone holds a weak reference to cannot be swapped by the user's own code: strong.
    if storage is None:
        entry = memory.place(tensor, value, key, strong=True)
    else:
        entry = memory.join(tensor, value, storage, strong=True)
    if not made_of:
        memory.add_source(tensor, entry)
    if entry.storage.owner is None:
        entry.storage.owner = memory.owned.get(known)
    return entry


def _introduce_constant(memory: Memory, tensor: Tensor, key: int | None, thread: Thread) -> Entry:
    value = memory.log.value(tensor)
    parts = share_foreign(memory, tensor, value, thread)
    label = memory.labels.get(id(tensor))
    call = thread.call
    if parts:
        thread.emit_before(("host", "shared_memory", thread.scope, parts, [value], None, None))
    elif call is not None and label is None and not any(given is tensor for given in call.tensors):
        call.events.append(("constant", "constant", call.scope, [], [value], None, None))  # made in C++ just now
    elif thread.operands and label is None and id(tensor) not in memory.owned:
        memory.log.linked = True
        memory.log.events.append(("link", "alias", thread.scope, thread.operands, [value], None, None))
    elif label is None and tensor.grad_fn is not None and (made_of := unseen_sources(tensor, memory, thread)):
        memory.log.events.append(("region", "unseen", thread.scope, made_of, [value], None, None))
    else:
        memory.log.events.append(("constant", label or "constant", thread.scope, [], [value], None, None))
    found = memory.live(key)
    if found is not None:
        if found.writes is not None:
            found.writes.read(value, covered(tensor, found), likeness(tensor, found))
        return memory.join(tensor, value, found)
    entry = memory.place(tensor, value, key)
    if entry.storage.owner is None:
        entry.storage.owner = memory.owned.get(id(tensor))
    entry.storage.foreign = call is None or label is not None or any(given is tensor for given in call.tensors)
    return entry


def share_foreign(memory: Memory, tensor: Tensor, value: int, thread: Thread) -> list[int]:
    """Note a tensor whose memory torch did not allocate, and return the values that were known to lie there."""
    if type(tensor) is not Tensor and type(tensor) is not Parameter:
        return []
    try:
        untyped = tensor.untyped_storage()
    except (RuntimeError, NotImplementedError):
        return []
    if untyped.resizable() or real_address(untyped) is None:
        return []
    shared = memory.shared
    start, stop = shared.place(untyped)
    if not shared.overlaps(start, stop):
        for other, lying in shared.others(start, stop, memory):
            shared.take(other, lying)
            shared.watch(other)
    storage = memory.meet(Storage(untyped._cdata, id(tensor), value, ref(untyped)))
    for other in shared.owned(start, stop):
        memory.protect(other, thread)
    shared.take(storage, untyped, foreign=True)
    memory.notice_others(storage, tensor, thread)
    return [part for part in memory.content(tensor, storage) if part != value]


def read_storage(memory: Memory, untyped: torch.UntypedStorage, thread: Thread) -> tuple[list[int], Storage]:
    """Return the values that lie in a storage, and what is known of it."""
    storage = memory.live(untyped._cdata)
    if storage is None:
        storage = memory.entry(torch.empty(0, dtype=torch.uint8, device=untyped.device).set_(untyped), thread).storage
    memory.introduce_together(storage)
    if storage.writes is None and len(storage.sources) < 2:
        return [storage.value], storage
    writes = storage.writes or storage.begin_writes()
    size = untyped.nbytes()
    if storage.shares:
        memory.notice_others(storage, torch.empty(0, dtype=torch.uint8, device=untyped.device), thread)
    whole = storage.whole(size) if type(size) is int else storage.whole()
    return writes.within(whole, len(memory.log.types)) or [storage.value], storage


def _alias(memory: Memory, tensor: Tensor, storage: Storage, thread: Thread) -> int:
    """Return the value of a tensor that shares a storage, though no operator was seen to make it."""
    if storage.shares:
        memory.notice_others(storage, tensor, thread)
    like = likeness(tensor, storage)
    same = next((other for other in _recent(memory, storage) if likeness(other, storage) == like), None)
    if same is not None and like is not None:
        return memory.entry(same, thread).value
    parts = memory.content(tensor, storage)
    around = _around(memory, tensor, storage)
    if around is not None:
        value = memory.entry(around, thread).value
        explained = None if storage.writes is None else storage.writes.explained.get(value, (value,))
        if explained is None or set(explained) == set(parts):
            parts = [value]
    if len(parts) == 1 and memory.log.type_of(parts[0])[:2] == (tensor.shape, tensor.dtype):
        return parts[0]
    made = memory.log.value(tensor)
    thread.emit(("link", "alias", thread.scope, parts, [made], None, None))
    memory.log.linked = True
    if storage.writes is not None:
        storage.writes.read(made, covered(tensor, storage), likeness(tensor, storage))
    return made


def _recent(memory: Memory, storage: Storage) -> Iterator[Tensor]:
    """Yield the tensors that were last seen to lie in a storage, the newest first."""
    for known in reversed((storage.tensors or [storage.first])[-_LAST:]):
        entry = memory.entries.get(known)
        tensor = entry.tensor() if entry is not None and entry.storage is storage else None
        if tensor is not None:
            yield tensor


def _around(memory: Memory, tensor: Tensor, storage: Storage) -> Tensor | None:
    """Return the tensor made last that holds all of another."""
    region = covered(tensor, storage)
    return next(
        (other for other in _recent(memory, storage) if overlap(covered(other, storage), region) == WHOLE), None
    )
