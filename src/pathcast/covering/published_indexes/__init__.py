"""Covering indexes from the literature, selectable for comparison with the feature index.

They are exact: tests hold all of them to the results of a linear scan. Production uses the feature
index (`pathcast.covering.core.feature_index`), which is faster on all measured workloads; see
docs/decisions/0011-feature-index-for-covering.md. `pathcast aggregate --index NAME` and
`pathcast.covering.index_registry.INDEXES` select one by name.

    factorization_tree     `factorization`, `regions`: the tree of shared prefixes (Chand 2004,
                           section 4), with region codes (Cao 2012, section 4.2)
    factorization_search   its two searches: XSearch in covered and cover mode (Chand 2004),
                           containee and container (Cao 2012, 4.2.3 and 4.2.4)
    subscription_tree      `subscription-tree`: subscriptions ordered by covering, with super
                           pointers (Li 2008, section 4.1)

Chand 2004: Chand and Felber, "Efficient Subscription Management in Content-based Networks" (XNET).
Cao 2012: Cao, "Message Processing on XML-based Publish/Subscribe Systems", a thesis.
Li 2008: Li, Hou, Jacobsen, "Routing of XML and XPath Queries in Data Dissemination Networks".
"""
