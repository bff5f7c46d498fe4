"""The peak of memory that a plain recording tells is that of the forward pass alone, run under `no_grad`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

import trec

torch = pytest.importorskip("torch")

from tests.analysis.measured import measured_peak  # noqa: E402 - they need torch
from tests.analysis.zoo import MODELS, TRANSFORMERS  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import Callable

pytestmark = [pytest.mark.torch, pytest.mark.filterwarnings("ignore")]


def _case(name: str) -> Any:
    if name in TRANSFORMERS:
        pytest.importorskip("transformers")
    torch.manual_seed(0)
    return MODELS[name]()


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("level", ["function", "aten"])
def test_the_peak_is_what_was_measured_whether_gradients_are_followed_or_not(name: str, level: Any) -> None:
    model, args, kwargs = _case(name)
    with torch.no_grad():
        measured = measured_peak(model, *args, **kwargs)
        alone: Any = trec.capture(model, args=args, kwargs=kwargs, level=level)
    followed: Any = trec.capture(model, args=args, kwargs=kwargs, level=level)
    for graph in (alone, followed):
        assert graph.memory().is_measured
        assert abs(graph.memory().peak - measured) <= 0.02 * measured


@pytest.mark.parametrize("name", ["unet of list", "lstm", "many heads", "blocks"])
def test_no_range_ends_before_what_it_holds_is_read_last(name: str) -> None:
    model, args, kwargs = _case(name)
    graph: Any = trec.capture(model, args=args, kwargs=kwargs, level="aten")
    values = {value.name: index for index, value in enumerate(graph.values)}
    for live in graph.memory().ranges:
        assert live.last >= max(graph.users[values[live.name]], default=live.first) or live.last == len(graph.nodes) - 1


def _wide() -> Any:
    return torch.nn.Sequential(*[torch.nn.Sequential(torch.nn.Linear(64, 64), torch.nn.Tanh()) for _ in range(6)])


@pytest.mark.parametrize("name", ["unet of list", "vit"])
def test_on_meta_attention_takes_what_its_kernel_takes_elsewhere(name: str) -> None:
    model, args, kwargs = _case(name)
    real: Any = trec.capture(model, args=args, kwargs=kwargs)
    moved, named = tuple(each.to("meta") for each in args), {key: each.to("meta") for key, each in kwargs.items()}
    abstract: Any = trec.capture(model.to("meta"), args=moved, kwargs=named)
    assert abstract.memory().is_measured
    assert abs(abstract.memory().peak - real.memory().peak) <= 0.02 * real.memory().peak


def test_what_autograd_keeps_counts_only_where_its_backward_pass_was_recorded() -> None:
    result = 32 * 64 * 4
    plain: Any = trec.capture(_wide(), (32, 64))
    step: Any = trec.capture(_wide(), (32, 64), backward=True)
    assert plain.memory().peak == 3 * result
    assert step.memory().peak >= 7 * result


def test_a_network_that_keeps_everything_is_followed_to_its_end() -> None:
    class Everything(torch.nn.Module):  # type: ignore[misc, name-defined]
        def forward(self, x: Any) -> Any:
            kept = [x.exp()]
            for _ in range(300):
                kept.append(kept[-1] * 0.5)
            return kept[0] + kept[-1]

    x = torch.randn(4, 4, requires_grad=True)
    with torch.no_grad():
        measured = measured_peak(Everything(), x)
    graph: Any = trec.capture(Everything(), args=(x,))
    assert graph.memory().peak == measured


def _in_function(x: Any) -> Any:
    wide = torch.cat([x] * 16, 1)
    small = wide.mean(1, keepdim=True)
    del wide
    return torch.cat([small] * 20, 1).exp()


def _to_the_end(x: Any) -> Any:
    wide = torch.cat([x] * 16, 1)
    small = wide.mean(1, keepdim=True)
    return torch.cat([small] * 20, 1).exp()


@pytest.mark.parametrize("function", [_in_function, _to_the_end])
def test_a_variable_that_is_deleted_holds_nothing_any_more(function: Callable[[Any], Any]) -> None:
    class Net(torch.nn.Module):  # type: ignore[misc, name-defined]
        def forward(self, x: Any) -> Any:
            return function(x)

    x = torch.randn(4, 8, requires_grad=True)
    graph: Any = trec.capture(Net(), args=(x,))
    with torch.no_grad():
        assert graph.memory().peak == measured_peak(Net(), x)


def test_nothing_of_a_recording_is_left_when_it_has_ended() -> None:
    import gc
    import weakref

    from trec.capture.values.lifetimes import Lifetimes

    found: list[Any] = []
    begin = Lifetimes.__init__

    def noted(self: Any, *args: Any) -> None:
        found.append(weakref.ref(self))
        begin(self, *args)

    Lifetimes.__init__ = noted  # type: ignore[method-assign, assignment]
    gc.disable()
    try:
        trec.capture(_wide(), (32, 64))
        assert [reach() for reach in found] == [None]
    finally:
        gc.enable()
        Lifetimes.__init__ = begin  # type: ignore[method-assign]
