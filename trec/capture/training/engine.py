"""Where autograd's engine stands: which of its nodes runs, what that differentiates, and in which scope it lies."""

from __future__ import annotations

import sys
from bisect import bisect_left, bisect_right
from typing import TYPE_CHECKING, Any

import torch

from trec.capture.log import Call, ScopeRecord
from trec.capture.naming import Description
from trec.capture.torch_api import (
    DisableTorchFunction,
    current_autograd_node,
    next_sequence_number,
    sequence_number,
)

if TYPE_CHECKING:
    from trec.capture.log import Place
    from trec.capture.recorder import Recorder
    from trec.capture.thread import Thread
    from trec.ir.types import Phase

_DETACH = torch.ops.aten.detach.default
_UNNUMBERED = 2**63
"""Nodes that collect gradients have a number beyond all others."""


class Engine:
    """Follows autograd in the thread that the recording began in.

    Each node of autograd's graph becomes one call, whose operators are those that run while the node does. What a node
    differentiates follows from its number: numbers grow in one thread, and are read before and behind what is recorded.
    """

    def __init__(self, recorder: Recorder, thread: Thread) -> None:
        self.recorder, self.thread, self.log = recorder, thread, recorder.log
        self.enabled = True
        """Whether a backward pass that begins now belongs to the code that is recorded, not to a model's forward."""
        self.running = False
        """Whether the code is in a call that runs backward."""
        self.stepping = 0
        """In how many steps of optimizers the code is, since it is in autograd if it is."""
        self.scope = -1
        """The region of the backward pass that goes on; -1 for none."""
        self.call: Call | None = None
        """What the node that runs has done so far."""
        self.forward = -1
        """Value that the operator made which the running node differentiates; -1 if that is unknown."""
        self.within_loss = False
        """Whether a loss is computed that is not the code's own."""
        self.optimizing = -1
        """The region of what is done with gradients now; -1 for none."""
        self.gradients: set[int] = set()
        """Values of gradients, and of what was made of them outside of autograd."""
        self._node: Any = None
        self._outer = 0
        """Scope to go back to when the pass ends."""
        self._creates_graph = False
        self._recompute = -1
        """The region of what is computed again, while that goes on; -1 for none."""
        self._passes = self._optimized = self._recomputed = 0
        self._first_value = 0
        self._mirrors: dict[int, int] = {}
        """For each scope of what was differentiated in this pass, the one that holds its backward."""
        self.last_number = next_sequence_number()
        self._numbers: list[int] = []
        """The next number of autograd as it stood when something ran, ascending."""
        self._made: list[tuple[int, int]] = []
        """For each of them, the last value that was made then, and the scope."""

    # ---- while operators run

    def note(self, number: int, scope: int) -> None:
        """Note that the nodes below a number, as far as they are new, belong to what has just run."""
        self.last_number = number
        self._numbers.append(number)
        self._made.append((len(self.log.types) - 1, scope))

    def turn(self, node: Any, operator: Any) -> bool:
        """Go over to the node that runs an operator; return whether the operator is worth a record."""
        thread = self.thread
        if self.stepping or (self.scope < 0 and (thread.frames or not self.enabled)):
            return True  # a model runs backward in its forward
        if self.scope >= 0 and self.is_recomputing():
            self.flush()
            if not thread.frames:
                self._enter_recompute(self._differentiated(node)[1])
            return True
        accumulates = node.name().endswith("AccumulateGrad")
        if operator is _DETACH and not accumulates:
            return False  # the way in which autograd takes out what it has saved
        if node is self._node and self.call is not None:
            return True
        if self.scope < 0:
            self.begin(None)
        self.flush()
        self._node, self._recompute = node, -1
        self.forward, scope = self._differentiated(node)
        if not (accumulates and self.log.scopes[thread.scope].autograd):  # else beside what made the gradient
            thread.scope = self.mirror(scope)
        self.call = thread.call = Call(sys.intern(node.name().rpartition("::")[2]), thread.scope, None, [])
        if accumulates:
            self.forward = self.call.leaf = self._leaf(node.variable)
            self.call.origin = self.recorder.memory.origins.get(id(node.variable))
        return True

    def is_recomputing(self) -> bool:
        """Tell whether what runs is forward again: a module was called, or gradients are followed though nobody asked.

        All kinds of checkpointing do that, whoever wrote them.
        """
        return bool(self.thread.frames) or (torch.is_grad_enabled() and not self._creates_graph)

    def flush(self) -> None:
        """Write down what the last node has done."""
        call = self.call
        if call is not None:
            if self.thread.call is call:
                self.thread.call = None
            if call.events:
                if call.leaf >= 0:
                    call.results = list(call.events[-1][4])
                self.log.events.append(call)
        self.call, self._node, self.forward = None, None, -1

    def leave_node(self) -> None:
        """Write down what the last node has done, if there is one; what runs now does not run in any."""
        if self._node is not None:
            self.flush()
            self.thread.scope = self.scope if self.running else self._outer
            if not self.running:
                self.end()

    def _leaf(self, variable: Any) -> int:
        """Return the value of the parameter or other leaf whose gradient is collected."""
        thread = self.thread
        call, thread.call = thread.call, None
        thread.mute += 1
        try:
            with DisableTorchFunction(), self.recorder.lock:
                if variable.grad is not None:
                    self.recorder.memory.entry(variable.grad, thread)  # from before the recording, perhaps
                return self.recorder.memory.entry(variable, thread).value
        finally:
            thread.mute -= 1
            thread.call = call

    def _differentiated(self, node: Any) -> tuple[int, int]:
        """Return a value that was made when the node was, and in which scope; -1 and the root if that is unknown."""
        number = sequence_number(node)
        if number >= _UNNUMBERED or not self._numbers or self.recorder.heads:
            return -1, 0
        if node.name().endswith("CopySlices"):  # made behind the operator that wrote
            at = bisect_right(self._numbers, number) - 1
        else:
            at = bisect_left(self._numbers, number + 1)
        return self._made[at] if 0 <= at < len(self._made) else (-1, 0)

    # ---- passes

    def begin(self, place: Place, *, native: bool = False) -> None:
        """Open the region of a backward pass.

        Args:
            place: where the code asked for it.
            native: whether no line of the user's is in it.
        """
        self._outer, self.optimizing = self.thread.scope, -1
        self._passes += 1
        self.scope = self.open("backward", "backward", self._passes - 1, 0, place)
        record = self.log.scopes[self.scope]
        record.autograd, record.native = True, native
        self._mirrors = {0: self.scope}
        self._first_value = len(self.log.types)

    def end(self) -> None:
        """Close the region of the pass; its gradients are known from now on, unless they are to be differentiated."""
        self.flush()
        if self.scope >= 0:
            if not self._creates_graph:
                self.gradients.update(range(self._first_value, len(self.log.types)))
            self.thread.scope, self.thread.call = self._outer, None
        self.scope = self._recompute = -1

    def run(self, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any], place: Place) -> Any:
        """Return what a function that runs backward returns, with what autograd did written down node by node."""
        thread = self.thread
        opened = self.scope < 0
        if opened:
            self.begin(place)
        else:
            place = None
        self._creates_graph = _creates_graph(function, args, kwargs)
        around, self.stepping = self.stepping, 0
        self.running, thread.scope = True, self.scope
        self.call = thread.call = Call(function, self.scope, place, [])
        try:
            return function(*args, **kwargs)
        finally:
            self.running, self.stepping = False, around
            if opened:
                self.end()
            else:
                self.flush()
                thread.scope, thread.call = self.scope, None

    def optimize(self) -> int:
        """Return the region of what is done with gradients now."""
        if self.optimizing < 0:
            self._optimized += 1
            self.optimizing = self.open("optimizer", "optimizer", self._optimized - 1, 0, None)
        return self.optimizing

    def open(self, cls: str, phase: Phase, count: int, parent: int, place: Place) -> int:
        """Return a new region."""
        log = self.log
        path, first = log.scopes[parent].path, len(log.types)
        log.scopes.append(
            ScopeRecord("region", path, cls, count, parent, Description(()), first, place, native=False, phase=phase)
        )
        return len(log.scopes) - 1

    def mirror(self, scope: int) -> int:
        """Return the scope that holds the backward of what a scope holds; it lies in that of the scope around."""
        found = self._mirrors.get(scope)
        if found is None:
            log = self.log
            record = log.scopes[scope]
            around = self.mirror(record.parent)
            if record.kind == "region":
                found = around
            else:
                found = len(log.scopes)
                made = ScopeRecord(
                    record.kind, record.path, f"{record.cls}Backward", record.call, around, Description(()),
                    len(log.types), record.place, native=False, phase="backward", mirrors=scope, autograd=True,
                )  # fmt: skip
                log.scopes.append(made)
            self._mirrors[scope] = found
        return found

    # ---- what is computed again

    def enter_module(self, module: Any) -> bool:
        """Prepare for the call of a module; return whether autograd makes it, which computes something again."""
        if not self.running or self.stepping or current_autograd_node() is None:
            return False
        if not self.thread.frames:
            self.flush()
            self._enter_recompute(self._around(module))
        return True

    def _around(self, module: Any) -> int:
        """Return the scope in which a module was called last in a forward pass; the root if it never was."""
        path = self.recorder.names.paths.get(id(module))
        scopes = reversed(self.log.scopes)
        return next((max(row.parent, 0) for row in scopes if row.path == path and row.phase == "forward"), 0)

    def _enter_recompute(self, scope: int) -> None:
        """Go into the region of what is computed again, which lies in the mirror of a scope."""
        if self._recompute < 0:
            self._recompute = self.open("recompute", "backward", self._recomputed, self.mirror(scope), None)
            self._recomputed += 1
        self.thread.scope = self._recompute


def _creates_graph(function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
    position = 4 if function is torch.autograd.grad else 3
    return bool(args[position] if len(args) > position else kwargs.get("create_graph", False))
