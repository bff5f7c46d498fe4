"""The name that autograd gives to a reshape when nothing watches the operators."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch

from trec.capture.torch_api import TorchDispatchMode, next_sequence_number, sequence_number

if TYPE_CHECKING:
    from trec.torchrecorder.history import History

_VIEWS = frozenset({"view", "view_as", "unflatten"})
"""Functions that are views by themselves."""
_ALIAS = "ReshapeAliasBackward0"


class Reshapes(TorchDispatchMode):
    """Notes which views are reshapes of tensors that are not contiguous.

    Under a dispatch mode torch makes them as plain views, of which autograd has another node.

    Source: `reshape` in `aten/src/ATen/native/TensorShape.cpp` of PyTorch.
    """

    def __init__(self, history: History) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self._history = history
        self._numbers: set[int] = set()

    def name(self, fn: Any) -> str:
        """Return the class of an object, or the name of the node that autograd would have made of a reshape."""
        kind = type(fn).__name__
        return _ALIAS if kind == "ViewBackward0" and sequence_number(fn) in self._numbers else kind

    def __torch_dispatch__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        if func is torch.ops.aten.view.default and self._history.running not in _VIEWS:
            tensor = args[0]
            if tensor.requires_grad and not tensor.is_contiguous():
                self._numbers.add(next_sequence_number() - 1)
        return func(*args, **(kwargs or {}))
