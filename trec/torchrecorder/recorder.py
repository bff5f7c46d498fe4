"""Record a model by hooks on its modules and a walk over autograd's graph.

No tensor is exchanged and no graph of autograd's is cut: a tensor is known by what it came from, and each call of a
module knows which of these it sees as tensors. So the model computes what it computes unobserved.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from torch.nn import Module, Parameter

from trec.capture.torch_api import UninitializedTensor
from trec.errors import OptionError
from trec.torchrecorder.calls import Call
from trec.torchrecorder.history import History, Step
from trec.torchrecorder.hooks import backhook, leaf_dummy, posthook, prehook
from trec.torchrecorder.nodes import BaseNode, LayerNode, OpNode, ParamNode, TensorNode
from trec.torchrecorder.ordered import OrderedSet
from trec.torchrecorder.reshapes import Reshapes
from trec.torchrecorder.walk import op_acc, param_acc, tensor_acc

if TYPE_CHECKING:
    from torch import Tensor

    from trec.ir.graph import Graph
    from trec.torchrecorder.calls import Origin

__all__ = [
    "Recorder", "backhook", "leaf_dummy", "op_acc", "param_acc", "posthook", "prehook", "tensor_acc",
]  # fmt: skip


class Recorder:
    """The live view of one forward pass.

    Attributes:
        fn_set: all objects that were met.
        nodes: for each of them its node; several objects may have one node. None stands for what is around the model.
        fn_types: how many objects of each class were met, to number them.
        edges: flows of data, each a source, a target, and a number that grows.
        graph: the same pass as an ordinary graph, where `record` made the recording; else None.
    """

    def __init__(self) -> None:
        self.graph: Graph | None = None
        self.history = History(lambda origin: self.call.find(origin) is not None)
        self.reshapes = Reshapes(self.history)
        self._owners: dict[Parameter, tuple[Module, str]] = {}
        self._lazy: list[Parameter] = []
        self._root = BaseNode(name="ContextDummy")
        self.clear()

    def clear(self) -> None:
        """Forget all that was met."""
        self.history.clear()
        self.nodes: dict[Any, BaseNode] = {None: self._root}
        self.fn_set: OrderedSet[Any] = OrderedSet([None])
        self.fn_types: dict[str, int] = {}
        self.edges: OrderedSet[tuple[Any, Any, int]] = OrderedSet()
        self.returned: list[Any] = []
        """Keys of what the outermost call returned, in order."""
        self.received: list[Any] = []
        """Keys of what it was given."""
        self.single = True
        """Whether it returned one tensor, in no container."""
        self._calls = [Call(LayerNode(), 0, None, {}, {}, {})]

    @property
    def call(self) -> Call:
        """The innermost call of a module that has not returned."""
        return self._calls[-1]

    def add_node(self, net: Any, depth: int = 0, parent: Any = None, name: str | None = None) -> None:
        """Make the node of an object: a module, a tensor, a parameter, or a node of autograd's graph.

        A module gets the hooks that record its calls.

        Args:
            net: the object.
            depth: number of modules around it.
            parent: the module that it belongs to.
            name: what it is called; its class, numbered, when left out.

        Raises:
            OptionError: the object is nothing of that.
        """
        kind = net.name() if isinstance(net, Step) else self.reshapes.name(net)
        count = self._count(kind)
        label = name if name is not None else kind if count == 1 else f"{kind}-{count}"
        node: BaseNode
        if isinstance(net, Module):
            if depth > 0 and name is not None:
                label = f"{label}\n({kind})"
            node = layer = LayerNode(label, net, depth, parent)
            if not isinstance(net, torch.jit.ScriptModule):  # which takes no hooks of its own
                before, after = _hooks(self, layer)
                layer.pre = net.register_forward_pre_hook(before)
                layer.post = net.register_forward_hook(after, always_call=True)
            for key, param in net.named_parameters(recurse=False):
                self._owners.setdefault(param, (net, key))
                if isinstance(param, UninitializedTensor):
                    self._lazy.append(param)
        elif isinstance(net, Parameter):
            node = ParamNode(label, net, depth, parent)
        elif isinstance(net, torch.Tensor):
            node = TensorNode(label, net, depth, parent)
        elif hasattr(net, "next_functions"):
            node = OpNode(label, net, depth, parent)
        else:
            raise OptionError(
                f"a {type(net).__name__} has no place on a picture; expected a module, a tensor, or the grad_fn of one"
            )
        if not isinstance(node, (LayerNode, ParamNode)):
            node.call = self.call
        self._place(net, node)

    def _count(self, kind: str) -> int:
        count = self.fn_types[kind] = self.fn_types.get(kind, 0) + 1
        return count

    def _place(self, key: Any, node: BaseNode) -> None:
        self.nodes[key] = node
        self.fn_set.add(key)
        if isinstance(around := self.nodes.get(node.parent), LayerNode):
            around.subnets.add(key)

    def add_dummy(self, dummy: Any, fn: Any) -> None:
        """Let an object stand for one that has a node already.

        Args:
            dummy: a tensor or a node of autograd's graph that is to have no node of its own.
            fn: the object whose node it shares.
        """
        self.fn_set.add(dummy)
        self.nodes[dummy] = self.nodes[fn]

    def add_edge(self, _from: Any, _to: Any) -> None:
        """Note that data flows from one object to another, once for each time that it does.

        Args:
            _from: an object that has a node.
            _to: another one.

        Raises:
            OptionError: one of them is None.
        """
        if _from is None or _to is None:
            raise OptionError(f"an edge joins two objects, not {_from!r} and {_to!r}")
        self.edges.add((_from, _to, len(self.edges)))

    def register_hooks(self, net: Module, depth: int = 0, parent: Any = None, name: str | None = None) -> None:
        """Make the nodes of a module and all below it, with the hooks that record their calls.

        A module that stands in several places is recorded in the first one.

        Args:
            net: the module.
            depth: number of modules around it.
            parent: the module around it.
            name: what it is called.
        """
        todo = [(net, depth, parent, name)]
        while todo:
            module, level, around, label = todo.pop()
            if module in self.nodes:
                continue
            self.add_node(module, level, around, label)
            children = [(child, level + 1, module, key) for key, child in module.named_children()]
            todo += reversed(children)

    def remove_hooks(self) -> None:
        """Take the hooks off all modules."""
        for node in self.nodes.values():
            if isinstance(node, LayerNode):
                for handle in (node.pre, node.post):
                    if handle is not None:
                        handle.remove()

    # ---- for `record`

    def restart(self) -> None:
        """Forget what an earlier run left; the modules stay and keep their hooks."""
        modules = [node for node in self.nodes.values() if isinstance(node, LayerNode)]
        self.clear()
        for node in modules:
            node.calls = 0
            node.repeats.clear()
            node.subnets.clear()
        for node in modules:
            self._count(type(node.fn).__name__)
            self._place(node.fn, node)

    # ---- for the hooks

    def enter(self, node: LayerNode, given: dict[Origin, Any]) -> Call:
        """Open a call of a module that is given tensors."""
        if node.calls:
            node.repeats.append(LayerNode(node.name, node.fn, node.depth, node.parent))
        call = Call(node, node.calls, self.call, given, dict(given), {})
        node.calls += 1
        self._calls.append(call)
        return call

    def resume(self, node: LayerNode) -> Call:
        """Return the call of a module that is about to return."""
        while len(self._calls) > 1 and self.call.node is not node:
            self._calls.pop()
        return self.call if len(self._calls) > 1 else self.enter(node, {})

    def leave(self) -> Call:
        """Close the innermost call; return the one around it."""
        self._calls.pop()
        if len(self._calls) == 1:
            for param in self._lazy:
                if param in self.nodes:  # the parameter itself will have no shape again
                    self.nodes[param].fn = Parameter(param.detach().clone())
        return self.call

    def add_again(self, tensor: Tensor, name: str, node: LayerNode) -> None:
        """Make one more node beside a module for a tensor that has a name; it takes no number from others."""
        again = TensorNode(name, tensor, node.depth, node.parent)
        again.call = self.call
        self._place(tensor, again)

    def move(self, key: Any, node: LayerNode) -> None:
        """Let a tensor stand beside a module, which hands it on from what it called."""
        moved = self.nodes[key]
        for around, step in ((moved.parent, OrderedSet.discard), (node.parent, OrderedSet.add)):
            if isinstance(layer := self.nodes.get(around), LayerNode):
                step(layer.subnets, key)
        moved.parent, moved.depth, moved.call = node.parent, node.depth, self.call.outer

    def find(self, origin: Origin, call: Call) -> Any:
        """Return the key of what is drawn for an origin as it is read in a call; None if nothing is yet."""
        key, source = call.find(origin), origin.source
        if key is None and source in self.nodes:
            key = self.nodes[source].fn
            if key is not source and isinstance(source, torch.Tensor):
                return None  # the node shows what the tensor holds since, not what it held before a write
        return key

    def find_leaf(self, tensor: Tensor, node: Any) -> Any:
        """Return the key of a tensor that nothing made; one that has no node gets it, a parameter in its module."""
        if tensor not in self.nodes:
            if isinstance(tensor, Parameter) and tensor in self._owners:
                module, name = self._owners[tensor]
                self.add_node(tensor, self.nodes[module].depth + 1, module, name)
            else:
                self.add_node(tensor, node.depth + 1, node.fn)
        return tensor

    def is_drawn(self, origin: Origin, call: Call) -> bool:
        """Tell whether an origin is an operation of autograd's, or anything that is drawn flows into it."""
        todo, seen = [origin], {origin.source}
        while todo:
            origin = todo.pop()
            if self.find(origin, call) is not None or origin.source in self._owners:
                return True
            if isinstance(origin.source, Step):
                further = [before for before in self.history.sources(origin.source) if before.source not in seen]
                seen.update([before.source for before in further])
                todo += further
            elif not isinstance(origin.source, torch.Tensor):
                return True
        return False


def _hooks(rec: Recorder, node: LayerNode) -> tuple[Any, Any]:
    """Return the hooks of a module; as they close over the recording, it is no part of the model to look at."""

    def before(module: Module, inputs: Any) -> Any:
        return prehook(module, inputs, rec, node)

    def after(module: Module, inputs: Any, outputs: Any) -> Any:
        return posthook(module, inputs, outputs, rec, node)

    return before, after
