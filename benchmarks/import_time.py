"""Milliseconds to import trec and msgspec in a new process, medians of nine runs each, taken in turn."""

from __future__ import annotations

import subprocess
import sys
from statistics import median

CODE = "import time; start = time.perf_counter(); import {}; print((time.perf_counter() - start) * 1000)"


def milliseconds(module: str) -> float:
    """Return how long the import of a module takes in a new process."""
    return float(subprocess.run([sys.executable, "-c", CODE.format(module)], capture_output=True, check=True).stdout)


def main() -> None:
    """Print both medians and their difference."""
    milliseconds("trec")  # writes the byte code
    runs = [(milliseconds("msgspec"), milliseconds("trec")) for _ in range(9)]
    msgspec, trec = (median(times) for times in zip(*runs, strict=True))
    print(f"msgspec {msgspec:.1f} ms   trec {trec:.1f} ms   difference {trec - msgspec:.1f} ms")


if __name__ == "__main__":
    main()
