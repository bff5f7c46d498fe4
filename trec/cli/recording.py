"""Record the model that a command line names."""

from __future__ import annotations

import re
import sys
import warnings
from argparse import SUPPRESS
from contextlib import nullcontext, redirect_stdout
from typing import TYPE_CHECKING, Any

from trec import capture
from trec.capture.api import torch_needed
from trec.cli import hugging_face, inputs, models
from trec.cli.tensors import dtype, keywords, tensor, value
from trec.cli.terminal import say, working
from trec.cli.words import assignment, one_of
from trec.errors import CaptureError, OptionError, TraceWarning

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
    with torch_needed():
        import torch
    torch.manual_seed(0)
    arguments = dict(options.arg)
    found = None if spec.startswith(models.HUGGING_FACE) else models.load(spec)
    try:
        with torch.device("meta") if options.meta else nullcontext():
            net = _made(found, spec, arguments)
    except OptionError:
        raise
    except Exception as error:
        if not options.meta:
            raise
        why = error.__cause__ or error
        say(f"trec: the model could not be made by shapes alone, so it was made with memory: {why}")
        net = _made(found, spec, arguments)
    if not isinstance(net, torch.nn.Module):
        kind = type(net).__name__
        raise OptionError(f"{spec} gives a value of type {kind}, expected a torch.nn.Module or what returns one")
    if options.device and not options.meta:
        net = _moved(net, options.device)
    return net if options.train else net.eval()


def _moved(net: Any, device: str) -> Any:
    import torch

    from trec.capture.inputs import UNUSABLE, first_sentence

    try:
        torch.empty(0, device=device)
    except UNUSABLE as error:
        raise OptionError(f"--device {device} cannot be used: {first_sentence(error)}") from error
    return net.to(device)


def _made(found: Any, spec: str, arguments: dict[str, Any]) -> Any:
    if spec.startswith(models.HUGGING_FACE):
        return hugging_face.load(spec.removeprefix(models.HUGGING_FACE), arguments)
    return models.made(found, spec, arguments)


def _recorded(net: Any, spec: str, options: Namespace) -> Graph:
    default = hugging_face.inputs(net) if spec.startswith(models.HUGGING_FACE) else {}
    try:
        return capture(
            net,
            **inputs.given(net, options, default),
            name=options.name,
            level=options.level or "function",
            method=options.method,
            device="meta" if options.meta else options.device,
            costs=options.costs,
        )
    except CaptureError as error:
        if not options.partial or error.graph is None:
            raise _as_typed(error) from error
        say(f"trec: {error}")
        return error.graph


def _as_typed(error: CaptureError) -> CaptureError:
    """Return an error whose hint names the option of the command line."""
    hint = r"trec\.capture\(net, shapes, dtypes=torch\.(\w+)\)(, or one dtype for each shape: dtypes=\[.*\])?"
    return CaptureError(re.sub(hint, r"--dtype \1, or behind the shape that it is of: --shape 1,16:\1", str(error)))


def _warn(message: Any, category: Any, filename: str, lineno: int, file: Any = None, line: Any = None) -> None:
    if issubclass(category, TraceWarning):
        say(f"trec: {message}")
