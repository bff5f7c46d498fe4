"""What a model raised, and where: the error that a capture ends in then."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trec.errors import CaptureError
from trec.ir.text import type_text

if TYPE_CHECKING:
    from trec.capture.recorder import Recorder
    from trec.ir.graph import Graph


def capture_error(recorder: Recorder, error: Exception, graph: Graph, *, guessed_dtypes: bool) -> CaptureError:
    """Return the error that says what the model raised, with the graph of what ran until then.

    Args:
        recorder: what was written down.
        error: what the model raised.
        graph: the graph of it.
        guessed_dtypes: whether the inputs were made from shapes, in a dtype that nobody named.
    """
    text = _text(error)
    message = f"the model raised {type(error).__name__}{_where(recorder, graph)}: {text}"
    if guessed_dtypes:
        message += _dtype_hint(text)
    made = CaptureError(message)
    made.graph = graph
    recorder.forget_failure()
    return made


def _where(recorder: Recorder, graph: Graph) -> str:
    """Return in words where the model failed: the module, and the call with what it was given."""
    where = ""
    if recorder.failure is not None:
        record = recorder.log.scopes[recorder.failure[0]]
        where = f" in module {record.path!r} ({record.cls})" if record.path else f" in {record.cls}.forward"
    if recorder.failed_call is None:
        return where
    failed = [(row.op, row.inputs, row.attrs) for row in graph.nodes if row.kind in ("op", "host")]
    failed += [(row.cls, row.inputs, row.attrs) for row in graph.scopes if row.kind == "function"]
    for name, inputs, attrs in failed:
        if "error" in (given := dict(graph.attrs[attrs])):
            shown = [type_text(graph.type_of(value)) for value in inputs]
            shown += [f"{key}={value!r}" for key, value in given.items() if key != "error"]
            return f"{where}, at {name}({', '.join(shown)})"
    return where


def _text(error: Exception) -> str:
    try:
        return str(error)
    except Exception:  # the user's own code
        return "an exception that has no text"


def _dtype_hint(text: str) -> str:
    """Return what to try when a model fails on inputs made from shapes; nothing if their dtype is not to blame."""
    if any(word in text for word in ("indices", "Long", "Int", "integer")):
        return (
            "\nThe inputs were made from shapes as floating point numbers; if the model takes integers, say so: "
            "trec.capture(net, shapes, dtypes=torch.int64), or one dtype for each shape: dtypes=[None, torch.int64]"
        )
    if any(word in text for word in ("same dtype", "should be the same", "scalar type", "dtypes to match")):
        return (
            "\nThe inputs were made from shapes in the dtype of the model's parameters, or in the default dtype where "
            "those have several; if the model takes another, say so: trec.capture(net, shapes, dtypes=torch.bfloat16)"
        )
    return ""
