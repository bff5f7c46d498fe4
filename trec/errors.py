"""Every error that trec raises on purpose."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from trec.ir.graph import Graph


class TrecError(Exception):
    """Base of all errors that trec raises on purpose."""


class CaptureError(TrecError):
    """The model could not be recorded, or raised while it was recorded.

    The model's own exception, if there was one, is the `__cause__`.
    """

    graph: Graph | None = None
    """What had been recorded when the model failed; None if nothing ran."""


class TraceWarning(UserWarning):
    """Something that the model changed while it was recorded could not be put back; everything else was."""


class FormatError(TrecError):
    """A file is not a graph that this version of trec can read."""


class VerifyError(TrecError):
    """A graph breaks an invariant of the IR."""


class MergeError(TrecError):
    """Recordings of several ranks do not fit together: run together, they would wait for ever or fail.

    The message names both sides: rank, module and line.
    """


class StructureError(TrecError):
    """Graphs that should be runs of one structure differ in more than sizes; the message says where."""


class OptionError(TrecError, ValueError):
    """An option has a value that is not allowed; the message lists the allowed ones."""


class DependencyError(TrecError, ImportError):
    """An optional library or program is missing; the message says how to install it."""
