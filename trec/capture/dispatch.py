"""The lower of the two modes: it sees every ATen operator that runs, with its schema."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import torch
from msgspec import Struct
from torch import Tensor
from torch._C import DisableTorchFunction
from torch.nn import Parameter
from torch.utils._python_dispatch import TorchDispatchMode

from trec.capture.arguments import Frozen, freeze
from trec.capture.leaves import add_tensors
from trec.capture.memory import Entry, Storage
from trec.capture.operators import Facts, facts_of
from trec.capture.sources import caller_place

if TYPE_CHECKING:
    from trec.capture.recorder import Recorder
    from trec.capture.thread import Thread
    from trec.ir.types import NodeKind

_ATOMS = frozenset({int, float, bool, str, type(None), torch.dtype, torch.device, torch.layout, torch.memory_format})


class Operation(Struct, gc=False):
    """An operator about to run."""

    func: Any
    facts: Facts
    values: list[int]
    """What it reads."""
    storages: list[Storage]
    """Those of its arguments."""
    written: Sequence[tuple[Tensor, Entry]]
    """Arguments that it is going to write."""
    given: Frozen | None
    """Its arguments that are no tensors, if they are kept."""


class OperatorMode(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Writes down every operator: what it reads, what it writes, what it makes."""

    supports_higher_order_operators = True

    def __init__(self, recorder: Recorder, thread: Thread) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.recorder, self.thread = recorder, thread
        self.memory, self.log, self.lock = recorder.memory, recorder.log, recorder.lock
        self.facts, self.entries = recorder.facts, recorder.memory.entries
        self.keep_arguments = recorder.level == "aten"

    def _handle(self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None) -> Any:
        thread = self.thread
        if thread.mute:
            return func(*args, **kwargs) if kwargs else func(*args)
        thread.mute = 1
        try:
            if thread.call is not None:  # below a torch function, hence the function mode is off
                operation = self._before(func, args, kwargs)
                result = func(*args, **kwargs) if kwargs else func(*args)
                self._after(operation, result)
                return result
            with DisableTorchFunction():
                operation = self._before(func, args, kwargs)
            result = func(*args, **kwargs) if kwargs else func(*args)
            with DisableTorchFunction():
                self._after(operation, result)
            return result
        finally:
            thread.mute = 0

    def _before(self, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any] | None) -> Operation:
        tensors: list[Tensor] = []
        for arg in args:
            kind = type(arg)
            if kind is Tensor or kind is Parameter:
                tensors.append(arg)
            elif kind not in _ATOMS:
                add_tensors(arg, tensors)
        if kwargs:
            add_tensors(kwargs, tensors)
        facts = self.facts.get(id(func))  # operators take long to hash
        if facts is None:
            facts = self.facts[id(func)] = facts_of(func)
        thread, entries = self.thread, self.entries
        call = thread.call
        values, storages = [], []
        with self.lock:
            for tensor in tensors:
                entry = entries.get(id(tensor))
                if entry is None or entry.tensor() is not tensor or entry.seen != entry.storage.version:
                    entry = self.memory.entry(tensor, thread)
                values.append(entry.value)
                storages.append(entry.storage)
            written = self._written(facts, args, kwargs) if facts.writes else ()
            for _, entry in written:
                self.recorder.protect(entry.storage, thread)
            if written and facts.overwrites:
                targets = {id(tensor) for tensor, _ in written}
                values = [v for v, tensor in zip(values, tensors, strict=True) if id(tensor) not in targets]
        given = freeze(args, kwargs)[0] if self.keep_arguments or call is None else None
        return Operation(func, facts, values, storages, written, given)

    def _written(
        self, facts: Facts, args: tuple[Any, ...], kwargs: dict[str, Any] | None
    ) -> list[tuple[Tensor, Entry]]:
        if facts.training is not None and not (len(args) > facts.training and args[facts.training]):
            return []
        targets: list[Tensor] = []
        for where in facts.writes:
            if isinstance(where, str):
                add_tensors((kwargs or {}).get(where), targets)
            elif where < len(args):
                add_tensors(args[where], targets)
            else:  # given by keyword
                continue
        distinct = {id(tensor): tensor for tensor in targets}
        return [(tensor, self.memory.entries[id(tensor)]) for tensor in distinct.values()]

    def _after(self, operation: Operation, result: Any) -> None:
        thread, memory = self.thread, self.memory
        call, written, storages = thread.call, operation.written, operation.storages
        aliases = operation.facts.aliases
        kind: NodeKind = "op"
        with self.lock:
            if not written and type(result) is Tensor:
                made: Sequence[int] = (memory.make(result, storages, aliases),)
            else:
                made = [memory.write(tensor, entry, storages, call) for tensor, entry in written]
                targets = {id(tensor) for tensor, _ in written}
                results: list[Tensor] = []
                add_tensors(result, results)
                made.extend([memory.make(tensor, storages, aliases) for tensor in results if id(tensor) not in targets])
                if not made:
                    kind = "host"
            place = None
            if call is None:
                place = caller_place(4)
            elif kind == "host":
                call.host = True
            events: list[Any] = self.log.events if call is None else call.events
            events.append((kind, operation.func, thread.scope, operation.values, made, operation.given, place))


# Assigned after the class is made: torch wraps a handler that the class body defines so that the first operator imports
# its compiler, which takes over a second, and each later one costs a microsecond more.
OperatorMode.__torch_dispatch__ = OperatorMode._handle  # type: ignore[assignment,method-assign]
