"""How long the layout takes in Node.js, as the page runs it, beside that in Python.

Run: python benchmarks/layout_js.py [boxes ...]

Printed are milliseconds of processor time: all at once in Python; then in Node.js, one after the other with one memory,
the picture with its outer scopes closed, with one of these opened, with all scopes open, with the one closed again, and
open.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks.layout import dense, transformer
from trec.layout.arrange import arrange

if TYPE_CHECKING:
    from trec.layout.diagram import Diagram

COLUMNS = ("closed", "opened", "all", "one closed", "again")


def as_data(diagram: Diagram) -> dict[str, Any]:
    """Return a diagram as the layout of the page takes it."""
    return {
        "sizes": [length for size in diagram.sizes for length in size],
        "scopes": diagram.scopes,
        "parents": diagram.parents,
        "titles": diagram.titles,
        "wires": [
            number for rank, wire in enumerate(diagram.wires) for number in (wire.source, wire.target, wire.net, rank)
        ],
    }


def main(counts: list[int]) -> None:
    """Print the figures."""
    print(f"{'':12} {'boxes':>7} {'wires':>7} {'Python':>8}" + "".join([f"{name:>11}" for name in COLUMNS]))
    script = Path(__file__).with_suffix(".mjs")
    for make in (transformer, dense):
        for count in counts:
            diagram = make(count)
            start = time.process_time()
            placement = arrange(diagram)
            spent = 1000 * (time.process_time() - start)
            with tempfile.TemporaryDirectory() as folder:
                path = Path(folder) / "diagrams.json"
                path.write_text(json.dumps([as_data(diagram)]), encoding="utf-8")
                done = subprocess.run(
                    ["node", "--single-threaded", str(script), str(path)], capture_output=True, check=True
                )
            row = json.loads(done.stdout)
            figures = "".join([f"{row[name]:11.1f}" for name in COLUMNS])
            print(f"{make.__name__:12} {len(diagram.sizes):7} {len(diagram.wires):7} {spent:8.0f}{figures}")
            if placement.crossings != row["crossings"]:
                print(f"  crossings differ: {placement.crossings} in Python, {row['crossings']} in Node.js")


if __name__ == "__main__":
    main([int(word) for word in sys.argv[1:]] or [1000, 10_000, 100_000])
