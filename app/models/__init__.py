"""Model files: which are here, and whether they can be loaded."""
