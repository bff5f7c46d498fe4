"""Operators that communicate between ranks: each is a node that says with whom it speaks, of what, and how much."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from trec.capture.communication import WRAPS, exchange
from trec.capture.leaves import add_tensors
from trec.capture.sources import caller_place
from trec.capture.spread import SPREAD
from trec.capture.torch_api import DisableTorchFunction, infers_sizes, manages_storage
from trec.ir.collectives import RANK, WORLD_SIZE

if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import FrameType

    import torch

    from trec.capture.communication import Exchange
    from trec.capture.dispatch import OperatorMode, Written
    from trec.capture.operators import Facts
    from trec.capture.values.storages import Storage
    from trec.ir.types import AttrRow


def rank_meta() -> AttrRow:
    """Return the rank of this process and how many there are, if it is one of several that communicate."""
    distributed: Any = sys.modules.get("torch.distributed")
    if distributed is None or not distributed.is_available() or not distributed.is_initialized():
        return ()
    return ((RANK, distributed.get_rank()), (WORLD_SIZE, distributed.get_world_size()))


WATCH = object()
"""Answer where an operator is to be watched like any other."""


def unfolded(
    mode: OperatorMode, operator: Any, types: Sequence[type], args: tuple[Any, ...], kwargs: dict[str, Any] | None
) -> Any:
    """Return what an operator returns that stands for others, or that is none of the program.

    Tensors that stand for parts on several ranks, or that are still to come, run operators on what this rank has, and
    communicate. So those are what is recorded.
    """
    recorder = mode.recorder
    if any(kind.__module__ in SPREAD for kind in types):
        recorder.distributed = True
        return NotImplemented
    unfinished = recorder.unfinished
    if infers_sizes() or (unfinished.targets and unfinished.finishes(operator, args, mode.memory)):
        return operator(*args, **kwargs or {})
    return WATCH


def is_no_call(function: Any) -> bool:
    """Return whether the caller of a torch function asks for no computation of the model's.

    It may infer sizes of tensors that are spread over ranks, or make storages large and small for their parts.
    """
    if getattr(function, "__name__", "") != "untyped_storage":
        return infers_sizes()
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and str(frame.f_globals.get("__name__")).startswith("trec."):
        frame = frame.f_back
    return frame is not None and manages_storage(frame)


def communicate(
    mode: OperatorMode, facts: Facts, operator: Any, args: tuple[Any, ...], kwargs: dict[str, Any] | None
) -> Any:
    """Run an operator that communicates, or that prepares for it, and write down what it does."""
    if facts.communicates is not WRAPS:
        return CollectiveCall(mode, facts, operator, args, kwargs).run()
    mode.thread.mute += 1
    try:
        return operator(*args, **kwargs or {})
    finally:
        mode.thread.mute -= 1


class CollectiveCall:
    """One call of an operator that communicates.

    It stands on its own, never inside a function call. What it writes depends on what it sends, and on nothing that
    stood there before.
    """

    def __init__(
        self, mode: OperatorMode, facts: Facts, operator: Any, args: tuple[Any, ...], kwargs: dict[str, Any] | None
    ) -> None:
        self.mode, self.facts, self.operator, self.args, self.kwargs = mode, facts, operator, args, kwargs or {}
        self.recorder, self.thread, self.memory, self.log = mode.recorder, mode.thread, mode.memory, mode.log

    def run(self) -> Any:
        """Run the operator and write it down."""
        thread = self.thread
        call = thread.split_call()
        thread.call = None
        thread.mute += 1
        try:
            with DisableTorchFunction():
                exchanged = exchange(self.facts.communicates, self.operator._schema, self.args, self.kwargs)
                values, storages = self.mode.read((exchanged.given,), None)
                written = self._about_to_write(exchanged)
            result = self.facts.run(*self.args, **self.kwargs)
            with DisableTorchFunction(), self.recorder.lock:
                made, results = self._made(exchanged, result, values, storages, written)
                self.recorder.distributed = True
                self.recorder.unfinished.add(exchanged)
                row = self._row(exchanged, results)
                place = caller_place(3) if call is None else call.place
                self.log.events.append(("op", row.collective, thread.scope, values, made, self._given(row), place))
        finally:
            thread.call = call
            thread.mute -= 1
        return result

    def _about_to_write(self, exchanged: Exchange) -> Written:
        distinct = {id(tensor): tensor for tensor in exchanged.written}
        written = [(tensor, self.memory.entry(tensor, self.thread)) for tensor in distinct.values()]
        for _, entry in written:
            self.recorder.protect(entry, self.thread)
        return written

    def _made(
        self, exchanged: Exchange, result: Any, values: list[int], storages: list[Storage], written: Written
    ) -> tuple[list[int], list[torch.Tensor]]:
        """Return the values that came to be, and the tensors that were returned and did not exist before."""
        made = [self.memory.write(tensor, entry, storages, None, values) for tensor, entry in written]
        given = {id(tensor) for tensor in (*exchanged.given, *exchanged.written)}
        returned: list[torch.Tensor] = []
        add_tensors(result, returned)
        fresh = [tensor for tensor in returned if id(tensor) not in given]
        return [*made, *[self.memory.make(tensor, storages) for tensor in fresh]], fresh

    def _row(self, exchanged: Exchange, results: list[torch.Tensor]) -> Any:
        counts = self.recorder.exchanges
        stream = exchanged.stream()
        sequence = counts[stream]
        counts[stream] += 1
        return exchanged.collective(results, sequence)

    def _given(self, row: Any) -> int:
        return self.log.arguments(row.collective, ((), row.row()))
