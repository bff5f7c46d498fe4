"""Functions of functions: transforms, gradients, branches."""

from __future__ import annotations

import copy
from typing import Any

import torch
from torch import Tensor, nn
from torch._higher_order_ops.while_loop import while_loop
from torch.func import functional_call, grad, hessian, jacrev, jvp, stack_module_state, vmap
from torch.utils.checkpoint import checkpoint

from tests.capture.themes.builders import each, of, with_modules


def transforms(x: Tensor) -> Any:
    inner = nn.Linear(4, 4)
    params: dict[str, Tensor] = dict(inner.named_parameters())
    return vmap(lambda v: functional_call(inner, params, (v,)).sin())(x), torch.einsum("ij,kj->ik", x, x)


def ensemble(held: Any, x: Tensor) -> Any:
    params, buffers = stack_module_state(list(held.nets))
    base = copy.deepcopy(held.nets[0])
    return vmap(lambda p, b: functional_call(base, (p, b), (x,)))(params, buffers)


def differentiated(held: Any, x: Tensor) -> Any:
    return jacrev(held.fc)(x[0]), jvp(torch.sin, (x,), (x,)), vmap(grad(lambda v: held.fc(v).sum()))(x)


def curvature(x: Tensor) -> Any:
    return hessian(lambda v: (v**3).sum())(x[0])


def gradients(x: Tensor) -> Any:
    x = x.detach().requires_grad_()
    return torch.autograd.grad((x**2).sum(), x)[0]


def twice_differentiated(x: Tensor) -> Any:
    x = x.detach().requires_grad_()
    (first,) = torch.autograd.grad((x.tanh() ** 3).sum(), x, create_graph=True)
    (first * x).sum().backward()  # type: ignore[no-untyped-call]
    return first, x.grad


class Scaled(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor) -> Any:
        ctx.save_for_backward(x.exp())
        return x * 2

    @staticmethod
    def backward(ctx: Any, cotangent: Tensor) -> Any:
        return cotangent * ctx.saved_tensors[0]


def own_function(x: Tensor) -> Any:
    x = x.detach().requires_grad_()
    with torch.autograd.graph.saved_tensors_hooks(lambda t: t * 1, lambda t: t + 0):
        y: Any = Scaled.apply(x)  # type: ignore[no-untyped-call]
    y.register_hook(lambda g: g * 2)
    return y, torch.autograd.grad(y.sum(), x)


def recomputed(held: Any, x: Tensor) -> Any:
    x = x.detach().requires_grad_()
    y = checkpoint(held.fc, x, use_reentrant=False)
    return torch.autograd.grad(y.sum(), [x, held.fc.weight]), checkpoint(held.fc, x, use_reentrant=True)


def branches(x: Tensor) -> Any:
    found: Any = torch.cond(x.sum() > -1e9, lambda v: v.sin() + x, lambda v: v.cos(), (x,))
    return found * 2


def looped(x: Tensor) -> Any:
    return while_loop(lambda step, v: step < 3, lambda step, v: (step + 1, v * x), (torch.tensor(0), x))[1]  # type: ignore[no-untyped-call]


def branch_in_branch(x: Tensor) -> Any:
    def inner(v: Tensor) -> Any:
        return torch.cond(v.sum() > 1e9, lambda w: w - 1, lambda w: w * x, (v,))

    return torch.cond(x.sum() > -1e9, inner, lambda v: v * 1, (x,))


def lowered(x: Tensor) -> Any:
    return vmap(lambda row: row.contiguous().requires_grad_(False) * x[0, row.argmax()])(x.detach())


CALLS = {
    **each(of, transforms, curvature, gradients, twice_differentiated, own_function, lowered),
    **each(of, branches, looped, branch_in_branch),
    **each(with_modules, ensemble, differentiated, recomputed),
}
