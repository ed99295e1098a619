"""Text of unknown origin, made safe to print.

Column names, labels and error messages may quote a file that someone else has written. Escape sequences move a
terminal's cursor or its title, line breaks forge lines, and overrides of the writing direction show text in another
order than it has.
"""

from __future__ import annotations

import re

LONGEST = 60
"""Characters of a text that a message quotes: a field of a file can have a hundred thousand."""

_BIDIRECTIONAL = "\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"  # Unicode's property Bidi_Control
_INVISIBLE = "\u200b\u2060-\u2064\u206a-\u206f\ufeff\ufff9-\ufffb"  # but for the joiners, which writing systems need
UNSAFE = re.compile(f"[\\x00-\\x1f\\x7f-\\x9f\\u2028\\u2029\\ud800-\\udfff{_BIDIRECTIONAL}{_INVISIBLE}]")
"""Characters that a terminal acts upon or cannot show; all of them have at most four hexadecimal digits."""


def visible(text: str, keep: str = "") -> str:
    r"""The text on one line, its control characters written as escapes; those in ``keep`` stay.

    Surrogates, which no encoding can write, are escaped too.

    >>> print(visible("a\x1b[31mb\nc"))
    a\x1b[31mb\nc
    >>> visible("one\ntwo", keep="\n")
    'one\ntwo'
    """
    return UNSAFE.sub(lambda match: match[0] if match[0] in keep else _escape(match[0]), text)


def quoted(text: object) -> str:
    """``repr``, which escapes control characters, shortened to what a message can hold.

    >>> quoted("a"), quoted(2.5), len(quoted(1000 * "x"))
    ("'a'", '2.5', 63)
    """
    if not isinstance(text, str):
        return repr(text)
    return repr(text if len(text) <= LONGEST else text[:LONGEST] + "…")


def _escape(character: str) -> str:
    return character.encode("unicode_escape", "surrogatepass").decode("ascii")
