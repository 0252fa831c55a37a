"""Disjoint profiles: no document matches two different ones.

SemCast (2004, section 5) has no XPath workload. Its profiles are abstract, and its one parameter,
the *profile selectivity factor*, "determines the number of distinct non-overlapping profiles". The
simplest such subscriptions compare one value with different constants: `/weather[@city = 17]`. They
are disjoint if a document has that value at most once. So the value must be an attribute or text of
the root, or of an element that occurs at most once on every level from the root. Preferred is a
value that every document has, then the one nearest to the root, then the first in the DTD.

The constants are the integers from 1 to the number of profiles; documents should draw their values
from these.

>>> from pathcast.generators.bundled import bundled_schema
>>> single_value_template(bundled_schema("weather")), single_value_template(bundled_schema("book"))
('/weather[@city = {}]', '/book/title[. = {}]')
"""

from __future__ import annotations

from collections.abc import Iterator

from pathcast.errors import WorkloadError
from pathcast.generators.subscriptions.walks import START, SchemaWalks
from pathcast.rng import SeededRandom, Zipf
from pathcast.schema import AttributeType, ContentKind, Default, Element, Schema, cheapest_word

__all__ = ["draw_profiles", "single_value_template"]

_NUMERIC = (AttributeType.CDATA, AttributeType.NMTOKEN)


def draw_profiles(schema: Schema, count: int, theta: float, rng: SeededRandom) -> Iterator[str]:
    """Yield endless draws from `count` disjoint profiles, the n-th with weight 1 / n ** theta."""
    template = single_value_template(schema)
    zipf = Zipf(count, theta)
    while True:
        yield template.format(1 + zipf.pick(rng))


def single_value_template(schema: Schema) -> str:
    """Return a subscription to a value that occurs at most once, with {} for the constant."""
    walks = SchemaWalks(schema)
    roots = walks.choices[START][0]
    if len(roots) > 1:
        raise WorkloadError(
            "disjoint",
            f"{schema.name} has {len(roots)} roots, and a profile speaks of one",
            hint=f"choose one: {', '.join(roots)}",
        )
    fallback: str | None = None
    level = [(roots[0], f"/{roots[0]}", True)]
    seen = set(roots)
    while level:
        for name, path, always in level:
            for template, certain in _templates(schema.elements[name], path):
                if always and certain:
                    return template
                fallback = fallback or template
        level = [
            (child, f"{path}/{child}", always and _is_required(schema, name, child))
            for name, path, always in level
            for child in walks.choices[name][0]
            if child not in seen and not walks.fits(name, {child: 2})
        ]
        seen.update(name for name, _, _ in level)
    if fallback is None:
        raise WorkloadError(
            "disjoint",
            f"{schema.name} has no value that stands in a document only once",
            hint="profiles that do not overlap need an attribute of the root, say",
        )
    return fallback


def _templates(element: Element, path: str) -> Iterator[tuple[str, bool]]:
    """Yield the values of an element, and whether it always has them."""
    for attribute in element.attributes:
        if (
            attribute.type in _NUMERIC
            and attribute.default is not Default.FIXED
            and ":" not in attribute.name
        ):
            if not attribute.declares_namespace:
                yield f"{path}[@{attribute.name} = {{}}]", attribute.default is Default.REQUIRED
    if element.kind is ContentKind.MIXED and element.content is None:
        yield f"{path}[. = {{}}]", True


def _is_required(schema: Schema, name: str, child: str) -> bool:
    """Return whether every valid `name` has this child."""
    size = schema.graph.size
    without = {other: cost for other, cost in size.items() if other != child}
    return cheapest_word(schema.elements[name].content, {}, without.get) is None
