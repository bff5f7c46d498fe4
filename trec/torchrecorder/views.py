"""Writes to a view, as autograd would name them if the view were a tensor of its own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch

from trec.torchrecorder.calls import Origin
from trec.torchrecorder.exchange import exchanged

if TYPE_CHECKING:
    from collections.abc import Callable

    from torch import Tensor


def stand_ins(
    function: Callable[..., Any],
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    given: list[Tensor],
    before: list[Origin],
    written: Tensor,
) -> dict[Any, Origin]:
    """Return what is drawn in place of nodes of autograd's graph after a function wrote to a view.

    Autograd notes such a write at the tensor under the view, hides the function, and makes the view anew. To learn what
    it would note of a tensor of its own, the function runs once more on shapes alone.

    Args:
        function: what was called.
        args: its positional arguments.
        kwargs: its arguments by name.
        given: the tensors among them.
        before: what these came from before the call.
        written: the view.

    Returns:
        None of them if the function does not run on shapes alone.
    """
    found: dict[Any, Origin] = {}
    copies: dict[int, Tensor] = {}
    try:
        for tensor, origin in zip(given, before, strict=True):
            copy = torch.empty_like(tensor, device="meta").requires_grad_(tensor.requires_grad)
            copies[id(tensor)] = copy = copy.clone() if tensor.requires_grad else copy
            if copy.grad_fn is not None:
                found[copy.grad_fn] = origin
        function(*exchanged(args, copies), **exchanged(kwargs, copies))
    except Exception:  # whatever keeps a function from running on shapes
        return {}
    made = copies[id(written)]
    if made.grad_fn is not None:
        found[written.grad_fn] = Origin(made.grad_fn, made.output_nr)
    return found
