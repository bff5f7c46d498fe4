"""Arguments with other tensors in them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import is_dataclass, replace
from typing import TYPE_CHECKING, Any

import torch

if TYPE_CHECKING:
    from torch import Tensor


def exchanged(value: Any, copies: dict[int, Tensor]) -> Any:
    """Return a container with other tensors instead of those in it; objects of other classes keep theirs.

    Args:
        value: a tensor, or a container of them.
        copies: what takes the place of each tensor, by its id.
    """
    if isinstance(value, torch.Tensor):
        return copies.get(id(value), value)
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*[exchanged(item, copies) for item in value])
    if type(value) in (list, tuple):
        return type(value)(exchanged(item, copies) for item in value)
    if type(value) is dict:
        return {key: exchanged(item, copies) for key, item in value.items()}
    if is_dataclass(value) and not isinstance(value, (type, Mapping)):
        held = {key: exchanged(item, copies) for key, item in vars(value).items() if key in value.__dataclass_fields__}
        return replace(value, **held)
    return value
