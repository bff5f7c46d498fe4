"""Which value each tensor of a traced program holds, through views and writes, as far as it can be known unrun.

It is `trec.capture.values` for tensors that are only spoken of: what shares memory follows from the memory of the
examples that torch kept, or else from what the schemas of operators say.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from trec.capture.traced.steps import Step
from trec.capture.values.regions import APART, UNKNOWN, WHOLE, Region, overlap

if TYPE_CHECKING:
    from trec.capture.traced.steps import Steps


class Storage(Struct, gc=False):
    """Memory that several tensors may lie in."""

    writes: list[tuple[int, Region]]
    """The value that each write made, and the bytes that it covered, in order."""


class Held(Struct, gc=False):
    """A tensor of the program, which holds one value after another."""

    value: int
    type: int
    """Index of its type in the builder."""
    storage: Storage
    region: Region
    """The bytes that it covers; `UNKNOWN` if that is not known."""
    seen: int = 0
    """How many writes to the storage the value takes account of."""


class Flow:
    """Makes tensors, reads and writes them."""

    def __init__(self, steps: Steps) -> None:
        self.steps = steps

    def tensor(self, type_: int, region: Region = UNKNOWN, base: Held | None = None) -> Held:
        """Return a new tensor with a new value.

        Args:
            type_: index of its type.
            region: the bytes that it covers in its storage, if they are known.
            base: a tensor whose memory it shares.
        """
        storage = Storage([]) if base is None else base.storage
        return Held(self.steps.value(type_), type_, storage, region, len(storage.writes))

    def read(self, tensor: Held, scope: int) -> int:
        """Return the value of a tensor now, after the writes made through other tensors in the same memory."""
        pending = tensor.storage.writes[tensor.seen :]
        if not pending:
            return tensor.value
        parts = [tensor.value]
        for value, region in pending:
            touched = overlap(region, tensor.region)
            if touched == WHOLE:
                parts = [value]
            elif touched != APART:
                parts.append(value)
        tensor.seen = len(tensor.storage.writes)
        if len(parts) > 1 or self.steps.types[parts[0]] != tensor.type:
            made = self.steps.value(tensor.type)
            self.steps.rows.append(Step("link", "update", scope, parts, [made]))
            parts = [made]
        tensor.value = parts[0]
        return tensor.value

    def write(self, tensor: Held) -> int:
        """Return the new value of a tensor that is written."""
        tensor.value = self.steps.value(tensor.type)
        tensor.storage.writes.append((tensor.value, tensor.region))
        tensor.seen = len(tensor.storage.writes)
        return tensor.value
