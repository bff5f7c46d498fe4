"""How long commands take to start beside `import msgspec`, and a ResNet-50 to its SVG beside torchview.

Run: python benchmarks/cli_start.py [runs]

The second part is left out where torchvision or torchview is not installed.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from importlib.util import find_spec
from pathlib import Path
from resource import RUSAGE_CHILDREN, getrusage
from statistics import median
from typing import NamedTuple

from trec.ir.builder import GraphBuilder

IMPORTS = "import msgspec"
TORCHVIEW = """
from torchview import draw_graph
from torchvision.models import resnet50
draw_graph(resnet50().eval(), input_size=(1, 3, 224, 224), depth=3, expand_nested=True).visual_graph.render(
    "torchview", format="svg"
)
"""
TORCH = "import torch, torchvision.models"


def python(code: str) -> list[str]:
    """Return the command that runs code in a new process."""
    return [sys.executable, "-c", code]


def trec(words: str) -> list[str]:
    """Return the command that runs the command line in a new process."""
    return [sys.executable, "-m", "trec", *words.split()]


class Times(NamedTuple):
    """How long a process took."""

    wall: float
    """Seconds on the clock."""
    cpu: float
    """Seconds of processors, its own and those of the system for it."""


def times(command: list[str], folder: str) -> Times:
    """Return how long a process takes."""
    start, before = time.perf_counter(), getrusage(RUSAGE_CHILDREN)
    subprocess.run(command, cwd=folder, capture_output=True, check=True)
    wall, after = time.perf_counter() - start, getrusage(RUSAGE_CHILDREN)
    return Times(wall, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)


def table(commands: dict[str, list[str]], runs: int, folder: str) -> None:
    """Print the median times of each command, and what they are beside the first; runs are interleaved."""
    for command in commands.values():
        times(command, folder)  # writes byte code
    rows = [[times(command, folder) for command in commands.values()] for _ in range(runs)]
    medians = [Times(*map(median, zip(*column, strict=True))) for column in zip(*rows, strict=True)]
    first = medians[0]
    print(f"{'':<44} {'wall':>9} {'more':>9} {'ratio':>6} {'cpu':>9} {'ratio':>6}")
    for name, (wall, cpu) in zip(commands, medians, strict=True):
        print(
            f"{name:<44} {1000 * wall:6.0f} ms {1000 * (wall - first.wall):+6.0f} ms {wall / first.wall:6.2f}"
            f" {1000 * cpu:6.0f} ms {cpu / first.cpu:6.2f}"
        )


def net(layers: int) -> GraphBuilder:
    """Return a builder with linear layers in a row."""
    builder = GraphBuilder("Net", (("level", "function"),))
    root, type_ = builder.scope("module", path="", cls="Net"), builder.tensor_type((1, 8), "float32")
    (x,) = builder.node("input", parent=root, name="x", results=[type_], attrs=(("index", 0),))
    for layer in range(layers):
        scope = builder.scope("module", path=f"layers.{layer}", cls="Linear", parent=root)
        (x,) = builder.node("op", "linear", parent=scope, inputs=[x], results=[type_])
    builder.node("output", parent=root, inputs=[x], attrs=(("index", 0),))
    return builder


def main(runs: int) -> None:
    """Print both tables."""
    with tempfile.TemporaryDirectory() as folder:
        net(50).build().save(Path(folder) / "net.trec")
        words = ["--version", "show net.trec", "stats net.trec", "query net.trec op:linear", "diff net.trec net.trec",
                 "verify net.trec", "passes", "backends", "render net.trec -o net.svg"]  # fmt: skip
        table({IMPORTS: python(IMPORTS), **{f"trec {each}": trec(each) for each in words}}, runs, folder)
        if find_spec("torchvision") is None or find_spec("torchview") is None:
            print("torchvision or torchview is not installed: no ResNet-50")
            return
        model = "torchvision.models:resnet50 --shape 1,3,224,224"
        print()
        table(
            {
                "torchview: model to SVG": python(TORCHVIEW),
                "trec render MODEL -o resnet50.svg": trec(f"render {model} -o resnet50.svg"),
                "trec capture MODEL -o resnet50.trec": trec(f"capture {model} -o resnet50.trec"),
                "trec render resnet50.trec -o resnet50.svg": trec("render resnet50.trec -o resnet50.svg"),
                TORCH: python(TORCH),
            },
            min(runs, 3),
            folder,
        )


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 9)
