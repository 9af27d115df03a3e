"""Files as numbered lines, JSON objects or YAML, also while they grow."""
