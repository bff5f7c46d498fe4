"""The hooks of recordings in torch's tables of hooks for every module, told apart from those of others.

Several recordings may run at once, each in a thread: none may take away, or put back, what belongs to another.
"""

from __future__ import annotations

import threading
from typing import Any

from trec.capture.restore.refill import refill_dict
from trec.capture.torch_api import global_hooks
from trec.capture.torch_api import module_hooks as hooks

_lock = threading.Lock()
_own: set[int] = set()
"""Ids of the hooks of all recordings that run."""


def add(enter: Any, leave: Any) -> tuple[Any, Any]:
    """Call one function before each module call and another behind it, before the hooks of others; return handles."""
    with _lock:
        before = hooks.register_module_forward_pre_hook(enter)
        after = hooks.register_module_forward_hook(leave, with_kwargs=True, always_call=True)
        for handle, table in ((before, hooks._global_forward_pre_hooks), (after, hooks._global_forward_hooks)):
            table.move_to_end(handle.id, last=False)
            _own.add(handle.id)
        return before, after


def remove(handles: tuple[Any, Any]) -> None:
    """Take off what `add` has put on."""
    with _lock:
        for handle in handles:
            handle.remove()
            hooks._global_forward_hooks_always_called.pop(handle.id, None)  # torch's own removal leaves these
            hooks._global_forward_hooks_with_kwargs.pop(handle.id, None)
            _own.discard(handle.id)


def of_others() -> list[dict[Any, Any]]:
    """Return what stands in each table but for the hooks of recordings."""
    with _lock:
        return [{known: hook for known, hook in table.items() if known not in _own} for table in global_hooks]


def put_back(old: list[dict[Any, Any]]) -> None:
    """Let each table hold what it held, and the hooks of the recordings that run now."""
    with _lock:
        for table, held in zip(global_hooks, old, strict=True):
            refill_dict(table, {**{known: hook for known, hook in table.items() if known in _own}, **held})
