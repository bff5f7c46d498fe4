"""Hold the garbage collector off while many small rows are made."""

from __future__ import annotations

import gc
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator


@contextmanager
def paused() -> Iterator[None]:
    """Let no collection run inside; afterwards the collector is as it was, and what was made inside counts as old.

    Rows cannot be part of a reference cycle, so there is nothing to find, and on a million nodes the search takes a
    third of the time of a pass.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            if not gc.get_freeze_count():  # else what somebody froze would thaw
                gc.freeze()
                gc.unfreeze()
            gc.enable()
