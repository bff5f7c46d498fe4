"""What is recorded is what PyTorch's own log of calls says: the same functions and operators in the same order."""

from __future__ import annotations

import asyncio
import copy
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.func import functional_call, grad, jacrev, jvp, vmap
from torch.nn.utils.rnn import pack_sequence, pad_packed_sequence
from torch.overrides import TorchFunctionMode
from torch.utils._debug_mode import DebugMode
from torch.utils.checkpoint import checkpoint

import trec
from tests.capture.paths import Apply

pytestmark = [pytest.mark.torch, pytest.mark.filterwarnings("ignore:.*torch.jit")]

DETACH: Any = torch.ops.aten.detach.default
"""The log leaves these out: the autograd engine makes them of what it saves."""


def logged(net: nn.Module, args: tuple[Any, ...]) -> tuple[list[str], list[str]]:
    """Return the names of functions and of operators that the log has.

    Not nodes of a graph, hence left out: functions that run no operator and return no tensor (`dim`, `size`), reads of
    attributes that run none (`shape`, `data`), and what only changes a flag of its argument (`requires_grad_`).
    """
    torch.manual_seed(0)
    log = DebugMode(record_torchfunction=True)
    with torch.jit.optimized_execution(False), log:  # type: ignore[attr-defined]
        net(*args)
    functions: list[tuple[str, bool]] = []
    operators = []
    for call in log.operators:
        function: Any = call.op
        if isinstance(function, torch._ops.OpOverload):
            if call.call_depth == 1:
                continue  # a script called it, which the log notes twice
            if function is not DETACH:
                operators.append(str(function))
            if functions and call.call_depth:
                functions[-1] = (functions[-1][0], True)
        else:
            name = function.__name__
            accessor = name in ("__get__", "__set__")
            name = function.__self__.__name__ if accessor else name
            returns_tensor = "->  t: " in str(call) or "->  ['t: " in str(call) or "->  ('t: " in str(call)
            counts = returns_tensor and not accessor and name != "requires_grad_"
            counts = counts or name in ("tolist", "data", "__repr__")  # values leave torch, or its bookkeeping
            functions.append((name, counts))
    return [name for name, counts in functions if counts], operators


def recorded(net: nn.Module, args: tuple[Any, ...]) -> tuple[list[str], list[str]]:
    """Return the names of functions and of operators that the graph of the finest level has."""
    torch.manual_seed(0)
    graph = trec.capture(net, args=args, level="aten").verify()
    operators, functions = [], []
    entered = set()
    for node in graph.nodes:
        if node.kind not in ("op", "host"):
            continue
        scope = graph.scopes[node.parent]
        if scope.kind == "function" and node.parent not in entered:
            entered.add(node.parent)
            functions.append(scope.cls)
        if "." in node.op:
            if node.op != str(DETACH):
                operators.append(node.op)
        elif scope.kind != "function":
            functions.append(node.op)
    return functions, operators


class Conv(nn.Sequential):
    def __init__(self) -> None:
        super().__init__(
            nn.Conv2d(3, 4, 3, padding=1), nn.BatchNorm2d(4), nn.ReLU(inplace=True), nn.MaxPool2d(2), nn.Dropout2d(0.2),
            nn.Conv2d(4, 4, 3, groups=2, bias=False), nn.GroupNorm(2, 4), nn.GELU(), nn.AdaptiveAvgPool2d(1),
            nn.Flatten(), nn.Linear(4, 2), nn.Softmax(-1),
        )  # fmt: skip


class Text(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.embed = nn.Embedding(7, 4)
        self.layers = nn.TransformerEncoder(nn.TransformerEncoderLayer(4, 2, 8, batch_first=True), 2)
        self.lstm = nn.LSTM(4, 4, batch_first=True)

    def forward(self, ids: Tensor) -> Any:
        mask = nn.Transformer.generate_square_subsequent_mask(ids.shape[1])
        x = self.layers(self.embed(ids), mask=mask, is_causal=True)
        return self.lstm(x)[0] @ self.embed.weight.t()


def writes(x: Tensor) -> Any:
    y = torch.zeros(4, 4)
    y[0], y[:, 1] = x[0], 3
    y.view(-1)[4:8].add_(x[1])
    torch.mul(y, 2, out=y)
    y[y > 1] = 0
    y.data.clamp_(max=5)
    return y.T + torch.where(x > 0, x, y), y.topk(2)


def numbers(x: Tensor) -> Any:
    if x.sum() > 0 or float(x.max()) > 5:
        x = x * x.mean().item()
    return x + torch.tensor(x.tolist()) + torch.randn(4, 4) + len(x.nonzero()) + x.shape[0]


def transforms(x: Tensor) -> Any:
    inner = nn.Linear(4, 4)
    params: dict[str, Tensor] = dict(inner.named_parameters())
    return vmap(lambda v: functional_call(inner, params, (v,)).sin())(x), torch.einsum("ij,kj->ik", x, x)


def odd(x: Tensor) -> Any:
    return x.to_sparse() @ x, torch.fft.rfft(x).abs(), torch.complex(x, x).conj().imag, x.half().float().bool()


def gradients(x: Tensor) -> Any:
    x = x.detach().requires_grad_()
    return torch.autograd.grad((x**2).sum(), x)[0]


class Parts(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.scripted = torch.jit.script(nn.Sequential(nn.Linear(4, 4), nn.Tanh()))
        self.block = nn.Sequential(nn.Linear(4, 4), nn.ReLU())
        self.normed = torch.nn.utils.parametrizations.weight_norm(nn.Linear(4, 4))

    def forward(self, x: Tensor) -> Any:
        self.scripted(x), self.scripted(x)
        x = checkpoint(self.block, x, use_reentrant=False)
        return self.normed(x)


def generated(held: Any, x: Tensor) -> Any:
    def rows() -> Any:
        for row in x:
            yield held.fc(row) * 2

    return torch.stack(list(rows()))


def awaited(held: Any, x: Tensor) -> Any:
    async def one(value: Tensor) -> Any:
        await asyncio.sleep(0)
        return held.fc(value)

    async def both() -> Any:
        return await asyncio.gather(one(x), one(x * 2))

    with asyncio.Runner() as runner:
        return runner.run(both())


def called_directly(held: Any, x: Tensor) -> Any:
    held.fc.forward(x)
    return nn.Module.__call__(held.fc, x)


def sampled(held: Any, x: Tensor) -> Any:
    normal: Any = torch.distributions.Normal(x, x.abs() + 1)
    categories: Any = torch.distributions.Categorical(logits=held.fc(x))
    return normal.log_prob(normal.rsample()), categories.sample()


def packed(held: Any, x: Tensor) -> Any:
    result, hidden = held.gru(pack_sequence([x, x[:2]]))
    return pad_packed_sequence(result), hidden


def differentiated(held: Any, x: Tensor) -> Any:
    return jacrev(held.fc)(x[0]), jvp(torch.sin, (x,), (x,)), vmap(grad(lambda v: held.fc(v).sum()))(x)


def under_a_mode(held: Any, x: Tensor) -> Any:
    class Doubling(TorchFunctionMode):
        def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            result = func(*args, **(kwargs or {}))
            return result * 2 if func is torch.sin else result

    with Doubling():
        return torch.sin(held.fc(x))


def lists(held: Any, x: Tensor) -> Any:
    return torch._foreach_add([x, x * 2], [x, x]), copy.deepcopy(held.fc)(x)


def of_modules(function: Any) -> Any:
    return lambda: Apply(function, fc=nn.Linear(4, 4), gru=nn.GRU(4, 3))


WITH_MODULES = [
    generated, awaited, called_directly, sampled, packed, differentiated, under_a_mode, lists,
]  # fmt: skip

MODELS: list[tuple[Any, Any]] = [
    *[(of_modules(function), lambda: (torch.randn(4, 4),)) for function in WITH_MODULES],
    (Conv, lambda: (torch.randn(2, 3, 8, 8),)),
    (Text, lambda: (torch.tensor([[1, 2, 3]]),)),
    (lambda: Apply(writes), lambda: (torch.randn(4, 4),)),
    (lambda: Apply(numbers), lambda: (torch.rand(4, 4),)),
    (lambda: Apply(odd), lambda: (torch.randn(4, 4),)),
    (lambda: Apply(transforms), lambda: (torch.randn(4, 4),)),
    (lambda: Apply(gradients), lambda: (torch.randn(4, 4),)),
    (Parts, lambda: (torch.randn(4, 4),)),
]


@pytest.mark.parametrize("training", [True, False], ids=["train", "eval"])
@pytest.mark.parametrize(("make", "inputs"), MODELS)
def test_functions_and_operators_are_those_of_the_log(make: Any, inputs: Any, training: bool) -> None:
    torch.manual_seed(1)
    net, args = make().train(training), inputs()
    for _ in range(3):  # scripted code is optimised in its first runs
        net(*args)
    functions, operators = recorded(net, args)
    expected_functions, expected_operators = logged(net, args)
    assert operators == expected_operators
    assert functions == expected_functions
    assert len(operators) > 2
