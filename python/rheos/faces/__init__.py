"""What the faces v1 and v2 have in common: their tables of names, and how these are read."""
