"""Interrupts from the keyboard that wait while something must not be left half done."""

from __future__ import annotations

import signal
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator


class Interrupts:
    """A context in which an interrupt waits until its end, or until one of its stretches that may be interrupted."""

    def __init__(self) -> None:
        self._waiting: list[Any] = []
        self._handler: Any = None

    def __enter__(self) -> Interrupts:
        if threading.current_thread() is threading.main_thread():  # no other thread is interrupted, nor may ask
            handler = signal.getsignal(signal.SIGINT)
            if callable(handler):
                self._handler = handler
                signal.signal(signal.SIGINT, self._wait)
        return self

    def __exit__(self, *_: object) -> None:
        self._pass_on()

    @contextmanager
    def let_through(self) -> Iterator[None]:
        """Return a context in which interrupts are what they are elsewhere."""
        handler = self._handler
        self._pass_on()
        try:
            yield
        finally:
            if handler is not None:
                self._handler = signal.signal(signal.SIGINT, self._wait)

    def _wait(self, *details: Any) -> None:
        self._waiting.append(details)

    def _pass_on(self) -> None:
        handler, self._handler = self._handler, None
        if handler is not None:
            signal.signal(signal.SIGINT, handler)
            if self._waiting:
                handler(*self._waiting.pop(0))
