"""Containment of patterns, and tables of subscriptions reduced by it.

Pattern A *covers* pattern B when every document that matches B matches A.

One pair of patterns:

    containment          `covers`: yes, no with a witness, or undecided with a reason
    twig, labels, values tree patterns over labels; subsumption of labels; entailment of values
    to_twigs             a pattern as alternative twigs, by `alternatives`
    homomorphism         the fast, sound test; the wildcard rule
    canonical_models     the complete test for twigs with numbers and equalities
    negation_witnesses   likely counterexamples to a pattern with negations
    witness              counterexamples as documents, checked by libxml2 and minimised
    under_dtd            containment among the valid documents of a DTD

Tables of patterns:

    aggregate            `Aggregate`: the covering roots of a table that changes
    change               `Change`: the entries that an update exposes and hides
    indexes              the search for covering and covered patterns, by name in `INDEXES`
    encode, core         twigs as integers; the compiled homomorphism test and feature index
    published_indexes    indexes from the literature, for comparison
    exactness_gap        the roots that homomorphisms miss
    merging              tables of linear paths reduced further, by merging
"""

from pathcast.covering.aggregate import Aggregate
from pathcast.covering.change import Change
from pathcast.covering.containment import Verdict, covers

__all__ = ["Aggregate", "Change", "Verdict", "covers"]
