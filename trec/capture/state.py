"""Everything that a forward pass may change, as it was before, and how to put it back."""

from __future__ import annotations

from collections import OrderedDict
from contextlib import suppress
from operator import is_, itemgetter
from typing import TYPE_CHECKING, Any

import torch
from msgspec import Struct
from torch import Tensor

from trec.capture.containers import Contents, refill, same
from trec.capture.leaves import OPAQUE
from trec.capture.log import Origin, UninitializedTensor
from trec.capture.process import Process
from trec.capture.recorder import TABLES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from trec.capture.memory import Memory

_MODULE_ATTRIBUTES = frozenset(torch.nn.Module().__dict__)
_DICTS = frozenset({dict, OrderedDict})


class Owned(Struct, gc=False):
    """A tensor of the user's and where its data lay."""

    tensor: Tensor
    kind: type
    dtype: torch.dtype
    requires_grad: bool
    is_leaf: bool
    storage: Any = None
    """Its storage; None if it has none: sparse, lazy, or a strided nested tensor."""
    geometry: tuple[Any, Any, Any] | None = None
    """Offset, shape and strides."""
    grad: Tensor | None = None
    attributes: dict[str, Any] | None = None
    """What the user has set on it; None if nothing."""


class Layout:
    """Names and types of the attributes of modules that are alike."""

    def __init__(self, names: tuple[str, ...], kinds: tuple[type, ...]) -> None:
        self.names = names
        tables = [position for position, kind in enumerate(kinds) if kind in _DICTS]
        self._tables = itemgetter(*tables) if len(tables) > 1 else None
        self._table = tables[:1]
        self.others = [
            position
            for position, (name, kind) in enumerate(zip(names, kinds, strict=True))
            if name not in _MODULE_ATTRIBUTES and not issubclass(kind, OPAQUE)
        ]
        """Positions of the attributes that may be, or lead to, something that the model writes."""

    def tables(self, values: tuple[Any, ...]) -> Sequence[Any]:
        """Return the dicts among the values of a module's attributes."""
        if self._tables is not None:
            return self._tables(values)  # type: ignore[no-any-return]
        return [values[position] for position in self._table]


class Remembered(Struct, gc=False):
    """A module as it was: class, attributes by identity, and the contents of those that are dicts and not empty."""

    module: Any
    kind: type
    layout: Layout
    values: tuple[Any, ...]
    filled: list[tuple[Any, Any]]


class Saved(Struct, gc=False):
    """The data of an owned tensor before its first write."""

    owned: Owned
    data: Any
    version: int | None


class State:
    """A snapshot of a model, its inputs and the process, taken before and put back after a recording.

    Data are copied only when they are about to be written; everything else is remembered by identity.
    """

    def __init__(self, memory: Memory, modules: list[tuple[str, Any]], arguments: Any) -> None:
        self.memory = memory
        self.owned: dict[int, Owned] = {}
        self.saved: list[Saved] = []
        self.modules: list[Remembered] = []
        self._layouts: dict[Any, Layout] = {}
        self.contents = Contents()
        self._process = Process()
        entered: set[int] = set()
        for path, module in modules:
            self._name_tensors(path, module)
            if id(module) not in entered:
                entered.add(id(module))
                self._remember_module(path, module)
        self._remember(arguments)

    # ---- before

    def _name_tensors(self, path: str, module: Any) -> None:
        origins = self.memory.origins
        for kind, table in TABLES:
            held = getattr(module, table)
            if not held:
                continue
            for name, tensor in held.items():
                if tensor is None:
                    continue
                whole = f"{path}.{name}" if path else name
                origin = origins.get(id(tensor))
                if origin is None:
                    self.own(tensor)
                    if isinstance(tensor, UninitializedTensor):
                        self.memory.lazy.add(id(tensor))
                    else:
                        origins[id(tensor)] = Origin(kind, [whole])
                elif whole not in origin.names:
                    origin.names.append(whole)

    def _remember_module(self, path: str, module: Any) -> None:
        held = module.__dict__
        values = tuple(held.values())
        key = (tuple(held), tuple(map(type, values)))
        layout = self._layouts.get(key)
        if layout is None:
            layout = self._layouts[key] = Layout(*key)
        filled = [(table, table.copy()) for table in layout.tables(values) if table]
        self.modules.append(Remembered(module, type(module), layout, values, filled))
        for position in layout.others:
            value = values[position]
            if isinstance(value, Tensor):
                name = layout.names[position]
                self.memory.labels.setdefault(id(value), f"{path}.{name}" if path else name)
                self.own(value)
            else:
                self._remember(value)

    def _remember(self, value: Any) -> None:
        for tensor in self.contents.remember(value):
            self.own(tensor)

    def own(self, tensor: Tensor) -> None:
        """Remember a tensor of the user's: its storage, flags and gradient."""
        if id(tensor) in self.owned:
            return
        is_leaf = tensor.is_leaf
        owned = self.owned[id(tensor)] = Owned(tensor, type(tensor), tensor.dtype, tensor.requires_grad, is_leaf)
        self.memory.owned[id(tensor)] = tensor
        if tensor.__dict__:
            owned.attributes = tensor.__dict__.copy()
        if isinstance(tensor, UninitializedTensor):
            return
        try:
            storage = tensor.untyped_storage()
            owned.geometry = (tensor.storage_offset(), tensor.shape, tensor.stride())
            owned.storage = storage
            self.memory.owned_storages.setdefault(storage._cdata, tensor)
        except (RuntimeError, NotImplementedError):
            pass
        if is_leaf and tensor.grad is not None:
            owned.grad = tensor.grad
            self.own(owned.grad)

    def save(self, tensor: Tensor) -> None:
        """Copy the data of an owned tensor, which is about to be written."""
        owned = self.owned[id(tensor)]
        data: Any = None
        with suppress(RuntimeError, NotImplementedError):
            if not issubclass(owned.kind, UninitializedTensor) and tensor.device.type != "meta":
                data = tensor.detach().clone() if owned.storage is None else owned.storage.clone()
        version = None
        with suppress(RuntimeError):
            version = tensor._version
        self.saved.append(Saved(owned, data, version))

    # ---- after

    def restore(self) -> None:
        """Put everything back as it was."""
        self._restore_modules()
        self.contents.restore()
        with torch._C.DisableTorchFunction(), torch.no_grad():
            self._restore_tensors()
        self._process.restore()

    def _restore_modules(self) -> None:
        for row in self.modules:
            module, layout, values, filled = row.module, row.layout, row.values, row.filled
            now = module.__dict__
            if type(module) is not row.kind:
                object.__setattr__(module, "__class__", row.kind)
            if len(now) != len(values) or not all(map(is_, now.values(), values)) or tuple(now) != layout.names:
                dict.clear(now)
                dict.update(now, zip(layout.names, values, strict=True))
            if sum(map(len, layout.tables(values))) != sum([len(old) for _, old in filled]):
                kept = {id(box) for box, _ in filled}
                for box in layout.tables(values):
                    if box and id(box) not in kept:
                        box.clear()
            for box, old in filled:
                if not same(box, old):
                    refill(box, old, dict)

    def _restore_tensors(self) -> None:
        for row in self.saved:
            owned, data = row.owned, row.data
            if data is None:
                continue
            if owned.storage is None:
                owned.tensor.copy_(data)
                continue
            if owned.storage.nbytes() != data.nbytes():
                owned.storage.resize_(data.nbytes())
            owned.storage.copy_(data)
        for owned in self.owned.values():
            _restore_tensor(owned)
        for row in self.saved:
            if row.version is not None:
                with suppress(RuntimeError):
                    torch._C._autograd._unsafe_set_version_counter((row.owned.tensor,), (row.version,))


def _restore_tensor(owned: Owned) -> None:
    tensor, storage, geometry = owned.tensor, owned.storage, owned.geometry
    if type(tensor) is not owned.kind:
        tensor.__class__ = owned.kind
        if storage is None:
            tensor.data = torch.empty(0, dtype=tensor.dtype, device=tensor.device)
    if storage is not None and geometry is not None:
        now = (tensor.storage_offset(), tensor.shape, tensor.stride())
        if now != geometry or tensor.untyped_storage()._cdata != storage._cdata:
            tensor.data = torch.empty(0, dtype=owned.dtype, device=storage.device).set_(storage, *geometry)
    if (tensor.__dict__ or owned.attributes) and not same(tensor.__dict__, owned.attributes or {}):
        refill(tensor.__dict__, owned.attributes or {}, dict)
    if not owned.is_leaf:
        return
    if not tensor.is_leaf:
        tensor.detach_()
    if tensor.requires_grad != owned.requires_grad:
        tensor.requires_grad_(owned.requires_grad)
    if storage is not None and tensor.grad is not owned.grad:
        tensor.grad = owned.grad
