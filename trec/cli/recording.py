"""Record the model that a command line names."""

from __future__ import annotations

import re
import sys
import warnings
from argparse import SUPPRESS
from contextlib import nullcontext, redirect_stdout
from typing import TYPE_CHECKING, Any

from trec import capture
from trec.cli import hugging_face, models
from trec.cli.tensors import Tensor, asked, dtype, filled, keywords, tensor, value
from trec.cli.terminal import say, working
from trec.cli.words import assignment, one_of
from trec.errors import CaptureError, DependencyError, OptionError, TraceWarning

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace, _ArgumentGroup

    from trec.ir.graph import Graph

LEVELS = ("module", "function", "aten")


def add(group: _ArgumentGroup, *, shown: bool = True) -> None:
    """Add the options that say how a model is made and what it is given.

    Args:
        group: what to add to.
        shown: whether the help tells of them.
    """

    def option(name: str, help: str, **details: Any) -> None:
        group.add_argument(name, help=help if shown else SUPPRESS, **details)

    option(
        "--arg",
        "argument of the class or factory, such as depth=4; for hf:, a value of the configuration",
        action="append",
        default=[],
        type=assignment,
        metavar="NAME=VALUE",
    )
    option(
        "--shape",
        "a tensor that the model is given: 1,3,224,224, or with its type 1,16:int64; once for each",
        action="append",
        dest="inputs",
        default=[],
        type=tensor,
        metavar="SIZES",
    )
    option(
        "--input",
        'any other positional argument, such as 3 or [{"shape": [3, 64, 64], "dtype": "float16"}]',
        action="append",
        dest="inputs",
        type=value,
        metavar="JSON",
    )
    option(
        "--kwargs",
        'a keyword argument, such as mask=1,16:bool, or several as JSON: {"use_cache": false}',
        action="append",
        default=[],
        type=keywords,
        metavar="NAME=SIZES|JSON",
    )
    option(
        "--dtype",
        "element type of the tensors of --shape that name none: one for all, or one for each",
        action="append",
        default=[],
        type=dtype,
        metavar="TYPE",
    )
    option("--meta", "make and run the model by shapes alone, without memory or arithmetic", action="store_true")
    option("--device", "where the model and its inputs lie, such as cuda", metavar="DEVICE")
    option("--method", "method to call instead of forward", default="forward", metavar="NAME")
    option("--train", "leave the model in training mode, instead of eval", action="store_true")
    option("--name", "name of the graph; the class of the model when left out", metavar="NAME")
    option("--costs", "count floating point operations", action="store_true")
    option("--partial", "if the model raises, go on with what ran until then", action="store_true")


def add_level(group: ArgumentParser | _ArgumentGroup) -> None:
    """Add the option that says how fine a graph is."""
    group.add_argument(
        "--level",
        type=one_of(LEVELS),
        choices=LEVELS,
        metavar="LEVEL",
        help="how fine the graph is: module, function or aten",
    )


def record(spec: str, options: Namespace) -> Graph:
    """Make the model that a specification names, run it once and return what it did.

    Raises:
        OptionError: the specification or an option is wrong.
        TrecError: the code of the model raised.
        DependencyError: torch is not installed.
    """
    with redirect_stdout(sys.stderr), warnings.catch_warnings():  # what the user's code prints is not the result
        warnings.showwarning = _warn
        with working(f"loading {spec}"):
            net = _net(spec, options)
        with working(f"recording {type(net).__name__}"):
            return _recorded(net, spec, options)


def _net(spec: str, options: Namespace) -> Any:
    try:
        import torch
    except ModuleNotFoundError as error:
        raise DependencyError(
            "recording needs PyTorch, which is not installed: pip install 'trec[torch]'; "
            "saved graphs can be read and drawn without it"
        ) from error
    torch.manual_seed(0)
    device = torch.device("meta") if options.meta else nullcontext()
    arguments = dict(options.arg)
    found = None if spec.startswith(models.HUGGING_FACE) else models.load(spec)
    try:
        with device:
            net = _made(found, spec, arguments)
    except OptionError:
        raise
    except Exception as error:
        if not options.meta:
            raise
        say(
            f"trec: the model could not be made by shapes alone, so it was made with memory: {error.__cause__ or error}"
        )
        net = _made(found, spec, arguments)
    if not isinstance(net, torch.nn.Module):
        raise OptionError(
            f"{spec} gives a value of type {type(net).__name__}, expected a torch.nn.Module or what returns one"
        )
    if options.device and not options.meta:
        net = net.to(options.device)
    return net if options.train else net.eval()


def _made(found: Any, spec: str, arguments: dict[str, Any]) -> Any:
    if spec.startswith(models.HUGGING_FACE):
        return hugging_face.load(spec.removeprefix(models.HUGGING_FACE), arguments)
    return models.made(found, spec, arguments)


def _recorded(net: Any, spec: str, options: Namespace) -> Graph:
    inputs: list[Any] = options.inputs
    named: dict[str, Any] = {name: item for group in options.kwargs for name, item in group.items()}
    if spec.startswith(models.HUGGING_FACE) and not inputs:
        named = {**hugging_face.inputs(net), **named}
    kinds: list[str] = options.dtype
    plain = [item for item in inputs if isinstance(item, Tensor) and item.dtype is None]
    if len(kinds) > 1 and len(kinds) != len(plain):
        raise OptionError(f"--dtype is given {len(kinds)} times, but there are {len(plain)} shapes that name no type")
    given = iter(kinds if len(kinds) > 1 else kinds * len(plain))
    inputs = [Tensor(item.shape, next(given, None)) if item in plain else item for item in inputs]
    device = "meta" if options.meta else None
    arguments: dict[str, Any] = {"kwargs": _tensors(net, named, device)}
    if inputs and all(isinstance(item, Tensor) for item in inputs):
        arguments["shapes"] = [item.shape for item in inputs]
        dtypes = [_torch_dtype(item.dtype) for item in inputs]
        arguments["dtypes"] = dtypes if any(dtypes) else None
    else:
        arguments["args"] = tuple(_tensors(net, inputs, device))
        _needs(net, options.method, arguments["args"], named)
    try:
        return capture(
            net,
            **arguments,
            name=options.name,
            level=options.level or "function",
            method=options.method,
            device=device,
            costs=options.costs,
        )
    except CaptureError as error:
        if not options.partial or error.graph is None:
            raise _as_typed(error) from error
        say(f"trec: {error}")
        return error.graph


def _tensors(net: Any, found: Any, device: str | None) -> Any:
    """Return a value with a tensor in each place that asks for one."""
    from trec.capture.inputs import make_inputs  # needs torch

    wanted = list(asked(found))
    made = make_inputs(net, [one.shape for one in wanted], [_torch_dtype(one.dtype) for one in wanted], device)
    return filled(found, iter(made).__next__)


def _torch_dtype(name: str | None) -> Any:
    import torch

    return None if name is None else getattr(torch, name)


def _needs(net: Any, method: str, args: tuple[Any, ...], named: dict[str, Any]) -> None:
    """Refuse inputs that are fewer than the model takes, which is told better here than by the model."""
    try:
        signature = models.taken(getattr(net, method))
        signature.bind(*args, **named)
    except (AttributeError, ValueError):
        return
    except TypeError as error:
        raise OptionError(
            f"{type(net).__name__}.{method} takes {signature}: {error}; give a --shape for each tensor, such as "
            "--shape 1,3,224,224, or --kwargs"
        ) from error


def _as_typed(error: CaptureError) -> CaptureError:
    """Return an error whose hint names the option of the command line."""
    return CaptureError(re.sub(r"trec\.capture\(net, shapes, dtypes=torch\.(\w+)\)", r"--dtype \1", str(error)))


def _warn(message: Any, category: Any, filename: str, lineno: int, file: Any = None, line: Any = None) -> None:
    if issubclass(category, TraceWarning):
        say(f"trec: {message}")
