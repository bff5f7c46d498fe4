"""Models that run otherwise with other inputs."""

from __future__ import annotations

import torch
from torch import Tensor, nn


class Branch(nn.Module):
    """One of two layers, by the sign of a sum."""

    def __init__(self) -> None:
        super().__init__()
        self.stem, self.left, self.right, self.head = (nn.Linear(4, 4) for _ in range(4))

    def forward(self, x: Tensor) -> Tensor:
        x = self.stem(x)
        x = self.left(x).relu() if x.sum() > 0 else self.right(x)
        found: Tensor = self.head(x)
        return found


class Recurrent(nn.Module):
    """A cell called once for each step of a sequence."""

    def __init__(self) -> None:
        super().__init__()
        self.cell, self.head = nn.RNNCell(4, 4), nn.Linear(4, 2)

    def forward(self, x: Tensor) -> Tensor:
        state, states = torch.zeros(x.shape[1], 4), []
        for step in x.unbind(0):
            state = self.cell(step, state)
            states.append(state)
        found: Tensor = self.head(torch.stack(states))
        return found


class Routed(nn.Module):
    """A mixture of experts, of which the two best for a sequence run."""

    def __init__(self, experts: int = 4) -> None:
        super().__init__()
        self.gate = nn.Linear(4, experts)
        self.experts = nn.ModuleList([nn.Linear(4, 4) for _ in range(experts)])

    def forward(self, x: Tensor) -> Tensor:
        weights, chosen = self.gate(x).mean(0).softmax(0).topk(2)
        total = torch.zeros_like(x)
        for weight, index in sorted(zip(weights, chosen.tolist(), strict=True), key=lambda pair: pair[1]):
            total = total + weight * self.experts[index](x)
        return total


class Sizes(nn.Module):
    """Sizes that follow from those of the input in many ways."""

    def forward(self, x: Tensor) -> list[Tensor]:
        batch, length, width = x.shape
        flat = x.reshape(batch * length, width)
        return [
            flat,
            torch.cat([x, x, x[:, :1]], 1),
            x[:, : length // 2],
            x.transpose(1, 2),
            torch.zeros(length, length),
        ]
