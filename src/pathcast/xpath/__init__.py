"""The subscription language: XPath 1.0 text to a `Pattern`, or an error with its position.

    text -> lexer -> parser -> syntax tree -> lower -> condition
                                           -> skeleton + residual (the rest of XPath 1.0)
    condition -> downward -> tree pattern

- `compile`: `parse`, the entry point, and `Pattern`.
- `lexer`, `cursor`, `parser`: tokens, and parsing by precedence climbing; `functions` and
  `namespaces` check calls and prefixes.
- `name_characters`: the characters of names, as in libxml2.
- `syntax`: the syntax tree.
- `tree`: conditions.
- `lower`, `path_builder`, `path_values`, `parent_predicates`: syntax tree to condition.
- `canonical`: smart constructors for conditions in canonical form.
- `text`: conditions and syntax trees back to XPath text.
- `skeleton`: the strongest condition that an expression implies.
- `downward`: the tree pattern that a condition implies.
- `libxml2_form`, `cost`: the form in which libxml2 evaluates a residual, and its cost class.
- `evaluation_cost`: an estimate of libxml2's work on a small document.
- `numbers`: number conversion as in libxml2.
"""

from pathcast.xpath.compile import Pattern, parse, selection
from pathcast.xpath.cost import Cost

__all__ = ["Cost", "Pattern", "parse", "selection"]
