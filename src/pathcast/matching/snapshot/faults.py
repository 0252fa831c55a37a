"""How content is refused that no file should have, even one with a right checksum."""

from __future__ import annotations

from typing import NoReturn

from pathcast.errors import FormatError

__all__ = ["wrong"]


def wrong(message: str) -> NoReturn:
    """The bytes are as they were written, but nobody should have written them."""
    hint = "save the subscriptions again with Matcher.save"
    raise FormatError("content", message, hint=hint)
