"""Hold the garbage collector off while many small rows are made."""

from __future__ import annotations

import gc
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

_MANY = 100_000
"""So many new objects are worth more than what it takes to make them old."""


@contextmanager
def paused() -> Iterator[None]:
    """Let no collection run inside; afterwards the collector is as it was.

    Rows cannot be part of a reference cycle, so there is nothing to find, and on a million nodes the search takes a
    third of the time of a pass. If many were made, they count as old from then on.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            young, *_ = gc.get_count()
            # What somebody froze would thaw; it is counted only where that takes no longer than what it saves.
            if young > _MANY and not gc.get_freeze_count():
                gc.freeze()
                gc.unfreeze()
            gc.enable()
