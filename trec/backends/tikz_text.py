"""Make any text safe for LaTeX."""

from __future__ import annotations

from unicodedata import normalize

from trec.backends.escape import printable

_COMMANDS = {
    **{sign: f"\\{sign}" for sign in "#$%&_{}"},
    "\\": "\\textbackslash{}", "~": "\\textasciitilde{}", "^": "\\textasciicircum{}", "<": "\\textless{}",
    ">": "\\textgreater{}", "|": "\\textbar{}", '"': "{''}", "\n": " ", "\r": " ", "\t": " ", "\x7f": " ",
    "-": "{-}", "'": "{'}", "`": "{`}", ",": "{,}", "!": "{!}", "?": "{?}",
    "×": "\\ensuremath{\\times}", "÷": "\\ensuremath{\\div}", "−": "\\ensuremath{-}", "·": "\\ensuremath{\\cdot}",
    "→": "\\ensuremath{\\rightarrow}", "←": "\\ensuremath{\\leftarrow}", "…": "\\dots{}", "–": "{--}", "²":
    "\\ensuremath{^2}", "√": "\\ensuremath{\\surd}", "≤": "\\ensuremath{\\leq}", "≥": "\\ensuremath{\\geq}",
    "≠": "\\ensuremath{\\neq}", "≈": "\\ensuremath{\\approx}", "∞": "\\ensuremath{\\infty}", "ß": "\\ss{}",
    "\xa0": "~", "µ": "\\ensuremath{\\mu}", "σ": "\\ensuremath{\\sigma}", "π": "\\ensuremath{\\pi}",
}  # fmt: skip
"""What a sign is in LaTeX; those in braces would else join others to a ligature."""
_ACCENTS = {"\u0300": "`", "\u0301": "'", "\u0302": "^", "\u0303": "~", "\u0308": '"', "\u030a": "r", "\u0327": "c"}


def escape(text: str) -> str:
    r"""Return the text as LaTeX shows it; a sign that is not known to it becomes `\trecsign{...}`.

    Example:
        >>> print(escape("50% of layer_1, né"))
        50\% of layer\_1{,} n\'{e}
    """
    if text.isalnum() and text.isascii():
        return text
    return "".join(map(_sign, printable(text)))


def _sign(sign: str) -> str:
    if sign in _COMMANDS:
        return _COMMANDS[sign]
    if sign.isascii():
        return sign
    parts = normalize("NFD", sign)
    if len(parts) == 2 and parts[0].isascii() and parts[0].isalpha() and parts[1] in _ACCENTS:
        return f"\\{_ACCENTS[parts[1]]}{{{parts[0]}}}"
    return f"\\trecsign{{{ord(sign):X}}}"
