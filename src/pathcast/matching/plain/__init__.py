"""The plain engine: NFA and twig join in Python, one document at a time.

It is the oracle of the compiled engine, and the fallback where the compiled core is missing.

- `engine`: `PlainEngine`, from bytes to the numbers of matching subscriptions.
- `evaluate`: `Evaluator`, which decides conditions on a document by region codes.
"""
