"""Facts of a recording that no node tells: what of the model was not used, and what was not seen."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any

import torch

from trec.capture.log import UninitializedTensor
from trec.capture.naming import TABLES
from trec.ir.tables import clean
from trec.ir.types import Note

if TYPE_CHECKING:
    from collections.abc import Iterator

    from torch import Tensor

    from trec.capture.recorder import Recorder
    from trec.ir.graph import Graph

Modules = list[tuple[str, Any]]
"""Every path of the model and the module there, parents first."""


def notes(recorder: Recorder, graph: Graph, modules: Modules) -> tuple[Note, ...]:
    """Return what is to be said beside the nodes of a graph.

    Buffers of torch's own modules are left out: batch normalization counts batches in one that only training reads.
    Parameters and buffers of a module that was never called are told with it, not one by one; and of a module in which
    all is like this, only the outermost.

    Args:
        recorder: what was written down.
        graph: the graph of it, at level `function` or `aten`.
        modules: the model.
    """
    found = [*_unused(_Usage(graph, modules)), *_threads(recorder)]
    return tuple(Note(kind, clean(name), clean(text)) for kind, name, text in found)


class _Usage:
    """Which modules, parameters and buffers took part."""

    def __init__(self, graph: Graph, modules: Modules) -> None:
        self.modules = _distinct(modules)
        self.tensors = _tensor_names(graph)
        reached = {scope.path for scope in graph.scopes if scope.kind == "module"}
        reached.update(_around(name) for name in self.tensors)
        self.reached = {""}
        self.scripts = {path for path, module in modules if isinstance(module, torch.jit.ScriptModule)}
        for path in reached:
            while path not in self.reached:
                self.reached.add(path)
                path = _around(path)
        for path in self.scripts:  # what a script calls is not seen
            around = path
            while around not in self.reached and _around(around) in self.scripts:
                around = _around(around)
            if around in self.reached:
                self.reached.add(path)

    def skipped(self) -> dict[str, tuple[Any, Modules]]:
        """Return the outermost modules of which nothing took part, by path: each with what lies in it, itself first."""
        found: dict[str, tuple[Any, Modules]] = {}
        for path, module in self.modules:
            if path in self.reached:
                continue
            around = path
            while around and around not in found:
                around = _around(around)
            if around:
                found[around][1].append((path, module))
            else:
                found[path] = (module, [(path, module)])
        return {path: row for path, row in found.items() if any(_callable(module) for _, module in row[1])}


def _unused(usage: _Usage) -> Iterator[tuple[str, str, str]]:
    skipped = usage.skipped()
    inside = {id(module) for _, modules in skipped.values() for _, module in modules}
    seen: set[int] = set()
    for path, module in usage.modules:
        for kind, table in TABLES:
            for key, tensor in getattr(module, table).items():
                name = f"{path}.{key}" if path else key
                if tensor is None or id(tensor) in seen:
                    continue
                seen.add(id(tensor))
                if kind == "buffer" and _keeps_books(module):
                    continue
                if id(module) not in inside and name not in usage.tensors:
                    yield f"unused_{kind}", name, _type(tensor)
    for path, (module, modules) in skipped.items():
        parameters = {id(row): row for _, held in modules for row in held._parameters.values() if row is not None}
        text = type(module).__name__
        if parameters:
            count = sum(0 if isinstance(row, UninitializedTensor) else row.numel() for row in parameters.values())
            text += f" with {count:,} parameters"
        yield "uncalled_module", path, text


def _threads(recorder: Recorder) -> Iterator[tuple[str, str, str]]:
    for path in sorted(recorder.unseen):
        if not path or recorder.unseen.isdisjoint(["", *_ancestors(path)]):
            yield "unseen_thread", path, f"{'' if path else 'the model was '}called in a thread that had begun before"


def _distinct(modules: Modules) -> Modules:
    found: dict[int, tuple[str, Any]] = {}
    for path, module in modules:
        found.setdefault(id(module), (path, module))
    return list(found.values())


def _tensor_names(graph: Graph) -> set[str]:
    """Return every name of the parameters and buffers that were read."""
    names: set[str] = set()
    for node in graph.nodes:
        if node.kind in ("param", "buffer"):
            attrs = graph.attrs_of(node)
            names.add(str(attrs["qualname"]))
            names.update(str(attrs.get("aliases", "")).split(","))
    return names - {""}


def _around(path: str) -> str:
    return path.rpartition(".")[0]


def _ancestors(path: str) -> list[str]:
    """Return the paths of the modules around a module other than the root."""
    parts = path.split(".")
    return [".".join(parts[:count]) for count in range(1, len(parts))]


def _keeps_books(module: Any) -> bool:
    """Tell whether the forward of a module is torch's own, so that its buffers are no business of the model's."""
    return str(getattr(_forward(module), "__module__", "")).startswith("torch.")


def _callable(module: Any) -> bool:
    return _forward(module) is not torch.nn.Module.forward


def _forward(module: Any) -> Any:
    """Return the forward of the class of a module, unasked: that of a script is there for instances alone."""
    return inspect.getattr_static(type(module), "forward", None)


def _type(tensor: Tensor) -> str:
    if isinstance(tensor, UninitializedTensor):
        return "never initialized"
    return f"{str(tensor.dtype).removeprefix('torch.')}[{', '.join(map(str, tensor.shape))}]"
