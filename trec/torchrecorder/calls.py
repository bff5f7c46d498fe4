"""The calls of modules that have not returned, and which tensors they see as their own."""

from __future__ import annotations

from typing import Any, NamedTuple

from msgspec import Struct

from trec.torchrecorder.nodes import LayerNode


class Origin(NamedTuple):
    """What a tensor came from at one moment: a write in place gives the same tensor another."""

    source: Any
    """A node of autograd's graph, a step that autograd kept no record of, or the tensor itself if nothing made it."""
    position: int
    """Which of the results of that."""


class Call(Struct, eq=False):
    """One call of a module."""

    node: LayerNode
    index: int
    """0 for the first call of the module."""
    outer: Call | None
    """The call around it."""
    given: dict[Origin, Any]
    """Its inputs, with their keys in `Recorder.nodes`."""
    tensors: dict[Origin, Any]
    """What operations inside read as tensors: its inputs, and what modules called in it returned."""
    handed: dict[Origin, Any]
    """Results of operations inside that modules called in it were given."""

    def find(self, origin: Origin) -> Any:
        """Return the key of the tensor with this origin as operations here see it; None if they see an operation."""
        call: Call | None = self
        while call is not None:
            if origin in call.tensors:
                return call.tensors[origin]
            call = call.outer
        return None
