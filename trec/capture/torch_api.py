"""Everything of torch that is private or may change, under one name each; no other file reaches for it.

Names are bound once, so that using them costs no more than using torch itself. `tests/capture/test_torch_api.py` says
for each what is relied on, and fails where torch gives it another meaning.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import torch
import torch.utils._python_dispatch as _dispatch
from torch import overrides as _overrides
from torch._jit_internal import boolean_dispatched as boolean_dispatched
from torch.nn.modules import module as _modules
from torch.utils import _device
from torch.utils._python_dispatch import TorchDispatchMode as TorchDispatchMode

if TYPE_CHECKING:
    from types import CodeType, FrameType

_C: Any = torch._C

use_count: Any = getattr(torch.Tensor, "_use_count", None)
"""How many references there are in C++ to the tensor inside a tensor object; that of the object is one."""

# ---- keeping out of the way

DisableTorchFunction: Any = _C.DisableTorchFunction
"""Context in which no function mode and no tensor subclass sees what is called."""

DisableTorchDispatch: Any = _C._DisableTorchDispatch
"""Context in which no dispatch mode sees what runs."""

current_dispatch_mode: Any = _dispatch._get_current_dispatch_mode
"""The innermost dispatch mode, or None."""

without_dispatch_mode: Any = _dispatch._pop_mode_temporarily
"""Context without the innermost dispatch mode, which it yields."""

dispatch_modes: Any = _dispatch._get_current_dispatch_mode_stack
"""The dispatch modes, outermost first."""

pop_dispatch_mode: Any = _dispatch._pop_mode
push_dispatch_mode: Any = _dispatch._push_mode
"""Take off the innermost dispatch mode, put on another: to mend the stack that a model left."""

function_modes: Any = _overrides._get_current_function_mode_stack
"""The function modes, outermost first."""

pop_function_mode: Any = _overrides._pop_mode
push_function_mode: Any = _overrides._push_mode
"""Take off the innermost function mode, put on another: to mend the stack that a model left."""

wrapped_by_functorch: Any = _C._functorch.is_functorch_wrapped_tensor
"""Whether a tensor is one of those that `vmap`, `grad` and their like hand to the function that they transform."""

inside_functorch: Any = _C._functorch.get_unwrapped
"""The tensor that lies in the outermost wrapper of one."""

transform_inside: Any = _C._functorch.peek_interpreter_stack
"""The innermost transform (`vmap`, `grad`, ...) that runs, or None."""

transform_level: Any = _C._functorch.maybe_current_level
"""How many transforms run, one in another; None if there are none."""

count_of_function_modes: Any = _C._len_torch_function_stack
count_of_dispatch_modes: Any = _C._len_torch_dispatch_stack
"""How many modes stand on each stack."""

is_autocast_on: Any = _C._is_any_autocast_enabled
"""Whether autocast is on for any kind of device."""

PYTHON_KEY: Any = _C.DispatchKey.Python
exclude_key: Any = _C._dispatch_tls_set_dispatch_key_excluded
"""Leave out a step of the dispatch, here the one that calls dispatch modes, or take it in again."""

scripts_as_written: Any = torch.jit.optimized_execution  # type: ignore[attr-defined]
"""Context, given False, in which a script runs as written, in its second call as in its first."""

# ---- operators

OpOverload: Any = torch._ops.OpOverload
"""Class of operators such as `aten.add.Tensor`: `_schema` tells what they do, `_op` runs them without a wrapper."""

OpOverloadPacket: Any = torch._ops.OpOverloadPacket
"""Class of all overloads of an operator together, such as `aten.add`; as text it is its full name."""

HigherOrderOperator: Any = torch._ops.HigherOrderOperator
"""Class of operators that are given functions; `py_kernels` holds what runs them."""

EAGER: Any = _C.DispatchKey.CompositeExplicitAutograd
"""Key of the kernel of a higher-order operator that runs its functions as they are."""

schemas_of: Any = _C._jit_get_schemas_for_operator
"""All schemas of an operator by its full name, such as `aten::add`; none if there is no such operator."""


def process_group(name: str) -> Any:
    """Return the group of processes that functional operators know by a name."""
    distributed: Any = torch.distributed.distributed_c10d
    return distributed._resolve_process_group(name)


def infers_sizes() -> bool:
    """Return whether torch runs what it runs only to learn the sizes of a result that is spread over ranks."""
    if _C._get_dispatch_mode(_C._TorchDispatchModeKey.FAKE) is None:
        return False
    propagator = getattr(sys.modules.get("torch.distributed.tensor._sharding_prop"), "ShardingPropagator", None)
    code = getattr(getattr(propagator, "_propagate_tensor_meta_non_cached", None), "__code__", None)
    return code is not None and _stands_on_stack(code)


def _stands_on_stack(code: CodeType) -> bool:
    frame: FrameType | None = sys._getframe(2)
    while frame is not None and frame.f_code is not code:
        frame = frame.f_back
    return frame is not None


def manages_storage(frame: FrameType) -> bool:
    """Return whether code of FSDP asks for a storage, which it only makes large or small, in the given stack frame."""
    return str(frame.f_globals.get("__name__", "")).startswith("torch.distributed.fsdp.")


# ---- modules

module_hooks: Any = _modules
"""The module that holds torch's tables of hooks for every module, and the functions that fill them."""

module_call_code: Any = torch.nn.Module._call_impl.__code__
"""The code in which every call of a module runs, to tell calls of modules on the stack."""

global_hooks: list[dict[Any, Any]] = [
    table for name, table in vars(_modules).items() if name.startswith("_global_") and isinstance(table, dict)
]
"""Torch's tables of hooks that hold for every module."""

parametrizations: Any = torch.nn.utils.parametrize
"""The module that holds what `parametrize.cached` keeps: `_cache`, by module and name, and `_cache_enabled`."""

UninitializedTensor: Any = torch.nn.parameter.UninitializedTensorMixin  # type: ignore[attr-defined]
"""Class of the parameters and buffers of lazy modules before their first call, which have no shape."""

Dropout: Any = torch.nn.modules.dropout._DropoutNd
"""Base of the dropout modules, which return their argument when they are not training."""


def script_attributes(module: Any) -> list[str]:
    """Return the names of the attributes of a scripted module, but for parameters; none where torch tells of none."""
    described = getattr(module, "_concrete_type", None)
    return [] if described is None else [name for name, (_, param) in described.get_attributes().items() if not param]


# ---- what a tensor was

set_versions: Any = _C._autograd._unsafe_set_version_counter
"""Set how often tensors were written, so that a backward pass of the user's that is still to come finds nothing new."""

swap_tensors: Any = _C._swap_tensor_impl
"""Exchange all of two tensors but their identity."""

plain_dispatch: Any = _C._disabled_torch_dispatch_impl
"""The `__torch_dispatch__` of classes of tensors that leave operators alone."""

saved_tensors_hooks: Any = _C._autograd._top_saved_tensors_default_hooks
"""The innermost hooks on tensors that are saved for the backward pass, or None."""

pop_saved_tensors_hooks: Any = _C._autograd._pop_saved_tensors_default_hooks
"""Take them off."""

next_sequence_number: Any = _C._autograd._get_sequence_nr
"""The number that the next node of autograd's graph gets; while an operator runs, its own node has the one before."""


def sequence_number(node: Any) -> int:
    """Return the number of a node of autograd's graph, which grows from node to node in one thread."""
    return int(node._sequence_nr())


current_autograd_node: Any = _C._current_autograd_node
"""The node of autograd's graph that the running thread differentiates, or None."""


# ---- switches

default_device: Any = _device
"""The module whose `CURRENT_DEVICE` tells where tensors are made by default."""

set_grad_enabled: Any = _C._set_grad_enabled
"""Set the grad mode, for longer than a context."""

fills_uninitialized: Any = _C._get_deterministic_fill_uninitialized_memory
set_fills_uninitialized: Any = _C._set_deterministic_fill_uninitialized_memory
"""Whether fresh memory is filled where deterministic algorithms are asked for."""


multithreaded_backward: Any = _C._is_multithreading_enabled
set_multithreaded_backward: Any = _C._set_multithreading_enabled
"""Whether backward passes may run in threads of their own."""

forward_differentiation: Any = torch.autograd.forward_ad
"""The module of forward differentiation; `_current_level` tells how many levels are open, -1 for none."""

autocast_devices: Any = _C._autocast_supported_devices
"""The kinds of devices that autocast knows."""

precisions: Any = getattr(_C, "_get_fp32_precision_getter", None)
set_precision: Any = getattr(_C, "_set_fp32_precision_setter", None)
"""How exact products and convolutions are, for a backend and a kind of operators; older versions of torch lack them."""

print_options: Any = torch._tensor_str.PRINT_OPTS
"""The options of `torch.set_printoptions`."""

default_device_context: Any = torch._GLOBAL_DEVICE_CONTEXT
"""What holds, for each thread, the context that `torch.set_default_device` entered."""


def backend_switch(name: str, flag: str) -> tuple[Any, Any]:
    """Return what reads and what sets a switch of `torch.backends`, whose own attributes can be frozen."""
    return getattr(_C, f"_get_{name}_{flag}"), getattr(_C, f"_set_{name}_{flag}")
