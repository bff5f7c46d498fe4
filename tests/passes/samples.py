"""Graphs made by hand, one for each thing that a pass has to get right."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from trec.ir.builder import GraphBuilder
from trec.ir.types import Source

if TYPE_CHECKING:
    from trec.ir.graph import Graph


def started(name: str, level: str = "function") -> tuple[GraphBuilder, int, int]:
    """Return a builder with a root and an input, the type of that input, and its value."""
    builder = GraphBuilder(name, (("level", level),))
    root = builder.scope("module", path="", cls=name)
    type_ = builder.tensor_type((2, 3), "float32")
    (x,) = builder.node("input", parent=root, name="x", results=[type_], attrs=(("index", 0),))
    return builder, type_, x


def ended(builder: GraphBuilder, *values: int) -> Graph:
    """Return what was built, with these values as outputs, verified."""
    for index, value in enumerate(values):
        builder.node("output", parent=0, name=f"output{index}", inputs=[value], attrs=(("index", index),))
    return builder.build().verify()


def param(builder: GraphBuilder, parent: int, qualname: str, shape: tuple[int, ...], dtype: str = "float32") -> int:
    """Add a parameter and return its value."""
    type_ = builder.tensor_type(shape, dtype)
    attrs = (("qualname", qualname),)
    (value,) = builder.node("param", parent=parent, name=qualname, results=[type_], attrs=attrs)
    return value


def blocks() -> Graph:
    """Two blocks of two layers with a skip, whose second layers share a weight."""
    builder, type_, x = started("Blocks")
    shared = param(builder, 0, "shared.weight", (3, 3), "float16")
    for number in range(2):
        path = f"layers.{number}"
        block = builder.scope("module", path=path, cls="Block", parent=0, source=Source("net.py", 9))
        h = x
        for layer in ("fc", "head"):
            inner = builder.scope("module", path=f"{path}.{layer}", cls="Linear", parent=block)
            weight = shared if layer == "head" else param(builder, inner, f"{path}.fc.weight", (3, 3))
            bias = param(builder, inner, f"{path}.{layer}.bias", (3,))
            (h,) = builder.node("op", "linear", parent=inner, inputs=[h, weight, bias], results=[type_])
        (x,) = builder.node("op", "__add__", parent=block, inputs=[x, h], results=[type_], source=Source("net.py", 4))
    return ended(builder, x)


def interleaved() -> Graph:
    """A call that hands out a value, and goes on with what was made of it outside."""
    builder, type_, x = started("Interleaved")
    steps = builder.scope("module", path="steps", cls="Steps", parent=0)
    weight = param(builder, steps, "steps.weight", (3,))
    bias = param(builder, steps, "steps.bias", (3,))
    (a,) = builder.node("op", "mul", parent=steps, inputs=[x, weight], results=[type_])
    (b,) = builder.node("op", "relu", parent=0, inputs=[a], results=[type_])
    (c,) = builder.node("op", "mul", parent=steps, inputs=[b, weight], results=[type_])
    (d,) = builder.node("op", "add", parent=steps, inputs=[c, bias], results=[type_])
    return ended(builder, b, d)


def mutual() -> Graph:
    """Two calls that take turns, each with what the other made."""
    builder, type_, x = started("Mutual")
    calls = [builder.scope("module", path=path, cls="Turn", parent=0) for path in ("a", "b")]
    for turn in range(4):
        (x,) = builder.node("op", "relu", parent=calls[turn % 2], inputs=[x], results=[type_])
    return ended(builder, x)


def functions() -> Graph:
    """Function calls as level `aten` records them: one in another, one that reads a number, one around a module."""
    builder, type_, x = started("Functions", "aten")
    fc = builder.scope("module", path="fc", cls="Linear", parent=0)
    attrs = (("alpha", 2),)
    source = Source("net.py", 3)
    outer = builder.scope(
        "function", path="fc", cls="mix", parent=fc, name="fc.mix", attrs=attrs, source=source, inputs=(1, 0, 0)
    )
    inner = builder.scope("function", path="fc", cls="mm", parent=outer, name="fc.mix.mm")
    weight = param(builder, fc, "fc.weight", (3, 3))
    (constant,) = builder.node("constant", parent=outer, name="fc.mix.constant", results=[type_])
    (t,) = builder.node("op", "aten.t.default", parent=outer, inputs=[weight], results=[type_])
    (cast,) = builder.node("op", "aten._to_copy.default", parent=fc, inputs=[weight], results=[type_])
    (y,) = builder.node("op", "aten.mm.default", parent=inner, inputs=[x, t], results=[type_])
    low, high = builder.node("op", "aten.split.Tensor", parent=outer, inputs=[y, constant, cast], results=[type_] * 2)
    builder.scopes[outer] = replace(builder.scopes[outer], outputs=(high, x, high))
    item = builder.scope("function", path="", cls="item", parent=0, name="item", inputs=(low,))
    builder.node("host", "aten._local_scalar_dense.default", parent=item, inputs=[low])
    checkpoint = builder.scope("function", path="", cls="grad", parent=0, name="grad")
    act = builder.scope("module", path="act", cls="ReLU", parent=checkpoint)
    (z,) = builder.node("op", "aten.relu.default", parent=act, inputs=[high], results=[type_])
    (z,) = builder.node("op", "aten.neg.default", parent=checkpoint, inputs=[z], results=[type_])
    return ended(builder, z, t)


def stages() -> Graph:
    """Two stages of three blocks, the last of them with another stride; each block has its own weight."""
    builder, type_, x = started("Stages")
    for number in range(2):
        stage = builder.scope("module", path=f"stages.{number}", cls="Stage", parent=0)
        for block in range(3):
            path = f"stages.{number}.{block}"
            attrs = (("width", 3), ("layer_idx", block))
            inner = builder.scope("module", path=path, cls="Block", parent=stage, attrs=attrs)
            weight = param(builder, inner, f"{path}.weight", (3, 3))
            stride = (("stride", 1 + (number == 1 and block == 2)),)
            (y,) = builder.node("op", "conv", parent=inner, inputs=[x, weight], results=[type_], attrs=stride)
            (x,) = builder.node("op", "add", parent=inner, inputs=[y, x], results=[type_])
    return ended(builder, x)


def recurrent(steps: int = 4) -> Graph:
    """A cell that is called for each column of its input, with a state of two tensors, whose outputs are stacked."""
    builder, type_, x = started("Recurrent")
    weight = param(builder, 0, "cell.weight", (3, 3))
    h, c = builder.node("op", "zeros", parent=0, results=[type_, type_])
    outputs = []
    for step in range(steps):
        attrs = (("key", (":", step)),)
        (column,) = builder.node("op", "__getitem__", parent=0, inputs=[x], results=[type_], attrs=attrs)
        cell = builder.scope("module", path="cell", cls="Cell", parent=0, call=step)
        (g,) = builder.node("op", "linear", parent=cell, inputs=[column, weight, h], results=[type_])
        (h,) = builder.node("op", "mul", parent=cell, inputs=[g, c], results=[type_])
        (c,) = builder.node("op", "sigmoid", parent=cell, inputs=[g], results=[type_])
        outputs.append(h)
    (y,) = builder.node("op", "stack", parent=0, inputs=outputs, results=[type_])
    return ended(builder, y, c)


def experts() -> Graph:
    """Two layers of three experts, each behind its column of a gate, whose results are summed."""
    builder, type_, x = started("Experts")
    for number in range(2):
        path = f"layers.{number}"
        layer = builder.scope("module", path=path, cls="Layer", parent=0)
        (gate,) = builder.node("op", "softmax", parent=layer, inputs=[x], results=[type_])
        (total,) = builder.node("op", "zeros_like", parent=layer, inputs=[x], results=[type_])
        for position in range(3):
            inner = f"{path}.experts.{position}"
            attrs = (("key", ("...", f"{position}:{position + 1}")),)
            (share,) = builder.node("op", "__getitem__", parent=layer, inputs=[gate], results=[type_], attrs=attrs)
            expert = builder.scope("module", path=inner, cls="Expert", parent=layer)
            weight = param(builder, expert, f"{inner}.weight", (3, 3))
            (y,) = builder.node("op", "linear", parent=expert, inputs=[x, weight], results=[type_])
            (y,) = builder.node("op", "mul", parent=layer, inputs=[share, y], results=[type_])
            (total,) = builder.node("op", "add", parent=layer, inputs=[total, y], results=[type_])
        x = total
    return ended(builder, x)
