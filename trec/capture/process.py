"""Random generators, switches, hooks and stacks of modes of the process, before a recording and after."""

from __future__ import annotations

import random
import sys
from operator import is_
from typing import TYPE_CHECKING, Any

import torch
from torch.nn.modules import module as module_hooks
from torch.overrides import _get_current_function_mode_stack, _pop_mode, _push_mode
from torch.utils import _python_dispatch as dispatch

from trec.capture.refill import refill_dict
from trec.capture.switches import SWITCHES

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from trec.capture.left import Left

_GLOBAL_HOOKS: list[dict[Any, Any]] = [
    table for name, table in vars(module_hooks).items() if name.startswith("_global_") and isinstance(table, dict)
]
_saving_hooks: Any = torch._C._autograd._top_saved_tensors_default_hooks


class Process:
    """What they were when this was made.

    A global generator that another thread draws from meanwhile is put back all the same. What autocast has cast is
    forgotten before and after: a weight that it cast before would be a tensor without a past, and what it casts
    meanwhile may be of weights that are put back.
    """

    def __init__(self) -> None:
        self._torch = torch.get_rng_state()
        self._python = random.getstate()
        cuda = torch.cuda.is_available() and torch.cuda.is_initialized()  # type: ignore[no-untyped-call]
        self._cuda = torch.cuda.get_rng_state_all() if cuda else None
        numpy: Any = sys.modules.get("numpy")
        self._numpy = numpy.random.get_state() if hasattr(numpy, "random") else None
        self._switches = [read() for _, read, _ in SWITCHES]
        self._inference = torch.is_inference_mode_enabled()
        self._function_modes = _get_current_function_mode_stack()  # type: ignore[no-untyped-call]
        self._operator_modes = dispatch._get_current_dispatch_mode_stack()
        self._saving: tuple[Any, ...] | None = _saving_hooks(True)
        self._hooks = [table.copy() for table in _GLOBAL_HOOKS]
        self._full_backward = module_hooks._global_is_full_backward_hook

    def begin(self) -> None:
        """Forget what autocast has cast."""
        torch.clear_autocast_cache()

    def leave_modes(self, left: Left) -> None:
        """Take off what stands on the stacks of modes since, so that nothing watches when the rest is put back."""
        left.attempt(
            "the stack of torch function modes",
            _restack, self._function_modes, _get_current_function_mode_stack, _pop_mode, _push_mode,
        )  # fmt: skip
        left.attempt(
            "the stack of torch dispatch modes",
            _restack, self._operator_modes, dispatch._get_current_dispatch_mode_stack, dispatch._pop_mode,
            dispatch._push_mode,
        )  # fmt: skip
        left.attempt("the hooks on saved tensors", self._leave_saving)

    def drop_guards(self) -> None:
        """Let torch forget our modes once more, after what the model kept is gone.

        A guard of inference mode puts back, when it dies, what torch dispatched to when it was made: modes, if it was
        made while we recorded, though by now there are none.
        """
        dispatch._push_mode(dispatch.TorchDispatchMode())  # type: ignore[no-untyped-call]
        dispatch._pop_mode()

    def restore(self, left: Left) -> None:
        """Put them back."""
        if torch.is_inference_mode_enabled() != self._inference:
            left.append("inference mode was entered by the model and is still on; only what entered it can end it")
        for (what, read, write), old in zip(SWITCHES, self._switches, strict=True):
            if read() != old:
                left.attempt(what, write, old)
        for table, hooks in zip(_GLOBAL_HOOKS, self._hooks, strict=True):
            left.attempt("hooks on all modules", refill_dict, table, hooks)
        module_hooks._global_is_full_backward_hook = self._full_backward
        left.attempt("the random generator of torch", torch.set_rng_state, self._torch)
        left.attempt("the random generator of Python", random.setstate, self._python)
        if self._cuda is not None:
            left.attempt("the random generators of CUDA", torch.cuda.set_rng_state_all, self._cuda)
        if self._numpy is not None:
            left.attempt("the random generator of numpy", sys.modules["numpy"].random.set_state, self._numpy)
        torch.clear_autocast_cache()

    def _leave_saving(self) -> None:
        while (now := _saving_hooks(True)) is not None:
            if all(map(is_, now, self._saving or (None, None))):
                return
            torch._C._autograd._pop_saved_tensors_default_hooks()


def _restack(
    old: Sequence[Any], read: Callable[[], Sequence[Any]], pop: Callable[[], Any], push: Callable[[Any], Any]
) -> None:
    now = read()
    if len(now) == len(old) and all(map(is_, now, old)):
        return
    for _ in now:
        pop()
    for mode in old:
        push(mode)
