"""Parses the expectations of a scenario, in their present and their deprecated words."""

from __future__ import annotations

from pathcast.sim.scenario import actions, expectations
from pathcast.sim.scenario.tokens import LineTokens

__all__ = ["NO_SUBSCRIBER", "parse_expectation"]

NO_SUBSCRIBER = ("none", "nobody")  # each the present word, then the deprecated one
_EMPTY = ("none", "nothing")
_METRICS = {
    "wasted": expectations.DocumentMetric.WASTED,
    "vain": expectations.DocumentMetric.WASTED,  # deprecated
    "duplicates": expectations.DocumentMetric.DUPLICATES,
    "doubled": expectations.DocumentMetric.DUPLICATES,  # deprecated
}
_DEPRECATED_VERBS = ("in", "tells")  # now `not wasted` and `sent`


def parse_expectation(tokens: LineTokens) -> expectations.Expectation:
    """Parse an expectation, after the word `expect`; raise ScenarioError."""
    line = tokens.line
    if tokens.take("tables"):
        tokens.require("empty")
        return expectations.TablesEmpty(line=line)
    if tokens.take("entries"):
        return expectations.EntryCount(
            tokens.name("a broker"), tokens.number("how many"), line=line
        )
    if tokens.take("messages"):
        return expectations.MessageCount(
            tokens.choice(expectations.MESSAGE_KINDS), tokens.number("how many"), line=line
        )
    for word, metric in _METRICS.items():
        if tokens.take(word):
            return expectations.MetricEquals(metric, tokens.number("how many"), line=line)
    name = tokens.name("a document, a broker, tables, entries, messages, wasted or duplicates")
    verb = tokens.peek()
    if verb not in _DEPRECATED_VERBS:
        verb = tokens.choice(("reaches", "crosses", "not", "refused", "sent"))
    else:
        tokens.next("")
    match verb:
        case "reaches":
            return _parse_reaches(tokens, name)
        case "crosses":
            links: list[actions.LinkEnds] = []
            if not _take_one_of(tokens, _EMPTY):
                links.append(tokens.link())
                while tokens.peek():
                    links.append(tokens.link())
            return expectations.Crosses(name, tuple(links), line=line)
        case "not":
            tokens.require("wasted")
            return expectations.NotWasted(name, line=line)
        case "in":
            tokens.require("vain", "nowhere")
            return expectations.NotWasted(name, line=line)
        case "refused":
            return expectations.IsRefused(name, line=line)
        case _:
            neighbour = tokens.name("a neighbour of it")
            text = tokens.rest("XPaths, with ; between them, or none")
            xpaths = () if text in _EMPTY else tuple(part.strip() for part in text.split(";"))
            return expectations.InterestsSent(name, neighbour, xpaths, line=line)


def _parse_reaches(tokens: LineTokens, document: str) -> expectations.Reaches:
    bound = expectations.Bound.EXACTLY
    if tokens.take("at", "least"):
        bound = expectations.Bound.AT_LEAST
    elif tokens.take("at", "most"):
        bound = expectations.Bound.AT_MOST
    subscribers: list[str] = []
    if not _take_one_of(tokens, NO_SUBSCRIBER):
        subscribers.append(tokens.name("subscribers, or none"))
        while tokens.peek():
            subscribers.append(tokens.name("a subscriber"))
    return expectations.Reaches(document, tuple(subscribers), bound, line=tokens.line)


def _take_one_of(tokens: LineTokens, words: tuple[str, ...]) -> bool:
    return any(tokens.take(word) for word in words)
