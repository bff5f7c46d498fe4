"""Functions of torch that are recorded without a look at their operators, because these tell nothing more.

To watch the operators of a call costs more than most calls do. Of the functions listed here it is known that they read
the tensors that they are given and no others, write none of them, and return tensors that are new, views of what was
given, or what was given itself. So at the level of functions, arguments and results say all there is to record, as long
as nothing else looks at the operators or keeps tensors of their making.
"""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor
from torch.autograd import forward_ad
from torch.nn import Parameter, functional

from trec.capture.arguments import freeze
from trec.capture.leaves import add_tensors
from trec.capture.log import Call
from trec.capture.sources import caller_place
from trec.capture.torch_api import PYTHON_KEY as _PYTHON
from trec.capture.torch_api import count_of_dispatch_modes as _operator_modes
from trec.capture.torch_api import count_of_function_modes as _function_modes
from trec.capture.torch_api import exclude_key as _exclude
from trec.capture.torch_api import is_autocast_on as _autocast_enabled
from trec.capture.torch_api import transform_level as _transform_level

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from trec.capture.recorder import Recorder
    from trec.capture.thread import Thread
    from trec.capture.values.storages import Storage

_grad_enabled = torch.is_grad_enabled

WATCH: Any = object()
"""Instead of a result: the call was not made, its operators must be watched."""

Unless = tuple[tuple[int, str], ...]
"""Positions and names of arguments: if one is given and neither None nor False, the call must be watched."""


class DirectCalls:
    """Makes calls and records them by what they are given and return."""

    def __init__(self, recorder: Recorder, thread: Thread) -> None:
        self.recorder, self.thread = recorder, thread
        self.memory, self.log, self.lock = recorder.memory, recorder.log, recorder.lock

    def call(self, function: Any, unless: Unless, args: tuple[Any, ...], kwargs: dict[str, Any] | None) -> Any:
        """Return the result of a function in `DIRECT`, or `WATCH` if its operators may tell more than its arguments.

        They do where autocast or a transform puts in operators of its own, and where a mode of somebody else's runs.
        What autograd saves for its backward pass can be read later, so nothing that it follows is recorded so. Nor is
        what is given arrays, or objects that are asked for numbers meanwhile: they may hold tensors too.
        """
        if (
            self.thread.call is not None
            or _autocast_enabled()
            or _transform_level() is not None
            or _function_modes()
            or _operator_modes() != 1
            or forward_ad._current_level >= 0
        ):
            return WATCH
        for position, key in unless:
            asked = args[position] if len(args) > position else kwargs.get(key) if kwargs else None
            if asked is not None and asked is not False:
                return WATCH
        if not _tell_all(args) or (kwargs and not _tell_all(kwargs.values())):
            return WATCH
        thread, log = self.thread, self.log
        frozen, tensors = freeze(args, kwargs)
        _exclude(_PYTHON, True)
        try:
            with self.lock:
                read = self._read(tensors)
                if read is None:
                    return WATCH
                given, storages = read
                arguments = log.arguments(function, frozen)
                if function in COMPOSED and not self._is_measured(arguments, given):
                    return WATCH
            scope = thread.scope
            place = None if log.scopes[scope].native else caller_place(3)
            try:
                result = function(*args, **kwargs) if kwargs else function(*args)
            except BaseException as error:
                self.recorder.note_failed_call(Call(function, scope, place, [], arguments, (), given), error)
                raise
            with self.lock:
                if function in COMPOSED:
                    log.unwatched.append((len(log.types), self._kind(arguments, given)))
                made = self._made(result, tensors, given, storages)
                log.events.append(("op", function, scope, given, made, arguments, place))
            return result
        finally:
            _exclude(_PYTHON, False)

    def _is_measured(self, arguments: int, given: list[int]) -> bool:
        """Whether a call just like this one was watched, so that it is known what memory it takes while it runs."""
        log, kind = self.log, self._kind(arguments, given)
        if kind in log.watched:
            return True
        log.watched[kind] = len(log.types)
        return False

    def _kind(self, arguments: int, given: list[int]) -> tuple[int, ...]:
        return (arguments, *map(self.log.types.__getitem__, given))

    def _read(self, tensors: list[Tensor]) -> tuple[list[int], list[Storage]] | None:
        """Return the values and storages of what is given; None if the call must be watched."""
        memory, thread = self.memory, self.thread
        entries, grad = memory.entries, _grad_enabled()
        given: list[int] = []
        storages: list[Storage] = []
        for tensor in tensors:
            kind = type(tensor)
            if (kind is not Tensor and kind is not Parameter) or (grad and tensor.requires_grad):
                return None
            entry = entries.get(id(tensor))
            if entry is None or entry.tensor() is not tensor or entry.seen != entry.storage.version:
                entry = memory.entry(tensor, thread)
            storage = entry.storage
            if storage.key is None or not (given or tensor.numel()):  # of nothing, some functions read nothing
                return None
            given.append(entry.value)
            storages.append(storage)
        return given, storages

    def _made(self, result: Any, tensors: list[Tensor], given: list[int], storages: list[Storage]) -> Sequence[int]:
        """Return the values of what a call returned; what it was given itself has a new value from now on."""
        memory, thread = self.memory, self.thread
        results: list[Tensor] = []
        if type(result) is not Tensor:
            add_tensors(result, results)
        elif not _holds(tensors, result):
            return (memory.make(result, storages, False, given),)
        else:
            results.append(result)
        if any(_holds(tensors, other) for other in results):
            distinct = {id(other): other for other in results}.values()
            return [thread.rename(memory.entry(other, thread), len(thread.frames)) for other in distinct]
        return [memory.make(other, storages) for other in results]  # they have all that is read in common


def _holds(tensors: list[Tensor], tensor: Tensor) -> bool:
    for other in tensors:  # noqa: SIM110 - `in` would compare numbers, `any` takes longer
        if other is tensor:
            return True
    return False


_PLAIN = frozenset({
    Tensor, Parameter, int, float, bool, str, complex, type(None), type(Ellipsis), torch.dtype, torch.device,
    torch.Size, torch.layout, torch.memory_format,
})  # fmt: skip
_BOUNDS = frozenset({int, type(None)})


def _tell_all(values: Iterable[Any]) -> bool:
    """Whether all tensors among arguments can be seen, and no code of others runs when they are read."""
    for value in values:
        kind = type(value)
        if kind in _PLAIN:
            continue
        if kind is slice:
            if not _BOUNDS.issuperset((type(value.start), type(value.stop), type(value.step))):
                return False
        elif (kind is not tuple and kind is not list) or not _tell_all(value):
            return False
    return True


_ELEMENTWISE = (
    "abs", "acos", "acosh", "add", "addcdiv", "addcmul", "angle", "asin", "asinh", "atan", "atan2", "atanh",
    "bitwise_and", "bitwise_not", "bitwise_or", "bitwise_xor", "ceil", "clamp", "clamp_max", "clamp_min", "clip",
    "copysign", "cos", "cosh", "div", "divide", "eq", "erf", "erfc", "erfinv", "exp", "exp2", "expm1",
    "float_power", "floor", "floor_divide", "fmax", "fmin", "fmod", "frac", "ge", "greater", "greater_equal", "gt",
    "hypot", "isfinite", "isinf", "isnan", "le", "lerp", "less", "less_equal", "lgamma", "log", "log10", "log1p",
    "log2", "logaddexp", "logical_and", "logical_not", "logical_or", "logical_xor", "logit", "lt", "masked_fill",
    "maximum", "minimum", "mul", "multiply", "nan_to_num", "ne", "neg", "negative", "not_equal", "pow", "prelu",
    "reciprocal", "relu", "remainder", "round", "rsqrt", "rsub", "sigmoid", "sign", "sin", "sinc", "sinh", "sqrt",
    "square", "sub", "subtract", "tan", "tanh", "true_divide", "trunc", "where", "xlogy",
)  # fmt: skip
_PRODUCTS = (
    "addbmm", "addmm", "addmv", "addr", "baddbmm", "bmm", "cdist", "conv1d", "conv2d", "conv3d", "conv_transpose1d",
    "conv_transpose2d", "conv_transpose3d", "cross", "dot", "inner", "kron", "matmul", "mm", "mv", "outer", "vdot",
    "rnn_tanh_cell", "rnn_relu_cell", "lstm_cell", "gru_cell",
)  # fmt: skip
_REDUCTIONS = (
    "all", "amax", "amin", "any", "argmax", "argmin", "argsort", "count_nonzero", "cummax", "cummin", "cumprod",
    "cumsum", "diff", "histc", "log_softmax", "logsumexp", "max", "mean", "median", "min", "norm", "prod",
    "softmax", "sort", "std", "sum", "topk", "trace", "unique", "var",
)  # fmt: skip
_SHAPES = (
    "cat", "concat", "stack", "hstack", "vstack", "chunk", "contiguous", "diagonal", "detach", "clone", "expand",
    "flatten", "flip", "gather", "index_select", "masked_select", "movedim", "narrow", "permute", "ravel", "repeat",
    "repeat_interleave", "reshape", "roll", "scatter", "scatter_add", "select", "split", "squeeze", "swapaxes", "t",
    "take", "take_along_dim", "tile", "transpose", "tril", "triu", "unbind", "unflatten", "unfold", "unsqueeze",
    "view", "pixel_shuffle", "bool", "double", "float", "half", "int", "long", "bfloat16", "__getitem__",
)  # fmt: skip
_ARITHMETIC = (
    "__add__", "__radd__", "__sub__", "__rsub__", "__mul__", "__rmul__", "__truediv__", "__rtruediv__",
    "__floordiv__", "__pow__", "__rpow__", "__neg__", "__matmul__", "__and__", "__or__", "__xor__", "__invert__",
    "__eq__", "__ne__", "__lt__", "__le__", "__gt__", "__ge__", "__mod__",
)  # fmt: skip
_CREATION = ("arange", "empty", "eye", "full", "linspace", "ones", "rand", "randint", "randn", "randperm", "zeros")
_LAYERS = (
    "adaptive_avg_pool1d", "adaptive_avg_pool2d", "adaptive_avg_pool3d", "avg_pool1d", "avg_pool2d", "avg_pool3d",
    "batch_norm", "celu", "cosine_similarity", "dropout", "elu", "embedding", "gelu", "glu", "grid_sample",
    "group_norm", "hardsigmoid", "hardswish", "hardtanh", "interpolate", "layer_norm", "leaky_relu", "linear",
    "log_softmax", "logsigmoid", "max_pool1d", "max_pool2d", "max_pool3d", "mish", "normalize", "one_hot", "pad",
    "prelu", "relu", "relu6", "rms_norm", "scaled_dot_product_attention", "selu", "silu", "softmax", "softmin",
    "softplus", "softsign", "tanhshrink", "unfold",
)  # fmt: skip

_DECIDING = ("inplace", "out", "max_norm", "training", "mode")
"""Arguments that make a function write what it is given, or run by other operators."""


_NOWHERE = 1_000
"""Position of an argument that is given by name only."""


def _functions() -> Iterator[Any]:
    for name in (*_ELEMENTWISE, *_PRODUCTS, *_REDUCTIONS, *_SHAPES):
        yield getattr(torch, name, None)
        yield getattr(Tensor, name, None)
    for name in _ARITHMETIC:
        yield getattr(Tensor, name, None)
    for name in _CREATION:
        yield getattr(torch, name)
    for name in _LAYERS:
        yield getattr(functional, name, None)


def _unless(function: Any) -> Unless:
    try:
        parameters = list(inspect.signature(function).parameters)
    except (TypeError, ValueError):
        return ((_NOWHERE, "out"),)
    return tuple((parameters.index(name), name) for name in _DECIDING if name in parameters)


COMPOSED = frozenset({
    getattr(owner, name)
    for owner in (torch, Tensor, functional)
    for name in (
        "matmul", "__matmul__", "__rmatmul__", "cdist", "kron", "norm", "median", "isfinite", "float_power",
        "rnn_tanh_cell", "rnn_relu_cell", "lstm_cell", "gru_cell", "cosine_similarity", "logsigmoid", "max_pool1d",
        "max_pool2d", "max_pool3d", "normalize", "one_hot", "rms_norm", "scaled_dot_product_attention", "softmin",
        "tanhshrink",
    )
    if callable(getattr(owner, name, None))
})  # fmt: skip
"""Those that need memory beyond their results while they run: the first call of each kind is watched for that."""


DIRECT: dict[Any, Unless] = {function: _unless(function) for function in _functions() if callable(function)}
"""Each of those functions, and what must not be asked of it."""
