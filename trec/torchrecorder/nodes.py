"""The nodes of the live view: each holds the object that it stands for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from trec.torchrecorder.ordered import OrderedSet

if TYPE_CHECKING:
    from trec.torchrecorder.calls import Call


class BaseNode:
    """Something that was met while a model ran.

    Attributes:
        fn: the object itself.
        name: what it is called on pictures.
        depth: number of modules around it; the model has depth 0, what its `forward` runs has depth 1.
        parent: the module that it belongs to, None outside the model.
    """

    def __init__(self, name: str = "", fn: Any = None, depth: int = -1, parent: Any = None) -> None:
        self.fn = fn
        self.name = name
        self.depth = depth
        self.parent = parent
        self.call: Call | None = None
        """Module call in which it came to be; None for modules and their parameters."""

    def __str__(self) -> str:
        return f"{self.name}({', '.join(self._facts())})"

    __repr__ = __str__

    def _facts(self) -> list[str]:
        parent = "None" if self.parent is None else type(self.parent).__name__
        return [f"depth={self.depth}", f"fn={type(self.fn).__name__}", f"parent={parent}"]


class TensorNode(BaseNode):
    """A tensor that went into a module or came out of one; `fn` is the `torch.Tensor`."""


class ParamNode(TensorNode):
    """A parameter; `fn` is the `torch.nn.Parameter`, `parent` the module that holds it."""


class OpNode(BaseNode):
    """An operation; `fn` is its node in autograd's graph, the `grad_fn` of what it returned.

    Where autograd kept no record, `fn` is a `trec.torchrecorder.history.Step`, which also has `next_functions`.
    """


class LayerNode(BaseNode):
    """A module; `fn` is the `torch.nn.Module`.

    Attributes:
        subnets: keys in `Recorder.nodes` of what lies directly in the module: modules, parameters, operations, tensors.
        pre: handle of the hook before its `forward`.
        post: handle of the hook after it.
    """

    def __init__(self, name: str = "", fn: Any = None, depth: int = -1, parent: Any = None) -> None:
        super().__init__(name, fn, depth, parent)
        self.subnets: OrderedSet[Any] = OrderedSet()
        self.pre: Any = None
        self.post: Any = None
        self.back: Any = None
        """Always None: gradients are not recorded."""
        self.calls = 0
        """How often the module was called."""
        self.repeats: list[LayerNode] = []
        """One more node for each call behind the first: a module that is drawn as a box has a box for every call."""

    def _facts(self) -> list[str]:
        return [*super()._facts(), f"subnets={[type(key).__name__ for key in self.subnets]}"]
