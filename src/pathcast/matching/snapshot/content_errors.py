"""Rejection of content that no valid file has, even if its checksum is right."""

from __future__ import annotations

from typing import NoReturn

from pathcast.errors import FormatError

__all__ = ["reject"]


def reject(message: str) -> NoReturn:
    """Raise FormatError: the bytes are intact, but no writer produces them."""
    hint = "save the subscriptions again with Matcher.save"
    raise FormatError("content", message, hint=hint)
