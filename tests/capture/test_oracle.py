"""What is recorded is what PyTorch's own log of calls says: the same functions and operators in the same order."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import pytest
import torch
from torch.utils._debug_mode import DebugMode

import trec
from tests.capture.models import MODELS
from tests.capture.oracle import Log, as_written, is_function, listed, logged, with_operators_put_back
from tests.capture.themes.every import THEMES
from trec.capture.naming import walk

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.capture.models import Call
    from trec import Graph

pytestmark = [
    pytest.mark.torch,
    pytest.mark.filterwarnings("ignore:.*torch.jit", "ignore:The PyTorch API of nested", "ignore:.*torch.ao.quant"),
]

ALL = {**MODELS, **THEMES}
MODES = pytest.mark.parametrize("training", [True, False], ids=["train", "eval"])


def build(make: Callable[[], Call], training: bool) -> Call:
    """Return a model with what it is called with, the same each time."""
    torch.manual_seed(1)
    net, args, kwargs = make()
    for _, module in walk(net):
        module.training = training
    torch.manual_seed(0)
    return net, args, kwargs


def graph_of(net: Any, args: Any, kwargs: Any, level: Any) -> Graph:
    """Return the graph of a call, also if it fails."""
    try:
        graph = trec.capture(net, args=args, kwargs=kwargs, level=level)
    except trec.CaptureError as error:
        graph = cast("Graph", error.graph)
    return graph.verify()


def log_of(net: Any, args: Any, kwargs: Any) -> list[str]:
    return logged(lambda: net(*args, **kwargs))


def warm(make: Callable[[], Call], training: bool) -> None:
    """Run a model first: scripts are optimised in their first runs, and some of torch fills caches of its own."""
    net, args, kwargs = build(make, training)
    for _ in range(2):
        as_written(lambda: net(*args, **kwargs))


@MODES
@pytest.mark.parametrize("name", ALL)
def test_functions_and_operators_are_those_of_the_log(name: str, training: bool) -> None:
    warm(ALL[name], training)
    log = log_of(*build(ALL[name], training))
    found = listed(graph_of(*build(ALL[name], training), "aten"))
    assert with_operators_put_back(found, log) == log
    assert log or name == "wrong_call"


@MODES
@pytest.mark.parametrize("name", ALL)
def test_functions_without_gradients_are_those_of_the_log(name: str, training: bool) -> None:
    with torch.no_grad():
        warm(ALL[name], training)
        log = log_of(*build(ALL[name], training))
        found = listed(graph_of(*build(ALL[name], training), "function"))
    assert list(filter(is_function, found)) == list(filter(is_function, log))


@pytest.mark.parametrize("name", MODELS)
def test_the_log_has_all_that_pytorch_has_and_detach_besides(name: str) -> None:
    logs = Log(), DebugMode(record_torchfunction=True)
    for log in logs:
        net, args, kwargs = build(MODELS[name], training=True)
        with log:
            net(*args, **kwargs)
    full, plain = ([str(call.op) for call in log.operators] for log in logs)
    assert plain == [call for position, call in enumerate(full) if position not in logs[0].handed_classes]
    assert {full[position] for position in logs[0].handed_classes} <= {"aten.detach.default"}
