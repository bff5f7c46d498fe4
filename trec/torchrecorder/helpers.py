"""The three calls that most users need: record a model, make a digraph of the recording, write a picture."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

from trec.errors import DependencyError
from trec.ir.atomic import write_bytes, write_text
from trec.torchrecorder.picture import to_svg
from trec.torchrecorder.recording import record as record
from trec.torchrecorder.renderer.gv import GraphvizRenderer, new_digraph

if TYPE_CHECKING:
    import graphviz
    from torch import Tensor
    from torch.nn import Module

    from trec.torchrecorder.recorder import Recorder
    from trec.torchrecorder.renderer.gv import GraphvizStyler


def render_network(
    net: Module,
    name: str,
    input_shapes: tuple[int, ...] | list[tuple[int, ...]] | None,
    directory: str,
    filename: str | None = None,
    fmt: str = "svg",
    input_data: Tensor | tuple[Tensor, ...] | None = None,
    render_depth: int = 1,
    **styler_args: Any,
) -> None:
    """Write a picture of a model, in training mode; afterwards the model is as it was before.

    With the program `dot` of Graphviz the picture is the one of `make_dot`. Without it, SVG is drawn all the same.

    Args:
        net: the model.
        name: its name on the picture.
        input_shapes: sizes of one random input, or a list of such tuples for several; None if there is `input_data`.
        directory: folder to write to; it is made if it is not there.
        filename: name of the file without its suffix; `<name>-<render_depth>` when left out.
        fmt: format, which is also the suffix: any that `dot` knows.
        input_data: tensor or tuple of tensors to run the model on.
        render_depth: levels of modules that are open; 1 shows what the model itself runs.
        **styler_args: attributes of Graphviz for all nodes.

    Raises:
        DependencyError: the format is not SVG, and Graphviz is not installed.
    """
    dot = shutil.which("dot") is not None
    if not dot and fmt != "svg":
        raise DependencyError(f"fmt={fmt!r} needs the program dot of Graphviz, which was not found; svg does without")
    modes = [(module, module.training) for module in net.modules()]
    try:
        rec = record(net.train(), name, input_shapes, input_data)
    finally:
        for module, mode in modes:
            module.training = mode
    title = f"{name} at depth = {render_depth}"
    stem = f"{name}-{render_depth}" if filename is None else filename.removesuffix(f".{fmt}")
    path = Path(directory, f"{stem}.{fmt}")
    if dot:
        digraph = make_dot(rec, render_depth, **styler_args)
        digraph.attr(label=title)
        picture = digraph.pipe(format=fmt)
        path.parent.mkdir(parents=True, exist_ok=True)
        write_bytes(path, picture)
    else:
        text = to_svg(rec, render_depth, title, **styler_args)
        path.parent.mkdir(parents=True, exist_ok=True)
        write_text(path, [text])


def make_dot(
    rec: Recorder, render_depth: int = 256, styler_cls: type[GraphvizStyler] | None = None, **styler_args: Any
) -> graphviz.Digraph:
    """Return a recording as a `graphviz.Digraph`.

    Args:
        rec: the recording.
        render_depth: levels of modules that are open; one at this depth is a box.
        styler_cls: subclass of `GraphvizStyler` that says how nodes and edges look.
        **styler_args: attributes of Graphviz for all nodes; `fontname` holds for the titles of clusters too.

    Raises:
        DependencyError: the package `graphviz` is not installed.
    """
    font = {"fontname": styler_args["fontname"]} if styler_args.get("fontname") is not None else {}
    whole = {"compound": "true", "ranksep": "0.5", "fontsize": "24"} | font
    digraph = new_digraph(None, whole, {"fontsize": "20"} | font)
    return GraphvizRenderer(rec, render_depth, styler_cls, **styler_args)(digraph)
