"""The evaluator: conditions that are neither linear paths nor twigs, on one document.

The joins of `pathcast.matching.plain.evaluate`, on flat arrays and without the GIL.

    program    conditions compiled to numbered structs; equal parts are shared
    nodes      the nodes of a tree in document order, with region codes and string-values
    joins      steps and paths on these nodes, by region codes
    evaluate   `Evaluation`: whether a condition holds at the document node

`arena` (bump allocation) and `sets` (sorted node sets) are headers of inline functions.
"""
