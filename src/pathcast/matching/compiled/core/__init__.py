"""The compiled core: NFAs in flat arrays, determinised lazily, traversed without the GIL.

The modules in the order of the data flow. Subscriptions:

    labels           node tests and edges as ints; the linear paths of all subscriptions
    names            look-up of document names among the names that subscriptions test
    predicates       the index of value predicates: from a string-value to its value class
    twigs            the join graph of twigs: leaves, join edges, join nodes
    nfa              `CompiledNfa`: the shared trie of all paths; immutable

Documents:

    node_table       the elements of a tree as an array, in document order
    state_set_table  sets of NFA states, each reached by one transition
    path_table       label paths: the states of the lazy DFA, with the state sets they reach
    lazy_dfa         `LazyDfa`: transitions on demand, within the memo bound
    traversal        one lazy DFA over one document: subscription numbers and twig leaves
    twig_join        whether the branches of a twig meet at one node
    bit_parallel     a few recent paths, simulated as bits of machine words
    match_context    `MatchContext`: all traversals and joins of one thread
    evaluator        conditions that are neither linear paths nor twigs

`numbers` parses numbers as libxml2 does. `strings` is a table of byte strings; `pathcast.vectors`
has growable arrays and hash maps.

Only `pathcast.matching.compiled.engine` uses these modules. They read libxml2's structs, as lxml's
headers declare them, and link no library.
"""
