"""Layers of all kinds: convolutions, attention, recurrence, messages along edges."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor, nn
from torch.func import vmap
from torch.nn import functional
from torch.nn.utils.rnn import pack_sequence, pad_packed_sequence

from tests.capture.themes.builders import each, of, of_images, with_modules

if TYPE_CHECKING:
    from tests.capture.models import Call


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


def skips(held: Any, x: Tensor) -> Any:
    small = functional.max_pool2d(held.down(x), 2)
    large = held.up(small)
    cropped = large[..., : x.shape[-2], : x.shape[-1]]
    wide = functional.interpolate(small, size=x.shape[-2:], mode="bilinear", align_corners=False)
    return {"mask": torch.cat([cropped, x], 1), "aux": wide, "none": None}


def recurrent_loop(held: Any, x: Tensor) -> Any:
    hidden = x.new_zeros(x.shape[0], 3)
    states = []
    for step in range(5):
        hidden = held.cell(x * step, hidden)
        states.append(hidden)
    return torch.stack(states, 1), hidden


def state_space(x: Tensor) -> Any:
    decay = torch.polar(x.abs().exp().neg().exp(), x)

    def scan(row: Tensor) -> Any:
        state, found = torch.zeros_like(row), []
        for value in row.unbind(0):
            state = decay[0] * state + value
            found.append((state * state.conj()).real.sum())
        return torch.stack(found)

    return vmap(scan)(decay)


def message_passing(x: Tensor) -> Any:
    source, target = torch.tensor([[0, 1, 2, 3], [1, 2, 3, 0]])
    messages = x[source] - x[target]
    summed = torch.zeros_like(x).index_add_(0, target, messages)
    best = torch.zeros_like(x).scatter_reduce(0, target[:, None].expand_as(x), messages, "amax", include_self=False)
    return summed / torch.bincount(target, minlength=4).clamp(min=1)[:, None] + best


def deep() -> Call:
    net: nn.Module = nn.Linear(4, 4)
    for _ in range(30):
        net = nn.Sequential(net, nn.Tanh())
    return net, (torch.randn(1, 4),), {}


def wide(x: Tensor) -> Any:
    return torch.stack([x * branch for branch in range(60)]).sum(0)


def sampled(held: Any, x: Tensor) -> Any:
    normal: Any = torch.distributions.Normal(x, x.abs() + 1)
    categories: Any = torch.distributions.Categorical(logits=held.fc(x))
    return normal.log_prob(normal.rsample()), categories.sample()


def packed(held: Any, x: Tensor) -> Any:
    result, hidden = held.gru(pack_sequence([x, x[:2]]))
    return pad_packed_sequence(result), hidden


def random(x: Tensor) -> Any:
    generator = torch.Generator().manual_seed(1)
    noise = torch.randn(4, 4, generator=generator) + torch.empty(4, 4).normal_() + torch.randint(0, 3, (4, 4))
    return functional.dropout(x + noise, 0.5) + torch.bernoulli(x.sigmoid()), torch.randperm(4)


CALLS = {
    "conv": lambda: (Conv(), (torch.randn(2, 3, 8, 8),), {}),
    "text": lambda: (Text(), (torch.tensor([[1, 2, 3]]),), {}),
    "deep": deep,
    **each(of_images, skips),
    **each(with_modules, recurrent_loop, sampled, packed),
    **each(of, state_space, message_passing, wide, random),
}
