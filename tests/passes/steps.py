"""Steps of training one after the other, in which layers hand on what they like."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hypothesis import strategies as st

from tests.passes.samples import ended, param, started
from trec.ir.types import Derivative

if TYPE_CHECKING:
    from hypothesis.strategies import DrawFn

    from trec.ir.graph import Graph

_STATES = ("none", "own", "before", "after", "mirrored", "first", "last")
"""Whose state of the step before a layer reads: its own, that of a neighbour or of the layer opposite, or of one."""


@st.composite
def steps(draw: DrawFn) -> Graph:
    """Return steps over the same layers, which may read states and weights of the step before, or add up gradients."""
    builder, type_, x = started("Steps")
    layers, count = draw(st.sampled_from((1, 2, 3, 3, 4))), draw(st.sampled_from((1, 2, 3, 4, 4)))
    again = draw(st.booleans())
    state, learns, adds = draw(st.sampled_from(_STATES)), draw(st.booleans()), draw(st.booleans())
    odd = draw(st.none() | st.none() | st.tuples(st.integers(0, count - 1), st.integers(0, layers - 1)))
    weights = [param(builder, 0, f"layers.{layer}.weight", (2, 3)) for layer in range(layers)]
    states = [x] * layers if draw(st.booleans()) else list(weights)
    gradients: list[int] = []
    losses = []
    for step in range(count):
        (h,) = builder.node("op", "rand", parent=0, results=[type_])
        call = builder.scope("module", path="net", cls="Net", parent=0, call=step)
        made, saved, entered = [], [], []
        for layer in range(layers):
            at = {"own": layer, "before": layer - 1, "after": layer + 1, "mirrored": layers - 1 - layer, "last": -1}
            scope = builder.scope("module", path=f"net.layers.{layer}", cls="Layer", parent=call, call=step)
            read = [states[at.get(state, 0) % layers]] if state != "none" else []
            op = "other" if odd == (step, layer) else "linear"
            entered.append((h, len(builder.nodes) - 1))
            h, s = builder.node("op", op, parent=scope, inputs=[h, weights[layer], *read], results=[type_] * 2)
            saved.append((s, len(builder.nodes) - 1))
            made.append(h)
        states = made
        losses.append(h)
        back = builder.scope("region", path="", cls="backward", parent=0, phase="backward")
        (g,) = builder.node("op", "sum", parent=back, inputs=[h], results=[type_])
        found: dict[int, int] = {}
        for layer in reversed(range(layers)):
            scope = builder.scope("module", path=f"net.layers.{layer}", cls="Back", parent=back, phase="backward")
            value, forward = saved[layer]
            builder.derivatives.append(Derivative(len(builder.nodes), forward))
            inputs = [g, value, entered[layer][0], weights[layer]]
            g, w = builder.node("op", "linear_backward", parent=scope, inputs=inputs, results=[type_] * 2)
            if again:  # the gradient of what came in, as a checkpoint that computes again takes it
                builder.derivatives.append(Derivative(len(builder.nodes), entered[layer][1]))
            earlier = [gradients[layer]] if adds and gradients else []
            (found[layer],) = builder.node("op", "grad", parent=scope, inputs=[w, *earlier], results=[type_])
        gradients = [found[layer] for layer in range(layers)]
        if learns:
            update = builder.scope("region", path="", cls="SGD", parent=0, phase="optimizer")
            pairs = list(zip(weights, gradients, strict=True))
            weights = [builder.node("op", "step", parent=update, inputs=pair, results=[type_])[0] for pair in pairs]
    return ended(builder, *losses[-1:], *(gradients if draw(st.booleans()) else []))
