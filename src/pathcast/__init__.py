"""pathcast delivers XML documents to the people who asked for them.

A subscriber registers an XPath expression; a document reaches exactly the subscribers whose
expression it satisfies. This module is the front door and nothing else: `Matcher` and `covers` are loaded when
first asked for, so that `import pathcast.errors`, the version, and the helper process that runs
expensive expressions do not pay for the engine.

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
