"""Can any valid document match a pattern?

pattern -> demands on one element (demands, fill) -> smallest plan (solve) -> document (example) -> checked
        -> or, if there is no plan, the part that stands in the way (culprit)
"""

from pathcast.schema.satisfiability.satisfiable import Satisfiability, satisfiable

__all__ = ["Satisfiability", "satisfiable"]
