"""Write the files of the present version of the format: `python tests/data/make.py`, once when a version is released.

A file that is there already is left as it is: it stands for what an earlier trec wrote.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from msgspec.structs import replace

from trec.ir.builder import GraphBuilder
from trec.ir.serialize import VERSION, Format, encode
from trec.ir.types import Carried, Derivative, Note, Source

if TYPE_CHECKING:
    from trec.ir.graph import Graph

HERE = Path(__file__).parent


def everything() -> Graph:
    """Every kind of row, with a value in every field."""
    builder = GraphBuilder("Everything", (("level", "aten"), ("costs", True), ("text", "ä, 😀, \n")))
    attrs = (
        ("none", None), ("flag", True), ("int", -(2**63)), ("large", 2**70), ("float", 0.1), ("inf", float("inf")),
        ("text", "x"), ("nested", ((1, ("a", 2.5)), False)),
    )  # fmt: skip
    root = builder.scope("module", path="", cls="Everything", attrs=attrs, source=Source("model.py", 3))
    cell = builder.scope("module", path="cells.0", cls="Cell", parent=root, source=Source("model.py", 9))
    linear = builder.scope("function", path="cells.0", cls="linear", parent=cell, name="cells.0.linear")
    body = builder.scope("module", path="body", cls="Body", parent=root, call=1)
    builder.scope("region", path="", cls="unseen", parent=root, name="unseen")
    type_ = builder.tensor_type((2, 3), "float32")
    ragged = builder.tensor_type(("s0", "?"), "bfloat16", "cuda:0", "jagged")
    (x,) = builder.node("input", parent=root, name="x", results=[type_], attrs=(("index", 0),))
    names = (("qualname", "cells.0.weight"), ("aliases", "tied.weight"))
    (w,) = builder.node("param", parent=cell, name="cells.0.weight", results=[type_], attrs=names)
    (b,) = builder.node("buffer", parent=cell, name="cells.0.mean", results=[type_], attrs=(("qualname", "mean"),))
    (c,) = builder.node("constant", parent=root, results=[type_])
    place = Source("lib/functional.py", 17)
    (y,) = builder.node("op", "aten.mm.default", parent=linear, inputs=[x, w], results=[type_], source=place)
    (z, i) = builder.node("op", "topk", parent=cell, inputs=[y, b, c], results=[type_, ragged], attrs=(("k", 2),))
    sums = (("ops", 7), ("params", 1200), ("param_bytes", 4800), ("flops", 100))
    (m,) = builder.node("module", "Body", parent=root, inputs=[z, z], results=[type_], attrs=sums, scope=body)
    builder.node("host", "item", parent=root, inputs=[i])
    (r,) = builder.node("region", "extension", parent=root, inputs=[m], results=[type_])
    (u,) = builder.node("link", "update", parent=root, inputs=[m, r], results=[type_])
    back = builder.scope("region", path="", cls="backward", parent=root, name="backward", phase="backward")
    builder.node("op", "MmBackward0", parent=back, inputs=[u, w], results=[type_])
    builder.node("output", parent=root, inputs=[u], attrs=(("index", 0),))
    builder.scopes[cell] = replace(builder.scopes[cell], repeats=("cells.1", "cells.2"))
    builder.scopes[linear] = replace(builder.scopes[linear], inputs=(x, w), outputs=(y,))
    builder.carried += [Carried(z, 4, 0, cell), Carried(i, 5, 1, cell)]
    builder.derivatives.append(Derivative(10, 4))
    builder.notes.append(Note("unused_param", "idle.weight", "no operator read it"))
    return builder.build().verify()


def main() -> None:
    """Write what is not there yet."""
    formats: tuple[Format, ...] = ("trec", "json")
    for suffix in formats:
        path = HERE / f"version-{VERSION}.{suffix}"
        if not path.exists():
            path.write_bytes(encode(everything(), suffix))


if __name__ == "__main__":
    main()
