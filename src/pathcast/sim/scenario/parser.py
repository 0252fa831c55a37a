"""Parses the text of a scenario: text -> Scenario, or a ScenarioError that points.

A statement is a line. A line that begins with a space continues the line before. Empty lines, and
lines whose first character is #, are comments. All settings stand before the first action or
expectation. docs/reference/scenario-language.md describes the language.

The parser also accepts the statements of `DEPRECATED_STATEMENTS` and the old tokens of
expectations; the canonical text has the new ones.

>>> print(read_scenario('''
... # two brokers
... topology  line 2
... publisher P at b1
...   advertises anything
... until idle
... '''))
topology line 2
publisher P at b1 advertises anything
until idle
>>> read_scenario("topology line 2\\nuntil idle\\nsubscrib s1 at b2 /a")
Traceback (most recent call last):
...
pathcast.errors.ScenarioError: line 3: syntax: unexpected 'subscrib' at character 1
  subscrib s1 at b2 /a
  ^
  expected: a statement
  hint: did you mean subscribe?
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from pathcast.errors import RoutingError
from pathcast.routing.strategy import strategy
from pathcast.schema.similar_names import similar_names
from pathcast.sim.scenario import actions, expectations, header
from pathcast.sim.scenario.expectation_parser import NO_SUBSCRIBER, parse_expectation
from pathcast.sim.scenario.scenario import Scenario, Statement
from pathcast.sim.scenario.tokens import LineTokens
from pathcast.sim.scenario.units import NAME

__all__ = ["DEPRECATED_STATEMENTS", "STATEMENTS", "document_numbers", "read_scenario"]

_EVERY = re.compile(r"(?<=>)\s+every\s+\S+$")  # after a document, which ends with >
_NUMBERED = re.compile(r"(.*?)(\d+)", re.ASCII)


def read_scenario(text: str) -> Scenario:
    """Parse a text; raise ScenarioError."""
    head: list[header.Setting] = []
    body: list[actions.Action | expectations.Expectation] = []
    for tokens in _split_lines(text):
        statement = _parse_statement(tokens)
        if isinstance(statement, header.Setting):
            if body:
                hint = "move it up, before the first action"
                raise tokens.error("an action or an expectation", hint, at=0)
            head.append(statement)
        else:
            body.append(statement)
    return Scenario(tuple(head), tuple(body))


def _split_lines(text: str) -> Iterator[LineTokens]:
    statement = ""
    first = 0
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        if line[0].isspace() and statement:
            statement += " " + line.strip()
            continue
        if statement:
            yield LineTokens(statement, first)
        statement, first = line.strip(), number
    if statement:
        yield LineTokens(statement, first)


def _parse_statement(tokens: LineTokens) -> Statement:
    name = tokens.peek()
    parse = STATEMENTS.get(name) or DEPRECATED_STATEMENTS.get(name)
    if parse is None:
        close = similar_names(name, tuple(STATEMENTS))
        hint = f"did you mean {' or '.join(close)}?" if close else f"one of {', '.join(STATEMENTS)}"
        raise tokens.error("a statement", hint)
    tokens.next("")
    statement = parse(tokens)
    tokens.require_end()
    return statement


# --- settings ---------------------------------------------------------------------------------


def _parse_seed(tokens: LineTokens) -> header.SeedSetting:
    return header.SeedSetting(tokens.number("a number"), line=tokens.line)


def _parse_topology(tokens: LineTokens) -> header.TopologySetting:
    expected = "a shape such as line 3, binary 3, random 10 2"
    return header.TopologySetting(tuple(tokens.rest(expected).split()), line=tokens.line)


def _parse_link(tokens: LineTokens) -> header.LinkSetting:
    left, right = tokens.link()
    latency = tokens.time() if tokens.peek() else None
    return header.LinkSetting(left, right, latency, line=tokens.line)


def _parse_latency(tokens: LineTokens) -> header.LatencySetting:
    return header.LatencySetting(tokens.time(), line=tokens.line)


def _parse_bandwidth(tokens: LineTokens) -> header.BandwidthSetting:
    return header.BandwidthSetting(tokens.number("bytes a second", 1), line=tokens.line)


def _parse_strategy(tokens: LineTokens) -> header.StrategySetting:
    begin = tokens.at
    name = tokens.next("the name of a strategy")
    try:
        strategy(name)
    except RoutingError as error:
        raise tokens.error(
            "the name of a strategy", error.hint or error.message, at=begin
        ) from None
    return header.StrategySetting(name, line=tokens.line)


def _parse_mergers(tokens: LineTokens) -> header.MergersByDtd | header.MergersByPath:
    tokens.require("by")
    if tokens.take("dtd"):
        return header.MergersByDtd(tokens.next("a DTD"), line=tokens.line)
    tokens.require("path", hint="mergers by dtd NAME, or mergers by path /a/b RATE")
    begin = tokens.at
    root, *path = tokens.next("a path such as /a/b").split("/")
    if root or not path or not all(map(NAME.fullmatch, path)):
        raise tokens.error("a path such as /a/b", at=begin)
    return header.MergersByPath(tuple(path), tokens.number("a rate", 1), line=tokens.line)


def _parse_costs(tokens: LineTokens) -> header.CostsSetting:
    return header.CostsSetting(tokens.next("the name of recorded costs"), line=tokens.line)


def _parse_refuse_outside(tokens: LineTokens) -> header.RefuseOutside:
    tokens.require("outside")
    return header.RefuseOutside(line=tokens.line)


def _parse_keep_tables(tokens: LineTokens) -> header.KeepTables:
    tokens.require("tables")
    return header.KeepTables(line=tokens.line)


def _parse_retry(tokens: LineTokens) -> header.RetrySetting:
    initial_delay = tokens.time()
    begin = tokens.at
    max_delay = tokens.time()
    if max_delay < initial_delay:
        raise tokens.error("a time that is not shorter than the first", at=begin)
    window = tokens.number("a window, in messages", 1) if tokens.peek() else None
    return header.RetrySetting(initial_delay, max_delay, window, line=tokens.line)


def _parse_perfect_links(tokens: LineTokens) -> header.PerfectLinks:
    tokens.require("links")
    return header.PerfectLinks(line=tokens.line)


def _parse_namespace(tokens: LineTokens) -> header.NamespaceSetting:
    prefix = tokens.name("a prefix")
    return header.NamespaceSetting(prefix, tokens.next("the name of a namespace"), line=tokens.line)


def _parse_schema(tokens: LineTokens) -> header.SchemaSetting:
    name = tokens.name("a name for the schema")
    return header.SchemaSetting(name, tokens.rest("the declarations of a DTD"), line=tokens.line)


def _parse_sample(tokens: LineTokens) -> header.SampleSetting:
    name = tokens.name("a name for the document")
    return header.SampleSetting(name, _parse_xml(tokens), line=tokens.line)


# --- actions ----------------------------------------------------------------------------------


def _parse_publisher(tokens: LineTokens) -> actions.AddPublisher:
    name = tokens.name("the name of a publisher")
    tokens.require("at")
    broker = tokens.name("a broker")
    advertised = _parse_advertisement_source(tokens) if tokens.take("advertises") else None
    return actions.AddPublisher(name, broker, advertised, line=tokens.line)


def _parse_advertise(tokens: LineTokens) -> actions.ReplaceAdvertisement:
    name = tokens.name("the name of a publisher")
    return actions.ReplaceAdvertisement(name, _parse_advertisement_source(tokens), line=tokens.line)


def _parse_advertisement_source(tokens: LineTokens) -> actions.AdvertisementSource:
    if tokens.take("anything"):
        return actions.Anything()
    if tokens.take("dtd"):
        return actions.FromDtd(
            tokens.next("a bundled schema, one of the scenario's own, or a file")
        )
    if tokens.take("like"):
        samples = [tokens.name("the name of a sample")]
        while tokens.peek():
            samples.append(tokens.name("the name of a sample"))
        return actions.FromSamples(tuple(samples))
    expected = "anything, dtd NAME, like SAMPLE ..., or expressions such as /a(/b)+/c"
    if not tokens.peek().startswith(("/", "(")):
        raise tokens.error(expected)
    return actions.FromPaths(tuple(tokens.rest(expected).split()))


def _parse_retract(tokens: LineTokens) -> actions.RetractAdvertisement:
    return actions.RetractAdvertisement(tokens.name("the name of a publisher"), line=tokens.line)


def _parse_subscribe(tokens: LineTokens) -> actions.AddSubscription:
    if tokens.peek() in NO_SUBSCRIBER:
        hint = f"{tokens.peek()} stands for no subscriber"
        raise tokens.error("a name for the subscription", hint)
    id = tokens.name("a name for the subscription")
    subscriber = tokens.name("a subscriber") if tokens.take("for") else None
    tokens.require("at", hint="subscribe s1 at b4 /a/b")
    broker = tokens.name("a broker")
    return actions.AddSubscription(
        id, broker, tokens.rest("an XPath"), subscriber, line=tokens.line
    )


def _parse_cancel(tokens: LineTokens) -> actions.CancelSubscription:
    return actions.CancelSubscription(tokens.name("a subscription"), line=tokens.line)


def _parse_publish(tokens: LineTokens) -> actions.PublishDocuments:
    begin = tokens.at
    id, dots, last = tokens.next("a name for the document").partition("..")
    if NAME.fullmatch(id) is None or (dots and document_numbers(id, last) is None):
        raise tokens.error("a name such as d1, or several such as d1..d20", at=begin)
    tokens.require("by", hint="publish d1 by P <a/>")
    publisher = tokens.name("the name of a publisher")
    body: actions.DocumentBody
    if tokens.take("file"):
        body = actions.BodyFromFile(tokens.next("the name of a file"))
    elif tokens.take("sample"):
        body = actions.BodyFromSample(tokens.name("the name of a sample"))
    elif tokens.take("generated"):
        tokens.require("from")
        body = actions.BodyFromDtd(
            tokens.next("a bundled schema, one of the scenario's, or a file")
        )
    else:
        body = actions.InlineBody(_parse_xml(tokens, _EVERY))
    every = tokens.time() if tokens.take("every") else None
    if every is not None and not dots:
        raise tokens.error("several documents such as d1..d20", at=begin)
    return actions.PublishDocuments(id, publisher, body, last or None, every, line=tokens.line)


def document_numbers(first: str, last: str) -> range | None:
    """Return the numbers of the documents from `first` to `last`; None if there are none.

    The two names must differ in their final number only.
    """
    start, end = _NUMBERED.fullmatch(first), _NUMBERED.fullmatch(last)
    if start is None or end is None or start[1] != end[1]:
        return None
    return range(int(start[2]), int(end[2]) + 1) or None


def _parse_xml(tokens: LineTokens, until: re.Pattern[str] | None = None) -> str:
    """Parse a document: the remaining text of the line, up to a match of `until`."""
    expected = "a document such as <a><b/></a>"
    if not tokens.peek().startswith("<"):
        raise tokens.error(expected, "or file NAME, sample NAME, generated from DTD")
    return tokens.rest(expected, until)


def _parse_faulty_link(tokens: LineTokens) -> actions.LinkEnds | None:
    if tokens.take("everywhere"):
        return actions.EVERYWHERE
    tokens.require("on", hint="on b1-b2, or everywhere")
    return tokens.link()


def _parse_cut(tokens: LineTokens) -> actions.CutLink:
    return actions.CutLink(tokens.link(), line=tokens.line)


def _parse_heal(tokens: LineTokens) -> actions.HealLinks:
    link = actions.EVERYWHERE if tokens.take("everywhere") else tokens.link()
    return actions.HealLinks(link, line=tokens.line)


def _parse_fault(fault: actions.Fault) -> Callable[[LineTokens], actions.SetFault]:
    def parse(tokens: LineTokens) -> actions.SetFault:
        probability = tokens.percent()
        max_delay = None
        if fault is actions.Fault.DELAY:
            tokens.require("up", "to", hint="delay 10% up to 300ms everywhere")
            max_delay = tokens.time()
        link = _parse_faulty_link(tokens)
        return actions.SetFault(fault, probability, link, max_delay, line=tokens.line)

    return parse


def _parse_clear(tokens: LineTokens) -> actions.ClearFaults:
    tokens.require("faults")
    return _parse_calm(tokens)


def _parse_calm(tokens: LineTokens) -> actions.ClearFaults:
    return actions.ClearFaults(_parse_faulty_link(tokens), line=tokens.line)


def _parse_crash(tokens: LineTokens) -> actions.CrashBroker:
    return actions.CrashBroker(tokens.name("a broker"), line=tokens.line)


def _parse_restart(tokens: LineTokens) -> actions.RestartBroker:
    broker = tokens.name("a broker")
    preposition = tokens.choice(("with", "without"))
    tokens.require("its", "tables")
    return actions.RestartBroker(broker, preposition == "with", line=tokens.line)


def _parse_at(tokens: LineTokens) -> actions.RunUntil:
    return actions.RunUntil(tokens.time(), line=tokens.line)


def _parse_after(tokens: LineTokens) -> actions.RunFor:
    return actions.RunFor(tokens.time(), line=tokens.line)


def _parse_until(tokens: LineTokens) -> actions.RunUntilIdle:
    tokens.require("idle")
    return _parse_quiet(tokens)


def _parse_quiet(tokens: LineTokens) -> actions.RunUntilIdle:
    return actions.RunUntilIdle(line=tokens.line)


STATEMENTS: dict[str, Callable[[LineTokens], Statement]] = {
    "seed": _parse_seed,
    "topology": _parse_topology,
    "link": _parse_link,
    "latency": _parse_latency,
    "bandwidth": _parse_bandwidth,
    "strategy": _parse_strategy,
    "mergers": _parse_mergers,
    "costs": _parse_costs,
    "refuse": _parse_refuse_outside,
    "keep": _parse_keep_tables,
    "retry": _parse_retry,
    "perfect": _parse_perfect_links,
    "namespace": _parse_namespace,
    "schema": _parse_schema,
    "sample": _parse_sample,
    "publisher": _parse_publisher,
    "advertise": _parse_advertise,
    "retract": _parse_retract,
    "subscribe": _parse_subscribe,
    "cancel": _parse_cancel,
    "publish": _parse_publish,
    "cut": _parse_cut,
    "heal": _parse_heal,
    **{fault.value: _parse_fault(fault) for fault in actions.Fault},
    "clear": _parse_clear,
    "crash": _parse_crash,
    "restart": _parse_restart,
    "at": _parse_at,
    "after": _parse_after,
    "until": _parse_until,
    "expect": parse_expectation,
}

# Accepted besides, for scenarios that were written before the statements had their present names.
DEPRECATED_STATEMENTS: dict[str, Callable[[LineTokens], Statement]] = {
    "patience": _parse_retry,
    "double": _parse_fault(actions.Fault.DUPLICATE),
    "calm": _parse_calm,
    "quiet": _parse_quiet,
}
