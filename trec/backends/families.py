"""What a function, an operator or a module does, by its name."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Literal, get_args

Family = Literal[
    "convolution", "linear", "normalisation", "activation", "attention",
    "pooling", "embedding", "recurrent", "view", "other",
]  # fmt: skip
FAMILIES: tuple[Family, ...] = get_args(Family)
LEADING: tuple[Family, ...] = (
    "attention", "recurrent", "convolution", "linear", "embedding", "pooling", "normalisation", "activation",
)  # fmt: skip
"""Families by how much they say about what several layers do together."""

ARITHMETIC = {
    **dict.fromkeys(("add", "iadd", "radd"), "+"),
    **dict.fromkeys(("sub", "isub", "rsub", "subtract"), "−"),
    **dict.fromkeys(("mul", "imul", "rmul", "multiply"), "×"),
    **dict.fromkeys(("div", "truediv", "itruediv", "rtruediv", "rdiv", "idiv", "divide", "true_divide"), "÷"),
    **dict.fromkeys(("pow", "ipow", "rpow", "float_power"), "^"),
}
"""Sign of each element-wise operator that is drawn as a circle."""

_FUNCTIONS: dict[Family, str] = {
    "convolution": """conv1d conv2d conv3d convolution conv_tbc conv_transpose1d conv_transpose2d conv_transpose3d
        unfold fold deform_conv2d mkldnn_convolution cudnn_convolution miopen_convolution slow_conv2d_forward
        convolution_backward""",
    "linear": """linear bilinear matmul rmatmul imatmul mm bmm addmm addbmm baddbmm addmv addr mv dot vdot inner outer
        ger einsum tensordot chain_matmul multi_dot kron cdist mkldnn_linear scaled_mm grouped_mm int_mm""",
    "normalisation": """batch_norm layer_norm group_norm instance_norm local_response_norm rms_norm normalize
        native_batch_norm native_layer_norm native_group_norm native_batch_norm_legit
        native_batch_norm_legit_no_training native_batch_norm_legit_functional cudnn_batch_norm
        batch_norm_with_update fused_rms_norm weight_norm weight_norm_interface renorm""",
    "activation": """relu relu6 leaky_relu prelu rrelu elu selu celu gelu silu mish glu sigmoid logsigmoid
        log_sigmoid log_sigmoid_forward tanh hardtanh hardsigmoid hardswish hardshrink softshrink tanhshrink threshold
        softplus softsign softmax log_softmax softmin gumbel_softmax safe_softmax sparsemax dropout dropout1d dropout2d
        dropout3d alpha_dropout feature_dropout feature_alpha_dropout native_dropout bernoulli""",
    "attention": """scaled_dot_product_attention multi_head_attention_forward flex_attention
        scaled_dot_product_flash_attention scaled_dot_product_flash_attention_for_cpu
        scaled_dot_product_efficient_attention scaled_dot_product_cudnn_attention scaled_dot_product_attention_math
        scaled_dot_product_fused_attention_overrideable flash_attention_forward efficient_attention_forward
        native_multi_head_attention transformer_encoder_layer_fwd""",
    "pooling": """max_pool1d max_pool2d max_pool3d avg_pool1d avg_pool2d avg_pool3d lp_pool1d lp_pool2d lp_pool3d
        adaptive_avg_pool1d adaptive_avg_pool2d adaptive_avg_pool3d adaptive_max_pool1d adaptive_max_pool2d
        adaptive_max_pool3d fractional_max_pool2d fractional_max_pool3d max_unpool1d max_unpool2d max_unpool3d
        max_pool1d_with_indices max_pool2d_with_indices max_pool3d_with_indices interpolate upsample grid_sample
        affine_grid upsample_nearest upsample_bilinear upsample_nearest1d upsample_nearest2d upsample_nearest3d
        upsample_linear1d upsample_bilinear2d upsample_bicubic2d upsample_trilinear3d grid_sampler grid_sampler_2d
        grid_sampler_3d pixel_shuffle pixel_unshuffle native_channel_shuffle roi_align roi_pool""",
    "embedding": """embedding embedding_bag one_hot embedding_renorm embedding_bag_forward_only""",
    "recurrent": """lstm gru rnn_tanh rnn_relu lstm_cell gru_cell rnn_tanh_cell rnn_relu_cell cudnn_rnn mkldnn_rnn_layer
        thnn_fused_lstm_cell thnn_fused_gru_cell pad_packed_sequence pack_padded_sequence""",
    "view": """view view_as reshape reshape_as flatten unflatten ravel squeeze unsqueeze transpose t T mT H mH permute
        swapaxes swapdims moveaxis movedim contiguous expand expand_as broadcast_to broadcast_tensors repeat tile
        repeat_interleave narrow select slice getitem setitem split split_with_sizes chunk unbind tensor_split hsplit
        vsplit dsplit hstack vstack dstack stack cat concat concatenate flip fliplr flipud roll rot90 unsafe_view
        reshape_alias as_strided alias detach clone to to_copy type type_as float half bfloat16 double long int short
        bool char byte cpu cuda lift_fresh lift_fresh_copy copy view_as_complex view_as_real real imag atleast_1d
        atleast_2d atleast_3d meshgrid diagonal requires_grad item pad constant_pad_nd unsafe_split unsafe_chunk data
        positive numpy tolist resize column_stack row_stack block_diag view_copy expand_copy select_scatter
        slice_scatter dense""",
}
_FAMILY_OF_FUNCTION: dict[str, Family] = {name: family for family, text in _FUNCTIONS.items() for name in text.split()}

_FAMILY_OF_NODE = {name.replace("_", ""): family for name, family in _FAMILY_OF_FUNCTION.items()}
"""The same by the names that autograd makes of those of functions."""
_BACKWARD = re.compile(r"(?:Backward\d*)+$")

_CLASSES: tuple[tuple[str, Family], ...] = (
    (r"^(Lazy)?Conv(Transpose)?[123]d$", "convolution"),
    (r"^(Conv1D|ColumnParallelLinear|RowParallelLinear|Bilinear)$", "linear"),
    (r"Rotary|Positional|Position", "embedding"),
    (r"Dropout|DropPath|StochasticDepth", "activation"),
    (r"(Batch|Layer|Group|Instance|RMS|Response)_?Norm|Norm([123]d|s)?$|^FrozenBatchNorm", "normalisation"),
    (r"(Max|Avg|Average|LP|Lp)(Un)?[pP]ool|^(Global|Adaptive)\w*Pool|Upsampl|Pixel(Un)?[sS]huffle|^Pool(ing)?\w*$"
     r"|ChannelShuffle", "pooling"),
    (r"Embedding(s|Bag)?$|Embed(der)?$", "embedding"),
    (r"Attention|Attn$|MultiHead|MultiQuery", "attention"),
    (r"Activation$|ReLU6?$|[GSC]?[ER]?ELU\d*$|GELU|SiLU|Swish|Mish$|Sigmoid|Tanh(shrink)?$|Soft(max|min|plus|sign|shrink)"
     r"|LogSoftmax|GLU$|Hard(tanh|shrink|swish|sigmoid)|Threshold$", "activation"),
    (r"LSTM|GRU|RNN(Cell|Base)?$", "recurrent"),
    (r"Conv(Transpose)?[123]d$", "convolution"),
    (r"Linear$|^(QuantLinear|Linear\w*)$", "linear"),
    (r"^(Flatten|Unflatten|Identity|Fold|Unfold|ZeroPad\w*|ConstantPad\w*|ReflectionPad\w*|ReplicationPad\w*"
     r"|CircularPad\w*|Reshape|View|Permute|Rearrange)$", "view"),
)  # fmt: skip
"""Patterns for names of classes, the first that is found decides."""
_CLASS_PATTERNS: tuple[tuple[re.Pattern[str], Family], ...] = tuple(
    (re.compile(pattern), family) for pattern, family in _CLASSES
)


@lru_cache(maxsize=4096)
def short_name(op: str) -> str:
    """Return the name of a function or operator as people say it.

    Example:
        >>> short_name("aten.addmm.default"), short_name("__getitem__"), short_name("relu_")
        ('addmm', 'getitem', 'relu_')
    """
    if "." in op:
        parts = op.split(".")
        op = parts[1] if len(parts) > 1 and parts[1] else op
    if len(op) > 4 and op.startswith("__") and op.endswith("__"):
        op = op[2:-2]
    return op


@lru_cache(maxsize=4096)
def _bare(op: str) -> str:
    name = short_name(op)
    stripped = name.strip("_")
    return stripped or name


@lru_cache(maxsize=4096)
def sign_of(op: str) -> str:
    """Return the sign of an element-wise arithmetic function or operator; empty for any other."""
    return ARITHMETIC.get(_bare(op), "")


@lru_cache(maxsize=4096)
def family_of_function(op: str) -> Family:
    """Return the family of a function or operator, given its name as the graph has it.

    A node of autograd is of the family of what it differentiates.

    Example:
        >>> family_of_function("aten.addmm.default"), family_of_function("MaxPool2DWithIndicesBackward0")
        ('linear', 'pooling')
    """
    forward = _BACKWARD.sub("", op)
    if forward != op and forward:
        return _FAMILY_OF_NODE.get(forward.lower(), "other")
    return _FAMILY_OF_FUNCTION.get(_bare(op), "other")


@lru_cache(maxsize=4096)
def family_of_class(cls: str) -> Family:
    """Return the family of a module, or of its backward, given the name of its class."""
    forward = _BACKWARD.sub("", cls) or cls
    for pattern, family in _CLASS_PATTERNS:
        if pattern.search(forward):
            return family
    return "other"
