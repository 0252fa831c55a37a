"""Growing arrays and hash tables for the compiled parts, as a header of inline functions (`vectors.pxd`): there is nothing to import from Python."""
