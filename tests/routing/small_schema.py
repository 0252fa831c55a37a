"""A small schema, valid documents, and subscriptions that match different ones of them."""

from __future__ import annotations

__all__ = ["MERGED", "SAMPLES", "SCHEMA", "XPATHS"]

SCHEMA = (
    "<!ELEMENT a (b*, c?, d?)> <!ELEMENT b (c?, d?)> <!ELEMENT c (e?)> <!ELEMENT d (e*)>"
    " <!ELEMENT e EMPTY>"
)
XPATHS = (
    *("/a", "/a/b", "//c", "/a/b/c", "/a/b/d", "/a/*/e", "//b/c", "//b/d", "//d/e", "//c/e"),
    *("/a//e", "/a[b][d]", "//b[c and d]", "/a/c/e", "/a/d/e", "/a/b/c/e", "/a/b/d/e", "/a/*"),
    *("//b[not(c)]", "count(//b) > 1", "/z", "e"),
)
MERGED = (
    "/a/b",
    "/a/c",
    "/a/d",
    "/a/b/c",
    "/a/b/d",
    "/a/c/e",
    "/a/d/e",
    "/a/b/c/e",
    "/a[b][d]",
    "e",
)  # patterns with common mergers
SAMPLES = (
    "<a/>",
    "<a><b/></a>",
    "<a><b><c/></b></a>",
    "<a><b/><b><d/></b></a>",
    "<a><b><c><e/></c><d><e/></d></b></a>",
    "<a><c/></a>",
    "<a><c><e/></c><d/></a>",
    "<a><d><e/><e/></d></a>",
    "<a><b><d><e/></d></b><c/></a>",
)
