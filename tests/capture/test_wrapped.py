"""Scripted, traced, compiled, fused and parallel modules: what they run is drawn as it is written."""

from __future__ import annotations

import sys
import threading
import warnings
from concurrent.futures import ThreadPoolExecutor
from copy import copy
from typing import Any

import pytest
import torch
from torch import Tensor, nn

import trec
from tests.capture.paths import Apply, check, connected, ends, flow, ops, paths, record
from tests.conftest import LONGEST

pytestmark = [
    pytest.mark.torch,
    pytest.mark.filterwarnings("ignore:.*torch.jit", "ignore::torch.jit.TracerWarning", "ignore:Using .torch.compile"),
]


class Gated(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.fc = nn.Linear(3, 3)

    def forward(self, x: Tensor) -> Tensor:
        y: Tensor = self.fc(x)
        if y.shape[0] > 1:
            y = torch.relu(y) * 2
        return y


class Around(nn.Module):
    def __init__(self, inner: Any) -> None:
        super().__init__()
        self.inner = inner

    def forward(self, x: Tensor) -> Any:
        return self.inner(x * 1) + 1


def gated(wrap: Any) -> Any:
    def build() -> Any:
        torch.manual_seed(2)
        return Around(wrap(Gated())), (torch.randn(2, 3),)

    return build


TRACE: Any = torch.jit.trace
WRAPPED: dict[str, Any] = {
    "scripted": torch.jit.script,
    "traced": lambda net: TRACE(net, torch.randn(2, 3)),
    "frozen": lambda net: torch.jit.freeze(torch.jit.script(net.eval())),
    "compiled": torch.compile,
    "compiled eagerly": lambda net: torch.compile(net, backend="eager", fullgraph=True),
    "by fx": torch.fx.symbolic_trace,
    "exported": lambda net: torch.export.export(net, (torch.randn(2, 3),)).module(),
}


@pytest.mark.parametrize("wrap", [wrap for name, wrap in WRAPPED.items() if name not in ("by fx", "exported")])
def test_a_wrapped_module_keeps_its_weights_and_its_flow(wrap: Any) -> None:
    graph = check(gated(wrap))
    assert connected(graph, "input:0", "output:0")
    assert any(name.startswith("inner") for name in paths(graph))
    assert any("relu" in name for name in ops(graph))


@pytest.mark.parametrize("wrap", [WRAPPED["exported"]])
def test_an_exported_module_keeps_its_flow(wrap: Any) -> None:
    graph = check(gated(wrap))
    assert any("relu" in name for name in ops(graph))


def test_a_scripted_model_is_recorded_alike_every_time() -> None:
    net = torch.jit.script(Gated())
    first, *others = [str(trec.capture(net, (2, 3), level="aten")) for _ in range(4)]
    assert others == [first] * 3


def test_a_scripted_function_is_one_call() -> None:
    @torch.jit.script
    def double(x: Tensor, y: Tensor) -> Tensor:
        return x * 2 + y

    graph = record(Apply(lambda x, y: double(x, y) + 1), torch.ones(2), torch.ones(2))
    assert flow(graph) == {("input:0", "output:0"), ("input:1", "output:0")}


def test_a_compiled_function_is_drawn_as_written() -> None:
    def forward(x: Tensor) -> Any:
        return torch.compile(lambda v: torch.sin(v).cos())(x)

    assert ops(record(Apply(forward), torch.ones(2)))[-2:] == ["sin", "cos"]


def test_a_compiled_model_gives_the_graph_of_the_model() -> None:
    torch.manual_seed(2)
    net = Gated()
    compiled: Any = torch.compile(net)
    assert ops(record(compiled, torch.ones(2, 3))) == ops(record(net, torch.ones(2, 3)))


def test_recording_a_compiled_model_warns_of_nothing() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        compiled: Any = torch.compile(Gated())
        trec.capture(nn.Sequential(compiled), (2, 3))


# ---- threads


class Parallel(nn.Module):
    """Runs replicas of a module in threads, as data parallelism does."""

    def __init__(self, *, replicas: bool) -> None:
        super().__init__()
        self.branches = nn.ModuleList([Gated(), Gated()])
        self.replicas = replicas

    def forward(self, x: Tensor, y: Tensor) -> Any:
        branches = [copy(self.branches[0])] * 2 if self.replicas else list(self.branches)
        results: list[Any] = [None, None]

        def run(index: int, value: Tensor) -> None:
            results[index] = branches[index](value)

        threads = [threading.Thread(target=run, args=pair) for pair in enumerate((x, y))]
        for thread in threads:
            thread.start()
            thread.join()
        return results


def test_modules_that_run_in_threads_are_drawn() -> None:
    net = Parallel(replicas=False)
    graph = record(net, torch.randn(2, 3), torch.randn(2, 3))
    assert {pair for pair in flow(graph) if "input" in pair[0]} == {
        ("input:0", "output:0"), ("input:1", "output:1"),
    }  # fmt: skip
    assert ("param:branches.1.fc.weight", "output:1") in flow(graph)
    assert ("param:branches.0.fc.weight", "output:1") not in flow(graph)


def test_a_pool_of_threads_is_followed() -> None:
    class Net(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.branches = nn.ModuleList([Gated() for _ in range(4)])

        def forward(self, x: Tensor) -> Any:
            with ThreadPoolExecutor(2) as pool:
                return torch.stack(list(pool.map(lambda branch: branch(x), self.branches))).sum(0)

    net, x = Net(), torch.randn(2, 3)
    graph = trec.capture(net, args=(x,)).verify()
    assert {f"branches.{index}" for index in range(4)} <= set(paths(graph))
    assert {source for source, _ in flow(graph)} >= {f"param:branches.{index}.fc.weight" for index in range(4)}


class Branches(nn.Module):
    """Runs its modules in threads, in one of several ways."""

    def __init__(self, run: Any) -> None:
        super().__init__()
        self.branches = nn.ModuleList([nn.Sequential(Gated(), Gated()) for _ in range(4)])
        self.shared = Gated()
        self.run = run

    def forward(self, x: Tensor) -> Any:
        return self.run(self, x)


def mapped(net: Any, x: Tensor) -> Any:
    with ThreadPoolExecutor(4) as pool:
        return list(pool.map(lambda branch: branch(x), net.branches))


def by_keyword(net: Any, x: Tensor) -> Any:
    with ThreadPoolExecutor(4) as pool:
        return [future.result() for future in [pool.submit(branch, input=x) for branch in net.branches]]


def one_module(net: Any, x: Tensor) -> Any:
    with ThreadPoolExecutor(4) as pool:
        return list(pool.map(net.shared, [x * 1, x * 2, x * 3]))


def beside_the_model(net: Any, x: Tensor) -> Any:
    with ThreadPoolExecutor(2) as pool:
        futures = [pool.submit(branch, x) for branch in net.branches]
        y = net.shared(x)
        return [future.result() + y for future in futures]


def of_no_use(net: Any, x: Tensor) -> Any:
    threads = [threading.Thread(target=branch, args=(x,)) for branch in net.branches]
    for thread in threads:
        thread.start()
    y = net.shared(x)
    for thread in threads:
        thread.join()
    return y


def one_after_another(net: Any, x: Tensor) -> Any:
    with ThreadPoolExecutor(2) as pool:
        for branch in net.branches:
            x = pool.submit(branch, x).result()
    return x


def replicas(net: Any, x: Tensor) -> Any:
    copies = [net.branches[0]._replicate_for_data_parallel() for _ in range(3)]
    with ThreadPoolExecutor(3) as pool:
        return list(pool.map(lambda branch: branch(x), copies))


RUNS = [mapped, by_keyword, one_module, beside_the_model, of_no_use, one_after_another, replicas]


@pytest.mark.parametrize("run", RUNS)
def test_threads_are_drawn_in_the_same_order_every_time(run: Any) -> None:
    net, x, interval = Branches(run), torch.randn(2, 3), sys.getswitchinterval()
    if run is by_keyword:
        net.branches = nn.ModuleList([nn.Sequential(nn.Linear(3, 3)) for _ in range(4)])
    sys.setswitchinterval(1e-6)
    try:
        graphs = {str(trec.capture(net, args=(x,)).verify()) for _ in range(12)}
        graphs.add(str(trec.capture(net, args=(x,), level="aten").verify().level("function")))
    finally:
        sys.setswitchinterval(interval)
    assert len(graphs) == 1


@pytest.mark.parametrize(("run", "count"), [(mapped, 4), (one_after_another, 4), (replicas, 3), (of_no_use, 4)])
def test_every_thread_has_the_modules_that_it_ran(run: Any, count: int) -> None:
    graph = trec.capture(Branches(run), (2, 3)).verify()
    heads = [scope for scope in graph.scopes if scope.path.startswith("branches.") and scope.path.count(".") == 1]
    assert len(heads) == count
    assert all(scope.parent == 0 for scope in heads)
    assert len({(scope.path, scope.call) for scope in heads}) == count
    assert ("input:0", "output:0") in flow(graph)


def test_the_threads_of_two_recordings_of_one_model_stay_apart() -> None:
    net, x = Branches(mapped), torch.randn(2, 3)
    expected = str(trec.capture(net, args=(x,)))
    with ThreadPoolExecutor(3) as pool:
        found = list(pool.map(lambda _: str(trec.capture(net, args=(x,))), range(9)))
    assert found == [expected] * 9


def test_two_recordings_of_one_model_leave_it_as_it_was() -> None:
    net: Any = nn.Sequential(nn.BatchNorm1d(3), nn.Linear(3, 3))
    with ThreadPoolExecutor(3) as pool:
        list(pool.map(lambda _: trec.capture(net, (4, 3)), range(9)))
    assert net[0].num_batches_tracked == 0
    assert net[0].running_mean.tolist() == [0, 0, 0]


def test_a_model_that_records_itself_in_a_thread_is_told() -> None:
    inner = nn.Linear(3, 3)
    around = Apply(lambda x: trec.capture(inner, args=(x,)))

    def forward(held: Any, x: Tensor) -> Any:
        with ThreadPoolExecutor(1) as pool:
            return pool.submit(held.around, x).result()

    with pytest.raises(trec.CaptureError, match="must not record it"):
        trec.capture(Apply(forward, around=around, inner=inner), (2, 3))


def test_what_a_thread_makes_outside_modules_is_a_region_that_autograd_leads_back_from() -> None:
    def forward(held: Any, x: Tensor) -> Any:
        with ThreadPoolExecutor(1) as pool:
            return held.fc(pool.submit(lambda: x * 2 + held.weight).result())

    net = Apply(forward, fc=nn.Linear(3, 3), weight=nn.Parameter(torch.ones(3)))
    graph = trec.capture(net, args=(torch.randn(2, 3, requires_grad=True),)).verify()
    assert [graph.nodes[index].op for index in ends(graph, "region:")] == ["unseen"]
    assert {("input:0", "output:0"), ("param:weight", "output:0")} <= flow(graph)


@pytest.mark.xfail(strict=True, reason="a thread is followed only as long as it runs a module")
def test_what_a_thread_writes_outside_modules_is_read_afterwards() -> None:
    def forward(held: Any, x: Tensor) -> Tensor:
        total = torch.zeros(2, 3)
        with ThreadPoolExecutor(1) as pool:
            pool.submit(lambda: total.add_(held.fc(x))).result()
        return total * 1

    graph = trec.capture(Apply(forward, fc=nn.Linear(3, 3)), (2, 3)).verify()
    assert flow(graph) >= {("input:0", "output:0"), ("param:fc.weight", "output:0")}


def test_a_pool_that_lived_before_is_followed_where_it_runs_the_model() -> None:
    with ThreadPoolExecutor(1) as pool:
        pool.submit(abs, 1).result()
        net = Apply(lambda held, x: pool.submit(held.fc, x).result() * 2, fc=nn.Linear(3, 3))
        graph = trec.capture(net, (2, 3)).verify()
    assert connected(graph, "input:0", "output:0")


def test_another_thread_goes_on_unrecorded() -> None:
    started, stop = threading.Event(), threading.Event()

    def work() -> None:
        net = nn.Linear(2, 2)
        while not stop.is_set():
            torch.sinh(net(torch.ones(1, 2)))
            started.set()

    thread = threading.Thread(target=work)
    thread.start()
    started.wait()
    try:
        graph = trec.capture(nn.Sequential(*[nn.Linear(3, 3) for _ in range(30)]), (2, 3)).verify()
    finally:
        stop.set()
        thread.join()
    assert ops(graph) == ["linear"] * 30


def test_a_thread_that_ran_the_same_model_before_stays_unrecorded() -> None:
    net, started, stop = nn.Sequential(*[nn.Linear(3, 3) for _ in range(30)]), threading.Event(), threading.Event()

    def work() -> None:
        while not stop.is_set():
            net(torch.ones(1, 3))
            started.set()

    thread = threading.Thread(target=work)
    thread.start()
    started.wait()
    try:
        graph = trec.capture(net, (2, 3)).verify()
    finally:
        stop.set()
        thread.join()
    assert ops(graph) == ["linear"] * 30
    assert [scope.call for scope in graph.scopes] == [0] * 31


def test_two_recordings_at_once_give_two_right_graphs() -> None:
    barrier = threading.Barrier(2, timeout=LONGEST)

    class Net(nn.Module):
        def __init__(self, kind: Any) -> None:
            super().__init__()
            self.kind = kind
            self.fc = nn.Linear(3, 3)

        def forward(self, x: Tensor) -> Any:
            barrier.wait()
            for _ in range(30):
                x = self.kind(self.fc(x))
            barrier.wait()
            return x

    kinds = (torch.tanh, torch.cos)
    with ThreadPoolExecutor(2) as pool:
        graphs = list(pool.map(lambda kind: trec.capture(Net(kind), (2, 3)).verify(), kinds))
    assert [ops(graph) for graph in graphs] == [["linear", "tanh"] * 30, ["linear", "cos"] * 30]
    assert all(len(ends(graph, "param:")) == 2 for graph in graphs)
    assert all(len(paths(graph)) == 31 for graph in graphs)


# ---- tensors that wrap others


class Scaled(torch.Tensor):
    """A quantised weight in small: two tensors that any operator takes for their product."""

    @staticmethod
    def __new__(cls: Any, held: Tensor, scale: Tensor) -> Any:
        return torch.Tensor._make_wrapper_subclass(cls, held.shape, dtype=held.dtype, device=held.device)

    def __init__(self, held: Tensor, scale: Tensor) -> None:
        self.held, self.factor = held, scale

    def __tensor_flatten__(self) -> Any:
        return ["held", "factor"], None

    @classmethod
    def __torch_dispatch__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:  # type: ignore[override]
        def plain(value: Any) -> Any:
            return value.held * value.factor if isinstance(value, cls) else value

        return func(*[plain(arg) for arg in args], **(kwargs or {}))


def scaled(x: Tensor, y: Tensor) -> Any:
    return nn.functional.linear(torch.ones(2, 3), SCALED(x, y.sum()))


def scaled_twice(x: Tensor, y: Tensor) -> Any:
    return torch.mul(SCALED(torch.ones(3, 3), SCALED(x.sum(), y.sum())), 2)


def scale_written(x: Tensor, y: Tensor) -> Any:
    weight = SCALED(x, torch.ones(()))
    weight.factor.add_(y.sum())
    return torch.sin(weight)


SCALED: Any = Scaled


@pytest.mark.parametrize("function", [scaled, scaled_twice, scale_written])
def test_a_wrapper_is_made_of_all_that_it_holds(function: Any) -> None:
    check(lambda: (Apply(function), (torch.ones(3, 3), torch.ones(3, 3))))
