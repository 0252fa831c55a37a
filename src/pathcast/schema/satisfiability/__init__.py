"""Satisfiability of a pattern under a DTD: can a valid document match it?

    pattern -> demands on an element (demands, fill) -> smallest plan (solve)
            -> document (example) -> validated and matched (satisfiable)
            -> or, without a plan, the part that makes the pattern unsatisfiable (culprit)

- `satisfiable`: the entry point, and its guarantees.
- `demands`: the demands on one element in disjunctive normal form.
- `fill`: attributes, text and comments of one element; `strings`: strings that pass value tests.
- `namespaces`: which node tests the names of a DTD can pass.
- `shortest_path`: the shortest root path that a linear pattern selects.
- `solve`: the smallest valid tree, as a least fixpoint.
- `example`: a plan as a document.
- `culprit`: the explanation of a no.
"""

from pathcast.schema.satisfiability.satisfiable import Satisfiability, satisfiable

__all__ = ["Satisfiability", "satisfiable"]
