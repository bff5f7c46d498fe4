"""Record a model here, draw it where PyTorch is not installed.

Run: python examples/save_and_render_later.py [folder]
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

import trec


def record(path: Path) -> None:
    """Record a model and save the graph."""
    from models import UNet  # the only half that needs PyTorch

    trec.capture(UNet().eval(), (1, 3, 64, 64)).save(path)
    print(f"saved {path.name}, {path.stat().st_size} bytes; PyTorch loaded: {'torch' in sys.modules}")


def render(path: Path) -> None:
    """Load the graph, check it and draw it."""
    graph = trec.load(path).verify()
    graph.collapse(depth=1).write(path.with_suffix(".svg"))
    graph.collapse(depth=1).write(path.with_suffix(".dot"))
    print(f"drew {path.stem}.svg and {path.stem}.dot; PyTorch loaded: {'torch' in sys.modules}")


def main() -> None:
    """Save in this process, draw in another one."""
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else tempfile.mkdtemp())
    folder.mkdir(parents=True, exist_ok=True)
    record(folder / "unet.trec")
    subprocess.run([sys.executable, __file__, "--render", str(folder / "unet.trec")], check=True)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--render"]:
        render(Path(sys.argv[2]))
    else:
        main()
