"""Presets: the workloads of papers, by name.

Each preset is a function whose docstring lists the parameters that the paper states and those it
leaves open; `PRESETS` is the table. The papers' DTDs may not be redistributed, so the most similar
bundled schema replaces each: news for NITF, protein for PSD, book and bib for the DTDs of that
name.

All papers leave open which generator drew the queries, in which version and with which seed. Here
it is `subscriptions.sampler`, with walks as deep as possible (`full`), like YFilter's. They also
leave open the shape of documents beyond the stated parameters: here, the defaults of
`DocumentOptions`.

>>> preset = PRESETS["cao2012-cache"]
>>> preset.subscriptions.max_depth, preset.subscriptions.wildcard, preset.subscription_count
(6, 0.1, 50000)
>>> list(preset.texts(seed=1, count=2))
['/news/body//lang/location', '/news/head/docdata/doc-rights']
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType

from pathcast.generators.arrivals import Arrivals, Poisson
from pathcast.generators.bundled import SCHEMA_NAMES, bundled_schema
from pathcast.generators.documents import DocumentOptions
from pathcast.generators.subscriptions import (
    PredicateKinds,
    SubscriptionOptions,
    Subscriptions,
    subscriptions,
)
from pathcast.generators.values import ValueDomain

__all__ = [
    "PRESETS",
    "Preset",
    "cao2012_aggregation",
    "cao2012_cache",
    "cao2012_peer",
    "li2008_a",
    "li2008_b",
    "miliaraki2008_nitf",
    "miliaraki2008_ten_dtds",
    "semcast2004",
    "xnet2004",
]

_LI = "Li, Hou, Jacobsen: Routing of XML and XPath Queries in Data Dissemination Networks (2008)"
_XNET = "Chand, Felber: Efficient Subscription Management in Content-based Networks, XNET (2004)"
_CAO = "Cao: Message Processing on XML-based Publish/Subscribe Systems (2012)"
_MILIARAKI = (
    "Miliaraki, Kaoudi, Koubarakis: XML Data Dissemination Using Automata on Top of Structured "
    "Overlay Networks (2008)"
)
_SEMCAST = (
    "Papaemmanouil, Cetintemel: Semantic Multicast for Content-based Stream Dissemination (2004)"
)


@dataclass(frozen=True, slots=True)
class Preset:
    """A workload; `schemas` are mixed in equal parts, and `notes` is the preset's docstring."""

    name: str
    paper: str
    schemas: tuple[str, ...]
    documents: DocumentOptions
    subscriptions: SubscriptionOptions
    document_count: int
    subscription_count: int
    arrival: Arrivals | None
    about: str
    notes: str = ""

    def texts(self, seed: int = 0, count: int | None = None) -> Subscriptions:
        """Return its subscriptions: `count`, or the paper's number."""
        return subscriptions(
            [bundled_schema(name) for name in self.schemas],
            self.subscriptions,
            seed,
            self.subscription_count if count is None else count,
            documents=self.documents,
        )


def li2008_a() -> Preset:
    """100,000 distinct subscriptions, of which about 90% are covered by others.

    Section 5: YFilter's generator on NITF, 100,000 distinct XPEs of length 10 at most; "we vary the
    probability of * occurring at a location step (W) and the probability of // (DO) to generate two
    data sets A and B with different covering rates 90% and 50%". 500 documents of IBM's generator,
    10 levels at most.

    Open: W, DO, and the least length. With short XPEs, no W and DO give 90% or 50%. Among 100,000
    XPEs there are always some like //p, and as many of them as there are element names cover all
    others. (The queries that come with YFilter have 99.9%, too.) So the least length is 6 here, for
    both sets. Then W = DO = 0.05 gives 89% to 90% of 100,000, over several seeds. Fewer
    subscriptions have a lower rate: some 64% of 5,000.
    """
    return Preset(
        name="li2008-a",
        paper=_LI,
        schemas=("news",),
        documents=DocumentOptions(max_depth=10),
        subscriptions=SubscriptionOptions(
            max_depth=10, min_depth=6, full=True, wildcard=0.05, descendant=0.05
        ),
        document_count=500,
        subscription_count=100_000,
        arrival=None,
        about="100,000 distinct linear paths on news, about 90% covered by others",
    )


def li2008_b() -> Preset:
    """100,000 distinct subscriptions, of which about 50% are covered by others.

    As `li2008_a`, except for W and DO, which are open: W = 0 and DO = 0.37 give 50% of 100,000,
    over several seeds. (Fewer // raise the rate here. There are then fewer distinct subscriptions,
    and those that cover many are certain to be among 100,000.)
    """
    return Preset(
        name="li2008-b",
        paper=_LI,
        schemas=("news",),
        documents=DocumentOptions(max_depth=10),
        subscriptions=SubscriptionOptions(
            max_depth=10, min_depth=6, full=True, wildcard=0.0, descendant=0.37
        ),
        document_count=500,
        subscription_count=100_000,
        arrival=None,
        about="100,000 distinct linear paths on news, about 50% covered by others",
    )


def xnet2004() -> Preset:
    """Tree patterns of XNET with skewed names, all distinct.

    Section 5: NITF, h = 10, p(*) = 0.1, p(//) = 0.05, p(lambda) = 0.1 (more than one child at a
    node), theta = 1; unique subscriptions, 1,000 to 100,000 of them (take a prefix), and 1,000
    further ones to search for.

    Open: the number of children of a node with more than one (two here); the most branches (12
    here, which hardly any pattern reaches); the ranking of names (in DTD order); documents, since
    that evaluation has none.
    """
    return Preset(
        name="xnet2004",
        paper=_XNET,
        schemas=("news",),
        documents=DocumentOptions(max_depth=10),
        subscriptions=SubscriptionOptions(
            max_depth=10,
            full=True,
            wildcard=0.1,
            descendant=0.05,
            branch=0.1,
            branches=12,
            theta=1.0,
        ),
        document_count=500,
        subscription_count=100_000,
        arrival=None,
        about="100,000 distinct tree patterns on news, names by Zipf's law",
    )


def cao2012_cache() -> Preset:
    """Queries and messages of the caching experiments.

    Section 3.3.1 with table 3.2: depth 6, p(*) = 0.1, p(//) = 0.2, no predicates, no branches, no
    duplicates; 50,000 queries for NITF (section 3.4.1), 910 for book and 747 for bib (all that the
    generator found); element and attribute values are integers from 1 to 100. Messages: nitf22 has
    9.2 KB and 7 levels, book 6.5 to 7.5 KB with recursion r = 1, 2, 3, 6, bib 16 KB with 3 levels.
    A thousand messages warm up the cache. p(*) and p(//) are also varied from 0.2 to 0.4.

    This preset is the NITF part. For the others, take its options with the schema book or bib,
    count None (as many as there are), recursion r, or the size of bib. Section 3.4.4 adds one
    predicate with values from 1 to 20 to each query: predicate=1.0 and
    PredicateKinds(values=ValueDomain(high=20), operators=("=",)).

    Open: the number of distinct messages (1,000 here).
    """
    return Preset(
        name="cao2012-cache",
        paper=_CAO,
        schemas=("news",),
        documents=DocumentOptions(max_depth=7, size=9_200),
        subscriptions=SubscriptionOptions(
            max_depth=6, full=True, wildcard=0.1, descendant=0.2, kinds=_EQUAL
        ),
        document_count=1_000,
        subscription_count=50_000,
        arrival=None,
        about="50,000 distinct linear paths and 9.2 KB messages on news",
    )


def cao2012_aggregation() -> Preset:
    """Twigs of two branches, for aggregation.

    Section 4.3.1.1: NITF, p(//) = 0.2, p(*) = 0, two branches, length 6, duplicates allowed; 100 to
    5,000 queries (take a prefix). Section 4.3.1.2 has 3,000 queries with 2, 3 or 4 branches, 4.3.2
    has 1,000 for bib, 4.3.6 has 10,000 to 100,000 distinct ones. A branch is a root-to-leaf path:
    /nitf/head[meta]/title has two (table 4.2).

    Open: documents, since these experiments have none.
    """
    return Preset(
        name="cao2012-aggregation",
        paper=_CAO,
        schemas=("news",),
        documents=DocumentOptions(),
        subscriptions=SubscriptionOptions(
            max_depth=6,
            full=True,
            wildcard=0.0,
            descendant=0.2,
            branch=1.0,
            branches=2,
            branching="query",
            distinct=False,
        ),
        document_count=1_000,
        subscription_count=5_000,
        arrival=None,
        about="5,000 twigs of two branches on news, duplicates allowed",
    )


def cao2012_peer() -> Preset:
    """The peer model: recursive book messages; a message matches one query in twenty.

    Table 5.5: 10 KB messages of book.dtd, Poisson arrivals with lambda = 0.85 a second, 20,000
    queries of depth 6, p(//) = 0.2, p(*) = 0.2, p(branching) = 0.1 and p([]) = 0.2 of a query,
    duplicates allowed, match ratio 0.05. Runs have 6,000 messages (section 5.3.2). Table 5.4 lists
    the ranges of the parameters.

    Open: the number of branches and predicates of such a query (two paths, one predicate, with =);
    the kinds of predicates (attributes and texts, equally); the depth of messages (recursion 3,
    which the text quotes from elsewhere); how the match ratio of 0.05 came about. Messages of 10 KB
    contain nearly every short path of book.dtd. So here all queries have depth 6, and half of them
    exceed the recursion of the messages. `match_ratio` then accepts or rejects candidates until the
    ratio is right, which hardly changes the other parameters.
    """
    return Preset(
        name="cao2012-peer",
        paper=_CAO,
        schemas=("book",),
        documents=DocumentOptions(size=10_000, recursion=3),
        subscriptions=SubscriptionOptions(
            max_depth=6,
            min_depth=6,
            full=True,
            wildcard=0.2,
            descendant=0.2,
            branch=0.1,
            branches=2,
            branching="query",
            predicate=0.2,
            kinds=_EQUAL,
            distinct=False,
            match_ratio=0.05,
        ),
        document_count=6_000,
        subscription_count=20_000,
        arrival=Poisson(0.85),
        about="20,000 queries and 10 KB messages on book, a message matches 5%",
    )


def miliaraki2008_nitf() -> Preset:
    """A million linear paths on one highly recursive DTD.

    Section 6 with table 1, NITF workload: 1,000 documents of 36.5 KB in the mean, 10**6 queries of
    depth 10, fanout 1, p(*) = 0.2, p(//) = 0.2, theta = 0, no predicates. There is a distinct set,
    which this is, and a random one (distinct=False).

    Open: nothing about the queries. (The sizes of the data sets in table 1 contradict the mean
    sizes in the text; the preset follows the text.)
    """
    return Preset(
        name="miliaraki2008-nitf",
        paper=_MILIARAKI,
        schemas=("news",),
        documents=DocumentOptions(size=36_500),
        subscriptions=_MILIARAKI_QUERIES,
        document_count=1_000,
        subscription_count=1_000_000,
        arrival=None,
        about="a million distinct linear paths and 36.5 KB documents on news",
    )


def miliaraki2008_ten_dtds() -> Preset:
    """A million linear paths on ten DTDs.

    Section 6 with table 1, aggregated workload: as `miliaraki2008_nitf`, with ten DTDs (DBLP, NITF,
    ebXML and XMark's auction are named) and 100 documents of each, 4.8 KB in the mean.

    Open: the other six DTDs (here, all ten bundled schemas); the distribution of queries over the
    DTDs (here, in turn; the small schemas do not have 100,000 distinct queries, so the large ones
    have more).
    """
    return Preset(
        name="miliaraki2008-aggregated",
        paper=_MILIARAKI,
        schemas=SCHEMA_NAMES,
        documents=DocumentOptions(size=4_800),
        subscriptions=_MILIARAKI_QUERIES,
        document_count=1_000,
        subscription_count=1_000_000,
        arrival=None,
        about="a million distinct linear paths and 4.8 KB documents on all ten schemas",
    )


def semcast2004() -> Preset:
    """Profiles that are equal or disjoint.

    Section 5: networks of up to 700 nodes, 7,000 profiles, and the profile selectivity factor,
    "which determines the number of distinct non-overlapping profiles"; 1% is named.

    Open: nearly everything. The profiles are abstract and there is no XML. Here 1% of 7,000, which
    is 70, distinct comparisons of one value with a constant represent them (`profiles`). Each
    profile is one of these, uniformly. Documents have that value from 1 to 70, so each matches one
    of the 70. Partial overlap, which one experiment of the paper has, is not modelled.
    """
    return Preset(
        name="semcast2004",
        paper=_SEMCAST,
        schemas=("weather",),
        documents=DocumentOptions(values=ValueDomain(low=1, high=70)),
        subscriptions=SubscriptionOptions(disjoint=70, distinct=False),
        document_count=1_000,
        subscription_count=7_000,
        arrival=None,
        about="7,000 profiles on weather, 70 different ones that never overlap",
    )


_EQUAL = PredicateKinds(operators=("=",))
_MILIARAKI_QUERIES = SubscriptionOptions(max_depth=10, full=True, wildcard=0.2, descendant=0.2)


def _by_name(*builders: Callable[[], Preset]) -> Mapping[str, Preset]:
    """Return the presets by name, with their docstrings as notes."""
    presets = (replace(build(), notes=inspect.getdoc(build) or "") for build in builders)
    return MappingProxyType({preset.name: preset for preset in presets})


PRESETS: Mapping[str, Preset] = _by_name(
    li2008_a,
    li2008_b,
    xnet2004,
    cao2012_cache,
    cao2012_aggregation,
    cao2012_peer,
    miliaraki2008_nitf,
    miliaraki2008_ten_dtds,
    semcast2004,
)
