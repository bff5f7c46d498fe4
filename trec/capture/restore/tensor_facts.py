"""What one tensor of the user's was, and the steps that make it that again."""

from __future__ import annotations

from operator import attrgetter
from typing import TYPE_CHECKING, Any, NamedTuple

import torch
from torch import Tensor

from trec.capture.restore.parts import alias_of, become, become_leaf, form_of
from trec.capture.restore.refill import refill_dict

if TYPE_CHECKING:
    from collections.abc import Callable

HOOKS = (attrgetter("_backward_hooks"), attrgetter("_post_accumulate_grad_hooks"))


class TensorFacts(NamedTuple):
    """What may change of a tensor, besides its numbers; what a tensor does not have is None."""

    requires_grad: bool
    is_leaf: bool
    dtype: torch.dtype
    shape: Any
    strides: Any
    offset: Any
    kind: type
    storage: Any
    hooks: Any
    accumulate_hooks: Any
    grad: Tensor | None
    alias: Tensor | None = None
    """Another tensor of the same numbers and form, where those are more than a place in a storage."""
    filled: Any = None
    """Contents of the hooks, if there were any."""
    history: Any = None
    retains_grad: bool = False


def facts_of(tensor: Tensor) -> TensorFacts:
    """Return what a tensor is that is more, or less, than a place in a storage."""
    is_leaf = tensor.is_leaf
    hooks = [read(tensor) for read in HOOKS]
    return TensorFacts(
        requires_grad=tensor.requires_grad, is_leaf=is_leaf, dtype=tensor.dtype, shape=None, strides=None, offset=None,
        kind=type(tensor), storage=None, hooks=hooks[0], accumulate_hooks=hooks[1],
        grad=tensor.grad if is_leaf or tensor.retains_grad else None,
        alias=quiet(alias_of, tensor),
        filled=[None if held is None else held.copy() for held in hooks],
        history=None if is_leaf else tensor.grad_fn,
        retains_grad=tensor.retains_grad,
    )  # fmt: skip


def quiet(read: Callable[[Any], Any], tensor: Tensor) -> Any:
    """Return what torch says of a tensor, or None where it says that there is no such thing."""
    try:
        return read(tensor)
    except (RuntimeError, NotImplementedError, TypeError):
        return None


# ---- steps of putting one tensor back, in their order; each looks whether there is anything to do


def _put_class(tensor: Tensor, facts: TensorFacts) -> None:
    if type(tensor) is not facts.kind:
        tensor.__class__ = facts.kind


def _put_leaf(tensor: Tensor, facts: TensorFacts) -> None:
    if facts.is_leaf:
        if not tensor.is_leaf:
            become_leaf(tensor)
        if not facts.requires_grad and tensor.requires_grad:
            tensor.requires_grad_(False)
    elif tensor.grad_fn is not facts.history:
        raise RuntimeError("it was no leaf, and torch has no way back to what it was made by")


def _put_place(tensor: Tensor, facts: TensorFacts) -> None:
    if facts.storage is None:
        if facts.alias is not None and form_of(tensor) != form_of(facts.alias):
            become(tensor, facts.alias)
        return
    place = (facts.storage, facts.offset, facts.shape, facts.strides)
    now = (tensor.storage_offset(), tensor.shape, tensor.stride())
    if now != place[1:] or tensor.untyped_storage() is not facts.storage or tensor.dtype != facts.dtype:
        tensor.data = torch.empty(0, dtype=facts.dtype, device=facts.storage.device).set_(*place)


def _put_flag(tensor: Tensor, facts: TensorFacts) -> None:
    if facts.is_leaf and tensor.requires_grad != facts.requires_grad:
        tensor.requires_grad_(facts.requires_grad)


def _put_hooks(tensor: Tensor, facts: TensorFacts) -> None:
    for name, old, held in zip(
        ("_backward_hooks", "_post_accumulate_grad_hooks"),
        (facts.hooks, facts.accumulate_hooks),
        facts.filled or (None, None),
        strict=True,
    ):
        now = getattr(tensor, name)
        if now is not old:
            if now is not None:
                now.clear()
            setattr(tensor, name, old)
        if old is not None and held is not None:
            refill_dict(old, held)


def _put_grad(tensor: Tensor, facts: TensorFacts) -> None:
    if (tensor.is_leaf or tensor.retains_grad) and tensor.grad is not facts.grad:
        tensor.grad = facts.grad
    if tensor.retains_grad and not facts.retains_grad:
        raise RuntimeError("torch does not let it stop retaining one")


STEPS: tuple[tuple[str, Callable[[Tensor, TensorFacts], None]], ...] = (
    ("the class", _put_class),
    ("the history", _put_leaf),
    ("the place", _put_place),
    ("the flag requires_grad", _put_flag),
    ("the hooks", _put_hooks),
    ("the gradient", _put_grad),
)
