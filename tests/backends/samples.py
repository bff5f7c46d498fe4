"""Small graphs made by hand, one for each thing that a backend has to show."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.conftest import TINY
from trec.ir.builder import GraphBuilder
from trec.ir.types import Carried, Source

if TYPE_CHECKING:
    from trec.ir.graph import Graph

HOSTILE = (
    '"quoted" and "', "back\\slash\\", "\\N \\G \\n", "line\nfeed", "cr\r\nlf", "<b>bold</b>", "<", "a > b", "|{}",
    "{a|<p>b}", "port:n:s", "&amp; &#34; &", "😀 𝒳", "עברית \u200f", "nul\0bell\x07", "tab\ttab", "", "  ", "node",
    "%s %d", "a;b", "]]>", "->", "/* no */ // comment # x", "e\u0301", "\ufffe\x1b", "x" * 300,
)  # fmt: skip


def sample() -> Graph:
    """Return a net of three linear layers and an activation."""
    builder = GraphBuilder("SampleNet", (("level", "function"),))
    root = builder.scope("module", path="", cls="SampleNet")
    three, six, one = (builder.tensor_type((1, size), "float32") for size in (3, 6, 1))
    (x,) = builder.node("input", parent=root, name="x", results=[three], attrs=(("index", 0),))

    def linear(name: str, value: int, size: tuple[int, int], result: int) -> int:
        scope = builder.scope(
            "module",
            path=name,
            cls="Linear",
            parent=root,
            attrs=(("in_features", size[0]), ("out_features", size[1]), ("bias", True)),
        )
        state: list[int] = []
        for part, shape in (("weight", size[::-1]), ("bias", size[1:])):
            path = f"{name}.{part}"
            kind = builder.tensor_type(shape, "float32")
            state += builder.node("param", parent=scope, name=path, results=[kind], attrs=(("qualname", path),))
        (result,) = builder.node(
            "op", "linear", parent=scope, inputs=[value, *state], results=[result], source=Source("net.py", 7)
        )
        return result

    joined = [linear("linear_1", x, (3, 3), three), linear("linear_2", x, (3, 3), three)]
    (y,) = builder.node("op", "cat", parent=root, inputs=joined, results=[six], attrs=(("dim", -1),))
    y = linear("linear_3", y, (6, 1), one)
    relu = builder.scope("module", path="my_special_relu", cls="ReLU", parent=root)
    (y,) = builder.node("op", "relu", parent=relu, inputs=[y], results=[one])
    builder.node("output", parent=root, name="output0", inputs=[y], attrs=(("index", 0),))
    return builder.build()


def marks() -> Graph:
    """Return a graph with every kind of node and scope: nested, failed, of regions, links, host values and a loop."""
    builder = GraphBuilder("Marks", (("level", "function"),))
    root = builder.scope("module", path="", cls="Marks")
    image = builder.tensor_type((1, 64, 56, 56), "float32")
    small = builder.tensor_type((1, 32, 28, 28), "float32")
    scalar = builder.tensor_type((), "int64")
    (x,) = builder.node("input", parent=root, name="image", results=[image])
    (scale,) = builder.node("constant", parent=root, name="scale", results=[scalar])
    layers = builder.scope("module", path="layers", cls="Sequential", parent=root)
    block = builder.scope("module", path="layers.0", cls="Block", parent=layers)
    (y,) = builder.node("op", "conv2d", parent=block, inputs=[x], results=[small])
    (y,) = builder.node("op", "__mul__", parent=block, inputs=[y, scale], results=[small])
    (y,) = builder.node("link", "update", parent=block, inputs=[y], results=[small])
    (z,) = builder.node("op", "__add__", parent=layers, inputs=[y, y], results=[small])
    for call in range(2):
        drop = builder.scope("module", path="drop", cls="Dropout", parent=root, call=call, attrs=(("p", 0.1),))
        (z,) = builder.node("link", "pass", parent=drop, inputs=[z], results=[small])
    (number,) = builder.node("host", "item", parent=root, inputs=[z], results=[scalar])
    chunks = builder.node("op", "chunk", parent=root, inputs=[z], results=[small, small, small])
    (z,) = builder.node("op", "cat", parent=root, inputs=[*chunks, number], results=[small])
    (z,) = builder.node("region", "region", parent=root, inputs=[z], results=[small])
    script = builder.scope("region", path="", cls="ScriptModule", parent=root)
    (z,) = builder.node("op", "aten.relu.default", parent=script, inputs=[z], results=[small])
    (z,) = builder.node("op", "aten.div.Tensor", parent=script, inputs=[z, z], results=[small])
    failed = builder.scope("module", path="head", cls="Head", parent=root, attrs=(("error", "RuntimeError"),))
    (w,) = builder.node("op", "matmul", parent=failed, inputs=[z, z], results=[small])
    builder.node("op", "mm", parent=failed, inputs=[w], attrs=(("error", "RuntimeError"),))
    builder.node("output", parent=root, name="y", inputs=[z])
    builder.carried.append(Carried(z, 0 + len(builder.nodes) - 3, 0))
    return builder.build()


def aten() -> Graph:
    """Return a graph of operators: a linear layer of two operators, and an activation of one."""
    builder = GraphBuilder("Aten", (("level", "aten"),))
    root = builder.scope("module", path="", cls="Aten")
    matrix = builder.tensor_type((4, 4), "float32")
    (x,) = builder.node("input", parent=root, name="x", results=[matrix])
    fc = builder.scope("module", path="fc", cls="Linear", parent=root)
    (weight,) = builder.node(
        "param", parent=fc, name="fc.weight", results=[matrix], attrs=(("qualname", "fc.weight"), ("aliases", "tied.w"))
    )
    linear = builder.scope("function", path="fc", cls="linear", parent=fc)
    (t,) = builder.node("op", "aten.t.default", parent=linear, inputs=[weight], results=[matrix])
    (y,) = builder.node("op", "aten.mm.default", parent=linear, inputs=[x, t], results=[matrix])
    act = builder.scope("module", path="act", cls="ReLU", parent=root)
    relu = builder.scope("function", path="act", cls="relu", parent=act)
    (y,) = builder.node("op", "aten.relu.default", parent=relu, inputs=[y], results=[matrix])
    softmax = builder.scope("function", path="", cls="softmax", parent=root)
    (y,) = builder.node("op", "aten._softmax.default", parent=softmax, inputs=[y], results=[matrix])
    builder.node("output", parent=root, name="output", inputs=[y])
    return builder.build()


def named(name: str) -> Graph:
    """Return a graph in which everything that is free to have any name has this one."""
    builder = GraphBuilder(name)
    root = builder.scope("module", path="", cls=name)
    kind = builder.tensor_type((1, 2), "float32")
    (x,) = builder.node("input", parent=root, name=name, results=[kind])
    outer = builder.scope("module", path=name, cls=name, parent=root, attrs=((name, name), ("heads", 2)))
    inner = builder.scope("module", path=f"{name}.inner", cls=name, parent=outer, attrs=((name, name),))
    (y,) = builder.node("op", f"op {name}", parent=inner, name=name, inputs=[x], results=[kind], value_names=[name])
    (y,) = builder.node("op", f"op {name}", parent=outer, name=name, inputs=[y], results=[kind], attrs=((name, name),))
    builder.node("output", parent=root, name=name, inputs=[y], source=Source(f"{name}.py", 1))
    return builder.build()


def deep(depth: int) -> Graph:
    """Return a graph of modules each of which holds the next and one operator."""
    builder = GraphBuilder("Deep")
    scope = builder.scope("module", path="", cls="Deep")
    kind = builder.tensor_type((1,), "float32")
    (x,) = builder.node("input", parent=scope, name="x", results=[kind])
    for level in range(depth):
        scope = builder.scope("module", path=".".join(["m"] * (level + 1)), cls="M", parent=scope)
        (x,) = builder.node("op", "relu", parent=scope, inputs=[x], results=[kind])
    builder.node("output", parent=0, name="y", inputs=[x])
    return builder.build()


def blocks(count: int) -> Graph:
    """Return equal blocks in a row, which `fold` makes one."""
    builder = GraphBuilder("Blocks", (("level", "function"),))
    root = builder.scope("module", path="", cls="Blocks")
    kind = builder.tensor_type((2, 8), "float32")
    matrix = builder.tensor_type((8, 8), "float32")
    (x,) = builder.node("input", parent=root, name="x", results=[kind], attrs=(("index", 0),))
    for index in range(count):
        path = f"layers.{index}"
        block = builder.scope("module", path=path, cls="Block", parent=root)
        (weight,) = builder.node("param", parent=block, name=f"{path}.weight", results=[matrix])
        (y,) = builder.node("op", "linear", parent=block, inputs=[x, weight], results=[kind], attrs=(("flops", 256),))
        (x,) = builder.node("op", "__add__", parent=block, inputs=[x, y], results=[kind])
    builder.node("output", parent=root, name="y", inputs=[x], attrs=(("index", 0),))
    return builder.build()


def every() -> list[Graph]:
    """Return graphs of all kinds: tiny, hostile, deep, collapsed, folded, rolled."""
    small = [sample(), marks(), aten(), deep(12), blocks(4)]
    passed = [sample().collapse(depth=1), blocks(4).fold(), blocks(4).fold().collapse(depth=1), blocks(3).roll()]
    return [*[function() for function in TINY.values()], *small, *passed, *map(named, HOSTILE)]
