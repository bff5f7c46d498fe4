"""What autograd keeps no record of: calls without a gradient, and inputs that need none."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from weakref import ref

from torch.overrides import TorchFunctionMode

from trec.capture.functions import ACCESSORS, NO_CALLS, SILENT
from trec.capture.leaves import add_tensors
from trec.capture.torch_api import DisableTorchDispatch, DisableTorchFunction
from trec.capture.values.storages import storage_key
from trec.torchrecorder.calls import Origin
from trec.torchrecorder.views import stand_ins

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from torch import Tensor

_FORGETTING = frozenset({
    "zero_", "fill_", "normal_", "uniform_", "bernoulli_", "random_", "exponential_", "geometric_", "cauchy_",
    "log_normal_", "empty_like", "zeros_like", "ones_like", "full_like", "rand_like", "randn_like", "randint_like",
    "new_empty", "new_zeros", "new_ones", "new_full", "new_empty_strided",
})  # fmt: skip
"""Functions whose result has nothing of the numbers that they were given."""


class Step:
    """A call that autograd kept no record of, in the form of one that it did.

    Attributes:
        next_functions: sources of what the call was given, and which of their results, as a node of autograd's has it.
    """

    def __init__(self, name: str, origins: list[Origin], number: int) -> None:
        self.next_functions = tuple(origins)
        self.number = number
        """How many steps there were before."""
        self._name = name

    def name(self) -> str:
        """Return the name of the function."""
        return self._name


class History(TorchFunctionMode):
    """Follows where tensors come from, past what autograd knows, while it is entered.

    Args:
        is_drawn: tells whether what runs now reads an origin as a tensor that is drawn.
    """

    def __init__(self, is_drawn: Callable[[Origin], bool]) -> None:
        super().__init__()
        self._is_drawn = is_drawn
        self.clear()

    def clear(self) -> None:
        """Forget all steps."""
        self._steps: dict[int, tuple[Any, Origin]] = {}
        """By id of a tensor: a weak reference to it, and what it came from."""
        self._written: dict[Any, Step] = {}
        """By storage: the last step that wrote to it in place."""
        self._unknown_to: dict[Any, list[Origin]] = {}
        """By node of autograd's graph: what it read besides what autograd names."""
        self._stands: dict[Any, Origin] = {}
        """By node of autograd's graph: what is drawn in its place."""
        self._count = 0
        self.running = ""
        """Name of the function that runs."""

    def origin(self, tensor: Tensor) -> Origin:
        """Return what a tensor comes from, as it stands now."""
        if tensor.grad_fn is not None:
            return self._stands.get(tensor.grad_fn) or Origin(tensor.grad_fn, tensor.output_nr)
        reference, own = self._steps.get(id(tensor), (None, None))
        if own is None or reference is None or reference() is not tensor:
            own = Origin(tensor, 0)
        written = self._written.get(storage_key(tensor)) if self._written else None
        since = own.source.number if isinstance(own.source, Step) else -1
        return own if written is None or written.number <= since else Origin(written, 0)

    def sources(self, source: Any) -> Iterator[Origin]:
        """Yield what an operation read: first what autograd names, then the rest."""
        for before, index in source.next_functions:
            if before is not None:
                yield self._stands.get(before) or Origin(before, index)
        yield from self._unknown_to.get(source, ())

    def __torch_function__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        kwargs = kwargs or {}
        name = getattr(func, "__name__", "")
        if func in SILENT or name in ACCESSORS or name in NO_CALLS:
            return func(*args, **kwargs)
        given: list[Tensor] = []
        with DisableTorchFunction():
            add_tensors([args, kwargs], given)
            before = [] if name in _FORGETTING else [self.origin(tensor) for tensor in given]
            graded = [tensor.grad_fn is not None or tensor.requires_grad for tensor in given]
            versions = [_version(tensor) for tensor in given]
        outer, self.running = self.running, name
        try:
            result = func(*args, **kwargs)
        finally:
            self.running = outer
        with DisableTorchFunction(), DisableTorchDispatch():
            rest = [origin for origin, named in zip(before, graded, strict=False) if not named]
            written = {id(item): item for item, old in zip(given, versions, strict=True) if _version(item) != old}
            made: list[Tensor] = []
            add_tensors(result, made)
            made = [item for item in made if not any(item is other for other in given)] + list(written.values())
            if given:
                self._note(name, before, rest, made, set(written))
            for tensor, origin in zip(given, before, strict=False):
                if tensor is result and self._hides(tensor, origin):
                    self._stands |= stand_ins(func, args, kwargs, given, before, tensor)
        return result

    def _hides(self, tensor: Tensor, before: Origin) -> bool:
        """Tell whether a write to a drawn tensor is noted at the tensor under it, of which it is a view."""
        changed = tensor.grad_fn is not None and tensor.grad_fn is not before.source
        return changed and tensor._base is not None and self._is_drawn(before)

    def _note(self, name: str, before: list[Origin], rest: list[Origin], made: list[Tensor], written: set[int]) -> None:
        """Note what a call made.

        Args:
            name: name of the function.
            before: what the tensors that it was given came from.
            rest: those of them that autograd does not name.
            made: the tensors that it wrote or made.
            written: ids of those that it wrote.
        """
        known = {origin.source for origin in before}
        step = Step(name.strip("_") if name.startswith("__") else name, before, self._count)
        for index, tensor in enumerate(made):
            if tensor.grad_fn is not None:
                if rest and tensor.grad_fn not in known:
                    self._unknown_to.setdefault(tensor.grad_fn, rest)
            elif not tensor.requires_grad:
                self._count = step.number + 1
                self._steps[id(tensor)] = (ref(tensor), Origin(step, index))
                if id(tensor) in written:
                    self._written[storage_key(tensor)] = step


def _version(tensor: Tensor) -> int:
    """Return how often a tensor was written; 0 for one of inference mode, which does not count."""
    return 0 if tensor.is_inference() else tensor._version
