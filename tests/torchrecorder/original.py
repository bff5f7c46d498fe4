"""torchrecorder itself, imported without the warnings that its sources give on newer Pythons."""

from __future__ import annotations

import warnings

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    import torchrecorder
    import torchrecorder.recorder
    import torchrecorder.renderer.base

__all__ = ["torchrecorder"]
