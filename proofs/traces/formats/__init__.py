"""How traces are written: the formats of every system, and mappings for any other."""
