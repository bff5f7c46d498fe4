"""The models that the examples, the pictures and the benchmarks record: small, with random weights, no download."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import torch
from torch import nn

if TYPE_CHECKING:
    from torch import Tensor


class SampleNet(nn.Module):
    """Two inputs, each through a linear layer of its own, joined and scored by a third."""

    def __init__(self) -> None:
        super().__init__()
        self.left = nn.Linear(3, 6)
        self.right = nn.Linear(3, 6)
        self.score = nn.Linear(12, 1)
        self.relu = nn.ReLU()

    def forward(self, x: Tensor, y: Tensor) -> Tensor:
        """Return one score for each row of x and y."""
        joined = torch.cat([self.left(x), self.right(y)], dim=1)
        scores: Tensor = self.relu(self.score(joined))
        return scores


class Block(nn.Module):
    """Two convolutions and a skip around them, with a convolution of its own where the shape changes."""

    def __init__(self, channels: int, width: int, stride: int = 1) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(channels, width, 3, stride, padding=1, bias=False)
        self.norm1 = nn.BatchNorm2d(width)
        self.conv2 = nn.Conv2d(width, width, 3, padding=1, bias=False)
        self.norm2 = nn.BatchNorm2d(width)
        self.skip = None if (channels, stride) == (width, 1) else nn.Conv2d(channels, width, 1, stride)
        self.relu = nn.ReLU()

    def forward(self, x: Tensor) -> Tensor:
        """Return the features of the next block."""
        y = self.relu(self.norm1(self.conv1(x)))
        y = self.norm2(self.conv2(y))
        features: Tensor = self.relu(y + (x if self.skip is None else self.skip(x)))
        return features


class ResNet(nn.Module):
    """A residual network: a stem, three stages of two blocks, a classifier."""

    def __init__(self, width: int = 16, classes: int = 10) -> None:
        super().__init__()
        self.stem = convolution(3, width)
        self.stage1 = nn.Sequential(Block(width, width), Block(width, width))
        self.stage2 = nn.Sequential(Block(width, 2 * width, stride=2), Block(2 * width, 2 * width))
        self.stage3 = nn.Sequential(Block(2 * width, 4 * width, stride=2), Block(4 * width, 4 * width))
        self.pool = nn.AdaptiveAvgPool2d(1)
        self.head = nn.Linear(4 * width, classes)

    def forward(self, image: Tensor) -> Tensor:
        """Return a logit for each class."""
        features = self.stage3(self.stage2(self.stage1(self.stem(image))))
        logits: Tensor = self.head(self.pool(features).flatten(1))
        return logits


class Up(nn.Module):
    """Doubles height and width, and mixes in the features that had this size on the way down."""

    def __init__(self, channels: int, width: int) -> None:
        super().__init__()
        self.grow = nn.ConvTranspose2d(channels, width, 2, stride=2)
        self.mix = convolution(2 * width, width)

    def forward(self, x: Tensor, skip: Tensor) -> Tensor:
        """Return features of the size of `skip`."""
        features: Tensor = self.mix(torch.cat([self.grow(x), skip], dim=1))
        return features


class UNet(nn.Module):
    """A U-Net of three sizes: what was seen on the way down joins in on the way up."""

    def __init__(self, width: int = 16, classes: int = 2) -> None:
        super().__init__()
        self.down1 = convolution(3, width)
        self.down2 = convolution(width, 2 * width, stride=2)
        self.bottom = convolution(2 * width, 4 * width, stride=2)
        self.up2 = Up(4 * width, 2 * width)
        self.up1 = Up(2 * width, width)
        self.head = nn.Conv2d(width, classes, 1)

    def forward(self, image: Tensor) -> Tensor:
        """Return a logit for each class at each pixel."""
        large = self.down1(image)
        medium = self.down2(large)
        small = self.bottom(medium)
        mask: Tensor = self.head(self.up1(self.up2(small, medium), large))
        return mask


def convolution(channels: int, width: int, stride: int = 1) -> nn.Sequential:
    """Return a 3 by 3 convolution with its normalisation and activation."""
    return nn.Sequential(nn.Conv2d(channels, width, 3, stride, padding=1), nn.BatchNorm2d(width), nn.ReLU())


def multilayer_perceptron(layers: int, width: int = 8) -> nn.Sequential:
    """Return so many linear layers in a row, each with an activation."""
    return nn.Sequential(*[module for _ in range(layers) for module in (nn.Linear(width, width), nn.ReLU())])


def gpt2(layers: int = 2) -> nn.Module:
    """Return a decoder-only transformer with learnt positions."""
    from transformers import GPT2Config, GPT2LMHeadModel

    config = GPT2Config(vocab_size=256, n_positions=64, n_embd=64, n_layer=layers, n_head=4, use_cache=False)
    return _ready(GPT2LMHeadModel(config))


def llama(layers: int = 2) -> nn.Module:
    """Return a decoder-only transformer with rotary positions and grouped keys and values."""
    from transformers import LlamaConfig, LlamaForCausalLM

    config = LlamaConfig(
        vocab_size=256,
        hidden_size=64,
        intermediate_size=128,
        num_hidden_layers=layers,
        num_attention_heads=4,
        num_key_value_heads=2,
        use_cache=False,
    )
    return _ready(LlamaForCausalLM(config))


def t5(layers: int = 2) -> nn.Module:
    """Return a transformer with an encoder, and a decoder that attends to it."""
    from transformers import T5Config, T5ForConditionalGeneration

    config = T5Config(vocab_size=256, d_model=64, d_kv=16, d_ff=128, num_layers=layers, num_heads=4, use_cache=False)
    return _ready(T5ForConditionalGeneration(config))


def token_ids(length: int) -> Tensor:
    """Return one sentence of so many tokens."""
    return torch.arange(length).remainder(256).unsqueeze(0)


def _ready(model: nn.Module) -> nn.Module:
    return model.eval()


# Set before transformers is imported: no look-ups in the network, no remarks on the terminal.
os.environ.setdefault("HF_HUB_OFFLINE", "1")
os.environ.setdefault("TRANSFORMERS_VERBOSITY", "error")
