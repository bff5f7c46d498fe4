"""Random generators, switches, hooks and stacks of modes of the process, before a recording and after."""

from __future__ import annotations

import random
import sys
from operator import is_
from typing import TYPE_CHECKING, Any

import torch

from trec.capture import own_hooks, torch_api
from trec.capture.restore.switches import SWITCHES

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from trec.capture.restore.left import Left


_UNKNOWN = object()


class Process:
    """What they were when this was made.

    A global generator that another thread draws from meanwhile is put back all the same. What autocast has cast is
    forgotten before and after: a weight that it cast before would be a tensor without a past, and what it casts
    meanwhile may be of weights that are put back. So is what `parametrize.cached` keeps, but that is put back.
    """

    def __init__(self) -> None:
        self._torch = torch.get_rng_state()
        self._python = random.getstate()
        cuda = torch.cuda.is_available() and torch.cuda.is_initialized()  # type: ignore[no-untyped-call]
        self._cuda = torch.cuda.get_rng_state_all() if cuda else None
        numpy: Any = sys.modules.get("numpy")
        self._numpy = numpy.random.get_state() if hasattr(numpy, "random") else None
        self._switches = [_read(read) for _, read, _ in SWITCHES]
        self._inference = torch.is_inference_mode_enabled()
        self._function_modes = torch_api.function_modes()
        self._operator_modes = torch_api.dispatch_modes()
        self._saving: tuple[Any, ...] | None = torch_api.saved_tensors_hooks(True)
        self._hooks = own_hooks.of_others()
        self._parametrized = torch_api.parametrizations._cache
        self._full_backward = torch_api.module_hooks._global_is_full_backward_hook

    def begin(self) -> None:
        """Let autocast, and contexts that keep parametrized tensors, begin anew."""
        torch.clear_autocast_cache()
        torch_api.parametrizations._cache = {}

    def leave_modes(self, left: Left) -> None:
        """Take off what stands on the stacks of modes since, so that nothing watches when the rest is put back."""
        left.attempt(
            "the stack of torch function modes",
            _restack, self._function_modes, torch_api.function_modes, torch_api.pop_function_mode,
            torch_api.push_function_mode,
        )  # fmt: skip
        left.attempt(
            "the stack of torch dispatch modes",
            _restack, self._operator_modes, torch_api.dispatch_modes, torch_api.pop_dispatch_mode,
            torch_api.push_dispatch_mode,
        )  # fmt: skip
        left.attempt("the hooks on saved tensors", self._leave_saving)

    def drop_guards(self, left: Left) -> None:
        """Let torch forget our modes once more, after what the model kept is gone.

        A guard of inference mode puts back, when it dies, what torch dispatched to when it was made: modes, if it was
        made while we recorded, though by now there are none.
        """
        torch_api.push_dispatch_mode(torch_api.TorchDispatchMode())  # type: ignore[no-untyped-call]
        torch_api.pop_dispatch_mode()

    def restore(self, left: Left) -> None:
        """Put them back."""
        if torch.is_inference_mode_enabled() != self._inference:
            left.append("inference mode was entered by the model and is still on; only what entered it can end it")
        for (what, read, write), old in zip(SWITCHES, self._switches, strict=True):
            if old is not _UNKNOWN:
                left.attempt(what, _turn, read, write, old)
        left.attempt("hooks on all modules", own_hooks.put_back, self._hooks)
        torch_api.module_hooks._global_is_full_backward_hook = self._full_backward
        torch_api.parametrizations._cache = self._parametrized
        left.attempt("the random generator of torch", torch.set_rng_state, self._torch)
        left.attempt("the random generator of Python", random.setstate, self._python)
        if self._cuda is not None:
            left.attempt("the random generators of CUDA", torch.cuda.set_rng_state_all, self._cuda)
        if self._numpy is not None:
            left.attempt("the random generator of numpy", sys.modules["numpy"].random.set_state, self._numpy)
        torch.clear_autocast_cache()

    def _leave_saving(self) -> None:
        while (now := torch_api.saved_tensors_hooks(True)) is not None:
            if all(map(is_, now, self._saving or (None, None))):
                return
            torch_api.pop_saved_tensors_hooks()


def _read(read: Callable[[], Any]) -> Any:
    try:
        return read()
    except RuntimeError:  # old switches cannot be asked where new ones were turned that mean the same
        return _UNKNOWN


def _turn(read: Callable[[], Any], write: Callable[[Any], Any], old: Any) -> None:
    if _read(read) != old:
        write(old)


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
