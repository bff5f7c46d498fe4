"""Each text once: what the columns of a page refer to."""

from __future__ import annotations

from trec.backends.escape import printable


class Texts:
    """Texts in the order in which they were first met; the first is the empty one."""

    def __init__(self) -> None:
        self._index: dict[str, int] = {"": 0}

    def add(self, text: str) -> int:
        """Return the position of a text, which is appended if it is new."""
        index = self._index
        position = index.get(text)
        if position is None:
            position = index[text] = len(index)
        return position

    def below(self, text: str, around: str) -> int:
        """Return the position of a name, without the name around it if that and a dot begin it.

        What is left then begins with the dot; a whole name that begins with a dot or a sign of equality has one more
        sign of equality before it.

        Example:
            >>> texts = Texts()
            >>> [texts.below(text, "a.b") for text in ("a.b.c", "a.x", ".c")]
            [1, 2, 3]
            >>> texts.rows()
            ['', '.c', 'a.x', '=.c']
        """
        if around and text.startswith(f"{around}."):
            return self.add(text[len(around) :])
        return self.add(f"={text}" if text[:1] in (".", "=") else text)

    def rows(self) -> list[str]:
        """Return the texts, without characters that no page can show."""
        return [printable(text) for text in self._index]
