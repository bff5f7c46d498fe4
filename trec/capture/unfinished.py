"""What a backend still does in sight when a rank waits: gloo finishes a `reduce_scatter` only then.

It adds up everything in memory of its own, splits that, and copies the rank's part to where it belongs. The node of the
communication says all of this, so these operators are none.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
import torch.distributed as dist

from trec.capture.values.storages import storage_key

if TYPE_CHECKING:
    from trec.capture.communication import Exchange
    from trec.capture.values.memory import Memory


class Unfinished:
    """Communications whose results a backend has still to put in place."""

    def __init__(self) -> None:
        self.targets: dict[int, int] = {}
        """By address of the storage of what is to be written, the elements of all ranks together."""
        self.own: set[int] = set()
        """Addresses of storages of the backend's own."""

    def add(self, exchanged: Exchange) -> None:
        """Note a communication that has begun."""
        if exchanged.form.collective == "reduce_scatter" and "gloo" in dist.get_backend(exchanged.group):
            total = sum([tensor.numel() for tensor in exchanged.given])
            self.targets.update(
                (key, total) for tensor in exchanged.written if (key := storage_key(tensor)) is not None
            )

    def finishes(self, operator: Any, args: tuple[Any, ...], memory: Memory) -> bool:
        """Return whether an operator only finishes one of them."""
        if operator is torch.ops.aten.split.Tensor:
            key = storage_key(args[0])
            if key is not None and memory.live(key) is None and args[0].numel() in self.targets.values():
                self.own.add(key)
                return True
        elif operator is torch.ops.aten.copy_.default:
            target, source = storage_key(args[0]), storage_key(args[1])
            if source in self.own and target in self.targets:
                self.own.remove(source)
                del self.targets[target]
                return True
        return False
