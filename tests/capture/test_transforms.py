"""Functional transforms, custom gradients and checkpoints: their true operators, with nothing lost."""

from __future__ import annotations

import copy
from functools import partial
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch._higher_order_ops.associative_scan import associative_scan
from torch._higher_order_ops.map import map as map_rows
from torch._higher_order_ops.scan import scan
from torch._higher_order_ops.while_loop import while_loop
from torch.func import functional_call, grad, grad_and_value, hessian, jacrev, jvp, stack_module_state, vjp, vmap
from torch.nn.attention.flex_attention import flex_attention
from torch.utils.checkpoint import checkpoint, checkpoint_sequential

from tests.capture.paths import Apply, check, check_function, connected, ends, flow, ops, paths, record
from trec.capture.higher_order import captured

pytestmark = pytest.mark.torch


def cubed(v: Tensor, w: Tensor) -> Any:
    return (v**3 * w).sum()


TRANSFORMS = {
    "vmap": lambda x, y: vmap(lambda a, b: (a * b).sum())(x, y),
    "vmap over one of two": lambda x, y: vmap(lambda a, b: a @ b.t(), in_dims=(0, None))(x, y),
    "vmap of vmap": lambda x, y: vmap(vmap(lambda a, b: a * b + 1))(x, y),
    "vmap with out_dims": lambda x, y: vmap(torch.add, in_dims=1, out_dims=1)(x, y),
    "vmap in chunks": lambda x, y: vmap(torch.mul, chunk_size=1)(x, y),
    "grad": lambda x, y: grad(cubed)(x, y),
    "grad and value": lambda x, y: grad_and_value(cubed)(x, y),
    "grad of grad": lambda x, y: grad(lambda v: grad(cubed)(v, y).sum())(x),
    "vmap of grad": lambda x, y: vmap(grad(cubed))(x, y),
    "jvp": lambda x, y: jvp(torch.sin, (x,), (y,)),
    "vjp": lambda x, y: vjp(torch.sin, x)[1](y),
    "jacrev": lambda x, y: jacrev(lambda v: (v * v * y).sum(0))(x),
    "hessian": lambda x, y: hessian(lambda v: cubed(v, y))(x),
    "functionalize": lambda x, y: torch.func.functionalize(lambda a, b: a.clone().add_(b))(x, y),
}


@pytest.mark.filterwarnings("ignore:.*torch.jit.script", "ignore:Attempted to insert a get_attr")
@pytest.mark.parametrize("function", TRANSFORMS.values(), ids=TRANSFORMS.keys())
def test_a_transform_leads_from_its_arguments_to_its_results(function: Any) -> None:
    graph = check_function(function, (2, 3), (2, 3), whole_calls=False)
    assert not ends(graph, "region:")


def test_an_ensemble_by_vmap_reads_every_stacked_weight() -> None:
    class Net(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.experts = nn.ModuleList(nn.Linear(3, 3) for _ in range(2))

        def forward(self, x: Tensor) -> Any:
            held: Any = list(self.experts)
            params, buffers = stack_module_state(held)
            base = held[0]
            return vmap(lambda p, b: functional_call(base, (p, b), (x,)))(params, buffers)

    graph = record(Net(), torch.randn(2, 3))
    expected = {f"param:experts.{index}.{name}" for index in range(2) for name in ("weight", "bias")}
    assert flow(graph) == {(end, "output:0") for end in [*expected, "input:0"]}


def test_a_module_that_is_copied_in_the_pass_is_recorded_within_a_transform() -> None:
    def forward(held: Any, x: Tensor) -> Any:
        params, buffers = stack_module_state(list(held.nets))
        base = copy.deepcopy(held.nets[0])
        return vmap(lambda p, b: functional_call(base, (p, b), (x,)))(params, buffers)

    nets = nn.ModuleList([nn.Linear(3, 2), nn.Linear(3, 2)])
    graph = record(Apply(forward, nets=nets), torch.randn(4, 3))
    assert paths(graph) == ["", "<Linear>"]
    assert flow(graph) == {
        (end, "output:0")
        for end in ("input:0", *(f"param:nets.{i}.{name}" for i in (0, 1) for name in ("weight", "bias")))
    }


def test_functional_call_reads_the_tensors_that_it_was_given() -> None:
    class Net(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.inner = nn.Linear(3, 3)

        def forward(self, x: Tensor, w: Tensor) -> Any:
            return functional_call(self.inner, {"weight": w}, (x,))

    graph = check(lambda: (_seeded(Net), (torch.ones(2, 3), torch.eye(3))))
    assert not ends(graph, "param:inner.weight")
    assert "inner" in paths(graph)


def _seeded(kind: Any) -> Any:
    torch.manual_seed(3)
    return kind()


class Scaled(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, factor: Tensor) -> Any:
        ctx.save_for_backward(x, factor)
        return x * factor, factor + 1

    @staticmethod
    def backward(ctx: Any, grad: Tensor, other: Tensor) -> Any:
        x, factor = ctx.saved_tensors
        return grad * factor, grad * x + other


class InPlace(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, y: Tensor) -> Tensor:
        ctx.mark_dirty(x)
        return x.add_(y)

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> Any:
        return grad, grad


class Rounded(torch.autograd.Function):
    """Returns a view of its argument, and is differentiated by its own rules."""

    generate_vmap_rule = True

    @staticmethod
    def forward(x: Tensor) -> Tensor:
        return x.round()

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        pass

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> Any:
        return grad


SCALED: Any = Scaled.apply
IN_PLACE: Any = InPlace.apply
ROUNDED: Any = Rounded.apply

CUSTOM = {
    "several results": lambda x, y: SCALED(x, y),
    "in place": lambda x, y: IN_PLACE(x * 1, y),
    "straight through": lambda x, y: ROUNDED(x * 9) + y,
    "below vmap": lambda x, y: vmap(ROUNDED)(x * 9) * y,
    "twice": lambda x, y: SCALED(*SCALED(x, y)),
}


@pytest.mark.parametrize("grads", [True, False], ids=["with grad", "without grad"])
@pytest.mark.parametrize("function", CUSTOM.values(), ids=CUSTOM.keys())
def test_a_custom_function_shows_what_its_forward_does(function: Any, grads: bool) -> None:
    with torch.set_grad_enabled(grads):
        check_function(function, (2, 3), (2, 3))


class Block(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.fc = nn.Linear(3, 3)

    def forward(self, x: Tensor, scale: Tensor | None = None) -> Any:
        x = torch.tanh(self.fc(x))
        return x if scale is None else x * scale


class Checkpointed(nn.Module):
    def __init__(self, *, reentrant: bool, grads: bool) -> None:
        super().__init__()
        self.block, self.rest = Block(), nn.Sequential(Block(), Block())
        self.reentrant, self.grads = reentrant, grads

    def forward(self, x: Tensor, scale: Tensor) -> Any:
        x = checkpoint(self.block, x, scale, use_reentrant=self.reentrant)
        in_segments: Any = checkpoint_sequential
        x = in_segments(self.rest, 2, x, use_reentrant=self.reentrant)
        return torch.autograd.grad(x.sum(), x, create_graph=True)[0] * x if self.grads else x


@pytest.mark.parametrize("reentrant", [True, False])
@pytest.mark.filterwarnings("ignore:None of the inputs have requires_grad")
def test_a_checkpoint_is_transparent(reentrant: bool) -> None:
    def build() -> tuple[nn.Module, tuple[Any, ...]]:
        torch.manual_seed(3)
        return Checkpointed(reentrant=reentrant, grads=False), (torch.randn(2, 3), torch.randn(2, 3))

    graph = check(build)
    assert paths(graph).count("block") == 1
    assert ops(graph).count("linear") == 3


def test_recomputation_for_gradients_in_forward_is_drawn_as_further_calls() -> None:
    class Net(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.block = Block()

        def forward(self, x: Tensor) -> Any:
            x = x.detach().requires_grad_()
            y = checkpoint(self.block, x, use_reentrant=False)
            return torch.autograd.grad(y.sum(), x)[0]

    graph = record(Net(), torch.randn(2, 3))
    assert paths(graph).count("block") == 2
    assert connected(graph, "input:0", "output:0")
    assert connected(graph, "param:block.fc.weight", "output:0")


@pytest.mark.parametrize("reentrant", [True, False])
def test_backward_through_a_checkpoint_in_forward_runs_the_module_again(reentrant: bool) -> None:
    def forward(held: Any, x: Tensor, y: Tensor) -> Any:
        x = x.detach().requires_grad_()
        result: Any = checkpoint(held.block, x, use_reentrant=reentrant)
        (result * y).sum().backward()
        return x.grad, result

    def build() -> Any:
        torch.manual_seed(3)
        return Apply(forward, block=Block()), (torch.randn(2, 3), torch.randn(2, 3))

    graph = check(build)
    assert paths(graph).count("block") == 2


def test_gradients_in_forward_flow_from_everything_that_they_depend_on() -> None:
    def forward(x: Tensor, y: Tensor) -> Any:
        x = x.detach().requires_grad_()
        y = y.detach().requires_grad_()
        energy = (x**3).sum() + y.sum() * 2
        return torch.autograd.grad(energy, (x, y), torch.ones(()))

    check_function(forward, (2, 3), (2, 3), whole_calls=False)


def test_backward_in_forward_fills_gradients_that_are_read() -> None:
    def forward(x: Tensor, y: Tensor) -> Any:
        x = x.detach().requires_grad_()
        (x * x * y).sum().backward()  # type: ignore[no-untyped-call]
        return x.grad

    check_function(forward, (2, 3), (2, 3))


MAP: Any = map_rows
WHILE: Any = while_loop
SCAN: Any = scan
ASSOCIATIVE_SCAN: Any = associative_scan
ATTENTION: Any = flex_attention


def branch_on_value(x: Tensor, y: Tensor) -> Any:
    return torch.cond(x.sum() > -100, lambda v: v + y, lambda v: v - y, (x,))


def mapped(x: Tensor, y: Tensor) -> Any:
    return MAP(lambda row: row * y[0], x)


def looped(x: Tensor, y: Tensor) -> Any:
    return WHILE(lambda step, v: step < 3, lambda step, v: (step + 1, v * y), (torch.tensor(0), x))[1]


def scanned(x: Tensor, y: Tensor) -> Any:
    return SCAN(lambda carry, row: (carry + row * y[0], carry * 1), torch.zeros(3), x)[1]


def reduced(x: Tensor, y: Tensor) -> Any:
    return ASSOCIATIVE_SCAN(lambda a, b: a * b + y[0], x, 0, combine_mode="generic")


def bound_and_partial(x: Tensor, y: Tensor) -> Any:
    return torch.cond(x.sum() > -100, partial(torch.add, y), SimpleNamespace(call=torch.neg).call, (x,))


def nested(x: Tensor, y: Tensor) -> Any:
    def inner(v: Tensor) -> Any:
        return torch.cond(v.sum() > 1e9, lambda w: w - 1, lambda w: w * y, (v,))

    return torch.cond(x.sum() > -100, inner, lambda v: v * 1, (x,))


def attended(x: Tensor, y: Tensor) -> Any:
    q = x.detach()[None, None]
    return ATTENTION(q, q, q, score_mod=lambda score, batch, head, i, j: score + y[0, 0])


HIGHER_ORDER = [branch_on_value, mapped, looped, scanned, reduced, bound_and_partial, nested, attended]


@pytest.mark.parametrize("grads", [True, False], ids=["with grad", "without grad"])
@pytest.mark.filterwarnings("ignore:.*torch.jit", "ignore:flex_attention called without torch.compile")
@pytest.mark.parametrize("function", HIGHER_ORDER)
def test_a_higher_order_operator_reads_what_its_functions_close_over(function: Any, grads: bool) -> None:
    torch._dynamo.reset()
    with torch.set_grad_enabled(grads):
        graph = record(Apply(function), torch.randn(2, 3, requires_grad=grads), torch.randn(2, 3))
    assert connected(graph, "input:0", "output:0")
    assert connected(graph, "input:1", "output:0")
    assert not ends(graph, "region:")


@pytest.mark.parametrize("grads", [True, False], ids=["with grad", "without grad"])
def test_the_branch_that_is_taken_is_drawn_with_its_modules(grads: bool) -> None:
    def forward(held: Any, x: Tensor, y: Tensor) -> Any:
        return torch.cond(x.sum() > -100, lambda v: held.taken(v) + y, lambda v: held.other(v), (x,))

    net = Apply(forward, taken=Block(), other=Block())
    graph = record(net, torch.ones(2, 3, requires_grad=grads), torch.ones(2, 3))
    assert paths(graph) == ["", "taken", "taken.fc"]
    assert ops(graph) == ["sum", "gt", "linear", "tanh", "add", "higher_order.cond"]
    assert flow(graph) == {
        (end, "output:0") for end in ("input:0", "input:1", "param:taken.fc.weight", "param:taken.fc.bias")
    }


def test_gradients_flow_through_a_branch() -> None:
    def forward(held: Any, x: Tensor) -> Any:
        x = x.detach().requires_grad_()
        result: Any = torch.cond(x.sum() > -100, lambda v: held.fc(v).sin(), lambda v: v, (x,))
        return torch.autograd.grad(result.sum(), [x, held.fc.weight])[1]

    graph = record(Apply(forward, fc=nn.Linear(3, 3)), torch.ones(2, 3))
    assert connected(graph, "param:fc.weight", "output:0")


def test_what_a_function_closes_over_is_found() -> None:
    held, default, own = torch.ones(1), torch.ones(2), nn.Linear(2, 2)
    nested_list = [[torch.ones(3)]]

    def function(v: Tensor, other: Tensor = default, *, keyword: Any = (held,)) -> Any:
        return own(v) + nested_list[0][0]

    found = {id(tensor) for tensor in captured(partial(function, torch.ones(4)))}
    assert found >= {id(tensor) for tensor in (held, default, nested_list[0][0], own.weight, own.bias)}
    module = Block()
    assert {id(tensor) for tensor in captured(module.forward)} == {id(module.fc.weight), id(module.fc.bias)}


def test_a_variable_that_was_never_set_is_passed_over() -> None:
    def forward(v: Tensor) -> Any:
        return v + later

    if len(__name__) == 0:
        later = 1
    assert captured(forward) == []


@torch.library.custom_op("trec_tests::mixed", mutates_args={"buffer"})
def mixed(x: Tensor, buffer: Tensor) -> Tensor:
    buffer.add_(1)
    return x.sin()


def test_a_custom_operator_is_one_operator_and_writes_what_it_declares() -> None:
    def forward(x: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
        held = y * 1
        return mixed(x, held), held + 1

    graph = record_pair(forward)
    assert connected(graph, "input:0", "output:0")
    assert connected(graph, "input:1", "output:1")
    assert [name for name in ops(graph) if "mixed" in name]


def record_pair(function: Any) -> Any:
    return record(Apply(function), torch.randn(2, 3), torch.randn(2, 3))
