"""Scenario -> Outcome: statement by statement, in virtual time.

>>> outcome = run_scenario('''
... topology line 3
... publisher P at b1 advertises anything
... subscribe s1 at b3 /a/b
... quiet
... publish d1 by P <a><b/></a>
... quiet
... expect d1 reaches s1
... expect d1 crosses b1-b2
... ''')
>>> [str(one) for one in outcome.failures]
['line 9: expect d1 crosses b1-b2: it crossed b1-b2 b2-b3']

An error in what a statement asks for (no such broker, an XPath that is none) is a `ScenarioError` with its line.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TypeVar

from pathcast.broker.broker import Settings
from pathcast.covering.merging import PathDistribution
from pathcast.errors import (
    AdvertisementError,
    PathcastError,
    RoutingError,
    ScenarioError,
    SubscriptionError,
)
from pathcast.routing.matcher_backend import MatcherBackend
from pathcast.routing.strategy import Strategy, strategy
from pathcast.sim.costs import Costs, read_costs
from pathcast.sim.metrics import RunSummary
from pathcast.sim.scenario import actions, header
from pathcast.sim.scenario.actions import Action
from pathcast.sim.scenario.check import Failure, disagreement
from pathcast.sim.scenario.checks import Check
from pathcast.sim.scenario.reading import numbers, read_scenario
from pathcast.sim.scenario.resources import Resources
from pathcast.sim.scenario.scenario import Scenario, Statement
from pathcast.sim.scenario.units import MILLION
from pathcast.sim.simulation import Simulation
from pathcast.sim.topology import Link, Topology, topology
from pathcast.sim.wires import Faults
from pathcast.transport import RetryPolicy

__all__ = ["Changes", "Outcome", "run_scenario"]

T = TypeVar("T")
_HINTS = {  # in place of those that speak of a command's options
    "undeclared-prefix": "a line at the head: namespace PREFIX URI",
    "expensive": "brokers take no expressions of which a document may cost them seconds",
}
_MOST_DOCUMENTS = 1_000_000
_SILENCE = 3600.0  # seconds within which it must be quiet


@dataclass(frozen=True, slots=True)
class Changes:
    """What somebody wants otherwise than the text says."""

    seed: int | None = None
    strategy: str | None = None
    costs: str | None = None


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a run came to. `simulation` is as it was left, for those who want to look at tables."""

    scenario: Scenario
    trace: tuple[str, ...]
    summary: RunSummary
    failures: tuple[Failure, ...]
    simulation: Simulation
    seed: int

    @property
    def passed(self) -> bool:
        return not self.failures

    @property
    def checked(self) -> int:
        """How many expectations there were; silence is one where there was none."""
        said = sum(not isinstance(one, Action) for one in self.scenario.body)
        return said + sum(one.statement == str(actions.Quiet(line=0)) for one in self.failures)


def run_scenario(
    scenario: str | Scenario,
    folder: Path | None = None,
    *,
    changes: Changes | None = None,
    traced: bool = True,
) -> Outcome:
    """Run a text, or a scenario that was read; files are looked for in the folder. Raises ScenarioError.

    Not `traced`, it is quicker, and the trace has the statements alone.
    """
    if isinstance(scenario, str):
        scenario = read_scenario(scenario)
    run = _Run(scenario, folder or Path(), changes or Changes(), traced)
    for statement in scenario.body:
        run.perform(statement)
    summary = RunSummary.of(run.simulation)
    return Outcome(
        scenario, tuple(run.trace), summary, tuple(run.failures), run.simulation, run.seed
    )


class _Run:
    def __init__(self, scenario: Scenario, folder: Path, changes: Changes, traced: bool) -> None:
        self.trace: list[str] = []
        self.failures: list[Failure] = []
        self._scenario = scenario
        self._traced = traced
        self._publishers: dict[str, str] = {}
        self._sent: set[str] = set()
        self._faults: dict[actions.Pair, Faults] = {}
        again = scenario.twice()
        if again is not None:
            raise _at(again, RoutingError("scenario", "this has been said before"))
        seed = scenario.one(header.Seed)
        self.seed = seed.number if seed is not None and changes.seed is None else changes.seed or 0
        self._resources = Resources(scenario, folder, self.seed)
        for one in scenario.all(header.SchemaOf):
            _told(one, partial(self._resources.schema, one.name))
        self.simulation = self._prepared(changes)
        self.simulation.metrics.links_by_document = {}

    # the head

    def _prepared(self, changes: Changes) -> Simulation:
        scenario = self._scenario
        said = scenario.one(header.StrategyOf)
        name = "with-Adv-with-Cov" if said is None else said.name
        chosen = strategy(name if changes.strategy is None else changes.strategy)
        return Simulation(
            self._topology(),
            self._settings(chosen),
            MatcherBackend(chosen, self._distribution(chosen, changes)),
            seed=self.seed,
            costs=self._costs(changes.costs),
            bandwidth=None if (one := scenario.one(header.Bandwidth)) is None else float(one.rate),
            trace=self.trace.append if self._traced else None,
        )

    def _topology(self) -> Topology:
        scenario = self._scenario
        shape, links = scenario.one(header.TopologyOf), scenario.all(header.LinkOf)
        latency = scenario.one(header.Latency)
        if shape is not None:
            if links:
                raise _at(links[0], RoutingError("topology", "the topology has its links already"))
            found = _told(shape, lambda: topology(list(shape.words), self.seed))
            if latency is not None:
                same = [replace(link, latency=latency.time / MILLION) for link in found.links]
                found = replace(found, links=tuple(same))
            return found
        if not links:
            raise ScenarioError(
                "topology", "there are no brokers", line=1, hint="topology line 3, or link b1-b2"
            )
        usual = Link("", "").latency if latency is None else latency.time / MILLION
        made = [
            Link(one.one, one.other, usual if one.latency is None else one.latency / MILLION)
            for one in links
        ]
        return _told(links[-1], lambda: Topology.of("links", made))

    def _settings(self, chosen: Strategy) -> Settings:
        scenario = self._scenario
        retry = RetryPolicy()
        said = scenario.one(header.PatienceOf)
        if said is not None:
            window = retry.window if said.window is None else said.window
            retry = RetryPolicy(said.first / MILLION, said.most / MILLION, window)
        return Settings(
            chosen,
            refuse_outside=scenario.one(header.RefuseOutside) is not None,
            retry=retry,
            keep_tables=scenario.one(header.KeepTables) is not None,
            reliable=scenario.one(header.PerfectLinks) is None,
        )

    def _distribution(self, chosen: Strategy, changes: Changes) -> PathDistribution | None:
        if chosen.limit is None:
            return None
        said = self._scenario.one(header.StrategyOf) or self._scenario.head[0]
        named = self._scenario.one(header.MergersByDtd)
        found = _told(named or said, lambda: self._resources.distribution)
        if found is None:
            message = (
                f"{chosen} judges mergers by the paths that publishers send, and no DTD tells them"
            )
            hint = "a line in the scenario: mergers by dtd NAME, or mergers by path /a/b RATE"
            error = RoutingError("merging", message, hint=hint)
            raise error if changes.strategy is not None else _at(said, error)
        return found

    def _costs(self, name: str | None) -> Costs | None:
        if name is not None:
            return read_costs(name)
        said = self._scenario.one(header.CostsOf)
        return None if said is None else _told(said, lambda: read_costs(said.name))

    # the rest

    def perform(self, statement: Action | Check) -> None:
        self.trace.append(f"> {statement}")
        found = _told(statement, lambda: self._performed(statement))
        if found is not None:
            failure = Failure(statement.line, str(statement), found)
            self.failures.append(failure)
            self.trace.append(f"  FAILED: {found}")

    def _announce(self, broker: str, publisher: str, advertised: actions.Advertised) -> None:
        """What is inferred from samples is widened by documents that fall outside."""
        advertisement = self._resources.advertisement(advertised)
        inferred = isinstance(advertised, actions.Like)
        self.simulation.announce(broker, publisher, advertisement, widens=inferred)

    def _performed(self, statement: Action | Check) -> str | None:
        """What a statement asks for; what is wrong, if it expects something else."""
        simulation, resources = self.simulation, self._resources
        match statement:
            case actions.Publisher(name=name, broker=broker, advertised=advertised):
                if self._publishers.setdefault(name, broker) != broker:
                    raise RoutingError("publisher", f"{name} is at {self._publishers[name]}")
                simulation.host(broker)
                if advertised is not None:
                    self._announce(broker, name, advertised)
            case actions.ChangeOf(publisher=name, advertised=advertised):
                self._announce(self._home(name), name, advertised)
            case actions.Retracting(publisher=name):
                simulation.retract(name)
            case actions.Subscribing(id=id, broker=broker, xpath=xpath, subscriber=subscriber):
                simulation.subscribe(broker, id, xpath, subscriber, resources.namespaces)
            case actions.Cancelling(id=id):
                simulation.cancel(id)
            case actions.Publishing():
                self._publish(statement)
            case actions.At(time=time):
                if time / MILLION < simulation.now:
                    raise RoutingError("time", f"that has passed: it is {simulation.now:g} s")
                simulation.run(time / MILLION)
            case actions.After(time=time):
                simulation.run(simulation.now + time / MILLION)
            case actions.Quiet():
                if not simulation.run_until_idle(_SILENCE):
                    waiting = "; ".join(simulation.blockers())
                    return f"something is still going on after {_SILENCE:g} s" + (
                        f": {waiting}" if waiting else ""
                    )
            case actions.Cut() | actions.Heal() | actions.Disturb() | actions.Calm():
                self._disturb(statement)
            case actions.Crash(broker=broker):
                self._faulty()
                simulation.crash(broker)
            case actions.Restart(broker=broker, tables=tables):
                simulation.restart(broker, tables=tables)
            case _:
                return disagreement(statement, simulation, resources.namespaces)
        return None

    def _publish(self, statement: actions.Publishing) -> None:
        home = self._home(statement.publisher)
        every = (statement.every or 0) / MILLION
        ids = [statement.id]
        found = numbers(statement.id, statement.last or statement.id)
        if found is not None and statement.last is not None:
            stem = statement.id.rstrip("0123456789")
            if len(found) > _MOST_DOCUMENTS:
                raise RoutingError("size", f"a statement publishes at most {_MOST_DOCUMENTS:,}")
            ids = [f"{stem}{number}" for number in found]
        for id in ids:
            if id in self._sent:
                raise RoutingError("duplicate-id", f"there is a document {id} already")
            self._sent.add(id)
        for place, id in enumerate(ids):
            number = place if found is None else found[place]
            body = self._resources.body(statement.body, number)
            send = partial(self.simulation.publish, home, statement.publisher, id, body)
            if every and place:
                self.simulation.schedule(self.simulation.now + place * every, send)
            else:
                send()

    def _disturb(
        self, statement: actions.Cut | actions.Heal | actions.Disturb | actions.Calm
    ) -> None:
        self._faulty()
        simulation = self.simulation
        everywhere = [(link.left, link.right) for link in simulation.topology.links]
        for link in everywhere if statement.link is None else [statement.link]:
            match statement:
                case actions.Cut():
                    simulation.cut(*link)
                case actions.Heal():
                    wire = simulation.wires.get(link)
                    if wire is None or wire.cut:
                        simulation.heal(*link)
                case actions.Calm():
                    simulation.set_faults(Faults(), *link)
                    self._faults.pop(_same(link), None)
                case actions.Disturb():
                    before = self._faults.get(_same(link), Faults())
                    after = _with(before, statement)
                    simulation.set_faults(after, *link)
                    self._faults[_same(link)] = after

    def _faulty(self) -> None:
        if self._scenario.one(header.PerfectLinks) is not None:
            hint = "leave out: perfect links"
            raise RoutingError("faults", "nothing fails where links are perfect", hint=hint)

    def _home(self, publisher: str) -> str:
        home = self._publishers.get(publisher)
        if home is None:
            hint = f"publisher {publisher} at BROKER"
            raise RoutingError("unknown", f"there is no publisher {publisher}", hint=hint)
        return home


def _same(link: actions.Pair) -> actions.Pair:
    one, other = sorted(link)
    return one, other


def _with(faults: Faults, change: actions.Disturb) -> Faults:
    chance = change.chance / MILLION
    match change.fault:
        case actions.Fault.LOSE:
            return replace(faults, lose=chance)
        case actions.Fault.DOUBLE:
            return replace(faults, duplicate=chance)
        case actions.Fault.REORDER:
            return replace(faults, reorder=chance)
        case actions.Fault.DELAY:
            longer = faults.max_delay if change.longer is None else change.longer / MILLION
            return replace(faults, delay=chance, max_delay=longer)


def _at(statement: Statement, error: PathcastError) -> ScenarioError:
    """The error of a statement, with its line; where it points into an expression, so does this."""
    hint = _HINTS.get(error.kind, error.hint)
    if isinstance(error, SubscriptionError | AdvertisementError) and error.position is not None:
        return ScenarioError(
            error.kind,
            error.message,
            line=statement.line,
            text=error.text,
            position=error.position,
            expected=error.expected,
            hint=hint,
        )
    return ScenarioError(
        error.kind, f"{error.message}\n  {statement}", line=statement.line, hint=hint
    )


def _told(statement: Statement, action: Callable[[], T]) -> T:
    try:
        return action()
    except ScenarioError:
        raise
    except PathcastError as error:
        raise _at(statement, error) from None
