"""The models that every property of a recording is tried on: of all common kinds, tiny, with random weights."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import torch
from torch import Tensor, nn
from torch.utils._pytree import tree_map

from examples.models import ResNet, SampleNet, gpt2, llama, t5, token_ids

if TYPE_CHECKING:
    from collections.abc import Callable

Call = tuple[nn.Module, tuple[Any, ...], dict[str, Any]]
"""A model and what it is called with."""


class ConvSample(nn.Module):
    """Two convolutions with what usually stands between them, and a classifier."""

    def __init__(self) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(1, 4, 3)
        self.conv2 = nn.Conv2d(4, 4, 3, groups=2)
        self.drop = nn.Dropout2d(0.3)
        self.pool = nn.MaxPool2d(2)
        self.fc = nn.Linear(16, 3)

    def forward(self, image: Tensor) -> Any:
        x = self.pool(nn.functional.relu(self.conv1(image)))
        x = self.pool(nn.functional.relu(self.drop(self.conv2(x)), inplace=True))
        return nn.functional.log_softmax(self.fc(torch.flatten(x, 1)), dim=1)


def sample_net() -> Call:
    return SampleNet(), (torch.randn(2, 3), torch.randn(2, 3)), {}


def conv_sample() -> Call:
    return ConvSample(), (torch.randn(2, 1, 14, 14),), {}


def resnet() -> Call:
    return ResNet(4, 3), (torch.randn(2, 3, 8, 8),), {}


def gpt2_call() -> Call:
    return gpt2(), (), {"input_ids": token_ids(5), "attention_mask": torch.ones(1, 5, dtype=torch.int64)}


def llama_call() -> Call:
    return llama(), (token_ids(5),), {"use_cache": True}


def t5_call() -> Call:
    return t5(), (), {"input_ids": token_ids(5), "decoder_input_ids": token_ids(3)}


SMALL: dict[str, Any] = {"hidden_size": 8, "intermediate_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2}


def bert() -> Call:
    from transformers import BertConfig, BertForSequenceClassification

    net = BertForSequenceClassification(BertConfig(vocab_size=32, max_position_embeddings=16, **SMALL))
    mask = torch.ones(1, 5, dtype=torch.int64)
    return net, (), {"input_ids": token_ids(5), "attention_mask": mask, "labels": torch.tensor([1])}


def vit() -> Call:
    from transformers import ViTConfig, ViTModel

    return ViTModel(ViTConfig(image_size=8, patch_size=4, **SMALL)), (torch.randn(1, 3, 8, 8),), {}


def whisper() -> Call:
    from transformers import WhisperConfig, WhisperForConditionalGeneration

    config = WhisperConfig(
        vocab_size=32, num_mel_bins=8, d_model=8, encoder_layers=1, decoder_layers=1, encoder_attention_heads=2,
        decoder_attention_heads=2, encoder_ffn_dim=16, decoder_ffn_dim=16, max_source_positions=8,
        max_target_positions=8, pad_token_id=0, bos_token_id=1, eos_token_id=2, decoder_start_token_id=1,
    )  # fmt: skip
    features = torch.randn(1, 8, 16)
    return WhisperForConditionalGeneration(config), (features,), {"decoder_input_ids": token_ids(3), "use_cache": False}


def mixtral() -> Call:
    from transformers import MixtralConfig, MixtralForCausalLM

    config = MixtralConfig(vocab_size=32, num_key_value_heads=1, num_local_experts=3, num_experts_per_tok=2, **SMALL)
    net = MixtralForCausalLM(config)
    net.set_experts_implementation("eager")
    return net, (token_ids(5),), {"use_cache": False}


def mamba() -> Call:
    from transformers import MambaConfig, MambaForCausalLM

    config = MambaConfig(vocab_size=32, hidden_size=8, state_size=4, num_hidden_layers=2, conv_kernel=3)
    return MambaForCausalLM(config), (token_ids(5),), {"use_cache": False}


MODELS: dict[str, Callable[[], Call]] = {
    "SampleNet": sample_net,
    "ConvSample": conv_sample,
    "ResNet": resnet,
    "GPT-2": gpt2_call,
    "Llama": llama_call,
    "BERT": bert,
    "T5": t5_call,
    "ViT": vit,
    "Whisper": whisper,
    "Mixtral": mixtral,
    "Mamba": mamba,
}


def build(name: str) -> Call:
    """Return one of the models with what it is called with, the same each time."""
    torch.manual_seed(3)
    net, args, kwargs = MODELS[name]()
    return net.train(False), args, kwargs


MASKS = {"GPT-2": ("attention_mask", 5), "BERT": ("attention_mask", 5), "Mixtral": ("attention_mask", 5)}
MASKS["Whisper"] = ("decoder_attention_mask", 3)
"""Masks of which models ask for a value unless they are four-dimensional, with their length: none has one on meta."""


def build_on_meta(name: str) -> Call:
    """Return one of the models with its inputs on meta, itself where it was."""
    net, args, kwargs = build(name)
    args, kwargs = tree_map(lambda leaf: leaf.to("meta") if isinstance(leaf, Tensor) else leaf, (args, kwargs))
    if name in MASKS:
        mask, length = MASKS[name]
        kwargs[mask] = torch.zeros(1, 1, length, length, device="meta")
    if name == "Mixtral":  # which tokens an expert is given is a value too
        cast("Any", net).set_experts_implementation("batched_mm")
    return net, args, kwargs
