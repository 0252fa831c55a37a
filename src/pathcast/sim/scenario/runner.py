"""Runs a scenario statement by statement, in virtual time: Scenario -> Outcome.

>>> outcome = run_scenario('''
... topology line 3
... publisher P at b1 advertises anything
... subscribe s1 at b3 /a/b
... until idle
... publish d1 by P <a><b/></a>
... until idle
... expect d1 reaches s1
... expect d1 crosses b1-b2
... ''')
>>> [str(failure) for failure in outcome.failures]
['line 9: expect d1 crosses b1-b2: it crossed b1-b2 b2-b3']

A statement that cannot be performed (an unknown broker, a bad XPath) raises `ScenarioError` with
its line. An expectation that does not hold is a `Failure`, and the run goes on.
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
from pathcast.sim.scenario.check import Failure, check_expectation
from pathcast.sim.scenario.expectations import Expectation
from pathcast.sim.scenario.parser import document_numbers, read_scenario
from pathcast.sim.scenario.resources import Resources
from pathcast.sim.scenario.scenario import Scenario, Statement
from pathcast.sim.scenario.units import MILLION
from pathcast.sim.simulation import Simulation
from pathcast.sim.topology import DEFAULT_LATENCY, Link, Topology, topology
from pathcast.sim.wires import Faults
from pathcast.transport import RetryPolicy

__all__ = ["Outcome", "Overrides", "run_scenario"]

T = TypeVar("T")
_HINTS = {  # instead of hints that name options of a command
    "undeclared-prefix": "a line at the head: namespace PREFIX URI",
    "expensive": "brokers take no expressions of which a document may cost them seconds",
}
_MAX_DOCUMENTS = 1_000_000
_IDLE_LIMIT = 3600.0  # virtual seconds within which `until idle` must hold


@dataclass(frozen=True, slots=True)
class Overrides:
    """Settings that override those of the text."""

    seed: int | None = None
    strategy: str | None = None
    costs: str | None = None


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result of a run. `simulation` is in its final state, for a look at tables."""

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
    def expectation_count(self) -> int:
        """The number of expectations; an `until idle` that failed counts as one."""
        stated = sum(not isinstance(statement, Action) for statement in self.scenario.body)
        until_idle = str(actions.RunUntilIdle(line=0))
        return stated + sum(failure.statement == until_idle for failure in self.failures)


def run_scenario(
    scenario: str | Scenario,
    folder: Path | None = None,
    *,
    overrides: Overrides | None = None,
    traced: bool = True,
) -> Outcome:
    """Run a scenario, or its text; files are relative to the folder. Raise ScenarioError.

    Without `traced` the run is faster, and the trace has only the statements.
    """
    if isinstance(scenario, str):
        scenario = read_scenario(scenario)
    run = _ScenarioRun(scenario, folder or Path(), overrides or Overrides(), traced)
    for statement in scenario.body:
        run.perform(statement)
    summary = RunSummary.of(run.simulation)
    return Outcome(
        scenario, tuple(run.trace), summary, tuple(run.failures), run.simulation, run.seed
    )


class _ScenarioRun:
    """A simulation with the state that a scenario needs: publishers, documents, faults."""

    def __init__(
        self, scenario: Scenario, folder: Path, overrides: Overrides, traced: bool
    ) -> None:
        self.trace: list[str] = []
        self.failures: list[Failure] = []
        self._scenario = scenario
        self._traced = traced
        self._publishers: dict[str, str] = {}
        self._published: set[str] = set()
        self._faults: dict[actions.LinkEnds, Faults] = {}
        repeated = scenario.repeated_setting()
        if repeated is not None:
            raise _with_line(repeated, RoutingError("scenario", "an earlier line has this setting"))
        seed = scenario.setting(header.SeedSetting)
        stated = 0 if seed is None else seed.number
        self.seed = stated if overrides.seed is None else overrides.seed
        self._resources = Resources(scenario, folder, self.seed)
        for schema in scenario.settings(header.SchemaSetting):
            _errors_with_line(schema, partial(self._resources.schema, schema.name))
        self.simulation = self._make_simulation(overrides)
        self.simulation.metrics.links_by_document = {}

    # --- settings -----------------------------------------------------------------------------

    def _make_simulation(self, overrides: Overrides) -> Simulation:
        scenario = self._scenario
        setting = scenario.setting(header.StrategySetting)
        name = "with-Adv-with-Cov" if setting is None else setting.name
        bandwidth = scenario.setting(header.BandwidthSetting)
        chosen = strategy(name if overrides.strategy is None else overrides.strategy)
        return Simulation(
            self._topology(),
            self._settings(chosen),
            MatcherBackend(chosen, self._distribution(chosen, overrides)),
            seed=self.seed,
            costs=self._costs(overrides.costs),
            bandwidth=None if bandwidth is None else float(bandwidth.rate),
            trace=self.trace.append if self._traced else None,
        )

    def _topology(self) -> Topology:
        scenario = self._scenario
        shape, links = (
            scenario.setting(header.TopologySetting),
            scenario.settings(header.LinkSetting),
        )
        latency = scenario.setting(header.LatencySetting)
        if shape is not None:
            if links:
                raise _with_line(
                    links[0], RoutingError("topology", "the topology has its links already")
                )
            chosen = _errors_with_line(shape, lambda: topology(list(shape.words), self.seed))
            if latency is not None:
                seconds = latency.time / MILLION
                equal = [replace(link, latency=seconds) for link in chosen.links]
                chosen = replace(chosen, links=tuple(equal))
            return chosen
        if not links:
            raise ScenarioError(
                "topology", "there are no brokers", line=1, hint="topology line 3, or link b1-b2"
            )
        default = DEFAULT_LATENCY if latency is None else latency.time / MILLION
        graph = [
            Link(
                link.left,
                link.right,
                default if link.latency is None else link.latency / MILLION,
            )
            for link in links
        ]
        return _errors_with_line(links[-1], lambda: Topology.of("links", graph))

    def _settings(self, chosen: Strategy) -> Settings:
        scenario = self._scenario
        retry = RetryPolicy()
        setting = scenario.setting(header.RetrySetting)
        if setting is not None:
            window = retry.window if setting.window is None else setting.window
            retry = RetryPolicy(
                setting.initial_delay / MILLION, setting.max_delay / MILLION, window
            )
        return Settings(
            chosen,
            refuse_outside=scenario.setting(header.RefuseOutside) is not None,
            retry=retry,
            keep_tables=scenario.setting(header.KeepTables) is not None,
            reliable=scenario.setting(header.PerfectLinks) is None,
        )

    def _distribution(self, chosen: Strategy, overrides: Overrides) -> PathDistribution | None:
        if chosen.limit is None:
            return None
        cause = self._scenario.setting(header.StrategySetting) or self._scenario.head[0]
        by_dtd = self._scenario.setting(header.MergersByDtd)
        distribution = _errors_with_line(by_dtd or cause, lambda: self._resources.distribution)
        if distribution is None:
            message = (
                f"{chosen} judges mergers by the paths that publishers send, and no DTD gives them"
            )
            hint = "a line in the scenario: mergers by dtd NAME, or mergers by path /a/b RATE"
            error = RoutingError("merging", message, hint=hint)
            raise error if overrides.strategy is not None else _with_line(cause, error)
        return distribution

    def _costs(self, name: str | None) -> Costs | None:
        if name is not None:
            return read_costs(name)
        setting = self._scenario.setting(header.CostsSetting)
        if setting is None:
            return None
        return _errors_with_line(setting, lambda: read_costs(setting.name))

    # --- actions and expectations -------------------------------------------------------------

    def perform(self, statement: Action | Expectation) -> None:
        """Perform an action or check an expectation; raise ScenarioError."""
        self.trace.append(f"> {statement}")
        actual = _errors_with_line(statement, lambda: self._dispatch(statement))
        if actual is not None:
            self.failures.append(Failure(statement.line, str(statement), actual))
            self.trace.append(f"  FAILED: {actual}")

    def _announce(
        self, broker: str, publisher: str, advertised: actions.AdvertisementSource
    ) -> None:
        """Announce a publisher; documents outside widen an advertisement inferred from samples."""
        advertisement = self._resources.advertisement(advertised)
        inferred = isinstance(advertised, actions.FromSamples)
        self.simulation.announce(broker, publisher, advertisement, widens=inferred)

    def _dispatch(self, statement: Action | Expectation) -> str | None:
        """Perform a statement; return what holds instead of an expectation that fails."""
        simulation, resources = self.simulation, self._resources
        match statement:
            case actions.AddPublisher(name=name, broker=broker, advertised=advertised):
                if self._publishers.setdefault(name, broker) != broker:
                    raise RoutingError("publisher", f"{name} is at {self._publishers[name]}")
                simulation.host(broker)
                if advertised is not None:
                    self._announce(broker, name, advertised)
            case actions.ReplaceAdvertisement(publisher=name, advertised=advertised):
                self._announce(self._broker_of(name), name, advertised)
            case actions.RetractAdvertisement(publisher=name):
                simulation.retract(name)
            case actions.AddSubscription(id=id, broker=broker, xpath=xpath, subscriber=subscriber):
                simulation.subscribe(broker, id, xpath, subscriber, resources.namespaces)
            case actions.CancelSubscription(id=id):
                simulation.cancel(id)
            case actions.PublishDocuments():
                self._publish(statement)
            case actions.RunUntil(time=time):
                if time / MILLION < simulation.now:
                    raise RoutingError("time", f"that has passed: it is {simulation.now:g} s")
                simulation.run(time / MILLION)
            case actions.RunFor(time=time):
                simulation.run(simulation.now + time / MILLION)
            case actions.RunUntilIdle():
                if not simulation.run_until_idle(_IDLE_LIMIT):
                    blockers = "; ".join(simulation.blockers())
                    return f"still busy after {_IDLE_LIMIT:g} s" + (
                        f": {blockers}" if blockers else ""
                    )
            case (
                actions.CutLink() | actions.HealLinks() | actions.SetFault() | actions.ClearFaults()
            ):
                self._change_links(statement)
            case actions.CrashBroker(broker=broker):
                self._require_faulty_links()
                simulation.crash(broker)
            case actions.RestartBroker(broker=broker, tables=tables):
                simulation.restart(broker, tables=tables)
            case _:
                return check_expectation(statement, simulation, resources.namespaces)
        return None

    def _publish(self, statement: actions.PublishDocuments) -> None:
        broker = self._broker_of(statement.publisher)
        every = (statement.every or 0) / MILLION
        ids = [statement.id]
        numbers = document_numbers(statement.id, statement.last or statement.id)
        if numbers is not None and statement.last is not None:
            stem = statement.id.rstrip("0123456789")
            if len(numbers) > _MAX_DOCUMENTS:
                raise RoutingError("size", f"a statement publishes at most {_MAX_DOCUMENTS:,}")
            ids = [f"{stem}{number}" for number in numbers]
        for id in ids:
            if id in self._published:
                raise RoutingError("duplicate-id", f"there is a document {id} already")
            self._published.add(id)
        for index, id in enumerate(ids):
            number = index if numbers is None else numbers[index]
            body = self._resources.body(statement.body, number)
            send = partial(self.simulation.publish, broker, statement.publisher, id, body)
            if every and index:
                self.simulation.schedule(self.simulation.now + index * every, send)
            else:
                send()

    def _change_links(
        self,
        statement: actions.CutLink | actions.HealLinks | actions.SetFault | actions.ClearFaults,
    ) -> None:
        self._require_faulty_links()
        simulation = self.simulation
        everywhere = [(link.left, link.right) for link in simulation.topology.links]
        for link in everywhere if statement.link is None else [statement.link]:
            match statement:
                case actions.CutLink():
                    simulation.cut(*link)
                case actions.HealLinks():
                    wire = simulation.wires.get(link)
                    if wire is None or wire.cut:
                        simulation.heal(*link)
                case actions.ClearFaults():
                    simulation.set_faults(Faults(), *link)
                    self._faults.pop(_sorted_ends(link), None)
                case actions.SetFault():
                    before = self._faults.get(_sorted_ends(link), Faults())
                    after = _change_fault(before, statement)
                    simulation.set_faults(after, *link)
                    self._faults[_sorted_ends(link)] = after

    def _require_faulty_links(self) -> None:
        if self._scenario.setting(header.PerfectLinks) is not None:
            hint = "leave out: perfect links"
            raise RoutingError("faults", "nothing fails where links are perfect", hint=hint)

    def _broker_of(self, publisher: str) -> str:
        broker = self._publishers.get(publisher)
        if broker is None:
            hint = f"publisher {publisher} at BROKER"
            raise RoutingError("unknown", f"there is no publisher {publisher}", hint=hint)
        return broker


def _sorted_ends(link: actions.LinkEnds) -> actions.LinkEnds:
    left, right = sorted(link)
    return left, right


def _change_fault(faults: Faults, change: actions.SetFault) -> Faults:
    probability = change.probability / MILLION
    match change.fault:
        case actions.Fault.LOSE:
            return replace(faults, lose=probability)
        case actions.Fault.DUPLICATE:
            return replace(faults, duplicate=probability)
        case actions.Fault.REORDER:
            return replace(faults, reorder=probability)
        case actions.Fault.DELAY:
            seconds = faults.max_delay if change.max_delay is None else change.max_delay / MILLION
            return replace(faults, delay=probability, max_delay=seconds)


def _with_line(statement: Statement, error: PathcastError) -> ScenarioError:
    """Return an error with the line of its statement; a position in an expression stays."""
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


def _errors_with_line(statement: Statement, action: Callable[[], T]) -> T:
    """Run an action; re-raise its errors as ScenarioError with the statement's line."""
    try:
        return action()
    except ScenarioError:
        raise
    except PathcastError as error:
        raise _with_line(statement, error) from None
