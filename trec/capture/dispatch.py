"""The lower of the two modes: it sees every ATen operator that runs, with its schema."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor
from torch.nn import Parameter

from trec.capture.arguments import freeze, outline
from trec.capture.collectives import WATCH, communicate, unfolded
from trec.capture.higher_order import HigherOrderCall
from trec.capture.leaves import add_tensors
from trec.capture.operators import Facts, facts_of
from trec.capture.sources import caller_place
from trec.capture.torch_api import DisableTorchFunction, TorchDispatchMode
from trec.capture.values.introduce import read_storage
from trec.capture.values.memory import Entry

if TYPE_CHECKING:
    from trec.capture.log import Call
    from trec.capture.recorder import Recorder
    from trec.capture.thread import Thread
    from trec.capture.values.storages import Storage
    from trec.ir.types import NodeKind

_ATOMS = frozenset({int, float, bool, str, type(None), torch.dtype, torch.device, torch.layout, torch.memory_format})
_HOLDERS = frozenset({torch.UntypedStorage, torch.ScriptObject})

SILENT = frozenset({"profiler"})
"""Namespaces of operators that do nothing to values."""


Written = Sequence[tuple[Tensor, Entry]]
"""Arguments that an operator is going to write."""


class OperatorMode(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Writes down every operator: what it reads, what it writes, what it makes."""

    supports_higher_order_operators = True

    def __init__(self, recorder: Recorder, thread: Thread) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.recorder, self.thread = recorder, thread
        self.memory, self.log, self.lock = recorder.memory, recorder.log, recorder.lock
        self.facts, self.entries = recorder.facts, recorder.memory.entries
        self.make = recorder.memory.make
        self.keep_arguments = recorder.level == "aten"

    def _handle(self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None) -> Any:
        thread = self.thread
        if thread.mute:
            return func(*args, **kwargs) if kwargs else func(*args)
        if (types or self.recorder.distributed) and (result := unfolded(self, func, types, args, kwargs)) is not WATCH:
            return result
        facts = self.facts.get(id(func)) or self._learn(func)  # operators take long to hash
        if facts.higher_order or facts.communicates:
            return self._by_itself(func, facts, args, kwargs)
        call = thread.call
        thread.mute = 1
        try:
            if call is None:
                return self._alone(func, facts, args, kwargs)
            values, storages = self.read(args, kwargs)
            written = self._about_to_write(facts, args, kwargs, values) if facts.writes else ()
            result = facts.run(*args, **kwargs) if kwargs else facts.run(*args)
            with self.lock:
                if type(result) is Tensor and not written:
                    made: Sequence[int] = (self.make(result, storages, facts.aliases, values),)
                else:
                    made = self._made(result, facts, values, storages, written, call)
                given: Any = None
                if values == call.given:
                    values = call.given
                elif not self.keep_arguments:
                    given = outline(args, kwargs)
                if self.keep_arguments or (given is None and values is not call.given):
                    given = self.log.arguments(func, freeze(args, kwargs)[0])
                kind: NodeKind = "op"
                if not made:
                    if func.namespace in SILENT:
                        return result
                    kind, call.host = "host", True
                call.events.append((kind, func, thread.scope, values, made, given, None))
            return result
        finally:
            thread.mute = 0

    def _learn(self, func: Any) -> Facts:
        facts = self.facts[id(func)] = self._facts_of(func)
        return facts

    def _by_itself(self, func: Any, facts: Facts, args: tuple[Any, ...], kwargs: dict[str, Any] | None) -> Any:
        """Run an operator that is given functions, or that speaks to other ranks."""
        if facts.higher_order:
            return HigherOrderCall(self, func, args, kwargs or {}).run()
        return communicate(self, facts, func, args, kwargs)

    def _facts_of(self, func: Any) -> Facts:
        return facts_of(func)

    def _alone(self, func: Any, facts: Facts, args: tuple[Any, ...], kwargs: dict[str, Any] | None) -> Any:
        """Run an operator that no torch function called: the function mode is live, and must not see what we do."""
        with DisableTorchFunction():
            values, storages = self.read(args, kwargs)
            written = self._about_to_write(facts, args, kwargs, values) if facts.writes else ()
        result = facts.run(*args, **kwargs) if kwargs else facts.run(*args)
        with DisableTorchFunction(), self.lock:
            if type(result) is Tensor and not written:
                made: Sequence[int] = (self.make(result, storages, facts.aliases, values),)
            else:
                made = self._made(result, facts, values, storages, written, None)
            if not made and func.namespace in SILENT:
                return result
            given = self.log.arguments(func, freeze(args, kwargs)[0])
            scope, place = self.thread.scope, caller_place(3)
            self.log.events.append(("op" if made else "host", func, scope, values, made, given, place))
        return result

    def read(self, args: tuple[Any, ...], kwargs: dict[str, Any] | None) -> tuple[list[int], list[Storage]]:
        """Return the values of the tensors among the arguments, and their storages."""
        tensors: list[Tensor] = []
        holders: tuple[Any, ...] = ()
        for arg in args:
            kind = type(arg)
            if kind is Tensor or kind is Parameter:
                tensors.append(arg)
            elif kind not in _ATOMS:
                if kind in _HOLDERS:
                    holders = (*holders, arg)
                else:
                    add_tensors(arg, tensors)
        if kwargs:
            add_tensors(kwargs, tensors)
        entries = self.entries
        values, storages = [], []
        with self.lock:
            for tensor in tensors:
                entry = entries.get(id(tensor))
                if entry is None or entry.tensor() is not tensor or entry.seen != entry.storage.version:
                    entry = self.memory.entry(tensor, self.thread)
                values.append(entry.value)
                storages.append(entry.storage)
            for holder in holders:
                self._read_holder(holder, values, storages)
        return values, storages

    def _read_holder(self, holder: Any, values: list[int], storages: list[Storage]) -> None:
        """Add what an argument holds that is no tensor: a storage, or an object of C++ with weights packed in it."""
        if isinstance(holder, torch.UntypedStorage):
            parts, storage = read_storage(self.memory, holder, self.thread)
            values.extend(parts)
            storages.extend([storage] * len(parts))
        else:
            values.extend(self.recorder.packed.read(holder, self.thread))

    def _about_to_write(
        self, facts: Facts, args: tuple[Any, ...], kwargs: dict[str, Any] | None, values: list[int]
    ) -> Written:
        """Return the arguments that are going to be written, saved; take what is overwritten out of the values read."""
        written = self._written(facts, args, kwargs)
        for _, entry in written:
            self.recorder.protect(entry, self.thread)
        if written and facts.overwrites:
            for _, entry in written:
                values.remove(entry.value)
        return written

    def _written(self, facts: Facts, args: tuple[Any, ...], kwargs: dict[str, Any] | None) -> Written:
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

    def made(self, result: Any, storages: list[Storage]) -> Sequence[int]:
        """Return the values of the tensors that an operator returned."""
        results: list[Tensor] = []
        add_tensors(result, results)
        return [self.memory.make(tensor, storages) for tensor in {id(tensor): tensor for tensor in results}.values()]

    def _made(
        self, result: Any, facts: Facts, values: list[int], storages: list[Storage], written: Written, call: Call | None
    ) -> Sequence[int]:
        """Return the values that an operator made: of what it wrote, then of what it returned."""
        memory = self.memory
        made = [
            memory.reform(tensor, entry)
            if facts.reforms and entry.storage.key is not None
            else memory.write(tensor, entry, storages, call, values)
            for tensor, entry in written
        ]
        targets = {id(tensor) for tensor, _ in written}
        results: list[Tensor] = []
        add_tensors(result, results)
        if facts.reserve is not None:
            memory.lifetimes.reserve = id(result[facts.reserve])
        made.extend([memory.make(tensor, storages, facts.aliases) for tensor in results if id(tensor) not in targets])
        return made


# Assigned after the class is made: torch wraps a handler that the class body defines so that the first operator imports
# its compiler, which takes over a second, and each later one costs a microsecond more.
OperatorMode.__torch_dispatch__ = OperatorMode._handle  # type: ignore[assignment,method-assign]
