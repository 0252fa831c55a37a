"""The compiled part: twigs as numbers, one at a time or many in a tree.

    labels   labels as numbers, and which allows which
    twigs    a twig in flat arrays; is there a mapping? one against many
    shape    many twigs in one tree of shared beginnings, with region codes
    tree     the same, searched in both directions, by walking it or by its regions
    features twigs in lists by what they cannot do without, searched in both directions

`pathcast.covering.indexes` is who uses them.
"""
