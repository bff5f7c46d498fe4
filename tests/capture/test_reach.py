"""Whatever the model can reach is put back: containers, objects, generators, classes, switches, tensors of any kind."""

from __future__ import annotations

import array
import enum
import random
import weakref
from collections import Counter, OrderedDict, defaultdict, deque
from dataclasses import dataclass, field
from functools import partial
from typing import Any, ClassVar

import numpy as np
import pytest
import torch
from torch import Tensor, nn
from torch.overrides import TorchFunctionMode
from torch.testing._internal.two_tensor import TwoTensor
from torch.utils._python_dispatch import TorchDispatchMode

import trec
from tests.capture.states import content, unchanged

pytestmark = pytest.mark.torch

SET: Any = setattr
TORCH: Any = torch
MAKE: Any = TwoTensor


class Holds(nn.Module):
    """Does something to what it holds."""

    def __init__(self, action: Any, held: Any = None) -> None:
        super().__init__()
        self.action = action
        self.__dict__["held"] = held  # as it is: torch would ask what it is
        self.norm = nn.BatchNorm1d(3)

    def forward(self, x: Tensor) -> Any:
        self.action(self.held)
        return self.norm(x) * 1


def check(action: Any, held: Any, state: Any) -> None:
    """Fail if a model that does something leaves a trace on what it holds."""
    net, x = Holds(action, held), torch.ones(4, 3)
    before = state(held)
    with unchanged(net, x):
        trec.capture(net, args=(x,))
    assert state(held) == before


class Key(enum.Enum):
    OLD, NEW = 1, 2


@dataclass
class Record:
    count: int = 0
    rows: list[int] = field(default_factory=list)


@dataclass(frozen=True)
class Frozen:
    count: int = 0


class Slotted:
    __slots__ = ("__hidden", "late", "rows")

    def __init__(self) -> None:
        self.__hidden, self.rows = 1, [1]

    def change(self) -> None:
        self.__hidden, self.late = 2, 3
        self.rows.append(2)

    def facts(self) -> Any:
        return self.__hidden, list(self.rows), hasattr(self, "late")


class Hostile:
    """An object that answers every question with an error."""

    def __init__(self) -> None:
        self.__dict__["rows"] = [1]

    def fail(self, *_: Any) -> Any:
        raise SystemExit("asked")

    __eq__ = __hash__ = __bool__ = __len__ = __iter__ = __getattr__ = __setattr__ = fail
    __class__ = property(fail)


class Key2:
    """A key that is found only as long as it is the same object."""


KEYS = Key2(), Key2()

CONTAINERS: dict[str, tuple[Any, Any, Any]] = {
    "bytearray": (lambda held: held.extend(b"x"), bytearray(b"abc"), bytes),
    "array": (lambda held: held.append(3), array.array("i", [1, 2]), list),
    "memoryview": (lambda held: held.__setitem__(0, 9), memoryview(bytearray(4)), bytes),
    "deque": (lambda held: held.append(3), deque([1, 2], maxlen=2), lambda held: (list(held), held.maxlen)),
    "defaultdict": (
        lambda held: (held["new"].append(1), SET(held, "default_factory", None)),
        defaultdict(list, old=[1]),
        lambda held: (dict(held), held.default_factory),
    ),
    "Counter": (lambda held: held.update("b"), Counter("aab"), dict),
    "order": (lambda held: held.move_to_end("a"), OrderedDict(a=1, b=2), list),
    "enum keys": (lambda held: held.update({Key.NEW: held.pop(Key.OLD)}), {Key.OLD: 1}, dict),
    "set": (lambda held: (held.discard(1), held.add(9)), {1, 2, "a"}, list),
    "dataclass": (
        lambda held: (SET(held, "count", 5), held.rows.append(1)),
        Record(),
        lambda held: (held.count, list(held.rows)),
    ),
    "frozen": (lambda held: object.__setattr__(held, "count", 4), Frozen(), lambda held: held.count),
    "slots": (lambda held: held.change(), Slotted(), Slotted.facts),
    "partial": (lambda held: held.args[0].append(2), partial(print, [1]), lambda held: list(held.args[0])),
    "bound method": (lambda held: held(), Slotted().change, lambda held: held.__self__.facts()),
    "class of an object": (
        lambda held: SET(held, "__class__", Frozen),
        Record(),
        lambda held: (type(held), vars(held).copy()),
    ),
    "weak keys": (
        lambda held: (held[KEYS[0]].append(2), held.update({KEYS[1]: 2})),
        weakref.WeakKeyDictionary({KEYS[0]: [1]}),
        lambda held: (len(held), [str(value) for value in held.values()]),
    ),
    "weak values": (
        lambda held: (held.update({2: KEYS[1]}), held.pop(1)),
        weakref.WeakValueDictionary({1: KEYS[0]}),
        lambda held: (len(held), list(held)),
    ),
    "resized array": (lambda held: held.resize(9, refcheck=False), np.arange(4.0), str),
    "form of an array": (
        lambda held: (SET(held, "shape", (2, 2)), held.setflags(write=False)),
        np.arange(4.0),
        lambda held: (str(held), held.flags.writeable),
    ),
    "array of objects": (
        lambda held: (held[1].append(3), held.__setitem__(0, 4)),
        np.array([1, [2]], dtype=object),
        str,
    ),
    "hostile": (lambda held: held.__dict__["rows"].append(2), Hostile(), lambda held: list(held.__dict__["rows"])),
    "Random": (lambda held: held.random(), random.Random(1), lambda held: held.getstate()),
    "Generator": (
        lambda held: torch.rand(1, generator=held),
        torch.Generator(),
        lambda held: held.get_state().tolist(),
    ),
    "numpy Generator": (
        lambda held: held.random(),
        np.random.default_rng(1),
        lambda held: str(held.bit_generator.state),
    ),
}


@pytest.mark.parametrize("name", CONTAINERS)
def test_containers_and_objects_are_put_back(name: str) -> None:
    check(*CONTAINERS[name])


def test_attributes_of_the_class_are_put_back() -> None:
    class Counts(Holds):
        count = 0
        rows: ClassVar[list[int]] = []

    def action(_: Any) -> None:
        Counts.count += 1
        Counts.rows.append(1)
        Counts.fresh = 1  # type: ignore[attr-defined]

    trec.capture(Counts(action), (4, 3))
    assert (Counts.count, Counts.rows, hasattr(Counts, "fresh")) == (0, [], False)


# ---- the process


class Operators(TorchDispatchMode):  # type: ignore[no-untyped-call]
    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return func(*args, **(kwargs or {}))


class Functions(TorchFunctionMode):
    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return func(*args, **(kwargs or {}))


def enter(mode: Any) -> None:
    mode().__enter__()


SWITCHES: dict[str, tuple[Any, Any]] = {
    "threads": (lambda _: torch.set_num_threads(torch.get_num_threads() + 1), torch.get_num_threads),
    "deterministic": (
        lambda _: torch.use_deterministic_algorithms(True, warn_only=True),
        lambda: (
            torch.are_deterministic_algorithms_enabled(),
            torch.is_deterministic_algorithms_warn_only_enabled(),
        ),
    ),
    "anomaly": (lambda _: torch.set_anomaly_enabled(True), torch.is_anomaly_enabled),
    "precision": (lambda _: torch.set_float32_matmul_precision("medium"), torch.get_float32_matmul_precision),
    "attention": (lambda _: torch.backends.cuda.enable_flash_sdp(False), torch.backends.cuda.flash_sdp_enabled),
    "mkldnn": (lambda _: TORCH._C._set_mkldnn_enabled(False), lambda: torch.backends.mkldnn.enabled),
    "benchmark": (lambda _: TORCH._C._set_cudnn_benchmark(True), lambda: torch.backends.cudnn.benchmark),
    "printing": (lambda _: TORCH.set_printoptions(precision=9), lambda: vars(torch._tensor_str.PRINT_OPTS).copy()),
    "warnings": (lambda _: torch.set_warn_always(True), torch.is_warn_always_enabled),
    "hooks": (
        lambda _: nn.modules.module.register_module_forward_hook(lambda *args: None),
        lambda: len(nn.modules.module._global_forward_hooks),
    ),
    "autocast": (
        lambda _: TORCH.autocast("cpu", torch.bfloat16).__enter__(),
        lambda: (
            torch.is_autocast_enabled("cpu"),
            torch.autocast_increment_nesting(),
            torch.autocast_decrement_nesting(),
        ),
    ),
    "no_grad": (lambda _: TORCH.no_grad().__enter__(), torch.is_grad_enabled),
    "device": (lambda _: torch.set_default_device("cpu"), lambda: torch._C._len_torch_function_stack()),
    "operators": (lambda _: enter(Operators), torch._C._len_torch_dispatch_stack),
    "functions": (lambda _: enter(Functions), lambda: torch._C._len_torch_function_stack()),
    "saved tensors": (
        lambda _: torch.autograd.graph.saved_tensors_hooks(lambda t: t, lambda t: t).__enter__(),
        lambda: torch._C._autograd._top_saved_tensors_default_hooks(True),
    ),
}


@pytest.mark.parametrize("fails", [False, True])
@pytest.mark.parametrize("name", SWITCHES)
def test_what_the_model_switches_or_enters_is_put_back(name: str, fails: bool) -> None:
    action, state = SWITCHES[name]

    def turn(held: Any) -> None:
        action(held)
        if fails:
            raise ValueError

    net, x, before = Holds(turn), torch.ones(4, 3), state()
    with unchanged(net, x):
        try:
            trec.capture(net, args=(x,))
        except trec.CaptureError:
            assert fails
    assert state() == before


def test_inference_mode_that_is_not_left_spoils_nothing_afterwards() -> None:
    def begin(held: list[Any]) -> None:
        held.append(torch.inference_mode())
        held[0].__enter__()

    net, x = Holds(begin, []), torch.ones(4, 3)
    with unchanged(net, x):
        trec.capture(net, args=(x,))
    assert (torch.ones(1, requires_grad=True) * 2).requires_grad


def test_running_statistics_are_put_back_in_inference_mode() -> None:
    for net, x in (
        (nn.BatchNorm1d(3), torch.randn(4, 3)),
        (nn.InstanceNorm1d(3, track_running_stats=True), torch.randn(2, 3, 5)),
    ):
        with unchanged(net, x), torch.inference_mode():
            trec.capture(net, args=(x,))


def test_what_cannot_be_put_back_is_told() -> None:
    x = torch.ones(4, 3, requires_grad=True) * 2
    with pytest.warns(trec.TraceWarning, match="the history of"):
        graph = trec.capture(Holds(lambda held: held.mul_(2), x), (4, 3))
    assert graph.nodes
    assert x.tolist() == [[2.0] * 3] * 4


# ---- tensors


def sparse() -> Tensor:
    return torch.eye(3).to_sparse()


def uncoalesced() -> Tensor:
    return torch.sparse_coo_tensor([[0, 0], [1, 1]], [1.0, 2.0], (3, 3))  # type: ignore[arg-type]


def quantised() -> Tensor:
    return torch.quantize_per_tensor(torch.eye(3), 0.1, 0, torch.qint8)


TENSORS: dict[str, tuple[Any, Any]] = {
    "sparse": (sparse, lambda t: t.mul_(2)),
    "sparse, other places": (sparse, lambda t: t.add_(torch.ones(3, 3).to_sparse())),
    "sparse, zeroed": (sparse, lambda t: t.zero_()),
    "sparse, resized": (sparse, lambda t: t.sparse_resize_((5, 5), 2, 0)),
    "uncoalesced values": (uncoalesced, lambda t: t._values().mul_(3)),
    "uncoalesced": (uncoalesced, lambda t: t._coalesced_(True)),
    "compressed": (lambda: torch.eye(3).to_sparse_csr(), lambda t: t.values().mul_(4)),
    "compressed, resized": (
        lambda: torch.eye(3).to_sparse_csr(),
        lambda t: t.resize_as_sparse_(torch.ones(4, 4).to_sparse_csr()),
    ),
    "quantised": (quantised, lambda t: t.copy_(torch.ones(3, 3))),
    "quantised anew": (
        quantised,
        lambda t: SET(t, "data", torch.quantize_per_tensor(torch.ones(3, 3), 0.5, 1, torch.qint8)),
    ),
    "nested": (lambda: torch.nested.nested_tensor([torch.ones(2), torch.ones(3)]), lambda t: t.mul_(2)),
    "conjugated": (
        lambda: torch.ones(3, dtype=torch.complex64),
        lambda t: SET(t, "data", t.data.conj()),
    ),
    "real part": (lambda: torch.ones(3, dtype=torch.complex64), lambda t: t.real.mul_(3)),
    "subclass of two": (lambda: MAKE(torch.ones(3), torch.ones(3)), lambda t: (t.add_(1), t.a.mul_(5))),
    "reinterpreted": (lambda: torch.ones(3), lambda t: SET(t, "data", t.data.view(torch.int32))),
    "on meta": (lambda: torch.ones(3, device="meta"), lambda t: (t.add_(1), t.resize_(5), t.requires_grad_())),
    "made for inference": (
        lambda: torch.inference_mode()(torch.ones)(3),
        lambda t: torch.inference_mode()(t.add_)(1),
    ),
}


def form(tensor: Tensor) -> Any:
    if tensor.layout is torch.sparse_coo:
        return tensor.is_coalesced(), tensor._nnz(), tensor._values().tolist(), tensor.shape
    if tensor.is_meta or tensor.is_nested:
        return tensor.is_meta, tensor.requires_grad
    return content(tensor), tensor.shape, tensor.dtype, tensor.is_conj(), str(tensor)


@pytest.mark.filterwarnings("ignore:.*(Sparse|nested|quant)")
@pytest.mark.parametrize("name", TENSORS)
def test_tensors_of_any_kind_are_put_back(name: str) -> None:
    make, action = TENSORS[name]
    check(action, make(), form)


def test_hooks_that_were_there_are_put_back() -> None:
    t: Any = torch.ones(3, requires_grad=True)
    handle, other = t.register_hook(lambda grad: grad), t.register_post_accumulate_grad_hook(lambda _: None)

    def change(held: Any) -> None:
        handle.remove()
        other.remove()
        held.register_hook(lambda grad: grad * 2)

    check(change, t, lambda held: [list(held._backward_hooks), list(held._post_accumulate_grad_hooks)])


def test_gradients_behind_an_input_that_is_no_leaf_are_put_back() -> None:
    w = torch.ones(3, requires_grad=True)
    x = w * 2
    x.retain_grad()
    check(lambda held: (held * 3).sum().backward(retain_graph=True), x, lambda held: (w.grad, held.grad))


def test_modes_of_the_user_see_nothing_of_what_recording_does() -> None:
    seen: list[Any] = []

    class Watching(TorchDispatchMode):  # type: ignore[no-untyped-call]
        def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            seen.append(func)
            return func(*args, **(kwargs or {}))

    net, x = nn.Sequential(nn.Linear(3, 3), nn.BatchNorm1d(3), nn.ReLU(inplace=True)), torch.ones(4, 3)
    with Watching():  # type: ignore[no-untyped-call]
        net(x)
        plain = len(seen)
        trec.capture(net, args=(x,))
    assert seen[plain:] == seen[:plain]
