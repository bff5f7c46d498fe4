"""Small models of every kind that a recording finds hard."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.capture.themes import layers, memory, modules, signatures, tensors, transforms

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.capture.models import Call

THEMES: dict[str, Callable[[], Call]] = {
    **layers.CALLS,
    **signatures.CALLS,
    **modules.CALLS,
    **memory.CALLS,
    **transforms.CALLS,
    **tensors.CALLS,
}
"""What builds a model with what it is called with, by name."""
