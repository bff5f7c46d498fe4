"""What the site does with docstrings: an `Example:` is shown as code, as griffe does with `Examples:` alone."""

from __future__ import annotations

import re
from typing import Any

import griffe


class Examples(griffe.Extension):
    """Read the section `Example:` of docstrings as one of examples."""

    def on_object(self, *, obj: griffe.Object, **_: Any) -> None:
        """Change the heading of the section before the docstring is parsed."""
        if obj.docstring:
            obj.docstring.value = re.sub(r"^( *)Example:$", r"\1Examples:", obj.docstring.value, flags=re.MULTILINE)
