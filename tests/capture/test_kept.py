"""Nothing is kept: what the model made and what it was given goes when it would have gone, without the collector."""

from __future__ import annotations

import gc
import weakref
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
import torch
from torch import nn

import trec
from tests.capture.paths import Apply

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = pytest.mark.torch


@contextmanager
def without_collector() -> Iterator[None]:
    was = gc.isenabled()
    gc.collect()
    gc.disable()
    try:
        yield
    finally:
        (gc.enable if was else gc.disable)()


def storages() -> list[torch.UntypedStorage]:
    """Return all storages that an object of Python holds."""
    return [item for item in gc.get_objects() if type(item) is torch.UntypedStorage]


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt, SystemExit])
def test_activations_go_with_the_exception_that_held_them(error: type[BaseException]) -> None:
    seen: list[Any] = []

    def forward(net: Any, x: Any) -> Any:
        made = net.fc(x)
        seen.append(weakref.ref(made))
        raise error

    net = Apply(forward, fc=nn.Linear(2, 2))
    with without_collector():
        with suppress(trec.CaptureError, KeyboardInterrupt, SystemExit):
            trec.capture(net, (1, 2))
        assert [held() for held in seen] == [None]


def test_inputs_go_after_a_recording() -> None:
    array, x = np.ones(2), torch.ones(1, 2)
    held: list[Any] = [weakref.ref(array), weakref.ref(x)]
    net = Apply(lambda a, b: b * float(a.sum()))
    with without_collector():
        graph = trec.capture(net, args=(array, x))
        del array, x
        assert [item() for item in held] == [None, None]
    assert graph.nodes


def test_models_go_after_a_recording() -> None:
    net = nn.Sequential(nn.Linear(2, 2), nn.BatchNorm1d(2))
    held: list[Any] = [weakref.ref(net), weakref.ref(net[0].weight)]
    with without_collector():
        graph = trec.capture(net, (4, 2))
        del net
        assert [item() for item in held] == [None, None]
    assert graph.nodes


def test_an_exception_that_is_kept_keeps_no_copy_of_what_was_written() -> None:
    def forward(net: Any, x: Any) -> Any:
        net.held.add_(x.sum())
        raise ValueError

    net: Any = Apply(forward, held=torch.zeros(1000))
    before = [net.held.untyped_storage(), *storages()]  # those of other tests may be of any size
    with pytest.raises(trec.CaptureError) as caught:
        trec.capture(net, (1, 2))
    known = set(map(id, before))
    assert [item.nbytes() for item in storages() if id(item) not in known and item.nbytes() >= 4000] == []
    assert caught.value.__cause__ is not None
