"""Resources: what the names of a scenario refer to (schemas, samples, files, advertisements).

A DTD is named by the scenario's own `schema`, by a bundled one, or by a file. Files are relative to
the folder of the scenario.
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
    """The resources of one scenario; each is read once, on first use."""

    def __init__(self, scenario: Scenario, folder: Path, seed: int) -> None:
        self._scenario = scenario
        self._folder = folder
        self._seed = seed
        self._schemas: dict[str, Schema] = {}
        self._documents: dict[str, Documents] = {}
        self._texts = {
            setting.name: setting.text for setting in scenario.settings(header.SchemaSetting)
        }
        self._samples = {
            sample.name: sample.body.encode() for sample in scenario.settings(header.SampleSetting)
        }
        self.namespaces = {
            namespace.prefix: namespace.uri
            for namespace in scenario.settings(header.NamespaceSetting)
        }

    def schema(self, name: str) -> Schema:
        """Return the schema of a name; raise SchemaError or RoutingError."""
        schema = self._schemas.get(name)
        if schema is None:
            if name in self._texts:
                schema = parse_dtd(self._texts[name], name=name)
            elif name in SCHEMA_NAMES:
                schema = bundled_schema(name)
            else:
                schema = self._load_schema(name)
            self._schemas[name] = schema
        return schema

    def _load_schema(self, name: str) -> Schema:
        if not (self._folder / name).exists():
            names = ", ".join((*self._texts, *SCHEMA_NAMES))
            message = f"there is no file {name}, nor a schema of that name"
            raise RoutingError("unknown", message, hint=f"schemas are {names}")
        return load_dtd(self._folder / name)

    def sample(self, name: str) -> bytes:
        body = self._samples.get(name)
        if body is None:
            hint = f"there are {', '.join(self._samples)}" if self._samples else "sample NAME <a/>"
            raise RoutingError("unknown", f"there is no sample {name}", hint=hint)
        return body

    def advertisement(self, advertised: actions.AdvertisementSource) -> Advertisement:
        """Build an advertisement; raise SchemaError, AdvertisementError or DocumentError."""
        match advertised:
            case actions.Anything():
                return ANYTHING
            case actions.FromDtd(name=name):
                return Advertisement.of(self.schema(name))
            case actions.FromPaths(expressions=texts):
                return union([parse_expression(text, self.namespaces) for text in texts])
            case actions.FromSamples(samples=names):
                return infer([self.sample(name) for name in names])

    def body(self, body: actions.DocumentBody, number: int) -> bytes:
        """Return the bytes of a document; `number` selects one of the generated documents."""
        match body:
            case actions.InlineBody(xml=xml):
                return xml.encode()
            case actions.BodyFromSample(name=name):
                return self.sample(name)
            case actions.BodyFromFile(name=name):
                return self._read_file(name)
            case actions.BodyFromDtd(dtd=name):
                documents = self._documents.get(name)
                if documents is None:
                    documents = Documents(self.schema(name), seed=self._seed)
                    self._documents[name] = documents
                return documents[number]

    def _read_file(self, name: str) -> bytes:
        try:
            with (self._folder / name).open("rb") as stream:
                return stream.read(Limits().size + 1)  # the parser rejects a longer one
        except OSError as error:
            raise RoutingError("file", f"{name} cannot be read: {error.strerror}") from None

    @cached_property
    def distribution(self) -> PathDistribution | None:
        """The path distribution over which mergers are judged; None if the scenario has none.

        Without a setting it is that of the first DTD that a publisher advertises.
        """
        setting = self._scenario.setting(header.MergersByDtd)
        if setting is not None:
            return PathDistribution.uniform(self.schema(setting.name))
        rates = self._scenario.settings(header.MergersByPath)
        if rates:
            return PathDistribution.from_rates({rate.path: rate.rate for rate in rates})
        for statement in self._scenario.body:
            match statement:
                case actions.AddPublisher(advertised=actions.FromDtd(name=name)):
                    return PathDistribution.uniform(self.schema(name))
        return None
