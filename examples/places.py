"""Where examples write, and what they need: the same for all of them."""

from __future__ import annotations

import sys
from importlib.util import find_spec
from pathlib import Path


def output(name: str) -> Path:
    """Return where a file of that name is written: the folder that was named, else `examples/output`."""
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent / "output"
    folder.mkdir(parents=True, exist_ok=True)
    return folder / name


def need(package: str, install: str) -> None:
    """End the example with one line if a package is not installed.

    Args:
        package: what is imported.
        install: what pip calls it.
    """
    if find_spec(package) is None:
        print(f"this example needs {package}, which is not installed: pip install {install}")
        sys.exit(0)
