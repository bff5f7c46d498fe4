"""What the calls of one traced graph return, by the examples that torch kept or by what is known of the functions."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any

from torch import Tensor

from trec.capture.traced.contents import Number, Parts
from trec.capture.traced.examples import MISSING, NOTHING, is_tensor, region_in, share_memory, type_of
from trec.capture.traced.flow import Held
from trec.capture.values.regions import UNKNOWN
from trec.capture.values.storages import storage_key

if TYPE_CHECKING:
    from torch.fx import Graph as FxGraph
    from torch.fx import Node

    from trec.capture.traced.effects import Effect
    from trec.capture.traced.reader import Reader


class Results:
    """Makes the contents of results, and knows which of them share memory."""

    def __init__(self, reader: Reader, graph: FxGraph) -> None:
        self.flow, self.type = reader.flow, reader.type
        self.trusted = share_memory(graph.nodes)
        """Whether the examples tell what shares memory."""
        self.storages: dict[int, Held] = {}
        """A tensor in each memory, by its address."""

    def made(self, node: Node, example: Any, effect: Effect, first: Held | None) -> Any:
        """Return the contents of a new result.

        Args:
            node: the call.
            example: what it returned when it was traced, or `MISSING`.
            effect: what is known of the call.
            first: the first tensor that it is given.
        """
        if example is not MISSING:
            return self._like(example, effect, first)
        unknown = self.type(NOTHING)
        base = first if effect.shares else None
        if effect.makes == "tensor":
            return self.flow.tensor(unknown, base=base)
        if effect.makes == "states":
            first_, *rest = [self.flow.tensor(unknown) for _ in range(3)]
            return [first_, rest]
        if effect.makes == "tensors":
            picks = [user.args[1] for user in node.users if user.target is operator.getitem and user.args[0] is node]
            keys = sorted({pick for pick in picks if type(pick) is int}) or [0]
            return Parts({key: self.flow.tensor(unknown, base=base) for key in keys})
        return Number(node.name)

    def _like(self, example: Any, effect: Effect, first: Held | None) -> Any:
        if is_tensor(example):
            base = first if effect.shares else None
            region = UNKNOWN
            if self.trusted:
                base, region = self._sharing(example), region_in(example)
            made = self.flow.tensor(self.type(type_of(example)), region, base)
            self.remember(example, made)
            return made
        if isinstance(example, (tuple, list)):
            return [self._like(item, effect, first) for item in example]
        if isinstance(example, dict):
            return {key: self._like(item, effect, first) for key, item in example.items()}
        return Number(str(example).replace(" ", ""))

    def number(self, node: Node, example: Any) -> Number:
        """Return the contents of a result that is no tensor."""
        return Number(node.name if example is MISSING else str(example).replace(" ", ""))

    def _sharing(self, example: Any) -> Held | None:
        key = storage_key(example) if isinstance(example, Tensor) else None
        return None if key is None else self.storages.get(key)

    def remember(self, example: Any, content: Any) -> None:
        """Note in what memory a tensor lies."""
        if self.trusted and isinstance(content, Held) and isinstance(example, Tensor):
            key = storage_key(example)
            if key is not None:
                self.storages.setdefault(key, content)

    def join(self, outer: Results) -> None:
        """Share what is known of memory with the results of the graph around this one."""
        self.trusted = self.trusted and outer.trusted
        self.storages = outer.storages
