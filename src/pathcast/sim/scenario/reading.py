"""Text -> Scenario, or an error that points.

A line is a statement; one that begins with a space continues the one before it; empty lines and those whose first character is # are left out.
What stands at the head (`setup`) comes before everything that happens (`actions`) or is expected (`checks`).

>>> print(read_scenario('''
... # two brokers
... topology  line 2
... publisher P at b1
...   advertises anything
... quiet
... '''))
topology line 2
publisher P at b1 advertises anything
quiet
>>> read_scenario("topology line 2\\nquiet\\nsubscrib s1 at b2 /a")
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
from pathcast.sim.scenario import actions, checks, header
from pathcast.sim.scenario.scenario import Scenario, Statement
from pathcast.sim.scenario.tokens import Words
from pathcast.sim.scenario.units import NAME

__all__ = ["STATEMENTS", "numbers", "read_scenario"]

_EVERY = re.compile(r"(?<=>)\s+every\s+\S+$")  # after a document, which ends with >
_NUMBERED = re.compile(r"(.*?)(\d+)", re.ASCII)


def read_scenario(text: str) -> Scenario:
    """The scenario that a text tells; raises ScenarioError."""
    head: list[header.Setup] = []
    body: list[actions.Action | checks.Check] = []
    for words in _lines(text):
        statement = _statement(words)
        if isinstance(statement, header.Setup):
            if body:
                hint = "move it up, before the first that happens"
                raise words.error("something that happens, or is expected", hint, at=0)
            head.append(statement)
        else:
            body.append(statement)
    return Scenario(tuple(head), tuple(body))


def _lines(text: str) -> Iterator[Words]:
    found = ""
    first = 0
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        if line[0].isspace() and found:
            found += " " + line.strip()
            continue
        if found:
            yield Words(found, first)
        found, first = line.strip(), number
    if found:
        yield Words(found, first)


def _statement(words: Words) -> Statement:
    name = words.peek()
    reader = STATEMENTS.get(name)
    if reader is None:
        close = similar_names(name, tuple(STATEMENTS))
        hint = f"did you mean {' or '.join(close)}?" if close else f"one of {', '.join(STATEMENTS)}"
        raise words.error("a statement", hint)
    words.next("")
    found = reader(words)
    words.end()
    return found


# --- the head ---------------------------------------------------------------------------------


def _seed(words: Words) -> header.Seed:
    return header.Seed(words.number("a number"), line=words.line)


def _topology(words: Words) -> header.TopologyOf:
    expected = "a shape such as line 3, binary 3, random 10 2"
    return header.TopologyOf(tuple(words.rest(expected).split()), line=words.line)


def _link(words: Words) -> header.LinkOf:
    one, other = words.pair()
    latency = words.time() if words.peek() else None
    return header.LinkOf(one, other, latency, line=words.line)


def _latency(words: Words) -> header.Latency:
    return header.Latency(words.time(), line=words.line)


def _bandwidth(words: Words) -> header.Bandwidth:
    return header.Bandwidth(words.number("bytes a second", 1), line=words.line)


def _strategy(words: Words) -> header.StrategyOf:
    begin = words.at
    name = words.next("the name of a strategy")
    try:
        strategy(name)
    except RoutingError as error:
        raise words.error("the name of a strategy", error.hint or error.message, at=begin) from None
    return header.StrategyOf(name, line=words.line)


def _mergers(words: Words) -> header.MergersByDtd | header.MergersByPath:
    words.must("by")
    if words.take("dtd"):
        return header.MergersByDtd(words.next("a DTD"), line=words.line)
    words.must("path", hint="mergers by dtd NAME, or mergers by path /a/b RATE")
    begin = words.at
    root, *path = words.next("a path such as /a/b").split("/")
    if root or not path or not all(map(NAME.fullmatch, path)):
        raise words.error("a path such as /a/b", at=begin)
    return header.MergersByPath(tuple(path), words.number("a rate", 1), line=words.line)


def _costs(words: Words) -> header.CostsOf:
    return header.CostsOf(words.next("the name of recorded costs"), line=words.line)


def _refuse(words: Words) -> header.RefuseOutside:
    words.must("outside")
    return header.RefuseOutside(line=words.line)


def _keep(words: Words) -> header.KeepTables:
    words.must("tables")
    return header.KeepTables(line=words.line)


def _patience(words: Words) -> header.PatienceOf:
    first = words.time()
    begin = words.at
    most = words.time()
    if most < first:
        raise words.error("a time that is not shorter than the first", at=begin)
    window = words.number("how many messages may be on their way", 1) if words.peek() else None
    return header.PatienceOf(first, most, window, line=words.line)


def _perfect(words: Words) -> header.PerfectLinks:
    words.must("links")
    return header.PerfectLinks(line=words.line)


def _namespace(words: Words) -> header.NamespaceOf:
    prefix = words.name("a prefix")
    return header.NamespaceOf(prefix, words.next("the name of a namespace"), line=words.line)


def _schema(words: Words) -> header.SchemaOf:
    name = words.name("a name for the schema")
    return header.SchemaOf(name, words.rest("the declarations of a DTD"), line=words.line)


def _sample(words: Words) -> header.Sample:
    name = words.name("a name for the document")
    return header.Sample(name, _xml(words), line=words.line)


# --- what happens -----------------------------------------------------------------------------


def _publisher(words: Words) -> actions.Publisher:
    name = words.name("the name of a publisher")
    words.must("at")
    broker = words.name("a broker")
    advertised = _advertised(words) if words.take("advertises") else None
    return actions.Publisher(name, broker, advertised, line=words.line)


def _advertise(words: Words) -> actions.ChangeOf:
    name = words.name("the name of a publisher")
    return actions.ChangeOf(name, _advertised(words), line=words.line)


def _advertised(words: Words) -> actions.Advertised:
    if words.take("anything"):
        return actions.Anything()
    if words.take("dtd"):
        return actions.OfDtd(words.next("a bundled schema, one of the scenario's own, or a file"))
    if words.take("like"):
        found = [words.name("the name of a sample")]
        while words.peek():
            found.append(words.name("the name of a sample"))
        return actions.Like(tuple(found))
    expected = "anything, dtd NAME, like SAMPLE ..., or expressions such as /a(/b)+/c"
    if not words.peek().startswith(("/", "(")):
        raise words.error(expected)
    return actions.Paths(tuple(words.rest(expected).split()))


def _retract(words: Words) -> actions.Retracting:
    return actions.Retracting(words.name("the name of a publisher"), line=words.line)


def _subscribe(words: Words) -> actions.Subscribing:
    if words.peek() == "nobody":
        raise words.error("a name for the subscription", "nobody stands for no subscriber")
    id = words.name("a name for the subscription")
    subscriber = words.name("a subscriber") if words.take("for") else None
    words.must("at", hint="subscribe s1 at b4 /a/b")
    broker = words.name("a broker")
    return actions.Subscribing(id, broker, words.rest("an XPath"), subscriber, line=words.line)


def _cancel(words: Words) -> actions.Cancelling:
    return actions.Cancelling(words.name("a subscription"), line=words.line)


def _publish(words: Words) -> actions.Publishing:
    begin = words.at
    id, dots, last = words.next("a name for the document").partition("..")
    if NAME.fullmatch(id) is None or (dots and numbers(id, last) is None):
        raise words.error("a name such as d1, or several such as d1..d20", at=begin)
    words.must("by", hint="publish d1 by P <a/>")
    publisher = words.name("the name of a publisher")
    body: actions.Body
    if words.take("file"):
        body = actions.InFile(words.next("the name of a file"))
    elif words.take("sample"):
        body = actions.OfSample(words.name("the name of a sample"))
    elif words.take("generated"):
        words.must("from")
        body = actions.Generated(words.next("a bundled schema, one of the scenario's, or a file"))
    else:
        body = actions.Inline(_xml(words, _EVERY))
    every = words.time() if words.take("every") else None
    if every is not None and not dots:
        raise words.error("several documents such as d1..d20", at=begin)
    return actions.Publishing(id, publisher, body, last or None, every, line=words.line)


def numbers(first: str, last: str) -> range | None:
    """The numbers of the documents from one to another, if their names differ in nothing else."""
    one, other = _NUMBERED.fullmatch(first), _NUMBERED.fullmatch(last)
    if one is None or other is None or one[1] != other[1]:
        return None
    found = range(int(one[2]), int(other[2]) + 1)
    return found or None


def _xml(words: Words, until: re.Pattern[str] | None = None) -> str:
    """A document: the rest of the line, up to what may follow it."""
    expected = "a document such as <a><b/></a>"
    if not words.peek().startswith("<"):
        raise words.error(expected, "or file NAME, sample NAME, generated from DTD")
    return words.rest(expected, until)


def _where(words: Words) -> actions.Pair | None:
    if words.take("everywhere"):
        return actions.EVERYWHERE
    words.must("on", hint="on b1-b2, or everywhere")
    return words.pair()


def _cut(words: Words) -> actions.Cut:
    return actions.Cut(words.pair(), line=words.line)


def _heal(words: Words) -> actions.Heal:
    link = actions.EVERYWHERE if words.take("everywhere") else words.pair()
    return actions.Heal(link, line=words.line)


def _disturb(fault: actions.Fault) -> Callable[[Words], actions.Disturb]:
    def read(words: Words) -> actions.Disturb:
        chance = words.chance()
        longer = None
        if fault is actions.Fault.DELAY:
            words.must("up", "to", hint="delay 10% up to 300ms everywhere")
            longer = words.time()
        return actions.Disturb(fault, chance, _where(words), longer, line=words.line)

    return read


def _calm(words: Words) -> actions.Calm:
    return actions.Calm(_where(words), line=words.line)


def _crash(words: Words) -> actions.Crash:
    return actions.Crash(words.name("a broker"), line=words.line)


def _restart(words: Words) -> actions.Restart:
    broker = words.name("a broker")
    how = words.choice(("with", "without"))
    words.must("its", "tables")
    return actions.Restart(broker, how == "with", line=words.line)


def _at(words: Words) -> actions.At:
    return actions.At(words.time(), line=words.line)


def _after(words: Words) -> actions.After:
    return actions.After(words.time(), line=words.line)


def _quiet(words: Words) -> actions.Quiet:
    return actions.Quiet(line=words.line)


# --- what is expected -------------------------------------------------------------------------


def _expect(words: Words) -> checks.Check:
    line = words.line
    if words.take("tables"):
        words.must("empty")
        return checks.TablesEmpty(line=line)
    if words.take("entries"):
        return checks.Entries(words.name("a broker"), words.number("how many"), line=line)
    if words.take("messages"):
        return checks.Messages(words.choice(checks.KINDS), words.number("how many"), line=line)
    for counted in checks.Counted:
        if words.take(counted.value):
            return checks.Count(counted, words.number("how many"), line=line)
    name = words.name("a document, a broker, tables, entries, messages, vain or doubled")
    match words.choice(("reaches", "crosses", "in", "refused", "tells")):
        case "reaches":
            return _reaches(words, name)
        case "crosses":
            pairs: list[actions.Pair] = []
            if not words.take("nothing"):
                pairs.append(words.pair())
                while words.peek():
                    pairs.append(words.pair())
            return checks.Crosses(name, tuple(pairs), line=line)
        case "in":
            words.must("vain", "nowhere")
            return checks.InVainNowhere(name, line=line)
        case "refused":
            return checks.Refused(name, line=line)
        case _:
            neighbour = words.name("a neighbour of it")
            told = words.rest("XPaths, with ; between them, or nothing")
            xpaths = () if told == "nothing" else tuple(one.strip() for one in told.split(";"))
            return checks.Tells(name, neighbour, xpaths, line=line)


def _reaches(words: Words, document: str) -> checks.Reaches:
    bound = checks.Bound.EXACTLY
    if words.take("at", "least"):
        bound = checks.Bound.AT_LEAST
    elif words.take("at", "most"):
        bound = checks.Bound.AT_MOST
    found: list[str] = []
    if not words.take("nobody"):
        found.append(words.name("subscribers, or nobody"))
        while words.peek():
            found.append(words.name("a subscriber"))
    return checks.Reaches(document, tuple(found), bound, line=words.line)


STATEMENTS: dict[str, Callable[[Words], Statement]] = {
    "seed": _seed,
    "topology": _topology,
    "link": _link,
    "latency": _latency,
    "bandwidth": _bandwidth,
    "strategy": _strategy,
    "mergers": _mergers,
    "costs": _costs,
    "refuse": _refuse,
    "keep": _keep,
    "patience": _patience,
    "perfect": _perfect,
    "namespace": _namespace,
    "schema": _schema,
    "sample": _sample,
    "publisher": _publisher,
    "advertise": _advertise,
    "retract": _retract,
    "subscribe": _subscribe,
    "cancel": _cancel,
    "publish": _publish,
    "cut": _cut,
    "heal": _heal,
    **{fault.value: _disturb(fault) for fault in actions.Fault},
    "calm": _calm,
    "crash": _crash,
    "restart": _restart,
    "at": _at,
    "after": _after,
    "quiet": _quiet,
    "expect": _expect,
}
