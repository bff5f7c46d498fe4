"""Everything that watches while code runs: hooks of modules, modes of torch, switches of the process."""

from __future__ import annotations

from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING

import torch

from trec.capture.eager import eager
from trec.capture.modules import ModuleHooks
from trec.capture.recorder import running
from trec.errors import CaptureError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trec.capture.recorder import Recorder


@contextmanager
def alone_in_this_thread() -> Iterator[None]:
    """Refuse a recording inside another one of the same thread.

    Raises:
        CaptureError: one is running.
    """
    if getattr(running, "recording", False):
        raise CaptureError(
            "a recording is running in this thread already, and two would record each other; "
            "the model must not call trec.capture in its forward, and a recording needs no other one inside"
        )
    running.recording = True
    try:
        yield
    finally:
        running.recording = False


@contextmanager
def watching(recorder: Recorder) -> Iterator[None]:
    """Write down what the running thread does inside; afterwards torch is as it was."""
    with ExitStack() as stack:
        stack.enter_context(ModuleHooks(recorder))
        stack.enter_context(eager)
        # Optimised, the second run of a script would differ from the first.
        stack.enter_context(torch.jit.optimized_execution(False))  # type: ignore[attr-defined]
        stack.enter_context(recorder.modes(recorder.thread))
        stack.callback(recorder.stop)
        recorder.active = True
        yield
