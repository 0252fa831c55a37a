"""Content-based publish/subscribe for XML: pathcast delivers documents to subscribers by XPath.

A subscription is an XPath expression. A document reaches exactly the subscribers with an expression
that it satisfies. This module exports the public API. It imports `Matcher` and `covers` on first
access, so that `import pathcast.errors` and the worker processes of the sandbox do not load the
engine.

>>> from pathcast import Matcher
>>> matcher = Matcher()
>>> matcher.add("desk-7", "/news[@lang='en']//person")
>>> list(matcher.match(b"<news lang='en'><p>by <person>Ann</person></p></news>"))
['desk-7']
"""

from __future__ import annotations

from typing import TYPE_CHECKING

__all__ = ["Matcher", "__version__", "covers"]

__version__ = "0.1.0"

if TYPE_CHECKING:
    from pathcast.covering import covers
    from pathcast.matching import Matcher
else:

    def __getattr__(name: str) -> object:
        if name == "Matcher":
            from pathcast.matching import Matcher

            return Matcher
        if name == "covers":
            from pathcast.covering import covers

            return covers
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
