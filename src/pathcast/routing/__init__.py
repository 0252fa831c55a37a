"""Where subscriptions and documents go: advertisements, tables, strategies. Decisions as values, no I/O."""
