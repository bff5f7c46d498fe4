"""Models of many kinds, each small, with what they are called with."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from torch import nn
from torch.nn import functional

if TYPE_CHECKING:
    from collections.abc import Callable

Case = tuple[Any, tuple[Any, ...], dict[str, Any]]
"""A model, and its arguments by position and by name."""


def double(before: int, after: int) -> nn.Sequential:
    """Two convolutions."""
    return nn.Sequential(
        nn.Conv2d(before, after, 3, padding=1), nn.ReLU(), nn.Conv2d(after, after, 3, padding=1), nn.ReLU()
    )


class Dense(nn.Module):
    """Layers that each read all before them, from a list."""

    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.ModuleList(nn.Conv2d(8 + 8 * index, 8, 3, padding=1) for index in range(5))

    def forward(self, x: Any) -> Any:
        found = [x]
        for layer in self.layers:
            found.append(torch.relu(layer(torch.cat(found, 1))))
        return torch.cat(found, 1)


class UNetOfVariables(nn.Module):
    """A U-Net that keeps its skips in variables."""

    def __init__(self) -> None:
        super().__init__()
        self.down = nn.ModuleList([double(3, 8), double(8, 16)])
        self.middle, self.pool = double(16, 32), nn.MaxPool2d(2)
        self.grow = nn.ModuleList([nn.ConvTranspose2d(32, 16, 2, 2), nn.ConvTranspose2d(16, 8, 2, 2)])
        self.up = nn.ModuleList([double(32, 16), double(16, 8)])

    def forward(self, x: Any) -> Any:
        first = self.down[0](x)
        second = self.down[1](self.pool(first))
        y = self.middle(self.pool(second))
        y = self.up[0](torch.cat([self.grow[0](y), second], 1))
        return self.up[1](torch.cat([self.grow[1](y), first], 1))


class UNetOfList(UNetOfVariables):
    """A U-Net that takes its skips off a list."""

    def forward(self, x: Any) -> Any:
        skips = []
        for down in self.down:
            x = down(x)
            skips.append(x)
            x = self.pool(x)
        x = self.middle(x)
        for grow, up in zip(self.grow, self.up, strict=True):
            x = up(torch.cat([grow(x), skips.pop()], 1))
        return x


class Attention(nn.Module):
    """Causal attention, written out."""

    def __init__(self) -> None:
        super().__init__()
        self.q, self.k, self.v, self.out = (nn.Linear(32, 32) for _ in range(4))

    def forward(self, x: Any) -> Any:
        batch, length, width = x.shape
        q, k, v = (part(x).view(batch, length, 4, width // 4).transpose(1, 2) for part in (self.q, self.k, self.v))
        scores = q @ k.transpose(-2, -1) / 8**0.5
        scores = scores.masked_fill(torch.ones(length, length, dtype=torch.bool).triu(1), float("-inf")).softmax(-1)
        return self.out((scores @ v).transpose(1, 2).reshape(batch, length, width))


class Block(nn.Module):
    """A block of a transformer with a residual that a variable of the caller holds meanwhile."""

    def __init__(self) -> None:
        super().__init__()
        self.norm, self.attention, self.after = nn.LayerNorm(32), Attention(), nn.LayerNorm(32)
        self.mlp = nn.Sequential(nn.Linear(32, 128), nn.GELU(), nn.Linear(128, 32))

    def forward(self, x: Any) -> Any:
        residual = x
        x = residual + self.attention(self.norm(x))
        residual = x
        return residual + self.mlp(self.after(x))


class Tagger(nn.Module):
    """A recurrent network that reads tokens."""

    def __init__(self) -> None:
        super().__init__()
        self.embedding, self.cells, self.out = nn.Embedding(50, 16), nn.LSTM(16, 32, batch_first=True), nn.Linear(32, 5)

    def forward(self, tokens: Any) -> Any:
        found, _ = self.cells(self.embedding(tokens))
        return functional.log_softmax(self.out(found), -1)


class CellLoop(nn.Module):
    """A cell that is called step by step; what it says is gathered in a list."""

    def __init__(self) -> None:
        super().__init__()
        self.cell, self.out = nn.LSTMCell(16, 32), nn.Linear(32, 4)

    def forward(self, x: Any) -> Any:
        state = (x.new_zeros(x.shape[0], 32), x.new_zeros(x.shape[0], 32))
        said = []
        for step in range(x.shape[1]):
            state = self.cell(x[:, step], state)
            said.append(self.out(state[0]))
        return torch.stack(said, 1)


class Variational(nn.Module):
    """An autoencoder that draws its code at random and returns three tensors."""

    def __init__(self) -> None:
        super().__init__()
        self.encode, self.mean, self.spread = nn.Linear(100, 64), nn.Linear(64, 8), nn.Linear(64, 8)
        self.decode = nn.Sequential(nn.Linear(8, 64), nn.ReLU(), nn.Linear(64, 100))

    def forward(self, x: Any) -> Any:
        hidden = torch.relu(self.encode(x))
        mean, spread = self.mean(hidden), self.spread(hidden)
        code = mean + torch.randn_like(mean) * torch.exp(spread / 2)
        return torch.sigmoid(self.decode(code)), mean, spread


class Residuals(nn.Module):
    """The residual of a differential equation; the model itself asks autograd for the derivative."""

    def __init__(self) -> None:
        super().__init__()
        self.net = nn.Sequential(nn.Linear(2, 50), nn.Tanh(), nn.Linear(50, 50), nn.Tanh(), nn.Linear(50, 1))

    def forward(self, x: Any) -> Any:
        with torch.enable_grad():
            x = x.detach().requires_grad_()
            u = self.net(x)
            slope = torch.autograd.grad(u.sum(), x, create_graph=True)[0]
            return u, slope[:, :1] ** 2 - slope[:, 1:]


class Messages(nn.Module):
    """A network on a graph, by scatter."""

    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(16, 32), nn.Linear(32, 32)])

    def forward(self, x: Any, edges: Any) -> Any:
        source, target = edges
        for layer in self.layers:
            sent = layer(x)[source]
            received = torch.zeros(x.shape[0], 32).scatter_add(0, target[:, None].expand_as(sent), sent)
            degree = torch.zeros(x.shape[0]).index_add_(0, target, torch.ones(len(target))).clamp(min=1)
            x = torch.relu(received / degree[:, None])
        return x


class InPlace(nn.Module):
    """Writes into what it has made."""

    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(32, 32) for _ in range(4))

    def forward(self, x: Any) -> Any:
        y = torch.zeros(x.shape[0], 32)
        for layer in self.layers:
            y.add_(layer(x).relu_())
            y.mul_(0.5)
        y[:, 0] = 1.0
        return y


class Casts(nn.Module):
    """Computes in another precision than it is given."""

    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Linear(32, 32)

    def forward(self, x: Any) -> Any:
        y = self.layer(x).double()
        length = (y * y).sum(-1, keepdim=True).sqrt()
        return (y / length).float().half()


class Closure(nn.Module):
    """A function that it defines holds a large tensor to the end."""

    def __init__(self) -> None:
        super().__init__()
        self.wide, self.out = nn.Linear(16, 256), nn.Linear(256, 16)

    def forward(self, x: Any) -> Any:
        wide = self.wide(x)

        def shift(y: Any) -> Any:
            return y + wide.mean()

        y = torch.cat([self.out(torch.relu(wide))] * 20, 1)
        return shift(torch.cat([y, y], 1))


class Attribute(nn.Module):
    """Keeps what its layers return in an attribute, for a while."""

    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(32, 32) for _ in range(5))
        self.kept: Any = None

    def forward(self, x: Any) -> Any:
        self.kept = []
        for layer in self.layers:
            x = torch.relu(layer(x))
            self.kept.append(x)
        total = sum(kept.mean(0) for kept in self.kept)
        self.kept = None
        return torch.cat([x, x + total], 1)


def _generator() -> nn.Sequential:
    return nn.Sequential(
        nn.ConvTranspose2d(16, 32, 4, 1, 0), nn.BatchNorm2d(32), nn.ReLU(True), nn.ConvTranspose2d(32, 16, 4, 2, 1),
        nn.BatchNorm2d(16), nn.ReLU(True), nn.ConvTranspose2d(16, 3, 4, 2, 1), nn.Tanh(),
    )  # fmt: skip


def _transformers(model: str, config: str, given: dict[str, Any], **sizes: Any) -> Case:
    library: Any = __import__("transformers")
    return getattr(library, model)(getattr(library, config)(**sizes)).eval(), (), given


def _tokens(*shape: int) -> Any:
    return torch.randint(3, 50, shape)


def _one(model: nn.Module, *shape: int) -> Case:
    return model, (torch.randn(shape),), {}


_HEADS = {"num_hidden_layers": 2, "num_attention_heads": 4, "hidden_size": 32, "vocab_size": 60}
_WORDS = {"bos_token_id": 1, "eos_token_id": 2, "vocab_size": 60}

MODELS: dict[str, Callable[[], Case]] = {
    "dense": lambda: _one(Dense(), 2, 8, 8, 8),
    "unet of variables": lambda: _one(UNetOfVariables(), 1, 3, 16, 16),
    "unet of list": lambda: _one(UNetOfList(), 1, 3, 16, 16),
    "pooling": lambda: _one(nn.Sequential(double(3, 8), nn.MaxPool2d(2), double(8, 16), nn.MaxPool2d(2)), 2, 3, 16, 16),
    "attention": lambda: _one(Attention(), 2, 16, 32),
    "blocks": lambda: _one(nn.Sequential(Block(), Block()), 2, 8, 32),
    "many heads": lambda: (nn.MultiheadAttention(32, 4, batch_first=True), (torch.randn(2, 10, 32),) * 3, {}),
    "transformer": lambda: (
        nn.Transformer(32, 4, 2, 2, 64, batch_first=True).eval(),
        (torch.randn(2, 10, 32), torch.randn(2, 8, 32)),
        {},
    ),
    "lstm": lambda: _one(nn.LSTM(16, 32, 2, batch_first=True), 4, 10, 16),
    "lstm in both directions": lambda: _one(nn.LSTM(16, 32, 2, bidirectional=True), 10, 4, 16),
    "gru": lambda: _one(nn.GRU(16, 32, 2, batch_first=True), 4, 10, 16),
    "rnn": lambda: _one(nn.RNN(16, 32, 2, batch_first=True), 4, 10, 16),
    "tagger": lambda: (Tagger(), (_tokens(4, 10),), {}),
    "loop of cells": lambda: _one(CellLoop(), 4, 8, 16),
    "variational": lambda: _one(Variational(), 8, 100),
    "generator": lambda: _one(_generator(), 4, 16, 1, 1),
    "residuals": lambda: _one(Residuals(), 50, 2),
    "messages": lambda: (Messages(), (torch.randn(20, 16), torch.randint(0, 20, (2, 80))), {}),
    "in place": lambda: _one(InPlace(), 16, 32),
    "casts": lambda: _one(Casts(), 16, 32),
    "closure": lambda: _one(Closure(), 8, 16),
    "attribute": lambda: _one(Attribute(), 16, 32),
    "gpt2": lambda: _transformers(
        "GPT2LMHeadModel", "GPT2Config", {"input_ids": _tokens(2, 12)}, n_embd=32, n_layer=2, n_head=4, **_WORDS
    ),
    "llama": lambda: _transformers(
        "LlamaForCausalLM", "LlamaConfig", {"input_ids": _tokens(2, 12)}, intermediate_size=64, num_key_value_heads=2,
        **_HEADS,
    ),
    "bert": lambda: _transformers(
        "BertModel", "BertConfig", {"input_ids": _tokens(2, 12)}, intermediate_size=64, **_HEADS
    ),
    "t5": lambda: _transformers(
        "T5ForConditionalGeneration", "T5Config", {"input_ids": _tokens(2, 12), "decoder_input_ids": _tokens(2, 8)},
        d_model=32, d_kv=8, d_ff=64, num_layers=2, num_heads=4, vocab_size=60,
    ),
    "vit": lambda: _transformers(
        "ViTModel", "ViTConfig", {"pixel_values": torch.randn(2, 3, 16, 16)}, image_size=16, patch_size=4,
        hidden_size=32, intermediate_size=64, num_hidden_layers=2, num_attention_heads=4,
    ),
    "mixtral": lambda: _transformers(
        "MixtralForCausalLM", "MixtralConfig", {"input_ids": _tokens(2, 12)}, intermediate_size=64,
        num_key_value_heads=2, num_local_experts=4, **_HEADS,
    ),
    "mamba": lambda: _transformers(
        "MambaForCausalLM", "MambaConfig", {"input_ids": _tokens(2, 12)}, hidden_size=16, num_hidden_layers=2,
        state_size=4, vocab_size=60,
    ),
}  # fmt: skip
TRANSFORMERS = frozenset({"gpt2", "llama", "bert", "t5", "vit", "mixtral", "mamba"})
"""Those that the library of this name defines."""
