"""What recorded code gives to the modules that it calls, and what it gets back: the inputs and outputs of the graph."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from trec.capture.inputs import name_inputs, name_outputs
from trec.capture.leaves import unwrapped
from trec.capture.log import Call, ScopeRecord, UninitializedTensor
from trec.capture.naming import Description
from trec.capture.sources import module_arguments
from trec.capture.torch_api import DisableTorchFunction
from trec.capture.values.storages import storage_key

if TYPE_CHECKING:
    from collections.abc import Iterator

    from torch import Tensor

    from trec.capture.recorder import Recorder
    from trec.capture.thread import Thread


STEPS = frozenset({"op", "host", "region"})


class TopLevel:
    """The module calls that no module makes, while a recording runs."""

    def __init__(self, recorder: Recorder, net: Any) -> None:
        self.recorder, self.net = recorder, net
        self.log, self.memory = recorder.log, recorder.memory
        self.of_net: list[bool] = []
        """For each call whether it is one of the model that the recording was given."""
        self._inputs = 0
        self._returned: list[tuple[str, int, int]] = []
        """Name and value of each tensor that a call returned, and how many events there were then."""
        self._constants: dict[int, int] = {}
        """Position of the event that introduced each constant, by value; of the first `_searched` events."""
        self._searched = 0
        self.log.scopes.append(ScopeRecord("region", "", "recording", 0, -1, Description(()), 0, None, native=False))

    # ---- while the code runs, called by the hooks of modules

    def enter(self, module: Any, thread: Thread) -> None:
        """Make inputs of the tensors that a call is given and that were not seen before, if no module makes the call.

        Neither is a call of the code one that torch makes, as when a backward pass computes a checkpoint again.
        """
        if not _outermost(thread):
            return
        self.of_net.append(module is self.net)
        with _unwatched(thread):
            given: set[int] = set()
            storages: set[int | None] = {None}
            for name, tensor in name_inputs(module.forward, *module_arguments()):
                if not isinstance(tensor, UninitializedTensor):
                    self._take(name, unwrapped(tensor), given, storages, thread)

    def leave(self, scope: int, result: Any, thread: Thread) -> None:
        """Note what a call returned, and keep a description of the module instead of the module."""
        record = self.log.scopes[scope]
        with self.recorder.lock, _unwatched(thread):
            record.module = self.recorder.names.describe(record.module)
            if not _outermost(thread):
                return
            values = [
                (name, self.memory.entry(unwrapped(tensor), thread).value)
                for name, tensor in name_outputs(result)
                if not isinstance(tensor, UninitializedTensor)
            ]
            position = len(self.log.events)
            self._returned.extend((name, value, position) for name, value in values)

    def _take(self, name: str, tensor: Tensor, given: set[int], storages: set[int | None], thread: Thread) -> None:
        memory = self.memory
        entry, key = memory.known(tensor), storage_key(tensor)
        if entry is not None and id(tensor) not in given:
            self._promote(name, memory.entry(tensor, thread).value)
        elif entry is None and key not in storages and memory.live(key) is not None:
            memory.entry(tensor, thread)  # a view, made outside, of what is known
        else:
            value = self.log.value(tensor)
            self.log.events.append(("input", name, 0, [], [value], self._inputs, None))
            self._inputs += 1
            if entry is None:
                given.add(id(tensor))
                storages.add(key)
                memory.give(tensor, value)

    def _promote(self, name: str, value: int) -> None:
        """Make an input of a constant that is now given to a call."""
        events = self.log.events
        for position in range(self._searched, len(events)):
            event = events[position]
            if type(event) is tuple and event[0] == "constant":
                self._constants[event[4][0]] = position
        self._searched = len(events)
        found = self._constants.pop(value, None)
        if found is not None:
            events[found] = ("input", name, 0, [], [value], self._inputs, None)
            self._inputs += 1

    # ---- afterwards

    def outputs(self) -> list[tuple[str, int]]:
        """Return name and value of what calls returned and nothing read afterwards.

        What only leaves torch, as a number that is printed, is still there, so that is no reading. Nor is what autograd
        or an optimizer does with it.
        """
        forward = [record.phase == "forward" for record in self.log.scopes]
        wanted = {value for _, value, _ in self._returned}
        read: dict[int, int] = {}
        for position, event in enumerate(self.log.events):
            if not forward[event.scope if type(event) is Call else event[2]]:  # type: ignore[index]
                continue
            if type(event) is Call:
                if event.host and not event.results:
                    continue
                values = {value for inner in event.events for value in inner[3]}.union(event.read)
            elif event[0] != "host" or event[4]:  # type: ignore[index]
                values = set(event[3])  # type: ignore[index]
            else:
                continue
            read.update(dict.fromkeys(values & wanted, position))
        return [(name, value) for name, value, since in self._returned if read.get(value, -1) < since]

    def is_one_call(self) -> bool:
        """Tell whether nothing ran but one call of the model."""
        if any(record.phase != "forward" for record in self.log.scopes):
            return False
        return self.of_net == [True] and not any(
            not event.scope if type(event) is Call else event[0] in STEPS and not event[2]  # type: ignore[index]
            for event in self.log.events
        )

    def drop_root(self) -> None:
        """Make the only call the root, as if it alone had been recorded."""
        log = self.log
        del log.scopes[0]
        log.scopes[0].parent, log.scopes[0].place = -1, None
        self.recorder.heads = [head - 1 for head in self.recorder.heads if head > 1]
        for record in log.scopes[1:]:
            record.parent -= 1
        passed: dict[int, int] = {}
        if log.events and type(last := log.events[-1]) is tuple and last[:3] == ("link", "pass", 1):
            log.events.pop()  # the root itself needs no node for what it returns untouched
            passed.update(zip(last[4], last[3], strict=True))
        self._returned = [(name, passed.get(value, value), since) for name, value, since in self._returned]
        for position, event in enumerate(log.events):
            if type(event) is Call:
                event.scope -= 1
                event.events = [_outwards(inner) for inner in event.events]
            else:
                log.events[position] = _outwards(event)
        failure = self.recorder.failure
        if failure is not None:
            self.recorder.failure = (max(failure[0] - 1, 0), failure[1])


def _outwards(event: Any) -> Any:
    return (*event[:2], max(event[2] - 1, 0), *event[3:])


def _outermost(thread: Thread) -> bool:
    """Tell whether a thread is in no module and no torch function; one that a module began is in that module."""
    return not thread.frames and not thread.scope and thread.call is None


@contextmanager
def _unwatched(thread: Thread) -> Iterator[None]:
    thread.mute += 1
    try:
        with DisableTorchFunction():
            yield
    finally:
        thread.mute -= 1
