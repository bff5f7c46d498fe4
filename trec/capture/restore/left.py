"""What could not be put back after a recording, and how to go on all the same."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

MOST_LINES = 20


class Left(list[str]):
    """Short sentences, one for each trace that stays."""

    def attempt(self, what: str, step: Callable[..., Any], *args: Any) -> bool:
        """Do one step of putting things back; note it if it fails, and return whether it did not.

        One step that fails must cost neither the steps behind it, nor the graph, nor hide an error of the model.
        """
        try:
            step(*args)
        except BaseException as error:  # objects of the user's may raise anything; interrupts wait meanwhile
            self.append(f"{what} ({reason(error)})")
            return False
        return True

    def text(self) -> str:
        """Return all of them as the text of a warning."""
        lines = list(dict.fromkeys(self))
        more = [f"and {len(lines) - MOST_LINES} more"] if len(lines) > MOST_LINES else []
        return "\n  ".join(["not put back as it was before the recording:", *lines[:MOST_LINES], *more])


def reason(error: BaseException) -> str:
    """Return class and first line of an error, whose own text may raise."""
    try:
        text = str(error).strip().split("\n")[0]
    except Exception:
        text = ""
    return f"{type(error).__name__}: {text}" if text else type(error).__name__
