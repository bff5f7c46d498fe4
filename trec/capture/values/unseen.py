"""Tensors that were made out of sight, as by plain torch calls in a thread: what autograd remembers of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from torch import Tensor

    from trec.capture.thread import Thread
    from trec.capture.values.memory import Memory

MOST_STEPS = 10_000
"""So many steps of a gradient are followed back."""


def unseen_sources(tensor: Tensor, memory: Memory, thread: Thread) -> list[int]:
    """Return the values of the model's own tensors and inputs that the gradient of a tensor leads back to."""
    found: dict[int, None] = {}
    seen: set[Any] = set()
    todo: list[Any] = [tensor.grad_fn]
    while todo and len(seen) < MOST_STEPS:
        step = todo.pop()
        if step is None or step in seen:
            continue
        seen.add(step)
        leaf = getattr(step, "variable", None)
        if leaf is not None and (id(leaf) in memory.owned or memory.known(leaf) is not None):
            found[memory.entry(leaf, thread).value] = None
        todo.extend(next_step for next_step, _ in reversed(step.next_functions))
    return list(found)
