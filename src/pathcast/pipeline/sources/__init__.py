"""Where documents come from: a table of (id, body, source, time, fault), whatever they are stored in."""
