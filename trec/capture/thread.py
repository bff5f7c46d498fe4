"""Where one thread of the model stands: the module it is in, the torch function it runs, whether it is watched."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from trec.capture.log import Origin
from trec.capture.naming import TABLES

if TYPE_CHECKING:
    from contextlib import ExitStack

    from torch import Tensor

    from trec.capture.log import Call, Event, Log
    from trec.capture.values.memory import Entry


class Frame(NamedTuple):
    """A module call that has not returned."""

    scope: int
    module: Any
    outer: int
    """Scope to go back to."""
    call: Call | None
    """Torch function to go back to."""
    modes: ExitStack | None
    """Modes to end with it."""
    own: int
    """Identity of its stack frame."""
    around: int
    """Identity of the stack frame of the module call around it; 0 for none."""


Renaming = tuple["Entry", int, int]
"""What is known of a tensor, the value that it held before a call, and the one that it holds since."""


class Thread:
    """The state of recording in one thread."""

    __slots__ = ("call", "frames", "log", "mute", "operands", "renamed", "scope")

    def __init__(self, log: Log, scope: int) -> None:
        self.log = log
        self.scope = scope
        """Innermost scope that is open."""
        self.call: Call | None = None
        """Torch function that runs."""
        self.operands: list[int] = []
        """Values given to the operator around that runs functions; what it hands them is made of these."""
        self.frames: list[Frame] = []
        self.renamed: dict[int, list[Renaming]] = {}
        """By number of open frames: tensors that went through a call unchanged, and hold its value since."""
        self.mute = 0
        """Above zero while an operator or recording itself runs: nothing is written down."""

    def emit(self, event: Event) -> None:
        """Write an event down in the call that runs, else in the log."""
        if self.call is None:
            self.log.events.append(event)
        else:
            self.call.events.append(event)

    def emit_before(self, event: Event) -> None:
        """Write an event down before the call that runs, if it reads nothing that this call has made."""
        call = self.call
        if call is None or not any(value in event[3] for made in call.events for value in made[4]):
            self.log.events.append(event)
        else:
            call.events.append(event)

    def split_call(self) -> Call | None:
        """Let the operators of the function that runs stand singly, those so far before what follows; return its call.

        A module is entered inside, or functions that an operator was given: what these run stands between them.
        """
        call = self.call
        if call is not None:
            call.split = True
            self.log.events.extend(call.events)
            call.events.clear()
        return call

    def rename(self, entry: Entry, depth: int) -> int:
        """Give a tensor that a call returned as it was a new value, until the module around the call returns.

        The same object may be read again by whoever handed it in, past the call: a residual that goes round a norm is
        not the norm's result, though the norm's first step returned the very tensor that it was given.

        Args:
            entry: what is known of the tensor.
            depth: number of frames that are open around the call.
        """
        old, entry.value = entry.value, self.log.like(entry.value)
        if entry.storage.lifetime is not None:
            entry.storage.lifetime.values.append(entry.value)
        self.renamed.setdefault(depth, []).append((entry, old, entry.value))
        return entry.value

    def restore_names(self, returned: list[Entry]) -> None:
        """Give the tensors renamed in a module call that has just returned their old values, but for its results."""
        depth = len(self.frames)
        kept = {id(entry) for entry in returned}
        for entry, old, new in reversed(self.renamed.pop(depth + 1, ())):
            if entry.value != new:
                continue
            if id(entry) in kept:
                self.renamed.setdefault(depth, []).append((entry, old, new))
            else:
                entry.value = old

    def drop_abandoned(self, around: int) -> None:
        """Forget the module calls that ended without a word, as an interrupt that the model caught makes them.

        Args:
            around: stack frame of the innermost module call that is known to run.
        """
        frames = self.frames
        keep = next((index for index, frame in enumerate(frames) if frame.around == around), len(frames))
        if keep == len(frames) and frames[-1].own != around:
            return  # another stack, as greenlets have
        while len(frames) > keep:
            self.scope = frames.pop().outer
            self.restore_names([])

    def take_frame(self, own: int, module: Any) -> Frame | None:
        """Take out the frame of a module call that returns, and those that it left behind; None if there is none."""
        frames = self.frames
        position = len(frames) - 1
        while position >= 0 and (frames[position].own or own) != own:
            position -= 1
        if position < 0 or frames[position].module is not module:
            return None
        found, gone = frames[position], {own}
        kept = []
        for frame in frames[position + 1 :]:  # those of another stack stay
            (gone.add(frame.own) if frame.around in gone else kept.append(frame))
        frames[position:] = kept
        return found

    def find_origin(self, tensor: Tensor) -> Origin | None:
        """Return the name of a parameter or buffer that was put into the running module after recording began."""
        if not self.frames:
            return None
        module = self.frames[-1][1]
        for kind, table in TABLES:
            held = getattr(module, table, None)
            if not isinstance(held, dict):
                continue
            for name, candidate in held.items():
                if candidate is tensor:
                    path = self.log.scopes[self.scope].path
                    return Origin(kind, [f"{path}.{name}" if path else name])
        return None
