"""Switches of torch that a model can turn: how each is read and set."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
import torch.utils._device as default_device

if TYPE_CHECKING:
    from collections.abc import Callable

Switch = tuple[str, "Callable[[], Any]", "Callable[[Any], Any]"]
"""What it is, and how it is read and set."""


def _backend(name: str, flag: str) -> Switch:
    core: Any = torch._C  # the attributes of `torch.backends` can be frozen
    return (f"torch.backends.{name}.{flag}", getattr(core, f"_get_{name}_{flag}"), getattr(core, f"_set_{name}_{flag}"))


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


def _print_options() -> dict[str, Any]:
    return dict(vars(torch._tensor_str.PRINT_OPTS))


SWITCHES: tuple[Switch, ...] = (
    ("grad mode", torch.is_grad_enabled, torch._C._set_grad_enabled),
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
        torch._C._get_deterministic_fill_uninitialized_memory,
        torch._C._set_deterministic_fill_uninitialized_memory,
    ),
    ("number of threads", torch.get_num_threads, torch.set_num_threads),
    ("precision of matrix products", torch.get_float32_matmul_precision, torch.set_float32_matmul_precision),
    ("repeated warnings", torch.is_warn_always_enabled, torch.set_warn_always),
    ("threads of autograd", torch._C._is_multithreading_enabled, torch._C._set_multithreading_enabled),
    ("options of printing", _print_options, lambda value: vars(torch._tensor_str.PRINT_OPTS).update(value)),
    *(_backend("cudnn", flag) for flag in ("enabled", "benchmark", "deterministic", "allow_tf32")),
    _backend("mkldnn", "enabled"),
    *(_attention(name) for name in ("flash", "mem_efficient", "math", "cudnn")),
    *(switch for device in torch._C._autocast_supported_devices() for switch in _autocast(device)),
    ("cache of autocast", torch.is_autocast_cache_enabled, torch.set_autocast_cache_enabled),
    ("depth of autocast", _autocast_depth, _set_autocast_depth),
    (
        "default device",
        lambda: default_device.CURRENT_DEVICE,
        lambda value: setattr(default_device, "CURRENT_DEVICE", value),
    ),
    (
        "context of the default device",
        lambda: getattr(torch._GLOBAL_DEVICE_CONTEXT, "device_context", None),
        lambda value: setattr(torch._GLOBAL_DEVICE_CONTEXT, "device_context", value),
    ),
)
