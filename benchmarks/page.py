"""How the page fares in a browser without a graphics card: opening, panning, opening modules, searching; and its size.

Run: npm install --prefix tests/node; python benchmarks/page.py [nodes ...]
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from trec.backends.html.bundle import script, stylesheet
from trec.ir.builder import GraphBuilder
from trec.ir.types import Source

HERE = Path(__file__).parent
TERSER = HERE.parent / "tests" / "node" / "node_modules" / "terser" / "bin" / "terser"
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
WIDTH = 768


class Transformer:
    """Collect blocks of attention and a perceptron with their parameters, no two neighbours of which are equal."""

    def __init__(self) -> None:
        self.builder = GraphBuilder("Transformer", (("level", "function"), ("costs", True)))
        shapes = ((1, 128, WIDTH), (1, 12, 128, 64), (WIDTH, WIDTH), (WIDTH,))
        self.wide, self.heads, self.matrix, self.vector = (self.builder.tensor_type(s, "float32") for s in shapes)
        self.root = self.builder.scope("module", path="", cls="Transformer")

    def op(self, scope: int, op: str, *inputs: int, kind: int = -1) -> int:
        """Add an operator and return what it yields."""
        results = [kind if kind >= 0 else self.wide]
        source = Source("model.py", 100 + len(op))
        return self.builder.node("op", op, parent=scope, inputs=inputs, results=results, source=source)[0]

    def leaf(self, scope: int, path: str, cls: str, op: str, value: int, *, rank: int = 0) -> int:
        """Add a module of one operator, with a weight of that rank, if any, and return what it yields."""
        inner = self.builder.scope("module", path=path, cls=cls, parent=scope, attrs=(("in_features", WIDTH),))
        inputs = [value]
        for name, kind in (("weight", self.matrix if rank == 2 else self.vector), ("bias", self.vector))[: 2 * rank]:
            qualname = f"{path}.{name}"
            row = (("qualname", qualname),)
            inputs += self.builder.node("param", parent=inner, name=qualname, results=[kind], attrs=row)
        return self.op(inner, op, *inputs)

    def attention(self, block: int, path: str, value: int, mask: int) -> int:
        """Add an attention and return what it yields."""
        scope = self.builder.scope("module", path=path, cls="Attention", parent=block, attrs=(("num_heads", 12),))
        heads = []
        for name in "qkv":
            projected = self.leaf(scope, f"{path}.{name}_proj", "Linear", "linear", value, rank=2)
            viewed = self.op(scope, "view", projected, kind=self.heads)
            heads.append(self.op(scope, "transpose", viewed, kind=self.heads))
        scores = self.op(scope, "matmul", heads[0], self.op(scope, "transpose", heads[1], kind=self.heads))
        scores = self.op(scope, "__add__", self.op(scope, "__truediv__", scores), mask)
        scores = self.leaf(scope, f"{path}.softmax", "Softmax", "softmax", scores)
        merged = self.op(scope, "view", self.op(scope, "matmul", scores, heads[2], kind=self.heads))
        return self.leaf(scope, f"{path}.o_proj", "Linear", "linear", merged, rank=2)

    def perceptron(self, block: int, path: str, value: int) -> int:
        """Add a gated perceptron and return what it yields."""
        scope = self.builder.scope("module", path=path, cls="MLP", parent=block)
        up = self.leaf(scope, f"{path}.up", "Linear", "linear", value, rank=2)
        gate = self.leaf(scope, f"{path}.gate", "Linear", "linear", value, rank=2)
        gate = self.leaf(scope, f"{path}.act", "SiLU", "silu", gate)
        return self.leaf(scope, f"{path}.down", "Linear", "linear", self.op(scope, "__mul__", up, gate), rank=2)

    def block(self, stack: int, number: int, value: int, mask: int) -> int:
        """Add a block and return what it yields."""
        path = f"layers.{number}"
        # What a neighbour has not keeps blocks from being folded.
        scope = self.builder.scope("module", path=path, cls="Block", parent=stack, attrs=(("drop", number % 7),))
        normed = self.leaf(scope, f"{path}.ln1", "LayerNorm", "layer_norm", value, rank=1)
        value = self.op(scope, "__add__", value, self.attention(scope, f"{path}.attn", normed, mask))
        normed = self.leaf(scope, f"{path}.ln2", "LayerNorm", "layer_norm", value, rank=1)
        return self.op(scope, "__add__", value, self.perceptron(scope, f"{path}.mlp", normed))

    def write(self, nodes: int, path: Path) -> int:
        """Write a page of about so many nodes and return how many there are."""
        build = self.builder
        (value,) = build.node("input", parent=self.root, name="x", results=[self.wide])
        (mask,) = build.node("input", parent=self.root, name="mask", results=[self.wide])
        number = 0
        while number == 0 or len(build.nodes) + len(build.nodes) // number <= nodes:
            group, place = divmod(number, 32)
            if place == 0:
                stack = build.scope("module", path=f"stage{group}", cls="Stage", parent=self.root)
            value = self.block(stack, number, value, mask)
            number += 1
        build.node("output", parent=self.root, name="y", inputs=[value])
        build.build().write(path)
        return len(build.nodes)


def minified() -> int:
    """Return the bytes that are left of the viewer when terser has been over it; 0 if it is not installed."""
    if not TERSER.exists():
        return 0
    command = ["node", str(TERSER), "--module", "--compress", "--mangle"]
    return len(subprocess.run(command, input=script().encode(), capture_output=True, check=True).stdout)


def main(counts: list[int]) -> None:
    """Print the figures, in milliseconds and bytes."""
    browser = next(filter(None, map(shutil.which, BROWSERS)))
    with tempfile.TemporaryDirectory() as folder:
        pages = [Path(folder) / f"{count}.html" for count in counts]
        for count, page in zip(counts, pages, strict=True):
            start = time.process_time()
            nodes = Transformer().write(count, page)
            print(f"{nodes} nodes: {time.process_time() - start:.2f} s to write, {page.stat().st_size} bytes")
        command = ["node", str(HERE / "page.mjs"), browser, *map(str, pages)]
        done = subprocess.run(command, capture_output=True, check=True)
    for count, row in zip(counts, json.loads(done.stdout), strict=True):
        print(f"{count}: first paint {row['paint']:.0f}; requests {row['requests']}, messages {row['messages']}")
        middle, most = row["toggle"]
        print(f"  open or close a module among {row['open']} boxes: median {middle:.0f}, most {most:.0f}")
        first, last = row["clicks"][len(row["clicks"]) // 2], row["clicks"][-1]
        print(f"  the first click, which opens a module and the panel: median {first:.0f}, most {last:.0f}")
        print(f"  search: most {row['search']:.0f}")
        for what, name in (("as opened", "pan"), ("all open", "panAll"), ("all open, near", "panNear")):
            print(f"  frame while panning, {what}: median {row[name][0]:.0f}, 95 of 100 within {row[name][1]:.0f}")
        whole, piece = row["all"]
        print(f"  open everything: {whole:.0f} for {row['everything']} boxes, in pieces of at most {piece:.0f}")
        whole, piece = row["among"]
        print(f"  then close one module: {whole:.0f}, in pieces of at most {piece:.0f}")
    print(f"viewer: {len(script())} bytes, style sheet {len(stylesheet())}, minified {minified()}")


if __name__ == "__main__":
    main([int(word) for word in sys.argv[1:]] or [1000, 10_000, 100_000])
