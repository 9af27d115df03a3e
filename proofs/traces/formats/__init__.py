"""Trace formats: those of every system, and mappings for all other logs."""
