"""Models that torchrecorder can record too, each with the shapes of its inputs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from torch import nn
from torch.nn import functional

if TYPE_CHECKING:
    from collections.abc import Callable

    from torch import Tensor


class SampleNet(nn.Module):
    """Two linear layers on one input, joined into a third; the example of torchrecorder's documentation."""

    def __init__(self) -> None:
        super().__init__()
        self.linear_1 = nn.Linear(in_features=3, out_features=3, bias=True)
        self.linear_2 = nn.Linear(in_features=3, out_features=3, bias=True)
        self.linear_3 = nn.Linear(in_features=6, out_features=1, bias=True)
        self.my_special_relu = nn.ReLU()

    def forward(self, inputs: Tensor) -> Any:
        x = self.linear_1(inputs)
        y = self.linear_2(inputs)
        z = torch.cat([x, y], dim=1)
        return self.my_special_relu(self.linear_3(z))


class ConvSample(nn.Module):
    """Two convolutions and their sum; the example of torchrecorder's documentation for stylers."""

    def __init__(self) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(in_channels=1, out_channels=5, kernel_size=5, stride=2, padding=2)
        self.conv2 = nn.Conv2d(in_channels=5, out_channels=5, kernel_size=3, stride=1, padding=1)
        self.relu = nn.ReLU(inplace=False)

    def forward(self, x: Tensor) -> Any:
        x1 = self.conv1(x)
        x2 = self.conv2(x1)
        x3 = x1 + x2
        return self.relu(x3)


class Residual(nn.Module):
    """A block of a ResNet; with another number of channels its shortcut is a module too."""

    def __init__(self, channels: int, out: int, stride: int) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(channels, out, 3, stride, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(out)
        self.relu = nn.ReLU(inplace=True)
        self.conv2 = nn.Conv2d(out, out, 3, 1, 1, bias=False)
        self.bn2 = nn.BatchNorm2d(out)
        self.downsample = (
            nn.Sequential(nn.Conv2d(channels, out, 1, stride, bias=False), nn.BatchNorm2d(out)) if stride > 1 else None
        )

    def forward(self, x: Tensor) -> Any:
        identity = x if self.downsample is None else self.downsample(x)
        y = functional.relu(self.bn1(self.conv1(x)))
        y = self.bn2(self.conv2(y))
        y += identity
        return torch.relu(y)


class ResidualInPlace(Residual):
    """The same with one ReLU that is called twice and writes in place, as it is in torchvision."""

    def forward(self, x: Tensor) -> Any:
        identity = x if self.downsample is None else self.downsample(x)
        y = self.relu(self.bn1(self.conv1(x)))
        y = self.bn2(self.conv2(y))
        y += identity
        return self.relu(y)


class ResNet(nn.Module):
    """ResNet-18 with fewer channels."""

    def __init__(self, block: Callable[[int, int, int], nn.Module] = Residual) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(3, 4, 7, 2, 3, bias=False)
        self.bn1 = nn.BatchNorm2d(4)
        self.relu = nn.ReLU(inplace=True)
        self.maxpool = nn.MaxPool2d(3, 2, 1)
        widths = (4, 4, 8, 16, 32)
        for index in range(1, 5):
            before, out = widths[index - 1 : index + 1]
            stride = 1 if index == 1 else 2
            blocks = nn.Sequential(block(before, out, stride), block(out, out, 1))
            self.add_module(f"layer{index}", blocks)
        self.avgpool = nn.AdaptiveAvgPool2d((1, 1))
        self.fc = nn.Linear(32, 5)

    def forward(self, x: Tensor) -> Any:
        x = self.maxpool(self.relu(self.bn1(self.conv1(x))))
        for index in range(1, 5):
            x = self.get_submodule(f"layer{index}")(x)
        return self.fc(torch.flatten(self.avgpool(x), 1))


class VGG(nn.Module):
    """Convolutions in one Sequential, linear layers with dropout in another."""

    def __init__(self) -> None:
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(3, 4, 3, padding=1), nn.ReLU(inplace=True), nn.MaxPool2d(2),
            nn.Conv2d(4, 8, 3, padding=1), nn.ReLU(inplace=True), nn.MaxPool2d(2),
        )  # fmt: skip
        self.classifier = nn.Sequential(nn.Linear(32, 16), nn.ReLU(), nn.Dropout(), nn.Linear(16, 3))

    def forward(self, x: Tensor) -> Any:
        return self.classifier(self.features(x).view(x.size(0), -1))


class Autoencoder(nn.Module):
    """An encoder, a decoder, and what is between them returned too."""

    def __init__(self) -> None:
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(8, 4), nn.Tanh(), nn.Linear(4, 2))
        self.decoder = nn.Sequential(nn.Linear(2, 4), nn.Tanh(), nn.Linear(4, 8))

    def forward(self, x: Tensor) -> Any:
        code = self.encoder(x)
        return self.decoder(code), code


class Siamese(nn.Module):
    """One encoder on two inputs."""

    def __init__(self) -> None:
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(4, 3), nn.ReLU())
        self.score = nn.Linear(3, 1)

    def forward(self, x: Tensor, y: Tensor) -> Any:
        return self.score((self.encoder(x) - self.encoder(y)).abs())


class Recurrent(nn.Module):
    """A cell of linear layers, called once for each step."""

    def __init__(self) -> None:
        super().__init__()
        self.of_input = nn.Linear(3, 4)
        self.of_state = nn.Linear(4, 4)

    def forward(self, steps: Tensor, state: Tensor) -> Any:
        for step in steps.unbind(0):
            state = torch.tanh(self.of_input(step) + self.of_state(state))
        return state


class Cell(nn.Module):
    """One step of a recurrent network."""

    def __init__(self) -> None:
        super().__init__()
        self.of_input = nn.Linear(3, 4)
        self.of_state = nn.Linear(4, 4)

    def forward(self, step: Tensor, state: Tensor) -> Any:
        return torch.tanh(self.of_input(step) + self.of_state(state))


class Tied(nn.Module):
    """The first and the last layer share a weight."""

    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Linear(4, 4, bias=False)
        self.middle = nn.Linear(4, 4)
        self.last = nn.Linear(4, 4, bias=False)
        self.last.weight = self.first.weight

    def forward(self, x: Tensor) -> Any:
        return self.last(self.middle(self.first(x)))


class Bilinear(nn.Module):
    """Three inputs, of which one is used twice."""

    def __init__(self) -> None:
        super().__init__()
        self.mix = nn.Bilinear(3, 4, 2)
        self.out = nn.Linear(2, 2)

    def forward(self, x: Tensor, y: Tensor, z: Tensor) -> Any:
        return self.out(self.mix(x, y)) * z + z


class Heads(nn.Module):
    """One trunk, several outputs, among them operations of the model itself."""

    def __init__(self) -> None:
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(4, 6), nn.ReLU())
        self.mean = nn.Linear(6, 2)
        self.scale = nn.Linear(6, 2)

    def forward(self, x: Tensor) -> Any:
        hidden = self.trunk(x)
        mean, scale = self.mean(hidden), functional.softplus(self.scale(hidden))
        return mean, scale, mean * scale


class Grouped(nn.Module):
    """Depthwise and grouped convolutions."""

    def __init__(self) -> None:
        super().__init__()
        self.depthwise = nn.Conv2d(4, 4, 3, padding=1, groups=4)
        self.grouped = nn.Conv2d(4, 8, 1, groups=2)
        self.norm = nn.GroupNorm(2, 8)

    def forward(self, x: Tensor) -> Any:
        return functional.gelu(self.norm(self.grouped(self.depthwise(x))))


class Attention(nn.Module):
    """Attention of one head, written out."""

    def __init__(self) -> None:
        super().__init__()
        self.query = nn.Linear(4, 4)
        self.key = nn.Linear(4, 4)
        self.value = nn.Linear(4, 4)

    def forward(self, x: Tensor) -> Any:
        scores = self.query(x) @ self.key(x).transpose(-2, -1) / 2.0
        return torch.softmax(scores, dim=-1) @ self.value(x)


class Transformer(nn.Module):
    """A block of a transformer, on numbers rather than tokens."""

    def __init__(self) -> None:
        super().__init__()
        self.attention = Attention()
        self.norm1 = nn.LayerNorm(4)
        self.mlp = nn.Sequential(nn.Linear(4, 8), nn.GELU(), nn.Linear(8, 4))
        self.norm2 = nn.LayerNorm(4)

    def forward(self, x: Tensor) -> Any:
        x = x + self.attention(self.norm1(x))
        return x + self.mlp(self.norm2(x))


class Inception(nn.Module):
    """What an operation made goes into several modules."""

    def __init__(self) -> None:
        super().__init__()
        self.stem = nn.Conv2d(3, 4, 1)
        self.small = nn.Conv2d(4, 2, 1)
        self.large = nn.Conv2d(4, 2, 3, padding=1)
        self.pool = nn.AvgPool2d(3, 1, 1)

    def forward(self, x: Tensor) -> Any:
        x = functional.relu(self.stem(x))
        return torch.cat([self.small(x), self.large(x), self.pool(x)], 1)


class Square(nn.Module):
    """An operation that reads one tensor twice, and a chunk in two."""

    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(4, 4)

    def forward(self, x: Tensor) -> Any:
        y = self.linear(x)
        left, right = (y * y).chunk(2, dim=1)
        return left * torch.sigmoid(right)


class Loop(nn.Module):
    """Layers in a ModuleList, with an operation behind each."""

    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(3, 3) for _ in range(3)])

    def forward(self, x: Tensor) -> Any:
        for layer in self.layers:
            x = x + torch.relu(layer(x))
        return x


def _mlp() -> nn.Module:
    return nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 8), nn.Sigmoid(), nn.Linear(8, 2))


def _nested() -> nn.Module:
    inner = nn.Sequential(nn.Linear(3, 3), nn.Tanh())
    return nn.Sequential(nn.Linear(4, 3), nn.Sequential(nn.Sequential(inner, nn.ReLU()), nn.Linear(3, 2)), nn.ReLU())


def _inplace() -> nn.Module:
    return nn.Sequential(nn.ReLU(inplace=True), nn.Linear(4, 4), nn.ReLU(inplace=True), nn.Linear(4, 2))


def _views() -> nn.Module:
    mixer = nn.Sequential(nn.Linear(4, 6), nn.ReLU(inplace=True), nn.Linear(6, 4))
    return nn.Sequential(mixer, nn.Flatten(), nn.Dropout(inplace=True), nn.Linear(20, 2))


def _normalised() -> nn.Module:
    return nn.Sequential(nn.Conv2d(3, 4, 3), nn.BatchNorm2d(4), nn.ReLU(), nn.Flatten(), nn.Linear(16, 2)).train()


Shapes = Any
MODELS: dict[str, tuple[Callable[[], nn.Module], Shapes]] = {
    "sample": (SampleNet, (1, 3)),
    "convolutions": (ConvSample, (1, 1, 10, 10)),
    "resnet": (ResNet, (2, 3, 32, 32)),
    "resnet in place": (lambda: ResNet(ResidualInPlace), (2, 3, 32, 32)),
    "vgg": (VGG, (2, 3, 8, 8)),
    "mlp": (_mlp, (2, 4)),
    "autoencoder": (Autoencoder, (2, 8)),
    "siamese": (Siamese, [(2, 4), (2, 4)]),
    "recurrent": (Recurrent, [(3, 2, 3), (2, 4)]),
    "cell": (Cell, [(2, 3), (2, 4)]),
    "tied": (Tied, (2, 4)),
    "nested": (_nested, (2, 4)),
    "several inputs": (Bilinear, [(5, 3), (5, 4), (5, 2)]),
    "several outputs": (Heads, (2, 4)),
    "in place": (_inplace, (2, 4)),
    "views in place": (_views, (2, 5, 4)),
    "grouped": (Grouped, (2, 4, 6, 6)),
    "normalised": (_normalised, (2, 3, 4, 4)),
    "transformer": (Transformer, (2, 5, 4)),
    "inception": (Inception, (1, 3, 6, 6)),
    "square": (Square, (2, 4)),
    "module list": (Loop, (2, 3)),
    "lone linear": (lambda: nn.Linear(3, 2), (1, 3)),
}
"""By name: what makes the model, and the shapes of its inputs."""
