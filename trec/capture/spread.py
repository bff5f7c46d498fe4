"""Tensors that are spread over ranks: what one rank has of them, and how they are laid out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from trec.capture.leaves import PLAIN_TENSORS

if TYPE_CHECKING:
    from torch import Tensor

    from trec.ir.types import AttrRow

SPREAD = frozenset({"torch.distributed.tensor", "torch.distributed._functional_collectives"})
"""Where `DTensor` and `AsyncCollectiveTensor` say that they are defined: tensors that wrap what one rank has."""


def local_part(tensor: Tensor) -> Tensor:
    """Return what this rank has of a tensor that is spread over several; any other tensor as it is."""
    while type(tensor) not in PLAIN_TENSORS and type(tensor).__module__ in SPREAD:
        tensor = getattr(tensor, tensor.__tensor_flatten__()[0][0])  # type: ignore[attr-defined]
    return tensor


def layout_of(tensor: Tensor) -> AttrRow:
    """Return the shape of the whole, the mesh of ranks and how the tensor lies on it; nothing for any other tensor."""
    placements: Any = getattr(tensor, "placements", None)
    if type(tensor).__module__ not in SPREAD or placements is None:
        return ()
    mesh: Any = tensor.device_mesh  # type: ignore[attr-defined]
    whole = tuple([int(size) for size in tensor.shape])
    return (("whole", whole), ("mesh", tuple(mesh.shape)), ("placements", tuple(map(str, placements))))
