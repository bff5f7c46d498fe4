from __future__ import annotations

from typing import Any

import pytest

from trec.backends import labels
from trec.backends.families import FAMILIES, Family, family_of_class, family_of_function, short_name, sign_of
from trec.backends.style import LIGHT


@pytest.mark.parametrize(
    ("cls", "arguments", "words"),
    [
        (
            "Conv2d",
            {"in_channels": 64, "out_channels": 128, "kernel_size": (3, 3), "stride": (2, 2), "groups": 1},
            "64→128 · 3×3 · s2",
        ),
        ("Conv2d", {"in_channels": 8, "out_channels": 8, "kernel_size": 3, "groups": 8}, "8→8 · 3×3 · depthwise"),
        (
            "Conv2d",
            {
                "in_channels": 8,
                "out_channels": 8,
                "kernel_size": (1, 7),
                "groups": 2,
                "dilation": (2, 2),
                "stride": (1, 2),
            },
            "8→8 · 1×7 · s1×2 · g2 · d2",
        ),
        ("Conv1d", {"in_channels": 1, "out_channels": 2, "kernel_size": (5,), "stride": (1,)}, "1→2 · k5"),
        ("Linear", {"in_features": 3, "out_features": 6, "bias": True}, "3→6"),
        ("Conv1D", {"nf": 192, "nx": 64}, "64→192"),
        (
            "LSTM",
            {"input_size": 8, "hidden_size": 16, "num_layers": 2, "bidirectional": True},
            "8→16 · 2 layers · both ways",
        ),
        ("GRUCell", {"input_size": 8, "hidden_size": 16}, "8→16"),
        ("Embedding", {"num_embeddings": 50257, "embedding_dim": 768}, "50257×768"),
        ("MultiheadAttention", {"embed_dim": 768, "num_heads": 12}, "d=768 · 12 heads"),
        ("MyAttention", {"heads": 4}, "4 heads"),
        ("LayerNorm", {"normalized_shape": (768,), "eps": 1e-5}, "d=768"),
        ("GroupNorm", {"num_groups": 4, "num_channels": 32}, "32 in 4 groups"),
        ("LlamaRMSNorm", {"hidden_size": (64,), "eps": 1e-6}, "d=64"),
        ("MaxPool2d", {"kernel_size": 3, "stride": 2, "padding": 1}, "3×3 · s2"),
        ("AdaptiveAvgPool2d", {"output_size": 1}, "→1×1"),
        ("AdaptiveAvgPool2d", {"output_size": (None, 7)}, "→=×7"),
        ("Upsample", {"scale_factor": 2.0, "mode": "nearest"}, "×2 · nearest"),
        ("Dropout", {"p": 0.1, "inplace": False}, "p=0.1"),
        ("LeakyReLU", {"negative_slope": 0.01, "inplace": False}, "negative_slope=0.01"),
        (
            "Mine",
            {"layer_idx": 3, "eps": 1e-5, "error": "RuntimeError", "flag": True, "none": None, "width": 7},
            "width=7",
        ),
        ("Mine", {}, ""),
    ],
)
def test_what_matters_of_the_arguments(cls: str, arguments: dict[str, Any], words: str) -> None:
    assert " · ".join(labels.detail(cls, tuple(arguments.items()))) == words


@pytest.mark.parametrize(
    ("path", "around", "name"),
    [
        ("layers.0", "", "layers.0"),
        ("layers.0", "layers", "layers.0"),
        ("stages.0.1", "stages.0", "stages.0.1"),
        ("model.layers.3.attn", "model.layers.3", "attn"),
        ("0", "", "0"),
        ("0.1", "0", "0.1"),
        ("shared.proj", "encoder", "shared.proj"),
        ("block", "block", "block"),
        ("a.block", "a.block", "block"),
    ],
)
def test_names_are_relative_and_say_what_they_number(path: str, around: str, name: str) -> None:
    assert labels.relative(path, around) == name


@pytest.mark.parametrize(
    ("count", "text"),
    [
        (0, "0"), (999, "999"), (1000, "1 k"), (9408, "9.4 k"), (99_949, "99.9 k"), (99_950, "100 k"),
        (999_499, "999 k"), (999_500, "1 M"), (25_557_032, "25.6 M"), (6_738_415_616, "6.7 G"), (10**15, "1000 T"),
    ],
)  # fmt: skip
def test_counts(count: int, text: str) -> None:
    assert labels.number(count) == text


def test_parameters_in_words() -> None:
    assert [labels.params(count) for count in (0, 1, 2, 1500)] == ["", "1 param", "2 params", "1.5 k params"]


@pytest.mark.parametrize(
    ("op", "short", "family", "sign"),
    [
        ("conv2d", "conv2d", "convolution", ""),
        ("aten.convolution.default", "convolution", "convolution", ""),
        ("aten.addmm.default", "addmm", "linear", ""),
        ("__matmul__", "matmul", "linear", ""),
        ("relu_", "relu_", "activation", ""),
        ("aten._softmax.default", "_softmax", "activation", ""),
        ("aten._scaled_dot_product_flash_attention_for_cpu.default",
         "_scaled_dot_product_flash_attention_for_cpu", "attention", ""),
        ("native_layer_norm", "native_layer_norm", "normalisation", ""),
        ("__getitem__", "getitem", "view", ""),
        ("aten.view.default", "view", "view", ""),
        ("aten._to_copy.default", "_to_copy", "view", ""),
        ("embedding", "embedding", "embedding", ""),
        ("lstm", "lstm", "recurrent", ""),
        ("__add__", "add", "other", "+"),
        ("__iadd__", "iadd", "other", "+"),
        ("add_", "add_", "other", "+"),
        ("aten.sub.Tensor", "sub", "other", "−"),
        ("__rsub__", "rsub", "other", "−"),
        ("mul", "mul", "other", "×"),
        ("__truediv__", "truediv", "other", "÷"),
        ("pow", "pow", "other", "^"),
        ("__floordiv__", "floordiv", "other", ""),
        ("", "", "other", ""),
        ("__", "__", "other", ""),
        (".", ".", "other", ""),
    ],
)  # fmt: skip
def test_functions(op: str, short: str, family: Family, sign: str) -> None:
    assert (short_name(op), family_of_function(op), sign_of(op)) == (short, family, sign)


@pytest.mark.parametrize(
    ("classes", "family"),
    [
        ("Conv1d Conv2d LazyConv3d ConvTranspose2d MyConv2d", "convolution"),
        ("Linear Conv1D Bilinear LazyLinear NonDynamicallyQuantizableLinear", "linear"),
        ("BatchNorm2d LayerNorm GroupNorm InstanceNorm1d LlamaRMSNorm T5LayerNorm RMSNorm", "normalisation"),
        ("ReLU GELU SiLUActivation NewGELUActivation Softmax LogSoftmax Dropout Dropout2d Tanh Sigmoid Hardswish"
         " LeakyReLU ELU Softplus PReLU DropPath", "activation"),
        ("MultiheadAttention LlamaAttention BertSelfAttention GPT2Attention", "attention"),
        ("MaxPool2d AdaptiveAvgPool2d Upsample PixelShuffle UpsamplingBilinear2d", "pooling"),
        ("Embedding EmbeddingBag ViTEmbeddings LlamaRotaryEmbedding SinusoidalPositionalEmbedding", "embedding"),
        ("LSTM GRU RNN LSTMCell GRUCell", "recurrent"),
        ("Flatten Identity Unfold", "view"),
        ("Sequential LlamaMLP GPT2Block Net Softener Belushi", "other"),
    ],
)  # fmt: skip
def test_classes(classes: str, family: Family) -> None:
    assert {name: family_of_class(name) for name in classes.split()} == dict.fromkeys(classes.split(), family)


def test_every_family_has_its_own_colours() -> None:
    assert tuple(LIGHT.families) == FAMILIES
    assert len(set(LIGHT.families.values())) == len(FAMILIES)


@pytest.mark.parametrize("length", range(1, 12))
def test_shortened_names_have_the_wanted_length(length: int) -> None:
    short = labels.shorten("abcdefghij", length)
    assert len(short) == min(length, 10)
    assert (short == "abcdefghij") == (length >= 10)
