"""Tensors of the user's: what they were before a recording, and how they become that again."""

from __future__ import annotations

from operator import attrgetter, is_, is_not, ne
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from trec.capture.leaves import PLAIN_TENSORS, wrapped_by_functorch
from trec.capture.log import STRIDED
from trec.capture.restore.parts import leaves_behind, storages_of
from trec.capture.restore.refill import refill_dict, same
from trec.capture.restore.tensor_facts import HOOKS, STEPS, TensorFacts, facts_of, quiet
from trec.capture.torch_api import set_versions

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from trec.capture.restore.left import Left
    from trec.capture.values.memory import Memory


_BY_VALUE: tuple[Callable[[Any], Any], ...] = (
    *map(attrgetter, ("requires_grad", "is_leaf", "dtype", "shape")),
    Tensor.stride,
    Tensor.storage_offset,
)
_GRAD = attrgetter("grad")
_BY_IDENTITY: tuple[Callable[[Any], Any], ...] = (type, Tensor.untyped_storage, *HOOKS, _GRAD)
_VERSION = attrgetter("_version")
_ATTRIBUTES = attrgetter("__dict__")
_ADDRESS = attrgetter("_cdata")

_SIMPLE_DTYPES = frozenset(
    kind
    for kind in vars(torch).values()
    if isinstance(kind, torch.dtype) and not kind.is_complex and not str(kind).startswith(("torch.q", "torch.bits"))
)


class Columns:
    """Many ordinary tensors, with one list for each thing that may change: far cheaper than one record each.

    Raises:
        ValueError: one of the tensors is not ordinary.
    """

    def __init__(self, tensors: list[Tensor]) -> None:
        self.tensors = tensors
        self.by_value = [list(map(read, tensors)) for read in _BY_VALUE]
        self.by_identity = [list(map(read, tensors)) for read in _BY_IDENTITY[:-1]]
        self.versions = list(map(_VERSION, tensors))
        kinds, self.storages, hooks, accumulate_hooks = self.by_identity
        count = len(tensors)
        if not (
            PLAIN_TENSORS.issuperset(kinds)
            and self.by_value[1].count(True) == hooks.count(None) == accumulate_hooks.count(None) == count
            and _SIMPLE_DTYPES.issuperset(self.by_value[2])
        ):
            raise ValueError
        self.grads = list(map(_GRAD, tensors))
        self.by_identity.append(self.grads)

    def facts(self, position: int) -> TensorFacts:
        """Return what one tensor was."""
        return TensorFacts(*[column[position] for column in (*self.by_value, *self.by_identity)])

    def changed(self) -> Iterable[int]:
        """Return the positions of the tensors that are no longer what they were."""
        try:
            now = [list(map(read, self.tensors)) for read in _BY_VALUE]
            if now[1].count(True) < len(now[1]):  # the gradient of what is no leaf must not be asked for
                return range(len(self.tensors))
            columns = [list(map(read, self.tensors)) for read in _BY_IDENTITY]
        except (RuntimeError, NotImplementedError):
            return range(len(self.tensors))
        found: set[int] = set()
        for new, old in zip(now, self.by_value, strict=True):
            if new != old:
                found.update(_where(ne, new, old))
        for new, old in zip(columns, self.by_identity, strict=True):
            if not all(map(is_, new, old)):
                found.update(_where(is_not, new, old))
        return sorted(found)


class Tensors:
    """All tensors of the user's that a model may change, and copies of the data of those that are about to be."""

    def __init__(self, memory: Memory) -> None:
        self.memory = memory
        self._columns: list[Columns] = []
        self._special: list[tuple[Tensor, TensorFacts, int | None]] = []
        self._attributes: list[tuple[Tensor, dict[str, Any]]] = []
        self._storages: dict[int, Any] = {}
        self._saved: dict[int, tuple[Any, Any]] = {}
        self._saved_opaque: dict[int, tuple[Tensor, Tensor]] = {}

    def add(self, tensors: list[Tensor]) -> list[dict[str, Any]]:
        """Remember tensors; return the attributes that the user has set on them."""
        owned = self.memory.owned
        fresh = dict(zip(map(id, tensors), tensors, strict=True))
        if not owned.keys().isdisjoint(fresh):
            fresh = {known: tensor for known, tensor in fresh.items() if known not in owned}
        filled: list[dict[str, Any]] = []
        while fresh:
            owned.update(fresh)
            new = list(fresh.values())
            attributes = list(map(_ATTRIBUTES, new))
            if any(attributes):
                pairs = [(tensor, held.copy()) for tensor, held in zip(new, attributes, strict=True) if held]
                self._attributes += pairs
                filled += [held for _, held in pairs]
            further = self._look(new)
            fresh = {id(tensor): tensor for tensor in further if id(tensor) not in owned}
        return filled

    def _look(self, tensors: list[Tensor]) -> list[Tensor]:
        """Note what the tensors are; return others that change with them: gradients, and leaves behind them."""
        try:
            columns = Columns(tensors)
        except (RuntimeError, NotImplementedError, ValueError, AttributeError):
            tensors = [tensor for tensor in tensors if not wrapped_by_functorch(tensor)]  # gone with the transform
            ordinary = [tensor for tensor in tensors if _is_ordinary(tensor)]
            if len(ordinary) == len(tensors):
                ordinary = []
            known = set(map(id, ordinary))
            further = [other for tensor in tensors if id(tensor) not in known for other in self._look_at(tensor)]
            return further + (self._look(ordinary) if ordinary else [])
        self._columns.append(columns)
        self._note_storages(list(map(_ADDRESS, columns.storages)), columns.storages, tensors)
        return [grad for grad in columns.grads if grad is not None]

    def _look_at(self, tensor: Tensor) -> list[Tensor]:
        facts = facts_of(tensor)
        version = None if tensor.is_inference() else quiet(_VERSION, tensor)
        self._special.append((tensor, facts, version))
        storages = quiet(storages_of, tensor) or []
        self._note_storages([storage._cdata for storage in storages], storages, [tensor] * len(storages))
        further = [] if facts.grad is None else [facts.grad]
        return further + ([] if facts.is_leaf else leaves_behind(tensor))

    def _note_storages(self, addresses: Sequence[int], storages: Sequence[Any], tensors: Sequence[Tensor]) -> None:
        known, together = self.memory.owned_storages, self.memory.together
        before = len(known)
        if not known:  # of tensors that share one the first is to own it
            known.update(zip(reversed(addresses), reversed(tensors), strict=True))
        if len(known) < before + len(addresses):
            for address, tensor in zip(addresses, tensors, strict=True):
                first = known.setdefault(address, tensor)
                if first is not tensor:
                    together.setdefault(address, [first]).append(tensor)
        self._storages.update(zip(addresses, storages, strict=True))

    def save(self, tensor: Tensor, address: int | None) -> None:
        """Copy the data of a tensor that is about to be written.

        Args:
            tensor: one of the user's.
            address: that of the storage to be written; None if the tensor has none of its own.
        """
        self.add([tensor])
        storage = self._storages.get(address) if address is not None else None
        storages = [storage] if storage is not None else quiet(storages_of, tensor)
        for storage in storages or ():
            if storage._cdata not in self._saved and storage.device.type != "meta":
                data = quiet(torch.UntypedStorage.clone, storage)  # that of a fake tensor cannot be copied in its mode
                if data is not None:
                    self._saved[storage._cdata] = (storage, data)
        if not storages and tensor.device.type != "meta" and id(tensor) not in self._saved_opaque:
            data = quiet(torch.clone, tensor.detach())
            if data is not None:
                self._saved_opaque[id(tensor)] = (tensor.detach(), data)

    # ---- after

    def restore(self, left: Left) -> None:
        """Make all of them what they were."""
        for storage, data in self._saved.values():
            left.attempt("the data of a tensor", _put_data, storage, data)
        for opaque, data in self._saved_opaque.values():
            left.attempt("the data of a tensor", opaque.copy_, data)
        for columns in self._columns:
            left.attempt("the places of tensors", self._restore_columns, columns, left)
        for tensor, facts, _ in self._special:
            self._put_back(tensor, facts, left)
        left.attempt("the attributes of tensors", self._restore_attributes, left)
        left.attempt("the versions of tensors", self._restore_versions, left)

    def _restore_columns(self, columns: Columns, left: Left) -> None:
        for position in columns.changed():
            self._put_back(columns.tensors[position], columns.facts(position), left)

    def drop(self) -> None:
        """Forget all of it, and the copies."""
        self._columns, self._special, self._attributes = [], [], []
        for held in (self._storages, self._saved, self._saved_opaque):
            held.clear()

    def _put_back(self, tensor: Tensor, facts: TensorFacts, left: Left) -> None:
        for what, step in STEPS:
            left.attempt(f"{what} of {self._name(tensor)}", step, tensor, facts)

    def _name(self, tensor: Tensor) -> str:
        origin = self.memory.origins.get(id(tensor))
        return origin.names[0] if origin is not None else self.memory.labels.get(id(tensor), "a tensor")

    def _restore_attributes(self, left: Left) -> None:
        for tensor, held in self._attributes:
            if not same(tensor.__dict__, held):
                left.attempt(f"the attributes of {self._name(tensor)}", refill_dict, tensor.__dict__, held)
        owned = self.memory.owned.values()
        if sum(map(bool, map(_ATTRIBUTES, owned))) > len(self._attributes):
            before = {id(tensor) for tensor, _ in self._attributes}
            for tensor in owned:
                if tensor.__dict__ and id(tensor) not in before:
                    tensor.__dict__.clear()

    def _restore_versions(self, left: Left) -> None:
        """Put the counters of writes back, so that a backward that the user has yet to run still may."""
        pairs = [(tensor, version) for tensor, _, version in self._special if version is not None]
        for columns in self._columns:
            now = list(map(_VERSION, columns.tensors))
            if now != columns.versions:
                pairs += [
                    (columns.tensors[position], columns.versions[position])
                    for position in _where(ne, now, columns.versions)
                ]
        for tensor, version in pairs:
            left.attempt(f"the version of {self._name(tensor)}", _set_version, tensor, version)


def _where(differ: Callable[[Any, Any], Any], new: list[Any], old: list[Any]) -> list[int]:
    return [position for position, pair in enumerate(zip(new, old, strict=True)) if differ(*pair)]


def _is_ordinary(tensor: Tensor) -> bool:
    return (
        type(tensor) in PLAIN_TENSORS
        and tensor.layout is STRIDED
        and tensor.is_leaf
        and tensor.dtype in _SIMPLE_DTYPES
        and not (tensor.is_nested or tensor.is_inference() or wrapped_by_functorch(tensor))
        and all(read(tensor) is None for read in HOOKS)
    )


def _put_data(storage: Any, data: Any) -> None:
    if storage.nbytes() != data.nbytes():
        storage.resize_(data.nbytes())
    storage.copy_(data)


def _set_version(tensor: Tensor, version: int) -> None:
    if tensor._version != version:
        set_versions((tensor,), (version,))
