"""Descriptions of locks, checked: order, rules, programs, and the interleavings of threads."""
