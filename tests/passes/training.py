"""A step of training made by hand, in which one layer may differ from the others."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.passes.samples import ended, param, started
from trec.ir.types import Derivative

if TYPE_CHECKING:
    from trec.ir.graph import Graph


def training(layers: int = 3, change: str = "", at: int = 1, *, optimizer: bool = True) -> Graph:
    """Layers with a skip and a weight each, backward through them, and an optimizer if there is one.

    In the layer `at` something may differ: its weight is `tied` to that of a head, its backward step is `other`, its
    weight is `frozen`, or its backward step reads what another layer saved (`crossed`).
    """
    step = _Step(layers, change, at)
    loss = step.forward()
    step.backward(loss)
    if optimizer:
        step.optimizer()
    return ended(step.builder, loss)


class _Step:
    def __init__(self, layers: int, change: str, at: int) -> None:
        self.layers, self.change, self.at = layers, change, at
        self.builder, self.type, self.x = started("Training")
        self.square = self.builder.tensor_type((3, 3), "float32")
        self.entered: list[int] = []
        self.saved: list[int] = []
        self.weights: list[int] = []
        self.gradients: dict[int, int] = {}
        self.nodes: dict[str, int] = {}

    def op(
        self, op: str, parent: int, inputs: list[int], results: list[int], of: str = "", name: str = ""
    ) -> list[int]:
        """Add an operator, known by `name`, that differentiates the node known as `of`."""
        index = len(self.builder.nodes)
        if of:
            self.builder.derivatives.append(Derivative(index, self.nodes[of]))
        self.nodes[name] = index
        return list(self.builder.node("op", op, parent=parent, inputs=inputs, results=results))

    def forward(self) -> int:
        (h,) = self.op("embed", 0, [self.x], [self.type])
        for number in range(self.layers):
            path = f"layers.{number}"
            layer = self.builder.scope("module", path=path, cls="Layer", parent=0)
            tied = self.change == "tied" and number == self.at
            self.nodes[f"{path}.weight"] = len(self.builder.nodes)
            self.weights.append(param(self.builder, 0 if tied else layer, f"{path}.weight", (3, 3)))
            self.entered.append(h)
            y, saved = self.op("linear", layer, [h, self.weights[-1]], [self.type] * 2, name=path)
            self.saved.append(saved)
            (h,) = self.op("add", layer, [h, y], [self.type])
        head = [self.weights[self.at]] if self.change == "tied" else []
        return self.op("head", 0, [h, *head], [self.type])[0]

    def backward(self, loss: int) -> None:
        back = self.builder.scope("region", path="", cls="backward", parent=0, name="backward", phase="backward")
        (g,) = self.op("HeadBackward", back, [loss], [self.type])
        for number in reversed(range(self.layers)):
            path, change = f"layers.{number}", self.change if number == self.at else ""
            layer = self.builder.scope(
                "module", path=path, cls="LayerBackward", parent=back, name=f"{path}.backward", phase="backward"
            )
            op = "OtherBackward" if change == "other" else "LinearBackward"
            saved = self.saved[number + 2 * (change == "crossed")]
            inputs = [g, saved, self.entered[number], self.weights[number]]
            x, w = self.op(op, layer, inputs, [self.type, self.square], of=path)
            if change != "frozen":
                (self.gradients[number],) = self.op("AccumulateGrad", layer, [w], [self.square], of=f"{path}.weight")
            (g,) = self.op("add", layer, [g, x], [self.type])

    def optimizer(self) -> None:
        step = self.builder.scope("region", path="", cls="SGD", parent=0, name="SGD", phase="optimizer")
        for number in sorted(self.gradients):
            (scaled,) = self.op("mul", step, [self.gradients[number]], [self.square])
            (moved,) = self.op("add", step, [self.weights[number], scaled], [self.square])
            self.op("clamp", step, [moved], [self.square])
