"""Everything that watches while code runs: hooks of modules, modes of torch, switches of the process."""

from __future__ import annotations

import threading
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING

from trec.capture.eager import eager
from trec.capture.recorder import followed_thread
from trec.capture.torch_api import scripts_as_written
from trec.errors import CaptureError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trec.capture.recorder import Recorder

_running = threading.local()
"""Whether the running thread makes a recording, in `_running.recording`."""


@contextmanager
def alone_in_this_thread() -> Iterator[None]:
    """Refuse a recording inside another one of the same thread, and in threads that another one follows.

    Raises:
        CaptureError: it is one of these.
    """
    if getattr(_running, "recording", False):
        raise CaptureError(
            "a recording is running in this thread already, and two would record each other; "
            "the model must not call trec.capture in its forward, and a recording needs no other one inside"
        )
    if followed_thread():
        raise CaptureError("a thread of a model that is being recorded must not record it")
    try:
        _running.recording = True
        yield
    finally:
        _running.recording = False


@contextmanager
def watching(recorder: Recorder) -> Iterator[None]:
    """Write down what the running thread does inside; afterwards torch is as it was."""
    with ExitStack() as stack:
        stack.enter_context(recorder)
        stack.enter_context(recorder.hooks())
        stack.enter_context(eager)
        # Optimised, the second run of a script would differ from the first.
        stack.enter_context(scripts_as_written(False))
        stack.enter_context(recorder.modes(recorder.thread))
        stack.callback(recorder.stop)
        recorder.active = True
        yield
