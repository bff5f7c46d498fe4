"""What is known of a storage, and which storages a tensor lies in."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from msgspec import Struct
from torch import Tensor
from torch.nn import Parameter

from trec.capture.log import Lifetime, UninitializedTensor
from trec.capture.spread import local_part
from trec.capture.values.regions import UNKNOWN, Region, joined, region_of
from trec.capture.values.writes import Writes

SHARED = float("nan")
"""Version of a storage whose memory others share. It differs even from itself, so each read asks what was written."""


class Share(Struct, gc=False):
    """A stretch of the memory that several storages, or arrays of others, may share."""

    start: int
    """Address of the first byte."""
    stop: int
    """Address behind the last one."""
    alive: Callable[[], Any]
    """Returns its storage, or None when that is gone."""
    foreign: bool = False
    """Whether torch did not allocate it: it may live longer than its storage."""
    checksum: int | None = None
    """Of its contents, if they may be written by others than torch."""
    arrays: list[Callable[[], Any]] | None = None
    """Weak references to all who may write it; None if they cannot be known."""


class Storage(Struct, gc=False):
    """One storage, or the parts of a tensor that has none of its own, such as a sparse one."""

    key: int | None
    """Its address; None if the tensor has no storage of its own."""
    first: int
    """Id of the first tensor that was seen to lie in it."""
    value: int
    """What it holds; what it held before the first write that is noted in `writes`."""
    alive: Callable[[], Any] | None
    """Weak reference to it; None if it is held anyway."""
    version: float = 0
    """The value made by the newest write; SHARED where other storages must be looked at too."""
    tensors: list[int] | None = None
    """Ids of all tensors that were seen to lie in it, if there is more than one."""
    writes: Writes | None = None
    """The writes to it, once another tensor may see them."""
    shares: tuple[Share, ...] = ()
    """Its places in the memory that others share, where it is part of that."""
    owner: Tensor | None = None
    """A tensor of the user's that lies in it and must be put back after a write."""
    foreign: bool = False
    """Whether what lies in it came from outside the model, so that it must be put back after a write."""
    saved: bool = False
    lifetime: Lifetime | None = None
    """How long it is there, if an operator made it."""
    sources: tuple[tuple[int, Tensor], ...] = ()
    """Inputs, parameters and buffers that lie in it, each with the value that it had at first."""

    def whole(self, size: int = 1 << 62) -> Region:
        """Return where all of it lies, given its size in bytes."""
        if self.shares:
            return Region(((self.shares[0].start, self.shares[0].stop),))
        return Region(((0, size),))

    def begin_writes(self) -> Writes:
        """Return the empty table of its writes, with what stands in it now."""
        writes = self.writes = Writes()
        writes.fill(self.value, 0, 1 << 62)
        self.lay_sources(self.sources)
        return writes

    def lay_sources(self, sources: Iterable[tuple[int, Tensor]]) -> None:
        """Note what stood where each of several tensors of the user's lies; one alone has the storage to itself."""
        if self.writes is not None and (self.shares or len(self.sources) > 1):
            for value, tensor in sources:
                self.writes.lay(value, covered(tensor, self))


def storage_key(tensor: Tensor) -> int | None:
    """Return the address of the storage of a tensor; None if it has none (sparse, functorch, lazy)."""
    kind = type(tensor)
    if kind is not Tensor and kind is not Parameter:
        if hasattr(kind, "__tensor_flatten__"):
            return storage_key(carrier(tensor))
        if isinstance(tensor, UninitializedTensor):
            return None
    try:
        return int(tensor.untyped_storage()._cdata)
    except (RuntimeError, NotImplementedError):
        return None


def carrier(tensor: Tensor) -> Tensor:
    """Return the first of the tensors that a wrapper holds, which stands for all of them; else the tensor itself."""
    kind = type(tensor)
    while kind is not Tensor and kind is not Parameter and hasattr(kind, "__tensor_flatten__"):
        names, _ = tensor.__tensor_flatten__()  # type: ignore[attr-defined]
        tensor = getattr(tensor, names[0])
        kind = type(tensor)
    return tensor


def inner_tensors(tensor: Tensor) -> list[Tensor]:
    """Return the tensors that a wrapper is made of, as it tells them; none for any other tensor."""
    kind = type(tensor)
    if kind is Tensor or kind is Parameter or not hasattr(kind, "__tensor_flatten__"):
        return []
    names, _ = tensor.__tensor_flatten__()  # type: ignore[attr-defined]
    return [part for name in names if isinstance(part := getattr(tensor, name), Tensor)]  # a mesh of ranks is none


def components(tensor: Tensor) -> list[Tensor]:
    """Return the tensors of which a sparse one is made; they share its memory."""
    try:
        return [getattr(tensor, name)() for name in _COMPONENTS.get(str(tensor.layout), ())]
    except (RuntimeError, NotImplementedError):
        return []


_COMPRESSED_ROWS = ("crow_indices", "col_indices", "values")
_COMPRESSED_COLUMNS = ("ccol_indices", "row_indices", "values")
_COMPONENTS = {
    "torch.sparse_coo": ("_indices", "_values"),
    "torch.sparse_csr": _COMPRESSED_ROWS, "torch.sparse_bsr": _COMPRESSED_ROWS,
    "torch.sparse_csc": _COMPRESSED_COLUMNS, "torch.sparse_bsc": _COMPRESSED_COLUMNS,
}  # fmt: skip
"""Methods that give the parts of a tensor, by layout."""


def covered(tensor: Tensor, storage: Storage) -> Region:
    """Return the bytes of its memory that a tensor covers."""
    shares = storage.shares
    if not shares:
        return region_of(carrier(tensor))
    if storage.key is None:
        return Region(joined(sorted([(share.start, share.stop) for share in shares])))
    region = region_of(carrier(tensor), shares[0].start)
    return Region(((shares[0].start, shares[0].stop),), exact=False) if region is UNKNOWN else region


def likeness(tensor: Tensor, storage: Storage) -> Any:
    """Return what two tensors of one memory have in common if they are the same; None if it cannot be told."""
    tensor = local_part(tensor)
    try:
        start = storage.shares[0].start if storage.shares else 0
        found = (start, tensor.storage_offset(), tensor.shape, tensor.stride(), tensor.dtype)
        hash(found)
    except (RuntimeError, NotImplementedError, TypeError):
        return None
    return found
