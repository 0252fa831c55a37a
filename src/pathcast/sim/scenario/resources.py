"""What the words of a scenario stand for: schemas, samples, files, advertisements, documents.

A DTD is named by the scenario's own `schema`, by a bundled one, or by a file; files are looked for in the folder of the scenario.
"""

from __future__ import annotations

from functools import cached_property
from pathlib import Path

from pathcast.covering.merging import PathDistribution
from pathcast.documents.limits import Limits
from pathcast.errors import RoutingError
from pathcast.generators.bundled import SCHEMA_NAMES, bundled_schema
from pathcast.generators.documents import Documents
from pathcast.routing.advertisement import (
    ANYTHING,
    Advertisement,
    infer,
    parse_expression,
    union,
)
from pathcast.schema import Schema, load_dtd, parse_dtd
from pathcast.sim.scenario import actions, header
from pathcast.sim.scenario.scenario import Scenario

__all__ = ["Resources"]


class Resources:
    """Everything is read when it is first asked for, and once."""

    def __init__(self, scenario: Scenario, folder: Path, seed: int) -> None:
        self._scenario = scenario
        self._folder = folder
        self._seed = seed
        self._schemas: dict[str, Schema] = {}
        self._documents: dict[str, Documents] = {}
        self._texts = {one.name: one.text for one in scenario.all(header.SchemaOf)}
        self._samples = {one.name: one.body.encode() for one in scenario.all(header.Sample)}
        self.namespaces = {one.prefix: one.uri for one in scenario.all(header.NamespaceOf)}

    def schema(self, name: str) -> Schema:
        """Raises SchemaError."""
        found = self._schemas.get(name)
        if found is None:
            if name in self._texts:
                found = parse_dtd(self._texts[name], name=name)
            elif name in SCHEMA_NAMES:
                found = bundled_schema(name)
            else:
                found = self._loaded(name)
            self._schemas[name] = found
        return found

    def _loaded(self, name: str) -> Schema:
        if not (self._folder / name).exists():
            known = ", ".join((*self._texts, *SCHEMA_NAMES))
            message = f"there is no file {name}, nor a schema of that name"
            raise RoutingError("unknown", message, hint=f"schemas are {known}")
        return load_dtd(self._folder / name)

    def sample(self, name: str) -> bytes:
        found = self._samples.get(name)
        if found is None:
            hint = f"there are {', '.join(self._samples)}" if self._samples else "sample NAME <a/>"
            raise RoutingError("unknown", f"there is no sample {name}", hint=hint)
        return found

    def advertisement(self, advertised: actions.Advertised) -> Advertisement:
        """Raises SchemaError, AdvertisementError, DocumentError."""
        match advertised:
            case actions.Anything():
                return ANYTHING
            case actions.OfDtd(name=name):
                return Advertisement.of(self.schema(name))
            case actions.Paths(expressions=texts):
                return union([parse_expression(text, self.namespaces) for text in texts])
            case actions.Like(samples=names):
                return infer([self.sample(name) for name in names])

    def body(self, body: actions.Body, number: int) -> bytes:
        """`number` says which of the generated documents."""
        match body:
            case actions.Inline(xml=xml):
                return xml.encode()
            case actions.OfSample(name=name):
                return self.sample(name)
            case actions.InFile(name=name):
                return self._file(name)
            case actions.Generated(dtd=name):
                made = self._documents.get(name)
                if made is None:
                    made = Documents(self.schema(name), seed=self._seed)
                    self._documents[name] = made
                return made[number]

    def _file(self, name: str) -> bytes:
        try:
            with (self._folder / name).open("rb") as stream:
                return stream.read(Limits().size + 1)  # the parser refuses what is too long
        except OSError as error:
            raise RoutingError("file", f"{name} cannot be read: {error.strerror}") from None

    @cached_property
    def distribution(self) -> PathDistribution | None:
        """The paths by which mergers are judged: as the scenario says, else those of the first DTD that a publisher advertises."""
        named = self._scenario.one(header.MergersByDtd)
        if named is not None:
            return PathDistribution.uniform(self.schema(named.name))
        rates = self._scenario.all(header.MergersByPath)
        if rates:
            return PathDistribution.from_rates({one.path: one.rate for one in rates})
        for one in self._scenario.body:
            if isinstance(one, actions.Publisher) and isinstance(one.advertised, actions.OfDtd):
                return PathDistribution.uniform(self.schema(one.advertised.name))
        return None
