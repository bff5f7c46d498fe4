"""Record what a block of code does: any calls of any modules, and the torch functions between them."""

from __future__ import annotations

from contextlib import ExitStack
from threading import get_ident
from typing import TYPE_CHECKING

from trec.capture.restore.interrupts import Interrupts
from trec.capture.session import check_options, conclude, recorder_for
from trec.capture.toplevel import TopLevel
from trec.capture.torch_api import DisableTorchFunction
from trec.capture.watch import alone_in_this_thread, watching
from trec.errors import CaptureError
from trec.ir.collector import paused

if TYPE_CHECKING:
    from types import TracebackType

    import torch

    from trec.capture.recorder import Recorder
    from trec.ir.graph import Graph
    from trec.ir.types import Level


class Recording:
    """A block of code that is recorded; see `trec.recording`."""

    def __init__(self, net: torch.nn.Module | None, name: str | None, level: Level) -> None:
        check_options(net, name, level, optional=True)
        self._net, self._level = net, level
        self._name = name or ("recording" if net is None else type(net).__name__)
        self._recorder: Recorder | None = None
        self._watch = ExitStack()
        self._thread = 0
        self._graph: Graph | None = None

    @property
    def graph(self) -> Graph:
        """The graph of what ran in the block.

        Raises:
            CaptureError: the block has not ended yet.
        """
        if self._graph is None:
            began = "is still running" if self._thread else "has not begun"
            raise CaptureError(f"the recording {began}; its graph is there when the `with` block has ended")
        return self._graph

    def __enter__(self) -> Recording:
        if self._thread:
            raise CaptureError("a recording is made once; for another block call trec.recording again")
        with ExitStack() as stack:
            stack.enter_context(alone_in_this_thread())
            recorder = recorder_for(self._level, training=True)
            recorder.memory.holds = False
            recorder.top_level = TopLevel(recorder, self._net)
            if self._net is not None:
                with DisableTorchFunction():
                    recorder.names.name(self._net)
            self._thread, self._recorder = get_ident(), recorder
            stack.enter_context(watching(recorder))
            self._watch = stack.pop_all()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if get_ident() != self._thread:
            raise CaptureError("a recording ends in the thread that it began in, and is still running there")
        recorder, self._recorder = self._recorder, None
        if recorder is None or recorder.top_level is None:
            return
        model, met = recorder.names.model(), recorder.names.met()
        with Interrupts():
            self._watch.close()
        recorder.settle_failure([] if error is None else [error])
        with DisableTorchFunction(), paused():
            recorder.thread.scope, recorder.thread.call = 0, None
            if recorder.top_level.is_one_call():
                recorder.top_level.drop_root()
            made = recorder.names.made(met, recorder.thread)
            self._graph = conclude(recorder, self._name, self._level, recorder.top_level.outputs(), made, model)
        recorder.forget_failure()
        self._net = None
