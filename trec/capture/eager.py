"""Keep torch's compiler out while there are recordings: compiled code would run without being seen."""

from __future__ import annotations

import sys
import threading
import warnings
from contextlib import ExitStack, contextmanager
from importlib import import_module
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import PathFinder
from typing import TYPE_CHECKING, Any

import torch

if TYPE_CHECKING:
    from collections.abc import Iterator
    from importlib.machinery import ModuleSpec
    from types import ModuleType

COMPILER = "torch._dynamo"


class Eager(MetaPathFinder):
    """A context in which compiled functions and modules run as they are written.

    The compiler is not imported for that, which takes over a second: if the recorded code imports it, as `torch.cond`
    does, it is told to keep out at that moment. The switch is one for the whole process, so the first of several
    recordings at once sets it, and the last puts it back.
    """

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._users = 0
        self._stack = ExitStack()

    def __enter__(self) -> None:
        with self._lock:
            self._users += 1
            if self._users > 1:
                return
            if COMPILER in sys.modules:
                self.keep_out()
            else:
                sys.meta_path.insert(0, self)
                self._stack.callback(sys.meta_path.remove, self)

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self._users -= 1
            if not self._users:
                self._stack.close()

    def keep_out(self) -> None:
        """Tell the compiler, which is loaded, to run everything eagerly."""
        with self._lock:
            if self._users:
                self._stack.enter_context(torch.compiler.set_stance("force_eager"))
                self._stack.enter_context(_no_warning("Using `torch.compile\\(module\\)` when there are global hooks"))

    def find_spec(self, name: str, path: Any, target: Any = None) -> ModuleSpec | None:
        """Find the compiler, and nothing else, so that it is told once it is loaded."""
        spec = PathFinder.find_spec(name, path, target) if name == COMPILER else None
        if spec is not None and spec.loader is not None:
            spec.loader = _Telling(spec.loader, self)
        return spec


def load_for(device: torch.device) -> None:
    """Load the compiler before a model runs on `meta`, where one of the first operators would load it.

    It keeps the frames that there are while it is loaded, and so would keep the model's tensors.
    """
    if device.type == "meta":
        import_module(COMPILER)


class _Telling(Loader):
    """Loads the compiler as its own loader does, which it leaves in its place."""

    def __init__(self, loader: Loader, eager: Eager) -> None:
        self.loader, self.eager = loader, eager

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        return self.loader.create_module(spec)

    def exec_module(self, module: ModuleType) -> None:
        module.__loader__ = self.loader
        if module.__spec__ is not None:
            module.__spec__.loader = self.loader
        self.loader.exec_module(module)
        self.eager.keep_out()


@contextmanager
def _no_warning(message: str) -> Iterator[None]:
    """Ignore a warning inside; filters that are set meanwhile stay."""
    warnings.filterwarnings("ignore", message)
    ours = warnings.filters[0]
    try:
        yield
    finally:
        warnings.filters[:] = [other for other in warnings.filters if other is not ours]  # type: ignore[index]


eager = Eager()
