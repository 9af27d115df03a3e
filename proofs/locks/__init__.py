"""Checks of lock descriptions: their order, rules and programs, and the interleavings of their threads."""
