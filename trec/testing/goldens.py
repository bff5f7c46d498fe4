"""Where golden graphs lie and whether they are written anew."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import os


class Goldens:
    """What holds for the test that runs; pytest's plugin says it."""

    def __init__(self) -> None:
        self.folder = Path()
        """Where relative names begin: the folder of the test, without the plugin the working directory."""
        self.update = False
        """Whether goldens that are missing or differ are written."""
        self.written: list[Path] = []
        """Those that were."""

    def path(self, name: str | os.PathLike[str]) -> Path:
        """Return where the golden of that name is."""
        return self.folder / name


current = Goldens()
