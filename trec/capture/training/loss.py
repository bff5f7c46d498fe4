"""The backward pass that `trec.capture` runs behind a forward pass."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from trec.capture.leaves import leaves
from trec.errors import OptionError

if TYPE_CHECKING:
    from collections.abc import Callable

    from trec.capture.training.engine import Engine


def differentiate(result: Any, loss: Callable[[Any], Any] | bool, engine: Engine) -> None:
    """Run backward from the loss of a result; what computes the loss belongs to the backward pass.

    Args:
        result: what the model returned.
        loss: what computes the loss, a tensor with one number; with True it is the sum of all differentiable outputs.
        engine: where autograd is followed.

    Raises:
        OptionError: the loss is no such tensor, or nothing of it can be differentiated.
    """
    engine.begin(None, native=loss is True)
    engine.thread.scope, engine.within_loss = engine.scope, True
    try:
        total = _sum(result) if loss is True else loss(result)  # type: ignore[operator]
        if not isinstance(total, Tensor) or total.numel() != 1:
            found = f"a tensor of {total.numel():,} elements" if isinstance(total, Tensor) else type(total).__name__
            raise OptionError(f"the loss given as backward= returned {found}, expected a tensor with one number")
        if not total.requires_grad:
            raise OptionError("the loss does not depend on anything that requires a gradient, so nothing goes backward")
        engine.within_loss = False
        torch.autograd.backward(total)
    finally:
        engine.within_loss = False
        engine.end()


def _sum(result: Any) -> Tensor:
    """Return the sum of all floating point tensors in a result that have a gradient."""
    total: Any = None
    for _, tensor in leaves(result):
        if tensor.is_floating_point() and tensor.requires_grad:
            part = tensor.sum()
            total = part if total is None else total + part
    if total is None:
        raise OptionError("the model returned nothing that has a gradient, so nothing goes backward")
    return total  # type: ignore[no-any-return]
