"""Pairs of models that differ in one thing."""

from __future__ import annotations

from itertools import chain, pairwise
from typing import TYPE_CHECKING, Any

import torch
from torch import nn

if TYPE_CHECKING:
    from collections.abc import Callable


class Attention(nn.Module):
    """Attention with one head."""

    def __init__(self, size: int) -> None:
        super().__init__()
        self.query, self.key, self.value, self.out = (nn.Linear(size, size) for _ in range(4))

    def forward(self, x: Any) -> Any:
        scores = self.query(x) @ self.key(x).transpose(-2, -1)
        return self.out(scores.softmax(-1) @ self.value(x))


class Adapter(nn.Module):
    """A bottleneck with a skip."""

    def __init__(self, size: int) -> None:
        super().__init__()
        self.down, self.up = nn.Linear(size, 4), nn.Linear(4, size)

    def forward(self, x: Any) -> Any:
        return x + self.up(torch.relu(self.down(x)))


class Layer(nn.Module):
    """Attention and a perceptron, each with a skip and a norm."""

    def __init__(self, size: int, first: bool, act: Any, adapter: bool, name: str) -> None:
        super().__init__()
        self.first, self.name = first, name
        setattr(self, name, Attention(size))
        self.norm1, self.norm2 = nn.LayerNorm(size), nn.LayerNorm(size)
        self.up, self.act, self.down = nn.Linear(size, 2 * size), act(), nn.Linear(2 * size, size)
        self.adapter = Adapter(size) if adapter else None

    def forward(self, x: Any) -> Any:
        attention = getattr(self, self.name)
        x = x + attention(self.norm1(x)) if self.first else self.norm1(x + attention(x))
        if self.adapter is not None:
            x = self.adapter(x)
        return self.norm2(x + self.down(self.act(self.up(x))))


class Model(nn.Module):
    """A small language model, with one thing to be changed."""

    def __init__(
        self,
        *,
        layers: int = 2,
        size: int = 8,
        first: bool = False,
        act: Any = nn.ReLU,
        adapter: int = -1,
        name: str = "attention",
        tied: bool = True,
        inplace: bool = False,
    ) -> None:
        super().__init__()
        self.embed = nn.Embedding(10, size)
        self.layers = nn.ModuleList(Layer(size, first, act, number == adapter, name) for number in range(layers))
        self.head = nn.Linear(size, 10, bias=False)
        if tied:
            self.head.weight = self.embed.weight
        self.inplace = inplace

    def forward(self, ids: Any) -> Any:
        x = self.embed(ids)
        x = x.mul_(2.0) if self.inplace else x.mul(2.0)
        for layer in self.layers:
            x = layer(x)
        return self.head(x)


class Steps(nn.Module):
    """Different modules in a list, in some order."""

    def __init__(self, order: tuple[int, ...]) -> None:
        super().__init__()
        modules = [nn.Linear(8, 8), nn.Sequential(nn.LayerNorm(8), nn.GELU()), Adapter(8), nn.Dropout()]
        self.steps = nn.ModuleList(modules[number] for number in order)

    def forward(self, ids: Any) -> Any:
        x = ids.float()
        for step in self.steps:
            x = step(x)
        return x


class Wrapper(nn.Module):
    """Another model, called as it is."""

    def __init__(self, model: Any) -> None:
        super().__init__()
        self.model = model

    def forward(self, *args: Any) -> Any:
        return self.model(*args)


class LowRank(nn.Module):
    """A layer with a correction of low rank beside it."""

    def __init__(self, base: Any) -> None:
        super().__init__()
        self.base = base
        self.down, self.up = nn.Linear(base.in_features, 2, bias=False), nn.Linear(2, base.out_features, bias=False)

    def forward(self, x: Any) -> Any:
        return self.base(x) + self.up(self.down(x))


def corrected() -> nn.Module:
    """A model with one layer wrapped."""
    model = Model()
    model.layers[1].up = LowRank(model.layers[1].up)
    return model


def perceptron(*widths: int, grouped: bool = False, act: Any = nn.ReLU, bias: bool = True) -> nn.Module:
    """Linear layers with activations between, each pair in a container of its own or none."""
    groups = [[nn.Linear(before, after, bias=bias), act()] for before, after in pairwise(widths)]
    return nn.Sequential(*[nn.Sequential(*group) for group in groups] if grouped else chain(*groups))


def blocks(*hidden: int) -> nn.Module:
    """Perceptrons of these widths, one after the other."""
    return nn.Sequential(*[perceptron(8, width, 8) for width in hidden])


class Function(nn.Module):
    """A perceptron whose activation is no module."""

    def __init__(self) -> None:
        super().__init__()
        self.up, self.down = nn.Linear(8, 16), nn.Linear(16, 8)

    def forward(self, x: Any) -> Any:
        return self.down(self.act(self.up(x)))

    def act(self, x: Any) -> Any:
        return nn.functional.relu(x)


class Called(Function):
    """The same with a module."""

    def __init__(self) -> None:
        super().__init__()
        self.relu = nn.ReLU()

    def act(self, x: Any) -> Any:
        return self.relu(x)


def floats(make: Callable[[], Any]) -> Callable[[], Any]:
    """Return what makes a model behind a cast."""
    return lambda: nn.Sequential(Cast(), make())


class Cast(nn.Module):
    """What makes numbers of ids."""

    def forward(self, ids: Any) -> Any:
        return ids.float()


class RootMeanSquare(nn.Module):
    """A norm without mean and bias."""

    def __init__(self, size: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(size))

    def forward(self, x: Any) -> Any:
        return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6) * self.weight


class Heads(nn.Module):
    """Attention with heads, step by step or fused, with dropout or without."""

    def __init__(self, heads: int = 2, *, fused: bool = False, dropout: bool = False) -> None:
        super().__init__()
        self.heads, self.fused, self.dropout = heads, fused, nn.Dropout(0.1) if dropout else None
        self.query, self.key, self.value, self.out = (nn.Linear(8, 8) for _ in range(4))

    def forward(self, x: Any) -> Any:
        batch, length, size = x.shape
        query, key, value = (
            layer(x).view(batch, length, self.heads, size // self.heads).transpose(1, 2)
            for layer in (self.query, self.key, self.value)
        )
        if self.fused:
            x = nn.functional.scaled_dot_product_attention(query, key, value)
        else:
            shares = (query @ key.transpose(-2, -1) / (size // self.heads) ** 0.5).softmax(-1)
            x = (shares if self.dropout is None else self.dropout(shares)) @ value
        return self.out(x.transpose(1, 2).reshape(batch, length, size))


class Perceptron(nn.Module):
    """Two layers with an activation between."""

    def __init__(self, act: Any = nn.ReLU) -> None:
        super().__init__()
        self.up, self.act, self.down = nn.Linear(8, 16), act(), nn.Linear(16, 8)

    def forward(self, x: Any) -> Any:
        return self.down(self.act(self.up(x)))


class Gated(nn.Module):
    """Two layers side by side, one of which is the gate of the other, and a third."""

    def __init__(self) -> None:
        super().__init__()
        self.gate, self.up, self.down = nn.Linear(8, 16), nn.Linear(8, 16), nn.Linear(16, 8)

    def forward(self, x: Any) -> Any:
        return self.down(nn.functional.silu(self.gate(x)) * self.up(x))


class Block(nn.Module):
    """A block of a transformer, its parts to be exchanged."""

    def __init__(
        self, *, norm: Any = nn.LayerNorm, perceptron: Any = Perceptron, last: bool = False, **heads: Any
    ) -> None:
        super().__init__()
        self.norm1, self.attention, self.norm2, self.perceptron = norm(8), Heads(**heads), norm(8), perceptron()
        self.last = last

    def forward(self, x: Any) -> Any:
        if self.last:
            x = self.norm1(x + self.attention(x))
            return self.norm2(x + self.perceptron(x))
        x = x + self.attention(self.norm1(x))
        return x + self.perceptron(self.norm2(x))


class Language(nn.Module):
    """An embedding, blocks and a head."""

    def __init__(self, count: int = 2, **block: Any) -> None:
        super().__init__()
        self.embed, self.head = nn.Embedding(10, 8), nn.Linear(8, 10, bias=False)
        self.blocks = nn.ModuleList(Block(**block) for _ in range(count))

    def forward(self, ids: Any) -> Any:
        x = self.embed(ids)
        for block in self.blocks:
            x = block(x)
        return self.head(x)


def convolutions(stride: int = 1, *, pool: bool = True) -> nn.Module:
    """Two convolutions, whose activations are the same module but for sizes, with a pool between."""
    first = [nn.Conv1d(1, 4, 3, stride, 1), nn.ReLU(), *[nn.MaxPool1d(2)] * pool]
    return nn.Sequential(*first, nn.Conv1d(4, 4, 3, 1, 1), nn.ReLU(), nn.AdaptiveAvgPool1d(1), nn.Linear(1, 3))


IDS = torch.arange(8)[None]
PAIRS: dict[str, tuple[Callable[[], Any], Callable[[], Any]]] = {
    "a-layer-more": (Model, lambda: Model(layers=3)),
    "activation-exchanged": (Model, lambda: Model(act=nn.GELU)),
    "module-renamed": (Model, lambda: Model(name="attn")),
    "weights-untied": (Model, lambda: Model(tied=False)),
    "norm-before-attention": (Model, lambda: Model(first=True)),
    "wider": (Model, lambda: Model(size=12)),
    "adapter-inserted": (Model, lambda: Model(adapter=1)),
    "out-of-place": (lambda: Model(inplace=True), Model),
    "list-permuted": (lambda: Steps((0, 1, 2, 3)), lambda: Steps((2, 0, 1, 3))),
    "the-same": (Model, Model),
    "wrapped": (Model, lambda: Wrapper(Model())),
    "low-rank-wrapper": (Model, corrected),
    "grouped": (floats(lambda: perceptron(8, 12, 16, 8)), floats(lambda: perceptron(8, 12, 16, 8, grouped=True))),
    "blocks-exchanged": (floats(lambda: blocks(12, 16, 20, 24)), floats(lambda: blocks(24, 16, 20, 12))),
    "function-to-module": (floats(Function), floats(Called)),
    "bias-left-out": (floats(lambda: perceptron(8, 12, 8)), floats(lambda: perceptron(8, 12, 8, bias=False))),
    "norm-to-the-end": (
        lambda: nn.Sequential(Cast(), nn.LayerNorm(8), nn.Linear(8, 8), nn.ReLU(), nn.Linear(8, 8)),
        lambda: nn.Sequential(Cast(), nn.Linear(8, 8), nn.ReLU(), nn.Linear(8, 8), nn.LayerNorm(8)),
    ),
    "norm-exchanged": (Language, lambda: Language(norm=RootMeanSquare)),
    "norms-last": (Language, lambda: Language(last=True)),
    "gate-added": (Language, lambda: Language(perceptron=Gated)),
    "attention-fused": (Language, lambda: Language(fused=True)),
    "heads-fewer": (Language, lambda: Language(heads=1)),
    "dropout-added": (Language, lambda: Language(dropout=True)),
    "stride-wider": (floats(convolutions), floats(lambda: convolutions(2))),
    "a-layer-taken-out": (floats(convolutions), floats(lambda: convolutions(pool=False))),
}

TRAINED: dict[str, tuple[Callable[[], Any], Callable[[], Any]]] = {
    "a-block-more": (Language, lambda: Language(3)),
    "bias-left-out": (floats(lambda: perceptron(8, 12)), floats(lambda: perceptron(8, 12, bias=False))),
    "norm-without-bias": (Language, lambda: Language(norm=lambda size: nn.LayerNorm(size, bias=False))),
    "activation-exchanged": (Language, lambda: Language(perceptron=lambda: Perceptron(nn.GELU))),
    "attention-fused": (Language, lambda: Language(fused=True)),
    "norms-last": (Language, lambda: Language(last=True)),
    "weights-untied": (Model, lambda: Model(tied=False)),
}
"""Pairs to be compared with their backward passes."""
