"""The subscription language: XPath text -> `Pattern`, or an error that points.

`parse` is the door. Everything else in here is a stage of it: lexer, parser (syntax trees), lower and hoist
(conditions), normal (canonical forms), text; and for what is left over skeleton, nest (the form that libxml2
gets) and cost.
"""

from pathcast.xpath.compile import Pattern, parse, selection
from pathcast.xpath.cost import Cost

__all__ = ["Cost", "Pattern", "parse", "selection"]
