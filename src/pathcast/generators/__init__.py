"""Seeded generators: documents and subscriptions from a DTD, feeds, arrivals; bundled schemas of our own."""
