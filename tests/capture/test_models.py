"""What holds of every recording, on models of all common kinds and in every mode of torch."""

from __future__ import annotations

from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

import pytest
import torch
from torch.utils._pytree import tree_map

import trec
from tests.capture.models import MODELS, build, build_on_meta
from tests.capture.paths import flow
from trec.capture.leaves import leaves

if TYPE_CHECKING:
    from trec import Graph

pytestmark = pytest.mark.torch

NAMES = pytest.mark.parametrize("name", MODELS)


def graph_of(name: str, level: Any, context: Any = None, *, training: bool = False, **options: Any) -> Graph:
    net, args, kwargs = build_on_meta(name) if options else build(name)
    torch.manual_seed(7)
    with ExitStack() as stack:
        if context is not None:
            stack.enter_context(context())
        return trec.capture(net.train(training), args=args, kwargs=kwargs, level=level, **options).verify()


def check_levels(name: str, **how: Any) -> Graph:
    """Hold the levels of a recording against each other, also collapsed; return the finest."""
    fine, functions = graph_of(name, "aten", **how), graph_of(name, "function", **how)
    assert fine.level("function") == functions
    assert fine.level("module") == functions.level("module") == graph_of(name, "module", **how)
    for graph in (fine, functions):
        for depth in range(5):
            graph.collapse(depth=depth).verify()
    return fine


MODES: dict[str, Any] = {
    "grad": torch.enable_grad,
    "no_grad": torch.no_grad,
    "inference_mode": torch.inference_mode,
    "autocast": lambda: torch.autocast("cpu", torch.bfloat16),
}


@NAMES
@pytest.mark.parametrize("mode", MODES)
def test_each_level_is_the_finer_one_folded(name: str, mode: str) -> None:
    check_levels(name, context=MODES[mode])


@NAMES
def test_each_level_is_the_finer_one_folded_with_dropout(name: str) -> None:
    check_levels(name, training=True)


@NAMES
def test_each_level_is_the_finer_one_folded_on_meta(name: str) -> None:
    fine = check_levels(name, device="meta")
    made = [node.outputs[0] for node in fine.nodes if node.kind == "op" and node.outputs]
    assert {fine.type_of(value).device for value in made} == {"meta"}


@NAMES
@pytest.mark.parametrize("level", ["function", "aten"])
def test_what_has_a_gradient_reaches_the_output_and_nothing_else(name: str, level: Any) -> None:
    net, args, kwargs = build(name)
    net = net.double()
    args, kwargs = tree_map(_differentiable, (args, kwargs))
    ends: dict[str, Any] = {f"param:{key}": parameter for key, parameter in net.named_parameters()}
    ends |= {f"input:{index}": tensor for index, (_, tensor) in enumerate(leaves((args, kwargs)))}
    ends = {end: tensor for end, tensor in ends.items() if tensor.requires_grad}
    drawn = flow(trec.capture(net, args=args, kwargs=kwargs, level=level).verify())
    found = leaves(net(*args, **kwargs))
    for index, (_, result) in enumerate(found):
        gradients: Any = torch.autograd.grad(result.sum(), [*ends.values()], retain_graph=True, allow_unused=True)
        true = {end for end, gradient in zip(ends, gradients, strict=True) if gradient is not None}
        assert {end for end, output in drawn if output == f"output:{index}" and end in ends} == true


def _differentiable(leaf: Any) -> Any:
    floating = isinstance(leaf, torch.Tensor) and leaf.is_floating_point()
    return leaf.double().requires_grad_() if floating else leaf
