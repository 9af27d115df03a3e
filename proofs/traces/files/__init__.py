"""Files as numbered lines, JSON objects or YAML. They may still be growing."""
