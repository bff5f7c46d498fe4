"""What users call to read a program that torch has made: a graph of `torch.fx`, or an exported one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trec.errors import DependencyError

if TYPE_CHECKING:
    import torch

    from trec.ir.graph import Graph


def from_fx(graph_module: torch.fx.GraphModule, *, name: str | None = None) -> Graph:
    """Return the program of a `torch.fx.GraphModule` as a graph; nothing is run.

    It may come from `torch.fx.symbolic_trace`, `make_fx`, `torch._dynamo`, the module of an exported program, or be
    unflattened. Modules that were not traced into are nodes of kind `module`, as after `collapse`; nested graph modules
    are scopes that hold what they do. Functions that run a part of the graph conditionally or repeatedly (`cond`,
    `while_loop`, `scan`) are one `region` each, whose inside is not seen. What is not known of a tensor is `?`.

    Args:
        graph_module: the program; it is left as it is.
        name: name of the graph; the class of the module when left out.

    Raises:
        OptionError: it is something else; the message names the function that fits.
        DependencyError: torch is not installed.

    Example:
        >>> import torch, trec
        >>> print(trec.from_fx(torch.fx.symbolic_trace(torch.nn.Sequential(torch.nn.ReLU()))))
        graph Sequential: 3 nodes, 2 values, 2 scopes, level='function'
          %input: ?[?] = input
          %1: ?[?] = module ReLU(%input, ops=1, params=0, param_bytes=0)  # 0
          output(%1)
    """
    try:
        from trec.capture.traced import fx
    except ModuleNotFoundError as error:
        raise _without_torch(error) from error
    return fx.from_fx(graph_module, name)


def from_export(exported_program: torch.export.ExportedProgram, *, name: str | None = None) -> Graph:
    """Return an exported program as a graph of level `aten`; nothing is run.

    Parameters, buffers and constants are what its signature says, calls of modules are scopes. Where the program has
    been made functional, what it writes back into a buffer or an input at the end is a link `update` behind the step
    that makes the new value. See `trec.from_fx` for what is not seen.

    Args:
        exported_program: what `torch.export.export` returned, also after `run_decompositions`; it is left as it is.
        name: name of the graph; the class of the exported model when left out.

    Raises:
        OptionError: it is something else; the message names the function that fits.
        DependencyError: torch is not installed.

    Example:
        >>> import torch, trec
        >>> program = torch.export.export(torch.nn.Linear(2, 1), (torch.ones(4, 2),))
        >>> print(trec.from_export(program))
        graph Linear: 5 nodes, 4 values, 1 scope, level='aten'
          %input: f32[4,2] = input
          %weight: f32[1,2] = param
          %bias: f32[1] = param
          %3: f32[4,1] = aten.linear.default(%input, %weight, %bias)
          output(%3)
    """
    try:
        from trec.capture.traced import export
    except ModuleNotFoundError as error:
        raise _without_torch(error) from error
    return export.from_export(exported_program, name)


def _without_torch(error: ModuleNotFoundError) -> Exception:
    if error.name != "torch":
        return error
    return DependencyError(
        "reading a program of torch needs PyTorch, which is not installed: pip install 'trec[torch]'; "
        "saved graphs can be read and drawn without it"
    )
