"""Lines of the user's code that made the calls, without absolute paths."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch

from trec.capture.torch_api import module_call_code
from trec.ir.types import Source

if TYPE_CHECKING:
    from types import CodeType, FrameType

    from trec.capture.log import Place

_HIDDEN_ROOTS = (str(Path(torch.__file__).parent), str(Path(__file__).parent))
_MODULE_CALL = module_call_code

_hidden: dict[int, tuple[CodeType, bool]] = {}
"""Whether code belongs to torch or to recording, by id of the code object, whose own hash takes long; and the code."""

_sources: dict[tuple[int, int], tuple[CodeType, Source]] = {}
"""Source lines by id of the code object and offset; and the code, so that the id stays its own."""

_names: dict[str, str] = {}


def caller_place(depth: int) -> Place:
    """Return where the nearest frame outside torch stands; None if a module call comes first.

    Args:
        depth: number of frames to leave out, counted from the caller of this function.
    """
    return _search(sys._getframe(depth))


def module_frame() -> int:
    """Return the identity of the stack frame of the module call whose hook runs; 0 for none."""
    return id(frame) if (frame := _module_call(sys._getframe(2))) is not None else 0


def module_frames() -> tuple[int, int, Place]:
    """Return the identities of the stack frames of the module call whose hook runs and of the one around; 0 for none.

    The third is where the call was made: the nearest frame outside torch between the two.
    """
    frame = _module_call(sys._getframe(2))
    if frame is None:
        return 0, 0, None
    own, frame = id(frame), frame.f_back
    place = _search(frame)
    frame = _module_call(frame)
    return own, 0 if frame is None else id(frame), place


def _module_call(frame: FrameType | None) -> FrameType | None:
    while frame is not None and frame.f_code is not _MODULE_CALL:
        frame = frame.f_back
    return frame


def module_arguments() -> tuple[Any, Any]:
    """Return the arguments of the module call whose hook runs: hooks are not told those given by keyword."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and frame.f_code is not _MODULE_CALL:
        frame = frame.f_back
    return ((), {}) if frame is None else (frame.f_locals.get("args"), frame.f_locals.get("kwargs"))


def _search(frame: FrameType | None) -> Place:
    while frame is not None:
        code = frame.f_code
        if code is _MODULE_CALL:
            return None
        known = _hidden.get(id(code))
        if known is None:
            known = _hidden[id(code)] = (code, code.co_filename.startswith(_HIDDEN_ROOTS))
        if not known[1]:
            return code, frame.f_lasti
        frame = frame.f_back
    return None


def resolve_place(place: tuple[CodeType, int]) -> Source:
    """Return file and line of a place."""
    code, offset = place
    known = _sources.get((id(code), offset))
    if known is None:
        known = _sources[id(code), offset] = (code, _resolve(code, offset))
    return known[1]


def _resolve(code: CodeType, offset: int) -> Source:
    line = next((line for start, stop, line in code.co_lines() if start <= offset < stop and line), code.co_firstlineno)
    name = _names.get(code.co_filename)
    if name is None:
        name = _names[code.co_filename] = short_name(code.co_filename)
    return Source(name, line)


def short_name(filename: str) -> str:
    """Return a file name relative to the root of the package that holds it, or its last part.

    Code that was never in a file keeps the name in angle brackets without what is counted behind it.
    """
    if filename.startswith("<"):
        return filename[: filename.find(">") + 1].split("-")[0].rstrip(">") + ">"
    path = Path(filename)
    root = path.parent
    while (root / "__init__.py").is_file() and root != root.parent:
        root = root.parent
    return path.relative_to(root).as_posix()
