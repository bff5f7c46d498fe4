"""Switches of torch that a model can turn: how each is read and set."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch

from trec.capture.torch_api import (
    autocast_devices,
    backend_switch,
    default_device,
    default_device_context,
    fills_uninitialized,
    forward_differentiation,
    multithreaded_backward,
    parametrizations,
    precisions,
    print_options,
    set_fills_uninitialized,
    set_grad_enabled,
    set_multithreaded_backward,
    set_precision,
)

if TYPE_CHECKING:
    from collections.abc import Callable

sparse_checks: Any = torch.sparse.check_sparse_tensor_invariants

Switch = tuple[str, "Callable[[], Any]", "Callable[[Any], Any]"]
"""What it is, and how it is read and set."""


def _backend(name: str, flag: str) -> Switch:
    return (f"torch.backends.{name}.{flag}", *backend_switch(name, flag))


def _attention(name: str) -> Switch:
    cuda = torch.backends.cuda
    return (f"attention by {name}", getattr(cuda, f"{name}_sdp_enabled"), getattr(cuda, f"enable_{name}_sdp"))


def _autocast(device: str) -> tuple[Switch, Switch]:
    return (
        (
            f"autocast on {device}",
            lambda: torch.is_autocast_enabled(device),
            lambda value: torch.set_autocast_enabled(device, value),
        ),
        (
            f"dtype of autocast on {device}",
            lambda: torch.get_autocast_dtype(device),
            lambda value: torch.set_autocast_dtype(device, value),
        ),
    )


def _autocast_depth() -> int:
    depth: int = torch.autocast_increment_nesting()
    torch.autocast_decrement_nesting()
    return depth


def _set_autocast_depth(wanted: int) -> None:
    depth = _autocast_depth()
    for _ in range(wanted, depth):
        torch.autocast_decrement_nesting()
    for _ in range(depth, wanted):
        torch.autocast_increment_nesting()


def _flushes_denormals() -> bool:
    smallest = 5e-324
    return smallest * len((smallest,)) == 0


def _leave_levels(wanted: int) -> None:
    while forward_differentiation._current_level > wanted:
        forward_differentiation.exit_dual_level()


def _print_options() -> dict[str, Any]:
    return dict(vars(print_options))


_OPERATORS = (
    ("generic", "all"),
    *((name, kind) for name in ("cuda", "mkldnn") for kind in ("all", "matmul", "conv", "rnn")),
)
"""Backends and kinds of operators that have a precision of their own, those that others follow first."""


def _precisions() -> list[str]:
    return [precisions(*which) for which in _OPERATORS] if precisions is not None else []


def _set_precisions(wanted: list[str]) -> None:
    for which, precision in zip(_OPERATORS, wanted, strict=False):
        if precisions(*which) != precision:
            set_precision(*which, precision)


SWITCHES: tuple[Switch, ...] = (
    ("grad mode", torch.is_grad_enabled, set_grad_enabled),
    ("default dtype", torch.get_default_dtype, torch.set_default_dtype),
    (
        "anomaly mode",
        lambda: (torch.is_anomaly_enabled(), torch.is_anomaly_check_nan_enabled()),
        lambda value: torch.set_anomaly_enabled(*value),
    ),
    (
        "deterministic algorithms",
        lambda: (
            torch.are_deterministic_algorithms_enabled(),
            torch.is_deterministic_algorithms_warn_only_enabled(),
        ),
        lambda value: torch.use_deterministic_algorithms(value[0], warn_only=value[1]),
    ),
    (
        "filling of uninitialised memory",
        fills_uninitialized,
        set_fills_uninitialized,
    ),
    ("number of threads", torch.get_num_threads, torch.set_num_threads),
    ("precisions of float32", _precisions, _set_precisions),
    ("precision of matrix products", torch.get_float32_matmul_precision, torch.set_float32_matmul_precision),
    ("repeated warnings", torch.is_warn_always_enabled, torch.set_warn_always),
    ("flushing of the smallest numbers", _flushes_denormals, torch.set_flush_denormal),
    (
        "exchange of parameters in conversions",
        torch.__future__.get_swap_module_params_on_conversion,
        torch.__future__.set_swap_module_params_on_conversion,
    ),
    (
        "replacement of parameters in conversions",
        torch.__future__.get_overwrite_module_params_on_conversion,
        torch.__future__.set_overwrite_module_params_on_conversion,
    ),
    (
        "engine of quantised operators",
        lambda: torch.backends.quantized.engine,
        lambda value: setattr(torch.backends.quantized, "engine", value),
    ),
    (
        "checks of sparse tensors",
        sparse_checks.is_enabled,
        lambda value: (sparse_checks.enable if value else sparse_checks.disable)(),
    ),
    ("level of forward differentiation", lambda: forward_differentiation._current_level, _leave_levels),
    ("threads of autograd", multithreaded_backward, set_multithreaded_backward),
    ("options of printing", _print_options, lambda value: vars(print_options).update(value)),
    *(_backend("cudnn", flag) for flag in ("enabled", "benchmark", "deterministic", "allow_tf32")),
    _backend("mkldnn", "enabled"),
    *(_attention(name) for name in ("flash", "mem_efficient", "math", "cudnn")),
    *(switch for device in autocast_devices() for switch in _autocast(device)),
    ("cache of autocast", torch.is_autocast_cache_enabled, torch.set_autocast_cache_enabled),
    (
        "depth of contexts that keep parametrized tensors",
        lambda: parametrizations._cache_enabled,
        lambda value: setattr(parametrizations, "_cache_enabled", value),
    ),
    ("depth of autocast", _autocast_depth, _set_autocast_depth),
    (
        "default device",
        lambda: default_device.CURRENT_DEVICE,
        lambda value: setattr(default_device, "CURRENT_DEVICE", value),
    ),
    (
        "context of the default device",
        lambda: getattr(default_device_context, "device_context", None),
        lambda value: setattr(default_device_context, "device_context", value),
    ),
)
