"""What users call to record a model."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from trec.errors import DependencyError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    import torch

    from trec.capture.recording import Recording
    from trec.ir.graph import Graph
    from trec.ir.types import Level


def capture(
    net: torch.nn.Module,
    shapes: tuple[int, ...] | Sequence[tuple[int, ...]] | None = None,
    *,
    args: tuple[Any, ...] = (),
    kwargs: dict[str, Any] | None = None,
    dtypes: torch.dtype | Sequence[torch.dtype] | None = None,
    name: str | None = None,
    level: Level = "function",
    method: str = "forward",
    device: torch.device | str | None = None,
    costs: bool = False,
    backward: bool | Callable[[Any], Any] = False,
) -> Graph:
    """Run a model once and return what it did as a graph.

    The model, its inputs and the process are left as they were, bit for bit, also when the model raises: parameters,
    buffers (running statistics too), random generators, gradients, flags and hooks. The mode (`train` or `eval`) and
    the grad mode are the caller's. Operators run as written: compiled modules run eagerly, and fused fast paths that
    torch takes only when nobody looks are not taken.

    Args:
        net: the model.
        shapes: sizes of random inputs: a tuple of sizes for one input, a list of such tuples for several.
        args: positional arguments of the model, instead of shapes.
        kwargs: keyword arguments of the model.
        dtypes: element types of inputs made from shapes, one for all or a list; when left out, that of the
            model's floating point parameters if they have one in common, else the default dtype.
        name: name of the graph; the class of the model when left out.
        level: `module` (one node per call of a module that calls no other), `function` (one node per call of a torch
            function, as the user wrote it) or `aten` (function calls hold the operators that they ran).
        method: method to call instead of `forward`.
        device: where inputs made from shapes lie. With `meta` the model is run on shapes alone, without memory or
            arithmetic; its own tensors stay where they are.
        costs: whether to count the floating point operations of each operator and to time the calls, for
            `Graph.costs`. They are counted by the formulas that PyTorch has (`torch.utils.flop_counter`); what it has
            none for counts as nothing, among it the attention kernel of the CPU.
        backward: whether to run backward as well, from the sum of all floating point outputs that have a gradient; or
            a function that takes what the model returned and returns the loss, a tensor with one number. Each
            operator then has a phase (`Graph.phase_of`), those of autograd name what they differentiate
            (`Graph.differentiated`) and lie in scopes that mirror the modules, and what adds up the gradient of a
            parameter is a node named `<parameter>.grad`. Gradients are followed, whatever the grad mode of the caller
            is. `graph.phase("forward")` is the graph without it.

    Raises:
        CaptureError: the model raised; the message names the module, `graph` of the error holds what ran until then,
            and the model's own exception is the cause.
        OptionError: an argument is not of the expected form.
        DependencyError: torch is not installed.

    Example:
        >>> import torch, trec
        >>> print(trec.capture(torch.nn.Linear(2, 1), (4, 2)))  # doctest: +ELLIPSIS
        graph Linear: ...
    """
    with torch_needed():
        from trec.capture import session
    return session.kept_from_compiler(session.capture)(
        net, shapes, args=args, kwargs=kwargs, dtypes=dtypes, name=name, level=level, method=method, device=device,
        costs=costs, backward=backward,
    )  # fmt: skip


def recording(net: torch.nn.Module | None = None, *, name: str | None = None, level: Level = "function") -> Recording:
    """Record what a block of code does; the graph is there when the block has ended.

    Any code can be recorded: several calls, methods other than `forward`, plain functions, a loop that generates
    tokens. Each call of a module that no other module makes is a scope of its own under one root, of kind `region`; if
    one call of `net` is all that ran, it is the root, and the graph is that of `trec.capture`. Tensors given to such
    calls are inputs, other tensors from outside are constants, and what the calls return and nothing reads afterwards
    are outputs.

    Around steps of training, the graph has all their phases: what autograd runs is `backward`, node by node of its
    graph, as with `trec.capture(..., backward=True)`; steps of optimizers, and what the code does to gradients outside
    of autograd, are `optimizer`. A backward pass that a module runs in its forward is part of that.

    The code is run by its owner, so all that it does stays done: nothing is put back, and no tensor or module is kept
    alive longer than without recording. An exception passes; the graph then holds what ran until it.

    Args:
        net: the model after which modules and parameters are named. Modules that do not belong to it are named after
            their class, as in `<Discriminator>`.
        name: name of the graph; the class of `net`, or `recording`, when left out.
        level: as for `trec.capture`.

    Returns:
        A context manager whose `graph` is the recorded graph.

    Raises:
        CaptureError: another recording is running in this thread; or `graph` is asked for before the block has ended.
        OptionError: an argument is not of the expected form.
        DependencyError: torch is not installed.

    Example:
        >>> import torch, trec
        >>> net = torch.nn.Linear(2, 2)
        >>> with trec.recording(net) as rec:
        ...     result = net(net(torch.ones(1, 2)))
        >>> [scope.name for scope in rec.graph.scopes]
        ['Linear', 'Linear#1', 'Linear#2']
    """
    with torch_needed():
        from trec.capture.recording import Recording
    return Recording(net, name, level)


@contextmanager
def torch_needed() -> Iterator[None]:
    """Say how to install torch if an import in the block does not find it.

    Raises:
        DependencyError: torch is not installed.
    """
    try:
        yield
    except ModuleNotFoundError as error:
        if error.name != "torch":
            raise
        raise DependencyError(
            "recording needs PyTorch, which is not installed: pip install 'trec[torch]'; "
            "saved graphs can be read and drawn without it"
        ) from error
