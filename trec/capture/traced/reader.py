"""What the graphs of one traced program have in common."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from trec.capture.describe import describe
from trec.capture.traced.examples import NOTHING, is_tensor, region_in, type_of
from trec.capture.traced.flow import Flow
from trec.capture.traced.stacks import Calls
from trec.capture.traced.steps import Step, Steps
from trec.capture.traced.subgraphs import read_tensors
from trec.ir.builder import GraphBuilder

if TYPE_CHECKING:
    from torch import Tensor
    from torch.nn import Module

    from trec.capture.traced.flow import Held
    from trec.ir.types import AttrRow, Level, NodeKind, TensorType


class Reader:
    """What the graphs of one program have in common: its steps, its scopes, the tensors of its modules."""

    def __init__(self, root: Module, name: str, cls: str, level: Level) -> None:
        self.root, self.level = root, level
        self.builder = GraphBuilder(name, (("level", level),))
        self.builder.scope("module", path="", cls=cls)
        self.steps = Steps(self.builder)
        self.flow = Flow(self.steps)
        self.calls = Calls(self.builder, self._describe)
        self.uses = Counter(read_tensors(root))
        self.inputs = self.outputs = 0
        self._held: dict[int, Held] = {}
        self._names: dict[int, tuple[NodeKind, list[str]]] = {}
        for kind, table in (("param", root.named_parameters), ("buffer", root.named_buffers)):
            for path, tensor in table(remove_duplicate=False):
                self._names.setdefault(id(tensor), (kind, []))[1].append(path)  # type: ignore[arg-type]

    def type(self, type_: TensorType) -> int:
        """Return the index of a type."""
        return self.builder.types.add(type_)

    def input(self, name: str, example: Any) -> Held:
        """Return a tensor that the program is given."""
        made = self.flow.tensor(self.type(type_of(example) if is_tensor(example) else NOTHING), region_in(example))
        self.steps.rows.append(Step("input", "input", 0, [], [made.value], (("index", self.inputs),), name=name))
        self.inputs += 1
        return made

    def output(self, name: str, tensor: Held) -> None:
        """Note that the program returns a tensor."""
        value = self.flow.read(tensor, 0)
        self.steps.rows.append(Step("output", "output", 0, [value], [], (("index", self.outputs),), name=name))
        self.outputs += 1

    def owned(self, tensor: Tensor, name: str) -> Held:
        """Return a parameter, a buffer or another tensor that a module holds."""
        kind, names = self._names.get(id(tensor), ("constant", [name]))
        if _is_lifted(names[0]):
            kind = "constant"
        return self.source(id(tensor), kind, names, tensor)

    def source(self, key: int, kind: NodeKind, names: list[str], example: Any) -> Held:
        """Return a tensor that the program holds, the same one for the same key."""
        held = self._held.get(key)
        if held is None:
            held = self._held[key] = self.flow.tensor(self.type(type_of(example)), region_in(example))
            attrs: AttrRow = () if kind == "constant" else (("qualname", names[0]),)
            if len(names) > 1:
                attrs = (*attrs, ("aliases", ",".join(names[1:])))
            self.steps.rows.append(Step(kind, kind, 0, [], [held.value], attrs, name=names[0]))
        return held

    def _describe(self, path: str, cls: str) -> AttrRow:
        try:
            module = self.root.get_submodule(path)
        except AttributeError:
            return ()
        return describe(module) if type(module).__name__ == cls else ()


def _is_lifted(name: str) -> bool:
    return name.rpartition(".")[2].startswith(("_tensor_constant", "lifted_tensor_", "_lifted_tensor_constant"))
