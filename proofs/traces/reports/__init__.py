"""Reports on traces: the verdict, and why no candidate explains a record."""
