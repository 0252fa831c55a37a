"""The compiled part: twigs as numbers, one at a time or many in a tree.

    labels   labels as numbers, and which allows which
    twigs    a twig in flat arrays; is there a mapping? one against many
    tree     many twigs in one tree of shared beginnings, searched in both directions, by walking it or by region codes

`pathcast.covering.indexes` is who uses them.
"""
