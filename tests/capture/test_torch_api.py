"""What trec relies on in torch beyond its public interface still means what it is used for."""

from __future__ import annotations

import ast
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import torch
from torch import Tensor, nn
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard
from torch.distributed.tensor import DTensor, Shard
from torch.testing._internal.distributed.fake_pg import FakeStore

from trec.capture import torch_api as api

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = [pytest.mark.torch, pytest.mark.filterwarnings("ignore:.*torch.jit")]

CAPTURE = Path(api.__file__).parent
PRIVATE = ("torch._C", "torch._ops", "torch._jit_internal", "torch._tensor_str", "torch.utils._device")


class Functions(torch.overrides.TorchFunctionMode):
    def __init__(self) -> None:
        super().__init__()
        self.seen: list[str] = []

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        self.seen.append(func.__name__)
        return func(*args, **(kwargs or {}))


class Operators(api.TorchDispatchMode):  # type: ignore[no-untyped-call]
    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.seen: list[Any] = []

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        self.seen.append(func)
        return func(*args, **(kwargs or {}))


def test_no_other_file_reaches_for_private_modules_of_torch() -> None:
    paths = [path for path in sorted(CAPTURE.rglob("*.py")) if path.name != "torch_api.py"]
    assert {path.parent.name for path in paths} >= {"capture", "values", "restore", "emit", "traced", "training"}
    for path in paths:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            named = ast.unparse(node) if isinstance(node, ast.Attribute) else ""
            imported = getattr(node, "module", None) if isinstance(node, ast.ImportFrom) else None
            for text in (named, imported or ""):
                assert not text.startswith(PRIVATE), f"{path.name}, line {getattr(node, 'lineno', 0)}: {text}"


# ---- keeping out of the way


def test_function_modes_see_nothing_where_they_are_disabled() -> None:
    with Functions() as mode:
        with api.DisableTorchFunction():
            torch.ones(2).neg()
        assert mode.seen == []
        torch.ones(2)
    assert mode.seen == ["ones"]


def test_dispatch_modes_see_every_operator_with_its_schema() -> None:
    with Operators() as mode:
        nn.functional.linear(torch.ones(1, 2), torch.ones(3, 2), torch.ones(3))
    assert [str(op) for op in mode.seen][-2:] == ["aten.t.default", "aten.addmm.default"]
    assert all(isinstance(op, api.OpOverload) for op in mode.seen)


def test_the_innermost_dispatch_mode_is_known_and_can_be_left_for_a_while() -> None:
    assert api.current_dispatch_mode() is None
    with Operators() as outer, Operators() as inner:
        assert api.current_dispatch_mode() is inner
        with api.without_dispatch_mode() as left:
            assert left is inner
            assert api.current_dispatch_mode() is outer
        assert api.current_dispatch_mode() is inner


def test_stacks_of_modes_list_the_outermost_first_and_can_be_mended() -> None:
    assert api.dispatch_modes() == []
    with Operators() as outer, Operators() as inner:
        assert api.dispatch_modes() == [outer, inner]
        assert api.pop_dispatch_mode() is inner
        assert api.dispatch_modes() == [outer]
        api.push_dispatch_mode(inner)
        assert api.dispatch_modes() == [outer, inner]
    assert api.function_modes() == []
    with Functions() as first, Functions() as second:
        assert api.function_modes() == [first, second]
        assert api.pop_function_mode() is second
        api.push_function_mode(second)
        assert api.function_modes() == [first, second]


def test_the_node_of_an_operator_that_runs_has_the_sequence_number_before_the_next() -> None:
    class Numbers(Operators):  # type: ignore[no-untyped-call]
        def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            self.seen.append(api.next_sequence_number() - 1)
            return func(*args, **(kwargs or {}))

    leaf = torch.ones(2, 3, requires_grad=True)
    with Numbers() as mode:
        view = leaf.t()
        total = view.sum()
    assert mode.seen == [api.sequence_number(view.grad_fn), api.sequence_number(total.grad_fn)]


def test_modes_transforms_and_autocast_are_counted() -> None:
    def counts() -> tuple[Any, ...]:
        return (
            api.count_of_function_modes(), api.count_of_dispatch_modes(), api.transform_level(), api.is_autocast_on(),
        )  # fmt: skip

    seen = []
    assert counts() == (0, 0, None, False)
    with Functions(), Operators(), Operators(), torch.autocast("cpu"):
        assert counts() == (1, 2, None, True)

    def function(x: Tensor) -> Tensor:
        seen.append(api.transform_level())
        return x

    torch.func.vmap(function)(torch.ones(2))
    assert seen == [1]


def test_dispatch_modes_see_nothing_where_their_key_is_left_out() -> None:
    with Operators() as mode:
        api.exclude_key(api.PYTHON_KEY, True)
        try:
            torch.ones(2).neg()
        finally:
            api.exclude_key(api.PYTHON_KEY, False)
        assert mode.seen == []
        torch.ones(2)
    assert [str(op) for op in mode.seen] == ["aten.ones.default"]


def test_tensors_of_transforms_are_told_from_others_and_the_transform_is_known() -> None:
    seen = []

    def function(x: Tensor) -> Tensor:
        seen.append((api.wrapped_by_functorch(x), api.transform_inside() is not None))
        return x * 2

    torch.func.vmap(function)(torch.ones(3))
    assert seen == [(True, True)]
    assert (api.wrapped_by_functorch(torch.ones(3)), api.transform_inside()) == (False, None)


def test_scripts_run_the_same_operators_every_time_where_they_run_as_written() -> None:
    script = torch.jit.script(nn.Sequential(nn.Linear(2, 2), nn.Tanh()))
    runs = []
    for _ in range(4):
        with api.scripts_as_written(False), Operators() as mode:
            script(torch.ones(1, 2))
        runs.append([str(op) for op in mode.seen])
    assert runs[0]
    assert all(run == runs[0] for run in runs)


# ---- operators


def test_schemas_say_what_is_written_and_what_shares_memory() -> None:
    add: Any = torch.ops.aten.add_.Tensor
    view: Any = torch.ops.aten.view.default
    assert [bool(a.alias_info and a.alias_info.is_write) for a in add._schema.arguments][:2] == [True, False]
    assert [a.alias_info is not None for a in view._schema.returns] == [True]
    assert not view._schema.arguments[0].alias_info.is_write
    assert add._schema.name == "aten::add_"


def test_operators_run_without_their_wrapper() -> None:
    operator = torch.ops.aten.add.Tensor
    assert torch.equal(operator._op(torch.ones(2), torch.ones(2)), torch.full((2,), 2.0))


def test_overloads_are_found_by_the_name_of_the_operator() -> None:
    names = {schema.overload_name for schema in api.schemas_of("aten::max")}
    assert {"", "dim", "other"} <= names
    assert api.schemas_of("aten::no_such_operator") == []


def test_functions_that_choose_by_a_flag_say_what_they_choose_from() -> None:
    choice: Any = api.boolean_dispatched.get(nn.functional.max_pool2d)
    assert choice is not None
    assert choice["arg_name"] == "return_indices"
    assert choice["if_true"].__name__ == "max_pool2d_with_indices"


def test_higher_order_operators_have_a_kernel_that_runs_their_functions() -> None:
    cond = torch.ops.higher_order.cond
    assert isinstance(cond, api.HigherOrderOperator)
    assert not isinstance(cond, api.OpOverload)
    kernel = cond.py_kernels[api.EAGER]
    ran = kernel(torch.tensor(True), lambda x: (x + 1,), lambda x: (x - 1,), (torch.ones(2),))
    assert torch.equal(ran[0], torch.full((2,), 2.0))


# ---- modules


def test_the_code_of_module_calls_is_on_the_stack_when_forward_runs() -> None:
    class Net(nn.Module):
        def forward(self, x: Tensor) -> Tensor:
            codes = set()
            frame: Any = sys._getframe()
            while frame is not None:
                codes.add(frame.f_code)
                frame = frame.f_back
            assert api.module_call_code in codes
            return x

    Net()(torch.ones(1))


def test_global_hooks_lie_in_the_tables_that_are_mended() -> None:
    sizes = [len(table) for table in api.global_hooks]
    before = nn.modules.module.register_module_forward_pre_hook(lambda *_: None)
    after = nn.modules.module.register_module_forward_hook(lambda *_: None, with_kwargs=True, always_call=True)
    hooks = api.module_hooks
    assert list(hooks._global_forward_pre_hooks)[-1] == before.id
    assert list(hooks._global_forward_hooks)[-1] == after.id
    assert after.id in hooks._global_forward_hooks_always_called
    assert after.id in hooks._global_forward_hooks_with_kwargs
    assert sum(len(table) for table in api.global_hooks) == sum(sizes) + 4
    for handle in (before, after):
        handle.remove()
        for table in api.global_hooks:
            table.pop(handle.id, None)
    assert [len(table) for table in api.global_hooks] == sizes
    assert hooks._global_is_full_backward_hook in (None, True, False)


def test_hooks_run_in_the_order_of_their_table() -> None:
    order: list[str] = []
    first = nn.modules.module.register_module_forward_pre_hook(lambda *_: order.append("first"))
    second = nn.modules.module.register_module_forward_pre_hook(lambda *_: order.append("second"))
    try:
        api.module_hooks._global_forward_pre_hooks.move_to_end(second.id, last=False)
        nn.Identity()(torch.ones(1))
    finally:
        first.remove()
        second.remove()
    assert order == ["second", "first"]


def test_parameters_of_lazy_modules_are_of_the_class_until_the_first_call() -> None:
    layer = nn.LazyLinear(2)
    assert isinstance(layer.weight, api.UninitializedTensor)
    with pytest.raises(RuntimeError):
        _ = layer.weight.shape
    layer(torch.ones(1, 3))
    assert not isinstance(layer.weight, api.UninitializedTensor)


def test_dropouts_have_the_base_that_tells_them_and_return_their_argument() -> None:
    x = torch.ones(1, 2, 3)
    for dropout in (nn.Dropout(), nn.Dropout1d(), nn.AlphaDropout()):
        assert isinstance(dropout, api.Dropout)
        assert torch.equal(dropout.eval()(x), x)


# ---- what a tensor was


def test_storages_have_an_address_of_their_own_that_views_share() -> None:
    x, y = torch.ones(4), torch.ones(4)
    assert x.untyped_storage()._cdata == x[1:].untyped_storage()._cdata
    assert x.untyped_storage()._cdata != y.untyped_storage()._cdata


def test_versions_can_be_put_back_so_that_a_backward_pass_goes_on() -> None:
    x = torch.ones(2, requires_grad=True)
    y = x * 2
    loss = (y * y).sum()
    version = y._version
    with torch.no_grad():
        y.add_(1).sub_(1)
    assert y._version == version + 2
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        loss.backward(retain_graph=True)  # type: ignore[no-untyped-call]
    api.set_versions((y,), (version,))
    loss.backward()  # type: ignore[no-untyped-call]
    assert x.grad is not None


def test_tensors_can_be_exchanged_and_stay_the_same_objects() -> None:
    x, y = torch.zeros(2), torch.ones(3)
    api.swap_tensors(x, y)
    assert (x.shape, y.shape) == ((3,), (2,))


def test_classes_of_tensors_that_leave_operators_alone_have_the_plain_handler() -> None:
    class Plain(Tensor):
        pass

    class Wrapping(Tensor):
        @classmethod
        def __torch_dispatch__(  # type: ignore[override]
            cls, func: Any, types: Any, args: Any = (), kwargs: Any = None
        ) -> Any:
            return func(*args, **(kwargs or {}))

    for kind in (Tensor, nn.Parameter, Plain):
        assert getattr(kind, "__torch_dispatch__", api.plain_dispatch) is api.plain_dispatch
    assert Wrapping.__torch_dispatch__ is not api.plain_dispatch


def test_hooks_on_saved_tensors_are_known_and_can_be_taken_off() -> None:
    def pack(tensor: Tensor) -> Tensor:
        return tensor

    assert api.saved_tensors_hooks(True) is None
    torch._C._autograd._push_saved_tensors_default_hooks(pack, pack)
    assert api.saved_tensors_hooks(True)[:2] == (pack, pack)
    api.pop_saved_tensors_hooks()
    assert api.saved_tensors_hooks(True) is None


# ---- autograd


class Running(Operators):  # type: ignore[no-untyped-call]
    """Sees which node of autograd's graph runs each operator, by name and number."""

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        node = api.current_autograd_node()
        self.seen.append(None if node is None else (node.name(), node is api.current_autograd_node()))
        self.numbers = [*getattr(self, "numbers", []), None if node is None else api.sequence_number(node)]
        return func(*args, **(kwargs or {}))


def test_the_node_that_runs_an_operator_is_known_and_has_the_number_that_it_was_made_with() -> None:
    x = torch.ones(2, requires_grad=True)
    with Running() as mode:
        y = x.exp()
        y.sum().backward()  # type: ignore[no-untyped-call]
    assert api.current_autograd_node() is None
    assert mode.seen[0] is None
    exp = mode.seen.index(("ExpBackward0", True))
    assert mode.numbers[exp] == api.sequence_number(y.grad_fn)
    name, same = mode.seen[-1]
    assert (name.endswith("AccumulateGrad"), same) == (True, True)
    assert mode.numbers[-1] >= 2**63  # it has no number of its own
    assert y.grad_fn.next_functions[0][0].variable is x  # type: ignore[union-attr]


# ---- switches


def test_switches_read_what_was_set() -> None:
    for read, write in (
        (torch.is_grad_enabled, api.set_grad_enabled),
        (api.fills_uninitialized, api.set_fills_uninitialized),
        (api.multithreaded_backward, api.set_multithreaded_backward),
    ):
        old = read()
        try:
            for value in (False, True):
                write(value)
                assert read() is value
        finally:
            write(old)
    assert "cpu" in api.autocast_devices()


def test_options_of_printing_are_where_they_are_set() -> None:
    old = dict(vars(api.print_options))
    try:
        torch.set_printoptions(precision=7)  # type: ignore[no-untyped-call]
        assert api.print_options.precision == 7
    finally:
        vars(api.print_options).update(old)


def test_the_default_device_is_where_it_is_set() -> None:
    held = api.default_device_context
    old = getattr(held, "device_context", None)
    assert api.default_device.CURRENT_DEVICE is None
    torch.set_default_device("meta")
    try:
        assert str(api.default_device.CURRENT_DEVICE) == "meta"
        assert held.device_context is not None
    finally:
        torch.set_default_device(None)
    assert api.default_device.CURRENT_DEVICE is None
    assert getattr(held, "device_context", None) is old


# ---- ranks


@pytest.fixture
def mesh() -> Iterator[Any]:
    """One of two ranks, the other of which is not there."""
    torch.distributed.init_process_group("fake", rank=0, world_size=2, store=FakeStore())
    yield init_device_mesh("cpu", (2,))
    torch.distributed.destroy_process_group()


def test_a_group_of_processes_is_found_by_its_name(mesh: Any) -> None:
    group = mesh.get_group()
    assert api.process_group(group.group_name) == group


def test_sizes_of_spread_tensors_are_inferred_with_fake_ones(mesh: Any) -> None:
    """An operator of sizes that torch has not met runs twice: on fake tensors of all, and on what the rank has."""
    spread = DTensor.from_local(torch.ones(3, 5), mesh, [Shard(0)], run_check=False)
    found: list[bool] = []

    class Mode(api.TorchDispatchMode):  # type: ignore[no-untyped-call]
        def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            if DTensor in types:
                return NotImplemented
            if func is torch.ops.aten.cosh.default:
                found.append(api.infers_sizes())
            return func(*args, **(kwargs or {}))

    with Mode():  # type: ignore[no-untyped-call]
        spread.cosh()
    assert found[-1] is False
    assert not api.infers_sizes()
    assert found.count(True) == 1


def test_fsdp_asks_for_storages_in_its_own_modules(mesh: Any) -> None:
    net = nn.Linear(4, 4)
    fully_shard(net, mesh=mesh)
    asked: list[bool] = []

    class Mode(torch.overrides.TorchFunctionMode):
        def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            if func is Tensor.untyped_storage:
                asked.append(api.manages_storage(sys._getframe(1)))
            return func(*args, **(kwargs or {}))

    with Mode():
        net(torch.ones(1, 4))
    assert asked
    assert all(asked)
    assert not api.manages_storage(sys._getframe())


def test_all_overloads_of_an_operator_are_one_object_that_prints_its_name() -> None:
    assert isinstance(torch.ops.aten.add, api.OpOverloadPacket)
    assert str(torch.ops.aten.add) == "aten.add"


# ---- who holds a tensor


def test_the_object_of_a_tensor_has_one_reference_more_while_anything_in_c_plus_plus_holds_it() -> None:
    leaf = torch.ones(2, requires_grad=True)
    made = leaf * 1
    alone = sys.getrefcount(made)
    assert api.use_count(made) == 1
    saved = made * made
    assert api.use_count(made) > 1
    assert sys.getrefcount(made) == alone + 1
    del saved
    assert sys.getrefcount(made) == alone
