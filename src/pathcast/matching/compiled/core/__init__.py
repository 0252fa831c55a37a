"""The compiled core: flat arrays over libxml2's trees, run without the interpreter.

    labels       tests as numbers, plain paths read from text
    names        which names are asked for, found by their text once and then by their address
    predicates   what a value is, as far as any test asks
    twigs        leaves, links and joints of subscriptions that branch
    automaton    all of these, built once and then only read
    segments     states that were reached together
    label_paths  what is known of a label path
    memo         the automaton made deterministic, label path by label path, within bounds
    walk         a tree as an array of elements
    course       one automaton over one document
    branches     do the branches of a twig hang together?
    fresh        a few new paths without an automaton, as bits
    run          several automata over one document: the scratch space of a thread

`conditions` evaluates what is neither a path nor a twig. `numbers` reads numbers as libxml2 does; `strings` and `pathcast.vectors` are
growing arrays and hash tables.

`pathcast.matching.compiled.engine` is who uses them; nobody else should. It is plain C that Cython writes; it reads the structs
that lxml's headers describe, and links nothing.
"""
